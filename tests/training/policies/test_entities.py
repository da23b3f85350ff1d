"""The entity policy against the engine's list of legal decisions: probabilities, sampling, and its observations."""

import os
from collections import Counter
from typing import Any

import numpy as np
import pytest

from ante.catalog.cards import Edition
from ante.engine.actions import N_VERBS, Verb, cards_of, is_legal, target_of, to_of, verb_of
from ante.engine.core.state import MAX_HAND, Phase, new_states
from ante.engine.drivers.random_play import fuzz
from ante.engine.options import legal_decisions, legal_targets
from ante.env.entities.layout import ACT_FIRST, ACTS, MAX_ENTITIES, row_t
from ante.env.entities.rows import new_rows, pack, pack_all
from ante.env.games import Games, Outcome
from ante.env.layout import new_observations
from ante.env.observe import REORDER_JOKERS, REORDER_NONE, observe_all
from ante.knowledge.embeddings import packaged
from tests.env.test_observe import shuffle_what_is_hidden
from tests.support.hidden import hide_more
from tests.support.table import facing, give, hand_of, in_hand, own

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")


@pytest.fixture(autouse=True)
def one_thread():
    """Use one thread for small products: several threads mostly wait for each other on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


ORDERING = (Verb.SORT_HAND, Verb.MOVE_JOKER, Verb.MOVE_CARD)


def policy(seed: int = 0, **options: Any):
    """Return a policy with clearly unequal probabilities."""
    from ante.training.policies.entities import EntityPolicy, macro_space, row_space

    torch.manual_seed(seed)
    made = EntityPolicy(observation_space=row_space(), action_space=macro_space(), model_config=options)
    for layer in (made.verbs, made.targets, made.cards.stop):
        torch.nn.init.normal_(layer.weight, std=0.5)
    torch.nn.init.normal_(made.cards.query.weight, std=0.3)
    return made


def rows_of(states: np.recarray, reorder: int = REORDER_NONE) -> np.recarray:
    """Return the policy's rows of these games."""
    seen, rows = new_observations(len(states)), new_rows(len(states))
    observe_all(states, seen, reorder)
    pack_all(states, seen, rows)
    return rows


def gathered(*games: Any) -> np.recarray:
    """Return games as one batch."""
    states = new_states(len(games))
    for i, s in enumerate(games):
        states[i] = s
    return states


def positions(seed: int, games: int = 480, each: int = 12) -> np.recarray:
    """Return games of all decks, stakes and challenges: `each` of every phase, with up to ten cards in hand."""
    states = new_states(games)
    fuzz(states, games * 37, seed, 1, np.zeros(4, dtype=np.int64))
    chosen: dict[int, list[Any]] = {}
    for s in states:
        if s.n_hand <= 10:
            chosen.setdefault(int(s.phase), []).append(s)
    assert set(chosen) >= {Phase.BLIND_SELECT, Phase.PLAY, Phase.SHOP, Phase.PACK}
    chosen.pop(Phase.OVER, None)
    return gathered(*(s for group in chosen.values() for s in group[:each]))


def unusual() -> np.recarray:
    """Return positions that random ones may miss: forced cards, Aura, Death, the cash-out screen, a crowded table."""
    bell = facing("bl_final_bell", held=("c_death", "c_magician"))
    assert sum(card.forced for card in in_hand(bell)) == 1
    aura = hand_of("S_A H_K D_2 C_3 S_5")
    give(aura, "c_aura", "c_death")
    in_hand(aura)[1].edition = Edition.FOIL
    in_hand(aura)[3].edition = Edition.POLYCHROME
    blind = hand_of("S_A H_K D_2")
    give(blind, "c_aura")
    for card in in_hand(blind)[:2]:
        card.face_down = 1
    single = hand_of("S_A")
    give(single, "c_death", "c_hanged_man")
    crowded = hand_of("S_A H_K D_2 C_3 S_5")
    own(crowded, *["j_joker"] * 5)
    crowded.jokers[2].edition = Edition.NEGATIVE
    ended = hand_of("S_A H_K")
    ended.phase, ended.payout = Phase.ROUND_END, 4
    return gathered(bell, aura, blind, single, crowded, ended)


