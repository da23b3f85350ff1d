"""The compiled engine is compared with the reference scorer: `python -m tests.reference.compare HANDS [SEED]`."""

import json
import math
import sys
from random import Random
from typing import Any

from ante.catalog.hands import HANDS as ROWS
from ante.engine.scoring import score_hand
from ante.golden.hands import record_of
from tests.reference.cases import random_case
from tests.reference.scorer import score

Answer = dict[str, Any]
REFUSED = {"chips": 0, "mult": 0.0, "total": 0}
SHOW_EVERY = 10_000


def engine_answer(case: dict[str, Any]) -> Answer:
    """What the compiled engine makes of this hand, in the form of `expect`."""
    s = record_of(case)
    score_hand(s)
    scoring = [i for i in range(len(case["played"])) if s.scoring[i]]
    answer = {"refused": bool(s.hand_refused), "hand": ROWS[s.hand_type].name, "scoring": scoring}
    if answer["refused"]:
        return answer | REFUSED | {"total": float(s.hand_total)}
    return answer | {"chips": float(s.score_chips), "mult": float(s.score_mult), "total": float(s.hand_total)}


def same(got: Any, wanted: Any) -> bool:
    """Equal below 1e15, to ten digits above, where records are written so."""
    if isinstance(wanted, float | int) and wanted >= 1e15:
        return math.isclose(got, wanted, rel_tol=1e-9)
    return got == wanted


def differences(got: Answer, wanted: Answer) -> dict[str, tuple[Any, Any]]:
    """The fields that differ, with both values; Mult must be the same double."""
    wanted = {"refused": False} | wanted
    fields = ["refused", "total"] if wanted["refused"] else ["refused", "hand", "scoring", "chips", "mult", "total"]
    return {name: (got[name], wanted[name]) for name in fields if not same(got[name], wanted[name])}


def compare(hands: int, seed: int) -> int:
    """So many random hands are scored both ways; every difference is printed. Answers how many there were."""
    random, found = Random(seed), 0
    for number in range(1, hands + 1):
        case = random_case(random)
        got = engine_answer(case)
        different = differences(got, score(case))
        if different:
            found += 1
            fields = ", ".join(f"{name}: got {got}, wanted {wanted}" for name, (got, wanted) in different.items())
            print(f"DIFFERENT {fields}\n{json.dumps(case)}", flush=True)
        if number % SHOW_EVERY == 0 or number == hands:
            print(f"seed {seed}: {number} hands, {found} different", flush=True)
    return found


if __name__ == "__main__":
    sys.exit(1 if compare(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0) else 0)
