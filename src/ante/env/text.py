"""A game as text: the observation, and the meaning of actions in its current state."""

from typing import Any

from ante.catalog.blinds import BLINDS
from ante.catalog.cards import EDITIONS, ENHANCEMENTS, RANK_LETTERS, SEALS, SUIT_LETTERS
from ante.catalog.challenges import CHALLENGES
from ante.catalog.consumables import CONSUMABLES
from ante.catalog.decks import DECKS, Stake
from ante.catalog.hands import HANDS
from ante.catalog.jokers import JOKERS
from ante.catalog.packs import PACKS
from ante.catalog.tags import TAGS
from ante.catalog.vouchers import VOUCHERS
from ante.engine.actions import N_DISCRETE, Verb, cards_of, target_of, to_macro, to_of, verb_of
from ante.engine.blinds import blind_on_deck
from ante.engine.core.state import Kind, Phase, Place
from ante.engine.items.prices import sell_value, shop_price
from ante.engine.shop import pack_price, reroll_price, voucher_price
from ante.env.observe import focus_target, selected_hand
from ante.env.observe_items import in_shop, jokers_hidden

FACE_DOWN = "??"
STICKERS = ((1, "eternal"), (2, "perishable"), (4, "rental"), (16, "pinned"))
PHASES = {
    Phase.BLIND_SELECT: "choose the blind",
    Phase.PLAY: "play",
    Phase.ROUND_END: "cash out",
    Phase.SHOP: "shop",
    Phase.PACK: "open pack",
    Phase.OVER: "game over",
}


def number(x: float) -> str:
    """Format a score: 12,345, or 1.23e15 if it is long."""
    return f"{x:,.0f}" if x < 1e11 else f"{x:.3g}"


def card_name(card: Any) -> str:
    """Return a playing card, `AS`, with its enhancement, edition and seal; `??` if it is face down."""
    if "face_down" in card.dtype.names and card.face_down:
        return FACE_DOWN
    extras = []
    if card.enhancement:
        extras.append(ENHANCEMENTS[card.enhancement].name.removesuffix(" Card"))
    if card.edition:
        extras.append(EDITIONS[card.edition].key)
    if card.seal:
        extras.append(f"{SEALS[card.seal].key.lower()} seal")
    if "debuffed" in card.dtype.names and card.debuffed:
        extras.append("debuffed")
    front = "Stone" if card.enhancement == 6 else RANK_LETTERS[card.rank] + SUIT_LETTERS[card.suit]
    extras = [extra for extra in extras if extra != "Stone"]
    return f"{front}({', '.join(extras)})" if extras else front


def item_name(item: Any) -> str:
    """Return a joker, consumable or playing card for sale, with edition and stickers."""
    if item.kind == Kind.NONE:
        return "-"
    if item.kind == Kind.PLAYING_CARD:
        return card_name(item)
    name = JOKERS[item.id].name if item.kind == Kind.JOKER else CONSUMABLES[item.id].name
    extras = [EDITIONS[item.edition].key] if item.edition else []
    extras += [word for bit, word in STICKERS if item.stickers & bit]
    if item.kind == Kind.JOKER and item.debuffed:
        extras.append("debuffed")
    return f"{name} ({', '.join(extras)})" if extras else name


def joker_text(s: Any, slot: int) -> str:
    """Return an owned joker with the value that it has grown to."""
    item = s.jokers[slot]
    grown = f" [{item.value:g}]" if item.value else ""
    return f"{item_name(item)}{grown}"


def hidden_jokers(s: Any) -> list[str]:
    """Return the jokers under Amber Acorn, without their order."""
    return sorted(joker_text(s, i) for i in range(s.n_jokers))


def seed_of(s: Any) -> str:
    """Return the seed of a game."""
    return bytes(s.seed[: int(s.seed_length)]).decode()


def run_name(s: Any) -> str:
    """Return deck and stake, or the challenge."""
    if s.challenge:
        return f"challenge {CHALLENGES[s.challenge].name}"
    return f"{DECKS[s.deck_id].name}, {Stake(int(s.stake)).name.title()} Stake"


