"""Training with hints on a real Ray: a broker in a separate process, good and bad LLMs, no overhead without hints."""

import json
import math
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ante.training.settings.config import make_config

torch = pytest.importorskip("torch")

from ante.hints.fake import FakeServer  # noqa: E402
from tests.support.tiny import TINY, fitting  # noqa: E402

pytestmark = [
    pytest.mark.ray,
    pytest.mark.usefixtures("local_ray"),
    pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled"),
]
PATIENCE = 300.0  # upper bound for busy machines


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Return a function that creates algorithms with hints; stops them afterwards."""
    from ante.training.rllib.build import build
    from ante.training.settings.config import make_config

    made = []

    def make(**settings: Any) -> Any:
        kind = settings.pop("policy.kind", TINY["policy.kind"])
        sizes = {name.removeprefix("policy."): size for name, size in TINY.items() if name.startswith("policy.")}
        others = {name: value for name, value in TINY.items() if not name.startswith("policy.")}
        made.append(build(make_config({**others, **fitting(kind, sizes), "runs": str(tmp_path), **settings})))
        return made[-1]

    yield make
    for algorithm in made:
        algorithm.stop()


def learner_of(result: dict[str, Any]) -> dict[str, Any]:
    return result["learners"]["default_policy"]  # type: ignore[no-any-return]


def report(algorithm: Any) -> dict[str, Any]:
    import ray

    return ray.get(algorithm.hint_broker.report.remote())  # type: ignore[no-any-return]


def until(algorithm: Any, reached: Callable[[dict[str, Any], dict[str, Any]], bool]) -> tuple[Any, Any]:
    """Iterate until the learner's metrics and the broker's report agree."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        result = algorithm.train()
        found = report(algorithm)
        if reached(learner_of(result), found):
            return learner_of(result), found
    raise AssertionError(f"not reached: {found}")


@pytest.mark.parametrize("policy", ["shortlist", "mlp"])
def test_rules_are_asked_imitated_and_written_down(run: Callable[..., Any], policy: str) -> None:
    shaping = 0.1 if policy == "shortlist" else 0.0
    algorithm = run(**{"hints.source": "rules", "hints.prior": 0.5, "hints.shaping": shaping, "policy.kind": policy})
    learner, found = until(algorithm, lambda learner, found: "imitation_loss" in learner and len(found["rows"]) > 20)
    assert learner["imitation_loss"] > 0 and math.isfinite(learner["policy_loss"])
    budget = algorithm.env_runner.hooks[-1].hinting.budget
    assert 0 < budget.asked <= 0.05 * budget.decisions
    assert found["figures"]["success"] == 1.0 and found["alarm"] is None
    assert {row["hint"]["source"] for row in found["rows"]} == {"rules"}


def test_a_runner_process_asks_too(run: Callable[..., Any]) -> None:
    algorithm = run(**{"hints.source": "rules", "resources.runners": 1})
    learner, _ = until(algorithm, lambda learner, found: "imitation_loss" in learner)
    assert learner["imitation_loss"] > 0


@pytest.mark.parametrize(("mode", "cause"), [("hang", "timeout"), ("wrong-schema", "schema"), ("dead", "unreachable")])
def test_a_useless_llm_does_not_affect_training_and_raises_the_alarm(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mode: str, cause: str
) -> None:
    from ante.training.advice.broker import HintWatch

    with FakeServer(mode="ok" if mode == "dead" else mode) as server:
        monkeypatch.setenv("LLM_ENDPOINT", "http://127.0.0.1:9/v1" if mode == "dead" else server.url)
        monkeypatch.setenv("LLM_MODEL", "fake")
        monkeypatch.setenv("LLM_TIMEOUT_SECONDS", "0.5" if mode == "hang" else "20")
        algorithm = run(**{"hints.source": "llm"})
        said: list[str] = []
        watch = HintWatch(algorithm.hint_broker, tmp_path / "run", said.append)
        learner, _ = until(algorithm, lambda learner, _: bool(said))
        watch.close()
    assert said[0].startswith("ALARM hints fail: 0%") and cause in said[0]
    assert math.isfinite(learner["policy_loss"]) and "imitation_loss" not in learner
    ledger = json.loads((tmp_path / "run" / "hints" / "ledger.json").read_text())
    assert ledger["success"] == 0.0 and ledger["ends"][cause] >= 5


