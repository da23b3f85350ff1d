"""Normalisation statistics: sums over parts equal sums over the whole; rescaling the value head keeps its values."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")


def test_discounted_returns_begin_anew_with_each_game() -> None:
    from ante.training.numerics.normalisation import discounted, mean_and_spread

    rng = np.random.default_rng(1)
    rewards, cut = rng.normal(size=(40, 3)).astype(np.float32), rng.random((40, 3)) < 0.2
    every = []
    for game in range(3):
        sofar = 0.0
        for t in range(40):
            sofar = 0.9 * sofar + float(rewards[t, game])
            every.append(sofar)
            if cut[t, game]:
                sofar = 0.0
    running = np.zeros(3)  # two fragments of the same games
    found = discounted(rewards[:25], cut[:25], 0.9, running) + discounted(rewards[25:], cut[25:], 0.9, running)
    assert found[0] == len(every)
    assert mean_and_spread(found) == pytest.approx((np.mean(every), np.std(every)))


def test_rewards_ten_times_as_large_are_the_same_once_normalised() -> None:
    from ante.training.numerics.normalisation import Scales, discounted, nothing

    rng, cut = np.random.default_rng(2), np.zeros((50, 4), dtype=bool)
    small = rng.normal(size=(50, 4)).astype(np.float32)
    normalised = []
    for rewards in (small, 10 * small):
        scales = Scales()
        own = discounted(rewards, cut, 0.99, np.zeros(4))
        first = scales.rewards(rewards, own)
        scales.returns = scales.returns + own
        normalised.append(first)
        np.testing.assert_allclose(scales.rewards(rewards, nothing()), first, rtol=1e-6)
    np.testing.assert_allclose(normalised[0], normalised[1], rtol=1e-5)
    assert not np.allclose(normalised[0], small)


def test_no_reward_at_all_stays_no_reward_and_a_rare_one_is_limited() -> None:
    from ante.training.numerics.normalisation import REWARD_LIMIT, Scales, moments

    rewards = np.zeros((1000, 4), dtype=np.float32)
    assert (Scales().rewards(rewards, moments(rewards)) == 0).all()
    rewards[7, 1] = 1.0
    assert Scales().rewards(rewards, moments(rewards)).max() == REWARD_LIMIT


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_reward_that_is_not_finite_is_no_part_of_the_spread(bad: float) -> None:
    from ante.training.numerics.normalisation import Scales, are_finite, mean_and_spread, moments

    rewards = np.array([[3.0], [5.0], [bad]], dtype=np.float32)
    with np.errstate(invalid="ignore"):
        own = moments(rewards)
    assert not are_finite(own) and np.isnan(mean_and_spread(own)).all()
    found = Scales(moments(np.array([-2.0, 2.0]))).rewards(rewards, own)
    assert found[:2, 0].tolist() == [1.5, 2.5] and not 0 <= found[2, 0] < 10


def test_the_value_head_means_the_same_after_new_targets_are_seen() -> None:
    from ante.training.numerics.normalisation import moments
    from ante.training.policies.layers import ValueHead

    torch.manual_seed(3)
    head, features = ValueHead(8), torch.randn(20, 8)
    rng = np.random.default_rng(4)
    for size in (1.0, 30.0, 0.1):
        meant = head(features).detach().numpy()
        targets = (5 + size * rng.normal(size=500)).astype(np.float32)
        head.see_targets(moments(targets))
        np.testing.assert_allclose(head(features).detach().numpy(), meant, rtol=1e-4, atol=1e-4)
        if size == 1.0:
            outputs = (targets - float(head.mean)) / float(head.spread)
            assert (outputs.mean(), outputs.std()) == pytest.approx((0, 1), abs=1e-4)


def test_what_was_seen_long_ago_fades_from_the_targets() -> None:
    from ante.training.numerics.normalisation import moments
    from ante.training.policies.layers import ValueHead

    head = ValueHead(2)
    for mean in [0.0] * 10 + [8.0] * 100:
        head.see_targets(moments(np.array([mean - 1, mean + 1], dtype=np.float32)))
    assert (float(head.mean), float(head.spread)) == pytest.approx((8, 1), abs=0.2)


def test_a_head_without_normalisation_takes_the_scale_into_its_weights() -> None:
    from ante.training.numerics.normalisation import moments, nothing
    from ante.training.policies.layers import ValueHead

    head, features = ValueHead(8), torch.randn(20, 8)
    head.set_scale(moments(np.array([3.0, 9.0, 12.0])))
    meant, weight = head(features).detach(), head.weight.detach().clone()
    head.set_scale(nothing())
    assert (float(head.mean), float(head.spread)) == (0.0, 1.0) and not torch.equal(head.weight, weight)
    np.testing.assert_allclose(head(features).detach(), meant, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["mlp", "shortlist", "lstm", "entities", "planner"])
def test_values_are_exact_in_float32_under_autocast_for_every_policy(kind: str) -> None:
    """A bf16 number near 20 has a resolution of 1/8; the spread multiplies the error of the layers before."""
    from ante.env.games import Games
    from ante.training.numerics.normalisation import moments
    from ante.training.policies.registry import new_policy
    from ante.training.settings.config import make_config
    from tests.support.tiny import tiny_network

    policy = new_policy(make_config(tiny_network(kind)))
    games = Games(4, flat=policy.flat, discrete=policy.discrete)
    games.reset()
    rows, state = np.zeros(4, dtype=policy.row_t), policy.make_state(4)
    policy.pack(games, rows)
    state.observe(games, rows)
    policy.value.set_moments(moments(np.array([20.0, 20.01])))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        values = policy.act(state.view(rows), torch.Generator().manual_seed(0), likeliest=True).values
    values = np.asarray(values)
    assert values.dtype == np.float32 and np.abs(values - 20.005).max() < 0.1
    assert (values != values.astype("f2")).any()


def test_scales_are_saved_as_they_were() -> None:
    from ante.training.numerics.normalisation import Scales

    one, two = Scales(np.array([3.0, 1.0, 2.0])), Scales()
    state = one.state()
    one.returns += 1.0
    two.restore(state)
    assert two.returns.tolist() == [3.0, 1.0, 2.0]
