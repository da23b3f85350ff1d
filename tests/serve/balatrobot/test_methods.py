"""What the methods do to a game, and what they refuse in which words."""

from typing import Any

import pytest

from tests.serve.balatrobot.bot import SEED, bot, keys

BAD, STATE, NO = "BAD_REQUEST", "INVALID_STATE", "NOT_ALLOWED"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"stake": "WHITE"}, "Missing required field 'deck'"),
        ({"deck": "RED"}, "Missing required field 'stake'"),
        ({"deck": "red", "stake": "WHITE"}, "Invalid deck enum. Must be one of: RED, BLUE"),
        ({"deck": "RED", "stake": "BRONZE"}, "Invalid stake enum. Must be one of: WHITE, RED"),
        ({"deck": "RED", "stake": "WHITE", "seed": "not a seed"}, "Invalid seed"),
        ({"deck": "RED", "stake": "WHITE", "seed": ""}, "Invalid seed"),
        ({"deck": "x" * 5000, "stake": "WHITE"}, "Invalid deck enum"),
    ],
)
def test_a_run_that_cannot_start(params: Any, message: str) -> None:
    client = bot()
    name, text = client.refused("start", **params)
    assert name == BAD and text.startswith(message) and len(text) < 500
    assert client("gamestate")["state"] == "MENU"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"challenge": "c_omelette_1", "deck": "RED"}, "Invalid arguments. A challenge has its own deck and stake"),
        ({"challenge": "omelette"}, "Invalid challenge. Must be one of: c_omelette_1"),
        ({}, "Missing required field 'deck'"),
        ({"deck": "x", "stake": "WHITE"}, "Expected a b_* deck key from G.P_CENTERS"),
    ],
)
def test_a_challenge_that_cannot_start(params: Any, message: str) -> None:
    name, text = bot("2.0").refused("start", **params)
    assert name == BAD and text.startswith(message)


def test_a_run_without_a_seed_has_a_random_one() -> None:
    seeds = set()
    for _ in range(3):
        client = bot()
        seeds.add(client("start", deck="RED", stake="WHITE")["seed"])
    assert len(seeds) == 3 and all(len(seed) == 8 for seed in seeds)


@pytest.mark.parametrize("verb", ["play", "discard"])
@pytest.mark.parametrize(
    ("cards", "message"),
    [
        ([], "Must provide at least one card to {}"),
        ([0, 1, 2, 3, 4, 5], "You can only {} 5 cards"),
        ([999], "Invalid card index: 999"),
        ([-1], "Invalid card index: -1"),
        ([2**70], "Invalid card index: 1180591620717411303424"),
        ([3, 3], "Duplicate card index: 3"),
    ],
)
def test_cards_that_cannot_be_played_or_discarded(verb: str, cards: list[int], message: str) -> None:
    client = bot()
    before = client.hand()
    name, text = client.refused(verb, cards=cards)
    assert name == BAD and text.startswith(message.format(verb))
    assert client("gamestate") == before


def test_without_discards_or_hands_nothing_can_be_discarded_or_played() -> None:
    client = bot()
    client.hand(discards=0, hands=0)
    assert client.refused("discard", cards=[0]) == (BAD, "No discards left. Play cards using `play` instead.")
    assert client.refused("play", cards=[0]) == (NO, "No hands left")


@pytest.mark.parametrize("verb", ["play", "discard"])
def test_a_card_that_the_boss_forces_must_be_included(verb: str) -> None:
    client = bot()
    client.hand()
    s = client.desk.session.s
    s.cards[s.hand[3]].forced = 1
    shown = client("set", money=1)["hand"]["cards"]
    assert [card["state"] for card in shown].count({"highlight": True}) == 1
    name, text = client.refused(verb, cards=[0])
    assert name == BAD and text.startswith("Card at index 3 is forced-selected by the boss blind")
    assert client(verb, cards=[0, 3])["hand"]["count"] == 8


def test_the_boss_blind_cannot_be_skipped() -> None:
    client = bot()
    client.begin()
    client("skip")
    client("skip")
    assert client.refused("skip") == (NO, "Cannot skip Boss blind")


