"""Self-play in races: rewards, estimates, the league, and a training from command to release."""

import csv
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")

from ante.agents.baselines import Baseline  # noqa: E402
from ante.agents.seed_lists import dataset_seeds  # noqa: E402
from ante.cli import outcome  # noqa: E402
from ante.race.races import Result  # noqa: E402
from ante.race.rules import LIVES  # noqa: E402
from ante.training.players.release import policy_from, write_policy  # noqa: E402
from ante.training.players.self_play import (  # noqa: E402
    LIFE,
    Experience,
    Iteration,
    League,
    NotRaceable,
    SelfPlaySettings,
    estimates,
    experience_of,
    learn_policy,
    learn_value,
    race,
    self_play,
)
from ante.training.policies.registry import new_policy  # noqa: E402
from ante.training.settings.config import TrainConfig, make_config  # noqa: E402

SETTINGS = SelfPlaySettings(iterations=2, races=4, join_every=1)


def config_of(kind: str) -> TrainConfig:
    entry = {"policy.entry": 16} if kind == "shortlist" else {}
    return make_config({"policy.kind": kind, "policy.hidden": (32, 32), **entry})


@pytest.mark.parametrize("kind", ["shortlist", "mlp"])
def test_rewards_are_lives_and_results_and_values_are_the_policy_s_own(kind: str) -> None:
    """A race's rewards sum up to its result and to the lives at its end, read from the finished races."""
    torch.manual_seed(0)
    policy = new_policy(config_of(kind))
    played, races = race(policy, Baseline("greedy"), dataset_seeds(6, 3), torch.Generator().manual_seed(0), "none")
    ends = np.flatnonzero(played.last)
    assert len(ends) == 6 and ends[-1] == len(played.actions) - 1
    for number, sum_of_race in enumerate(np.split(played.rewards, ends[:-1] + 1)):
        own, other = np.maximum(races.races.lives[number], 0)
        result = {Result.WON: 1.0, Result.LOST: -1.0}.get(Result(races.results(0)[number]), 0.0)
        assert sum_of_race.sum() == pytest.approx(result + LIFE * (other * -1 + LIVES - (LIVES - own)), abs=1e-5)
    with torch.no_grad():
        log_probs, _, values = policy.evaluate(played.rows, played.actions)
    np.testing.assert_allclose(log_probs, played.log_probs, atol=1e-3)
    np.testing.assert_allclose(values, played.values, atol=1e-3)


def test_advantages_are_sums_of_td_errors_within_a_race() -> None:
    rng = np.random.default_rng(0)
    rewards, values = (rng.normal(size=9).astype(np.float32) for _ in range(2))
    last = np.isin(np.arange(9), [3, 8])
    played = Experience(np.zeros(9), np.zeros(9, np.int64), np.zeros(9, np.float32), values, rewards, last)
    advantages, targets = estimates(played, SETTINGS)
    for begin, end in ((0, 3), (4, 8)):
        for i in range(begin, end + 1):
            wanted = 0.0
            for k in range(i, end + 1):
                after = values[k + 1] if k < end else 0.0
                error = rewards[k] + SETTINGS.gamma * after - values[k]
                wanted += (SETTINGS.gamma * SETTINGS.decay) ** (k - i) * error
            assert advantages[i] == pytest.approx(wanted, abs=1e-5)
            assert targets[i] == pytest.approx(wanted + values[i], abs=1e-5)


def test_decisions_are_sorted_by_race() -> None:
    def entry(which: list[int], reward: float) -> tuple[Any, ...]:
        n = len(which)
        return (np.array(which), np.zeros(n), np.array(which), np.zeros(n), np.zeros(n), np.full(n, reward))

    played = experience_of([entry([0, 1], 1.0), entry([1], 2.0), entry([0, 1], 3.0)])
    assert played.actions.tolist() == [0, 0, 1, 1, 1] and played.rewards.tolist() == [1, 3, 1, 2, 3]
    assert played.last.tolist() == [False, True, False, False, True]


def test_opponents_near_the_learner_s_rating_are_likelier_and_new_ones_likeliest() -> None:
    league = League([Baseline("random"), Baseline("greedy"), Baseline("greedy")])
    np.testing.assert_allclose(league.chances(), 1 / 3)
    league.record([(0, 20.0, 20), (1, 11.0, 20), (2, 2.0, 20)])
    learner, *members = league.elos()
    assert members[0] < members[1] < learner < members[2]
    chances = league.chances()
    assert chances[1] > chances[2] > chances[0] > 0 and chances.sum() == pytest.approx(1)
    league.join(Baseline("random"))
    assert league.chances().argmax() == 3


