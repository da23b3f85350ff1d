"""What hints are worth: unsure decisions of a policy, played on from its own choice and from each hint.

All choices of a decision meet the same futures: copies of the game in which everything that was not seen is redrawn.
A difference in games won is thus the effect of one decision, which the results of whole games show only in thousands.
"""

import asyncio
import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ante.engine.core.records import as_records
from ante.engine.core.state import Phase, copy_states, new_states
from ante.env.games import Games, Outcome
from ante.env.text import macro_name
from ante.errors import BalatroError
from ante.hints.advice import Advice
from ante.hints.question import PROMPT, Facts, Question, games_at, lists_of, question_of, visible_jokers
from ante.hints.rules import advise
from ante.hints.settings import AdvisorSettings
from ante.knowledge.measuring.positions import BATCH
from ante.knowledge.winning.starts import new_games, play_on
from ante.search.determinise import determinised
from ante.training.acting.player import PolicyPlayer
from ante.training.players.advised import answers_of, desk_of

POLICY, RULES, LLM, INFORMED = "policy", "rules", "llm", "llm with knowledge"  # sources of choices
LEVEL = 0.95
DECK, STAKE = "b_red", 1
Bar = Callable[[int, str], AbstractContextManager[Callable[[int], None]]]


@dataclass(frozen=True)
class Unsure:
    """One decision of each of n games.

    states   (n,) state_t
    seeds    of the games
    steps    (n,) int64, decisions before it
    chosen   (n,) int64, the policy's most likely macro decision; sure (n,) float64, its probability
    """

    states: np.recarray
    seeds: list[str]
    steps: NDArray[np.int64]
    chosen: NDArray[np.int64]
    sure: NDArray[np.float64]


@dataclass(frozen=True)
class Gain:
    """Games won with the choices of one source minus those with another's, in points of the win rate.

    Attributes:
        decisions: Their number, one of each game.
        changed: Those in which the choices differ.
        more: Mean over all decisions; low and high, its 95 % interval.
    """

    decisions: int
    changed: int
    more: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.more:+.2f} ({self.low:+.2f} to {self.high:+.2f})"


@dataclass(frozen=True)
class HintValue:
    """Choices of all sources in unsure decisions, and the games won after each.

    decisions  of the policy
    choices    by source, (n,) macro decisions; the policy's where a source gave no hint
    answered   by source, number of hints
    won        of each decision, the share of games won by macro decision
    """

    decisions: Unsure
    choices: dict[str, list[int]]
    answered: dict[str, int]
    won: list[dict[int, float]]

    def gains(self) -> dict[tuple[str, str], Gain]:
        """Return the gain of each source over the policy, and of the LLM with knowledge over the LLM without."""
        pairs = [(source, POLICY) for source in self.answered]
        if INFORMED in self.choices:
            pairs.append((INFORMED, LLM))
        return {(one, other): gain_of(self.won, self.choices[one], self.choices[other]) for one, other in pairs}

    def rows(self) -> list[dict[str, Any]]:
        """Return each decision as a JSON object."""
        found = []
        for i, s in enumerate(self.decisions.states):
            choices = {
                source: {"choice": macro_name(s, each[i]), "won": self.won[i][each[i]]}
                for source, each in self.choices.items()
            }
            place = {"seed": self.decisions.seeds[i], "step": int(self.decisions.steps[i]), "ante": int(s.ante)}
            sure = round(float(self.decisions.sure[i]), 4)
            found.append({**place, "phase": Phase(int(s.phase)).name.lower(), "confidence": sure, "choices": choices})
        return found

    def written(self) -> dict[str, Any]:
        """Return the gains and all decisions as a JSON object."""
        gains = [{"of": one, "over": other, **asdict(gain)} for (one, other), gain in self.gains().items()]
        return {"gains": gains, "answered": self.answered, "decisions": self.rows()}


def value_of_hints(
    player: PolicyPlayer,
    seeds: Sequence[str],
    confidence: float,
    futures: int,
    rules: bool,
    settings: AdvisorSettings | None,
    facts: Facts | None,
    bar: Bar,
) -> HintValue:
    """Draw one unsure decision of a game of each seed, request hints for it, and play on from each choice.

    Raises BalatroError.

    settings  of an LLM, if one is to be measured
    facts     knowledge for the LLM, which then answers each question without and with it; only decisions about which there
              is any are drawn
    """

    def known(s: Any) -> bool:
        return facts is None or bool(facts.lines(*visible_jokers(s)))

    with bar(len(seeds), "playing games") as advance:
        found = unsure_decisions(player, seeds, confidence, known, advance)
    if not found.seeds:
        raise BalatroError(
            f"none of {len(seeds)} games has such a decision: give more --games or a higher --confidence"
        )
    lists = lists_of(games_at(found.states, player.reorder))
    prompt = settings.prompt if settings else PROMPT
    asked = {
        source: [question_of(s, listed, prompt, facts=lines) for s, listed in zip(found.states, lists, strict=True)]
        for source, lines in ((LLM, None), (INFORMED, facts))
        if source == LLM or lines is not None
    }
    hints = {RULES: [advise(question) if question else None for question in asked[LLM]]} if rules else {}
    if settings is not None:
        hints |= answers_by_source(settings, asked, bar)
    own = [int(decision) for decision in found.chosen]
    choices = {POLICY: own} | {
        source: [hint.decision if hint else mine for hint, mine in zip(given, own, strict=True)]
        for source, given in hints.items()
    }
    each = list(zip(*choices.values(), strict=True))
    with bar(futures * sum(len(set(of_one)) for of_one in each), "playing on") as advance:
        won = won_after(player, found.states, each, futures, advance)
    return HintValue(found, choices, {source: sum(map(bool, given)) for source, given in hints.items()}, won)


