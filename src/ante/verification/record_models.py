"""Models of recorded reference data, which validate a record before its comparison (see tests/golden/README.md)."""

from collections.abc import Callable, Container
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from ante.catalog.blinds import by_key as blind_by_key
from ante.catalog.cards import RANK_LETTERS, SUIT_LETTERS, Enhancement
from ante.catalog.consumables import by_key as consumable_by_key
from ante.catalog.decks import by_key as deck_by_key
from ante.catalog.hands import by_name as hand_by_name
from ante.catalog.jokers import by_key as joker_by_key
from ante.catalog.vouchers import by_key as voucher_by_key
from ante.engine.core.state import MAX_CARDS, MAX_HAND, MAX_JOKERS, MAX_PLAYED
from ante.engine.run import seed_text
from ante.errors import shown
from ante.verification.recorded_hands import EDITION_NUMBER, MISPRINT_ROLLS, parse_card


def known(what: str, names: Container[str]) -> Any:
    """Return a validator of strings that accepts these names."""

    def check(name: str) -> str:
        if name not in names:
            raise ValueError(f"unknown {what}")
        return name

    return AfterValidator(check)


def readable(what: str, read: Callable[[str], Any]) -> Any:
    """Return a validator of strings that accepts what `read` can parse."""

    def check(text: str) -> str:
        try:
            read(text)
        except (ValueError, KeyError, IndexError):
            raise ValueError(f"not a valid {what}") from None
        return text

    return AfterValidator(check)


Text = Annotated[str, Field(max_length=200)]
Seed = Annotated[Text, readable("game seed", seed_text)]
Card = Annotated[Text, Field(pattern=r"^[SHCD]_[2-9TJQKA]"), readable("card", parse_card)]
HandName = Annotated[str, known("poker hand", hand_by_name)]
Count = Annotated[int, Field(ge=0, le=10_000)]
CardCount = Annotated[int, Field(ge=0, le=MAX_CARDS)]
Slots = Annotated[int, Field(ge=-100, le=100)]
Dollars = Annotated[int, Field(ge=-(10**9), le=10**9)]
Slot = Annotated[int, Field(ge=0, lt=64)]
Result = FiniteFloat | Literal["inf"]
Picked = list[tuple[Text, Annotated[int, Field(ge=0, lt=MAX_HAND)]]]


class Record(BaseModel):
    """Base of all records. Fields that a model does not name are not validated."""

    model_config = ConfigDict(strict=True, frozen=True, extra="allow")


class SeedRecord(Record):
    """A surveyed seed. The fields of its antes are compared without validation."""

    seed: Seed
    deck: Annotated[str, known("deck", deck_by_key)]
    stake: Annotated[int, Field(ge=1, le=8)]
    antes: Annotated[list[dict[Text, Any]], Field(min_length=1, max_length=100)]
    legendary: Any


class Moment(Record):
    """The visible state after a decision. Fields other than packs are compared without validation."""

    packs: list[tuple[Text, int]] = []


class Step(Record):
    """One decision and the visible state after it."""

    do: (
        tuple[Literal["select", "skip", "cash_out", "skip_pack", "reroll", "next_round"]]
        | tuple[Literal["play", "discard"], Picked]
        | tuple[Literal["buy"], Literal["row", "voucher"], Slot]
        | tuple[Literal["open"], Slot]
        | tuple[Literal["pick", "use"], Slot, Picked]
        | tuple[Literal["sell"], Literal["joker", "consumable"], Slot]
        | tuple[Literal["move_joker"], Slot, Slot]
        | tuple[Literal["set_dollars"], Dollars]
    )
    after: Moment


class GameRecord(Record):
    """A recorded game."""

    seed: Seed
    deck: Annotated[str, known("deck", deck_by_key)]
    stake: Annotated[int, Field(ge=1, le=8)]
    start: Moment
    steps: Annotated[list[Step], Field(max_length=100_000)]


