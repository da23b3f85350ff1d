"""A state as a question: what the player sees in words, and the decisions worth a thought, numbered.

The options are the legal entries of the shortlist (env/shortlist.py). Nothing hidden is told: the text is that of
env/text.py without the seed, by which a model might know what is to come.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ante.catalog.hands import HANDS
from ante.catalog.jokers import JOKERS
from ante.engine.actions import Verb
from ante.engine.state import new_states
from ante.env.games import Games, observe_games
from ante.env.packed import T_CONSUMABLE, T_JOKER
from ante.env.plays import AIM_SWAP, N_HANDS
from ante.env.probes import N_ASKED
from ante.env.shortlist import ENOUGH, LEGAL, Shortlists, decisions_of, shortlist_t
from ante.env.text import describe, macro_name, number

PROMPTS = Path(__file__).with_name("prompts")
AIMS = ("for a flush", "for a straight", "keeping ranks alike", "keeping the commonest rank", "keeping the best hand",
        "of the least worth")  # fmt: skip
BRINGS_JOKER = (Verb.BUY, Verb.PICK)


@dataclass(frozen=True)
class Option:
    """One decision on offer.

    entry     its number in the shortlist
    decision  the macro decision
    name      what it means: `play AS AH`
    facts     what it would bring; empty where nothing is known
    """

    entry: int
    decision: int
    name: str
    facts: str


@dataclass(frozen=True)
class Question:
    """One state, ready to be asked about.

    text     the whole user message
    system   what is told once: the game, how to judge, how to answer
    listed   (,) shortlist_t, which the rule-based advisor reads instead of the text
    session  groups questions of one game, without telling its seed
    picture  the frame as PNG
    """

    text: str
    system: str
    options: tuple[Option, ...]
    prompt: str
    session: str
    listed: Any = field(repr=False, compare=False, default=None)
    picture: bytes | None = field(repr=False, compare=False, default=None)

    def key(self, model: str) -> str:
        """What an answer is remembered by: all that the advisor was told, and who it is."""
        parts = [model, self.prompt, self.system, self.text]
        digest = hashlib.sha256("\0".join(parts).encode())
        digest.update(self.picture or b"")
        return digest.hexdigest()


def games_at(states: np.recarray, reorder: str = "none") -> Games:
    """Games that stand as these records (n,) say, observed."""
    games = Games(len(states), reorder=reorder, discrete=False, flat=False)
    games.states.view(np.uint8)[:] = np.ascontiguousarray(states).view(np.uint8)
    observe_games(games.states, np.arange(games.n), games.reorder, games.observations, games.flat)
    return games


def lists_of(games: Games) -> np.recarray:
    """The shortlists of games as they were observed last, (n,) shortlist_t."""
    out = np.zeros(games.n, dtype=shortlist_t).view(np.recarray)
    Shortlists().write(games, out)
    return out


def question_of(state: Any, listed: Any, prompt: str = "v1", picture: bytes | None = None) -> Question | None:
    """The question that a state is; None where no decision is listed.

    state   one record, read only
    listed  its shortlist_t
    """
    session = hashlib.sha256(bytes(state.seed)).hexdigest()[:16]
    s = without_seed(state)
    options = options_of(s, listed)
    if not options:
        return None
    system, frame = prompt_of(prompt)
    lines = [f"{k}: {option.name}" + (f" ({option.facts})" if option.facts else "") for k, option in enumerate(options)]
    told = describe(s).replace(", seed \n", "\n", 1)
    text = frame.format(state=told, options="\n".join(lines), last=len(options) - 1)
    return Question(text, system, tuple(options), prompt, session, listed, picture)


def without_seed(state: Any) -> Any:
    """A copy of a game that does not say its seed, for words and pictures."""
    copy: Any = new_states(1)
    copy.view(np.uint8)[:] = np.frombuffer(state.tobytes(), dtype=np.uint8)
    copy[0].seed_length = 0
    return copy[0]


def prompt_of(version: str) -> tuple[str, str]:
    """What is told once, and the frame of a question with {state}, {options} and {last}."""
    system, _, frame = (PROMPTS / f"{version}.md").read_text().partition("\n---\n")
    return system.strip(), frame.strip()


def options_of(s: Any, listed: Any) -> list[Option]:
    """The legal entries of a shortlist."""
    legal = [k for k in range(int(listed["n"])) if listed["entries"][k]["marks"] & LEGAL]
    decisions = decisions_of(
        np.broadcast_to(listed["entries"], (len(legal), len(listed["entries"]))), np.array(legal, dtype=np.int64)
    )
    return [
        Option(k, int(decision), macro_name(s, int(decision)), facts_of(listed["entries"][k]))
        for k, decision in zip(legal, decisions, strict=True)
    ]


def facts_of(entry: Any) -> str:
    """What one entry would bring, in words."""
    verb = int(entry["verb"])
    parts: list[str] = []
    if verb == Verb.PLAY:
        parts = play_facts(entry)
    elif verb == Verb.DISCARD:
        parts = [AIMS[int(entry["aim"]) - N_HANDS - 1], f"next hand beats the blind: {chance(entry['numbers'][4])}"]
    elif int(entry["aim"]) == AIM_SWAP:
        parts = [f"makes room for {JOKERS[int(entry['thing']) - T_JOKER].name}, ${int(entry['price'])} in all"]
        parts += gain_facts(entry["numbers"])
    elif verb in BRINGS_JOKER and T_JOKER < int(entry["thing"]) <= T_CONSUMABLE:
        parts = [f"${int(entry['price'])}"] * (verb == Verb.BUY) + gain_facts(entry["numbers"])
    elif entry["price"] and verb not in (Verb.SELL_JOKER, Verb.SELL_CONSUMABLE):
        parts = [f"${int(entry['price'])}"]
    return ", ".join(parts)


def play_facts(entry: Any) -> list[str]:
    """What is known of one play."""
    size, aim = float(entry["numbers"][0]) / 20.0, int(entry["aim"])
    parts = [HANDS[aim - 1].name] if 1 <= aim <= N_HANDS else []
    parts.append(f"scores about {number(float(f'{10.0**size:.2g}'))}" if size > 0 else "its score is not known")
    if entry["marks"] & ENOUGH:
        return [*parts, "beats the blind"]
    return [*parts, f"next hand beats the blind: {chance(entry['numbers'][4])}"]


def chance(byte: Any) -> str:
    """A chance as a shortlist holds it, in percent."""
    return f"{float(byte) / 250.0:.0%}"


def gain_facts(numbers: Sequence[Any]) -> list[str]:
    """By what a joker multiplies typical hands, of which it is asked with Full House, Flush, Straight and Pair."""
    gains = [(float(byte) - 128.0) / 50.0 for byte in numbers[:N_ASKED]]
    return [f"typical hands x{10.0 ** (sum(gains) / N_ASKED):.2g}"] if any(gains) else []
