"""The fast path in Ray Tune: trials train, store checkpoints in S3, and one continues outside of Tune."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ante.storage.errors import NoAccess
from ante.storage.opening import open_store
from tests.storage.server import SECRET, Server

pytest.importorskip("torch")

FIT = """
import json, sys
from ray import tune
from ante.training.rllib.build import fast_config
from ante.training.rllib.cluster import init_ray
from ante.training.rllib.ppo import FastPPO
from ante.training.rllib.run_settings import ENV
from ante.training.rllib.stock import make_env
from ante.training.settings.config import make_config
from ante.training.rllib.storage_path import ray_storage

init_ray(address="local", num_cpus=4)
tune.register_env(ENV, make_env)
config = make_config({
    "algo": {"batch": 128, "minibatch": 64, "epochs": 1},
    "policy.hidden": [16],
    "games.max_decisions": 60,
    "resources.games_per_runner": 8,
})
tuner = tune.Tuner(
    FastPPO,
    param_space=fast_config(config).training(lr=tune.grid_search([1e-3, 1e-2])),
    run_config=tune.RunConfig(
        name="two",
        **ray_storage(sys.argv[1]),
        stop={"training_iteration": 2},
        checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=True),
        verbose=0,
    ),
    tune_config=tune.TuneConfig(max_concurrent_trials=1),
)
results = tuner.fit()
assert not results.errors
with results[0].checkpoint.as_directory() as folder:
    again = FastPPO.from_checkpoint(folder)
found = {
    "steps": [each.metrics["num_env_steps_sampled_lifetime"] for each in results],
    "lrs": [each.config["lr"] for each in results],
    "losses": [each.metrics["learners"]["default_policy"]["policy_loss"] for each in results],
    "again": again.iteration,
    "more": again.train()["num_env_steps_sampled_lifetime"],
}
again.stop()
print(json.dumps(found))
"""


@pytest.mark.nightly
@pytest.mark.ray
@pytest.mark.s3
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
def test_trials_train_into_a_store_and_a_checkpoint_goes_on(server: Server, tmp_path: Path) -> None:
    """Run in a separate process, since Ray's processes inherit the environment from its start."""
    url = f"s3:///tune/{tmp_path.name}"  # the bucket is S3_BUCKET_NAME
    environment = {**os.environ, **server.environment()}
    done = subprocess.run(
        [sys.executable, "-c", FIT, url], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["steps"] == [256, 256]
    assert sorted(found["lrs"]) == [1e-3, 1e-2]
    assert found["losses"][0] != found["losses"][1]
    assert (found["again"], found["more"]) == (2, 384)
    store = open_store(url, server.environment())
    kept = [stat.key for stat in store.list("two/") if "/." not in stat.key and not stat.key.endswith("/")]
    assert "two/tuner.pkl" in kept
    assert sum(key.endswith("/rllib_checkpoint.json") for key in kept) == 2
    assert not any(SECRET.encode() in store.get_bytes(key) for key in kept)


def test_a_folder_is_a_path_and_a_bucket_a_file_system_that_contains_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pickle

    from ante.training.rllib.storage_path import ray_storage

    monkeypatch.chdir(tmp_path)
    assert ray_storage("kept") == {"storage_path": str(tmp_path / "kept")}
    monkeypatch.setenv("S3_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("S3_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("S3_SECRET_ACCESS_KEY", SECRET)
    found = ray_storage("s3://game-runs/tune")
    assert found["storage_path"] == "game-runs/tune"
    packed = pickle.dumps(found["storage_filesystem"])
    assert SECRET.encode() not in packed
    assert pickle.loads(packed) == found["storage_filesystem"]  # arrow compares endpoint and credentials
    monkeypatch.delenv("S3_SECRET_ACCESS_KEY")
    with pytest.raises(NoAccess, match="S3_SECRET_ACCESS_KEY is not set"):
        pickle.loads(packed)
