"""Strength of search against its budget: games won for each budget, on seeds that were fixed before tuning.

The seeds follow from a phrase in the campaign's folder. Its SHA-256 is published before the search is tuned, the phrase
with the first results. Finished games are appended to one JSON-lines file per budget, so that a campaign can be
interrupted and continued at any time, also from committed files.

    phrase.txt       the phrase
    alone.jsonl      the player without search
    16ms.jsonl ...   with search, one file for each budget
    results.json     wins with 95 % intervals for each budget, and the antes at which games are lost
    search.png       the same as curves
    games/           games to learn from (`search_lessons.py`)
"""

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from itertools import starmap
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field, FiniteFloat

from ante.agents.evaluate import Player, Share, wilson
from ante.catalog.blinds import BLINDS
from ante.catalog.constants import WIN_ANTE
from ante.engine.core.state import SEED_LENGTH
from ante.engine.run import SEED_ALPHABET
from ante.env.games import Games, Outcome
from ante.env.reward import blinds_beaten
from ante.experiments.finished_games import BadCampaign, append_games, check_same, keep_digest, read_games
from ante.experiments.search_lessons import Story
from ante.files import Unreadable, read_text, write_text
from ante.machine import machine
from ante.search.budget import Budget
from ante.search.phases import PHASES, PhaseName, phases_of
from ante.search.player import Finding, SearchPlayer

PHRASE, RESULTS, PICTURE, ALONE = "phrase.txt", "results.json", "search.png", "alone"
BATCH = 16  # games played together; finished ones are stored when all of them have ended
MOST_DECISIONS = 5000
LONGEST_PHRASE = 1000
ANTES = range(WIN_ANTE + 1)  # Hieroglyph leads to ante 0
COLUMNS = ("decisions", "searched", "changed", "gain")

Count = Annotated[int, Field(ge=0, le=10**12)]
Counts = Annotated[list[Annotated[FiniteFloat, Field(ge=0.0)]], Field(min_length=4, max_length=4)]  # of COLUMNS
Bar = Callable[[int, str], AbstractContextManager[Callable[[int], None]]]
Batch = tuple[Player, Budget | None, Sequence[str]]  # played together


@dataclass(frozen=True)
class GameLine:
    """One game of a campaign.

    settings      of the search, empty for the player alone
    ante, blinds  ante at the end, blinds beaten
    milliseconds  processor time per decision, the mean of the games that were played together
    phases        decisions, decisions searched, decisions changed, and their expected gain in percent of wins, by phase
    lost_to       name of the blind that ended the game, empty if it was won
    machine       processor and number of its cores
    """

    seed: str
    player: str
    settings: dict[str, FiniteFloat]
    won: bool
    ante: Count
    blinds: Count
    decisions: Annotated[int, Field(ge=1, le=MOST_DECISIONS)]
    simulations: Count
    milliseconds: Annotated[FiniteFloat, Field(ge=0.0)]
    phases: dict[PhaseName, Counts] = field(default_factory=dict)
    lost_to: Annotated[str, Field(max_length=30, pattern="^[A-Za-z ]*$")] = ""
    machine: Annotated[str, Field(max_length=200)] = ""


@dataclass(frozen=True)
class BudgetRow:
    """The result of one budget, on games that the player alone has played too.

    milliseconds, simulations  means per decision
    changed                    fraction of decisions that search changed
    more, fewer                games that only search, or only the player alone, has won
    lost_to                    lost games by the blind that ended them, the most frequent one first
    """

    budget: str
    wins: Share
    milliseconds: float
    simulations: float
    changed: float
    more: int
    fewer: int
    lost_to: dict[str, int]


def committed_seeds(phrase: str, games: int) -> list[str]:
    """Return the game seeds of a phrase: the i-th from the SHA-256 of the phrase, a space and i, without repetition."""
    found: dict[str, None] = {}
    number = 0
    while len(found) < games:
        digest = hashlib.sha256(f"{phrase} {number}".encode()).digest()
        letters = np.frombuffer(digest[:SEED_LENGTH], dtype=np.uint8) % len(SEED_ALPHABET)
        found[SEED_ALPHABET[letters].tobytes().decode()] = None
        number += 1
    return list(found)


def phrase_of(folder: Path) -> str:
    """Return the phrase of a campaign. Raises BadCampaign."""
    try:
        phrase = read_text(folder / PHRASE).strip()
    except Unreadable as error:
        raise BadCampaign(
            f"{error}; write a secret phrase to this file, and publish its SHA-256 before you tune the search"
        ) from None
    if not phrase.isprintable() or not 0 < len(phrase) <= LONGEST_PHRASE:
        raise BadCampaign(f"{folder / PHRASE} must contain one line of at most {LONGEST_PHRASE} characters")
    return phrase


