"""The rules of a race, one by one, on records whose situation is set by hand."""

from typing import Any

import numpy as np
import pytest

from ante.catalog.blinds import Blind
from ante.catalog.decks import Deck
from ante.catalog.locks import BLIND_LOCKS, JOKER_LOCKS, LOCKS, TAG_LOCKS, VOUCHER_LOCKS
from ante.engine.actions import Verb, pack_action
from ante.engine.core.state import Kind, Phase, copy_states, new_states
from ante.engine.items.pools import draw_boss
from ante.engine.run import restart, set_seed
from ante.engine.step import step
from ante.race.races import COLUMN, Races, Result
from ante.race.rules import BANNED, LIVES, banned_bits

SELECT = int(pack_action(Verb.SELECT_BLIND, 0, 0, 0))
PLAY_ONE = int(pack_action(Verb.PLAY, 0, 0, 1))
CASH_OUT = int(pack_action(Verb.CASH_OUT, 0, 0, 0))
NOTHING = -1


def new_race(seed: str = "RACE", **settings: Any) -> Races:
    """Return one race of macro decisions at its start."""
    races = Races(1, discrete=(False, False), flat=False, **settings)
    races.reset({"seed": [seed]})
    return races


def run_alone(seed: str) -> Any:
    """Return the record of a single run in which the items are banned."""
    s = new_states(1)[0]
    set_seed(s, seed)
    s.locked[:] = banned_bits()
    restart(s, int(Deck.RED), 1, 0)
    return s


def act(races: Races, first: int = NOTHING, second: int = NOTHING) -> None:
    """Play one decision of each player; NOTHING for a player who does not act."""
    actions = np.array([[first, second]])
    races.step(actions, actions != NOTHING)


def before_duel(seed: str = "RACE") -> Races:
    """Return a race whose players choose the blind of the duel of ante 2."""
    races = new_race(seed)
    for games in races.games:
        s = games.states[0]
        s.ante = s.highest_ante = 2
        s.blind_on_deck = 2
        s.boss = Blind.WALL
    return races


def in_duel(hands: tuple[int, int] = (4, 4), chips: tuple[float, float] = (0.0, 0.0)) -> Races:
    """Return a race in a duel with these hands left and scores."""
    races = before_duel()
    act(races, SELECT, SELECT)
    for games, n, score in zip(races.games, hands, chips, strict=True):
        games.states[0].hands_left = n
        games.states[0].chips = score
    return races


def lives(races: Races) -> list[int]:
    """Return the lives of both players."""
    return [int(n) for n in races.races[0].lives]


def fail_blind(races: Races, seat: int) -> None:
    """Select the next blind, which is an ordinary one, and play its last hand without beating it."""
    actions = [NOTHING, NOTHING]
    actions[seat] = SELECT
    act(races, *actions)
    s = races.games[seat].states[0]
    s.hands_left, s.target = 1, 1e9
    actions[seat] = PLAY_ONE
    act(races, *actions)


def go_on(races: Races, seat: int) -> None:
    """Cash out and leave the shop."""
    for verb in (Verb.CASH_OUT, Verb.NEXT_ROUND):
        actions = [NOTHING, NOTHING]
        actions[seat] = int(pack_action(verb, 0, 0, 0))
        act(races, *actions)


def test_both_players_start_the_same_game_with_four_lives() -> None:
    races = new_race()
    assert races.games[0].states.tobytes() == races.games[1].states.tobytes()
    assert lives(races) == [4, 4]
    assert races.games[0].seeds[0] == races.games[1].seeds[0] == "RACE"


def test_random_seeds_are_shared_and_differ_between_races() -> None:
    races = Races(3)
    races.reset()
    assert list(races.games[0].seeds) == list(races.games[1].seeds)
    assert len(set(races.seeds)) == 3


def test_a_failed_ordinary_blind_costs_one_life_and_the_run_goes_on() -> None:
    races = new_race()
    fail_blind(races, 0)
    s = races.games[0].states[0]
    assert lives(races) == [3, 4]
    assert (s.phase, s.blind_on_deck, s.ante) == (Phase.ROUND_END, 1, 1)
    go_on(races, 0)
    assert s.phase == Phase.BLIND_SELECT


