"""Checkpoints and releases from outside: every changed byte is found, no code runs, and no path leaves the folder."""

import ast
import json
import os
import random
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ante.errors import BalatroError
from ante.files import BadPath, check_name, check_path, inside
from ante.training.run_store import state_files
from ante.training.run_store.checkpoints import find_checkpoint, intact_checkpoints, save_checkpoint, with_facts
from ante.training.run_store.manifest import BadCheckpoint, seal, verified
from ante.training.run_store.state_files import read_arrays, read_state, write_arrays, write_state

SRC = Path(__file__).parents[3] / "src" / "ante"
WHITE_STAKE = Path(__file__).parents[3] / "models" / "white-stake"
FLIPS = 1000
STATE = {
    "learner": {"optimizer": {0: {"exp_avg": np.linspace(0, 1, 500, dtype=np.float32), "step": np.float32(3)}}},
    "replay": {"arrays": {"rows": bytes(range(256)) * 20}, "spans": [(0, 10, 8)]},
    "metrics": {"values": [1.5, float("nan"), None, True]},
}


def fill(folder: Path) -> None:
    """Write the small contents of a checkpoint."""
    write_state(folder, STATE)
    write_arrays(folder / "weights.npz", {"a": np.ones((8, 8), dtype=np.float32), "b": np.arange(5)})
    (folder / "config.yaml").write_text("name: ppo\n" * 20)


def a_checkpoint(tmp_path: Path) -> tuple[Path, Callable[[], Any]]:
    target = save_checkpoint(tmp_path / "checkpoints", 300, fill, {"timesteps": 300, "best": -np.inf}, best=True)
    return target, lambda: find_checkpoint(tmp_path / "checkpoints")


def a_release(tmp_path: Path) -> tuple[Path, Callable[[], Any]]:
    folder = Path(shutil.copytree(WHITE_STAKE, tmp_path / "white-stake"))
    return folder, lambda: verified(folder, "policy.json")