def describe(s: Any) -> str:
    """Return the game as text, without hidden information."""
    lines = [*_head(s), *_owned(s)]
    if s.phase == Phase.BLIND_SELECT:
        lines += _panels(s)
    if s.n_hand and s.phase in (Phase.PLAY, Phase.PACK):
        lines += _hand(s)
    if s.phase == Phase.ROUND_END:
        lines.append(f"payout     ${s.payout}")
    if in_shop(s):
        lines += _shop(s)
    if s.phase == Phase.PACK:
        row = " | ".join(f"{i}: {item_name(s.pack[i])}" for i in range(s.n_pack))
        lines.append(f"{PACKS[s.pack_id].name}, take {s.picks_left}:  {row}")
    return "\n".join(lines)


def _head(s: Any) -> list[str]:
    playing = s.phase in (Phase.PLAY, Phase.OVER)
    blind = BLINDS[int(s.blind) if playing and s.blind else int(blind_on_deck(s))]
    score = (
        f"{number(float(s.chips))} of {number(float(focus_target(s)))}"
        if playing
        else f"needs {number(float(focus_target(s)))}"
    )
    effect = "" if blind.blind <= 2 else f"  ({blind.effect}{' DISABLED' if playing and s.boss_disabled else ''})"
    seed = bytes(s.seed[: int(s.seed_length)]).decode()
    return [
        f"ante {s.ante}  round {s.round_number}  {PHASES[Phase(int(s.phase))]}    {run_name(s)}, seed {seed}",
        f"{blind.name}: {score}{effect}",
        f"${s.dollars}  hands {s.hands_left}  discards {s.discards_left}",
    ]


def _owned(s: Any) -> list[str]:
    hidden = bool(jokers_hidden(s))
    jokers = hidden_jokers(s) if hidden else [joker_text(s, i) for i in range(s.n_jokers)]
    title = "face down" if hidden else "jokers"
    lines = [f"{title:10s} " + (" | ".join(f"{i}: {text}" for i, text in enumerate(jokers)) or "none")]
    if s.n_consumables:
        held = [f"{i}: {item_name(s.consumables[i])}" for i in range(s.n_consumables)]
        lines.append(f"{'cards':10s} " + " | ".join(held))
    vouchers = [VOUCHERS[v].name for v in range(1, 33) if s.vouchers[v]]
    if vouchers:
        lines.append(f"{'vouchers':10s} " + ", ".join(vouchers))
    if s.n_tags:
        lines.append(f"{'tags':10s} " + ", ".join(TAGS[s.tags[i]].name for i in range(s.n_tags)))
    levels = [f"{row.name} {s.levels[row.hand]}" for row in HANDS if s.levels[row.hand] != 1]
    if levels:
        lines.append(f"{'levels':10s} " + ", ".join(levels))
    return lines


def _panels(s: Any) -> list[str]:
    tags = [TAGS[s.skip_tags[i]].name for i in range(int(s.blind_on_deck), 2)]
    names = ("Small", "Big")[int(s.blind_on_deck) :]
    skips = [f"skipping {name} gives {tag}" for name, tag in zip(names, tags, strict=True)]
    boss = BLINDS[s.boss]
    return [f"{'ahead':10s} " + ", ".join([*skips, f"boss {boss.name}: {boss.effect}"])]


def _hand(s: Any) -> list[str]:
    cards = []
    for i in range(s.n_hand):
        name = card_name(s.cards[s.hand[i]])
        cards.append(f"[{name}]" if (int(s.selected) >> i) & 1 else name)
    lines = [f"{'hand':10s} " + " ".join(cards)]
    made = int(selected_hand(s))
    if made:
        lines.append(f"{'selected':10s} {HANDS[made - 1].name}, level {s.levels[made - 1]}")
    unseen = sum(1 for i in range(s.n_cards) if s.cards[i].place == Place.DECK)
    return [*lines, f"{'draw pile':10s} {unseen} cards"]


