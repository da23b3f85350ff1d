"""The fast path under Ray Tune: a trial trains, keeps a checkpoint, and goes on from it outside of Tune."""

import os
from pathlib import Path

import pytest

pytest.importorskip("torch")


@pytest.mark.ray
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
def test_a_trial_trains_and_its_checkpoint_goes_on(local_ray: None, tmp_path: Path) -> None:
    from ray import tune

    from ante.training.algorithm import ENV, fast_config, make_env
    from ante.training.config import TrainConfig
    from ante.training.fast import FastPPO

    tune.register_env(ENV, make_env)
    config = TrainConfig(games=8, batch=128, minibatch=64, epochs=1, hidden=(16,), max_decisions=60)
    tuner = tune.Tuner(
        FastPPO,
        param_space=fast_config(config).training(lr=tune.grid_search([1e-3, 1e-2])),
        run_config=tune.RunConfig(
            name="two",
            storage_path=str(tmp_path),
            stop={"training_iteration": 2},
            checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=True),
            verbose=0,
        ),
        tune_config=tune.TuneConfig(max_concurrent_trials=1),
    )
    results = tuner.fit()
    assert not results.errors
    assert [each.metrics["num_env_steps_sampled_lifetime"] for each in results] == [256, 256]
    assert {each.config["lr"] for each in results} == {1e-3, 1e-2}
    losses = [each.metrics["learners"]["default_policy"]["policy_loss"] for each in results]
    assert losses[0] != losses[1]
    again = FastPPO.from_checkpoint(results[0].checkpoint.path)
    assert again.iteration == 2
    assert again.train()["num_env_steps_sampled_lifetime"] == 384
    again.stop()