def test_an_llm_teaches_and_its_hints_are_logged(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import pyarrow.parquet

    from ante.training.advice.broker import HintWatch

    with FakeServer(latency=0.05) as server:
        monkeypatch.setenv("LLM_ENDPOINT", server.url)
        monkeypatch.setenv("LLM_MODEL", "fake")
        algorithm = run(**{"hints.source": "llm"})
        watch = HintWatch(algorithm.hint_broker, tmp_path / "run", print)
        until(algorithm, lambda learner, found: "imitation_loss" in learner and len(found["rows"]) > 5)
        watch.close()
        assert watch.figures["hint_success"] == 1.0 and watch.figures["hint_tokens"] > 0
    (file,) = (tmp_path / "run" / "hints").glob("decisions-*.parquet")
    rows = pyarrow.parquet.read_table(file).to_pylist()
    assert len(rows) > 5 and all(row["used_llm"] for row in rows if row["hint"])
    assert {row["hint"]["source"] for row in rows if row["hint"]} <= {"llm", "cache"}


def test_without_hints_nothing_is_different(run: Callable[..., Any]) -> None:
    algorithm = run()
    hooks = [type(hook).__name__ for hook in algorithm.env_runner.hooks]
    assert hooks == ["Highlights"] and algorithm.learner_group._learner.terms == []
    assert algorithm.env_runner.sample()[0].labelled is None


def test_what_is_reported_as_log_probability_is_that_of_the_mixture(run: Callable[..., Any]) -> None:
    algorithm = run(**{"hints.source": "rules", "hints.prior": 1.0, "hints.imitation": 0.0})
    runner = algorithm.env_runner
    *_, hook = runner.hooks
    until(algorithm, lambda *_: len(hook.hinting._kept) > 8)
    games = runner.games
    hook.renewed(np.arange(games.n))
    followed = hook.hinting.followed.copy()
    assert (followed >= 0).any()
    rows = runner._rows_now()
    own = runner.module.action_log_probs(rows)[0].numpy()
    actions, log_probs, *_ = hook.choose(rows, rows)
    follows = followed >= 0
    assert (actions[follows] == followed[follows]).all() and np.allclose(log_probs[follows], 0.0)
    alone = np.flatnonzero(~follows)
    assert np.allclose(log_probs[alone], own[alone, actions[alone]], atol=1e-5)


def test_an_advised_policy_follows_hints_within_the_budget() -> None:
    from ante.agents.evaluate import evaluate, paired_difference
    from ante.agents.seed_lists import evaluation_seeds
    from ante.training.players.advised import AdvisedPlayer
    from tests.training.advice.test_hooks import shortlist_policy

    seeds = evaluation_seeds(12)
    always = AdvisedPlayer(shortlist_policy(), "net", None, share=1.0, confidence=1.1)
    advised = evaluate(always, seeds)
    alone = evaluate(AdvisedPlayer(shortlist_policy(), "net", None, share=0.0), seeds)
    more, _ = paired_difference(advised, alone)
    assert more > 3  # the rules beat about fifteen blinds, a new network less than one
    found = next(iter(always.hints.values()))
    assert set(found) == {"text", "agreed", "source"} and always.ledger.compared == len(always.hints)


def test_notes_of_an_advised_game_have_the_hints_where_they_were_given() -> None:
    from ante.agents.evaluate import evaluate
    from ante.agents.seed_lists import evaluation_seeds
    from ante.env.replay import Heading
    from ante.training.players.advised import AdvisedPlayer
    from ante.watch.episode import annotate, recorded
    from tests.training.advice.test_hooks import shortlist_policy

    seed = evaluation_seeds(4)[3]
    player = AdvisedPlayer(shortlist_policy(), "net", None, share=0.3, confidence=1.1)
    record = evaluate(player, [seed]).records[0]
    episode = recorded(Heading(seed), record.actions, player.discrete)
    notes = annotate(episode, player)
    given = {step: f"{hint['text']} ({hint['source']})" for (_, step), hint in player.hints.items()}
    assert given and {step: note.hint for step, note in enumerate(notes) if note.hint} == given

    asks = player.ledger.asks
    assert annotate(episode, player) == notes and player.ledger.asks == asks, "no hint is requested again"
    stranger = AdvisedPlayer(shortlist_policy(), "net", None, share=0.3, confidence=1.1)
    hinted = [note.hint for note in annotate(episode, stranger) if note.hint]
    assert 0 < len(hinted) <= 0.3 * len(notes) + 1, "hints for other players' games are within the budget"


def test_the_effect_of_advice_is_measured_on_the_games_of_the_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ante.agents.evaluate import evaluate
    from ante.agents.seed_lists import evaluation_seeds
    from ante.training.players import advised
    from tests.training.advice.test_hooks import shortlist_policy

    config = make_config(
        {"name": "run", "runs": str(tmp_path), "hints.source": "rules", "hints.share": 1.0, "hints.confidence": 1.0}
    )
    config.folder.mkdir()
    (config.folder / "config.yaml").write_text(config.to_yaml())
    monkeypatch.setattr(advised, "policy_from", lambda *_: shortlist_policy())
    alone = evaluate(advised.AdvisedPlayer(shortlist_policy(), "net", None, share=0.0), evaluation_seeds(12))
    monkeypatch.setattr(advised, "EFFECT_GAMES", 8)
    effect = advised.advice_effect(config, alone)
    assert effect.games == 8 and effect.more > 3 and "blinds beaten with hints" in str(effect)
    assert json.loads((config.folder / "hints" / "effect.json").read_text())["more"] == effect.more
