"""Files of a release, small ones, for tests."""

from pathlib import Path

from ante import __version__

SBOM = b'{"bomFormat": "CycloneDX", "specVersion": "1.6", "components": []}'


def write_packages(folder: Path) -> Path:
    """Write files with the names that `make wheel sbom` gives, and return the folder."""
    folder.mkdir()
    for name in (f"ante_balatro-{__version__}-py3-none-any.whl", f"ante_balatro-{__version__}.tar.gz"):
        (folder / name).write_bytes(name.encode())
    (folder / "sbom.json").write_bytes(SBOM)
    return folder
