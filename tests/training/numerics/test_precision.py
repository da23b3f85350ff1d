"""The precision of a run is decided once, by the devices of all its processes, and is kept by resumed runs."""

import os
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
GPU = {"resources.runners": 1, "resources.runner_gpus": 0.5}


def supporting(monkeypatch: pytest.MonkeyPatch, *kinds: str, gpu_here: bool = True) -> None:
    """Let only these kinds of device support bf16."""
    from ante.training.numerics import precision

    monkeypatch.setattr(precision, "has_bf16", lambda kind: kind in kinds)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu_here)


@pytest.mark.parametrize(
    ("kinds", "gpu_here", "settings", "expected"),
    [
        (("cpu",), False, {}, True),
        ((), False, {}, False),
        (("cuda",), True, {"resources.learner_gpus": 1.0}, False),  # env runners on a CPU without bf16
        (("cpu",), True, {"resources.learner_gpus": 1.0}, False),
        (("cpu", "cuda"), True, {"resources.learner_gpus": 1.0}, True),
        ((), False, {**GPU, "resources.learners": 1, "resources.learner_gpus": 0.5}, True),  # on other machines
        ((), False, {"resources.bf16": "on"}, True),
        (("cpu", "cuda"), True, {"resources.bf16": "off"}, False),
        (("cpu",), False, {"policy.kind": "shortlist"}, False),  # a policy that gains nothing from bf16
    ],
)
def test_all_processes_use_bf16_if_all_their_devices_do(
    monkeypatch: pytest.MonkeyPatch, kinds: tuple[str, ...], gpu_here: bool, settings: dict[str, Any], expected: bool
) -> None:
    from ante.training.rllib.build import fast_config
    from ante.training.settings.config import make_config

    supporting(monkeypatch, *kinds, gpu_here=gpu_here)
    config = fast_config(make_config({"policy.kind": "mlp", **settings}))
    assert config.bf16 is expected, "the configuration carries the decision, not the setting"


@pytest.mark.ray
@pytest.mark.usefixtures("local_ray")
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
@pytest.mark.parametrize("first", [True, False])
def test_a_resumed_run_keeps_its_precision_on_another_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, first: bool
) -> None:
    from ante.training.run import loop
    from ante.training.run_store.checkpoints import find_checkpoint
    from ante.training.settings.config import make_config
    from tests.support.tiny import TINY

    monkeypatch.setattr(loop, "conclude", lambda *_: None)
    built: list[Any] = []
    build = loop.build
    monkeypatch.setattr(loop, "build", lambda config: built.append(build(config)) or built[-1])
    mlp = {"policy.kind": "mlp", "policy.hidden": (16,)}
    plain = {name: each for name, each in TINY.items() if not name.startswith("policy.")}
    for iterations, supported in ((1, first), (2, not first)):
        supporting(monkeypatch, *(["cpu"] if supported else []), gpu_here=False)
        settings = {**plain, **mlp, "name": "kept", "runs": str(tmp_path), "steps": 512 * iterations}
        loop.train(make_config(settings), resume=iterations > 1)
    assert [each.config.bf16 for each in built] == [first, first]
    assert find_checkpoint(tmp_path / "kept" / "checkpoints")[1]["precision"] == ("bf16" if first else "float32")
