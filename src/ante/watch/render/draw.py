"""Drawing of one frame of a game: all information that the player sees.

Left: the score. Middle: current options, with jokers above and the hand below.
"""

import colorsys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante.catalog.blinds import BLINDS
from ante.catalog.cards import EDITIONS, ENHANCEMENTS, RANK_LETTERS, SEALS
from ante.catalog.consumables import CONSUMABLES, Set
from ante.catalog.hands import HANDS
from ante.catalog.jokers import JOKERS
from ante.catalog.packs import PACKS, PackKind
from ante.catalog.tags import TAGS
from ante.catalog.vouchers import VOUCHERS
from ante.engine.blinds import blind_on_deck, blind_target
from ante.engine.core.state import Kind, Phase, Place
from ante.engine.effects.active_boss import hand_limit
from ante.engine.items.prices import shop_price
from ante.engine.shop import pack_price, reroll_price, voucher_price
from ante.env.observe import focus_target, selected_hand
from ante.env.observe_items import jokers_hidden
from ante.env.text import number, run_name, seed_of
from ante.messages import number_of
from ante.watch.render.canvas import BOLD, Box, Canvas, Colour

FELT: Colour = (38, 84, 68)
PANEL: Colour = (24, 32, 36)
SLOT: Colour = (30, 66, 55)
WHITE: Colour = (245, 246, 240)
GREY: Colour = (150, 165, 162)
INK: Colour = (34, 38, 46)
GOLD: Colour = (242, 187, 62)
RED: Colour = (224, 80, 72)
BLUE: Colour = (66, 144, 222)
ORANGE: Colour = (238, 140, 54)
GREEN: Colour = (84, 178, 108)
PURPLE: Colour = (146, 104, 200)
SUITS = "♠♥♣♦"
SUIT_COLOURS: tuple[Colour, ...] = ((52, 62, 110), (214, 58, 66), (40, 104, 84), (226, 122, 38))
RARITY_COLOURS: tuple[Colour, ...] = (GREY, BLUE, GREEN, RED, PURPLE)
SET_COLOURS: dict[int, Colour] = {Set.TAROT: PURPLE, Set.PLANET: (70, 150, 180), Set.SPECTRAL: (78, 104, 190)}
ENHANCEMENT_COLOURS: tuple[Colour, ...] = (
    WHITE,
    (196, 216, 246),  # Bonus
    (248, 204, 198),  # Mult
    (230, 210, 248),  # Wild
    (206, 236, 240),  # Glass
    (188, 194, 202),  # Steel
    (150, 148, 142),  # Stone
    (246, 220, 130),  # Gold
    (214, 240, 176),  # Lucky
)
EDITION_COLOURS: tuple[Colour, ...] = (INK, (120, 190, 240), (240, 140, 200), (250, 210, 70), (20, 20, 20))
SEAL_COLOURS: dict[str, Colour] = {"Gold": GOLD, "Red": RED, "Blue": BLUE, "Purple": PURPLE}
PACK_COLOURS: dict[int, Colour] = {
    PackKind.ARCANA: PURPLE,
    PackKind.CELESTIAL: (70, 150, 180),
    PackKind.SPECTRAL: (78, 104, 190),
    PackKind.STANDARD: RED,
    PackKind.BUFFOON: ORANGE,
}
CARD_W, CARD_H = 52.0, 70.0
TABLE = Box(158, 98, 474, 150)  # what can be done now
TOP = Box(158, 8, 474, 84)  # jokers and consumables
HAND = Box(158, 254, 474, 98)


@dataclass(frozen=True)
class Layout:
    """Positions of the areas below the jokers.

    table  current options
    wide   the same without a hand: blinds and shop
    hand   the cards in hand
    below  the lowest strip; None if there is a hand
    """

    table: Box
    wide: Box
    hand: Box
    below: Box | None = None


PLAIN = Layout(TABLE, Box(TABLE.x, TABLE.y, TABLE.w, 254), HAND)
WITH_STRIP = Layout(Box(158, 96, 474, 114), Box(158, 96, 474, 206), Box(158, 210, 474, 92), Box(158, 306, 474, 50))


