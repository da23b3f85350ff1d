"""Lines about the visible jokers: which effects they quote, and that a dead graph only removes them."""

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ante.catalog.hands import HANDS
from ante.catalog.jokers import JOKERS, Joker, by_key
from ante.engine.core.state import Kind, Phase
from ante.hints.question import question_of, visible_jokers
from ante.hints.settings import BadHints, read_settings
from ante.knowledge import facts as graph_facts
from ante.knowledge import queries
from ante.knowledge.backends import BadStore, StoreUnavailable
from ante.knowledge.facts import HEADING, MOST, GraphFacts, facts_from
from ante.knowledge.measuring.table import is_synergy
from ante.knowledge.store import Knowledge, open_knowledge
from ante.lookahead.candidates import list_candidates
from tests.knowledge.made import made_table, made_winning
from tests.lookahead.test_candidates import in_round

TABLE = made_table(40)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = str(tmp_path_factory.mktemp("facts") / "made.lbug")
    with open_knowledge(file, write=True) as graph:
        graph.load(TABLE, made_winning())
    return file


@pytest.fixture
def facts(store: str) -> GraphFacts:
    return GraphFacts(lambda: open_knowledge(store), pytest.fail)


def searched(held: frozenset[int], offered: frozenset[int]) -> list[tuple[bool, float]]:
    """Return (whether both are held, effect) of the significant pairs with a held joker, by a search of the table."""
    found, pairs = [], TABLE.pairs
    counts = is_synergy(pairs["effect"], pairs["q"]) & (abs(pairs["effect"]) >= queries.WEAKEST)
    for one, other, effect, good in zip(pairs["one"], pairs["other"], pairs["effect"], counts, strict=True):
        numbers = {int(by_key[str(one)]), int(by_key[str(other)])}
        if good and numbers <= held | offered and numbers & held:
            found.append((numbers <= held, float(effect)))
    return sorted(found, key=lambda each: (each[0], -abs(each[1])))


@pytest.mark.parametrize(
    ("held", "offered"),
    [(set(range(5, 12)), {30, 31}), ({30, *range(5, 12)}, set()), ({12}, {13, 25, 31, 37}), ({39}, set())],
)
def test_lines_quote_significant_pairs_with_an_offer_first(
    held: set[int], offered: set[int], facts: GraphFacts
) -> None:
    expected = searched(frozenset(held), frozenset(offered))[:MOST]
    assert expected or len(held) == 1
    lines = facts.lines(frozenset(held), frozenset(offered))
    assert lines[:1] == ((HEADING,) if expected else ())
    assert [line.rpartition(": x")[2] for line in lines[1:]] == [f"{10**effect:.2f}" for _, effect in expected]
    assert [" (offered)" not in line for line in lines[1:]] == [both for both, _ in expected]
    for line in lines[1:]:
        names = line.rpartition(":")[0].replace(" (offered)", "").split(" + ")
        assert {int(row.joker) for row in JOKERS[1:] if row.name in names} <= held | offered


def test_a_validated_strategy_is_quoted_when_all_of_it_is_visible(facts: GraphFacts) -> None:
    joker, mad, zany = (int(by_key[key]) for key in ("j_joker", "j_mad", "j_zany"))
    line = "Joker + Mad Joker + mostly Two Pair in ante 6: 80% of games won, 60% with other jokers"
    assert line in facts.lines(frozenset({joker}), frozenset({mad}))
    assert line not in facts.lines(frozenset({joker}), frozenset({zany}))
    assert line not in facts.lines(frozenset(), frozenset({joker, mad})), "nothing of it is held"


def test_strategies_of_the_same_jokers_are_all_quoted_the_largest_effect_first(tmp_path: Path) -> None:
    (first, _), numbers = made_winning().strategies, [int(by_key[key]) for key in ("j_joker", "j_mad", "j_zany")]
    made = {"a j_joker+j_mad": 0.1, "b j_joker+j_mad": 0.3, "c j_joker+j_zany": 0.2, "d j_joker": 0.4}
    strategies = tuple(
        replace(first, key=f"{key.split()[1]}+main:{hand.name}", name=key[0], effect=effect)
        for (key, effect), hand in zip(made.items(), HANDS, strict=False)
    )
    with open_knowledge(str(tmp_path / "made.lbug"), write=True) as graph:
        graph.load(TABLE, replace(made_winning(), strategies=strategies))
    facts = GraphFacts(lambda: open_knowledge(str(tmp_path / "made.lbug")), pytest.fail)
    lines = facts.lines(frozenset(numbers), frozenset())
    assert [line[0] for line in lines if "in ante 6" in line] == ["b", "c", "a"], "not the one of a single joker"


def a_shop(*held: Joker, offer: Joker) -> Any:
    """Return a game in the shop, with jokers and one offer."""
    s = in_round(*held)
    s.phase, s.n_row = Phase.SHOP, 1
    s.row[0].kind, s.row[0].id = Kind.JOKER, offer
    return s


