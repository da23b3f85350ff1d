"""Every item of the game: what it is called, and the file of the engine that gives it its effect."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

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
from ante.engine.rule import EFFECTS

ENGINE = Path(ante.engine.__file__).parent
# Jokers whose whole effect is a question that rules code asks, with the module that asks it.
ASKED = {
    "j_blueprint": "engine/jokers/copying.py",
    "j_brainstorm": "engine/jokers/copying.py",
    "j_mr_bones": "engine/jokers/rounds.py",
    "j_to_the_moon": "engine/jokers/rounds.py",
}
# Members that no rule names: a row of numbers, or the last of several branches, makes their effect.
UNNAMED = (
    {f"Consumable.{row.consumable.name}": "engine/consumables.py" for row in CONSUMABLES if row.set == Set.PLANET}
    | {
        "Consumable.HANGED_MAN": "engine/consumables.py",
        "Consumable.IMMOLATE": "engine/consumables.py",
        "PackKind.BUFFOON": "engine/packs.py",
        "Stake.WHITE": "engine/run.py",
    }
    | {f"Challenge.{row.challenge.name}": "engine/run.py" for row in CHALLENGES[1:]}
)


@dataclass(frozen=True)
class Item:
    """One thing that has rules of its own.

    key     what saved games, recordings and tests call it
    member  the same as a member of the catalogue: `Joker.EGG`
    names   how a test's name may call it, words joined by `_`
    noun    a word that must stand in the test's name too, since others bear the same name; "" for none
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
    sources = {file: file.read_text() for file in sorted(ENGINE.rglob("*.py")) if file.name != "dispatch.py"}
    effects = joker_modules()
    for row in JOKERS[1:]:
        where = effects.get(int(row.joker), ASKED.get(row.key, ""))
        yield Item("joker", row.key, f"Joker.{row.joker.name}", spoken(row.key, row.name), "", where)
    for kind, key, member, name, noun in named_items():
        yield Item(kind, key, member, spoken(key, name), noun, UNNAMED.get(member) or naming(sources, member))


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


def joker_modules() -> dict[int, str]:
    """Where each joker's effects stand."""
    for module in pkgutil.iter_modules(ante.engine.jokers.__path__):
        importlib.import_module(f"ante.engine.jokers.{module.name}")
    return {effect.joker: effect.module.replace("ante.", "").replace(".", "/") + ".py" for effect in EFFECTS}


def naming(sources: dict[Path, str], member: str) -> str:
    """The file of the engine that names this member most often, "" where none does."""
    pattern = re.compile(rf"\b{re.escape(member)}\b")
    found = {file: len(pattern.findall(text)) for file, text in sources.items()}
    best = max(found, key=lambda file: found[file])
    return f"engine/{best.relative_to(ENGINE).as_posix()}" if found[best] else ""
