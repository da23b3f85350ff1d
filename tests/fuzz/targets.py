"""The readers that are fuzzed: what reads a file, its name, and valid files to start from.

A reader may return or raise BalatroError. Any other exception, a hang or more than 2 GB of memory is a finding.
"""

import gzip
import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ante.deploy.settings import read_settings
from ante.errors import BalatroError
from ante.experiments.spec import read_spec
from ante.hints.advice import ModelList, check
from ante.hints.chat import Completion
from ante.hints.question import Option, Question
from ante.http.client import read_reply
from ante.metrics import COLUMNS
from ante.training.run.metrics import as_csv, read_rows
from ante.training.run_store import manifest
from ante.training.run_store.state_files import read_arrays
from ante.training.settings.config import read_config
from ante.training.sweeps.spec import read_sweep
from tests.hostile.stored import STORED
from tests.hostile.test_readers import READERS, parquet, stretch_table

Target = tuple[Callable[[Path], Any], str, list[bytes]]
ROOT = Path(__file__).parents[2]
ANSWER = b'{"option": 0, "confidence": 80, "outlook": 40, "reason": "keeps the pair"}'
COMPLETION = b'{"choices": [{"message": {"content": "{}"}}], "usage": {"total_tokens": 12}}'


def targets() -> dict[str, Target]:
    """Return all readers by name."""
    found = {name: (read, file, [] if data is None else [data]) for name, (read, file, data) in READERS.items()}
    with tempfile.TemporaryDirectory() as folder:
        found["stretch"][2].append(parquet(Path(folder), "0", stretch_table()).read_bytes())
        del found["dataset"]  # the same format as `stretch`, with columns that depend on the observation
    found.update(run_files())
    found["config"] = read_config, "a.yaml", yaml_files("src/ante/training/presets")
    searches = [data.replace(b": quick", b": quick.yaml") for data in yaml_files("configs/sweeps")]
    found["sweep"] = sweep, "a.yaml", searches
    found["experiment"] = read_spec, "a.yaml", yaml_files("configs/compare")
    found["cluster settings"] = lambda file: read_settings((file,)), "a.yaml", yaml_files("src/ante/deploy/presets")
    found["advice"] = advice, "reply.json", [ANSWER]
    found["completion"] = lambda file: reply(Completion, file), "reply.json", [COMPLETION]
    found["model list"] = lambda file: reply(ModelList, file), "reply.json", [b'{"data": [{"id": "qwen"}]}']
    return found


def run_files() -> Iterator[tuple[str, Target]]:
    """Yield files of a run's folder that are read with additional knowledge."""
    _, name, arrays = STORED["arrays"]
    shapes = {"a": (2, 3), "b": (3,)}
    yield "weights", (lambda file: read_arrays(file, shapes), name, [arrays])
    listed = {"files": {"sub/w.npz": {"bytes": 0, "sha256": hashlib.sha256().hexdigest()}}, "steps": 3}
    yield "manifest", (sealed, "manifest.json", [json.dumps(listed).encode()])
    rows = as_csv([{name: "1" for name in COLUMNS}]).encode()
    yield "metrics of a resumed run", (lambda file: read_rows(file, 10), "metrics.csv", [rows])


def yaml_files(folder: str) -> list[bytes]:
    """Return the YAML files of a folder of the repository."""
    return [file.read_bytes() for file in sorted((ROOT / folder).glob("*.yaml"))]


def sweep(file: Path) -> Any:
    """Read a sweep beside the configuration that it names."""
    (file.parent / "quick.yaml").write_bytes((ROOT / "src/ante/training/presets/quick.yaml").read_bytes())
    return read_sweep(file)


def sealed(file: Path) -> Any:
    """Verify a manifest of these contents beside one empty file; it is sealed, as any change would break the seal."""
    part = file.parent / "sub/w.npz"
    part.parent.mkdir(exist_ok=True)
    part.touch()
    try:
        content = json.loads(file.read_bytes())
        content[manifest.SEAL] = manifest.seal_of(content)
        file.write_text(manifest.text_of(content))
    except (ValueError, TypeError, RecursionError):
        pass  # not an object of JSON
    return manifest.verified(file.parent, file.name)


def advice(file: Path) -> Any:
    """Validate the text that a model returned."""
    option = Option(0, 1, "play AS", "")
    return check(Question("", "", (option, option), "p", "s"), file.read_text(errors="replace"))


def reply(model: Any, file: Path) -> Any:
    """Parse the body of a response."""
    return read_reply(model, file.read_bytes(), "reply")


def read(target: Target, data: bytes, folder: Path) -> bool:
    """Read these bytes as a file in `folder`; return whether they are valid. Raises what is a finding."""
    reader, name, _ = target
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    try:
        reader(file)
    except BalatroError:
        return False
    return True


def words(data: bytes) -> set[bytes]:
    """Return the keys and values of a text format, as a dictionary for the fuzzer."""
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    cleaned = bytes(each if (each < 128 and chr(each).isalnum()) or each in b"_.-" else 32 for each in data[:50_000])
    return {word for word in cleaned.split() if 2 <= len(word) <= 30}
