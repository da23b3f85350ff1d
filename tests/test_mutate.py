"""Mutation testing: which expressions change, which tests a mutant runs, and its result."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tools import mutate

CODE = '''"""An é before the places: positions count bytes."""
LIMIT = 3


class Wallet:
    def pay(self, price: int) -> str:
        def enough() -> bool:
            return price <= self.money and not self.closed  # é

        if enough():
            self.take(price)
        return f"{price + 1} of {self.money}" + "é" * 2
'''
MUTANTS = [
    (8, "price <= self.money and not self.closed -> price <= self.money or not self.closed"),
    (8, "price <= self.money -> price < self.money"),
    (8, "not self.closed -> self.closed"),
    (11, "self.take(price) -> pass"),
    (12, "f\"{price + 1} of {self.money}\" + \"é\" * 2 -> f'{price + 1} of {self.money}' - 'é' * 2"),
    (12, "\"é\" * 2 -> 'é' + 2"),
    (12, "2 -> 3"),
]


def test_each_place_inside_a_function_changes_once() -> None:
    found = [mutate.mutated(CODE, number) for number in range(len(mutate.places(CODE)))]
    assert sorted((line, change) for _, line, change in found) == sorted(MUTANTS)
    for text, line, change in found:
        before, _, after = change.partition(" -> ")
        words = after if after == "pass" else f"({after})"
        lines = CODE.splitlines()
        lines[line - 1] = lines[line - 1].replace(before, words)
        assert text.splitlines() == lines


def test_quick_tests_of_many_functions_and_files_are_chosen() -> None:
    seconds = {"a.py::one[1]": 0.1, "a.py::one[2]": 0.1, "a.py::two": 0.5, "b.py::three": 1.0, "b.py::slow": 9.0}
    assert mutate.chosen(seconds, 3, 6.0) == ["a.py::one[1]", "a.py::two", "b.py::three"]
    assert mutate.chosen(seconds, 9, 6.0) == ["a.py::one[1]", "a.py::one[2]", "a.py::two", "b.py::three"]
    assert mutate.chosen({"a.py::slow": 9.0}, 9, 6.0) == ["a.py::slow"]
    first, second = mutate.stages({f"a.py::test{number}": 1.0 for number in range(9)})
    assert (len(first[0]), len(second[0]), set(first[0]) & set(second[0])) == (6, 3, set())


def test_work_in_a_fork_returns_its_result_or_nothing_after_a_crash_or_a_limit() -> None:
    assert mutate.forked(os.getppid) == os.getpid()
    assert mutate.forked(os._exit, 0) is None
    assert mutate.forked(time.sleep, 60, limit=0.01) is None


JUDGE = """
import json, sys
from pathlib import Path
from tools import mutate
mutate.ROOT, source = Path(sys.argv[1]), Path(sys.argv[2])
work = [([sys.argv[3]], 60.0)]
print(json.dumps([mutate.judge("spent.py", number, stages, source) for number, stages in ((0, work), (2, work), (0, []))]))
"""


@pytest.mark.slow
def test_a_mutant_is_killed_by_a_test_that_fails(tmp_path: Path) -> None:
    """The judge forks, so it runs in a new interpreter, without the threads of other tests."""
    package = tmp_path / "src" / "spent.py"
    package.parent.mkdir()
    package.write_text("def left(money: int) -> int:\n    return money - 1 if money >= 0 else 0\n")
    source = Path(shutil.copytree(package.parent, tmp_path / "copy"))
    test = tmp_path / "test_spent.py"
    test.write_text("from spent import left\n\n\ndef test_left():\n    assert left(3) == 2 and left(0) == 0\n")
    paths = {"PYTHONPATH": os.pathsep.join((str(source), str(Path(mutate.__file__).parents[1])))}
    command = [sys.executable, "-c", JUDGE, *map(str, (tmp_path, source, test))]
    environment = {**os.environ, **paths, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
    survivor, killed, untested = json.loads(done.stdout)
    assert (survivor["change"], survivor["end"], survivor["by"]) == ("money >= 0 -> money > 0", "survived", "")
    assert (killed["change"], killed["end"]) == ("money - 1 -> money + 1", "killed")
    assert killed["by"].endswith("::test_left")
    assert untested["end"] == "not reached"
    assert (source / "spent.py").read_text() == package.read_text()
