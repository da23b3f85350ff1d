"""The content of the graph: the catalogue of the game, traits derived from its effects, and the measured tables."""

import json
from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

import ante.engine.jokers.dispatch  # noqa: F401  registers the effects of all jokers
from ante.catalog.blinds import BLINDS, Blind
from ante.catalog.cards import SUIT_NAMES
from ante.catalog.consumables import CONSUMABLES
from ante.catalog.decks import DECKS
from ante.catalog.hands import HANDS
from ante.catalog.jokers import JOKERS, Joker, JokerRow
from ante.catalog.tags import TAGS
from ante.catalog.vouchers import VOUCHERS
from ante.engine.effects.moments import EFFECTS, Moment
from ante.knowledge.arms.scoring import BENDERS
from ante.knowledge.measuring.positions import ANTES
from ante.knowledge.measuring.statistics import rounded
from ante.knowledge.measuring.table import Table, is_synergy
from ante.knowledge.schema import (
    BOSS,
    CONSUMABLE,
    DECK,
    HAND,
    HAS,
    JOKER,
    LEVELS,
    META,
    ON_DECK,
    PLAYS,
    SKIP_TAG,
    STRATEGY,
    TRAIT,
    UNDER,
    USES,
    VERSION,
    VOUCHER,
    WINS_WITH,
    WITH_HAND,
    WORKS_WITH,
    Edge,
    Node,
)
from ante.knowledge.winning.mining import LEVELS as LEVELLED
from ante.knowledge.winning.mining import MAIN
from ante.knowledge.winning.table import Winning

RARITIES = ("", "Common", "Uncommon", "Rare", "Legendary")
FIELDS = {  # fields of a joker's row, and what a joker does that has one
    "mult": "adds Mult",
    "chips": "adds Chips",
    "xmult": "multiplies Mult",
    "dollars": "earns money",
    "odds": "acts by chance",
    "growth": "grows",
    "loss": "shrinks",
    "repeats": "triggers cards again",
    "levels": "raises levels of hands",
    "creates": "creates cards",
    "hand_size": "changes the hand size",
    "hands": "changes the number of hands",
    "discards": "changes the number of discards",
}

IN_A_HAND = {
    Moment.HAND_BEGINS,
    Moment.CARD_SCORED,
    Moment.REPEAT_SCORED,
    Moment.CARD_HELD,
    Moment.REPEAT_HELD,
    Moment.JOKER_SCORED,
    Moment.OTHER_JOKER_SCORED,
}
WITHOUT_A_TURN = {  # jokers that change the hand without an effect at these moments
    Joker.BLUEPRINT,
    Joker.BRAINSTORM,
    Joker.OOPS,
    *(joker for joker in Joker if BENDERS[joker]),
}


def traits_of(row: JokerRow) -> dict[str, str]:
    """Return the traits of a joker by key: what it does, when it acts, and what it depends on."""
    found = {f"rarity:{RARITIES[row.rarity].lower()}": RARITIES[row.rarity]}
    for name, words in FIELDS.items():
        if getattr(row, name) is not None:
            found[f"does:{name}"] = words
    for effect in EFFECTS:
        if effect.item == row.joker and isinstance(effect.item, Joker) and isinstance(effect.moment, Moment):
            moment = effect.moment.name.lower()
            found[f"when:{moment}"] = f"acts at: {moment.replace('_', ' ')}"
    for suit in {*row.suits, *(() if row.suit is None else (row.suit,))}:
        found[f"suit:{SUIT_NAMES[suit].lower()}"] = f"depends on {SUIT_NAMES[suit]}"
    if row.ranks:
        found["needs:rank"] = "depends on ranks"
    if row.hand is not None:
        found[f"hand:{HANDS[row.hand].name}"] = f"depends on {HANDS[row.hand].name}"
    if not row.blueprint_compat:
        found["not:copied"] = "cannot be copied"
    return found


def scoring_jokers() -> set[str]:
    """Return the keys of the jokers that act while a hand is scored, including those that only earn or grow then."""
    acting = {effect.item for effect in EFFECTS if effect.moment in IN_A_HAND} | WITHOUT_A_TURN
    return {row.key for row in JOKERS[1:] if row.joker in acting}


