"""The rule-based advisor: hints without a server, computed from the candidates alone.

The hint is the legal candidate with the highest score. It is the baseline for LLMs.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.catalog.consumables import FIRST_PLANET, FIRST_SPECTRAL
from ante.catalog.hands import Hand
from ante.catalog.packs import PackKind
from ante.engine.actions import Verb
from ante.engine.core.records import as_records
from ante.env.entities.ids import BOOSTER_BASE, CONSUMABLE_BASE, JOKER_BASE, VOUCHER_BASE
from ante.env.games import Games
from ante.hints.advice import Advice, Answer, advice_of
from ante.hints.question import PROMPT, Question, question_of
from ante.lookahead.candidates import CandidateLister, decisions_of
from ante.lookahead.describe import ratio_of_byte
from ante.lookahead.items import MONEY_OFFSET
from ante.lookahead.records import (
    BEATS_BLIND,
    DISCARD,
    LEGAL,
    MAX_CANDIDATES,
    MONEY_LEFT,
    N_JOKER_GAINS,
    PADDED,
    PLANET,
    PLAY,
    PURPOSE_SWAP,
    candidates_t,
)
from ante.lookahead.reference_hands import FIRST_REFERENCE_HAND

EARNING = 25  # dollars that earn the maximum interest; money above it can be spent
HANDS_PER_BLIND = 3.0  # expected number of hands per blind
LEAST_GAIN = 0.02  # least gain in log10 of typical hand scores for which a joker is bought
SWAP_GAIN = 0.15
NEVER = -1.0
TYPICAL = tuple(int(hand) - FIRST_REFERENCE_HAND for hand in (Hand.FLUSH, Hand.STRAIGHT, Hand.TWO_PAIR, Hand.PAIR))
GOOD_PACKS = {PackKind.BUFFOON: 44.0, PackKind.CELESTIAL: 36.0, PackKind.ARCANA: 24.0}


def advise(question: Question) -> Advice:
    """Return the rules' hint for a question."""
    return advice_of(question, answer(question), "rules")


def answer(question: Question) -> Answer:
    """Return the rules' answer in the format of an LLM."""
    scores = [score(question.listed, option.entry) for option in question.options]
    best = max(range(len(scores)), key=scores.__getitem__)
    others = max((w for k, w in enumerate(scores) if k != best), default=NEVER)
    margin = min(1.0, max(0.0, scores[best] - others) / 20.0)
    return Answer(
        option=best,
        confidence=round(50 + 50 * margin),
        outlook=outlook(question.listed),
        reason=reason(question.listed["entries"][question.options[best].entry]),
    )


def choose(listed: Any) -> int:
    """Return the number of the legal candidate with the highest score; the list must have a legal one."""
    legal = [k for k in range(int(listed["n"])) if listed["entries"][k]["flag_bits"] & LEGAL]
    return max(legal, key=lambda k: score(listed, k))


def score(listed: Any, number: int) -> float:
    """Return the score of one entry, from NEVER to 200, comparable within one list."""
    e = listed["entries"][number]
    verb = Verb(int(e["verb"]))
    if verb == Verb.PLAY:
        return score_of_play(listed, e)
    if verb == Verb.DISCARD:
        return 60.0 + 0.2 * float(e["estimates"][DISCARD.next_beats]) + 0.05 * float(e["estimates"][DISCARD.next])
    if verb in (Verb.USE, Verb.BUY_AND_USE, Verb.BUY, Verb.PICK):
        return score_of_item(listed, e)
    if verb == Verb.SELL_JOKER:
        return 45.0 + 20.0 * gain(e) if int(e["purpose"]) == PURPOSE_SWAP and gain(e) > SWAP_GAIN else NEVER
    plain = {
        Verb.SELECT_BLIND: 100.0,
        Verb.MOVE_JOKER: 120.0,
        Verb.CASH_OUT: 100.0,
        Verb.NEXT_ROUND: 20.0,
        Verb.SKIP_PACK: 1.0,
        Verb.OPEN_PACK: GOOD_PACKS.get(PackKind(int(e["item_id"]) - BOOSTER_BASE), NEVER)
        if verb == Verb.OPEN_PACK and left(e) >= 5
        else NEVER,
        Verb.BUY_VOUCHER: 30.0 if left(e) >= EARNING else NEVER,
        Verb.REROLL: 28.0 if left(e) >= EARNING else NEVER,
    }
    return plain.get(verb, NEVER)


def score_of_play(listed: Any, e: Any) -> float:
    """Rank plays that beat the blind first; then those that score their share; then discards and all others."""
    size, next_enough = float(e["estimates"][PLAY.score]), float(e["estimates"][PLAY.next_beats])
    along = 0.5 if e["flag_bits"] & PADDED else 0.0  # playing extra cards costs nothing
    if e["flag_bits"] & BEATS_BLIND:
        return 150.0 + 0.1 * size
    if float(e["estimates"][PLAY.all_hands_to_needed]) >= 128.0:  # at least an equal share of the remaining score
        return 112.0 + 0.1 * size + along
    can_discard = any(int(each["verb"]) == Verb.DISCARD for each in listed["entries"][: int(listed["n"])])
    base = 0.0 if can_discard else 60.0
    return base + 0.2 * size + 0.1 * next_enough + along


