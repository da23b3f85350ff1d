"""Games on a device equal those on the CPU, byte for byte: states, masks, observations, rewards, outcomes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ante.engine.core.state import Phase
from ante.env.games import Outcome
from tests.gpu.reference_games import VIEWS, Run, differences, play_on_cpu, play_on_device

pytest.importorskip("numba_cuda")
from numba import cuda

from ante.engine.core.cuda_compiler import NoDevice
from ante.env.cuda import DeviceGames, FieldView

HAS_DEVICE = cuda.is_available()
SIMULATOR = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
ROOT = Path(__file__).parents[2]
GAMES, STEPS = 10_000, 300
SMALL_GAMES, SMALL_STEPS = 18, 200  # three blocks of 8 threads, the last not full


@pytest.mark.skipif(not HAS_DEVICE, reason="no CUDA device is available")
@pytest.mark.parametrize("view", list(VIEWS))
def test_device_plays_ten_thousand_games_like_the_cpu(view: str) -> None:
    run = play_on_cpu(GAMES, STEPS, 11, every=75, view=view)
    assert differences(run, play_on_device(run, 11, view)) == []


@pytest.mark.nightly
@pytest.mark.skipif(HAS_DEVICE, reason="a CUDA device is available and compared instead")
@pytest.mark.parametrize("view", ["discrete", "macro"])
def test_simulated_device_plays_like_the_cpu(tmp_path: Path, view: str) -> None:
    run = play_on_cpu(SMALL_GAMES, SMALL_STEPS, 5, every=10, view=view)
    run.save(tmp_path / "run.npz")
    subprocess.run(
        [sys.executable, "-m", "tests.gpu.simulator", tmp_path / "run.npz", "5", view, tmp_path / "out.npz"],
        env={**os.environ, **SIMULATOR},
        cwd=ROOT,
        check=True,
    )
    assert differences(run, Run.load(tmp_path / "out.npz")) == []


@pytest.mark.slow
def test_device_cases_hold() -> None:
    """Run device_cases.py, on the device if there is one, else on the simulator."""
    simulated = {} if HAS_DEVICE else SIMULATOR
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        str(Path(__file__).with_name("device_cases.py")),
    ]
    done = subprocess.run(
        command, env={**os.environ, **simulated}, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("view", list(VIEWS))
def test_runs_reach_shops_jokers_and_the_end_of_games(view: str) -> None:
    """The equality tests cover more than first hands, and differences are detected."""
    run = play_on_cpu(SMALL_GAMES, SMALL_STEPS, 5, every=10, view=view)
    states = np.concatenate([buffers["states"] for buffers in run.snapshots.values()])
    phases = {Phase.BLIND_SELECT, Phase.PLAY} | ({Phase.SHOP, Phase.PACK} if view == "macro" else set())
    assert set(states["phase"].tolist()) >= phases
    assert set(run.outcome.ravel().tolist()) >= {Outcome.PLAYING, Outcome.LOST}
    if view == "macro":
        assert len(np.unique(states["jokers"]["id"])) > 40
    other = play_on_cpu(SMALL_GAMES, SMALL_STEPS, 6, every=10, view=view)
    assert any("states.seed of" in line for line in differences(run, other))


@pytest.mark.skipif(HAS_DEVICE, reason="a CUDA device is available")
def test_without_a_device_the_way_out_is_named() -> None:
    with pytest.raises(NoDevice, match=r"no CUDA device.*play on the CPU.*nvidia-smi"):
        DeviceGames(4)


def test_the_cpu_never_loads_the_cuda_compiler() -> None:
    script = (
        "import sys; import ante.env, ante.bench.engine_speed, ante.cli; from ante.env.games import Games; "
        "sys.exit(any(name.startswith(('numba.cuda', 'numba_cuda.')) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


class HostRecords:
    """A host record array with the interface of a device array."""

    def __init__(self, records: np.ndarray) -> None:
        self.dtype, self.shape = records.dtype, records.shape
        self.__cuda_array_interface__ = {"data": (records.ctypes.data, False)}


def test_field_views_show_the_records_memory() -> None:
    games = play_on_cpu(5, 40, 1, every=40, view="macro").snapshots[39]["observations"]
    for name in games.dtype.names:
        view = FieldView(HostRecords(games), name)
        bridge = type("Bridge", (), {"__array_interface__": view.__cuda_array_interface__})()
        array = np.asarray(bridge)
        assert array.dtype == games[name].dtype
        assert np.array_equal(array, games[name])
        assert np.shares_memory(array, games)
