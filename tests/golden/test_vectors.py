"""The random streams, against draws of LuaJIT 2.1 (vectors.json.gz, see README.md)."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ante.engine.core.rng import HAS_ANTE, KEYS, Stream, advance, first_uniform, hash_byte, round13, seed_hash, shuffle
from ante.engine.core.state import new_states

VECTORS = json.loads(gzip.decompress((Path(__file__).parent / "vectors.json.gz").read_bytes()))


def game(seed: str) -> Any:
    """Return a blank record with a seed."""
    s = new_states(1)[0]
    for i, letter in enumerate(seed.encode()):
        s.seed[i] = letter
    s.seed_length = len(seed)
    s.seed_hash = seed_hash(s)
    return s


def parse(key: str) -> tuple[Stream, int, int] | None:
    """Return a key's stream, ante and resample depth; None if the engine has no such key."""
    text, _, depth = key.partition("_resample")
    for name, (prefix, suffix, has_ante) in KEYS.items():
        ante = re.fullmatch(re.escape(prefix) + (r"(-?\d)" if has_ante else "") + re.escape(suffix), text)
        if ante:
            return Stream[name], int(ante[1]) if has_ante else 1, int(depth or 0)
    return None


def test_most_recorded_keys_are_streams_of_the_engine() -> None:
    unknown = [key for key in VECTORS["keys"] if parse(key) is None]
    assert len(unknown) <= 0.02 * len(VECTORS["keys"]), unknown


@pytest.mark.parametrize("run", VECTORS["runs"], ids=lambda run: run["seed"])
def test_draws_equal_luajit(run: dict[str, Any]) -> None:
    s = game(run["seed"])
    if run["hashed_seed"] is not None:
        assert s.seed_hash == run["hashed_seed"]
    for key, draws in zip(VECTORS["keys"], run["draws"], strict=True):
        parsed = parse(key)
        if parsed is None:
            continue
        stream, ante, depth = parsed
        s.ante = ante if HAS_ANTE[stream] else 1
        for state, first, *_ in draws:
            value = advance(s, stream, depth)
            if state is None:
                assert np.isnan(value)
            else:
                assert value == (state + s.seed_hash) / 2 or np.isnan(s.seed_hash)
            assert first_uniform(s, value) == first, key


def test_a_shuffle_equals_luajit() -> None:
    s = game("TESTSEED")
    s.ante = 1
    order = np.arange(1, 11, dtype=np.int16)
    shuffle(s, Stream.NR, order, 10)
    assert order.tolist() == [7, 5, 4, 9, 10, 8, 2, 6, 3, 1]  # recorded with LuaJIT


def test_string_hash_equals_luajit() -> None:
    for text, wanted in VECTORS["hash"].items() if isinstance(VECTORS["hash"], dict) else VECTORS["hash"]:
        num = 1.0
        raw = text.encode("latin-1")
        for position in range(len(raw), 0, -1):
            num = hash_byte(num, float(raw[position - 1]), position)
        assert num == wanted or (wanted is None and np.isnan(num)), text


def test_rounding_to_13_decimals_equals_luajit() -> None:
    for x, _, read_back in VECTORS["round13"]:
        if 0 <= x < 1:
            assert round13(x) == read_back, x
