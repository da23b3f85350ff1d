"""Effects of jokers, one function per joker and moment. `dispatch.py` is generated (`make dispatch`)."""
