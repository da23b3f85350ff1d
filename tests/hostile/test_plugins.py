"""Classes of other packages that fail at import, at creation or in play end in a sentence, not in an empty table."""

import os
import sys
from pathlib import Path

import pytest

from ante.errors import BalatroError
from ante.plugins import PLAYERS, load
from tests.hostile.harness import Case, cases, check, command

ODD = "tests.hostile.plugins"
PLAYED = {
    "Player": "chose -1, which is illegal",
    "WithArguments": "missing 1 required positional argument",
    "Raises": "RuntimeError: no licence, raised in",
    "Unnamed": "lacks name",
    "NeitherTrueNorFalse": "lacks discrete",
    "ReordersOddly": "choose one of none, jokers, all",
    "RaisesOnAccess": "RuntimeError: not now",
    "ChoosesNothing": "actions=None",
    "ChoosesTooFew": "got shape (1,)",
    "ChoosesFloats": "not float64",
    "ChoosesText": "use whole numbers",
    "ChoosesHuge": "which is illegal",
    "function": "lacks name",
    "number": "lacks name",
    "Nothing": "has no 'Nothing'",
    "Player.nothing": "has no 'Player.nothing'",
}
MODULES = {  # contents of a module in the current folder: text of its error
    "import sys; sys.exit(0)": "SystemExit: 0",
    "1 / 0": "ZeroDivisionError",
    "def (": "SyntaxError",
    "import nothing_of_this_name": "nothing_of_this_name",
    "\0": "null bytes",
    "raise ValueError('a\\nb')": "ValueError: a b",
    "class Player: pass": "lacks name, discrete, reorder, choose",
}
NAMES = ("os:path", "builtins:object", "ante.cli:main", "tests:x", "a b:c", "..:x", "1:2", ":x", "x:", "a:b:c", "\u00e9:x", "x\0:y")  # fmt: skip
CASES = [
    *(Case(f"player {name}", command("eval", f"{ODD}:{name}", "--games", "3"), says) for name, says in PLAYED.items()),
    *(Case(f"name {name!r}", command("eval", name, "--games", "3")) for name in NAMES),
    *(
        Case(
            f"module {number}",
            command("eval", f"odd_module_{number}:Player", "--games", "3", make=lambda folder, n=number, t=text: (folder / f"odd_module_{n}.py").write_text(t)),  # type: ignore[misc]
            says,
        )
        for number, (text, says) in enumerate(MODULES.items())
    ),
]  # fmt: skip


@pytest.fixture(autouse=True)
def path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each] + [os.getcwd()])


@pytest.mark.parametrize("case", cases(CASES))
def test_is_refused_in_a_sentence(case: Case, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    check(case, tmp_path, capfd)


@pytest.mark.parametrize("manifest", ["policy.json", "metadata.json"])
def test_a_module_in_the_folder_of_a_release_is_not_imported(
    manifest: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = f"planted_in_{manifest.partition('.')[0]}"
    (tmp_path / f"{module}.py").write_text("from pathlib import Path\nPath('executed').touch()\nclass X: pass\n")
    (tmp_path / manifest).touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BalatroError, match=f"cannot import '{module}'"):
        load(PLAYERS, f"{module}:X")
    assert not Path("executed").exists()
    (tmp_path / manifest).unlink()
    assert load(PLAYERS, f"{module}:X")