def draw(s: Any, width: int = 640, height: int = 360, caption: str = "", seed: bool = True) -> NDArray[np.uint8]:
    """Return a frame of one game, uint8 (height, width, 3), RGB.

    caption  one line below the score, such as the last action
    seed     whether to show deck, stake and seed
    """
    canvas = Canvas(width, height, FELT)
    draw_score(canvas, s, caption, named=seed)
    draw_owned(canvas, s)
    draw_table(canvas, s, PLAIN)
    return canvas.image


def draw_table(canvas: Canvas, s: Any, layout: Layout) -> None:
    """Draw the area below the jokers: the blinds, the shop, a pack, or the round and its hand."""
    if s.phase == Phase.BLIND_SELECT:
        draw_blinds(canvas, s, layout.wide)
    elif s.phase == Phase.SHOP:
        draw_shop(canvas, s, layout.wide)
    elif s.phase == Phase.PACK:
        draw_pack(canvas, s, layout.table)
    elif s.phase == Phase.ROUND_END:
        draw_banner(canvas, layout.table, f"${s.payout}", "to cash out", GOLD)
    elif s.phase == Phase.OVER:
        draw_banner(
            canvas,
            layout.table,
            "GAME OVER",
            f"ante {s.ante}, {number_of(int(s.round_number) - 1, 'blind')} beaten",
            RED,
        )
    else:
        draw_play(canvas, s, layout.table)
    if s.n_hand and s.phase in (Phase.PLAY, Phase.PACK, Phase.OVER):
        draw_hand(canvas, s, layout.hand)


def draw_score(
    canvas: Canvas,
    s: Any,
    caption: str,
    about: str = "",
    made: tuple[str, str, str] | None = None,
    named: bool = True,
) -> None:
    """Draw the left panel: blind, target, score, money, hands, discards, ante, deck and seed.

    about  a line above deck and seed, such as who plays
    made   a poker hand with its chips and mult, instead of the selected or the last one
    named  False: without deck and seed
    """
    canvas.fill(Box(0, 0, 150, 360), PANEL)
    playing = s.phase in (Phase.PLAY, Phase.OVER) and s.blind
    row = BLINDS[int(s.blind) if playing else int(blind_on_deck(s))]
    colour = blind_colour(int(row.blind))
    canvas.fill(Box(6, 6, 138, 24), colour, 5)
    canvas.fitted(row.name, Box(10, 6, 130, 24), 14, WHITE, BOLD)
    if row.blind > 2:
        text = "disabled" if playing and s.boss_disabled else row.effect
        canvas.paragraph(text, Box(10, 33, 130, 22), 8, GREY)
    target = float(focus_target(s))
    canvas.text("score at least", 10, 67, 8, GREY)
    canvas.text(number(target), 140, 68, 13, RED, BOLD, "right")
    canvas.text("score", 10, 86, 8, GREY)
    canvas.text(number(float(s.chips)), 140, 88, 15, WHITE, BOLD, "right")
    share = min(1.0, float(s.chips) / target) if target > 0 else 1.0
    canvas.fill(Box(10, 94, 130, 6), INK, 3)
    if share > 0.02:
        canvas.fill(Box(10, 94, 130 * share, 6), GREEN if share >= 1 else ORANGE, 3)
    shown = made or hand_value(s)
    if shown:
        draw_hand_value(canvas, *shown)
    counts = (("hands", s.hands_left, BLUE), ("discards", s.discards_left, RED))
    for i, (name, value, tint) in enumerate(counts):
        canvas.fill(Box(10 + 67 * i, 168, 63, 34), INK, 5)
        canvas.text(name, 41 + 67 * i, 179, 8, GREY, align="middle")
        canvas.text(str(value), 41 + 67 * i, 197, 16, tint, BOLD, "middle")
    canvas.fill(Box(10, 208, 130, 34), INK, 5)
    canvas.text(f"${s.dollars}", 75, 232, 21, GOLD, BOLD, "middle")
    for i, (name, value) in enumerate((("ante", f"{s.ante} / 8"), ("round", str(s.round_number)))):
        canvas.fill(Box(10 + 67 * i, 248, 63, 34), INK, 5)
        canvas.text(name, 41 + 67 * i, 259, 8, GREY, align="middle")
        canvas.text(value, 41 + 67 * i, 276, 14, ORANGE, BOLD, "middle")
    canvas.paragraph(caption, Box(8, 288, 134, 34), 9, WHITE)
    if about:
        canvas.fitted(about, Box(10, 319, 130, 10), 8, GOLD)
    if named:
        canvas.text(run_name(s), 10, 340, 8, GREY)
        canvas.text(f"seed {seed_of(s)}", 10, 352, 8, GREY)


