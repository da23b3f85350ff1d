"""The 24 tags: gained by skipping blinds, each acts once at its own moment, the oldest first."""

from ante.catalog.cards import Edition
from ante.catalog.packs import by_key as pack_number
from ante.catalog.tags import Tag
from ante.engine.create import Source, create_joker, make_joker, price, room_for_joker
from ante.engine.pools import draw_boss, draw_voucher
from ante.engine.rng import Stream
from ante.engine.rule import rule
from ante.engine.state import FREE, MAX_SHOP_VOUCHERS, MAX_TAGS, Kind

MEGA_ARCANA = pack_number["p_arcana_mega_1"]
MEGA_CELESTIAL = pack_number["p_celestial_mega_1"]
MEGA_STANDARD = pack_number["p_standard_mega_1"]
MEGA_BUFFOON = pack_number["p_buffoon_mega_1"]
SPECTRAL = pack_number["p_spectral_normal_1"]
PACK_DIGIT = 33  # queued_packs is written in this base, a digit is pack number + 1
ECONOMY_CAP = 40
ORBITAL_LEVELS = 3
JUGGLE_CARDS = 3
INVESTMENT_DOLLARS = 25
SKIP_DOLLARS = 5


@rule
def find_tag(s, tag):
    """Place of the oldest held tag of a kind, -1 where none is held."""
    for i in range(s.n_tags):
        if s.tags[i] == tag:
            return i
    return -1


@rule
def remove_tag(s, place):
    """The tag at this place is used up."""
    for i in range(place, int(s.n_tags) - 1):
        s.tags[i] = s.tags[i + 1]
        s.tag_hands[i] = s.tag_hands[i + 1]
    s.n_tags -= 1
    s.tags[s.n_tags] = 0
    s.tag_hands[s.n_tags] = 0


@rule
def take_tag(s, tag):
    """Use up the oldest held tag of a kind. Answers whether there was one."""
    place = find_tag(s, tag)
    if place >= 0:
        remove_tag(s, place)
    return place >= 0


@rule
def hold_tag(s, tag, hand):
    """The tag is held, the newest of all; a 25th tag finds no place."""
    if s.n_tags < MAX_TAGS:
        s.tags[s.n_tags] = tag
        s.tag_hands[s.n_tags] = hand
        s.n_tags += 1


@rule
def gain_tag(s, tag, hand):
    """A tag is gained; held Double Tags copy it, and what acts at once acts.

    hand  the hand an Orbital Tag raises, -1 for others
    """
    copies = 1
    if tag != Tag.DOUBLE:
        while take_tag(s, int(Tag.DOUBLE)):
            copies += 1
    for _ in range(copies):
        if not acts_at_once(s, tag, hand):
            hold_tag(s, tag, hand)


@rule
def acts_at_once(s, tag, hand):
    """Carry out an immediate tag. Answers whether it was one."""
    if tag == Tag.HANDY:
        s.dollars += s.hands_played_run
    elif tag == Tag.GARBAGE:
        s.dollars += s.unused_discards_run
    elif tag == Tag.SKIP:
        s.dollars += SKIP_DOLLARS * s.blinds_skipped
    elif tag == Tag.ECONOMY:
        s.dollars += min(ECONOMY_CAP, max(0, int(s.dollars)))
    elif tag == Tag.ORBITAL:
        s.levels[max(0, hand)] += ORBITAL_LEVELS
    elif tag == Tag.TOP_UP:
        for _ in range(2):
            if room_for_joker(s):
                create_joker(s, int(Source.TOP))
    else:
        return False
    return True


@rule
def pack_of_tag(tag):
    """The pack a tag opens, -1 for other tags."""
    if tag == Tag.CHARM:
        return MEGA_ARCANA
    if tag == Tag.METEOR:
        return MEGA_CELESTIAL
    if tag == Tag.STANDARD:
        return MEGA_STANDARD
    if tag == Tag.BUFFOON:
        return MEGA_BUFFOON
    return SPECTRAL if tag == Tag.ETHEREAL else -1


@rule
def tags_at_blind_select(s):
    """Boss Tags draw another boss, which uses up Director's Cut; the oldest pack tag puts its pack into s.queued_packs."""
    while take_tag(s, int(Tag.BOSS)):
        s.boss = draw_boss(s)
        s.boss_rerolled = 1
    if s.queued_packs:
        return
    for i in range(s.n_tags):
        pack = pack_of_tag(int(s.tags[i]))
        if pack >= 0:
            s.queued_packs = pack + 1
            remove_tag(s, i)
            return


@rule
def tags_at_round_start(s):
    """Each Juggle Tag lends three cards of hand size for this round."""
    while take_tag(s, int(Tag.JUGGLE)):
        s.round_hand_size += JUGGLE_CARDS
        s.lineup_stale = 1


@rule
def tags_at_cash_out(s):
    """Dollars that Investment Tags pay now that a boss is beaten; they are used up."""
    dollars = 0
    while take_tag(s, int(Tag.INVESTMENT)):
        dollars += INVESTMENT_DOLLARS
    return dollars


@rule
def tag_makes_row_card(s):
    """A held Uncommon or Rare Tag makes the next card of the row, free of charge. Answers whether s.made is that card."""
    for i in range(s.n_tags):
        tag = s.tags[i]
        if tag == Tag.UNCOMMON or tag == Tag.RARE:
            remove_tag(s, i)
            make_joker(s, int(Source.UTA) if tag == Tag.UNCOMMON else int(Source.RTA), True, False)
            s.made.stickers |= FREE
            return True
    return False


@rule
def edition_of_tag(tag):
    """The edition a tag gives to a shop joker, 0 for other tags."""
    if tag == Tag.FOIL:
        return int(Edition.FOIL)
    if tag == Tag.HOLO:
        return int(Edition.HOLO)
    if tag == Tag.POLYCHROME:
        return int(Edition.POLYCHROME)
    return int(Edition.NEGATIVE) if tag == Tag.NEGATIVE else 0


@rule
def tag_gives_edition(s):
    """The oldest held edition tag turns an editionless joker in s.made into one of its edition, free of charge."""
    if s.made.kind != Kind.JOKER or s.made.edition:
        return
    for i in range(s.n_tags):
        edition = edition_of_tag(int(s.tags[i]))
        if edition:
            remove_tag(s, i)
            s.made.edition = edition
            price(s, s.made)
            s.made.stickers |= FREE
            return


@rule
def tags_add_vouchers(s):
    """Each Voucher Tag puts one more voucher on display, as far as there is room."""
    while s.n_shop_vouchers < MAX_SHOP_VOUCHERS and take_tag(s, int(Tag.VOUCHER)):
        voucher = draw_voucher(s, Stream.VOUCHER_FROMTAG)
        s.shop_vouchers[s.n_shop_vouchers] = voucher
        s.n_shop_vouchers += 1