def test_gradient_steps_prefer_what_was_rewarded_and_the_value_is_fitted() -> None:
    """One position, taken with two actions: the rewarded one becomes likelier, the value approaches the mean reward."""
    torch.manual_seed(0)
    policy = new_policy(config_of("mlp"))
    played, _ = race(policy, Baseline("random"), dataset_seeds(1, 1), torch.Generator().manual_seed(0), "none")
    rows = np.repeat(played.rows[:1], 64)
    legal = np.flatnonzero(np.unpackbits(rows["mask"][0], bitorder="little"))[:2]
    actions = np.resize(legal, 64).astype(np.int64)
    rewards = np.where(actions == legal[0], 1.0, -0.5).astype(np.float32)

    def known() -> tuple[float, float]:
        with torch.no_grad():
            log_probs, _, values = policy.evaluate(rows[:2], legal.astype(np.int64))
        return float(log_probs[0] - log_probs[1]), float(values[0])

    def experience() -> Experience:
        with torch.no_grad():
            log_probs, _, values = (each.numpy().copy() for each in policy.evaluate(rows, actions))
        return Experience(rows, actions, log_probs, values, rewards, np.ones(64, dtype=np.bool_))

    rng, body = np.random.default_rng(0), [each.clone() for each in policy.trunk.parameters()]
    adam = torch.optim.Adam(policy.value.parameters(), lr=0.1)
    losses = [learn_value(policy, adam, experience(), SETTINGS, rng)[0] for _ in range(20)]
    assert losses[-1] < losses[0] and known()[1] == pytest.approx(0.25, abs=0.1)
    assert all(torch.equal(one, other) for one, other in zip(body, policy.trunk.parameters(), strict=True))
    before, adam = known()[0], torch.optim.Adam(policy.parameters(), lr=1e-3)
    for _ in range(5):
        learn_policy(policy, adam, experience(), SETTINGS, rng)
    assert known()[0] > before + 0.05


@pytest.mark.slow
def test_the_command_trains_a_release_whose_checkpoints_join_the_league(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = config_of("mlp")
    start, out = tmp_path / "start", tmp_path / "racer"
    write_policy(new_policy(config), config, {"timesteps": 0, "games": 0, "seconds": 0.0}, start)
    words = ["race", str(start), "random", "--train", str(out), "--iterations", "6", "--games", "2"]
    assert outcome(words) == 0
    assert "iteration 6:" in capsys.readouterr().err
    before, after = policy_from(start).state_dict(), policy_from(out / "iteration-6").state_dict()
    assert any(not torch.equal(before[name], after[name]) for name in before)
    assert (out / "iteration-5" / "policy.json").is_file()
    assert len((out / "metrics.csv").read_text().splitlines()) == 7
    assert outcome(["race", str(out / "iteration-6"), str(start), "--games", "2", "--json"]) == 0
    capsys.readouterr()
    assert outcome(words) == 2 and "is not empty" in capsys.readouterr().err
    assert outcome(["race", "greedy", "random", "--train", str(tmp_path / "x")]) == 2
    assert "needs a run or a release" in capsys.readouterr().err


def test_an_iteration_may_have_a_single_race_and_its_metrics_outlive_an_interruption(tmp_path: Path) -> None:
    def interrupt(_: Iteration) -> None:
        raise KeyboardInterrupt

    config = config_of("shortlist")
    settings = SelfPlaySettings(iterations=2, races=1)
    with pytest.raises(KeyboardInterrupt):
        self_play(new_policy(config), config, [Baseline("random")], tmp_path / "out", settings, interrupt)
    (row,) = csv.DictReader((tmp_path / "out" / "metrics.csv").open())
    assert row["iteration"] == "1" and row["opponents"] in ("random", "start")


@pytest.mark.parametrize("changes", [{"policy.kind": "mlp", "algo.kind": "dqn"}, {"policy.kind": "lstm"}])
def test_policies_with_a_memory_or_action_values_are_refused(changes: dict[str, Any], tmp_path: Path) -> None:
    config = make_config(changes)
    with pytest.raises(NotRaceable, match="use shortlist or mlp"):
        self_play(new_policy(config), config, [], tmp_path / "out", SETTINGS)