def hand_value(s: Any) -> tuple[str, str, str] | None:
    """Return name, chips and mult of the selected poker hand, or of the last one played."""
    made = int(selected_hand(s))
    hand = made - 1 if made else int(s.last_hand)
    if hand < 0:
        return None
    row, level = HANDS[hand], int(s.levels[hand])
    name = f"{row.name}  lvl {level}"
    if not made:
        return name, number(float(s.score_chips)), number(float(s.score_mult))
    chips, mult = row.chips + (level - 1) * row.chips_per_level, row.mult + (level - 1) * row.mult_per_level
    return name, number(float(chips)), number(float(mult))


def draw_hand_value(canvas: Canvas, name: str, chips: str, mult: str) -> None:
    """Draw a poker hand as chips times mult."""
    canvas.fitted(name, Box(10, 106, 130, 14), 10, WHITE, BOLD)
    for i, (text, colour) in enumerate(((chips, BLUE), (mult, RED))):
        box = Box(10 + 70 * i, 124, 60, 26)
        canvas.fill(box, colour, 5)
        canvas.fitted(text, box.inset(3), 15, WHITE, BOLD)
    canvas.text("x", 75, 142, 13, WHITE, BOLD, "middle")


def blind_colour(blind: int) -> Colour:
    """Return a distinct colour for each blind."""
    if blind <= 2:
        return (BLUE, ORANGE)[blind - 1] if blind else GREY
    return hue(blind * 0.137, 0.62, 0.66)


def hue(turn: float, saturation: float, value: float) -> Colour:
    """Return the colour at a position of the colour wheel."""
    red, green, blue = colorsys.hsv_to_rgb(turn % 1.0, saturation, value)
    return round(red * 255), round(green * 255), round(blue * 255)


def places(box: Box, n: int, width: float, at_most: float) -> list[float]:
    """Return the left edges of n cards in a box: side by side, or evenly overlapping if needed."""
    step = min(at_most, (box.w - width) / max(1, n - 1))
    left = box.x + (box.w - (step * (n - 1) + width)) / 2
    return [left + step * i for i in range(n)]


def draw_owned(canvas: Canvas, s: Any) -> None:
    """Draw the top row: jokers, consumables, vouchers and tags."""
    jokers, held = Box(TOP.x, TOP.y, 330, TOP.h), Box(TOP.x + 338, TOP.y, 136, TOP.h)
    for box, count, slots in ((jokers, s.n_jokers, s.joker_slots), (held, s.n_consumables, s.consumable_slots)):
        canvas.fill(box, SLOT, 6)
        canvas.text(f"{count}/{slots}", box.right - 4, box.bottom - 3, 8, GREY, align="right")
    order = range(s.n_jokers)
    if jokers_hidden(s):
        order = sorted(order, key=lambda i: int(s.jokers[i].id))  # type: ignore[assignment]
    inner = Box(jokers.x + 4, jokers.y, jokers.w - 8, jokers.h)
    for i, x in zip(order, places(inner, int(s.n_jokers), CARD_W, CARD_W + 6), strict=True):
        draw_item(canvas, s.jokers[i], Box(x, TOP.y + 4, CARD_W, CARD_H))
    inner = Box(held.x + 4, held.y, held.w - 8, held.h)
    for i, x in enumerate(places(inner, int(s.n_consumables), CARD_W, CARD_W + 6)):
        draw_item(canvas, s.consumables[i], Box(x, TOP.y + 4, CARD_W, CARD_H))


