"""Rules that depend on the order of events."""

from ante.catalog.jokers import by_key as joker_by_key
from ante.catalog.packs import by_key as pack_by_key
from ante.engine.actions import Verb
from ante.engine.core.rng import Stream, roll
from ante.engine.core.state import Phase, Place, Status
from ante.engine.drivers.survey import copy_of
from ante.engine.effects.active_boss import debuff_cards
from ante.engine.items.making import make_given_joker
from ante.engine.items.prices import sell_value
from ante.engine.notation import front_text
from tests.support.table import (
    act,
    begin,
    consumables,
    deal,
    discard,
    jokers,
    own,
    play,
    redeal,
    select,
    to_shop,
    use,
)


def test_a_hand_that_grows_in_a_round_is_dealt_to_at_once() -> None:
    s = begin("j_stuntman")
    assert (s.hand_size, s.n_hand) == (6, 6)
    assert act(s, Verb.SELL_JOKER, 0) == Status.PLAYING
    assert (s.hand_size, s.n_hand) == (8, 8)
    s = begin("j_luchador", blind="bl_manacle")
    assert s.n_hand == 7
    act(s, Verb.SELL_JOKER, 0)
    assert (s.hand_size, s.n_hand) == (8, 8)


def test_a_copy_of_juggler_draws_a_card_in_a_round_only() -> None:
    s = begin("j_juggler")
    assert (s.hand_size, s.n_hand) == (9, 9)
    assert use(s, "c_ankh") == Status.PLAYING
    assert (jokers(s), s.hand_size, s.n_hand) == ("j_juggler j_juggler", 10, 10)
    s = to_shop(begin("j_juggler"))
    assert use(s, "c_ankh") == Status.PLAYING
    assert (jokers(s), s.hand_size, s.n_hand) == ("j_juggler j_juggler", 10, 0)


def test_a_round_is_lost_once_no_card_is_left() -> None:
    s = begin()
    redeal(s, "S_2 H_3")
    for i in range(s.n_deck):
        s.cards[s.deck[i]].place = Place.DISCARD
    s.n_deck, s.target = 0, 1e300
    assert act(s, Verb.PLAY, cards=(0,)) == Status.PLAYING
    assert (s.n_hand, s.hands_left) == (1, 3)
    assert act(s, Verb.PLAY, cards=(0,)) == Status.LOST


def test_a_hand_that_shrinks_in_a_round_keeps_its_cards() -> None:
    s = begin("j_juggler")
    assert s.n_hand == 9
    act(s, Verb.SELL_JOKER, 0)
    assert (s.hand_size, s.n_hand) == (8, 9)


def test_mr_bones_brings_no_reward_for_the_blind() -> None:
    s = begin("j_mr_bones")
    s.dollars, s.hands_left = 0, 1
    s.chips = 0.3 * s.target
    redeal(s, "S_2")
    assert act(s, Verb.PLAY, cards=(0,)) == Status.PLAYING
    assert (s.phase, s.payout, s.n_jokers) == (Phase.ROUND_END, 0, 0)


def test_the_hook_does_not_discard_for_burnt_joker() -> None:
    s = begin("j_burnt", blind="bl_hook")
    s.target = 1e300
    play(s, 0)
    assert set(s.levels.tolist()) == {1}
    discard(s, 0)
    assert sorted(s.levels.tolist()) == [1] * 11 + [2]


def test_chaos_the_clown_gives_its_reroll_when_bought_and_takes_it_when_sold() -> None:
    s = begin()
    to_shop(s)
    own(s, "j_chaos")
    assert s.free_rerolls == 1
    act(s, Verb.SELL_JOKER, 0)
    assert s.free_rerolls == 0
    own(s, "j_chaos")
    act(s, Verb.REROLL)
    act(s, Verb.SELL_JOKER, 0)
    assert s.free_rerolls == 0


def test_chaos_the_clown_from_a_pack_gives_its_reroll_in_the_same_shop() -> None:
    s = to_shop(begin())
    s.packs[0], s.dollars = pack_by_key["p_buffoon_normal_1"], 4
    assert act(s, Verb.OPEN_PACK, 0) == Status.PLAYING
    make_given_joker(s, int(joker_by_key["j_chaos"]))
    s.pack[0] = s.made
    assert act(s, Verb.PICK, 0) == Status.PLAYING
    assert (s.phase, s.free_rerolls) == (Phase.SHOP, 1)


