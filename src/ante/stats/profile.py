"""A player's profile: facts of many games as rates, curves and associations with winning.

Associations with jokers are adjusted for the ante: a joker bought in ante 5 appears only in games that reached ante 5.
Each first gain is therefore compared with the mean over all gains of the same ante, in blinds beaten afterwards and in
wins. This is not causal: games that can afford a joker may have better prospects anyway.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ante.agents.evaluate import BLIND_NAMES, Share, wilson
from ante.catalog.hands import HANDS
from ante.catalog.jokers import JOKERS
from ante.engine.actions import Verb
from ante.league.ratings import Interval, mean
from ante.stats.facts import Facts, Moment

Thing = TypeVar("Thing", bound=Hashable)
FEWEST = 20  # minimum number of games behind a row about jokers


@dataclass(frozen=True)
class BlindRow:
    """One blind: how often it was beaten when played, and the hands and discards used."""

    ante: int
    blind: str
    beaten: Share
    hands: float
    discards: float


@dataclass(frozen=True)
class MoneyRow:
    """Dollars at the start of the shop after this many rounds: quartiles over the games that reached it."""

    round: int
    games: int
    low: float
    median: float
    high: float


@dataclass(frozen=True)
class JokerRow:
    """One joker.

    picked  share of the games that offered it in which it was bought or picked
    games   games in which it was held
    blinds  beaten after the gain, relative to the mean over gains of the same ante
    wins    share of games won, relative to the same mean
    """

    joker: str
    picked: Share
    games: int
    blinds: Interval
    wins: Interval


@dataclass(frozen=True)
class PairRow:
    """Two jokers held together.

    won           share of these games that were won
    blinds, wins  as in JokerRow, from the moment both are held
    beyond        blinds, minus the sum of both jokers' own values
    """

    one: str
    other: str
    games: int
    won: int
    blinds: Interval
    wins: Interval
    beyond: float


@dataclass(frozen=True)
class Profile:
    """A player's profile. Jokers are sorted by frequency, pairs by the lower bound of their effect on wins."""

    player: str
    games: int
    wins: Share
    ante: Interval
    blinds: Interval
    hands_per_blind: float
    best_hand: float
    decisions: dict[str, float]
    blind_rows: tuple[BlindRow, ...]
    money: tuple[MoneyRow, ...]
    hands: dict[str, Share]
    jokers: tuple[JokerRow, ...]
    pairs: tuple[PairRow, ...]


def profile_of(player: str, games: Sequence[Facts], fewest: int = FEWEST) -> Profile:
    """Return the profile of these games; rows about jokers need at least `fewest` games."""
    beaten = [each for game in games for each in game.rounds if each.beaten]
    residuals = Residuals(games)
    singles = residuals.by(lambda game: game.gained)
    return Profile(
        player=player,
        games=len(games),
        wins=wilson(sum(game.won for game in games), len(games)),
        ante=mean(np.array([game.ante for game in games], dtype=float)),
        blinds=mean(np.array([game.blinds for game in games], dtype=float)),
        hands_per_blind=float(np.mean([each.hands for each in beaten])) if beaten else float("nan"),
        best_hand=max(game.best for game in games),
        decisions=decisions_of(games),
        blind_rows=blind_rows(games),
        money=money_rows(games),
        hands=hand_shares(games),
        jokers=joker_rows(games, singles, fewest),
        pairs=pair_rows(residuals, singles, fewest),
    )


def decisions_of(games: Sequence[Facts]) -> dict[str, float]:
    """Return decisions per game by verb, most frequent first."""
    total = sum((game.verbs for game in games[1:]), games[0].verbs.copy())
    return {Verb(verb).name.lower(): count / len(games) for verb, count in total.most_common()}


