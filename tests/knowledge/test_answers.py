"""Names, traits, published pairs, the terminal and the page."""

import json
import re
from pathlib import Path

import pytest

from ante.catalog.jokers import JOKERS, Joker
from ante.files import Unreadable
from ante.knowledge.content import scoring_jokers, traits_of
from ante.knowledge.measuring import table as tables
from ante.knowledge.measuring.table import read_table
from ante.knowledge.names import UnknownName, key_of, names_of
from ante.knowledge.recall import BadList, read_published, recalled
from ante.knowledge.winning.table import read_winning
from ante.stats.knowledge import data_of, draw_pairs, write_page
from tests.knowledge.conftest import Run
from tests.knowledge.made import made_table, made_winning


@pytest.mark.parametrize(
    ("kind", "name", "key"),
    [
        ("joker", "Baron", "j_baron"),
        ("joker", "the duo", "j_duo"),
        ("joker", "DUO", "j_duo"),
        ("joker", "oops all 6s", "j_oops"),
        ("joker", "j_ring_master", "j_ring_master"),
        ("joker", "showman", "j_ring_master"),
        ("joker", "joker", "j_joker"),
        ("joker", "half", "j_half"),
        ("joker", "canio", "j_caino"),
        ("joker", "seance", "j_seance"),
        ("hand", "full house", "Full House"),
        ("boss", "plant", "bl_plant"),
        ("boss", "Verdant Leaf", "bl_final_leaf"),
        ("deck", "plasma deck", "b_plasma"),
        ("deck", "b_red", "b_red"),
    ],
)
def test_an_item_is_found_by_the_names_that_people_write(kind: str, name: str, key: str) -> None:
    assert key_of(kind, name) == key


def test_every_name_and_key_finds_its_item() -> None:
    for kind in ("joker", "hand", "boss", "deck"):
        for key, name in names_of(kind).items():
            assert key_of(kind, name) == key_of(kind, key) == key


def test_a_misspelt_name_suggests_another() -> None:
    with pytest.raises(UnknownName, match=r"there is no joker 'barron': did you mean Baron\?"):
        key_of("joker", "barron")
    with pytest.raises(UnknownName, match=r"there is no boss 'Baron'"):
        key_of("boss", "Baron")


def test_traits_follow_from_the_row_and_the_effects() -> None:
    found = {row.joker: set(traits_of(row)) for row in JOKERS[1:]}
    assert {"does:mult", "suit:diamonds", "when:card_scored", "rarity:common"} <= found[Joker.GREEDY_JOKER]
    assert {"does:growth", "hand:Straight", "when:hand_begins"} <= found[Joker.RUNNER]
    assert {"not:copied"} <= found[Joker.CHICOT]
    assert all(any(trait.startswith("rarity:") for trait in traits) for traits in found.values())


def test_published_pairs_have_sources_and_are_jokers() -> None:
    published = read_published()
    assert len(published.pairs) >= 30
    assert {pair.source for pair in published.pairs} == set(published.sources)
    pairs = {frozenset((key_of("joker", pair.one), key_of("joker", pair.other))) for pair in published.pairs}
    assert len(pairs) == len(published.pairs), "a pair is listed once"


def test_recall_counts_measured_synergies() -> None:
    found = recalled(read_table(), read_published())
    assert found.confirmed == sum(row.verdict == "synergy" for row in found.pairs)
    assert found.confirmed_scoring <= found.scoring <= len(found.pairs)
    verdicts = {frozenset((row.one, row.other)): row.verdict for row in found.pairs}
    assert verdicts[frozenset(("Photograph", "Hanging Chad"))] == "synergy"
    assert verdicts[frozenset(("Astronomer", "Satellite"))] == "independent"


def test_jokers_that_act_outside_of_hands_are_told_apart() -> None:
    scoring = scoring_jokers()
    assert {"j_baron", "j_blueprint", "j_four_fingers", "j_oops"} <= scoring
    assert not {"j_egg", "j_astronomer", "j_chaos", "j_drunkard", "j_rocket"} & scoring


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("pairs: []", BadList, "at least 1 item"),
        ("pairs: [{one: Baron, other: Mime}]", BadList, "Field required"),
        ("pairs: [{one: Baron, other: Mime, source: me, more: 1}]", BadList, "not permitted"),
        ("pairs: [{one: Baron, other: Nobody, source: me}]", UnknownName, "no joker 'Nobody'"),
        ("pairs: [{one: Baron, other: baron, source: me}]", BadList, "not a pair of different"),
        ("pairs: [", Unreadable, "cannot read"),
    ],
)
def test_a_bad_list_is_explained(text: str, error: type[Exception], message: str, tmp_path: Path) -> None:
    file = tmp_path / "list.yaml"
    file.write_text(text)
    with pytest.raises(error, match=message):
        recalled(read_table(), read_published(file))