def test_rearranging() -> None:
    client = bot()
    hand = keys(client.hand()["hand"])
    order = [3, 1, 0, 2, 7, 6, 5, 4]
    assert keys(client("rearrange", hand=order)["hand"]) == [hand[i] for i in order]
    for key in ("j_joker", "j_egg", "j_juggler"):
        client("add", key=key)
    assert keys(client("rearrange", jokers=[2, 0, 1])["jokers"]) == ["j_juggler", "j_joker", "j_egg"]
    for key in ("c_fool", "c_sun"):
        client("add", key=key)
    assert keys(client("rearrange", consumables=[1, 0])["consumables"]) == ["c_sun", "c_fool"]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "Must provide exactly one of: hand, jokers, or consumables"),
        ({"hand": [0], "jokers": [0]}, "Can only rearrange one type at a time"),
        ({"hand": [0, 1]}, "Must provide exactly 8 indices for hand"),
        ({"jokers": [0]}, "Must provide exactly 0 indices for jokers"),
        ({"hand": [0, 1, 2, 3, 4, 5, 6, 8]}, "Index out of range for hand: 8"),
        ({"hand": [0, 1, 2, 3, 4, 5, 6, -1]}, "Index out of range for hand: -1"),
        ({"hand": [0, 1, 2, 3, 4, 5, 6, 6]}, "Duplicate index in hand: 6"),
    ],
)
def test_an_order_that_is_no_permutation(params: Any, message: str) -> None:
    client = bot()
    client.hand()
    assert client.refused("rearrange", **params) == (BAD, message)


def test_a_pinned_joker_stays_leftmost() -> None:
    client = bot()
    client.hand()
    client("add", key="j_joker")
    client("add", key="j_egg")
    client.desk.session.s.jokers[0].stickers = 16
    assert client.refused("rearrange", jokers=[1, 0]) == (NO, "A pinned joker stays leftmost")


def test_a_hand_is_rearranged_only_where_there_is_one() -> None:
    client = bot()
    client.shop(money=100)
    name = client.refused("rearrange", hand=[])[0]
    assert name == STATE
    client("buy", pack=0)
    assert client.refused("rearrange", hand=[])[0] == NO


def test_sorting() -> None:
    client = bot("2.0")
    client.hand()
    by_suit = client("sort", by="suit")["hand"]["cards"]
    assert [card["value"]["suit"] for card in by_suit] == sorted(
        (card["value"]["suit"] for card in by_suit), key="SHCD".index
    )
    assert client.refused("sort", by="colour")[1] == 'Sort \'by\' must be "rank" or "suit", got "colour"'
    assert bot().refused("sort", by="suit")[1] == "Unknown method: sort"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "Invalid arguments. You must provide one of: card, voucher, pack"),
        ({"card": 0, "pack": 0}, "Invalid arguments. Cannot provide more than one of: card, voucher, or pack"),
        ({"card": 2}, "Card index out of range. Index: 2, Available cards: 2"),
        ({"card": -1}, "Card index out of range. Index: -1, Available cards: 2"),
        ({"voucher": 1}, "Voucher index out of range. Index: 1, Available: 1"),
        ({"pack": 2}, "Pack index out of range. Index: 2, Available: 2"),
    ],
)
def test_purchases_that_do_not_exist(params: Any, message: str) -> None:
    client = bot()
    client.shop()
    assert client.refused("buy", **params) == (BAD, message)


def test_buying_until_nothing_is_left() -> None:
    client = bot()
    before = client.shop(money=100)
    joker = before["shop"]["cards"][0]
    after = client("buy", card=0)
    assert keys(after["jokers"]) == [joker["key"]] and after["money"] == 100 - joker["cost"]["buy"]
    client("buy", card=0)
    client("buy", voucher=0)
    assert client.refused("buy", card=0)[1].startswith("No jokers/consumables/cards in the shop")
    assert client.refused("buy", voucher=0)[1].startswith("No vouchers to redeem")
    second = before["packs"]["cards"][1]["key"]
    client("buy", pack=0)
    assert keys(client("pack", skip=True)["packs"]) == [second]
    client("buy", pack=0)
    client("pack", skip=True)
    assert client.refused("buy", pack=0)[1].startswith("No packs to open")


