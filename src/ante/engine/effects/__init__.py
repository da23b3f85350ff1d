"""Effects of bosses, consumables and tags, and the verbs in which effects are written."""
