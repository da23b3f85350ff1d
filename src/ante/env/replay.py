"""Replays: a whole game as a text file that can be read in diffs and played again.

A heading, then one line for each decision with its effects, and between them lines about the new state
(docs/reference/formats.md). Only the heading and the decisions are read back; a check compares every line.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from ante.catalog.challenges import CHALLENGES
from ante.catalog.decks import DECKS
from ante.engine.actions import Verb, cards_of, pack_action, target_of, to_of, verb_of
from ante.engine.core.state import MAX_HAND, Phase, Status, new_states, restore_states
from ante.engine.run import challenge_number, deck_number, new_run
from ante.engine.step import step
from ante.env.story import changes, decision_words, opening, table
from ante.errors import BalatroError, shown
from ante.files import Unreadable, read_text

FIRST_LINE = "ante replay 1"  # with the version of the format, incremented when older files become unreadable
LARGEST_REPLAY = 16 << 20  # bytes of text; a game of ten thousand decisions takes one MiB
END = re.compile(r"end (lost|won|unfinished) in ante -?\d+ with \$-?\d+ after (?P<decisions>\d{1,9}) decisions")
WHOLE_NUMBER = re.compile(r"\d{1,9}")  # with few digits: Python refuses to convert thousands of them
WORDS_FROM = 17  # width of a decision, which aligns the words of most lines
POSITIONS = r"\d{1,2}(?:,\d{1,2})*"
PARTS = {  # parts of a decision: pattern, and example in messages
    "target": (r" (?P<target>\d{1,2})", " SLOT"),
    "to": (r" (?P<to>\d{1,2})", " SLOT"),
    "order": (r" (?P<to>[01])", " 0|1"),
    "cards": (rf" (?P<cards>{POSITIONS})", " 0,3,4"),
    "on": (rf"(?: on (?P<cards>{POSITIONS}))?", " [on 0,3]"),
}


class BadReplay(BalatroError, ValueError):
    """A replay that cannot be read; the message names the line."""


class RefusedDecision(BalatroError, ValueError):
    """A decision that is illegal in its state."""


@dataclass(frozen=True)
class Heading:
    """The start of a game: arguments of `new_run`. A file may omit fields with default values."""

    seed: str
    deck: str = "b_red"
    stake: int = 1
    challenge: str | None = None


@dataclass(frozen=True)
class Disagreement:
    """The first line of a replay that differs from the engine's.

    line    from 1
    got     the engine's line; empty after its end
    wanted  the line of the file; empty after its end
    """

    line: int
    got: str
    wanted: str

    def __str__(self) -> str:
        return f"line {self.line}\n  got     {self.got}\n  wanted  {self.wanted}"


def write_replay(heading: Heading, actions: Iterable[int]) -> str:
    """Return the text of a game from its macro decisions.

    SELECT and CLEAR are omitted, since they decide nothing. Raises RefusedDecision, UnknownSeed, UnknownDeck and
    UnknownStake.
    """
    lines: list[str] = []
    for line, legal in replay_lines(heading, actions):
        if not legal:
            raise RefusedDecision(f"line {len(lines) + 1} of replay {heading.seed} is illegal in its state: {line}")
        lines.append(line)
    return "\n".join(lines) + "\n"


def read_replay(text: str) -> tuple[Heading, list[int]]:
    """Return the heading and the macro decisions of a replay. Raises BadReplay."""
    heading, decisions = read_lines(text.splitlines())
    return heading, [action for _, action in decisions]


def read_file(file: Path) -> str:
    """Return the text of a replay file, gzip or plain. Raises BadReplay."""
    try:
        return read_text(file, LARGEST_REPLAY, "ascii")
    except Unreadable as error:
        raise BadReplay(str(error)) from None


def check_replay(text: str) -> Disagreement | None:
    """Play a replay again. Returns the first line that differs, or None.

    Raises BadReplay if it cannot be read, UnknownSeed, UnknownDeck or UnknownStake.
    """
    written = (line for line, _ in replay_lines(*read_replay(text)))
    for number, (got, wanted) in enumerate(zip_longest(written, text.splitlines(), fillvalue=""), 1):
        if got != wanted:
            return Disagreement(number, got, wanted)
    return None


def state_at(text: str, line: int) -> Any:
    """Return the game before this line, counted from 1, as one record. Raises BadReplay and RefusedDecision."""
    heading, decisions = read_lines(text.splitlines())
    s = new_run(**asdict(heading))
    for number, action in decisions:
        if number < line and step(s, np.int64(action)) == Status.ILLEGAL:
            raise RefusedDecision(f"line {number} is illegal in its state: {action_text(action)}")
    return s


def replay_lines(heading: Heading, actions: Iterable[int]) -> Iterator[tuple[str, bool]]:
    """Play a game and yield the lines of its replay, each with whether it is legal; an illegal decision ends it."""
    states: Any = new_states(2)
    after, before = states
    states[0] = new_run(**asdict(heading))
    yield from ((line, True) for line in [*heading_lines(heading), *opening(after)])
    decisions = 0
    for action in actions:
        if int(verb_of(action)) <= Verb.CLEAR:
            continue
        restore_states(states[1:], states[:1])
        if step(after, np.int64(action)) == Status.ILLEGAL:
            yield f"{action_text(action)} # refused", False
            return
        decisions += 1
        words = "; ".join(word for word in (decision_words(before, action), *changes(before, after)) if word)
        yield f"{action_text(action):{WORDS_FROM}s} # {words}".rstrip("# "), True
        yield from ((line, True) for line in table(before, after))
    yield f"end {outcome(after)} in ante {after.ante} with ${after.dollars} after {decisions} decisions", True


def outcome(s: Any) -> str:
    """Return the outcome of a game: lost, won, or unfinished. A game lost after its win is won."""
    if s.won:
        return "won"
    return "lost" if s.phase == Phase.OVER else "unfinished"


def heading_lines(heading: Heading) -> list[str]:
    """Return the heading of a replay: a line for each field, except those that are None or part of a challenge."""
    challenge = CHALLENGES[challenge_number(heading.challenge)].key or None
    deck = DECKS[deck_number(heading.deck)].key
    plain = replace(heading, seed=heading.seed.strip().upper(), deck=deck, challenge=challenge)
    own = ("deck", "stake") if plain.challenge else ()  # a challenge has its own
    values = {name: value for name, value in asdict(plain).items() if value is not None and name not in own}
    return [FIRST_LINE, *(f"{name} {value}" for name, value in values.items())]


def read_lines(lines: Sequence[str]) -> tuple[Heading, list[tuple[int, int]]]:
    """Return the heading, and line number and macro decision of each decision. Raises BadReplay."""
    heading, first = read_heading(lines)
    decisions = [(i, read_decision(lines[i - 1], i)) for i in range(first, len(lines)) if lines[i - 1][:1].isalpha()]
    end = END.fullmatch(lines[-1])
    if not end:
        raise BadReplay(f"line {len(lines)}: {shown(lines[-1])} is not the last line of a game: the file is truncated")
    if int(end["decisions"]) != len(decisions):
        raise BadReplay(f"line {len(lines)}: expected {end['decisions']} decisions, found {len(decisions)}")
    return heading, decisions


def read_heading(lines: Sequence[str]) -> tuple[Heading, int]:
    """Return the heading and the number of the first line after it. Raises BadReplay."""
    if not lines or lines[0] != FIRST_LINE:
        raise BadReplay(
            f"line 1: {shown(''.join(lines[:1]))} should be {FIRST_LINE!r}: not a replay or another version"
        )
    known = {field.name: field for field in fields(Heading)}
    found: dict[str, Any] = {}
    for number, line in enumerate(lines[1:], 2):
        name, _, value = line.partition(" ")
        if not name:
            break
        if (
            name not in known
            or name in found
            or not value
            or (known[name].type is int and not WHOLE_NUMBER.fullmatch(value))
        ):
            raise BadReplay(
                f"line {number}: {shown(line)} is not a line of the heading: use {', '.join(known)}, each with a value"
            )
        found[name] = int(value) if known[name].type is int else value
    if "seed" not in found:
        raise BadReplay("line 2: the heading has no seed")
    return Heading(**found), len(found) + 2


def parts_of(verb: Verb) -> tuple[str, ...]:
    """Return the parts that follow a verb, as keys of PARTS."""
    if verb in (Verb.PLAY, Verb.DISCARD):
        return ("cards",)
    if verb in (Verb.USE, Verb.PICK):
        return ("target", "on")
    if verb in (Verb.MOVE_JOKER, Verb.MOVE_CARD):
        return ("target", "to")
    if verb == Verb.SORT_HAND:
        return ("order",)
    return ("target",) if verb >= Verb.BUY else ()


def verb_word(verb: Verb) -> str:
    """Return a verb as in replays, `cash-out`."""
    return verb.name.lower().replace("_", "-")


DECISIONS = {  # word -> verb, pattern of its parts, and an example
    verb_word(verb): (
        verb,
        re.compile("".join(PARTS[part][0] for part in parts_of(verb))),
        verb_word(verb) + "".join(PARTS[part][1] for part in parts_of(verb)),
    )
    for verb in Verb
    if verb > Verb.CLEAR
}


def action_text(action: int) -> str:
    """Return a macro decision as in replays: `play 0,3,4`, `use 1 on 2,3`, `move-joker 0 2`, `reroll`."""
    verb, bits = Verb(int(verb_of(action))), int(cards_of(action))
    cards = ",".join(str(i) for i in range(MAX_HAND) if (bits >> i) & 1)
    values = {
        "target": f" {target_of(action)}",
        "to": f" {to_of(action)}",
        "order": f" {to_of(action)}",
        "cards": f" {cards}",
        "on": f" on {cards}" if cards else "",
    }
    return verb_word(verb) + "".join(values[part] for part in parts_of(verb))


def read_decision(line: str, number: int) -> int:
    """Return the macro decision of a line. Raises BadReplay."""
    text = line.partition("#")[0].rstrip()
    word, space, rest = text.partition(" ")
    if word not in DECISIONS:
        raise BadReplay(f"line {number}: {shown(word)} is not a decision: use {', '.join(DECISIONS)}")
    verb, pattern, example = DECISIONS[word]
    found = pattern.fullmatch(space + rest)
    if not found:
        raise BadReplay(f"line {number}: {shown(text)} should have the form {example!r}")
    parts = found.groupdict()
    cards = read_positions(parts["cards"], number) if parts.get("cards") else 0
    return int(pack_action(verb, int(parts.get("target") or 0), int(parts.get("to") or 0), cards))


def read_positions(text: str, number: int) -> int:
    """Return hand positions as bits. Raises BadReplay."""
    places = [int(place) for place in text.split(",")]
    if places != sorted(set(places)) or places[-1] >= MAX_HAND:
        raise BadReplay(f"line {number}: hand positions {shown(text)} must increase and be at most {MAX_HAND - 1}")
    return sum(1 << place for place in places)
