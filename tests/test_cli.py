"""The command line, as a user calls it."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from ante.cli import Command, main
from ante.cli.checks.bench import Bench
from ante.cli.games.seeds import parse_line
from ante.errors import BalatroError
from ante.files import Unwritable, check_output_file, check_output_folder

ROOT = Path(__file__).resolve().parents[1]
RECORDED = Path(__file__).parent / "golden" / "replays" / "greedy-b_red-1-PKXK3L4T.txt"
Inside = Callable[..., tuple[int, str, str]]


def ante(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "ante.cli", *words], input=stdin, capture_output=True, text=True)


@pytest.mark.parametrize(
    "command",
    [
        "train",
        "eval",
        "play",
        "seed",
        "warmup",
        "bench",
        "fuzz",
        "doctor",
        "replay",
        "artifacts",
        "data",
        "league",
        "race",
        "serve",
        "stats",
        "compare",
        "reward",
        "check-env",
        "clone",
        "cluster",
        "images",
        "hints",
        "watch",
        "runs",
    ],
)
def test_help_of_each_command_shows_an_example(command: str, inside: Inside) -> None:
    code, out, _ = inside(command, "--help")
    assert code == 0 and f"ante {command}" in out


def test_help_lists_every_command_in_groups_and_fits_a_terminal() -> None:
    from ante.cli import COMMANDS

    result = ante("--help")
    assert result.returncode == 0 and result.stdout == ante().stdout
    listed = [line.split()[0] for line in result.stdout.splitlines() if re.match(r"  [a-z-]+ +[A-Z]", line)]
    assert listed == list(COMMANDS)
    assert "--tyro-print-completion" in result.stdout
    assert len(result.stdout.splitlines()) < 80 and max(map(len, result.stdout.splitlines())) <= 100


def test_each_part_of_a_benchmark_has_a_line_of_its_own_in_the_help(inside: Inside) -> None:
    lines = [line.split() for line in inside("bench", "--help")[1].splitlines()]
    parts = get_args(get_args(get_type_hints(Bench)["parts"])[0])
    assert len(parts) > 10 and [part for part in parts if not any(line[:1] == [part] for line in lines)] == []


def test_no_help_shows_none_as_a_value_and_none_still_unsets_one() -> None:
    from ante.cli import COMMANDS
    from tests.docs.shell import all_parsers, parse_train

    optional = 0
    for parser in all_parsers().values():
        for action in parser._actions:
            assert "None" not in (action.metavar or ""), action
            optional += "(default: None)" in str(action.help)
    assert optional > 30 and len(all_parsers()) >= len(COMMANDS)
    for words, value in ((["--algo.kl-target", "0.03"], 0.03), (["--algo.kl-target", "None"], None)):
        assert parse_train(["--preset", "jimbot", *words]).algo.kl_target == value


def test_a_command_compiles_missing_code_before_it_begins(inside: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the progress that `ante warmup` shows, also in a command such as `ante eval`."""
    monkeypatch.setattr("ante.cli.when_cold", lambda compile_first: compile_first())
    monkeypatch.setattr("ante.cli.compile_missing", lambda: print("compiling"))
    code, out, _ = inside("replay", "show", str(RECORDED))
    assert code == 0 and out.startswith("compiling\n")


