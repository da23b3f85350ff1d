"""What bosses, consumables and tags do, and the verbs that effects are written in."""
