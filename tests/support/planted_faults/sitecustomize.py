"""Plants a fault into every Python process that has this folder in PYTHONPATH: a training's main process and Ray's workers.

ANTE_FAULT is MODULE:CLASS.METHOD:KIND:CALL. From its CALL-th call in a process on, the method raises an error (KIND
bug; worker_bug for Ray's workers only; memory for a MemoryError), or its process dies at once, as by the kernel's
out-of-memory killer (kill), or it returns gradients without a number (nan). With ANTE_FAULT_ONCE, the path of a file, a process dies only if the file does not exist, and creates it.
"""

import importlib.abc
import importlib.util
import os
import signal
import sys
from pathlib import Path
from typing import Any

MODULE, _, REST = os.environ.get("ANTE_FAULT", "").partition(":")


class Planter(importlib.abc.MetaPathFinder):
    """Replaces the method once its module is imported."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the module's own specification, extended."""
        if name != MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        assert spec and spec.loader
        execute = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            plant(module, *REST.split(":"))

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def plant(module: Any, method: str, kind: str, call: str) -> None:
    """Replace a method of a class of the module."""
    owner, name = method.split(".")
    original, calls = getattr(getattr(module, owner), name), []

    def faulty(*values: Any, **named: Any) -> Any:
        calls.append(1)
        if len(calls) < int(call) or (kind == "worker_bug" and not is_worker()):
            return original(*values, **named)
        if kind in ("bug", "worker_bug"):
            raise ValueError(f"a planted bug in {owner}")
        if kind == "memory":
            raise MemoryError("a planted lack of memory")
        if kind == "kill":
            once = Path(os.environ["ANTE_FAULT_ONCE"])
            if not once.exists():
                once.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*values, **named)
        gradients, means = original(*values, **named)
        return {key: each * float("nan") for key, each in gradients.items()}, means

    setattr(getattr(module, owner), name, faulty)


def is_worker() -> bool:
    """Return whether this is a process that Ray started."""
    return Path(sys.modules["__main__"].__file__ or "").name == "default_worker.py"


if MODULE:
    sys.meta_path.insert(0, Planter())
