"""`ante artifacts`: manage artifacts in a store."""

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg, subcommand

from ante.cli.options import Count, Positive
from ante.cli.platform.uploads import Queue
from ante.cli.shown import bytes_bar, show, size, when
from ante.errors import BalatroError
from ante.files import check_output_file, check_output_folder
from ante.messages import printable

if TYPE_CHECKING:
    from ante.storage.publish import Manifest
    from ante.storage.store import Store


@dataclass(frozen=True)
class List:
    """List publications in a store, or (--files) all objects. Exit code 1 if a publication cannot be read.

    Try:
      ante artifacts ls s3://game-runs/runs
      ante artifacts ls runs --files --json
    """

    url: Positional[Annotated[str, arg(metavar="URL")]]
    """A folder or s3://bucket/prefix."""
    files: bool = False
    """List objects instead of publications."""
    json: bool = False
    """Print a JSON list: item, published, bytes, parts, pointers, metadata; or key, bytes, modified with --files."""

    def run(self) -> int:
        """Print the list."""
        from ante.storage.opening import open_store

        store = open_store(self.url)
        rows: list[dict[str, Any]]
        if self.files:
            rows = [{"key": stat.key, "bytes": stat.bytes, "modified": stat.modified} for stat in store.list()]
            found = [(row["key"], size(row["bytes"]), when(row["modified"])) for row in rows]
            show(rows, ("object", "size", "written"), found, self.json)
            return 0
        rows, unreadable = publications(store)
        cells = [
            (row["item"], size(row["bytes"]), when(row["published"]), " ".join(row["pointers"]), reward(row))
            for row in rows
        ]
        show(rows, ("publication", "size", "published", "pointers", "reward"), cells, self.json)
        for error in unreadable:
            print(f"ante: {printable(str(error))}", file=sys.stderr)
        return 1 if unreadable else 0


def publications(store: "Store") -> tuple[list[dict[str, Any]], list[BalatroError]]:
    """Return the publications in a store, and the errors of manifests and pointers that cannot be read."""
    from ante.storage.check import shelves
    from ante.storage.errors import Damaged, NotWhole
    from ante.storage.publish import pointed, read_manifest
    from ante.storage.store import under

    rows: list[dict[str, Any]] = []
    unreadable: list[BalatroError] = []
    for root, shelf in shelves(store).items():
        names: dict[str, str] = {}
        for pointer in shelf.pointers:
            try:
                names[pointer] = pointed(store, root, pointer)
            except (NotWhole, Damaged) as error:
                unreadable.append(error)
        for name in shelf.finished:
            try:
                manifest = read_manifest(store, under(root, name))
            except (NotWhole, Damaged) as error:
                unreadable.append(error)
                continue
            rows.append(row_of(under(root, name), manifest, [each for each, target in names.items() if target == name]))
    return rows, unreadable


def row_of(item: str, manifest: "Manifest", pointers: list[str]) -> dict[str, Any]:
    """Return a publication as a row of the list."""
    return {
        "item": item,
        "published": manifest.published,
        "bytes": manifest.bytes,
        "parts": len(manifest.parts),
        "pointers": pointers,
        "metadata": manifest.metadata,
    }


@dataclass(frozen=True)
class Get:
    """Download a publication or one object. Checksums are verified, and incomplete downloads are discarded.

    Try:
      ante artifacts get s3://game-runs/runs/ppo/checkpoints best-of-ppo --pointer best
      ante artifacts get s3://game-runs/runs/ppo/checkpoints/000000300000 here
      ante artifacts get s3://game-runs/runs/ppo/config.yaml config.yaml
    """

    url: Positional[Annotated[str, arg(metavar="URL")]]
    """A publication, an object, or with --pointer a folder of publications."""
    target: Positional[Path]
    """A new folder for a publication; a file for an object."""
    pointer: str | None = None
    """Pointer to the publication to download: latest or best."""

    def run(self) -> int:
        """Download it."""
        from ante.storage.opening import open_store
        from ante.storage.publish import MANIFEST, fetch, pointed
        from ante.storage.store import exists, under

        if self.pointer:
            store = open_store(self.url)
            item = pointed(store, "", self.pointer)
        else:
            parent, item = split(self.url)
            store = open_store(parent)
        if not exists(store, under(item, MANIFEST)):
            check_output_file(self.target, makes_folder=True)
            stat = store.stat(item)
            with bytes_bar(stat.bytes if stat else 0, f"downloading {item}") as progress:
                store.get_file(item, self.target, progress)
        else:
            if self.target.exists():
                raise BalatroError(f"{self.target} already exists: give a new folder")
            check_output_folder(self.target)
            total = sum(stat.bytes for stat in store.list(under(item, "")))
            with bytes_bar(total, f"downloading {item}") as progress:
                fetch(store, item, self.target, progress)
        print(f"{self.target}: {item} of {store.url}")
        return 0


