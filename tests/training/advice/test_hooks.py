"""Hints in a runner, against a broker in this process, and their use in learning."""

import math
import os
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ante.engine.actions import FIRST, Verb, pack_action  # noqa: E402
from ante.engine.core.state import new_states  # noqa: E402
from ante.engine.step import step_discrete  # noqa: E402
from ante.env.games import Games  # noqa: E402
from ante.hints.broker import Broker, Taken  # noqa: E402
from ante.lookahead.candidates import decisions_of, list_candidates  # noqa: E402
from ante.training.advice.asks import HintPlan, HintRequester, discrete_step, number_of  # noqa: E402
from ante.training.advice.hooks import mixed  # noqa: E402
from ante.training.advice.mailbox import BrokerLost  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled"),
]


class Direct:
    """A mailbox without transport, which calls the broker directly. `lost` makes it fail."""

    def __init__(self, broker: Broker) -> None:
        self.broker, self.lost = broker, False
        self.asked = 0

    def _there(self) -> None:
        if self.lost:
            raise BrokerLost

    def ask(self, tickets: list[int], states: Any, reorder: str) -> None:
        self._there()
        self.asked += len(tickets)
        self.broker.ask("me", tickets, states, reorder)

    def note(self, rows: list[dict[str, Any]], compared: int, agreed: int) -> None:
        self._there()
        self.broker.note(rows, compared, agreed)

    def fetch(self) -> Taken | None:
        self._there()
        return self.broker.take("me")


def shortlist_policy() -> Any:
    from ante.training.policies.shortlist import ShortlistPolicy

    torch.manual_seed(0)
    observations, actions = ShortlistPolicy.spaces()
    return ShortlistPolicy(
        observation_space=observations,
        action_space=actions,
        model_config={"hidden": [16, 16], "entry": 8},
    )


def asking(share: float = 0.05, confidence: float = 1.1, n: int = 16) -> tuple[HintRequester, Games, Any, Direct]:
    policy = shortlist_policy()
    games = Games(n, reorder="none", discrete=False)
    games.reset()
    mailbox = Direct(Broker(None, {}))
    plan = HintPlan("none", share, confidence, 0.1, 0.5, 0.1)
    hinting = HintRequester(plan, 0, policy, "none", mailbox)
    hinting.begin(games, 0)
    hinting.exchange()
    return hinting, games, policy, mailbox


def play(hinting: HintRequester, games: Games, policy: Any, steps: int) -> int:
    """Play randomly with this policy and return the number of decisions."""
    generator = torch.Generator().manual_seed(0)
    for _ in range(steps):
        rows = np.zeros(games.n, dtype=policy.row_t)
        policy.pack(games, rows)
        logs = policy.action_log_probs(rows)[0]
        actions = policy.act(rows, generator)[0].numpy()
        hinting.observe(games, rows, logs.amax(dim=1).exp().numpy(), actions)
        games.step(policy.decisions(rows, actions))
        ended = np.flatnonzero(games.outcome)
        if len(ended):
            hinting.ended(games, ended)
            games.reset(ended)
    return steps * games.n


def test_labels_are_the_rules_own_choice_on_the_rows_that_were_asked_about() -> None:
    from ante.hints.rules import choose

    hinting, games, policy, _ = asking()
    play(hinting, games, policy, 200)
    hinting.exchange()
    found = hinting.labelled()
    assert found is not None and len(found.actions) > 50
    for row, action in zip(found.rows, found.actions, strict=True):
        wanted = choose(row["list"])
        both = decisions_of(np.repeat(row["list"]["entries"][None], 2, axis=0), np.array([wanted, action]))
        assert both[0] == both[1]
    assert hinting.labelled() is None


def test_the_budget_is_kept_and_used() -> None:
    hinting, games, policy, mailbox = asking(share=0.05)
    decisions = play(hinting, games, policy, 300)
    assert 0.8 * 0.05 * decisions < hinting.budget.asked <= 0.05 * decisions
    assert mailbox.asked <= hinting.budget.asked


def test_only_unsure_decisions_are_asked_about_and_none_twice() -> None:
    hinting, games, policy, mailbox = asking(share=1.0, confidence=0.15)
    play(hinting, games, policy, 64)
    hinting.exchange()
    rows = [row for row in mailbox.broker.report()["rows"]]
    assert rows and all(row["confidence"] < 0.15 for row in rows)
    found = hinting.labelled()
    assert found is not None
    kinds = {row.tobytes() for row in found.rows}
    assert len(kinds) == len(found.rows)


