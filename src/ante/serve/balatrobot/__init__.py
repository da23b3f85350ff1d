"""The engine behind the JSON-RPC protocol of the mod BalatroBot, so that bots written for the real game play it.

A request passes through `server` (HTTP), `protocol` (JSON-RPC), `methods` (parameters and states) and one of `runs`,
`rounds`, `shop`, `cheats`, which change the game of a `session`. `gamestate` and `cards` describe that game in the
words of a dialect (`dialects`).
"""
