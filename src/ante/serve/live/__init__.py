"""A player or a Gymnasium agent in a game behind BalatroBot: the real one, or that of `ante.serve.balatrobot`.

`client` calls a server and records the calls, `calls` expresses decisions of the engine as calls, `link` keeps a game of
a server and the engine's equal, `bridge` lets a player play it, and `environment` is `ante/BalatroLive-v0`, which
importing this package registers.
"""

import gymnasium

NAME = "ante/BalatroLive-v0"

if NAME not in gymnasium.registry:
    gymnasium.register(id=NAME, entry_point="ante.serve.live.environment:BalatroLiveEnv")
