"""The frames of an episode: decisions with the player's notes, scoring animations, the end."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.catalog.hands import HANDS
from ante.engine.actions import Verb, cards_of, verb_of
from ante.engine.core.state import MAX_HAND, Phase, copy_states, new_states
from ante.env.replay import outcome
from ante.env.text import macro_name, number
from ante.watch.episode import Episode
from ante.watch.notes import BadNotes, Note
from ante.watch.render.scene import Scored, Thought, draw_scene, pretty, thought_of

FPS = 12
SECONDS = {Verb.PLAY: 0.9, Verb.DISCARD: 0.8, Verb.CASH_OUT: 0.5}  # a decision is shown before it is taken
SECONDS_OTHER = 0.8
TICKS = 12  # frames of a scoring animation
END = 2.0
LONGEST = 120.0  # seconds of a video from which games are sped up; it becomes longer if each decision has only its fewest frames
Frame = NDArray[np.uint8]
Size = tuple[int, int]


def episode_frames(
    episode: Episode,
    notes: Sequence[Note] | None = None,
    about: str = "",
    size: Size = (640, 360),
    ending: str = "",
) -> Iterator[Frame]:
    """Yield frames, uint8 (height, width, 3), RGB, FPS per second; unchanged frames are repeated.

    notes   one for each decision
    about   description of the player, such as the checkpoint
    ending  caption of the last frames; by default how the game ended

    Raises RefusedDecision, and BadNotes if the numbers of notes and decisions differ.
    """
    if notes is not None and len(notes) != len(episode.actions):
        raise BadNotes(f"{len(notes)} notes for {len(episode.actions)} decisions: the notes belong to another game")
    pace, values = pace_of(episode), []
    last, thought = copy_states(episode.start)[0], None
    for k, (before, action, after) in enumerate(episode.walk()):
        verb = Verb(int(verb_of(action)))
        if notes is not None:
            note = notes[k]
            values += [] if note.value is None else [note.value]
            thought = thought_of(before, action, note, tuple(values))
        said = pretty(macro_name(before, action))
        shown = with_selected(before, action) if verb in (Verb.PLAY, Verb.DISCARD) else before
        frame = draw_scene(shown, size, said, about, thought)
        yield from hold(frame, SECONDS.get(verb, SECONDS_OTHER) * pace)
        if verb == Verb.PLAY:
            yield from ticking(before, action, after, size, (said, about, thought), max(2, round(TICKS * pace)))
        last = after
    yield from hold(draw_scene(last, size, ending or ended(last, len(episode.actions)), about, thought), END)


def pace_of(episode: Episode) -> float:
    """Return the factor on all durations at which the video lasts LONGEST, or 1 if it is shorter anyway."""
    verbs = [Verb(int(verb_of(action))) for action in episode.actions]
    seconds = sum(SECONDS.get(verb, SECONDS_OTHER) + (TICKS / FPS if verb == Verb.PLAY else 0.0) for verb in verbs)
    return min(1.0, LONGEST / max(seconds, 1.0))


def hold(frame: Frame, seconds: float) -> Iterator[Frame]:
    """Yield the same frame for this duration, at least once."""
    for _ in range(max(1, round(seconds * FPS))):
        yield frame


def ended(s: Any, decisions: int) -> str:
    """Return a sentence about how a game ended."""
    return f"{outcome(s)} after {decisions} decisions"


def with_selected(s: Any, action: int) -> Any:
    """Return a copy of the game in which a decision's cards are selected."""
    shown = copy_of(s)
    shown.selected = int(cards_of(action))
    return shown


def copy_of(s: Any) -> Any:
    """Return a copy of the record."""
    states = new_states(1)
    states.view(np.uint8)[:] = np.frombuffer(s.tobytes(), dtype=np.uint8)
    return states[0]


def ticking(
    before: Any, action: int, after: Any, size: Size, words: tuple[str, str, Thought | None], frames: int
) -> Iterator[Frame]:
    """Animate a played hand: chips and mult rise, then their product is added to the score."""
    shown, bits = copy_of(before), int(cards_of(action))
    cards = [(copy_of_card(before, i), k) for k, i in enumerate(i for i in range(MAX_HAND) if (bits >> i) & 1)]
    played = tuple((card, bool(after.scoring[k])) for card, k in cards)
    keep_in_hand(shown, bits)
    hand, total = HANDS[after.hand_type], float(after.hand_total)
    name = f"{hand.name}  lvl {after.levels[hand.hand]}"
    base = float(hand.chips), float(hand.mult)
    rising = max(1, frames // 2)
    for k in range(1, frames + 1):
        share, gone = min(1.0, k / rising), max(0.0, (k - rising) / max(1, frames - rising))
        shown.chips = float(before.chips) + total * gone
        chips, mult = (
            between(low, float(high), share)
            for low, high in zip(base, (after.score_chips, after.score_mult), strict=True)
        )
        scored = Scored(played, name, chips, mult, number(total) if k >= rising else "")
        yield draw_scene(shown, size, *words, scored)


def between(low: float, high: float, share: float) -> str:
    """Return an interpolated number, rounded until it reaches its end."""
    return (
        number(high) if share >= 1 and high >= 10 else f"{high:g}" if share >= 1 else number(low + (high - low) * share)
    )


def copy_of_card(s: Any, place: int) -> Any:
    """Return a copy of a hand card, face up."""
    card = s.cards[s.hand[place]].copy()
    card["face_down"] = 0
    return np.rec.array(np.array([card]))[0]


def keep_in_hand(s: Any, played: int) -> None:
    """Remove the played cards, given as bits, from the hand, without ending the round."""
    left = [int(s.hand[i]) for i in range(s.n_hand) if not (played >> i) & 1]
    s.hand[: len(left)], s.n_hand, s.selected = left, len(left), 0
    s.hands_left, s.phase = int(s.hands_left) - 1, Phase.PLAY


def poster(episode: Episode, notes: Sequence[Note] | None = None, about: str = "", size: Size = (640, 360)) -> Frame:
    """Return the frame of the highest score as in `episode_frames`, or the end if no hand was played. Raises RefusedDecision."""
    scores = [float(after.hand_total) if verb_of(action) == Verb.PLAY else -1.0 for _, action, after in episode.walk()]
    best = max(range(len(scores)), key=scores.__getitem__, default=-1)
    if best < 0 or scores[best] < 0:
        return draw_scene(episode.end(), size, about=about)
    thought = None
    for k, (before, action, after) in enumerate(episode.walk()):
        if k == best:
            if notes is not None:
                values = tuple(note.value for note in notes[: k + 1] if note.value is not None)
                thought = thought_of(before, action, notes[k], values)
            words = pretty(macro_name(before, action)), about, thought
            *_, frame = ticking(before, action, after, size, words, 2)
            return frame
    raise AssertionError
