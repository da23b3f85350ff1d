"""Fair search over a player: each decision is improved by playing out copies of the game without hidden information.

`player.py` is the entry point: `SearchPlayer` wraps any player that offers candidates, values and likeliest decisions
for a batch of games (`protocol.py`). Nothing here reads what the player has not seen: a decision depends only on
determinised copies (`determinise.py`), and tests compare the copies of games that differ in hidden state byte by byte.

Terms:

determinised copy  a copy of the game in which everything the player has not seen is drawn again
world              one determinised copy; all root candidates are compared in the same worlds
simulation         one root candidate played out in one world by the player's likeliest decisions
cut                the position in which a simulation stops and is rated by the player's value
"""
