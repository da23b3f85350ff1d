"""Buy and sell prices of items."""

from ante.catalog.cards import Sticker
from ante.catalog.challenges import INFLATION_DOLLARS, Modifier
from ante.catalog.constants import PLAYING_CARD_COST, RENTAL_BUY_PRICE
from ante.catalog.consumables import Set
from ante.catalog.shop import LOWEST_PRICE, SELL_DIVISOR
from ante.engine.core.rule import rule
from ante.engine.core.state import FREE, Kind, Rule
from ante.engine.core.tables import C_COST, C_SET, EDITION_COST, J_COST
from ante.engine.items.vouchers import percent_off


@rule
def discounted(s, base):
    """Return a base price with inflation and the discount of vouchers, never below $1."""
    return max(LOWEST_PRICE, int((base + s.inflation + 0.5) * (100 - percent_off(s)) / 100))


@rule
def price(s, item):
    """Set the item's current price."""
    if item.kind == Kind.JOKER:
        base = J_COST[item.id]
    elif item.kind == Kind.CONSUMABLE:
        base = C_COST[item.id]
    else:
        base = PLAYING_CARD_COST
    item.cost = discounted(s, int(base + EDITION_COST[item.edition]))
    if item.stickers & Sticker.RENTAL:
        item.cost = RENTAL_BUY_PRICE
    if item.kind == Kind.CONSUMABLE and C_SET[item.id] == Set.PLANET and s.rules & Rule.ASTRONOMER:
        item.cost = 0


@rule
def reprice_all(s):
    """Update the prices of all items owned and on sale; items that a tag made free stay free."""
    for i in range(s.n_jokers):
        price(s, s.jokers[i])
    for i in range(s.n_consumables):
        price(s, s.consumables[i])
    for i in range(s.n_row):
        price(s, s.row[i])


@rule
def inflate(s):
    """Raise every price by $1 with inflation; called after a purchase, an opened pack or a redeemed voucher."""
    if s.modifiers & Modifier.INFLATION:
        s.inflation += INFLATION_DOLLARS
        reprice_all(s)


@rule
def shop_price(item):
    """Return the price of a card of the shop row."""
    return 0 if item.stickers & FREE else int(item.cost)


@rule
def sell_value(item):
    """Return the sell value of an item."""
    return max(LOWEST_PRICE, int(item.cost) // SELL_DIVISOR) + int(item.extra_sell)
