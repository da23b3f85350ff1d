"""The state of a game as the protocol's clients expect it.

Absent areas are left out, and an empty object is an empty list, as in the mod's replies.
"""

from typing import Any

from ante.catalog.blinds import BLINDS, Blind
from ante.catalog.challenges import CHALLENGES
from ante.catalog.constants import REROLL_BASE
from ante.catalog.consumables import CONSUMABLES
from ante.catalog.hands import HANDS, Hand
from ante.catalog.tags import TAGS
from ante.catalog.vouchers import VOUCHERS
from ante.engine.actions import can_pay
from ante.engine.blinds import blind_target
from ante.engine.core.state import MAX_PLAYED, N_PANELS, Phase, Place
from ante.engine.core.tables import PACK_SIZE
from ante.engine.effects.active_boss import hand_limit
from ante.engine.items.owned import negatives
from ante.engine.items.vouchers import boss_can_be_rerolled, boss_reroll_price, reroll_discount
from ante.engine.shop import SHOP_PACKS, reroll_price, row_size
from ante.env.observe_items import in_shop, jokers_hidden
from ante.env.text import seed_of
from ante.serve.balatrobot import cards as words
from ante.serve.balatrobot.cards import FIRST_OFFER, OFFERS, Card, Item, Json, or_list, rows, sentence
from ante.serve.balatrobot.protocol import number
from ante.serve.balatrobot.session import Session

PANELS = ("small", "big", "boss")
BOSS_PANEL = N_PANELS - 1
EXAMPLES = {  # cards, `*` after those that do not score
    Hand.FLUSH_FIVE: "S_A S_A S_A S_A S_A",
    Hand.FLUSH_HOUSE: "D_9 D_9 D_9 D_5 D_5",
    Hand.FIVE_OF_A_KIND: "S_K H_K C_K D_K S_K",
    Hand.STRAIGHT_FLUSH: "H_8 H_7 H_6 H_5 H_4",
    Hand.FOUR_OF_A_KIND: "S_T H_T C_T D_T C_3*",
    Hand.FULL_HOUSE: "H_Q C_Q D_Q S_6 H_6",
    Hand.FLUSH: "C_A C_J C_8 C_6 C_2",
    Hand.STRAIGHT: "D_9 C_8 S_7 H_6 D_5",
    Hand.THREE_OF_A_KIND: "S_7 H_7 D_7 C_K* S_2*",
    Hand.TWO_PAIR: "H_J D_J S_4 C_4 H_9*",
    Hand.PAIR: "S_8 C_8 D_A* H_5* C_3*",
    Hand.HIGH_CARD: "S_A D_J* C_9* H_6* C_4*",
}
SHOWN = {hand: [[one.rstrip("*"), one[-1] != "*"] for one in text.split()] for hand, text in EXAMPLES.items()}


def gamestate(session: Session) -> Json:
    """Return the state of a session."""
    if session.s is None:
        return menu_state(session)
    s = session.s
    state: Json = {
        "state": session.state,
        "round_num": int(s.round_number),
        "ante_num": int(s.ante),
        "money": int(s.dollars),
        "won": bool(s.won),
    }
    if not s.challenge:
        state["deck"] = session.dialect.decks[s.deck_id]
    state["stake"] = session.dialect.stakes[s.stake]
    state["seed"] = seed_of(s)
    state["used_vouchers"] = or_list(used_vouchers(session))
    state["hands"] = hands(s.levels.tolist(), s.plays.tolist(), s.plays_round.tolist())
    state["round"] = round_of(session)
    state["blinds"] = blinds(session)
    if session.dialect.keyed:
        state.update(keyed_fields(session))
    state.update(areas(session))
    return state


def menu_state(session: Session) -> Json:
    """Return the state in the main menu, where no area exists."""
    n = len(HANDS)
    dialect = session.dialect
    state: Json = {"state": session.state, "round_num": 0, "ante_num": 1, "money": 0, "won": False}
    state |= {"deck": dialect.decks[0], "stake": dialect.stakes[1], "used_vouchers": []}
    return state | {"hands": hands([1] * n, [0] * n, [0] * n)} | ({"paused": False} if dialect.keyed else {})


