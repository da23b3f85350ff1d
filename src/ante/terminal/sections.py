"""The parts of the game's screen, each a list of lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from ante.catalog.blinds import BLINDS, Blind
from ante.catalog.challenges import Modifier
from ante.catalog.constants import WIN_ANTE
from ante.catalog.tags import TAGS
from ante.engine.actions import can_pay
from ante.engine.blinds import blind_on_deck, blind_target
from ante.engine.core.state import Phase, new_states
from ante.engine.core.tables import DECK_DISCARD_DOLLARS, DECK_HAND_DOLLARS
from ante.engine.rounds import blind_reward
from ante.engine.shop import reroll_price
from ante.env.reward import blinds_beaten
from ante.env.story import tag_words
from ante.env.text import number, run_name, seed_of
from ante.terminal.bindings import CARDS
from ante.terminal.decisions import consumable_slots, joker_slots
from ante.terminal.faces import BAD, DIM, GOOD, MONEY, TITLE, Hand, Symbols, cut, flow, hand_lines
from ante.terminal.items import (
    Item,
    consumables,
    for_sale,
    jokers,
    pack_cards,
    pack_title,
    packs,
    vouchers,
)
from ante.terminal.session import Session

BAR = 24  # columns of the bar of the score
NAME = 30  # columns of an item's name at most


@dataclass(frozen=True)
class Look:
    """How the screen is drawn: its width in columns, and the symbols of the terminal."""

    width: int
    symbols: Symbols


def head(s: Any, look: Look) -> list[Text]:
    """Return ante, round, money and run, then score or target, then the effect of a boss."""
    playing = s.phase in (Phase.PLAY, Phase.OVER) and s.blind
    blind = BLINDS[int(s.blind) if playing else int(blind_on_deck(s))]
    ante = f"Ante {s.ante} of {WIN_ANTE}" if s.ante <= WIN_ANTE else f"Ante {s.ante}, endless"
    left = Text.assemble((ante, TITLE), f"  Round {s.round_number}  ", (blind.name, TITLE))
    right = Text.assemble((f"${s.dollars}", f"bold {MONEY}"), (f"  {run_name(s)}, seed {seed_of(s)}", DIM))
    lines = [apart(left, right, look.width), score_line(s, look) if playing else next_line(s)]
    if playing and blind.blind > Blind.BIG:
        off = " (disabled)" if s.boss_disabled else ""
        lines.append(Text.assemble((f"{blind.name}{off}: ", BAD), blind.effect))
    return lines


def score_line(s: Any, look: Look) -> Text:
    """Return score and target with a bar, the hands and discards left, and the reward."""
    share = min(1.0, float(s.chips) / float(s.target)) if s.target > 0 else 1.0
    full = int(BAR * share)
    return Text.assemble(
        ("Score ", DIM),
        (number(float(s.chips)), TITLE),
        f" of {number(float(s.target))} ",
        (look.symbols.full * full, GOOD),
        (look.symbols.empty * (BAR - full), DIM),
        f"  hands {s.hands_left}  discards {s.discards_left}",
        (f"  reward ${reward_of(s, int(s.blind))}", MONEY),
    )


def next_line(s: Any) -> Text:
    """Return the target of the next blind, and hands and discards of a round."""
    needed = number(float(blind_target(s, int(blind_on_deck(s)))))
    return Text(
        f"Next blind needs {needed}; {s.hands_each_round} hands and {s.discards_each_round} discards a round", DIM
    )


def apart(left: Text, right: Text, width: int) -> Text:
    """Return two texts at both ends of a line; the right one is cut if there is no room."""
    right.truncate(max(0, width - len(left) - 2))
    return Text.assemble(left, " " * max(2, width - len(left) - len(right)), right)


def reward_of(s: Any, blind: int) -> int:
    """Return the dollars for beating a blind of this ante, without hands left and interest."""
    copies: Any = new_states(1)
    copies[0] = s
    copies[0].blind, copies[0].chips, copies[0].target = blind, 1.0, 0.0
    return int(blind_reward(copies[0]))


def owned(session: Session, look: Look, short: bool = False) -> list[Text]:
    """Return jokers and consumables with sell values and texts, one a line; with `short`, only the names."""
    s = session.s
    title = f"Jokers {s.n_jokers}/{joker_slots(s)}"
    lines = group(title, jokers(s), look, short)
    if s.n_consumables or not short:
        lines += group(f"Consumables {s.n_consumables}/{consumable_slots(s)}", consumables(s), look, short)
    return lines


def group(title: str, items: Sequence[Item], look: Look, short: bool = False) -> list[Text]:
    """Return a title and its items: on the title's line if `short`, else one a line."""
    if short or not items:
        names = [Text(f"{item.key} {item.name}") for item in items] or [Text("none")]
        return flow([Text(title, TITLE), *names], look.width, 2)
    return [Text(title, TITLE), *item_lines(items, look)]


def item_lines(items: Sequence[Item], look: Look) -> list[Text]:
    """Return items one a line: key, name, price, text."""
    widest = min(NAME, max(len(item.name) for item in items))
    money = max(len(item.money) for item in items)
    return [item_line(item, widest, money, look) for item in items]


