"""What a plan can be, and how long one is held: a blind, or the stay between two blinds.

A plan says which kind of hand to aim for, and whether money is there to be spent or to be saved.
"""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.catalog.hands import Hand
from ante.engine.actions import N_VERBS, Verb
from ante.engine.state import Phase
from ante.env.games import Games
from ante.env.plays import AIM_ALIKE, AIM_FLUSH, AIM_GROUP, AIM_STRAIGHT, N_AIMS

# Kind of hand: hands played, and what is discarded for.
KINDS: dict[str, tuple[tuple[Hand, ...], tuple[int, ...]]] = {
    "any hand": ((), ()),
    "flush": ((Hand.FLUSH, Hand.FLUSH_HOUSE, Hand.FLUSH_FIVE, Hand.STRAIGHT_FLUSH), (AIM_FLUSH,)),
    "straight": ((Hand.STRAIGHT, Hand.STRAIGHT_FLUSH), (AIM_STRAIGHT,)),
    "of a kind": (
        (
            *(Hand.PAIR, Hand.TWO_PAIR, Hand.THREE_OF_A_KIND, Hand.FULL_HOUSE, Hand.FOUR_OF_A_KIND),
            *(Hand.FIVE_OF_A_KIND, Hand.FLUSH_HOUSE, Hand.FLUSH_FIVE),
        ),
        (AIM_ALIKE, AIM_GROUP),
    ),
}
STANCES = ("save", "spend")
PLANS = tuple((kind, stance) for kind in KINDS for stance in STANCES)
N_PLANS = len(PLANS)
UNDECIDED = N_PLANS  # in a row: the plan is chosen with this decision
SPENDING = (Verb.BUY, Verb.BUY_AND_USE, Verb.BUY_VOUCHER, Verb.OPEN_PACK, Verb.REROLL, Verb.REROLL_BOSS)


def fitting() -> NDArray[np.float32]:
    """1 where what a listed decision aims at fits the plan, (N_PLANS, N_AIMS)."""
    found = np.zeros((N_PLANS, N_AIMS), dtype=np.float32)
    for number, (kind, _) in enumerate(PLANS):
        hands, aims = KINDS[kind]
        found[number, [1 + hand for hand in hands]] = 1.0
        found[number, list(aims)] = 1.0
    return found


def buying() -> NDArray[np.float32]:
    """1 where a plan is for spending and a verb spends, -1 where the plan is for saving, (N_PLANS, N_VERBS)."""
    found = np.zeros((N_PLANS, N_VERBS), dtype=np.float32)
    for number, (_, stance) in enumerate(PLANS):
        found[number, list(SPENDING)] = 1.0 if stance == "spend" else -1.0
    return found


def in_words(plan: int) -> str:
    """Such as `flush, save`."""
    return ", ".join(PLANS[plan])


def periods(games: Games) -> NDArray[np.int64]:
    """The period that each game is in, (n,): odd ones between blinds, even ones in a blind, counted within a game."""
    states = games.states.view(np.ndarray)
    phase = states["phase"]
    between = (phase != Phase.PLAY) & (phase != Phase.ROUND_END)
    return 2 * states["round_number"].astype(np.int64) + between


class HeldPlans:
    """The plans of n games that are played side by side: each is held until its period is over."""

    def __init__(self, n: int) -> None:
        self.plans, self.of = np.full(n, UNDECIDED, dtype=np.uint8), np.full(n, -1, dtype=np.int64)

    def forget(self, which: NDArray[np.int64]) -> None:
        """Other games stand at these indices."""
        self.of[which] = -1

    def now(self, games: Games) -> NDArray[np.uint8]:
        """The plan that each game holds, UNDECIDED where one is to be chosen, (n,)."""
        return np.where(self.of == periods(games), self.plans, UNDECIDED).astype(np.uint8)

    def hold(self, games: Games, which: NDArray[np.int64], plans: NDArray[Any]) -> None:
        """The games at these indices (k,) hold these plans (k,) until their present period is over."""
        self.plans[which], self.of[which] = plans, periods(games)[which]


def fates(games: Games) -> NDArray[np.float32]:
    """A number in [0, 1) for each game and period, always the same, (n,): so a game shown again has the plans it had."""
    words = (f"{seed}:{period}" for seed, period in zip(games.seeds, periods(games), strict=True))
    drawn = [int.from_bytes(hashlib.blake2b(each.encode(), digest_size=3).digest(), "big") / 2**24 for each in words]
    return np.array(drawn, dtype=np.float32)
