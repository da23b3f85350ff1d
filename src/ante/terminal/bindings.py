"""The keys: each has one meaning, in every phase of the game."""

from dataclasses import dataclass
from enum import IntEnum

from ante.engine.actions import Verb
from ante.engine.core.state import Phase

SLOTS = "1234567890abcdefghijklmnopqrstuvwxyz"  # keys of slots 1 to 36, after a key that requires one
CARDS = SLOTS[:10]  # keys that select a hand card; others are reached with the cursor

LEFT, RIGHT, UP, DOWN, SPACE, ESCAPE = "<left>", "<right>", "<up>", "<down>", "<space>", "<esc>"
END = "<end>"  # the input has ended
RESIZED = "<resized>"  # the terminal has another size


class Group(IntEnum):
    """A group of keys, with a title on the page of all keys."""

    CARDS = 0
    ROUND = 1
    BLIND = 2
    SHOP = 3
    ITEMS = 4
    PAGES = 5
    GAME = 6


TITLES = ("Cards", "Round", "Blind", "Shop and packs", "Your items", "Look at", "Game")
HAND, ANY = (Phase.PLAY, Phase.PACK), tuple(Phase)[:-1]


@dataclass(frozen=True)
class Binding:
    """One key.

    key     as `reading` yields it
    label   what it does, in the footer
    about   what it does, on the page of all keys
    group   Group
    verb    the macro decision that it takes; None for keys that change only the screen
    phases  phases in which the decision can be legal
    slot    what a following key chooses; empty if none follows
    to      second slot of the decision
    cards   whether the decision takes the selected cards
    """

    key: str
    label: str
    about: str
    group: Group
    verb: Verb | None = None
    phases: tuple[Phase, ...] = tuple(Phase)
    slot: str = ""
    to: int = 0
    cards: bool = False


BINDINGS = (
    Binding(CARDS, "card", "select or deselect card 1 to 10", Group.CARDS, phases=HAND),
    Binding(LEFT, "", "move the cursor left", Group.CARDS, phases=HAND),
    Binding(RIGHT, "", "move the cursor right", Group.CARDS, phases=HAND),
    Binding(SPACE, "", "select the card at the cursor", Group.CARDS, phases=HAND),
    Binding("-", "none", "select no card", Group.CARDS, phases=HAND),
    Binding("r", "by rank", "sort the hand by rank", Group.CARDS, Verb.SORT_HAND, HAND),
    Binding("s", "by suit", "sort the hand by suit", Group.CARDS, Verb.SORT_HAND, HAND, to=1),
    Binding(",", "", "move the cursor's card left", Group.CARDS, Verb.MOVE_CARD, HAND),
    Binding(".", "", "move the cursor's card right", Group.CARDS, Verb.MOVE_CARD, HAND),
    Binding("p", "play", "play the selected cards", Group.ROUND, Verb.PLAY, (Phase.PLAY,), cards=True),
    Binding("d", "discard", "discard the selected cards", Group.ROUND, Verb.DISCARD, (Phase.PLAY,), cards=True),
    Binding("c", "collect", "collect the payout", Group.ROUND, Verb.CASH_OUT, (Phase.ROUND_END,)),
    Binding("e", "enter blind", "enter the next blind", Group.BLIND, Verb.SELECT_BLIND, (Phase.BLIND_SELECT,)),
    Binding("k", "skip blind", "skip the next blind for its tag", Group.BLIND, Verb.SKIP_BLIND, (Phase.BLIND_SELECT,)),
    Binding("B", "reroll boss", "reroll the boss", Group.BLIND, Verb.REROLL_BOSS, (Phase.BLIND_SELECT,)),
    Binding("b", "buy", "buy card n", Group.SHOP, Verb.BUY, (Phase.SHOP,), "card for sale"),
    Binding("n", "buy+use", "buy card n and use it now", Group.SHOP, Verb.BUY_AND_USE, (Phase.SHOP,), "card for sale"),
    Binding("v", "voucher", "redeem voucher n", Group.SHOP, Verb.BUY_VOUCHER, (Phase.SHOP,), "voucher"),
    Binding("o", "open pack", "buy and open pack n", Group.SHOP, Verb.OPEN_PACK, (Phase.SHOP,), "pack"),
    Binding("R", "reroll", "reroll the cards for sale", Group.SHOP, Verb.REROLL, (Phase.SHOP,)),
    Binding("l", "leave shop", "leave the shop", Group.SHOP, Verb.NEXT_ROUND, (Phase.SHOP,)),
    Binding(
        "t", "take", "take card n of the pack", Group.SHOP, Verb.PICK, (Phase.PACK,), "card of the pack", cards=True
    ),
    Binding("K", "skip pack", "take no more of the pack", Group.SHOP, Verb.SKIP_PACK, (Phase.PACK,)),
    Binding("u", "use", "use consumable n", Group.ITEMS, Verb.USE, ANY, "consumable", cards=True),
    Binding("x", "sell joker", "sell joker n", Group.ITEMS, Verb.SELL_JOKER, ANY, "joker"),
    Binding("X", "sell cons.", "sell consumable n", Group.ITEMS, Verb.SELL_CONSUMABLE, ANY, "consumable"),
    Binding("[", "joker left", "move joker n left", Group.ITEMS, Verb.MOVE_JOKER, ANY, "joker", to=-1),
    Binding("]", "joker right", "move joker n right", Group.ITEMS, Verb.MOVE_JOKER, ANY, "joker", to=1),
    Binding("j", "items", "all items with their texts", Group.PAGES),
    Binding("D", "deck", "the cards you have not drawn", Group.PAGES),
    Binding("i", "run", "hand levels, vouchers and tags", Group.PAGES),
    Binding("h", "advice", "what another player would do", Group.PAGES, phases=ANY),
    Binding("?", "keys", "this screen, and all keys", Group.PAGES),
    Binding(UP, "", "scroll a page up", Group.PAGES),
    Binding(DOWN, "", "scroll a page down", Group.PAGES),
    Binding(ESCAPE, "", "close a page, choose no number", Group.PAGES),
    Binding("z", "undo", "take back the last decision", Group.GAME),
    Binding("w", "save", "write the game to a file", Group.GAME),
    Binding("q", "quit", "save and quit", Group.GAME),
)
BY_KEY = {key: binding for binding in BINDINGS for key in ([*CARDS] if binding.key == CARDS else [binding.key])}
SHOWN = {CARDS: "1-0", LEFT: "left", RIGHT: "right", UP: "up", DOWN: "down", SPACE: "space", ESCAPE: "esc"}
WHERE = {
    Phase.BLIND_SELECT: "before a blind",
    Phase.PLAY: "in a round",
    Phase.ROUND_END: "after a round",
    Phase.SHOP: "in the shop",
    Phase.PACK: "in a pack",
}


def shown_key(binding: Binding) -> str:
    """Return a key as the footer and the page of keys show it: `p`, `b 1`, `1-0`, `left`."""
    return SHOWN.get(binding.key, binding.key) + (" n" if binding.slot else "")


def places(binding: Binding) -> str:
    """Return where a decision is possible: `in the shop`, `in a round or in a pack`."""
    return " or ".join(WHERE[phase] for phase in binding.phases if phase in WHERE)


HAND_WORDS = " or ".join(WHERE[phase] for phase in HAND)
