"""Clear the record of a game in one operation."""

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from ante.engine.core.state import state_t

KEPT_BYTES = state_t.fields["stream_ids"][1]  # seed and profile come before the streams


@intrinsic
def _compiled_clear(typingctx, s):
    """Zero a record from KEPT_BYTES on, in compiled code."""

    def codegen(context, builder, signature, args):
        byte = builder.bitcast(args[0], cgutils.voidptr_t)
        begin = builder.gep(byte, [context.get_constant(types.intp, KEPT_BYTES)])
        size = context.get_constant(types.intp, signature.args[0].size - KEPT_BYTES)
        cgutils.memset(builder, begin, size, 0)
        return context.get_dummy_value()

    return types.none(s), codegen


def clear_run(s):
    """Zero everything except the seed and the profile."""
    for name in s.dtype.names:
        if s.dtype.fields[name][1] >= KEPT_BYTES:
            s[name] = np.zeros((), dtype=s.dtype.fields[name][0])[()]


@overload(clear_run)
def _clear_run(s):
    return lambda s: _compiled_clear(s)
