"""Restore a run from its store, possibly on a new machine. Imports neither Ray nor torch.

The checkpoint with most steps is used, local or in the store. If it is damaged, the previous one is used.
"""

import shutil
from pathlib import Path
from typing import Any

from ante.storage.errors import BadStore, Damaged, NotThere, NotWhole, StorageError
from ante.storage.opening import open_store
from ante.storage.publish import fetch, pointed
from ante.storage.store import Progress, Store, check_key, no_progress
from ante.training.run_store.checkpoints import find_checkpoint, free_name, intact_checkpoints, point, read_metadata
from ante.training.run_store.manifest import BadCheckpoint
from ante.training.run_store.upload import AT_THE_END, CHECKPOINTS, NOTHING, OF_RUN, STORED, Say, steps_of, stored
from ante.training.settings.config import BadConfig, TrainConfig, config_in, config_of_run


def known_config(config: TrainConfig, say: Say) -> TrainConfig | None:
    """Return the configuration of the run of this name from its folder or store, or None if it has no checkpoint.

    Raises StorageError if the store does not respond and there is no local checkpoint.
    """
    if any((config.folder / CHECKPOINTS).glob("*.json")):
        return config_of_run(config.folder)
    if not config.store:
        return None
    store = open_store(config.store)
    for name in stored(store, config.name):
        key = f"{config.name}/{CHECKPOINTS}/{name}/{OF_RUN}/config.yaml"
        try:
            found = config_in(store.get_bytes(key), key)
        except (Damaged, NotThere) as error:
            say(f"checkpoint {name} cannot be used; trying the previous one: {error}")
            continue
        return found.with_changes({"name": config.name, "runs": config.runs, "store": config.store})
    return None


def restore_run(config: TrainConfig, say: Say, progress: Progress = no_progress) -> None:
    """Restore the run's latest intact checkpoint, local or from the store, with its files; do nothing without one.

    progress  called with the number of fetched bytes
    Raises BadCheckpoint if all checkpoints are damaged, and StorageError if the store does not respond and there is no
    local checkpoint.
    """
    folder = config.folder / CHECKPOINTS
    here = latest_intact(folder, say)
    store, found = stored_checkpoints(config, here, say)
    further = [name for name in found if steps_of(name) > here]
    for name in further:
        assert store
        try:
            restore_checkpoint(config, store, name, progress)
        except (Damaged, NotWhole, BadCheckpoint) as error:
            say(f"checkpoint {name} cannot be used; trying the previous one: {error}")
            continue
        restore_best(config, store, name, say, progress)
        restore_files(config, store, say, progress)
        say(f"fetched checkpoint {name} from {config.store}")
        return
    if here == NOTHING and (further or (folder / "latest.json").exists()):
        raise BadCheckpoint(
            f"run {config.folder} has checkpoints, but all are damaged (see the messages above): restore its folder from a "
            "copy, or start another run with another --name"
        )


def stored_checkpoints(config: TrainConfig, here: int, say: Say) -> tuple[Store | None, list[str]]:
    """Return the store and the names of the run's checkpoints in it; it may be offline with a local checkpoint."""
    if not config.store:
        return None, []
    try:
        store = open_store(config.store)
        return store, stored(store, config.name)
    except StorageError as error:
        if not error.passing or here == NOTHING:
            raise
        say(f"the store is unavailable, so the run continues from its folder: {error}")
        return None, []


def latest_intact(folder: Path, say: Say) -> int:
    """Return the steps of the latest intact checkpoint, and point `latest.json` to it; NOTHING if there is none."""
    if not (folder / "latest.json").exists():
        return NOTHING
    try:
        return int(find_checkpoint(folder)[1]["timesteps"])
    except BadCheckpoint as error:
        say(f"{error}; trying the previous one")
    for name, metadata in intact_checkpoints(folder):
        point(folder, "latest", name, metadata)
        repair_best(folder, name, metadata, say)
        return int(metadata["timesteps"])
    return NOTHING


def repair_best(folder: Path, name: str, metadata: dict[str, Any], say: Say) -> None:
    """Make `best.json` name an intact checkpoint: this one if its own is damaged."""
    try:
        find_checkpoint(folder, "best")
    except BadCheckpoint as error:
        say(f"the best checkpoint cannot be used; {name} replaces it: {error}")
        point(folder, "best", name, metadata)


