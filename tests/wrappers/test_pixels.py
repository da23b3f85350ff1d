"""Frames as observations: rendered, reduced, stacked; every variant passes the environment checks."""

import os
from typing import Any

import gymnasium
import numpy as np
import pytest

cv2 = pytest.importorskip("cv2")

from ante.checks import UnknownChoice  # noqa: E402
from ante.env.registration import NAME, register_environments  # noqa: E402
from ante.errors import BalatroError  # noqa: E402
from ante.watch.render.draw import draw  # noqa: E402
from ante.wrappers import Pixels  # noqa: E402
from ante.wrappers.check import check_variant  # noqa: E402

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
register_environments()


def made(**options: Any) -> Any:
    return gymnasium.make(NAME, disable_env_checker=True, **options)


@pytest.mark.parametrize("colour", [False, True])
def test_the_newest_frame_is_the_reduced_rendered_one(colour: bool) -> None:
    env = Pixels(made(), size=(84, 112), colour=colour, stack=2)
    env.reset(seed=4)
    env.action_space.seed(4)
    env.action_space.sample()
    for _ in range(25):
        seen, _, over, *_ = env.step(env.action_space.sample())
        picture = draw(env.unwrapped.state, 320, 180, seed=False)
        wanted = cv2.resize(picture, (112, 84), interpolation=cv2.INTER_AREA).astype(int)
        if colour:
            np.testing.assert_array_equal(seen[3:].transpose(1, 2, 0), wanted)
        else:
            grey = wanted @ [0.299, 0.587, 0.114]
            assert np.abs(seen[1] - grey).max() <= 1.5, "luma by definition, up to rounding"
        if over:
            break


def test_a_frame_does_not_reveal_the_seed() -> None:
    env = Pixels(made(seed="ABCDEFGH"), size=(180, 320), colour=True, stack=1)
    one, _ = env.reset()
    picture = draw(env.unwrapped.state, 320, 180)
    unlike = np.argwhere((one.transpose(1, 2, 0) != picture).any(axis=2))
    assert len(unlike) > 50 and unlike[:, 0].min() >= 165 and unlike[:, 1].max() <= 75, "only deck and seed are missing"


def test_a_stack_has_the_last_frames_of_its_game() -> None:
    env = Pixels(made(), size=(36, 64), stack=3)
    for seed in (1, 2):
        seen, _ = env.reset(seed=seed)
        assert (seen == seen[0]).all(), "the first frame fills the stack"
        frames = [seen[-1]]
        for _ in range(4):
            before = seen.copy()
            legal = np.flatnonzero(env.get_wrapper_attr("action_masks")())
            seen, *_ = env.step(int(legal[0]))
            frames.append(seen[-1])
            wanted = ([frames[0]] * 3 + frames)[-3:]
            np.testing.assert_array_equal(seen, np.stack(wanted))
            assert not np.shares_memory(before, seen)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "pixels"),
    [
        ({}, {"mode": "alone"}),
        (
            {"observation": "masked", "actions": "discrete"},
            {"mode": "fused", "size": (36, 36), "colour": True, "stack": 2},
        ),
    ],
)
def test_every_variant_keeps_its_promises(options: dict[str, Any], pixels: dict[str, Any]) -> None:
    findings = check_variant(options, lambda env: Pixels(env, **pixels))
    assert all(finding.kept for finding in findings), findings


def test_fused_observations_are_what_is_seen_without_pictures_and_the_pictures() -> None:
    plain, fused, flat = made(), Pixels(made(), "fused"), Pixels(made(observation="flat"), "fused")
    without, _ = plain.reset(seed=3)
    seen, _ = fused.reset(seed=3)
    assert set(seen) == {"pixels", *without} and seen["pixels"].shape == (4, 84, 112)
    assert all(np.array_equal(seen[name], value) for name, value in without.items())
    assert set(flat.reset(seed=3)[0]) == {"pixels", "observation"}


@pytest.mark.parametrize(
    ("options", "kind"),
    [({"mode": "both"}, UnknownChoice), ({"stack": 0}, BalatroError), ({"size": (2, 84)}, BalatroError)],
)
def test_nonsense_is_refused(options: dict[str, Any], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        Pixels(made(), **options)
