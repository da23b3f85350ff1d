"""Full pages: all keys, the remaining deck, the run, the texts of all items."""

import textwrap
from collections.abc import Iterable
from typing import Any

from rich.text import Text

from ante.catalog.blinds import BLINDS, Blind
from ante.catalog.cards import ACE, SUIT_NAMES, TWO, Enhancement
from ante.catalog.hands import HANDS
from ante.catalog.tags import TAGS
from ante.catalog.vouchers import VOUCHERS
from ante.engine.blinds import blind_target
from ante.engine.core.state import Phase, Place
from ante.env.observe_items import in_shop
from ante.env.story import tag_words
from ante.env.text import number
from ante.terminal.bindings import BINDINGS, TITLES, Binding, Group, shown_key
from ante.terminal.decisions import Use, use_of
from ante.terminal.faces import (
    DIM,
    KEY,
    SUIT_STYLES,
    TITLE,
    card_effects,
    card_text,
    flow,
    front_text,
    is_hidden,
    rank_text,
)
from ante.terminal.items import Item, consumables, for_sale, jokers, pack_cards, packs, vouchers
from ante.terminal.preview import amount
from ante.terminal.sections import Look, reward_of
from ante.terminal.session import Session

NAME = 34  # columns of the names on the page of items
COLUMN = 40  # columns of the page of keys
KEYS = 6
SCREENS = {
    Phase.BLIND_SELECT: "You choose a blind: enter it with e, or skip it with k for its tag. The boss cannot be skipped.",
    Phase.PLAY: "You play a blind: reach its target within the hands left. Select up to five cards, then play (p) or "
    "discard (d) them. The line below the hand shows what the selected cards score.",
    Phase.ROUND_END: "The blind is beaten: collect the payout with c. You enter the shop.",
    Phase.SHOP: "You are in the shop: buy with b, v and o and the number of the item, reroll with R, leave with l.",
    Phase.PACK: "A pack is open: take a card with t and its number. Cards that act on your hand use the selected cards.",
    Phase.OVER: "The game is over. z takes back the last decision.",
}


def wrapped(text: str, width: int, style: str = "", indent: str = "") -> list[Text]:
    """Return a text in lines of at most this width."""
    return [Text(line, style) for line in textwrap.wrap(text, width, subsequent_indent=indent)]


def keys_page(session: Session, look: Look) -> list[Text]:
    """Return the current screen explained, and all keys; those that act now are marked."""
    s = session.s
    lines = wrapped(SCREENS[Phase(int(s.phase))], look.width)
    lines += [Text("Keys; those in colour or with * act now. n is the number of a slot.", DIM)]
    blocks = [group_block(session, group) for group in Group]
    half = (sum(map(len, blocks)) + 1) // 2
    left: list[Text] = []
    while blocks and len(left) + len(blocks[0]) // 2 < half:
        left += blocks.pop(0)
    right = [line for block in blocks for line in block]
    for k in range(max(len(left), len(right))):
        line = left[k].copy() if k < len(left) else Text()
        line.truncate(COLUMN, pad=True)
        lines.append(Text.assemble(line, right[k] if k < len(right) else ""))
    return lines


def group_block(session: Session, group: Group) -> list[Text]:
    """Return the title of a group and its keys."""
    return [Text(TITLES[group], TITLE), *(key_line(session, each) for each in BINDINGS if each.group == group)]


def key_line(session: Session, binding: Binding) -> Text:
    """Return a key and what it does."""
    now = use_of(session, binding) != Use.NO
    return Text.assemble((f"{'*' if now else ' '}{shown_key(binding):{KEYS}s}", KEY if now else DIM), binding.about)


def deck_page(session: Session, look: Look) -> list[Text]:
    """Return the cards that are not drawn, by suit and rank. Cards in hand that are face down count as not drawn."""
    s = session.s
    cards = [s.cards[i] for i in range(int(s.n_cards)) if s.cards[i].place != Place.GONE]
    left = [card for card in cards if card.place == Place.DECK or (card.place == Place.HAND and is_hidden(card))]
    plain = [card for card in left if card.enhancement != Enhancement.STONE]
    ranks = range(ACE, TWO - 1, -1)
    lines = [Text(f"{len(left)} of {len(cards)} cards are not drawn", TITLE)]
    lines.append(Text(" " * 10 + "".join(f"{rank_text(rank):>4s}" for rank in ranks) + "   all", DIM))
    for suit, name in enumerate(SUIT_NAMES):
        counts = [sum(card.suit == suit and card.rank == rank for card in plain) for rank in ranks]
        line = Text(f"{look.symbols.suits[suit]} {name:8s}", SUIT_STYLES[suit])
        for count in (*counts, sum(counts)):
            line.append(f"{count or '.':>4}", "" if count else DIM)
        lines.append(line)
    totals = [sum(card.rank == rank for card in plain) for rank in ranks]
    lines.append(Text(f"{'all':10s}" + "".join(f"{count:>4}" for count in (*totals, len(plain)))))
    return lines + special_cards(left, look)


