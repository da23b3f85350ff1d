"""Warm starts: a new run begins with the weights of another policy of the same network (setting `init_from`)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ante.training.players.release import ABOUT, digest_of_weights, read_release
from ante.training.policies.registry import SETTINGS, new_policy, read_policy
from ante.training.run_store.checkpoints import find_checkpoint
from ante.training.run_store.lineage import Ancestor, Lineage, lineage_in, read_lineage
from ante.training.run_store.start import BadStart, is_release, start_folder
from ante.training.settings.config import TrainConfig, read_config
from ante.training.settings.field import leaves

Shapes = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class WarmStart:
    """The policy from which a run starts.

    weights  by name, in the run's own types
    lineage  this policy, then those that it started from
    """

    weights: dict[str, NDArray[Any]]
    lineage: Lineage


def read_start(config: TrainConfig) -> WarmStart | None:
    """Return the policy of `init_from`, or None without that setting.

    Raises BadStart if it does not exist or its network differs, BadCheckpoint, BadConfig, Unreadable.
    """
    if config.init_from is None:
        return None
    folder, checkpoint = start_folder(config.init_from)
    if is_release(folder):
        policy, about = read_release(folder)
        place, name, steps = folder, None, about["trained"]["timesteps"]
        before = lineage_in(about, folder / ABOUT)
    else:
        place, about = find_checkpoint(folder / "checkpoints", checkpoint)
        policy, name, steps, before = read_policy(place), place.name, about["timesteps"], read_lineage(folder)
    theirs = read_config(place / SETTINGS)
    own = new_policy(config).state_dict()
    check_network(config, theirs, shapes_of(own), shapes_of(policy.state_dict()))
    weights = {key: value.numpy() for key, value in policy.state_dict().items()}
    ancestor = Ancestor(
        name=folder.resolve().name,
        checkpoint=name,
        policy=theirs.policy.kind,
        steps=steps,
        weights_sha256=digest_of_weights(about),
    )
    return WarmStart(weights, (ancestor, *before))


def shapes_of(state: dict[str, Any]) -> Shapes:
    """Return the shape of each array of a policy's state."""
    return {name: tuple(value.shape) for name, value in state.items()}


def check_network(config: TrainConfig, theirs: TrainConfig, own: Shapes, other: Shapes) -> None:
    """Raise BadStart, naming both networks, if this run and the policy of `init_from` have different ones."""
    if config.policy.kind == theirs.policy.kind and own == other:
        return
    pairs = list(differences(config, theirs)) or list(different_shapes(own, other))
    this, that = (", ".join(each) for each in zip(*pairs, strict=True))
    raise BadStart(
        f"init_from {config.init_from} has {that}, but this run has {this}: use the settings of that policy, or start "
        "without init_from"
    )


def differences(config: TrainConfig, theirs: TrainConfig) -> Iterator[tuple[str, str]]:
    """Yield the settings of the network that differ, as text: of this run, and of the other policy."""
    if config.policy.kind != theirs.policy.kind:
        yield f"policy.kind {config.policy.kind}", f"policy.kind {theirs.policy.kind}"
        return
    if config.algo.network(config.policy)[0] != theirs.algo.network(theirs.policy)[0]:
        yield f"algo.kind {config.algo.kind}", f"algo.kind {theirs.algo.kind}"
    for one, two in zip(leaves(config.policy, "policy."), leaves(theirs.policy, "policy."), strict=True):
        if one.value != two.value:
            yield f"{one.path} {plain(one.value)}", f"{two.path} {plain(two.value)}"


def different_shapes(own: Shapes, other: Shapes) -> Iterator[tuple[str, str]]:
    """Yield the first array of the networks that differs, as text."""
    name = next(name for name in (*own, *other) if own.get(name) != other.get(name))
    this, that = (f"{name} of shape {each[name]}" if name in each else f"no {name}" for each in (own, other))
    yield this, that


def plain(value: Any) -> Any:
    """Return a value as it is written in a file."""
    return list(value) if isinstance(value, tuple) else value
