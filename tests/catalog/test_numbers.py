"""Every number of the catalogue except the jokers' is used: a changed number changes a game."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields
from functools import cache
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from ante.catalog import blinds, cards, challenges, constants, consumables, decks, hands, packs, shop, tags, vouchers
from ante.catalog.blinds import Blind
from ante.catalog.cards import Edition, Enhancement, Sticker
from ante.catalog.challenges import Modifier
from ante.catalog.consumables import Consumable
from ante.catalog.jokers import Joker
from ante.catalog.tags import Tag
from ante.catalog.vouchers import Voucher
from ante.engine import blinds as engine_blinds
from ante.engine import rounds, scoring
from ante.engine import shop as engine_shop
from ante.engine.actions import can_use
from ante.engine.core.state import Kind, Rule
from ante.engine.effects import active_boss, boss_dispatch, consumable_dispatch
from ante.engine.effects import tags as tag_effects
from ante.engine.items import making, owned, prices
from ante.engine.items import packs as engine_packs
from ante.engine.items import vouchers as voucher_effects
from ante.engine.items.pools import boss_eligible, tag_available, voucher_available
from ante.engine.items.sources import JokerSource, TarotSource
from ante.engine.run import new_run
from tests.support.perturb import (
    Number,
    changed,
    constants_of,
    fingerprint,
    is_number,
    numbers_of,
    other_values,
    uncompiled_only,
)
from tests.support.table import in_round, own

# Numbers without an effect, each with the reason.
UNREAD: dict[str, str] = {}
ALL_MOMENTS = -1

Scenario = Callable[[], Any]


@cache
def before(kind: str) -> Any:
    """Return the initial game of scenarios of a kind; scenarios continue from a copy."""
    if kind == "round":
        return in_round()
    s = new_run("TESTSEED")
    s.dollars = 57
    return s


def game(kind: str = "run", **changes: Any) -> Any:
    """Return a copy of that game with these fields changed."""
    s = before(kind).copy()
    for name, value in changes.items():
        s[name] = value
    return s


def shopped(**changes: Any) -> bytes:
    """Enter a shop and reroll it."""
    s = game(**changes)
    engine_shop.enter_shop(s)
    for _ in range(2):
        engine_shop.reroll_shop(s)
    return fingerprint(s)


def priced(s: Any, kind: Kind, number: int, **changes: Any) -> list[int]:
    """Return an item's prices and sell values, without and with each edition."""
    found = []
    for edition in Edition:
        s.made.kind, s.made.id, s.made.edition, s.made.stickers = kind, number, edition, 0
        for name, value in changes.items():
            s.made[name] = value
        prices.price(s, s.made)
        found += [int(s.made.cost), int(prices.sell_value(s.made))]
    return found


def blind_met(blind: int) -> Any:
    """Return a blind's target, reward and effects, before and after it is disabled."""
    s = game("round", blind=blind, ante=3, n_played=2)
    found: list[Any] = [engine_blinds.blind_target(s, blind)]
    found += [bool(boss_eligible(game(ante=ante), blind)) for ante in range(1, 18)]
    s.target, s.chips = 100.0, 100.0
    found.append(rounds.blind_reward(s))
    s.levels[:] = 5
    s.score_chips, s.score_mult = 101.0, 33.0
    s.made.kind = Kind.JOKER
    own(s, "j_joker", "j_egg", "j_mime", "j_droll", "j_sly")
    boss_dispatch.boss_selected(s, 0)
    active_boss.debuff_cards(s)
    found += [bool(boss_dispatch.boss_turns_card(s, card)) for card in range(50)] if blind == Blind.WHEEL else []
    s.hands_played = 1
    found += [active_boss.cards_to_draw(s), boss_dispatch.boss_cards_played(s, 0)]
    for played in range(1, 8):
        s.n_played = played
        found.append(bool(boss_dispatch.boss_hand_allowed(s, 0)))
    s.n_played = 2
    boss_dispatch.boss_hand_begins(s, 0)
    boss_dispatch.boss_hand_valued(s, 0)
    found.append(fingerprint(s))
    active_boss.disable_boss(s)
    return [*found, fingerprint(s)]


