"""The planner: probabilities of both levels by enumeration, kept and new plans, gradients, consistent players."""

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch")
gymnasium = pytest.importorskip("gymnasium")

from ante.catalog.hands import Hand  # noqa: E402
from ante.engine.actions import Verb, is_legal  # noqa: E402
from ante.engine.core.state import Phase  # noqa: E402
from ante.env.games import Games  # noqa: E402
from ante.lookahead.records import LEGAL, MAX_CANDIDATES  # noqa: E402
from ante.training.acting.player import PolicyPlayer  # noqa: E402
from ante.training.policies.planner import (  # noqa: E402
    N_PLANS,
    PLANS,
    UNDECIDED,
    CurrentPlans,
    PlannerPolicy,
    buying,
    fitting,
    in_words,
    periods,
)
from ante.training.policies.shortlist import ShortlistPolicy  # noqa: E402
from ante.training.sampling.fragment import end_to_end  # noqa: E402
from tests.support.lists import small  # noqa: E402


def made(kind: type = PlannerPolicy) -> PlannerPolicy:
    policy: PlannerPolicy = small(kind)
    with torch.no_grad():  # far from the initial weights, with which plans hardly matter
        own = (policy.plan.weight, policy.under.weight) if kind is PlannerPolicy else ()
        for parameter in (policy.score.weight, *own):
            parameter.add_(0.5 * torch.randn(parameter.shape))
    return policy


@pytest.fixture(scope="module")
def policy() -> PlannerPolicy:
    return made()


