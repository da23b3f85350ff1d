"""The draws and items of a seed, computed by the engine.

`survey(seed, deck, stake)` plays a run in which nothing is bought, sold or used and returns plain data. Its fields are
described in docs/reference/formats.md.
"""

from collections.abc import Iterable
from enum import IntEnum
from typing import Any

from ante.catalog.blinds import BLINDS
from ante.catalog.cards import EDITIONS, RANK_LETTERS, SUIT_LETTERS, card_key
from ante.catalog.challenges import CHALLENGES
from ante.catalog.decks import DECKS
from ante.catalog.hands import Hand
from ante.catalog.packs import PACKS
from ante.catalog.tags import TAGS
from ante.catalog.vouchers import VOUCHERS
from ante.engine.cards import shuffle_deck
from ante.engine.core.rng import Stream
from ante.engine.core.state import MAX_PACKS, new_states
from ante.engine.items.making import make_joker, make_planet, make_spectral, make_tarot
from ante.engine.items.owned import release
from ante.engine.items.packs import close_pack, open_pack_contents
from ante.engine.items.pools import draw_voucher
from ante.engine.items.sources import JokerSource, PlanetSource, SpectralSource, TarotSource
from ante.engine.notation import front_text, item_text
from ante.engine.run import draw_ante_blinds, draw_ante_voucher, draw_targets, new_run
from ante.engine.shop import draw_pack, empty_row, enter_shop, fill_row, leave_shop, make_row_card

QUEUE_CARDS = 20
REROLLS = 2
EACH_SOURCE = 5
SOULS = 5
FIRST_VISIBLE = Hand.STRAIGHT_FLUSH
MISC = {
    "emp": (make_tarot, TarotSource.EMP),
    "vag": (make_tarot, TarotSource.VAG),
    "8ba": (make_tarot, TarotSource.EIGHT_BALL),
    "sup": (make_tarot, TarotSource.SUP),
    "car": (make_tarot, TarotSource.CAR),
    "hal": (make_tarot, TarotSource.HAL),
    "pri": (make_planet, PlanetSource.PRI),
    "sea": (make_spectral, SpectralSource.SEA),
    "sixth": (make_spectral, SpectralSource.SIXTH),
    "jud": (make_joker, JokerSource.JUD),
    "wra": (make_joker, JokerSource.WRA),
    "rif": (make_joker, JokerSource.RIF),
    "top": (make_joker, JokerSource.TOP),
    "uta": (make_joker, JokerSource.UTA),
    "rta": (make_joker, JokerSource.RTA),
}


def copy_of(s: Any) -> Any:
    """Return an independent copy of a game."""
    states = new_states(1)
    states[0] = s
    return states[0]


def without_items(s: Any) -> Any:
    """Return a copy of a game without the starting consumables, so that no owned item blocks a draw."""
    game = copy_of(s)
    game.used[:] = 0
    game.n_consumables = 0
    return game


def release_made(s: Any) -> None:
    """Make the item in s.made available to draws again."""
    release(s, int(s.made.kind), int(s.made.id))


def survey(
    seed: str,
    deck: str | int = "b_red",
    stake: int = 1,
    antes: int = 8,
    challenge: str | int | None = None,
    locked: str | Iterable[str] = (),
) -> dict[str, Any]:
    """Return everything that a seed determines for antes 1 to `antes`.

    challenge, locked   as in `new_run`, which also lists the errors
    """
    s = new_run(seed, deck, stake, challenge, locked)
    result: dict[str, Any] = {
        "seed": bytes(s.seed[: s.seed_length]).decode(),
        "deck": CHALLENGES[s.challenge].key if s.challenge else DECKS[s.deck_id].key,
        "stake": int(s.stake),
        "start": {
            "deck": "".join(two_letters(s.cards[i]) for i in range(s.n_cards)),
            "draw": draw_order(s),
            "targets": targets(s),
        },
        "legendary": {"held": legendaries(s, keep=True), "unheld": legendaries(s, keep=False)},
        "antes": [],
    }
    buyer = copy_of(s)
    for ante in range(1, antes + 1):
        if ante > 1:
            s.ante = ante
            s.highest_ante = ante
            draw_ante_voucher(s)
            draw_ante_blinds(s)
            buy_ante_voucher(buyer, ante)
        result["antes"].append(survey_ante(s, int(buyer.voucher_this_ante)))
    return result


