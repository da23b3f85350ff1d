"""The state in the words of the protocol, compared with facts that the mod's authors recorded from the real game."""

import json
from typing import Any

import pytest

from ante.engine.core.state import Place
from tests.serve.balatrobot.bot import SEED, Bot, bot, keys


def test_the_first_blinds_are_those_of_the_real_game() -> None:
    """Recorded for the seed TEST123 by tests/lua/endpoints/test_gamestate.py of coder/balatrobot 1.5.2."""
    blinds = bot().begin()["blinds"]
    assert [blinds[panel]["score"] for panel in ("small", "big", "boss")] == [300, 450, 600]
    assert [blinds[panel]["name"] for panel in ("small", "big", "boss")] == ["Small Blind", "Big Blind", "The Manacle"]
    assert [blinds[panel]["tag_name"] for panel in ("small", "big", "boss")] == ["Polychrome Tag", "Investment Tag", ""]
    assert [blinds[panel]["effect"] == "" for panel in ("small", "big", "boss")] == [True, True, False]


def test_the_first_hands_score_as_in_the_real_game() -> None:
    """Recorded by tests/lua/endpoints/test_play.py and test_gamestate.py of coder/balatrobot 1.5.2."""
    client = bot()
    client.hand()
    assert client("play", cards=[0, 3, 4, 5, 6])["round"]["chips"] == 260
    client.hand()
    assert client("play", cards=[0])["round"]["chips"] == 16
    client("discard", cards=[0])
    assert client("play", cards=[0])["round"]["chips"] == 31


def test_the_first_shop_is_that_of_the_real_game() -> None:
    """Recorded by tests/fixtures/fixtures.json and tests/lua/endpoints/test_buy.py of coder/balatrobot 1.5.2."""
    client = bot()
    shop = client.shop(money=100)
    assert [card["set"] for card in shop["shop"]["cards"]] == ["JOKER", "PLANET"]
    assert [card["label"] for card in shop["packs"]["cards"]] == ["Buffoon Pack", "Standard Pack"]
    assert (shop["vouchers"]["count"], shop["round"]["reroll_cost"]) == (1, 5)
    rerolled = client("reroll")
    assert rerolled["shop"]["cards"][1]["set"] == "TAROT" and rerolled["round"]["reroll_cost"] == 6


BUFFOON, SKIPPED = [("buy", {"pack": 0}), ("pack", {"card": 0})], [("buy", {"pack": 0}), ("pack", {"skip": True})]
SECOND = [("buy", {"pack": 1})]
MEGA_ARCANA = [*SKIPPED, *SKIPPED, ("add", {"key": "p_arcana_mega_1"}), ("buy", {"pack": 0})]
MEGA_CELESTIAL = [*SKIPPED, *SKIPPED, ("add", {"key": "p_celestial_mega_1"}), ("buy", {"pack": 0})]


@pytest.mark.parametrize(
    ("seed", "calls", "contents"),
    [
        ("QKNXF682", SECOND, {0: "c_heirophant"}),
        ("3Q1KBVT3", SECOND, {1: "c_aura"}),
        ("3Q1KBVT3", [*BUFFOON, ("buy", {"pack": 0})], {0: "c_ankh"}),
        ("7IDNRIV", MEGA_CELESTIAL, {2: "c_black_hole"}),
        (
            "VEBROR8",
            MEGA_ARCANA,
            dict(enumerate(("c_wheel_of_fortune", "c_sun", "c_star", "c_hanged_man", "c_chariot"))),
        ),
    ],
)
def test_packs_of_other_seeds_are_those_of_the_real_game(
    seed: str, calls: list[tuple[str, Any]], contents: dict[int, str]
) -> None:
    """Recorded in fixtures.json and test_pack.py of coder/balatrobot 1.5.2."""
    client = bot()
    client.begin(seed)
    client("select")
    client("set", chips=1000, money=1000)
    client("play", cards=[0])
    client("cash_out")
    state = [client(method, **params) for method, params in calls][-1]
    found = keys(state["pack"])
    assert {place: found[place] for place in contents} == contents


def test_empty_objects_are_lists_and_absent_areas_are_left_out() -> None:
    client = bot()
    state = client.begin()
    assert state["used_vouchers"] == [] and not {"shop", "vouchers", "packs", "pack"} & set(state)
    card = client("select")["hand"]["cards"][0]
    assert card["modifier"] == [] and card["state"] == []
    menu = client("menu")
    assert menu["state"] == "MENU" and not {"jokers", "hand", "cards", "seed"} & set(menu)


