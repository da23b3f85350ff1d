"""What people look at: episodes, reports, galleries, learning curves."""
