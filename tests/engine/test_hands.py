"""The twelve poker hands: chips and mult, and the increase per level."""

from ante.catalog.hands import Hand
from tests.support.table import deal, play


def counts(hand: Hand, cards: str, of_cards: int) -> list[tuple[float, float]]:
    """Return chips without those of the cards, and mult, at levels 1, 2 and 11."""
    found = []
    for level in (1, 2, 11):
        s = deal(cards)
        s.levels[hand] = level
        chips, mult = play(s, *range(len(cards.split())))
        assert s.hand_type == hand
        found.append((chips - of_cards, mult))
    return found


def test_flush_five_counts_160_by_16_and_50_by_3_a_level() -> None:
    assert counts(Hand.FLUSH_FIVE, "S_8 S_8 S_8 S_8 S_8", 40) == [(160, 16), (210, 19), (660, 46)]


def test_flush_house_counts_140_by_14_and_40_by_4_a_level() -> None:
    assert counts(Hand.FLUSH_HOUSE, "S_8 S_8 S_8 S_2 S_2", 28) == [(140, 14), (180, 18), (540, 54)]


def test_five_of_a_kind_counts_120_by_12_and_35_by_3_a_level() -> None:
    assert counts(Hand.FIVE_OF_A_KIND, "S_8 H_8 C_8 D_8 S_8", 40) == [(120, 12), (155, 15), (470, 42)]


def test_straight_flush_counts_100_by_8_and_40_by_4_a_level() -> None:
    assert counts(Hand.STRAIGHT_FLUSH, "S_A S_2 S_3 S_4 S_5", 25) == [(100, 8), (140, 12), (500, 48)]


def test_four_of_a_kind_counts_60_by_7_and_30_by_3_a_level() -> None:
    assert counts(Hand.FOUR_OF_A_KIND, "S_8 H_8 C_8 D_8 S_K", 32) == [(60, 7), (90, 10), (360, 37)]


def test_full_house_counts_40_by_4_and_25_by_2_a_level() -> None:
    assert counts(Hand.FULL_HOUSE, "S_8 H_8 C_8 D_2 S_2", 28) == [(40, 4), (65, 6), (290, 24)]


def test_flush_counts_35_by_4_and_15_by_2_a_level() -> None:
    assert counts(Hand.FLUSH, "S_2 S_4 S_6 S_8 S_K", 30) == [(35, 4), (50, 6), (185, 24)]


def test_straight_counts_30_by_4_and_30_by_3_a_level() -> None:
    assert counts(Hand.STRAIGHT, "S_T H_J C_Q D_K S_A", 51) == [(30, 4), (60, 7), (330, 34)]


def test_three_of_a_kind_counts_30_by_3_and_20_by_2_a_level() -> None:
    assert counts(Hand.THREE_OF_A_KIND, "S_8 H_8 C_8 D_2 S_K", 24) == [(30, 3), (50, 5), (230, 23)]


def test_two_pair_counts_20_by_2_and_20_by_1_a_level() -> None:
    assert counts(Hand.TWO_PAIR, "S_8 H_8 C_2 D_2 S_K", 20) == [(20, 2), (40, 3), (220, 12)]


def test_pair_counts_10_by_2_and_15_by_1_a_level() -> None:
    assert counts(Hand.PAIR, "S_8 H_8 C_3 D_2 S_K", 16) == [(10, 2), (25, 3), (160, 12)]


def test_high_card_counts_5_by_1_and_10_by_1_a_level() -> None:
    assert counts(Hand.HIGH_CARD, "S_8 H_9 C_3 D_2 S_K", 10) == [(5, 1), (15, 2), (105, 11)]