def test_a_failed_blind_pays_its_reward_and_comeback_money_for_every_life_lost() -> None:
    races = new_race()
    s = races.games[0].states[0]
    for lost, reward in ((1, 3), (2, 4), (3, 5)):  # Small, Big, Boss
        s.dollars = 0
        fail_blind(races, 0)
        assert s.payout == reward + 4 * lost
        go_on(races, 0)


def test_a_beaten_blind_pays_no_comeback_money() -> None:
    races = new_race()
    fail_blind(races, 0)
    go_on(races, 0)
    s = races.games[0].states[0]
    act(races, SELECT)
    s.target, s.dollars = 1.0, 0
    act(races, PLAY_ONE)
    assert s.phase == Phase.ROUND_END
    assert s.payout == 4 + 3  # the reward of a Big Blind, and three hands left
    assert lives(races) == [3, 4]


def test_small_blinds_pay_nothing_from_red_stake_on_beaten_or_not() -> None:
    races = new_race(stake=2)
    s = races.games[0].states[0]
    s.dollars = 0
    fail_blind(races, 0)
    assert s.payout == 4  # comeback money only


def test_the_last_life_ends_the_race() -> None:
    races = new_race()
    races.races[0].lives[1] = 1
    fail_blind(races, 1)
    assert races.ended.all() and races.waiting().all()
    assert (races.results(0)[0], races.results(1)[0]) == (Result.WON, Result.LOST)


def test_the_last_life_of_both_in_the_same_step_is_a_draw() -> None:
    races = new_race()
    races.races[0].lives[:] = 1
    act(races, SELECT, SELECT)
    for games in races.games:
        games.states[0].hands_left, games.states[0].target = 1, 1e9
    act(races, PLAY_ONE, PLAY_ONE)
    assert (races.results(0)[0], races.results(1)[0]) == (Result.DRAWN, Result.DRAWN)


def test_the_boss_of_ante_1_is_an_ordinary_blind() -> None:
    races = new_race()
    s = races.games[0].states[0]
    boss = int(s.boss)
    s.blind_on_deck = 2
    act(races, SELECT)
    assert (s.phase, s.blind) == (Phase.PLAY, boss)
    assert boss not in (Blind.NONE, Blind.WALL)


def test_from_ante_2_on_the_boss_is_a_duel_and_the_draws_are_those_of_a_run_without_duels() -> None:
    races = new_race()
    alone = run_alone("RACE")
    for s in (races.games[0].states[0], alone):
        s.blind_on_deck = 2
    act(races, SELECT)
    step(alone, SELECT)
    for s in (races.games[0].states[0], alone):
        s.target = 1.0
    for decision in (PLAY_ONE, CASH_OUT):
        act(races, decision)
        step(alone, decision)
    mine = races.games[0].states[0]
    assert (mine.ante, mine.boss) == (2, Blind.WALL)
    assert alone.boss != Blind.WALL
    mine.boss = alone.boss
    assert mine.tobytes() == alone.tobytes()


def test_a_duel_begins_when_both_are_ready_and_the_first_waits() -> None:
    races = before_duel()
    act(races, SELECT)
    assert races.waiting().tolist() == [[True, False]]
    assert races.games[0].states[0].phase == Phase.BLIND_SELECT
    before = copy_states(races.games[0].states)
    act(races, SELECT)  # a waiting player cannot act
    assert races.games[0].states.tobytes() == before.tobytes()
    act(races, NOTHING, SELECT)
    assert races.waiting().tolist() == [[False, False]]
    assert [games.states[0].phase for games in races.games] == [Phase.PLAY, Phase.PLAY]
    assert races.races[0].duel == 1


