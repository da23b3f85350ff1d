"""Episodes of a run: replays are exact, notes are restored, limits hold, and all readers can read the replays."""

import base64
import gzip
import json
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from ante.agents.baselines import Baseline
from ante.engine.actions import Verb, verb_of
from ante.env.games import Games
from ante.env.replay import BadReplay, Heading, check_replay, read_file, read_replay, write_replay
from ante.env.text import macro_name
from ante.watch.episode import (
    Episode,
    annotate,
    check_compact,
    collect,
    fingerprint,
    is_compact,
    read_episode,
    recorded,
    with_words,
    write_compact,
)
from ante.watch.gallery import FOLDER, BadIndex, Entry, add_episodes, read_index, replace_highlights, within
from ante.watch.notes import BadNotes, note_of, read_notes
from ante.watch.render.frames import episode_frames, pace_of
from ante.watch.report import NoReport, curves, links_from, write_report
from ante.watch.trace import steps_of
from tests.watch.made import Thinker, make_run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run of four games; tests that change it make a copy."""
    run = tmp_path_factory.mktemp("runs") / "run"
    make_run(run, 4)
    return run


@pytest.fixture
def copied(made: Path, tmp_path: Path) -> Path:
    """Return a copy of the run."""
    return Path(shutil.copytree(made, tmp_path / "run"))


def at_random(seed: str, discrete: bool) -> tuple[list[int], Games]:
    """Return a game of random legal choices of the discrete view; every card is selected one by one."""
    games, rng, actions = Games(1, discrete=True), np.random.default_rng(len(seed)), []
    games.reset(options={"seed": seed})
    while games.outcome[0] == 0:
        actions.append(int(rng.choice(np.flatnonzero(games.masks[0]))))
        games.step(np.array([actions[-1]]))
    return actions, games


def greedy(seed: str) -> Games:
    games = Games(1, discrete=False)
    games.reset(options={"seed": seed})
    return games


@pytest.mark.parametrize("seed", ["2K9H9HN", "ABCDEFGH", "7LB2WVPK"])
def test_a_kept_replay_ends_in_the_same_bytes(seed: str, tmp_path: Path) -> None:
    actions, games = at_random(seed, discrete=True)
    episode = recorded(Heading(seed), actions, discrete=True)
    assert len(episode.actions) < len(actions)
    write_compact(tmp_path / "a.txt.gz", Heading(seed), episode)
    heading, again = read_episode(tmp_path / "a.txt.gz")
    assert heading == Heading(seed)
    assert again.end().tobytes() == games.states[0].tobytes()
    assert fingerprint(again.end()) == fingerprint(games.states[0])


def test_a_compact_replay_is_expanded_and_checked(tmp_path: Path) -> None:
    games = greedy("TESTSEED")
    episode = collect(games, Baseline("greedy").choose)
    file = tmp_path / "a.txt.gz"
    write_compact(file, Heading("TESTSEED"), episode)
    assert file.stat().st_size < 700
    text = read_file(file)
    assert is_compact(text) and check_compact(text) is None
    full = with_words(text)
    assert full == write_replay(Heading("TESTSEED"), episode.actions)
    assert check_replay(full) is None and not is_compact(full) and with_words(full) == full
    assert read_replay(full) == read_replay(text)
    lines = text.splitlines()
    wrong = "\n".join([*lines[:-1], lines[-1].replace("with $", "with $9")])
    difference = check_compact(wrong)
    assert difference is not None and difference.got == lines[-1]
    refused = text.replace("cash-out", "reroll", 1)
    difference = check_compact(refused)
    assert difference is not None and "is illegal in its state: reroll" in difference.got


def test_a_damaged_replay_is_named(tmp_path: Path) -> None:
    file = tmp_path / "a.txt.gz"
    file.write_bytes(gzip.compress(b"ante replay 1\nseed A\n\nplay 0\n")[:-6])
    with pytest.raises(BadReplay, match=r"a\.txt\.gz"):
        read_episode(file)


def test_notes_are_of_the_decision_that_is_taken() -> None:
    episode = collect(greedy("TESTSEED"), Baseline("greedy").choose)
    notes = annotate(episode, Thinker("greedy"))
    assert len(notes) == len(episode.actions)
    for (before, action, _), note in zip(episode.walk(), notes, strict=True):
        assert note.options[0] == (action, 0.5) and note.chance == 0.5
        assert note.value == before.round_number
        assert note.hint == ("keep the pair" if before.ante == 1 else "")


def test_a_note_keeps_the_likeliest_and_tells_what_was_not_considered() -> None:
    probabilities = np.array([0.0, 0.2, 0.0005, 0.5, 0.1, 0.05, 0.08, 0.07])
    note = note_of(np.arange(8), probabilities, taken=4, value=1.23456)
    assert note.options == ((3, 0.5), (1, 0.2), (4, 0.1), (6, 0.08), (7, 0.07))
    assert (note.chance, note.value) == (0.1, 1.2346)
    assert note_of(np.arange(8), probabilities, taken=99, value=0.0).chance is None


def test_a_decision_that_is_listed_twice_is_one_option() -> None:
    """As the sale of a joker that makes room for one of two others."""
    note = note_of(np.array([7, 5, 7]), np.array([0.26, 0.5, 0.24]), taken=7, value=0.0)
    assert note.options in (((5, 0.5), (7, 0.5)), ((7, 0.5), (5, 0.5))) and note.chance == 0.5


def test_steps_say_what_the_engine_says() -> None:
    episode = collect(greedy("ABCDEFGH"), Baseline("greedy").choose)
    steps = list(steps_of(episode, annotate(episode, Thinker("greedy"))))
    assert len(steps) == len(episode.actions) + 1
    for (before, action, _), step in zip(episode.walk(), steps, strict=False):
        assert step["said"] == macro_name(before, action)
        assert [words for words, _, taken in step["options"] if taken] == [macro_name(before, action)]
        assert (step["dollars"], step["ante"], step["deck"]) == (before.dollars, before.ante, before.n_deck)
        assert len(step.get("cards", [])) == bin(int(action) >> 22).count("1")
    plays = [k for k, action in enumerate(episode.actions) if verb_of(action) == Verb.PLAY]
    made = steps[plays[0] + 1]["made"]
    assert np.floor(made[2] * made[3]) == made[4]
    assert steps[-1]["said"] == "lost" and steps[-1]["state"] == fingerprint(episode.end())


def test_notes_of_another_game_are_refused() -> None:
    episode = collect(greedy("ABCDEFGH"), Baseline("greedy").choose)
    notes = annotate(episode, Thinker("greedy"))[:-1]
    with pytest.raises(BadNotes, match="another game"):
        list(steps_of(episode, notes))
    with pytest.raises(BadNotes, match="another game"):
        list(episode_frames(episode, notes))


def test_a_long_game_is_shown_faster() -> None:
    episode = collect(greedy("ABCDEFGH"), Baseline("greedy").choose)
    assert pace_of(episode) <= 1
    long = [Episode(episode.start, episode.actions * k) for k in (20, 40)]
    assert pace_of(long[0]) < 1
    assert pace_of(long[1]) == pytest.approx(pace_of(long[0]) / 2)


def test_a_run_keeps_its_episodes(made: Path) -> None:
    run, entries = made, read_index(made)
    assert len(entries) == 4
    assert {why for entry in entries for why in entry.why} == {"best", "worst"}
    report = json.loads((run / "evaluation.json").read_text())
    assert {entry.seed: entry.blinds for entry in entries} == {row["seed"]: row["blinds"] for row in report["records"]}
    for entry in entries:
        _, episode = read_episode(run / FOLDER / entry.replay)
        assert fingerprint(episode.end()) == entry.state
        assert all((run / FOLDER / name).is_file() for name in entry.files)
        assert bool(entry.video) == bool(entry.notes) == bool(entry.why)
        if entry.notes:
            player, notes = read_notes(run / FOLDER / entry.notes)
            assert player == "greedy" and notes == annotate(episode, Thinker("greedy"))
    files = {file.name for file in (run / FOLDER).iterdir()}
    assert files == {"index.json", *(name for entry in entries for name in entry.files)}


def entry(number: int, video: bool = False, why: tuple[str, ...] = ()) -> Entry:
    name = f"{number:03d}"
    media = {"video": f"{name}.mp4", "poster": f"{name}.jpg", "notes": f"{name}.notes.json.gz"} if video else {}
    return Entry(name, "A", "b_red", 1, None, "lost", 1, 0, 1, 0.0, number, False, (), "", why, **media)


def test_episodes_beyond_the_limits_are_deleted_oldest_first() -> None:
    entries = [entry(i, video=i % 3 == 0, why=("first_win",) if i == 0 else ()) for i in range(12)]
    kept, gone = within(entries, 100, 2)
    assert [each.name for each in kept if each.video] == ["000", "009"], "the first win stays"
    assert len(kept) == 12 and gone == ["003.mp4", "003.jpg", "006.mp4", "006.jpg"]
    assert kept[3].notes, "notes stay with the replay"
    kept, gone = within(entries, 6, 100)
    assert [each.name for each in kept] == ["000", "003", "006", "009", "010", "011"]
    assert set(gone) == {f"{i:03d}.txt.gz" for i in (1, 2, 4, 5, 7, 8)}
    assert within(entries, 12, 12) == (entries, [])


@pytest.mark.parametrize("highlights", [{}, {"best_hand": 1.0}])
def test_a_replaced_episode_leaves_no_media_behind(tmp_path: Path, highlights: dict[str, float]) -> None:
    """A game that is recorded again without a video, as after a resume."""

    def store(each: Entry) -> None:
        for name in each.files:
            (tmp_path / FOLDER / name).touch()
        if highlights:
            replace_highlights(tmp_path, [each])
        else:
            add_episodes(tmp_path, [each], 10, 10)

    (tmp_path / FOLDER).mkdir()
    store(replace(entry(1, video=True), highlights=highlights))
    store(replace(entry(1), highlights=highlights))
    assert sorted(file.name for file in (tmp_path / FOLDER).iterdir()) == ["001.txt.gz", "index.json"]


def test_an_unreadable_index_is_named(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "index.json").write_text('{"episodes": [{"name": 1}]}')
    with pytest.raises(BadIndex, match=r"index\.json"):
        read_index(tmp_path)


def test_curves_are_means_of_parts_with_missing_values(tmp_path: Path) -> None:
    file = tmp_path / "metrics.csv"
    rows = [f"{i},{10 * i},{i / 2},{i * 1.0},{'' if i != 700 else 4.5},{i}" for i in range(1, 1001)]
    file.write_text("\n".join(["iteration,steps,seconds,blinds,eval_blinds,games", *rows, "1001,99"]))
    found = curves(file)
    assert found["steps"][0] == 30 and found["steps"][-1] == 10_000
    assert found["columns"]["blinds"][:2] == [2.0, 5.0]
    assert [value for value in found["columns"]["eval_blinds"] if value is not None] == [4.5]
    assert found["drawn"] == [
        {"name": "blinds", "evaluated": "eval_blinds", "title": "blinds beaten per game", "percent": False}
    ]
    assert curves(tmp_path / "none.csv")["steps"] == []


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoReport, match=r"has no config\.yaml"):
        write_report(tmp_path)


class Scripts(HTMLParser):
    """The scripts of a page: their attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[dict[str, str | None], str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script":
            self.found.append((dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        if self.found and self.cdata_elem == "script":
            attributes, text = self.found[-1]
            self.found[-1] = attributes, text + data


def test_the_report_is_self_contained_and_its_data_cannot_end_its_script(copied: Path) -> None:
    hostile = "</script><script>alert(1)</script>"
    (copied / "machine.json").write_text(json.dumps({"cpu": hostile}))
    text = write_report(copied, traces=2).read_text()
    scripts = Scripts(text).found
    assert len(scripts) == 2 + 2, "data, two traces, the script"
    assert json.loads(scripts[0][1])["run"]["machine"]["cpu"] == hostile
    assert all(not attributes.get("src") for attributes, _ in scripts)
    assert "https://" not in text and text.count("http://") == text.count("http://www.w3.org/2000/svg")


def test_traces_hold_the_steps_and_come_with_videos_first(made: Path) -> None:
    scripts = {
        attributes.get("data-trace"): text
        for attributes, text in Scripts(write_report(made, traces=3).read_text()).found
    }
    entries = read_index(made)
    assert {entry.name for entry in entries if entry.video} < set(scripts)
    entry = next(entry for entry in entries if entry.video)
    steps = json.loads(gzip.decompress(base64.b64decode(scripts[entry.name])))
    _, episode = read_episode(made / FOLDER / entry.replay)
    assert steps == json.loads(json.dumps(list(steps_of(episode, read_notes(made / FOLDER / str(entry.notes))[1]))))


def test_a_changed_engine_is_reported(copied: Path) -> None:
    index = copied / FOLDER / "index.json"
    data = json.loads(index.read_text())
    data["episodes"][0]["state"] = "0" * 16
    index.write_text(json.dumps(data))
    page = write_report(copied).read_text()
    troubles = {row["name"]: row.get("trouble") for row in json.loads(Scripts(page).found[0][1])["episodes"]}
    assert "leads to another game" in troubles.pop(data["episodes"][0]["name"])
    assert set(troubles.values()) == {None}


def test_links_follow_a_report_that_lies_elsewhere(made: Path, tmp_path: Path) -> None:
    page = write_report(made, tmp_path / "a.html", links_from(tmp_path / "a.html", made), traces=1).read_text()
    links = [row["video"] for row in json.loads(Scripts(page).found[0][1])["episodes"] if "video" in row]
    assert len(links) == 2 and all((tmp_path / link).is_file() for link in links)
