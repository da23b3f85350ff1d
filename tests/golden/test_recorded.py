"""Moments recorded from the real game, replayed (recorded.json.gz, see README.md)."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ante.catalog.blinds import BLINDS
from ante.catalog.cards import SUIT_LETTERS
from ante.catalog.packs import PACKS
from ante.catalog.tags import TAGS
from ante.catalog.vouchers import VOUCHERS
from ante.engine.actions import Verb, pack_action
from ante.engine.core.state import Phase, Status
from ante.engine.notation import card_text, front_text, item_text
from ante.engine.run import new_run
from ante.engine.step import step

RECORDED = json.loads(gzip.decompress((Path(__file__).parent / "recorded.json.gz").read_bytes()))
VERBS = {
    "select": Verb.SELECT_BLIND,
    "skip": Verb.SKIP_BLIND,
    "play_hand": Verb.PLAY,
    "discard": Verb.DISCARD,
    "next_round": Verb.NEXT_ROUND,
    "reroll": Verb.REROLL,
}


def shown(s: Any, wanted: dict[str, Any]) -> dict[str, Any]:
    """Return the recorded fields as in our record."""
    fields: dict[str, Any] = {
        "dollars": int(s.dollars),
        "chips": int(s.chips),
        "hands_left": int(s.hands_left),
        "discards_left": int(s.discards_left),
        "tags": [TAGS[s.tags[i]].key for i in range(s.n_tags)],
        "hand": [card_text(s.cards[s.hand[i]]) for i in range(s.n_hand)],
        "shop": [item_text(s.row[i]) for i in range(s.n_row)],
        "vouchers": [VOUCHERS[v].key for v in s.shop_vouchers[: s.n_shop_vouchers] if v],
        "boosters": [PACKS[p].key for p in s.packs if p >= 0],
    }
    return {name: fields[name] for name in wanted}


def drag(s: Any, hand: list[str]) -> None:
    """Drag the hand's cards into the recorded order."""
    for to, text in enumerate(hand):
        texts = [card_text(s.cards[s.hand[i]]) for i in range(s.n_hand)]
        if text in texts and texts[to] != text:
            step(s, np.int64(pack_action(Verb.MOVE_CARD, texts.index(text), to, 0)))


@pytest.mark.parametrize("run", RECORDED["runs"], ids=lambda run: f"{run['seed']}-{len(run['events'])}")
def test_the_real_game_played_again(run: dict[str, Any]) -> None:
    s = new_run(run["seed"], run["deck"], run["stake"])
    compared = 0
    for event in run["events"][1:]:
        if s.phase not in (Phase.BLIND_SELECT, Phase.ROUND_END):
            before = {name: value for name, value in event["before"].items() if name != "tags"}
            drag(s, before.get("hand", []))
            assert shown(s, before) == before
            compared += 1
        args = event["args"]
        if event["action"] == "go_to_menu":
            break
        verb = Verb.CASH_OUT if event["action"] == "cash_out" else VERBS[args["action"]]
        cards = sum(1 << card for card in args.get("cards", []))
        assert step(s, np.int64(pack_action(verb, 0, 0, cards))) != Status.ILLEGAL
    assert compared >= 2


@pytest.mark.parametrize("fact", RECORDED["facts"], ids=lambda fact: str(fact["seed"]))
def test_run_starts_of_the_real_game(fact: dict[str, Any]) -> None:
    s = new_run(fact["seed"], fact["deck"], fact["stake"])
    assert [TAGS[tag].key for tag in s.skip_tags] == fact["tags"]
    assert BLINDS[s.boss].key == fact["boss"]
    if "ancient_suit" in fact:
        assert SUIT_LETTERS[s.ancient_suit] == fact["ancient_suit"]
    if "start_deck_bottom_to_top" in fact:
        pile = "".join(front_text(s.cards[s.deck[i]]).replace("_", "") for i in range(s.n_deck))
        assert pile == fact["start_deck_bottom_to_top"]