def restore_checkpoint(config: TrainConfig, store: Store, name: str, progress: Progress) -> None:
    """Make a stored checkpoint the run's latest one and restore metrics.csv as of that checkpoint.

    Raises Damaged, NotWhole, BadCheckpoint; then the folder is unchanged.
    """
    target, metadata, of_run = fetch_checkpoint(config, store, name, progress)
    for file in ("metrics.csv", "config.yaml"):
        if (of_run / file).exists():
            (of_run / file).replace(config.folder / file)
    shutil.rmtree(of_run, ignore_errors=True)
    shutil.rmtree(config.folder / "tensorboard", ignore_errors=True)  # rebuilt from metrics.csv
    point(target.parent, "latest", target.name, metadata)


def fetch_checkpoint(
    config: TrainConfig, store: Store, name: str, progress: Progress
) -> tuple[Path, dict[str, Any], Path]:
    """Fetch a published checkpoint; return its folder, its metadata, and a hidden folder with the run's files.

    Raises Damaged, NotWhole, BadCheckpoint; then both folders are removed.
    """
    folder = config.folder / CHECKPOINTS
    folder.mkdir(parents=True, exist_ok=True)
    target = free_name(folder, f"{steps_of(name):012d}")
    of_run = folder / f".{target.name}.{OF_RUN}"
    shutil.rmtree(of_run, ignore_errors=True)
    fetch(store, f"{config.name}/{CHECKPOINTS}/{name}", target, progress)
    if (target / OF_RUN).is_dir():
        (target / OF_RUN).rename(of_run)
    try:
        return target, read_metadata(target), of_run
    except BadCheckpoint:
        for each in (target, of_run):
            shutil.rmtree(each, ignore_errors=True)
        raise


def restore_best(config: TrainConfig, store: Store, latest: str, say: Say, progress: Progress) -> None:
    """Make `best.json` name the store's best checkpoint, or the latest one if the best cannot be fetched."""
    folder = config.folder / CHECKPOINTS
    target, metadata = find_checkpoint(folder)
    try:
        best = pointed(store, f"{config.name}/{CHECKPOINTS}", "best")
        if not STORED.fullmatch(best):
            raise NotWhole(f"best.json of {config.name} in {store.url} names {best}, which is not a checkpoint")
        if best != latest and steps_of(best) <= steps_of(latest):
            target, metadata, of_run = fetch_checkpoint(config, store, best, progress)
            shutil.rmtree(of_run, ignore_errors=True)
    except (NotThere, Damaged, NotWhole, BadCheckpoint) as error:
        say(f"the best checkpoint in the store cannot be used; the latest one replaces it: {error}")
        target, metadata = find_checkpoint(folder)
    point(folder, "best", target.name, metadata)


def restore_files(config: TrainConfig, store: Store, say: Say, progress: Progress) -> None:
    """Fetch the run's other files from the store: episodes, replays, evaluations."""
    for stat in store.list(f"{config.name}/"):
        path = stat.key.removeprefix(f"{config.name}/")
        if path.partition("/")[0] in (CHECKPOINTS, *AT_THE_END, "metrics.csv", "config.yaml") or not is_key(path):
            continue
        try:
            store.get_file(stat.key, config.folder / path, progress)
        except (Damaged, NotThere) as error:
            say(f"{path} is skipped: {error}")


def is_key(path: str) -> bool:
    """Return whether the path is valid for a run's file: not hidden, and inside its folder."""
    try:
        return bool(check_key(path))
    except BadStore:
        return False


def check_new(config: TrainConfig, say: Say) -> None:
    """Raise BadConfig if the store has a run of this name; an unreachable store is only reported."""
    try:
        taken = config.store and stored(open_store(config.store), config.name)
    except StorageError as error:
        if not error.passing:
            raise
        say(f"cannot check whether {config.store} has a run {config.name}; uploads will wait: {error}")
        return
    if taken:
        raise BadConfig(
            f"run {config.name} exists in {config.store}: continue it with --name {config.name} --resume latest, or choose "
            "another --name"
        )
