"""Lock numbers: one for each item that a profile can have locked or a challenge can ban."""

from collections.abc import Mapping

from ante.catalog.blinds import BLINDS
from ante.catalog.consumables import CONSUMABLES
from ante.catalog.jokers import JOKERS
from ante.catalog.packs import PACKS
from ante.catalog.tags import TAGS
from ante.catalog.vouchers import VOUCHERS

# First number of each kind: Joker, Consumable, Voucher, Tag and Blind number, and index in PACKS.
JOKER_LOCKS = 0
CONSUMABLE_LOCKS = JOKER_LOCKS + len(JOKERS)
VOUCHER_LOCKS = CONSUMABLE_LOCKS + len(CONSUMABLES)
TAG_LOCKS = VOUCHER_LOCKS + len(VOUCHERS)
BLIND_LOCKS = TAG_LOCKS + len(TAGS)
PACK_LOCKS = BLIND_LOCKS + len(BLINDS)
N_LOCKS = PACK_LOCKS + len(PACKS)

LOCKS: Mapping[str, int] = {
    **{row.key: JOKER_LOCKS + int(row.joker) for row in JOKERS[1:]},
    **{row.key: CONSUMABLE_LOCKS + int(row.consumable) for row in CONSUMABLES[1:]},
    **{row.key: VOUCHER_LOCKS + int(row.voucher) for row in VOUCHERS[1:]},
    **{row.key: TAG_LOCKS + int(row.tag) for row in TAGS[1:]},
    **{row.key: BLIND_LOCKS + int(row.blind) for row in BLINDS[1:]},
    **{row.key: PACK_LOCKS + place for place, row in enumerate(PACKS)},
}
"""Lock numbers by key."""

LEGENDARY = 4
FRESH: tuple[str, ...] = (
    *(row.key for row in JOKERS[1:] if not row.unlocked_at_start and row.rarity != LEGENDARY),
    *(row.key for row in VOUCHERS[1:] if not row.unlocked_at_start),
    *(row.key for row in TAGS[1:] if row.requires_discovered),
)
"""Keys that a new profile has locked: jokers and vouchers not yet unlocked, tags whose item is not discovered."""