def test_lines_say_hint_agreement_and_outcome() -> None:
    hinting, games, policy, mailbox = asking()
    play(hinting, games, policy, 300)
    hinting.exchange()
    report = mailbox.broker.report()
    rows = report["rows"]
    assert len(rows) > 30
    for row in rows:
        assert row["outcome"] in ("lost", "won", "truncated") and row["blinds"] >= 0
        assert row["hint"]["source"] == "rules" and row["hint"]["text"] and not row["used_llm"]
    assert mailbox.broker.ledger.agreed >= sum(row["hint"]["agreed"] for row in rows) > 0
    assert report["figures"]["agreement"] == mailbox.broker.ledger.agreement
    known = {"boot": report["boot"], "known": report["known"]}
    assert mailbox.broker.report(**known)["rows"] == []
    assert mailbox.broker.report("another", 3)["rows"] == []


def test_a_broker_that_is_gone_costs_nothing_and_is_found_again() -> None:
    hinting, games, policy, mailbox = asking()
    play(hinting, games, policy, 100)
    mailbox.lost = True
    play(hinting, games, policy, 40)
    asked = hinting.budget.asked
    play(hinting, games, policy, 80)
    assert hinting.budget.asked == asked
    mailbox.lost = False
    hinting._wait_until = 0
    play(hinting, games, policy, 40)
    assert hinting.budget.asked > asked


def test_a_game_starts_from_a_hinted_position_with_its_hint() -> None:
    hinting, games, policy, _ = asking()
    play(hinting, games, policy, 200)
    begun = np.zeros(games.n, dtype=np.bool_)
    kept = {state.view(np.recarray)[0].cards.tobytes(): action for state, action in hinting._kept}
    games.reset()
    hinting.renew(games, np.arange(games.n), begun)
    assert begun.any() and not begun.all()
    for i in np.flatnonzero(begun):
        assert kept[games.states[i].cards.tobytes()] == hinting.followed[i] >= 0
    assert (hinting.followed[~begun] == -1).all()
    rows = np.zeros(games.n, dtype=policy.row_t)
    policy.pack(games, rows)
    logs = policy.action_log_probs(rows)[0]
    assert (logs.numpy()[np.flatnonzero(begun), hinting.followed[begun]] > -50).all()  # the hint is legal


@pytest.mark.parametrize("chance", [0.0, 0.3, 1.0])
def test_the_mixture_is_a_distribution_and_says_how_often_it_draws(chance: float) -> None:
    torch.manual_seed(1)
    logs = torch.randn(3, 7).log_softmax(dim=1)
    followed = np.array([4, -1, 0])
    found = mixed(logs, followed, chance) if chance else logs
    wanted = logs.exp().clone()
    for i, action in enumerate(followed):
        if action >= 0:
            wanted[i] *= 1.0 - chance
            wanted[i, action] += chance
    assert torch.allclose(found.exp(), wanted, atol=1e-6)
    assert torch.allclose(found.exp().sum(dim=1), torch.ones(3))


def test_chances_are_what_the_policy_draws_by() -> None:
    from ante.training.policies.mlp_rows import PackedPolicy

    for kind, settings in ((None, None), (PackedPolicy, {"hidden": [16]})):
        if kind is None:
            policy = shortlist_policy()
        else:
            observations, actions = kind.spaces()
            policy = kind(observation_space=observations, action_space=actions, model_config=settings)
        games = Games(8, reorder="none", discrete=policy.discrete)
        games.reset()
        rows = np.zeros(8, dtype=policy.row_t)
        policy.pack(games, rows)
        logs, values, _ = policy.action_log_probs(rows)
        chosen, log_probs, own = (np.asarray(each) for each in policy.act(rows, torch.Generator().manual_seed(0))[:3])
        assert np.allclose(logs.numpy()[np.arange(8), chosen], log_probs, atol=1e-4)
        assert np.allclose(values.numpy(), own, atol=1e-4)
        assert np.allclose(logs.exp().sum(dim=1).numpy(), 1.0, atol=1e-4)


def test_steps_of_the_discrete_view_lead_to_the_decision() -> None:
    games = Games(1, reorder="none", discrete=True)
    games.reset(options={"seed": "TESTSEED"})
    games.step(np.array([FIRST[Verb.SELECT_BLIND]]))
    s = games.states[0]
    decision = int(pack_action(Verb.DISCARD, 0, 0, 0b10110))
    s.selected = 0b01010
    taken = []
    begin = int(s.discards_left)
    while s.discards_left == begin and len(taken) < 9:
        number = discrete_step(s, decision)
        assert number is not None
        taken.append(number)
        step_discrete(s, number)
    assert taken == [FIRST[Verb.CLEAR], 1, 2, 4, FIRST[Verb.DISCARD]]


