"""Every number in a joker's row is used: a changed number changes a game, and the engine contains no copy."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import ante.engine.items.vouchers
import ante.engine.jokers
from ante.catalog import jokers
from ante.catalog.blinds import Blind
from ante.catalog.cards import Enhancement
from ante.catalog.consumables import Consumable
from ante.catalog.hands import Hand
from ante.catalog.jokers import JOKERS, Joker
from ante.catalog.tags import Tag
from ante.catalog.vouchers import VOUCHERS
from ante.engine.actions import Verb
from ante.engine.core.rng import Stream
from ante.engine.effects.moments import EFFECTS
from ante.engine.items.making import make_given_joker
from ante.engine.items.pools import draw_joker, joker_available
from ante.engine.run import new_run
from ante.verification.rule_items import effect_modules
from tests.support.perturb import Number, Scenario, fingerprint, numbers_of, uncompiled_only, unread
from tests.support.table import act, discard, in_round, own, play, redeal, select, to_shop, use, win

# Numbers without an effect, each with the reason.
UNREAD: dict[str, str] = {}

FOLDER = Path(ante.engine.jokers.__file__).parent
WRITTEN = sorted(file for file in FOLDER.glob("*.py") if file.name != "dispatch.py")

# One game of each kind, dealt once; every scenario continues from a copy.
ROYAL = ("S_A S_K S_Q S_J S_T", "H_K H_Q C_9")
FULL_HOUSE = ("H_8 D_8 C_8 S_2 C_2", "S_K")
FOUR = ("S_4 H_4 C_4 D_4", "S_9")
FACES = ("D_J H_J C_K S_Q D_2", "S_9")
ENHANCED = ("S_A:m_steel H_A:m_stone D_A:m_gold C_A:m_glass S_7", "S_K:m_steel")


@cache
def before(kind: str) -> Any:
    """Return the initial game of scenarios of a kind."""
    if kind == "run":
        return new_run("TESTSEED", "b_red", 1)
    return in_round() if kind == "round" else to_shop(in_round())


def with_jokers(kind: str, *keys: str, **changes: Any) -> Any:
    """Return a copy of that game with these jokers and changed fields; `joker_x` is field x of the first joker."""
    s = before(kind).copy()
    own(s, *keys)
    for name, value in changes.items():
        if name.startswith("joker_"):
            s.jokers[0][name.removeprefix("joker_")] = value
        else:
            s[name] = value
    return s


def at_play(key: str, cards: tuple[str, str], *others: str, **changes: Any) -> Any:
    """Return a round with these cards to play and to keep in hand, and a target that no score reaches."""
    s = with_jokers("round", key, *others, target=1e300, **changes)
    redeal(s, " ".join(cards))
    return s


def played(key: str, cards: tuple[str, str], *others: str, **changes: Any) -> bytes:
    """Play all cards at once."""
    s = at_play(key, cards, *others, **changes)
    play(s, *range(len(cards[0].split())))
    return fingerprint(s)


def discarded(key: str, cards: tuple[str, str] = FACES, **changes: Any) -> bytes:
    """Discard all cards at once."""
    s = at_play(key, cards, **changes)
    discard(s, *range(len(cards[0].split())))
    return fingerprint(s)


def round_ended(key: str, **changes: Any) -> bytes:
    """Win a round and cash out."""
    s = with_jokers("round", key, **changes)
    to_shop(s)
    return fingerprint(s)


def blind_chosen(key: str) -> bytes:
    """Select a blind with an Egg and a Certificate to the right of the joker."""
    s = with_jokers("run", key, "j_egg", "j_certificate")
    return fingerprint(select(s, "bl_small"))


def shopped(key: str) -> bytes:
    """Reroll the shop, open and skip a pack, and sell a joker."""
    s = with_jokers("shop", key, "j_egg", dollars=100)
    for verb, target in ((Verb.REROLL, 0), (Verb.OPEN_PACK, 0), (Verb.SKIP_PACK, 0), (Verb.SELL_JOKER, 1)):
        act(s, verb, target)
    return fingerprint(s)


def used(key: str, consumable: str, *positions: int) -> bytes:
    """Use a consumable on cards of the hand."""
    s = at_play(key, ENHANCED if key == "j_glass" else FACES)
    use(s, consumable, *positions)
    return fingerprint(s)


def boss_beaten(key: str) -> bytes:
    """Beat a boss."""
    s = with_jokers("round", key, blind=int(Blind.HEAD))
    win(s)
    return fingerprint(s)


def boss_triggered(key: str) -> bytes:
    """Play a hand of debuffed cards."""
    s = at_play(key, ("C_A:m_mult", "S_K"), blind=int(Blind.CLUB))
    s.cards[s.hand[0]].debuffed = 1
    play(s, 0)
    return fingerprint(s)


def with_enhanced(key: str) -> bytes:
    """Play a hand with sixteen enhanced cards in the deck."""
    s = at_play(key, ROYAL)
    for i in range(16):
        s.cards[s.deck[i]].enhancement = int(Enhancement.BONUS)
    play(s, 0)
    return fingerprint(s)


def twice(key: str) -> bytes:
    """Play the same hand twice in a round."""
    s = at_play(key, FOUR)
    play(s, 0)
    play(s, 0)
    return fingerprint(s)


def rolled(key: str, cards: tuple[str, str], *others: str) -> list[bytes]:
    """Play the cards in games with different random numbers."""
    found = []
    for seed in ("AAAAAAAA", "BBBBBBBB", "CCCCCCCC", "DDDDDDDD", "EEEEEEEE", "FFFFFFFF"):
        s = in_round(seed=seed)
        own(s, key, *others)
        s.target = 1e300
        redeal(s, " ".join(cards))
        play(s, *range(len(cards[0].split())))
        found.append(fingerprint(s))
    return found


def rarely_played(key: str) -> bytes:
    """Play a hand after another hand was played more often."""
    s = at_play(key, ROYAL)
    s.plays[Hand.PAIR] = 9
    play(s, 0, 1, 2, 3, 4)
    return fingerprint(s)


def sold(key: str) -> bytes:
    """Sell the joker, which has a neighbour."""
    s = with_jokers("shop", key, "j_egg", joker_count=2)
    act(s, Verb.SELL_JOKER, 0)
    return fingerprint(s)


def last_hand(key: str) -> bytes:
    """Lose a round with its last hand, with more than half of the target reached."""
    s = at_play(key, FOUR, hands_left=1)
    s.target, s.chips = 1e6, 3e5
    act(s, Verb.PLAY, cards=(0,))
    return fingerprint(s)


# Scenarios for jokers whose numbers have no effect in the usual scenarios.
SPECIAL: dict[Joker, list[Callable[[str], Any]]] = {
    Joker.LOYALTY_CARD: [lambda key: played(key, ROYAL, joker_count=5)],
    Joker.FOUR_FINGERS: [lambda key: played(key, ("S_2 S_4 S_6 S_9", "H_K"))],
    Joker.MYSTIC_SUMMIT: [
        lambda key: played(key, ROYAL, discards_left=0),
        lambda key: played(key, ROYAL, discards_left=1),
    ],
    Joker.MISPRINT: [lambda key: rolled(key, ROYAL)],
    Joker.HACK: [lambda key: played(key, ("S_2 S_3 S_4 S_5 S_6", "S_K"))],
    Joker.SPACE: [lambda key: rolled(key, ROYAL, "j_oops")],
    Joker.GREEN_JOKER: [lambda key: played(key, ROYAL), lambda key: discarded(key, joker_value=5.0)],
    Joker.BLOODSTONE: [lambda key: rolled(key, FULL_HOUSE)],
    Joker.STENCIL: [lambda key: played(key, ROYAL)],
    Joker.VAGABOND: [lambda key: played(key, ROYAL, dollars=4)],
    Joker.LUCKY_CAT: [lambda key: played(key, ("S_A:m_lucky", "S_K"), "j_oops", "j_oops", "j_oops")],
    Joker.TODO_LIST: [lambda key: played(key, ROYAL, joker_hand=int(Hand.STRAIGHT_FLUSH))],
    Joker.CARD_SHARP: [twice],
    Joker.CONSTELLATION: [lambda key: used(key, "c_mercury")],
    Joker.CAINO: [lambda key: used(key, "c_hanged_man", 0)],
    Joker.GLASS: [lambda key: used(key, "c_hanged_man", 3)],
    Joker.ROCKET: [boss_beaten, round_ended],
    Joker.OBELISK: [rarely_played, lambda key: played(key, ROYAL, plays=9)],
    Joker.EROSION: [lambda key: played(key, ROYAL, starting_deck_size=60)],
    Joker.MAIL: [lambda key: discarded(key, mail_rank=11)],
    Joker.CASTLE: [lambda key: discarded(key, castle_suit=3)],
    Joker.TO_THE_MOON: [lambda key: round_ended(key, dollars=20)],
    Joker.FORTUNE_TELLER: [lambda key: played(key, ROYAL, tarots_used=3)],
    Joker.BASEBALL: [lambda key: played(key, ROYAL, "j_mime")],
    Joker.BULL: [lambda key: played(key, ROYAL, dollars=23)],
    Joker.BOOTSTRAPS: [lambda key: played(key, ROYAL, dollars=23)],
    Joker.TRADING: [lambda key: discarded(key, ("S_A", "S_K"))],
    Joker.DNA: [lambda key: played(key, ("S_A", "S_K"))],
    Joker.SIXTH_SENSE: [lambda key: played(key, ("S_6", "S_K"))],
    Joker.ANCIENT: [lambda key: played(key, ROYAL, ancient_suit=0)],
    Joker.MR_BONES: [last_hand],
    Joker.ACROBAT: [last_hand],
    Joker.DUSK: [last_hand],
    Joker.THROWBACK: [lambda key: played(key, ROYAL, blinds_skipped=2)],
    Joker.IDOL: [lambda key: played(key, FULL_HOUSE, idol_rank=8, idol_suit=1)],
    Joker.MATADOR: [boss_triggered],
    Joker.INVISIBLE: [sold],
    Joker.SATELLITE: [lambda key: round_ended(key, planets_used=3)],
    Joker.DRIVERS_LICENSE: [with_enhanced],
    Joker.YORICK: [lambda key: discarded(key, joker_count=2)],
    Joker.RED_CARD: [shopped],
    Joker.FLASH: [shopped],
    Joker.CAMPFIRE: [shopped],
    Joker.HALLUCINATION: [shopped],
    Joker.SWASHBUCKLER: [lambda key: played(key, ROYAL, "j_egg")],
    Joker.BLACKBOARD: [lambda key: played(key, FULL_HOUSE), lambda key: played(key, ("S_2", "C_3"))],
    Joker.SUPERNOVA: [lambda key: played(key, ROYAL)],
}
USUAL: tuple[Callable[[str], Any], ...] = (
    lambda key: played(key, ROYAL),
    lambda key: played(key, FULL_HOUSE),
    lambda key: played(key, FOUR),
    discarded,
    lambda key: played(key, ENHANCED),
    round_ended,
    blind_chosen,
)


@cache
def scenario(play_it: Callable[[str], Any], key: str) -> Scenario:
    """Return a scenario with one joker."""
    return lambda: play_it(key)


def priced(joker: int) -> Scenario:
    """Return a scenario that reads a joker's price."""

    def cost() -> int:
        s = before("shop").copy()
        make_given_joker(s, joker)
        return int(s.made.cost)

    return cost