def test_a_joker_is_described(know: Run) -> None:
    code, out, _ = know("joker", "photograph")
    assert code == 0
    assert "The first scored face card gives X2 Mult." in out and "Hanging Chad" in out and "works with" in out
    code, out, _ = know("joker", "photograph", "--json", "--most", "3")
    found = json.loads(out)
    assert found["key"] == "j_photograph" and len(found["partners"]) == 3
    assert found["partners"][0]["effect"] >= found["partners"][1]["effect"] > 0


def test_a_joker_without_effect_on_the_score_says_so(know: Run) -> None:
    code, out, _ = know("joker", "chaos the clown")
    assert code == 0 and "does not act while a hand is scored" in " ".join(out.split())


def test_a_pair_shows_all_measures(know: Run) -> None:
    code, out, _ = know("pair", "mime", "baron")
    assert code == 0
    assert all(words in out for words in ("Mime + Baron", "synergy", "same cards", "ante 8", "false discovery"))
    assert json.loads(know("pair", "baron", "mime", "--json")[1]) == json.loads(
        know("pair", "mime", "baron", "--json")[1]
    )


def test_strategies_are_shown_and_those_of_a_joker(know: Run, tmp_path: Path) -> None:
    from ante.knowledge.store import open_knowledge

    store = str(tmp_path / "made.lbug")
    with open_knowledge(store, write=True) as graph:
        graph.load(made_table(10), made_winning())
    code, out, _ = know("strategies", "--store", store)
    words = " ".join(out.split())
    assert (
        code == 0
        and "Joker + Mad Joker + mostly Two Pair" in words
        and "80% of 40 │ 100 │ 60% │ 80% │ +20 (+10 to +30) │ +10 (+5 to +15)" in words
    )
    assert "Zany" not in out
    assert "TESTSEED, not confirmed" in " ".join(know("strategies", "--rejected", "--store", store)[1].split())
    rows = json.loads(know("strategies", "--rejected", "--json", "--store", store)[1])
    assert [row["validated"] for row in rows] == [True, False]
    assert "+20 (+10 to +30)" in know("joker", "mad", "--store", store)[1]
    assert "+10 (+2 to +18)" in know("pair", "joker", "zany", "--store", store)[1]
    assert json.loads(know("pair", "joker", "mad", "--json", "--store", store)[1])["wins"] is None
    assert know("joker", "blueprint", "--store", store)[:1] == (0,), "its gain is not in the table of ten jokers"


def test_vectors_of_jokers_are_written(know: Run, tmp_path: Path) -> None:
    file = str(tmp_path / "v.npz")
    code, out, _ = know("embed", "--out", file)
    assert code == 0 and "150 x 128, SHA-256" in out
    assert know("embed", "--out", str(tmp_path / "w.npz"), "--previous", file)[0] == 0
    (tmp_path / "text").write_text("no numbers")
    code, _, err = know("embed", "--out", file, "--previous", str(tmp_path / "text"))
    assert code == 2 and "cannot be read" in err


def test_five_jokers_have_ten_pairs(know: Run) -> None:
    rows = json.loads(know("among", "baron", "mime", "blueprint", "photograph", "egg", "--json")[1])
    assert len(rows) == 10
    assert "independent" in know("among", "baron", "egg", "golden joker")[1]


def rows_of(table: str) -> list[str]:
    """Return the first column of a printed table, without its heading."""
    return [line.split("│")[1].strip() for line in table.splitlines() if line.startswith("│")]


def test_a_table_of_effects_has_at_most_as_many_rows_as_wanted(know: Run) -> None:
    """The largest effects and the smallest ones; of an odd number one more of the largest."""
    found = {most: rows_of(know("hand", "flush", "--most", str(most))[1]) for most in (1, 2, 3, 500)}
    everything = found[500]
    assert found[1] == everything[:1] and found[2] == [everything[0], everything[-1]]
    assert found[3] == [*everything[:2], everything[-1]] and len(everything) > 10
    assert len(rows_of(know("joker", "baron", "--most", "1")[1])) <= 6
    assert len(json.loads(know("hand", "flush", "--most", "1", "--json")[1])) == 150


@pytest.mark.parametrize("kept", [0, 100])
def test_a_damaged_graph_of_the_cache_is_written_again(know: Run, cache: Path, kept: int) -> None:
    assert know("top")[0] == 0
    (file,) = cache.glob("knowledge-*.lbug")
    whole = file.read_bytes()
    file.write_bytes(whole[:kept])
    code, out, err = know("top")
    assert (code, out, err) == (0, know("top")[1], "") and "Blueprint" in out
    assert file.stat().st_size == len(whole)


def test_a_boss_that_changes_no_gain_says_so(know: Run) -> None:
    assert know("boss", "the wall")[1] == "The Wall: no significant effect on the gain of a joker\n"