def survey_ante(s: Any, bought_voucher: int) -> dict[str, Any]:
    """Return the data of one ante. `s` is at its beginning and is moved to its end."""
    facts: dict[str, Any] = {
        "boss": BLINDS[s.boss].key,
        "voucher": VOUCHERS[s.voucher_this_ante].key,
        "voucher_all_bought": VOUCHERS[bought_voucher].key,
        "tags": [TAGS[tag].key for tag in s.skip_tags],
        "queue": queue(s),
        "qpacks": queued_packs(s),
        "misc": {name: made_by(s, *maker) for name, maker in MISC.items()},
        "soul_edition": soul_edition(s),
        "orbital_index": [int(hand) - FIRST_VISIBLE + 1 for hand in s.skip_tag_hands],
    }
    after = ["Small", "Big"] if s.ante == 1 else ["Boss", "Small", "Big"]
    facts["shops"] = [shop(s, blind) for blind in after]
    facts["draws"] = []
    for _ in range(3):
        shuffle_deck(s, Stream.NR)
        facts["draws"].append(draw_order(s))
    facts["targets_after"] = []
    for blind in range(3):
        s.ante += blind == 2  # the ante increases before the targets after a boss are drawn
        draw_targets(s)
        facts["targets_after"].append(targets(s))
    s.ante -= 1
    return facts


def two_letters(card: Any) -> str:
    """Return suit and rank without the separator, as in `SA`."""
    return front_text(card).replace("_", "")


def draw_order(s: Any) -> str:
    """Return the draw pile, the first drawn card first."""
    return "".join(two_letters(s.cards[s.deck[i]]) for i in range(s.n_deck - 1, -1, -1))


def targets(s: Any) -> list[str]:
    """Return The Idol's card, Mail-In Rebate's rank, Ancient Joker's suit and Castle's suit."""
    return [
        card_key(int(s.idol_suit), int(s.idol_rank)),
        RANK_LETTERS[s.mail_rank],
        SUIT_LETTERS[s.ancient_suit],
        SUIT_LETTERS[s.castle_suit],
    ]


def legendaries(s: Any, keep: bool) -> list[str]:
    """Return the jokers of five Souls in a row; `keep` states whether each stays owned."""
    game = copy_of(s)
    keys = []
    for _ in range(SOULS):
        make_joker(game, JokerSource.SOU, False, False)
        keys.append(item_text(game.made).split("/")[0])
        if not keep:
            release_made(game)
    return keys


def buy_ante_voucher(buyer: Any, ante: int) -> None:
    """Move the copy of the run in which every voucher is redeemed to an ante."""
    buyer.vouchers[buyer.voucher_this_ante] = 1
    buyer.ante = ante
    buyer.voucher_this_ante = draw_voucher(buyer, int(Stream.VOUCHER))


def queue(s: Any) -> list[str]:
    """Return the shop cards of this ante in order, with no other item in the shop."""
    game = without_items(s)
    cards = []
    for _ in range(QUEUE_CARDS):
        make_row_card(game)
        cards.append(item_text(game.made))
        release_made(game)
    return cards


def queued_packs(s: Any) -> list[list[Any]]:
    """Return the packs of the ante and their cards, with no other item in the shop."""
    game = without_items(s)
    game.plays[:] = 0
    opened = []
    for _ in range(4 if s.ante == 1 else 6):
        pack = draw_pack(game)
        open_pack_contents(game, pack)
        opened.append([PACKS[pack].key, pack_cards(game)])
        close_pack(game)
    return opened


def pack_cards(s: Any) -> list[str]:
    """Return the cards of the open pack."""
    return [item_text(s.pack[i]) for i in range(s.n_pack)]


def made_by(s: Any, make: Any, source: IntEnum) -> list[str]:
    """Return the first cards of one source in this ante, each made with no items owned."""
    game = without_items(s)
    cards = []
    for _ in range(EACH_SOURCE):
        if make is make_joker:
            make(game, source, False, False)
        else:
            make(game, source, False)
        cards.append(item_text(game.made))
        release_made(game)
    return cards


def soul_edition(s: Any) -> str | None:
    """Return the edition of the first joker that The Soul makes in this ante."""
    game = copy_of(s)
    make_joker(game, JokerSource.SOU, False, False)
    return EDITIONS[game.made.edition].key or None


def row_cards(s: Any) -> list[str]:
    """Return the cards of the shop row."""
    return [item_text(s.row[i]) for i in range(s.n_row)]


def shop(s: Any, after: str) -> dict[str, Any]:
    """Return one shop as the game makes it: its row, two rerolls, then both packs, opened after the last reroll."""
    first = not s.first_shop_made
    s.plays[Hand.HIGH_CARD] = 1  # at least one hand is played to beat a blind; Telescope depends on it
    enter_shop(s)
    facts: dict[str, Any] = {"after": after, "row": row_cards(s), "rerolls": [], "packs": []}
    for _ in range(REROLLS):
        empty_row(s)
        fill_row(s)
        facts["rerolls"].append(row_cards(s))
    for slot in range(MAX_PACKS):
        pack = int(s.packs[slot])
        open_pack_contents(s, pack)
        mark = "*" if first and slot == 0 else ""
        facts["packs"].append([PACKS[pack].key + mark, pack_cards(s)])
        close_pack(s)
    leave_shop(s)
    return facts
