"""The words of a replay: the objects of a decision, its effects, and the state after it.

The text contains everything: also face-down cards and hidden jokers. Cards: `AS`, `TD(Glass, red seal, +5)`, then
marks: `!` debuffed, `?` face down, `*` forced by Cerulean Bell. Numbers are exact.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from ante.catalog.blinds import BLINDS, Blind
from ante.catalog.cards import RANK_LETTERS, SUIT_LETTERS
from ante.catalog.hands import HANDS
from ante.catalog.jokers import Joker
from ante.catalog.packs import PACKS
from ante.catalog.tags import TAGS, Tag
from ante.catalog.vouchers import VOUCHERS
from ante.engine.actions import Verb, cards_of, target_of, to_of, verb_of
from ante.engine.blinds import blind_on_deck, blind_target
from ante.engine.core.state import Phase, Place
from ante.engine.items.prices import sell_value, shop_price
from ante.engine.items.vouchers import boss_reroll_price
from ante.engine.shop import pack_price, reroll_price, voucher_price
from ante.env.text import card_name, item_name

CARD_FIELDS = ["created", "place", "rank", "suit", "enhancement", "edition", "seal", "bonus"]
HOLE = "-"
MARKS = (("debuffed", "!"), ("face_down", "?"), ("forced", "*"))
COUNTS = {
    "hand_size": "hand size",
    "joker_slots": "joker slots",
    "consumable_slots": "consumable slots",
    "hands_each_round": "hands a round",
    "discards_each_round": "discards a round",
}


def amount(x: float) -> str:
    """Format a score, chips or mult with all digits that are needed to read it back, `22.5`."""
    return repr(float(x)).removesuffix(".0")


def card_words(card: Any, marks: bool = True) -> str:
    """Return a playing card of the deck, with its marks of this round if `marks`."""
    plain = card.copy()
    for field, _ in MARKS:
        plain[field] = 0
    name = card_name(plain)
    if card.bonus:
        name = f"{name.removesuffix(')')}{', ' if name[-1] == ')' else '('}+{card.bonus})"
    return name + "".join(mark for field, mark in MARKS if marks and card[field])


def cards_at(s: Any, cards: int) -> str:
    """Return the hand cards at these positions, given as bits."""
    return " ".join(card_words(s.cards[s.hand[i]]) for i in range(s.n_hand) if (cards >> i) & 1)


def target_words(s: Any, item: Any) -> str:
    """Return the current card, rank, suit or hand of a joker's text; empty for most."""
    if item.id == Joker.IDOL:
        return RANK_LETTERS[s.idol_rank] + SUIT_LETTERS[s.idol_suit]
    if item.id == Joker.MAIL:
        return RANK_LETTERS[s.mail_rank]
    if item.id == Joker.ANCIENT:
        return SUIT_LETTERS[s.ancient_suit]
    if item.id == Joker.CASTLE:
        return SUIT_LETTERS[s.castle_suit]
    return HANDS[item.hand].name if item.id == Joker.TODO_LIST else ""


def memory(item: Any) -> str:
    """Return the counters of a joker: `[3]`, with its count `[0 n4]`, with its additional sell value `[0 +$6]`."""
    count = f" n{item.count}" if item.count else ""
    return f"[{amount(item.value)}{count}{f' +${item.extra_sell}' if item.extra_sell else ''}]"


def joker_words(item: Any) -> str:
    """Return an owned joker with edition, stickers and, if not 0, its counters, `Ride the Bus [3]`."""
    words = memory(item)
    return item_name(item) + (f" {words}" if words != "[0]" else "")


def tag_words(tag: int, hand: int) -> str:
    """Return a tag; Orbital Tag with its hand."""
    return TAGS[tag].name + (f" ({HANDS[hand].name})" if tag == Tag.ORBITAL else "")


def numbered(names: Iterable[str]) -> str:
    """Return numbered names, `0 Joker | 1 Mars`, or `none`."""
    return " | ".join(f"{i} {name}" for i, name in enumerate(names)) or "none"


