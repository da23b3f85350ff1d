"""Ray clusters: started locally or joined by address, and checked for the GPUs that a run requires."""

import logging
import math
import os
import secrets
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # otherwise Ray warns at every start

import ray
import torch
from ray.util import get_current_placement_group, placement_group, remove_placement_group

from ante.errors import BalatroError
from ante.stopping import unheard
from ante.training.compat import be_quiet, loopback_only, read_authentication
from ante.training.settings.config import TrainConfig

STARTS = 4  # attempts to start Ray
CONNECT_SECONDS, HEALTH_SECONDS = 10, 40  # timeouts of a Ray cluster to join
TOKEN_FILE = Path(".ray/auth_token")  # in the home folder, where Ray expects a token
LOWER = "change resources.runners, resources.learners or the resources of each (runner_cpus, runner_resource, ...)"
UNSET = "unset RAY_ADDRESS to start a Ray on this machine"


class NoRay(BalatroError):
    """The Ray cluster at RAY_ADDRESS cannot be joined."""


class TooFewResources(BalatroError):
    """Ray lacks the resources that the processes of a run request."""


class NoGpu(BalatroError):
    """The run requires more GPUs than are available."""

    def __init__(self, wanted: float, where: str, found: float) -> None:
        super().__init__(
            f"the run requires {wanted:g} GPUs {where}, but {found:g} are available: set resources.runner_gpus and "
            "resources.learner_gpus to 0, or use a machine where `nvidia-smi` lists enough GPUs"
        )


def start_ray(config: TrainConfig | None = None) -> None:
    """Start a local Ray quietly, or join the address in RAY_ADDRESS; does nothing if Ray is initialised.

    A configuration sets the local Ray's object store size, its spill directory in the run's folder (the temporary
    folder may be in memory), and one core per process of the run.
    """
    be_quiet()
    own: dict[str, Any] = {}
    if config is not None and not joined_address() and not ray.is_initialized():
        machine = config.resources
        config.spill_folder.mkdir(parents=True, exist_ok=True)
        own = {
            "address": "local",
            "object_store_memory": int(machine.object_store_gb * 2**30),
            "object_spilling_directory": str(config.spill_folder.resolve()),
            "num_cpus": max(
                os.cpu_count() or 1, math.ceil(machine.runners * machine.runner_cpus) + machine.learners + 1
            ),
        }
    init_ray(ignore_reinit_error=True, logging_level=logging.ERROR, **own)


def joined_address() -> str:
    """Return the address of the Ray cluster to join; empty if Ray is started locally."""
    address = os.environ.get("RAY_ADDRESS", "")
    return "" if address == "local" else address


def check_resources(config: TrainConfig) -> None:
    """Check that this process has the run's GPUs and that Ray has the other resources. Raises NoGpu, TooFewResources.

    Waits up to `resources.wait_seconds` for a cluster that is joined, since it may grow.
    """
    machine = config.resources
    here = (0 if machine.runners else machine.runner_gpus) + (0 if machine.learners else machine.learner_gpus)
    if here and not torch.cuda.is_available():
        raise NoGpu(here, "in its own process", 0)
    requests = bundles(config)
    if joined_address():
        wait_for(requests, machine.wait_seconds)
        return
    check_found(sum((Counter(bundle) for bundle in requests), Counter[str]()), "the run")


def check_found(wanted: Mapping[str, float], about: str) -> None:
    """Check that Ray has these resources. Raises NoGpu, TooFewResources."""
    found = ray.cluster_resources()
    if found.get("GPU", 0.0) < wanted.get("GPU", 0.0):
        raise NoGpu(wanted["GPU"], "in separate processes", found.get("GPU", 0.0))
    if any(found.get(name, 0.0) < amount for name, amount in wanted.items()):
        raise TooFewResources(
            f"{about} requests {words(wanted)} from Ray, which has {words(found)} on this machine: {LOWER}"
        )


def bundles(config: TrainConfig) -> list[dict[str, float]]:
    """Return the Ray resources of each env runner and of each learner in a separate process."""
    machine = config.resources
    runner = {"CPU": machine.runner_cpus, "GPU": machine.runner_gpus, machine.runner_resource: 1.0}
    cpus = machine.learner_cpus
    if cpus is None:
        cpus = 0.0 if machine.learner_gpus else 1.0  # as RLlib's "auto"
    learner = {"CPU": cpus, "GPU": machine.learner_gpus, machine.learner_resource: 1.0}
    every = [runner] * machine.runners + [learner] * machine.learners
    taken = [{name: amount for name, amount in each.items() if name and amount} for each in every]
    return [each for each in taken if each]


