"""The run catalogue of a bucket on a real S3 server."""

import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from ante.storage.opening import open_store
from ante.storage.store import Store
from tests.serve.catalogue.conftest import VIDEO, ask, rows, serving, until
from tests.storage.server import SECRET, Server
from tests.watch.test_runs import make

pytestmark = pytest.mark.s3


@pytest.fixture(scope="module")
def bucket(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Upload two runs and a video."""
    folder = tmp_path_factory.mktemp("made")
    make(folder / "one", evaluated=True)
    make(folder / "two")
    (folder / "one" / "episodes").mkdir()
    (folder / "one" / "episodes" / "a.mp4").write_bytes(VIDEO)
    store = open_store("s3://game-runs/catalogue", server.environment())
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        store.put_file(file.relative_to(folder).as_posix(), file)
    return store


@pytest.fixture
def port(bucket: Store, tmp_path: Path) -> Iterator[int]:
    with serving(bucket, tmp_path) as port:
        until(lambda: rows(port).keys() >= {"one", "two"} and b"finished" in ask(port, "/live.json")[2])
        yield port


def test_runs_and_parts_of_videos_come_from_the_bucket(port: int) -> None:
    assert ask(port, "/run/one/episodes/a.mp4")[2] == VIDEO
    assert ask(port, "/run/one/episodes/a.mp4", Range="bytes=100-199")[2] == VIDEO[100:200]
    assert ask(port, "/run/one/episodes/a.mp4", Range="bytes=-1")[2] == VIDEO[-1:]
    assert ask(port, "/run/two/")[0] == 200


def test_presigned_links_lead_to_the_video_and_contain_no_secret(bucket: Store, tmp_path: Path) -> None:
    with serving(bucket, tmp_path, links=True) as port:
        until(lambda: "one" in rows(port))  # not only among the folders that are still copied
        status, headers, body = ask(port, "/run/one/episodes/a.mp4")
        assert (status, body) == (307, b"")
        assert SECRET not in headers["location"]
        assert urllib.request.urlopen(headers["location"]).read() == VIDEO


def test_a_part_beyond_the_end_is_a_short_or_refused_answer(bucket: Store) -> None:
    assert bucket.get_part("one/episodes/a.mp4", 1270, 100) == VIDEO[1270:]


def test_the_catalogue_writes_nothing(bucket: Store, port: int) -> None:
    before = [(stat.key, stat.modified) for stat in bucket.list("")]
    for path in ("/", "/live.json", "/run/one/", "/run/one/episodes/a.mp4"):
        assert ask(port, path)[0] == 200
    assert [(stat.key, stat.modified) for stat in bucket.list("")] == before
