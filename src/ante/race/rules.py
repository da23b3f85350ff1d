"""The rules of a race, applied between the decisions of two ordinary games.

Both players play the same seed, without end, and start with LIVES lives.

- From FIRST_DUEL_ANTE on, the boss is replaced by a duel without an ability. It begins once both players have selected it.
  The target is the opponent's score. It ends when both have no hand left, or when the one without a hand is behind.
  The strictly lower score loses a life.
- A failed ordinary blind costs a life, and the run continues with the cash-out.
- Every blind pays its reward, beaten or not. A duel pays nothing for hands left.
- After the loss of a life, the cash-out has COMEBACK_DOLLARS more for each life lost so far.
- Items that change or disable bosses do not appear (BANNED).

The engine plays every decision; these functions change the two records only between decisions. The engine has no duel:
the record of a duel is a round of The Wall, a boss without an ability.

SPEED: plain Python, called for the few games in which something of the race happens. A compiled function that contains
a whole decision takes seconds to compile, and reading a record from Python takes microseconds a field.

QUIRK: a record's target is at least one chip, so a duel with an opponent who has not scored shows a target of 1.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.catalog.blinds import Blind
from ante.catalog.challenges import Modifier
from ante.catalog.locks import LOCKS
from ante.engine.actions import Verb, pack_action
from ante.engine.core.records import as_records
from ante.engine.core.state import LOCK_BYTES, Phase, Status
from ante.engine.rounds import end_round
from ante.engine.step import step
from ante.env.games import is_allowed, macro_of

LIVES = 4
FIRST_DUEL_ANTE = 2
COMEBACK_DOLLARS = 4
DUEL = Blind.WALL
BOSS_ON_DECK = 2
BANNED = (
    "j_chicot",
    "j_matador",
    "j_mr_bones",
    "j_luchador",
    "v_hieroglyph",
    "v_petroglyph",
    "v_directors_cut",
    "v_retcon",
    "tag_boss",
    "bl_wall",
    "bl_final_vessel",
)
NO_SEAT = -1
SEATS = 2
ILLEGAL = -1  # no macro decision
SELECT_BLIND = int(pack_action(Verb.SELECT_BLIND, 0, 0, 0))

race_t = np.dtype(
    [
        ("lives", "i4", (SEATS,)),
        ("ready", "i4", (SEATS,)),  # 1 = has selected the duel and waits for the opponent
        ("finished", "i4", (SEATS,)),  # 1 = has no hand left in the duel
        ("duel", "i4"),  # 1 during a duel
        ("over", "i4"),
        ("winner", "i4"),  # seat, NO_SEAT for none
    ],
    align=True,
)


def new_races(n: int) -> np.recarray:
    """Return the records of n races at their start, (n,)."""
    races = as_records(np.zeros(n, dtype=race_t))
    races.lives = LIVES
    races.winner = NO_SEAT
    return races


def banned_bits() -> np.ndarray:
    """Return the banned items as bits of a record's `locked`, (LOCK_BYTES,) uint8."""
    bits = np.zeros(LOCK_BYTES, dtype=np.uint8)
    for key in BANNED:
        bits[LOCKS[key] >> 3] |= 1 << (LOCKS[key] & 7)
    return bits


def is_waiting(race: Any, seat: int) -> bool:
    """Return whether a seat cannot act: it waits for the opponent, or the race is over."""
    return bool(race.over or race.ready[seat] or race.finished[seat])


def is_before_duel(states: np.recarray) -> NDArray[np.bool_]:
    """Return in which games (n,) the player chooses a blind that is a duel, (n,)."""
    return (
        (states.phase == Phase.BLIND_SELECT) & (states.blind_on_deck == BOSS_ON_DECK) & (states.ante >= FIRST_DUEL_ANTE)
    )


def decision_of(s: Any, action: int, discrete: bool, reorder: int) -> int:
    """Return the legal macro decision of an action, ILLEGAL for an illegal one."""
    decision = int(macro_of(s, action, discrete))
    return decision if is_allowed(s, decision, reorder) else ILLEGAL


def lose_round(s: Any, race: Any, seat: int) -> None:
    """Apply the rules to a round that the engine has ended as lost: the player has no hand left, or no cards."""
    if race.duel:
        race.finished[seat] = 1
    elif lose_life(race, seat):
        finish_round(s, race, seat, True)


def announce_duels(states: np.recarray) -> NDArray[np.bool_]:
    """Replace the bosses, which have been drawn as without duels. Returns in which games (n,) that changed something."""
    changed = (states.ante >= FIRST_DUEL_ANTE) & (states.boss != DUEL)
    states.boss[changed] = DUEL
    return np.asarray(changed)


def lose_life(race: Any, seat: int) -> bool:
    """Take a life. Returns whether the player has one left."""
    race.lives[seat] -= 1
    return bool(race.lives[seat] > 0)


def finish_round(s: Any, race: Any, seat: int, lost: bool) -> None:
    """End a round, beaten or not, with the reward of its blind.

    lost  whether the player has lost a life in it
    """
    target, modifiers = s.target, s.modifiers
    s.target = min(target, s.chips)  # pays the reward of the blind
    if race.duel:
        s.modifiers |= Modifier.NO_HAND_MONEY
    s.phase = Phase.PLAY
    end_round(s)
    s.target, s.modifiers = target, modifiers
    if lost:
        s.payout += COMEBACK_DOLLARS * (LIVES - int(race.lives[seat]))


def referee(first: Any, second: Any, race: Any) -> None:
    """Begin, update and end the duel of two games, and end the race after a last life."""
    if race.ready[0] and race.ready[1]:
        begin_duel(first, second, race)
    if race.duel:
        first.target = max(1.0, second.chips)
        second.target = max(1.0, first.chips)
        if is_decided(first, second, race):
            end_duel(first, second, race)
    dead = np.flatnonzero(race.lives <= 0)
    if len(dead):
        race.over = 1
        race.winner = 1 - dead[0] if len(dead) == 1 else NO_SEAT


def begin_duel(first: Any, second: Any, race: Any) -> None:
    """Start the duel's round in both games."""
    race.finished[:] = step(first, SELECT_BLIND) == Status.LOST, step(second, SELECT_BLIND) == Status.LOST
    race.ready[:] = 0
    race.duel = 1


def is_decided(first: Any, second: Any, race: Any) -> bool:
    """Return whether the duel is over: neither player can play, or the one who cannot is behind."""
    if race.finished[0] and race.finished[1]:
        return True
    if race.finished[0]:
        return bool(first.chips < second.chips)
    return bool(race.finished[1] and second.chips < first.chips)


def end_duel(first: Any, second: Any, race: Any) -> None:
    """Take a life of the lower score, and end the round of both games."""
    behind = NO_SEAT
    if first.chips < second.chips:
        behind = 0
    elif second.chips < first.chips:
        behind = 1
    if behind == NO_SEAT or lose_life(race, behind):
        finish_round(first, race, 0, behind == 0)
        finish_round(second, race, 1, behind == 1)
    race.duel = 0
    race.finished[:] = 0