def item_line(item: Item, widest: int, money: int, look: Look) -> Text:
    """Return one item: key, name, price, text, cut at the width."""
    style = DIM if item.dear else ""
    line = Text.assemble((f" {item.key} ", "bold cyan"), (f"{item.name:{widest}s} ", style or item.style))
    line.append(f"{item.money:>{money}s}", DIM if item.dear else MONEY)
    if item.text:
        line.append(f"  {item.text}", DIM)
    return cut(line, look.width, look.symbols)


def blinds(s: Any, look: Look) -> list[Text]:
    """Return the blinds of this ante that are not beaten, with rewards, tags and the boss's effect."""
    lines = [Text(f"Blinds of ante {s.ante}", TITLE)]
    for panel, blind in enumerate((int(Blind.SMALL), int(Blind.BIG), int(s.boss))):
        if panel < s.blind_on_deck:
            continue
        row, now = BLINDS[blind], panel == s.blind_on_deck
        needs = f"needs {number(float(blind_target(s, blind)))}"
        lines.append(
            Text.assemble(
                (f" {'>' if now else ' '} {row.name:16s}", TITLE if now else ""),
                f"{needs:>18s}  ",
                (f"pays ${reward_of(s, blind)}", MONEY),
            )
        )
        lines.append(Text.assemble("   ", (tag_text(s, panel) if panel < 2 else f"Boss: {row.effect}", DIM)))
    return lines


def tag_text(s: Any, panel: int) -> str:
    """Return the tag for skipping a blind, with its text."""
    tag = int(s.skip_tags[panel])
    return f"skip: {tag_words(tag, int(s.skip_tag_hands[panel]))}: {TAGS[tag].effect}"


def payout(s: Any) -> list[Text]:
    """Return the payout of the round with its parts."""
    parts = {BLINDS[int(s.blind)].name: int(blind_reward(s))}
    if not s.modifiers & Modifier.NO_HAND_MONEY:
        parts["hands left"] = int(DECK_HAND_DOLLARS[s.deck_id]) * int(s.hands_left)
    parts["discards left"] = int(DECK_DISCARD_DOLLARS[s.deck_id]) * int(s.discards_left)
    parts = {name: dollars for name, dollars in parts.items() if dollars}
    rest = int(s.payout) - sum(parts.values())
    if rest:
        parts["interest, jokers and tags"] = rest
    detail = ", ".join(f"{name} ${dollars}" for name, dollars in parts.items())
    return [
        Text.assemble(("The blind is beaten.  ", GOOD), (f"Payout ${s.payout}", f"bold {MONEY}")),
        Text(detail, DIM),
    ]


def shop(s: Any, look: Look) -> list[Text]:
    """Return the cards for sale, the vouchers and the packs, each with its price."""
    price = int(reroll_price(s))
    reroll = Text.assemble(("R", "bold cyan"), (f" reroll ${price}", MONEY if can_pay(s, price) else DIM))
    lines = [apart(Text("For sale (b buys, n buys and uses)", TITLE), reroll, look.width)]
    lines += item_lines(for_sale(s), look) if s.n_row else [Text(" sold out", DIM)]
    for title, items in (("Vouchers (v)", vouchers(s)), ("Packs (o)", packs(s))):
        lines += group(title, items, look)
    return lines


def pack(s: Any, look: Look) -> list[Text]:
    """Return the cards of the open pack."""
    return [Text(pack_title(s), TITLE), *item_lines(pack_cards(s, look.symbols), look)]


def hand(session: Session, look: Look) -> list[Text]:
    """Return the hand with the keys of its cards."""
    s = session.s
    if not s.n_hand or s.phase not in (Phase.PLAY, Phase.PACK, Phase.OVER):
        return []
    cards = [s.cards[s.hand[i]] for i in range(int(s.n_hand))]
    keys = [CARDS[i] if i < len(CARDS) else "." for i in range(len(cards))]
    lines = hand_lines(Hand(cards, keys, session.selected, session.cursor), look.width, look.symbols)
    return [*lines[:-1], apart(lines[-1], Text(f"draw pile {s.n_deck}", DIM), look.width)] if lines else []


def ending(s: Any) -> str:
    """Return a sentence about how the game stands or ended."""
    beaten = int(blinds_beaten(s))
    stands = "lost" if s.phase == Phase.OVER else "in progress"
    how = "won" if s.won else f"{stands} in ante {s.ante}"  # the win itself begins the next ante
    return f"{how} with {beaten} blind{'' if beaten == 1 else 's'} beaten, seed {seed_of(s)}"


def result(s: Any) -> list[Text]:
    """Return the result of a game that is lost or won."""
    if s.phase == Phase.OVER:
        return [Text(f"Game over: {ending(s)}. z takes back the last decision, q quits.", f"bold {BAD}")]
    return [Text("You have won this run! Play on in endless mode, or quit with q.", f"bold {GOOD}")] if s.won else []
