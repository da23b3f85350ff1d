"""Keys: each has one meaning, acts where the engine allows its decision, and otherwise explains why not."""

from collections.abc import Iterator

import numpy as np
import pytest

from ante.agents.baselines import Baseline
from ante.engine.actions import Verb, is_legal
from ante.engine.core.state import Phase
from ante.env.games import Games
from ante.terminal.bindings import BINDINGS, BY_KEY, CARDS, ESCAPE, SLOTS, Binding
from ante.terminal.decisions import Use, action_of, n_slots, use_of
from ante.terminal.game import Game
from ante.terminal.session import Session
from tests.support.table import facing, give, hand_of, in_round, own, to_shop
from tests.terminal.made import drawn, game_of, new_game, press, press_decision, random_games


def bytes_of(game: Game) -> bytes:
    return game.session.states.tobytes()


def what_is_shown(game: Game) -> object:
    """Return everything that a key may change, except messages."""
    session = game.session
    shown = session.selected, session.cursor, game.page, game.scroll, game.pending, tuple(game.advice), game.ended
    return bytes_of(game), *shown


def test_every_key_is_bound_once() -> None:
    keys = [key for each in BINDINGS for key in (CARDS if each.key == CARDS else [each.key])]
    assert len(keys) == len(set(keys)) == len(BY_KEY)


def test_every_verb_of_the_engine_has_a_key() -> None:
    assert {each.verb for each in BINDINGS} - {None} == set(Verb) - {Verb.SELECT, Verb.CLEAR}


@pytest.fixture(scope="module")
def phases() -> dict[Phase, list[Game]]:
    """Return games in every phase."""
    found: dict[Phase, list[Game]] = {phase: [] for phase in Phase}
    for seed, one_chip in ((3, True), (40, False)):
        for s in random_games(150, seed, one_chip):
            if len(found[Phase(int(s.phase))]) < 12:
                found[Phase(int(s.phase))].append(game_of(s))
    lost = in_round()
    lost.hands_left, lost.target = 1, 1e9
    game = game_of(lost)
    press(game, "1p")
    found[Phase.OVER] = [game]
    assert all(found.values()), {phase.name: len(games) for phase, games in found.items()}
    return found


@pytest.mark.parametrize("phase", Phase, ids=lambda phase: phase.name)
def test_every_key_in_every_phase_acts_or_explains(phases: dict[Phase, list[Game]], phase: Phase) -> None:
    for game in phases[phase]:
        for key in [*BY_KEY, "y", "é", "%"]:
            fresh = game_of(game.session.s)
            before = what_is_shown(fresh)
            said = press(fresh, [key])
            if what_is_shown(fresh) == before:
                assert said and all(len(words) > 10 for words in said), (phase.name, key)


@pytest.mark.parametrize("phase", Phase, ids=lambda phase: phase.name)
def test_a_key_decides_exactly_what_the_engine_allows(phases: dict[Phase, list[Game]], phase: Phase) -> None:
    for game in phases[phase]:
        for binding in BINDINGS:
            if binding.verb is None:
                continue
            for slot in range(max(1, n_slots(game.session.s, binding))):
                check_decision(game, binding, slot)


def check_decision(game: Game, binding: Binding, slot: int) -> None:
    """Check that the key changes the record if and only if the engine calls its decision legal, or else explains."""
    fresh = game_of(game.session.s)
    if fresh.session.s.n_hand and binding.cards:
        fresh.session.selected |= 1
    action = action_of(fresh.session, binding, slot)
    legal = action >= 0 and bool(is_legal(fresh.session.s, action))
    assert not legal or use_of(fresh.session, binding) == Use.YES
    before = bytes_of(fresh)
    said = press(fresh, [binding.key, SLOTS[slot]] if binding.slot else [binding.key])
    assert bool(said), (binding.key, slot)
    assert (bytes_of(fresh) != before) == legal, (binding.key, slot, said)
    assert len(fresh.session.actions) == int(legal)


def test_cards_are_toggled_and_five_are_the_most() -> None:
    game = new_game()
    press(game, "e13521")
    assert game.session.selected == 0b10110
    assert press(game, ["4", "6", "7"]) == ["5 cards are selected, the most that can be played: let one go first"]
    assert game.session.selected == 0b111110
    press(game, "-")
    assert game.session.selected == 0
    press(game, ["<left>", "<space>"])
    assert (game.session.cursor, game.session.selected) == (5, 0b100000)


def test_a_sorted_or_moved_card_stays_selected() -> None:
    game = game_of(hand_of("S_2 H_A C_5 D_K"))
    press(game, "2")
    assert press(game, "r")[0].startswith("sort the hand by rank")
    assert game.session.selected == 0b0001  # the ace is leftmost
    press(game, ["<left>", "."])
    assert game.session.selected == 0b0010
    assert press(game, "...")[-1] == ".: the cursor is at the right end of the hand."
    assert game.session.selected == 0b1000


