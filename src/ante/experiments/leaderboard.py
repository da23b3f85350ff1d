"""A leaderboard: players on the same games of the test panel, among them language models.

Finished games are appended to one JSON-lines file per row, so that a measurement can be interrupted and continued, and
rows of other players or models can be added later.

    random.jsonl, llm-MODEL.jsonl ...   finished games, one file per row
    results.json                        the rows with 95 % intervals
    leaderboard.png                     games won
"""

import json
import math
import re
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field, FiniteFloat

from ante.agents.evaluate import Player, Share, check_legal, half_width, wilson
from ante.agents.seed_lists import panel
from ante.env.games import Games, Outcome
from ante.env.reward import blinds_beaten
from ante.experiments.finished_games import BadCampaign, append_games, check_same, keep_digest, read_games
from ante.experiments.llm_player import LlmPlayer, Spending
from ante.experiments.search_campaign import settings_of as search_settings
from ante.files import plain, write_text

RESULTS, PICTURE = "results.json", "leaderboard.png"
BATCH = 16  # games played together
MOST_DECISIONS = 5000
NOTHING = Spending(0, 0, 0, 0)

Count = Annotated[int, Field(ge=0, le=10**12)]
Amount = Annotated[FiniteFloat, Field(ge=0.0)]
Bar = Callable[[int, str], AbstractContextManager[Callable[[int], None]]]


@dataclass(frozen=True)
class Prices:
    """Dollars per million tokens of requests and of answers; 0 if unknown."""

    read: float = 0.0
    written: float = 0.0

    def dollars(self, spent: Spending) -> float:
        """Return the cost of a game."""
        return (self.read * (spent.tokens - spent.written) + self.written * spent.written) / 1e6


@dataclass(frozen=True)
class Finished:
    """One game of a row.

    settings      of a language model or a search, empty for other players
    ante, blinds  ante at the end, blinds beaten
    seconds       time of its decisions; decisions of games that are played together share their time
    requested, invalid, tokens, written   as in `llm_player.Spending`, 0 for other players
    dollars       cost at the given prices
    """

    seed: str
    player: str
    settings: dict[str, str | FiniteFloat]
    won: bool
    ante: Count
    blinds: Count
    decisions: Annotated[int, Field(ge=1, le=MOST_DECISIONS)]
    seconds: Amount
    requested: Count
    invalid: Count
    tokens: Count
    written: Count
    dollars: Amount


@dataclass(frozen=True)
class Row:
    """The result of one player. Amounts are means per game; NaN for players without a language model.

    blinds_half_width   half the width of the 95 % interval of the mean number of blinds
    invalid             fraction of answers without a legal option
    """

    player: str
    wins: Share
    ante: float
    blinds: float
    blinds_half_width: float
    decisions: float
    seconds: float
    requested: float
    invalid: float
    tokens: float
    dollars: float


def settings_of(player: Player, prices: Prices) -> dict[str, Any]:
    """Return what distinguishes rows of the same name: settings of a search, of a language model; empty for others."""
    if not isinstance(player, LlmPlayer):
        return search_settings(player)
    names = ("prompt", "answer_tokens", *(("knowledge",) if player.settings.knowledge else ()))
    return {name: getattr(player.settings, name) for name in names} | {
        f"{k}_price": v for k, v in asdict(prices).items()
    }


def run_leaderboard(
    players: Sequence[Player], games: int, out: Path, bar: Bar, prices: Prices | None = None
) -> list[Row]:
    """Play the missing games of each player on the first seeds of the panel; return and write the results.

    Raises BadCampaign, Unreadable, NoAnswer.
    """
    import matplotlib  # noqa: F401  (draws the picture at the end; its absence is reported before the first game)

    prices, seeds = prices or Prices(), panel()
    if games > len(seeds):
        raise BadCampaign(f"the panel has {len(seeds):,} games, fewer than {games:,}: lower --games")
    out.mkdir(parents=True, exist_ok=True)
    files = [out / f"{file_name(player.name)}.jsonl" for player in players]
    for file, player in zip(files, players, strict=True):
        if files.count(file) > 1:
            raise BadCampaign(f"two rows are named {player.name}: give each its own --out, or copies of other names")
        check_same(file, read_games(file, Finished), player, settings_of(player, prices))
    for file, player in zip(files, players, strict=True):
        settings = settings_of(player, prices)
        keep_digest(file, player)
        played = {game.seed for game in read_games(file, Finished)}
        missing = [seed for seed in seeds[:games] if seed not in played]
        with bar(games, player.name) as advance:
            advance(games - len(missing))

            def keep(game: Finished, file: Path = file, advance: Callable[[int], None] = advance) -> None:
                append_games(file, [game])
                advance(1)

            for first in range(0, len(missing), BATCH):
                play_games(player, missing[first : first + BATCH], settings, prices, keep)
    return write_results(out)


