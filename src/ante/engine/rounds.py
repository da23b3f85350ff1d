"""A round from its blind to the shop: select or skip, play and discard, end, cash out."""

from ante.catalog.blinds import Blind
from ante.catalog.cards import Enhancement, Seal, Sticker
from ante.catalog.challenges import DISCARD_DOLLARS, TYPECAST_ANTE, Modifier
from ante.catalog.constants import INTEREST_AMOUNT, INTEREST_PER, RENTAL_COST_PER_ROUND, WIN_ANTE
from ante.catalog.decks import Deck, Stake
from ante.catalog.tags import Tag
from ante.engine.blinds import blind_on_deck, blind_target
from ante.engine.cards import (
    collect_deck,
    discard_taken,
    draw_to_hand_size,
    remove_destroyed_cards,
    shuffle_deck,
    sort_hand,
    take_from_hand,
)
from ante.engine.core.rng import Stream
from ante.engine.core.rule import rule
from ante.engine.core.state import N_HANDS, Debuff, Phase, Place, Status
from ante.engine.core.tables import (
    BLIND_REWARD,
    DECK_DISCARD_DOLLARS,
    DECK_HAND_DOLLARS,
    DECK_INTEREST,
    ENHANCEMENT_HELD_DOLLARS,
    SEAL_RETRIGGERS,
)
from ante.engine.effects.active_boss import debuff_cards, end_boss
from ante.engine.effects.boss_dispatch import boss_cards_played, boss_hand_played, boss_selected
from ante.engine.effects.tags import gain_tag, tag_queues_pack, tags_at_cash_out, tags_raise_hand_size, tags_reroll_boss
from ante.engine.items.making import make_eternal
from ante.engine.items.owned import create_planet_of, negatives
from ante.engine.items.packs import most_played_hand
from ante.engine.items.vouchers import interest_cap
from ante.engine.jokers.dispatch import (
    fire_blind_chosen,
    fire_blind_skipped,
    fire_first_hand_drawn,
    fire_repeat_held,
    fire_round_dollars,
    fire_round_ends,
    fire_shop_left,
)
from ante.engine.jokers.lineup import refresh_lineup, settle
from ante.engine.jokers.money import extra_interest
from ante.engine.jokers.rounds import saves_from_defeat
from ante.engine.run import draw_ante_blinds, draw_ante_voucher, draw_targets
from ante.engine.scoring import score_hand
from ante.engine.shop import enter_shop, leave_shop


@rule
def enter_blind_select(s):
    """Enter the phase in which the player selects or skips the blind, and apply tags."""
    s.phase = Phase.BLIND_SELECT
    s.blind = Blind.NONE
    tags_reroll_boss(s)
    tag_queues_pack(s)


@rule
def select_blind(s):
    """Start the next blind and draw the first hand. Returns the Status: LOST if no card is drawn."""
    s.phase = Phase.PLAY
    s.round_number += 1
    s.blind = blind_on_deck(s)
    s.chips = 0.0
    s.target = blind_target(s, int(s.blind))
    begin_round_counts(s)
    boss_selected(s, 0)
    fire_blind_chosen(s, int(s.blind))
    settle(s)
    tags_raise_hand_size(s)
    refresh_lineup(s)
    shuffle_deck(s, Stream.NR)
    debuff_cards(s)
    draw_to_hand_size(s, False)
    drawn = int(s.n_hand)
    fire_first_hand_drawn(s, 0)
    settle(s)
    if s.n_hand > drawn:
        debuff_cards(s)
        sort_hand(s)
    return lose(s) if s.n_hand == 0 else int(Status.PLAYING)


@rule
def begin_round_counts(s):
    """Reset hands, discards and the counters of the round."""
    s.hands_left = max(1, int(s.hands_each_round) + int(s.joker_hands))
    s.discards_left = max(0, int(s.discards_each_round) + int(s.joker_discards))
    s.hands_played = 0
    s.discards_used = 0
    s.eye_hands = 0
    s.boss_disabled = 0
    s.round_hand_size = 0
    for hand in range(N_HANDS):
        s.plays_round[hand] = 0


