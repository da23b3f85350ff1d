"""Replays recorded games with the recorder's rules: `python -m tests.golden.recorder`, with NUMBA_DISABLE_JIT=1.

The recorder is a program that deviates from the game in four rules (docs/explanation/rules.md). For one game at a time,
of these replaces ours; if the game is then equal to its end, nothing else differs. Prints seed and differences, one
line per game.
"""

import sys
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from ante.catalog.cards import Seal
from ante.engine.cards import discard_taken
from ante.engine.core.state import Rule
from ante.engine.effects import consumables, verbs
from ante.engine.items import pools
from ante.verification.recorded_games import compare_run
from ante.verification.recorded_truth import read_records

FILE = Path(__file__).with_name("recorder.jsonl.gz")
FACES = [
    "5SAY2M11",
    "441V87Q3",
    "OIO5FNX1",
    "B46JK6C3",
    "5118C37W",
    "2C6NL4OQ",
    "3RXIS62I",
    "8IWAQ7L8",
    "8ZHSUY23",
    "J9ZO39ZB",
    "DW9T7SEB",
]
DEBUFFS = [
    "BDF6HDJN",
    "WQNVU9BR",
    "FL64DEME",
    "WF33G59T",
    "P1XXHI5C",
    "KQEQ4PLK",
    "GZ24TENT",
    "DPN791SA",
    "3CUBJXQ8",
    "Q36LFH8B",
]
PURPLE = ["HNFFCE55", "Y3CDVYZ4", "Z322GFTY", "Q36LFH8B"]  # both rules apply to the last one
RESAMPLES = ["9DA3TNOG"]
LAST_RESAMPLE = 6

is_face, copy_card, draw_consumable = verbs.is_face, verbs.copy_card, pools.draw_consumable


def stone_faces(s: Any, card: int) -> bool:
    """Treat a Stone card made from a Jack, Queen or King as a face card."""
    c = s.cards[card]
    return not c.debuffed and (11 <= c.rank <= 13 or bool(s.rules & Rule.PAREIDOLIA))


def copy_without_debuff(s: Any, source: int, copy: int) -> None:
    """Keep the target's debuff when Death copies a card."""
    kept = int(s.cards[copy].debuffed)
    copy_card(s, source, copy)
    s.cards[copy].debuffed = kept


def discard_sealed(s: Any, n: int, hooked: bool) -> None:
    """Create a tarot from a debuffed Purple Seal too."""
    cards = [int(s.order[i]) for i in range(n)]
    debuffed = [int(s.cards[card].debuffed) for card in cards]
    for card in cards:
        if s.cards[card].seal == Seal.PURPLE:
            s.cards[card].debuffed = 0
    discard_taken(s, n, hooked)
    for card, was in zip(cards, debuffed, strict=True):
        s.cards[card].debuffed = was


def give_up(s: Any, stream: int, first: int, n: int, fallback: int) -> int:
    """Return the fixed item after five resamples."""
    depth = 0
    while depth <= LAST_RESAMPLE:
        item = first + int(pools.roll_resample(s, stream, depth) * n)
        if pools.consumable_available(s, item):
            return item
        depth = max(2, depth + 1)
    return int(fallback)


@contextmanager
def rules_of_recorder(seed: str) -> Any:
    """Run the engine with the recorder's rule where this game differs."""
    with ExitStack() as stack:
        if seed in FACES:
            everywhere(stack, is_face, stone_faces)
        if seed in DEBUFFS:
            stack.enter_context(patch.object(consumables, "debuff_card", lambda s, card: None))
            everywhere(stack, copy_card, copy_without_debuff)
        if seed in PURPLE:
            everywhere(stack, discard_taken, discard_sealed)
        if seed in RESAMPLES:
            everywhere(stack, draw_consumable, give_up)
        yield


def everywhere(stack: ExitStack, old: Callable[..., Any], new: Callable[..., Any]) -> None:
    """Replace one rule by another in every module of the engine."""
    for name, module in list(sys.modules.items()):
        if name.startswith("ante.engine"):
            for key, value in list(vars(module).items()):
                if value is old:
                    stack.enter_context(patch.object(module, key, new))


if __name__ == "__main__":
    for run in read_records(FILE):
        with rules_of_recorder(run["seed"]):
            print(run["seed"], compare_run(run) or "equal", flush=True)
