"""The 32 booster packs in draw order."""

from dataclasses import dataclass
from enum import IntEnum


class PackKind(IntEnum):
    """The contents of a pack."""

    ARCANA = 0
    CELESTIAL = 1
    STANDARD = 2
    BUFFOON = 3
    SPECTRAL = 4


@dataclass(frozen=True, slots=True)
class PackRow:
    """One pack: `size` cards are shown, `choose` of them may be taken."""

    key: str
    name: str
    kind: PackKind
    cost: int
    weight: float
    size: int
    choose: int


PACKS: tuple[PackRow, ...] = (
    PackRow("p_arcana_normal_1", "Arcana Pack", PackKind.ARCANA, 4, 1.0, 3, 1),
    PackRow("p_arcana_normal_2", "Arcana Pack", PackKind.ARCANA, 4, 1.0, 3, 1),
    PackRow("p_arcana_normal_3", "Arcana Pack", PackKind.ARCANA, 4, 1.0, 3, 1),
    PackRow("p_arcana_normal_4", "Arcana Pack", PackKind.ARCANA, 4, 1.0, 3, 1),
    PackRow("p_arcana_jumbo_1", "Jumbo Arcana Pack", PackKind.ARCANA, 6, 1.0, 5, 1),
    PackRow("p_arcana_jumbo_2", "Jumbo Arcana Pack", PackKind.ARCANA, 6, 1.0, 5, 1),
    PackRow("p_arcana_mega_1", "Mega Arcana Pack", PackKind.ARCANA, 8, 0.25, 5, 2),
    PackRow("p_arcana_mega_2", "Mega Arcana Pack", PackKind.ARCANA, 8, 0.25, 5, 2),
    PackRow("p_celestial_normal_1", "Celestial Pack", PackKind.CELESTIAL, 4, 1.0, 3, 1),
    PackRow("p_celestial_normal_2", "Celestial Pack", PackKind.CELESTIAL, 4, 1.0, 3, 1),
    PackRow("p_celestial_normal_3", "Celestial Pack", PackKind.CELESTIAL, 4, 1.0, 3, 1),
    PackRow("p_celestial_normal_4", "Celestial Pack", PackKind.CELESTIAL, 4, 1.0, 3, 1),
    PackRow("p_celestial_jumbo_1", "Jumbo Celestial Pack", PackKind.CELESTIAL, 6, 1.0, 5, 1),
    PackRow("p_celestial_jumbo_2", "Jumbo Celestial Pack", PackKind.CELESTIAL, 6, 1.0, 5, 1),
    PackRow("p_celestial_mega_1", "Mega Celestial Pack", PackKind.CELESTIAL, 8, 0.25, 5, 2),
    PackRow("p_celestial_mega_2", "Mega Celestial Pack", PackKind.CELESTIAL, 8, 0.25, 5, 2),
    PackRow("p_standard_normal_1", "Standard Pack", PackKind.STANDARD, 4, 1.0, 3, 1),
    PackRow("p_standard_normal_2", "Standard Pack", PackKind.STANDARD, 4, 1.0, 3, 1),
    PackRow("p_standard_normal_3", "Standard Pack", PackKind.STANDARD, 4, 1.0, 3, 1),
    PackRow("p_standard_normal_4", "Standard Pack", PackKind.STANDARD, 4, 1.0, 3, 1),
    PackRow("p_standard_jumbo_1", "Jumbo Standard Pack", PackKind.STANDARD, 6, 1.0, 5, 1),
    PackRow("p_standard_jumbo_2", "Jumbo Standard Pack", PackKind.STANDARD, 6, 1.0, 5, 1),
    PackRow("p_standard_mega_1", "Mega Standard Pack", PackKind.STANDARD, 8, 0.25, 5, 2),
    PackRow("p_standard_mega_2", "Mega Standard Pack", PackKind.STANDARD, 8, 0.25, 5, 2),
    PackRow("p_buffoon_normal_1", "Buffoon Pack", PackKind.BUFFOON, 4, 0.6, 2, 1),
    PackRow("p_buffoon_normal_2", "Buffoon Pack", PackKind.BUFFOON, 4, 0.6, 2, 1),
    PackRow("p_buffoon_jumbo_1", "Jumbo Buffoon Pack", PackKind.BUFFOON, 6, 0.6, 4, 1),
    PackRow("p_buffoon_mega_1", "Mega Buffoon Pack", PackKind.BUFFOON, 8, 0.15, 4, 2),
    PackRow("p_spectral_normal_1", "Spectral Pack", PackKind.SPECTRAL, 4, 0.3, 2, 1),
    PackRow("p_spectral_normal_2", "Spectral Pack", PackKind.SPECTRAL, 4, 0.3, 2, 1),
    PackRow("p_spectral_jumbo_1", "Jumbo Spectral Pack", PackKind.SPECTRAL, 6, 0.3, 4, 1),
    PackRow("p_spectral_mega_1", "Mega Spectral Pack", PackKind.SPECTRAL, 8, 0.07, 4, 2),
)

TOTAL_WEIGHT = 22.42

by_key: dict[str, int] = {row.key: index for index, row in enumerate(PACKS)}
