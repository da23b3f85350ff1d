"""Videos: decoded frames equal the rendered ones, and partial files never have their final name."""

from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from ante.agents.baselines import Baseline
from ante.env.games import Games
from ante.watch.episode import Episode, collect
from ante.watch.notes import Note
from ante.watch.render.draw import draw
from ante.watch.render.frames import END, FPS, episode_frames
from ante.watch.render.video import BadVideo, write_video


def greedy_episode() -> tuple[Episode, Games]:
    games = Games(1, discrete=False, reorder="none")
    games.reset(options={"seed": "ABCDEFGH"})
    return collect(games, Baseline("greedy").choose), games


@pytest.mark.slow
def test_an_episode_becomes_a_video_that_plays_back(tmp_path: Path) -> None:
    episode, games = greedy_episode()
    assert games.outcome[0] != 0
    frames = list(episode_frames(episode))
    file = tmp_path / "videos" / "episode.mp4"
    assert write_video(file, frames, title="greedy ABCDEFGH") == len(frames)
    with av.open(str(file)) as video:
        stream = video.streams.video[0]
        assert stream.codec_context.name == "h264"
        assert (stream.width, stream.height) == (640, 360)
        assert stream.average_rate == FPS
        assert video.metadata["title"] == "greedy ABCDEFGH"
        decoded = [frame.to_ndarray(format="rgb24") for frame in video.decode(stream)]
    assert len(decoded) == len(frames)
    last = draw(games.states[0], caption=f"lost after {games.steps[0]} decisions")
    assert np.array_equal(frames[-1], last)
    for shown, drawn in ((decoded[0], frames[0]), (decoded[-1], frames[-1])):
        assert np.abs(shown.astype(int) - drawn.astype(int)).mean() < 6
    assert np.array_equal(frames[-1], frames[-round(END * FPS)])
    assert list(file.parent.iterdir()) == [file]
    data = file.read_bytes()
    assert data.index(b"moov") < data.index(b"mdat"), "faststart: playback starts before the download is complete"


def test_notes_without_estimates_change_no_frame() -> None:
    """Those of a game that a person has played: no decision is shown with a probability of 0 %."""
    episode, _ = greedy_episode()
    notes = [Note(None, (), None)] * len(episode.actions)
    assert np.array_equal(next(episode_frames(episode, notes)), next(episode_frames(episode)))
    options = [Note(None, (), 0.5)] * len(episode.actions)
    assert not np.array_equal(next(episode_frames(episode, options)), next(episode_frames(episode)))


def test_a_failure_in_the_middle_leaves_nothing_behind(tmp_path: Path) -> None:
    def breaking() -> Iterator[NDArray[np.uint8]]:
        yield np.zeros((36, 64, 3), dtype=np.uint8)
        raise OSError(28, "No space left on device")

    with pytest.raises(BadVideo, match="No space left"):
        write_video(tmp_path / "a.mp4", breaking())
    assert list(tmp_path.iterdir()) == []


def test_an_older_video_survives_a_failed_new_one(tmp_path: Path) -> None:
    file = tmp_path / "a.mp4"
    write_video(file, [np.zeros((36, 64, 3), dtype=np.uint8)] * 3)
    before = file.read_bytes()
    with pytest.raises(BadVideo, match="at least one frame"):
        write_video(file, [])
    with pytest.raises(BadVideo, match="even"):
        write_video(file, [np.zeros((35, 64, 3), dtype=np.uint8)])
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]