def step(policy: PlannerPolicy, games: Games, held: CurrentPlans, rng: torch.Generator) -> tuple[np.ndarray, ...]:
    """Return rows, actions and decisions of all games, which have plans and are about to take the actions."""
    rows = np.zeros(games.n, dtype=policy.row_t)
    policy.pack(games, rows)
    held.observe(games, rows)
    choice = policy.act(rows, rng)
    held.advance(np.arange(games.n), choice.carry)
    actions = choice.actions.numpy()
    assert np.array_equal(choice.carry, actions // MAX_CANDIDATES)
    return rows, actions, policy.decisions(rows, actions)


@pytest.fixture(scope="module")
def played(policy: PlannerPolicy) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and actions (steps, games) of play."""
    games, held, rng = Games(12, discrete=False, reorder="jokers"), CurrentPlans(12), torch.Generator().manual_seed(5)
    games.reset()
    rows, actions = np.zeros((60, 12), dtype=policy.row_t), np.zeros((60, 12), dtype=np.int64)
    for t in range(60):
        rows[t], actions[t], decisions = step(policy, games, held, rng)
        games.step(decisions)
        ended = np.flatnonzero(games.outcome)
        games.reset(ended)
        held.begin(ended)
    return rows.reshape(-1), actions.reshape(-1)


def test_every_action_is_counted_once_in_probabilities_that_sum_to_one(policy: PlannerPolicy, played: tuple) -> None:
    rows = end_to_end([played[0][played[0]["plan"] == UNDECIDED][:6], played[0][played[0]["plan"] < N_PLANS][:6]])
    legal = (rows["list"]["entries"]["flag_bits"] & LEGAL) != 0
    total = np.zeros(len(rows))
    logs, values = (each.numpy() for each in policy.action_log_probs(rows)[:2])
    for plan, entry in itertools.product(range(N_PLANS), range(MAX_CANDIDATES)):
        open_to = legal[:, entry] & ((rows["plan"] == UNDECIDED) | (rows["plan"] == plan))
        which = np.flatnonzero(open_to)
        number = plan * MAX_CANDIDATES + entry
        assert (logs[~open_to, number] < -1e3).all()
        if len(which):
            with torch.no_grad():
                found, _, own = policy.evaluate(rows[which], np.full(len(which), number))
            assert np.abs(found.numpy() - logs[which, number]).max() < 1e-5
            assert np.abs(own.numpy() - values[which]).max() < 1e-5
            total[which] += np.exp(found.numpy().astype(np.float64))
    assert np.abs(total - 1.0).max() < 1e-5


def test_act_agrees_with_evaluate_and_keeps_current_plans(policy: PlannerPolicy, played: tuple) -> None:
    rows, _ = played
    actions, log_probs, values, _ = policy.act(rows, torch.Generator().manual_seed(3))
    with torch.no_grad():
        again, entropies, same = policy.evaluate(rows, actions.numpy())
    assert torch.allclose(log_probs, again, atol=1e-5) and torch.allclose(values, same, atol=1e-5)
    assert (entropies >= 0).all()
    held = rows["plan"] < N_PLANS
    assert (actions.numpy()[held] // MAX_CANDIDATES == rows["plan"][held]).all() and held.any() and not held.all()
    with torch.no_grad():  # frequencies equal probabilities
        row = rows[~held][:1]
        logs = policy.plan_logs(policy._read(row)[0]).exp()[0].numpy()
    drawn = (
        policy.act(row[np.zeros(20_000, dtype=np.int64)], torch.Generator().manual_seed(4))[0].numpy() // MAX_CANDIDATES
    )
    assert np.abs(np.bincount(drawn, minlength=N_PLANS) / 20_000 - logs).max() < 0.02


def test_plans_last_for_a_blind_or_a_shop_and_no_decision_is_illegal(policy: PlannerPolicy) -> None:
    games, held, rng = Games(8, discrete=False), CurrentPlans(8), torch.Generator().manual_seed(6)
    games.reset()
    before: list[tuple[int, bool] | None] = [None] * 8
    plans, chosen = np.full(8, UNDECIDED), set()
    for _ in range(150):
        rows, actions, decisions = step(policy, games, held, rng)
        for i in range(8):
            s = games.states[i]
            assert is_legal(s, int(decisions[i]))
            now = int(s.round_number), int(s.phase) in (Phase.PLAY, Phase.ROUND_END)
            assert (rows["plan"][i] == UNDECIDED) == (now != before[i])
            if now == before[i]:
                assert rows["plan"][i] == plans[i]
            else:
                chosen.add((Phase(int(s.phase)).name, now[1]))
            before[i], plans[i] = now, actions[i] // MAX_CANDIDATES
        games.step(decisions)
        ended = np.flatnonzero(games.outcome)
        games.reset(ended)
        held.begin(ended)
        for i in ended:
            before[i] = None
    assert chosen >= {("BLIND_SELECT", False), ("PLAY", True)}


def test_gradients_are_those_of_finite_differences(played: tuple) -> None:
    policy = made()
    rows, actions = (each[:40] for each in played)
    weights = torch.linspace(-1, 1, 40)

    def loss() -> torch.Tensor:
        logs, entropies, values = policy.evaluate(rows, actions)
        return (weights * logs + 0.1 * entropies + 0.2 * values * values).sum()

    for parameter in (policy.plan.weight, policy.under.weight, policy.lean, policy.query.weight):
        (slope,) = torch.autograd.grad(loss(), parameter)
        place = tuple(np.unravel_index(int(slope.abs().argmax()), slope.shape))
        with torch.no_grad():
            sides = []
            for step_ in (1e-2, -2e-2):
                parameter[place] += step_
                sides.append(float(loss()))
            parameter[place] += 1e-2
        assert slope[place].item() == pytest.approx((sides[0] - sides[1]) / 2e-2, rel=2e-2, abs=5e-3)
        assert abs(slope[place].item()) > 1e-2


def test_without_its_plan_it_is_the_shortlist_policy(played: tuple) -> None:
    planner, flat = made(), made(ShortlistPolicy)
    flat.load_state_dict(
        {k: v for k, v in planner.state_dict().items() if k.split(".")[0] not in ("plan", "under", "lean")}
    )
    with torch.no_grad():
        planner.under.weight.zero_()
        planner.lean.zero_()
    rows, actions = (each[:100] for each in played)
    inner = np.zeros(100, dtype=flat.row_t)
    inner["flat"], inner["list"] = rows["flat"], rows["list"]
    with torch.no_grad():
        one, _, values = flat.evaluate(inner, actions % MAX_CANDIDATES)
        both, _, same = planner.evaluate(rows, actions)
    held = rows["plan"] < N_PLANS
    assert torch.allclose(one[held], both[held], atol=1e-5) and torch.allclose(values, same, atol=1e-5)
    assert (both.numpy()[~held] < one.numpy()[~held]).all()


def test_who_explains_a_game_tells_the_plans_that_were_played(policy: PlannerPolicy) -> None:
    seeds = ["PLAN1", "PLAN2", "PLAN3"]
    games, explained = Games(3, discrete=False), Games(1, discrete=False)
    games.reset(options={"seed": seeds})
    player = PolicyPlayer(policy, "x", seed=1)
    taken, plans = [], []
    for _ in range(40):
        if games.outcome[1]:
            break
        decisions = player.choose(games, games.outcome == 0)
        taken.append(int(decisions[1]))
        plans.append(int(player.played(games)._carry[1]))
        games.step(decisions)
    explained.reset(options={"seed": seeds[1:2]})
    other = PolicyPlayer(policy, "y", seed=99)
    for decision, plan in zip(taken, plans, strict=True):
        note = other.explain(explained, decision)
        assert note.plan == in_words(plan) and note.chance is not None
        explained.step(np.array([decision]))
    assert len(set(plans)) > 1


def test_a_plan_leans_to_what_it_says() -> None:
    fits, buys = fitting(), buying()
    flush, save = PLANS.index(("flush", "spend")), PLANS.index(("flush", "save"))
    assert fits[flush, 1 + Hand.FLUSH] == 1 and fits[flush, 1 + Hand.PAIR] == 0 and fits[0].sum() == 0
    assert buys[flush, Verb.BUY] == 1 and buys[save, Verb.BUY] == -1 and buys[save, Verb.PLAY] == 0


def test_fates_follow_from_seed_and_period() -> None:
    games = Games(64, discrete=False)
    games.reset()
    fates = CurrentPlans(64).seeded_uniforms
    first = fates(games)
    assert (fates(games) == first).all() and len(set(first)) == 64 and (first >= 0).all() and (first < 1).all()
    assert (periods(games) == 1).all()
