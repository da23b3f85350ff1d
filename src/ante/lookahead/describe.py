"""Descriptions of candidates: their action and estimated results."""

from collections.abc import Sequence
from typing import Any

from ante.catalog.hands import HANDS
from ante.catalog.jokers import JOKERS
from ante.engine.actions import Verb
from ante.env.entities.ids import CONSUMABLE_BASE, JOKER_BASE
from ante.env.text import macro_name, number
from ante.lookahead.candidates import decision_of
from ante.lookahead.records import (
    BEATS_BLIND,
    DISCARD,
    N_HANDS,
    N_JOKER_GAINS,
    PLAY,
    PURPOSE_BEST_PLAY,
    PURPOSE_FLUSH,
    PURPOSE_LEAST_VALUABLE,
    PURPOSE_MOST_OF_A_RANK,
    PURPOSE_PAIRS,
    PURPOSE_STRAIGHT,
    PURPOSE_SWAP,
)

PURPOSES = {
    PURPOSE_FLUSH: "for a flush",
    PURPOSE_STRAIGHT: "for a straight",
    PURPOSE_PAIRS: "keeping equal ranks",
    PURPOSE_MOST_OF_A_RANK: "keeping the most common rank",
    PURPOSE_BEST_PLAY: "keeping the best hand",
    PURPOSE_LEAST_VALUABLE: "of the lowest value",
}
BRINGS_JOKER = (Verb.BUY, Verb.PICK)
SELLS = (Verb.SELL_JOKER, Verb.SELL_CONSUMABLE)


def describe_candidate(s: Any, entry: Any) -> str:
    """Return a candidate as text, such as `play AS AH (Pair, scores about 64, beats the blind)`.

    Args:
        s: The record of the candidate's game.
        entry: candidate_t, a legal one.
    """
    facts = facts_of(entry)
    return macro_name(s, decision_of(entry)) + (f" ({facts})" if facts else "")


def facts_of(entry: Any) -> str:
    """Return the estimated results of a candidate as text; empty if there are none."""
    verb, purpose, item, price = (int(entry[name]) for name in ("verb", "purpose", "item_id", "price"))
    if verb == Verb.PLAY:
        return ", ".join(play_facts(entry))
    if verb == Verb.DISCARD:
        next_beats = chance_text(entry["estimates"][DISCARD.next_beats])
        return f"{PURPOSES[purpose]}, next hand beats the blind: {next_beats}"
    if purpose == PURPOSE_SWAP:
        parts = [f"makes room for {JOKERS[item - JOKER_BASE].name}, ${price} in total"]
        return ", ".join(parts + gain_facts(entry["estimates"]))
    if verb in BRINGS_JOKER and JOKER_BASE < item <= CONSUMABLE_BASE:
        return ", ".join([f"${price}"] * (verb == Verb.BUY) + gain_facts(entry["estimates"]))
    return f"${price}" if price and verb not in SELLS else ""


def play_facts(entry: Any) -> list[str]:
    """Return the estimated results of one play."""
    size, hand = log_of_byte(entry["estimates"][PLAY.score]), int(entry["purpose"])
    parts = [HANDS[hand - 1].name] if 1 <= hand <= N_HANDS else []
    parts.append(f"scores about {number(float(f'{10.0**size:.2g}'))}" if size > 0 else "score unknown")
    if entry["flag_bits"] & BEATS_BLIND:
        return [*parts, "beats the blind"]
    return [*parts, f"next hand beats the blind: {chance_text(entry['estimates'][PLAY.next_beats])}"]


def gain_facts(estimates: Sequence[Any]) -> list[str]:
    """Return the factor on the score of reference hands by a joker, as a geometric mean."""
    gains = [ratio_of_byte(each) for each in estimates[:N_JOKER_GAINS]]
    return [f"typical hands x{10.0 ** (sum(gains) / N_JOKER_GAINS):.2g}"] if any(gains) else []


def log_of_byte(byte: Any) -> float:
    """Return the log10 that `records.log_byte` encoded."""
    return float(byte) / 20.0


def ratio_of_byte(byte: Any) -> float:
    """Return the log10 of a ratio that `records.ratio_byte` encoded."""
    return (float(byte) - 128.0) / 50.0


def chance_of_byte(byte: Any) -> float:
    """Return the probability that `records.chance_byte` encoded."""
    return float(byte) / 250.0


def chance_text(byte: Any) -> str:
    """Return a probability in percent."""
    return f"{chance_of_byte(byte):.0%}"