def decisions_of(s: Any, jokers_move: bool = False) -> np.ndarray:
    """Return every decision that the policy may take in a position, from the engine's list."""
    out = np.zeros(100_000, dtype=np.int64)
    out = out[: legal_decisions(s, out)]
    keep = [
        verb_of(a) not in ORDERING or (jokers_move and verb_of(a) == Verb.MOVE_JOKER and to_of(a) == target_of(a) + 1)
        for a in out
    ]
    return out[np.array(keep, dtype=np.bool_)]


def log_probs(made: Any, rows: np.recarray, i: int, actions: np.ndarray) -> Any:
    """Return log-probabilities of these decisions in row i."""
    with torch.no_grad():
        return made.evaluate(np.repeat(rows[i : i + 1], len(actions)), actions)[0].double()


# ---- probabilities ----


@pytest.mark.parametrize("reorder", [REORDER_NONE, REORDER_JOKERS])
def test_probabilities_of_all_legal_decisions_sum_to_one(reorder: int) -> None:
    made = policy()
    for states in (positions(5 + reorder), unusual()):
        rows = rows_of(states, reorder)
        for i, s in enumerate(states):
            actions = decisions_of(s, reorder == REORDER_JOKERS)
            assert len(actions)
            assert log_probs(made, rows, i, actions).exp().sum().item() == pytest.approx(1.0, abs=1e-5)


def test_no_illegal_decision_has_probability() -> None:
    made, states = policy(), unusual()
    rows, tried = rows_of(states), 0
    rng = np.random.default_rng(3)
    for i, s in enumerate(states):
        verbs = rng.choice(
            [Verb.PLAY, Verb.DISCARD, Verb.USE, Verb.SELL_CONSUMABLE, Verb.SELL_JOKER, Verb.CASH_OUT], 300
        )
        cards = rng.integers(0, 1 << int(s.n_hand), 300)
        actions = verbs.astype(np.int64) | (rng.integers(0, 4, 300) << 6) | (cards << 22)
        offered = set(decisions_of(s).tolist())
        actions = np.array([a for a in actions if not is_legal(s, a)])
        assert not offered & set(actions.tolist())
        tried += len(actions)
        # The target of a verb without targets is not part of its decision.
        actions = actions[
            [int(a) & 63 in (Verb.USE, Verb.SELL_CONSUMABLE, Verb.SELL_JOKER) or not a >> 6 & 255 for a in actions]
        ]
        assert log_probs(made, rows, i, actions).exp().max() == 0
    assert tried > 500


def test_drawn_decisions_have_the_probability_they_were_drawn_with() -> None:
    made, states = policy(1), positions(8)
    rows = rows_of(states)
    rng = torch.Generator().manual_seed(1)
    for _ in range(20):
        actions, log_prob, value = made.act(rows, rng)[:3]
        again, _, value_again = made.evaluate(rows, actions)
        assert torch.allclose(log_prob, again.detach(), atol=1e-5)
        assert torch.allclose(value, value_again.detach(), atol=1e-5)
    assert (actions.dtype, log_prob.dtype, value.dtype) == (torch.int64, torch.float32, torch.float32)


def chi_square_limit(freedom: int) -> float:
    """Return the value that chi-square exceeds about once in 10,000 times (Wilson and Hilferty)."""
    spread = 2 / (9 * freedom)
    return float(freedom * (1 - spread + 3.72 * spread**0.5) ** 3)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(4))
def test_decisions_are_drawn_as_often_as_their_probability_says(number: int) -> None:
    made, draws = policy(2), 20_000
    rows = rows_of(unusual())
    s = unusual()[number]
    actions = decisions_of(s)
    expected = log_probs(made, rows, number, actions).exp().numpy() * draws
    drawn = made.act(np.repeat(rows[number : number + 1], draws), torch.Generator().manual_seed(7))[0]
    counts = Counter(drawn.tolist())
    assert set(counts) <= set(actions.tolist())
    found = np.array([counts[int(a)] for a in actions])
    often = expected >= 5
    found = np.append(found[often], found[~often].sum())
    expected = np.append(expected[often], max(expected[~often].sum(), 1e-9))
    if expected[-1] < 5:
        found, expected = found[:-1], expected[:-1]
    assert len(found) > 3
    assert ((found - expected) ** 2 / expected).sum() < chi_square_limit(len(found) - 1)