def decision_words(s: Any, action: int) -> str:
    """Describe the objects of a legal macro decision before it is taken; empty if the verb is sufficient."""
    verb, slot, cards = Verb(int(verb_of(action))), int(target_of(action)), int(cards_of(action))
    on = f" on {cards_at(s, cards)}" if cards else ""
    if verb in (Verb.PLAY, Verb.DISCARD):
        return cards_at(s, cards)
    if verb == Verb.SELECT_BLIND:
        return blind_words(s)
    if verb == Verb.SKIP_BLIND:
        return tag_words(int(s.skip_tags[s.blind_on_deck]), int(s.skip_tag_hands[s.blind_on_deck]))
    if verb in (Verb.REROLL, Verb.REROLL_BOSS):
        return f"${reroll_price(s) if verb == Verb.REROLL else boss_reroll_price(s)}"
    if verb in (Verb.BUY, Verb.BUY_AND_USE):
        return f"{item_name(s.row[slot])} ${shop_price(s.row[slot])}"
    if verb == Verb.BUY_VOUCHER:
        return voucher_words(s, slot)
    if verb == Verb.OPEN_PACK:
        return pack_words(s, slot)
    if verb == Verb.PICK:
        return item_name(s.pack[slot]) + on
    if verb == Verb.USE:
        return item_name(s.consumables[slot]) + on
    return sold_or_moved_words(s, verb, slot, int(to_of(action)))


def sold_or_moved_words(s: Any, verb: Verb, slot: int, to: int) -> str:
    """Return what is sold or reordered."""
    if verb in (Verb.SELL_JOKER, Verb.SELL_CONSUMABLE):
        item = (s.jokers if verb == Verb.SELL_JOKER else s.consumables)[slot]
        return f"{item_name(item)} for ${sell_value(item)}"
    if verb == Verb.MOVE_JOKER:
        return item_name(s.jokers[slot])
    if verb == Verb.MOVE_CARD:
        return card_words(s.cards[s.hand[slot]])
    return ("by rank", "by suit")[to] if verb == Verb.SORT_HAND else ""


def blind_words(s: Any) -> str:
    """Describe the next blind, the score that it requires, and the effect of a boss."""
    row = BLINDS[int(blind_on_deck(s))]
    effect = f", {row.effect.removesuffix('.')}" if row.blind > Blind.BIG else ""
    return f"{row.name} {amount(blind_target(s, int(row.blind)))}{effect}"


def voucher_words(s: Any, slot: int) -> str:
    """Return a voucher of the shop with its price."""
    voucher = int(s.shop_vouchers[slot])
    return f"{VOUCHERS[voucher].name} ${voucher_price(s, voucher)}"


def pack_words(s: Any, slot: int) -> str:
    """Return a booster pack of the shop with its price."""
    return f"{PACKS[s.packs[slot]].name} ${pack_price(s, slot)}"


def changes(before: Any, after: Any) -> list[str]:
    """Describe the effects of a decision, in a fixed order. Both arguments are records of the same game."""
    found = [*score_words(before, after), *money_words(before, after)]
    found += [
        f"{name} {before[field]} -> {after[field]}" for field, name in COUNTS.items() if before[field] != after[field]
    ]
    found += joker_changes(before, after)
    for field, what, names in (("consumables", "", held_names), ("vouchers", "voucher ", voucher_names)):
        if before[field].tobytes() != after[field].tobytes():
            found += gained_and_lost(what, names(before), names(after))
    found += gained_and_lost("tag ", tag_names(before), tag_names(after))
    for row, old, new in zip(HANDS, before.levels.tolist(), after.levels.tolist(), strict=True):
        if old != new:
            found.append(f"{row.name} level {old} -> {new}")
    found += card_changes(before, after)
    if after.boss != before.boss and after.phase == Phase.BLIND_SELECT:
        found.append(f"boss {BLINDS[before.boss].name} -> {BLINDS[after.boss].name}")
    if after.boss_disabled and not before.boss_disabled:
        found.append("boss disabled")
    if after.phase == Phase.OVER:
        found.append("lost")
    elif after.won and not before.won:
        found.append("won")
    return found


