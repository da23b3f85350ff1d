"""The episodes of a run, stored in `runs/<name>/episodes/` with an `index.json`, and their retention.

Each episode has a gzipped replay; some have notes (the player's estimates), a video and a poster.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import cv2
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from ante.catalog.jokers import JOKERS
from ante.env.replay import Heading
from ante.errors import BalatroError, first_fault
from ante.files import NoFile, Unreadable, inside, read_json, whole, write_text
from ante.watch.episode import Episode, fingerprint, write_compact
from ante.watch.highlights import checked_figures
from ante.watch.notes import Note, write_notes
from ante.watch.render.frames import episode_frames, poster
from ante.watch.render.video import write_video

FOLDER, INDEX, VERSION = "episodes", "index.json", 1
POSTER = (480, 270)
QUALITY = 82
PERMANENT = ("first_win",)  # an episode chosen for one of these reasons is never deleted


FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]{0,199}$")]  # cannot leave the folder
Figures = Annotated[dict[str, FiniteFloat], AfterValidator(checked_figures)]
Count = Annotated[int, Field(ge=-100, le=10**15)]


class BadIndex(BalatroError, ValueError):
    """The index of episodes cannot be read."""


class IndexForm(BaseModel):
    """The top level of an index. Fields of an episode that `Entry` does not have are ignored."""

    version: Literal[1]
    episodes: list[dict[str, Any]]


@dataclass(frozen=True, config=ConfigDict(strict=True))
class Entry:
    """One episode.

    name     stem of its replay `<name>.txt.gz`; `notes`, `video` and `poster` name files in the same folder
    steps    environment steps that the policy had been trained for
    final    whether the final evaluation played it
    jokers   names of the jokers held at the end
    state    fingerprint of the last record: shows whether the engine still plays the same game
    why      the reasons for its video
    highlights  for a game of training, the rules by which it is the best one, with its figures
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
    highlights: Figures = field(default_factory=dict)

    @property
    def replay(self) -> str:
        """Name of the replay file."""
        return f"{self.name}.txt.gz"

    @property
    def files(self) -> tuple[str, ...]:
        """Names of all files of the episode."""
        return tuple(name for name in (self.replay, self.notes, self.video, self.poster) if name)

    @property
    def heading(self) -> Heading:
        """Seed, deck, stake and challenge of the game."""
        return Heading(self.seed, self.deck, self.stake, self.challenge)


ENTRIES = TypeAdapter(list[Entry])


def read_index(run: Path) -> list[Entry]:
    """Return the episodes of a run's folder, oldest first; an empty list without an index. Raises BadIndex."""
    file = run / FOLDER / INDEX
    try:
        rows = IndexForm.model_validate(read_json(file)).episodes
        known = {each.name for each in fields(Entry)}
        # through JSON, because strict validation accepts a list for a tuple only there
        text = json.dumps([{name: value for name, value in row.items() if name in known} for row in rows])
        return ENTRIES.validate_json(text)
    except NoFile:
        return []
    except Unreadable as error:
        raise BadIndex(str(error)) from None
    except ValidationError as error:
        raise BadIndex(f"cannot read {file}: {first_fault(error)}") from None


def write_index(run: Path, entries: Iterable[Entry]) -> None:
    """Write the index of these episodes, whose files must exist already."""
    rows = [{**asdict(entry), "replay": entry.replay} for entry in entries]
    write_text(run / FOLDER / INDEX, json.dumps({"version": VERSION, "episodes": rows}, indent=1) + "\n")


def entry_of(episode: Episode, heading: Heading, **facts: Any) -> Entry:
    """Return the entry of a game that is not stored yet.

    facts  the fields that neither the episode nor its heading determines
    """
    last = episode.end()
    return Entry(
        seed=heading.seed,
        deck=heading.deck,
        stake=heading.stake,
        challenge=heading.challenge,
        decisions=len(episode.actions),
        jokers=tuple(JOKERS[last.jokers[i].id].name for i in range(last.n_jokers)),
        state=fingerprint(last),
        **facts,
    )


def write_episode(
    run: Path, entry: Entry, episode: Episode, player: str, notes: Sequence[Note] | None, about: str, video: bool
) -> Entry:
    """Store the episode's files in the run's folder and return the entry, which names them. Raises BadVideo.

    video  whether to write a video and a poster
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
    """Write a picture of the episode's best moment."""
    small = cv2.resize(
        poster(episode, notes, about, (2 * POSTER[0], 2 * POSTER[1])), POSTER, interpolation=cv2.INTER_AREA
    )
    _, data = cv2.imencode(".jpg", small[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    with whole(file) as aside:
        aside.write_bytes(data.tobytes())


def add_episodes(run: Path, new: Sequence[Entry], most_episodes: int, most_videos: int) -> list[Entry]:
    """Add episodes to the index, delete those beyond the limits, and return the entries of the new index.

    An episode of the same name is replaced. The oldest are deleted first, a video before its replay. The first win and
    the highlights of training are never deleted. Raises BadPath, and deletes nothing, if the index names a file outside the run's episodes.
    """
    old = read_index(run)
    names = {entry.name for entry in new}
    entries, _ = within([*(entry for entry in old if entry.name not in names), *new], most_episodes, most_videos)
    rewrite_index(run, entries, [*old, *new])
    return entries


def replace_highlights(run: Path, new: Sequence[Entry]) -> None:
    """Replace the highlights of the index by these, and delete the files of those that are left out. Raises BadPath."""
    old = read_index(run)
    entries = [*(entry for entry in old if not entry.highlights), *new]
    rewrite_index(run, sorted(entries, key=lambda entry: (entry.final, entry.steps)), old)


def rewrite_index(run: Path, entries: Sequence[Entry], before: Iterable[Entry]) -> None:
    """Write the index of these episodes, then delete the files that only those `before` had.

    Raises BadPath, and changes nothing.
    """
    kept = {name for entry in entries for name in entry.files}
    gone = {name for entry in before for name in entry.files} - kept
    files = [inside(run / FOLDER, name) for name in gone]
    write_index(run, entries)
    for file in files:
        file.unlink(missing_ok=True)


def within(entries: Sequence[Entry], most_episodes: int, most_videos: int) -> tuple[list[Entry], list[str]]:
    """Return the entries to keep, in their order, and the names of the files to delete."""

    def deletable(entry: Entry) -> bool:
        return not entry.highlights and not set(PERMANENT) & set(entry.why)

    filmed = [entry for entry in entries if entry.video]
    dropped_videos = [entry for entry in filmed if deletable(entry)][: max(0, len(filmed) - most_videos)]
    gone = [name for entry in dropped_videos for name in (entry.video, entry.poster) if name]
    kept = [replace(entry, video=None, poster=None) if entry in dropped_videos else entry for entry in entries]
    ranked = [entry for entry in kept if deletable(entry) and not entry.video]
    ranked += [entry for entry in kept if deletable(entry) and entry.video]
    dropped = {entry.name for entry in ranked[: max(0, len(kept) - most_episodes)]}
    gone += [name for entry in kept if entry.name in dropped for name in entry.files]
    return [entry for entry in kept if entry.name not in dropped], gone