def test_held_jokers_and_those_of_the_shop_are_visible() -> None:
    s = a_shop(Joker.BARON, Joker.EGG, offer=Joker.MIME)
    assert visible_jokers(s) == (frozenset({Joker.BARON, Joker.EGG}), frozenset({Joker.MIME}))
    s.phase = Phase.PLAY
    assert visible_jokers(s)[1] == frozenset()
    s.row[0].kind, s.phase = Kind.CONSUMABLE if hasattr(Kind, "CONSUMABLE") else Kind.PLAYING_CARD, Phase.SHOP
    assert visible_jokers(s)[1] == frozenset()


def test_a_question_contains_the_lines_and_its_key_depends_on_them() -> None:
    s = in_round(Joker.BARON, Joker.MIME)
    listed = list_candidates(s.reshape(1))[0]
    default = facts_from("default", {})
    one, other = question_of(s, listed), question_of(s, listed, facts=default)
    assert one is not None and other is not None
    (added,) = (
        line for line in other.text.splitlines() if line.startswith("Mime + Baron") or line.startswith("Baron + Mime")
    )
    assert other.text.replace(f"\n{HEADING}\n{added}", "") == one.text
    assert one.key("m") != other.key("m") and other.key("m") == question_of(s, listed, facts=default).key("m")  # type: ignore[union-attr]
    for prompt in ("v1", "v2"):
        assert added in question_of(s, listed, prompt, facts=default).text  # type: ignore[union-attr]


def test_the_order_of_jokers_does_not_change_the_lines(facts: GraphFacts) -> None:
    texts = set()
    for jokers in ([*map(Joker, range(5, 10))], [*map(Joker, range(9, 4, -1))]):
        s = in_round(*jokers)
        question = question_of(s, list_candidates(s.reshape(1))[0], facts=facts)
        assert question is not None
        texts.add(question.text[question.text.index(HEADING) : question.text.index("not seen")])
    assert len(texts) == 1


def test_a_dead_graph_removes_the_lines_and_is_tried_again_later(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    tried: list[int] = []

    def open_graph() -> Knowledge:
        tried.append(1)
        if len(tried) < 2:
            raise StoreUnavailable("cannot reach \x1b[2Jbolt://graph:7687")
        return open_knowledge(store)

    monkeypatch.setattr(graph_facts, "OPEN_SECONDS", 0.2)
    facts, held = GraphFacts(open_graph, said.append), frozenset({30, *range(5, 12)})
    for _ in range(5):
        assert facts.lines(held, frozenset()) == ()
    assert len(tried) == 1, "the breaker is open"
    assert len(said) == 1 and "cannot reach" in said[0] and "\x1b" not in said[0]
    threading.Event().wait(0.3)
    assert facts.lines(held, frozenset()) and len(tried) == 2


def test_a_graph_that_hangs_delays_one_question(monkeypatch: pytest.MonkeyPatch) -> None:
    released, said = threading.Event(), []
    monkeypatch.setattr(graph_facts, "READ_SECONDS", 0.1)

    def hang() -> Knowledge:
        released.wait(30)
        raise StoreUnavailable("late")

    facts = GraphFacts(hang, said.append)
    assert facts.lines(frozenset({11}), frozenset({14})) == () == facts.lines(frozenset({12}), frozenset({14}))
    released.set()
    assert said == ["questions have no lines of the graph: the graph has not answered for 0.1 seconds"]


def test_the_graph_is_read_once(store: str) -> None:
    opened: list[int] = []

    def open_graph() -> Knowledge:
        opened.append(1)
        return open_knowledge(store)

    facts = GraphFacts(open_graph, pytest.fail)
    first = facts.lines(frozenset(range(5, 12)), frozenset({30}))
    assert first and facts.lines(frozenset(range(5, 12)), frozenset({30})) is first and len(opened) == 1


def test_no_store_gives_no_facts_and_a_wrong_one_is_refused(tmp_path: Path) -> None:
    assert facts_from(None, {}) is None and facts_from("", {}) is None
    with pytest.raises(BadStore, match="no graph"):
        facts_from("http://host", {})
    absent = facts_from(str(tmp_path / "absent.lbug"), {})
    assert absent is not None and absent.lines(frozenset({1}), frozenset()) == ()


def test_the_graph_of_questions_is_a_setting_without_credentials() -> None:
    assert read_settings({}).knowledge is None
    assert read_settings({"LLM_KNOWLEDGE": "default"}).knowledge == "default"
    for bad in ("bolt://me:hunter2@host", "a\nb", "x" * 1001):
        with pytest.raises(BadHints, match="LLM_KNOWLEDGE") as refused:
            read_settings({"LLM_KNOWLEDGE": bad})
        assert len(str(refused.value)) < 400 and "hunter2" not in str(refused.value)