def draw_item(canvas: Canvas, item: Any, box: Box, price: int | None = None) -> None:
    """Draw a joker, consumable or playing card outside the hand, with its price above."""
    if item.kind == Kind.PLAYING_CARD:
        draw_card(canvas, item, box)
    elif item.kind == Kind.JOKER:
        draw_joker(canvas, item, box)
    elif item.kind == Kind.CONSUMABLE:
        row = CONSUMABLES[item.id]
        colour = SET_COLOURS[row.set]
        canvas.frame(box, EDITION_COLOURS[item.edition] if item.edition else colour, 2, 4, WHITE)
        draw_emblem(canvas, Box(box.x + 3, box.y + 3, box.w - 6, box.h * 0.46), int(item.id) + 7, colour)
        canvas.paragraph(row.name, Box(box.x + 3, box.y + box.h * 0.52, box.w - 6, box.h * 0.46), 8.5, INK, BOLD)
    if price is not None:
        draw_price(canvas, box, price)


def draw_joker(canvas: Canvas, item: Any, box: Box) -> None:
    """Draw a joker: border by rarity or edition, name, accumulated value, stickers and debuff."""
    row = JOKERS[item.id]
    border = EDITION_COLOURS[item.edition] if item.edition else RARITY_COLOURS[row.rarity]
    canvas.frame(box, border, 2.5, 4, WHITE)
    draw_emblem(
        canvas, Box(box.x + 3, box.y + 3, box.w - 6, box.h * 0.42), int(item.id), hue(item.id * 0.0931, 0.5, 0.75)
    )
    canvas.paragraph(row.name, Box(box.x + 3, box.y + box.h * 0.48, box.w - 6, box.h * 0.4), 8.5, INK, BOLD)
    if item.value:
        canvas.text(f"{item.value:g}", box.right - 4, box.bottom - 4, 8, RED, BOLD, "right")
    if item.edition:
        canvas.text(EDITIONS[item.edition].key[:4], box.x + 4, box.bottom - 4, 7, PURPLE)
    for bit, colour in ((1, GREEN), (2, BLUE), (4, GOLD)):
        if item.stickers & bit:
            canvas.disc(box.right - 6, box.y + 2 + 4 * bit, 3.5, colour)
    if item.debuffed:
        draw_debuff(canvas, box)


