"""Dispatchers of joker effects, by moment. Written by tools/write_dispatch.py; do not edit.

`<moment>(s, me, joker, card)` runs one joker's effect; `fire_<moment>(s, card)` runs the line-up, left to right.
"""

from ante.catalog.jokers import Joker
from ante.engine.core.rule import rule
from ante.engine.core.state import MAX_JOKERS
from ante.engine.effects.moments import moments_of
from ante.engine.jokers import (
    consumables,
    deck,
    faces,
    growing,
    money,
    other_jokers,
    poker_hands,
    ranks,
    rounds,
    suits,
)
from ante.engine.jokers.copying import resolve, working

ACTS_AT = moments_of(Joker)
MAY_ACT_AT = ACTS_AT.copy()
MAY_ACT_AT[[Joker.BLUEPRINT, Joker.BRAINSTORM]] = -1  # like any other joker


@rule
def lineup_moments(s):
    """Return the moments at which some joker of the line-up acts, debuffed or not, as bits 1 << Moment."""
    bits = 0
    for slot in range(s.n_jokers):
        bits |= ACTS_AT[s.jokers[slot].id]
    return bits


@rule
def while_held(s, me, joker, card):
    """WHILE_HELD: the joker's own effect, if it has one."""
    if not s.copying and joker == Joker.FOUR_FINGERS:
        poker_hands.four_fingers(s, me, joker, card)
    elif not s.copying and joker == Joker.CREDIT_CARD:
        money.credit_card(s, me, joker, card)
    elif not s.copying and joker == Joker.CHAOS:
        rounds.chaos(s, me, joker, card)
    elif not s.copying and joker == Joker.PAREIDOLIA:
        faces.pareidolia(s, me, joker, card)
    elif not s.copying and joker == Joker.SPLASH:
        poker_hands.splash(s, me, joker, card)
    elif not s.copying and joker == Joker.SHORTCUT:
        poker_hands.shortcut(s, me, joker, card)
    elif not s.copying and joker == Joker.TURTLE_BEAN:
        growing.turtle_bean(s, me, joker, card)
    elif not s.copying and (joker == Joker.JUGGLER or joker == Joker.DRUNKARD or joker == Joker.TROUBADOUR or joker == Joker.MERRY_ANDY):
        rounds.limits(s, me, joker, card)
    elif not s.copying and joker == Joker.SMEARED:
        suits.smeared(s, me, joker, card)
    elif not s.copying and joker == Joker.RING_MASTER:
        other_jokers.showman(s, me, joker, card)
    elif not s.copying and joker == Joker.OOPS:
        rounds.oops(s, me, joker, card)
    elif not s.copying and joker == Joker.STUNTMAN:
        rounds.stuntman_hand_size(s, me, joker, card)
    elif not s.copying and joker == Joker.ASTRONOMER:
        consumables.astronomer(s, me, joker, card)
    elif not s.copying and joker == Joker.CHICOT:
        rounds.chicot_arrives(s, me, joker, card)


@rule
def fire_while_held(s, card):
    """WHILE_HELD for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 1:
            continue
        me = working(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            while_held(s, me, int(s.jokers[me].id), card)


@rule
def blind_chosen(s, me, joker, card):
    """BLIND_CHOSEN: the joker's own effect, if it has one."""
    if not s.copying and joker == Joker.CEREMONIAL:
        growing.ceremonial(s, me, joker, card)
    elif joker == Joker.MARBLE:
        deck.marble(s, me, joker, card)
    elif joker == Joker.BURGLAR:
        rounds.burglar(s, me, joker, card)
    elif not s.copying and joker == Joker.MADNESS:
        growing.madness(s, me, joker, card)
    elif joker == Joker.RIFF_RAFF:
        other_jokers.riff_raff(s, me, joker, card)
    elif joker == Joker.CARTOMANCER:
        consumables.cartomancer(s, me, joker, card)
    elif not s.copying and joker == Joker.CHICOT:
        rounds.chicot(s, me, joker, card)


@rule
def fire_blind_chosen(s, card):
    """BLIND_CHOSEN for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 2:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            blind_chosen(s, me, int(s.jokers[me].id), card)


@rule
def first_hand_drawn(s, me, joker, card):
    """FIRST_HAND_DRAWN: the joker's own effect, if it has one."""
    if joker == Joker.CERTIFICATE:
        deck.certificate(s, me, joker, card)


