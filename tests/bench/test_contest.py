"""`ante bench train` and `ante profile` on small networks: all rows exist, and the sums are consistent."""

import json
import os
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.ray,
    pytest.mark.usefixtures("local_ray"),
    pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled"),
]


@pytest.mark.nightly
def test_the_contest_answers_rates_ratios_shares_and_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    from ante.bench import contest
    from ante.bench.contenders import FLOAT, OVERLAP, OVERLAP_TWO, SB3, SINGLE, STOCK, STOCK_BF16, STOCK_TWO
    from ante.bench.stopwatch import PARTS
    from ante.training.numerics.precision import has_bf16

    monkeypatch.setattr(contest, "SETTINGS", {"short": (1, 4096)})
    found = contest.train_rows(repeats=1, games=64, hidden=(16,), without=(STOCK_TWO,))
    rows = {(row.name.removesuffix(", short"), row.threads): row.value for row in found}
    assert len(rows) == len(found) and all(value > 0 for value in rows.values())
    everyone = {FLOAT, OVERLAP, OVERLAP_TWO, SB3, SINGLE, STOCK, *([STOCK_BF16] if has_bf16("cpu") else [])}
    rates = {row.name.removesuffix(", short") for row in found if row.unit == "steps/s"}
    assert everyone <= rates and STOCK_TWO not in rates
    for one, two in ((FLOAT, STOCK), (OVERLAP_TWO, STOCK), (FLOAT, SB3), (FLOAT, SINGLE)):
        assert rows[f"{one} against {two}", 1] == pytest.approx(rows[one, 1] / rows[two, 1])
    for kind in ("sparse", "dense"):
        alone = rows[f"network alone, {kind}, float32", 1]
        assert rows[f"{FLOAT}: share of the network alone, {kind}, float32", 1] == pytest.approx(rows[FLOAT, 1] / alone)
    assert {f"part: {words}" for words in PARTS.values()} <= {name for name, _ in rows}
    assert (
        rows["fast path, runner to learner, of a step", 1] < 1000 < rows["stock RLlib, runner to learner, of a step", 1]
    )
    both, alone = rows["sampling, runner processes", 2], rows["sampling, runner processes", 1]
    assert rows["sampling, 2 runner processes against 1", 2] == pytest.approx(both / alone)


def test_a_profile_has_a_split_that_adds_up_operations_and_a_trace(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from ante.cli import main

    (tmp_path / "small.yaml").write_text(
        "resources: {games_per_runner: 16}\npolicy: {hidden: [8]}\n"
        "algo: {batch: 256, minibatch: 128, epochs: 2, overlap: true}\n"
    )
    words = ["--config", str(tmp_path / "small.yaml"), "--trace", str(tmp_path / "t.json"), "--iterations", "2"]
    monkeypatch.setattr(sys, "argv", ["ante", "profile", *words, "--json"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    found = json.loads(capsys.readouterr().out)
    assert found["steps"] == 512
    shares = {part["part"]: part["share"] for part in found["parts"]}
    assert sum(shares.values()) == pytest.approx(1)
    assert {"env", "pack", "forward", "sample", "GAE", "copy", "stage", "gradient", "optimizer", "sync"} <= set(shares)
    calls = {operation["name"]: operation["calls"] for operation in found["operations"]}
    assert calls["ante: gradient"] == 2 * 2 * 2
    assert calls["aten::addmm"] >= 8 * 2
    times = [operation["share"] for operation in found["operations"]]
    assert times == sorted(times, reverse=True) and sum(times) == pytest.approx(1)
    trace = json.loads((tmp_path / "t.json").read_text())
    marks = [event for event in trace["traceEvents"] if event.get("name") == "ante: env" and event.get("ph") == "X"]
    assert len(marks) >= 2 * 16
    assert {file.name for file in tmp_path.iterdir()} == {"small.yaml", "t.json"}


@pytest.mark.parametrize("kind", ["appo", "rllib-ppo", "sb3-dqn"])
def test_what_does_not_play_and_learn_in_turns_is_not_profiled(kind: str) -> None:
    from ante.bench.profile import in_this_process
    from ante.training.settings.config import BadConfig, make_config

    with pytest.raises(BadConfig, match=f"algo.kind {kind} cannot .*: profile algo.kind ppo"):
        in_this_process(make_config({"algo.kind": kind, "policy.kind": "mlp"}))
