"""The machine of a run, recorded with its results."""

import json
from pathlib import Path
from typing import Any

import torch

from ante.files import write_text
from ante.machine import machine, memory, package_version


def machine_now() -> dict[str, Any]:
    """Return processor, cores, memory, GPUs and versions."""
    gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    return {**machine(), "memory": memory(), "gpus": gpus, "torch": torch.__version__, "ray": package_version("ray")}


def write_machine(run: Path) -> None:
    """Write the current machine to the run's folder as machine.json."""
    write_text(run / "machine.json", json.dumps(machine_now(), indent=1) + "\n")
