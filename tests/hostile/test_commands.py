"""Options and paths of the commands: invalid values and missing files give an error message and exit code 2."""

from pathlib import Path

import pytest

from tests.hostile.files import BOMBS, NEVER, WORDS
from tests.hostile.harness import Case, cases, check, command

HUGE, NO_NUMBERS = str(10**30), ("", "x", "1e99", "1,5", "--", "\u0663x", "9" * 5000)
OUTSIDE = {  # for each kind of option: values outside its range
    "count": ("0", "-1", "-3", HUGE),
    "seed of a generator": ("-1", str(2**32), HUGE),
    "stake": ("0", "9", "-1", HUGE),
    "share": ("-0.1", "1.1", "nan", "inf", "1e99"),
    "part": ("0", "1", "nan", "-1"),
    "positive": ("0", "-1", "nan", "inf"),
    "seconds": ("-1", "nan", "inf", "1e99"),
    "port": ("-1", "65536", HUGE),
    "side": ("0", "-1", "7", HUGE),
}
OPTIONS = [  # command, option, kind, words after the value
    ("seed A", "--antes", "count", ""),
    ("seed A", "--stake", "stake", ""),
    ("eval random", "--games", "count", ""),
    ("eval random", "--stake", "stake", ""),
    ("eval random", "--hint-share", "share", ""),
    ("eval random", "--hint-confidence", "share", ""),
    ("play random", "--stake", "stake", ""),
    ("play random", "--delay", "seconds", ""),
    ("play random", "--start", "count", ""),
    ("play random --video x.mp4", "--size", "side", "640"),
    ("fuzz", "--decisions", "count", ""),
    ("fuzz", "--seed", "seed of a generator", ""),
    ("bench engine", "--decisions", "count", ""),
    ("bench engine", "--repeats", "count", ""),
    ("profile", "--iterations", "count", ""),
    ("profile", "--operations", "count", ""),
    ("doctor", "--tolerance", "positive", ""),
    ("check-env", "--stake", "stake", ""),
    ("check-env", "--frame-stack", "count", ""),
    ("check-env", "--pixel-size", "side", "84"),
    ("replay show x.txt", "--line", "count", ""),
    ("replay record greedy --seed A", "--stake", "stake", ""),
    ("replay verify random", "--games", "count", ""),
    ("replay verify random", "--stake", "stake", ""),
    ("replay look x.txt --out x.png", "--line", "count", ""),
    ("replay look x.txt --out x.png", "--pixel-size", "side", "84"),
    ("stats random", "--games", "count", ""),
    ("stats random", "--stake", "stake", ""),
    ("stats random", "--fewest", "count", ""),
    ("watch .", "--port", "port", ""),
    ("watch .", "--hours", "positive", ""),
    ("watch .", "--traces", "seed of a generator", ""),
    ("watch x.txt --video x.mp4", "--size", "side", "640"),
    ("league run x random", "--games", "count", ""),
    ("league run x random", "--stake", "stake", ""),
    ("league run x random", "--workers", "count", ""),
    ("league add x random", "--workers", "count", ""),
    ("data export random --out x", "--games", "count", ""),
    ("data export random --out x", "--seed", "seed of a generator", ""),
    ("data export random --out x", "--stake", "stake", ""),
    ("clone x --out y", "--epochs", "count", ""),
    ("clone x --out y", "--batch", "count", ""),
    ("clone x --out y", "--lr", "positive", ""),
    ("clone x --out y", "--hidden", "count", ""),
    ("clone x --out y", "--held", "part", ""),
    ("clone x --out y", "--seed", "seed of a generator", ""),
    ("compare x.yaml --out y", "--parallel", "count", ""),
    ("reward ablate --out x", "--steps", "count", ""),
    ("reward ablate --out x", "--eval-games", "count", ""),
    ("reward ablate --out x", "--seeds", "seed of a generator", ""),
    ("hints probe", "--asks", "count", ""),
    ("hints effect", "--seeds", "count", ""),
    ("hints effect", "--points", "count", ""),
    ("hints effect", "--games", "count", ""),
    ("hints ask A@0", "--stake", "stake", ""),
    ("track x --to mlflow", "--wait-seconds", "seconds", ""),
    ("artifacts prune x", "--newest", "count", ""),
    ("artifacts prune x", "--days", "positive", ""),
    ("artifacts prune x", "--best", "count", ""),
    ("cluster logs x", "--tail", "count", ""),
    ("cluster dashboard x", "--port", "port", ""),
    ("cluster down x", "--seconds", "seconds", ""),
    ("cluster resume x", "--steps", "count", ""),
    ("race greedy random", "--games", "count", ""),
    ("race greedy random", "--stake", "stake", ""),
    ("calibrate x", "--games", "count", ""),
    ("know joker baron", "--most", "count", ""),
    ("know top", "--most", "count", ""),
    ("know measure --out x", "--each", "count", ""),
    ("know measure --out x", "--bosses", "count", ""),
    ("know measure --out x", "--seeds", "count", ""),
    ("know mine --out x", "--games", "count", ""),
    ("know mine --out x", "--fresh", "count", ""),
    ("know mine --out x", "--each", "count", ""),
    ("live http://127.0.0.1:9", "--games", "count", ""),
    ("live http://127.0.0.1:9", "--stake", "stake", ""),
    ("live http://127.0.0.1:9", "--patience", "seconds", ""),
    ("serve balatrobot", "--port", "port", ""),
    ("serve mcp", "--port", "port", ""),
    ("serve decisions random", "--port", "port", ""),
    ("serve decisions random", "--metrics-port", "port", ""),
    ("bench serve", "--rate", "positive", ""),
    ("bench search", "--games", "count", ""),
]