def wait_for(requests: list[dict[str, float]], seconds: float) -> None:
    """Wait until Ray can place all bundles together, each on one node. Raises TooFewResources after `seconds`."""
    if not requests or get_current_placement_group():  # in a Tune trial, which has its resources already
        return
    group = placement_group(requests)  # also announces the demand to an autoscaler
    try:
        if not group.wait(seconds):
            wanted = sum((Counter(bundle) for bundle in requests), Counter[str]())
            raise TooFewResources(
                f"the run requests {words(wanted)} from Ray in {len(requests)} processes, which were not placed within "
                f"{seconds:g} seconds; the cluster has {words(ray.cluster_resources())}, free: "
                f"{words(ray.available_resources())}: "
                f"{LOWER}, or raise resources.wait_seconds"
            )
    finally:
        remove_placement_group(group)


def words(amounts: Mapping[str, float]) -> str:
    """Format resources as text; without memory and node names, which no run requests."""
    shown = {name: amount for name, amount in sorted(amounts.items()) if ":" not in name and "memory" not in name}
    return ", ".join(f"{amount:g} {name}" for name, amount in shown.items()) or "nothing"


def require_token() -> None:
    """Make every Ray that this process starts require a token: the user's, or a random one.

    Ray's processes inherit it through the environment. RAY_AUTH_MODE=disabled is left as it is.
    """
    mode = os.environ.get("RAY_AUTH_MODE")
    kept = mode and (Path.home() / TOKEN_FILE).exists()
    os.environ["RAY_AUTH_MODE"] = mode or "token"
    given = os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_TOKEN_PATH") or kept
    if mode != "disabled" and not given:
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
    read_authentication()


def init_ray(**options: Any) -> None:
    """Connect to Ray without its dashboard: to RAY_ADDRESS, or to a local Ray on 127.0.0.1 that requires a token.

    Raises NoRay with Ray's last error message.
    """
    common = {"include_dashboard": False, "log_to_driver": False, **options}
    address = "" if options.get("address") == "local" else joined_address()
    if ray.is_initialized():
        ray.init(**common)
    elif address:
        join(address, **common)
    else:
        require_token()
        with loopback_only():
            start_patiently(**{**common, "address": "local"})


def start_patiently(**options: Any) -> None:
    """Start a local Ray, with retries: its daemon gives up if its helpers take more than 15 s to import."""
    for left in reversed(range(STARTS)):
        try:
            with unheard():
                ray.init(**options)
            return
        except Exception as error:  # Ray raises no specific class
            if not left or "timed out during startup" not in str(error):
                raise


def join(address: str, **options: Any) -> None:
    """Join the Ray cluster at an address. Raises NoRay within a minute if it does not respond."""
    if address != "auto":
        check_address(address)
    try:
        ray.init(**{**options, "address": address})
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        first = str(error).partition("\n")[0]
        raise NoRay(f"the Ray at RAY_ADDRESS {address} cannot be joined ({first}): {UNSET}") from error


def check_address(address: str) -> None:
    """Check that a Ray of this version responds at an address and accepts the token. Raises NoRay.

    A separate process makes the request: Ray terminates its own process after two minutes without a response.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 2**16:
        raise NoRay(f"RAY_ADDRESS {address!r} is not an address: use host:port such as 10.0.0.5:6379, or {UNSET}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    except (OSError, UnicodeError) as error:
        raise NoRay(f"nothing responds at RAY_ADDRESS {address} ({error}): correct it, or {UNSET}") from None
    if address.startswith("ray://"):
        return
    command = [sys.executable, "-P", "-m", "ray.scripts.scripts", "health-check", "--address", address]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=HEALTH_SECONDS)
    except subprocess.TimeoutExpired:
        raise NoRay(f"the server at RAY_ADDRESS {address} is not Ray: correct it, or {UNSET}") from None
    if "AuthenticationError" in found.stderr:
        raise NoRay(
            f"Ray at RAY_ADDRESS {address} rejects the token: set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN_PATH (the "
            f"file with its token), or {UNSET}"
        )
    if found.returncode:
        last = (found.stderr.strip().splitlines() or ["no answer"])[-1]
        raise NoRay(f"the Ray at RAY_ADDRESS {address} cannot be joined ({last}): correct it, or {UNSET}")


@contextmanager
def ray_of_our_own(**options: Any) -> Iterator[None]:
    """Provide a Ray started with these options of `ray.init` and shut it down afterwards; reuses a running one."""
    be_quiet()
    own = not ray.is_initialized()
    if own:
        init_ray(**options)
    try:
        yield
    finally:
        if own:
            ray.shutdown()
