"""The effects of tags: a comment with the tag's text, then its function.

Tags are gained by skipping blinds; each acts once, the oldest first.
"""

from ante.catalog.tags import Tag
from ante.engine.core.rng import Stream
from ante.engine.core.rule import rule
from ante.engine.core.state import FREE, MAX_SHOP_VOUCHERS, MAX_TAGS, Kind, Table
from ante.engine.core.tables import (
    TAG_CAP,
    TAG_DOLLARS,
    TAG_EDITION,
    TAG_HAND_SIZE,
    TAG_JOKERS,
    TAG_LEVELS,
    TAG_PACK,
    TAG_REROLL_COST,
)
from ante.engine.effects.moments import effect_of
from ante.engine.items.making import make_joker
from ante.engine.items.owned import create_joker, room_for_joker
from ante.engine.items.pools import draw_boss, draw_voucher
from ante.engine.items.prices import price
from ante.engine.items.sources import JokerSource

# Held tags.


@rule
def find_tag(s, tag):
    """Return the index of the oldest held tag of a kind, or -1 if none is held."""
    for i in range(s.n_tags):
        if s.tags[i] == tag:
            return i
    return -1


@rule
def remove_tag(s, place):
    """Remove the tag at this index."""
    for i in range(place, int(s.n_tags) - 1):
        s.tags[i] = s.tags[i + 1]
        s.tag_hands[i] = s.tag_hands[i + 1]
    s.n_tags -= 1
    s.tags[s.n_tags] = 0
    s.tag_hands[s.n_tags] = 0


@rule
def take_tag(s, tag):
    """Use the oldest held tag of a kind. Returns whether there was one."""
    place = find_tag(s, tag)
    if place >= 0:
        remove_tag(s, place)
    return place >= 0


@rule
def hold_tag(s, tag, hand):
    """Add a tag as the newest one. If the table is full, it is lost and `s.overflows` counts it."""
    if s.n_tags >= MAX_TAGS:
        s.overflows[Table.TAGS] += 1
        return
    s.tags[s.n_tags] = tag
    s.tag_hands[s.n_tags] = hand
    s.n_tags += 1


# Double Tag: duplicates the next tag gained (not Double).
@effect_of(Tag.DOUBLE)
def gain_tag(s, tag, hand):
    """Gain a tag, and one copy for each Double Tag held. It acts at once or is held.

    hand  the hand of an Orbital Tag, -1 for others
    """
    copies = 1
    if tag != Tag.DOUBLE:
        while take_tag(s, int(Tag.DOUBLE)):
            copies += 1
    for _ in range(copies):
        if not acts_at_once(s, tag, hand):
            hold_tag(s, tag, hand)


@effect_of(Tag.HANDY, Tag.GARBAGE, Tag.SKIP, Tag.ECONOMY, Tag.ORBITAL, Tag.TOP_UP)
def acts_at_once(s, tag, hand):
    """Apply an immediate tag. Returns whether it was one."""
    # Handy, Garbage and Speed Tag: money for each hand played, discard unused, or blind skipped in the run.
    if tag == Tag.HANDY:
        s.dollars += TAG_DOLLARS[tag] * int(s.hands_played_run)
    elif tag == Tag.GARBAGE:
        s.dollars += TAG_DOLLARS[tag] * int(s.unused_discards_run)
    elif tag == Tag.SKIP:
        s.dollars += TAG_DOLLARS[tag] * int(s.blinds_skipped)
    # Economy Tag: doubles money, up to a cap.
    elif tag == Tag.ECONOMY:
        s.dollars += min(TAG_CAP[tag], max(0, int(s.dollars)))
    # Orbital Tag: raises the level of the listed poker hand.
    elif tag == Tag.ORBITAL:
        s.levels[max(0, hand)] += TAG_LEVELS[tag]
    # Top-up Tag: creates Common jokers (needs room).
    elif tag == Tag.TOP_UP:
        for _ in range(TAG_JOKERS[tag]):
            if room_for_joker(s):
                create_joker(s, int(JokerSource.TOP))
    else:
        return False
    return True


