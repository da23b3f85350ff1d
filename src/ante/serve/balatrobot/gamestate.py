"""The state of a game as the protocol's clients expect it.

Absent areas are left out, and an empty object is an empty list, as in the mod's replies.
"""

from typing import Any

from ante.catalog.blinds import BLINDS, Blind
from ante.catalog.cards import Edition
from ante.catalog.challenges import CHALLENGES
from ante.catalog.constants import REROLL_BASE, SHOP_PACKS
from ante.catalog.consumables import CONSUMABLES
from ante.catalog.hands import HANDS, Hand
from ante.catalog.packs import PACKS
from ante.catalog.tags import TAGS
from ante.catalog.vouchers import VOUCHERS
from ante.engine.actions import can_pay
from ante.engine.blinds import blind_target
from ante.engine.core.state import MAX_PLAYED, Phase, Place
from ante.engine.effects.active_boss import hand_limit
from ante.engine.items.vouchers import boss_can_be_rerolled, boss_reroll_price, reroll_discount
from ante.engine.shop import reroll_price, row_size
from ante.env.observe_items import jokers_hidden
from ante.env.text import seed_of
from ante.serve.balatrobot import cards as words
from ante.serve.balatrobot.cards import FIRST_OFFER, OFFERS, Card, Item, Json, or_list, rows, sentence
from ante.serve.balatrobot.dialects import Dialect
from ante.serve.balatrobot.protocol import number
from ante.serve.balatrobot.session import Session

PANELS = ("small", "big", "boss")
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
    v, dialect = session.fields(), session.dialect
    state: Json = {
        "state": session.state,
        "round_num": v.round_number,
        "ante_num": v.ante,
        "money": v.dollars,
        "won": bool(v.won),
    }
    if not v.challenge:
        state["deck"] = dialect.decks[v.deck_id]
    state["stake"] = dialect.stakes[v.stake]
    state["seed"] = seed_of(v)
    state["used_vouchers"] = or_list(used_vouchers(v, dialect))
    state["hands"] = hands(v.levels.tolist(), v.plays.tolist(), v.plays_round.tolist())
    state["round"] = round_of(session, v)
    state["blinds"] = blinds(session, v)
    if dialect.keyed:
        state.update(keyed_fields(v))
    state.update(areas(session, v))
    return state


def menu_state(session: Session) -> Json:
    """Return the state in the main menu, where no area exists."""
    n = len(HANDS)
    dialect = session.dialect
    state: Json = {"state": session.state, "round_num": 0, "ante_num": 1, "money": 0, "won": False}
    state |= {"deck": dialect.decks[0], "stake": dialect.stakes[1], "used_vouchers": []}
    return state | {"hands": hands([1] * n, [0] * n, [0] * n)} | ({"paused": False} if dialect.keyed else {})


def used_vouchers(v: Any, dialect: Dialect) -> Json:
    """Return the redeemed vouchers by key, with their effects in dialect 2.0."""
    redeemed = [VOUCHERS[i] for i, has in enumerate(v.vouchers.tolist()) if has]
    return {row.key: sentence(row.effect) if dialect.keyed else "" for row in redeemed}


def hands(levels: list[int], plays: list[int], plays_round: list[int]) -> Json:
    """Return the poker hands by name."""
    return {
        row.name: {
            "order": 1 + row.hand,
            "level": level,
            "chips": row.chips + row.chips_per_level * (level - 1),
            "mult": row.mult + row.mult_per_level * (level - 1),
            "played": played,
            "played_this_round": this_round,
            "example": SHOWN[row.hand],
        }
        for row, level, played, this_round in zip(HANDS, levels, plays, plays_round, strict=True)
    }


def round_of(session: Session, v: Any) -> Json:
    """Return the counters of the round; before the first one, those with which it begins."""
    fresh = v.phase == Phase.BLIND_SELECT and v.round_number == 0
    price = reroll_price(session.s) if in_shop(v) else max(0, REROLL_BASE - reroll_discount(session.s))
    found: Json = {
        "hands_left": v.hands_left or (v.hands_each_round if fresh else 0),
        "hands_played": v.hands_played,
        "discards_left": v.discards_left or (v.discards_each_round if fresh else 0),
        "discards_used": v.discards_used,
        "reroll_cost": int(price),
        "chips": number(v.chips),
    }
    if session.dialect.keyed:
        found["most_played_hand"] = HANDS[v.ox_hand if v.ox_hand >= 0 else Hand.HIGH_CARD].name
    return found


def in_shop(v: Any) -> bool:
    """Return whether the shop exists: in it, or behind a pack bought there."""
    return v.phase == Phase.SHOP or (v.phase == Phase.PACK and v.pack_return == Phase.SHOP)