def targets() -> list[float]:
    """Return the targets of the blinds by ante, on stakes with different tables."""
    return [
        engine_blinds.blind_target(game(ante=ante, stake=stake), Blind.SMALL)
        for ante, stake in product(range(-1, 12), (1, 3, 6))
    ]


def hand_scored(hand: int) -> bytes:
    """Score a poker hand of level 3 without cards."""
    s = game("round", hand_type=hand, n_played=0, n_hand=0)
    s.levels[:] = 3
    scoring.evaluate(s, ALL_MOMENTS)
    return fingerprint(s)


def card_scored(enhancement: int, edition: int, seal: int) -> bytes:
    """Process cards of one kind: scored, kept in hand, broken, and kept at the end of the round."""
    s = game("round", chips=0.0, n_jokers=0)
    for rank in range(cards.TWO, cards.ACE + 1):
        card = s.cards[s.hand[0]]
        card.rank, card.enhancement, card.edition, card.seal = rank, enhancement, edition, seal
        s.score_mult += 1.0
        scoring.score_card(s, int(s.hand[0]), ALL_MOMENTS)
        scoring.hold_card(s, int(s.hand[0]), ALL_MOMENTS)
    for trial in range(20):
        s.played[0], s.n_played, s.scoring[0] = trial, 1, 1
        s.cards[trial].enhancement = enhancement
        scoring.break_cards(s, ALL_MOMENTS)
    s.cards[s.hand[0]].enhancement = enhancement
    rounds.held_cards_at_round_end(s)
    return fingerprint(s)


def editions_met() -> list[Any]:
    """Return the results of polls, Illusion and prices for editions, and the slots from Negative."""
    grid = np.arange(0.0, 1.0, 0.001)
    found = [making.edition_of(u, 1.0, 1.0, True) for u in grid[900:]] + [engine_packs.seal_of(u) for u in grid[::50]]
    s = with_voucher(Voucher.ILLUSION)
    found += [int(voucher_effects.illusion_edition(s)) for _ in range(40)]
    own(s, "j_joker")
    s.jokers[0].edition = Edition.NEGATIVE
    return [*found, *priced(s, Kind.JOKER, Joker.EGG), owned.negatives(s.jokers, 1)]


def joker_with_edition(edition: int) -> bytes:
    """Trigger a joker with an edition."""
    s = game("round", score_chips=1.0, score_mult=1.0)
    own(s, "j_egg")
    s.jokers[0].edition = edition
    scoring.score_joker(s, 0, ALL_MOMENTS)
    return fingerprint(s)


def consumable_used(number: int) -> list[Any]:
    """Return a consumable's price, the card sets that it accepts, and its effects, several times."""
    s = game("round", dollars=1000, consumable_slots=20, joker_slots=20)
    own(s, "j_joker", "j_egg", "j_mime", "j_droll", "j_sly", "j_hack")
    for i in range(s.n_jokers):
        s.jokers[i].cost = 100
    found: list[Any] = priced(s, Kind.CONSUMABLE, number)
    found += priced(game(rules=int(Rule.ASTRONOMER)), Kind.CONSUMABLE, number)
    found += [bool(can_use(s, number, (1 << n) - 1, 0)) for n in range(6)]
    row = consumables.CONSUMABLES[number]
    for _ in range(12 if row.odds else 2):
        chosen = (1 << row.max_highlighted) - 1
        if can_use(s, number, chosen, 0):
            consumable_dispatch.consumable_used(s, number, chosen, 0)
        found.append(fingerprint(s))
    return found


def tag_met(tag: int) -> list[Any]:
    """Return where a tag is offered and its effects at each moment."""
    s = game(hands_played_run=7, unused_discards_run=7, blinds_skipped=7, joker_slots=20, dollars=1000)
    found: list[Any] = [bool(tag_available(game(ante=ante), tag)) for ante in range(1, 5)]
    tag_effects.gain_tag(s, tag, 3)
    tag_effects.tags_raise_hand_size(s)
    found.append(tag_effects.tags_at_cash_out(s))
    s.made.kind, s.made.id, s.made.edition = Kind.JOKER, Joker.EGG, 0
    tag_effects.tag_gives_edition(s)
    if tag == Tag.D_SIX:
        engine_shop.enter_shop(s)
        found.append(engine_shop.reroll_price(s))
    return [*found, fingerprint(s)]


