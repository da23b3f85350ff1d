"""A recorded game: its initial state and its decisions, which can be replayed."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.engine.actions import Verb, cards_of, pack_action, to_macro, verb_of
from ante.engine.core.state import MAX_HAND, Status, copy_states, new_states, restore_states, save_state
from ante.engine.run import new_run
from ante.engine.step import step
from ante.env.games import Games, Outcome
from ante.env.replay import (
    BadReplay,
    Disagreement,
    Heading,
    RefusedDecision,
    action_text,
    heading_lines,
    outcome,
    read_file,
    read_replay,
    write_replay,
)
from ante.env.text import seed_of
from ante.files import write_gzip
from ante.watch.notes import Explained, Note

Choose = Callable[[Games, NDArray[np.bool_]], NDArray[np.int64]]
MOVES = (Verb.MOVE_JOKER, Verb.MOVE_CARD, Verb.SORT_HAND)


@dataclass(frozen=True)
class Episode:
    """One game.

    start    (1,) state_t, before the first decision
    actions  macro decisions, without the selection of single cards
    """

    start: np.recarray
    actions: tuple[int, ...]

    def walk(self) -> Iterator[tuple[Any, int, Any]]:
        """Yield (record before, decision, record after) for each decision; the next one overwrites both records.

        Raises RefusedDecision.
        """
        states: Any = new_states(2)
        restore_states(states[:1], self.start)
        after, before = states
        for number, action in enumerate(self.actions, 1):
            restore_states(states[1:], states[:1])
            if step(after, np.int64(action)) == Status.ILLEGAL:
                raise RefusedDecision(f"decision {number} is illegal in its state: {action_text(action)}")
            yield before, action, after

    def end(self) -> Any:
        """Return the record after the last decision. Raises RefusedDecision."""
        last = copy_states(self.start)[0]
        for _, _, last in self.walk():  # noqa: B007
            pass
        return last


def begin(heading: Heading) -> np.recarray:
    """Return a heading's game before its first decision, (1,). Raises UnknownSeed, UnknownDeck or UnknownStake."""
    start: Any = new_states(1)
    start[0] = new_run(**asdict(heading))
    return start


def collect(games: Games, choose: Choose) -> Episode:
    """Play the single game of `games` to its end; `choose` returns the action of each game, as in evaluation."""
    start, playing, actions = copy_states(games.states), np.ones(1, dtype=np.bool_), []
    while games.outcome[0] == Outcome.PLAYING:
        action = choose(games, playing)
        actions.append(int(to_macro(games.states[0], action[0])) if games.discrete else int(action[0]))
        games.step(action)
    return Episode(start, decided(actions))


def decided(actions: Iterable[int]) -> tuple[int, ...]:
    """Return the macro decisions without the selection of single cards."""
    return tuple(int(action) for action in actions if int(verb_of(action)) > Verb.CLEAR)


def recorded(heading: Heading, actions: Iterable[int], discrete: bool) -> Episode:
    """Return the game of recorded actions: discrete actions if `discrete`, else macro decisions."""
    start = begin(heading)
    if not discrete:
        return Episode(start, decided(actions))
    s, macros = copy_states(start)[0], []
    for number in actions:
        macros.append(int(to_macro(s, number)))
        step(s, np.int64(macros[-1]))
    return Episode(start, decided(macros))


def annotate(episode: Episode, player: Explained) -> list[Note]:
    """Return a player's notes on each decision of a game, its own or another player's. Raises RefusedDecision."""
    moves = "all" if any(verb_of(action) in MOVES[1:] for action in episode.actions) else player.reorder
    if moves == "none" and any(verb_of(action) in MOVES for action in episode.actions):
        moves = "jokers"
    games = Games(1, reorder=moves, discrete=False, endless=True)
    games.continue_from(episode.start)
    games.seeds[0] = seed_of(games.states[0])
    notes = []
    for number, action in enumerate(episode.actions, 1):
        if player.discrete:
            select(games, int(cards_of(action)))
        notes.append(player.explain(games, action))
        actions = np.array([action])
        if games.refused(actions) >= 0:
            raise RefusedDecision(f"decision {number} is illegal in its state: {action_text(action)}")
        games.step(actions)
    return notes


def select(games: Games, cards: int) -> None:
    """Select hand cards, given as bits, one by one, as the discrete action space requires."""
    for place in range(MAX_HAND):
        if (cards >> place) & 1 and not (int(games.states[0].selected) >> place) & 1:
            games.step(np.array([pack_action(Verb.SELECT, place, 0, 0)]))


def fingerprint(s: Any) -> str:
    """Return 16 hex digits that identify a record."""
    return hashlib.sha256(save_state(s)).hexdigest()[:16]


def write_compact(file: Path, heading: Heading, episode: Episode) -> None:
    """Write a gzipped replay without comments: heading, a line for each decision, the end. Raises RefusedDecision."""
    write_gzip(file, compact(heading, episode.actions, episode.end()).encode("ascii"))


def compact(heading: Heading, actions: Sequence[int], last: Any) -> str:
    """Return a replay without comments, given macro decisions and the record after the last one."""
    lines = [*heading_lines(heading), "", *map(action_text, actions), ending(last, len(actions))]
    return "\n".join(lines) + "\n"


def is_compact(text: str) -> bool:
    """Return whether a replay contains decisions only, without comments."""
    return not any("#" in line or line.startswith((" ", "-")) for line in text.splitlines())


def with_words(text: str) -> str:
    """Return a compact replay with its comments; other replays unchanged. Raises BadReplay, RefusedDecision."""
    return write_replay(*read_replay(text)) if is_compact(text) else text


def check_compact(text: str) -> Disagreement | None:
    """Replay a compact replay. Returns the first line that differs from the engine's, None if all are equal.

    Raises BadReplay, UnknownSeed, UnknownDeck or UnknownStake.
    """
    heading, actions = read_replay(text)
    lines = text.splitlines()
    try:
        last = Episode(begin(heading), decided(actions)).end()
    except RefusedDecision as error:
        return Disagreement(len(lines), str(error), lines[-1])
    got = ending(last, len(actions))
    return None if got == lines[-1] else Disagreement(len(lines), got, lines[-1])


def ending(s: Any, decisions: int) -> str:
    """Return the last line of a replay."""
    return f"end {outcome(s)} in ante {s.ante} with ${s.dollars} after {decisions} decisions"


def read_episode(file: Path) -> tuple[Heading, Episode]:
    """Read the game of a replay file. Raises BadReplay, UnknownSeed, UnknownDeck or UnknownStake."""
    text = read_file(file)
    try:
        heading, actions = read_replay(text)
    except BadReplay as error:
        raise BadReplay(f"{file}: {error}") from None
    return heading, Episode(begin(heading), decided(actions))