def test_entropy_is_that_of_the_decisions() -> None:
    made, states = policy(3), unusual()
    rows = rows_of(states)
    for i, s in enumerate(states):
        actions = decisions_of(s)
        with torch.no_grad():
            logs, entropies, _ = made.evaluate(np.repeat(rows[i : i + 1], len(actions)), actions)
        # Its mean over sampled decisions is the entropy of the joint distribution.
        exact = -(logs.exp() * logs).sum()
        assert (logs.exp() * entropies).sum().item() == pytest.approx(exact.item(), abs=1e-4)


def test_the_likeliest_choice_is_legal_and_draws_nothing() -> None:
    made, states = policy(4), positions(9)
    actions, _, _ = made.act(rows_of(states), None, likeliest=True)[:3]
    assert torch.equal(actions, made.act(rows_of(states), None, likeliest=True)[0])
    assert all(is_legal(s, np.int64(a)) for s, a in zip(states, actions.tolist(), strict=True))


# ---- play ----


@pytest.mark.parametrize(
    ("reorder", "deck", "stake", "seed"),
    [
        pytest.param("none", "b_magic", 8, 1, marks=pytest.mark.slow),
        ("jokers", "b_ghost", 8, 2),
        pytest.param("none", "b_red", 1, 0, marks=pytest.mark.slow),
        pytest.param("none", "b_black", 5, 3, marks=pytest.mark.slow),
    ],
)
def test_no_drawn_decision_is_ever_refused(reorder: str, deck: str, stake: int, seed: int) -> None:
    made = policy(seed)
    games = Games(128, deck, stake, reorder=reorder, discrete=False, flat=False)
    games.reset()
    games.states.one_chip_blinds[:] = seed % 2  # half of the games get far
    rows, rng, ended = new_rows(games.n), torch.Generator().manual_seed(seed), 0
    for _ in range(100):
        pack(games, rows)
        actions = made.act(rows, rng)[0].numpy()
        assert games.refused(actions) == -1
        games.step(actions)
        over = np.flatnonzero(games.outcome != Outcome.PLAYING)
        ended += len(over)
        if len(over):
            games.reset(over)
            games.states.one_chip_blinds[over] = seed % 2
    assert ended > 0


def test_the_player_plays_whole_games_alike_from_one_seed() -> None:
    from ante.agents.evaluate import evaluate
    from ante.agents.seed_lists import evaluation_seeds
    from ante.training.acting.player import PolicyPlayer

    made = policy(5)
    one, two = (evaluate(PolicyPlayer(made, "x", seed=3), evaluation_seeds(4), max_decisions=150) for _ in range(2))
    assert [record.actions for record in one.records] == [record.actions for record in two.records]
    assert all(record.actions for record in one.records)


def test_a_run_s_checkpoint_is_loaded_as_the_player_of_its_policy(tmp_path: Any) -> None:
    from ante.agents.evaluate import evaluate
    from ante.agents.seed_lists import evaluation_seeds
    from ante.training.acting.player import PolicyPlayer, make_player
    from ante.training.policies.registry import load_policy
    from ante.training.run_store.checkpoints import save_checkpoint
    from ante.training.settings.config import make_config
    from tests.support.checkpoints import write_policy

    config = make_config({"policy.kind": "entities"})
    made = policy(11, **config.policy.network())
    write = lambda folder: write_policy(made, config, folder)  # noqa: E731
    save_checkpoint(tmp_path / "checkpoints", 1, write, {"timesteps": 1, "policy": "entities"}, best=True)
    loaded, metadata = load_policy(tmp_path)
    players = [make_player(loaded, "x", likeliest=True), PolicyPlayer(made, "x", likeliest=True)]
    reports = [evaluate(player, evaluation_seeds(2), max_decisions=60) for player in players]
    assert metadata["policy"] == "entities"
    assert not players[0].discrete
    assert reports[0].records == reports[1].records