@dataclass(frozen=True)
class Put:
    """Publish a folder under an immutable name, or store one file.

    Try:
      ante artifacts put models/mine s3://game-runs/models/mine-1 --pointers latest
      ante artifacts put runs/ppo/config.yaml s3://game-runs/runs/ppo/config.yaml
    """

    source: Positional[Path]
    """A folder or a file."""
    url: Positional[Annotated[str, arg(metavar="URL")]]
    """Destination path or URL."""
    pointers: tuple[str, ...] = ()
    """Pointers to set to the publication: latest, best."""

    def run(self) -> int:
        """Upload it."""
        from ante.storage.opening import open_store
        from ante.storage.publish import publish

        if not self.source.exists():
            raise BalatroError(f"{self.source} does not exist: give a file or a folder")
        parent, name = split(self.url)
        store = open_store(parent)
        if self.source.is_file():
            if self.pointers:
                raise BalatroError(
                    f"{self.source} is a file: --pointers requires a folder, which becomes a publication"
                )
            with bytes_bar(self.source.stat().st_size, f"uploading {name}") as progress:
                store.put_file(name, self.source, progress=progress)
        else:
            total = sum(file.stat().st_size for file in self.source.rglob("*") if file.is_file())
            with bytes_bar(total, f"uploading {name}") as progress:
                publish(store, "", name, self.source, {}, self.pointers, progress=progress)
        print(f"{self.url}: {self.source}")
        return 0


@dataclass(frozen=True)
class Verify:
    """Verify all publications against their manifests. Exit code 1 on any mismatch.

    Try:
      ante artifacts verify s3://game-runs/runs
      ante artifacts verify runs --quick --json
    """

    url: Positional[Annotated[str, arg(metavar="URL")]]
    """A folder or s3://bucket/prefix."""
    quick: bool = False
    """Compare sizes only, without reading contents."""
    json: bool = False
    """Print a JSON list with the keys item, part, wrong (unfinished, missing, size, checksum)."""

    def run(self) -> int:
        """Verify and report."""
        from ante.storage.check import bytes_under, check_filled, shelves, verify
        from ante.storage.opening import open_store

        store = open_store(self.url)
        check_filled(store)
        with bytes_bar(bytes_under(store, ""), "verifying") as progress:
            findings = verify(store, deep=not self.quick, progress=progress)
        rows = [asdict(finding) for finding in findings]
        if self.json:
            print(json.dumps(rows, indent=1))
        else:
            for row in rows:
                print(f"{row['item']}: {row['wrong']} {row['part']}".rstrip())
            whole = sum(len(shelf.finished) for shelf in shelves(store).values())
            about = (
                "" if whole or rows else "; a run's own checkpoints are no publications and are verified when loaded"
            )
            print(f"{store.url}: {whole} publications, {len(rows)} defects{about}")
        return 1 if rows else 0


