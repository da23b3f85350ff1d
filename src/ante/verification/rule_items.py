"""Every item of the game: what it is called, and the file of the engine that gives it its effect."""

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
# How `engine/core/tables.py` calls the arrays of each kind of row; `C_ENHANCEMENT` holds the field `enhancement`.
ARRAYS: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
    ("Consumable", "C", CONSUMABLES),
    ("Voucher", "V", VOUCHERS),
    ("Tag", "TAG", TAGS),
    ("Deck", "DECK", DECKS),
    ("Stake", "STAKE", STAKES),
)
# Fields that describe when an item is offered and on how many cards it is used, not what it does.
OFFERS = frozenset({"requires", "softlocked", "in_pool", "min_highlighted", "max_highlighted"})
# Members that no rule names: a row of numbers, or the last of several branches, makes their effect.
UNNAMED = {"PackKind.BUFFOON": "engine/items/packs.py", "Stake.WHITE": "engine/run.py"} | {
    f"Challenge.{row.challenge.name}": "engine/run.py" for row in CHALLENGES[1:]
}


@dataclass(frozen=True)
class Item:
    """One item that has its own rules.

    key     what saved games, recordings and tests call it
    member  the same as a member of the catalogue: `Joker.EGG`
    names   how a test's name may call it, words joined by `_`
    noun    a word that the test's name must contain too, since others have the same name; "" for none
    where   the file of the engine that gives it its effect, "" where none does
    """

    kind: str
    key: str
    member: str
    names: tuple[str, ...]
    noun: str
    where: str


def items() -> Iterator[Item]:
    """Every item of the catalogue."""
    written = (file for file in sorted(ENGINE.rglob("*.py")) if not file.stem.endswith("dispatch"))
    sources = {file: file.read_text() for file in written if file.parent != ENGINE / "core"}  # core gives no effects
    stated = stated_arrays()
    effects = effect_modules()
    for row in JOKERS[1:]:
        where = effects.get(f"Joker.{row.joker.name}", "")
        yield Item("joker", row.key, f"Joker.{row.joker.name}", spoken(row.key, row.name), "", where)
    for kind, key, member, name, noun in named_items():
        where = (
            UNNAMED.get(member)
            or effects.get(member)
            or naming(sources, member)
            or naming(sources, *stated.get(member, ()))
        )
        yield Item(kind, key, member, spoken(key, name), noun, where)


def named_items() -> Iterator[tuple[str, str, str, str, str]]:
    """Kind, key, member, name and noun of everything but jokers."""
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


def spoken(key: str, name: str) -> tuple[str, ...]:
    """What a test's name may call an item: its key without the kind, or its name."""
    said = {key.lower().partition("_")[2], name.lower()} - {""}
    return tuple(sorted(re.sub(r"[^a-z0-9]+", "_", words.replace("'", "")).strip("_") for words in said))


def effect_modules() -> dict[str, str]:
    """The file that registers the effects of each item, by its member: jokers, bosses, consumables and tags."""
    for module in pkgutil.iter_modules(ante.engine.jokers.__path__):
        importlib.import_module(f"ante.engine.jokers.{module.name}")
    for name in ("bosses", "consumables", "tags"):
        importlib.import_module(f"ante.engine.effects.{name}")
    return {
        f"{type(effect.item).__name__}.{effect.item.name}": effect.module.replace("ante.", "").replace(".", "/") + ".py"
        for effect in EFFECTS
    }


def stated_arrays() -> dict[str, tuple[str, ...]]:
    """The engine's arrays that hold what a row states of an effect, by member: `Voucher.GRABBER` states `V_HANDS`."""
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
    """Return the file of the engine that mentions these names most often, "" if none does."""
    if not names:
        return ""
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")
    found = {file: len(pattern.findall(text)) for file, text in sources.items()}
    best = max(found, key=lambda file: found[file])
    return f"engine/{best.relative_to(ENGINE).as_posix()}" if found[best] else ""
