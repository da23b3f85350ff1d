"""Curricula: the start of the next stage, its start in runners, and resumed runs."""

import csv
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ante.training.settings.config import BadConfig, TrainConfig, make_config, read_config
from ante.training.settings.curriculum import Stage, mastered

NO_RAY = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
TINY = {
    "resources.games_per_runner": 8,
    "algo.batch": 512,
    "algo.minibatch": 512,
    "algo.epochs": 1,
    "policy.hidden": (16,),
    "games.max_decisions": 120,
    "evaluation.games": 1,
    "resources.object_store_gb": 0.1,
}
CURRICULUM = ({"goal": 1}, {"goal": 3, "stake": 2}, {"goal": 6, "deck": "b_blue", "stake": 2, "promote": 0.1})


def line(**changes: float) -> dict[str, float]:
    return {"stage": 1, "games_counted": 10, "win_rate": 0.5, **changes}


def test_the_next_stage_begins_once_a_full_window_of_this_one_is_won_often_enough() -> None:
    stages = make_config({"games.curriculum": CURRICULUM}).games.stages
    assert mastered(stages, 1, line(), 10)
    assert not mastered(stages, 1, line(win_rate=0.49), 10)
    assert not mastered(stages, 1, line(games_counted=9.5), 10), "the window is not full"
    assert not mastered(stages, 1, line(win_rate=math.nan, games_counted=0), 10)
    assert not mastered(stages, 2, line(), 10), "games of the previous stage, sampled ahead"
    assert not mastered(stages, 2, line(stage=1.5), 10), "runners at different stages"
    assert mastered(stages, 3, line(stage=3, win_rate=0.1), 10)
    assert not mastered(stages, 4, line(stage=4, win_rate=1.0), 10), "the run's own game is the last stage"
    assert not mastered(TrainConfig().games.stages, 1, line(stage=math.nan, win_rate=1.0), 10)


def test_stages_are_filled_in_by_the_run_and_end_with_its_own_game() -> None:
    config = make_config({"games.deck": "b_red", "games.stake": 4, "games.curriculum": CURRICULUM})
    assert [stage.rules for stage in config.games.stages] == [
        {"goal": 1, "deck": "b_red", "stake": 4},
        {"goal": 3, "deck": "b_red", "stake": 2},
        {"goal": 6, "deck": "b_blue", "stake": 2},
        {"goal": 8, "deck": "b_red", "stake": 4},
    ]


def test_a_curriculum_is_written_and_read_back(tmp_path: Path) -> None:
    config = make_config({"games.curriculum": CURRICULUM})
    (tmp_path / "config.yaml").write_text(config.to_yaml())
    assert read_config(tmp_path / "config.yaml") == config
    ours = read_config(Path("curriculum"))
    games = ours.games
    assert len(games.curriculum) > 1
    assert games.stages[-1] == Stage(goal=8, deck=games.deck, stake=games.stake)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"games.curriculum": [{"goal": 9}]}, r"curriculum\.0\.goal: Input should be less than or equal to 8, got 9"),
        (
            {"games.curriculum": [{"goal": 1}, {"gaol": 2}]},
            r"unknown setting 'games\.curriculum\.1\.gaol': a stage has goal, deck",
        ),
        ({"games.curriculum": [{"deck": "b_rde"}]}, r"curriculum\.0\.deck: .*b_rde"),
        ({"games.curriculum": [{"promote": 1.5}]}, r"curriculum\.0\.promote"),
        (
            {"games.curriculum": [{"goal": 2}], "algo.kind": "rllib-ppo"},
            "games.curriculum is not supported with algo.kind rllib",
        ),
        ({"games.curriculum": [{"stake": 2}], "games.challenge": "omelette"}, "has its own deck and stake"),
    ],
)
def test_what_is_no_curriculum_is_refused_in_words(values: dict[str, Any], message: str) -> None:
    with pytest.raises(BadConfig, match=message):
        make_config(values)


def test_a_potential_is_discounted_as_the_learner_discounts() -> None:
    pytest.importorskip("torch")
    from ante.training.sampling.games import env_config

    reward = env_config(make_config({"games.reward": "potential", "algo.gamma": 0.97}))["reward"]
    assert (reward.name, reward.discount) == ("potential", 0.97)


def build(**settings: Any) -> Any:
    from ante.training.rllib.build import fast_config
    from ante.training.rllib.cluster import start_ray

    start_ray()
    return fast_config(make_config({**TINY, "games.curriculum": CURRICULUM, **settings})).build_algo()


def played(made: Any) -> list[tuple[int, int, int, int]]:
    """Return stage, goal, deck and stake of each runner."""
    group = made.env_runner_group
    return group.foreach_env_runner(  # type: ignore[no-any-return]
        lambda r: (r.stage, r.games.goal, r.games.deck, r.games.stake),
        local_env_runner=group.num_remote_env_runners() == 0,
    )