def catalogue(table: Table) -> Iterator[tuple[Node, list[dict[str, Any]]]]:
    """Yield the nodes of each kind."""
    effects = table.effects
    alone = effects["kind"] == "alone"
    scoring = scoring_jokers()
    gains = dict(zip(effects["joker"][alone].tolist(), numbers(effects["effect"][alone]), strict=True))
    yield (
        META,
        [{"key": "schema", "value": str(VERSION)}, {"key": "about", "value": json.dumps(table.about, sort_keys=True)}],
    )
    yield (
        JOKER,
        [
            {
                **item(row.key, row.name, row.effect),
                "number": int(row.joker),
                "cost": row.cost,
                "rarity": RARITIES[row.rarity],
                "gain": gains.get(row.key),
                "scores": row.key in scoring,
            }
            for row in JOKERS[1:]
        ],
    )
    yield CONSUMABLE, [{**item(row.key, row.name, row.effect), "kind": row.set.name.title()} for row in CONSUMABLES[1:]]
    yield VOUCHER, [item(row.key, row.name, row.effect) for row in VOUCHERS[1:]]
    yield HAND, [{**item(row.name, row.name, ""), "chips": row.chips, "mult": row.mult} for row in HANDS]
    yield (
        BOSS,
        [{**item(row.key, row.name, row.effect), "showdown": row.showdown} for row in BLINDS if row.blind > Blind.BIG],
    )
    yield DECK, [item(row.key, row.name, row.effect) for row in DECKS]
    yield SKIP_TAG, [item(row.key, row.name, row.effect) for row in TAGS[1:]]
    traits = {key: name for row in JOKERS[1:] for key, name in traits_of(row).items()}
    yield TRAIT, [{"key": key, "name": name} for key, name in sorted(traits.items())]


def item(key: str, name: str, text: str) -> dict[str, Any]:
    """Return the properties that all items have."""
    return {"key": key, "name": name, "text": text}


def edges(table: Table) -> Iterator[tuple[Edge, list[dict[str, Any]]]]:
    """Yield the edges of each kind."""
    pairs = {name: numbers(values) for name, values in table.pairs.items()}
    pairs["counts"] = is_synergy(table.pairs["effect"], table.pairs["q"]).tolist()
    columns = ("n", "q", "counts", "gain", "acts", "bought", "same", *(f"ante_{ante}" for ante in ANTES))
    yield (
        WORKS_WITH,
        [
            {
                "source": one,
                "target": other,
                **interval(pairs["effect"][i], pairs["half"][i]),
                **{name: pairs[name][i] for name in columns},
            }
            for i, (one, other) in enumerate(zip(pairs["one"], pairs["other"], strict=True))
        ],
    )
    effects = {name: numbers(values) for name, values in table.effects.items()}
    for edge, kind in ((WITH_HAND, "hand"), (UNDER, "boss"), (ON_DECK, "deck")):
        yield (
            edge,
            [
                {
                    "source": effects["joker"][i],
                    "target": effects["target"][i],
                    **interval(effects["effect"][i], effects["half"][i]),
                    "n": effects["n"][i],
                    "q": effects["q"][i],
                }
                for i in range(len(effects["kind"]))
                if effects["kind"][i] == kind
            ],
        )
    yield HAS, [{"source": row.key, "target": trait} for row in JOKERS[1:] for trait in traits_of(row)]
    yield (
        LEVELS,
        [{"source": row.key, "target": HANDS[row.hand].name} for row in CONSUMABLES[1:] if row.hand is not None],
    )


def of_winning(found: Winning) -> Iterator[tuple[Node | Edge, list[dict[str, Any]]]]:
    """Yield the strategies with their jokers and hands, and the pairs whose win rates are measured."""
    yield (
        STRATEGY,
        [
            {
                "key": each.key,
                "name": each.name,
                "validated": each.validated,
                "wins": each.wins,
                "games": each.n,
                "support": each.support,
                "lift": each.lift,
                "mined_q": each.q,
                "example": each.example,
                "rate": each.rate,
                "rate_low": each.low,
                "rate_high": each.high,
                "base": each.base,
                "control": each.control,
                "granted": each.granted,
                "part": each.part,
                "alone": each.alone,
                "joint": each.joint,
                "joint_low": each.low_joint,
                "joint_high": each.high_joint,
                "effect": each.effect,
                "low": each.low_effect,
                "high": each.high_effect,
                "n": each.tested,
                "q": each.q_effect,
            }
            for each in found.strategies
        ],
    )
    parts = [(each.key, item) for each in found.strategies for item in each.items]
    yield USES, [{"source": key, "target": item} for key, item in parts if not item.startswith((MAIN, LEVELLED))]
    hands = [(key, item.partition(":")) for key, item in parts if item.startswith((MAIN, LEVELLED))]
    yield PLAYS, [{"source": key, "target": hand, "how": how} for key, (how, _, hand) in hands]
    columns = ("effect", "low", "high", "n", "q", "base", "with_one", "with_other", "both")
    yield (
        WINS_WITH,
        [
            {"source": each.one, "target": each.other, **{name: getattr(each, name) for name in columns}}
            for each in found.pairs
        ],
    )


def numbers(values: NDArray[Any]) -> list[Any]:
    """Return a column as Python values, floats with the digits of the tables."""
    return [rounded(value) for value in values] if values.dtype.kind == "f" else values.tolist()


def interval(effect: float, half: float) -> dict[str, float]:
    """Return an effect with its 95 % interval, with the digits of the tables."""
    return {"effect": round(effect, 4) + 0.0, "low": round(effect - half, 4), "high": round(effect + half, 4)}