def score_words(before: Any, after: Any) -> list[str]:
    """Return the played hand and its score, `Pair (level 1) 32 x 2 = 64, 64 of 300`."""
    if after.hands_played_run == before.hands_played_run:
        return []
    hand = HANDS[after.hand_type]
    refused = " refused by the boss" if after.hand_refused else ""
    # The chips of the round are kept until the cash-out screen is left.
    return [
        f"{hand.name} (level {after.levels[hand.hand]}){refused} {amount(after.score_chips)} x {amount(after.score_mult)}"
        f" = {amount(after.hand_total)}, {amount(after.chips)} of {amount(after.target)}"
    ]


def money_words(before: Any, after: Any) -> list[str]:
    """Return the change of money, and the payout with its components at the end of a round."""
    found = [] if before.dollars == after.dollars else [f"${before.dollars} -> ${after.dollars}"]
    if after.phase == Phase.ROUND_END and before.phase != Phase.ROUND_END:
        left = f"{after.hands_left} hands and {after.discards_left} discards left"
        found.append(f"payout ${after.payout} with {left}, ${after.dollars} held")
    return found


def joker_changes(before: Any, after: Any) -> list[str]:
    """Describe jokers that were added, removed, changed or moved, distinguished by their creation numbers."""
    if before.jokers.tobytes() == after.jokers.tobytes():  # SPEED: equal after most decisions
        return []
    old = {int(item.created): item for item in before.jokers[: before.n_jokers]}
    new = {int(item.created): item for item in after.jokers[: after.n_jokers]}
    found = [f"- {joker_words(item)}" for number, item in old.items() if number not in new]
    found += [f"+ {joker_words(item)}" for number, item in new.items() if number not in old]
    for number, item in old.items():
        if number in new and item_name(item) != item_name(new[number]):
            found.append(f"{joker_words(item)} -> {joker_words(new[number])}")
        elif number in new and memory(item) != memory(new[number]):
            found.append(f"{item_name(item)} {memory(item)} -> {memory(new[number])}")
    if [number for number in old if number in new] != [number for number in new if number in old]:
        found.append(f"jokers {numbered(joker_words(item) for item in new.values())}")
    return found


def held_names(s: Any) -> list[str]:
    """Return the names of the consumables held."""
    return [item_name(item) for item in s.consumables[: s.n_consumables]]


def voucher_names(s: Any) -> list[str]:
    """Return the names of the redeemed vouchers."""
    return [row.name for row in VOUCHERS if s.vouchers[row.voucher]]


def tag_names(s: Any) -> list[str]:
    """Return the names of the held tags, the oldest first."""
    return [tag_words(int(s.tags[i]), int(s.tag_hands[i])) for i in range(s.n_tags)]