@pytest.fixture(params=[a_checkpoint, a_release], ids=["checkpoint", "release"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Callable[[], Any]]:
    """Return a folder and a function that reads it completely."""
    found: tuple[Path, Callable[[], Any]] = request.param(tmp_path)
    found[1]()
    return found


def test_a_thousand_flipped_bits_in_all_files_are_refused_with_the_file_s_name(
    made: tuple[Path, Callable[[], Any]],
) -> None:
    folder, read = made
    files, rng = sorted(file for file in folder.rglob("*") if file.is_file()), random.Random(7)
    for i in range(FLIPS):
        file = files[i % len(files)]
        place, bit = rng.randrange(file.stat().st_size), 1 << rng.randrange(8)
        flip(file, place, bit)
        with pytest.raises(BadCheckpoint) as error:
            read()
        assert file.name in str(error.value) and "is damaged" in str(error.value)
        flip(file, place, bit)
    read()


def flip(file: Path, place: int, bit: int) -> None:
    with file.open("r+b") as stream:
        stream.seek(place)
        byte = stream.read(1)[0]
        stream.seek(place)
        stream.write(bytes([byte ^ bit]))


def shorten(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def zero(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


def remove(file: Path) -> None:
    file.unlink()


def link(file: Path) -> None:
    file.rename(file.parent.parent / "elsewhere")
    file.symlink_to(file.parent.parent / "elsewhere")


def pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


@pytest.mark.parametrize("harm", [shorten, zero, remove, link, pipe])
def test_every_file_may_be_harmed_and_is_named(
    harm: Callable[[Path], None], made: tuple[Path, Callable[[], Any]], tmp_path: Path
) -> None:
    folder, read = made
    keep = shutil.copytree(folder, tmp_path / "keep")
    for name in sorted(file.name for file in keep.iterdir()):
        harm(folder / name)
        with pytest.raises(BadCheckpoint, match=f"is damaged: .*{name}"):
            read()
        shutil.rmtree(folder)
        shutil.copytree(keep, folder)
    read()


def test_the_manifest_that_is_compared_with_the_pointer_is_the_one_that_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read once, so it cannot be exchanged in between."""
    save_checkpoint(tmp_path, 5, lambda folder: (folder / "x").write_text("1"), {"timesteps": 5}, best=True)  # type: ignore[arg-type, func-returns-value]
    opened, original = [], Path.open

    def counted(file: Path, *words: Any, **options: Any) -> Any:
        opened.append(file.name)
        return original(file, *words, **options)

    monkeypatch.setattr(Path, "open", counted)
    assert find_checkpoint(tmp_path)[1]["timesteps"] == 5
    assert opened.count("metadata.json") == 1


def test_swapped_and_extra_files_are_refused(made: tuple[Path, Callable[[], Any]]) -> None:
    folder, read = made
    weights, other = folder / "weights.npz", folder / "config.yaml"
    first, second = weights.read_bytes(), other.read_bytes()
    weights.write_bytes(second)
    other.write_bytes(first)
    with pytest.raises(BadCheckpoint, match=r"config\.yaml should have"):
        read()
    weights.write_bytes(first)
    other.write_bytes(second)
    for name in ("extra.pkl", ".hidden", "deep/extra"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"")
        with pytest.raises(BadCheckpoint, match=f"{name} is not in its manifest"):
            read()
        (folder / name).unlink()
    read()


@pytest.mark.parametrize(
    "name", ["timesteps", "games", "seconds", "iteration", "minibatch", "games_per_runner", "stage"]
)
@pytest.mark.parametrize("value", [None, True, -1, 10**30, "x", [], {}, float("nan")])
def test_a_sealed_checkpoint_with_odd_facts_is_refused_in_a_sentence(name: str, value: Any, tmp_path: Path) -> None:
    facts = {"timesteps": 300, "games": 2, "seconds": 1.5, "iteration": 1} | {name: value}
    save_checkpoint(tmp_path, 300, fill, facts, best=True)
    for read in (lambda: find_checkpoint(tmp_path), lambda: find_checkpoint(tmp_path, "000000000300")):
        with pytest.raises(BadCheckpoint, match=f"is not one of a training: {name}"):
            read()
    assert list(intact_checkpoints(tmp_path)) == []


def test_facts_that_are_missing_are_named(tmp_path: Path) -> None:
    save_checkpoint(tmp_path, 300, fill, {"games": 2}, best=True)
    with pytest.raises(BadCheckpoint, match="timesteps"):
        find_checkpoint(tmp_path)
    with pytest.raises(BadCheckpoint, match="minibatch is missing"):
        with_facts(tmp_path, {"timesteps": 3}, ("minibatch",))


@pytest.mark.parametrize(
    "trained", [None, True, 3, "x", [], {}, {"timesteps": "x"}, {"timesteps": -1}, {"timesteps": 1, "games": []}]
)
def test_a_sealed_release_with_odd_facts_is_refused_in_a_sentence(trained: Any, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from ante.training.players.release import BadRelease, read_release

    folder, _ = a_release(tmp_path)
    seal(folder, "policy.json", {"policy": "shortlist", "parameters": 3, "trained": trained})
    with pytest.raises(BadRelease, match="training"):
        read_release(folder)


def test_a_checkpoint_in_the_place_of_another_is_refused(tmp_path: Path) -> None:
    one = save_checkpoint(tmp_path, 100, fill, {"timesteps": 100}, best=False)
    two = save_checkpoint(tmp_path, 200, fill, {"timesteps": 200}, best=True)
    shutil.rmtree(two)
    one.rename(two)
    with pytest.raises(BadCheckpoint, match=r"metadata\.json is not the one in latest\.json"):
        find_checkpoint(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "null",
        "[" * 100_000,
        '{"files": {}, "seal": 1}',
        '{"files": [], "seal": ""}',
        '{"files": {"../x": {"bytes": 1, "sha256": ""}}}',
        '{"files": {"a": 1}}',
        '{"files": {"/etc/passwd": {"bytes": 1, "sha256": ""}}}',
        '{"timesteps": 1' + "0" * 5000 + "}",
        b"\xff\xfe",
    ],
)
def test_hostile_manifests_are_refused_in_a_sentence(content: str | bytes, tmp_path: Path) -> None:
    for name, pointer in (("metadata.json", "000000000300"), ("../latest.json", "latest")):
        target = save_checkpoint(tmp_path / "checkpoints", 300, fill, {}, best=True)
        file = target / name
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        with pytest.raises(BadCheckpoint, match=r"is damaged: metadata\.json|pointer latest of"):
            find_checkpoint(tmp_path / "checkpoints", pointer)
        shutil.rmtree(tmp_path / "checkpoints")


def test_a_sealed_manifest_with_paths_outside_the_folder_is_refused(tmp_path: Path) -> None:
    from ante.training.run_store.manifest import seal_of, text_of

    (tmp_path / "secret").write_text("x")
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    for path in ("../secret", str(tmp_path / "secret"), "C:/secret", "a\0b", "..", ""):
        content: dict[str, Any] = {"files": {path: {"bytes": 1, "sha256": "0" * 64}}}
        content["seal"] = seal_of(content)
        (folder / "metadata.json").write_text(text_of(content))
        with pytest.raises(BadCheckpoint, match=r"metadata\.json does not list files"):
            verified(folder, "metadata.json")


HOSTILE = [
    "..", "../x", "a/../../x", "/etc/passwd", "//x", "a//b", "./a", "C:\\x", "c:/x", "a\\..\\b", "a\0b", "a\nb", "a\x1b[2J",
    "\u2028", "\x85", ".hidden", "a/.git", "", "/", "a/", "x" * 256, "/".join(["x" * 200] * 6), "\ud800", None, 3, ["a"],
]  # fmt: skip


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: repr(path)[:20])
def test_paths_that_lead_out_are_refused_everywhere(path: Any, tmp_path: Path) -> None:
    from ante.storage.errors import BadStore
    from ante.storage.local import LocalStore

    for refuses in (check_path, check_name, lambda each: inside(tmp_path, each)):
        with pytest.raises(BadPath):
            refuses(path)
    outside = tmp_path / "outside"
    outside.mkdir()
    write_arrays(outside / "weights.npz", {})
    store = LocalStore(tmp_path / "store")
    for asked in (store.stat, store.get_bytes, store.delete, lambda key: store.put_bytes(key, b"")):
        with pytest.raises(BadStore):
            asked(path)
    save_checkpoint(tmp_path / "checkpoints", 1, fill, {}, best=True)
    for pointer in ("latest", "best"):
        file = tmp_path / "checkpoints" / f"{pointer}.json"
        file.write_text(json.dumps({**json.loads(file.read_text()), "checkpoint": path}))
        with pytest.raises(BadCheckpoint, match=f"pointer {pointer} of"):
            find_checkpoint(tmp_path / "checkpoints", pointer)
    if isinstance(path, str):
        with pytest.raises(BadCheckpoint):
            find_checkpoint(tmp_path / "checkpoints", path)


@pytest.mark.parametrize(
    "path", ["a", "runs/ppo/config.yaml", "Größe", "a b", "000000000300-20260101T000000-1a2b", "a..b"]
)
def test_ordinary_paths_are_taken(path: str, tmp_path: Path) -> None:
    assert inside(tmp_path, path) == tmp_path / path


def test_symbolic_links_are_not_followed(tmp_path: Path) -> None:
    from ante.storage.errors import BadStore
    from ante.storage.local import LocalStore

    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "key").write_text("secret")
    store = LocalStore(tmp_path / "store")
    store.put_bytes("ours", b"x")
    (tmp_path / "store" / "door").symlink_to(tmp_path / "outside")
    (tmp_path / "store" / "file").symlink_to(tmp_path / "outside" / "key")
    for key in ("door/key", "file"):
        with pytest.raises(BadStore, match="is a symbolic link"):
            store.get_bytes(key)
    assert [stat.key for stat in store.list()] == ["ours"]
    target = save_checkpoint(tmp_path / "checkpoints", 1, fill, {}, best=True)
    target.rename(tmp_path / "moved")
    target.symlink_to(tmp_path / "moved")
    for pointer in ("latest", target.name):
        with pytest.raises(BadCheckpoint, match="is a symbolic link"):
            find_checkpoint(tmp_path / "checkpoints", pointer)


def test_retention_deletes_checkpoints_only(tmp_path: Path) -> None:
    for name in ("photos", ".git", "0000", "000000000000x"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine").write_text("x")
    (tmp_path / "notes.json").write_text("[]")
    for step in range(1, 9):
        save_checkpoint(tmp_path, step, fill, {}, best=step == 1)
    assert all((tmp_path / name / "mine").exists() for name in ("photos", ".git", "0000", "000000000000x"))
    assert sorted(path.name for path in tmp_path.glob("00000000000[0-9]*/metadata.json")) == ["metadata.json"] * 4


def test_an_index_of_episodes_never_deletes_outside_of_them(tmp_path: Path) -> None:
    from ante.watch.gallery import FOLDER, Entry, add_episodes, write_index

    run = tmp_path / "run"
    (run / FOLDER).mkdir(parents=True)
    victim = tmp_path / "victim"
    victim.write_text("mine")
    facts = {"seed": "A", "deck": "b_red", "stake": 1, "challenge": None, "outcome": "lost", "ante": 1, "blinds": 1}
    facts |= {"decisions": 1, "reward": 0.0, "steps": 1, "final": False, "jokers": (), "state": ""}
    (run / FOLDER / "e0.txt.gz").write_bytes(b"")
    for notes in ("../../victim", str(victim)):
        write_index(run, [Entry(name="e0", **facts)])
        index = run / FOLDER / "index.json"
        rows = json.loads(index.read_text())
        rows["episodes"][0]["notes"] = notes
        index.write_text(json.dumps(rows))
        with pytest.raises(BalatroError):
            add_episodes(run, [Entry(name="new", **facts)], 1, 0)
        assert victim.read_text() == "mine"
        assert (run / FOLDER / "e0.txt.gz").exists()


@pytest.mark.parametrize("name", ["..", ".", ".hidden", "../x", "a/b", "/x", "x" * 300, "a\nb", "a\0"])
def test_a_run_s_name_is_a_folder_of_its_own(name: str) -> None:
    from ante.training.settings.config import BadConfig, make_config

    with pytest.raises(BadConfig, match="name"):
        make_config({"name": name})


# ---- the contents of the files ----


def same(one: Any, two: Any) -> bool:
    """Return whether two trees are equal, including types, key types and bits."""
    if type(one) is not type(two):
        return False
    if isinstance(one, dict):
        return list(one) == list(two) and all(same(one[key], two[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, np.ndarray):
        return (one.dtype, one.shape, one.tobytes()) == (two.dtype, two.shape, two.tobytes())
    return one == two or (one != one and two != two)


def test_a_state_comes_back_as_it_was(tmp_path: Path) -> None:
    state = {
        **STATE,
        "~": {"a/b": 1, "a": {"b": np.zeros(3)}, 1: (), "": np.float64(0.1), (1, "x"): []},
        "a/b": np.array(5, dtype=np.int16),
        "a": {"b": np.ones(2)},
        "fortran": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "empty": np.zeros((0, 3), dtype=np.bool_),
        "half": np.float16(1) / np.float16(3),
        "big": 2**70,
        "infinite": -np.inf,
    }
    write_state(tmp_path, state)
    assert same(read_state(tmp_path), state)
    before = [(tmp_path / name).read_bytes() for name in ("state.json", "state.npz")]
    write_state(tmp_path, read_state(tmp_path))
    assert [(tmp_path / name).read_bytes() for name in ("state.json", "state.npz")] == before
    with np.load(tmp_path / "state.npz", allow_pickle=False) as arrays:
        assert len(arrays.files) == 7


@pytest.mark.parametrize("value", [object(), {1, 2}, np.array([object()]), np.array(["x"]), Path("x"), print])
def test_what_would_need_a_pickle_is_not_written(value: Any, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="x"):
        write_state(tmp_path, {"x": value})


def npz(file: Path, members: list[tuple[str, bytes]], method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return file


def npy(text: str, data: bytes = b"") -> bytes:
    """Return an array file with this header."""
    header = text.encode().ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


class Trap:
    """Writes a file when it is unpickled."""

    def __reduce__(self) -> Any:
        return os.system, (f"touch {Trap.mark}",)

    mark: Path


def test_arrays_of_objects_are_refused_unread(tmp_path: Path) -> None:
    Trap.mark = tmp_path / "ran"
    np.savez(tmp_path / "x.npz", x=np.array([Trap()], dtype=object), allow_pickle=True)
    with pytest.raises(BadCheckpoint, match="is not numeric"):
        read_arrays(tmp_path / "x.npz")
    assert not Trap.mark.exists()


@pytest.mark.parametrize(
    "members",
    [
        [("x.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}"))],
        [("x.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", bytes(8)))],
        [("x.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", bytes(8)))],
        [("x.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", bytes(16)))],
        [("x.npy", npy("__import__('os').system('false')"))],
        [("x.npy", npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", bytes(8)))],
        [("x.npy", npy("(" * 100))],
        [("x.npy", b"\x93NUMPY\x09\x00")],
        [("x.npy", b"")],
        [("x.pkl", b"cos\nsystem\n(S'false'\ntR.")],
        [("x.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", bytes(8)))] * 2,
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_hostile_archives_are_refused_in_a_sentence(members: list[tuple[str, bytes]], tmp_path: Path) -> None:
    file = npz(tmp_path / "x.npz", members)
    for shapes in (None, {"x": (1,)}):
        with pytest.raises(BadCheckpoint, match=r"x\.npz cannot be read"):
            read_arrays(file, shapes)


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    bomb = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (16777216,)}", bytes(1 << 26))
    file = npz(tmp_path / "x.npz", [("x.npy", bomb)], zipfile.ZIP_DEFLATED)
    assert file.stat().st_size < 100_000
    for shapes in (None, {"x": (4, 4)}, {"y": (4, 4)}):
        with pytest.raises(BadCheckpoint, match=r"its compression is not supported|; expected: "):
            read_arrays(file, shapes)
    assert read_arrays(file, {"x": (16777216,)})["x"].nbytes == 1 << 26


@pytest.mark.parametrize(
    "text",
    ["", "[" * 100_000, '{"~": "array", "name": "x"}', '{"~": "os.system"}', '{"~": ["x"]}', '{"~": "dict", "items": [1]}',
     '{"~": "scalar", "dtype": "O", "value": 1}', '{"~": "scalar", "dtype": "bananas", "value": 1}', "\ud800", '{"~": "dict", "items": [[[], 1]]}'],
)  # fmt: skip
def test_hostile_trees_are_refused_in_a_sentence(text: str, tmp_path: Path) -> None:
    write_state(tmp_path, {})
    (tmp_path / "state.json").write_bytes(text.encode(errors="surrogatepass"))
    with pytest.raises(BadCheckpoint, match=r"state\.json cannot be read"):
        read_state(tmp_path)


def test_a_tree_that_is_too_large_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_state(tmp_path, {"x": "y" * 200})
    monkeypatch.setattr(state_files, "MOST", 100)
    with pytest.raises(BadCheckpoint, match="larger than the limit of 100 bytes"):
        read_state(tmp_path)


# ---- policies ----


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_neither_written_nor_loaded(value: float, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from ante.training.policies.registry import load_policy
    from ante.training.run_store.weights import NotFinite
    from tests.support.checkpoints import write_policy
    from tests.training.players.test_release import made_run

    run = made_run(tmp_path / "run", "mlp")
    policy, _ = load_policy(run)
    with torch.no_grad():
        policy.value.weight[0, 3] = value
    with pytest.raises(NotFinite, match=r"weight value\.weight of .* is infinite or NaN"):
        write_policy(policy, make_config_of(run), tmp_path / "other")
    target, metadata = find_checkpoint(run / "checkpoints")
    arrays = {name: each.numpy() for name, each in policy.state_dict().items()}
    write_arrays(target / "weights.npz", arrays)
    facts = {key: each for key, each in metadata.items() if key not in ("files", "seal")}
    seal(target, "metadata.json", facts)
    with pytest.raises(NotFinite, match=r"weight value\.weight of .* is infinite or NaN"):
        load_policy(run, target.name)


def make_config_of(run: Path) -> Any:
    from ante.training.settings.config import config_of_run

    return config_of_run(run)


def test_a_run_whose_weights_are_not_finite_ends_with_a_sentence_and_keeps_its_best(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from ante.training.run import progress
    from ante.training.run_store.weights import NotFinite
    from ante.training.settings.config import make_config

    class Algorithm:
        """The methods of an algorithm that `save` calls."""

        weights = np.ones(3, dtype=np.float32)

        def get_state(self) -> dict[str, Any]:
            modules = {"default_policy": {"layer": self.weights}}
            return {"learner_group": {"learner": {"rl_module": modules}}}

    config = make_config({"runs": str(tmp_path)})
    done = progress.Progressed(
        steps=100, iteration=1, row={"return": 1.0, "blinds": 1.0, "stage": 1.0, "eval_blinds": 1.0}
    )
    algorithm: Any = Algorithm()
    config.folder.mkdir()
    best = progress.save(config, algorithm, done).folder
    done.steps, done.row = 200, {**done.row, "return": 9.0, "blinds": 9.0}
    algorithm.weights = np.array([1, np.nan, 1], dtype=np.float32)
    with pytest.raises(NotFinite, match="weight layer of"):
        progress.save(config, algorithm, done)
    for pointer in ("best", "latest"):
        assert find_checkpoint(config.folder / "checkpoints", pointer)[0] == best
    assert sorted(path.name for path in best.parent.iterdir()) == sorted([best.name, "best.json", "latest.json"])


def test_white_stake_has_the_weights_that_it_was_released_with() -> None:
    sums = verified(WHITE_STAKE, "policy.json")["files"]
    assert sums["weights.npz"] == {
        "bytes": 884601,
        "sha256": "b1cee6c3ac8711b860af55bff6f6f327aabd70fac0c206deafe3f5a683f8e372",
    }


# ---- the rule ----

MODULES = {"pickle", "_pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal", "ray.cloudpickle"}
CALLS = {"torch.load", "torch.save", "Tuner.restore", "tune.Tuner.restore"}
NAMES = {
    "cloudpickle",
    "read_pickle",
    "to_pickle",
} | {  # includes RLlib's checkpoints and Tune's state, which are pickles
    "save_to_path",
    "restore_from_path",
    "from_checkpoint",
    "can_restore",
}
ENDS = NAMES | {call.rpartition(".")[2] for call in CALLS}
ALLOWED = {
    "engine/core/compile_cache.py": "compiled code, in this user's own cache folder",
    "bench/processes.py": "the size of what RLlib sends between processes; nothing is read",
    "bench/scale/fragments.py": "messages of stub runners between processes of one measurement",
    "bench/scale/stub_runner.py": "the same messages",
}


def breaches(file: Path) -> list[str]:
    """Return the statements of a module that read or write pickles."""
    found = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names if name.name in MODULES]
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            found.append(str(node.module))
        elif isinstance(node, ast.ImportFrom) and node.module in ("ray", "torch"):
            found += [name.name for name in node.names if name.name in ("cloudpickle", "load", "save")]
        elif isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            found += (
                ["allow_pickle"] if not (isinstance(node.value, ast.Constant) and node.value.value is False) else []
            )
        elif isinstance(node, ast.Attribute) and node.attr in ENDS and (name := ast.unparse(node)):
            found += [name] if name in CALLS or node.attr in NAMES else []
    return found


def test_no_module_reads_or_writes_pickles() -> None:
    found = {str(file.relative_to(SRC)): breaches(file) for file in sorted(SRC.rglob("*.py"))}
    assert {name: words for name, words in found.items() if words and name not in ALLOWED} == {}
    assert set(found["bench/processes.py"]) == {"ray.cloudpickle"}


@pytest.mark.parametrize(
    "line",
    ["import pickle", "from pickle import loads", "from ray import cloudpickle", "import torch\ntorch.load('x')", "import joblib",
     "import numpy as np\nnp.load('x', allow_pickle=True)", "np.load('x', allow_pickle=flag)", "Policy.from_checkpoint('x')",
     "tune.Tuner.restore('x', learn)"],
)  # fmt: skip
def test_the_rule_finds_what_it_forbids(line: str, tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text(line)
    assert breaches(tmp_path / "x.py")


def test_every_error_of_this_file_is_one_that_users_may_meet() -> None:
    assert issubclass(BadCheckpoint, BalatroError) and issubclass(BadPath, BalatroError)
