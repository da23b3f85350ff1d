"""The inputs that fuzzing found: every reader accepts or refuses each of them with a message."""

from pathlib import Path

import pytest

from tests.fuzz import corpus
from tests.fuzz.targets import read, targets


@pytest.mark.parametrize("name", corpus.names())
def test_a_kept_input_is_valid_or_refused(name: str, tmp_path: Path) -> None:
    target, inputs = targets()[name], corpus.inputs_of(name)
    assert all([read(target, data, tmp_path) for data in target[2]]), "an example is invalid"
    assert len(inputs) > len(target[2]), f"{name} was never fuzzed: make fuzz-readers"
    for data in inputs:
        read(target, data, tmp_path)