def test_doctor_measures_nothing_before_the_code_is_compiled(inside: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ante.engine.core.compile_cache.is_complete", lambda: False)
    _, out, _ = inside("doctor", "--json")
    assert "the engine is not compiled: run ante warmup first" in out


def test_the_readme_names_every_baseline() -> None:
    text = (ROOT / "README.md").read_text()
    assert {"random", "greedy", "rules"} <= set(re.findall(r"^\| `(\w+)`", text, re.MULTILINE))


def test_what_commands_of_the_documentation_write_is_not_part_of_the_checkout() -> None:
    made = ("data/games.parquet", "models/mine/policy.json", "trace.json", "runs/laptop/metrics.csv")
    done = subprocess.run(["git", "check-ignore", *made], cwd=ROOT, capture_output=True, text=True)
    if done.returncode == 128:
        pytest.skip("not a checkout of git")
    assert done.stdout.split() == list(made)


def test_the_version_is_that_of_the_package() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    result = ante("--version")
    assert (result.returncode, result.stdout) == (0, f"ante {version}\n")


def test_a_misspelt_command_is_one_sentence_with_the_nearest_name() -> None:
    result = ante("traain")
    assert (result.returncode, result.stderr) == (2, "ante: unknown command 'traain': did you mean train?\n")
    assert ante("xyzzy").stderr == "ante: unknown command 'xyzzy': see ante --help\n"


def test_an_unknown_deck_is_one_sentence_with_the_nearest_name() -> None:
    result = ante("seed", "TESTSEED", "--deck", "b_gost")
    assert result.returncode == 2
    assert result.stderr == "ante: unknown deck 'b_gost': did you mean b_ghost?\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["TEST SEED!"], "is not a game seed"),
        (["A", "--stake", "9"], "--stake 9 is out of range"),
        ([""], "is not a game seed"),
    ],
)
def test_bad_seeds_and_stakes_are_refused(words: list[str], message: str) -> None:
    result = ante("seed", *words)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_seed_reads_lines_and_prints_an_object_each() -> None:
    result = ante("seed", "-", "--antes", "1", stdin="TESTSEED\n2K9H9HN b_ghost 8\n")
    first, second = (json.loads(line) for line in result.stdout.splitlines())
    assert (first["seed"], first["deck"], first["stake"]) == ("TESTSEED", "b_red", 1)
    assert (second["seed"], second["deck"], second["stake"], len(second["antes"])) == ("2K9H9HN", "b_ghost", 8, 1)


def test_an_invalid_line_is_named() -> None:
    with pytest.raises(BalatroError, match=r"line 3 is 'A b_red x'"):
        parse_line("A b_red x", 3)


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Inside:
    """Return a function that runs the command in this process and returns exit code, stdout and stderr."""

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ante", *words])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()

    return run


def test_the_table_of_a_seed_shows_names(inside: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    code, table, _ = inside("seed", "TESTSEED", "--antes", "2")
    assert code == 0 and "The Head" in table and "Raised Fist" in table and "Jumbo Standard Pack: 9D, 6S Bonus" in table
    assert not re.search(r"\b[a-z]+_[a-z]", table), "no keys"
    found = json.loads(inside("seed", "TESTSEED", "--antes", "2", "--json")[1])
    assert found["antes"][0]["boss"] == "bl_head"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--algo.kind", "rllib-ppo", "--policy.kind", "entities"],
            "ante: algo.kind rllib-ppo is not supported with policy.kind entities; use policy.kind mlp",
        ),
        (["--lr", "1"], "ante: unknown setting 'lr': did you mean algo.lr?\n"),
        (["--algo.minibatch", "512", "--algo.batch", "256"], "ante: algo.minibatch 512 is larger than algo.batch 256"),
        (["--games.stake", "9"], "games.stake"),
    ],
)
def test_settings_that_exclude_each_other_are_one_sentence(
    inside: Inside, tmp_path: Path, words: list[str], message: str
) -> None:
    code, _, err = inside("train", "--runs", str(tmp_path), *words)
    assert (code, list(tmp_path.iterdir())) == (2, [])
    assert message in err
    assert "Traceback" not in err


def test_replays_are_recorded_shown_and_checked(inside: Inside, tmp_path: Path) -> None:
    file = tmp_path / "game.txt"
    code, out, _ = inside("replay", "record", "greedy", "--seed", "TESTSEED", "-o", str(file))
    assert (code, f"{file}: {file.read_text().splitlines()[-1][4:]}\n") == (0, out)
    assert [other.name for other in tmp_path.iterdir()] == ["game.txt"]
    assert inside("replay", "show", str(file))[1] == file.read_text()
    shown = inside("replay", "show", str(file), "--line", "7")[1]
    assert "choose the blind" in shown
    assert "skipping Small gives Economy Tag" in shown
    code, out, _ = inside("replay", "check", str(file), "--json")
    decisions = int(file.read_text().split()[-2])
    row = {"file": str(file), "decisions": decisions, "equal": True, "line": None, "got": None, "wanted": None}
    assert (code, json.loads(out)) == (0, [row])


def test_decisions_that_search_changed_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    from ante.cli.games.replay import notes_on, print_changes
    from ante.watch.notes import Note

    class Searching:
        """Explains every decision; of the second one, that search changed it."""

        name, discrete, reorder, explained = "searching", False, "none", 0

        def explain(self, games: Any, taken: int) -> Note:
            self.explained += 1
            word = "changed" if self.explained == 2 else "kept"
            return Note(None, (), None, search=f"2 decisions in 9 simulations; {word}: better")

    player = Searching()
    print_changes(notes_on(RECORDED.read_text(), player))
    assert capsys.readouterr().out == "decision 2: 2 decisions in 9 simulations; changed: better\n"
    assert player.explained == int(RECORDED.read_text().split()[-2])