def test_a_playing_card() -> None:
    assert bot().hand()["hand"]["cards"][0] == {
        "id": 48,
        "key": "S_A",
        "set": "DEFAULT",
        "label": "Base Card",
        "value": {"suit": "S", "rank": "A", "effect": "+11 chips"},
        "modifier": [],
        "state": [],
        "cost": {"sell": 1, "buy": 1},
    }


def test_the_status_of_each_blind() -> None:
    client = bot()

    def statuses(state: Any) -> list[str]:
        return [state["blinds"][panel]["status"] for panel in ("small", "big", "boss")]

    assert statuses(client.begin()) == ["SELECT", "UPCOMING", "UPCOMING"]
    assert statuses(client("skip")) == ["SKIPPED", "SELECT", "UPCOMING"]
    assert statuses(client("select")) == ["SKIPPED", "CURRENT", "UPCOMING"]
    client("set", chips=10_000)
    assert statuses(client("play", cards=[0])) == ["SKIPPED", "DEFEATED", "UPCOMING"]
    assert statuses(client("cash_out")) == ["SKIPPED", "DEFEATED", "UPCOMING"]
    assert statuses(client("next_round")) == ["SKIPPED", "DEFEATED", "SELECT"]
    assert statuses(client("select")) == ["SKIPPED", "DEFEATED", "CURRENT"]
    client("set", chips=10_000)
    assert statuses(client("play", cards=[0])) == ["SKIPPED", "DEFEATED", "DEFEATED"]
    assert statuses(client("cash_out")) == ["UPCOMING"] * 3
    assert statuses(client("next_round")) == ["SELECT", "UPCOMING", "UPCOMING"]


def test_identifiers_are_unique_and_stay_with_a_card() -> None:
    client = bot()
    shop = client.shop(money=100)
    ids = [card["id"] for name in ("cards", "shop", "vouchers", "packs") for card in shop[name]["cards"]]
    assert len(ids) == len(set(ids)) == 52 + 2 + 1 + 2
    joker = shop["shop"]["cards"][0]
    assert client("buy", card=0)["jokers"]["cards"][0]["id"] == joker["id"]
    pack = client("buy", pack=1)["pack"]["cards"][0]
    assert pack["id"] in {card["id"] for card in client("pack", card=0)["cards"]["cards"]}


def test_the_rounds_to_come_are_shown_before_the_first_one() -> None:
    state = bot().begin(deck="BLUE")
    assert (state["round"]["hands_left"], state["round"]["discards_left"]) == (5, 3)
    assert state["round"]["reroll_cost"] == 5 and state["money"] == 4


def test_a_lost_game_and_a_won_one() -> None:
    client = bot()
    client.hand(hands=1)
    assert client("play", cards=[0])["state"] == "GAME_OVER"
    client.begin()
    client("skip")
    client("skip")
    client("select")
    client("set", ante=8, chips=10_000_000)
    won = client("play", cards=[0])
    assert (won["state"], won["won"]) == ("ROUND_EVAL", True)
    assert client("cash_out")["won"] is True


@pytest.mark.parametrize(
    ("dialect", "deck", "stake", "seal", "edition", "enhancement"),
    [("1.5", "BLUE", "RED", "RED", "FOIL", "GLASS"), ("2.0", "b_blue", "stake_red", "Red", "e_foil", "m_glass")],
)
def test_the_words_of_both_dialects(
    dialect: str, deck: str, stake: str, seal: str, edition: str, enhancement: str
) -> None:
    """Both dialects accept the words of both."""
    client = bot(dialect)
    for words in (("BLUE", "RED"), ("b_blue", "stake_red")):
        state = client.begin(deck=words[0], stake=words[1])
        assert (state["deck"], state["stake"]) == (deck, stake)
    client("select")
    for words in (("RED", "FOIL", "GLASS"), ("Red", "e_foil", "m_glass")):
        added = client("add", key="D_T", seal=words[0], edition=words[1], enhancement=words[2])["hand"]["cards"][-1]
        assert added["modifier"] == {"seal": seal, "edition": edition, "enhancement": enhancement}
        assert (added["key"], added["set"], added["label"]) == ("D_T", "ENHANCED", "Glass Card")


