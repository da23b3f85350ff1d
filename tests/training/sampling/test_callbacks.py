"""Callbacks for finished games, without a running Ray."""

from typing import Any

import numpy as np
import pytest
from ray.rllib.callbacks.callbacks import RLlibCallback

from ante.training.sampling.callbacks import ended_games, has_callback


class Deaf(RLlibCallback):
    pass


class Hears(RLlibCallback):
    def on_episode_end(self, **_: Any) -> None: ...


def test_a_callback_is_heard_of_where_it_is_given() -> None:
    assert not has_callback("on_episode_end", Deaf, None)
    assert has_callback("on_episode_end", Hears, None)
    assert has_callback("on_episode_end", [Deaf, Hears], None)
    assert has_callback("on_episode_end", Deaf, [print])
    assert not has_callback("on_episode_step", [Deaf, Hears], None)


def test_ended_games_provide_their_statistics() -> None:
    info = {"ante": np.array([1, 4, 2]), "seed": np.array(["A", "B", "C"])}
    steps, returns = np.array([7, 80, 9]), np.array([0.5, 2.5, 1.0])
    (one, lost), (two, cut) = ended_games(info, [1, 2], steps, returns, np.array([False, False, True]))
    assert (one, two) == (1, 2)
    assert (lost.id_, len(lost), lost.env_steps(), lost.get_return()) == ("B", 80, 80, 2.5)
    assert lost.get_infos() == {"ante": 4, "seed": "B"}
    assert (lost.is_terminated, lost.is_truncated, lost.is_done) == (True, False, True)
    assert (cut.is_terminated, cut.is_truncated, cut.is_done) == (False, True, True)
    with pytest.raises(IndexError, match="info 0 is not stored on the fast path"):
        lost.get_infos(0)
