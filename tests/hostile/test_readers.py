"""Our file formats: valid files with one error, and files of other formats; each gives one message and no traceback."""

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ante.agents.seed_lists import read_seeds
from ante.bench.regression import read_baseline
from ante.env.replay import check_replay, read_file, read_replay, state_at
from ante.errors import BalatroError
from ante.experiments.finished_games import WEIGHTS, read_digests
from ante.experiments.results import read_reports
from ante.experiments.search_campaign import PHRASE, phase_rows, phrase_of, read_lines, row_of
from ante.experiments.strength.plan import Plan, keep_plan
from ante.experiments.strength.records import read_records
from ante.experiments.strength.results import results_of
from ante.files import whole_rows
from ante.league.folder import SCHEMA, STRETCH, League, read_stretch
from ante.recording.starts import read_starts
from ante.training.acting.win_head import WIN_HEAD, read_win_head
from ante.training.datasets.layout import observation_version, schema_of
from ante.training.datasets.read import Dataset
from ante.training.run_store.lineage import read_lineage
from ante.training.tracking.state import read_state
from ante.verification.recorded_truth import check as check_golden
from ante.watch.gallery import INDEX, read_index
from ante.watch.notes import read_notes
from tests.hostile import documents
from tests.hostile.files import BOMBS, NEVER, WORDS, corrupted, cut, holds, noise
from tests.hostile.harness import Case, cases, check, reader
from tests.hostile.runs import EVALUATION, LATEST, LEDGER, example, settings, within_run
from tests.hostile.stored import STORED, STORED_ABSENT, STORED_DOCUMENTS, STORED_TEXT

Read = Callable[[Path], Any]


def played(file: Path) -> None:
    """Read a replay and play it as far as possible."""
    text = read_file(file)
    read_replay(text)
    check_replay(text)
    state_at(text, 10)


def indexed(file: Path) -> None:
    """Read an index of episodes whose files are in its folder."""
    for entry in read_index(file.parent.parent):
        assert all("/" not in name and not name.startswith(".") for name in entry.files)


def searched(file: Path) -> None:
    """Read the games of a search campaign and summarise them."""
    lines = read_lines(file)
    if lines:
        row_of("16ms", lines, {line.seed: line for line in lines})
        phase_rows(lines)


def measured(file: Path) -> None:
    """Read the games of a measurement of time to strength and summarise them."""
    results_of(Plan(recipe="quick", settings={}, seeds=(3,), minutes=(1.0,), games=6), read_records(file.parent), {})


def planned(file: Path) -> None:
    """Continue a measurement with the plan in its folder."""
    keep_plan(Plan.model_validate(documents.PLAN), file.parent)


READERS: dict[str, tuple[Read, str, bytes | None]] = {  # read, name of the file, a valid one
    "replay": (played, "game.txt", documents.REPLAY),
    "packed replay": (played, "game.txt.gz", gzip.compress(documents.REPLAY)),
    "starts": (read_starts, "some.states", documents.start()),
    "packed starts": (read_starts, "some.states", gzip.compress(documents.start() * 2)),
    "seeds": (read_seeds, "seeds.txt", documents.SEEDS),
    "metrics": (whole_rows, "metrics.csv", documents.METRICS),
    "index": (indexed, f"episodes/{INDEX}", json.dumps(documents.INDEX).encode()),
    "notes": (read_notes, "x.notes.json.gz", gzip.compress(json.dumps(documents.NOTES).encode())),
    "league": (lambda file: League(file.parent), "league.json", json.dumps(documents.LEAGUE).encode()),
    "stretch": (read_stretch, "0000.parquet", None),
    "dataset": (lambda file: dataset(file.parent), "steps.parquet", None),
    "baseline": (read_baseline, "baseline.json", json.dumps(documents.BASELINE).encode()),
    "report": (lambda file: read_reports(file, 1), "evaluation.json", json.dumps(documents.REPORT).encode()),
    "tracking": (lambda file: read_state(file.parent.parent, "wandb"), "tracking/wandb.json", json.dumps(documents.TRACKING).encode()),
    "run settings": (within_run("config.yaml"), "settings", example()["config.yaml"]),
    "run metrics": (within_run("metrics.csv"), "rows", example()["metrics.csv"]),
    "run machine": (within_run("machine.json"), "machine", example()["machine.json"]),
    "run evaluation": (within_run("evaluation.json"), "evaluation", example()["evaluation.json"]),
    "run pointer": (within_run("checkpoints/latest.json"), "pointer", example()["checkpoints/latest.json"]),
    "run ledger": (within_run("hints/ledger.json"), "ledger", example()["hints/ledger.json"]),
    "run index": (within_run(f"episodes/{INDEX}"), "index", example()[f"episodes/{INDEX}"]),
    "search games": (searched, "16ms.jsonl", documents.SEARCHED),
    "campaign weights": (read_digests, WEIGHTS, json.dumps({"16ms": "0" * 64}).encode()),
    "search phrase": (lambda file: phrase_of(file.parent), PHRASE, b"a phrase\n"),
    "strength games": (measured, "games.jsonl", documents.MEASURED),
    "strength plan": (planned, "plan.yaml", json.dumps(documents.PLAN).encode()),
    "win head": (lambda file: read_win_head(file.parent, "abc"), WIN_HEAD, documents.win_head()),
    "lineage": (lambda file: read_lineage(file.parent), "lineage.json", json.dumps(documents.ANCESTRY).encode()),
    "golden seeds": (check_golden, "a.json", json.dumps([documents.golden("seeds.json.gz")]).encode()),
    "golden games": (check_golden, "a.json", json.dumps([documents.golden("traces.jsonl.gz")]).encode()),
    "golden hands": (check_golden, "a.json", json.dumps([documents.golden("scoring.jsonl.gz")]).encode()),
    **STORED,
}  # fmt: skip
OPTIONAL = ("run metrics", "run machine", "run evaluation", "run pointer", "run ledger", "run index", "search games",
            "campaign weights", "strength games", "strength plan", "win head", "lineage", "sweep record")  # fmt: skip
