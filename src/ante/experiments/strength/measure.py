"""Measures time to strength: trains each seed to the last milestone, then plays games with its checkpoints.

Training is an `ante train` process by itself, because its time is measured; no games are played meanwhile. Its clock is
the column `seconds` of metrics.csv, which counts sampling and learning without checkpoints and evaluations.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ante.agents.evaluate import evaluate
from ante.agents.releases import WHITE_STAKE, policy_folder
from ante.agents.seed_lists import strength_seeds
from ante.errors import BalatroError
from ante.experiments.running import LOOK_SECONDS, Running, check_cells, log_of, reached, training, trouble_of
from ante.experiments.spec import Cell
from ante.experiments.strength.plan import Plan, keep_plan
from ante.experiments.strength.records import REFERENCE, Record, append_record, find, packed_wins, read_records
from ante.experiments.strength.results import StrengthResults, results_of
from ante.files import Unreadable, read_object
from ante.stopping import Stops
from ante.training.players.release import ABOUT, digest_of_weights, player_from
from ante.training.run_store.checkpoints import intact_checkpoints
from ante.training.run_store.manifest import read_manifest
from ante.training.sampling.games import rules

Bar = Callable[[int, str], AbstractContextManager[Callable[[int], None]]]
Say = Callable[[str], None]


class NotTrained(BalatroError, RuntimeError):
    """The training of a seed failed."""


@dataclass(frozen=True)
class Display:
    """How progress is shown.

    bar   returns a context manager that yields a function to advance a bar: (total, text)
    say   prints a line
    """

    bar: Bar
    say: Say


@dataclass(frozen=True)
class Milestone:
    """The checkpoint at a milestone, and its training time."""

    minutes: float
    seconds: float
    steps: int
    checkpoint: str
    weights_sha256: str


def measure(plan: Plan, out: Path, display: Display, stops: Stops) -> StrengthResults | None:
    """Complete the measurement and return its results, None if it was stopped before the first games.

    A folder with finished parts is continued. Raises BadPlan, BadConfig, NotTrained, BadCheckpoint, Unreadable.
    """
    keep_plan(plan, out)
    cells = [plan.cell(seed, out) for seed in plan.seeds]
    check_cells(cells)
    measure_reference(plan, cells[0], out, display, stops)
    for cell in cells:
        if stops:
            break
        if not is_measured(plan, cell, read_records(out)):
            train_until(cell, plan.minutes[-1], display, stops)
        for milestone in milestones(cell, plan.minutes):
            if not stops and not find(read_records(out), cell.config.seed, milestone.minutes):
                measure_milestone(plan, cell, milestone, out, display, stops)
    results = results_of(plan, read_records(out), machine_of(cells))
    if results:
        results.write(out)
    return results


def is_measured(plan: Plan, cell: Cell, records: Sequence[Record]) -> bool:
    """Return whether the games of every milestone of a training seed are recorded."""
    return all(find(records, cell.config.seed, minutes) for minutes in plan.minutes)


def train_until(cell: Cell, minutes: float, display: Display, stops: Stops) -> None:
    """Train to this many minutes of training time, or to the end of the run's steps. Raises NotTrained."""
    wanted, before = 60.0 * minutes, reached(cell, "seconds")
    if milestones(cell, (minutes,)):
        return
    running = Running(cell, [training(cell)])
    stopped = False
    with display.bar(round(wanted), f"training seed {cell.config.seed}, {minutes:g} minutes") as advance:
        advance(round(before))
        try:
            while running.poll():
                now = reached(cell, "seconds")
                advance(round(now) - round(before))
                before = now
                if not stopped and (stops or now >= wanted):
                    running.stop()
                    stopped = True
                time.sleep(LOOK_SECONDS)
        finally:
            if not stopped:
                running.stop()  # after an error; Ctrl-C does not reach it
    if running.code and not stops:
        raise NotTrained(
            f"training of seed {cell.config.seed} failed with {trouble_of(running)}; see {log_of(cell)}, then repeat the "
            "command"
        )


