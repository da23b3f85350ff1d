"""A player of Ante in a game behind BalatroBot: the real one, or that of `ante.serve.balatrobot`.

`client` calls a server and records the calls, `calls` expresses decisions of the engine as calls, and `bridge` plays and
compares each state with the engine's own.
"""