def test_the_target_of_a_duel_is_the_score_of_the_opponent_and_does_not_end_it() -> None:
    races = in_duel(chips=(0.0, 100.0))
    act(races, PLAY_ONE)
    one, other = (games.states[0] for games in races.games)
    assert (one.target, other.target) == (100.0, one.chips)
    one.chips = 5000.0
    act(races, PLAY_ONE)
    assert (one.phase, one.hands_left, races.races[0].duel) == (Phase.PLAY, 2, 1)
    assert other.target == one.chips > 5000


def test_a_duel_ends_early_when_the_one_out_of_hands_is_behind() -> None:
    races = in_duel(hands=(1, 3), chips=(0.0, 9000.0))
    act(races, PLAY_ONE)
    assert lives(races) == [3, 4]
    assert [games.states[0].phase for games in races.games] == [Phase.ROUND_END, Phase.ROUND_END]
    assert races.races[0].duel == 0


def test_a_duel_goes_on_when_the_one_out_of_hands_is_ahead() -> None:
    races = in_duel(hands=(1, 2), chips=(9000.0, 0.0))
    act(races, PLAY_ONE)
    assert races.waiting().tolist() == [[True, False]]
    act(races, NOTHING, PLAY_ONE)
    assert races.races[0].duel == 1
    act(races, NOTHING, PLAY_ONE)
    assert lives(races) == [4, 3]
    assert races.races[0].duel == 0


def test_the_one_behind_loses_nothing_by_passing_the_opponent_who_is_out_of_hands() -> None:
    races = in_duel(hands=(1, 2), chips=(500.0, 0.0))
    act(races, PLAY_ONE)
    races.games[1].states[0].chips = 1e6
    act(races, NOTHING, PLAY_ONE)
    assert lives(races) == [3, 4]
    assert races.games[1].states[0].phase == Phase.ROUND_END


def test_equal_scores_cost_nobody_a_life() -> None:
    races = in_duel(hands=(1, 1))
    act(races, PLAY_ONE, PLAY_ONE)  # the same card of the same game
    one, other = (games.states[0] for games in races.games)
    assert one.chips == other.chips > 0
    assert lives(races) == [4, 4]
    assert (one.phase, other.phase) == (Phase.ROUND_END, Phase.ROUND_END)


def test_a_duel_pays_five_dollars_win_or_lose_and_nothing_for_hands_left() -> None:
    races = in_duel(hands=(1, 4), chips=(0.0, 9000.0))
    for games in races.games:
        games.states[0].dollars = 0
    act(races, PLAY_ONE)
    assert races.games[0].states[0].payout == 5 + 4  # the loser's comeback money
    assert races.games[1].states[0].payout == 5


def test_discards_left_in_a_duel_pay_with_the_green_deck() -> None:
    races = new_race(deck="green")
    for games in races.games:
        s = games.states[0]
        s.ante, s.blind_on_deck, s.boss, s.dollars = 2, 2, Blind.WALL, 0
    act(races, SELECT, SELECT)
    races.games[0].states[0].hands_left = 1
    races.games[1].states[0].chips = 9000.0
    act(races, PLAY_ONE)
    won = races.games[1].states[0]
    assert won.deck_id == Deck.GREEN and won.hands_left == 4
    assert won.payout == 5 + won.discards_left
    assert not won.modifiers


@pytest.mark.parametrize("ante", [8, 16])
def test_the_race_is_endless_and_its_showdowns_are_duels(ante: int) -> None:
    races = before_duel()
    for games in races.games:
        games.states[0].ante = ante
    act(races, SELECT, SELECT)
    for games in races.games:
        games.states[0].hands_left, games.states[0].dollars = 1, 0
    act(races, PLAY_ONE, PLAY_ONE)
    s = races.games[0].states[0]
    assert (s.ante, s.phase, s.payout) == (ante + 1, Phase.ROUND_END, 5)
    assert not races.ended.any()


def test_the_last_life_lost_in_a_duel_ends_the_race() -> None:
    races = in_duel(hands=(1, 4), chips=(0.0, 9000.0))
    races.races[0].lives[0] = 1
    act(races, PLAY_ONE)
    assert races.ended.all()
    assert races.results(1)[0] == Result.WON


