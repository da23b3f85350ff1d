"""The poker hands in a set of played cards, each with its cards."""

from dataclasses import dataclass

from tests.reference.cards import SUITS, Card

NAMES = (
    "Flush Five",
    "Flush House",
    "Five of a Kind",
    "Straight Flush",
    "Four of a Kind",
    "Full House",
    "Flush",
    "Straight",
    "Three of a Kind",
    "Two Pair",
    "Pair",
    "High Card",
)
Found = dict[str, list[int]]


@dataclass
class Rules:
    """The effects of owned jokers on poker hands."""

    four_fingers: bool = False
    shortcut: bool = False
    smeared: bool = False

    @property
    def needed(self) -> int:
        return 4 if self.four_fingers else 5


def same_rank(cards: list[Card], count: int) -> list[list[int]]:
    """Return the sets of exactly this many cards of one rank, the highest rank first."""
    groups: dict[int, list[int]] = {}
    for i, card in enumerate(cards):
        if card.order is not None:
            groups.setdefault(card.order, []).append(i)
    return [groups[order] for order in sorted(groups, reverse=True) if len(groups[order]) == count]


def flush(cards: list[Card], rules: Rules) -> list[int]:
    """Return the cards of the first suit, in the order Spades, Hearts, Clubs, Diamonds, that has enough."""
    for suit in SUITS:
        members = [i for i, card in enumerate(cards) if card.shows_suit(suit, rules.smeared)]
        if len(members) >= rules.needed:
            return members
    return []


def straight(cards: list[Card], rules: Rules) -> list[int]:
    """Return the cards of the lowest run that is long enough, including duplicates; the Ace is at both ends."""
    by_order: dict[int, list[int]] = {}
    for i, card in enumerate(cards):
        if card.order is not None:
            by_order.setdefault(card.order, []).append(i)
    if 14 in by_order:
        by_order[1] = by_order[14]
    for run in runs(sorted(by_order), 2 if rules.shortcut else 1):
        if len(run) >= rules.needed:
            return sorted({i for order in run for i in by_order[order]})
    return []


def runs(orders: list[int], step: int) -> list[list[int]]:
    """Split ascending numbers where the difference exceeds a step."""
    found: list[list[int]] = []
    for order in orders:
        if found and order - found[-1][-1] <= step:
            found[-1].append(order)
        else:
            found.append([order])
    return found


def high_card(cards: list[Card]) -> list[int]:
    """Return the first card of the highest rank; Stone cards rank below all others."""
    return [max(range(len(cards)), key=lambda i: (cards[i].order or 0, -i))]


def contained(cards: list[Card], rules: Rules) -> Found:
    """Return every poker hand in these cards, with its cards in played order."""
    found: Found = {"High Card": high_card(cards)}
    add_flush_and_straight(found, cards, rules)
    add_same_ranks(found, cards)
    everything = list(range(len(cards)))
    if "Flush" in found and "Five of a Kind" in found:
        found["Flush Five"] = everything
    if "Flush" in found and "Full House" in found:
        found["Flush House"] = everything
    return found


def add_flush_and_straight(found: Found, cards: list[Card], rules: Rules) -> None:
    """Add flushes and straights; a Straight Flush needs both, not necessarily of the same cards."""
    found |= {name: members for name, members in [("Flush", flush(cards, rules)), ("Straight", straight(cards, rules))]}
    for name in ("Flush", "Straight"):
        if not found[name]:
            del found[name]
    if "Flush" in found and "Straight" in found:
        found["Straight Flush"] = sorted({*found["Flush"], *found["Straight"]})


def add_same_ranks(found: Found, cards: list[Card]) -> None:
    """Add sets; more of a kind contains fewer of a kind; a Full House contains Two Pair, four of a kind does not."""
    fives, fours, threes, pairs = (same_rank(cards, n) for n in (5, 4, 3, 2))
    for name, groups in [
        ("Five of a Kind", fives),
        ("Four of a Kind", fives + fours),
        ("Three of a Kind", fives + fours + threes),
        ("Pair", fives + fours + threes + pairs),
    ]:
        if groups:
            found[name] = groups[0]
    if threes and pairs:
        found["Full House"] = sorted(threes[0] + pairs[0])
    if len(threes + pairs) == 2:
        found["Two Pair"] = sorted(i for group in threes + pairs for i in group)


def best(found: Found) -> str:
    """Return the highest poker hand."""
    return next(name for name in NAMES if name in found)
