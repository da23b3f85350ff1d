"""Items and cards as text: `j_joker/foil+E+R`, `S_A:m_glass/holo=Red+h5`."""

from typing import Any

from ante.catalog.cards import EDITIONS, ENHANCEMENTS, RANK_LETTERS, SEALS, SUIT_LETTERS, Sticker
from ante.catalog.consumables import CONSUMABLES
from ante.catalog.jokers import JOKERS
from ante.engine.core.state import Kind

STICKERS = (
    (Sticker.ETERNAL, "+E"),
    (Sticker.PERISHABLE, "+P"),
    (Sticker.RENTAL, "+R"),
    (Sticker.PINNED, "+Pinned"),
)


def front_text(card: Any) -> str:
    """Return suit and rank of a playing card, as in `S_A`."""
    return f"{SUIT_LETTERS[card.suit]}_{RANK_LETTERS[card.rank]}"


def card_text(card: Any) -> str:
    """Return a playing card as text: suit and rank, enhancement, edition, seal and Hiker's chips."""
    text = front_text(card)
    if card.enhancement:
        text += f":{ENHANCEMENTS[card.enhancement].key}"
    if card.edition:
        text += f"/{EDITIONS[card.edition].key}"
    if card.seal:
        text += f"={SEALS[card.seal].key}"
    if "bonus" in card.dtype.names and card.bonus:
        text += f"+h{card.bonus}"
    return text


def item_text(item: Any) -> str:
    """Return a joker or consumable as text (key, edition and stickers), or a playing card."""
    if item.kind == Kind.PLAYING_CARD:
        return card_text(item)
    text = JOKERS[item.id].key if item.kind == Kind.JOKER else CONSUMABLES[item.id].key
    if item.edition:
        text += f"/{EDITIONS[item.edition].key}"
    return text + "".join(letter for bit, letter in STICKERS if item.stickers & bit)
