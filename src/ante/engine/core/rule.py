"""Compilation of the engine.

`rule` is the only place with compile flags; it decorates every function that plays the game. With
`NUMBA_DISABLE_JIT=1` the same functions run as plain Python, for debuggers and coverage.
"""

import operator
from collections.abc import Callable
from typing import Any

import numba
from numba import types
from numba.extending import intrinsic, overload

from ante.engine.core.compile_cache import cached_njit


def rule(function: Callable[..., Any]) -> Any:
    """Compile one rule of the game.

    `fastmath` is off because the game's numbers depend on the IEEE order of operations. `error_model="numpy"` because
    a compiled step never raises.

    SPEED: Numba compiles a function again for every literal, enum member and integer width that compiled code passes;
    passing all of them as int64 saves a quarter of the compilations.
    """
    compiled = cached_njit(function, error_model="numpy", nogil=True, no_cfunc_wrapper=True)
    if not numba.config.DISABLE_JIT:
        template_of = compiled.get_call_template
        compiled.get_call_template = lambda args, kws: template_of(
            tuple(plain_type(a) for a in args), {name: plain_type(a) for name, a in kws.items()}
        )
    return compiled


def plain_type(argument: Any) -> Any:
    """Return int64 for literals, enum members and narrower integers; every other type unchanged."""
    kind = types.unliteral(argument)
    if isinstance(kind, types.IntEnumMember) or (isinstance(kind, types.Integer) and kind.bitwidth < 64):
        return types.int64
    return kind


@intrinsic
def _number_of(typingctx, member):
    """Return the integer value of an IntEnum member, in compiled code."""

    def codegen(context, builder, signature, args):
        return context.cast(builder, args[0], signature.args[0], types.int64)

    return types.int64(member), codegen


@overload(int)
def _int_of_member(x):
    """`int(Joker.GREEN)` in compiled code; Numba itself supports only comparison of members."""
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