def option_cases() -> list[Case]:
    """Return each option with each value outside its range, and with each text that is not a number."""
    found = []
    for words, option, kind, after in OPTIONS:
        for value in OUTSIDE[kind]:
            run = command(*words.split(), option, value, *after.split())
            found.append(Case(f"{words} {option} {value[:12]}", run, option if value[:1] != "-" else ""))
        for value in NO_NUMBERS:
            run = command(*words.split(), option, value, *after.split())
            found.append(Case(f"{words} {option} {value[:12]!r}, not a number", run))
    return found


NO_SEEDS = {
    "empty": "",
    "blank": "  ",
    "dotless i": "\u0131ABC",
    "dotted I": "\u0130ABC",
    "sharp s": "\u00df",
    "long s": "\u017fABC",
    "full width": "\uff21\uff22",
    "Kelvin sign": "\u212aABC",
    "Arabic digits": "\u0661\u0662",
    "17 letters": "A" * 17,
    "300 letters": "A" * 300,
    "null byte": "A\\0",
    "newline": "A\nB",
    "escape": "\x1b[2J",
    "surrogate": "\udcff",
    "emoji": "\U0001f0cf",
    "minus": "-5",
    "quote": "'; --",
}
SEED_COMMANDS = ("seed {}", "replay record greedy --seed={}", "play random --seed={} --delay 0", "hints ask {}@3")


def seed_cases() -> list[Case]:
    """Return each command that takes a game's seed, with invalid seeds."""
    found = []
    for words in SEED_COMMANDS:
        for name, seed in NO_SEEDS.items():
            given = [word.replace("{}", seed) for word in words.split()]
            if given == ["seed", "-5"]:
                continue  # parsed as an option
            found.append(Case(f"{words}: {name}", command(*given)))
    return found


NAMES = {
    "empty": "",
    "300 letters": "n" * 300,
    "5000 letters": "n" * 5000,
    "escape": "\x1b]0;x\x07",
    "parent": "../../../../etc/passwd",
    "surrogate": "\udcff",
    "format": "%s{0}%n",
}
NAMED = [
    "eval {}",
    "play {}",
    "stats {}",
    "watch {}",
    "curves {}",
    "clone {} --out y",
    "data stats {}",
    "league table {}",
    "golden check {}",
    "golden check {} {}",
    "replay show {}",
    "replay check {}",
    "replay look {} --out x.png",
    "replay states {} --at ante=2 --out x",
    "replay record {} --seed A",
    "replay record greedy --seed A --deck={}",
    "replay record greedy --seed A --challenge={}",
    "seed A --deck={}",
    "seed A --challenge={}",
    "seed A --locked {}",
    "eval random --seeds={}",
    "eval random --deck={}",
    "play random --start-states={}",
    "play --resume={}",
    "check-env --observation={}",
    "check-env --actions={}",
    "check-env --reward={}",
    "check-env --reorder={}",
    "doctor --against={}",
    "doctor --config={}",
    "profile --config={}",
    "compare --out=x {}",
    "sweep {}",
    "track {} --to mlflow",
    "artifacts ls {}",
    "artifacts queue {}",
    "hints ask {}",
    "data export random --out x --seeds={}",
    "race greedy {}",
    "calibrate {}",
    "know joker {}",
    "know pair baron {}",
    "know recall --list={}",
    "know top --store={}",
    "live http://127.0.0.1:9 --check={}",
    "serve decisions {}",
]
MAY_WORK = ("artifacts ls", "artifacts queue {}: empty", "check-env --reorder={}: empty")


