"""Each tarot, planet and spectral, with effects computed by hand."""

import pytest

from ante.catalog.hands import Hand
from ante.catalog.jokers import JOKERS
from ante.engine.actions import Verb
from ante.engine.core.state import Status
from tests.support.table import act, consumables, give, hand, hand_of, in_round, jokers, own, use


@pytest.mark.parametrize(
    ("tarot", "enhancement", "most"),
    [
        ("c_magician", "m_lucky", 2),
        ("c_empress", "m_mult", 2),
        ("c_heirophant", "m_bonus", 2),
        ("c_lovers", "m_wild", 1),
        ("c_chariot", "m_steel", 1),
        ("c_justice", "m_glass", 1),
        ("c_devil", "m_gold", 1),
        ("c_tower", "m_stone", 1),
    ],
)
def test_magician_empress_heirophant_lovers_chariot_justice_devil_tower(
    tarot: str, enhancement: str, most: int
) -> None:
    s = hand_of("S_A H_K D_5")
    assert use(s, tarot, *range(most + 1)) == Status.ILLEGAL
    s = hand_of("S_A H_K D_5")
    assert use(s, tarot, *range(most)) == Status.PLAYING
    changed = [f"{card}:{enhancement}" if i < most else card for i, card in enumerate(["S_A", "H_K", "D_5"])]
    assert hand(s) == " ".join(changed)
    assert consumables(s) == []
    assert s.tarots_used == 1


@pytest.mark.parametrize(("tarot", "suit"), [("c_star", "D"), ("c_moon", "C"), ("c_sun", "H"), ("c_world", "S")])
def test_star_moon_sun_world(tarot: str, suit: str) -> None:
    s = hand_of("S_A H_K D_5 C_2")
    assert use(s, tarot, 0, 1, 2) == Status.PLAYING
    assert hand(s) == f"{suit}_A {suit}_K {suit}_5 C_2"


def test_strength_wraps_the_ace_to_2() -> None:
    s = hand_of("S_A H_K D_5")
    assert use(s, "c_strength", 0, 2) == Status.PLAYING
    assert hand(s) == "S_2 H_K D_6"


def test_hanged_man_destroys_two_cards() -> None:
    s = hand_of("S_A H_K D_5")
    before = s.n_deck
    assert use(s, "c_hanged_man", 0, 2) == Status.PLAYING
    assert hand(s) == "H_K"
    assert s.n_deck == before


def test_death_makes_the_left_card_the_right_one() -> None:
    s = hand_of("S_A H_K:m_glass/foil=Red+h5 D_5")
    assert use(s, "c_death", 0) == Status.ILLEGAL
    s = hand_of("S_A H_K:m_glass/foil=Red+h5 D_5")
    assert use(s, "c_death", 0, 1) == Status.PLAYING
    assert hand(s) == "H_K:m_glass/foil=Red+h5 H_K:m_glass/foil=Red+h5 D_5"


@pytest.mark.parametrize(("dollars", "after"), [(7, 14), (30, 50), (-3, -3)])
def test_hermit_doubles_money_up_to_20(dollars: int, after: int) -> None:
    s = in_round()
    s.dollars = dollars
    assert use(s, "c_hermit") == Status.PLAYING
    assert s.dollars == after


def test_temperance_pays_the_jokers_sell_value() -> None:
    s = in_round()
    own(s, "j_joker", "j_egg", "j_baron")  # cost 2, 4, 8: sold for 1, 2, 4
    s.dollars = 0
    assert use(s, "c_temperance") == Status.PLAYING
    assert s.dollars == 7


def test_fool_copies_the_last_tarot_but_not_itself() -> None:
    s = in_round()
    assert use(s, "c_fool") == Status.ILLEGAL
    s = in_round()
    use(s, "c_hermit")
    assert use(s, "c_fool") == Status.PLAYING
    assert consumables(s) == ["c_hermit"]
    s.n_consumables = 0
    assert use(s, "c_fool") == Status.ILLEGAL


def test_high_priestess_and_emperor_fill_the_slots() -> None:
    for key, first in (("c_high_priestess", 23), ("c_emperor", 1)):
        s = in_round()
        assert use(s, key) == Status.PLAYING
        assert s.n_consumables == 2
        assert all(first <= s.consumables[i].id < first + 22 for i in range(2))
        assert key not in consumables(s)


def test_judgement_and_wheel_of_fortune() -> None:
    s = in_round()
    assert use(s, "c_wheel_of_fortune") == Status.ILLEGAL
    s.n_consumables = 0
    assert use(s, "c_judgement") == Status.PLAYING
    assert s.n_jokers == 1
    outcomes = set()
    for letter in "ABCDEFGHIJKLMNOP":
        s = in_round(seed=f"WHEEL{letter}")
        own(s, "j_joker")
        assert use(s, "c_wheel_of_fortune") == Status.PLAYING
        outcomes.add(jokers(s))
    assert "j_joker" in outcomes
    assert outcomes > {"j_joker"}
    assert outcomes <= {"j_joker", "j_joker/foil", "j_joker/holo", "j_joker/polychrome"}


