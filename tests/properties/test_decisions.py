"""Properties of every decision in random games: it is legal exactly if it is offered, and conserves cards and money."""

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ante.catalog.blinds import Blind
from ante.catalog.cards import Sticker
from ante.catalog.challenges import Challenge
from ante.catalog.vouchers import Voucher
from ante.engine.actions import DISCRETE, N_DISCRETE, Verb, legal_mask, verb_of
from ante.engine.core.state import Kind, Phase, Place, Status, load_state, new_states, save_state
from ante.engine.drivers.random_play import N_DECKS, begin_game_of_kind, begin_player, random_decision
from ante.engine.run import new_run
from ante.engine.step import step, step_discrete

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "1"
GAMES, DECISIONS = (60, 150) if COMPILED else (3, 20)
TOOTH_DOLLARS, RENT = 5, 3
# These never create, change or destroy a playing card.
HARMLESS = {
    *(Verb.SKIP_BLIND, Verb.REROLL_BOSS, Verb.CASH_OUT, Verb.REROLL, Verb.NEXT_ROUND, Verb.SKIP_PACK, Verb.SORT_HAND),
    *(Verb.BUY_VOUCHER, Verb.OPEN_PACK, Verb.SELL_CONSUMABLE, Verb.SELL_JOKER, Verb.MOVE_JOKER, Verb.MOVE_CARD),
}


class Player:
    """A separate random player; two players with the same number decide identically."""

    def __init__(self, number: int) -> None:
        self.rng = np.zeros(1, dtype=np.uint64)
        self.mask = np.zeros(N_DISCRETE, dtype=np.uint8)
        begin_player(self.rng, number)

    def begin(self, s: Any, number: int, one_chip: int) -> None:
        """Start a game with a random seed; the number selects deck, stake and challenge."""
        begin_game_of_kind(s, self.rng, 9 * number, one_chip)

    def decision(self, s: Any) -> np.int64:
        """Return a legal decision."""
        legal_mask(s, self.mask)
        return np.int64(random_decision(s, self.mask, self.rng))


def decisions(seed: int, one_chip: int) -> Iterator[tuple[Any, Verb, Any]]:
    """Yield the game before a decision, its verb, and the game after it, for various decks, stakes and challenges."""
    s = new_states(1)[0]
    for number in range(GAMES):
        player = Player(seed * 1000 + number)
        player.begin(s, number, one_chip)
        for _ in range(DECISIONS):
            before, action = load_state(save_state(s)), player.decision(s)
            status = step(s, action)
            assert status != Status.ILLEGAL
            yield before, Verb(verb_of(action)), s
            if status == Status.LOST:
                break


# ---- masked is refused, unmasked is accepted ----


def varied(seed: int) -> Iterator[Any]:
    """Yield games stopped at random steps with some cards selected; every second one can reroll the boss."""
    rng = np.random.default_rng(seed)
    for number, (_, _, game) in enumerate(decisions(seed, 1)):
        if number % 40 and game.phase != Phase.OVER:
            continue
        s = load_state(save_state(game))
        if number % 80:
            s.dollars, s.vouchers[Voucher.RETCON] = 60, 1
        for _ in range(rng.integers(6)):
            step_discrete(s, int(rng.integers(s.n_hand)) if s.n_hand else 0)
        yield s


def test_masked_is_refused_and_unmasked_is_accepted_by_every_verb_in_every_phase() -> None:
    mask = np.zeros(N_DISCRETE, dtype=np.uint8)
    accepted: set[Verb] = set()
    refused: set[Verb] = set()
    phases = set()
    for s in varied(31):
        legal_mask(s, mask)
        phases.add(Phase(int(s.phase)))
        trial, untouched = load_state(save_state(s)), s.tobytes()
        for index in range(N_DISCRETE):
            status = step_discrete(trial, index)
            assert (status != Status.ILLEGAL) == bool(mask[index]), (index, phases)
            if mask[index]:
                trial = load_state(save_state(s))
            else:
                assert trial.tobytes() == untouched
            (accepted if mask[index] else refused).add(Verb(DISCRETE[index, 0]))
    assert not COMPILED or (accepted, refused) == (set(Verb), set(Verb))
    assert not COMPILED or phases == set(Phase)


# ---- cards are conserved ----


def cards(s: Any) -> dict[int, tuple[int, ...]]:
    """Return the full deck: each card by its creation number."""
    every = s["cards"].view(np.ndarray)[: s.n_cards]
    alive = every[every["place"] != Place.GONE]
    kinds = zip(
        *(alive[name].tolist() for name in ("rank", "suit", "enhancement", "edition", "seal", "bonus")), strict=True
    )
    found = dict(zip(alive["created"].tolist(), kinds, strict=True))
    assert len(found) == len(alive), "two cards have the same creation number"
    return found


