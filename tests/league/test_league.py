"""Leagues on disk: only missing games are played, stored ones are reused, promotion needs a significant difference."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from ante.agents.baselines import Baseline
from ante.agents.evaluate import evaluate
from ante.agents.seed_lists import evaluation_seeds, validation_seeds
from ante.cli import main
from ante.engine.core.state import Phase
from ante.engine.run import DeckOfChallenge, UnknownChallenge, UnknownDeck, new_run
from ante.engine.step import step
from ante.env.replay import Heading, check_replay, read_replay
from ante.league.folder import STRETCH, BadLeague, Entrant, League, Rules
from ante.league.picture import draw_table
from ante.league.play import TOP, Seat, play_missing
from ante.league.ratings import CENTRE
from ante.league.standing import judge_run, order_of_run, table_of
from ante.recording.games import Recording, record_games

RANDOM, GREEDY = Entrant("random", "random"), Entrant("greedy", "greedy")


def seat(entrant: Entrant) -> Seat:
    return lambda stretch: Baseline(entrant.source, seed=stretch)


@pytest.fixture(scope="module")
def league(tmp_path_factory: pytest.TempPathFactory) -> League:
    found = League.begin(tmp_path_factory.mktemp("league") / "one", Rules(2 * STRETCH))
    for entrant in found.enter([RANDOM, GREEDY]):
        assert play_missing(found, entrant, seat(entrant)) == 2 * STRETCH
    return found


def test_players_added_by_two_processes_at_once_are_all_kept(tmp_path: Path) -> None:
    one = League.begin(tmp_path / "one", Rules(STRETCH))
    other = League(one.folder)
    assert one.enter([RANDOM]) == [RANDOM]
    assert other.enter([GREEDY]) == [GREEDY] and other.enter([RANDOM]) == []
    one.extend(2 * STRETCH)
    assert list(League(one.folder).entrants) == ["random", "greedy"]
    other.enter([Entrant("rules", "rules")])
    assert League(one.folder).rules.games == 2 * STRETCH


def test_a_league_waits_while_another_process_changes_it(tmp_path: Path) -> None:
    one = League.begin(tmp_path / "one", Rules(STRETCH))
    with ThreadPoolExecutor() as pool:
        with League(one.folder).changing():
            added = pool.submit(one.enter, [RANDOM])
            with pytest.raises(TimeoutError):
                added.result(0.2)
        assert added.result(30) == [RANDOM]
    assert list(League(one.folder).entrants) == ["random"]


@pytest.mark.slow
def test_results_are_those_of_an_evaluation_of_the_same_seeds(league: League) -> None:
    report = evaluate(Baseline("greedy"), validation_seeds()[: 2 * STRETCH])
    found = league.results("greedy")
    assert found.seeds == tuple(validation_seeds()[: 2 * STRETCH])
    for name in ("ante", "blinds", "decisions"):
        assert getattr(found, name).tolist() == [getattr(record, name) for record in report.records]


def test_stored_decisions_play_the_game_again(league: League) -> None:
    table, results = league.table("greedy"), league.results("greedy")
    for i in (0, 57):
        s = new_run(results.seeds[i])
        for action in table["actions"][i].as_py():
            step(s, np.int64(action))
        assert (s.phase == Phase.OVER, int(s.ante)) == (True, results.ante[i])


def test_only_what_is_missing_is_played(league: League, tmp_path: Path) -> None:
    small = League.begin(tmp_path / "small", Rules(STRETCH))
    small.enter([RANDOM])
    asked: list[int] = []

    def watched(stretch: int) -> Baseline:
        asked.append(stretch)
        return Baseline("random", seed=stretch)

    assert play_missing(small, RANDOM, watched) == STRETCH
    assert play_missing(small, RANDOM, watched) == 0
    small.extend(2 * STRETCH)
    assert play_missing(small, RANDOM, watched) == STRETCH
    assert asked == [0, 1]
    again = League(small.folder)
    assert again.rules.games == 2 * STRETCH
    assert again.table("random").equals(league.table("random"))  # in any order of play
    assert again.enter([RANDOM]) == []


def test_a_player_with_games_left_is_named_and_left_out(league: League, tmp_path: Path) -> None:
    half = League.begin(tmp_path / "half", Rules(STRETCH))
    half.enter([RANDOM, GREEDY])
    with pytest.raises(BadLeague, match="no player has played all games"):
        table_of(half)
    play_missing(half, RANDOM, seat(RANDOM))
    table = table_of(half)
    assert ([row.player for row in table.rows], table.partial) == ([RANDOM], ("greedy",))


def test_the_table_puts_the_better_player_first(league: League) -> None:
    table = table_of(league)
    first, last = table.rows
    assert (first.player, last.player) == (GREEDY, RANDOM)
    assert first.elo.low > CENTRE > last.elo.high
    assert first.behind is None and last.behind is not None and last.behind.high < 0
    ahead = (league.results("greedy").reach > league.results("random").reach).mean()
    assert table.shares[0, 1] == pytest.approx(ahead, abs=0.02)
    assert np.allclose(table.shares + table.shares.T + np.eye(2), 1.0)


def test_the_replays_of_the_best_games_are_kept(league: League) -> None:
    results = league.results("greedy")
    kept = {file.stem: file for file in (league.folder / "replays" / "greedy").glob("*.txt")}
    best = sorted(results.reach, reverse=True)[:TOP]
    assert sorted((results.reach[results.seeds.index(seed)] for seed in kept), reverse=True) == best
    for seed, file in kept.items():
        assert check_replay(file.read_text()) is None
        assert read_replay(file.read_text())[0].seed == seed


def imagined(folder: Path, blinds: dict[str, np.ndarray], run: str) -> League:
    """Return a league whose checkpoints have beaten these numbers of blinds."""
    model = next(iter(next(iter(record_games(Baseline("random"), evaluation_seeds(1), Heading(""))))))
    found = League.begin(folder, Rules(STRETCH * (len(next(iter(blinds.values()))) // STRETCH)))
    found.enter(
        Entrant(name, run, (step := name.partition("@")[2].rstrip("!")), run, int(step), name.endswith("!"))
        for name in blinds
    )
    for name, values in blinds.items():
        for stretch in range(len(values) // STRETCH):
            games = []
            for seed, value in zip(found.seeds(stretch), values[stretch * STRETCH :], strict=False):
                record = model.record.__class__(seed, "lost", int(value) // 3 + 1, int(value), 9, 0.0, ())
                games.append(Recording(model.heading, model.actions, record, b""))
            found.store(name, stretch, games)
    return found


def test_a_checkpoint_is_promoted_only_for_a_significant_difference(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    luck = rng.integers(3, 15, 100)
    better, hardly = luck + rng.integers(0, 3, 100), luck + rng.integers(-8, 9, 100)
    sure = judge_run(imagined(tmp_path / "a", {"r@1": luck, "r@2": better}, "runs/r"), "runs/r", "r@1")
    assert sure.promoted and sure.challenger == "r@2" and sure.difference.low > 0
    unsure = judge_run(imagined(tmp_path / "b", {"r@1": luck, "r@2": hardly}, "runs/r"), "runs/r", "r@1")
    assert not unsure.promoted
    many = {"r@1": luck, **{f"r@{i}": better if i == 2 else hardly for i in range(2, 12)}}
    wider = judge_run(imagined(tmp_path / "c", many, "runs/r"), "runs/r", "r@1")
    assert (wider.challengers, wider.challenger) == (10, "r@2")
    assert wider.difference.low < sure.difference.low
    mixed = imagined(tmp_path / "mixed", {"r@1": luck, "r@2": hardly, "r@1!": luck + 5}, "runs/r")
    assert judge_run(mixed, "runs/r", "r@1").challenger == "r@2"  # play of another kind is no other checkpoint
    with pytest.raises(BadLeague, match="r@9, the current best checkpoint, has not played"):
        judge_run(imagined(tmp_path / "d", {"r@1": luck}, "runs/r"), "runs/r", "r@9")


def test_checkpoints_are_ordered_by_training_and_drawn(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    luck = rng.integers(3, 15, 100)
    found = imagined(tmp_path / "a", {f"r@{i}00": luck + i for i in range(1, 5)}, "runs/r")
    report = order_of_run(found, "runs/r")
    assert report.players == ("r@100", "r@200", "r@300", "r@400")
    assert report.tau.value == report.tau.low == 1.0
    assert report.shared == 10
    picture = draw_table(table_of(found), tmp_path / "league.png")
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    with pytest.raises(BadLeague, match="an order needs 3"):
        order_of_run(found, "runs/other")


def test_invalid_leagues_are_refused(league: League, tmp_path: Path) -> None:
    with pytest.raises(BadLeague, match="no league in"):
        League(tmp_path)
    for games in (0, 30, 1050):
        with pytest.raises(BadLeague, match="must be a multiple of 50"):
            League.begin(tmp_path / "x", Rules(games))
    for rules, error in (
        (Rules(STRETCH, "b_gost"), UnknownDeck),
        (Rules(STRETCH, challenge="omelet"), UnknownChallenge),
        (Rules(STRETCH, "b_blue", challenge="omelette"), DeckOfChallenge),
    ):
        with pytest.raises(error):
            League.begin(tmp_path / "x", rules)
    assert not (tmp_path / "x").exists()
    with pytest.raises(BadLeague, match="cannot have fewer"):
        league.extend(STRETCH)
    with pytest.raises(BadLeague, match="has another player greedy"):
        league.enter([Entrant("greedy", "elsewhere/greedy")])
    with pytest.raises(BadLeague, match="no player 'nobody'"):
        league.table("nobody")
    about = json.loads((league.folder / "league.json").read_text())
    (tmp_path / "league.json").write_text(json.dumps({**about, "engine": "0" * 16}))
    with pytest.raises(BadLeague, match="was played by engine 0000000000000000"):
        League(tmp_path).check_engine()


def test_the_commands_play_once_and_print_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["ante", "league", *words.split()])
        with pytest.raises(SystemExit) as ended:
            main()
        return (int(ended.value.code or 0), *capsys.readouterr())

    folder = tmp_path / "l"
    assert run(f"run {folder} random --games 50")[0] == 0
    files = {file: file.stat().st_mtime_ns for file in (folder / "results").rglob("*.parquet")}
    assert run(f"add {folder} greedy")[0] == 0
    assert all(file.stat().st_mtime_ns == when for file, when in files.items())
    code, out, _ = run(f"table {folder} --json --plot {tmp_path / 'league.png'}")
    found = json.loads(out)
    assert (code, [row["player"]["name"] for row in found["players"]]) == (0, ["greedy", "random"])
    assert (tmp_path / "league.png").exists()
    assert "greedy" in run(f"table {folder} --matrix")[1]
    assert "there is no player 'runs/none'" in run(f"add {folder} runs/none")[2]
    assert "not 3: create another league" in run(f"run {folder} --stake 3")[2]
    assert run(f"table {tmp_path / 'none'}")[0] == 2
