"""Files of a release, small ones, for tests."""

import gzip
import hashlib
import io
import subprocess
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import requests
import yaml
from tools import oci_layout

from ante import __version__

SBOM = b'{"bomFormat": "CycloneDX", "specVersion": "1.6", "components": []}'


@contextmanager
def registry_at(address: str, folder: Path, certificate: Path | None = None, key: Path | None = None) -> Iterator[None]:
    """Run Debian's registry at an address, with TLS if there is a certificate, while the context is open."""
    tls = {"tls": {"certificate": str(certificate), "key": str(key)}} if certificate else {}
    storage = {"filesystem": {"rootdirectory": str(folder / "data")}}
    config = folder / "registry.yml"
    config.write_text(yaml.safe_dump({"version": 0.1, "storage": storage, "http": {"addr": address, **tls}}))
    with (folder / "registry.log").open("w") as log:
        process = subprocess.Popen(["docker-registry", "serve", config], stdout=log, stderr=log)
    try:
        url, trusted = (
            f"{'https' if certificate else 'http'}://{address}/v2/",
            str(certificate) if certificate else True,
        )
        for _ in range(100):
            try:
                assert requests.get(url, timeout=5, verify=trusted).ok
                break
            except requests.ConnectionError:
                time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait(20)


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