@pytest.mark.parametrize(
    ("planet", "hand"),
    [
        ("c_mercury", Hand.PAIR),
        ("c_venus", Hand.THREE_OF_A_KIND),
        ("c_earth", Hand.FULL_HOUSE),
        ("c_mars", Hand.FOUR_OF_A_KIND),
        ("c_jupiter", Hand.FLUSH),
        ("c_saturn", Hand.STRAIGHT),
        ("c_uranus", Hand.TWO_PAIR),
        ("c_neptune", Hand.STRAIGHT_FLUSH),
        ("c_pluto", Hand.HIGH_CARD),
        ("c_planet_x", Hand.FIVE_OF_A_KIND),
        ("c_ceres", Hand.FLUSH_HOUSE),
        ("c_eris", Hand.FLUSH_FIVE),
    ],
)
def test_mercury_venus_earth_mars_jupiter_saturn_uranus_neptune_pluto_planet_x_ceres_eris(
    planet: str, hand: Hand
) -> None:
    s = in_round()
    assert use(s, planet) == Status.PLAYING
    assert s.levels.tolist() == [2 if other == hand else 1 for other in range(12)]


def test_black_hole_raises_every_hand() -> None:
    s = in_round()
    assert use(s, "c_black_hole") == Status.PLAYING
    assert s.levels.tolist() == [2] * 12


@pytest.mark.parametrize(
    ("spectral", "seal"), [("c_talisman", "Gold"), ("c_deja_vu", "Red"), ("c_trance", "Blue"), ("c_medium", "Purple")]
)
def test_talisman_deja_vu_trance_medium(spectral: str, seal: str) -> None:
    s = hand_of("S_A H_K")
    assert use(s, spectral, 1) == Status.PLAYING
    assert hand(s) == f"S_A H_K={seal}"


def test_aura_gives_an_edition_once() -> None:
    s = hand_of("S_A H_K")
    assert use(s, "c_aura", 0) == Status.PLAYING
    assert s.cards[s.hand[0]].edition in (1, 2, 3)
    assert use(s, "c_aura", 0) == Status.ILLEGAL


def test_cryptid_makes_two_copies() -> None:
    s = hand_of("S_A:m_glass=Red H_K")
    before = s.n_cards
    assert use(s, "c_cryptid", 0) == Status.PLAYING
    assert hand(s) == "S_A:m_glass=Red H_K S_A:m_glass=Red S_A:m_glass=Red"
    assert s.n_cards == before + 2


@pytest.mark.parametrize(
    ("spectral", "made", "ranks"),
    [("c_familiar", 3, (11, 12, 13)), ("c_grim", 2, (14,)), ("c_incantation", 4, range(2, 11))],
)
def test_familiar_grim_incantation(spectral: str, made: int, ranks: object) -> None:
    s = hand_of("S_5 H_6 C_7")
    assert use(s, spectral) == Status.PLAYING
    assert s.n_hand == 2 + made
    for i in range(2, s.n_hand):
        card = s.cards[s.hand[i]]
        assert card.rank in ranks  # type: ignore[operator]
        assert card.enhancement not in (0, 6)


def test_sigil_and_ouija() -> None:
    s = hand_of("S_5 H_6 C_7")
    assert use(s, "c_sigil") == Status.PLAYING
    assert len({text[0] for text in hand(s).split()}) == 1
    assert [text[1:] for text in hand(s).split()] == ["_5", "_6", "_7"]
    size = s.hand_size
    assert use(s, "c_ouija") == Status.PLAYING
    assert len({text[2] for text in hand(s).split()}) == 1
    assert s.hand_size == size - 1


def test_immolate_destroys_five_for_20() -> None:
    s = in_round()
    s.dollars = 3
    assert use(s, "c_immolate") == Status.PLAYING
    assert (s.n_hand, s.dollars) == (3, 23)


def test_wraith_makes_a_rare_joker_and_takes_all_money() -> None:
    s = in_round()
    assert use(s, "c_wraith") == Status.PLAYING
    assert JOKERS[s.jokers[0].id].rarity == 3
    assert s.dollars == 0


def test_soul_makes_a_legendary_joker() -> None:
    s = in_round()
    assert use(s, "c_soul") == Status.PLAYING
    assert 146 <= s.jokers[0].id <= 150


def test_ectoplasm_costs_one_card_of_hand_size_more_each_time() -> None:
    s = in_round()
    own(s, "j_joker", "j_egg")
    size = s.hand_size
    assert use(s, "c_ectoplasm") == Status.PLAYING
    assert s.hand_size == size - 1
    assert use(s, "c_ectoplasm") == Status.PLAYING
    assert s.hand_size == size - 3
    assert jokers(s) == "j_joker/negative j_egg/negative"


def test_hex_leaves_one_polychrome_joker() -> None:
    s = in_round()
    own(s, "j_joker", "j_egg", "j_baron")
    assert use(s, "c_hex") == Status.PLAYING
    assert jokers(s) in ("j_joker/polychrome", "j_egg/polychrome", "j_baron/polychrome")


def test_ankh_copies_one_joker_and_destroys_the_others() -> None:
    s = in_round()
    own(s, "j_joker", "j_egg", "j_baron")
    assert use(s, "c_ankh") == Status.PLAYING
    first, second = jokers(s).split()
    assert first == second


def test_a_full_tray_refuses_what_would_not_fit() -> None:
    s = in_round()
    give(s, "c_pluto", "c_mars", "c_emperor")  # three in two slots, which Perkeo can cause
    assert act(s, Verb.USE, 2) == Status.ILLEGAL