@rule
def fire_first_hand_drawn(s, card):
    """FIRST_HAND_DRAWN for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 4:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            first_hand_drawn(s, me, int(s.jokers[me].id), card)


@rule
def hand_begins(s, me, joker, card):
    """HAND_BEGINS: the joker's own effect, if it has one."""
    if not s.copying and joker == Joker.RIDE_THE_BUS:
        growing.ride_the_bus(s, me, joker, card)
    elif joker == Joker.SPACE:
        poker_hands.space(s, me, joker, card)
    elif not s.copying and (joker == Joker.RUNNER or joker == Joker.TROUSERS):
        growing.grows_with_hand(s, me, joker, card)
    elif joker == Joker.DNA:
        poker_hands.dna(s, me, joker, card)
    elif not s.copying and joker == Joker.GREEN_JOKER:
        growing.green_grows(s, me, joker, card)
    elif joker == Joker.TODO_LIST:
        poker_hands.todo_list(s, me, joker, card)
    elif not s.copying and joker == Joker.SQUARE:
        growing.square(s, me, joker, card)
    elif not s.copying and joker == Joker.VAMPIRE:
        growing.vampire(s, me, joker, card)
    elif not s.copying and joker == Joker.OBELISK:
        growing.obelisk(s, me, joker, card)
    elif not s.copying and joker == Joker.MIDAS_MASK:
        faces.midas_mask(s, me, joker, card)


@rule
def fire_hand_begins(s, card):
    """HAND_BEGINS for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 8:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            hand_begins(s, me, int(s.jokers[me].id), card)


@rule
def card_scored(s, me, joker, card):
    """CARD_SCORED: the joker's own effect, if it has one."""
    if joker == Joker.GREEDY_JOKER or joker == Joker.LUSTY_JOKER or joker == Joker.WRATHFUL_JOKER or joker == Joker.GLUTTENOUS_JOKER or joker == Joker.ONYX_AGATE:
        suits.suit_mult(s, me, joker, card)
    elif joker == Joker.EIGHT_BALL:
        ranks.eight_ball(s, me, joker, card)
    elif joker == Joker.FIBONACCI or joker == Joker.EVEN_STEVEN:
        ranks.rank_mult(s, me, joker, card)
    elif joker == Joker.SCARY_FACE:
        faces.scary_face(s, me, joker, card)
    elif joker == Joker.ODD_TODD:
        ranks.rank_chips(s, me, joker, card)
    elif joker == Joker.SCHOLAR or joker == Joker.WALKIE_TALKIE:
        ranks.rank_chips_and_mult(s, me, joker, card)
    elif joker == Joker.BUSINESS:
        faces.business(s, me, joker, card)
    elif joker == Joker.HIKER:
        deck.hiker(s, me, joker, card)
    elif joker == Joker.PHOTOGRAPH:
        faces.photograph(s, me, joker, card)
    elif not s.copying and joker == Joker.LUCKY_CAT:
        growing.lucky_cat(s, me, joker, card)
    elif joker == Joker.ANCIENT:
        suits.ancient(s, me, joker, card)
    elif joker == Joker.SMILEY:
        faces.smiley(s, me, joker, card)
    elif joker == Joker.TICKET:
        deck.golden_ticket(s, me, joker, card)
    elif joker == Joker.ROUGH_GEM:
        suits.suit_dollars(s, me, joker, card)
    elif joker == Joker.BLOODSTONE:
        suits.bloodstone(s, me, joker, card)
    elif joker == Joker.ARROWHEAD:
        suits.suit_chips(s, me, joker, card)
    elif not s.copying and joker == Joker.WEE:
        growing.wee(s, me, joker, card)
    elif joker == Joker.IDOL:
        suits.idol(s, me, joker, card)
    elif joker == Joker.TRIBOULET:
        ranks.rank_factor(s, me, joker, card)


@rule
def fire_card_scored(s, card):
    """CARD_SCORED for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 16:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            card_scored(s, me, int(s.jokers[me].id), card)


@rule
def repeat_scored(s, me, joker, card):
    """REPEAT_SCORED: the joker's own effect, if it has one."""
    if joker == Joker.DUSK:
        rounds.dusk(s, me, joker, card)
    elif joker == Joker.HACK:
        ranks.hack(s, me, joker, card)
    elif joker == Joker.SELZER:
        growing.seltzer(s, me, joker, card)
    elif joker == Joker.SOCK_AND_BUSKIN:
        faces.sock_and_buskin(s, me, joker, card)
    elif joker == Joker.HANGING_CHAD:
        deck.hanging_chad(s, me, joker, card)


