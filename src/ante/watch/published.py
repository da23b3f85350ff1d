"""Published results of other players, as lines in learning curves of runs that play the same game.

The figures are those of the model card `models/white-stake/README.md`: 1,000 games of the test panel with Red Deck, White
Stake and everything unlocked, repeated by `ante eval random greedy rules white-stake --panel`. A test compares both.
"""

from collections.abc import Mapping
from typing import Any

PLAYERS: dict[str, dict[str, float]] = {
    "random": {"blinds": 0.00, "ante": 1.00, "win_rate": 0.000},
    "greedy": {"blinds": 9.29, "ante": 3.63, "win_rate": 0.0},
    "rules": {"blinds": 14.79, "ante": 5.34, "win_rate": 0.032},
    "white-stake": {"blinds": 21.55, "ante": 7.00, "win_rate": 0.417},  # samples its actions, as training does
}
GAME = {"games.deck": "b_red", "games.stake": 1, "games.challenge": None, "games.start_states": None}
SHORTEST = 2000  # decisions of a game from which the limit does not change the figures
FAR = 2.0  # a line above a curve by more than this factor would flatten the curve
LEGEND = "other players: 1,000 games of the test panel, Red Deck, White Stake"


def plays_published_game(settings: Mapping[str, Any]) -> bool:
    """Return whether a run, given its settings by dotted path, trains on the game of the published results.

    Curves of a curriculum are of several games, and those of saved starts are of parts of games.
    """
    same = all(settings.get(path) == value for path, value in GAME.items())
    most = settings.get("games.max_decisions")
    return same and not settings.get("games.curriculum") and isinstance(most, int) and most >= SHORTEST


def published_lines(settings: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return metric -> player -> value, empty for a run that trains on another game."""
    if not plays_published_game(settings):
        return {}
    metrics = next(iter(PLAYERS.values()))
    return {metric: {player: values[metric] for player, values in PLAYERS.items()} for metric in metrics}


def lines_within(lines: Mapping[str, float], highest: float) -> tuple[dict[str, float], float]:
    """Return the lines to draw over a curve, and the highest value of its axis.

    The axis includes the next line above the curve unless that is more than FAR times as high.
    """
    above = [value for value in lines.values() if highest < value <= FAR * highest]
    top = min(above, default=highest)
    return {player: value for player, value in lines.items() if value <= top}, top
