"""The score of the selected cards before they are played.

The cards are played in a determinised copy of the game (`lookahead.determinised`). A copy begins without random streams,
so that the streams it has afterwards are those that the hand drew from. If one of them can change the score, the hand is
played again with other streams, and the preview is a range.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ante.catalog.blinds import BLINDS, Blind
from ante.catalog.hands import HANDS
from ante.engine.actions import Verb, is_legal, pack_action
from ante.engine.core.rng import Stream
from ante.engine.core.state import Phase, new_states
from ante.env.observe_items import jokers_hidden
from ante.env.text import number
from ante.lookahead.determinised import determinise, positions_in_copy, score_in_copy, score_of

DRAWS = 256  # copies with different random streams
SOURCES = {
    Stream["LUCKY_MULT"]: "Lucky cards",
    Stream["LUCKY_MONEY"]: "Lucky cards",
    Stream["MISPRINT"]: "Misprint",
    Stream["BLOODSTONE"]: "Bloodstone",
    Stream["SPACE"]: "Space Joker",
    Stream["BUSINESS"]: "Business Card",
    Stream["PARKING"]: "Reserved Parking",
    Stream["EIGHT_BALL"]: "8 Ball",
    Stream["HOOK"]: "The Hook",
}


@dataclass(frozen=True)
class Preview:
    """What the selected cards score if they are played now.

    hand      name of the poker hand; empty if it is unknown
    level     its level in this play
    chips, mult   the factors of the score; those of one draw if the score is random
    low, high, mean   the score, with equal values unless it is random
    random    effects that draw random numbers
    unknown   why the score is not known exactly, apart from random draws
    refused   whether the boss refuses the hand
    """

    hand: str = ""
    level: int = 0
    chips: float = 0.0
    mult: float = 0.0
    low: float = 0.0
    high: float = 0.0
    mean: float = 0.0
    random: tuple[str, ...] = ()
    unknown: str = ""
    refused: bool = False

    @property
    def exact(self) -> bool:
        """Whether exactly this score is counted."""
        return bool(self.hand) and self.low == self.high and not self.unknown


def preview_of(s: Any, cards: int) -> Preview | None:
    """Return the preview of these hand positions, None if they cannot be played now."""
    if s.phase != Phase.PLAY or not is_legal(s, pack_action(Verb.PLAY, 0, 0, cards)):
        return None
    face_down = [i for i in range(int(s.n_hand)) if s.cards[s.hand[i]].face_down]
    if any((cards >> i) & 1 for i in face_down):
        return Preview(unknown="a selected card is face down")
    copies = new_states(2)
    first = float(score_of(s, copies, cards))
    copy = copies[0]
    hand, random = HANDS[int(copy.hand_type)], sources_of(copy)
    scores = [first, *scores_with_other_streams(s, cards)] if random else [first]
    return Preview(
        hand.name,
        int(copy.levels[hand.hand]),
        float(copy.score_chips),
        float(copy.score_mult),
        min(scores),
        max(scores),
        first if min(scores) == max(scores) else sum(scores) / len(scores),
        random if min(scores) < max(scores) else (),
        unknown_of(s, bool(face_down)),
        bool(copy.hand_refused),
    )


def sources_of(copy: Any) -> tuple[str, ...]:
    """Return the effects whose random streams a copy has drawn from and that can change the score."""
    streams = {(int(identity) - 1) & 0xFF for identity in copy.stream_ids if identity}
    drawn = (Stream(stream) for stream in sorted(streams))
    return tuple(dict.fromkeys(SOURCES.get(stream, stream.name.lower().replace("_", " ")) for stream in drawn))


def scores_with_other_streams(s: Any, cards: int) -> list[float]:
    """Return the scores of these hand positions in DRAWS copies with different random streams."""
    blank = new_states(1)
    blank[0] = s
    determinise(s, blank[0])
    here, copies, scores = positions_in_copy(s, cards), new_states(1), []
    for draw in range(DRAWS):
        copies.view(np.uint8)[:] = blank.view(np.uint8)
        copies[0].seed_hash = (draw + 0.5) / DRAWS
        scores.append(float(score_in_copy(copies[0], here)))
    return scores


def unknown_of(s: Any, face_down: bool) -> str:
    """Return what the player cannot see and the score may depend on, empty if nothing is hidden."""
    if jokers_hidden(s) and s.n_jokers > 1:
        return "the order of the jokers is hidden"
    return "cards held face down are not counted" if face_down else ""


def preview_text(s: Any, found: Preview) -> str:
    """Return a preview as text: `Pair (level 1): 32 x 2 = 64, 236 short of the blind`."""
    if not found.hand:
        return f"The score is unknown: {found.unknown}."
    title = f"{found.hand} (level {found.level})"
    if found.refused:
        boss = BLINDS[int(s.blind)].name if s.blind > Blind.BIG else "the boss"
        return f"{title}: refused by {boss}, it scores nothing"
    if found.random:
        score = (
            f"about {number(found.mean)}, from {number(found.low)} to {number(found.high)} in {DRAWS} draws"
            f" ({', '.join(found.random)})"
        )
    else:
        score = f"{amount(found.chips)} x {amount(found.mult)} = {number(found.mean)}"
    about = f"about, {found.unknown}: " if found.unknown else ""
    return f"{title}: {about}{score}, {effect_on_blind(s, found)}"


def effect_on_blind(s: Any, found: Preview) -> str:
    """Return whether the score beats the blind, or how much it lacks."""
    needed = float(s.target) - float(s.chips)
    sure = not found.unknown
    if found.low >= needed:
        return "beats the blind" if sure and not found.random else "should beat the blind"
    if found.high >= needed:
        return "may beat the blind"
    return f"{number(needed - found.high)} short of the blind"


def amount(x: float) -> str:
    """Return chips or mult: `32`, `1.5`, `12,345`, `1.23e+15`."""
    return f"{x:,.10g}" if abs(x) < 1e11 else f"{x:.3g}"
