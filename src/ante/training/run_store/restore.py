"""Restore a run from its store, possibly on a new machine. Imports neither Ray nor torch.

What counts is the number of steps: of the checkpoints here and in the store the one with most of them is taken, and
where that one is damaged the one before it.
"""

import shutil
from pathlib import Path
from typing import Any

from ante.storage.errors import BadStore, Damaged, NotThere, NotWhole, StorageError
from ante.storage.opening import open_store
from ante.storage.publish import fetch, pointed
from ante.storage.store import Progress, Store, check_key, no_progress
from ante.training.run_store.checkpoints import find_checkpoint, free_name, point, read_metadata, whole_checkpoints
from ante.training.run_store.manifest import BadCheckpoint
from ante.training.run_store.upload import AT_THE_END, CHECKPOINTS, NOTHING, OF_RUN, STORED, Say, steps_of, stored
from ante.training.settings.config import BadConfig, TrainConfig, config_in, config_of_run


def known_config(config: TrainConfig, say: Say) -> TrainConfig | None:
    """The configuration of the run of this name, from its folder or its store; None where it has no checkpoint yet.

    Raises StorageError where the store does not respond and there is no local checkpoint.
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
            say(f"checkpoint {name} cannot be used, the one before it is tried: {error}")
            continue
        return found.with_changes({"name": config.name, "runs": config.runs, "store": config.store})
    return None


def bring(config: TrainConfig, say: Say, progress: Progress = no_progress) -> None:
    """The run's folder has its furthest whole checkpoint, from here or from the store, and what belongs to it; nothing
    where there is none yet.

    progress  called with the number of bytes that were fetched
    Raises BadCheckpoint where there are checkpoints and none is whole; StorageError where the store does not respond and
    none is here.
    """
    folder = config.folder / CHECKPOINTS
    here = newest_whole(folder, say)
    store, found = ask(config, here, say)
    further = [name for name in found if steps_of(name) > here]
    for name in further:
        assert store
        try:
            bring_checkpoint(config, store, name, progress)
        except (Damaged, NotWhole, BadCheckpoint) as error:
            say(f"checkpoint {name} cannot be used, the one before it is tried: {error}")
            continue
        bring_best(config, store, name, say, progress)
        bring_files(config, store, say, progress)
        say(f"checkpoint {name} was fetched from {config.store}")
        return
    if here == NOTHING and (further or (folder / "latest.json").exists()):
        raise BadCheckpoint(
            f"run {config.folder} has checkpoints, and none of them is whole: ante artifacts verify names what is wrong; "
            "begin another run with another --name"
        )


def ask(config: TrainConfig, here: int, say: Say) -> tuple[Store | None, list[str]]:
    """The store, and the names of the run's checkpoints in it. A store that is away is not needed where one is here."""
    if not config.store:
        return None, []
    try:
        store = open_store(config.store)
        return store, stored(store, config.name)
    except StorageError as error:
        if not error.passing or here == NOTHING:
            raise
        say(f"the store cannot be asked, so the run goes on from its folder: {error}")
        return None, []


def newest_whole(folder: Path, say: Say) -> int:
    """Steps of the furthest whole checkpoint under `folder`, which `latest.json` then names; NOTHING where none is."""
    if not (folder / "latest.json").exists():
        return NOTHING
    try:
        return int(find_checkpoint(folder)[1]["timesteps"])
    except BadCheckpoint as error:
        say(f"{error}: the one before it is tried")
    for name, metadata in whole_checkpoints(folder):
        point(folder, "latest", name, metadata)
        mend_best(folder, name, metadata, say)
        return int(metadata["timesteps"])
    return NOTHING


def mend_best(folder: Path, name: str, metadata: dict[str, Any], say: Say) -> None:
    """`best.json` names a whole checkpoint: this one where its own is damaged."""
    try:
        find_checkpoint(folder, "best")
    except BadCheckpoint as error:
        say(f"the best checkpoint cannot be used, {name} takes its place: {error}")
        point(folder, "best", name, metadata)


def bring_checkpoint(config: TrainConfig, store: Store, name: str, progress: Progress) -> None:
    """The checkpoint is the run's latest one, and metrics.csv is what it was then.

    Raises Damaged, NotWhole, BadCheckpoint; then the folder is as it was.
    """
    target, metadata, of_run = fetch_checkpoint(config, store, name, progress)
    for file in ("metrics.csv", "config.yaml"):
        if (of_run / file).exists():
            (of_run / file).replace(config.folder / file)
    shutil.rmtree(of_run, ignore_errors=True)
    point(target.parent, "latest", target.name, metadata)


def fetch_checkpoint(
    config: TrainConfig, store: Store, name: str, progress: Progress
) -> tuple[Path, dict[str, Any], Path]:
    """A new folder that holds the checkpoint of a publication; its metadata; a hidden folder with the run's files.

    Raises Damaged, NotWhole, BadCheckpoint; then there are no such folders.
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


def bring_best(config: TrainConfig, store: Store, latest: str, say: Say, progress: Progress) -> None:
    """`best.json` names what is the best one in the store; the latest one where that cannot be had."""
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
        say(f"the best checkpoint in the store cannot be used, the latest one takes its place: {error}")
        target, metadata = find_checkpoint(folder)
    point(folder, "best", target.name, metadata)


def bring_files(config: TrainConfig, store: Store, say: Say, progress: Progress) -> None:
    """What else the run has in the store is in its folder: episodes, replays, evaluations."""
    for stat in store.list(f"{config.name}/"):
        path = stat.key.removeprefix(f"{config.name}/")
        if path.partition("/")[0] in (CHECKPOINTS, *AT_THE_END, "metrics.csv", "config.yaml") or not is_key(path):
            continue
        try:
            store.get_file(stat.key, config.folder / path, progress)
        except (Damaged, NotThere) as error:
            say(f"{path} is left out: {error}")


def is_key(path: str) -> bool:
    """Whether it is a path that a run may have: nothing hidden, nothing that leads out of its folder."""
    try:
        return bool(check_key(path))
    except BadStore:
        return False


def check_new(config: TrainConfig, say: Say) -> None:
    """Check that the store has no run of this name. Raises BadConfig; a store that is unreachable is reported."""
    try:
        taken = config.store and stored(open_store(config.store), config.name)
    except StorageError as error:
        if not error.passing:
            raise
        say(f"whether {config.store} has a run {config.name} cannot be seen now; uploads will wait: {error}")
        return
    if taken:
        raise BadConfig(
            f"run {config.name} exists in {config.store}: continue it with --name {config.name} --resume latest, or choose "
            "another --name"
        )
