"""Faults around a run: an unreachable Ray, missing resources, closed terminals, deleted folders."""

import os
import pty
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from ante.training.run_store.checkpoints import find_checkpoint

WORDS = (
    "--name first --steps 100000000 --resources.games-per-runner 16 --algo.batch 256 --algo.minibatch 256 --algo.epochs 1 "
    "--policy.kind mlp --policy.hidden 16 --resources.object-store-gb 0.1 --checkpoints.every 1"
)
TRAIN = [sys.executable, "-m", "ante.cli", "train", *WORDS.split()]


def refusal(address: str) -> str:
    """Return the error message for an address that cannot be joined."""
    from ante.training.rllib.cluster import NoRay, check_address

    with pytest.raises(NoRay) as refused:
        check_address(address)
    assert "unset RAY_ADDRESS to start a Ray on this machine" in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("nonsense", "is not an address"),
        ("host:port", "is not an address"),
        ("127.0.0.1:99999999", "is not an address"),
        ("127.0.0.1:1", "nothing responds"),
        ("ray://127.0.0.1:1", "nothing responds"),
        ("host.invalid:6379", "nothing responds"),
    ],
)
def test_an_address_without_a_ray_is_a_sentence(address: str, words: str) -> None:
    assert words in refusal(address)


@pytest.mark.nightly
@pytest.mark.ray
def test_what_answers_and_is_no_ray_is_a_sentence() -> None:
    with socket.socket() as silent:
        silent.bind(("0.0.0.0", 0))
        silent.listen(50)
        assert "is not Ray" in refusal(f"127.0.0.1:{silent.getsockname()[1]}")


@pytest.mark.ray
def test_a_training_that_cannot_join_ends_with_that_sentence(tmp_path: Path) -> None:
    surroundings = {**os.environ, "RAY_ADDRESS": "127.0.0.1:1"}
    done = subprocess.run(TRAIN, cwd=tmp_path, env=surroundings, capture_output=True, text=True, timeout=600)
    assert done.returncode == 2 and "nothing responds at RAY_ADDRESS 127.0.0.1:1" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


@pytest.mark.ray
@pytest.mark.usefixtures("local_ray")
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"resources.runners": 2, "resources.runner_resource": "gold"},
            "requests 2 CPU, 2 gold from Ray, which has 8 CPU",
        ),
        ({"resources.runners": 100}, "requests 100 CPU from Ray, which has 8 CPU"),
        ({"resources.learners": 1, "resources.learner_resource": "gold"}, "requests 1 CPU, 1 gold"),
    ],
)
def test_what_this_machine_does_not_have_is_a_sentence(settings: dict[str, Any], words: str) -> None:
    from ante.training.rllib.build import build
    from ante.training.rllib.cluster import TooFewResources
    from ante.training.settings.config import make_config

    with pytest.raises(TooFewResources, match=words):
        build(make_config(settings))


@pytest.mark.ray
@pytest.mark.usefixtures("local_ray")
def test_what_a_cluster_does_not_get_is_a_sentence_after_a_while() -> None:
    from ante.training.rllib.cluster import TooFewResources, wait_for

    wait_for([{"CPU": 1.0}] * 8, 60)
    with pytest.raises(
        TooFewResources, match=r"1 gold .*within 0.5 seconds; the cluster has 8 CPU.*resources.wait_seconds"
    ):
        wait_for([{"CPU": 1.0, "gold": 1.0}], 0.5)
    wait_for([{"CPU": 1.0}] * 8, 60)  # no resources remain reserved


def learning(folder: Path, run: "subprocess.Popen[Any]", terminal: int | None = None) -> None:
    """Wait until the run has a checkpoint; read its terminal output meanwhile."""
    until = time.monotonic() + 600
    while not (folder / "checkpoints" / "latest.json").exists():
        assert run.poll() is None and time.monotonic() < until
        if terminal is not None:
            drain(terminal)
        time.sleep(0.1)