class Memory(Record):
    """The stored state of a joker."""

    mult: Annotated[FiniteFloat, Field(ge=0, le=1e15)] = 0
    chips: Annotated[FiniteFloat, Field(ge=0, le=1e15)] = 0
    xmult: Annotated[FiniteFloat, Field(ge=0, le=1e15)] = 0
    hands_left: Count = 0
    hands_since_acquired: Count = 0
    hand: HandName = "Pair"
    blinds_skipped: Count = 0
    tarots_used: Count = 0
    rank: Annotated[str, known("rank", RANK_LETTERS[2:])] = "A"
    suit: Annotated[str, known("suit", SUIT_LETTERS)] = "S"
    rolled: Annotated[int, Field(ge=0, lt=MISPRINT_ROLLS)] = 0

    @model_validator(mode="after")
    def _a_rank_has_a_suit(self) -> "Memory":
        if "rank" in self.model_fields_set and "suit" not in self.model_fields_set:
            raise ValueError("rank needs a suit: both are the card of The Idol")
        return self


class JokerRecord(Record):
    """An owned joker."""

    key: Annotated[str, known("joker", joker_by_key)]
    edition: Annotated[str, known("edition", EDITION_NUMBER)] | None
    sell: Annotated[int, Field(ge=-10_000, le=10_000)]
    state: Memory | None = None
    debuffed: bool | None = None


class BossMemory(Record):
    """The stored state of The Eye or The Mouth."""

    hands_used: list[HandName] | None = None
    only_hand: HandName | None = None


class DeckFacts(Record):
    """Counts over the whole deck."""

    starting_deck_size: CardCount
    stone_cards: CardCount
    steel_cards: CardCount
    enhanced_cards: CardCount


class Expected(Record):
    """The recorded score of a hand."""

    refused: bool | None = None
    hand: HandName
    scoring: list[Slot] | None = None
    chips: Result
    mult: Result
    total: Result


class HandRecord(Record):
    """A hand before scoring, and its recorded score."""

    id: Text | int | None = None
    seed: Seed = "TESTSEED"
    deck: Annotated[str, known("deck", deck_by_key)] = "b_red"
    played: Annotated[list[Card], Field(min_length=1, max_length=MAX_PLAYED)]
    held: Annotated[list[Card], Field(max_length=1000)]
    jokers: Annotated[list[JokerRecord], Field(max_length=1000)]
    consumables: Annotated[list[Annotated[str, known("consumable", consumable_by_key)]], Field(max_length=1000)]
    vouchers: list[Annotated[str, known("voucher", voucher_by_key)]]
    boss: Annotated[str, known("blind", blind_by_key)] | None
    boss_state: BossMemory | None = None
    levels: dict[HandName, Annotated[int, Field(ge=1, le=10_000)]]
    plays: dict[HandName, tuple[Count, Count]]
    round_hands_played: Count
    dollars: Dollars
    hands_left: Count
    discards_left: Count
    joker_slots: Slots
    deck_size: Annotated[int, Field(ge=1, le=10_000)]
    deck_left: Annotated[int, Field(ge=0, le=10_000)]
    deck_facts: DeckFacts
    expect: Expected

    @model_validator(mode="after")
    def _counts_are_consistent(self) -> "HandRecord":
        if self.deck_size > MAX_CARDS or len(self.held) > MAX_HAND or len(self.jokers) > MAX_JOKERS:
            return self  # exceeds the engine's limits; the comparison reports it
        lying = [parse_card(text)["enhancement"] for text in self.played + self.held]
        rest = self.deck_size - len(lying)
        stone = self.deck_facts.stone_cards - lying.count(Enhancement.STONE)
        steel = self.deck_facts.steel_cards - lying.count(Enhancement.STEEL)
        other = self.deck_facts.enhanced_cards - sum(1 for each in lying if each) - stone - steel
        if rest < 0 or self.deck_left > rest:
            raise ValueError(
                f"deck_size {self.deck_size} and deck_left {self.deck_left} do not match {len(lying)} cards"
            )
        if sum(max(0, count) for count in (stone, steel, other)) > rest:
            raise ValueError(f"deck_facts {shown(self.deck_facts.model_dump())} do not match the cards")
        return self
