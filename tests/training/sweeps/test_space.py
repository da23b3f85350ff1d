"""The search space of a population: bounds, samples, and invalid files."""

from pathlib import Path

import numpy as np
import pytest

from ante.training.settings.config import BadConfig, read_config
from ante.training.sweeps.space import FACTORS, Range, Space, read_space

ROOT = Path(__file__).resolve().parents[3]


def test_draws_lie_within_the_bounds_and_are_even_in_the_logarithm() -> None:
    rng = np.random.default_rng(0)
    even, log = Range(low=1.0, high=100.0), Range(low=1.0, high=100.0, log=True)
    for of, median in ((even, 50.5), (log, 10.0)):
        draws = [of.draw(rng) for _ in range(4000)]
        assert min(draws) >= 1.0 and max(draws) <= 100.0
        assert np.median(draws) == pytest.approx(median, rel=0.15)


def test_what_is_taken_over_moves_by_a_factor_or_is_drawn_anew() -> None:
    search = {"algo.lr": Range(low=1e-4, high=1e-2, log=True), "algo.gamma": Range(low=0.9, high=0.999)}
    rng = np.random.default_rng(1)
    moved = Space(search=search, resample=0.0)
    factors = {
        round(moved.explored({"algo.lr": 1e-3, "algo.gamma": 0.95}, rng)["algo.lr"] / 1e-3, 6) for _ in range(40)
    }
    assert factors == set(FACTORS)
    assert all(
        moved.explored({"algo.lr": 1e-3, "algo.gamma": 0.95}, rng)["algo.gamma"] in (0.9, 0.999) for _ in range(20)
    ), "bounds"
    resampled = {
        Space(search=search, resample=1.0).explored({"algo.lr": 1e-3, "algo.gamma": 0.95}, rng)["algo.lr"]
        for _ in range(20)
    }
    assert len(resampled) == 20


def test_members_begin_with_the_same_settings_whenever_they_are_drawn_and_whole_numbers_stay_whole() -> None:
    space = Space(
        search={"algo.epochs": Range(low=1, high=4), "algo.lr": Range(low=1e-4, high=1e-2)}, population=5, seed=3
    )
    assert space.starts() == space.starts() and len({start["algo.lr"] for start in space.starts()}) == 5
    config = space.member(space.starts()[0], seed=7)
    assert isinstance(config.algo.epochs, int) and config.seed == 7 and config.steps == space.steps


def test_the_population_that_is_shipped_can_be_read_and_its_members_made_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a trial: in a separate folder, without the files."""
    space = read_space(ROOT / "configs/population/small.yaml")
    assert space.population * space.steps == 655_360 and set(space.search) == {
        "algo.lr",
        "algo.entropy",
        "algo.gae_lambda",
    }
    monkeypatch.chdir(tmp_path)
    member, quick = space.member(space.starts()[0], 5), read_config(Path("quick"))
    assert (member.policy, member.algo.batch) == (quick.policy, 4096)
    assert (member.resources.games_per_runner, member.steps) == (64, space.steps)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("search: {algo.lr: {low: 1, high: 0.5}}", "search.algo.lr: low 1 must be below high 0.5"),
        ("search: {algo.lr: {low: 0, high: 0.5, log: true}}", "above 0 if log is set"),
        ("search: {}", "search is empty"),
        ("search: {learning: {low: 1, high: 2}}", "search.learning is not a setting that can be searched"),
        ("search: {seed: {low: 1, high: 2}}", "search.seed is not a setting"),
        (
            "search: {algo.gamma: {low: 0.5, high: 2}}",
            "invalid member: algo.gamma: Input should be less than or equal",
        ),
        (
            "search: {algo.lr: {low: 1, high: 2}}\nsettings: {polcy: mlp}",
            "invalid member: unknown setting 'polcy'",
        ),
        ("search: {algo.lr: {low: 1, high: 2}}\nevery: 300000", "every 300,000 is more than steps 200,000"),
        ("search: {algo.lr: {low: 1, high: 2}}\nmembers: 3", "members: Extra inputs"),
        ("- a", "contains no settings"),
        ("a: [", "cannot read"),
    ],
)
def test_files_that_cannot_be_meant_are_refused_with_the_place(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "space.yaml"
    file.write_text(text)
    with pytest.raises(BadConfig) as found:
        read_space(file)
    assert why in str(found.value)
