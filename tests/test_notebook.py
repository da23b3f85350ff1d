"""`from ante import ...` in notebooks: fast imports, the commands' models, results with rich display."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import ante
from ante.errors import BalatroError
from ante.notebook import game_seeds
from ante.training.settings.config import make_config
from tests.watch.made import make_run

fast = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


def test_importing_ante_imports_nothing_that_plays_or_learns() -> None:
    heavy = ("numba", "gymnasium", "pydantic", "torch", "ray", "pandas")
    done = python(f"import sys, ante; ante.__version__; print([name for name in {heavy} if name in sys.modules])")
    assert done.stdout == "[]\n", done.stderr


def test_asking_for_train_starts_neither_ray_nor_torch() -> None:
    done = python(
        "import sys; from ante import train, evaluate, TrainConfig;"
        "print([name for name in ('torch', 'ray') if name in sys.modules])"
    )
    assert done.stdout == "[]\n", done.stderr


def test_other_names_are_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'fly'"):
        _ = ante.fly
    assert {"train", "evaluate", "TrainConfig"} <= set(dir(ante))


def test_what_is_not_installed_is_named_with_its_extra() -> None:
    done = python("import sys; sys.modules['pydantic'] = None\nfrom ante import train")
    assert "NotInstalled: pydantic is not installed: pip install 'ante-balatro[cli]'" in done.stderr


@pytest.mark.slow
@fast
def test_players_are_evaluated_as_the_command_does() -> None:
    found = ante.evaluate("greedy", "random", games=6)
    words = [sys.executable, "-m", "ante.cli", "eval", "greedy", "--games", "6", "--json"]
    printed = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    row = found.table.loc["greedy"]
    assert (row.games, row.blinds, row.ante) == (6, printed["mean_blinds"], printed["mean_ante"])
    assert row.ante_high - row.ante == pytest.approx(printed["mean_ante_half_width"])
    assert list(found.games[found.games.player == "greedy"].seed) == [record["seed"] for record in printed["records"]]
    assert len(found.games) == 12
    assert "greedy" in repr(found) and "<table" in found._repr_html_()


@pytest.mark.slow
@fast
def test_a_run_shows_its_numbers_and_curves(tmp_path: Path) -> None:
    make_run(tmp_path / "run", 1)
    run = ante.Run(tmp_path / "run")
    rows = (tmp_path / "run" / "metrics.csv").read_text().splitlines()
    assert len(run.metrics) == len(rows) - 1
    assert list(run.metrics.columns) == rows[0].split(",")
    assert f"{int(run.metrics.steps.iloc[-1]):,} of" in repr(run)
    assert "data:image/png;base64,iVBOR" in run._repr_html_()
    assert not (run.folder / "curves.png").exists(), "showing a run writes nothing, so its folder may be read-only"
    assert run.curves().is_file()


@pytest.mark.parametrize(("games", "played"), [(None, ["A", "B", "C"]), (2, ["A", "B"])])
def test_a_list_of_seeds_is_played_whole_unless_games_says_less(games: int | None, played: list[str]) -> None:
    assert game_seeds(games, ["a", "B", "C"]) == played
    assert len(game_seeds(games, None)) == (games or 200)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ante.evaluate(), "no player was given"),
        (lambda: ante.evaluate("nobody"), "there is no player 'nobody'"),
        (lambda: ante.evaluate("greedy", games=0), "games=0 is invalid: use a whole number of at least 1"),
        (lambda: ante.evaluate("greedy", games=2.5), "games=2.5 is invalid"),
        (lambda: ante.evaluate("greedy", games=True), "games=True is invalid"),
        (lambda: ante.evaluate("greedy", seeds=[]), "use a file, or a list of one or more game seeds"),
        (lambda: ante.evaluate("greedy", games=3, seeds=["A", "B"]), "games=3 is invalid: seeds has 2"),
        (lambda: ante.evaluate("greedy", seeds=["A", "?"]), "is not a game seed"),
        (lambda: ante.train(stpes=3), "did you mean steps?"),
        (lambda: ante.train("no-such.yaml"), "cannot read no-such.yaml"),
        (lambda: ante.Run("runs/none-such"), "there is no run runs/none-such"),
    ],
)
def test_mistakes_end_in_a_sentence(call: object, words: str) -> None:
    with pytest.raises(BalatroError, match=words.replace("?", r"\?")):
        call()  # type: ignore[operator]


@pytest.mark.ray
@fast
def test_training_answers_a_run_that_the_command_goes_on_with(tmp_path: Path) -> None:
    small = {
        "resources.games_per_runner": 16,
        "algo.batch": 512,
        "algo.minibatch": 256,
        "algo.epochs": 1,
        "policy.hidden": (32,),
        "evaluation.games": 2,
        "resources.memory_gb": 0,
    }
    run = ante.train(make_config({"runs": str(tmp_path), "name": "small", **small}), steps=1000)
    assert run.steps >= 1000 and run.report.is_file() and run.video.is_file()
    assert run.metrics.steps.iloc[-1] == run.steps
    with pytest.raises(BalatroError, match="cannot become"):
        ante.train(run.config, resume=True, algo={"lr": 0.1})
    again = ante.train(run.config, resume=True, steps=run.steps + 500)
    assert again.steps > run.steps - 1 and len(again.metrics) > 2
    assert again.evaluate(games=2).reports[0].games == 2
