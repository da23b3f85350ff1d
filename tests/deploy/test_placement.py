"""The placement check: valid settings pass, and each impossible one is refused with its reason."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from ante.deploy.placement import DoesNotFit, check_fits, make_plan, problems, train_values
from ante.deploy.settings import make_settings, preset, presets, read_settings
from ante.training.settings.config import make_config
from tests.cluster.conftest import SMALL, VALUES
from tests.cluster.test_faults import GROUPS
from tests.cluster.test_services import SETS
from tests.cluster.test_upgrade import LONG

CPU_ONLY: dict[str, Any] = {"gpuWorkers": {"enabled": False}, "cpuWorkers": {"enabled": True, "replicas": 2}}
SCALING = {"autoscaling": {"enabled": True}}
IMPOSSIBLE: dict[str, tuple[dict[str, Any], str]] = {
    "no workers": ({"gpuWorkers": {"enabled": False}}, "the cluster has no worker pod"),
    "a sweep and a comparison": (
        {"training": {"sweep": {"search": {}}, "compare": {"entries": {"one": {}}}}},
        "training.sweep and training.compare are both set",
    ),
    "several runs on one port": (
        {
            "gpuWorkers": {"replicas": 2},
            "training": {"learners": 2, "metricsPort": 9100, "compare": {"entries": {"a": {}}}},
        },
        "training.metricsPort serves one run",
    ),
    "no pods": ({"gpuWorkers": {"replicas": 0}}, "the cluster has no worker pod"),
    "no learner": ({"training": {"learners": 0}}, "training.learners 0 would train in the head"),
    "learner without pods": (
        {"gpuWorkers": {"replicas": 0}, "cpuWorkers": {"enabled": True}},
        "1 learners need pods of gpuWorkers, which has none",
    ),
    "learner on spot": (
        {**CPU_ONLY, "cpuWorkers": {"enabled": True, "spot": True}, "training": {"learnerGpus": 0}},
        "the learner would run on spot pods",
    ),
    "learner wants a GPU of a CPU pod": (CPU_ONLY, "a learner needs 1 GPU, a pod of cpuWorkers has 0"),
    "runner wants a GPU of a CPU pod": (
        {"cpuWorkers": {"enabled": True, "runnersPerWorker": 2}, "training": {"runnerGpus": 0.1, "learnerGpus": 0.5}},
        "an env runner needs 0.1 of a GPU, a pod of cpuWorkers has 0",
    ),
    "GPUs of a pod overdrawn": (
        {"gpuWorkers": {"runnersPerWorker": 6}, "training": {"runnerGpus": 0.1, "learnerGpus": 0.5}},
        "need 1.1 GPUs, a pod of gpuWorkers has 1",
    ),
    "a share above one GPU": (
        {"gpuWorkers": {"gpus": 4}, "training": {"learnerGpus": 1.5}},
        "training.learnerGpus 1.5 is not supported by Ray",
    ),
    "cores of a pod overdrawn": ({"gpuWorkers": {"runnersPerWorker": 8}}, "need 9 cores, a pod of gpuWorkers has 8"),
    "a runner larger than a pod": (
        {"gpuWorkers": {"runnersPerWorker": 1}, "training": {"runnerCpus": 9}},
        "an env runner needs 9 cores, a pod of gpuWorkers has 8",
    ),
    "no runner": ({"gpuWorkers": {"runnersPerWorker": 0}}, "the cluster has no env runner"),
    "memory of a pod overdrawn": (
        {"gpuWorkers": {"cpus": 64, "memory": "16Gi"}},
        "63 runners, 1 learners and the object store need about",
    ),
    "object store too large": ({"head": {"memory": "1Gi"}}, "head.objectStoreMib 1024 is more than 60 %"),
    "request above limit": ({"head": {"cpuRequest": "4"}}, "head.cpuRequest 4 is more than the limit, head.cpus 2"),
    "memory request above limit": ({"head": {"memoryRequest": "13Gi"}}, "head.memoryRequest 13Gi is more than"),
    "bounds crossed": (
        {**SCALING, "gpuWorkers": {"minReplicas": 3, "maxReplicas": 2}},
        "gpuWorkers.minReplicas 3 is more than maxReplicas 2",
    ),
    "replicas out of bounds": (
        {**SCALING, "gpuWorkers": {"replicas": 5, "maxReplicas": 2}},
        "gpuWorkers.replicas 5 is not between",
    ),
    "queue and autoscaling": ({**SCALING, "queue": {"name": "default"}}, "queue default admits a workload as a whole"),
    "priority without queue": ({"queue": {"priorityClass": "high"}}, "queue.priorityClass needs queue.name"),
    "more games than steps": (
        {"training": {"gamesPerRunner": 2048}},
        "more than algo.batch 8192 after a single step; raise algo.batch or lower training.gamesPerRunner",
    ),
    "batch that learners cannot share": (
        {"gpuWorkers": {"gpus": 3, "replicas": 1}, "training": {"learners": 3, "learnerGpus": 0.5}},
        "must be divisible by resources.learners 3",
    ),
    "setting that training does not know": ({"training": {"config": {"epoch": 1}}}, "did you mean algo.epochs?"),
    "setting that follows from the cluster": (
        {"training": {"config": {"resources.runners": 4}}},
        "training.config.resources.runners is derived from the cluster: set gpuWorkers.runnersPerWorker",
    ),
}


@pytest.mark.parametrize("name", presets())
def test_presets_can_run(name: str) -> None:
    assert problems(read_settings((preset(name),))) == []


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_impossible_settings_are_refused_with_the_reason(name: str) -> None:
    values, words = IMPOSSIBLE[name]
    with pytest.raises(DoesNotFit) as refused:
        check_fits(make_settings(values))
    assert words in str(refused.value)


def test_automatic_runners_leave_a_core_and_a_gpu_share_to_the_learner() -> None:
    plan = make_plan(make_settings({"gpuWorkers": {"replicas": 2, "cpus": 8}}))
    assert (plan.load("gpu").runners, plan.load("gpu").learners, plan.runners) == (7, 1, 14)
    shared = {"gpuWorkers": {"cpus": 16}, "training": {"runnerGpus": 0.05, "learnerGpus": 0.4}}
    assert make_plan(make_settings(shared)).load("gpu").runners == 12  # (1 - 0.4) / 0.05, and 15 cores


def test_with_autoscaling_the_run_is_cut_for_the_most_pods() -> None:
    values = {**SCALING, "cpuWorkers": {"enabled": True, "replicas": 1, "maxReplicas": 8, "cpus": 4}}
    assert make_plan(make_settings(values)).load("cpu").pods == 8


@pytest.mark.parametrize(("cpus", "runner_cpus", "learner_gpus"), [*product((1, 3, 8), (0.5, 1, 2), (0, 0.5, 1))])
def test_an_automatic_cut_that_passes_never_overdraws_a_pod(cpus: int, runner_cpus: float, learner_gpus: float) -> None:
    training = {"runnerCpus": runner_cpus, "learnerGpus": learner_gpus, "runnerGpus": 0.25}
    settings = make_settings({"gpuWorkers": {"cpus": cpus}, "training": training})
    load = make_plan(settings).load("gpu")
    fits = load.runners * runner_cpus + 1 <= cpus and load.runners * 0.25 + learner_gpus <= 1 and load.runners > 0
    assert (problems(settings) == []) == fits


def test_the_file_for_training_is_one_that_training_takes() -> None:
    config = make_config(train_values(read_settings((preset("gpu"),), ("training.config.algo.lr=0.001",))))
    assert (
        config.resources.runners,
        config.resources.games_per_runner,
        config.resources.learners,
        config.resources.learner_gpus,
        config.algo.lr,
    ) == (10, 64, 2, 0.5, 0.001)


SEARCH = {"search": {"algo.lr": {"low": 1e-4, "high": 1e-3}}, "method": "random", "trials": 4}


@pytest.mark.parametrize(("kind", "keys", "learners"), [("sweep", SEARCH, 0), ("compare", {"entries": {"a": {}}}, 1)])
def test_runs_at_a_time_divide_the_env_runners_and_fit_the_places_of_the_pods(
    kind: str, keys: dict[str, Any], learners: int
) -> None:
    pytest.importorskip("ray")
    from ante.training.sweeps.trial import bundles_of

    training = {"learners": 2, "learnerGpus": 0.5, "gamesPerRunner": 8, kind: keys}
    settings = make_settings({"gpuWorkers": {"cpus": 8, "gpus": 1}, "training": training})
    load = check_fits(settings).load("gpu")
    assert (load.runners, load.learners) == (6, 2)
    config = make_config(train_values(settings))
    assert (config.resources.runners, config.resources.learners) == (3, learners)
    run = [one for one in bundles_of(config) if kind == "sweep" or one != {"CPU": 1.0}]  # no driver on a worker
    for name, offered in (("GPU", 1), ("ante_runner", load.runners), ("ante_learner", load.learners)):
        assert 2 * sum(one.get(name, 0) for one in run) == offered
    cpus = 2 * sum(one.get("CPU", 0) for one in run)
    assert cpus == 8 if kind == "sweep" else 6, "a learner with a GPU requests no core"


@pytest.mark.parametrize(
    ("training", "words"),
    [
        (
            {"sweep": SEARCH | {"store": "s3://mine"}},
            "training.sweep.store is derived from the cluster: set s3 instead",
        ),
        ({"compare": {"settings": {}}}, "training.compare.settings is derived from the cluster: set training.config"),
        ({"sweep": SEARCH | {"trails": 3}}, "training.sweep: trails: Extra inputs are not permitted"),
        ({"sweep": {"search": {"algo.rl": {"low": 1, "high": 2}}}}, "search.algo.rl is not a setting that can be"),
        ({"sweep": SEARCH, "config": {"algo": {"batch": 8}}}, "training.config"),
    ],
)
def test_files_of_sweeps_and_comparisons_are_checked(training: dict[str, Any], words: str) -> None:
    (found,) = problems(make_settings({"training": training}))
    assert words in found


def test_a_sweep_needs_no_env_runners() -> None:
    values = {"gpuWorkers": {"runnersPerWorker": 0}, "training": {"sweep": SEARCH}}
    settings = make_settings(values)
    assert (problems(settings), train_values(settings)["resources"]["runners"]) == ([], 0)


def test_each_actor_asks_rllib_for_one_of_the_places_that_pods_offer() -> None:
    pytest.importorskip("ray")
    from ante.training.rllib.build import rllib_config

    made = rllib_config(make_config(train_values(make_settings({"gpuWorkers": {"replicas": 2}}))))
    assert made.custom_resources_per_env_runner == {"ante_runner": 1}
    assert made.custom_resources_per_learner == {"ante_learner": 1}
    assert (made.num_env_runners, made.num_learners, made.num_gpus_per_learner) == (14, 1, 1.0)


@pytest.mark.parametrize(
    ("file", "sets"),
    [(SMALL, ()), (VALUES, ()), (VALUES, tuple(GROUPS.split(","))), (SMALL, SETS), (SMALL, (LONG,))],
    ids=["small", "values", "faults", "services", "upgrade"],
)
def test_the_settings_of_the_cluster_tests_can_run(file: Path, sets: tuple[str, ...]) -> None:
    check_fits(read_settings((file,), (*sets, "training.name=cluster")))