def test_the_additional_fields_of_dialect_2() -> None:
    client = bot("2.0")
    state = client.begin()
    blinds = state["blinds"]
    assert blinds["small"]["tag"]["key"] == "tag_polychrome" and blinds["boss"]["key"] == "bl_manacle"
    assert blinds["boss"]["reroll_available"] is False and "tag" not in blinds["boss"]
    assert state["paused"] is False and state["starting_deck_size"] == 52 and "tags" not in state
    assert state["round"]["most_played_hand"] == "High Card"
    assert client("skip")["tags"][0]["key"] == "tag_polychrome"
    client("menu")
    challenge = client("start", challenge="c_omelette_1", seed=SEED)
    assert (challenge["challenge"], challenge["deck"]) == ("c_omelette_1", "b_challenge")
    assert keys(challenge["jokers"]) == ["j_egg"] * 5


def test_the_draw_pile_is_in_the_true_order() -> None:
    client = bot()
    pile = client.hand()["cards"]["cards"]
    drawn = {card["id"] for card in pile[-2:]}
    after = client("discard", cards=[0, 1])
    assert drawn <= {card["id"] for card in after["hand"]["cards"]}


def face_down(client: Bot) -> Any:
    """Turn the first two cards of a hand face down and return the state."""
    client.hand()
    s = client.desk.session.s
    for i in (0, 1):
        s.cards[s.hand[i]].face_down = 1
    client("sort", by="rank") if "sort" in client.desk.methods else client("rearrange", hand=list(range(8)))
    return client("gamestate")


def test_a_face_down_card_is_marked_and_keeps_its_key() -> None:
    hand = face_down(bot())["hand"]["cards"]
    assert hand[0]["state"] == {"hidden": True} and hand[0]["key"] == "S_A"
    assert hand[2]["state"] == []


def test_the_fair_mode_hides_the_order_of_the_draw_pile_and_face_down_cards() -> None:
    client = bot("2.0", fair=True)
    state = face_down(client)
    hand, pile = state["hand"]["cards"], state["cards"]
    assert hand[0] == hand[1] and hand[0]["key"] == "" and "suit" not in hand[0]["value"]
    assert pile["count"] == 44 and len(pile["cards"]) == 46 and {"S_A", "H_J"} <= set(keys(pile))
    assert all(card["state"] == [] for card in pile["cards"])
    order = [(card["value"]["suit"], card["value"]["rank"]) for card in pile["cards"]]
    assert order == sorted(order, key=lambda each: ("SHCD".index(each[0]), -"23456789TJQKA".index(each[1])))
    s = client.desk.session.s
    s.cards[s.hand[0]].forced = 1
    assert client("set", money=3)["hand"]["cards"][0]["state"] == {"hidden": True, "highlight": True}
    assert client("health")["mode"] == "fair" and bot()("health")["mode"] == "faithful"


def test_the_fair_mode_gives_equal_states_for_another_order_of_the_draw_pile() -> None:
    client = bot(fair=True)
    before = client.hand()
    s = client.desk.session.s
    s.deck[: int(s.n_deck)] = s.deck[: int(s.n_deck)][::-1].copy()
    client("rearrange", hand=list(range(8)))
    assert client("gamestate") == before


def test_jokers_under_amber_acorn_are_marked_or_masked() -> None:
    for fair in (False, True):
        client = bot(fair=fair)
        client.hand()
        client("add", key="j_joker")
        client("add", key="j_egg")
        s = client.desk.session.s
        s.blind = s.boss = 26  # Amber Acorn
        jokers = client("set", money=5)["jokers"]["cards"]
        assert [card["state"] for card in jokers] == [{"hidden": True}] * 2
        assert keys({"cards": jokers}) == (["", ""] if fair else ["j_joker", "j_egg"])


def test_a_state_is_sent_again_only_while_nothing_has_changed() -> None:
    client = bot()
    client.begin()
    first = client("gamestate")
    assert client("gamestate") == first
    client("select")
    assert client("gamestate")["state"] == "SELECTING_HAND"
    client.refused("play", cards=[99])
    assert client("gamestate")["state"] == "SELECTING_HAND"


def test_scores_without_a_number_are_null() -> None:
    client = bot()
    client.hand()
    client.desk.session.s.chips = float("inf")
    client("set", money=1)
    assert client("gamestate")["round"]["chips"] is None
    client("set", ante=1000)
    assert json.dumps(client("gamestate")["blinds"]["boss"]["score"])


def test_the_deck_grows_and_shrinks() -> None:
    client = bot()
    client.hand()
    assert client("add", key="H_A")["cards"]["limit"] == 53
    s = client.desk.session.s
    s.cards[int(s.n_cards) - 1].place = Place.GONE
    s.n_hand -= 1
    assert client("set", money=3)["cards"]["limit"] == 52