def draw_emblem(canvas: Canvas, box: Box, number: int, colour: Colour) -> None:
    """Draw an abstract emblem derived from this number: a band with discs and lines."""
    canvas.fill(box, colour, 3)
    light: Colour = (min(255, colour[0] + 60), min(255, colour[1] + 60), min(255, colour[2] + 60))
    x, y, r = box.x + box.w / 2, box.y + box.h / 2, box.h / 2
    for k in range(3):
        bits = (number * 2654435761 >> (5 * k)) & 31
        size = r * (0.55 - 0.14 * k)
        dx, dy = (bits % 8 / 3.5 - 1) * (box.w / 2 - size), (bits // 8 / 1.5 - 1) * (r - size)
        canvas.disc(x + dx, y + dy, size, (light, WHITE, INK)[k])


def draw_price(canvas: Canvas, box: Box, price: int) -> None:
    """Draw a price tag above a card."""
    tag = Box(box.x + box.w / 2 - 15, box.y - 13, 30, 14)
    canvas.fill(tag, PANEL, 4)
    canvas.text(f"${price}", tag.x + 15, tag.y + 11, 10, GOLD, BOLD, "middle")


def draw_debuff(canvas: Canvas, box: Box) -> None:
    """Draw a cross over a debuffed card."""
    canvas.shade(box, 0.35)
    canvas.line(box.x + 5, box.y + 5, box.right - 5, box.bottom - 5, RED, 2.5)
    canvas.line(box.right - 5, box.y + 5, box.x + 5, box.bottom - 5, RED, 2.5)


def draw_card(canvas: Canvas, card: Any, box: Box) -> None:
    """Draw a playing card: rank, suit, enhancement, edition, seal; or its back if face down."""
    fields = card.dtype.names
    if "face_down" in fields and card.face_down:
        canvas.frame(box, WHITE, 3, 5, RED)
        for k in range(1, 4):
            canvas.line(box.x + 6, box.y + k * box.h / 4, box.right - 6, box.y + k * box.h / 4, WHITE, 1.5)
        return
    border = EDITION_COLOURS[card.edition] if card.edition else INK
    canvas.frame(box, border, 2 if card.edition else 1, 5, ENHANCEMENT_COLOURS[card.enhancement])
    if card.enhancement == 6:
        canvas.fitted("Stone", box, 12, INK, BOLD)
    else:
        colour, suit = SUIT_COLOURS[card.suit], SUITS[card.suit]
        rank = RANK_LETTERS[card.rank].replace("T", "10")
        canvas.text(rank, box.x + 5, box.y + 18, 17, colour, BOLD)
        canvas.text(suit, box.x + 5, box.y + 33, 14, colour)
        canvas.text(suit, box.x + box.w * 0.62, box.y + box.h * 0.68, 26, colour, align="middle")
        if card.enhancement:
            name = ENHANCEMENTS[card.enhancement].name.removesuffix(" Card")
            canvas.fitted(name, Box(box.x + 3, box.bottom - 12, box.w - 6, 10), 8, INK, BOLD)
    if card.edition:
        canvas.text(EDITIONS[card.edition].key[:4], box.x + 4, box.y + box.h * 0.62, 7, PURPLE)
    if card.seal:
        canvas.disc(box.right - 9, box.y + 10, 5.5, SEAL_COLOURS.get(SEALS[card.seal].key, GREY))
    if "debuffed" in fields and card.debuffed:
        draw_debuff(canvas, box)


def draw_hand(canvas: Canvas, s: Any, box: Box) -> None:
    """Draw the hand, with selected cards raised."""
    for i, x in enumerate(places(box, int(s.n_hand), CARD_W, CARD_W + 5)):
        raised = 14 if (int(s.selected) >> i) & 1 else 0
        draw_card(canvas, s.cards[s.hand[i]], Box(x, box.y + 20 - raised, CARD_W, CARD_H))
    canvas.text(f"hand {s.n_hand}/{hand_limit(s)}", box.x, box.bottom + 2, 8, GREY)


def draw_play(canvas: Canvas, s: Any, box: Box) -> None:
    """Draw the table during a round: the draw pile, and the poker hands by level."""
    unseen = int(np.count_nonzero(s.cards["place"][: s.n_cards] == Place.DECK))
    pile = Box(box.right - 56, box.y + box.h / 2 - 35, 44, 62)
    canvas.frame(pile, WHITE, 3, 5, RED)
    canvas.text(str(unseen), pile.x + 22, pile.y + 38, 18, WHITE, BOLD, "middle")
    canvas.text("to draw", pile.x + 22, pile.bottom + 10, 8, WHITE, align="middle")
    pitch = min(19.0, box.h / 6.6)
    for i, row in enumerate(HANDS):
        x, y = box.x + 14 + 196 * (i // 6), box.y + (box.h - 6 * pitch) / 2 + pitch * (0.7 + i % 6)
        level = int(s.levels[row.hand])
        shade = WHITE if s.plays[row.hand] or level > 1 else GREY
        canvas.text(row.name, x, y, 9.5, shade)
        canvas.text(f"lvl {level}", x + 128, y, 9.5, GOLD if level > 1 else shade, align="right")
        canvas.text(f"{s.plays[row.hand]}x", x + 158, y, 9.5, shade, align="right")


def draw_blinds(canvas: Canvas, s: Any, table: Box) -> None:
    """Draw the three blinds of the ante, with the next one in front."""
    for i, name in enumerate(("Small Blind", "Big Blind", BLINDS[s.boss].name)):
        box = Box(table.x + 8 + 158 * i, table.y + 8, 148, table.h - 18)
        blind = i + 1 if i < 2 else int(s.boss)
        now, done = i == s.blind_on_deck, i < s.blind_on_deck
        canvas.frame(box, GOLD if now else PANEL, 2.5, 6, PANEL)
        canvas.fill(Box(box.x + 8, box.y + 8, box.w - 16, 24), blind_colour(blind), 5)
        canvas.fitted(name, Box(box.x + 12, box.y + 8, box.w - 24, 24), 13, WHITE, BOLD)
        canvas.text("score at least", box.x + box.w / 2, box.y + 50, 9, GREY, align="middle")
        canvas.text(number(float(blind_target(s, blind))), box.x + box.w / 2, box.y + 72, 18, RED, BOLD, "middle")
        canvas.text(f"reward ${BLINDS[blind].reward}", box.x + box.w / 2, box.y + 92, 10, GOLD, align="middle")
        if i == 2:
            canvas.paragraph(BLINDS[blind].effect, Box(box.x + 10, box.y + 104, box.w - 20, box.h - 134), 10, WHITE)
        elif s.skip_tags[i]:
            y = box.y + 100 + (box.h - 130) * 0.3
            canvas.text("skip for", box.x + box.w / 2, y, 9, GREY, align="middle")
            canvas.fitted(TAGS[s.skip_tags[i]].name, Box(box.x + 8, y + 6, box.w - 16, 18), 11, WHITE, BOLD)
        if now:
            canvas.text("SELECT", box.x + box.w / 2, box.bottom - 14, 14, GOLD, BOLD, "middle")
        elif done:
            canvas.shade(box, 0.45)
            canvas.text("behind you", box.x + box.w / 2, box.bottom - 14, 11, GREY, align="middle")


def draw_shop(canvas: Canvas, s: Any, table: Box) -> None:
    """Draw the shop: cards above, vouchers, packs and the reroll below."""
    canvas.fill(table, PANEL, 6)
    canvas.text("SHOP", table.x + 12, table.y + 24, 16, RED, BOLD)
    canvas.text(f"reroll ${reroll_price(s)}", table.x + 12, table.y + 44, 11, GREEN, BOLD)
    upper, lower = table.h * 0.33, table.h * 0.36
    row = [item for item in s.row[: s.n_row] if item.kind != Kind.NONE]
    for item, x in zip(row, places(Box(table.x + 110, 0, 356, 0), len(row), 62, 76), strict=True):
        draw_item(canvas, item, Box(x, table.y + 20, 62, upper), int(shop_price(item)))
    wares = [("voucher", int(v)) for v in s.shop_vouchers[: s.n_shop_vouchers] if v]
    wares += [("pack", i) for i in range(len(s.packs)) if s.packs[i] >= 0]
    for (kind, which), x in zip(wares, places(Box(table.x + 8, 0, table.w - 16, 0), len(wares), 78, 100), strict=True):
        box = Box(x, table.bottom - lower - 10, 78, lower)
        if kind == "voucher":
            draw_offer(canvas, box, VOUCHERS[which].name, "voucher", ORANGE, int(voucher_price(s, which)))
        else:
            pack = PACKS[s.packs[which]]
            about = f"{pack.choose} of {pack.size}"
            draw_offer(canvas, box, pack.name, about, PACK_COLOURS[pack.kind], int(pack_price(s, which)))
    if not row and not wares:
        canvas.text("sold out", table.x + table.w / 2, table.y + table.h / 2, 14, GREY, align="middle")


def draw_offer(canvas: Canvas, box: Box, name: str, about: str, colour: Colour, price: int) -> None:
    """Draw a voucher or a pack for sale."""
    canvas.frame(box, WHITE, 2, 5, colour)
    canvas.paragraph(name, Box(box.x + 5, box.y + 14, box.w - 10, box.h * 0.5), 11, WHITE, BOLD)
    canvas.text(about, box.x + box.w / 2, box.bottom - 9, 9, WHITE, align="middle")
    draw_price(canvas, box, price)


def draw_pack(canvas: Canvas, s: Any, box: Box) -> None:
    """Draw the cards of the open pack."""
    canvas.fill(box, PANEL, 6)
    canvas.text(PACKS[s.pack_id].name, box.x + 12, box.y + 22, 14, WHITE, BOLD)
    canvas.text(f"take {s.picks_left}", box.right - 12, box.y + 22, 12, GOLD, BOLD, "right")
    inner = Box(box.x + 8, 0, box.w - 16, 0)
    for item, x in zip(s.pack[: s.n_pack], places(inner, int(s.n_pack), 66, 84), strict=True):
        draw_item(canvas, item, Box(x, box.y + 30, 66, min(92.0, box.h - 36)))


def draw_banner(canvas: Canvas, box: Box, text: str, below: str, colour: Colour) -> None:
    """Draw a large word across the table."""
    canvas.fill(box, PANEL, 8)
    middle = box.y + box.h / 2
    canvas.text(text, box.x + box.w / 2, middle + 7, 40, colour, BOLD, "middle")
    canvas.text(below, box.x + box.w / 2, middle + 37, 14, WHITE, align="middle")