def read_lines(file: Path) -> list[GameLine]:
    """Return the games of a file; an incomplete last line is skipped. Raises Unreadable, BadCampaign."""
    return read_games(file, GameLine)


def run_campaign(
    player: Player, budgets: Sequence[Budget], games: int, out: Path, bar: Bar, workers: int = 1
) -> list[BudgetRow]:
    """Play the missing games of the player alone and of each budget; return and write the results.

    Raises BadCampaign, NotSearchable, Unreadable.
    """
    seeds = committed_seeds(phrase_of(out), games)
    players = {name_of(budget): (budget, player_with(player, budget)) for budget in (None, *budgets)}
    for name, (_, each) in players.items():
        file = out / f"{name}.jsonl"
        check_same(file, read_lines(file), each, settings_of(each))
    for name, (budget, each) in players.items():
        file, settings = out / f"{name}.jsonl", settings_of(each)
        keep_digest(file, each)
        played = {line.seed for line in read_lines(file)}
        missing = [seed for seed in seeds if seed not in played]
        lost = {line.seed for line in read_lines(out / f"{ALONE}.jsonl") if not line.won} if settings else set()
        batches = [(player, budget, missing[first : first + BATCH]) for first in range(0, len(missing), BATCH)]
        with bar(len(seeds), each.name) as advance:
            advance(len(seeds) - len(missing))
            for lines, story in batches_played(batches, workers):
                append_games(file, lines)
                story.keep(out, name, [line.seed for line in lines if line.won and line.seed in lost])
                advance(len(lines))
    return write_results(out)


def name_of(budget: Budget | None) -> str:
    """Return the name of a budget's file, without its ending."""
    return ALONE if budget is None else str(budget)


def player_with(player: Player, budget: Budget | None) -> Player:
    """Return the player with search of this budget, or the player itself. Raises NotSearchable."""
    return SearchPlayer(player, budget) if budget else player


def settings_of(player: Player) -> dict[str, float]:
    """Return the settings of a search as numbers; none for other players."""
    return asdict(player.settings) if isinstance(player, SearchPlayer) else {}


def batches_played(batches: Sequence[Batch], workers: int) -> Iterator[tuple[list[GameLine], Story]]:
    """Play batches of games in `workers` processes; yield each batch as it ends."""
    if workers == 1 or not batches:
        yield from starmap(play_batch, batches)
        return
    from ante.training.rllib.tasks import parallel_calls

    for _, found in parallel_calls(play_batch, batches, workers):
        yield found


def play_batch(player: Player, budget: Budget | None, seeds: Sequence[str]) -> tuple[list[GameLine], Story]:
    """Play one game of each seed; the searching player is made here, since its buffers do not travel."""
    return play_games(player_with(player, budget), seeds)


def play_games(player: Player, seeds: Sequence[str]) -> tuple[list[GameLine], Story]:
    """Play one game of each seed to its end, together; return the games and their story."""
    story, settings, here = Story(player.name, seeds), settings_of(player), machine()
    games = Games(len(seeds), reorder=player.reorder, discrete=player.discrete, max_decisions=MOST_DECISIONS)
    games.reset(options={"seed": list(seeds)})
    playing = np.ones(games.n, dtype=np.bool_)
    phases = np.zeros((games.n, len(PHASES), len(COLUMNS)))
    simulations = np.zeros(games.n, dtype=np.int64)
    ended: dict[int, tuple[bool, int, int, int]] = {}
    lost_to = [""] * games.n
    begun = time.process_time()
    while playing.any():
        which, before = np.flatnonzero(playing), phases_of(games.states)
        actions = player.choose(games, playing)
        if isinstance(player, SearchPlayer):
            for i, found in zip(which, player.findings, strict=True):
                phases[i, before[i]] += counts_of(found)
                simulations[i] += found.comparison.simulations if found.comparison else 0
        story.decided(games, which, actions, getattr(player, "findings", ()))
        games.step(actions)
        for i in np.flatnonzero(playing & (games.outcome != Outcome.PLAYING)):
            won, s = games.outcome[i] == Outcome.WON, games.states[i]
            ended[int(i)] = bool(won), int(s.ante) - int(won), int(blinds_beaten(s)), int(games.steps[i])
            lost_to[i] = "" if won else BLINDS[s.blind].name
            story.ended(games, int(i))
        playing &= games.outcome == Outcome.PLAYING
    spent = 1000.0 * (time.process_time() - begun) / sum(steps for *_, steps in ended.values())
    lines = [
        GameLine(
            seeds[i],
            player.name,
            settings,
            *ended[i],
            int(simulations[i]),
            round(spent, 3),
            {name: np.round(phases[i, k], 2).tolist() for k, name in enumerate(PHASES)} if settings else {},
            lost_to[i],
            f"{here['cpu']}, {here['cores']} cores",
        )
        for i in range(len(seeds))
    ]
    return lines, story


