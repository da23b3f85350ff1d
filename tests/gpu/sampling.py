"""Fragments of games on a GPU: `python -m tests.gpu.sampling OUT.npz KIND`, on a device or on Numba's simulator.

On the simulator, set NUMBA_ENABLE_CUDASIM=1 and NUMBA_DISABLE_JIT=1: its arrays are in host memory, as are the policy
and the tensors that share their memory.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

SETTINGS: dict[str, Any] = {
    "policy.hidden": (32,),
    "resources.games_per_runner": 7,
    "games.max_decisions": 45,
    "resources.bf16": "off",
    "games.stake": 2,
}
FIELDS = "rows", "actions", "log_probs", "rewards", "cut", "terminal", "extra", "places"
SEED, FRAGMENTS, STEPS = "TESTSEED", 2, 30


KINDS: dict[str, dict[str, Any]] = {
    "mlp": {},
    "dqn": {"algo.kind": "dqn", "algo.epsilon": 0.5},
    "planner": {"policy.kind": "planner", "policy.entry": 8, "resources.games_per_runner": 4},
}


def config_of(kind: str, on_gpu: bool) -> Any:
    """Return the RLlib configuration for the runner of a kind; all games have the same seed."""
    from ante.training.rllib.build import fast_config
    from ante.training.settings.config import make_config

    share = {"resources.games_on": "gpu", "resources.runner_gpus": 1.0}
    made = fast_config(make_config({**SETTINGS, **KINDS[kind], **share}))
    made.environment(env_config={**made.env_config, "seed": SEED})
    return made.env_runners(num_gpus_per_env_runner=float(on_gpu))


def share_host_memory() -> None:
    """Give the simulator's arrays the interface of a device's arrays; they become host tensors."""
    from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray

    from ante.training.sampling import cuda_runner

    FakeCUDAArray.__cuda_array_interface__ = property(lambda array: array._ary.__array_interface__)

    def shared(buffer: Any) -> torch.Tensor:
        bridge = type("Bridge", (), {"__array_interface__": buffer.__cuda_array_interface__, "keeps": buffer})()
        return torch.from_numpy(np.asarray(bridge))

    cuda_runner.tensor_of = shared


def play(out: Path, kind: str) -> None:
    """Write fragments, the policy's weights and the statistics to a file."""
    from ante.engine.core.cuda_compiler import SIMULATED

    if SIMULATED:
        share_host_memory()
    torch.manual_seed(3)
    config = config_of(kind, on_gpu=not SIMULATED)
    runner = config.env_runner_cls(config=config)
    if kind != "planner":
        runner.module.policy.weight.data.mul_(40.0)  # as from nn.Linear: action probabilities differ
    runner.deal()
    found: dict[str, np.ndarray] = {}
    for k in range(FRAGMENTS):
        trajectory, values = runner._played(STEPS)
        for hook in runner.hooks:
            hook.finish(trajectory)
        for name in (*FIELDS, *(["marks"] if runner.hooks else [])):
            array = getattr(trajectory, name)
            found[f"{k}.{name}"] = array.view(np.uint8) if array.dtype.names else array
        found[f"{k}.values"] = values
    found["statistics"] = np.array(runner.tally.last)
    found["returns"] = runner.tally.returns
    sampled = runner.sample(num_timesteps=3 * runner.games.n)[0]
    if kind != "dqn":
        found["sampled"] = np.concatenate([sampled.advantages, sampled.targets])
    found |= {f"weights.{name}": value.cpu().numpy() for name, value in runner.module.state_dict().items()}
    np.savez(out, **found)


if __name__ == "__main__":
    play(Path(sys.argv[1]), sys.argv[2])
