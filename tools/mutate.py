"""Mutation testing on a sample: change one expression at a time and check whether a test fails.

    .venv/bin/python -m pip install coverage
    .venv/bin/python tools/mutate.py engine --mutants 300 --seed 1 --out runs/mutants/engine.jsonl

Linux, Python 3.11. The code runs in a copy of `src/`, uncompiled if it can be compiled. The tests of the area run once
under coverage, which records the tests that reach each line. Each mutant then runs a few of the tests of its line, in a
fork of a process that has imported the libraries, until one fails; if none does, it runs more of them. A mutant that no
test reaches or kills is a survivor; tests that exceed the time limit count as a kill.

The output has one JSON line per mutant, and a repeated command resumes after the last one. `--report` prints the score
and the survivors. `--again TEST ...` runs the survivors again with these tests.
"""

import argparse
import ast
import compileall
import copy
import importlib
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest
from coverage import Coverage

Place = ast.expr | ast.stmt
Seconds = dict[str, float]  # of each test
Reached = dict[str, dict[str, list[int]]]  # file, line, numbers of the tests
Stage = tuple[list[str], float]  # tests, and the limit of their CPU seconds
Result = dict[str, Any]
Results = dict[tuple[str, int], Result]

ROOT = Path(__file__).parents[1]
AREAS = {
    "engine": (
        ["engine"],
        ["tests/engine", "tests/properties", "tests/catalog", "tests/reference", "tests/golden/test_uncompiled.py"],
    ),
    "learning": (["training/learning"], ["tests/training/learning"]),
    "numerics": (["training/numerics"], ["tests/training/numerics", "tests/training/learning/test_replay_buffer.py"]),
}
COMPILED = {"learning"}  # its own code is plain Python, and the code that it calls stays in the compile cache
LEFT_OUT = {"dispatch.py", "boss_dispatch.py", "consumable_dispatch.py", "cuda.py", "cuda_compiler.py"}
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
LIBRARIES = {
    "engine": ["numpy", "numba", "hypothesis", "pydantic", "gymnasium"],
    "learning": ["numpy", "numba", "hypothesis", "pydantic", "gymnasium", "torch", "ray.rllib"],
    "numerics": ["numpy", "numba", "hypothesis", "pydantic", "gymnasium", "torch"],
}
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "PYTHONDONTWRITEBYTECODE": "1",  # a mutant must not leave its compiled file
}
LONGEST = 6.0  # CPU seconds of a test; slower tests are left out
STAGES = ((30, 6.0), (400, 20.0))  # most tests per mutant, and most CPU seconds of these tests under coverage


def changed(node: ast.AST) -> Place | None:
    """Return a mutated copy of an expression or statement, or None for nodes that are not mutated."""
    new: Any = copy.copy(node)
    match new:
        case ast.Compare(ops=[op]) if type(op) in COMPARISONS:
            new.ops = [COMPARISONS[type(op)]()]
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in ARITHMETIC:
            new.op = ARITHMETIC[type(op)]()
        case ast.BoolOp(op=op):
            new.op = ast.Or() if isinstance(op, ast.And) else ast.And()
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            new = operand
        case ast.Constant(value=bool(value)):
            new.value = not value
        case ast.Constant(value=int(value) | float(value)):
            new.value = value + 1
        case ast.Expr(value=ast.Call()) | ast.Continue() | ast.Break():
            new = ast.Pass()
        case _:
            return None
    return cast(Place, new)


def within(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all nodes inside it; Python 3.11 does not know the positions inside an f-string."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.JoinedStr):
            yield from within(child)


def places(text: str) -> list[Place]:
    """Return all mutable places inside the functions of a file."""
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    nodes = dict.fromkeys(node for each in functions for statement in each.body for node in within(statement))
    return [node for node in nodes if isinstance(node, Place) and changed(node) is not None]


def mutated(text: str, number: int) -> tuple[str, int, str]:
    """Return the text of a file with one place mutated, the line, and the change as text."""
    node = places(text)[number]
    new = changed(node)
    assert new is not None
    data = text.encode()
    lines = data.splitlines(keepends=True)
    begin = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: (node.end_lineno or 1) - 1])) + (node.end_col_offset or 0)
    words = ast.unparse(new)
    inner = f"({words})" if isinstance(new, ast.expr) else words
    result = (data[:begin] + inner.encode() + data[end:]).decode()
    return result, node.lineno, f"{data[begin:end].decode()} -> {words}"