def check_places(s: Any) -> None:
    """Check that every card of the record is in exactly one place, and that the lists agree."""
    places = s["cards"].view(np.ndarray)["place"][: s.n_cards]
    assert sorted(s.deck[: s.n_deck].tolist()) == np.flatnonzero(places == Place.DECK).tolist()
    assert sorted(s.hand[: s.n_hand].tolist()) == np.flatnonzero(places == Place.HAND).tolist()
    assert set(places.tolist()) <= {Place.DECK, Place.HAND, Place.DISCARD, Place.GONE}


def on_offer(s: Any) -> set[int]:
    """Return the creation numbers of the playing cards in the shop and in the open pack."""
    shown = [s.row[i] for i in range(s.n_row)] + [s.pack[i] for i in range(s.n_pack)]
    return {int(item.created) for item in shown if item.kind == Kind.PLAYING_CARD}


@pytest.mark.parametrize("one_chip", [0, 1])
def test_cards_are_conserved(one_chip: int) -> None:
    made = lost = 0
    for before, verb, s in decisions(17, one_chip):
        check_places(s)
        old, new = cards(before), cards(s)
        if verb in HARMLESS:
            assert new == old, verb
        added = new.keys() - old.keys()
        assert all(number > before.cards_made or number in on_offer(before) for number in added), verb
        made += len(added)
        lost += len(old.keys() - new.keys())
    assert not COMPILED or not one_chip or min(made, lost) > 0


def test_a_player_who_buys_nothing_keeps_the_52_cards() -> None:
    mask = np.zeros(N_DISCRETE, dtype=np.uint8)
    rng = np.random.default_rng(3)
    for number in range(GAMES // 3):
        s = new_run(f"PLAIN{number}")
        s.one_chip_blinds = 1
        fronts = Counter(cards(s).values())
        assert len(fronts) == s.n_cards == 52
        for _ in range(DECISIONS):
            legal_mask(s, mask)
            verbs = (Verb.SELECT, Verb.PLAY, Verb.DISCARD, Verb.SELECT_BLIND, Verb.CASH_OUT, Verb.NEXT_ROUND)
            legal = [i for i in range(N_DISCRETE) if mask[i] and DISCRETE[i, 0] in verbs]
            if not legal or step_discrete(s, int(rng.choice(legal))) == Status.LOST:
                break
            assert Counter(cards(s).values()) == fronts
        assert s.round_number > (1 if COMPILED else 0)


# ---- money ----


@pytest.mark.parametrize("one_chip", [0, 1])
def test_no_decision_takes_the_money_below_its_floor(one_chip: int) -> None:
    paid = 0
    for before, verb, s in decisions(23, one_chip):
        rent = RENT * sum(bool(before.jokers[i].stickers & Sticker.RENTAL) for i in range(before.n_jokers))
        tooth = TOOTH_DOLLARS if verb == Verb.PLAY and before.blind == Blind.TOOTH else 0
        discard = verb == Verb.DISCARD and before.challenge == Challenge.GOLDEN_NEEDLE
        assert s.dollars >= min(before.dollars, -before.debt_allowed) - rent - tooth - discard, verb
        paid += s.dollars < before.dollars
    assert paid > 0 or not (COMPILED and one_chip)


# ---- bytes ----


def test_the_same_seed_and_actions_give_the_same_bytes() -> None:
    for number in range(GAMES // 3):
        player = Player(number)
        first = new_run(f"SAME{number}", number % N_DECKS, 1 + number % 8)
        taken = []
        for _ in range(DECISIONS):
            taken.append(player.decision(first))
            if step(first, taken[-1]) == Status.LOST:
                break
        again = new_run(f"SAME{number}", number % N_DECKS, 1 + number % 8)
        for action in taken:
            step(again, action)
        assert again.tobytes() == first.tobytes()


def test_games_played_in_turns_do_not_touch_each_other() -> None:
    n = 12 if COMPILED else 3
    together, alone = new_states(n), [new_states(1)[0] for _ in range(n)]
    for number in range(n):
        Player(number).begin(together[number], number, 1)
        Player(number).begin(alone[number], number, 1)
    players, singles = ([Player(100 + number) for number in range(n)] for _ in range(2))
    for _ in range(DECISIONS):
        for number in range(n):
            step(together[number], players[number].decision(together[number]))
    for number in range(n):
        for _ in range(DECISIONS):
            step(alone[number], singles[number].decision(alone[number]))
        assert alone[number].tobytes() == together[number].tobytes()


def test_a_game_goes_on_alike_once_it_was_saved_and_loaded() -> None:
    s = new_states(1)[0]
    for number in range(GAMES // 3):
        player, other = Player(number), Player(number)
        player.begin(s, number, 1)
        for _ in range(DECISIONS // 2):
            step(s, player.decision(s))
        other.rng[:] = player.rng
        loaded = load_state(save_state(s))
        assert loaded.tobytes() == s.tobytes()
        for _ in range(DECISIONS // 2):
            step(s, player.decision(s))
            step(loaded, other.decision(loaded))
        assert loaded.tobytes() == s.tobytes()