def special_cards(cards: Iterable[Any], look: Look) -> list[Text]:
    """Return the cards with an enhancement, an edition or a seal."""
    special = [card_text(card, look.symbols) for card in cards if not is_hidden(card) and card_effects(card)]
    if not special:
        return []
    return [Text(), Text(f"Special cards among them: {len(special)}", TITLE), *flow(special, look.width)]


def run_page(session: Session, look: Look) -> list[Text]:
    """Return the poker hands with levels and plays, the vouchers, the tags and the blinds of this ante."""
    s = session.s
    lines = [Text(f"{'Poker hand':18s}{'level':>6s}{'chips':>9s}{'mult':>8s}{'played':>8s}", TITLE)]
    for row in HANDS:
        level, plays = int(s.levels[row.hand]), int(s.plays[row.hand])
        if row.visible_at_start or plays or level > 1:
            chips, mult = row.chips + row.chips_per_level * (level - 1), row.mult + row.mult_per_level * (level - 1)
            lines.append(Text(f"{row.name:18s}{level:>6d}{amount(chips):>9s}{amount(mult):>8s}{plays:>8d}"))
    redeemed = [f"{row.name} ({row.effect.removesuffix('.')})" for row in VOUCHERS if s.vouchers[row.voucher]]
    held = [
        f"{tag_words(int(s.tags[i]), int(s.tag_hands[i]))} ({TAGS[s.tags[i]].effect})" for i in range(int(s.n_tags))
    ]
    for title, names in (("Vouchers", redeemed), ("Tags", held)):
        lines += wrapped(f"{title}: {'; '.join(names) or 'none'}", look.width, indent="  ")
    return lines + blind_rows(s, look)


def blind_rows(s: Any, look: Look) -> list[Text]:
    """Return the blinds of this ante: target, reward, tag or effect, and whether they are passed."""
    lines = []
    for panel, blind in enumerate((int(Blind.SMALL), int(Blind.BIG), int(s.boss))):
        row = BLINDS[blind]
        state = "passed" if panel < s.blind_on_deck else "now" if s.blind == blind else ""
        about = row.effect if panel == 2 else tag_words(int(s.skip_tags[panel]), int(s.skip_tag_hands[panel]))
        text = f"{row.name}: needs {number(float(blind_target(s, blind)))}, pays ${reward_of(s, blind)}; {about}"
        lines += wrapped(f"{text}{f' ({state})' if state else ''}", look.width, DIM if state == "passed" else "", "  ")
    return lines


def items_page(session: Session, look: Look) -> list[Text]:
    """Return all items on the screen with their whole texts, and the special cards in hand."""
    s = session.s
    groups = {"Jokers": jokers(s), "Consumables": consumables(s)}
    if in_shop(s):
        groups |= {"For sale": for_sale(s), "Vouchers": vouchers(s), "Packs": packs(s)}
    if s.phase == Phase.PACK:
        groups["Open pack"] = pack_cards(s, look.symbols)
    lines: list[Text] = []
    for title, items in groups.items():
        if items:
            lines += [Text(title, TITLE), *(line for item in items for line in full_item(item, look))]
    lines += card_rows(s, look)
    return lines or [Text("You have no items yet.", DIM)]


def full_item(item: Item, look: Look) -> list[Text]:
    """Return an item with its whole text, which continues below itself."""
    name = f" {item.key} {item.name} {item.money}".rstrip()
    name = f"{name:{NAME}s}  "
    return wrapped(f"{name}{item.text}", look.width, indent=" " * (NAME + 2))


def card_rows(s: Any, look: Look) -> list[Text]:
    """Return the cards in hand that have properties, with the texts of these."""
    found: list[Text] = []
    if s.phase not in (Phase.PLAY, Phase.PACK):
        return found
    for i in range(int(s.n_hand)):
        card = s.cards[s.hand[i]]
        if not is_hidden(card) and card_effects(card):
            front = front_text(card, look.symbols).plain
            found += wrapped(f" {front}: {'; '.join(card_effects(card))}", look.width, indent="   ")
    return [Text("Special cards in hand", TITLE), *found] if found else []