def voucher_met(voucher: int) -> list[Any]:
    """Return when a voucher is offered, its price, and everything that depends on it."""
    s = game("round", dollars=1000)
    found: list[Any] = [engine_shop.voucher_price(s, voucher)]
    for other in Voucher:
        found.append(bool(voucher_available(with_voucher(other), voucher)))
    voucher_effects.take_voucher(s, voucher)
    found += [prices.discounted(s, 10), voucher_effects.edition_rate(s), engine_shop.row_size(s), rounds.interest(s)]
    s.reroll_base = 5
    found += [engine_shop.reroll_price(s), voucher_effects.tarot_rate(s), voucher_effects.planet_rate(s)]
    found += [voucher_effects.boss_reroll_price(s)]
    s.consumables[0].id, s.n_consumables, s.hand_type, s.score_mult = Consumable.PLUTO, 1, hands.Hand.HIGH_CARD, 2.0
    if voucher == Voucher.OBSERVATORY:
        voucher_effects.observe_planets(s)
    if voucher == Voucher.MAGIC_TRICK:
        for _ in range(12):
            engine_shop.make_row_card(s)
            found.append(int(s.made.kind))
    if voucher == Voucher.OMEN_GLOBE:
        for _ in range(12):
            engine_packs.make_pack_card(s, packs.PackKind.ARCANA, 0)
            found.append(int(s.made.id))
    return [*found, fingerprint(s)]


def with_voucher(voucher: int) -> Any:
    """Return a run with one redeemed voucher."""
    s = game()
    s.vouchers[voucher] = 1
    return s


def pack_met(pack: int) -> list[Any]:
    """Return a pack's price and contents."""
    s = game()
    s.packs[0] = pack
    found: list[Any] = [engine_shop.pack_price(s, 0)]
    engine_packs.open_pack_contents(s, pack)
    return [*found, fingerprint(s)]


def packs_drawn() -> list[int]:
    """Draw packs for sale, one after the other."""
    found = []
    for restricted in (0, 1):
        s = game(restricted=restricted, first_shop_made=1)
        found += [int(engine_shop.draw_pack(s)) for _ in range(150)]
    return found


def run_begun(deck: int = 0, stake: int = 1, challenge: int = 0) -> list[Any]:
    """Start a run; return the payout of its first round and cards of its shop."""
    s = new_run("TESTSEED", deck, stake, challenge or None)
    found: list[Any] = [fingerprint(s), engine_blinds.blind_target(s, Blind.BIG)]
    s.blind, s.hands_left, s.discards_left, s.chips, s.dollars = Blind.BIG, 3, 3, 1e9, 100
    found.append(rounds.cash_out_total(s))
    for _ in range(8 if decks.DECKS[deck].spectral_rate else 0):
        engine_shop.make_row_card(s)
        found.append(int(s.made.id))
    return found


def modifiers_met() -> list[Any]:
    """Return the numbers of rules that challenges change."""
    s = game("round", modifiers=int(Modifier.INFLATION | Modifier.HAND_TAX | Modifier.FLIPPED_CARDS), dollars=17)
    found = [active_boss.hand_limit(s)] + [bool(active_boss.comes_face_down(s, card)) for card in range(40)]
    prices.inflate(s)
    return [*found, fingerprint(s)]


def discard_paid() -> bytes:
    """Discard at a cost."""
    s = game("round", modifiers=int(Modifier.DISCARD_COST))
    rounds.discard_cards(s, 1)
    return fingerprint(s)


def antes_ended() -> list[bytes]:
    """Beat bosses of some antes under Typecast."""
    found = []
    for ante in (3, 4, 5, 7, 8, 9):
        s = game("round", ante=ante, modifiers=int(Modifier.TYPECAST))
        own(s, "j_joker")
        rounds.raise_ante(s)
        found.append(fingerprint(s))
    return found