@pytest.mark.ray
@pytest.mark.parametrize("number", [pytest.param(signal.SIGHUP, marks=pytest.mark.nightly), signal.SIGQUIT])
def test_a_terminal_that_closes_or_quits_leaves_a_checkpoint(number: signal.Signals, tmp_path: Path) -> None:
    """The kernel signals all processes of the terminal, including Ray's."""
    folder = tmp_path / "runs" / "first"
    leader, terminal = pty.openpty()

    def own_terminal() -> None:
        os.setsid()
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # if the tests run under nohup
        import fcntl
        import termios

        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)

    run = subprocess.Popen(
        TRAIN, cwd=tmp_path, stdin=terminal, stdout=terminal, stderr=terminal, preexec_fn=own_terminal
    )
    os.close(terminal)
    os.set_blocking(leader, False)
    try:
        learning(folder, run, leader)
        if number == signal.SIGHUP:
            os.close(leader)
        else:
            os.write(leader, b"\x1c")
        until = time.monotonic() + 600
        while run.poll() is None and time.monotonic() < until:
            if number != signal.SIGHUP:
                drain(leader)
            time.sleep(0.1)
        assert run.returncode == 0
    finally:
        run.kill()
    rows = (folder / "metrics.csv").read_text().splitlines()
    assert find_checkpoint(folder / "checkpoints")[1]["timesteps"] == 256 * (len(rows) - 1)


def drain(terminal: int) -> None:
    """Read the output, so that writes never block."""
    try:
        while os.read(terminal, 65536):
            pass
    except (BlockingIOError, OSError):
        return


@pytest.mark.nightly
@pytest.mark.ray
def test_a_run_whose_folder_becomes_unwritable_ends_in_a_sentence(tmp_path: Path) -> None:
    """Every write of the training fails from some moment on, as on a full disk."""
    folder = tmp_path / "runs" / "first"
    run = subprocess.Popen(TRAIN, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        learning(folder, run)
        psutil.Process(run.pid).rlimit(psutil.RLIMIT_FSIZE, (0, psutil.RLIM_INFINITY))
        said = " ".join(run.communicate(timeout=600)[1].split())
    finally:
        run.kill()
    assert run.returncode == 2 and "Traceback" not in said
    assert "ante: cannot write" in said and "File too large" in said and "then continue the run with --resume" in said
    checkpoint, metadata = find_checkpoint(folder / "checkpoints")
    assert metadata["timesteps"] >= 256
    assert not [each for each in checkpoint.parent.iterdir() if each.name.endswith(".part")]


def moved(folder: Path) -> Path:
    return folder.rename(folder.with_name("elsewhere"))


def replaced(folder: Path) -> Path:
    """Put another run in its place."""
    there = moved(folder)
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "checkpoints" / "mine").write_text("of another run")
    (folder / "spill").mkdir()
    return there


@pytest.mark.ray
@pytest.mark.parametrize("change", [moved, pytest.param(replaced, marks=pytest.mark.nightly)])
def test_a_run_whose_folder_goes_ends_in_a_sentence(change: Callable[[Path], Path], tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "first"
    with (tmp_path / "said").open("w") as said:
        run = subprocess.Popen(TRAIN, cwd=tmp_path, stdout=said, stderr=said)
        try:
            learning(folder, run)
            there = change(folder)
            assert run.wait(600) == 2
        finally:
            run.kill()
    words = (tmp_path / "said").read_text()
    assert "run runs/first was moved or deleted during training" in words and "Traceback" not in words
    assert find_checkpoint(there / "checkpoints")[1]["timesteps"] >= 256
    left = sorted(str(each.relative_to(folder)) for each in folder.rglob("*")) if folder.exists() else []
    mine = ["checkpoints", "checkpoints/mine"] if change is replaced else []
    assert [each for each in left if each != "spill"] == mine, "Ray may create its empty spill folder again"