def drawn() -> list[int]:
    """Draw twelve jokers of each rarity from the pools."""
    s = before("shop").copy()
    streams = (Stream.JOKER1_SHO, Stream.JOKER2_SHO, Stream.JOKER3_SHO, Stream.JOKER4)
    return [int(draw_joker(s, int(stream), r)) for r, stream in enumerate(streams, start=1) for _ in range(12)]


@cache
def offered(joker: int, enhancement: int, extinct: int) -> Scenario:
    """Return a scenario: whether the pool offers a joker for a deck with one card of this enhancement."""

    def available() -> bool:
        s = before("shop").copy()
        s.cards[0].enhancement, s.gros_michel_extinct = enhancement, extinct
        return bool(joker_available(s, joker))

    return available


def scenarios_of(number: Number) -> list[Scenario]:
    """Return the scenarios in which a number of a joker should have an effect."""
    assert number.row is not None
    row = JOKERS[number.row]
    if number.field == "cost":
        return [priced(int(row.joker))]
    if number.field == "rarity":
        return [drawn]
    if number.field == "needs_in_deck":
        return [offered(int(row.joker), int(row.needs_in_deck), 0)]
    if number.field == "extinction":
        return [offered(int(row.joker), 0, extinct) for extinct in (0, 1)]
    return [scenario(play_it, row.key) for play_it in SPECIAL.get(row.joker, USUAL)]