def shop_polls() -> list[Any]:
    """Poll many cards of the shop and of packs: rarities, stickers, editions, seals, The Soul."""
    s = game(stake=8, dollars=20)
    found: list[Any] = []
    for i in range(60):
        making.make_joker(s, int(JokerSource.SHO), True, False)
        found.append(fingerprint(s) if i == 0 else (int(s.made.id), int(s.made.stickers), int(s.made.rounds)))
        engine_packs.make_standard_card(s)
        found.append((int(s.made.edition), int(s.made.seal), int(s.made.enhancement), int(s.made.cost)))
        found.append(making.roll_sure_edition(s, making.Stream.AURA))
    s.vouchers[Voucher.MAGIC_TRICK] = s.vouchers[Voucher.ILLUSION] = 1
    for _ in range(60):
        engine_shop.make_row_card(s)
        found.append((int(s.made.kind), int(s.made.id), int(s.made.enhancement), int(s.made.edition)))
    return found


def row_cards() -> list[int]:
    """Draw cards of the shop row, without vouchers."""
    s = game()
    found = []
    for _ in range(150):
        engine_shop.make_row_card(s)
        found.append(100 * int(s.made.kind) + int(s.made.id))
    return found


def souls() -> list[int]:
    """Draw Tarots of packs, including The Soul."""
    s = game(rules=int(Rule.SHOWMAN))
    found = []
    for _ in range(400):
        making.make_tarot(s, int(TarotSource.AR1), True)
        found.append(int(s.made.id))
    return found


def rent_paid() -> bytes:
    """Return rental jokers at the end of a round, and a rental joker for sale."""
    s = game("round", dollars=5)
    own(s, "j_joker")
    s.jokers[0].stickers = Sticker.RENTAL
    prices.price(s, s.jokers[0])
    rounds.pay_rentals_and_perish(s)
    return fingerprint(s)


def cheapest() -> list[int]:
    """Return prices under Liquidation, and the sell values of cheap items."""
    s = with_voucher(Voucher.LIQUIDATION)
    return [prices.discounted(s, 0), *priced(s, Kind.PLAYING_CARD, 0), *priced(game(), Kind.PLAYING_CARD, 0)]


def interest_earned() -> list[int]:
    """Return the interest on different amounts."""
    return [int(rounds.interest(game(dollars=dollars))) for dollars in range(0, 60, 3)]


CONSTANTS = (run_begun, shopped, row_cards, shop_polls, interest_earned, antes_ended, rent_paid, cheapest)

# Each table of rows: the field that identifies a row, and the scenarios in which a change of the row has an effect.
TABLES: dict[str, tuple[ModuleType, str, Callable[[int], list[Any]]]] = {
    "BLINDS": (blinds, "blind", lambda row: [(blind_met, row)]),
    "HANDS": (hands, "hand", lambda row: [(hand_scored, row)]),
    "ENHANCEMENTS": (cards, "enhancement", lambda row: [(card_scored, row, 0, 0)]),
    "EDITIONS": (cards, "edition", lambda row: [(card_scored, 0, row, 0), (joker_with_edition, row), (editions_met,)]),
    "SEALS": (cards, "seal", lambda row: [(card_scored, Enhancement.STEEL, 0, row), (editions_met,)]),
    "CONSUMABLES": (consumables, "consumable", lambda row: [(consumable_used, row)]),
    "TAGS": (tags, "tag", lambda row: [(tag_met, row)]),
    "VOUCHERS": (vouchers, "voucher", lambda row: [(voucher_met, row)]),
    "PACKS": (packs, "", lambda row: [(pack_met, row), (packs_drawn,)]),
    "DECKS": (decks, "deck", lambda row: [(run_begun, row)]),
    "STAKES": (decks, "stake", lambda row: [(run_begun, 0, row + 1)]),
    "CHALLENGES": (challenges, "challenge", lambda row: [(run_begun, 0, 1, row)]),
}
usual: dict[tuple[Any, ...], Any] = {}


def outcome(scenario: tuple[Any, ...]) -> Any:
    """Return the result of a scenario, which is a function and its arguments."""
    return scenario[0](*scenario[1:])


