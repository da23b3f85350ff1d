"""Jokers that create, copy, change or destroy jokers, consumables and playing cards."""

from typing import Any

from ante.catalog.consumables import FIRST_PLANET, FIRST_SPECTRAL
from ante.catalog.jokers import JOKERS
from ante.catalog.tags import Tag
from ante.engine.actions import Verb
from ante.engine.core.state import Status
from ante.engine.items.owned import room_for_joker
from tests.support.table import (
    act,
    begin,
    consumables,
    deal,
    discard,
    full_deck,
    give,
    hand,
    happened,
    jokers,
    play,
    select,
    to_shop,
    win,
)

STRAIGHT_WITH_ACE = "S_A H_2 C_3 D_4 S_5"
STRAIGHT_FLUSH = "S_4 S_5 S_6 S_7 S_8"


def tarots(s: Any) -> int:
    """Return the number of held tarots; there must be no other consumables."""
    assert all(s.consumables[i].id < FIRST_PLANET for i in range(s.n_consumables))
    return int(s.n_consumables)


def spectrals(s: Any) -> int:
    """Return the number of held spectrals; there must be no other consumables."""
    assert all(s.consumables[i].id >= FIRST_SPECTRAL for i in range(s.n_consumables))
    return int(s.n_consumables)


def after(cards: str, *keys: str, **options: Any) -> Any:
    """Return the game after playing these cards at once."""
    s = deal(cards, *keys, **options)
    play(s, *range(len(cards.split())))
    return s


def test_8_ball_makes_a_tarot_for_one_scored_8_in_four() -> None:
    assert abs(happened(lambda seed: tarots(after("S_8", "j_8_ball", seed=seed))) - 50) < 20
    sure = ("j_oops", "j_oops", "j_8_ball")
    assert tarots(after("S_8", *sure)) == 1
    assert tarots(after("S_8 H_8 C_8", *sure)) == 2  # no slot for a third
    assert tarots(after("S_9 H_9", *sure)) == 0


def test_superposition_needs_a_straight_with_an_ace() -> None:
    assert tarots(after(STRAIGHT_WITH_ACE, "j_superposition")) == 1
    assert tarots(after("S_6 H_2 C_3 D_4 S_5", "j_superposition")) == 0
    assert tarots(after("S_A H_A", "j_superposition")) == 0


def test_vagabond_makes_a_tarot_for_the_poor() -> None:
    assert tarots(after("S_8", "j_vagabond", dollars=4)) == 1
    assert tarots(after("S_8", "j_vagabond", dollars=-3)) == 1
    assert tarots(after("S_8", "j_vagabond", dollars=5)) == 0
    assert tarots(after("S_8", "j_blueprint", "j_vagabond", dollars=4)) == 2


def test_vagabond_makes_nothing_without_room() -> None:
    s = deal("S_8", "j_vagabond")
    give(s, "c_pluto", "c_mars")
    play(s, 0)
    assert consumables(s) == ["c_pluto", "c_mars"]


def test_seance_makes_a_spectral_of_a_straight_flush() -> None:
    assert spectrals(after(STRAIGHT_FLUSH, "j_seance")) == 1
    assert spectrals(after("S_4 S_5 S_6 S_7 S_9", "j_seance")) == 0
    assert spectrals(after("S_4 S_5 S_6 S_7 H_8", "j_seance")) == 0


def test_sixth_sense_turns_a_first_lone_6_into_a_spectral() -> None:
    s = after("S_6", "j_sixth_sense")
    assert spectrals(s) == 1
    assert len(full_deck(s)) == 51
    assert spectrals(after("S_7", "j_sixth_sense")) == 0
    assert spectrals(after("S_6 H_2", "j_sixth_sense")) == 0
    assert spectrals(after("S_6", "j_sixth_sense", hands_played=1)) == 0


def test_dna_copies_a_first_lone_card_into_the_hand() -> None:
    s = after("S_8:m_glass/foil=Red+h5", "j_dna", held="H_2")
    assert "S_8:m_glass/foil=Red+h5" in hand(s)
    assert len(full_deck(s)) == 53
    assert len(full_deck(after("S_8 H_2", "j_dna"))) == 52
    assert len(full_deck(after("S_8", "j_dna", hands_played=1))) == 52


def test_marble_adds_a_stone_card_when_a_blind_is_selected() -> None:
    s = begin("j_marble", "j_marble")
    assert len(full_deck(s)) == 54
    assert sum(card.enhancement == 6 for card in full_deck(s)) == 2


def test_riff_raff_makes_up_to_two_common_jokers() -> None:
    s = begin("j_riff_raff")
    assert s.n_jokers == 3
    assert all(JOKERS[s.jokers[i].id].rarity == 1 for i in (1, 2))
    s = begin("j_riff_raff", "j_baron", "j_baron", "j_baron")
    assert s.n_jokers == 5
    s = begin("j_riff_raff", "j_baron", "j_baron", "j_baron", "j_baron")
    assert s.n_jokers == 5
    assert not room_for_joker(s)


def test_cartomancer_makes_a_tarot_when_a_blind_is_selected() -> None:
    assert tarots(begin("j_cartomancer")) == 1
    assert tarots(begin("j_blueprint", "j_cartomancer")) == 2
    assert consumables(begin("j_cartomancer", held=("c_pluto", "c_mars"))) == ["c_pluto", "c_mars"]