def answers_by_source(
    settings: AdvisorSettings, asked: dict[str, list[Question | None]], bar: Bar
) -> dict[str, list[Advice | None]]:
    """Return the LLM's hints by source. Raises BalatroError if it gives none.

    The questions of one decision follow each other, because servers cache what successive requests have in common.
    """
    flat = [question for of_one in zip(*asked.values(), strict=True) for question in of_one]

    async def answer(advance: Callable[[int], None]) -> list[Advice | None]:
        desk = desk_of(settings)
        try:
            hints = await answers_of(desk, flat, advance)
        finally:
            await desk.close()
        if not any(hints):
            ends = ", ".join(f"{how} ({count})" for how, count in desk.ledger.ends.items())
            raise BalatroError(f"the LLM gave no hint: {ends}; ante hints probe shows the cause")
        return hints

    with bar(len(flat), "requesting hints") as advance:
        hints = asyncio.run(answer(advance))
    return {source: hints[k :: len(asked)] for k, source in enumerate(asked)}


def unsure_decisions(
    player: PolicyPlayer,
    seeds: Sequence[str],
    confidence: float,
    wanted: Callable[[Any], bool] = lambda s: True,
    advance: Callable[[int], None] = lambda _: None,
) -> Unsure:
    """Play a game of each seed, and return one decision of each, drawn among those that are unsure and wanted.

    Games without such a decision are left out. Raises BalatroError.

    confidence  the player is unsure if its most probable action is less probable than this
    """
    if player.discrete or not hasattr(player.policy, "action_log_probs"):
        raise BalatroError(f"{player.name} has no probabilities of whole decisions: use a policy of kind shortlist")
    games = new_games(player, len(seeds), DECK, STAKE)
    games.reset(options={"seed": list(seeds)})
    draws = [np.random.default_rng(np.frombuffer(seed.encode(), dtype=np.uint8)) for seed in seeds]
    kept, sure = new_states(games.n), np.zeros(games.n)
    chosen, steps, eligible = (np.zeros(games.n, dtype=np.int64) for _ in range(3))
    playing = np.ones(games.n, dtype=np.bool_)
    while playing.any():
        which = np.flatnonzero(playing)
        decisions, likely = most_likely(player, games, which)
        for k in np.flatnonzero(likely < confidence):
            i = int(which[k])
            if not wanted(games.states[i]):
                continue
            eligible[i] += 1
            if draws[i].random() * eligible[i] < 1:  # each decision is kept with the same probability
                kept[i], steps[i], chosen[i], sure[i] = games.states[i], games.steps[i], decisions[k], likely[k]
        actions = np.full(games.n, -1, dtype=np.int64)
        actions[which] = decisions
        games.step(actions)
        playing &= games.outcome == Outcome.PLAYING
        advance(len(which) - int(playing.sum()))
    found = np.flatnonzero(eligible)
    states = copy_states(as_records(kept, found))
    return Unsure(states, [seeds[i] for i in found], steps[found], chosen[found], sure[found])


def most_likely(
    player: PolicyPlayer, games: Games, which: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the most likely macro decisions of these games and their probabilities, both (k,)."""
    followed = player.played(games)
    rows = followed.rows()[which]
    policy: Any = player.policy
    logs, _, carry = policy.action_log_probs(followed.state.view(rows))
    followed.chose(which, carry)
    best = logs.max(dim=1)
    decisions = policy.decisions(rows, best.indices.cpu().numpy())
    return decisions, best.values.exp().cpu().numpy().astype(np.float64)


def won_after(
    player: PolicyPlayer,
    states: np.recarray,
    choices: Sequence[Sequence[int]],
    futures: int,
    advance: Callable[[int], None] = lambda _: None,
) -> list[dict[int, float]]:
    """Return, for each state, the share of games won after each of its choices, by the choice.

    choices  macro decisions of each state; equal ones are played once
    futures  games that are played on from each choice; the k-th ones of all choices have the same hidden cards and streams
    """
    arms = [(i, choice) for i, each in enumerate(choices) for choice in dict.fromkeys(each)]
    which = np.repeat([i for i, _ in arms], futures)
    first = np.repeat(np.array([choice for _, choice in arms], dtype=np.int64), futures)
    worlds = np.tile(np.arange(1, futures + 1, dtype=np.uint64), len(arms))
    won = np.zeros(len(which), dtype=np.bool_)
    for begin in range(0, len(which), BATCH):
        part = slice(begin, begin + BATCH)
        games = new_games(player, len(which[part]), DECK, STAKE)
        games.continue_from(determinised(states, which[part], worlds[part]))
        won[part] = play_on(player, games, first=first[part])
        advance(games.n)
    shares = won.reshape(len(arms), futures).mean(axis=1)
    found: list[dict[int, float]] = [{} for _ in choices]
    for (i, choice), share in zip(arms, shares, strict=True):
        found[i][choice] = float(share)
    return found


def gain_of(won: Sequence[dict[int, float]], ours: Sequence[int], theirs: Sequence[int]) -> Gain:
    """Return the gain of our choices over theirs, with Student's t interval over the games."""
    more = 100 * np.array([each[one] - each[other] for each, one, other in zip(won, ours, theirs, strict=True)])
    changed = sum(one != other for one, other in zip(ours, theirs, strict=True))
    return Gain(len(more), changed, *student_interval(more))


def student_interval(values: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the mean of values, and its 95 % interval by Student's t, which is NaN for a single one."""
    mean, half = float(values.mean()), math.nan
    if len(values) > 1:
        half = float(stats.t.ppf(0.5 + LEVEL / 2, len(values) - 1) * stats.sem(values))
    return mean, mean - half, mean + half
