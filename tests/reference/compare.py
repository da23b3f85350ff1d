"""Compare the compiled engine with the reference scorer: `python -m tests.reference.compare HANDS [SEED]`."""

import json
import math
import sys
from random import Random
from typing import Any

from ante.catalog.cards import ENHANCEMENTS
from ante.catalog.consumables import CONSUMABLES, Set
from ante.catalog.hands import HANDS as ROWS
from ante.catalog.hands import by_name as hand_by_name
from ante.engine.core.state import Place
from ante.engine.effects.boss_dispatch import boss_cards_played
from ante.engine.scoring import score_hand
from ante.verification.recorded_hands import record_of
from tests.reference.cases import random_case
from tests.reference.scorer import Answer, outcomes

SCORES = ("refused", "hand", "scoring", "chips", "mult", "total")
AFTERWARDS = ("level", "dollars", "made", "memory", "cards", "destroyed")
SHOW_EVERY = 10_000


def engine_answer(case: dict[str, Any]) -> Answer:
    """Return the compiled engine's result for this hand, in the form of the reference's."""
    s = record_of(case)
    if case["boss"] == "bl_tooth":
        boss_cards_played(s, 0)
    if case["boss"] == "bl_ox":
        s.ox_hand = hand_by_name[case["boss_state"]["most_played"]]
    held = int(s.n_consumables)
    score_hand(s)
    return scored(s) | afterwards(s, case, held)


def scored(s: Any) -> Answer:
    """Return the score of the hand just played."""
    return {
        "refused": bool(s.hand_refused),
        "hand": ROWS[s.hand_type].name,
        "scoring": [i for i in range(s.n_played) if s.scoring[i]],
        "chips": float(s.score_chips),
        "mult": float(s.score_mult),
        "total": float(s.hand_total),
    }


def afterwards(s: Any, case: dict[str, Any], held: int) -> Answer:
    """Return the changes after the hand: level, money, consumables, memories, played cards."""
    played = [s.cards[s.played[i]] for i in range(s.n_played)]
    made = [CONSUMABLES[s.consumables[i].id].set for i in range(held, s.n_consumables)]
    return {
        "level": int(s.levels[s.hand_type]),
        "dollars": int(s.dollars),
        "made": [Set(kind).name.title() for kind in made],
        "memory": [memory(s.jokers[i], row["state"]) for i, row in enumerate(case["jokers"])],
        "cards": [(ENHANCEMENTS[card.enhancement].key or None, int(card.bonus)) for card in played],
        "destroyed": [i for i, card in enumerate(played) if card.place == Place.GONE],
    }


def memory(item: Any, state: dict[str, Any]) -> float | None:
    """Return the number that a joker stores, if it has one."""
    if any(name in state for name in ("mult", "chips", "xmult")):
        return float(item.value)
    return int(item.count) if "hands_since_acquired" in state or "hands_left" in state else None


def same(got: Any, wanted: Any) -> bool:
    """Return whether values are equal: exactly below 1e15, above it to ten digits, the precision of records."""
    if isinstance(wanted, float | int) and wanted >= 1e15:
        return math.isclose(got, wanted, rel_tol=1e-9)
    return got == wanted


def differences(got: Answer, wanted: Answer) -> dict[str, tuple[Any, Any]]:
    """Return the differing fields with both values; Mult must be the same double. A refused hand has only a total."""
    wanted = {"refused": False} | wanted
    fields = ("refused", "total", *AFTERWARDS) if wanted["refused"] else (*SCORES, *AFTERWARDS)
    return {name: (got[name], wanted[name]) for name in fields if name in wanted and not same(got[name], wanted[name])}


def least_different(case: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the differences between the engine's result and the nearest possible outcome of the reference."""
    got = engine_answer(case)
    unknown = {"dollars"} if any(joker["key"] == "j_matador" for joker in case["jokers"]) else set()
    allowed = [{name: value for name, value in one.items() if name not in unknown} for one in outcomes(case)]
    return min((differences(got, wanted) for wanted in allowed), key=len)


def compare(hands: int, seed: int) -> int:
    """Score this many random hands both ways, print every difference, and return their number."""
    random, found = Random(seed), 0
    for number in range(1, hands + 1):
        case = random_case(random)
        different = least_different(case)
        if different:
            found += 1
            fields = ", ".join(f"{name}: got {got}, wanted {wanted}" for name, (got, wanted) in different.items())
            print(f"DIFFERENT {fields}\n{json.dumps(case)}", flush=True)
        if number % SHOW_EVERY == 0 or number == hands:
            print(f"seed {seed}: {number} hands, {found} different", flush=True)
    return found


if __name__ == "__main__":
    sys.exit(1 if compare(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0) else 0)
