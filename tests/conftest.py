"""Fixtures for tests in several folders."""

import gc
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.storage.server import Server

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in `ante train`; read when torch is imported
gc.disable()  # SPEED: collecting the tests creates millions of objects that all stay; looking for garbage took 40 % of it


def pytest_configure(config: pytest.Config) -> None:
    """Name the marked tests that this run selects, for `tests.hostile.harness.cases`."""
    os.environ["PYTEST_MARKERS"] = config.option.markexpr


def pytest_collection_finish() -> None:
    """Leave what the collection of tests created to itself, and look for garbage from now on."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def local_ray() -> Iterator[None]:
    """Start one Ray for all tests in this process, with more CPUs than the machine may have.

    SPEED: starting Ray takes seconds, building an algorithm without separate processes hundredths of a second.
    """
    import ray

    from ante.training.rllib.cluster import init_ray

    init_ray(address="local", num_cpus=8)
    yield
    ray.shutdown()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Server"]:
    """Start one S3 server for all tests that need it."""
    from tests.storage.server import Server

    server = Server(tmp_path_factory.mktemp("s3") / "data")
    server.start()
    yield server
    server.remove()