def prepare(area: str, scratch: Path) -> Path:
    """Copy the package, make the copy the one that tests import, import the libraries of the tests; return the copy."""
    source = Path(shutil.copytree(ROOT / "src", scratch / "src", ignore=shutil.ignore_patterns("__pycache__")))
    compileall.compile_dir(source, quiet=1)
    os.environ |= {**ENVIRONMENT, "NUMBA_DISABLE_JIT": str(int(area not in COMPILED)), "PYTHONPATH": str(source)}
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(source))
    os.chdir(ROOT)
    for name in LIBRARIES[area]:
        importlib.import_module(name)
    settings = importlib.import_module("hypothesis").settings
    settings.register_profile("mutants", database=None, derandomize=True, deadline=None)
    settings.load_profile("mutants")
    return source


def forked(work: Callable[..., Any], *args: Any, limit: float = 0.0) -> Any:
    """Return the result of `work` in a child process, or None if it crashes or exceeds a limit of CPU seconds."""
    receive, send = multiprocessing.Pipe(duplex=False)

    def child() -> None:
        os.setpgrp()
        if limit:
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 2))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        send.send(work(*args))

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    send.close()
    try:
        return receive.recv() if receive.poll(10 * limit or None) else None
    except EOFError:
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid or 0, signal.SIGKILL)
        process.join()


