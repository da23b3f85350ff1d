"""What tests of several folders share."""

import os
from collections.abc import Iterator

import pytest

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in `ante train`; read when torch is imported


@pytest.fixture(scope="session")
def local_ray() -> Iterator[None]:
    """One Ray for all tests that run in this process, which believes in more cores than there may be.

    SPEED: starting it takes seconds; building an algorithm without processes of its own on it, hundredths.
    """
    import ray

    from ante.training.algorithm import init_ray

    init_ray(address="local", num_cpus=8)
    yield
    ray.shutdown()