@pytest.mark.slow
def test_notes_of_a_searched_game_stand_beside_its_replay_only(inside: Inside, tmp_path: Path) -> None:
    from ante.watch.notes import read_notes

    record = "replay", "record", "white-stake", "--seed", "TESTSEED", "--likeliest", "-o", str(tmp_path / "game.txt")
    code, out, _ = inside(*record, "--search", "3")
    player, notes = read_notes(tmp_path / "game.notes.json.gz")
    changed = [
        f"decision {number}: {note.search}" for number, note in enumerate(notes, 1) if "; changed: " in note.search
    ]
    assert (code, player) == (0, "white-stake with search 3")
    assert changed and out.splitlines()[:-1] == changed
    assert inside(*record)[0] == 0
    assert [file.name for file in tmp_path.iterdir()] == ["game.txt"]


def test_a_replay_that_differs_is_named_by_file_and_line(inside: Inside, tmp_path: Path) -> None:
    file = tmp_path / "game.txt"
    file.write_text(RECORDED.read_text().replace("280 of 300", "281 of 300"))
    code, out, _ = inside("replay", "check", str(file))
    assert code == 1
    assert out.startswith(f"{file}:11: differs\n  got    play 1,2,5,6,7 ")
    row = json.loads(inside("replay", "check", str(file), "--json")[1])[0]
    assert (row["equal"], row["line"]) == (False, 11)
    assert "281 of 300" in row["wanted"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["check", "none.txt"], "cannot read none.txt"),
        (["check"], "no replay was given"),
        (["show", __file__], "should be 'ante replay 1'"),
        (["show", str(RECORDED), "--line", "0"], "--line 0 is out of range"),
        (["record", "greedy", "--seed", "A", "-o", "no/such/folder/game.txt"], "give a file in an existing folder"),
        (["record", "nobody", "--seed", "A"], "there is no player 'nobody'"),
        (["record", "greedy", "--seed", "?!"], "is not a game seed"),
    ],
)
def test_bad_replay_commands_are_one_sentence(inside: Inside, words: list[str], message: str) -> None:
    code, out, error = inside("replay", *words)
    assert (code, out) == (2, "")
    assert error.startswith("ante: ")
    assert message in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize(
    "words",
    [
        ["eval", "greedy", "--out", "OUT"],
        ["play", "greedy", "--video", "OUT"],
        ["bench", "engine", "--out", "OUT"],
        ["bench", "strength", "--out", "OUT"],
        ["bench", "bus", "--out", "OUT"],
        ["hints", "effect", "--out", "OUT"],
        ["stats", "greedy", "--plot", "OUT"],
        ["league", "table", "none", "--plot", "OUT"],
        ["doctor", "--save", "OUT"],
        ["profile", "--trace", "OUT"],
        ["compare", "--out", "OUT"],
        ["data", "export", "greedy", "--out", "OUT"],
        ["know", "measure", "--out", "OUT"],
    ],
    ids=" ".join,
)
def test_an_output_below_a_file_is_refused_before_the_work(inside: Inside, tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "file").touch()
    code, out, error = inside(*(str(tmp_path / "file" / "result") if word == "OUT" else word for word in words))
    assert (code, out) == (2, "") and len(error.splitlines()) == 1
    assert re.match(r"ante: cannot write (to )?/.*; give (another folder|a file in an existing folder)$", error)


def test_an_output_file_that_is_a_folder_or_lacks_its_folder_is_refused(inside: Inside, tmp_path: Path) -> None:
    for out, cause in ((tmp_path, "it exists and is not a file"), (tmp_path / "no" / "x.json", "there is no folder")):
        code, _, error = inside("eval", "greedy", "--out", str(out))
        assert code == 2 and f"cannot write {out}: {cause}" in error


def test_an_output_without_permission_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ante.files.os.access", lambda place, mode: place != tmp_path)  # tests may run as root
    with pytest.raises(Unwritable, match=f"no permission to write in {tmp_path}; give another folder"):
        check_output_file(tmp_path / "a.json")
    with pytest.raises(Unwritable, match="no permission"):
        check_output_folder(tmp_path / "new" / "folder")


