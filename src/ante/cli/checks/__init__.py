"""Commands that check and measure this installation."""