def changes_the_game(number: Any, scenarios: list[tuple[Any, ...]]) -> bool:
    """Return whether another value changes the result of a scenario, or is refused when the tables are built."""
    for scenario in scenarios:
        if scenario not in usual:
            usual[scenario] = outcome(scenario)
            assert outcome(scenario) == usual[scenario], "scenarios are deterministic"
    for value in other_values(number.value):
        try:
            with changed(number, value):
                if any(outcome(scenario) != usual[scenario] for scenario in scenarios):
                    return True
        except (ArithmeticError, AssertionError, LookupError, RuntimeError, ValueError):
            return True
    return False


def own_numbers(module: ModuleType, table: str, without: str) -> Iterator[Number]:
    """Yield every number that a row states; defaults belong to no row."""
    first = getattr(module, table)[0]
    usual_values = {f.name: f.default for f in fields(first) if f.default is not MISSING}
    identity = tuple(name for name in (without,) if name)
    for number in numbers_of(
        module, table, without=identity, first=int(first.key == "" if hasattr(first, "key") else 0)
    ):
        row = getattr(module, table)[number.row]
        given = getattr(row, number.field)
        if number.field not in usual_values or given != usual_values[number.field]:
            yield number


@uncompiled_only
@pytest.mark.parametrize("table", sorted(TABLES))
def test_every_number_of_a_row_changes_the_game(table: str) -> None:
    module, identity, scenarios = TABLES[table]
    numbers = list(own_numbers(module, table, identity))
    assert numbers
    unread = [str(number) for number in numbers if not changes_the_game(number, scenarios(number.row or 0))]
    assert [name for name in unread if name not in UNREAD] == []


class AnteBase:
    """One number in the table of requirements."""

    module, table = blinds, "ANTE_BASE"

    def __init__(self, scaling: int, place: int) -> None:
        """Refer to the number of this scaling at index ante - 1."""
        self.scaling, self.place = scaling, place
        self.value = blinds.ANTE_BASE[scaling][place]

    def table_with(self, value: int) -> dict[int, tuple[int, ...]]:
        """Return the whole table with another value at this index."""
        row = list(blinds.ANTE_BASE[self.scaling])
        row[self.place] = value
        return {**blinds.ANTE_BASE, self.scaling: tuple(row)}


@uncompiled_only
def test_every_requirement_of_an_ante_changes_the_game() -> None:
    places = [AnteBase(scaling, place) for scaling, row in blinds.ANTE_BASE.items() for place in range(len(row))]
    assert [(n.scaling, n.place) for n in places if not changes_the_game(n, [(targets,)])] == []


def constant_names(module: ModuleType) -> list[str]:
    """Return the names of a module's numeric constants."""
    return sorted(name for name in vars(module) if name.isupper() and not name.startswith("_"))


@uncompiled_only
@pytest.mark.parametrize(
    ("module", "names", "scenarios"),
    [
        (constants, None, CONSTANTS),
        (shop, None, (shop_polls, souls, cheapest)),
        (blinds, ("BOSS_MULT", "SHOWDOWN_EVERY", "LOWEST_BASE"), (lambda: blind_met(Blind.WALL), targets)),
        (packs, ("TOTAL_WEIGHT",), (packs_drawn,)),
        (cards, ("RANK_CHIPS",), (lambda: card_scored(0, 0, 0),)),
        (
            challenges,
            ("FLIPPED_ODDS", "HAND_TAX_DOLLARS", "TYPECAST_ANTE", "INFLATION_DOLLARS", "DISCARD_DOLLARS"),
            (modifiers_met, discard_paid, antes_ended),
        ),
    ],
    ids=["constants", "shop", "blinds", "packs", "cards", "challenges"],
)
def test_every_constant_changes_the_game(
    module: ModuleType, names: tuple[str, ...] | None, scenarios: tuple[Scenario, ...]
) -> None:
    unread = []
    for number in constants_of(module, *(names or constant_names(module))):
        if (module is constants and number.table in STARTS) or (
            number.table == "RANK_CHIPS" and number.part < cards.TWO
        ):
            continue
        if not changes_the_game(number, [(scenario,) for scenario in scenarios]):
            unread.append(str(number))
    assert [name for name in unread if name not in UNREAD] == []