def commands_of(kind: Any) -> Iterator[type]:
    """Yield the classes of all commands and subcommands in a type."""
    if isinstance(kind, type) and is_dataclass(kind):
        yield kind
        for inner in get_type_hints(kind, include_extras=True).values():
            yield from commands_of(inner)
    for inner in get_args(kind):
        yield from commands_of(inner)


def test_every_option_for_results_is_checked_before_the_work() -> None:
    by_its_parts = {"Bench.out"}  # a file or a folder
    unchecked = {
        f"{command.__name__}.{name}"
        for command in commands_of(Command)
        for name, kind in get_type_hints(command, include_extras=True).items()
        if name in ("out", "save", "plot", "video", "trace")
        and not re.search(r"check_(output_(file|folder)|picture_file)", repr(kind))
    }
    assert unchecked == by_its_parts


def test_players_are_compared_on_the_same_games(inside: Inside, tmp_path: Path) -> None:
    file = tmp_path / "two.json"
    code, out, _ = inside("eval", "random", "greedy", "--games", "6", "--save", str(file))
    assert code == 0
    assert "6 games, b_red, stake 1" in out and "blinds beaten by those who played them" in out
    two = json.loads(file.read_text())
    assert [report["player"] for report in two] == ["random", "greedy"]
    assert len({tuple(record["seed"] for record in report["records"]) for report in two}) == 1
    alone = json.loads(inside("eval", "greedy", "--games", "6", "--json")[1])
    assert alone == two[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["random", "--panel", "--games", "5"], "leave out --games, or leave out --panel"),
        (["random", "--panel", "--stake", "3"], "leave out --stake"),
        (["random", "nobody"], "there is no player 'nobody'"),
        ([], "no player was given"),
    ],
)
def test_bad_evaluations_are_one_sentence(inside: Inside, words: list[str], message: str) -> None:
    code, out, error = inside("eval", *words)
    assert (code, out) == (2, "")
    assert message in error


def test_every_item_of_the_game_is_implemented_and_has_a_test_that_bears_its_name() -> None:
    rows = json.loads(ante("doctor", "--rules", "--json").stdout)
    counts = {
        **{"joker": 150, "tarot": 22, "planet": 12, "spectral": 18, "voucher": 32, "tag": 24, "blind": 30, "deck": 15},
        **{
            "stake": 8,
            "enhancement": 8,
            "edition": 4,
            "seal": 4,
            "sticker": 4,
            "challenge": 20,
            "pack": 15,
            "hand": 12,
        },
    }
    assert Counter(row["kind"] for row in rows) == counts
    assert set(rows[0]) == {"kind", "item", "implemented", "tested", "evidence", "recorded"}
    assert [row["item"] for row in rows if not row["implemented"]] == []
    assert [row["item"] for row in rows if row["tested"] != "yes" or not row["evidence"]] == []


@pytest.mark.slow
def test_the_rules_are_shown_as_a_table() -> None:
    environment = {**os.environ, "COLUMNS": "300"}
    command = [sys.executable, "-m", "ante.cli", "doctor", "--rules"]
    shown = subprocess.run(command, env=environment, capture_output=True, text=True).stdout
    (egg,) = (line for line in shown.splitlines() if " j_egg " in line)
    for words in (
        "engine/jokers/money.py",
        "yes",
        "tests/engine/jokers/test_money.py::test_egg_gains_3_of_sell_value",
    ):
        assert words in egg


def test_a_package_that_is_missing_is_named_with_the_way_to_get_it(tmp_path: Path) -> None:
    for module in ("cv2", "tyro"):
        (tmp_path / f"{module}.py").write_text(f"raise ModuleNotFoundError('no', name={module!r})")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "ante.cli", "doctor"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "ante: tyro is not installed: pip install 'ante-balatro[cli]'\n")
    (tmp_path / "tyro.py").unlink()
    command = [sys.executable, "-m", "ante.cli", "play", "random", "--video", str(tmp_path / "a.mp4")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "ante: cv2 is not installed: pip install 'ante-balatro[watch]'\n")


def test_a_closed_pipe_ends_a_command_silently() -> None:
    """As with `ante --help | head -1`."""
    command = subprocess.Popen(
        [sys.executable, "-m", "ante.cli", "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert command.stdout is not None and command.stderr is not None
    command.stdout.close()
    assert command.stderr.read() == b""
    assert command.wait(60) == 141