@NO_RAY
@pytest.mark.ray
@pytest.mark.usefixtures("local_ray")
@pytest.mark.parametrize(
    ("settings", "stages"),
    [
        ({}, [3, 3, 3]),
        ({"algo.overlap": True}, [1, 3, 3]),
        ({"algo.overlap": True, "algo.lag": 2}, [1, 1, 3]),
        ({"algo.overlap": True, "resources.runners": 2}, [1, 3, 3]),
        ({"algo.kind": "appo"}, [1, 3, 3]),
    ],
)
def test_runners_change_over_together_and_count_the_new_games_only(settings: dict[str, Any], stages: list[int]) -> None:
    made, runners = build(**settings), settings.get("resources.runners", 0)
    first = made.train()["env_runners"]
    assert first["stage"] == 1
    assert played(made) == [(1, 1, 0, 1)] * max(1, runners)
    made.set_stage(3)
    results = [made.train()["env_runners"] for _ in range(3)]
    assert [result["stage"] for result in results] == stages
    assert played(made) == [(3, 6, 1, 2)] * max(1, runners)
    third_stage = results[stages.index(3)]
    assert third_stage["games_counted"] == min(200, third_stage["num_episodes"]), (
        "games of the first stage are not counted"
    )
    assert made.env_runner_group.local_env_runner.get_state()["stage"] == 3, "the stage that restarted runners receive"
    made.stop()


@NO_RAY
@pytest.mark.ray
@pytest.mark.usefixtures("local_ray")
def test_practice_positions_are_kept_while_deck_and_stake_are() -> None:
    made = build(
        **{"games.practice": 0.5, "games.curriculum": ({"goal": 1}, {"goal": 2}, {"goal": 2, "stake": 2})},
    )
    made.train()
    runner = made.env_runner
    kept = runner.hooks[0]
    kept._kept[64:65].view(np.uint8)[:] = runner.games.states[:1].view(np.uint8)  # as if a game had reached ante 2
    kept._kept["ante"][64], kept._counts[1] = 2, 1
    made.set_stage(2)
    made.train()
    assert kept._counts[1] >= 1 and kept._kept["ante"][64] == 2, "positions of the first stage are kept"
    made.set_stage(3)
    made.train()
    assert not kept._counts.any()
    made.stop()


@NO_RAY
@pytest.mark.ray
@pytest.mark.usefixtures("local_ray")
def test_runners_that_evaluate_play_the_runs_own_game() -> None:
    from ante.training.sampling.runner import BatchRunner

    made = build()
    config = made.config.copy(copy_frozen=False)
    config.in_evaluation = True
    runner = BatchRunner(config=config)
    runner.set_state({"stage": 2})
    runner.sample(num_timesteps=8)
    assert (runner.games.goal, runner.games.deck, runner.games.stake) == (8, 0, 1)
    made.stop()


def lines(folder: Path, column: str) -> list[float]:
    with (folder / "metrics.csv").open(newline="") as stream:
        return [float(row[column]) for row in csv.DictReader(stream)]


@NO_RAY
@pytest.mark.ray
@pytest.mark.usefixtures("local_ray")
def test_a_run_is_promoted_and_a_resumed_one_stays_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every hand beats its blind, so that all games of the first stage are won."""
    from ante.env.games import Games
    from ante.training.run import loop
    from ante.training.run_store.checkpoints import find_checkpoint

    deal = Games._deal

    def dealt(games: Games, which: Any, options: Any) -> None:
        deal(games, which, options)
        games.states["one_chip_blinds"][which] = 1

    monkeypatch.setattr(Games, "_deal", dealt)
    monkeypatch.setattr(loop, "conclude", lambda *_: None)
    monkeypatch.setattr(loop, "WINDOW", 30)
    settings = {
        **TINY,
        "runs": str(tmp_path),
        "games.curriculum": ({"goal": 1}, {"goal": 8}),
        "games.max_decisions": 5000,
    }
    folder = loop.train(make_config({**settings, "steps": 512 * 5}))
    stages, rates = lines(folder, "stage"), lines(folder, "win_rate")
    assert stages[0] == 1 and stages[-1] == 2, "promoted within five iterations"
    last = stages.index(2) - 1
    counted = lines(folder, "games_counted")
    assert rates[last] >= 0.5 and counted[last] >= 30
    assert last > 0 and all(n < 30 for n in (*counted[:last], *counted[last + 1 :]))
    assert lines(folder, "ante")[last] == 1, "the reached ante, not the one after the win"
    assert "stage 2 of 3 starts: to the boss of ante 8" in capsys.readouterr().err
    assert find_checkpoint(folder / "checkpoints")[1]["stage"] == 2
    loop.train(make_config({**settings, "steps": 512 * 6}), resume=True)
    assert lines(folder, "stage") == [*stages, 2]
