"""Execution of a comparison's runs, each as an `ante train` process that resumes from its checkpoints.

Finished runs are skipped. A failed run keeps its log and does not stop the others.
"""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ante.errors import BalatroError
from ante.experiments.spec import Cell, Spec
from ante.files import Unreadable, read_json, whole_rows, write_text
from ante.stopping import Stops
from ante.training.run_store.checkpoints import evaluated_steps
from ante.training.settings.config import check_resumed, config_of_run

PLAYERS = "players.json"
LOOK_SECONDS = 0.5
ANTE = (sys.executable, "-m", "ante.cli")


def is_done(cell: Cell, spec: Spec) -> bool:
    """Return whether training and evaluation of the run are complete."""
    steps = evaluated_steps(cell.folder, cell.config.evaluation.games)
    own = spec.seed_file is None or has_games(own_report(cell), spec, cell)
    return steps is not None and steps >= cell.config.steps and own


def own_report(cell: Cell) -> Path:
    """Return the file of a run's evaluation on the comparison's own seeds."""
    return cell.folder / "own-seeds.json"


def has_games(file: Path, spec: Spec, cell: Cell) -> bool:
    """Return whether a file of reports exists, each with all games of the comparison by the rules of this cell."""
    try:
        found = read_json(file)
    except Unreadable:
        return False
    games = cell.config.games
    wanted = (spec.eval_games, games.challenge or games.deck, 1 if games.challenge else games.stake)
    return all(
        isinstance(each, dict) and (each.get("games"), each.get("deck"), each.get("stake")) == wanted
        for each in (found if isinstance(found, list) else [found])
    )


def log_of(cell: Cell) -> Path:
    """Return the log file of a cell's processes."""
    return cell.folder.parent / f"{cell.folder.name}.log"


def config_file(cell: Cell) -> Path:
    """Return the settings file of a cell's process."""
    return cell.folder.parent / f"{cell.folder.name}.yaml"


def check_cells(cells: Sequence[Cell]) -> None:
    """Check that started runs keep their training settings. Raises BadConfig."""
    for cell in cells:
        if any((cell.folder / "checkpoints").glob("*.json")):
            check_resumed(config_of_run(cell.folder), cell.config)


def steps_of(cell: Cell) -> int:
    """Return the environment steps recorded in the metrics."""
    return int(reached(cell, "steps"))


def reached(cell: Cell, column: str) -> float:
    """Return the last value of a column of the metrics, such as steps or seconds; 0 before the first row."""
    try:
        rows = whole_rows(cell.folder / "metrics.csv")
        return float(rows[-1][column]) if rows else 0.0
    except (ValueError, KeyError):  # no metrics yet, or an empty cell
        return 0.0


@dataclass
class Running:
    """A running cell: remaining commands, and the current process."""

    cell: Cell
    left: list[tuple[str, ...]]
    process: subprocess.Popen[bytes] | None = None
    code: int = 0

    def poll(self) -> bool:
        """Start the next command if the last one has ended, and return whether the cell is unfinished."""
        if self.process is not None:
            found = self.process.poll()
            if found is None:
                return True
            self.code, self.process = found, None
        if self.code or not self.left:
            return False
        with log_of(self.cell).open("ab") as log:
            # A separate process group: Ctrl-C reaches the comparison only, which stops each run once.
            self.process = subprocess.Popen(
                self.left.pop(0), stdin=subprocess.DEVNULL, stdout=log, stderr=log, process_group=0
            )
        return True

    def stop(self) -> None:
        """Request the run to stop with a checkpoint."""
        self.left.clear()
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)


@dataclass
class Watched:
    """Callbacks for progress; `after` receives what is done after the last run."""

    begun: Callable[[Cell], None] = field(default=lambda _: None)
    looked: Callable[[Cell, int], None] = field(default=lambda cell, steps: None)
    ended: Callable[[Cell, str], None] = field(default=lambda cell, trouble: None)
    after: Callable[[str], None] = field(default=lambda _: None)


def begin(cell: Cell, spec: Spec) -> Running:
    """Return a cell with all remaining commands; its games on the comparison's own seeds are played again."""
    own_report(cell).unlink(missing_ok=True)
    left = [training(cell)]
    if spec.seed_file:
        seeds = ("--seeds", str(spec.seed_file), "--games", str(spec.eval_games))
        left.append((*ANTE, "eval", str(cell.folder), *seeds, *rules(cell), "--out", str(own_report(cell))))
    return Running(cell, left)


def training(cell: Cell) -> tuple[str, ...]:
    """Write the settings of a cell, and return the command that starts or continues its training."""
    cell.folder.parent.mkdir(parents=True, exist_ok=True)
    write_text(config_file(cell), cell.config.to_yaml())
    return (*ANTE, "train", "--config", str(config_file(cell)), "--resume", "auto")


def rules(cell: Cell) -> tuple[str, ...]:
    """Return the rules of the cell's games as command-line flags."""
    config = cell.config
    if config.games.challenge:
        return ("--challenge", config.games.challenge)
    return ("--deck", config.games.deck, "--stake", str(config.games.stake))


def run_cells(
    cells: Sequence[Cell], spec: Spec, parallel: int, watcher: Watched, stops: Stops | None = None
) -> list[Cell]:
    """Run all cells, `parallel` at a time, and return those that failed.

    stops  if nonempty, all runs stop with a checkpoint and do not count as failed
    """
    waiting = [cell for cell in cells if not is_done(cell, spec)]
    working: list[Running] = []
    failed: list[Cell] = []
    try:
        while waiting or working:
            while waiting and len(working) < parallel and not stops:
                working.append(begin(waiting.pop(0), spec))
                watcher.begun(working[-1].cell)
            stopping = bool(stops)  # read once, so wait() waits only for processes that were stopped
            if stopping:
                waiting.clear()
                for each in working:
                    each.stop()
            for each in [each for each in working if not each.poll()]:
                working.remove(each)
                trouble = "" if stops or is_done(each.cell, spec) else trouble_of(each)
                failed += [each.cell] if trouble else []
                watcher.ended(each.cell, trouble)
            for each in working:
                watcher.looked(each.cell, steps_of(each.cell))
            wait(working, stopping)
    finally:
        for each in working:  # after an error; Ctrl-C does not reach them
            each.stop()
    return failed


def wait(working: Sequence[Running], stopping: bool) -> None:
    """Wait for LOOK_SECONDS, or until all runs have stopped."""
    if stopping:
        for each in working:
            if each.process is not None:
                each.process.wait()
    elif working:
        time.sleep(LOOK_SECONDS)


def trouble_of(running: Running) -> str:
    """Return the exit code and the last line of the log."""
    lines = [line for line in log_of(running.cell).read_text(errors="replace").splitlines() if line.strip()]
    return f"exit code {running.code}: {lines[-1].strip() if lines else 'no output'}"


def play_others(spec: Spec, out: Path, cell: Cell, watcher: Watched, stops: Stops | None = None) -> None:
    """Play the same games with the other players, by the rules of this cell, unless stopped. Raises BalatroError."""
    if not spec.players or has_games(out / PLAYERS, spec, cell):
        return
    watcher.after(f"playing {spec.eval_games} games with {', '.join(spec.players)}")
    seeds = ("--seeds", str(spec.seed_file)) if spec.seed_file else ()
    words = (*ANTE, "eval", *spec.players, "--games", str(spec.eval_games), *seeds, *rules(cell))
    done = subprocess.run(
        (*words, "--out", str(out / PLAYERS)), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode and not stops:
        raise BalatroError(f"playing the other players failed: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
