"""An episode as plain data for the report's player: the visible state and the player's estimates at each step.

A step is a dict without the fields that do not apply. Names are those of `ante.env.text`, so it shows nothing hidden.

    phase ante round dollars hands discards chips target blind effect deck    numbers and words of the left panel
    jokers       [name, accumulated value, rarity 0 to 4] each; hidden = 1 if their order is hidden
    consumables  [name, set] each
    hand         cards, such as `AS(Glass)`; made = [poker hand, level, chips, mult, total] of the hand played last
    row vouchers packs   [name, price, kind] of each item for sale; reroll = its price
    pack         [name, kind] of each card of the open pack; open = its name, take = how many
    blinds       [name, target, tag or effect] of the ante's three, deck0 = index of the next one
    said         the decision taken here, cards = hand positions it acts on; at the end (end = 1) how the game ended, and
                 state = the record's fingerprint
    options      [words, probability, 1 if taken] each, value, hint, plan, search
"""

import base64
import gzip
import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ante.catalog.blinds import BLINDS, Blind
from ante.catalog.consumables import CONSUMABLES
from ante.catalog.hands import HANDS
from ante.catalog.jokers import JOKERS
from ante.catalog.packs import PACKS
from ante.catalog.tags import TAGS
from ante.catalog.vouchers import VOUCHERS
from ante.engine.actions import Verb, cards_of, verb_of
from ante.engine.blinds import blind_on_deck, blind_target
from ante.engine.core.state import MAX_HAND, Kind, Phase, card_t, copy_states, item_t
from ante.engine.items.prices import shop_price
from ante.engine.shop import pack_price, reroll_price, voucher_price
from ante.env.observe import focus_target
from ante.env.observe_items import jokers_hidden
from ante.env.replay import outcome
from ante.env.text import PHASES, card_name, hidden_jokers, item_name, macro_name
from ante.watch.episode import Episode, fingerprint
from ante.watch.notes import BadNotes, Note

KINDS = {Kind.PLAYING_CARD: "card", Kind.JOKER: "joker", Kind.CONSUMABLE: "consumable"}
Step = dict[str, Any]


def steps_of(episode: Episode, notes: Sequence[Note] | None = None) -> Iterator[Step]:
    """Yield a step before each decision, and one for the end. Raises RefusedDecision, BadNotes."""
    if notes is not None and len(notes) != len(episode.actions):
        raise BadNotes(f"{len(notes)} notes for {len(episode.actions)} decisions: the notes belong to another game")
    last, played = copy_states(episode.start)[0], False
    for k, (before, action, after) in enumerate(episode.walk()):
        step = table_of(before, played)
        step["said"] = words(before, action, step)
        if int(cards_of(action)):
            step["cards"] = positions(action)
        if notes is not None:
            step |= thoughts(before, action, notes[k], step)
        yield step
        last, played = after, int(verb_of(action)) == Verb.PLAY
    yield {**table_of(last, played), "said": outcome(last), "end": 1, "state": fingerprint(last)}


def positions(action: int) -> list[int]:
    """Return the hand positions that a decision acts on."""
    bits = int(cards_of(action))
    return [i for i in range(MAX_HAND) if (bits >> i) & 1]


def words(s: Any, action: int, step: Step) -> str:
    """Return `macro_name`. SPEED: the step already contains the names of cards to play or discard."""
    verb = int(verb_of(action))
    if verb in (Verb.PLAY, Verb.DISCARD) and "hand" in step:
        cards = " ".join(step["hand"][i] for i in positions(action) if i < len(step["hand"]))
        return f"{'play' if verb == Verb.PLAY else 'discard'} {cards}"
    return macro_name(s, action)


def thoughts(s: Any, action: int, note: Note, step: Step) -> Step:
    """Return a Note in words."""
    options = [[words(s, option, step), chance, int(option == action)] for option, chance in note.options]
    if not any(taken for _, _, taken in options):
        options.append([words(s, action, step), note.chance, 1])
    found: Step = {"options": options}
    if note.value is not None:
        found["value"] = round(note.value, 3)
    said = {"hint": note.hint, "plan": note.plan, "search": note.search}
    return found | {name: text for name, text in said.items() if text}