def _shop(s: Any) -> list[str]:
    row = [f"{i}: {item_name(s.row[i])} ${shop_price(s.row[i])}" for i in range(s.n_row) if s.row[i].kind]
    vouchers = [
        f"{i}: {VOUCHERS[v].name} ${voucher_price(s, int(v))}"
        for i, v in enumerate(s.shop_vouchers[: s.n_shop_vouchers])
        if v
    ]
    packs = [f"{i}: {PACKS[p].name} ${pack_price(s, i)}" for i, p in enumerate(s.packs) if p >= 0]
    return [
        f"{'for sale':10s} " + (" | ".join(row) or "nothing") + f"    reroll ${reroll_price(s)}",
        f"{'vouchers':10s} " + (" | ".join(vouchers) or "none") + "    packs " + (" | ".join(packs) or "none"),
    ]


def card_list(s: Any, cards: int) -> str:
    """Return the hand cards at these positions."""
    names = [card_name(s.cards[s.hand[i]]) for i in range(s.n_hand) if (cards >> i) & 1]
    return " ".join(names) or "no cards"


def action_name(s: Any, index: int) -> str:
    """Return the meaning of a discrete action in this game, `play AS AH`."""
    if not 0 <= index < N_DISCRETE:
        return f"no action {index}"
    return macro_name(s, int(to_macro(s, index)))


def macro_name(s: Any, action: int) -> str:
    """Return the meaning of a macro decision in this game."""
    verb, slot, to, cards = int(verb_of(action)), int(target_of(action)), int(to_of(action)), int(cards_of(action))
    if verb >= len(Verb):
        return f"no verb {verb}"
    plain = {
        Verb.CLEAR: "clear the selection",
        Verb.PLAY: f"play {card_list(s, cards)}",
        Verb.DISCARD: f"discard {card_list(s, cards)}",
        Verb.SELECT_BLIND: f"select {BLINDS[int(blind_on_deck(s))].name}" if s.blind_on_deck <= 2 else "select blind",
        Verb.SKIP_BLIND: "skip the blind",
        Verb.REROLL_BOSS: "reroll the boss",
        Verb.CASH_OUT: "cash out",
        Verb.REROLL: "reroll the shop",
        Verb.NEXT_ROUND: "leave the shop",
        Verb.SKIP_PACK: "skip the pack",
        Verb.SORT_HAND: "sort the hand by suit" if to else "sort the hand by rank",
        Verb.MOVE_JOKER: f"move joker {slot} to {to}",
        Verb.MOVE_CARD: f"move card {slot} to {to}",
    }
    return plain.get(Verb(verb)) or _slot_name(s, Verb(verb), slot, cards)


def _slot_name(s: Any, verb: Verb, slot: int, cards: int) -> str:
    on = f" on {card_list(s, cards)}" if cards else ""
    if verb == Verb.SELECT:
        return f"select {card_name(s.cards[s.hand[slot]]) if slot < s.n_hand else f'card {slot}'}"
    if verb in (Verb.BUY, Verb.BUY_AND_USE):
        what = "buy and use" if verb == Verb.BUY_AND_USE else "buy"
        return f"{what} {item_name(s.row[slot]) if slot < s.n_row else f'card {slot}'}"
    if verb == Verb.BUY_VOUCHER:
        known = slot < s.n_shop_vouchers and s.shop_vouchers[slot]
        return f"redeem {VOUCHERS[s.shop_vouchers[slot]].name if known else f'voucher {slot}'}"
    if verb == Verb.OPEN_PACK:
        return f"open {PACKS[s.packs[slot]].name if slot < len(s.packs) and s.packs[slot] >= 0 else f'pack {slot}'}"
    if verb == Verb.PICK:
        return f"take {item_name(s.pack[slot]) if slot < s.n_pack else f'card {slot}'}{on}"
    if verb == Verb.SELL_JOKER:
        if slot >= s.n_jokers or jokers_hidden(s):
            return f"sell joker {slot}"
        return f"sell {item_name(s.jokers[slot])} for ${sell_value(s.jokers[slot])}"
    held = item_name(s.consumables[slot]) if slot < s.n_consumables else f"card {slot}"
    return f"use {held}{on}" if verb == Verb.USE else f"sell {held}"
