"""Lists of seeds: frozen or reproducible, and disjoint."""

import hashlib
from itertools import combinations

import numpy as np
import pytest

from ante.agents.seed_lists import dataset_seeds, evaluation_seeds, panel, validation_seeds
from ante.engine.run import new_seed, one_seed

FROZEN = {
    panel: "71870f90498d5887dc42ebb74b5e8632e2dc0f04a7b6c40765c164dab66d54ad",
    validation_seeds: "293375cb1519ec4d6666a2b408c5ad51f03e96f7572b748a913d7b8b62bd2d37",
}


@pytest.mark.parametrize(("seeds", "digest"), FROZEN.items(), ids=lambda each: getattr(each, "__name__", ""))
def test_a_list_is_a_thousand_different_seeds_and_frozen(seeds, digest) -> None:  # type: ignore[no-untyped-def]
    assert len(set(seeds())) == 1000
    assert hashlib.sha256("\n".join(seeds()).encode()).hexdigest() == digest


def test_lists_depend_on_their_number_only_and_a_longer_list_begins_like_a_shorter_one() -> None:
    assert evaluation_seeds(3, 5) == evaluation_seeds(4, 5)[:3] != evaluation_seeds(3, 6)
    assert dataset_seeds(3, 5) == dataset_seeds(4, 5)[:3] != dataset_seeds(3, 6)


def test_what_learns_chooses_and_judges_never_meets() -> None:
    def of_environment(seed: int) -> list[str]:
        rng = one_seed(seed)
        return [new_seed(rng).decode() for _ in range(2000)]

    lists = [panel(), validation_seeds()]
    for number in (0, 1, 7):
        lists += [evaluation_seeds(2000, number), dataset_seeds(2000, number), of_environment(number)]
    assert all(not set(one) & set(other) for one, other in combinations(lists, 2))
    assert len({seed for seeds in lists for seed in seeds}) == np.sum([len(seeds) for seeds in lists])