@rule
def fire_repeat_scored(s, card):
    """REPEAT_SCORED for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 32:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            repeat_scored(s, me, int(s.jokers[me].id), card)


@rule
def card_held(s, me, joker, card):
    """CARD_HELD: the joker's own effect, if it has one."""
    if joker == Joker.RAISED_FIST:
        ranks.raised_fist(s, me, joker, card)
    elif joker == Joker.BARON:
        ranks.rank_factor(s, me, joker, card)
    elif joker == Joker.RESERVED_PARKING:
        faces.reserved_parking(s, me, joker, card)
    elif joker == Joker.SHOOT_THE_MOON:
        ranks.held_rank_mult(s, me, joker, card)


@rule
def fire_card_held(s, card):
    """CARD_HELD for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 64:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            card_held(s, me, int(s.jokers[me].id), card)


@rule
def repeat_held(s, me, joker, card):
    """REPEAT_HELD: the joker's own effect, if it has one."""
    if joker == Joker.MIME:
        deck.mime(s, me, joker, card)


@rule
def fire_repeat_held(s, card):
    """REPEAT_HELD for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 128:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            repeat_held(s, me, int(s.jokers[me].id), card)


@rule
def joker_scored(s, me, joker, card):
    """JOKER_SCORED: the joker's own effect, if it has one."""
    if joker == Joker.JOKER or joker == Joker.GROS_MICHEL:
        rounds.plain_mult(s, me, joker, card)
    elif joker == Joker.JOLLY or joker == Joker.ZANY or joker == Joker.MAD or joker == Joker.CRAZY or joker == Joker.DROLL:
        poker_hands.hand_mult(s, me, joker, card)
    elif joker == Joker.SLY or joker == Joker.WILY or joker == Joker.CLEVER or joker == Joker.DEVIOUS or joker == Joker.CRAFTY:
        poker_hands.hand_chips(s, me, joker, card)
    elif joker == Joker.HALF:
        poker_hands.half(s, me, joker, card)
    elif joker == Joker.STENCIL:
        other_jokers.stencil(s, me, joker, card)
    elif joker == Joker.CEREMONIAL or joker == Joker.RIDE_THE_BUS or joker == Joker.GREEN_JOKER or joker == Joker.RED_CARD or joker == Joker.FLASH or joker == Joker.POPCORN or joker == Joker.TROUSERS:
        growing.shown_mult(s, me, joker, card)
    elif joker == Joker.BANNER:
        rounds.banner(s, me, joker, card)
    elif joker == Joker.MYSTIC_SUMMIT:
        rounds.mystic_summit(s, me, joker, card)
    elif joker == Joker.LOYALTY_CARD:
        growing.loyalty_card(s, me, joker, card)
    elif joker == Joker.MISPRINT:
        rounds.misprint(s, me, joker, card)
    elif joker == Joker.STEEL_JOKER:
        deck.steel_joker(s, me, joker, card)
    elif joker == Joker.ABSTRACT:
        other_jokers.abstract(s, me, joker, card)
    elif joker == Joker.SUPERNOVA:
        poker_hands.supernova(s, me, joker, card)
    elif joker == Joker.BLACKBOARD:
        suits.blackboard(s, me, joker, card)
    elif joker == Joker.RUNNER or joker == Joker.ICE_CREAM or joker == Joker.SQUARE or joker == Joker.CASTLE or joker == Joker.WEE:
        growing.shown_chips(s, me, joker, card)
    elif joker == Joker.BLUE_JOKER:
        deck.blue_joker(s, me, joker, card)
    elif joker == Joker.CONSTELLATION or joker == Joker.MADNESS or joker == Joker.VAMPIRE or joker == Joker.HOLOGRAM or joker == Joker.OBELISK or joker == Joker.LUCKY_CAT or joker == Joker.RAMEN or joker == Joker.CAMPFIRE or joker == Joker.GLASS or joker == Joker.HIT_THE_ROAD or joker == Joker.CAINO or joker == Joker.YORICK:
        growing.shown_factor(s, me, joker, card)
    elif joker == Joker.SUPERPOSITION:
        ranks.superposition(s, me, joker, card)
    elif joker == Joker.CAVENDISH:
        rounds.cavendish(s, me, joker, card)
    elif joker == Joker.CARD_SHARP:
        poker_hands.card_sharp(s, me, joker, card)
    elif joker == Joker.SEANCE:
        poker_hands.seance(s, me, joker, card)
    elif joker == Joker.VAGABOND:
        money.vagabond(s, me, joker, card)
    elif joker == Joker.EROSION:
        deck.erosion(s, me, joker, card)
    elif joker == Joker.FORTUNE_TELLER:
        consumables.fortune_teller(s, me, joker, card)
    elif joker == Joker.STONE:
        deck.stone_joker(s, me, joker, card)
    elif joker == Joker.BULL:
        money.bull(s, me, joker, card)
    elif joker == Joker.ACROBAT:
        rounds.acrobat(s, me, joker, card)
    elif joker == Joker.SWASHBUCKLER:
        other_jokers.swashbuckler(s, me, joker, card)
    elif joker == Joker.THROWBACK:
        rounds.throwback(s, me, joker, card)
    elif joker == Joker.FLOWER_POT:
        suits.flower_pot(s, me, joker, card)
    elif joker == Joker.SEEING_DOUBLE:
        suits.seeing_double(s, me, joker, card)
    elif joker == Joker.DUO or joker == Joker.TRIO or joker == Joker.FAMILY or joker == Joker.ORDER or joker == Joker.TRIBE:
        poker_hands.hand_factor(s, me, joker, card)
    elif joker == Joker.STUNTMAN:
        rounds.stuntman(s, me, joker, card)
    elif joker == Joker.DRIVERS_LICENSE:
        deck.drivers_license(s, me, joker, card)
    elif joker == Joker.BOOTSTRAPS:
        money.bootstraps(s, me, joker, card)


