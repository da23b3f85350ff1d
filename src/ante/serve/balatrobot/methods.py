"""The methods of the protocol: their parameters, the states in which they work, and their functions."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ante.serve.balatrobot import cheats, rounds, runs, shop
from ante.serve.balatrobot.dialects import Dialect
from ante.serve.balatrobot.protocol import Field, Params, Refused, check_params, unknown_method
from ante.serve.balatrobot.session import MENU, Session

HAND, SHOP, BLINDS, PAYOUT, PACK, OVER = (
    "SELECTING_HAND",
    "SHOP",
    "BLIND_SELECT",
    "ROUND_EVAL",
    "SMODS_BOOSTER_OPENED",
    "GAME_OVER",
)
SAVABLE = (  # with the states that only last while the real game is busy
    *(HAND, "HAND_PLAYED", "DRAW_TO_HAND", OVER, SHOP, "PLAY_TAROT", BLINDS, PAYOUT),
    *("TAROT_PACK", "PLANET_PACK", "SPECTRAL_PACK", "STANDARD_PACK", "BUFFOON_PACK", "NEW_ROUND", PACK),
)


@dataclass(frozen=True)
class Method:
    """A method.

    states  in which it works; empty for all
    """

    call: Callable[[Session, Params], Any]
    about: str
    fields: dict[str, Field]
    states: tuple[str, ...] = ()


def index(about: str, required: bool = False) -> Field:
    """Return a parameter that is a position."""
    return Field("integer", f"Position of the {about}, from 0", required)


def indices(about: str, required: bool = False) -> Field:
    """Return a parameter that is a list of positions."""
    return Field("array", f"Positions of {about}, from 0", required, "integer")


PATH = {"path": Field("string", "File", True)}
START = {
    "deck": Field("string", "Deck, `RED` or `b_red`", True),
    "stake": Field("string", "Stake, `WHITE` or `stake_white`", True),
    "seed": Field("string", "Seed, 1 to 16 letters and digits; a random one if absent"),
}
CHALLENGE = {
    "deck": Field("string", START["deck"].about),
    "stake": Field("string", START["stake"].about),
    "seed": START["seed"],
    "challenge": Field("string", "Challenge, `c_omelette_1`, instead of deck and stake"),
}
BUY = {"card": index("card"), "voucher": index("voucher"), "pack": index("pack")}
TAKE = {
    "card": index("card of the pack"),
    "targets": indices("the hand cards it acts on"),
    "skip": Field("boolean", "Close the pack instead"),
}
ORDER = {
    "hand": indices("the hand in its new order"),
    "jokers": indices("the jokers in their new order"),
    "consumables": indices("the consumables in their new order"),
}
ADD = {
    "key": Field("string", "Key of the card: j_*, c_*, v_*, p_*, or a playing card such as H_A", True),
    "seal": Field("string", "Seal of a playing card"),
    "edition": Field("string", "Edition of a joker or playing card; consumables can be Negative"),
    "enhancement": Field("string", "Enhancement of a playing card"),
    "eternal": Field("boolean", "Whether a joker is Eternal"),
    "perishable": Field("integer", "Rounds after which a joker perishes, at least 1"),
    "rental": Field("boolean", "Whether a joker is Rental"),
}
SET = {
    "money": Field("integer", "Dollars"),
    "chips": Field("integer", "Chips scored in this blind"),
    "ante": Field("integer", "Ante"),
    "round": Field("integer", "Round"),
    "hands": Field("integer", "Hands left"),
    "discards": Field("integer", "Discards left"),
    "shop": Field("boolean", "Restock the shop"),
}
USE = {"consumable": index("consumable", True), "cards": indices("the hand cards it acts on")}
SELL = {"joker": index("joker"), "consumable": index("consumable")}

METHODS: dict[str, Method] = {
    "health": Method(runs.health, "Return that the server works, its dialect and its mode", {}),
    "gamestate": Method(runs.state, "Return the state of the game", {}),
    "start": Method(runs.start, "Start a run", START, (MENU,)),
    "menu": Method(runs.menu, "Return to the menu", {}),
    "save": Method(runs.save, "Save the run to a file", PATH, SAVABLE),
    "load": Method(runs.load, "Continue the run of a file", PATH),
    "screenshot": Method(runs.screenshot, "Write a picture of the game to a PNG file", PATH),
    "select": Method(rounds.select, "Start the next blind", {}, (BLINDS,)),
    "skip": Method(rounds.skip, "Skip the next blind, for its tag", {}, (BLINDS,)),
    "play": Method(rounds.play, "Play one to five cards", {"cards": indices("the cards", True)}, (HAND,)),
    "discard": Method(rounds.discard, "Discard one to five cards", {"cards": indices("the cards", True)}, (HAND,)),
    "rearrange": Method(rounds.rearrange, "Change the order of one kind of cards", ORDER, (HAND, SHOP, PACK)),
    "cash_out": Method(rounds.cash_out, "Collect the payout and enter the shop", {}, (PAYOUT,)),
    "buy": Method(shop.buy, "Buy a card, a voucher or a pack", BUY, (SHOP,)),
    "pack": Method(shop.pack, "Take a card of the open pack, or close it", TAKE, (PACK,)),
    "reroll": Method(shop.reroll, "Pay for new cards in the shop", {}, (SHOP,)),
    "sell": Method(shop.sell, "Sell a joker or a consumable", SELL, (HAND, SHOP)),
    "use": Method(shop.use, "Use a consumable", USE, (HAND, SHOP)),
    "next_round": Method(rounds.next_round, "Leave the shop", {}, (SHOP,)),
    "add": Method(cheats.add, "Add a card to the game", ADD, (HAND, SHOP, PAYOUT)),
    "set": Method(cheats.set_values, "Set numbers of the game", SET),
}
KEYED_METHODS: dict[str, Method] = {
    "start": Method(runs.start, "Start a run or a challenge", CHALLENGE, (MENU,)),
    "sell": Method(shop.sell, "Sell a joker or a consumable", SELL, (HAND, SHOP, PACK)),
    "use": Method(shop.use, "Use a consumable", USE, (HAND, SHOP, PACK)),
    "set": Method(cheats.set_values, "Set numbers of the game", {**SET, "boss": Field("string", "Boss of this ante")}),
    "sort": Method(rounds.sort, "Sort the hand", {"by": Field("string", "`rank` or `suit`", True)}, (HAND,)),
    "buy_and_use": Method(shop.buy_and_use, "Buy a consumable and use it", {"card": index("card")}, (SHOP,)),
    "reroll_boss": Method(rounds.reroll_boss, "Draw another boss for this ante", {}, (BLINDS,)),
}


def echo(_: Session, params: Params) -> Any:
    """Return the parameters."""
    return {"success": True, "received_args": params}


def fail_on_request(_: Session, params: Params) -> Any:
    """Fail, if `error_type` is `throw_error`."""
    if params["error_type"] == "throw_error":
        raise Refused("Intentional test error from endpoint execution", "INTERNAL_ERROR")
    return {"success": True}


def state_checked(_: Session, __: Params) -> Any:
    """Return that the state was checked."""
    return {"success": True, "state_validated": True}


TEST_METHODS: dict[str, Method] = {
    "test_endpoint": Method(
        echo,
        "Return the parameters",
        {
            "required_string": Field("string", "", True),
            "optional_string": Field("string", ""),
            "required_integer": Field("integer", "", True),
            "optional_integer": Field("integer", ""),
            "optional_array_integers": Field("array", "", False, "integer"),
        },
    ),
    "test_validation": Method(
        echo,
        "Return parameters of all types",
        {
            "required_field": Field("string", "", True),
            "string_field": Field("string", ""),
            "integer_field": Field("integer", ""),
            "boolean_field": Field("boolean", ""),
            "array_field": Field("array", ""),
            "table_field": Field("table", ""),
            "array_of_integers": Field("array", "", False, "integer"),
        },
    ),
    "test_state_endpoint": Method(state_checked, "Require the menu", {}, ("SPLASH", MENU)),
    "test_error_endpoint": Method(fail_on_request, "Fail", {"error_type": Field("string", "", True)}),
}


@lru_cache
def methods_of(dialect: Dialect, testing: bool = False) -> dict[str, Method]:
    """Return the methods of a dialect.

    testing  with the methods that the mod adds in debug mode for its own tests
    """
    return METHODS | (KEYED_METHODS if dialect.keyed else {}) | (TEST_METHODS if testing else {})


def answer(session: Session, methods: dict[str, Method], name: str, given: Any) -> Any:
    """Call a method, after checking its parameters, then the state. Raises Refused."""
    method = methods.get(name)
    if method is None:
        raise unknown_method(name)
    params = check_params(given, method.fields)
    if method.states and session.state not in method.states:
        raise Refused(f"Method '{name}' requires one of these states: {', '.join(method.states)}", "INVALID_STATE")
    return method.call(session, params)