def stated(number: Number) -> bool:
    """Return whether a row states this number; values equal to the field's default are omitted there."""
    default = next(f.default for f in fields(jokers.JokerRow) if f.name == number.field)
    return default is MISSING or default != number.value


NUMBERS = [number for number in numbers_of(jokers, "JOKERS", ("joker",), first=1) if stated(number)]


@uncompiled_only
def test_every_number_of_a_joker_changes_the_game() -> None:
    assert unread(NUMBERS, scenarios_of) == sorted(UNREAD)


# The functions of a joker read only numbers in its row, and every number in a row is read by one of its functions.


def table_of(field: str) -> str:
    """Return the name of the engine's array of a field."""
    return {"needs_in_deck": "J_GATE", "blueprint_compat": "J_COPIED"}.get(field, f"J_{field.upper()}")


BY_TABLE = {
    table_of(field.name): field.name
    for field in fields(jokers.JokerRow)
    if field.default is not MISSING and field.default in (None, ())
}


def functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield module and source of every function in engine/jokers."""
    for file in WRITTEN:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef):
                yield f"ante.engine.jokers.{file.stem}", node


def test_a_function_reads_only_numbers_that_its_jokers_state() -> None:
    effect_modules()
    source = dict(((module, node.name), node) for module, node in functions())
    # Several jokers share `limits`, and each changes some of them.
    shared = {("limits", name) for name in ("hand_size", "hands", "discards")}
    for effect in (effect for effect in EFFECTS if isinstance(effect.item, Joker)):
        row = JOKERS[effect.item]
        for node in ast.walk(source[effect.module, effect.function]):
            if isinstance(node, ast.Name) and (field := BY_TABLE.get(node.id)):
                if (effect.function, field) in shared or (field in ("start", "count") and not getattr(row, field)):
                    continue
                assert getattr(row, field) not in (None, ()), f"{effect.function} reads {field} of {row.name}"


# Items without effects, each with the reason.
WITHOUT_EFFECT: dict[IntEnum, str] = {
    Blind.SMALL: "its row has only a target",
    Blind.BIG: "its row has only a target",
}


@pytest.mark.parametrize("items", [Joker, Blind, Consumable, Tag], ids=lambda items: items.__name__)
def test_every_item_has_its_effects_in_one_place(items: type[IntEnum]) -> None:
    effect_modules()
    modules = {
        item: {effect.module for effect in EFFECTS if effect.item is item}
        for item in items
        if item and not any(item is one for one in WITHOUT_EFFECT)  # members of different enums may be equal
    }
    assert {item: found for item, found in modules.items() if len(found) != 1} == {}


def test_every_voucher_has_its_text_in_one_place() -> None:
    comments = Path(ante.engine.items.vouchers.__file__).read_text().replace("\n# ", " ")
    assert [
        row.name for row in VOUCHERS[1:] if comments.count(f" {row.name}:") + comments.count(f" {row.name},") != 1
    ] == []


# Numbers that are allowed outside the catalogue: neutral elements and steps of one.
NEUTRAL = {0, 1, -1}


@pytest.mark.parametrize("file", WRITTEN, ids=lambda file: file.stem)
def test_no_number_of_the_game_stands_in_the_effects(file: Path) -> None:
    tree = ast.parse(file.read_text())
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, (int, float))]
    assert [(n.lineno, n.value) for n in found if n.value not in NEUTRAL] == []


@pytest.mark.parametrize("field", ["mlt", "amount", "xMult"])
def test_a_misspelt_number_is_an_error(field: str) -> None:
    with pytest.raises(TypeError, match=field):
        jokers.JokerRow(Joker.JOKER, "j_joker", "Joker", 1, cost=2, effect="", **{field: 4})  # type: ignore[arg-type]