@rule
def fire_joker_scored(s, card):
    """JOKER_SCORED for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 256:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            joker_scored(s, me, int(s.jokers[me].id), card)


@rule
def other_joker_scored(s, me, joker, card):
    """OTHER_JOKER_SCORED: the joker's own effect, if it has one."""
    if joker == Joker.BASEBALL:
        other_jokers.baseball(s, me, joker, card)


@rule
def fire_other_joker_scored(s, card):
    """OTHER_JOKER_SCORED for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 512:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            other_joker_scored(s, me, int(s.jokers[me].id), card)


@rule
def hand_scored(s, me, joker, card):
    """HAND_SCORED: the joker's own effect, if it has one."""
    if not s.copying and joker == Joker.ICE_CREAM:
        growing.shrinks(s, me, joker, card)
    elif not s.copying and joker == Joker.SELZER:
        growing.seltzer_empties(s, me, joker, card)


@rule
def fire_hand_scored(s, card):
    """HAND_SCORED for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 1024:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            hand_scored(s, me, int(s.jokers[me].id), card)


@rule
def hand_destroys(s, me, joker, card):
    """HAND_DESTROYS: the joker's own effect, if it has one."""
    if not s.copying and joker == Joker.SIXTH_SENSE:
        ranks.sixth_sense(s, me, joker, card)


@rule
def fire_hand_destroys(s, card):
    """HAND_DESTROYS for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 2048:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            hand_destroys(s, me, int(s.jokers[me].id), card)


@rule
def discard_begins(s, me, joker, card):
    """DISCARD_BEGINS: the joker's own effect, if it has one."""
    if joker == Joker.FACELESS:
        faces.faceless(s, me, joker, card)
    elif not s.copying and joker == Joker.GREEN_JOKER:
        growing.green_shrinks(s, me, joker, card)
    elif joker == Joker.BURNT:
        poker_hands.burnt(s, me, joker, card)


@rule
def fire_discard_begins(s, card):
    """DISCARD_BEGINS for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 4096:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            discard_begins(s, me, int(s.jokers[me].id), card)


@rule
def card_discarded(s, me, joker, card):
    """CARD_DISCARDED: the joker's own effect, if it has one."""
    if joker == Joker.MAIL:
        ranks.mail_in_rebate(s, me, joker, card)
    elif not s.copying and joker == Joker.TRADING:
        poker_hands.trading_card(s, me, joker, card)
    elif not s.copying and joker == Joker.RAMEN:
        growing.ramen(s, me, joker, card)
    elif not s.copying and joker == Joker.CASTLE:
        growing.castle(s, me, joker, card)
    elif not s.copying and joker == Joker.HIT_THE_ROAD:
        growing.hit_the_road(s, me, joker, card)
    elif not s.copying and joker == Joker.YORICK:
        growing.yorick(s, me, joker, card)


