"""Read images as OCI layouts and archives, and write other files as OCI artifacts (image specification 1.0)."""

import hashlib
import json
import shutil
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
EMPTY_CONFIG = "application/vnd.oci.empty.v1+json"
WHITEOUT = ".wh."


class NotALayout(Exception):
    """A file or folder that is no image, or an image that this module cannot read."""


@dataclass(frozen=True)
class Blob:
    """A file of an artifact: its contents and media type."""

    file: Path
    media_type: str


def transport(path: Path) -> str:
    """Return an image under the name that skopeo and buildah have for it, such as oci:FOLDER. Raises NotALayout."""
    if path.is_dir():
        if (path / "oci-layout").is_file():
            return f"oci:{path}"
        raise NotALayout(f"{path} is a folder without the file oci-layout: give an OCI layout or an archive")
    try:
        with tarfile.open(path) as archive:
            names = {name.removeprefix("./") for name in archive.getnames()}
    except OSError as error:
        raise NotALayout(f"{path} cannot be read: {error.strerror}") from None
    except tarfile.TarError:
        raise NotALayout(
            f"{path} is no tar archive: give an archive of an image, as buildah or docker write it"
        ) from None
    if "oci-layout" in names:
        return f"oci-archive:{path}"
    if "manifest.json" in names:
        return f"docker-archive:{path}"
    raise NotALayout(f"{path} contains neither oci-layout nor manifest.json: it is no archive of an image")


def digest(layout: Path) -> str:
    """Return the digest of the only image or artifact of a layout, compared with its contents. Raises NotALayout."""
    try:
        manifests = json.loads((layout / "index.json").read_bytes())["manifests"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NotALayout(f"{layout} has no valid index.json: {error}") from None
    if len(manifests) != 1:
        raise NotALayout(f"{layout} contains {len(manifests)} images instead of one")
    found: str = manifests[0]["digest"]
    if sha256(blob(layout, found)) != found:
        raise NotALayout(f"{layout} is damaged: its manifest differs from {found}")
    return found


def read_file(layout: Path, path: str) -> bytes | None:
    """Return a file of an image, or None if the image does not contain it. Raises NotALayout."""
    wanted = PurePosixPath(path.lstrip("/"))
    gone = {str(each.with_name(WHITEOUT + each.name)) for each in (wanted, *wanted.parents) if each.name}
    for layer in reversed(manifest(layout)["layers"]):
        with open_layer(layout, layer) as archive:
            for member in archive:
                name = member.name.removeprefix("./").lstrip("/")
                if name == str(wanted) and (contents := archive.extractfile(member)):
                    return contents.read()
                if name in gone:
                    return None
    return None


def open_layer(layout: Path, layer: Mapping[str, Any]) -> tarfile.TarFile:
    """Open a layer for reading from its begin to its end. Raises NotALayout."""
    try:
        return tarfile.open(blob(layout, layer["digest"]), "r|*")
    except tarfile.TarError as error:
        raise NotALayout(f"layer {layer['digest']} ({layer['mediaType']}) cannot be read: {error}") from None


def manifest(layout: Path) -> dict[str, Any]:
    """Return the manifest of the only image of a layout. Raises NotALayout for several platforms."""
    found: dict[str, Any] = json.loads(blob(layout, digest(layout)).read_bytes())
    if "layers" not in found:
        raise NotALayout(f"{layout} is an index of images of several platforms: give the image of one")
    return found


def size(layout: Path) -> int:
    """Return the bytes of an image or artifact that a client downloads."""
    return sum(int(layer["size"]) for layer in manifest(layout)["layers"])


def blob(layout: Path, name: str) -> Path:
    """Return the file of a digest."""
    algorithm, _, value = name.partition(":")
    return layout / "blobs" / algorithm / value


def sha256(file: Path) -> str:
    """Return the digest of a file."""
    with file.open("rb") as opened:
        return f"sha256:{hashlib.file_digest(opened, 'sha256').hexdigest()}"


def write_artifact(
    layout: Path, blobs: Sequence[Blob], artifact_type: str = "", config: Mapping[str, Any] | None = None
) -> str:
    """Write files as an artifact into an empty layout and return its digest; equal files have equal digests.

    `artifact_type` is the media type of the configuration, empty JSON by default.
    """
    shutil.rmtree(layout, ignore_errors=True)
    (layout / "blobs" / "sha256").mkdir(parents=True)
    layers = [
        add_file(layout, each.file)
        | {"mediaType": each.media_type, "annotations": {"org.opencontainers.image.title": each.file.name}}
        for each in blobs
    ]
    body = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": add_json(layout, config or {}) | {"mediaType": artifact_type or EMPTY_CONFIG},
        "layers": layers,
    }
    described = add_json(layout, body) | {"mediaType": MANIFEST}
    index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [described]}
    (layout / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    (layout / "index.json").write_text(json.dumps(index))
    return str(described["digest"])


def add_json(layout: Path, contents: Mapping[str, Any]) -> dict[str, Any]:
    """Add a JSON object to a layout and return its descriptor without the media type."""
    data = json.dumps(contents, sort_keys=True, separators=(",", ":")).encode()
    name = f"sha256:{hashlib.sha256(data).hexdigest()}"
    blob(layout, name).write_bytes(data)
    return {"digest": name, "size": len(data)}


def add_file(layout: Path, file: Path) -> dict[str, Any]:
    """Add a file to a layout and return its descriptor without the media type."""
    name = sha256(file)
    shutil.copyfile(file, blob(layout, name))
    return {"digest": name, "size": file.stat().st_size}
