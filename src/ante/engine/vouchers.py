"""What redeeming a voucher changes at once; the rest of the rules asks `s.vouchers` when it needs to know."""

from ante.catalog.vouchers import Voucher
from ante.engine.create import reprice_all
from ante.engine.rule import rule
from ante.engine.shop import fill_row


@rule
def redeem(s, voucher):
    """The voucher is redeemed."""
    s.vouchers[voucher] = 1
    s.lineup_stale = 1
    if voucher == Voucher.OVERSTOCK_NORM or voucher == Voucher.OVERSTOCK_PLUS:
        fill_row(s)
    elif voucher == Voucher.CLEARANCE_SALE or voucher == Voucher.LIQUIDATION:
        reprice_all(s)
    elif voucher == Voucher.CRYSTAL_BALL:
        s.consumable_slots += 1
    elif voucher == Voucher.GRABBER or voucher == Voucher.NACHO_TONG:
        s.hands_each_round += 1
    elif voucher == Voucher.WASTEFUL or voucher == Voucher.RECYCLOMANCY:
        s.discards_each_round += 1
    elif voucher == Voucher.ANTIMATTER:
        s.joker_slots += 1
    elif voucher == Voucher.PAINT_BRUSH or voucher == Voucher.PALETTE:
        s.base_hand_size += 1
    elif voucher == Voucher.HIEROGLYPH:
        s.ante -= 1
        s.hands_each_round -= 1
    elif voucher == Voucher.PETROGLYPH:
        s.ante -= 1
        s.discards_each_round -= 1
