"""Each booster pack: price, contents, and number of picks."""

from typing import Any

import pytest

from ante.catalog.packs import by_key as pack_by_key
from ante.engine.actions import Verb
from ante.engine.core.state import Kind, Phase, Status
from tests.support.table import act, facing, to_shop

TAROTS, PLANETS, SPECTRALS = range(1, 23), range(23, 35), range(35, 53)
SOUL, BLACK_HOLE = 51, 52
SEEDS = [f"PACK{n}" for n in range(12)]


def opened(key: str, price: int, seed: str) -> Any:
    """Return a game that bought this pack in the shop after the Small Blind."""
    s = to_shop(facing("bl_small", seed=seed))
    s.packs[0], s.dollars = pack_by_key[key], price - 1
    assert act(s, Verb.OPEN_PACK, 0) == Status.ILLEGAL
    s.dollars = price
    assert act(s, Verb.OPEN_PACK, 0) == Status.PLAYING
    assert (s.phase, s.dollars, s.packs[0]) == (Phase.PACK, 0, -1)
    return s


def shown(s: Any) -> list[int]:
    """Return the consumables in the open pack, which are all different."""
    numbers = [int(s.pack[i].id) for i in range(s.n_pack)]
    assert all(s.pack[i].kind == Kind.CONSUMABLE for i in range(s.n_pack))
    assert len(set(numbers)) == len(numbers)
    return numbers


@pytest.mark.parametrize(
    ("key", "price", "size", "picks"),
    [("p_arcana_normal_1", 4, 3, 1), ("p_arcana_jumbo_1", 6, 5, 1), ("p_arcana_mega_1", 8, 5, 2)],
)
def test_normal_arcana_jumbo_arcana_and_mega_arcana_packs_show_tarots_beside_a_hand(
    key: str, price: int, size: int, picks: int
) -> None:
    for seed in SEEDS:
        s = opened(key, price, seed)
        assert (s.n_pack, s.picks_left, s.n_hand) == (size, picks, 8)
        assert set(shown(s)) <= {*TAROTS, SOUL}


@pytest.mark.parametrize(
    ("key", "price", "size", "picks"),
    [("p_celestial_normal_1", 4, 3, 1), ("p_celestial_jumbo_1", 6, 5, 1), ("p_celestial_mega_1", 8, 5, 2)],
)
def test_normal_celestial_jumbo_celestial_and_mega_celestial_packs_raise_hands(
    key: str, price: int, size: int, picks: int
) -> None:
    for seed in SEEDS:
        s = opened(key, price, seed)
        assert (s.n_pack, s.picks_left, s.n_hand) == (size, picks, 0)
        assert set(shown(s)) <= {*PLANETS, BLACK_HOLE}
        for _ in range(picks):
            assert s.phase == Phase.PACK
            act(s, Verb.PICK, 0)
        assert (s.phase, s.n_consumables) == (Phase.SHOP, 0)  # used immediately
        assert s.levels.sum() == 12 + picks


@pytest.mark.parametrize(
    ("key", "price", "size", "picks"),
    [("p_spectral_normal_1", 4, 2, 1), ("p_spectral_jumbo_1", 6, 4, 1), ("p_spectral_mega_1", 8, 4, 2)],
)
def test_normal_spectral_jumbo_spectral_and_mega_spectral_packs_show_spectrals_beside_a_hand(
    key: str, price: int, size: int, picks: int
) -> None:
    for seed in SEEDS:
        s = opened(key, price, seed)
        assert (s.n_pack, s.picks_left, s.n_hand) == (size, picks, 8)
        assert set(shown(s)) <= set(SPECTRALS)


@pytest.mark.parametrize(
    ("key", "price", "size", "picks"),
    [("p_buffoon_normal_1", 4, 2, 1), ("p_buffoon_jumbo_1", 6, 4, 1), ("p_buffoon_mega_1", 8, 4, 2)],
)
def test_normal_buffoon_jumbo_buffoon_and_mega_buffoon_packs_give_jokers(
    key: str, price: int, size: int, picks: int
) -> None:
    for seed in SEEDS:
        s = opened(key, price, seed)
        assert (s.n_pack, s.picks_left, s.n_hand) == (size, picks, 0)
        numbers = [int(s.pack[i].id) for i in range(size)]
        assert all(s.pack[i].kind == Kind.JOKER for i in range(size))
        assert len(set(numbers)) == size
        for _ in range(picks):
            act(s, Verb.PICK, 0)
        assert s.phase == Phase.SHOP
        assert [int(s.jokers[i].id) for i in range(s.n_jokers)] == numbers[:picks]


@pytest.mark.parametrize(
    ("key", "price", "size", "picks"),
    [("p_standard_normal_1", 4, 3, 1), ("p_standard_jumbo_1", 6, 5, 1), ("p_standard_mega_1", 8, 5, 2)],
)
def test_normal_standard_jumbo_standard_and_mega_standard_packs_add_cards_to_the_deck(
    key: str, price: int, size: int, picks: int
) -> None:
    for seed in SEEDS:
        s = opened(key, price, seed)
        assert (s.n_pack, s.picks_left, s.n_hand) == (size, picks, 0)
        assert all(s.pack[i].kind == Kind.PLAYING_CARD for i in range(size))
        wanted = [tuple(int(s.pack[i][name]) for name in ("rank", "suit", "enhancement", "seal")) for i in range(picks)]
        for _ in range(picks):
            act(s, Verb.PICK, 0)
        assert (s.phase, s.n_cards, s.n_deck) == (Phase.SHOP, 52 + picks, 52 + picks)
        added = [tuple(int(card[name]) for name in ("rank", "suit", "enhancement", "seal")) for card in s.cards[52:54]]
        assert added[:picks] == wanted


def test_standard_packs_enhance_four_cards_in_ten_and_seal_two() -> None:
    cards = []
    for n in range(150):
        s = opened("p_standard_mega_1", 8, f"STANDARD{n}")
        cards += [s.pack[i].copy() for i in range(5)]
    share = [sum(bool(card[name]) for card in cards) / len(cards) for name in ("enhancement", "seal", "edition")]
    assert abs(share[0] - 0.4) < 0.06
    assert abs(share[1] - 0.2) < 0.05
    assert abs(share[2] - 0.08) < 0.035  # twice the usual probability
    assert {int(card["seal"]) for card in cards} == {0, 1, 2, 3, 4}
    assert {int(card["enhancement"]) for card in cards} == set(range(9))


@pytest.mark.parametrize("cards", [1, 8])
def test_the_hand_of_a_pack_returns_to_the_deck(cards: int) -> None:
    s = to_shop(facing("bl_small"))
    s.packs[0], s.dollars, s.base_hand_size, s.hand_size = pack_by_key["p_arcana_normal_1"], 4, cards, cards
    assert act(s, Verb.OPEN_PACK, 0) == Status.PLAYING
    assert (s.n_hand, s.n_deck) == (cards, 52 - cards)
    assert act(s, Verb.SKIP_PACK) == Status.PLAYING
    assert (s.n_hand, s.n_deck) == (0, 52)


def test_a_skipped_pack_gives_nothing() -> None:
    s = opened("p_standard_mega_1", 8, "TESTSEED")
    assert act(s, Verb.SKIP_PACK) == Status.PLAYING
    assert (s.phase, s.n_cards, s.n_pack) == (Phase.SHOP, 52, 0)
