"""Commands that check this installation and measure its speed."""