def test_the_copy_of_an_invisible_joker_waits_again() -> None:
    s = begin("j_invisible", "j_invisible")
    s.jokers[0].count = s.jokers[1].count = 2
    act(s, Verb.SELL_JOKER, 0)
    assert jokers(s) == "j_invisible j_invisible"
    assert (s.jokers[0].count, s.jokers[1].count) == (2, 0)


def test_canio_counts_what_is_a_face_card_now() -> None:
    def grown(card: str, *others: str) -> float:
        s = deal("S_2", "j_caino", *others, held=card)
        before = float(s.jokers[0].value)
        use(s, "c_hanged_man", 1)
        return float(s.jokers[0].value) - before

    assert grown("S_K") == 1
    assert grown("S_K!") == 0
    assert grown("S_9") == 0
    assert grown("S_9:m_stone", "j_pareidolia") == 1


def test_the_card_of_certificate_is_debuffed_and_sorted_in() -> None:
    hearts = 0
    for n in range(40):
        s = begin("j_certificate", blind="bl_head", seed=f"CERT{n}")
        assert s.n_hand == 9
        ranks = [int(s.cards[s.hand[i]].rank) for i in range(9)]
        assert ranks == sorted(ranks, reverse=True)
        for i in range(9):
            card = s.cards[s.hand[i]]
            assert card.debuffed == (card.suit == 1)
        newest = max(range(s.n_cards), key=lambda i: s.cards[i].created)
        hearts += s.cards[newest].suit == 1
    assert hearts > 0


def test_vagabond_looks_at_the_money_before_the_hand_earns() -> None:
    s = deal("S_A=Gold", "j_vagabond", dollars=3)
    play(s, 0)
    assert s.dollars == 6
    assert len(consumables(s)) == 1
    s = deal("S_A", "j_vagabond", dollars=5)
    play(s, 0)
    assert consumables(s) == []


def test_the_dagger_frees_a_place_for_riff_raff_at_its_right() -> None:
    s = begin("j_ceremonial", "j_baron", "j_riff_raff", "j_egg", "j_egg")
    assert s.n_jokers == 5
    assert jokers(s).split()[:4] == ["j_ceremonial", "j_riff_raff", "j_egg", "j_egg"]
    assert s.joker_buffer == 0


def test_loyalty_card_counts_hands_while_debuffed() -> None:
    s = deal("S_A", "j_loyalty_card", held="S_2 S_3 S_4")
    s.jokers[0].debuffed = 1
    play(s, 0)
    assert s.jokers[0].count == 1


def test_hallucination_finds_the_place_beside_a_negative_card() -> None:
    s = begin("j_hallucination", "j_oops", held=("c_pluto", "c_mars"))
    s.consumables[0].edition = 4
    to_shop(s)
    s.dollars = 50
    act(s, Verb.OPEN_PACK, 0)
    assert len(consumables(s)) == 3


def test_the_copy_of_perkeo_keeps_added_sell_value() -> None:
    s = begin("j_perkeo", held=("c_mars",))
    s.consumables[0].extra_sell = 5
    to_shop(s)
    act(s, Verb.NEXT_ROUND)
    original, copy = s.consumables[0], s.consumables[1]
    assert (original.extra_sell, copy.extra_sell) == (5, 5)
    assert sell_value(copy) > sell_value(original)


def test_the_ox_takes_the_money_for_the_hand_played_most_before_the_ante() -> None:
    s = begin(blind="bl_hook")
    s.ante, s.plays[9] = 5, 7  # Two Pairs
    to_shop(s)
    assert s.ante == 6
    act(s, Verb.NEXT_ROUND)
    select(s, "bl_ox")
    s.target, s.dollars = 1e300, 20
    s.plays[10] = 90  # the currently most played hand does not count
    redeal(s, "S_A H_A C_K D_K S_5 S_3")
    play(s, 4)
    assert s.dollars == 20
    redeal(s, "S_A H_A C_K D_K")
    play(s, 0, 1, 2, 3)
    assert s.dollars == 0