def milestones(cell: Cell, minutes: Sequence[float]) -> list[Milestone]:
    """Return the first checkpoint at or after each milestone, and the last one of a run that ended before."""
    folder, found = cell.folder / "checkpoints", []
    if not folder.is_dir():
        return []
    every = sorted(
        (float(about["seconds"]), int(about["timesteps"]), name, digest_of_weights(about))
        for name, about in intact_checkpoints(folder)
    )
    for minute in minutes:
        later = [each for each in every if each[0] >= 60.0 * minute]
        if not later:
            if every and every[-1][1] >= cell.config.steps:
                found.append(Milestone(minute, *every[-1]))
            break
        found.append(Milestone(minute, *later[0]))
    return found


def measure_reference(plan: Plan, cell: Cell, out: Path, display: Display, stops: Stops) -> None:
    """Play the games with the released policy, unless that is done. Raises BadCheckpoint."""
    folder = policy_folder(WHITE_STAKE)
    digest = digest_of_weights(read_manifest(folder, ABOUT))
    done = find(read_records(out), REFERENCE, 0.0)
    if done and done.weights_sha256 != digest:
        raise BalatroError(f"{out} has games of another {WHITE_STAKE}: choose another --out")
    if not done:
        won, seconds = played(plan, cell, folder, "best", display, stops)
        append_record(
            out, Record(seed=REFERENCE, weights_sha256=digest, play_seconds=seconds, games=plan.games, won=won)
        )


def measure_milestone(plan: Plan, cell: Cell, milestone: Milestone, out: Path, display: Display, stops: Stops) -> None:
    """Play the games with a checkpoint, append them, and print the difference."""
    won, seconds = played(plan, cell, cell.folder, milestone.checkpoint, display, stops)
    about: dict[str, Any] = vars(milestone)
    append_record(out, Record(seed=cell.config.seed, play_seconds=seconds, games=plan.games, won=won, **about))
    records = read_records(out)
    results = results_of(plan, records, {})
    assert results
    point = results.seeds[cell.config.seed][-1]
    low, high = 100.0 * point.difference.low, 100.0 * point.difference.high
    display.say(
        f"seed {cell.config.seed}, {point.minutes:.1f} minutes: {point.wins.rate:.1%} of games won, "
        f"{100.0 * point.difference.value:+.1f} points ({low:+.1f} to {high:+.1f}); {time_left(plan, records)}"
    )


def time_left(plan: Plan, records: Sequence[Record]) -> str:
    """Return the remaining time as text: training to the last milestone, and games as long as the mean so far.

    A run may end before the last milestone; other seeds are assumed to end where the first one did.
    """
    done = {seed: [each for each in records if each.seed == seed] for seed in plan.seeds}
    ended = [of for of in done.values() if of and of[-1].steps >= plan.settings["steps"]]
    most = len(ended[0]) if ended else len(plan.minutes)
    length = ended[0][-1].seconds if ended else 60.0 * plan.minutes[-1]
    left = sum(max(0, most - len(of)) for of in done.values() if of not in ended)
    untrained = sum(not of for of in done.values())
    seconds = sum(each.play_seconds for each in records) / len(records) * left + length * untrained
    return f"{left} measurements left, about {seconds / 3600:.1f} hours"


def played(plan: Plan, cell: Cell, folder: Path, checkpoint: str, display: Display, stops: Stops) -> tuple[str, float]:
    """Play all games by the rules of the recipe; return which were won, and the seconds. Ctrl-C interrupts."""
    player = player_from(folder, checkpoint, plan.likeliest)
    options = {**rules(cell.config), "reorder": None, "max_decisions": cell.config.games.max_decisions}
    with display.bar(plan.games, f"{player.name}, {plan.games:,} games") as advance:

        def look(count: int) -> None:
            if stops:
                raise KeyboardInterrupt
            advance(count)

        begin = time.perf_counter()
        report = evaluate(player, strength_seeds(plan.games), **options, advance=look)
    return packed_wins(report), time.perf_counter() - begin


def machine_of(cells: Sequence[Cell]) -> dict[str, Any]:
    """Return the machine of the first trained run."""
    for cell in cells:
        try:
            return read_object(cell.folder / "machine.json")
        except Unreadable:
            continue
    return {}
