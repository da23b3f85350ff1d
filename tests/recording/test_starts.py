"""Games that start from saved ones: the same records, the same future; each unusable file has its own message."""

import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ante.engine.core.state import Phase, copy_states, save_state
from ante.engine.step import step
from ante.env.games import Games
from ante.recording.starts import BadStarts, Mark, copied, positions, read_starts, stand, write_starts
from ante.watch.episode import Episode, read_episode

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
GAME = Path("tests/golden/replays/greedy-b_red-1-PKXK3L4T.txt")


def saved(*marks: str) -> tuple[Episode, list[Any]]:
    episode = read_episode(GAME)[1]
    return episode, positions(episode, [Mark.read(mark) for mark in marks])


def octets(s: Any) -> bytes:
    """Return a record as bytes, without the padding between its fields."""
    return copied(s).view(np.uint8).tobytes()


def test_positions_are_the_first_of_their_kind() -> None:
    episode, found = saved("decision=0", "ante=2", "round=2", "ante=99")
    assert octets(found[0][0]) == octets(episode.start[0]) and len(found) == 3, "ante 99 is never reached"
    second, later = found[1][0], found[2][0]
    assert (second.round_number, second.phase) == (2, Phase.PLAY) and second.chips == 0
    assert (later.ante, later.phase, later.blind_on_deck) == (2, Phase.BLIND_SELECT, 0)
    assert positions(episode, [Mark("decision", len(episode.actions))]) == [], "the game is lost at this decision"


def test_a_saved_game_goes_on_as_the_replay_did(tmp_path: Path) -> None:
    """Byte for byte, to the end: streams, shops and draws depend on the seed."""
    episode, _ = saved()
    half = len(episode.actions) // 2
    write_starts(tmp_path / "some.states", positions(episode, [Mark("decision", half)]))
    games = Games(3, discrete=False, reorder="all", deck="b_blue", max_decisions=10**6)
    games.reset()
    untouched = octets(games.states[0])
    stand(games, np.array([1, 2]), read_starts(tmp_path / "some.states")[[0, 0]])
    assert octets(games.states[0]) == untouched
    assert games.seeds[1] == "PKXK3L4T"
    s = copy_states(episode.start)[0]
    for action in episode.actions[:half]:
        step(s, np.int64(action))
    for action in episode.actions[half:]:
        assert games.refused(np.array([-1, action, action]), np.array([True, False, False])) < 0
        games.step(np.array([-1, action, action]))
        step(s, np.int64(action))
        assert octets(games.states[1]) == octets(games.states[2]) == octets(s)
    assert s.phase == Phase.OVER and games.terminated.tolist() == [False, True, True]


def test_a_file_that_cannot_be_begun_from_is_refused_in_a_sentence(tmp_path: Path) -> None:
    file, (episode, found) = tmp_path / "x.states", saved("ante=2")
    one = save_state(found[0][0])
    old = one[:10] + (7).to_bytes(4, "little") + one[14:]
    lost = save_state(episode.end())
    won = copy_states(found[0])[:1]
    won.won, won.phase = 1, Phase.SHOP
    bad = {
        b"": "contains no games",
        gzip.compress(b""): "contains no games",
        gzip.compress(one + b"123"): "game 2: not a saved game",
        gzip.compress(one + one[:500]): "game 2: truncated",
        gzip.compress(one)[:-30]: "is incomplete or damaged",
        gzip.compress(old): "game 1: saved game of version 7",
        gzip.compress(one + lost): r"game 2 \(seed PKXK3L4T\) is over, lost",
        save_state(won[0]): "is over, won",
        b"seed ABC": "not a saved game",
    }
    for data, words in bad.items():
        file.write_bytes(data)
        with pytest.raises(BadStarts, match=words):
            read_starts(file)
    with pytest.raises(BadStarts, match=r"cannot read .*the file does not exist"):
        read_starts(tmp_path / "nowhere.states")
    for text in ("ante", "ante=x", "boss=3"):
        with pytest.raises(BadStarts, match="is not a position"):
            Mark.read(text)


def test_the_command_writes_and_the_table_begins_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import tyro

    from ante.cli.games.play import Play
    from ante.cli.games.replay import SaveStates
    from ante.env.text import seed_of
    from ante.errors import BalatroError

    out = tmp_path / "late.states"
    arguments = [str(GAME), "--at", "ante=2", "--at", "decision=5", "--out", str(out)]
    assert tyro.cli(SaveStates, args=arguments).run() == 0
    assert capsys.readouterr().out == f"{out}: 2 positions from 1 replays\n"
    assert [int(s.ante) for s in read_starts(out)] == [1, 2]
    begun = Play(start_states=out, start=2).session().s
    assert (int(begun.ante), seed_of(begun)) == (2, "PKXK3L4T")
    with pytest.raises(BalatroError, match="contains games 1 to 2"):
        Play(start_states=out, start=3).session()
    with pytest.raises(BadStarts, match="none of 1 replays reaches ante=40"):
        SaveStates((GAME,), out, ("ante=40",)).run()


def test_training_games_begin_from_the_saved_ones(tmp_path: Path) -> None:
    """All saved games are used, repeatedly and evenly; the first row of each contains the saved game's observation."""
    pytest.importorskip("torch")
    from tests.training.learning.test_updates import made

    found = saved("ante=2", "decision=1", "decision=3")[1]
    assert len(found) == 3
    file = tmp_path / "some.states"
    write_starts(file, found)
    runner, _ = made(
        **{
            "resources.games_per_runner": 8,
            "algo.batch": 400,
            "algo.minibatch": 100,
            "games.max_decisions": 11,
            "games.start_states": str(file),
        },
    )
    begun, choose = [], runner._choose

    def watch(rows: Any, hooks: Any) -> Any:
        games = runner.games
        for i in np.flatnonzero(games.steps == 0):
            begun.append((octets(games.states[i]), rows[i : i + 1].view(np.uint8).tobytes()))
        return choose(rows, hooks)

    runner._choose = watch
    runner.sample()
    runner.sample()
    alone = Games(3, discrete=True, reorder="none")
    alone.reset()
    stand(alone, np.arange(3), read_starts(file))
    rows = np.zeros(3, dtype=runner.module.row_t)
    runner.module.pack(alone, rows)
    wanted = {(octets(s[0]), rows[k : k + 1].view(np.uint8).tobytes()) for k, s in enumerate(found)}
    assert set(begun) == wanted and len(begun) > 60
    assert min(begun.count(each) for each in wanted) > 10
    again, _ = made(
        **{
            "resources.games_per_runner": 8,
            "algo.batch": 400,
            "algo.minibatch": 100,
            "games.max_decisions": 11,
            "games.start_states": str(file),
        },
    )
    assert again.games is not None
    again.deal()
    assert [octets(s) for s in again.games.states] == [state for state, _ in begun[:8]], "equal seeds, equal starts"


def test_start_states_are_refused_where_nothing_reads_them() -> None:
    pytest.importorskip("torch")
    from ante.training.settings.config import BadConfig, make_config

    for settings in ({"algo.kind": "rllib-ppo"}, {"games.curriculum": [{"goal": 1}]}, {"algo.kind": "sb3-dqn"}):
        with pytest.raises(BadConfig, match="start_states"):
            make_config({"games.start_states": "x.states", **settings})