class Recorder:
    """A plugin that records the lines, the seconds and the result of each test."""

    def __init__(self, coverage: Coverage) -> None:
        self.coverage = coverage
        self.seconds: Seconds = {}
        self.without: dict[str, str] = {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Attribute the lines reached to this test, and skip the rest of it at the time limit."""
        self.coverage.switch_context(item.nodeid)
        begin = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, LONGEST)
        yield
        signal.setitimer(signal.ITIMER_PROF, 0)
        self.seconds[item.nodeid] = time.process_time() - begin

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the names of tests that fail or do not finish."""
        if not report.passed:
            self.without[report.nodeid] = report.outcome


def too_slow(*_: object) -> None:
    """Skip the rest of the current test."""
    pytest.skip("too slow for mutants")


def recorded(area: str, source: Path) -> tuple[Seconds, Reached, dict[str, str]]:
    """Run all tests of an area; return the seconds of each, the tests of each line, and the tests that do not pass."""
    sys.dont_write_bytecode = False
    signal.signal(signal.SIGPROF, too_slow)
    coverage = Coverage(data_file=None, source=[str(source / "ante" / part) for part in AREAS[area][0]])
    recorder = Recorder(coverage)
    coverage.start()
    pytest.main(["-q", "-p", "no:cacheprovider", *AREAS[area][1]], plugins=[recorder])
    coverage.stop()
    seconds = {test: taken for test, taken in recorder.seconds.items() if test not in recorder.without}
    numbers = {test: number for number, test in enumerate(seconds)}
    data, found = coverage.get_data(), {}
    for name in data.measured_files():
        lines = data.contexts_by_lineno(name).items()  # the context "" is an import, which concerns every test
        found[str(Path(name).relative_to(source.resolve()))] = {
            str(line): sorted(numbers[test] for test in (numbers if "" in tests else tests) if test in numbers)
            for line, tests in lines
        }
    return seconds, found, recorder.without


def chosen(seconds: Mapping[str, float], most: int, budget: float) -> list[str]:
    """Return at most `most` quick tests out of many files and functions, within a budget of seconds, quickest first."""
    order = sorted(seconds, key=lambda test: (seconds[test], test))
    for group in ("[", "::"):  # the first test of each function, then the second ones; likewise of each file
        seen: Counter[str] = Counter()
        turn = {}
        for test in order:
            name = test.partition(group)[0]
            turn[test] = seen[name]
            seen[name] += 1
        order.sort(key=lambda test: turn[test])
    total, found = 0.0, []
    for test in order:
        if len(found) < most and (not found or total + seconds[test] <= budget):
            found.append(test)
            total += seconds[test]
    return sorted(found, key=lambda test: seconds[test])


class Failure:
    """A plugin that keeps the first test that fails."""

    test = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the name of a test that fails."""
        self.test = self.test or (report.nodeid if report.failed else "")


def first_failure(tests: list[str]) -> str:
    """Return the first test that fails, or an empty string."""
    failure = Failure()
    code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", *tests], plugins=[failure])
    return failure.test or ("" if code in (0, 5) else f"exit status {int(code)}")


def stages(seconds: Seconds) -> Iterator[Stage]:
    """Yield the tests to run on a mutant, few and then more of those with these seconds."""
    run: set[str] = set()
    for most, budget in STAGES:
        if tests := [test for test in chosen(seconds, most, budget) if test not in run]:
            run.update(tests)
            yield tests, LONGEST + 2 * sum(seconds[test] for test in tests)


def judge(name: str, number: int, work: Iterable[Stage], source: Path) -> Result:
    """Return the result of one mutant in these stages, with `source` as a scratch copy of `src/`."""
    file, copied = ROOT / "src" / name, source / name
    text, line, change = mutated(file.read_text(), number)
    end, by, run = "not reached", "", 0
    copied.write_text(text)
    for tests, limit in work:
        failure = forked(first_failure, tests, limit=limit)
        by = f"no result in {limit:.0f} s" if failure is None else failure
        end, run = "killed" if by else "survived", run + len(tests)
        if by:
            break
    shutil.copy2(file, copied)
    return {"file": name, "number": number, "line": line, "change": change, "end": end, "tests": run, "by": by}


def sample(area: str, count: int, seed: int) -> list[tuple[str, int]]:
    """Return the file and number of `count` places, drawn uniformly over all of the area."""
    source = ROOT / "src"
    files = sorted(file for part in AREAS[area][0] for file in (source / "ante" / part).rglob("*.py"))
    found = [
        (str(file.relative_to(source)), number)
        for file in files
        if file.name not in LEFT_OUT
        for number in range(len(places(file.read_text())))
    ]
    return random.Random(seed).sample(found, min(count, len(found)))


def show(results: list[Result]) -> None:
    """Print the score and the survivors."""
    killed = sum(each["end"] == "killed" for each in results)
    print(f"{killed} of {len(results)} mutants killed ({killed / max(1, len(results)):.1%})")
    for each in sorted(results, key=lambda r: (r["file"], r["line"])):
        if each["end"] != "killed":
            print(f"  {each['end']:12} {each['file']}:{each['line']}  {each['change']}")


def baseline(area: str, source: Path, file: Path) -> tuple[Seconds, Reached]:
    """Return the seconds of each test and the tests of each line, from a file if it exists."""
    if not file.is_file():
        found = forked(recorded, area, source)
        if found is None:
            sys.exit("the tests crash before any mutation")
        if failed := [test for test, outcome in found[2].items() if outcome == "failed"]:
            print("left out, as they fail before any mutation:", *failed, sep="\n  ", file=sys.stderr)
        file.write_text(json.dumps(found))
    seconds, reached, _ = json.loads(file.read_text())
    return seconds, reached


def main() -> None:
    """Draw the mutants, test those without a result, and print the score."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("area", choices=AREAS)
    parser.add_argument("--mutants", type=int, default=400, help="number of mutants to draw")
    parser.add_argument("--seed", type=int, default=1, help="seed of the draw")
    parser.add_argument("--out", type=Path, default=Path("runs/mutants.jsonl"), help="results, one line per mutant")
    parser.add_argument("--report", action="store_true", help="print the score of --out and stop")
    parser.add_argument("--again", nargs="+", default=[], metavar="TEST", help="run the survivors again in these tests")
    options = parser.parse_args()
    lines = options.out.read_text().splitlines() if options.out.is_file() else []
    done = {(each["file"], each["number"]): each for each in map(json.loads, lines)}
    if not options.report:
        out = options.out.resolve()
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch, out.open("a") as file:
            source = prepare(options.area, Path(scratch))
            work = again(done, options.again, source) if options.again else fresh(options, done, source, out)
            for at, result in enumerate(work, 1):
                done[result["file"], result["number"]] = result
                file.write(json.dumps(result) + "\n")
                file.flush()
                print(at, *(result[key] for key in ("end", "file", "line", "change", "by")), flush=True)
    show(list(done.values()))


def fresh(options: argparse.Namespace, done: Results, source: Path, out: Path) -> Iterator[Result]:
    """Yield the results of the mutants of the sample that have none."""
    seconds, reached = baseline(options.area, source, out.with_name(f"{options.area}-tests.json"))
    names = list(seconds)
    for name, number in sample(options.area, options.mutants, options.seed):
        if (name, number) not in done:
            line = places((ROOT / "src" / name).read_text())[number].lineno
            tests = [names[at] for at in reached.get(name, {}).get(str(line), ())]
            yield judge(name, number, stages({test: seconds[test] for test in tests}), source)


def again(done: Results, tests: list[str], source: Path) -> Iterator[Result]:
    """Yield the results of the survivors in other tests."""
    if failure := forked(first_failure, tests):
        sys.exit(f"fails before any mutation: {failure}")
    for (name, number), result in list(done.items()):
        if result["end"] != "killed":
            yield judge(name, number, [(tests, 10 * LONGEST)], source)


if __name__ == "__main__":
    main()
