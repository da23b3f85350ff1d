"""Fragments that a `DeviceRunner` plays: `python -m tests.gpu.sampling OUT.npz`, on a device or on Numba's simulator.

For the simulator run with NUMBA_ENABLE_CUDASIM=1 and NUMBA_DISABLE_JIT=1: its arrays lie on the host, and so do then the
policy and the tensors that share their memory.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

SETTINGS: dict[str, Any] = {"hidden": (32,), "games": 7, "max_decisions": 45, "bf16": "off", "stake": 2}
SEED, FRAGMENTS, STEPS = "TESTSEED", 2, 30


def config_of(runner: Any, on_gpu: bool) -> Any:
    """What RLlib makes a runner of this class from; all its games have the same seed."""
    from ante.training.algorithm import fast_config
    from ante.training.config import TrainConfig

    made = fast_config(TrainConfig(**SETTINGS, runner_gpus=float(on_gpu)))
    made.environment(env_config={**made.env_config, "seed": SEED})
    return made.env_runners(env_runner_cls=runner)


def share_host_memory() -> None:
    """The simulator's arrays offer what a device's arrays offer, and become tensors of the host."""
    from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray

    from ante.training import device_runner

    FakeCUDAArray.__cuda_array_interface__ = property(lambda array: array._ary.__array_interface__)

    def shared(buffer: Any) -> torch.Tensor:
        bridge = type("Bridge", (), {"__array_interface__": buffer.__cuda_array_interface__, "keeps": buffer})()
        return torch.from_numpy(np.asarray(bridge))

    device_runner.tensor_of = shared


def play(out: Path) -> None:
    """Fragments, the policy's weights and the statistics are in a file."""
    from ante.engine.cuda_compiler import SIMULATED
    from ante.training.device_runner import DeviceRunner

    if SIMULATED:
        share_host_memory()
    torch.manual_seed(3)
    runner = DeviceRunner(config=config_of(DeviceRunner, on_gpu=not SIMULATED))
    runner.module.policy.weight.data.mul_(40.0)  # as from nn.Linear: decisions differ in chance
    runner.deal()
    found: dict[str, np.ndarray] = {}
    for k in range(FRAGMENTS):
        for name, array in runner._played(STEPS)._asdict().items():
            found[f"{k}.{name}"] = array.view(np.uint8) if array.dtype.names else array
    found["statistics"] = np.array(runner._tally.last)
    found["returns"] = runner._tally.returns
    rollout = runner.sample(num_timesteps=3 * runner.games.n)[0]
    found["sampled"] = np.concatenate([rollout.advantages, rollout.targets])
    found |= {f"weights.{name}": value.cpu().numpy() for name, value in runner.module.state_dict().items()}
    np.savez(out, **found)


if __name__ == "__main__":
    play(Path(sys.argv[1]))
