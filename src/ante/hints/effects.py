"""Effects of the visible cards, and which playing cards have not been seen this round, as text for a model."""

from collections.abc import Iterator
from typing import Any

from ante.catalog.cards import EDITIONS, ENHANCEMENTS, RANK_LETTERS, SEALS, SUIT_LETTERS
from ante.catalog.consumables import CONSUMABLES
from ante.catalog.decks import DECKS, STAKES
from ante.catalog.jokers import JOKERS
from ante.catalog.packs import PACKS
from ante.catalog.tags import TAGS
from ante.catalog.vouchers import VOUCHERS
from ante.engine.core.state import Kind, Phase, Place
from ante.env.observe_items import in_shop

STONE = 6


def effects(s: Any) -> str:
    """Return a line `name: effect` for each visible item, each once and by name: the order of hidden jokers is not shown."""
    return "\n".join(f"{name}: {effect}" for name, effect in sorted(set(named_effects(s))))


def named_effects(s: Any) -> Iterator[tuple[str, str]]:
    """Yield names and effects of deck, jokers, cards, vouchers, packs and tags that a player sees."""
    if not s.challenge:
        yield DECKS[s.deck_id].name, DECKS[s.deck_id].effect
        yield from ((row.stake.name.title() + " Stake", row.effect) for row in STAKES[1 : int(s.stake)])
    items = [*s.jokers[: s.n_jokers], *s.consumables[: s.n_consumables]]
    if in_shop(s):
        items.extend(s.row[: s.n_row])
        yield from ((VOUCHERS[v].name, VOUCHERS[v].effect) for v in s.shop_vouchers[: s.n_shop_vouchers] if v)
        yield from ((PACKS[p].name, contents(PACKS[p])) for p in s.packs if p >= 0)
    if s.phase == Phase.PACK:
        items.extend(s.pack[: s.n_pack])
    for item in items:
        yield from effects_of(item)
    if s.phase in (Phase.PLAY, Phase.PACK):
        for card in s.cards[s.hand[: s.n_hand]]:
            yield from card_effects(card)
    if s.phase == Phase.BLIND_SELECT:
        yield from ((TAGS[t].name, TAGS[t].effect) for t in s.skip_tags[int(s.blind_on_deck) : 2])
    yield from ((TAGS[t].name, TAGS[t].effect) for t in s.tags[: s.n_tags])


def effects_of(item: Any) -> Iterator[tuple[str, str]]:
    """Yield names and effects of an item for sale or owned, with its edition."""
    if item.kind == Kind.PLAYING_CARD:
        yield from card_effects(item)
        return
    if item.kind == Kind.NONE:
        return
    row = JOKERS[item.id] if item.kind == Kind.JOKER else CONSUMABLES[item.id]
    yield row.name, row.effect
    if item.edition:
        yield EDITIONS[item.edition].key, EDITIONS[item.edition].effect


def card_effects(card: Any) -> Iterator[tuple[str, str]]:
    """Yield names and effects of a playing card's enhancement, edition and seal, unless it is face down."""
    if "face_down" in card.dtype.names and card.face_down:
        return
    if card.enhancement:
        yield ENHANCEMENTS[card.enhancement].name, ENHANCEMENTS[card.enhancement].effect
    if card.edition:
        yield EDITIONS[card.edition].key, EDITIONS[card.edition].effect
    if card.seal:
        yield f"{SEALS[card.seal].key.lower()} seal", SEALS[card.seal].effect


def contents(pack: Any) -> str:
    """Return what a pack offers: `choose 1 of 3`."""
    return f"choose {pack.choose} of {pack.size}"


def unseen_cards(s: Any) -> str:
    """Return the numbers of cards that were not seen this round, by suit and by rank: the draw pile, and cards face down."""
    suits, ranks, stones = dict.fromkeys(SUIT_LETTERS, 0), dict.fromkeys(RANK_LETTERS[:1:-1], 0), 0
    for card in s.cards[: s.n_cards]:
        if card.place != Place.DECK and not card.face_down:
            continue
        if card.enhancement == STONE:
            stones += 1
        else:
            suits[SUIT_LETTERS[card.suit]] += 1
            ranks[RANK_LETTERS[card.rank]] += 1
    parts = [" ".join(f"{letter} {count}" for letter, count in each.items() if count) for each in (suits, ranks)]
    return " | ".join([*filter(None, parts), *([f"Stone {stones}"] if stones else [])]) or "none"