def used_vouchers(session: Session) -> Json:
    """Return the redeemed vouchers by key, with their effects in dialect 2.0."""
    redeemed = [VOUCHERS[i] for i, has in enumerate(session.s.vouchers.tolist()) if has]
    return {row.key: sentence(row.effect) if session.dialect.keyed else "" for row in redeemed}


def hands(levels: list[int], plays: list[int], plays_round: list[int]) -> Json:
    """Return the poker hands by name."""
    return {
        row.name: {
            "order": 1 + row.hand,
            "level": levels[row.hand],
            "chips": row.chips + row.chips_per_level * (levels[row.hand] - 1),
            "mult": row.mult + row.mult_per_level * (levels[row.hand] - 1),
            "played": plays[row.hand],
            "played_this_round": plays_round[row.hand],
            "example": SHOWN[row.hand],
        }
        for row in HANDS
    }


def round_of(session: Session) -> Json:
    """Return the counters of the round; before the first one, those with which it begins."""
    s = session.s
    fresh = s.phase == Phase.BLIND_SELECT and s.round_number == 0
    found: Json = {
        "hands_left": int(s.hands_each_round) if fresh and not s.hands_left else int(s.hands_left),
        "hands_played": int(s.hands_played),
        "discards_left": int(s.discards_each_round) if fresh and not s.discards_left else int(s.discards_left),
        "discards_used": int(s.discards_used),
        "reroll_cost": int(reroll_price(s)) if in_shop(s) else max(0, REROLL_BASE - int(reroll_discount(s))),
        "chips": number(float(s.chips)),
    }
    if session.dialect.keyed:
        found["most_played_hand"] = HANDS[s.ox_hand].name if s.ox_hand >= 0 else HANDS[Hand.HIGH_CARD].name
    return found


def blinds(session: Session) -> Json:
    """Return the three blinds of the ante."""
    return {PANELS[panel]: blind(session, panel, status) for panel, status in enumerate(session.statuses())}