def counts_of(found: Finding) -> tuple[int, int, int, float]:
    """Return a finding as COLUMNS of one decision."""
    return 1, int(found.comparison is not None), int(found.chosen != 0), found.gain


def write_results(out: Path) -> list[BudgetRow]:
    """Write results and curve from all files of the folder, and return the rows by budget."""
    alone = {line.seed: line for line in read_lines(out / f"{ALONE}.jsonl")}
    rows, lost, phases = [], {}, {}
    for file in sorted(out.glob("*.jsonl")):
        lines = [line for line in read_lines(file) if line.seed in alone]
        if lines:
            rows.append(row_of(file.stem, lines, alone))
            lost[file.stem] = [sum(not line.won and line.ante == ante for line in lines) for ante in ANTES]
            phases[file.stem] = phase_rows(lines)
    rows.sort(key=lambda row: (row.budget != ALONE, row.simulations))
    content: dict[str, Any] = {
        "phrase_sha256": hashlib.sha256(phrase_of(out).encode()).hexdigest(),
        "budgets": [asdict(row) for row in rows],
        "lost_at_ante": lost,
        "phases": {name: sums for name, sums in phases.items() if name != ALONE},
    }
    write_text(out / RESULTS, json.dumps(content, indent=1) + "\n")
    draw(rows, lost, out / PICTURE)
    return rows


def row_of(name: str, lines: Sequence[GameLine], alone: dict[str, GameLine]) -> BudgetRow:
    """Return the result of a budget; wins and losses are compared with the same games of the player alone."""
    decisions = sum(line.decisions for line in lines)
    return BudgetRow(
        budget=name,
        wins=wilson(sum(line.won for line in lines), len(lines)),
        milliseconds=round(sum(line.milliseconds * line.decisions for line in lines) / decisions, 3),
        simulations=round(sum(line.simulations for line in lines) / decisions, 2),
        changed=round(sum(row[2] for line in lines for row in line.phases.values()) / decisions, 4),
        more=sum(line.won and not alone[line.seed].won for line in lines),
        fewer=sum(alone[line.seed].won and not line.won for line in lines),
        lost_to=dict(Counter(line.lost_to for line in lines if line.lost_to).most_common()),
    )


def phase_rows(lines: Sequence[GameLine]) -> dict[str, list[float]]:
    """Return the sums of COLUMNS by phase."""
    sums = {name: np.zeros(len(COLUMNS)) for name in PHASES}
    for line in lines:
        for name, counts in line.phases.items():
            sums[name] += counts
    return {name: np.round(counts, 1).tolist() for name, counts in sums.items()}


def draw(rows: Sequence[BudgetRow], lost: dict[str, list[int]], file: Path) -> None:
    """Write two pictures: games won with 95 % intervals over the simulations per decision, and games lost by ante."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from ante.watch.render.figures import write_figure

    figure = Figure(figsize=(11.0, 4.5), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    axes, losses = figure.subplots(1, 2)
    rates = 100.0 * np.array([row.wins.rate for row in rows])
    lows, highs = (100.0 * np.array([getattr(row.wins, name) for row in rows]) for name in ("low", "high"))
    errors = np.maximum(0.0, [rates - lows, highs - rates])  # of a rate of 0 or 1, rounded
    axes.errorbar([row.simulations for row in rows], rates, yerr=errors, marker="o", capsize=3)
    for row, rate in zip(rows, rates, strict=True):
        axes.annotate(row.budget, (row.simulations, rate), (6, -12), textcoords="offset points", fontsize=8)
    axes.set_xscale("symlog", linthresh=1.0)  # the player alone is at 0
    axes.margins(x=0.1)  # room for the text at the last point
    axes.set_xlabel("simulations per decision")
    axes.set_ylabel("games won, %")
    axes.grid(alpha=0.25)
    for row in rows:
        shares = 100.0 * np.array(lost[row.budget]) / row.wins.trials
        losses.plot(ANTES, shares, marker="o", label=f"{row.budget}, {row.wins.trials} games")
    losses.set_xlabel("ante")
    losses.set_ylabel("games lost there, %")
    losses.grid(alpha=0.25)
    losses.legend(frameon=False)
    write_figure(figure, file)
