"""The report of a run in a bucket: its links lead to the videos, and a local server serves them too."""

import json
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from ante.cli.games.watch import download, download_one
from ante.errors import BalatroError
from ante.storage.opening import open_store
from ante.watch.gallery import FOLDER, read_index
from ante.watch.report import write_report
from ante.watch.serve import server_of
from tests.storage.server import SECRET, Server
from tests.watch.made import make_run

pytestmark = pytest.mark.s3


@pytest.fixture(scope="module")
def run(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Upload a run's files to the bucket under runs/seen, as training does."""
    folder = tmp_path_factory.mktemp("runs") / "seen"
    make_run(folder, 2)
    store = open_store("s3://game-runs/runs/seen", server.environment())
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        store.put_file(str(file.relative_to(folder)), file)
    return folder


def test_the_report_s_links_bring_the_videos(server: Server, run: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ante.cli", "watch", "s3://game-runs/runs/seen", "--out", str(tmp_path / "a.html")]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **server.environment()}, timeout=300
    )
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "a.html").read_text()
    assert SECRET not in text
    data = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
    links = {row["name"]: row["video"] for row in data["episodes"] if "video" in row}
    assert len(links) == len([entry for entry in read_index(run) if entry.video]) > 0
    for name, link in links.items():
        assert urllib.request.urlopen(link).read() == (run / FOLDER / f"{name}.mp4").read_bytes()
        part = urllib.request.urlopen(urllib.request.Request(link, headers={"Range": "bytes=10-19"}))
        assert (part.status, len(part.read())) == (206, 10)
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(link.partition("?")[0])


def test_a_server_here_brings_what_is_asked_for(server: Server, run: Path, tmp_path: Path) -> None:
    store, here = open_store("s3://game-runs/runs/seen", server.environment()), tmp_path / "seen"
    download(store, here)
    assert read_index(here) == read_index(run)
    assert not list(here.rglob("*.mp4"))
    write_report(here)
    video = next(entry.video for entry in read_index(run) if entry.video)
    with server_of(here, fetch=lambda key: download_one(store, here, key)) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{serving.port}/{FOLDER}/"
        assert urllib.request.urlopen(address + str(video)).read() == (run / FOLDER / str(video)).read_bytes()
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(address + "none.mp4")
        serving.shutdown()


def test_a_prefix_without_a_run_is_reported(server: Server, tmp_path: Path) -> None:
    with pytest.raises(BalatroError, match=r"is not a run: it has no config\.yaml"):
        download(open_store("s3://game-runs/runs/none", server.environment()), tmp_path / "none")