def blinds(session: Session, v: Any) -> Json:
    """Return the three blinds of the ante."""
    rows = [BLINDS[Blind.SMALL], BLINDS[Blind.BIG], BLINDS[v.boss]]
    base = float(blind_target(session.s, int(Blind.SMALL))) / rows[0].mult
    tags = [*v.skip_tags.tolist(), 0]
    found: Json = {}
    for panel, row, status, tag in zip(PANELS, rows, session.statuses(), tags, strict=True):
        effect = sentence(row.effect) if panel == "boss" else ""
        score = number(base * row.mult // 1)
        blind = {"type": panel.upper(), "status": status, "name": row.name, "effect": effect, "score": score}
        if not session.dialect.keyed:
            blind |= {"tag_name": TAGS[tag].name, "tag_effect": sentence(TAGS[tag].effect)}
        else:
            blind |= {"key": row.key} | ({"tag": tag_of(tag)} if tag else {})
        found[panel] = blind
    if session.dialect.keyed:
        s = session.s
        found["boss"]["reroll_available"] = bool(can_pay(s, boss_reroll_price(s)) and boss_can_be_rerolled(s))
    return found


def tag_of(number: int) -> Json:
    """Return a tag, in dialect 2.0."""
    row = TAGS[number]
    return {"key": row.key, "name": row.name, "effect": sentence(row.effect)}


def keyed_fields(v: Any) -> Json:
    """Return the top-level fields that only dialect 2.0 has."""
    found: Json = {"paused": v.phase == Phase.OVER, "starting_deck_size": v.starting_deck_size}
    if v.challenge:
        found |= {"challenge": CHALLENGES[v.challenge].key, "deck": "b_challenge"}
    if v.last_consumable:
        found["last_tarot_planet"] = CONSUMABLES[v.last_consumable].key
    if v.n_tags:
        found["tags"] = [tag_of(tag) for tag in v.tags[: v.n_tags].tolist()]
    return found


def areas(session: Session, v: Any) -> Json:
    """Return the areas that exist in this state."""
    s, dialect = session.s, session.dialect
    cards = rows(Card, v.cards[: v.n_cards])
    jokers, consumables = rows(Item, v.jokers[: v.n_jokers]), rows(Item, v.consumables[: v.n_consumables])
    size = int(hand_limit(s)) if v.modifiers else v.hand_size
    full = sum(card.place != Place.GONE for card in cards)
    found: Json = {
        "jokers": area(shown_jokers(session, jokers, v), v.joker_slots + negatives(jokers), 1),
        "consumables": area(
            [words.item(v, one, dialect) for one in consumables], v.consumable_slots + negatives(consumables), 1
        ),
        "cards": {**area(draw_pile(session, cards, v), full, MAX_PLAYED), "count": v.n_deck},
        "hand": area(hand_cards(session, cards, v), size, MAX_PLAYED),
    }
    if in_shop(v):
        found |= shop_areas(session, v)
    if v.phase == Phase.PACK:
        items = [words.item(v, one, dialect) for one in rows(Item, v.pack[: v.n_pack])]
        found["pack"] = area(items, PACKS[v.pack_id].size, 1)
    return found


def area(cards: list[Json], limit: int, highlighted: int) -> Json:
    """Return an area of cards."""
    return {"count": len(cards), "limit": limit, "cards": cards, "highlighted_limit": highlighted}


def negatives(items: list[Any]) -> int:
    """Return the number of slots that Negative items add."""
    return sum(item.edition == Edition.NEGATIVE for item in items)


def shown_jokers(session: Session, jokers: list[Any], v: Any) -> list[Json]:
    """Return the jokers; those that Amber Acorn hides are marked, and masked in fair mode."""
    hidden = bool(jokers) and jokers_hidden(session.s)
    if hidden and session.fair:
        return [words.masked("JOKER", "Joker") for _ in jokers]
    found = [words.item(v, one, session.dialect) for one in jokers]
    return [{**one, "state": {**dict(one["state"]), "hidden": True}} for one in found] if hidden else found


def hand_cards(session: Session, cards: list[Any], v: Any) -> list[Json]:
    """Return the hand from left to right."""
    held = [cards[i] for i in v.hand[: v.n_hand].tolist()]
    return [
        words.playing_card(card, session.dialect, session.fair and bool(card.face_down), bool(card.forced))
        for card in held
    ]


def draw_pile(session: Session, cards: list[Any], v: Any) -> list[Json]:
    """Return the draw pile, the next card last.

    In fair mode it is sorted, and contains the cards of the hand that are face down, as the game's view of the deck
    does: which of them are in the hand is not visible.
    """
    pile = [cards[i] for i in v.deck[: v.n_deck].tolist()]
    if session.fair:
        held = [cards[i] for i in v.hand[: v.n_hand].tolist()]
        pile = [card._replace(face_down=0) for card in pile + [card for card in held if card.face_down]]
        pile.sort(key=lambda card: (card.suit, -card.rank, card.created))
    return [words.playing_card(card, session.dialect, False, False) for card in pile]


def shop_areas(session: Session, v: Any) -> Json:
    """Return the three areas of the shop; sold items leave no gap."""
    s, first = session.s, FIRST_OFFER + session.shops * OFFERS
    row = [words.item(v, one, session.dialect) for one in rows(Item, v.row[: v.n_row]) if one.kind]
    vouchers = [words.voucher(s, each, first + i) for i, each in enumerate(v.shop_vouchers.tolist()) if each]
    packs = [words.pack(s, i, each, first + OFFERS // 2 + i) for i, each in enumerate(v.packs.tolist()) if each >= 0]
    return {
        "shop": area(row, int(row_size(s)), 1),
        "vouchers": area(vouchers, max(1, v.n_shop_vouchers), 1),
        "packs": area(packs, SHOP_PACKS, 1),
    }
