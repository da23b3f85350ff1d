"""The items of the game: their names in tests, and the engine's file that implements their effect."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

import ante.engine
import ante.engine.jokers
from ante.catalog.blinds import BLINDS
from ante.catalog.cards import EDITIONS, ENHANCEMENTS, SEALS, Sticker
from ante.catalog.challenges import CHALLENGES
from ante.catalog.consumables import CONSUMABLES, Set
from ante.catalog.decks import DECKS, STAKES
from ante.catalog.hands import HANDS
from ante.catalog.jokers import JOKERS
from ante.catalog.packs import PACKS
from ante.catalog.tags import TAGS
from ante.catalog.vouchers import VOUCHERS
from ante.engine.effects.moments import EFFECTS

ENGINE = Path(ante.engine.__file__).parent
# Prefixes of the arrays of each kind of row in `engine/core/tables.py`; `C_ENHANCEMENT` holds the field `enhancement`.
ARRAYS: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
    ("Consumable", "C", CONSUMABLES),
    ("Voucher", "V", VOUCHERS),
    ("Tag", "TAG", TAGS),
    ("Deck", "DECK", DECKS),
    ("Stake", "STAKE", STAKES),
)
# Fields for when an item is offered and for the number of cards it is used on, not for its effect.
OFFERS = frozenset({"requires", "softlocked", "in_pool", "min_highlighted", "max_highlighted"})
# Members that no rule names: a row of numbers, or the last of several branches, implements their effect.
UNNAMED = {"PackKind.BUFFOON": "engine/items/packs.py", "Stake.WHITE": "engine/run.py"} | {
    f"Challenge.{row.challenge.name}": "engine/run.py" for row in CHALLENGES[1:]
}


@dataclass(frozen=True)
class Item:
    """An item with its own rules.

    key     its key in saved games, recordings and tests
    member  its member of the catalogue: `Joker.EGG`
    names   its names in names of tests, words joined by `_`
    noun    a word that the test's name must also contain, because other items have the same name; "" for none
    where   the engine's file that implements its effect, "" for none
    """

    kind: str
    key: str
    member: str
    names: tuple[str, ...]
    noun: str
    where: str


def items() -> Iterator[Item]:
    """Yield all items of the catalogue."""
    written = (file for file in sorted(ENGINE.rglob("*.py")) if not file.stem.endswith("dispatch"))
    sources = {file: file.read_text() for file in written if file.parent != ENGINE / "core"}  # core has no effects
    stated = stated_arrays()
    effects = effect_modules()
    for row in JOKERS[1:]:
        where = effects.get(f"Joker.{row.joker.name}", "")
        yield Item("joker", row.key, f"Joker.{row.joker.name}", names_in_tests(row.key, row.name), "", where)
    for kind, key, member, name, noun in named_items():
        where = (
            UNNAMED.get(member)
            or effects.get(member)
            or naming(sources, member)
            or naming(sources, *stated.get(member, ()))
        )
        yield Item(kind, key, member, names_in_tests(key, name), noun, where)


def named_items() -> Iterator[tuple[str, str, str, str, str]]:
    """Yield kind, key, member, name and noun of all items except jokers."""
    for item in CONSUMABLES[1:]:
        yield Set(item.set).name.lower(), item.key, f"Consumable.{item.consumable.name}", item.name, ""
    for voucher in VOUCHERS[1:]:
        yield "voucher", voucher.key, f"Voucher.{voucher.voucher.name}", voucher.name, ""
    for tag in TAGS[1:]:
        yield "tag", tag.key, f"Tag.{tag.tag.name}", tag.name, ""
    for blind in BLINDS[1:]:
        yield "blind", blind.key, f"Blind.{blind.blind.name}", blind.name, ""
    for deck in DECKS:
        yield "deck", deck.key, f"Deck.{deck.deck.name}", deck.name, "deck"
    for stake in STAKES:
        yield "stake", stake.key, f"Stake.{stake.stake.name}", stake.key, "stake"
    for enhancement in ENHANCEMENTS[1:]:
        member = f"Enhancement.{enhancement.enhancement.name}"
        yield "enhancement", enhancement.key, member, enhancement.name, "card"
    for edition in EDITIONS[1:]:
        yield "edition", edition.key, f"Edition.{edition.edition.name}", edition.key, "edition"
    for seal in SEALS[1:]:
        yield "seal", seal.key, f"Seal.{seal.seal.name}", seal.key, "seal"
    for sticker in Sticker:
        yield "sticker", sticker.name.lower(), f"Sticker.{sticker.name}", sticker.name, ""
    for pack in dict.fromkeys(re.sub(r"_\d$", "", pack.key) for pack in PACKS):
        kind, size = pack.split("_")[1:]
        yield "pack", pack, f"PackKind.{kind.upper()}", f"{size} {kind}", "pack"
    for challenge in CHALLENGES[1:]:
        member = f"Challenge.{challenge.challenge.name}"
        yield "challenge", challenge.key, member, challenge.name, ""
    for hand in HANDS:
        yield "hand", hand.name, f"Hand.{hand.hand.name}", hand.name, ""


def names_in_tests(key: str, name: str) -> tuple[str, ...]:
    """Return an item's names in names of tests: its key without the kind, and its name."""
    names = {key.lower().partition("_")[2], name.lower()} - {""}
    return tuple(sorted(re.sub(r"[^a-z0-9]+", "_", words.replace("'", "")).strip("_") for words in names))


def effect_modules() -> dict[str, str]:
    """Return the files that register effects of jokers, bosses, consumables and tags, by member."""
    for module in pkgutil.iter_modules(ante.engine.jokers.__path__):
        importlib.import_module(f"ante.engine.jokers.{module.name}")
    for name in ("bosses", "consumables", "tags"):
        importlib.import_module(f"ante.engine.effects.{name}")
    return {
        f"{type(effect.item).__name__}.{effect.item.name}": effect.module.replace("ante.", "").replace(".", "/") + ".py"
        for effect in EFFECTS
    }


def stated_arrays() -> dict[str, tuple[str, ...]]:
    """Return the engine's arrays with an item's non-default fields, by member: `V_HANDS` for `Voucher.GRABBER`."""
    return {
        f"{kind}.{getattr(row, kind.lower()).name}": tuple(
            f"{prefix}_{field.name.upper()}"
            for field in fields(row)
            if field.default is not MISSING and field.name not in OFFERS and getattr(row, field.name) != field.default
        )
        for kind, prefix, rows in ARRAYS
        for row in rows
    }


def naming(sources: dict[Path, str], *names: str) -> str:
    """Return the engine's file that mentions these names most often, "" if none does."""
    if not names:
        return ""
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")
    found = {
        file: len(pattern.findall(text)) if any(name in text for name in names) else 0 for file, text in sources.items()
    }
    best = max(found, key=lambda file: found[file])
    return f"engine/{best.relative_to(ENGINE).as_posix()}" if found[best] else ""
