"""Whole games of a client that uses only the protocol."""

import random
from typing import Any

import pytest

from tests.serve.balatrobot.bot import Bot, Failed, bot

ARGUMENTS: tuple[Any, ...] = (0, 1, 2, -1, 7, 99, True, [0], [0, 1], [], None, "rank", "H_A", "j_joker")
NAMES = ("card", "cards", "pack", "voucher", "joker", "consumable", "targets", "skip", "hand", "jokers", "by", "key")


def choices(state: Any) -> list[tuple[str, dict[str, Any]]]:
    """Return calls that may be possible in a state."""
    match state["state"]:
        case "BLIND_SELECT":
            return [("select", {}), ("select", {}), ("skip", {})]
        case "SELECTING_HAND":
            hand = range(state["hand"]["count"])
            cards = random.sample(hand, min(len(hand), random.randint(1, 5)))
            owned = [("use", {"consumable": 0, "cards": cards[:1]}), ("sell", {"joker": 0})]
            return [("play", {"cards": cards})] * 3 + [("discard", {"cards": cards}), *owned]
        case "ROUND_EVAL":
            return [("cash_out", {})]
        case "SHOP":
            wanted = ("card", "voucher", "pack")
            buys = [("buy", {what: random.randint(0, 1)}) for what in wanted]
            return [*buys, ("reroll", {}), ("next_round", {}), ("use", {"consumable": 0})]
        case "SMODS_BOOSTER_OPENED":
            return [("pack", {"card": 0}), ("pack", {"card": 1, "targets": [0]}), ("pack", {"skip": True})]
    return [("menu", {})]


def strange_call(client: Bot) -> tuple[str, dict[str, Any]]:
    """Return a call with arbitrary arguments."""
    method = random.choice([name for name in client.desk.methods if name not in ("save", "load", "screenshot", "menu")])
    return method, {random.choice(NAMES): random.choice(ARGUMENTS) for _ in range(random.randint(0, 2))}


def play(client: Bot, calls: int) -> tuple[set[str], int]:
    """Make calls of which some are strange. Returns the states seen and the number of refused calls."""
    seen: set[str] = set()
    refused = 0
    state = client("menu")
    for _ in range(calls):
        if state["state"] == "MENU":
            state = client("start", deck="RED", stake="WHITE", seed=f"{random.randrange(10**6)}")
        if state["state"] == "SELECTING_HAND" and random.random() < 0.3:
            client("set", chips=10**9)
        if state["state"] == "SHOP":
            client("set", money=60)
        method, params = strange_call(client) if random.random() < 0.3 else random.choice(choices(state))
        try:
            client(method, **params)
        except Failed as failed:
            assert failed.name != "INTERNAL_ERROR", (method, params, str(failed))
            refused += 1
        state = client("gamestate")
        seen.add(state["state"])
        for name in ("hand", "jokers", "consumables", "shop", "pack"):
            assert name not in state or state[name]["count"] == len(state[name]["cards"])
    return seen, refused


PLAYED = {"BLIND_SELECT", "SELECTING_HAND", "ROUND_EVAL", "SHOP", "SMODS_BOOSTER_OPENED"}


@pytest.mark.parametrize(("dialect", "fair"), [("1.5", False), ("2.0", True)])
def test_no_call_fails_inside(dialect: str, fair: bool) -> None:
    random.seed(12)
    seen, refused = play(bot(dialect, fair), 150)
    assert seen >= PLAYED and refused >= 20


@pytest.mark.slow
@pytest.mark.parametrize("number", range(4))
def test_no_call_fails_inside_in_long_games(number: int) -> None:
    random.seed(1000 + number)
    seen, refused = play(bot(("1.5", "2.0")[number % 2], number < 2), 1500)
    assert seen >= PLAYED | {"GAME_OVER"} and refused >= 200


def test_a_game_is_played_to_its_end() -> None:
    """The protocol alone is enough to play: the first five cards, no purchases."""
    client = bot()
    state = client.begin("LONGGAME")
    for _ in range(300):
        if state["state"] == "GAME_OVER":
            break
        calls = {
            "BLIND_SELECT": ("select", {}),
            "SELECTING_HAND": ("play", {"cards": list(range(min(5, state["hand"]["count"])))}),
            "ROUND_EVAL": ("cash_out", {}),
            "SHOP": ("next_round", {}),
        }
        method, params = calls[state["state"]]
        state = client(method, **params)
    assert state["state"] == "GAME_OVER" and state["won"] is False and state["round_num"] >= 1
