"""Hardware and software of this machine, for `ante doctor`."""

import os
import platform
import shutil
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ante import __version__

SHARED = "/dev/shm"  # location of Ray's object store on Linux
PACKAGES = (
    "numpy",
    "numba",
    "gymnasium",
    "ray",
    "torch",
    "opencv-python-headless",
    "av",
    "tyro",
    "pydantic",
    "sb3-contrib",
)


def machine_rows() -> list[dict[str, Any]]:
    """Return rows {what, value} about Python, packages, cache, disk and record size."""
    from ante.engine.core.compile_cache import cache_rows
    from ante.engine.core.state import state_t

    rows: list[dict[str, Any]] = [{"what": "python", "value": platform.python_version()}]
    rows += [{"what": name, "value": package_version(name)} for name in PACKAGES]
    rows += cache_rows()
    rows.append({"what": "bytes per game", "value": state_t.itemsize})
    rows.append({"what": "memory", "value": memory()})
    if os.path.isdir(SHARED):
        rows.append({"what": f"free in {SHARED}", "value": f"{shutil.disk_usage(SHARED).free / 2**30:.1f} GiB"})
    rows.append({"what": "free disk", "value": f"{shutil.disk_usage('.').free / 2**30:.0f} GiB"})
    return rows


def package_version(name: str) -> str:
    """Return the installed version of a package, or "not installed"."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def machine() -> dict[str, Any]:
    """Return processor, cores and versions, for reports of measurements."""
    cpu = next(
        (line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), "unknown"
    )
    versions = {"ante": __version__} | {name: package_version(name) for name in ("numpy", "numba")}
    return {"cpu": cpu, "cores": os.cpu_count(), "python": platform.python_version(), **versions}


def memory() -> str:
    """Return total and available memory as text."""
    kilobytes = {line.split(":")[0]: int(line.split()[1]) for line in _lines("/proc/meminfo") if line.endswith("kB")}
    if not {"MemAvailable", "MemTotal"} <= kilobytes.keys():
        return "unknown"
    return f"{kilobytes['MemAvailable'] / 2**20:.1f} of {kilobytes['MemTotal'] / 2**20:.1f} GiB available"


def _lines(file: str) -> list[str]:
    try:
        with open(file) as stream:
            return stream.read().splitlines()
    except OSError:  # not Linux
        return []