def test_hands_bosses_decks_paths_and_the_top(know: Run) -> None:
    assert "The Tribe" in know("hand", "flush", "--most", "200")[1]
    assert "Chicot" in know("boss", "the flint")[1]
    assert know("deck", "checkered")[0] == 0
    assert "not measured" in know("deck", "red")[1]
    chains = json.loads(know("path", "hack", "photograph", "--json")[1])
    assert chains[0]["jokers"][0] == "Hack" and chains[0]["jokers"][-1] == "Photograph"
    best = json.loads(know("top", "--most", "5", "--json")[1])
    assert [row["effect"] for row in best] == sorted((row["effect"] for row in best), reverse=True)
    assert "overlap" in know("top", "--overlaps", "--most", "3")[1]
    assert "Blueprint" not in know("top", "--without", "blueprint", "--most", "40")[1]
    assert "measured synergies" in know("recall")[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("joker", "barron"), "did you mean Baron?"),
        (("pair", "baron", "baron"), "a joker was named twice"),
        (("among", "baron"), "1 jokers were named: name 2 to 16"),
        (("hand", "flash"), "did you mean Flush?"),
        (("top", "--store", "absent.lbug"), "there is no graph in absent.lbug"),
        (("load", "--store", "ftp://x"), "'ftp':// is no graph"),
        (("top", "--store", "bolt://me:hunter2@127.0.0.1:7687"), "credentials in KNOWLEDGE_USER"),
        (("top", "--store", "bolt://127.0.0.1:99999"), "is no Bolt server: use bolt://HOST:PORT"),
        (("load", "--store", "bolt://127.0.0.1:1/x?y=1"), "is no Bolt server: use bolt://HOST:PORT"),
        (("load", "--store", "default"), "the default store is read-only"),
        (("recall", "--list", "absent.yaml"), "the file does not exist"),
    ],
)
def test_a_mistake_ends_with_one_sentence(know: Run, words: tuple[str, ...], message: str) -> None:
    code, _, err = know(*words)
    assert code == 2 and message in err and err.count("\n") == 1


@pytest.mark.slow
def test_a_graph_is_loaded_exported_and_imported(know: Run, tmp_path: Path) -> None:
    store, copy = str(tmp_path / "graph.lbug"), str(tmp_path / "copy.lbug")
    assert "nodes and edges written" in know("load", "--store", store)[1]
    assert know("export", str(tmp_path / "files"), "--store", store)[0] == 0
    assert know("export", str(tmp_path / "files"), "--store", store)[0] == 2
    assert know("import", str(tmp_path / "files"), "--store", copy)[0] == 0
    assert know("pair", "baron", "mime", "--json", "--store", copy) == know("pair", "baron", "mime", "--json")


def test_the_page_contains_its_data_and_no_link_to_the_outside(tmp_path: Path) -> None:
    table = read_table()
    text = write_page(table, read_winning(), tmp_path / "page.html").read_text()
    assert not re.search(r'(src|href)="https?:', text)
    assert len(text) < 1_000_000
    data = data_of(table, made_winning())
    assert len(data["jokers"]) == 150 and data["measured"] == 11_175
    assert all(0 <= pair[0] < pair[1] < 150 for pair in data["pairs"])
    assert [(each["validated"], each["jokers"]) for each in data["strategies"]] == [(True, [0, 7]), (False, [6])]
    assert [(each["one"], each["other"]) for each in data["wins"]] == [(0, 6)]


@pytest.mark.slow
def test_the_picture_is_drawn(tmp_path: Path) -> None:
    assert draw_pairs(read_table(), tmp_path / "pairs.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.browser
def test_the_page_draws_filters_and_describes(tmp_path: Path) -> None:
    from tests.support.browser import chromium

    file = write_page(read_table(), made_winning(), tmp_path / "page.html")
    with chromium() as browser:
        page, problems = browser.new_page(viewport={"width": 1280, "height": 1200}), []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready]")
        assert page.locator("#graph line").count() == 70
        assert page.locator("#strategies tbody tr").count() == 1
        page.check("#rejected")
        assert page.locator("#strategies tbody tr").all_inner_texts()[1].endswith("not confirmed")
        assert "+10 (+2 to +18)" in page.locator("#wins tbody tr").first.inner_text()
        first = page.locator("#pairs tbody tr").first.inner_text()
        page.select_option("#sign", "-1")
        assert page.locator("#pairs tbody tr").first.inner_text() != first
        assert page.locator("#pairs tbody td.plus").count() == 0
        page.select_option("#sign", "1")
        page.fill("#find", "Photograph")
        assert "Hanging Chad" in page.locator("#joker").inner_text()
        page.locator("#joker .link", has_text="Hanging Chad").click()
        assert page.locator("#joker h2").inner_text() == "Hanging Chad"
        assert page.locator("#graph g.chosen").count() == 1
        page.fill("#find", "Chaos the Clown")
        assert "not measured" in page.locator("#joker").inner_text()
        assert not problems


def test_the_fingerprint_depends_on_the_numbers() -> None:
    assert tables.fingerprint(made_table(5)) == tables.fingerprint(made_table(5))
    assert tables.fingerprint(made_table(5)) != tables.fingerprint(made_table(5, seed=2))