def test_certificate_deals_a_sealed_card_beside_the_first_hand() -> None:
    s = begin("j_certificate")
    assert s.n_hand == 8 + 1
    assert len(full_deck(s)) == 53
    assert sum(card.seal > 0 for card in full_deck(s)) == 1
    discard(s, 0)
    assert len(full_deck(s)) == 53


def test_hallucination_makes_a_tarot_of_every_second_pack() -> None:
    def opened(seed: str, *keys: str) -> Any:
        s = deal("S_8", "j_hallucination", *keys, seed=seed)
        to_shop(s)
        assert act(s, Verb.OPEN_PACK, 0) == Status.PLAYING
        return s

    assert abs(happened(lambda seed: tarots(opened(seed))) - 100) < 22
    assert tarots(opened("TESTSEED", "j_oops")) == 1


def test_perkeo_leaves_the_shop_with_a_negative_copy() -> None:
    s = deal("S_8", "j_perkeo", "j_blueprint")
    to_shop(s)
    act(s, Verb.NEXT_ROUND)
    assert consumables(s) == []
    s = deal("S_8", "j_blueprint", "j_perkeo")
    give(s, "c_pluto")
    to_shop(s)
    act(s, Verb.NEXT_ROUND)
    assert consumables(s) == ["c_pluto", "c_pluto/negative", "c_pluto/negative"]


def sold_after(rounds: int, *others: str) -> Any:
    """Return the game after an Invisible Joker was sold after this many rounds."""
    s = deal("S_8", "j_invisible", *others)
    for _ in range(rounds):
        to_shop(s)
        act(s, Verb.NEXT_ROUND)
        select(s, "bl_small")
    act(s, Verb.SELL_JOKER, 0)
    return s


def test_invisible_copies_another_joker_after_two_rounds() -> None:
    assert jokers(sold_after(1, "j_baron")) == "j_baron"
    assert jokers(sold_after(2, "j_baron")) == "j_baron j_baron"
    assert jokers(sold_after(3, "j_baron")) == "j_baron j_baron"
    assert jokers(sold_after(2)) == ""


def test_invisible_copies_a_negative_joker_without_its_edition() -> None:
    s = deal("S_8", "j_invisible", "j_baron")
    s.jokers[0].count = 2
    s.jokers[1].edition = 4  # Negative
    act(s, Verb.SELL_JOKER, 0)
    assert jokers(s) == "j_baron/negative j_baron"


def test_diet_cola_is_sold_for_a_double_tag() -> None:
    s = deal("S_8", "j_diet_cola")
    act(s, Verb.SELL_JOKER, 0)
    assert s.n_tags == 1
    assert s.tags[0] == Tag.DOUBLE


def test_midas_mask_turns_scored_faces_to_gold() -> None:
    s = after("S_K H_K C_Q:m_stone", "j_midas_mask")
    gold = [card for card in full_deck(s) if card.enhancement == 7]
    assert [(int(card.rank), int(card.suit)) for card in gold] in ([(13, 0), (13, 1)], [(13, 1), (13, 0)])
    assert not any(card.enhancement == 7 for card in full_deck(after("S_A H_K", "j_midas_mask")))


def test_trading_destroys_a_first_lone_discard_for_3() -> None:
    s = deal("S_8 H_2 C_3", "j_trading", dollars=0)
    discard(s, 0)
    assert (s.dollars, len(full_deck(s))) == (3, 51)
    discard(s, 0)
    assert (s.dollars, len(full_deck(s))) == (3, 51)
    s = deal("S_8 H_2 C_3", "j_trading", dollars=0)
    discard(s, 0, 1)
    assert (s.dollars, len(full_deck(s))) == (0, 52)


def ended(seed: str, *keys: str) -> Any:
    """Return the game after a round with these jokers."""
    s = deal("S_8", *keys, seed=seed)
    win(s)
    return s


def test_gros_michel_dies_out_in_one_round_of_six() -> None:
    def died(seed: str) -> bool:
        s = ended(seed, "j_gros_michel")
        assert s.gros_michel_extinct == 1 - s.n_jokers
        return s.n_jokers == 0

    assert abs(happened(died) - 33) < 17


def test_gros_michel_gives_15_mult() -> None:
    s = deal("S_8", "j_gros_michel")
    assert play(s, 0) == (5 + 8, 1 + 15)


def test_cavendish_is_destroyed_in_one_round_of_a_thousand() -> None:
    s = deal("S_8", "j_cavendish")
    assert play(s, 0) == (5 + 8, 3)
    assert happened(lambda seed: jokers(ended(seed, "j_cavendish")) == "", 100) < 3
    assert "j_cavendish" not in jokers(ended("TESTSEED", "j_cavendish", *["j_oops"] * 10))  # 1024 in 1000


def test_cavendish_and_gros_michel_never_share_a_pool() -> None:
    def made(seed: str, extinct: int) -> str:
        s = deal("S_8", "j_riff_raff", "j_riff_raff", seed=seed)
        s.gros_michel_extinct = extinct
        to_shop(s)
        act(s, Verb.NEXT_ROUND)
        select(s, "bl_big")
        return jokers(s)

    before, since = ([made(f"POOL{i}", extinct) for i in range(120)] for extinct in (0, 1))
    assert any("j_gros_michel" in made for made in before)
    assert not any("j_cavendish" in made for made in before)
    assert any("j_cavendish" in made for made in since)
    assert not any("j_gros_michel" in made for made in since)
