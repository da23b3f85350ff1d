"""Files of a release, small ones, for tests."""

import gzip
import hashlib
import io
import tarfile
from pathlib import Path

from tools import oci_layout

from ante import __version__

SBOM = b'{"bomFormat": "CycloneDX", "specVersion": "1.6", "components": []}'


def write_packages(folder: Path) -> Path:
    """Write files with the names that `make wheel sbom` gives, and return the folder."""
    folder.mkdir()
    for name in (f"ante_balatro-{__version__}-py3-none-any.whl", f"ante_balatro-{__version__}.tar.gz"):
        (folder / name).write_bytes(name.encode())
    (folder / "sbom.json").write_bytes(SBOM)
    return folder


def write_layer(folder: Path, files: dict[str, bytes]) -> Path:
    """Write a compressed layer of an image."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for name, contents in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(contents)
            archive.addfile(entry, io.BytesIO(contents))
    file = folder / f"{hashlib.sha256(data.getvalue()).hexdigest()}.tar.gz"
    file.write_bytes(gzip.compress(data.getvalue(), mtime=0))
    return file


def write_image(folder: Path, *layers: dict[str, bytes]) -> Path:
    """Write an image of these layers as an OCI layout."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [write_layer(folder.parent, files) for files in layers]
    sums = [f"sha256:{hashlib.sha256(gzip.decompress(file.read_bytes())).hexdigest()}" for file in files]
    config = {"architecture": "amd64", "os": "linux", "config": {}, "rootfs": {"type": "layers", "diff_ids": sums}}
    blobs = [oci_layout.Blob(file, "application/vnd.oci.image.layer.v1.tar+gzip") for file in files]
    oci_layout.write_artifact(folder, blobs, "application/vnd.oci.image.config.v1+json", config)
    return folder
