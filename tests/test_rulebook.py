"""Which tests count as evidence of an item, and which do not."""

from pathlib import Path

import pytest

from ante.verification.rule_coverage import games_with, takes_part
from ante.verification.rule_evidence import asserting_tests, evidence
from ante.verification.rule_items import items
from ante.verification.rule_table import GAMES, NO_TESTS, rules_table

ROOT = Path(__file__).parents[1]
ITEMS = list(items())


def found(folder: Path, source: str) -> set[str]:
    """Return keys of the items for which the tests of this source are evidence."""
    (folder / "tests").mkdir(exist_ok=True)
    (folder / "tests" / "test_it.py").write_text(source)
    return {item.key for item, tests in evidence(ITEMS, asserting_tests(folder)).items() if tests}


@pytest.mark.parametrize(
    "source",
    [
        "def test_egg_grows():\n    assert play('j_egg')",
        "def test_egg_grows():\n    with pytest.raises(ValueError):\n        own(Joker.EGG)",
        "@pytest.mark.parametrize('key', ['j_egg'])\ndef test_egg_grows(key):\n    assert play(key)",
        "def grown():\n    return play('j_egg', 'j_joker')\n\ndef test_egg_grows():\n    assert grown()",
        "KEYS = ['j_egg', 'j_joker']\n\ndef test_egg_grows():\n    assert KEYS",
    ],
)
def test_a_name_a_mention_and_an_assertion_are_evidence(source: str, tmp_path: Path) -> None:
    assert found(tmp_path, source) == {"j_egg"}


@pytest.mark.parametrize(
    "source",
    [
        "def test_egg_grows():\n    play('j_egg')",
        "def test_growing():\n    assert play('j_egg')",
        "def test_egg_grows():\n    assert play('j_joker')",
        "def test_egg_grows():\n    assert play(key)\n\ndef test_other():\n    play('j_egg')",
        "def test_eggs():\n    assert play('j_egg')",
        "def helper_egg():\n    assert play('j_egg')",
    ],
)
def test_less_is_none(source: str, tmp_path: Path) -> None:
    assert found(tmp_path, source) == set()


def test_a_name_inside_a_longer_one_does_not_count(tmp_path: Path) -> None:
    source = "def test_green_joker_grows():\n    assert play('j_green_joker', 'j_joker', 'b_green')"
    assert found(tmp_path, source) == {"j_green_joker"}


def test_items_with_the_same_name_are_distinguished(tmp_path: Path) -> None:
    names = {"foil_tag": "tag_foil", "foil_edition": "foil", "red_deck": "b_red", "red_seal": "Red"}
    for name, key in names.items():
        assert found(tmp_path, f"def test_{name}():\n    assert play('tag_foil', 'foil', 'b_red', 'S_A=Red')") == {
            key
        } | ({"tag_foil"} if key == "foil" else set())


def test_without_tests_nothing_is_claimed(tmp_path: Path) -> None:
    rows = rules_table(tmp_path)
    assert {row["tested"] for row in rows} == {NO_TESTS}
    assert all(row["evidence"] == [] and row["recorded"] == 0 and row["implemented"] for row in rows)


@pytest.mark.slow
def test_every_name_given_as_evidence_is_a_test_of_this_checkout() -> None:
    for name in {name for row in rules_table() for name in row["evidence"]}:
        file, _, function = name.partition("::")
        assert f"def {function}(" in (ROOT / file).read_text()


def test_what_takes_part_in_a_recorded_game() -> None:
    start = {"skip_tag": "tag_boss", "phase": "blind_select", "consumables": ["c_sun", "c_pluto"], "packs": []}
    shop = {"phase": "shop", "jokers": ["j_egg/foil+E$3"], "packs": [["p_arcana_mega_1", 8]]}
    steps = [
        {
            "do": ["skip"],
            "after": {"phase": "play", "blind": "bl_big", "hand": ["S_A:m_glass=Red"], "tags": ["tag_boss"]},
        },
        {"do": ["play", [["S_A:m_glass/holo=Red+h5", 0]]], "after": shop, "scored": {"hand": "Pair"}},
        {"do": ["open", 0], "after": {"phase": "pack", "pack": ["c_star", "c_moon"]}},
        {"do": ["pick", 1, []], "after": {"phase": "shop", "vouchers": ["v_hone"]}},
    ]
    part = set(takes_part({"deck": "b_red", "stake": 3, "start": start, "steps": steps}))
    assert part == (
        {"b_red", "stake 3", "tag_boss", "bl_big", "m_glass", "Red", "holo", "Pair", "j_egg", "foil", "eternal"}
        | {"p_arcana_mega", "c_moon", "v_hone"}
    )


def test_every_recorded_key_is_an_item() -> None:
    known = {item.key for item in items()} | {f"stake {stake}" for stake in range(1, 9)}
    assert set(games_with(ROOT / GAMES)) - known == set()