@dataclass(frozen=True)
class Copy:
    """Back up a store, or restore it: copy all objects to another store and read each copied one back.

    Objects that the target has with the same checksum are not copied again, and nothing is deleted. TARGET_S3_* variables
    (such as TARGET_S3_ENDPOINT_URL) are the S3_* variables of a target on another server.

    Try:
      ante artifacts copy s3://game-runs/runs s3://game-runs-backup/runs
      ante artifacts copy s3://game-runs-backup/runs/ppo s3://game-runs/runs/ppo --deep
    """

    source: Positional[Annotated[str, arg(metavar="URL")]]
    """A folder or s3://bucket/prefix."""
    target: Positional[Annotated[str, arg(metavar="TARGET")]]
    """A folder or s3://bucket/prefix, possibly on another server."""
    deep: bool = False
    """Also read back the objects that the target had already, and replace damaged ones."""
    json: bool = False
    """Print a JSON object with the keys objects, bytes, unchanged, vanished (deleted at the source meanwhile)."""

    def run(self) -> int:
        """Copy and report."""
        from ante.storage.check import bytes_under, copy
        from ante.storage.opening import open_store, target_environment

        source, target = open_store(self.source), open_store(self.target, target_environment())
        with bytes_bar(bytes_under(source, ""), "copying") as progress:
            found = copy(source, target, self.deep, progress)
        if self.json:
            print(json.dumps(asdict(found)))
        else:
            gone = f", {found.vanished} deleted meanwhile" if found.vanished else ""
            print(
                f"{target.url}: {found.objects} objects copied ({size(found.bytes)}), {found.unchanged} unchanged{gone}"
            )
        return 0


@dataclass(frozen=True)
class Prune:
    """Delete old publications. Those that latest.json or best.json refer to are never deleted.

    The newest publications up to an age limit and the best by a metadata value are kept. Incomplete publications are
    deleted after two days.

    Try:
      ante artifacts prune s3://game-runs/runs/ppo --newest 5 --metric reward --rehearse
      ante artifacts prune s3://game-runs/runs --newest 10 --days 30
    """

    url: Positional[Annotated[str, arg(metavar="URL")]]
    """A folder or s3://bucket/prefix."""
    newest: Count | None = None
    """Number of newest publications to keep in each folder."""
    days: Positive | None = None
    """Maximum age of the newest publications, in days."""
    metric: str | None = None
    """Metadata value by which the best are also kept, regardless of age."""
    best: Count = 1
    """Number of best publications to keep."""
    rehearse: bool = False
    """Print what would be deleted without deleting it."""
    json: bool = False
    """Print a JSON list with the keys item, bytes."""

    def run(self) -> int:
        """Delete and report."""
        from ante.storage.opening import open_store
        from ante.storage.retention import Retention, prune

        keep = Retention(self.newest, self.days, self.metric, self.best)
        gone = prune(open_store(self.url), "", keep, self.rehearse)
        rows = [{"item": item, "bytes": count} for item, count in gone]
        cells = [(item, size(count)) for item, count in gone]
        show(rows, ("would be deleted" if self.rehearse else "deleted", "size"), cells, self.json)
        return 0


@dataclass(frozen=True)
class Artifacts:
    """List, download, publish, verify, copy and delete artifacts in a folder or an S3 bucket (docs/how-to/artifacts.md).

    Try:
      ante artifacts ls s3://game-runs/runs
      ante artifacts get s3://game-runs/runs/ppo/checkpoints best-of-ppo --pointer best
      ante artifacts verify runs
    """

    command: Annotated[
        Annotated[List, subcommand("ls")]
        | Annotated[Get, subcommand("get")]
        | Annotated[Put, subcommand("put")]
        | Annotated[Verify, subcommand("verify")]
        | Annotated[Copy, subcommand("copy")]
        | Annotated[Prune, subcommand("prune")]
        | Annotated[Queue, subcommand("queue")],
        arg(name=""),
    ]

    def run(self) -> int:
        """Run the chosen command."""
        return self.command.run()


def split(url: str) -> tuple[str, str]:
    """Return the parent and the last component of a URL."""
    parent, _, name = url.rstrip("/").rpartition("/")
    if parent.endswith("/") or not name or name.endswith(":"):
        raise BalatroError(f"{url!r} is a whole store: add a name, as in {url.rstrip('/')}/NAME")
    return parent or ("/" if url.startswith("/") else "."), name


def reward(row: dict[str, Any]) -> str:
    """Return a publication's reward, if its metadata has one."""
    value = row["metadata"].get("reward")
    return f"{value:.3f}" if isinstance(value, int | float) else ""
