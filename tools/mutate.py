"""Mutation testing on a sample: change one expression at a time and check whether a test fails.

    .venv/bin/python -m pip install coverage
    .venv/bin/python tools/mutate.py engine --mutants 400 --seed 1 --out runs/mutants.jsonl

Python 3.11 runs the engine uncompiled (NUMBA_DISABLE_JIT=1). The tests run once under coverage, which records the tests
that reach each line. Each mutant then runs the tests of its line, quickest first, in a copy of `src/` until one fails;
if none does, it runs the slow tests of its area, such as recorded games. A mutant that no test reaches or kills is a
survivor; a test that exceeds the time limit counts as a kill. The output has one JSON line per mutant, and a repeated
command resumes after the last one. `--report` prints the score and the survivors.
"""

import argparse
import ast
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TextIO

from coverage import CoverageData

Place = ast.expr | ast.stmt
Reached = dict[str, dict[int, list[str]]]

ROOT = Path(__file__).parents[1]
AREAS = {
    "engine": (["engine"], ["tests/engine", "tests/properties", "tests/catalog"]),
    "learning": (
        ["training/learning", "training/numerics"],
        ["tests/training/learning", "tests/training/numerics", "tests/training/sampling", "tests/training/policies"],
    ),
}
SLOW = {"engine": ["tests/golden/test_uncompiled.py"], "learning": []}  # for mutants that survive all others
GENERATED = {
    "dispatch.py",
    "boss_dispatch.py",
    "consumable_dispatch.py",
    "cuda.py",
    "cuda_compiler.py",
    "replay_kernels.py",
}
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
SECONDS = 150
TESTS_PER_RUN = 60  # most tests per mutant, the quickest of those that reach its line


def changed(node: ast.AST) -> Place | None:
    """Return a mutated copy of an expression or statement, or None for nodes that are not mutated."""
    new: Any = copy.deepcopy(node)
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
    return ast.copy_location(new, node)


def places(file: Path) -> Iterator[tuple[int, Place]]:
    """Yield the number and the node of all mutable places inside the functions of a file."""
    number = 0
    for function in ast.walk(ast.parse(file.read_text())):
        if isinstance(function, ast.FunctionDef):
            for statement in function.body:
                for node in ast.walk(statement):
                    if isinstance(node, Place) and not isinstance(node, ast.FunctionDef) and changed(node) is not None:
                        yield number, node
                        number += 1


def mutated(file: Path, wanted: int) -> tuple[str, int, str]:
    """Return the text of a file with one place mutated, the line, and the change as text."""
    text = file.read_text()
    node = next(node for number, node in places(file) if number == wanted)
    new = changed(node)
    assert new is not None
    lines = text.encode().splitlines(keepends=True)
    begin = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: (node.end_lineno or 1) - 1])) + (node.end_col_offset or 0)
    words = ast.unparse(new)
    data = text.encode()
    inner = f"({words})" if isinstance(new, ast.expr) else words
    return (
        (data[:begin] + inner.encode() + data[end:]).decode(),
        node.lineno,
        f"{data[begin:end].decode()} -> {words}",
    )


def environment(source: Path) -> dict[str, str]:
    """Return the environment of a run of the tests on the package in `source`, uncompiled."""
    return {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(source), "HYPOTHESIS_SEED": "1"}


def reached(area: str, folder: Path) -> Reached:
    """Return, for each file and line, the tests that reach it, quickest first."""
    database, log = folder / f"{area}.coverage", folder / f"{area}-tests.txt"
    if not log.is_file():
        config = folder / "coveragerc"
        sources = "".join(f"\n    {ROOT / 'src/ante' / part}" for part in AREAS[area][0])  # tracing is slow elsewhere
        config.write_text(f"[run]\ndynamic_context = test_function\nsource ={sources}\ndata_file = {database}\n")
        tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=0", "--durations-min=0", *AREAS[area][1]]
        run = [sys.executable, "-m", "coverage", "run", f"--rcfile={config}", *tests]
        done = subprocess.run(run, cwd=ROOT, env=environment(ROOT / "src"), text=True, capture_output=True)
        if done.returncode:
            sys.exit(f"the tests fail before any mutation:\n{done.stdout[-2000:]}")
        log.write_text(done.stdout)
    seconds = durations(log.read_text())
    data = CoverageData(str(database))
    data.read()
    modules = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts): file for file in (ROOT / "tests").rglob("test_*.py")
    }
    modules |= {file.stem: file for file in modules.values() if not (file.parent / "__init__.py").is_file()}
    found: Reached = {}
    for name in data.measured_files():
        lines = data.contexts_by_lineno(name)
        tests_of = {line: {node_of(each, modules) for each in contexts if each} for line, contexts in lines.items()}
        found[str(Path(name).relative_to(ROOT))] = {
            line: sorted(tests, key=lambda test: (seconds.get(test, 0.0), test)) for line, tests in tests_of.items()
        }
    if not any(found.values()):
        sys.exit(f"{database} records no test: delete it and {log}, then run the command again")
    return found