def test_a_decision_that_is_not_listed_has_no_number() -> None:
    _, games, policy, _ = asking()
    rows = np.zeros(games.n, dtype=policy.row_t)
    policy.pack(games, rows)
    from ante.training.advice.asks import HintRequest

    state = new_states(1)
    assert number_of(policy, HintRequest(rows[:1], state, 0, {}), int(pack_action(Verb.SELL_JOKER, 3, 0, 0))) is None


def test_shaping_by_a_potential_does_not_change_the_return() -> None:
    """The discounted sum of shaping rewards is the final potential minus the initial one."""
    from ante.training.numerics.advantages import values_after

    rng, gamma = np.random.default_rng(0), 0.99
    potentials = rng.random((9, 2)).astype(np.float32)
    terminal = np.zeros((8, 2), dtype=np.bool_)
    terminal[7, 1] = True
    after = values_after(potentials[:8], potentials[8], np.array([], dtype=np.int64), terminal)
    paid = gamma * after - potentials[:8]
    total = (paid * gamma ** np.arange(8)[:, None]).sum(axis=0)
    assert math.isclose(total[0], gamma**8 * potentials[8, 0] - potentials[0, 0], rel_tol=1e-5)
    assert math.isclose(total[1], -potentials[0, 1], rel_tol=1e-5)


def test_the_potential_finds_a_line_and_then_stands_still() -> None:
    from ante.hints.potential import LAST, N_FEATURES, Potential, potential_of
    from tests.lookahead.test_candidates import some_games

    lists = np.asarray(list_candidates(some_games(400, 3, 1)))
    truth = np.zeros(N_FEATURES)
    truth[0], truth[3], truth[-1] = 0.4, 0.2, -0.1
    wanted = potential_of(lists, truth)
    potential = Potential()
    assert potential.weights is None
    for k in range(LAST + 400):
        potential.add(lists[k % 400], round(100 * float(wanted[k % 400])))
        if k == LAST:
            assert potential.weights is not None
            kept = potential.weights.copy()
    assert potential.weights is not None and np.array_equal(kept, potential.weights)
    assert np.abs(potential_of(lists, potential.weights) - wanted).mean() < 0.02


def test_the_learner_learns_its_hints() -> None:
    """Only imitation changes the policy: all other gradients are 0, and with weight 0 nothing changes."""
    from ray.rllib.core import DEFAULT_MODULE_ID

    from ante.training.learning.ppo import PPOLearner
    from ante.training.policies.shortlist import ShortlistPolicy
    from ante.training.rllib.build import fast_config
    from ante.training.settings.config import make_config

    hinting, games, policy, _ = asking(share=0.3)
    play(hinting, games, policy, 60)
    hinting.exchange()
    found = hinting.labelled()
    assert found is not None
    config = fast_config(
        make_config(
            {
                "policy.kind": "shortlist",
                "hints.source": "rules",
                "policy.hidden": (16, 16),
                "policy.entry": 8,
                "algo.lr": 1e-2,
            }
        )
    )
    spec = config.get_rl_module_spec(spaces={DEFAULT_MODULE_ID: ShortlistPolicy.spaces()})
    learner = PPOLearner(config=config, module_spec=spec)
    learner.build()
    own = learner._policy()
    (term,) = learner.terms
    term.rows.extend(found.rows[k : k + 1] for k in range(len(found.rows)))
    term.actions.extend(map(int, found.actions))
    term.few = 64

    def agreement() -> float:
        likeliest = own.action_log_probs(found.rows)[0].argmax(dim=1).numpy()
        return float((likeliest == found.actions).mean())

    def steps(weight: float) -> None:
        term.weight = weight
        for _ in range(80):
            nothing = {key: torch.zeros_like(parameter) for key, parameter in learner._params.items()}
            gradients = learner._with_terms(own, nothing)
            learner.apply_gradients(learner.postprocess_gradients(gradients))

    before = agreement()
    steps(0.0)
    assert agreement() == before
    steps(1.0)
    assert agreement() > max(0.5, before + 0.2)
    losses = learner._term_losses["imitation_loss"]
    assert losses[-1] < 0.7 * losses[0]
