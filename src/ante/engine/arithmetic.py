"""Arithmetic that the CPU, the GPU and plain Python do alike."""

from ante.engine.rule import rule

NO_FRACTIONS = 4503599627370496.0  # 2**52: doubles from here on are whole


@rule
def floor_of(x):
    """The largest whole number that is not above x, as a double; huge numbers, infinities and NaN as they are.

    SPEED: `math.floor` answers an integer, which scores outgrow, and `np.floor` does not compile for the GPU.
    """
    if not -NO_FRACTIONS < x < NO_FRACTIONS:
        return x
    whole = float(int(x))
    return whole - 1.0 if whole > x else whole
