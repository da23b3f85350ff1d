"""What each joker does, by the moment at which it acts. `dispatch.py` is generated (`make dispatch`)."""
