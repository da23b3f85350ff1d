"""The examples on the shortlist view run, and learn."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from ante.agents.evaluate import evaluate  # noqa: E402
from ante.agents.seed_lists import evaluation_seeds  # noqa: E402
from examples import shortlist_ppo  # noqa: E402


def test_ppo_in_a_single_file_learns(capsys: pytest.CaptureFixture[str]) -> None:
    """A few updates change the weights; the network plays whole games as a player."""
    torch.manual_seed(0)
    net = shortlist_ppo.Net(width=16)
    before = {name: value.clone() for name, value in net.state_dict().items()}
    shortlist_ppo.train(1e-4, net, games=8, steps=16)
    assert " 128 steps" in capsys.readouterr().out.splitlines()[0]
    assert all(not torch.equal(value, before[name]) for name, value in net.state_dict().items() if "bias" in name)
    report = evaluate(shortlist_ppo.NetPlayer(net), evaluation_seeds(4))
    assert report.games == 4 and report.truncated == 0


def test_the_network_ignores_the_order_of_candidates_and_never_takes_an_illegal_one() -> None:
    import gymnasium

    env = gymnasium.make_vec("ante.lookahead:ante/BalatroShortlist-v1", 8, vectorization_mode="vector_entry_point")
    seen, _ = env.reset(seed=0)
    for _ in range(5):
        seen, *_ = env.step(env.action_space.sample())
    net, order = shortlist_ppo.Net(), np.random.default_rng(0).permutation(25)
    moved = {name: view[:, order] if view.shape[1] == 25 else view for name, view in seen.items()}
    with torch.no_grad():
        (policy, value), (other, same) = net(shortlist_ppo.tensors(seen)), net(shortlist_ppo.tensors(moved))
    torch.testing.assert_close(policy.probs[:, order], other.probs)
    torch.testing.assert_close(value, same)
    assert float(policy.probs[torch.from_numpy(seen["action_mask"] == 0)].max()) == 0.0


@pytest.mark.slow
def test_maskable_ppo_of_sb3_trains_and_its_saved_model_plays(tmp_path: Path) -> None:
    pytest.importorskip("sb3_contrib")
    from examples.shortlist_sb3 import Player, train

    model = train(512, games=2)
    assert model.num_timesteps == 512
    model.save(tmp_path / "model.zip")
    report = evaluate(Player(str(tmp_path / "model.zip")), evaluation_seeds(3))
    assert report.games == 3 and report.truncated == 0 and report.mean_decisions > 1


@pytest.mark.ray
@pytest.mark.usefixtures("local_ray")
def test_stock_ppo_of_rllib_trains() -> None:
    from examples.shortlist_rllib import config

    algorithm = config(runners=0, games=2, batch=256).training(minibatch_size=128, num_epochs=1).build_algo()
    result = algorithm.train()
    assert result["env_runners"]["num_env_steps_sampled_lifetime"] >= 256
    assert np.isfinite(result["learners"]["default_policy"]["total_loss"])
    algorithm.stop()