def test_a_game_that_is_over_has_no_decision() -> None:
    s = hand_of("S_A")
    s.phase = Phase.OVER
    made, rows = policy(), rows_of(gathered(s))
    actions, log_prob, _ = made.act(rows, torch.Generator())[:3]
    assert (actions.item(), log_prob.item()) == (-1, 0)
    again, entropies, _ = made.evaluate(rows, actions)
    assert (again.item(), entropies.item()) == (0, 0)


# ---- the network ----


def test_every_weight_has_a_finite_gradient() -> None:
    made, rows = policy(6), rows_of(gathered(*positions(12), *unusual()))
    actions, _, _ = made.act(rows, torch.Generator().manual_seed(1))[:3]
    log_prob, entropies, value = made.evaluate(rows, actions)
    (log_prob.sum() + entropies.sum() + value.square().sum()).backward()
    for name, weights in made.named_parameters():
        assert weights.grad is not None, name
        assert torch.isfinite(weights.grad).all(), name
        assert weights.grad.abs().sum() > 0, name


def test_padding_and_neighbours_do_not_matter() -> None:
    made, states = policy(7), positions(13)
    rows = rows_of(states)
    actions, _, _ = made.act(rows, torch.Generator().manual_seed(2))[:3]
    many = np.concatenate([rows] * 12)  # enough rows to be grouped
    assert len(many) > 300
    with torch.no_grad():
        plain = made.evaluate(rows, actions)
        full = made.evaluate(rows, actions, length=MAX_ENTITIES)
        grouped = made.evaluate(many, actions.repeat(12))
        alone = [made.evaluate(rows[i : i + 1], actions[i : i + 1]) for i in range(len(rows))]
    for k in range(3):
        assert torch.allclose(plain[k], full[k], atol=1e-5)
        assert torch.allclose(plain[k], grouped[k][: len(rows)], atol=1e-5)
        assert torch.allclose(grouped[k][: len(rows)], grouped[k][-len(rows) :], atol=1e-5)
        assert torch.allclose(plain[k], torch.cat([each[k] for each in alone]), atol=1e-5)


def test_bytes_and_records_are_read_alike() -> None:
    made, rows = policy(), rows_of(positions(14, each=2))
    data = torch.from_numpy(rows.view(np.uint8).reshape(len(rows), row_t.itemsize).copy())
    one, two = (made.act(seen, torch.Generator().manual_seed(3))[:3] for seen in (rows, data))
    assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))


def test_half_precision_draws_legal_decisions_with_probabilities_that_sum_to_one() -> None:
    made, states = policy(8), unusual()
    rows = rows_of(states)
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
        for i, s in enumerate(states):
            actions = decisions_of(s)
            probabilities = made.evaluate(np.repeat(rows[i : i + 1], len(actions)), actions)[0].double().exp()
            assert probabilities.sum().item() == pytest.approx(1.0, abs=0.05)  # products are rounded to 8 bits
            drawn, log_prob, _ = made.act(np.repeat(rows[i : i + 1], 50), torch.Generator().manual_seed(4))[:3]
            assert set(drawn.tolist()) <= set(actions.tolist())
            assert log_prob.dtype == torch.float32


def test_vectors_of_jokers_are_an_input() -> None:
    states = gathered(hand_of("S_A H_K"))
    own(states[0], "j_egg")
    rows = rows_of(states)
    made = policy(joker_vectors=packaged().digest)
    values = made.act(rows, torch.Generator())[2]
    made.entities.facts[:, -128:] = 0
    assert not torch.allclose(values, made.act(rows, torch.Generator())[2])