@rule
def fire_card_discarded(s, card):
    """CARD_DISCARDED for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 8192:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            card_discarded(s, me, int(s.jokers[me].id), card)


@rule
def cards_added(s, me, joker, card):
    """CARDS_ADDED: the joker's own effect, if it has one."""
    if not s.copying and joker == Joker.HOLOGRAM:
        growing.grows_per_card(s, me, joker, card)


@rule
def fire_cards_added(s, card):
    """CARDS_ADDED for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 16384:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            cards_added(s, me, int(s.jokers[me].id), card)


@rule
def face_destroyed(s, me, joker, card):
    """FACE_DESTROYED: the joker's own effect, if it has one."""
    if not s.copying and joker == Joker.CAINO:
        growing.grows_per_card(s, me, joker, card)


@rule
def fire_face_destroyed(s, card):
    """FACE_DESTROYED for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 32768:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            face_destroyed(s, me, int(s.jokers[me].id), card)


@rule
def glass_destroyed(s, me, joker, card):
    """GLASS_DESTROYED: the joker's own effect, if it has one."""
    if not s.copying and joker == Joker.GLASS:
        growing.grows_per_card(s, me, joker, card)


@rule
def fire_glass_destroyed(s, card):
    """GLASS_DESTROYED for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 65536:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            glass_destroyed(s, me, int(s.jokers[me].id), card)


@rule
def round_ends(s, me, joker, card):
    """ROUND_ENDS: the joker's own effect, if it has one."""
    if not s.copying and joker == Joker.GROS_MICHEL:
        rounds.gros_michel_dies(s, me, joker, card)
    elif not s.copying and joker == Joker.EGG:
        money.egg(s, me, joker, card)
    elif not s.copying and joker == Joker.TODO_LIST:
        poker_hands.todo_list_turns(s, me, joker, card)
    elif not s.copying and joker == Joker.CAVENDISH:
        rounds.cavendish_dies(s, me, joker, card)
    elif not s.copying and joker == Joker.ROCKET:
        money.rocket_rises(s, me, joker, card)
    elif not s.copying and joker == Joker.GIFT:
        money.gift_card(s, me, joker, card)
    elif not s.copying and joker == Joker.TURTLE_BEAN:
        growing.turtle_bean_shrinks(s, me, joker, card)
    elif not s.copying and joker == Joker.POPCORN:
        growing.shrinks(s, me, joker, card)
    elif not s.copying and joker == Joker.CAMPFIRE:
        growing.campfire_starts_over(s, me, joker, card)
    elif not s.copying and joker == Joker.HIT_THE_ROAD:
        growing.hit_the_road_starts_over(s, me, joker, card)
    elif not s.copying and joker == Joker.INVISIBLE:
        other_jokers.invisible_waits(s, me, joker, card)


@rule
def fire_round_ends(s, card):
    """ROUND_ENDS for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 131072:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            round_ends(s, me, int(s.jokers[me].id), card)


@rule
def round_dollars(s, me, joker, card):
    """ROUND_DOLLARS: the joker's own effect, if it has one."""
    if not s.copying and joker == Joker.DELAYED_GRAT:
        rounds.delayed_gratification(s, me, joker, card)
    elif not s.copying and joker == Joker.CLOUD_9:
        ranks.cloud_9(s, me, joker, card)
    elif not s.copying and joker == Joker.ROCKET:
        money.rocket_pays(s, me, joker, card)
    elif not s.copying and joker == Joker.GOLDEN:
        money.golden_joker(s, me, joker, card)
    elif not s.copying and joker == Joker.SATELLITE:
        money.satellite(s, me, joker, card)


@rule
def fire_round_dollars(s, card):
    """ROUND_DOLLARS for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 262144:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            round_dollars(s, me, int(s.jokers[me].id), card)


@rule
def shop_rerolled(s, me, joker, card):
    """SHOP_REROLLED: the joker's own effect, if it has one."""
    if not s.copying and joker == Joker.FLASH:
        growing.grows(s, me, joker, card)