def test_what_money_does_not_cover() -> None:
    client = bot()
    cost = client.shop(money=0)["shop"]["cards"][0]["cost"]["buy"]
    assert client.refused("buy", card=0) == (BAD, f"Card is not affordable. Cost: {cost}, Available money: 0")
    assert client.refused("reroll") == (NO, "Not enough dollars to reroll. Available: 0, Required: 5")
    client("add", key="j_credit_card")
    assert client("reroll")["money"] == -5
    client("set", money=0)
    assert client("buy", voucher=0)["money"] == -10


def test_full_slots_and_negative_jokers() -> None:
    client = bot()
    client.shop(money=100)
    for _ in range(5):
        client("add", key="j_joker")
    name, text = client.refused("buy", card=0)
    assert name == BAD and text.startswith("Cannot purchase joker card, joker slots are full. Current: 5, Limit: 5")
    for _ in range(2):
        client("add", key="c_fool")
    name, text = client.refused("buy", card=1)
    assert text.startswith("Cannot purchase consumable card, consumable slots are full. Current: 2, Limit: 2")
    client.desk.session.s.row[0].edition = 4
    bought = client("buy", card=0)["jokers"]
    assert (bought["count"], bought["limit"]) == (6, 6)


@pytest.mark.parametrize(
    ("params", "name", "message"),
    [
        ({}, BAD, "Invalid arguments. You must provide one of: card, skip"),
        ({"skip": False}, BAD, "Invalid arguments. You must provide one of: card, skip"),
        ({"card": 0, "skip": True}, BAD, "Invalid arguments. Cannot provide both card and skip"),
        ({"card": 9}, BAD, "Card index out of range. Index: 9, Available cards: 3"),
        ({"card": 0, "targets": [8]}, BAD, "Target card index out of range. Index: 8, Hand size: 8"),
        ({"card": 0}, BAD, "Card 'c_heirophant' requires 1-2 target card(s). Provided: 0"),
        ({"card": 0, "targets": [0, 1, 2]}, BAD, "Card 'c_heirophant' requires 1-2 target card(s). Provided: 3"),
    ],
)
def test_choices_from_a_pack_that_are_refused(params: Any, name: str, message: str) -> None:
    client = bot()
    client.begin("QKNXF682")
    client("select")
    client("set", chips=1000, money=1000)
    client("play", cards=[0])
    client("cash_out")
    client("buy", pack=1)
    assert client.refused("pack", **params) == (name, message)
    taken = client("pack", card=0, targets=[0])
    assert taken["state"] == "SHOP" and taken["hand"]["count"] == 0


def test_using_consumables() -> None:
    client = bot()
    client.hand()
    for key in ("c_magician", "c_pluto", "c_death", "c_familiar", "c_fool"):
        client("add", key=key)
    about = "Consumable 'The Magician' requires"
    assert client.refused("use", consumable=9)[1] == "Consumable index out of range: 9"
    assert client.refused("use", consumable=0)[1].startswith(f"{about} card selection")
    assert client.refused("use", consumable=0, cards=[-1])[1] == "Card index out of range: -1"
    assert client.refused("use", consumable=0, cards=[0, 1, 2])[1] == f"{about} at most 2 cards (provided: 3)"
    assert client.refused("use", consumable=2, cards=[0])[1].startswith("Consumable 'Death' requires exactly 2 cards")
    assert client.refused("use", consumable=4) == (NO, "Consumable 'The Fool' cannot be used at this time")
    lucky = client("use", consumable=0, cards=[0])
    assert lucky["hand"]["cards"][0]["modifier"] == {"enhancement": "LUCKY"}
    assert client("use", consumable=0)["hands"]["High Card"]["level"] == 2
    client.shop()
    for key in ("c_magician", "c_familiar"):
        client("add", key=key)
    assert client.refused("use", consumable=0, cards=[0]) == (
        STATE,
        f"{about} card selection and can only be used in SELECTING_HAND state",
    )
    assert client.refused("use", consumable=1) == (NO, "Consumable 'Familiar' cannot be used at this time")


