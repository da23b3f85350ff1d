"""How the engine is compiled, and how an effect says when it acts.

`rule` is the one place with compile flags: every engine function that plays the game wears it. With
`NUMBA_DISABLE_JIT=1` the same functions run as plain Python, under a debugger and with coverage.
"""

import hashlib
import operator
import os
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.extending import intrinsic, overload

PACKAGE = Path(__file__).resolve().parent.parent


COMPILED_LAYERS = ("catalog", "engine", "env", "agents")  # lowest first


def source_hash(layer: str = "engine") -> str:
    """Sixteen hex digits naming the sources that compiled code of a layer is made of: its own and those below.

    Numba's cache sees neither an edited callee in another file nor a changed table of numbers, so the cache folder
    carries this name: any edit starts a fresh cache for its layer and for those above. Files of the CUDA backend
    compile for their own, without a cache.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for folder in COMPILED_LAYERS[: COMPILED_LAYERS.index(layer) + 1]:
        for file in sorted((PACKAGE / folder).rglob("*.py")):
            if not file.name.startswith("cuda"):
                digest.update(file.relative_to(PACKAGE).as_posix().encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@cache
def cache_folder(layer: str = "engine") -> Path:
    """Where compiled code is kept: `$ANTE_CACHE_DIR`, else the user's cache folder, then one folder per source hash."""
    default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "ante"
    return Path(os.environ.get("ANTE_CACHE_DIR", default)) / f"{layer}-{source_hash(layer)}"


OWN_CACHE = "NUMBA_CACHE_DIR" not in os.environ


def rule(function: Callable[..., Any]) -> Any:
    """Compile one rule of the game.

    IEEE order of operations is kept (`fastmath` off): the game's numbers depend on it. `error_model="numpy"` because
    a compiled step raises nothing. The cache folder, which Numba reads here, is that of the function's layer.

    SPEED: Numba compiles a function anew for every literal, enum member and width of integer that compiled code passes;
    here all of them are passed as int64, which saves a quarter of the compilations.
    """
    if OWN_CACHE:
        package, _, rest = function.__module__.partition(".")
        layer = rest.partition(".")[0] if package == "ante" else "agents"
        numba.config.CACHE_DIR = str(cache_folder(layer))
    compiled = numba.njit(cache=True, error_model="numpy", nogil=True, no_cfunc_wrapper=True)(function)
    if not numba.config.DISABLE_JIT:
        template_of = compiled.get_call_template
        compiled.get_call_template = lambda args, kws: template_of(
            tuple(plain_type(a) for a in args), {name: plain_type(a) for name, a in kws.items()}
        )
    return compiled


def plain_type(argument: Any) -> Any:
    """int64 for literals, enum members and narrower integers; every other type as it is."""
    kind = types.unliteral(argument)
    if isinstance(kind, types.IntEnumMember) or (isinstance(kind, types.Integer) and kind.bitwidth < 64):
        return types.int64
    return kind


@intrinsic
def _number_of(typingctx, member):
    """The integer behind an IntEnum member, in compiled code."""

    def codegen(context, builder, signature, args):
        return context.cast(builder, args[0], signature.args[0], types.int64)

    return types.int64(member), codegen


@overload(int)
def _int_of_member(x):
    """`int(Joker.GREEN)` in compiled code; Numba itself only compares members."""
    return (lambda x: _number_of(x)) if isinstance(x, types.IntEnumMember) else None


@overload(operator.getitem)
def _get_by_member(a, i):
    """`table[Joker.GREEN]` in compiled code."""
    if isinstance(a, types.Array) and isinstance(i, types.IntEnumMember):
        return lambda a, i: a[_number_of(i)]
    return None


@overload(operator.setitem)
def _set_by_member(a, i, value):
    """`table[Joker.GREEN] = x` in compiled code."""
    if isinstance(a, types.Array) and isinstance(i, types.IntEnumMember):

        def write(a, i, value):
            a[_number_of(i)] = value

        return write
    return None


class Moment(IntEnum):
    """When a joker may act. Each moment is one function of `jokers/dispatch.py`.

    The fourth argument of an effect, `card`, is what the moment is about: the number in brackets.
    """

    WHILE_HELD = 0  # line-up refreshed: set rule bits, hand size, discards (slot of the joker)
    BLIND_CHOSEN = 1  # a blind is selected, before the deck is shuffled (blind)
    FIRST_HAND_DRAWN = 2  # the first hand of a round lies on the table (0)
    HAND_BEGINS = 3  # a hand is played, its type is known, nothing scored (0)
    CARD_SCORED = 4  # one trigger of a scoring card (card index)
    REPEAT_SCORED = 5  # how often a scoring card triggers again: call retrigger() (card index)
    CARD_HELD = 6  # one trigger of a card held in hand while scoring (card index)
    REPEAT_HELD = 7  # how often a held card triggers again, while scoring and at round end (card index)
    JOKER_SCORED = 8  # the joker's own turn (0)
    OTHER_JOKER_SCORED = 9  # after another joker's own turn (slot of that joker)
    HAND_SCORED = 10  # the score stands; melt, count down (0)
    HAND_DESTROYS = 11  # after scoring, each scoring card: call destroy_card() to take it out (card index)
    DISCARD_BEGINS = 12  # cards are about to be discarded (number of cards, 0 where The Hook takes them)
    CARD_DISCARDED = 13  # one card is discarded (card index)
    CARDS_ADDED = 14  # playing cards joined the deck (how many)
    FACE_DESTROYED = 15  # face cards were destroyed (how many)
    GLASS_DESTROYED = 16  # Glass cards were destroyed (how many)
    ROUND_ENDS = 17  # the blind is beaten, before the cash-out (blind)
    ROUND_DOLLARS = 18  # what the joker pays at cash-out: call earn_at_cash_out() (0)
    SHOP_REROLLED = 19  # (0)
    SHOP_LEFT = 20  # (0)
    PACK_OPENED = 21  # (0)
    PACK_SKIPPED = 22  # (0)
    CARD_SOLD = 23  # any joker or consumable sold, this joker still owned (slot)
    SELF_SOLD = 24  # this joker is being sold (its slot)
    CONSUMABLE_USED = 25  # (Consumable number)
    BOSS_TRIGGERED = 26  # the boss's ability bit while a hand was played (0)
    BLIND_SKIPPED = 27  # (0)


@dataclass(frozen=True)
class Effect:
    """One registration: `function` acts for `joker` at `moment`; `copied` says whether Blueprint copies it."""

    moment: Moment
    joker: int
    module: str
    function: str
    copied: bool


EFFECTS: list[Effect] = []


def on(moment: Moment, *jokers: int, copied: bool = True) -> Callable[[Callable[..., Any]], Any]:
    """Register an effect `f(s, me, joker, card)` of `jokers` at `moment`, and compile it.

    s       one game
    me      slot whose memory (`s.jokers[me].value`, `.count`) is used
    joker   Joker number that acts; Blueprint and Brainstorm pass their target's
    card    what the moment is about, see `Moment`
    copied  False where Blueprint must not repeat it (growth, destruction, passive effects)
    """

    def register(function: Callable[..., Any]) -> Any:
        for joker in jokers:
            EFFECTS.append(Effect(moment, int(joker), function.__module__, function.__name__, copied))
        return rule(function)

    return register
