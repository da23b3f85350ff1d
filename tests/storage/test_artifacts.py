"""The command `ante artifacts`."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ante.cli import main
from ante.storage.local import LocalStore
from ante.storage.spool import Spool
from tests.storage.server import SECRET, Server
from tests.storage.test_publish import folder_of

Inside = Callable[..., tuple[int, str, str]]


@pytest.fixture
def artifacts(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Inside:
    def run(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ante", "artifacts", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return (int(ended.value.code or 0), *capsys.readouterr())

    return run


@pytest.fixture(params=["folder", pytest.param("s3", marks=pytest.mark.s3)])
def url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "folder":
        return str(tmp_path / "store")
    for name, value in request.getfixturevalue("server").environment().items():
        monkeypatch.setenv(name, value)
    return f"s3://game-runs/{tmp_path.name}"


def test_what_is_put_is_listed_verified_fetched_and_pruned(artifacts: Inside, url: str, tmp_path: Path) -> None:
    for step in ("0001", "0002", "0003"):
        folder = folder_of(tmp_path / step, a=step.encode())
        pointers = ("--pointers", "latest", "best") if step == "0001" else ("--pointers", "latest")
        assert artifacts("put", folder, f"{url}/runs/ppo/checkpoints/{step}", *pointers)[0] == 0
    code, out, _ = artifacts("ls", url, "--json")
    rows = {row["item"]: row for row in json.loads(out)}
    assert code == 0
    assert {item: row["pointers"] for item, row in rows.items()} == {
        "runs/ppo/checkpoints/0001": ["best"],
        "runs/ppo/checkpoints/0002": [],
        "runs/ppo/checkpoints/0003": ["latest"],
    }
    assert rows["runs/ppo/checkpoints/0002"]["bytes"] == 4
    code, out, _ = artifacts("verify", url)
    assert (code, out.splitlines()[-1].partition(": ")[2]) == (0, "3 publications, 0 defects")
    assert artifacts("get", f"{url}/runs/ppo/checkpoints", tmp_path / "back", "--pointer", "best")[0] == 0
    assert (tmp_path / "back" / "deep" / "a").read_text() == "0001"
    code, out, _ = artifacts("prune", url, "--newest", "1", "--json")
    assert [row["item"] for row in json.loads(out)] == ["runs/ppo/checkpoints/0002"]
    assert len(json.loads(artifacts("ls", url, "--json")[1])) == 2


def test_a_publication_or_pointer_that_cannot_be_read_is_named_and_the_others_are_listed(
    artifacts: Inside, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    for name in ("one", "two"):
        artifacts("put", folder_of(tmp_path / name, a=name.encode()), store / "shelf" / name, "--pointers", "latest")
    bad = LocalStore(store)
    bad.put_bytes("shelf/one/manifest.json", b"{")
    code, out, err = artifacts("ls", store, "--json")
    assert (code, [(row["item"], row["pointers"]) for row in json.loads(out)]) == (1, [("shelf/two", ["latest"])])
    assert "ante: shelf/one/manifest.json cannot be read" in err
    bad.put_bytes("shelf/latest.json", b"{")
    code, out, err = artifacts("ls", store, "--json")
    assert (code, [(row["item"], row["pointers"]) for row in json.loads(out)]) == (1, [("shelf/two", [])])
    assert "shelf/latest.json" in err and "shelf/one/manifest.json" in err


def test_one_file_goes_there_and_back(artifacts: Inside, url: str, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("steps: 5\n")
    assert artifacts("put", tmp_path / "config.yaml", f"{url}/runs/ppo/config.yaml")[0] == 0
    assert artifacts("get", f"{url}/runs/ppo/config.yaml", tmp_path / "back.yaml")[0] == 0
    assert (tmp_path / "back.yaml").read_text() == "steps: 5\n"
    [row] = json.loads(artifacts("ls", url, "--files", "--json")[1])
    assert (row["key"], row["bytes"]) == ("runs/ppo/config.yaml", 9)


def test_a_fault_is_named_and_is_exit_code_1(artifacts: Inside, tmp_path: Path) -> None:
    store = tmp_path / "store"
    artifacts("put", folder_of(tmp_path / "one", a=b"1234"), store / "shelf" / "0001")
    (store / "shelf" / "0001" / "deep" / "a").write_bytes(b"1334")
    code, out, _ = artifacts("verify", store, "--json")
    assert (code, json.loads(out)) == (1, [{"item": "shelf/0001", "part": "deep/a", "wrong": "checksum"}])
    assert artifacts("verify", store, "--quick")[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["get", "STORE/none", "x"], "none does not exist in file://"),
        (["get", "STORE/shelf/0001", "."], "already exists: give a new folder"),
        (["get", "STORE/shelf/0001", "STORE/shelf/0001/deep/a/x"], "a is not a folder; give another folder"),
        (["get", "STORE/shelf/0001/deep/a", "STORE"], "it exists and is not a file"),
        (["put", "nothing", "STORE/a"], "nothing does not exist: give a file or a folder"),
        (["put", "STORE", "s3://"], "is a whole store"),
        (["get", "s3://bucket", "x"], "is a whole store"),
        (["get", "STORE/shelf", "x", "--pointer", "best"], "best.json does not exist in"),
        (["verify", "STORE/none"], "none has no objects: check its name"),
        (["queue", "nothing"], "nothing is not an upload queue"),
        (["prune", "STORE", "--newest", "-1"], "--newest -1 is out of range"),
    ],
)
def test_mistakes_are_sentences(artifacts: Inside, tmp_path: Path, words: list[str], message: str) -> None:
    artifacts("put", folder_of(tmp_path / "one", a=b"1234"), tmp_path / "store" / "shelf" / "0001")
    code, _, err = artifacts(*(word.replace("STORE", str(tmp_path / "store")) for word in words))
    assert code == 2
    assert message in err.replace("\n", " ")


def test_a_queue_is_shown_then_uploaded(artifacts: Inside, url: str, tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    for name, data in (("0001", b"one"), ("0001", b"other"), ("0002", b"two")):
        spool.add(folder_of(tmp_path / data.decode(), a=data), url, "runs", name, {})
    code, out, _ = artifacts("queue", spool.folder)
    assert code == 0
    assert "3 pending, 11 B; no uploader is running" in out.replace("\n", "")
    code, out, _ = artifacts("queue", spool.folder, "--upload", "--json")
    found = json.loads(out)
    assert (code, found["working"], found["jobs"], found["refused"][0]["name"]) == (1, False, [], "0001")
    assert "publish under another name" in found["refused"][0]["why"]
    assert [row["item"] for row in json.loads(artifacts("ls", url, "--json")[1])] == ["runs/0001", "runs/0002"]


@pytest.mark.s3
def test_a_wrong_secret_is_a_sentence_without_it(
    artifacts: Inside, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**server.environment(), "S3_SECRET_ACCESS_KEY": "a-wrong-secret"}.items():
        monkeypatch.setenv(name, value)
    code, _, err = artifacts("ls", "s3://game-runs/runs")
    assert code == 2
    assert "rejects these credentials" in err
    assert "a-wrong-secret" not in err
    assert SECRET not in err
