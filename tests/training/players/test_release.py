"""Released policies: the same player from plain files, and errors for damaged ones."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.checkpoints import make_run
from tests.support.tiny import tiny_network

torch = pytest.importorskip("torch")

from ante.env.games import Games  # noqa: E402
from ante.training.acting.player import make_player  # noqa: E402
from ante.training.acting.win_head import WIN_HEAD, WinHead  # noqa: E402
from ante.training.players.release import (  # noqa: E402
    ABOUT,
    BadRelease,
    is_release,
    read_release,
    write_release,
    write_win_head,
)
from ante.training.policies.registry import load_policy  # noqa: E402
from ante.training.run_store.manifest import BadCheckpoint, seal  # noqa: E402
from ante.training.run_store.weights import WEIGHTS  # noqa: E402
from ante.training.settings.policies import POLICIES  # noqa: E402


def made_run(folder: Path, policy: str, scale: float = 1.0) -> Path:
    """Return a run of this kind of policy with one checkpoint."""
    return make_run(folder, {"games.reorder": "jokers", **tiny_network(policy)}, scale)


@pytest.mark.parametrize("policy", sorted(POLICIES.known))
def test_a_released_policy_plays_like_its_run(policy: str, tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", policy)
    folder = write_release(run, tmp_path / "out")
    assert is_release(folder)
    assert not is_release(run)
    assert (folder / "README.md").read_text().startswith("# out")
    one, about = read_release(folder)
    assert about["policy"] == policy
    assert about["trained"]["timesteps"] == 1000
    two, _ = load_policy(run)
    for name, value in two.state_dict().items():
        assert torch.allclose(one.state_dict()[name], value, rtol=1e-3, atol=1e-6), name
    games = Games(8, discrete=one.discrete, reorder="jokers")
    games.reset()
    same = 0
    for _ in range(10):
        everyone = np.ones(8, dtype=np.bool_)
        decisions = [make_player(each, "x", likeliest=True).choose(games, everyone) for each in (one, two)]
        same += int((decisions[0] == decisions[1]).sum())
        games.step(decisions[1])
    assert same > 70  # float16 may change close decisions


def test_a_release_names_no_place_of_the_machine_that_trained_it(tmp_path: Path) -> None:
    started = {"init_from": str(tmp_path / "other"), "store": f"file://{tmp_path}/store"}
    folder = write_release(make_run(tmp_path / "run", {**started, **tiny_network("mlp")}), tmp_path / "out")
    assert all(str(tmp_path) not in file.read_text() for file in folder.iterdir() if file.suffix != ".npz")


def test_an_export_over_a_calibrated_release_drops_the_win_head_of_the_old_weights(tmp_path: Path) -> None:
    run, other = made_run(tmp_path / "run", "shortlist"), made_run(tmp_path / "other", "shortlist", 1.5)
    folder = write_release(run, tmp_path / "out")
    size = read_release(folder)[0].query.in_features
    head = WinHead(*(np.zeros(shape, np.float32) for shape in ((size, 2), (2,), (2,), ())), "0" * 64)
    write_win_head(head, folder)
    write_release(other, folder)
    assert read_release(folder) and not (folder / WIN_HEAD).exists()


def test_the_card_names_the_algorithm(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", {"algo.kind": "a2c", **tiny_network("mlp")})
    assert "| training | a2c, settings" in (write_release(run, tmp_path / "out") / "README.md").read_text()


def test_a_model_card_is_never_overwritten_and_an_edited_one_is_sealed_again(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", "mlp")
    folder = write_release(run, tmp_path / "out")
    for text in ("mine", "mine, edited"):
        (folder / "README.md").write_text(text)
        with pytest.raises(BadRelease, match=r"README\.md should have .* bytes"):
            read_release(folder)
        write_release(run if text == "mine" else folder, folder)
        assert (folder / "README.md").read_text() == text
        assert read_release(folder)[1]["trained"]["timesteps"] == 1000
    (folder / WEIGHTS).write_bytes(b"other")
    with pytest.raises(BadCheckpoint, match=r"weights\.npz"):
        write_release(folder, folder)


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        ("weights", r"SHA-256 of weights\.npz differs"),
        ("missing", r"no released policy: .*weights\.npz is missing"),
        ("policy", r"no released policy: .*policy\.json was changed after it was written"),
        ("size", "has shape .* expected"),
    ],
)
def test_damaged_releases_are_refused(harm: str, words: str, tmp_path: Path) -> None:
    folder = write_release(made_run(tmp_path / "run", "mlp"), tmp_path / "out")
    about = json.loads((folder / ABOUT).read_text())
    if harm == "weights":
        data = bytearray((folder / WEIGHTS).read_bytes())
        data[len(data) // 2] ^= 1
        (folder / WEIGHTS).write_bytes(data)
    elif harm == "missing":
        (folder / WEIGHTS).unlink()
    elif harm == "policy":
        (folder / ABOUT).write_text(json.dumps({**about, "policy": "oracle"}))
    else:
        text = (folder / "config.yaml").read_text()
        (folder / "config.yaml").write_text(text.replace("  - 16\n  - 12\n", "  - 16\n  - 13\n"))
        seal(folder, ABOUT, {key: value for key, value in about.items() if key not in ("files", "seal")})
    with pytest.raises(BadRelease, match=words):
        read_release(folder)


def test_weights_that_do_not_fit_are_not_released(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", "mlp", scale=1e9)
    with pytest.raises(BadRelease, match="float16"):
        write_release(run, tmp_path / "out")
    assert not (tmp_path / "out").exists()