def node_of(context: str, modules: dict[str, Path]) -> str:
    """Return pytest's id of a coverage context such as `tests.engine.test_cards.test_steel`."""
    module, _, function = context.rpartition(".")
    return f"{modules[module].relative_to(ROOT)}::{function}"


def durations(log: str) -> dict[str, float]:
    """Return the seconds of each test function from pytest's report, summed over its parameters."""
    found: dict[str, float] = {}
    for line in log.splitlines():
        match line.split(None, 2):
            case [seconds, "call" | "setup", test] if seconds.endswith("s"):
                name = test.partition("[")[0]
                found[name] = found.get(name, 0.0) + float(seconds[:-1])
    return found


def judge(file: Path, number: int, tests: dict[int, list[str]], slow: list[str], source: Path) -> dict[str, object]:
    """Return the result of one mutant, with `source` as a scratch copy of `src/`."""
    text, line, change = mutated(file, number)
    chosen = tests.get(line, [])[:TESTS_PER_RUN]
    result: dict[str, object] = {"file": str(file.relative_to(ROOT)), "number": number, "line": line, "change": change}
    copied = source / file.relative_to(ROOT / "src")
    copied.write_text(text)
    try:
        ends = (end_of(each, source) for each in (chosen, slow) if each)
        end = next((end for end in ends if end.startswith("killed")), "survived" if chosen else "not reached")
    finally:
        shutil.copy(file, copied)
    return {**result, "end": end, "tests": len(chosen)}


def end_of(tests: list[str], source: Path) -> str:
    """Return the result of a mutant in these tests."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment(source), text=True, capture_output=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return "killed by the time limit"
    return "survived" if done.returncode in (0, 5) else "killed"


def sample(area: str, count: int, seed: int) -> list[tuple[Path, int]]:
    """Return the file and number of `count` places, drawn uniformly over all of the area."""
    files = sorted(file for part in AREAS[area][0] for file in (ROOT / "src/ante" / part).rglob("*.py"))
    found = [(file, number) for file in files if file.name not in GENERATED for number, _ in places(file)]
    return random.Random(seed).sample(found, min(count, len(found)))


def show(results: list[dict[str, object]]) -> None:
    """Print the score and the survivors."""
    killed = sum(str(each["end"]).startswith("killed") for each in results)
    print(f"{killed} of {len(results)} mutants killed ({killed / max(1, len(results)):.1%})")
    for each in sorted(results, key=lambda r: (str(r["file"]), str(r["line"]))):
        if not str(each["end"]).startswith("killed"):
            print(f"  {each['end']:12} {each['file']}:{each['line']}  {each['change']}")


def main() -> None:
    """Draw the mutants, test those without a result, and print the score."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("area", choices=AREAS)
    parser.add_argument("--mutants", type=int, default=400, help="number of mutants to draw")
    parser.add_argument("--seed", type=int, default=1, help="seed of the draw")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="mutants tested in parallel")
    parser.add_argument("--out", type=Path, default=Path("runs/mutants.jsonl"), help="results, one line per mutant")
    parser.add_argument("--report", action="store_true", help="print the score of --out and stop")
    options = parser.parse_args()
    done = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out.is_file() else []
    if not options.report:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        tests = reached(options.area, options.out.parent.resolve())
        known = {(each["file"], each["number"]) for each in done}
        chosen = sample(options.area, options.mutants, options.seed)
        todo = [(file, n) for file, n in chosen if (str(file.relative_to(ROOT)), n) not in known]
        with tempfile.TemporaryDirectory() as scratch, options.out.open("a") as out:
            done += list(run_all(todo, tests, SLOW[options.area], Path(scratch), options.workers, out))
    show(done)


def run_all(
    todo: list[tuple[Path, int]], tests: Reached, slow: list[str], scratch: Path, workers: int, out: TextIO
) -> Iterator[dict[str, object]]:
    """Yield the results of all mutants, each written to `out` on completion."""
    sources: SimpleQueue[Path] = SimpleQueue()
    for worker in range(workers):
        sources.put(Path(shutil.copytree(ROOT / "src", scratch / str(worker))))

    def one(file: Path, number: int) -> dict[str, object]:
        source = sources.get()
        try:
            return judge(file, number, tests.get(str(file.relative_to(ROOT)), {}), slow, source)
        finally:
            sources.put(source)

    with ThreadPoolExecutor(workers) as pool:
        for at, result in enumerate(pool.map(one, *zip(*todo, strict=True)) if todo else (), 1):
            out.write(json.dumps(result) + "\n")
            out.flush()
            print(
                f"{at}/{len(todo)} {result['end']:12} {result['file']}:{result['line']}  {result['change']}", flush=True
            )
            yield result


if __name__ == "__main__":
    main()