def test_the_pillar_forgets_a_card_that_is_turned_into_another_kind() -> None:
    s = begin()
    redeal(s, "S_A H_K C_Q D_J S_9")
    s.target = 1e300
    act(s, Verb.PLAY, cards=(0, 1))
    played = [i for i in range(s.n_cards) if s.cards[i].played_this_ante]
    assert len(played) == 2
    first, second = played
    s.hand[0], s.hand[1] = first, second
    use(s, "c_devil", 0)
    assert [int(s.cards[i].played_this_ante) for i in (first, second)] == [0, 1]


def test_the_pillar_knows_the_copy_of_a_played_card() -> None:
    s = begin()
    s.cards[s.hand[3]].played_this_ante = 1
    use(s, "c_cryptid", 3)
    assert sum(int(s.cards[i].played_this_ante) for i in range(s.n_cards)) == 3


def test_a_debuff_is_decided_anew_for_a_new_suit_only() -> None:
    s = begin(blind="bl_head")
    redeal(s, "H_A S_K C_Q H_J")
    for position, debuffed in enumerate((1, 0, 0, 1)):
        s.cards[s.hand[position]].debuffed = debuffed
    use(s, "c_world", 0)  # Spades now
    use(s, "c_sun", 1)  # Hearts now
    use(s, "c_lovers", 2)  # a Wild card, which the boss would have debuffed
    use(s, "c_empress", 3)  # still Hearts
    assert [int(s.cards[s.hand[i]].debuffed) for i in range(4)] == [0, 1, 0, 1]


def test_a_copy_takes_over_the_debuff() -> None:
    s = begin(blind="bl_head")
    redeal(s, "H_A S_K")
    s.cards[s.hand[0]].debuffed, s.cards[s.hand[1]].debuffed = 1, 0
    use(s, "c_death", 0, 1)
    assert [int(s.cards[s.hand[i]].debuffed) for i in range(2)] == [0, 0]


def test_sigil_and_ouija_and_strength_ask_the_boss_again() -> None:
    seen = set()
    for number in range(1, 30):
        s = begin(blind="bl_head", seed=f"SIGIL{number}")
        redeal(s, "H_5 S_6 C_7")
        debuff_cards(s)
        assert [int(s.cards[s.hand[i]].debuffed) for i in range(3)] == [1, 0, 0]
        use(s, "c_sigil")
        suit = front_text(s.cards[s.hand[0]])[0]
        assert [int(s.cards[s.hand[i]].debuffed) for i in range(3)] == [int(suit == "H")] * 3
        seen.add(suit)
    assert {"H"} < seen
    ranks = set()
    for number in range(1, 60):
        s = begin(blind="bl_plant", seed=f"UIJA{number}")
        redeal(s, "H_K S_6 C_7")
        debuff_cards(s)
        use(s, "c_ouija")
        rank = front_text(s.cards[s.hand[0]])[2]
        assert [int(s.cards[s.hand[i]].debuffed) for i in range(3)] == [int(rank in "JQK")] * 3
        ranks.add(rank)
    assert ranks & set("JQK")
    s = begin(blind="bl_plant")
    redeal(s, "H_K S_T C_7")
    debuff_cards(s)
    use(s, "c_strength", 0, 1)  # an Ace and a Jack now
    assert [int(s.cards[s.hand[i]].debuffed) for i in range(3)] == [0, 1, 0]


def test_the_first_sixth_sense_takes_the_6_and_ends_it() -> None:
    s = deal("S_6", "j_sixth_sense", "j_sixth_sense", held="H_2 C_3")
    play(s, 0)
    assert len(consumables(s)) == 1


def test_a_glass_card_that_sixth_sense_takes_is_rolled_all_the_same() -> None:
    s = deal("S_6:m_glass", "j_sixth_sense", held="H_2 C_3")
    before = copy_of(s)
    play(s, 0)
    assert roll(s, Stream.GLASS) != roll(before, Stream.GLASS)  # one more draw
    assert roll(s, Stream.GLASS) == [roll(before, Stream.GLASS) for _ in range(2)][1]


def test_hologram_sees_the_card_that_dna_makes_before_it_scores() -> None:
    s = deal("S_A", "j_dna", "j_hologram", held="H_2 C_3")
    chips, mult = play(s, 0)
    assert (chips, mult) == (5 + 11, 1.25)
    assert jokers(s) == "j_dna j_hologram"
    assert s.jokers[1].value == 1.25
