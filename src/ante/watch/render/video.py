"""Encoding of frames as H.264 video for browsers."""

import os
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from ante.errors import BalatroError
from ante.watch.render.frames import FPS

# Constant quality, x264's default; a keyframe every 5 s for seeking; one thread, to leave cores to others.
X264 = {"crf": "23", "preset": "veryfast", "g": str(5 * FPS), "x264-params": "threads=1"}


class BadVideo(BalatroError, OSError):
    """A video cannot be written."""


def write_video(file: Path, frames: Iterable[NDArray[np.uint8]], fps: int = FPS, title: str = "") -> int:
    """Encode frames as H.264 in an mp4; return their number. All frames have the same even width and height.

    The file is written atomically. Raises BadVideo.
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
    """Write the mp4. Raises ValueError without frames, or if their sizes differ."""
    count, stream, shown, picture = 0, None, None, None
    with av.open(str(file), "w", format="mp4", options={"movflags": "+faststart"}) as container:
        container.metadata["title"] = title
        for frame in frames:
            height, width = frame.shape[:2]
            if stream is None:
                stream = container.add_stream("libx264", rate=Fraction(fps), options=X264)
                stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
            if (width, height) != (stream.width, stream.height) or width % 2 or height % 2:
                raise ValueError(
                    f"frame {count} has {width} x {height} pixels, the video even {stream.width} x {stream.height}"
                )
            if frame is not shown:  # SPEED: a repeated frame is converted once
                shown, picture = frame, av.VideoFrame.from_ndarray(frame, format="rgb24").reformat(format="yuv420p")
            assert picture is not None
            picture.pts = count
            for packet in stream.encode(picture):
                container.mux(packet)
            count += 1
        if stream is None:
            raise ValueError("a video requires at least one frame")
        for packet in stream.encode():
            container.mux(packet)
    return count