def test_a_duel_whose_cards_run_out_counts_as_played() -> None:
    races = in_duel(hands=(4, 4), chips=(100.0, 200.0))
    s = races.games[0].states[0]
    s.n_deck = 0
    act(races, int(pack_action(Verb.PLAY, 0, 0, 0b11111)))
    s.n_deck = 0
    s.chips = 0.0
    act(races, int(pack_action(Verb.PLAY, 0, 0, 0b111)))
    assert s.hands_left == 2
    assert lives(races) == [3, 4]


@pytest.mark.parametrize("key", BANNED)
def test_banned_items_are_excluded_in_both_games(key: str) -> None:
    races = new_race()
    for games in races.games:
        s = games.states[0]
        assert s.restricted and s.locked[LOCKS[key] >> 3] >> (LOCKS[key] & 7) & 1
    others = [other for other in LOCKS if other not in BANNED]
    assert not any(s.locked[LOCKS[other] >> 3] >> (LOCKS[other] & 7) & 1 for other in others)


def test_banned_bosses_are_never_drawn() -> None:
    s = new_race().games[0].states[0]
    s.ante = 8
    assert Blind.FINAL_VESSEL not in {int(draw_boss(s)) for _ in range(40)}
    s.ante = 3
    assert Blind.WALL not in {int(draw_boss(s)) for _ in range(200)}


def shown_locks(s: Any) -> set[int]:
    """Return the lock numbers of everything that a game shows: the boss, tags, vouchers and jokers."""
    rows = [s.row[i] for i in range(s.n_row)] + [s.pack[i] for i in range(s.n_pack)]
    rows += [s.jokers[i] for i in range(s.n_jokers)]
    found = {JOKER_LOCKS + int(item.id) for item in rows if item.kind == Kind.JOKER}
    found |= {VOUCHER_LOCKS + int(v) for v in s.shop_vouchers[: s.n_shop_vouchers] if v}
    found |= {TAG_LOCKS + int(tag) for tag in (*s.skip_tags, *s.tags[: s.n_tags])}
    return found | ({BLIND_LOCKS + int(s.boss)} if s.ante == 1 else set())


def test_what_a_player_sees_of_the_race() -> None:
    races = in_duel(hands=(4, 3), chips=(0.0, 999.0))
    races.races[0].lives[:] = 3, 2
    assert races.view(0)[0].tolist() == [3, 2, 1, 0, 3, 3]
    assert races.view(1)[0].tolist() == [2, 3, 1, 0, 0, 4]
    races.games[1].states[0].chips = np.inf
    assert races.view(0)[0, COLUMN.opponent_log_score] == 400


def test_nothing_else_of_the_opponent_is_visible() -> None:
    races, other = in_duel(), in_duel()
    hidden = other.games[1].states[0]
    hidden.dollars, hidden.discards_left, hidden.n_jokers = 77, 1, 3
    hidden.jokers[0].id, hidden.jokers[0].kind = 42, Kind.JOKER
    hidden.levels[:] = 9
    hidden.hand[:8] = hidden.hand[:8][::-1].copy()
    for each in (races, other):
        act(each, PLAY_ONE)
    assert races.view(0).tobytes() == other.view(0).tobytes()
    assert races.games[0].observations.tobytes() == other.games[0].observations.tobytes()


def test_outside_a_duel_the_opponent_shows_only_lives() -> None:
    races = new_race()
    act(races, NOTHING, SELECT)
    act(races, NOTHING, PLAY_ONE)
    assert races.games[1].states[0].chips > 0
    assert races.view(0)[0].tolist() == [LIVES, LIVES, 0, 0, 0, 0]


def test_a_race_is_truncated_at_the_limit() -> None:
    races = new_race(max_decisions=2)
    act(races, SELECT)
    act(races, PLAY_ONE)
    assert races.truncated.all() and races.waiting().all()
    assert (races.results(0)[0], races.results(1)[0]) == (Result.TRUNCATED, Result.TRUNCATED)