def test_rllib_reaches_the_policy_through_its_own_interface() -> None:
    from ray.rllib.core.columns import Columns

    made, rows = policy(9), rows_of(positions(15, each=2))
    out = made.forward_exploration({Columns.OBS: rows, "rng": torch.Generator().manual_seed(5)})
    trained = made.forward_train({Columns.OBS: rows, Columns.ACTIONS: out[Columns.ACTIONS]})
    assert torch.allclose(out[Columns.ACTION_LOGP], trained[Columns.ACTION_LOGP].detach(), atol=1e-5)
    assert torch.allclose(made.compute_values({Columns.OBS: rows}), trained[Columns.VF_PREDS], atol=1e-5)
    again = policy(10)
    again.set_state(made.get_state())
    assert torch.equal(again.compute_values({Columns.OBS: rows}), made.compute_values({Columns.OBS: rows}))


# ---- the rows ----


def test_rows_say_which_verbs_and_targets_are_legal() -> None:
    legal = np.zeros((N_VERBS, MAX_HAND), dtype=np.uint8)
    for states in (positions(16), unusual()):
        for s, row in zip(states, rows_of(states, REORDER_JOKERS), strict=True):
            legal_targets(s, legal)
            legal[[Verb.SORT_HAND, Verb.MOVE_CARD]] = 0
            verbs = sum(int(bits) << 8 * i for i, bits in enumerate(row.verbs))
            assert [verbs >> verb & 1 for verb in range(N_VERBS)] == legal.any(axis=1).astype(int).tolist()
            entities = {int(row.place[i]): int(row.flag_bits[i]) for i in range(int(row.n_entities))}
            for verb, place, mark in ACTS:
                found = [
                    target
                    for target in range(MAX_HAND)
                    if entities.get(place + target, 0) & mark and legal[verb, target]
                ]
                wanted = np.flatnonzero(legal[verb]).tolist()
                if verb == Verb.MOVE_JOKER:
                    wanted = [t for t in wanted if is_legal(s, np.int64(verb | t << 6 | (t + 1) << 14))]
                assert found == wanted, verb


def test_a_row_does_not_depend_on_what_stood_there_before() -> None:
    states = positions(17)
    fresh, used = rows_of(states), new_rows(len(states))
    used.view(np.uint8)[:] = 255
    used["spare"] = 0
    seen = new_observations(len(states))
    observe_all(states, seen, REORDER_NONE)
    pack_all(states, seen, used)
    assert used.tobytes() == fresh.tobytes()
    assert row_t.itemsize <= 1024


def test_rows_tell_nothing_hidden() -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        states = positions(20 + seed)
        hide_more(states)
        rows_before, before = rows_of(states).tobytes(), states.tobytes()
        for s in states:
            shuffle_what_is_hidden(s, rng)
        assert states.tobytes() != before
        assert rows_of(states).tobytes() == rows_before


def test_only_aura_requires_a_hidden_edition() -> None:
    s = hand_of("S_A H_K D_2")
    in_hand(s)[0].face_down = 1
    plain = rows_of(gathered(s))
    in_hand(s)[0].edition = Edition.FOIL
    # The number of unknown editions is visible too, as in the game's view of the deck.
    hidden = rows_of(gathered(s))
    assert plain["flag_bits"].tobytes() == hidden["flag_bits"].tobytes()
    assert plain["trait"].tobytes() == hidden["trait"].tobytes()
    give(s, "c_aura")
    asked = rows_of(gathered(s))[0]
    assert [int(asked.flag_bits[i]) & ACT_FIRST for i in range(3)] == [0, ACT_FIRST, ACT_FIRST]


def test_counts_of_cards_of_a_decision_are_those_it_was_drawn_for() -> None:
    made, states = policy(10), unusual()
    drawn = made.act(np.repeat(rows_of(states)[:1], 4000), torch.Generator().manual_seed(6))[0].tolist()
    bell = next(i for i, card in enumerate(in_hand(states[0])) if card.forced)
    sizes: dict[Verb, set[int]] = {}
    for action in drawn:
        verb, cards = Verb(verb_of(action)), int(cards_of(action))
        sizes.setdefault(verb, set()).add(cards.bit_count())
        assert verb not in (Verb.PLAY, Verb.DISCARD) or cards >> bell & 1
    assert sizes[Verb.PLAY] == {1, 2, 3, 4, 5}
    assert sizes[Verb.USE] == {1, 2}