def table_of(s: Any, played: bool) -> Step:
    """Describe the state; `played` marks that a hand has just been played."""
    phase = Phase(int(s.phase))
    in_round = phase in (Phase.PLAY, Phase.OVER) and s.blind
    blind = BLINDS[int(s.blind) if in_round else int(blind_on_deck(s))]
    step: Step = {
        "phase": PHASES[phase],
        "ante": int(s.ante),
        "round": int(s.round_number),
        "dollars": int(s.dollars),
        "hands": int(s.hands_left),
        "discards": int(s.discards_left),
        "chips": float(s.chips),
        "target": float(focus_target(s)),
        "blind": blind.name,
        "deck": int(s.n_deck),
        "jokers": owned_jokers(s),
        "consumables": [
            [name_of(item.tobytes()), int(CONSUMABLES[item.id].set)] for item in s.consumables[: s.n_consumables]
        ],
    }
    if blind.blind > Blind.BIG:
        step["effect"] = "disabled" if in_round and s.boss_disabled else blind.effect
    if jokers_hidden(s):
        step["hidden"] = 1
    if played:
        row = HANDS[s.hand_type]
        step["made"] = [
            row.name,
            int(s.levels[row.hand]),
            float(s.score_chips),
            float(s.score_mult),
            float(s.hand_total),
        ]
    if s.n_hand and phase in (Phase.PLAY, Phase.PACK, Phase.OVER):
        step["hand"] = [card_words(s.cards[s.hand[i]].tobytes()) for i in range(s.n_hand)]
    return step | on_the_table(s, phase)


def on_the_table(s: Any, phase: Phase) -> Step:
    """Describe the items of the phase: blinds, items for sale, an open pack or a payout."""
    if phase == Phase.BLIND_SELECT:
        return {"blinds": blinds_ahead(s), "deck0": int(s.blind_on_deck)}
    if phase == Phase.SHOP:
        return shop_items(s)
    if phase == Phase.PACK:
        cards = [[name_of(item.tobytes()), kind_of(item)] for item in s.pack[: s.n_pack]]
        return {"pack": cards, "open": PACKS[s.pack_id].name, "take": int(s.picks_left)}
    return {"payout": int(s.payout)} if phase == Phase.ROUND_END else {}


def owned_jokers(s: Any) -> list[list[Any]]:
    """Return the jokers from left to right, sorted by name if their order is hidden."""
    if jokers_hidden(s):
        return [[name, "", 0] for name in hidden_jokers(s)]
    return [
        [name_of(item.tobytes()), f"{item.value:g}" if item.value else "", int(JOKERS[item.id].rarity)]
        for item in s.jokers[: s.n_jokers]
    ]


def blinds_ahead(s: Any) -> list[list[Any]]:
    """Return the three blinds of the ante."""
    rows = []
    for panel, blind in enumerate((int(Blind.SMALL), int(Blind.BIG), int(s.boss))):
        about = BLINDS[blind].effect if panel == 2 else f"skip: {TAGS[s.skip_tags[panel]].name}"
        rows.append([BLINDS[blind].name, float(blind_target(s, blind)), about])
    return rows


def shop_items(s: Any) -> Step:
    """Return the items for sale, without empty places."""
    row = [
        [name_of(item.tobytes()), int(shop_price(item)), kind_of(item)]
        for item in s.row[: s.n_row]
        if item.kind != Kind.NONE
    ]
    vouchers = [
        [VOUCHERS[v].name, int(voucher_price(s, int(v))), "voucher"] for v in s.shop_vouchers[: s.n_shop_vouchers] if v
    ]
    packs = [[PACKS[p].name, int(pack_price(s, i)), "pack"] for i, p in enumerate(s.packs) if p >= 0]
    return {"row": row, "vouchers": vouchers, "packs": packs, "reroll": int(reroll_price(s))}


def kind_of(item: Any) -> str:
    """Return the kind of an item, "" for an empty place."""
    return KINDS.get(Kind(int(item.kind)), "")


@lru_cache(maxsize=4096)
def card_words(data: bytes) -> str:
    """Return a card's name, given the bytes of its record. SPEED: the same cards recur."""
    return card_name(np.rec.array(np.frombuffer(data, dtype=card_t))[0])


@lru_cache(maxsize=4096)
def name_of(data: bytes) -> str:
    """Return an item's name, given the bytes of its record."""
    return item_name(np.rec.array(np.frombuffer(data, dtype=item_t))[0])


def packed(steps: Sequence[Step]) -> str:
    """Return steps as base64 of gzipped JSON, which a browser unpacks on demand."""
    text = json.dumps(steps, separators=(",", ":"), ensure_ascii=False)
    return base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode("ascii")