def test_buying_and_using() -> None:
    client = bot("2.0")
    shop = client.shop(money=100)
    assert client.refused("buy_and_use") == (BAD, "Invalid arguments. You must provide: card")
    name, text = client.refused("buy_and_use", card=0)
    assert name == NO and text.endswith("cannot be buy-and-used at this time.")
    after = client("buy_and_use", card=1)
    assert after["money"] == 100 - shop["shop"]["cards"][1]["cost"]["buy"] and after["consumables"]["count"] == 0
    assert after["last_tarot_planet"] == shop["shop"]["cards"][1]["key"]
    assert sum(hand["level"] for hand in after["hands"].values()) == 13


def test_rerolling_the_boss() -> None:
    client = bot("2.0")
    client.begin()
    assert client.refused("reroll_boss")[1] == "Reroll Boss Blind requires the Director's Cut or Retcon voucher"
    client.shop(money=100)
    client("add", key="v_directors_cut")
    client("buy", voucher=1)
    client("next_round")
    assert client("set", money=9)["blinds"]["boss"]["reroll_available"] is False
    assert client.refused("reroll_boss")[1] == "Not enough dollars to reroll boss. Available: 9, Required: 10"
    client("set", money=25)
    rerolled = client("reroll_boss")
    assert rerolled["blinds"]["boss"]["key"] != "bl_manacle" and rerolled["money"] == 15
    assert client.refused("reroll_boss")[1].startswith("Director's Cut allows one Reroll Boss Blind per ante")


def test_selling() -> None:
    client = bot()
    client.hand(money=0)
    assert client.refused("sell") == (BAD, "Must provide exactly one of: joker or consumable")
    assert client.refused("sell", joker=0, consumable=0) == (BAD, "Can only sell one item at a time")
    assert client.refused("sell", joker=0) == (NO, "No jokers available to sell")
    client("add", key="j_joker", eternal=True)
    client("add", key="c_fool")
    assert client.refused("sell", joker=1) == (BAD, "Index out of range for joker: 1")
    assert client.refused("sell", joker=0) == (NO, "An eternal joker cannot be sold")
    assert client("sell", consumable=0)["money"] == 1


def test_a_joker_is_sold_while_a_pack_is_open_in_dialect_2() -> None:
    for dialect in ("1.5", "2.0"):
        client = bot(dialect)
        client.shop(money=100)
        client("add", key="j_joker")
        client("buy", pack=0)
        if dialect == "1.5":
            assert client.refused("sell", joker=0)[0] == STATE
        else:
            assert client("sell", joker=0)["jokers"]["count"] == 0


@pytest.mark.parametrize(
    ("params", "name", "message"),
    [
        ({"key": "x"}, BAD, "Invalid card key format. Expected: joker (j_*)"),
        ({"key": "H_1"}, BAD, "Invalid card key format"),
        ({"key": "j_nothing"}, BAD, "Failed to add card: j_nothing"),
        ({"key": "c_nothing"}, BAD, "Failed to add card: c_nothing"),
        ({"key": "v_blank"}, STATE, "Vouchers can only be added in SHOP state"),
        ({"key": "p_arcana_mega_1"}, STATE, "Packs can only be added in SHOP state"),
        ({"key": "j_joker", "seal": "RED"}, BAD, "Seal can only be applied to playing cards"),
        ({"key": "H_A", "seal": "red"}, BAD, "Invalid seal value. Expected: RED, BLUE, GOLD, or PURPLE"),
        ({"key": "c_fool", "edition": "FOIL"}, BAD, "Consumables can only have NEGATIVE edition"),
        ({"key": "j_joker", "edition": "SHINY"}, BAD, "Invalid edition value"),
        ({"key": "j_joker", "enhancement": "GLASS"}, BAD, "Enhancement can only be applied to playing cards"),
        ({"key": "H_A", "enhancement": "IRON"}, BAD, "Invalid enhancement value"),
        ({"key": "H_A", "eternal": True}, BAD, "Eternal can only be applied to jokers"),
        ({"key": "H_A", "rental": True}, BAD, "Rental can only be applied to jokers"),
        ({"key": "H_A", "perishable": 2}, BAD, "Perishable can only be applied to jokers"),
        ({"key": "j_joker", "perishable": 0}, BAD, "Perishable must be a positive integer (>= 1)"),
        ({"key": "j_joker", "perishable": 10**9}, BAD, "Perishable must be at most 100"),
    ],
)
def test_cards_that_cannot_be_added(params: Any, name: str, message: str) -> None:
    client = bot()
    before = client.hand()
    found, text = client.refused("add", **params)
    assert found == name and text.startswith(message)
    assert client("gamestate") == before


