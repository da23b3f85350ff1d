"""The specification of a sweep: trials, and invalid files."""

from pathlib import Path

import numpy as np
import pytest

from ante.training.settings.config import BadConfig, read_config
from ante.training.sweeps.space import Choice, Range
from ante.training.sweeps.spec import PopulationBased, Sweep, read_sweep

ROOT = Path(__file__).resolve().parents[3]
LR = "search: {algo.lr: {low: 0.001, high: 0.01}}"


def test_copied_values_are_perturbed_or_sampled_again() -> None:
    search = {"algo.lr": Range(low=1e-4, high=1e-2, log=True), "algo.gamma": Range(low=0.9, high=0.999)}
    rng, values = np.random.default_rng(1), {"algo.lr": 1e-3, "algo.gamma": 0.95}
    perturbed = Sweep(search=search, method=PopulationBased(resample=0.0))
    assert len({perturbed.explored(values, rng)["algo.lr"] for _ in range(40)}) == 2
    sampled = Sweep(search=search, method=PopulationBased(resample=1.0))
    assert len({sampled.explored(values, rng)["algo.lr"] for _ in range(20)}) == 20


def test_trials_begin_with_the_same_settings_whenever_they_are_drawn_and_integers_stay_integers() -> None:
    search = {
        "algo.epochs": Range(low=1, high=4),
        "algo.fragment": Range(low=16, high=128),  # or None
        "algo.lr": Range(low=1e-4, high=1e-2),
    }
    sweep = Sweep(search=search, trials=5, seed=3)
    assert sweep.starts() == sweep.starts() and len({start["algo.lr"] for start in sweep.starts()}) == 5
    config = sweep.config(sweep.starts()[0], seed=7)
    assert isinstance(config.algo.epochs, int) and isinstance(config.algo.fragment, int)
    assert config.seed == 7 and config.steps == sweep.steps


def test_kinds_and_sizes_can_be_searched() -> None:
    search = {"policy.kind": Choice(choices=["mlp", "shortlist"]), "policy.hidden": Choice(choices=[[16], [32, 32]])}
    sweep = Sweep(search=search, trials=40)
    made = {(config.policy.kind, config.policy.hidden) for config in (sweep.config(s, 0) for s in sweep.starts())}
    assert made == {(kind, hidden) for kind in ("mlp", "shortlist") for hidden in ((16,), (32, 32))}


@pytest.mark.parametrize("name", ["asha", "pbt"])
def test_the_sweeps_that_are_shipped_can_be_read_and_their_trials_made_anywhere(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a trial: in a separate folder, without the files."""
    sweep = read_sweep(ROOT / f"configs/sweeps/{name}.yaml")
    assert (sweep.name, sweep.method.kind) == (name, name)
    monkeypatch.chdir(tmp_path)
    trial, quick = sweep.config(sweep.starts()[0], 5), read_config(Path("quick"))
    assert (trial.policy, trial.algo.epochs) == (quick.policy, quick.algo.epochs)
    assert (trial.resources.games_per_runner, trial.steps) == (64, sweep.steps)


def test_keys_given_on_the_command_line_replace_those_of_the_file() -> None:
    file = ROOT / "configs/sweeps/pbt.yaml"
    sweep = read_sweep(file, {"method": "random", "name": "control", "trials": 3})
    assert (sweep.method.kind, sweep.name, sweep.starts()) == ("random", "control", read_sweep(file).starts()[:3])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("search: {algo.lr: {low: 1, high: 0.5}}", "search.algo.lr: low 1 must be below high 0.5"),
        ("search: {algo.lr: {low: 0, high: 0.5, log: true}}", "above 0 if log is set"),
        ("search: {algo.lr: {choices: [1]}}", "search.algo.lr.choices: List should have at least 2 items"),
        ("search: {algo.lr: 3}", "search.algo.lr: Input should be a valid dictionary"),
        ("search: {}", "search is empty"),
        ("search: {learning: {low: 1, high: 2}}", "search.learning is not a setting that can be searched"),
        ("search: {algo.lrr: {low: 1, high: 2}}", "did you mean algo.lr?"),
        ("search: {seed: {low: 1, high: 2}}", "search.seed is not a setting"),
        ("search: {algo.gamma: {low: 0.5, high: 2}}", "invalid trial: algo.gamma: Input should be less than or equal"),
        ("search: {algo.overlap: {low: 0, high: 1}}", "invalid trial: algo.overlap: Input should be a valid boolean"),
        ("search: {algo.lr: {choices: [0.1, fast]}}", "invalid trial: algo.lr: "),
        ("search: {algo.kind: {choices: [ppo, a2d]}}", "invalid trial: there is no algo.kind 'a2d': did you mean a2c?"),
        (f"{LR}\nsettings: {{polcy: mlp}}", "invalid trial: unknown setting 'polcy'"),
        (f"{LR}\nsettings: {{games.curriculum: [{{goal: 1}}]}}", "games.curriculum is not supported in a sweep"),
        (f"{LR}\nevery: 300000", "every 300,000 is more than steps 200,000"),
        (f"{LR}\nmethod: {{kind: asha, grace: 300000}}", "method.grace 300,000 is more than steps 200,000"),
        (f"{LR}\nmethod: halving", "method: a method has a kind: random, asha, pbt"),
        (f"{LR}\nmethod: {{kind: pbt, quantil: 1}}", "method.quantil: Extra inputs"),
        (f"{LR}\nmethod: pbt\ntrials: 1", "trials is 1, but method pbt requires 2 or more"),
        ("search: {policy.hidden: {choices: [[8], [9]]}}\nmethod: pbt", "search.policy.hidden cannot be searched by pbt"),
        (f"{LR}\nmembers: 3", "members: Extra inputs"),
        (f"{LR}\nstore: http://x", "store: 'http://x' is not a store"),
        ("- a", "contains no settings"),
        ("a: [", "cannot read"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_meant_are_refused_with_the_place(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "space.yaml"
    file.write_text(text)
    with pytest.raises(BadConfig) as found:
        read_sweep(file)
    assert why in str(found.value)