@rule
def skip_blind(s):
    """Skip the next blind and gain its tag."""
    tag = int(s.skip_tags[s.blind_on_deck])
    hand = int(s.skip_tag_hands[s.blind_on_deck])
    s.blinds_skipped += 1
    s.blind_on_deck += 1
    gain_tag(s, tag, hand)
    fire_blind_skipped(s, 0)
    settle(s)
    enter_blind_select(s)


@rule
def score_cards(s, cards):
    """Move the cards at these hand positions from the hand to the table and score them."""
    put_on_table(s, cards)
    score_hand(s)


@rule
def put_on_table(s, cards):
    """Move the cards at these hand positions from the hand to the table; the boss may discard others from the hand."""
    s.hands_left -= 1
    s.n_played = take_from_hand(s, cards)
    for i in range(s.n_played):
        card = int(s.order[i])
        s.played[i] = card
        s.cards[card].place = Place.PLAYED
        s.cards[card].face_down = 0
        s.cards[card].forced = 0
        s.cards[card].played_this_ante = 1
    s.boss_triggered = 0
    hooked = boss_cards_played(s, 0)
    if hooked:
        discard_taken(s, hooked, True)


@rule
def play_cards(s, cards):
    """Play the cards at these hand positions. Returns the Status."""
    score_cards(s, cards)
    settle(s)
    for i in range(s.n_played):
        card = s.cards[s.played[i]]
        if card.place == Place.PLAYED:
            card.place = Place.DISCARD
    s.hands_played += 1
    s.n_played = 0
    if s.chips >= s.target:
        return end_round(s)
    if s.hands_left <= 0:
        return lose(s)
    boss_hand_played(s, 0)
    draw_to_hand_size(s, True)
    return lose(s) if s.n_hand == 0 else int(Status.PLAYING)


@rule
def discard_cards(s, cards):
    """Discard the cards at these hand positions and draw others. Returns the Status."""
    s.discards_left -= 1
    if s.modifiers & Modifier.DISCARD_COST:
        s.dollars -= DISCARD_DOLLARS
    n = take_from_hand(s, cards)
    discard_taken(s, n, False)
    s.discards_used += 1
    settle(s)
    draw_to_hand_size(s, False)
    return lose(s) if s.n_hand == 0 else int(Status.PLAYING)


@rule
def lose(s):
    """Lose the run, unless Mr. Bones prevents it. Returns the Status."""
    if saves_from_defeat(s):
        settle(s)
        return end_round(s)
    s.phase = Phase.OVER
    return int(Status.LOST)


@rule
def end_round(s):
    """End a won round: end-of-round effects, then the cash-out screen. Returns the Status."""
    boss = s.blind > Blind.BIG
    s.beat_boss = 1 if boss else 0
    fire_round_ends(s, int(s.blind))
    settle(s)
    pay_rentals_and_perish(s)
    s.unused_discards_run += s.discards_left
    held_cards_at_round_end(s)
    s.payout = cash_out_total(s)
    end_boss(s)
    collect_deck(s)
    remove_destroyed_cards(s)
    collect_deck(s)
    s.round_hand_size = 0
    s.phase = Phase.ROUND_END
    s.blind_on_deck += 1
    status = int(Status.PLAYING)
    if boss:
        status = raise_ante(s)
    draw_targets(s)
    refresh_lineup(s)
    return status


@rule
def raise_ante(s):
    """Increase the ante and draw its voucher. Returns WON after the boss of the win ante."""
    from_ante = int(s.ante)
    s.blind_on_deck = 0
    if s.modifiers & Modifier.TYPECAST and from_ante == TYPECAST_ANTE:
        typecast(s)
    s.ante += 1
    if s.ante > s.highest_ante:
        s.highest_ante = s.ante
    s.boss_rerolled = 0
    for i in range(s.n_cards):
        s.cards[i].played_this_ante = 0
    s.ox_hand = most_played_hand(s)
    draw_ante_voucher(s)
    if s.deck_id == Deck.ANAGLYPH:
        gain_tag(s, int(Tag.DOUBLE), -1)
    if from_ante == WIN_ANTE and not s.won:
        s.won = 1
        return int(Status.WON)
    return int(Status.PLAYING)