def name_cases() -> list[Case]:
    """Return each command that takes a name or a path, with some that do not exist."""
    found = []
    for words in NAMED:
        for name, value in NAMES.items():
            run = command(*(word.replace("{}", value) for word in words.split()))
            found.append(Case(f"{words}: {name}", run, refused=not f"{words}: {name}".startswith(MAY_WORK)))
    return found


READ = {  # command that reads a file: its message for an invalid file
    "golden check {}/input": "input",
    "replay show {}/input": "input",
    "replay check {}/input": "input",
    "replay look {}/input --out x.png": "input",
    "replay states {}/input --at ante=2 --out x": "input",
    "play random --start-states {}/input": "input",
    "play --resume {}/input": "input",
    "eval random --seeds {}/input": "input",
    "data export {}/input --out x": "",
    "data stats {}/input": "input",
    "league table {}/input": "input",
    "stats {}/input": "",
    "curves {}/input": "",
    "artifacts queue {}/input": "",
    "know recall --list {}/input": "input",
    "know load --store {}/x.lbug --tables {}/input": "input",
    "know load --store {}/x.lbug --wins {}/input": "input",
    "know embed --out {}/x.npz --previous {}/input": "input",
    "know import {}/input --store {}/x.lbug": "input",
    "know top --store {}/input": "input",
}


def file_cases() -> list[Case]:
    """Return each command that reads a file, with each unexpected kind of file."""
    found = []
    for words, says in READ.items():
        for name, make in {**NEVER, **BOMBS}.items():
            if words.startswith("eval") and name in WORDS:
                continue  # valid seeds
            accepted = words.startswith("artifacts queue") and name == "directory"

            def made(folder: Path, make: object = make) -> None:
                make(folder, "input")  # type: ignore[operator]

            found.append(
                Case(
                    f"{words}: {name}",
                    command(*words.split(), make=made),
                    says if "300" not in name else "",
                    not accepted,
                )
            )
    return found


EMPTY = [
    Case("golden check without files", command("golden", "check"), "no file was given"),
    Case("golden check of something else", command("golden", "prove", "x"), "check"),
    Case("replay check without files", command("replay", "check"), "no replay was given"),
    Case("replay states without files", command("replay", "states", "--out", "x"), "give replays"),
    Case(
        "replay states at nothing",
        command("replay", "states", "x", "--at", "ante=x", "--out", "x"),
        "is not a position",
    ),
    Case(
        "replay states at minus", command("replay", "states", "x", "--at", "ante=-1", "--out", "x"), "is not a position"
    ),
    Case(
        "replay states at superscript",
        command("replay", "states", "x", "--at", "ante=\u00b2", "--out", "x"),
        "is not a position",
    ),
    Case("eval without a player", command("eval"), "no player was given"),
    Case("eval of minus three games", command("eval", "random", "--games", "-3"), "--games -3"),
    Case("fuzz of nothing", command("fuzz", "--decisions", "0"), "--decisions 0"),
    Case("seed without antes", command("seed", "A", "--antes", "0"), "--antes 0"),
    Case("data export without a player", command("data", "export", "--out", "x"), "no player"),
    Case("league of nobody", command("league", "run", "x"), "give its players"),
    Case("unknown command", command("sing"), "sing"),
    Case("unknown option", command("eval", "random", "--gmaes", "3"), "gmaes"),
    Case("standard input is empty", command("seed", "-"), "contains no seed"),
    Case("standard input contains no seed", command("seed", "-", stdin="?\n"), "is not a game seed"),
    Case("standard input has a stake 9", command("seed", "-", stdin="A b_red 9\n"), "line 1"),
    Case("standard input has a stake of superscripts", command("seed", "-", stdin="A b_red \u00b2\n"), "line 1"),
    Case("standard input has four words", command("seed", "-", stdin="A b_red 1 x\n"), "line 1"),
    Case("standard input has a long line", command("seed", "-", stdin="A" * 10**6), "longer than"),
    Case("output is a folder", command("eval", "random", "--games", "1", "--out", "{}"), "cannot"),
    Case("output is in no folder", command("eval", "random", "--games", "1", "--out", "{}/no/x"), "cannot"),
    Case(
        "output is a full device", command("replay", "record", "greedy", "--seed", "A", "-o", "/dev/full/x"), "cannot"
    ),
]
CASES = [*EMPTY, *option_cases(), *seed_cases(), *name_cases(), *file_cases()]


@pytest.mark.parametrize("case", cases(CASES, quick=60))
def test_is_refused_in_a_sentence(case: Case, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    check(case, tmp_path, capfd)
