"""The rules by which games of training are kept as highlights: first wins, best and oddest games.

A rule keeps the game with the greatest or the least figure, and the earlier one of equal figures. The rule `win` is
followed by the deck and stake or the challenge, `win:b_red:1`: the first win of each is kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ante.catalog.hands import HANDS
from ante.env.replay import Heading


@dataclass(frozen=True)
class Rule:
    """A rule.

    words  its description, with the figure in braces
    least  whether the least figure is kept
    """

    words: str
    least: bool = False


RULES = {
    "win": Rule("first win"),
    "highest_hand": Rule("highest hand: {:,.0f}"),
    "most_blinds": Rule("most blinds: {:.0f}"),
    "longest_game": Rule("longest game: {:.0f} decisions"),
    "shortest_win": Rule("shortest win: {:.0f} decisions", least=True),
    "fewest_jokers": Rule("win with the fewest jokers: {:.0f}", least=True),
    "best_poker_hand": Rule("win with the best poker hand: {}"),  # figure: `hand_rank`
}


def first_win(heading: Heading) -> str:
    """Return the rule that keeps the first win with the challenge, or the deck and stake, of a game."""
    return f"win:{heading.challenge}" if heading.challenge else f"win:{heading.deck}:{heading.stake}"


def hand_rank(number: int) -> int:
    """Return the rank of a Hand: 1 for a High Card to 12 for a Flush Five."""
    return len(HANDS) - number


def ahead(figures: Mapping[str, float], best: Mapping[str, float]) -> list[str]:
    """Return the rules by which a game's figures are better than the best ones so far."""
    return [rule for rule, figure in figures.items() if rule not in best or is_better(rule, figure, best[rule])]


def is_better(rule: str, figure: float, best: float) -> bool:
    """Return whether a figure is better than another one by a rule; equal figures are not."""
    return figure < best if RULES[rule.partition(":")[0]].least else figure > best


def checked_figures(figures: dict[str, float]) -> dict[str, float]:
    """Return the figures of a file. Raises ValueError for one that is out of the range of its rule."""
    if not 1 <= figures.get("best_poker_hand", 1) <= len(HANDS):
        raise ValueError(f"best_poker_hand must be 1 to {len(HANDS)}")
    return figures


def described(rule: str, figure: float) -> str:
    """Return a rule and its figure in words; the rule's name if it is not known."""
    name, _, kind = rule.partition(":")
    if name not in RULES:
        return rule
    if name == "best_poker_hand":
        return RULES[name].words.format(HANDS[hand_rank(int(figure))].name)
    return RULES[name].words.format(figure) + (f" ({kind.replace(':', ', stake ')})" if kind else "")
