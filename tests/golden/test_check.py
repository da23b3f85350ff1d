"""`ante golden check`: recognises file formats, counts, and finds deliberate changes."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ante.verification.recorded_truth import BadGolden, check, check_names, read_records

FOLDER = Path(__file__).parent


def written(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_bytes(gzip.compress("\n".join(json.dumps(record) for record in records).encode()))
    return path


def test_each_form_is_recognised(tmp_path: Path) -> None:
    seeds = tmp_path / "a.json"
    seeds.write_text(json.dumps({"runs": read_records(FOLDER / "seeds.json.gz")[:1]}))
    found = check(seeds)
    assert (found.form, found.compared, found.equal) == ("seeds", 1, 1)
    games = check(written(tmp_path / "b.gz", read_records(FOLDER / "traces.jsonl.gz")[:2]))
    assert (games.form, games.compared, games.equal) == ("games", 2, 2)
    hands = check(written(tmp_path / "c.gz", read_records(FOLDER / "scoring.jsonl.gz")[:5]))
    assert (hands.form, hands.compared, hands.equal) == ("hands", 5, 5)


def test_a_changed_record_is_found_and_named(tmp_path: Path) -> None:
    seed = read_records(FOLDER / "seeds.json.gz")[0]
    seed["antes"][3]["boss"] = "bl_small"
    game = read_records(FOLDER / "traces.jsonl.gz")[0]
    game["steps"][5]["after"]["dollars"] += 1
    hand = read_records(FOLDER / "scoring.jsonl.gz")[0]
    hand["expect"]["total"] += 1
    for record, field, place in ((seed, "boss", "ante 4"), (game, "dollars", "step 5"), (hand, "total", hand["id"])):
        found = check(written(tmp_path / "a.gz", [record]))
        assert found.equal == 0
        assert found.differences[0].field == field
        assert place in found.differences[0].where


def test_records_can_be_left_out_by_name(tmp_path: Path) -> None:
    records = read_records(FOLDER / "scoring.jsonl.gz")[:3]
    records[1]["expect"]["total"] += 1
    found = check(written(tmp_path / "a.gz", records), skip=frozenset({records[1]["id"]}))
    assert (found.compared, found.equal, found.left_out) == (2, 2, 1)


def test_a_record_with_the_id_0_can_be_left_out(tmp_path: Path) -> None:
    first, second = read_records(FOLDER / "scoring.jsonl.gz")[:2]
    assert check(written(tmp_path / "a.gz", [first | {"id": 0}, second]), skip=frozenset({"0"})).left_out == 1


def test_a_file_whose_records_are_all_left_out_is_refused(tmp_path: Path) -> None:
    hand = read_records(FOLDER / "scoring.jsonl.gz")[0]
    with pytest.raises(BadGolden, match="all 1 records are left out"):
        check(written(tmp_path / "a.gz", [hand]), skip=frozenset({hand["id"]}))


def test_a_name_of_no_record_is_refused(tmp_path: Path) -> None:
    first, second = (
        written(tmp_path / name, [{"id": name, "seed": "AAAAAAAA"}, {"seed": name.upper()}]) for name in ("a", "b")
    )
    check_names((first, second), ("a", "B"))
    with pytest.raises(BadGolden, match="--skip 'AAAAAAAA'"):
        check_names((first, second), ("a", "AAAAAAAA"))


def test_scoring_cards_that_were_not_recorded_are_not_compared(tmp_path: Path) -> None:
    hand = read_records(FOLDER / "scoring.jsonl.gz")[0]
    hand["expect"]["scoring"] = None
    assert check(written(tmp_path / "a.gz", [hand])).equal == 1


@pytest.mark.parametrize("card", ["S_A extra", "S_AK", "S_A:m_glass extra"])
def test_text_after_a_card_is_refused(tmp_path: Path, card: str) -> None:
    hand = read_records(FOLDER / "scoring.jsonl.gz")[0] | {"played": [card]}
    with pytest.raises(BadGolden, match="not a valid card"):
        check(written(tmp_path / "a.gz", [hand]))


def test_the_idol_without_a_suit_is_refused(tmp_path: Path) -> None:
    idol = {"key": "j_idol", "edition": None, "sell": 3, "state": {"rank": "K"}}
    hand = read_records(FOLDER / "scoring.jsonl.gz")[0] | {"jokers": [idol]}
    with pytest.raises(BadGolden, match="rank needs a suit"):
        check(written(tmp_path / "a.gz", [hand]))


def test_a_score_that_is_no_number_is_refused(tmp_path: Path) -> None:
    hand = read_records(FOLDER / "scoring.jsonl.gz")[0]
    hand["expect"]["total"] = float("nan")
    with pytest.raises(BadGolden, match=r"expect\.total"):
        check(written(tmp_path / "a.gz", [hand]))


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"a": 1}', b"\x1f\x8b broken", b"[]"])
def test_other_files_are_refused_in_words(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(content)
    with pytest.raises(BadGolden, match=r"a\.json"):
        check(file)


@pytest.mark.slow
def test_the_exit_code_says_whether_all_is_equal(tmp_path: Path) -> None:
    record = read_records(FOLDER / "scoring.jsonl.gz")[0]
    command = [sys.executable, "-m", "ante.cli", "golden", "check", "--json", str(written(tmp_path / "a.gz", [record]))]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, json.loads(done.stdout)[0]["equal"]) == (0, 1)
    record["expect"]["chips"] += 1
    written(tmp_path / "a.gz", [record])
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, json.loads(done.stdout)[0]["differences"][0]["field"]) == (1, "chips")