# Boss Tag: rerolls the boss, which uses up Director's Cut.
@effect_of(Tag.BOSS)
def tags_reroll_boss(s):
    """Draw another boss for each Boss Tag."""
    while take_tag(s, int(Tag.BOSS)):
        s.boss = draw_boss(s)
        s.boss_rerolled = 1


# Standard, Charm, Meteor, Buffoon and Ethereal Tag: open a free pack before the blind is chosen.
@effect_of(Tag.STANDARD, Tag.CHARM, Tag.METEOR, Tag.BUFFOON, Tag.ETHEREAL)
def tag_queues_pack(s):
    """Put the pack of the oldest such tag into s.queued_pack, unless it already contains one."""
    if s.queued_pack:
        return
    for i in range(s.n_tags):
        pack = int(TAG_PACK[s.tags[i]])
        if pack >= 0:
            s.queued_pack = pack + 1
            remove_tag(s, i)
            return


# Juggle Tag: a larger hand in the next round.
@effect_of(Tag.JUGGLE)
def tags_raise_hand_size(s):
    """Add to the hand size of this round for each Juggle Tag."""
    while take_tag(s, int(Tag.JUGGLE)):
        s.round_hand_size += TAG_HAND_SIZE[Tag.JUGGLE]
        s.lineup_stale = 1


# Investment Tag: money after the next boss is beaten.
@effect_of(Tag.INVESTMENT)
def tags_at_cash_out(s):
    """Return the dollars that all Investment Tags pay."""
    dollars = 0
    while take_tag(s, int(Tag.INVESTMENT)):
        dollars += TAG_DOLLARS[Tag.INVESTMENT]
    return dollars


# D6 Tag: rerolls start at a lower price in the next shop.
@effect_of(Tag.D_SIX)
def tag_lowers_rerolls(s):
    """Set the price of the first reroll."""
    if take_tag(s, int(Tag.D_SIX)):
        s.reroll_base = TAG_REROLL_COST[Tag.D_SIX]


# Uncommon Tag, Rare Tag: the next shop has a free joker of that rarity.
@effect_of(Tag.UNCOMMON, Tag.RARE)
def tag_makes_row_card(s):
    """Make the next card of the shop row for the oldest such tag. Returns whether s.made is that card."""
    for i in range(s.n_tags):
        tag = s.tags[i]
        if tag == Tag.UNCOMMON or tag == Tag.RARE:
            remove_tag(s, i)
            make_joker(s, int(JokerSource.UTA) if tag == Tag.UNCOMMON else int(JokerSource.RTA), True, False)
            s.made.stickers |= FREE
            return True
    return False


# Negative, Foil, Holographic and Polychrome Tag: the next editionless joker in a shop is free and has that edition.
@effect_of(Tag.NEGATIVE, Tag.FOIL, Tag.HOLO, Tag.POLYCHROME)
def tag_gives_edition(s):
    """Give the edition of the oldest such tag to a joker without an edition in s.made."""
    if s.made.kind != Kind.JOKER or s.made.edition:
        return
    for i in range(s.n_tags):
        edition = int(TAG_EDITION[s.tags[i]])
        if edition:
            remove_tag(s, i)
            s.made.edition = edition
            price(s, s.made)
            s.made.stickers |= FREE
            return


# Voucher Tag: adds a voucher to the next shop.
@effect_of(Tag.VOUCHER)
def tags_add_vouchers(s):
    """Add one voucher to the shop for each. Those that do not fit stay held, and `s.overflows` counts them."""
    while s.n_shop_vouchers < MAX_SHOP_VOUCHERS and take_tag(s, int(Tag.VOUCHER)):
        voucher = draw_voucher(s, Stream.VOUCHER_FROMTAG)
        s.shop_vouchers[s.n_shop_vouchers] = voucher
        s.n_shop_vouchers += 1
    if find_tag(s, int(Tag.VOUCHER)) >= 0:
        s.overflows[Table.VOUCHERS] += 1


# Coupon Tag: the first cards and the packs of the next shop are free.
@effect_of(Tag.COUPON)
def tag_frees_shop(s):
    """Make the cards and packs free."""
    if take_tag(s, int(Tag.COUPON)):
        s.couponed = 1
        for i in range(s.n_row):
            s.row[i].stickers |= FREE