def blind(session: Session, panel: int, status: str) -> Json:
    """Return one blind of the ante."""
    s = session.s
    row = BLINDS[s.boss if panel == BOSS_PANEL else (Blind.SMALL, Blind.BIG)[panel]]
    found: Json = {
        "type": PANELS[panel].upper(),
        "status": status,
        "name": row.name,
        "effect": sentence(row.effect) if panel == BOSS_PANEL else "",
        "score": number(float(blind_target(s, int(row.blind))) // 1),
    }
    tag = TAGS[s.skip_tags[panel]] if panel < BOSS_PANEL else TAGS[0]
    if not session.dialect.keyed:
        return found | {"tag_name": tag.name, "tag_effect": sentence(tag.effect)}
    found["key"] = row.key
    if panel < BOSS_PANEL:
        found["tag"] = tag_of(int(tag.tag))
    else:
        found["reroll_available"] = bool(can_pay(s, boss_reroll_price(s)) and boss_can_be_rerolled(s))
    return found


def tag_of(number: int) -> Json:
    """Return a tag, in dialect 2.0."""
    row = TAGS[number]
    return {"key": row.key, "name": row.name, "effect": sentence(row.effect)}


def keyed_fields(session: Session) -> Json:
    """Return the top-level fields that only dialect 2.0 has."""
    s = session.s
    found: Json = {"paused": bool(s.phase == Phase.OVER), "starting_deck_size": int(s.starting_deck_size)}
    if s.challenge:
        found |= {"challenge": CHALLENGES[s.challenge].key, "deck": "b_challenge"}
    if s.last_consumable:
        found["last_tarot_planet"] = CONSUMABLES[s.last_consumable].key
    if s.n_tags:
        found["tags"] = [tag_of(tag) for tag in s.tags[: int(s.n_tags)].tolist()]
    return found


def areas(session: Session) -> Json:
    """Return the areas that exist in this state."""
    s, dialect = session.s, session.dialect
    cards = rows(Card, s.cards[: int(s.n_cards)])
    owned = [words.item(s, one, dialect) for one in rows(Item, s.consumables[: int(s.n_consumables)])]
    held = hand_cards(session, cards)
    found: Json = {
        "jokers": area(jokers(session), int(s.joker_slots) + int(negatives(s.jokers, s.n_jokers)), 1),
        "consumables": area(owned, int(s.consumable_slots) + int(negatives(s.consumables, s.n_consumables)), 1),
        "cards": {**area(draw_pile(session, cards), full_deck(cards), MAX_PLAYED), "count": int(s.n_deck)},
        "hand": area(held, int(hand_limit(s)), MAX_PLAYED),
    }
    if in_shop(s):
        found |= shop_areas(session)
    if s.phase == Phase.PACK:
        items = [words.item(s, one, dialect) for one in rows(Item, s.pack[: int(s.n_pack)])]
        found["pack"] = area(items, int(PACK_SIZE[s.pack_id]), 1)
    return found


def area(cards: list[Json], limit: int, highlighted: int) -> Json:
    """Return an area of cards."""
    return {"count": len(cards), "limit": limit, "cards": cards, "highlighted_limit": highlighted}


def full_deck(cards: list[Any]) -> int:
    """Return the number of cards of the full deck."""
    return sum(card.place != Place.GONE for card in cards)


def jokers(session: Session) -> list[Json]:
    """Return the jokers; those that Amber Acorn hides are marked, and masked in fair mode."""
    s = session.s
    found = [words.item(s, one, session.dialect) for one in rows(Item, s.jokers[: int(s.n_jokers)])]
    if not jokers_hidden(s):
        return found
    if session.fair:
        return [words.masked("JOKER", "Joker") for _ in found]
    return [{**one, "state": {**dict(one["state"]), "hidden": True}} for one in found]


def hand_cards(session: Session, cards: list[Any]) -> list[Json]:
    """Return the hand from left to right."""
    held = [cards[i] for i in session.s.hand[: int(session.s.n_hand)].tolist()]
    return [
        words.playing_card(card, session.dialect, session.fair and bool(card.face_down), bool(card.forced))
        for card in held
    ]


def draw_pile(session: Session, cards: list[Any]) -> list[Json]:
    """Return the draw pile, the next card last.

    In fair mode it is sorted, and contains the cards of the hand that are face down, as the game's view of the deck
    does: which of them are in the hand is not visible.
    """
    s = session.s
    pile = [cards[i] for i in s.deck[: int(s.n_deck)].tolist()]
    if session.fair:
        held = [cards[i] for i in s.hand[: int(s.n_hand)].tolist()]
        pile = [card._replace(face_down=0) for card in pile + [card for card in held if card.face_down]]
        pile.sort(key=lambda card: (card.suit, -card.rank, card.created))
    return [words.playing_card(card, session.dialect, False, False) for card in pile]


def shop_areas(session: Session) -> Json:
    """Return the three areas of the shop; sold items leave no gap."""
    s = session.s
    first = FIRST_OFFER + session.shops * OFFERS
    row = [words.item(s, one, session.dialect) for one in rows(Item, s.row[: int(s.n_row)]) if one.kind]
    vouchers = [words.voucher(s, v, first + i) for i, v in enumerate(s.shop_vouchers.tolist()) if v]
    packs = [words.pack(s, i, first + OFFERS // 2 + i) for i, p in enumerate(s.packs.tolist()) if p >= 0]
    return {
        "shop": area(row, int(row_size(s)), 1),
        "vouchers": area(vouchers, max(1, int(s.n_shop_vouchers)), 1),
        "packs": area(packs, SHOP_PACKS, 1),
    }