# The initial values of a run without a challenge are constants; the rows of challenges and decks copy them.
STARTS = {"START_MONEY": "dollars", "HANDS": "hands", "DISCARDS": "discards", "HAND_SIZE": "hand_size"}
STARTS |= {"JOKER_SLOTS": "joker_slots", "MONEY_PER_HAND": "hand_dollars"}


@uncompiled_only
@pytest.mark.parametrize("name", sorted(STARTS))
def test_what_a_run_begins_with_is_that_of_the_plain_row(name: str) -> None:
    row, module, table = challenges.CHALLENGES[0], challenges, "CHALLENGES"
    if name == "MONEY_PER_HAND":
        row, module, table = decks.DECKS[0], decks, "DECKS"
    value = getattr(row, STARTS[name])
    assert is_number(value) and value == getattr(constants, name)
    assert changes_the_game(Number(module, table, 0, STARTS[name], None, value), [(run_begun,)])


def test_few_numbers_change_nothing() -> None:
    assert len(UNREAD) <= 10


# Numbers in the engine that are not game numbers, by file: counts, or the meaning of a word.
ALLOWED: dict[str, dict[float, str]] = {
    "actions.py": {2: "two orders to sort by; Small and Big can be skipped"},
    "cards.py": {2: "the base in which sort_value counts ranks"},
    "effects/bosses.py": {2: "fewer than two jokers cannot change places", 0.5: "rounding half up"},
    "effects/poker.py": {
        2: "a pair is two cards",
        3: "three of a kind",
        4: "four of a kind; four bits count the cards of a rank",
        5: "five of a kind, a flush, a straight",
        8: "bits of a card index in a packed list",
    },
    "items/making.py": dict.fromkeys((2, 5, 10, 20, 23, 100), "what a new joker shows"),
    "items/pools.py": {2: "the first resampling is the second try; no showdown below the second ante"},
    "items/prices.py": {0.5: "rounding half up", 100: "percent"},
    "items/sources.py": {2: "a rarity", 3: "a rarity", 5: "rarities, 0 included"},
    "scoring.py": {2: "the average of two numbers"},
}
ENGINE = Path(engine_blinds.__file__).parent
# core and drivers contain streams, arithmetic and players, dispatch is generated, jokers have a separate test.
BOUNDS = ENGINE / "validation.py"  # limits of a record from outside, far above those of a game
READ = [
    file
    for file in sorted(ENGINE.rglob("*.py"))
    if file.parent.name not in ("core", "drivers", "jokers") and file != BOUNDS
]
BITS = (ast.LShift, ast.RShift, ast.BitAnd)


def without_meaning(tree: ast.AST) -> set[int]:
    """Return ids of the literals that number enum members, array positions and bits."""
    found: set[int] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST] = []
        if isinstance(node, ast.ClassDef) and any("Enum" in ast.unparse(base) for base in node.bases):
            parts = [node]
        elif isinstance(node, ast.Subscript):
            parts = [node.slice]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, BITS):
            parts = [node.left, node.right]
        for part in parts:
            # For operands of bit operations only the literal itself: computed values there may be game numbers.
            inner = ast.walk(part) if not isinstance(node, ast.BinOp) else [part]
            found |= {id(leaf) for leaf in inner if isinstance(leaf, ast.Constant)}
    return found


def literals(file: Path) -> list[tuple[int, float]]:
    """Return line and value of every meaningful number in a file, except 0, 1 and -1."""
    tree = ast.parse(file.read_text())
    skipped = without_meaning(tree)
    return [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and is_number(node.value)
        and node.value not in (0, 1)
        and id(node) not in skipped
    ]


@pytest.mark.parametrize("file", READ, ids=lambda file: str(file.relative_to(ENGINE)))
def test_no_number_of_the_game_stands_in_the_engine(file: Path) -> None:
    allowed = ALLOWED.get(str(file.relative_to(ENGINE)), {})
    assert [(line, value) for line, value in literals(file) if value not in allowed] == []


def test_literals_are_found() -> None:
    tree = ast.parse("x = 7.0\ny = a[3] + (b >> 4)\nz = (5 * c) & 15\n")
    skipped = without_meaning(tree)
    assert {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in skipped} == {7.0, 5}