@rule
def typecast(s):
    """Typecast: make every joker Eternal and remove all joker slots, including those of Negative jokers."""
    for i in range(s.n_jokers):
        make_eternal(s.jokers[i])
    s.joker_slots = -negatives(s.jokers, s.n_jokers)


@rule
def pay_rentals_and_perish(s):
    """Charge the rent of Rental jokers and count down the rounds of Perishable ones."""
    for i in range(s.n_jokers):
        joker = s.jokers[i]
        if joker.stickers & Sticker.RENTAL:
            s.dollars -= RENTAL_COST_PER_ROUND
        if joker.stickers & Sticker.PERISHABLE and joker.rounds > 0:
            joker.rounds -= 1
            if joker.rounds == 0:
                joker.debuffed = Debuff.LASTING
                s.lineup_stale = 1


@rule
def held_cards_at_round_end(s):
    """Pay for Gold cards and create the last hand's Planet for Blue Seals, once per trigger."""
    for i in range(s.n_hand):
        card = int(s.hand[i])
        c = s.cards[card]
        if c.debuffed:
            continue
        gold = c.enhancement == Enhancement.GOLD
        blue = c.seal == Seal.BLUE
        if not gold and not blue:
            continue
        s.repeats = SEAL_RETRIGGERS[c.seal]
        fire_repeat_held(s, card)
        for _ in range(1 + int(s.repeats)):
            if gold:
                s.dollars += ENHANCEMENT_HELD_DOLLARS[Enhancement.GOLD]
            if blue and s.last_hand >= 0:
                create_planet_of(s, int(s.last_hand))
    settle(s)


@rule
def cash_out_total(s):
    """Return the dollars of the cash-out screen: blind reward, hands left, jokers, tags and interest."""
    total = blind_reward(s)
    if not s.modifiers & Modifier.NO_HAND_MONEY:
        total += int(DECK_HAND_DOLLARS[s.deck_id]) * int(s.hands_left)
    total += int(DECK_DISCARD_DOLLARS[s.deck_id]) * int(s.discards_left)
    s.payout = 0
    fire_round_dollars(s, 0)
    total += int(s.payout)
    if s.beat_boss:
        total += tags_at_cash_out(s)
    if DECK_INTEREST[s.deck_id] and not s.modifiers & Modifier.NO_INTEREST:
        total += interest(s)
    return total


@rule
def blind_reward(s):
    """Return the reward of the blind: 0 for Small Blinds on higher stakes, after Mr. Bones and in some challenges."""
    if (s.blind == Blind.SMALL and s.stake >= Stake.RED) or s.chips < s.target:
        return 0
    unpaid = int(Modifier.NO_BOSS_REWARD)
    if s.blind == Blind.SMALL:
        unpaid = int(Modifier.NO_SMALL_REWARD)
    elif s.blind == Blind.BIG:
        unpaid = int(Modifier.NO_BIG_REWARD)
    return 0 if s.modifiers & unpaid else int(BLIND_REWARD[s.blind])


@rule
def interest(s):
    """Return the interest: $1 per $5 up to the cap; each To the Moon adds the same amount."""
    return (INTEREST_AMOUNT + extra_interest(s)) * (min(max(0, int(s.dollars)), interest_cap(s)) // INTEREST_PER)


@rule
def cash_out(s):
    """Pay the cash-out dollars and enter the shop. After a boss, draw the tags and boss of the next ante."""
    s.dollars += s.payout
    s.payout = 0
    s.blind = Blind.NONE
    if s.beat_boss:
        draw_ante_blinds(s)
    begin_round_counts(s)
    s.chips = 0.0
    shuffle_deck(s, Stream.CASHOUT)
    s.phase = Phase.SHOP
    enter_shop(s)
    s.beat_boss = 0


@rule
def next_round(s):
    """Leave the shop."""
    fire_shop_left(s, 0)
    settle(s)
    leave_shop(s)
    enter_blind_select(s)