def test_cerulean_bell_keeps_its_card_selected() -> None:
    game = game_of(facing("bl_final_bell", ante=8))
    forced = game.session.forced()
    assert forced.bit_count() == 1 and game.session.selected == forced
    key = SLOTS[forced.bit_length() - 1]
    assert press(game, [key]) == ["Cerulean Bell forces this card: it stays selected"]
    assert game.session.selected == forced


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (["b", "1"], "it costs $"),
        (["x", "1"], "Egg (eternal) cannot be sold: it is Eternal"),
        (["x", "4"], "'4' is not a joker: press x again and choose 1 to 1"),
        (["[", "1"], "joker 1 is the first"),
        (["u", "1"], "Death acts on hand cards: use it in a round or in a pack"),
        (["u", ESCAPE], "no consumable chosen"),
        (["R"], "it costs $5, and you have $0"),
        (["p"], "you can play the selected cards in a round; now: shop. Now (shop): "),
        (["c"], "you can collect the payout after a round; now: shop"),
        (["t"], "you can take card n of the pack in a pack; now: shop"),
        (["1"], "no card 1: cards are selected in a round or in a pack"),
        (["y"], "'y' is not a key. Now (shop): "),
        (["B"], "you can reroll the boss before a blind"),
    ],
)
def test_a_key_that_does_nothing_says_why(keys: list[str], words: str) -> None:
    s = to_shop(in_round())
    own(s, "j_egg")
    s.jokers[0].stickers = 1
    give(s, "c_death")
    s.dollars = 0
    assert words in press(game_of(s), keys)[-1]


def test_why_a_round_refuses_a_key() -> None:
    game = game_of(hand_of("S_2 H_A"))
    assert press(game, "p")[0].startswith("p: select 1 to 5 cards first")
    game.session.s.discards_left = 0
    assert press(game, "1d") == ["d: no discards are left in this round."]
    give(game.session.s, "c_death")
    assert press(game, "u1") == ["u n: Death takes 2 cards: 1 is selected."]
    assert press(game, "2u1")[0].startswith("use Death on 2S AH")
    assert press(game, "e")[0].startswith("e: you can enter the next blind before a blind; now: play. Now (play): ")


def test_the_boss_is_not_skipped_or_rerolled_without_the_vouchers() -> None:
    game = new_game()
    press(game, "kk")
    for _ in range(3):  # packs of the tags
        if game.session.s.phase == Phase.PACK:
            press(game, "K")
    assert press(game, "k") == ["k: the boss cannot be skipped: enter it with e."]
    assert "Director's Cut" in press(game, "B")[0]


def test_a_page_closes_on_its_own_key_on_escape_and_on_a_key_of_the_game() -> None:
    game = new_game()
    for keys, page in (("?", "?"), ("?", ""), ("D", "D"), ("i", "i"), ([ESCAPE], ""), ("j", "j"), ("e", "")):
        press(game, keys)
        assert game.page == page
    assert game.session.s.phase == Phase.PLAY


def decisions(player: Baseline, games: Games) -> Iterator[int]:
    """Yield the player's macro decisions until the game is over."""
    playing = np.ones(1, dtype=np.bool_)
    while not games.outcome[0]:
        action = player.choose(games, playing)
        yield int(action[0])
        games.step(action)


@pytest.mark.parametrize("name", ["greedy", "random"])
def test_a_whole_game_by_keys_equals_the_same_game_by_decisions(name: str) -> None:
    game = new_game("PKXK3L4T")
    games = Games(1, "b_red", 1, "PKXK3L4T", reorder="jokers", discrete=False)
    games.reset()
    for action in decisions(Baseline(name), games):
        before = len(game.session.actions)
        said = press_decision(game, action)
        assert len(game.session.actions) == before + 1, said
        assert len(drawn(game)) <= 24
    assert game.session.over
    assert game.session.states.tobytes() == games.states.tobytes()


def test_undo_restores_equal_bytes() -> None:
    game, records = new_game("PKXK3L4T"), []
    games = Games(1, "b_red", 1, "PKXK3L4T", reorder="jokers", discrete=False)
    games.reset()
    for action in decisions(Baseline("greedy"), games):
        records.append((game.session.states.tobytes(), list(game.session.actions)))
        press_decision(game, action)
    final = list(game.session.actions)
    for state, actions in reversed(records):
        assert press(game, "z")[0].startswith("taken back: ")
        assert (game.session.states.tobytes(), game.session.actions) == (state, actions)
    assert press(game, "z") == ["there is no decision to take back"]
    assert game.session.undone == len(records)
    again = Session.resumed(game.session.heading, final)  # type: ignore[arg-type]
    assert again.over
