"""One S3 server for all tests that want one."""

from collections.abc import Iterator

import pytest

from tests.storage.server import Server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("s3") / "data")
    server.start()
    yield server
    server.remove()
