"""A state as a request: the visible game as text, and the numbered candidate actions.

The options are the legal candidates (lookahead/candidates.py). The request shows nothing hidden: the text is that of
env/text.py without the seed, from which a model might infer the future.
"""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ante.engine.core.state import new_states
from ante.env.games import Games, observe_games
from ante.env.text import describe, macro_name
from ante.hints.effects import effects, unseen_cards
from ante.lookahead.candidates import CandidateLister, decisions_of
from ante.lookahead.describe import facts_of
from ante.lookahead.records import LEGAL, candidates_t

PROMPTS = Path(__file__).with_name("prompts")
PROMPT = "v2"  # the default version


@dataclass(frozen=True)
class Option:
    """One candidate action.

    entry     its number in the list of candidates
    decision  the macro decision
    name      its description, such as `play AS AH`
    facts     estimates of its effects, empty if unknown
    """

    entry: int
    decision: int
    name: str
    facts: str


@dataclass(frozen=True)
class Question:
    """The request for one state.

    text     the user message
    system   the constant system message: the game, advice on strategy, the format of the answer
    listed   (,) candidates_t, which the rule-based advisor reads instead of the text
    session  identifies the questions of one game without revealing its seed
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
        """Return the cache key of the answer: a hash of the request and the model."""
        parts = [model, self.prompt, self.system, self.text]
        digest = hashlib.sha256("\0".join(parts).encode())
        digest.update(self.picture or b"")
        return digest.hexdigest()


def games_at(states: np.recarray, reorder: str = "none") -> Games:
    """Return games in the states of these records (n,), observed."""
    games = Games(len(states), reorder=reorder, discrete=False, flat=False)
    games.states.view(np.uint8)[:] = np.ascontiguousarray(states).view(np.uint8)
    observe_games(games.states, np.arange(games.n), games.reorder, games.observations, games.flat)
    return games


def lists_of(games: Games) -> np.recarray:
    """Return the candidates of games at their last observation, (n,) candidates_t."""
    out = np.zeros(games.n, dtype=candidates_t).view(np.recarray)
    CandidateLister().write(games, out)
    return out


def question_of(state: Any, listed: Any, prompt: str = PROMPT, picture: bytes | None = None) -> Question | None:
    """Return the question for a state, or None if it has no legal candidate.

    state   one record, read only
    listed  its candidates_t
    """
    session = hashlib.sha256(bytes(state.seed)).hexdigest()[:16]
    s = without_seed(state)
    options = options_of(s, listed)
    if not options:
        return None
    system, frame = prompt_of(prompt)
    lines = [f"{k}: {option.name}" + (f" ({option.facts})" if option.facts else "") for k, option in enumerate(options)]
    state = describe(s).replace(", seed \n", "\n", 1)
    facts = {"effects": effects(s), "unseen": unseen_cards(s)} if "{effects}" in frame else {}
    text = frame.format(state=state, options="\n".join(lines), last=len(options) - 1, **facts)
    return Question(text, system, tuple(options), prompt, session, listed, picture)


def without_seed(state: Any) -> Any:
    """Return a copy of a game without its seed, for text and images."""
    copy: Any = new_states(1)
    copy.view(np.uint8)[:] = np.frombuffer(state.tobytes(), dtype=np.uint8)
    copy[0].seed_length = 0
    return copy[0]


def prompt_of(version: str) -> tuple[str, str]:
    """Return the system message, and the template of the user message: {state}, {options}, {last}, {effects}, {unseen}."""
    system, _, frame = (PROMPTS / f"{version}.md").read_text().partition("\n---\n")
    return system.strip(), frame.strip()


def options_of(s: Any, listed: Any) -> list[Option]:
    """Return the legal candidates as options."""
    legal = [k for k in range(int(listed["n"])) if listed["entries"][k]["flag_bits"] & LEGAL]
    decisions = decisions_of(
        np.broadcast_to(listed["entries"], (len(legal), len(listed["entries"]))), np.array(legal, dtype=np.int64)
    )
    return [
        Option(k, int(decision), macro_name(s, int(decision)), facts_of(listed["entries"][k]))
        for k, decision in zip(legal, decisions, strict=True)
    ]
