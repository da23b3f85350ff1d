"""Episodes as H.264 video: one game played to its end, a frame for every decision."""

import os
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from ante.engine.actions import DISCRETE, Verb, verb_of
from ante.env.games import Games, Outcome
from ante.env.text import action_name, macro_name
from ante.errors import BalatroError
from ante.watch.draw import draw

FPS = 8
HOLD = {Verb.SELECT: 2, Verb.CLEAR: 2, Verb.PLAY: 12, Verb.DISCARD: 6}  # frames that show what a verb did
HOLD_OTHER = 8
HOLD_END = 24
CRF = "23"  # constant quality of x264, its usual default

Choose = Callable[[Games, NDArray[np.bool_]], NDArray[np.int64]]


class BadVideo(BalatroError, OSError):
    """A video that cannot be written."""


def episode_frames(
    games: Games, choose: Choose, width: int = 640, height: int = 360, picture: Callable[..., Any] = draw
) -> Iterator[NDArray[np.uint8]]:
    """Play the one game of `games` to its end and yield frames uint8 (height, width, 3), RGB.

    choose  answers the action of each game, as `evaluate` asks for it
    """
    s = games.states[0]
    playing = np.ones(1, dtype=np.bool_)
    yield from hold(picture(s, width, height), HOLD_OTHER)
    while True:
        action = choose(games, playing)
        number = int(action[0])
        said = action_name(s, number) if games.discrete else macro_name(s, number)
        verb = int(DISCRETE[number, 0]) if games.discrete else int(verb_of(number))
        games.step(action)
        yield from hold(picture(s, width, height, said), HOLD.get(Verb(verb), HOLD_OTHER))
        if games.outcome[0] != Outcome.PLAYING:
            end = f"{Outcome(int(games.outcome[0])).name.lower()} after {games.steps[0]} decisions"
            yield from hold(picture(s, width, height, end), HOLD_END)
            return


def hold(frame: NDArray[np.uint8], frames: int) -> Iterator[NDArray[np.uint8]]:
    """The same frame several times."""
    for _ in range(frames):
        yield frame


def write_video(file: Path, frames: Iterable[NDArray[np.uint8]], fps: int = FPS, title: str = "") -> int:
    """Encode frames as H.264 in an mp4; answers how many. All frames have the same even width and height.

    The file appears whole under its name, or not at all. Raises BadVideo.
    """
    aside = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        count = encode(aside, frames, fps, title)
        with aside.open("rb+") as stream:
            os.fsync(stream.fileno())
        aside.replace(file)
    except (OSError, ValueError) as error:  # PyAV's errors are both
        raise BadVideo(f"cannot write video {file}: {error}") from error
    finally:
        aside.unlink(missing_ok=True)
    return count


def encode(file: Path, frames: Iterable[NDArray[np.uint8]], fps: int, title: str) -> int:
    """Write the mp4. Raises ValueError where there is no frame, or one of another size."""
    count, stream = 0, None
    with av.open(str(file), "w", format="mp4", options={"movflags": "+faststart"}) as container:
        container.metadata["title"] = title
        for frame in frames:
            height, width = frame.shape[:2]
            if stream is None:
                stream = container.add_stream("libx264", rate=Fraction(fps), options={"crf": CRF, "preset": "veryfast"})
                stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
            if (width, height) != (stream.width, stream.height) or width % 2 or height % 2:
                raise ValueError(
                    f"frame {count} has {width} x {height} pixels, the video even {stream.width} x {stream.height}"
                )
            for packet in stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")):
                container.mux(packet)
            count += 1
        if stream is None:
            raise ValueError("there are no frames")
        for packet in stream.encode():
            container.mux(packet)
    return count
