"""Line-ups of a run in a graph: each game once, also with several runners and after a resume; a dead graph stops nothing."""

import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ante.engine.core.compile_cache import source_hash
from ante.env.games import Outcome
from ante.knowledge import store
from ante.knowledge.observing.counts import ANTE, add_games, empty_counts, rows_of
from ante.knowledge.observing.runs import read_runs
from ante.knowledge.store import open_knowledge
from ante.training.settings.config import BadConfig, TrainConfig, make_config
from ante.watch.episode import recorded

pytest.importorskip("torch")

from ante.training.run import knowledge as writing
from ante.training.run.knowledge import RunKnowledge, run_knowledge
from ante.training.run_store.checkpoints import find_checkpoint
from ante.training.run_store.state_files import read_state
from ante.training.sampling.line_ups import LINE_UPS, LineUpSums

jit = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
BATCH = 1024
STRONG: dict[str, Any] = {  # a policy whose games reach the ante of line-ups
    "init_from": "white-stake",
    "policy.kind": "shortlist",
    "policy.hidden": (256, 256),
    "policy.entry": 64,
    "games.reorder": "jokers",
    "resources.games_per_runner": 8,
    "resources.object_store_gb": 0.1,
    "algo.batch": BATCH,
    "algo.minibatch": BATCH,
    "algo.epochs": 1,
    "algo.lr": 1e-6,
}


def trained(folder: Path, name: str, iterations: int, resume: bool = False, **settings: Any) -> Path:
    """Train for this number of iterations, without the final evaluation; return the run's folder."""
    from ante.training.run import loop

    given = {**STRONG, "tracking.knowledge": str(folder / "graph.lbug"), **settings}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "conclude", lambda *_: None)
        return loop.train(
            make_config({**given, "runs": str(folder), "name": name, "steps": BATCH * iterations}), resume
        )


def in_graph(folder: Path) -> dict[str, tuple[int, int, list[dict[str, Any]]]]:
    """Return games, wins and counts of each run in the graph, by name; a name twice fails."""
    with open_knowledge(str(folder / "graph.lbug")) as graph:
        runs = read_runs(graph.backend)
    assert len({run.name for run in runs}) == len(runs)
    return {run.name: (run.games, run.wins, rows_of(run.counts)) for run in runs}


class Spy:
    """Keeps the actions and the result of every finished game that began from the beginning."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        from ante.training.sampling.highlights import Highlights

        self.games: list[tuple[Any, list[int], bool]] = []
        ended = Highlights.ended

        def note(hook: Any, which: Any) -> None:
            for i in which:
                if not hook.runner.begun[i]:
                    actions = hook._actions[i, : hook.games.steps[i]].tolist()
                    self.games.append((hook._heading(i), actions, bool(hook.games.outcome[i] == Outcome.WON)))
            ended(hook, which)

        patch.setattr(Highlights, "ended", note)

    def replayed(self) -> tuple[int, int, dict[tuple[str, str], tuple[int, int]]]:
        """Return games, wins and counts from the replays of the games alone."""
        from ante.catalog.jokers import JOKERS

        games = wins = 0
        found: dict[tuple[str, str], tuple[int, int]] = {}
        for heading, actions, won in self.games:
            for _, _, after in recorded(heading, actions, discrete=False).walk():
                if after.ante >= ANTE:
                    break
            else:
                continue
            games, wins = games + 1, wins + won
            held = sorted({int(joker.id) for joker in after.jokers[: int(after.n_jokers)]})
            keys = [JOKERS[joker].key for joker in held]
            for k, one in enumerate(keys):
                for other in ("", *keys[k + 1 :]):
                    n, m = found.get((one, other), (0, 0))
                    found[one, other] = (n + 1, m + won)
        return games, wins, found


@jit
@pytest.mark.ray
@pytest.mark.usefixtures("local_ray")
def test_a_training_counts_each_game_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the games that a resumed run continues; those of practice, which start elsewhere, are not counted."""
    spy = Spy(monkeypatch)
    practice = {"games.practice": 0.25}
    trained(tmp_path, "mine", 4, **practice)
    first = in_graph(tmp_path)["mine"]
    trained(tmp_path, "mine", 8, resume=True, **practice)
    games, wins, counts = spy.replayed()
    found = in_graph(tmp_path)["mine"]
    assert found[:2] == (games, wins) and games > first[0] > 0
    assert {(row["one"], row["other"]): (row["games"], row["wins"]) for row in found[2]} == counts


@jit
@pytest.mark.ray
@pytest.mark.usefixtures("local_ray")
@pytest.mark.parametrize(
    "settings",
    [
        {},
        pytest.param({"algo.overlap": True, "algo.lag": 2}, marks=pytest.mark.nightly),
        pytest.param({"resources.runners": 2, "resources.games_per_runner": 4}, marks=pytest.mark.nightly),
    ],
    ids=["one process", "sampled ahead", "two runners"],
)
def test_a_resumed_run_has_the_counts_of_the_undisturbed_one(settings: dict[str, Any], tmp_path: Path) -> None:
    trained(tmp_path, "whole", 8, **settings)
    trained(tmp_path, "halves", 4, **settings)
    trained(tmp_path, "halves", 8, resume=True, **settings)
    found = in_graph(tmp_path)
    assert found["whole"] == found["halves"] and found["whole"][0] > 0
    checkpoint = read_state(find_checkpoint(tmp_path / "halves" / "checkpoints")[0])
    counts = checkpoint["sampling"][LINE_UPS]["counts"]
    assert rows_of(counts) == found["halves"][2]