ABSENT_IS_EMPTY = ("index", "tracking", *OPTIONAL, *STORED_ABSENT)  # a missing file is valid
TEXT = (
    "seeds",
    "metrics",
    "run metrics",
    "search phrase",
    "search games",
    "strength games",
    *STORED_TEXT,
)  # nearly any text is valid
ANY_OBJECT = (
    "tracking",
    "run machine",
    "run pointer",
    "run ledger",
    "lineage",
    "campaign weights",
)  # an empty object is valid
NO_TEXT = ("directory", "named pipe", "socket", "endless device", "terminal device", "terabyte", "noise")
DOCUMENTS: dict[str, Any] = {
    **STORED_DOCUMENTS,
    "run settings": settings(),
    "run machine": {"cores": 2},
    "run evaluation": EVALUATION,
    "run pointer": LATEST,
    "run ledger": LEDGER,
    "run index": documents.INDEX,
    "campaign weights": {"16ms": "0" * 64},
    "search games": json.loads(documents.SEARCHED.splitlines()[0]),
    "strength games": json.loads(documents.MEASURED.splitlines()[0]),
    "strength plan": documents.PLAN,
    "lineage": documents.ANCESTRY,
    "index": documents.INDEX,
    "notes": documents.NOTES,
    "league": documents.LEAGUE,
    "baseline": documents.BASELINE,
    "report": documents.REPORT,
    "tracking": documents.TRACKING,
    "golden seeds": [documents.golden("seeds.json.gz")],
    "golden games": [documents.golden("traces.jsonl.gz")],
    "golden hands": [documents.golden("scoring.jsonl.gz")],
}


def dataset(folder: Path) -> None:
    """Read all steps."""
    found = Dataset(folder)
    for steps in found.batches(100):
        assert len(steps["action"])


def in_place(make: Callable[[Path, str], Path]) -> Callable[[Path, str], Path]:
    """Return a maker that creates the file in the folder of the name."""

    def made(folder: Path, name: str) -> Path:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        return make(target.parent, target.name)

    return made


def never_cases() -> Iterator[Case]:
    """Yield files that every reader must refuse."""
    for name, (read, file, _) in READERS.items():
        for made, make in {**NEVER, **BOMBS}.items():
            if made == "name of 300 letters" or (name, made) == ("strength plan", "through a file"):
                continue  # the readers' own file names are fixed; a plan is written to a folder
            accepted = (
                (name in ABSENT_IS_EMPTY and made in ("missing", "link to nothing", "through a file"))
                or (name in OPTIONAL and made == "link to itself")  # it links to nothing under another name
                or (name in ANY_OBJECT and made == "object")
                or (name == "seeds" and made in WORDS)
                or (name in TEXT[1:] and made not in NO_TEXT)
            )
            yield Case(f"{name}: {made}", reader(read, in_place(make), file), "", not accepted, megabytes=700)


def cut_cases() -> Iterator[Case]:
    """Yield prefixes of valid files, and valid files with changed bytes."""
    for name, (read, file, data) in READERS.items():
        if data is None:
            continue
        for made, part in cut(data):
            must = name not in TEXT
            yield Case(f"{name}: {made}", reader(read, holds(part, file)), "", must)
        for flip in range(12):
            at = noise(4, flip)
            place = int.from_bytes(at[:3], "big") % len(data)
            changed = data[:place] + bytes([data[place] ^ (1 << at[3] % 8)]) + data[place + 1 :]
            yield Case(f"{name}: bit {flip} turned", reader(read, holds(changed, file)), "", refused=False)
        yield Case(f"{name}: noise behind", reader(read, holds(data + noise(100), file)), "", refused=False)
        yield Case(f"{name}: zeros, as long", reader(read, holds(bytes(len(data)), file)), "", name not in TEXT)


