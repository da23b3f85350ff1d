"""The episodes of a run: `runs/<name>/episodes/` with its `index.json`, and which of them stay.

For each episode a gzipped replay; for some of them notes (what the player thought), a video and a poster.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import cv2
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from ante.catalog.jokers import JOKERS
from ante.env.replay import Heading
from ante.errors import BalatroError, first_fault
from ante.files import Unreadable, read_json, whole, write_text
from ante.paths import inside
from ante.watch.episode import Episode, fingerprint, write_compact
from ante.watch.notes import Note, write_notes
from ante.watch.render.frames import episode_frames, poster
from ante.watch.render.video import write_video

FOLDER, INDEX, VERSION = "episodes", "index.json", 1
POSTER = (480, 270)
QUALITY = 82
FOREVER = ("first_win",)  # reasons for which an episode is never dropped


FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]{0,199}$")]  # in the folder: no way out of it
Count = Annotated[int, Field(ge=-100, le=10**15)]


class BadIndex(BalatroError, ValueError):
    """An index of episodes that cannot be read."""


class IndexForm(BaseModel):
    """How an index begins; what an episode has beside an entry's fields is left out."""

    version: Literal[1]
    episodes: list[dict[str, Any]]


@dataclass(frozen=True, config=ConfigDict(strict=True))
class Entry:
    """One episode.

    name     of its files: `<name>.txt.gz`, and beside it what `notes`, `video` and `poster` name
    steps    environment steps after which the policy that played was taken
    final    whether it is of the closing evaluation
    jokers   held at the end, by name
    state    fingerprint of the last record: shows whether the engine still plays the same game
    why      why it was chosen for a video
    """

    name: FileName
    seed: str
    deck: str
    stake: Annotated[int, Field(ge=1, le=8)]
    challenge: str | None
    outcome: str
    ante: Count
    blinds: Count
    decisions: Count
    reward: FiniteFloat
    steps: Count
    final: bool
    jokers: tuple[str, ...]
    state: str
    why: tuple[str, ...] = ()
    notes: FileName | None = None
    video: FileName | None = None
    poster: FileName | None = None

    @property
    def replay(self) -> str:
        """The name of its replay."""
        return f"{self.name}.txt.gz"

    @property
    def files(self) -> tuple[str, ...]:
        """The names of all its files."""
        return tuple(name for name in (self.replay, self.notes, self.video, self.poster) if name)

    @property
    def heading(self) -> Heading:
        """How the game begins."""
        return Heading(self.seed, self.deck, self.stake, self.challenge)


ENTRIES = TypeAdapter(list[Entry])


def read_index(run: Path) -> list[Entry]:
    """The episodes of a run's folder, oldest first; none where none were kept. Raises BadIndex."""
    file = run / FOLDER / INDEX
    if not file.exists():
        return []
    try:
        rows = IndexForm.model_validate(read_json(file)).episodes
        known = {field.name for field in fields(Entry)}
        # as JSON, in which a list may stand for a tuple
        text = json.dumps([{name: value for name, value in row.items() if name in known} for row in rows])
        return ENTRIES.validate_json(text)
    except Unreadable as error:
        raise BadIndex(str(error)) from None
    except ValidationError as error:
        raise BadIndex(f"cannot read {file}: {first_fault(error)}") from None


def write_index(run: Path, entries: Iterable[Entry]) -> None:
    """Write the index of these episodes. The files that it names are written before."""
    rows = [{**asdict(entry), "replay": entry.replay} for entry in entries]
    write_text(run / FOLDER / INDEX, json.dumps({"version": VERSION, "episodes": rows}, indent=1) + "\n")


def end_of(episode: Episode) -> tuple[tuple[str, ...], str]:
    """The names of the jokers held at the end, and the last record's fingerprint."""
    last = episode.end()
    return tuple(JOKERS[last.jokers[i].id].name for i in range(last.n_jokers)), fingerprint(last)


def write_episode(
    run: Path, entry: Entry, episode: Episode, player: str, notes: Sequence[Note] | None, about: str, video: bool
) -> Entry:
    """Store the episode's files in the run's folder and return the entry, which names them. Raises BadVideo.

    video  whether it becomes a video, with a poster
    """
    folder = run / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    write_compact(folder / entry.replay, entry.heading, episode)
    if notes is not None:
        entry = replace(entry, notes=f"{entry.name}.notes.json.gz")
        write_notes(folder / str(entry.notes), player, notes)
    if video:
        entry = replace(entry, video=f"{entry.name}.mp4", poster=f"{entry.name}.jpg")
        title = f"{player}: {entry.seed}, {entry.outcome} in ante {entry.ante}"
        write_video(folder / str(entry.video), episode_frames(episode, notes, about), title=title)
        write_poster(folder / str(entry.poster), episode, notes, about)
    return entry


def write_poster(file: Path, episode: Episode, notes: Sequence[Note] | None, about: str) -> None:
    """A picture of the episode's best moment."""
    small = cv2.resize(
        poster(episode, notes, about, (2 * POSTER[0], 2 * POSTER[1])), POSTER, interpolation=cv2.INTER_AREA
    )
    _, data = cv2.imencode(".jpg", small[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    with whole(file) as aside:
        aside.write_bytes(data.tobytes())


def add_episodes(run: Path, new: Sequence[Entry], most_episodes: int, most_videos: int) -> list[Entry]:
    """The index names these episodes too, and what goes beyond the bounds is deleted; answers what it names now.

    An episode of the same name is replaced. The oldest go first; a video goes before its replay, and what was the
    first win stays. Raises BadPath, and deletes nothing, where the index names a file outside the run's episodes.
    """
    old = read_index(run)
    names = {entry.name for entry in new}
    entries, gone = within([*(entry for entry in old if entry.name not in names), *new], most_episodes, most_videos)
    files = [inside(run / FOLDER, name) for name in gone]
    write_index(run, entries)
    for file in files:
        file.unlink(missing_ok=True)
    return entries


def within(entries: Sequence[Entry], most_episodes: int, most_videos: int) -> tuple[list[Entry], list[str]]:
    """The entries that stay, in their order, and the names of the files that go."""

    def mortal(entry: Entry) -> bool:
        return not set(FOREVER) & set(entry.why)

    filmed = [entry for entry in entries if entry.video]
    spoilt = [entry for entry in filmed if mortal(entry)][: max(0, len(filmed) - most_videos)]
    gone = [name for entry in spoilt for name in (entry.video, entry.poster) if name]
    kept = [replace(entry, video=None, poster=None) if entry in spoilt else entry for entry in entries]
    ranked = [entry for entry in kept if mortal(entry) and not entry.video]
    ranked += [entry for entry in kept if mortal(entry) and entry.video]
    dropped = {entry.name for entry in ranked[: max(0, len(kept) - most_episodes)]}
    gone += [name for entry in kept if entry.name in dropped for name in entry.files]
    return [entry for entry in kept if entry.name not in dropped], gone
