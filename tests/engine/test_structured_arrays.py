"""Structured arrays with attribute access."""

import numpy as np
import pytest

from ante.engine.core.records import as_records

PLAIN = np.dtype([("x", "i4"), ("y", "f8")])


@pytest.mark.parametrize("which", [slice(None), slice(1, 3), np.array([2, 0])])
def test_all_records_of_a_type_share_its_dtype_object(which: slice | np.ndarray) -> None:
    whole = as_records(np.zeros(4, dtype=PLAIN))
    found = as_records(whole, which)
    assert isinstance(found, np.recarray) and found.dtype is whole.dtype is as_records(found).dtype
    assert found.dtype == PLAIN and len(found) == len(np.arange(4)[which])


def test_records_are_a_view_with_attributes() -> None:
    plain = np.zeros(4, dtype=PLAIN)
    some = as_records(plain, slice(1, 3))
    some[1].x, some.y[:] = 5, 0.5
    assert plain["x"].tolist() == [0, 0, 5, 0] and plain["y"].tolist() == [0.0, 0.5, 0.5, 0.0]