def score_of_item(listed: Any, e: Any) -> float:
    """Score jokers by their gain, planets always, tarots if usable; never use spectral cards."""
    thing, verb = int(e["item_id"]), int(e["verb"])
    if verb == Verb.BUY and left(e) < 0:
        return NEVER
    if JOKER_BASE < thing <= CONSUMABLE_BASE:
        first = not any(owned(each) for each in listed["entries"][: int(listed["n"])])
        if gain(e) < LEAST_GAIN and not first and verb == Verb.BUY:
            return NEVER
        return min(99.0, 40.0 + 40.0 * gain(e))
    consumable = thing - CONSUMABLE_BASE
    if not CONSUMABLE_BASE < thing <= VOUCHER_BASE or consumable >= FIRST_SPECTRAL:
        return 5.0 if verb == Verb.PICK else NEVER
    planet = consumable >= FIRST_PLANET
    if verb == Verb.USE:
        return 160.0 if planet else 118.0
    if verb == Verb.PICK:
        return 30.0 + 0.1 * float(e["estimates"][PLANET.plays]) if planet else 20.0
    if not planet or left(e) < 2:
        return NEVER
    return 32.0 + 0.1 * float(e["estimates"][PLANET.plays]) + (1.0 if verb == Verb.BUY_AND_USE else 0.0)


def gain(e: Any) -> float:
    """Return the average increase of typical hand scores by an entry, in log10."""
    return sum(ratio_of_byte(byte) for byte in e["estimates"][:N_JOKER_GAINS]) / N_JOKER_GAINS


def left(e: Any) -> int:
    """Return the dollars that remain after paying for an entry."""
    return int(e["estimates"][MONEY_LEFT]) - int(MONEY_OFFSET)


def owned(e: Any) -> bool:
    """Return whether an entry refers to a joker that the player owns."""
    return int(e["verb"]) == Verb.SELL_JOKER and int(e["purpose"]) != PURPOSE_SWAP


def outlook(listed: Any) -> int:
    """Return the approximate probability in percent that hands of this strength beat the next blind."""
    strength = sum(float(listed["strengths"][k]) for k in TYPICAL) / (1000.0 * len(TYPICAL))
    lack = float(listed["needed"]) / 100.0 - strength - math.log10(HANDS_PER_BLIND)
    return round(100.0 / (1.0 + math.exp(4.0 * lack)))


def reason(e: Any) -> str:
    """Return the reason for a decision of this kind."""
    verb = Verb(int(e["verb"]))
    if verb == Verb.PLAY:
        if e["flag_bits"] & BEATS_BLIND:
            return "It beats the blind."
        return (
            "It scores its share of the target."
            if float(e["estimates"][PLAY.all_hands_to_needed]) >= 128.0
            else "It is the best available hand."
        )
    return {
        Verb.DISCARD: "No hand is strong enough: draw other cards.",
        Verb.USE: "It has an immediate effect.",
        Verb.BUY_AND_USE: "It has an immediate effect.",
        Verb.BUY: "It increases the score of typical hands.",
        Verb.PICK: "It is the most useful card of the pack.",
        Verb.SELL_JOKER: "It frees a slot for a better joker.",
        Verb.NEXT_ROUND: "No item is worth its price: keep the money.",
    }.get(verb, "It is the default decision.")


class RulesPlayer:
    """A player that follows the rules' hints, with macro decisions."""

    name = "rules"
    discrete = False
    reorder = "none"

    def __init__(self) -> None:
        self._writer = CandidateLister()
        self.lists = as_records(np.zeros(0, dtype=candidates_t))

    def choose(self, games: Games, playing: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return a macro decision for each game, (n,) int64; -1 for games that have ended."""
        if len(self.lists) != games.n:
            self.lists = as_records(np.zeros(games.n, dtype=candidates_t))
        self._writer.write(games, self.lists)
        chosen = np.full(games.n, -1, dtype=np.int64)
        for i in np.flatnonzero(playing):
            chosen[i] = choose(self.lists[i])
        assert chosen.max(initial=-1) < MAX_CANDIDATES
        return np.asarray(decisions_of(self.lists["entries"], chosen))


def sample_questions(seed: str = "TESTSEED", games: int = 16, prompt: str = PROMPT) -> Iterator[Question]:
    """Yield, without end, the questions with several options in games that the rules play."""
    table = Games(games, reorder="none", discrete=False)
    rng = np.random.default_rng(list(seed.encode()))
    table.rngs = list(rng.spawn(games))
    table.reset()
    player, playing = RulesPlayer(), np.ones(games, dtype=np.bool_)
    while True:
        actions = player.choose(table, playing)
        for i in range(games):
            question = question_of(table.states[i], player.lists[i], prompt)
            if question is not None and len(question.options) > 1:
                yield question
        table.step(actions)
        ended = np.flatnonzero(table.outcome)
        if len(ended):
            table.reset(ended)
