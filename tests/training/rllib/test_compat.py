"""The names of Ray that we use: the installed version has all of them, and private ones are used only in compat.py."""

import ast
import inspect
import textwrap
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ray = pytest.importorskip("ray")
torch = pytest.importorskip("torch")

from ray.rllib.algorithms.ppo import PPO, PPOConfig  # noqa: E402
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner  # noqa: E402
from ray.rllib.core.learner.learner import Learner  # noqa: E402
from ray.rllib.core.learner.learner_group import LearnerGroup  # noqa: E402
from ray.rllib.env.env_runner_group import EnvRunnerGroup  # noqa: E402
from ray.rllib.utils.checkpoints import Checkpointable  # noqa: E402
from ray.rllib.utils.metrics.metrics_logger import MetricsLogger  # noqa: E402

from ante.training import compat  # noqa: E402
from ante.training.compat import IncompatibleRay  # noqa: E402

SOURCE = Path("src/ante")
MODULES = sorted(file for room in ("training", "bench") for file in (SOURCE / room).rglob("*.py"))
# Methods that RLModule documents for overriding.
OVERRIDDEN = {"_forward", "_forward_inference", "_forward_exploration", "_forward_train"}
LOOK = f"Ray {ray.__version__}: look at src/ante/training/compat.py and at"
RLLIB = (PPO, PPOConfig, PPOTorchLearner, LearnerGroup, EnvRunnerGroup, Checkpointable, MetricsLogger)
# Methods that are called: with their keywords, and their number of positional arguments.
CALLED: dict[Any, dict[str, tuple[int, tuple[str, ...]]]] = {
    EnvRunnerGroup: {
        "foreach_env_runner_async": (1, ("tag", "kwargs")),
        "fetch_ready_async_reqs": (0, ("tags", "timeout_seconds")),
        "num_in_flight_async_reqs": (1, ()),
        "num_remote_env_runners": (0, ()),
        "num_healthy_remote_env_runners": (0, ()),
        "num_remote_worker_restarts": (0, ()),
        "foreach_env_runner": (1, ("local_env_runner", "remote_worker_ids")),
    },
    LearnerGroup: {
        "update": (0, ("training_data", "timesteps", "num_epochs", "minibatch_size")),
        "get_state": (0, ("components", "inference_only")),
    },
    MetricsLogger: {
        "log_value": (2, ("window", "reduce")),
        "aggregate": (1, ("key",)),
        "peek": (1, ("default",)),
        "reduce": (0, ()),
    },
    PPOTorchLearner: {
        "register_optimizer": (0, ("module_id", "optimizer", "params", "lr_or_lr_schedule")),
        "get_parameters": (1, ()),
        "get_optimizer": (0, ()),
        "compute_gradients": (1, ()),
        "postprocess_gradients": (1, ()),
    },
    PPO: {"restore_env_runners": (1, ()), "get_state": (0, ()), "set_state": (1, ())},
}


@cache
def ours_on_rllib() -> tuple[type, ...]:
    """Return our classes that inherit from RLlib's."""
    found = []
    for file in MODULES:
        names = [
            node.name for node in ast.parse(file.read_text()).body if isinstance(node, ast.ClassDef) and node.bases
        ]
        module = import_module(".".join(file.with_suffix("").parts[1:])) if names else None
        made = [getattr(module, name) for name in names]
        found += [each for each in made if any(base.__module__.startswith("ray.rllib") for base in each.__mro__[1:])]
    return tuple(found)


@pytest.fixture(scope="module")
def learner() -> Any:
    """Return RLlib's learner of a small network, built in this process without Ray."""
    config = (
        PPOConfig()
        .environment("CartPole-v1")
        .training(lr=[[0, 1e-3], [100, 1e-4]])
        .rl_module(model_config={"fcnet_hiddens": [4]})
    )
    import gymnasium

    env = gymnasium.make("CartPole-v1")
    spec = config.get_multi_rl_module_spec(env=env)
    made = PPOTorchLearner(config=config, module_spec=spec)
    made.build()
    return made


def test_ray_is_the_version_that_compat_was_written_for() -> None:
    assert ray.__version__.startswith(f"{compat.RAY}."), f"{LOOK} its RAY, once the tests of this file pass"


def test_every_name_that_is_imported_exists() -> None:
    for file in MODULES:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "ray":
                module = import_module(str(node.module))
                for each in node.names:
                    there = hasattr(module, each.name) or find_spec(f"{node.module}.{each.name}")
                    assert there, f"{file.name} imports {node.module}.{each.name}, which is gone"


@pytest.mark.parametrize("owner", CALLED, ids=lambda owner: owner.__name__)
def test_methods_accept_their_arguments(owner: Any) -> None:
    for name, (positional, keywords) in CALLED[owner].items():
        assert hasattr(owner, name), f"{LOOK} {owner.__name__}.{name}, which is gone"
        signature = inspect.signature(getattr(owner, name))
        try:
            signature.bind_partial(None, *[None] * positional, **dict.fromkeys(keywords))
        except TypeError as error:
            pytest.fail(f"{LOOK} {owner.__name__}.{name}{signature}: {error}")


def test_rllib_updates_learners_with_the_keyword_that_we_read() -> None:
    assert compat.KEEP_METRICS in inspect.signature(Learner.update).parameters, f"{LOOK} KEEP_METRICS"