def document_cases() -> Iterator[Case]:
    """Yield valid documents with one value of another type or range."""
    for name, document in DOCUMENTS.items():
        read, file, _ = READERS[name]
        end = b"\n" * file.endswith("jsonl")  # a line is read when it is complete
        for made, data in corrupted(document, end):
            yield Case(f"{name}: {made}", reader(read, holds(data, file)), "", refused=False)


def parquet(folder: Path, name: str, table: Any, **options: Any) -> Path:
    """Write a table to a file."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, file, **options)
    return file


def stretch_table(rows: int = STRETCH, schema: Any = SCHEMA) -> Any:
    """Return results of a league's games."""
    row = {"seed": "A", "outcome": "won", "ante": 8, "blinds": 24, "decisions": 3, "reward": 1.0, "actions": [1, 2]}
    kept = {name: row[name] for name in schema.names}
    return pa.Table.from_pylist([kept] * rows, schema=schema)


def dataset_table(**about: Any) -> Any:
    """Return a dataset without steps."""
    said = {"format": 1, "observation": observation_version(), "view": "flat", **about}
    return schema_of("flat", said).empty_table()


def parquet_cases() -> Iterator[Case]:
    """Yield invalid and damaged Parquet files."""
    ok = stretch_table()
    tables = {
        "no games": stretch_table(0),
        "too many games": stretch_table(STRETCH + 1),
        "another column": ok.append_column("more", pa.array([1] * STRETCH)),
        "a column less": ok.drop_columns(["actions"]),
        "text for numbers": ok.set_column(2, "ante", pa.array(["x"] * STRETCH)),
        "too large numbers": ok.set_column(2, "ante", pa.array([10**6] * STRETCH)),
        "nulls": ok.set_column(0, "seed", pa.array([None] * STRETCH, pa.string())),
    }
    for name, table in tables.items():

        def made(folder: Path, file: str, table: Any = table) -> Path:
            return parquet(folder, file, table)

        yield Case(
            f"stretch: {name}", reader(read_stretch, made, "0000.parquet"), "", name not in ("another column", "nulls")
        )
    for name, table in {
        "no steps": dataset_table(),
        "another format": dataset_table(format=2),
        "format of another kind": dataset_table(format=["x" * 100]),
        "another version": dataset_table(observation="old"),
        "no view": dataset_table(view=None),
        "view of another kind": dataset_table(view={"a": 1}),
        "results of a league": ok,
        "not ours": pa.table({"a": [1]}),
        "about is a list": pa.table({"a": [1]}).replace_schema_metadata({b"ante": b"[]"}),
        "about is nested": pa.table({"a": [1]}).replace_schema_metadata({b"ante": b"[" * 10**5}),
        "columns are missing": pa.table({"game": [1]}).replace_schema_metadata(dataset_table().schema.metadata),
    }.items():

        def step_file(folder: Path, file: str, table: Any = table) -> Path:
            return parquet(folder, file, table)

        yield Case(f"dataset: {name}", reader(lambda file: Dataset(file.parent), step_file, "steps.parquet"))
    for flip in range(60):

        def damaged(folder: Path, file: str, flip: int = flip) -> Path:
            made = parquet(folder, file, stretch_table())
            data = bytearray(made.read_bytes())
            rng = np.random.default_rng(flip)
            for place in rng.integers(0, len(data), 1 + flip % 4):
                data[place] ^= 1 << int(rng.integers(8))
            made.write_bytes(bytes(data))
            return made

        yield Case(f"stretch: damage {flip}", reader(read_stretch, damaged, "0000.parquet"), "", refused=False)


CASES = [*never_cases(), *cut_cases(), *document_cases(), *parquet_cases()]


@pytest.mark.parametrize("case", cases(CASES, quick=80))
def test_is_refused_in_a_sentence(case: Case, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    check(case, tmp_path, capfd)


@pytest.mark.parametrize("name", [name for name, (_, _, data) in READERS.items() if data is not None])
def test_the_examples_that_are_spoilt_are_valid(name: str, tmp_path: Path) -> None:
    read, file, data = READERS[name]
    assert data is not None
    read(holds(data, file)(tmp_path))


def test_an_index_cannot_name_files_outside_its_folder(tmp_path: Path) -> None:
    for bad in ("../x", "/etc/passwd", "..", "a/b", ".hidden", "", "a\x00b", "a\n"):
        changed = {**documents.INDEX, "episodes": [{**documents.INDEX["episodes"][0], "notes": bad}]}  # type: ignore[index]
        holds(json.dumps(changed).encode(), f"episodes/{INDEX}")(tmp_path)
        with pytest.raises(BalatroError, match=r"episodes|0\.notes"):
            read_index(tmp_path)
