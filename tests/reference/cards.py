"""A reference card: its text, and its rank and suit, which depend on debuffs and on owned jokers."""

from dataclasses import dataclass

RANKS = "23456789TJQKA"
SUITS = "SHCD"
RED, BLACK = "HD", "SC"


@dataclass
class Card:
    """A playing card, such as `S_A:m_glass/foil=Red+h5!`."""

    suit: str
    rank: str
    enhancement: str | None = None
    edition: str | None = None
    seal: str | None = None
    bonus: int = 0
    debuffed: bool = False

    @property
    def is_stone(self) -> bool:
        return self.enhancement == "m_stone"

    @property
    def is_wild(self) -> bool:
        return self.enhancement == "m_wild" and not self.debuffed

    @property
    def order(self) -> int | None:
        """2 to 14, None for a Stone card."""
        return None if self.is_stone else RANKS.index(self.rank) + 2

    @property
    def value(self) -> int:
        """Chips printed on the card: faces 10, Aces 11."""
        return {"T": 10, "J": 10, "Q": 10, "K": 10, "A": 11}.get(self.rank) or int(self.rank)

    def has_rank(self, ranks: str) -> bool:
        return not self.is_stone and self.rank in ranks

    def is_face(self, pareidolia: bool) -> bool:
        """Return whether it is a face card; a debuffed card is not."""
        return not self.debuffed and (pareidolia or self.has_rank("JQK"))

    def shows_suit(self, suit: str, smeared: bool) -> bool:
        """Return the suit for flushes: debuffed cards keep their suit, a debuffed Wild card only its own."""
        if self.is_stone:
            return False
        if self.is_wild or self.suit == suit:
            return True
        return smeared and (self.suit in RED) == (suit in RED)

    def is_suit(self, suit: str, smeared: bool) -> bool:
        """Return the suit for effects: a debuffed card has none."""
        return not self.debuffed and self.shows_suit(suit, smeared)


def read_card(text: str) -> Card:
    """Parse the text of a card."""
    debuffed = text.endswith("!")
    text, _, bonus = text.rstrip("!").partition("+h")
    text, _, seal = text.partition("=")
    text, _, edition = text.partition("/")
    text, _, enhancement = text.partition(":")
    return Card(text[0], text[2], enhancement or None, edition or None, seal or None, int(bonus or 0), debuffed)


def write_card(card: Card) -> str:
    """Return the text of a card."""
    text = f"{card.suit}_{card.rank}"
    text += f":{card.enhancement}" if card.enhancement else ""
    text += f"/{card.edition}" if card.edition else ""
    text += f"={card.seal}" if card.seal else ""
    text += f"+h{card.bonus}" if card.bonus else ""
    return text + ("!" if card.debuffed else "")