def test_our_methods_accept_the_arguments_of_rllibs() -> None:
    seen = set()
    for made in ours_on_rllib():
        for name, method in vars(made).items():
            theirs = next((getattr(base, name) for base in made.__mro__[1:] if name in vars(base)), None)
            if not inspect.isfunction(method) or not inspect.isfunction(theirs) or name == "__init__":
                continue
            if not theirs.__module__.startswith("ray."):
                continue
            parameters = inspect.signature(method).parameters.values()
            open_ended = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters)
            names = {each.name for each in parameters}
            wanted = [
                each.name
                for each in inspect.signature(theirs).parameters.values()
                if each.kind is inspect.Parameter.KEYWORD_ONLY and each.default is inspect.Parameter.empty
            ]
            seen.add((made.__name__, name))
            assert open_ended or set(wanted) <= names, (
                f"{LOOK} {made.__name__}.{name}, which lacks {set(wanted) - names}"
            )
    assert {("FragmentLearner", "update"), ("BatchRunner", "sample"), ("Fragments", "shard")} <= seen


def test_learning_rates_follow_their_schedule(learner: Any) -> None:
    for steps, rate in ((0, 1e-3), (50, 5.5e-4), (100, 1e-4)):
        compat.set_learning_rates(learner, steps)
        assert learner.get_optimizer().param_groups[0]["lr"] == pytest.approx(rate)


def test_gradients_are_keyed_by_the_parameters_themselves(learner: Any) -> None:
    parameters = learner.get_parameters(learner.module["default_policy"])
    assert all(learner.get_param_ref(each) is each for each in parameters)
    assert [id(each) for group in learner.get_optimizer().param_groups for each in group["params"]] == [
        id(each) for each in parameters
    ]


def test_the_version_of_weights_is_what_runners_are_told(learner: Any) -> None:
    before = compat.weights_version(learner)
    compat.advance_weights_version(learner)
    assert compat.weights_version(learner) == before + 1 == learner.get_state()["weights_seq_no"]


def test_components_are_asked_for_as_rllib_reads_them(learner: Any) -> None:
    assert compat.includes_component(learner, "replay", None, None)
    assert compat.includes_component(learner, "replay", ["replay/part"], None)
    assert not compat.includes_component(learner, "replay", "rl_module", None)
    assert not compat.includes_component(learner, "replay", None, ["replay"])


def test_metrics_are_reduced_unless_the_caller_does() -> None:
    learner = SimpleNamespace(metrics=SimpleNamespace(reduce=lambda: {"loss": 1.0}))
    assert compat.reduced_metrics(learner, {}) == {"loss": 1.0}
    assert compat.reduced_metrics(learner, {compat.KEEP_METRICS: True}) is None


def test_training_data_is_sharded_and_resolved_by_methods_that_fragments_override() -> None:
    from ante.training.sampling.training_data import Fragments

    assert issubclass(Fragments, compat.TrainingData)
    for name in ("validate", "solve_refs", "shard"):
        assert name in vars(compat.TrainingData) and name in vars(Fragments), f"{LOOK} TrainingData.{name}"


@pytest.mark.parametrize("use", [
    compat.weights_version,
    lambda learner: compat.set_learning_rates(learner, 0),
    lambda learner: compat.includes_component(learner, "replay", None, None),
], ids=["weights_version", "set_learning_rates", "includes_component"])  # fmt: skip
def test_another_ray_is_named_with_what_it_lacks(use: Any) -> None:
    with pytest.raises(IncompatibleRay, match=rf"Ray {ray.__version__} has no SimpleNamespace\._\w+.*compat\.py"):
        use(SimpleNamespace())


def test_our_classes_use_and_hide_no_private_name_of_the_class_below() -> None:
    """`self._x` in a class derived from RLlib's must be defined here and unknown there."""
    found = []
    for made in ours_on_rllib():
        theirs = {name for base in made.__mro__[1:] if base.__module__.startswith("ray.") for name in private_of(base)}
        tree = ast.parse(textwrap.dedent(inspect.getsource(made)))
        used = {each.attr for each in ast.walk(tree) if isinstance(each, ast.Attribute) and is_name(each.value, "self")}
        found += [f"{made.__name__}.{name}" for name in (used | own_of(made)) & theirs - OVERRIDDEN]
    assert not found, f"private names of RLlib belong in training/compat.py: {sorted(found)}"


def test_no_private_names_of_other_rllib_objects_are_used() -> None:
    """Search by name: a private attribute of RLlib's classes, not defined in ours, on anything except `self`."""
    assert {"_params", "_learner", "_check_component", "_named_optimizers"} <= private_names()
    ours = {name for made in ours_on_rllib() for name in own_of(made)}
    found = []
    for file in MODULES:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Attribute) and not is_name(node.value, "self"):
                of_rllib = ast.unparse(node.value).endswith(("learner", "algorithm", "group", "config"))
                if node.attr in private_names() - (set() if of_rllib else ours):
                    found.append(f"{file}:{node.lineno} {node.attr}")
            if isinstance(node, ast.arg) and node.arg in (compat.KEEP_METRICS, compat.WEIGHTS_VERSION):
                found.append(f"{file}:{node.lineno} {node.arg}")
    found = [each for each in found if "/compat.py:" not in each]
    assert not found, f"private names of RLlib belong in training/compat.py: {found}"


@cache
def private_of(made: type) -> frozenset[str]:
    """Return the private attributes of one class: its own, and those that its methods set on `self`."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(made)))
    names = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_name(node.value, "self")
    }
    private = (name for name in {*vars(made), *names} if name.startswith("_") and not name.startswith("__"))
    return frozenset(private) - {"_abc_impl"}


def own_of(made: type) -> frozenset[str]:
    """Return the private attributes that our classes in its bases define."""
    ours = (base for base in made.__mro__ if base.__module__.startswith("ante."))
    return frozenset().union(*map(private_of, ours))


@cache
def private_names() -> frozenset[str]:
    """Return the private attributes of the classes in RLLIB and of their bases."""
    bases = {base for cls in RLLIB for base in cls.__mro__ if base.__module__.startswith("ray.")}
    return frozenset().union(*map(private_of, bases))


def is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