def test_adding_cards_until_the_tables_are_full() -> None:
    client = bot()
    client.hand()
    for key, most in (("j_joker", 16), ("c_fool", 32), ("H_A", 24)):
        for _ in range(100):
            try:
                client("add", key=key)
            except Exception as error:
                assert f"at most {most}" in str(error)
                break
        else:
            raise AssertionError(f"{key} was added 100 times")
    state = client("gamestate")
    assert (state["jokers"]["count"], state["consumables"]["count"], state["hand"]["count"]) == (16, 32, 24)
    assert client("play", cards=[0])["state"] in ("SELECTING_HAND", "ROUND_EVAL")


def test_adding_to_the_shop() -> None:
    client = bot()
    client.shop()
    assert client.refused("add", key="H_A") == (STATE, "Playing cards can only be added in SELECTING_HAND state")
    assert client.refused("add", key="p_arcana_mega_1") == (NO, "Cannot add pack, shop booster slots are full")
    client.desk.session.s.packs[0] = -1
    assert client.refused("add", key="p_nothing") == (BAD, "Pack key not found: p_nothing")
    assert keys(client("add", key="p_arcana_mega_1")["packs"])[0] == "p_arcana_mega_1"
    assert keys(client("add", key="v_blank")["vouchers"])[1] == "v_blank"


def test_stickers_of_an_added_joker() -> None:
    client = bot()
    client.hand()
    added = client("add", key="j_joker", edition="NEGATIVE", eternal=True, perishable=3, rental=True)["jokers"]
    assert added["cards"][0]["modifier"] == {"edition": "NEGATIVE", "eternal": True, "perishable": 3, "rental": True}
    assert added["limit"] == 6


@pytest.mark.parametrize(
    ("params", "name", "message"),
    [
        ({}, BAD, "Must provide at least one field to set"),
        ({"money": -1}, BAD, "Money must be a positive integer"),
        ({"discards": 10**6}, BAD, "Discards must be at most 10000"),
        ({"ante": 10**9}, BAD, "Ante must be at most 1000"),
        ({"money": 5, "shop": True}, NO, "Can re-stock shop only in SHOP state"),
    ],
)
def test_values_that_cannot_be_set(params: Any, name: str, message: str) -> None:
    client = bot()
    before = client.hand()
    assert client.refused("set", **params) == (name, message)
    assert client("gamestate") == before


def test_nothing_can_be_set_in_the_menu() -> None:
    assert bot().refused("set", money=1) == (STATE, "Can only set during an active run")


def test_restocking_the_shop() -> None:
    client = bot()
    before = client.shop(money=20)
    after = client("set", shop=True, money=30)
    for name in ("shop", "vouchers", "packs"):
        ids = [{card["id"] for card in state[name]["cards"]} for state in (before, after)]
        assert ids[0] and ids[1] and not ids[0] & ids[1]
    assert after["money"] == 30


@pytest.mark.parametrize(
    ("boss", "message"),
    [("bl_nothing", "Unknown boss blind key: bl_nothing"), ("bl_small", "Not a boss blind: bl_small")],
)
def test_choosing_the_boss(boss: str, message: str) -> None:
    client = bot("2.0")
    client.begin()
    assert client("set", boss="bl_needle")["blinds"]["boss"]["name"] == "The Needle"
    assert client.refused("set", boss=boss) == (BAD, message)
    client("skip")
    client("skip")
    assert client.refused("set", boss="bl_hook") == (
        STATE,
        "Boss blind is not selectable (current state: Select)",
    )
    assert client("select")["round"]["hands_left"] == 1


def test_a_seed_gives_the_same_game_twice() -> None:
    states = []
    for client in (bot(), bot()):
        client.begin(SEED, "PLASMA", "GOLD")
        client("select")
        states.append(client("play", cards=[0, 1, 2, 3, 4]))
    assert states[0] == states[1]