@rule
def fire_shop_rerolled(s, card):
    """SHOP_REROLLED for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 524288:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            shop_rerolled(s, me, int(s.jokers[me].id), card)


@rule
def shop_left(s, me, joker, card):
    """SHOP_LEFT: the joker's own effect, if it has one."""
    if joker == Joker.PERKEO:
        consumables.perkeo(s, me, joker, card)


@rule
def fire_shop_left(s, card):
    """SHOP_LEFT for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 1048576:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            shop_left(s, me, int(s.jokers[me].id), card)


@rule
def pack_opened(s, me, joker, card):
    """PACK_OPENED: the joker's own effect, if it has one."""
    if joker == Joker.HALLUCINATION:
        consumables.hallucination(s, me, joker, card)


@rule
def fire_pack_opened(s, card):
    """PACK_OPENED for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 2097152:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            pack_opened(s, me, int(s.jokers[me].id), card)


@rule
def pack_skipped(s, me, joker, card):
    """PACK_SKIPPED: the joker's own effect, if it has one."""
    if not s.copying and joker == Joker.RED_CARD:
        growing.grows(s, me, joker, card)


@rule
def fire_pack_skipped(s, card):
    """PACK_SKIPPED for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 4194304:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            pack_skipped(s, me, int(s.jokers[me].id), card)


@rule
def card_sold(s, me, joker, card):
    """CARD_SOLD: the joker's own effect, if it has one."""
    if not s.copying and joker == Joker.CAMPFIRE:
        growing.campfire(s, me, joker, card)


@rule
def fire_card_sold(s, card):
    """CARD_SOLD for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 8388608:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            card_sold(s, me, int(s.jokers[me].id), card)


@rule
def self_sold(s, me, joker, card):
    """SELF_SOLD: the joker's own effect, if it has one."""
    if joker == Joker.LUCHADOR:
        rounds.luchador(s, me, joker, card)
    elif joker == Joker.DIET_COLA:
        consumables.diet_cola(s, me, joker, card)
    elif not s.copying and joker == Joker.INVISIBLE:
        other_jokers.invisible_joker(s, me, joker, card)


@rule
def fire_self_sold(s, card):
    """SELF_SOLD for the joker in slot `card`."""
    for slot in range(card, card + 1):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 16777216:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            self_sold(s, me, int(s.jokers[me].id), card)


@rule
def consumable_used(s, me, joker, card):
    """CONSUMABLE_USED: the joker's own effect, if it has one."""
    if not s.copying and joker == Joker.CONSTELLATION:
        growing.constellation(s, me, joker, card)


@rule
def fire_consumable_used(s, card):
    """CONSUMABLE_USED for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 33554432:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            consumable_used(s, me, int(s.jokers[me].id), card)


@rule
def boss_triggered(s, me, joker, card):
    """BOSS_TRIGGERED: the joker's own effect, if it has one."""
    if joker == Joker.MATADOR:
        rounds.matador(s, me, joker, card)


@rule
def fire_boss_triggered(s, card):
    """BOSS_TRIGGERED for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 67108864:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            boss_triggered(s, me, int(s.jokers[me].id), card)


@rule
def blind_skipped(s, me, joker, card):
    """BLIND_SKIPPED: the joker's own effect, if it has one."""
    return


@rule
def fire_blind_skipped(s, card):
    """BLIND_SKIPPED for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 134217728:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            blind_skipped(s, me, int(s.jokers[me].id), card)


@rule
def deck_counted(s, me, joker, card):
    """DECK_COUNTED: the joker's own effect, if it has one."""
    if not s.copying and (joker == Joker.STEEL_JOKER or joker == Joker.STONE or joker == Joker.DRIVERS_LICENSE):
        deck.count_deck(s, me, joker, card)


@rule
def fire_deck_counted(s, card):
    """DECK_COUNTED for every working joker, left to right."""
    for slot in range(MAX_JOKERS):
        if slot >= s.n_jokers:
            break
        if not MAY_ACT_AT[s.jokers[slot].id] & 268435456:
            continue
        me = resolve(s, slot)
        if me >= 0:
            s.acting = slot
            s.copying = 1 if me != slot else 0
            deck_counted(s, me, int(s.jokers[me].id), card)
