"""The command as a user meets it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ante.cli import parse_line
from ante.errors import BalatroError


def ante(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "ante.cli", *words], input=stdin, capture_output=True, text=True)


@pytest.mark.parametrize("command", ["train", "eval", "play", "seed", "warmup", "bench", "fuzz", "doctor"])
def test_help_of_each_command_shows_an_example(command: str) -> None:
    result = ante(command, "--help")
    assert result.returncode == 0
    assert f"ante {command}" in result.stdout


def test_an_unknown_deck_is_one_sentence_with_the_nearest_name() -> None:
    result = ante("seed", "TESTSEED", "--deck", "b_gost")
    assert result.returncode == 2
    assert result.stderr == "ante: there is no deck 'b_gost': did you mean b_ghost?\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [(["TEST SEED!"], "is not a game seed"), (["A", "--stake", "9"], "stakes go from 1"), ([""], "is not a game seed")],
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


def test_a_bad_line_names_itself() -> None:
    with pytest.raises(BalatroError, match=r"line 3 is 'A b_red x'"):
        parse_line("A b_red x", 3)


def test_rules_table_has_a_row_for_every_item() -> None:
    rows = json.loads(ante("doctor", "--rules", "--json").stdout)
    assert len(rows) == 150 + 52 + 32 + 24 + 30 + 15
    assert set(rows[0]) == {"kind", "item", "implemented", "tested", "evidence"}
    assert [row["item"] for row in rows if not row["implemented"]] == []


def test_a_package_that_is_missing_is_named_with_the_way_to_get_it(tmp_path: Path) -> None:
    for module in ("cv2", "tyro"):
        (tmp_path / f"{module}.py").write_text(f"raise ModuleNotFoundError('no', name={module!r})")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "ante.cli", "doctor"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "ante: tyro is not installed: pip install 'ante[cli]'\n")
    (tmp_path / "tyro.py").unlink()
    command = [sys.executable, "-m", "ante.cli", "play", "random", "--video", str(tmp_path / "a.mp4")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "ante: cv2 is not installed: pip install 'ante[watch]'\n")
