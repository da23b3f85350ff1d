"""Hands of recorded games, with the jokers, levels and bosses of that moment, against the reference scorer."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ante.catalog.blinds import BLINDS, Blind
from ante.catalog.cards import EDITIONS, RANK_LETTERS, SUIT_LETTERS
from ante.catalog.consumables import CONSUMABLES
from ante.catalog.decks import DECKS
from ante.catalog.hands import HANDS
from ante.catalog.jokers import JOKERS
from ante.catalog.vouchers import VOUCHERS
from ante.engine.actions import Verb, cards_of, verb_of
from ante.engine.core.state import Place
from ante.engine.items.prices import sell_value
from ante.engine.notation import card_text
from ante.engine.run import new_run
from ante.engine.step import step
from ante.env.replay import read_file, read_replay
from tests.reference.cases import MEMORY
from tests.reference.scorer import score

FILES = sorted((Path(__file__).parents[1] / "golden" / "replays").glob("*.txt"))
# Random effects of a hand, and bosses that take cards or money at a moment that the reference does not model.
OPEN_JOKERS = {"j_misprint", "j_bloodstone", "j_space"}
OPEN_BOSSES = ("bl_hook", "bl_tooth", "bl_ox")
MONEY_READERS, MONEY_ROLLERS = {"j_bull", "j_bootstraps"}, {"j_business", "j_reserved_parking"}


def case_of(s: Any, cards: int) -> dict[str, Any]:
    """Return the hand at these positions in the recorded form."""
    texts = [card_text(s.cards[i]) + "!" * int(s.cards[i].debuffed) for i in s.hand[: s.n_hand]]
    jokers = [joker_of(s, item) for item in s.jokers[: s.n_jokers]]
    owned = [int(card.enhancement) for card in s.cards[: s.n_cards] if card.place != Place.GONE]
    boss = BLINDS[s.blind].key if s.blind > Blind.BIG and not s.boss_disabled else None
    seen = [row.name for row in HANDS if (int(s.eye_hands) >> row.hand) & 1]
    return {
        "deck": DECKS[s.deck_id].key,
        "boss": boss,
        "boss_state": {"hands_used": seen, "only_hand": seen[0] if seen and boss == "bl_mouth" else None},
        "levels": {row.name: int(s.levels[row.hand]) for row in HANDS},
        "plays": {row.name: [int(s.plays[row.hand]), int(s.plays_round[row.hand])] for row in HANDS},
        "dollars": int(s.dollars),
        "hands_left": int(s.hands_left) - 1,
        "discards_left": int(s.discards_left),
        "round_hands_played": int(s.hands_played),
        "deck_left": int(s.n_deck),
        "deck_size": len(owned),
        "deck_facts": {
            "starting_deck_size": int(s.starting_deck_size),
            "stone_cards": owned.count(6),
            "steel_cards": owned.count(5),
            "enhanced_cards": len(owned) - owned.count(0),
        },
        "joker_slots": int(s.joker_slots) + sum(1 for joker in jokers if joker["edition"] == "negative"),
        "consumables": [CONSUMABLES[item.id].key for item in s.consumables[: s.n_consumables]],
        "vouchers": [row.key for row in VOUCHERS if s.vouchers[row.voucher]],
        "jokers": jokers,
        "played": [text for i, text in enumerate(texts) if (cards >> i) & 1],
        "held": [text for i, text in enumerate(texts) if not (cards >> i) & 1],
    }


def joker_of(s: Any, item: Any) -> dict[str, Any]:
    """Return an owned joker in the recorded form."""
    key, state = JOKERS[item.id].key, {}
    if key in MEMORY:
        name = MEMORY[key][0]
        listed = HANDS[item.hand].name if name == "hand" else int(item.count)
        state[name] = float(item.value) if name in ("mult", "chips", "xmult") else listed
    shared: dict[str, dict[str, Any]] = {
        "j_idol": {"rank": RANK_LETTERS[s.idol_rank], "suit": SUIT_LETTERS[s.idol_suit]},
        "j_ancient": {"suit": SUIT_LETTERS[s.ancient_suit]},
        "j_throwback": {"blinds_skipped": int(s.blinds_skipped)},
        "j_fortune_teller": {"tarots_used": int(s.tarots_used)},
    }
    return {
        "key": key,
        "edition": EDITIONS[item.edition].key or None,
        "sell": int(sell_value(item)),
        "debuffed": bool(item.debuffed),
        "state": shared.get(key, state),
    }


def is_settled(case: dict[str, Any]) -> bool:
    """Return whether the score depends only on what the reference models."""
    keys = {joker["key"] for joker in case["jokers"] if not joker["debuffed"]}
    rolls = keys & OPEN_JOKERS or any("m_lucky" in card for card in case["played"])
    return not (rolls or case["boss"] in OPEN_BOSSES or (keys & MONEY_READERS and keys & MONEY_ROLLERS))


def compared_hands(file: Path) -> int:
    """Play a replay, score its settled hands both ways, and return their number."""
    heading, actions = read_replay(read_file(file))
    s, compared = new_run(**asdict(heading)), 0
    for number, action in enumerate(actions, 1):
        played = verb_of(action) == Verb.PLAY
        case = case_of(s, int(cards_of(action))) if played else {}
        step(s, np.int64(action))
        if played and is_settled(case):
            wanted = score(case)
            assert bool(s.hand_refused) == wanted["refused"], number
            assert (HANDS[s.hand_type].name, float(s.hand_total)) == (wanted["hand"], wanted["total"]), number
            if not wanted["refused"]:
                assert (float(s.score_chips), float(s.score_mult)) == (wanted["chips"], wanted["mult"]), number
            compared += 1
    return compared


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_recorded_hands_score_as_the_rules_text_says(file: Path) -> None:
    assert compared_hands(file) > 0