def gained_and_lost(what: str, before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Return `- X` for each removed name and `+ Y` for each added one."""
    if before == after:
        return []
    lost, gained = Counter(before) - Counter(after), Counter(after) - Counter(before)
    return [f"- {what}{name}" for name in lost.elements()] + [f"+ {what}{name}" for name in gained.elements()]


def deck_cards(s: Any) -> dict[int, tuple[int, tuple[int, ...]]]:
    """Return every playing card owned: creation number -> (index, properties)."""
    rows = s.cards[CARD_FIELDS][: s.n_cards].tolist()
    return {row[0]: (i, row[2:]) for i, row in enumerate(rows) if row[1] != Place.GONE}


def card_changes(before: Any, after: Any) -> list[str]:
    """Describe playing cards that were destroyed, added or changed, distinguished by their creation numbers."""
    old, new = deck_cards(before), deck_cards(after)
    found = [f"- {card_words(before.cards[i], False)}" for number, (i, _) in old.items() if number not in new]
    found += [f"+ {card_words(after.cards[i], False)}" for number, (i, _) in new.items() if number not in old]
    for number, (i, what) in old.items():
        if number in new and new[number][1] != what:
            is_now = card_words(after.cards[new[number][0]], False)
            found.append(f"{card_words(before.cards[i], False)} -> {is_now}")
    return found


def opening(s: Any) -> list[str]:
    """Return the lines after the heading of a replay: the items of a new run, and its first blinds."""
    return [*owned_lines(s), *blind_lines(s)]


def table(before: Any, after: Any) -> list[str]:
    """Describe what a decision has changed on the screen."""
    lines = []
    if after.phase == Phase.BLIND_SELECT and before.phase != Phase.BLIND_SELECT:
        lines += blind_lines(after)
    if after.blinds_skipped > before.blinds_skipped and after.phase == Phase.BLIND_SELECT == before.phase:
        lines += blind_lines(after)
    if after.phase == Phase.PLAY and before.phase == Phase.BLIND_SELECT:
        lines += owned_lines(after)
    if after.phase == Phase.SHOP and before.phase == Phase.ROUND_END:
        lines += ["", f"-- shop of ante {after.ante}, ${after.dollars}"]
    if after.phase == Phase.SHOP:
        lines += shop_lines(before, after)
    if after.phase == Phase.PACK and (before.phase != Phase.PACK or after.picks_left != before.picks_left):
        names = numbered(item_name(item) for item in after.pack[: after.n_pack])
        lines.append(f"  {PACKS[after.pack_id].name}, take {after.picks_left}: {names}")
    return lines + hand_lines(before, after)


def blind_lines(s: Any) -> list[str]:
    """Return the remaining blinds of this ante, with the tags for skipping them."""
    ahead = []
    for panel, blind in enumerate((int(Blind.SMALL), int(Blind.BIG), int(s.boss))):
        if panel >= s.blind_on_deck:
            tag = f" or {tag_words(int(s.skip_tags[panel]), int(s.skip_tag_hands[panel]))}" if panel < 2 else ""
            ahead.append(f"{BLINDS[blind].name} {amount(blind_target(s, blind))}{tag}")
    return ["", f"-- ante {s.ante}, ${s.dollars}: {', '.join(ahead)}"]


def owned_lines(s: Any) -> list[str]:
    """Return the owned jokers and consumables, and the vouchers of a new run."""
    jokers = []
    for item in s.jokers[: s.n_jokers]:
        target = target_words(s, item)
        jokers.append(joker_words(item) + (f" <{target}>" if target else ""))
    rows = {"jokers": jokers, "held": held_names(s)}
    if s.decisions == 0:
        rows["vouchers"] = voucher_names(s)
    return [f"  {title} {numbered(names)}" for title, names in rows.items() if names]


def shop_lines(before: Any, after: Any) -> list[str]:
    """Describe the shop's items if one of them is new or a price has changed."""
    old = shop_slots(before) if before.phase in (Phase.SHOP, Phase.PACK) else {}
    lines = []
    for title, rows in shop_slots(after).items():
        if any(words != HOLE for _, words in set(rows) - set(old.get(title, []))):
            end = f"; reroll ${reroll_price(after)}" if title == "row" else ""
            lines.append(f"  {title} {numbered(words for _, words in rows)}{end}")
    return lines


def shop_slots(s: Any) -> dict[str, list[tuple[int, str]]]:
    """Return the shop's slots with prices, empty ones as `-`: (identity, words) of each."""
    return {
        "row": [(int(item.created), f"{item_name(item)} ${shop_price(item)}") for item in s.row[: s.n_row]],
        "vouchers": [(i, voucher_words(s, i) if s.shop_vouchers[i] else HOLE) for i in range(s.n_shop_vouchers)],
        "packs": [(i, pack_words(s, i) if s.packs[i] >= 0 else HOLE) for i in range(len(s.packs))],
    }


def hand_lines(before: Any, after: Any) -> list[str]:
    """Return the hand, if it or the number of hands and discards left has changed."""
    if after.phase not in (Phase.PLAY, Phase.PACK) or after.n_hand == 0:
        return []
    words = hand_words(after)
    old = hand_words(before) if before.phase == after.phase else ""
    return [f"  {words}"] if words != old else []


def hand_words(s: Any) -> str:
    """Describe hands and discards left, the cards in hand from the left, and the size of the draw pile."""
    cards = cards_at(s, (1 << int(s.n_hand)) - 1)
    left = f"{s.hands_left} hands {s.discards_left} discards" if s.phase == Phase.PLAY else "hand"
    return f"{left}: {cards} | deck {s.n_deck}"
