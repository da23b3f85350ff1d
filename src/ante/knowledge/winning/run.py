"""The measurement: strategies are mined from games of one list of seeds, and validated on games of another one."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante import __version__
from ante.engine.core.compile_cache import source_hash
from ante.errors import BalatroError
from ante.knowledge.measuring.positions import Chooser
from ante.knowledge.measuring.run import Bar
from ante.knowledge.measuring.statistics import Z_95, p_values, q_values, rounded
from ante.knowledge.measuring.table import RATE
from ante.knowledge.winning.grants import RULES, Grant, admits, control_of, grant_of, play_granted, typical_items
from ante.knowledge.winning.mining import LEAST, LEAST_MORE, LONGEST, MAIN, Items, Mined, items_of, mine, name_of
from ante.knowledge.winning.outcomes import OUTCOMES, Outcomes
from ante.knowledge.winning.starts import ANTE, Starts
from ante.knowledge.winning.table import JOIN, Strategy, Winning, WinPair

FEWEST = 20  # games in which an arm is played
MINED = ("support", "rate", "low", "high", "lift", "more", "q")  # figures of a mined set that its strategy has


class TooFewGames(BalatroError, ValueError):
    """The games do not suffice."""


@dataclass(frozen=True)
class Plan:
    """What is played: at most `most` proposed strategies in `each` games, and pairs of jokers in `each_pair`."""

    most: int = 12
    each: int = 128
    pairs: tuple[tuple[str, str], ...] = ()
    each_pair: int = 128


class Field:
    """Games of fresh seeds in which grants are played; results are kept in a file."""

    def __init__(self, player: Chooser, starts: Starts, items: np.recarray, outcomes: Outcomes, deck: str, stake: int):
        self.starts, self._player, self._items, self._outcomes = starts, player, items, outcomes
        self._deck, self._stake = deck, stake
        self.seeds = [starts.seed(i) for i in range(len(starts.won))]

    def admitted(self, items: Sequence[str], each: int) -> NDArray[np.int64]:
        """Return the indices of the first `each` games that can test these items. Raises TooFewGames."""
        found = [i for i, s in enumerate(self.starts.states) if admits(tuple(items), s)][:each]
        if len(found) < FEWEST:
            raise TooFewGames(
                f"{name_of(tuple(items))} can be tested in {len(found)} games, fewer than {FEWEST}: play more with --fresh"
            )
        return np.array(found)

    def won(self, arm: str, which: NDArray[np.int64], grants: Sequence[Grant]) -> NDArray[np.bool_]:
        """Return whether the games at these indices are won with a grant each."""

        def play(part: NDArray[np.int64]) -> NDArray[np.bool_]:
            some = [grants[k] for k in part]
            return play_granted(
                self._player, self.starts, which[part].tolist(), some, self._items, self._deck, self._stake
            )

        return self._outcomes.of(arm, [self.seeds[i] for i in which], play)

    def granted(self, items: Sequence[str], which: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether the games are won with these items."""
        return self.won(JOIN.join(items), which, [grant_of(tuple(items))] * len(which))

    def control(self, items: Sequence[str], which: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether the games are won with a control of these items."""
        grants = [control_of(tuple(items), self.starts.states[i], self.seeds[i]) for i in which]
        return self.won(f"control of {JOIN.join(items)}", which, grants)


def measure(
    player: Chooser,
    mined: Starts,
    fresh: Starts,
    plan: Plan,
    about: dict[str, Any],
    out: Path,
    bar: Bar,
    deck: str = "b_red",
    stake: int = 1,
) -> Winning:
    """Mine strategies, validate those that are proposed, and return the tables. Results in the folder are not repeated.

    Args:
        player: The player of all games.
        mined: Games from which strategies are mined.
        fresh: Games of other seeds.
        plan: What is played.
        about: What identifies player and seeds.
        out: Folder of the results of single games.
        bar: Progress bar, called with a total and a description.
        deck: Deck of the games.
        stake: Stake of the games.

    Raises:
        TooFewGames: Strategies cannot be mined or tested.
        OtherMeasurement: The folder has results of other games.
    """
    overlap = {mined.seed(i) for i in range(len(mined.won))} & {fresh.seed(i) for i in range(len(fresh.won))}
    if overlap:
        raise TooFewGames(f"seed {min(overlap)} is in both lists of games: strategies are validated on other seeds")
    sets = mine(mined)
    proposed = [each for each in sets if each.proposed][: plan.most]
    outcomes = Outcomes(out / OUTCOMES, key_of(about, mined))
    field = Field(player, fresh, typical_items(mined), outcomes, deck, stake)
    strategies, pairs = [], []
    with bar(len(proposed) + len(plan.pairs), "strategies and pairs") as advance:
        for each in proposed:
            strategies.append(validated(each, field, mined, plan.each))
            advance(1)
        for one, other in plan.pairs:
            pairs.append(interaction(one, other, field, plan.each_pair))
            advance(1)
    return Winning(
        corrected(strategies, "q_effect"),
        corrected(pairs, "q"),
        {
            **about,
            "version": __version__,
            "engine": source_hash("lookahead"),
            "player": player.name,
            "deck": deck,
            "stake": stake,
            "ante": ANTE,
            "mined": described(mined),
            "fresh": described(fresh),
            "sets": len(sets),
            "least_games": LEAST,
            "longest": LONGEST,
            "least_more": LEAST_MORE,
            "false_discovery_rate": RATE,
            "games_with_grants": outcomes.games,
        },
    )


def key_of(about: dict[str, Any], mined: Starts) -> str:
    """Return what identifies results of seeds: the policy, the games with typical counters, and the engine."""
    policy = about.get("policy_sha256", about.get("player_name", ""))
    return f"{policy} {mined.digest} {source_hash('lookahead')} {RULES}"


def described(starts: Starts) -> dict[str, Any]:
    """Return numbers of games, and the win rate of those that reached ANTE."""
    return {
        "played": starts.played,
        "reached": len(starts.won),
        "rate": round(float(starts.won.mean()), 4),
        "sha256": starts.digest,
    }


def validated(each: Mined, field: Field, mined: Starts, games: int) -> Strategy:
    """Play a proposed strategy and its control, and return both measurements; q_effect is a p-value as yet."""
    from scipy.stats import binom

    which = field.admitted(each.items, games)
    base = field.starts.won[which]
    granted, control = field.granted(each.items, which), field.control(each.items, which)
    better, worse = int((granted & ~control).sum()), int((control & ~granted).sum())
    p = float(binom.sf(better - 1, better + worse, 0.5)) if better + worse else 1.0
    effect, half = mean_and_half(granted.astype(float) - control)
    example = next(mined.seed(i) for i, s in enumerate(mined.states) if mined.won[i] and set(each.items) <= items_of(s))
    figures: dict[str, float] = {name: getattr(each, name) for name in MINED}
    figures |= {"base": base.mean(), "control": control.mean(), "granted": granted.mean()}
    figures |= {"effect": effect, "low_effect": effect - half, "high_effect": effect + half}
    part, alone = best_part(each.items, field, which)
    joint, half = mean_and_half(granted.astype(float) - alone)
    figures |= {"alone": alone.mean(), "joint": joint, "low_joint": joint - half, "high_joint": joint + half}
    found: dict[str, Any] = {name: rounded(value) for name, value in figures.items()}
    key, name = JOIN.join(each.items), name_of(each.items)
    return Strategy(key, name, each.n, each.wins, tested=len(which), q_effect=p, part=part, example=example, **found)


def best_part(items: Items, field: Field, which: NDArray[np.int64]) -> tuple[str, NDArray[np.bool_]]:
    """Play a strategy without each one of its granted items; return the name of the part that wins most, and its games."""
    parts = [tuple(item for item in items if item != left) for left in items if not left.startswith(MAIN)]
    arms = {part: field.granted(part, which) for part in parts if grant_of(part) != Grant(())}
    if not arms:
        return "", field.starts.won[which]
    best = max(arms, key=lambda part: int(arms[part].sum()))
    return name_of(best), arms[best]


def interaction(one: str, other: str, field: Field, games: int) -> WinPair:
    """Play both jokers, each of them and none in the same games; q is a p-value as yet."""
    which = field.admitted((one, other), games)
    base = field.starts.won[which].astype(float)
    arms = [field.granted(items, which).astype(float) for items in ((one,), (other,), ordered(one, other))]
    values = arms[2] - arms[0] - arms[1] + base
    effect, half = mean_and_half(values)
    p = float(p_values(np.array(effect), np.array(half / Z_95)))
    none, first, second, both = (rounded(arm.mean()) for arm in (base, *arms))
    middle, low, high = map(rounded, (effect, effect - half, effect + half))
    return WinPair(one, other, len(which), none, first, second, both, middle, low, high, p)


def ordered(*keys: str) -> tuple[str, ...]:
    """Return keys of jokers in the order of items."""
    return tuple(sorted(keys))


def mean_and_half(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean and the half-width of its 95 % interval."""
    return float(values.mean()), float(Z_95 * values.std(ddof=1) / np.sqrt(len(values)))


def corrected(rows: Sequence[Any], name: str) -> tuple[Any, ...]:
    """Return the rows with their p-values replaced by false discovery rates among the rows."""
    from dataclasses import replace

    if not rows:
        return ()
    q = [rounded(value) for value in q_values(np.array([getattr(row, name) for row in rows]))]
    return tuple(replace(row, **{name: value}) for row, value in zip(rows, q, strict=True))


def strongest(
    pairs: dict[str, NDArray[Any]], counts: NDArray[np.bool_], most: int, without: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """Return the pairs with the strongest measured interactions of scores, without those of some jokers."""
    specific = counts & ~np.isin(pairs["one"], without) & ~np.isin(pairs["other"], without)
    order = np.argsort(-pairs["effect"], kind="stable")
    return tuple((str(pairs["one"][i]), str(pairs["other"][i])) for i in order if specific[i])[:most]
