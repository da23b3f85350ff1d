"""Released policies: the same player from plain files, and no release from what is not whole."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ante.env.games import Games  # noqa: E402
from ante.training.checkpoints import save_checkpoint  # noqa: E402
from ante.training.config import TrainConfig  # noqa: E402
from ante.training.policies import MODULE_IN_CHECKPOINT, POLICIES, load_policy, make_player  # noqa: E402
from ante.training.release import ABOUT, WEIGHTS, BadRelease, is_release, read_release, write_release  # noqa: E402

SMALL: dict[str, Any] = {"hidden": (16, 12), "entry": 8, "width": 16, "layers": 1, "heads": 2, "trunk": 16}
METADATA = {"timesteps": 1000, "games": 20, "seconds": 6.0, "iteration": 2, "timestamp": "2026-01-01T00:00:00Z"}


def make_run(folder: Path, policy: str, scale: float = 1.0) -> Path:
    """A run of this policy with one checkpoint, as training leaves it."""
    torch.manual_seed(3)
    config = TrainConfig(name=folder.name, runs=str(folder.parent), policy=policy, reorder="jokers", **SMALL)
    seen, answered = POLICIES[policy].fast.spaces()
    settings = POLICIES[policy].settings(config)
    module = POLICIES[policy].fast(observation_space=seen, action_space=answered, model_config=settings)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.mul_(scale)
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(config.to_yaml())
    save_checkpoint(
        folder / "checkpoints",
        1000,
        lambda at: module.save_to_path(str((at / MODULE_IN_CHECKPOINT).resolve())) and None,
        METADATA,
        best=True,
    )
    return folder


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_a_released_policy_plays_like_its_run(policy: str, tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", policy)
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
    assert same > 70  # float16 may turn a close call


def test_a_model_card_is_never_overwritten(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", "mlp")
    folder = write_release(run, tmp_path / "out")
    (folder / "README.md").write_text("mine")
    write_release(run, folder)
    assert (folder / "README.md").read_text() == "mine"


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        ("weights", "digest differs"),
        ("missing", "no released policy"),
        ("policy", "no released policy"),
        ("size", "do not fit"),
    ],
)
def test_what_is_not_whole_is_refused(harm: str, words: str, tmp_path: Path) -> None:
    folder = write_release(make_run(tmp_path / "run", "mlp"), tmp_path / "out")
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
        (folder / "config.yaml").write_text(text.replace("- 16\n- 12\n", "- 16\n- 13\n"))
    with pytest.raises(BadRelease, match=words):
        read_release(folder)


def test_weights_that_do_not_fit_are_not_released(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", "mlp", scale=1e9)
    with pytest.raises(BadRelease, match="float16"):
        write_release(run, tmp_path / "out")
    assert not (tmp_path / "out").exists()