@jit
@pytest.mark.ray
@pytest.mark.usefixtures("local_ray")
def test_a_dead_graph_does_not_stop_training(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = {"tracking.knowledge": "bolt://127.0.0.1:1", "checkpoints.every": 1}
    run = trained(tmp_path, "mine", 3, **settings)
    assert find_checkpoint(run / "checkpoints")[1]["iteration"] == 3
    said = " ".join(capsys.readouterr().err.split())
    assert said.count("line-ups are not written to bolt://127.0.0.1:1") == 1 and "Training continues" in said
    assert "a resumed run writes them" in said
    trained(tmp_path, "mine", 4, resume=True)
    assert in_graph(tmp_path)["mine"][0] > 0, "what was missing is written by the resumed run"


def a_config(folder: Path, store: str | None = None) -> TrainConfig:
    return make_config({"name": "mine", "tracking.knowledge": store or str(folder / "graph.lbug")})


def sums(games: int, key: str = "run") -> LineUpSums:
    """Return the sums of this many games, each with the jokers 1 and 2, all won."""
    made = LineUpSums()
    made.key, held = key, np.zeros((games, empty_counts().shape[1]), dtype=np.bool_)
    held[:, 1:3] = True
    add_games(made.counts, held, np.ones(games, dtype=np.bool_))
    return made


def test_the_newest_counts_are_written_when_the_run_ends(tmp_path: Path) -> None:
    with run_knowledge(a_config(tmp_path), pytest.fail) as knowledge:
        for games in (1, 2, 3):
            knowledge.put(sums(games), 100 * games)
    with open_knowledge(str(tmp_path / "graph.lbug")) as graph:
        (run,) = read_runs(graph.backend)
    assert (run.key, run.games, run.wins, run.steps, run.policy) == ("run", 3, 3, 300, "mlp")
    assert run.engine == source_hash("engine") and len(rows_of(run.counts)) == 3


def test_without_a_graph_nothing_is_written() -> None:
    with run_knowledge(make_config({"name": "mine"}), pytest.fail) as knowledge:
        knowledge.put(sums(1), 100)
    assert not [each for each in threading.enumerate() if each.name == "knowledge"]


def test_a_busy_file_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ante.knowledge.backends import StoreBusy

    calls: list[int] = []
    real = store.open_as

    def busy(*given: Any, **more: Any) -> Any:
        calls.append(1)
        if len(calls) < 3:
            raise StoreBusy("another process writes")
        return real(*given, **more)

    monkeypatch.setattr(store, "open_as", busy)
    with run_knowledge(a_config(tmp_path), pytest.fail) as knowledge:
        knowledge.put(sums(5), 100)
    with open_knowledge(str(tmp_path / "graph.lbug")) as graph:
        assert [run.games for run in read_runs(graph.backend)] == [5] and len(calls) == 3


def test_failures_are_reported_once_and_open_the_breaker_and_the_last_try_ignores_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []
    said: list[str] = []
    done = threading.Semaphore(0)

    def fail(knowledge: RunKnowledge, counts: Any) -> None:
        tried.append(counts.games)
        done.release()
        if not knowledge._closing:
            raise OSError("no \x1b[2Jroute")

    monkeypatch.setattr(RunKnowledge, "_write", fail)
    with run_knowledge(a_config(tmp_path), said.append) as knowledge:
        for games in range(1, writing.FAILURES + 1):
            knowledge.put(sums(games), 100)
            assert done.acquire(timeout=20)
        knowledge.put(sums(9), 100)  # the breaker is open: not tried before the end
        settle(knowledge)
        assert tried == [1, 2, 3]
    assert tried == [1, 2, 3, 9]
    assert len(said) == 2 and "no" in said[0] and "\x1b" not in said[0] and "again" in said[1]


def settle(knowledge: RunKnowledge) -> None:
    """Wait until the thread has taken what was put."""
    for _ in range(200):
        with knowledge._changed:
            if knowledge._next is None:
                return
        threading.Event().wait(0.02)


def test_a_graph_that_does_not_answer_delays_the_end_only_briefly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hangs, said = threading.Event(), []
    monkeypatch.setattr(RunKnowledge, "_write", lambda *_: hangs.wait(60))
    monkeypatch.setattr(writing, "CLOSE_SECONDS", 0.2)
    with run_knowledge(a_config(tmp_path), said.append) as knowledge:
        knowledge.put(sums(7), 100)
    hangs.set()
    assert len(said) == 1 and "does not have the line-ups of all 7 games" in said[0]


def test_a_missing_extra_ends_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "ladybug", None)
    with pytest.raises(ModuleNotFoundError, match="ladybug"):
        RunKnowledge(a_config(tmp_path), pytest.fail)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"tracking.knowledge": "bolt://me:hunter2@host"}, "tracking.knowledge: .*KNOWLEDGE_PASSWORD"),
        ({"tracking.knowledge": ""}, "tracking.knowledge"),
        ({"tracking.knowledge": "default"}, "tracking.knowledge: .*cannot be written"),
        ({"tracking.knowledge": 7}, "tracking.knowledge"),
        (
            {"tracking.knowledge": "g.lbug", "algo.kind": "rllib-ppo", "policy.kind": "mlp"},
            "not supported with algo.kind",
        ),
        (
            {"tracking.knowledge": "g.lbug", "resources.games_on": "gpu", "resources.runner_gpus": 1.0},
            "tracking.knowledge g.lbug is not supported with resources.games_on gpu; use resources.games_on cpu",
        ),
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(BadConfig, match=words) as refused:
        make_config(settings)
    assert "hunter2" not in str(refused.value)


def test_games_are_counted_only_if_a_graph_is_set(tmp_path: Path) -> None:
    from ante.training.rllib.build import fast_config

    assert fast_config(a_config(tmp_path)).line_ups and not fast_config(make_config({"name": "mine"})).line_ups
