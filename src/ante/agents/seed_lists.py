"""Lists of game seeds, disjoint, so that no games both choose and judge a policy.

panel             test: the thousand games of published results, `--panel`; they choose nothing
validation_seeds  a thousand games that choose the best checkpoint of a run and rate players in a league
evaluation_seeds  the final evaluation of a run, and `ante eval`
strength_seeds    the games of `ante bench strength`
dataset_seeds     the games of exported datasets, from which policies learn

Training draws random seeds. It meets a seed of these lists less than once in a hundred million games.
"""

from pathlib import Path

import numpy as np

from ante.engine.run import new_seed, seed_text
from ante.errors import BalatroError, UnknownSeed
from ante.files import Unreadable, read_text

FOLDER = Path(__file__).with_name("seeds")
EVALUATION, DATASET, STRENGTH = 0x65766C, 0x646174, 0x737472  # spawn keys, unlike the small ones of a run's generators
PANEL, VALIDATION = FOLDER / "panel.txt", FOLDER / "validation.txt"


class BadSeedsFile(BalatroError, ValueError):
    """A list of seeds that cannot be read."""


def read_seeds(file: Path, games: int | None = None) -> list[str]:
    """Return the first `games` seeds of a file, or all for None. Raises BadSeedsFile.

    The file has one seed per line; `#` begins a comment.
    """
    try:
        text = read_text(file)
    except Unreadable as error:
        raise BadSeedsFile(f"{error}; use a file with one game seed per line, such as 2K9H9HN") from None
    seeds = []
    for number, line in enumerate(text.splitlines(), 1):
        if word := line.partition("#")[0].strip():
            try:
                seeds.append(seed_text(word))
            except UnknownSeed as error:
                raise BadSeedsFile(f"{file}, line {number}: {error}") from None
    if not seeds:
        raise BadSeedsFile(f"{file} contains no seeds: write one game seed per line, such as 2K9H9HN")
    if games is not None and games < 1:
        raise BadSeedsFile(f"--games is {games}, expected 1 or more")
    if games is not None and games > len(seeds):
        raise BadSeedsFile(f"{file} contains {len(seeds)} seeds, fewer than {games} games: lower --games or add seeds")
    return seeds[:games]


def panel() -> list[str]:
    """Return the test panel."""
    return read_seeds(PANEL)


def validation_seeds() -> list[str]:
    """Return the validation seeds."""
    return read_seeds(VALIDATION)


def evaluation_seeds(games: int, draw: int = 0) -> list[str]:
    """Return the first seeds of an evaluation list; each number `draw` gives another list."""
    return random_seeds(games, EVALUATION, draw)


def dataset_seeds(games: int, draw: int = 0) -> list[str]:
    """Return the first seeds of a dataset's list; each number `draw` gives another list."""
    return random_seeds(games, DATASET, draw)


def strength_seeds(games: int) -> list[str]:
    """Return the seeds of the benchmark of strength: distinct, and none of the test panel and the validation seeds."""
    taken = {*panel(), *validation_seeds()}
    drawn = dict.fromkeys(random_seeds(games + len(taken), STRENGTH, 0))
    return [seed for seed in drawn if seed not in taken][:games]


def random_seeds(games: int, purpose: int, draw: int) -> list[str]:
    """Return seeds from a generator of this purpose, independent of environments that are reset with the same number."""
    rng = np.random.default_rng(np.random.SeedSequence(draw, spawn_key=(purpose,)))
    return [new_seed(rng).decode() for _ in range(games)]