def blind_rows(games: Sequence[Facts]) -> tuple[BlindRow, ...]:
    """Return a row for each blind that was played."""
    rounds: dict[tuple[int, int], list[Any]] = defaultdict(list)
    for game in games:
        for each in game.rounds:
            rounds[each.ante, each.blind].append(each)
    rows = []
    for (ante, blind), played in sorted(rounds.items()):
        beaten = [each for each in played if each.beaten]
        hands, discards = ([getattr(each, name) for each in beaten] or [float("nan")] for name in ("hands", "discards"))
        share = wilson(len(beaten), len(played))
        rows.append(BlindRow(ante, BLIND_NAMES[blind], share, float(np.mean(hands)), float(np.mean(discards))))
    return tuple(rows)


def money_rows(games: Sequence[Facts]) -> tuple[MoneyRow, ...]:
    """Return the money curve."""
    rows = []
    for number in range(max((len(game.money) for game in games), default=0)):
        held = [game.money[number] for game in games if len(game.money) > number]
        rows.append(MoneyRow(number + 1, len(held), *np.quantile(held, [0.25, 0.5, 0.75]).tolist()))
    return tuple(rows)


def hand_shares(games: Sequence[Facts]) -> dict[str, Share]:
    """Return the share of each kind among all hands played, most frequent first."""
    plays = np.sum([game.hands for game in games], axis=0)
    order = np.argsort(-plays, kind="stable")
    names = {int(row.hand): row.name for row in HANDS}
    return {names[int(hand)]: wilson(int(plays[hand]), int(plays.sum())) for hand in order if plays[hand]}


class Residuals:
    """Outcomes after a gain relative to gains of the same ante: blinds beaten afterwards, and the win."""

    def __init__(self, games: Sequence[Facts]) -> None:
        self._games = games
        gains: dict[int, list[tuple[float, float]]] = defaultdict(list)
        for game in games:
            for when in game.gained.values():
                gains[when[0]].append(outcome_after(game, when))
        self._usual = {ante: np.mean(found, axis=0) for ante, found in gains.items()}

    def by(self, moments: Callable[[Facts], dict[Thing, Moment]]) -> dict[Thing, NDArray[np.float64]]:
        """Return for each key its games as (games, 3): relative blinds, relative win, and the win.

        A game is left out if no joker was first gained in that ante, as for a pair held together again late.
        """
        found: dict[Thing, list[tuple[float, float, float]]] = defaultdict(list)
        for game in self._games:
            for thing, when in moments(game).items():
                if when[0] not in self._usual:
                    continue
                blinds, won = np.array(outcome_after(game, when)) - self._usual[when[0]]
                found[thing].append((float(blinds), float(won), float(game.won)))
        return {thing: np.array(rows) for thing, rows in found.items()}


def outcome_after(game: Facts, when: Moment) -> tuple[float, float]:
    """Return blinds beaten after a moment, and whether the game was won."""
    return float(game.blinds - when[1]), float(game.won)


def joker_rows(games: Sequence[Facts], singles: dict[int, NDArray[np.float64]], fewest: int) -> tuple[JokerRow, ...]:
    """Return a row for each joker held in enough games, most frequent first."""
    rows = []
    for joker, found in sorted(singles.items(), key=lambda each: (-len(each[1]), each[0])):
        if len(found) >= fewest:
            offered = [game for game in games if joker in game.offered]
            picked = wilson(sum(joker in game.chosen for game in offered), len(offered))
            rows.append(JokerRow(JOKERS[joker].name, picked, len(found), mean(found[:, 0]), mean(found[:, 1])))
    return tuple(rows)


def pair_rows(residuals: Residuals, singles: dict[int, NDArray[np.float64]], fewest: int) -> tuple[PairRow, ...]:
    """Return a row for each pair held in enough games, by the lower bound of its wins, then of its blinds."""
    rows = []
    for (one, other), found in residuals.by(lambda game: game.pairs).items():
        if len(found) >= fewest:
            blinds, wins = mean(found[:, 0]), mean(found[:, 1])
            beyond = blinds.value - singles[one][:, 0].mean() - singles[other][:, 0].mean()
            names = JOKERS[one].name, JOKERS[other].name
            rows.append(PairRow(*names, len(found), int(found[:, 2].sum()), blinds, wins, float(beyond)))
    return tuple(sorted(rows, key=lambda row: (-row.wins.low, -row.blinds.low)))
