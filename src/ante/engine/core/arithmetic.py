"""Arithmetic that gives the same results on the CPU, on the GPU and in plain Python.

Access to the bits of doubles, floor, and logarithms built from IEEE operations only: the logarithms and powers of the C
library and of a GPU can differ in the last bit.
"""

import math
import struct

import numpy as np
from numba import types
from numba.extending import intrinsic, overload

from ante.engine.core.rule import rule

NO_FRACTIONS = 4503599627370496.0  # 2**52: all doubles from here on are integers
LOW_52 = np.uint64((1 << 52) - 1)
EXPONENT_OF_ONE = np.uint64(0x3FF0000000000000)
FRACTION_BITS = np.uint64(52)
EXPONENT_BIAS = 1023
SQRT_2 = math.sqrt(2.0)
LOG10_2, LOG10_E, LOG2_E = math.log10(2.0), math.log10(math.e), 1.0 / math.log(2.0)
ODD_PARTS = np.array([1.0 / (2 * k + 1) for k in range(12)])  # of the series of artanh; the next term is below 1e-18


@intrinsic
def _compiled_bits_of(typingctx, x):
    """Return the 64 bits of a double as uint64, in compiled code."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(types.uint64))

    return types.uint64(types.float64), codegen


@intrinsic
def _compiled_double_of(typingctx, x):
    """Return the double with these 64 bits, in compiled code."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(types.float64))

    return types.float64(types.uint64), codegen


def bits_of(x):
    """Return the 64 bits of a double as uint64."""
    return np.uint64(struct.unpack("<Q", struct.pack("<d", x))[0])


def double_of(bits):
    """Return the double with these 64 bits."""
    return struct.unpack("<d", struct.pack("<Q", int(bits)))[0]


@overload(bits_of)
def _bits_of(x):
    return lambda x: _compiled_bits_of(x)


@overload(double_of)
def _double_of(bits):
    return lambda bits: _compiled_double_of(bits)


@rule
def floor_of(x):
    """Return the largest integer that is not above x, as a double; huge numbers, infinities and NaN are unchanged.

    SPEED: `math.floor` returns an integer, whose range scores exceed, and `np.floor` does not compile for the GPU.
    """
    if not -NO_FRACTIONS < x < NO_FRACTIONS:
        return x
    whole = float(int(x))
    return whole - 1.0 if whole > x else whole


@rule
def log10_of(x):
    """Return log10(x) of a normal double above 0, accurate to about 1e-15; infinity and NaN are unchanged."""
    return logarithm(x, LOG10_2, LOG10_E)


@rule
def log2_of(x):
    """Return log2(x) of a normal double above 0, exact for powers of two; infinity and NaN are unchanged."""
    return logarithm(x, 1.0, LOG2_E)


@rule
def logarithm(x, of_two, of_e):
    """Return the logarithm of x to the base for which log 2 is `of_two` and log e is `of_e`.

    x = m * 2**e with m near 1, and ln m = 2 artanh((m - 1) / (m + 1)).
    """
    if not x < math.inf:
        return x
    bits = bits_of(x)
    e = np.int64(bits >> FRACTION_BITS) - EXPONENT_BIAS
    m = double_of((bits & LOW_52) | EXPONENT_OF_ONE)
    if m > SQRT_2:
        m *= 0.5
        e += 1
    f = (m - 1.0) / (m + 1.0)
    square = f * f
    total = ODD_PARTS[11]
    for k in range(10, -1, -1):
        total = total * square + ODD_PARTS[k]
    return e * of_two + 2.0 * f * total * of_e
