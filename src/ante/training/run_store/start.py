"""The policy from which a new run starts (setting `init_from`): found on disk before PyTorch is imported."""

from pathlib import Path

from ante.agents.releases import policy_at, released_policies
from ante.errors import BalatroError
from ante.training.run_store.checkpoints import find_checkpoint
from ante.watch.runs import RELEASE


class BadStart(BalatroError, ValueError):
    """A policy from which a run cannot start."""


def is_release(folder: Path) -> bool:
    """Return whether this folder holds a released policy rather than a run."""
    return (folder / RELEASE).is_file()


def start_folder(name: str) -> tuple[Path, str]:
    """Return the folder of a run or of a release, and a run's checkpoint, by the value of `init_from`. Raises BadStart."""
    folder, checkpoint = policy_at(name)
    if not folder.is_dir():
        known = ", ".join(released_policies())
        raise BadStart(
            f"init_from {name}: there is no such policy; use the folder of a run or a release, such as "
            f"runs/ppo, or a released policy ({known})"
        )
    return folder, checkpoint


def check_start(name: str | None) -> None:
    """Check that `init_from`, if set, names a release or a run with the checkpoint. Raises BadStart, BadCheckpoint."""
    if name is not None:
        folder, checkpoint = start_folder(name)
        if not is_release(folder):
            find_checkpoint(folder / "checkpoints", checkpoint)