def file_name(player: str) -> str:
    """Return the name of a player's file without its ending."""
    return re.sub(r"[^A-Za-z0-9._+]+", "-", player).strip("-.")[:100] or "player"


def play_games(
    player: Player,
    seeds: Sequence[str],
    settings: dict[str, Any],
    prices: Prices,
    keep: Callable[[Finished], None],
) -> None:
    """Play one game of each seed, together; `keep` is called with each game as it ends."""
    games = Games(len(seeds), reorder=player.reorder, discrete=player.discrete, max_decisions=MOST_DECISIONS)
    games.reset(options={"seed": list(seeds)})
    playing, seconds = np.ones(games.n, dtype=np.bool_), np.zeros(games.n)
    while playing.any():
        begun = time.perf_counter()
        actions = player.choose(games, playing)
        seconds[playing] += (time.perf_counter() - begun) / int(playing.sum())
        check_legal(player, games, actions, playing)
        games.step(actions)
        for i in map(int, np.flatnonzero(playing & (games.outcome != Outcome.PLAYING))):
            won, s = games.outcome[i] == Outcome.WON, games.states[i]
            spent = player.spending(i) if isinstance(player, LlmPlayer) else NOTHING
            counts = bool(won), int(s.ante) - int(won), int(blinds_beaten(s)), int(games.steps[i])
            time_spent, cost = round(float(seconds[i]), 4), round(prices.dollars(spent), 6)
            keep(Finished(seeds[i], player.name, settings, *counts, time_spent, **asdict(spent), dollars=cost))
        playing &= games.outcome == Outcome.PLAYING


def write_results(out: Path) -> list[Row]:
    """Write results and picture from all files of the folder, and return the rows, the most wins first."""
    found = (read_games(file, Finished) for file in sorted(out.glob("*.jsonl")))
    rows = sorted(map(row_of, filter(None, found)), key=lambda row: (-row.wins.rate, -row.blinds))
    content = {"games": "the first seeds of the test panel, b_red, stake 1", "rows": [asdict(row) for row in rows]}
    write_text(out / RESULTS, json.dumps(plain(content), indent=1) + "\n")
    draw(rows, out / PICTURE)
    return rows


def row_of(games: Sequence[Finished]) -> Row:
    """Return the result of a player's games."""
    blinds = np.array([game.blinds for game in games], dtype=float)
    requests = sum(game.requested for game in games)

    def mean(name: str, known: bool = True) -> float:
        return float(np.mean([getattr(game, name) for game in games])) if known else math.nan

    return Row(
        player=games[0].player,
        wins=wilson(sum(game.won for game in games), len(games)),
        ante=mean("ante"),
        blinds=float(blinds.mean()),
        blinds_half_width=half_width(blinds),
        decisions=mean("decisions"),
        seconds=mean("seconds"),
        requested=mean("requested", requests > 0),
        invalid=sum(game.invalid for game in games) / requests if requests else math.nan,
        tokens=mean("tokens", requests > 0),
        dollars=mean("dollars", any(game.dollars for game in games)),
    )


def draw(rows: Sequence[Row], file: Path) -> None:
    """Write the picture: games won with 95 % intervals, the best row at the top."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from ante.watch.render.figures import write_figure

    figure = Figure(figsize=(7.0, 1.2 + 0.4 * len(rows)), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    axes, places = figure.subplots(), np.arange(len(rows))
    rates, lows, highs = (100.0 * np.array([getattr(row.wins, k) for row in rows]) for k in ("rate", "low", "high"))
    errors = np.maximum(0.0, [rates - lows, highs - rates])  # of a rate of 0 or 1, rounded
    axes.errorbar(rates, places, xerr=errors, fmt="o", capsize=3)
    axes.set_yticks(places, [f"{row.player}, {row.wins.trials} games" for row in rows], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("games won, %")
    axes.grid(alpha=0.25)
    write_figure(figure, file)
