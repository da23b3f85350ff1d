"""Scores one recorded hand from the text of the rules alone, one joker at a time (see tests/golden/README.md).

Random results are read from a script of rolls; `outcomes` lists the results of all scripts.
"""

import gzip
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.reference.cards import Card, read_card
from tests.reference.poker import Rules, best, contained

TEXT = json.loads(gzip.decompress((Path(__file__).parents[1] / "golden" / "balatro-rules.json.gz").read_bytes()))
HANDS = {row["name"]: row for row in TEXT["poker_hands"]}
JOKERS = {row["key"]: row for row in TEXT["jokers"]}
PLANETS = {row["key"]: row["hand"] for row in TEXT["planets"]}
UNCOMMON = 2
CONSUMABLE_SLOTS = 2
MEMORIES = ("mult", "chips", "xmult", "hands_since_acquired", "hands_left")
Answer = dict[str, Any]


@dataclass
class Joker:
    """An owned joker and its memory."""

    key: str
    edition: str | None
    sell: int
    debuffed: bool
    state: dict[str, Any]

    def grow(self, name: str, amount: float) -> None:
        self.state[name] = self.state.get(name, 0) + amount

    @property
    def memory(self) -> float | None:
        """Return the number that the joker stores, if it has one."""
        return next((self.state[name] for name in MEMORIES if name in self.state), None)


@dataclass
class Ability:
    """The effective ability of a joker: its own, or that of the joker it copies."""

    joker: Joker
    copied: bool

    @property
    def key(self) -> str:
        return self.joker.key

    def number(self, name: str, default: float = 0) -> Any:
        return self.joker.state.get(name, default)


@dataclass
class Hand:
    """The state that the scoring of one hand reads and changes."""

    case: dict[str, Any]
    played: list[Card]
    held: list[Card]
    jokers: list[Joker]
    name: str = ""
    contains: set[str] = field(default_factory=set)
    scoring: list[int] = field(default_factory=list)
    level: int = 1
    refused: bool = False
    chips: float = 0
    mult: float = 0.0
    dollars: int = 0
    dollars_before: int = 0
    copies: int = 0
    lucky: bool = False
    made: list[str] = field(default_factory=list)
    destroyed: list[int] = field(default_factory=list)
    rolls: tuple[bool, ...] = ()
    rolled: int = 0

    def owns(self, key: str) -> int:
        """Return the number of active jokers with this key."""
        return sum(1 for joker in self.jokers if joker.key == key and not joker.debuffed)

    @property
    def cards(self) -> list[Card]:
        """The scored cards."""
        return [self.played[i] for i in self.scoring]

    @property
    def pareidolia(self) -> bool:
        return self.owns("j_pareidolia") > 0

    @property
    def smeared(self) -> bool:
        return self.owns("j_smeared") > 0

    @property
    def facts(self) -> dict[str, int]:
        return self.case["deck_facts"]

    def plays(self) -> tuple[int, int]:
        """Return how often this hand was played before: in this run, in this round."""
        run, this_round = self.case["plays"].get(self.name, (0, 0))
        return run, this_round

    def happens(self, odds: int) -> bool:
        """Roll 1 in `odds`, doubled by every Oops! All 6s. The script decides uncertain rolls; after it they fail."""
        if 2 ** self.owns("j_oops") >= odds:
            return True
        self.rolled += 1
        return self.rolled <= len(self.rolls) and self.rolls[self.rolled - 1]

    @property
    def first_lone_card(self) -> bool:
        """Return whether the first hand of the round is a single card."""
        return self.case["round_hands_played"] == 0 and len(self.played) == 1

    @property
    def room(self) -> bool:
        return len(self.case["consumables"]) + len(self.made) < CONSUMABLE_SLOTS

    def make(self, kind: str) -> None:
        """Create a consumable if there is a free slot."""
        if self.room:
            self.made.append(kind)

    def add(self, chips: float = 0, mult: float = 0, times: float = 1) -> None:
        """Add chips, then add Mult, then multiply it."""
        self.chips += chips
        self.mult += mult
        if times != 1:
            self.mult *= times


# ---- the order of events ---------------------------------------------------------------------------------------------


def score(case: dict[str, Any]) -> Answer:
    """Return the score of this recorded hand, in the form of its `expect`, if all uncertain rolls fail."""
    return answer(play(case, ()))


def outcomes(case: dict[str, Any]) -> list[Answer]:
    """Return all outcomes of this hand, over all of its rolls."""
    found, scripts = [], [()]
    while scripts:
        script = scripts.pop()
        hand = play(case, script)
        found.append(answer(hand))
        scripts += [(*script, *[False] * (i - len(script)), True) for i in range(len(script), hand.rolled)]
    return found


def play(case: dict[str, Any], rolls: tuple[bool, ...]) -> Hand:
    """Return the hand after scoring with these rolls."""
    hand = read_case(case)
    hand.rolls = rolls
    if case["boss"] == "bl_tooth":
        hand.dollars -= len(hand.played)
    identify(hand)
    hand.refused = refused(hand)
    if not hand.refused:
        evaluate(hand)
        destroy(hand)
    for joker in hand.jokers:
        wear_off(joker)
    return hand


def evaluate(hand: Hand) -> None:
    """Compute chips and Mult of a hand that is not refused."""
    if hand.case["boss"] == "bl_arm":
        hand.level = max(1, hand.level - 1)
    if hand.case["boss"] == "bl_ox" and hand.case["boss_state"]["most_played"] == hand.name:
        hand.dollars = 0
    hand.dollars_before = hand.dollars
    run_jokers(BEFORE, hand)
    start_from_level(hand)
    for i in hand.scoring:
        score_card(hand, hand.played[i])
    for card in hand.held:
        hold_card(hand, card)
    for place, joker in enumerate(hand.jokers):
        joker_turn(hand, joker, ability_at(hand.jokers, place))
    observatory(hand)
    balance(hand)


def destroy(hand: Hand) -> None:
    """Let Sixth Sense destroy a first single 6, and one in four scored Glass cards break."""
    for i in hand.scoring:
        card = hand.played[i]
        if hand.first_lone_card and hand.owns("j_sixth_sense") and card.has_rank("6"):
            hand.make("Spectral")
            hand.destroyed.append(i)
        elif card.enhancement == "m_glass" and not card.debuffed and hand.happens(4):
            hand.destroyed.append(i)


def wear_off(joker: Joker) -> None:
    """Apply the loss of a joker per hand, also a refused one; a debuffed joker only counts hands."""
    if joker.key == "j_loyalty_card":
        joker.grow("hands_since_acquired", 1)
    elif joker.key == "j_ice_cream" and not joker.debuffed:
        joker.grow("chips", -5)
    elif joker.key == "j_selzer" and not joker.debuffed:
        joker.grow("hands_left", -1)


def answer(hand: Hand) -> Answer:
    """Return the fields of a record's `expect`, and the changes after the hand."""
    return {
        "refused": hand.refused,
        "hand": hand.name,
        "scoring": hand.scoring,
        "chips": hand.chips,
        "mult": hand.mult,
        "total": math.floor(hand.chips * hand.mult),
        "level": hand.level,
        "dollars": hand.dollars,
        "made": hand.made,
        "memory": [joker.memory for joker in hand.jokers],
        "cards": [(card.enhancement, card.bonus) for card in hand.played],
        "destroyed": hand.destroyed,
    }


def read_case(case: dict[str, Any]) -> Hand:
    """Return the hand of a record."""
    jokers = [
        Joker(row["key"], row["edition"], row["sell"], bool(row.get("debuffed")), dict(row.get("state") or {}))
        for row in case["jokers"]
    ]
    hand = Hand(case, [read_card(t) for t in case["played"]], [read_card(t) for t in case["held"]], jokers)
    hand.dollars = case["dollars"]
    return hand


def identify(hand: Hand) -> None:
    """Find the best hand; its cards and all Stone cards score, with Splash every card."""
    rules = Rules(hand.owns("j_four_fingers") > 0, hand.owns("j_shortcut") > 0, hand.smeared)
    found = contained(hand.played, rules)
    hand.contains, hand.name = set(found), best(found)
    splash = hand.owns("j_splash") > 0
    hand.scoring = [i for i, card in enumerate(hand.played) if splash or card.is_stone or i in found[hand.name]]
    hand.level = hand.case["levels"].get(hand.name, 1)


def refused(hand: Hand) -> bool:
    """Return whether the boss refuses the hand: The Psychic, The Eye or The Mouth."""
    boss, state = hand.case["boss"], hand.case.get("boss_state") or {}
    if boss == "bl_psychic":
        return len(hand.played) < 5
    if boss == "bl_eye":
        return hand.name in (state.get("hands_used") or [])
    if boss == "bl_mouth":
        return state.get("only_hand") not in (None, hand.name)
    return False


def start_from_level(hand: Hand) -> None:
    """Set chips and Mult from the hand's level; The Flint halves both, rounding half up, Mult to at least 1."""
    row = HANDS[hand.name]
    hand.chips = row["chips"] + row["chips_per_level"] * (hand.level - 1)
    hand.mult = float(row["mult"] + row["mult_per_level"] * (hand.level - 1))
    if hand.case["boss"] == "bl_flint":
        hand.chips = math.floor(hand.chips / 2 + 0.5)
        hand.mult = max(1.0, float(math.floor(hand.mult / 2 + 0.5)))


def ability_at(jokers: list[Joker], place: int) -> Ability | None:
    """Return the effective ability in this place; Blueprint and Brainstorm copy the joker they refer to."""
    at = place
    for _ in jokers:
        joker = jokers[at]
        if joker.debuffed:
            return None
        if joker.key not in ("j_blueprint", "j_brainstorm"):
            copied = at != place
            return None if copied and not JOKERS[joker.key]["blueprint_compat"] else Ability(joker, copied)
        aim = at + 1 if joker.key == "j_blueprint" else 0
        if aim == at or aim == len(jokers):
            return None
        at = aim
    return None


def abilities(hand: Hand) -> list[Ability]:
    """Return the effective abilities, left to right."""
    found = [ability_at(hand.jokers, place) for place in range(len(hand.jokers))]
    return [ability for ability in found if ability]


def run_jokers(table: dict[str, Callable[[Hand, Ability], None]], hand: Hand) -> None:
    """Apply every joker with a row in this table, left to right."""
    for ability in abilities(hand):
        if ability.key in table:
            table[ability.key](hand, ability)


def score_card(hand: Hand, card: Card) -> None:
    """Score a card once and again for every retrigger; a debuffed one does not score."""
    if card.debuffed:
        return
    again = 1 if card.seal == "Red" else 0
    for ability in abilities(hand):
        if ability.key in AGAIN:
            again += AGAIN[ability.key](hand, card, ability)
    for _ in range(1 + again):
        trigger(hand, card)


def trigger(hand: Hand, card: Card) -> None:
    """Apply the card's chips, Mult and edition, then the jokers that react to it."""
    hit = card.enhancement == "m_lucky" and hand.happens(5)
    won = card.enhancement == "m_lucky" and hand.happens(15)
    hand.lucky = hit or won
    own_chips = (50 if card.is_stone else card.value + (30 if card.enhancement == "m_bonus" else 0)) + card.bonus
    own_mult = 4 if card.enhancement == "m_mult" else 20 if hit else 0
    hand.add(own_chips, own_mult, 2 if card.enhancement == "m_glass" else 1)
    hand.dollars += (3 if card.seal == "Gold" else 0) + (20 if won else 0)
    wear_edition(hand, card.edition)
    for ability in abilities(hand):
        if ability.key in SCORED:
            SCORED[ability.key](hand, card, ability)


def wear_edition(hand: Hand, edition: str | None) -> None:
    """Apply foil, holographic or polychrome."""
    if edition == "foil":
        hand.add(chips=50)
    elif edition == "holo":
        hand.add(mult=10)
    elif edition == "polychrome":
        hand.add(times=1.5)


def hold_card(hand: Hand, card: Card) -> None:
    """Trigger a held card once and again for a Red Seal and every Mime; a debuffed one has no effect."""
    if card.debuffed:
        return
    mimes = sum(1 for ability in abilities(hand) if ability.key == "j_mime")
    for _ in range(1 + (1 if card.seal == "Red" else 0) + mimes):
        hand.add(times=1.5 if card.enhancement == "m_steel" else 1)
        for ability in abilities(hand):
            if ability.key in HELD:
                HELD[ability.key](hand, card, ability)


def joker_turn(hand: Hand, joker: Joker, ability: Ability | None) -> None:
    """Apply foil or holographic, the ability, Baseball Cards on an Uncommon joker, polychrome."""
    if not joker.debuffed and joker.edition in ("foil", "holo"):
        wear_edition(hand, joker.edition)
    if ability and ability.key in MAIN:
        MAIN[ability.key](hand, ability)
    if JOKERS[joker.key]["rarity"] == UNCOMMON:
        for other in abilities(hand):
            hand.add(times=1.5 if other.key == "j_baseball" else 1)
    if not joker.debuffed and joker.edition == "polychrome":
        wear_edition(hand, joker.edition)


def observatory(hand: Hand) -> None:
    """Each held Planet of the played hand gives X1.5 with Observatory."""
    if "v_observatory" in hand.case["vouchers"]:
        for key in hand.case["consumables"]:
            hand.add(times=1.5 if PLANETS.get(key) == hand.name else 1)


def balance(hand: Hand) -> None:
    """Plasma Deck makes Chips and Mult each half of their sum, rounded down."""
    if hand.case["deck"] == "b_plasma":
        half = math.floor((hand.chips + hand.mult) / 2)
        hand.chips, hand.mult = half, float(half)


# ---- before the cards score ------------------------------------------------------------------------------------------


def grows(name: str, amount: float, when: Callable[[Hand], bool]) -> Callable[[Hand, Ability], None]:
    """Return an ability that increases the joker by this amount for such a hand; a copy does not grow."""

    def row(hand: Hand, ability: Ability) -> None:
        if not ability.copied and when(hand):
            ability.joker.grow(name, amount)

    return row


def space_joker(hand: Hand, ability: Ability) -> None:
    """1 in 4 to upgrade the played hand."""
    if hand.happens(4):
        hand.level += 1


def vampire(hand: Hand, ability: Ability) -> None:
    """X0.1 per scored enhanced card, whose enhancement is removed before it scores; debuffed cards are ignored."""
    if ability.copied:
        return
    bitten = [card for card in hand.cards if card.enhancement and not card.debuffed]
    for card in bitten:
        card.enhancement = None
    if bitten:
        ability.joker.grow("xmult", 0.1 * len(bitten))


def midas_mask(hand: Hand, ability: Ability) -> None:
    """Scored face cards become Gold before they score."""
    for card in hand.cards:
        if card.is_face(hand.pareidolia):
            card.enhancement = "m_gold"


def ride_the_bus(hand: Hand, ability: Ability) -> None:
    """+1 Mult without a scored face card, otherwise back to 0."""
    if ability.copied:
        return
    if any(card.is_face(hand.pareidolia) for card in hand.cards):
        ability.joker.state["mult"] = 0
    else:
        ability.joker.grow("mult", 1)


def obelisk(hand: Hand, ability: Ability) -> None:
    """X0.2 while another hand was played at least as often, including this time; otherwise back to X1."""
    if ability.copied:
        return
    times = hand.plays()[0] + 1
    if any(run >= times for name, (run, _) in hand.case["plays"].items() if name != hand.name):
        ability.joker.grow("xmult", 0.2)
    else:
        ability.joker.state["xmult"] = 1.0


def todo_list(hand: Hand, ability: Ability) -> None:
    """$4 for the listed hand."""
    if ability.number("hand") == hand.name:
        hand.dollars += 4


def dna(hand: Hand, ability: Ability) -> None:
    """For a first hand of one card, add a copy to the deck and the right end of the hand."""
    if hand.first_lone_card:
        hand.held.append(replace(hand.played[0]))
        hand.copies += 1


BEFORE: dict[str, Callable[[Hand, Ability], None]] = {
    "j_dna": dna,
    "j_space": space_joker,
    "j_vampire": vampire,
    "j_midas_mask": midas_mask,
    "j_ride_the_bus": ride_the_bus,
    "j_obelisk": obelisk,
    "j_todo_list": todo_list,
    "j_green_joker": grows("mult", 1, lambda hand: True),
    "j_trousers": grows("mult", 2, lambda hand: "Two Pair" in hand.contains),
    "j_runner": grows("chips", 15, lambda hand: "Straight" in hand.contains),
    "j_square": grows("chips", 4, lambda hand: len(hand.played) == 4),
}

# ---- extra triggers of a scoring card --------------------------------------------------------------------------------

AGAIN: dict[str, Callable[[Hand, Card, Ability], int]] = {
    "j_dusk": lambda hand, card, ability: int(hand.case["hands_left"] == 0),
    "j_selzer": lambda hand, card, ability: 1,
    "j_hack": lambda hand, card, ability: int(card.has_rank("2345")),
    "j_sock_and_buskin": lambda hand, card, ability: int(card.is_face(hand.pareidolia)),
    "j_hanging_chad": lambda hand, card, ability: 2 if card is hand.cards[0] else 0,
}

# ---- a scored card ---------------------------------------------------------------------------------------------------

Scored = Callable[[Hand, Card, Ability], None]


def for_suit(suit: str, **gain: float) -> Scored:
    """Return an ability for every scored card of this suit."""

    def row(hand: Hand, card: Card, ability: Ability) -> None:
        if card.is_suit(suit, hand.smeared):
            hand.add(**gain)

    return row


def for_ranks(ranks: str, **gain: float) -> Scored:
    """Return an ability for every scored card of these ranks."""

    def row(hand: Hand, card: Card, ability: Ability) -> None:
        if card.has_rank(ranks):
            hand.add(**gain)

    return row


def for_faces(**gain: float) -> Scored:
    """Return an ability for every scored face card."""

    def row(hand: Hand, card: Card, ability: Ability) -> None:
        if card.is_face(hand.pareidolia):
            hand.add(**gain)

    return row


def photograph(hand: Hand, card: Card, ability: Ability) -> None:
    """X2 for the first scored face card."""
    faces = [other for other in hand.cards if other.is_face(hand.pareidolia)]
    if faces and card is faces[0]:
        hand.add(times=2)


def ancient_joker(hand: Hand, card: Card, ability: Ability) -> None:
    """X1.5 for the listed suit."""
    if card.is_suit(ability.number("suit"), hand.smeared):
        hand.add(times=1.5)


def idol(hand: Hand, card: Card, ability: Ability) -> None:
    """X2 for the listed card."""
    if card.has_rank(ability.number("rank")) and card.is_suit(ability.number("suit"), hand.smeared):
        hand.add(times=2)


def bloodstone(hand: Hand, card: Card, ability: Ability) -> None:
    """1 in 2 for X1.5 on a Heart."""
    if card.is_suit("H", hand.smeared) and hand.happens(2):
        hand.add(times=1.5)


def hiker(hand: Hand, card: Card, ability: Ability) -> None:
    """+5 permanent chips on the card, from its next trigger on."""
    card.bonus += 5


def wee_joker(hand: Hand, card: Card, ability: Ability) -> None:
    """Gains +8 Chips for a 2; a copy does not grow."""
    if not ability.copied and card.has_rank("2"):
        ability.joker.grow("chips", 8)


def lucky_cat(hand: Hand, card: Card, ability: Ability) -> None:
    """Gains X0.25 when a Lucky card gives Mult or money; a copy does not grow."""
    if not ability.copied and hand.lucky:
        ability.joker.grow("xmult", 0.25)


def rough_gem(hand: Hand, card: Card, ability: Ability) -> None:
    """$1 for a Diamond."""
    hand.dollars += int(card.is_suit("D", hand.smeared))


def golden_ticket(hand: Hand, card: Card, ability: Ability) -> None:
    """$4 for a Gold card."""
    hand.dollars += 4 if card.enhancement == "m_gold" else 0


def business_card(hand: Hand, card: Card, ability: Ability) -> None:
    """1 in 2 for $2 on a face card."""
    hand.dollars += 2 if card.is_face(hand.pareidolia) and hand.happens(2) else 0


def eight_ball(hand: Hand, card: Card, ability: Ability) -> None:
    """1 in 4 for a Tarot on an 8, if there is a free slot."""
    if card.has_rank("8") and hand.room and hand.happens(4):
        hand.make("Tarot")


SCORED: dict[str, Scored] = {
    "j_8_ball": eight_ball,
    "j_greedy_joker": for_suit("D", mult=3),
    "j_lusty_joker": for_suit("H", mult=3),
    "j_wrathful_joker": for_suit("S", mult=3),
    "j_gluttenous_joker": for_suit("C", mult=3),
    "j_arrowhead": for_suit("S", chips=50),
    "j_onyx_agate": for_suit("C", mult=7),
    "j_fibonacci": for_ranks("A2358", mult=8),
    "j_even_steven": for_ranks("2468T", mult=4),
    "j_odd_todd": for_ranks("A3579", chips=31),
    "j_scholar": for_ranks("A", chips=20, mult=4),
    "j_walkie_talkie": for_ranks("T4", chips=10, mult=4),
    "j_triboulet": for_ranks("KQ", times=2),
    "j_scary_face": for_faces(chips=30),
    "j_smiley": for_faces(mult=5),
    "j_photograph": photograph,
    "j_ancient": ancient_joker,
    "j_idol": idol,
    "j_bloodstone": bloodstone,
    "j_hiker": hiker,
    "j_wee": wee_joker,
    "j_lucky_cat": lucky_cat,
    "j_rough_gem": rough_gem,
    "j_ticket": golden_ticket,
    "j_business": business_card,
}

# ---- a card is held --------------------------------------------------------------------------------------------------


def raised_fist(hand: Hand, card: Card, ability: Ability) -> None:
    """Twice the value of the lowest held card, the last of equals; Stone cards are ignored, debuffed ones are not."""
    ranked = [other for other in hand.held if other.order is not None]
    lowest = min(other.order for other in ranked) if ranked else None
    if ranked and card is [other for other in ranked if other.order == lowest][-1]:
        hand.add(mult=2 * card.value)


def reserved_parking(hand: Hand, card: Card, ability: Ability) -> None:
    """1 in 2 for $1 on a face card."""
    hand.dollars += int(card.is_face(hand.pareidolia) and hand.happens(2))


HELD: dict[str, Scored] = {
    "j_baron": for_ranks("K", times=1.5),
    "j_shoot_the_moon": for_ranks("Q", mult=13),
    "j_raised_fist": raised_fist,
    "j_reserved_parking": reserved_parking,
}

# ---- a joker's own turn ----------------------------------------------------------------------------------------------

Main = Callable[[Hand, Ability], None]


def always(**gain: float) -> Main:
    """Return an ability for every hand."""
    return lambda hand, ability: hand.add(**gain)


def if_contains(name: str, **gain: float) -> Main:
    """Return an ability for hands that contain this one."""
    return lambda hand, ability: hand.add(**gain) if name in hand.contains else None


def per(count: Callable[[Hand], int], **each: float) -> Main:
    """Return an ability that is multiplied by a count, at least 0."""
    return lambda hand, ability: hand.add(**{name: value * max(0, count(hand)) for name, value in each.items()})


def times_if(factor: float, when: Callable[[Hand], bool]) -> Main:
    """Return an ability that multiplies Mult in such a hand."""
    return lambda hand, ability: hand.add(times=factor if when(hand) else 1)


def shown_chips(hand: Hand, ability: Ability) -> None:
    """The chips on the joker."""
    hand.add(chips=ability.number("chips"))


def shown_mult(hand: Hand, ability: Ability) -> None:
    """The Mult on the joker."""
    hand.add(mult=ability.number("mult"))


def shown_times(hand: Hand, ability: Ability) -> None:
    """The X Mult on the joker."""
    hand.add(times=ability.number("xmult", 1))


def stencil(hand: Hand, ability: Ability) -> None:
    """X1 per empty slot; every Stencil counts as empty, also debuffed ones."""
    stencils = sum(1 for joker in hand.jokers if joker.key == "j_stencil")
    hand.add(times=hand.case["joker_slots"] - len(hand.jokers) + stencils)


def loyalty_card(hand: Hand, ability: Ability) -> None:
    """X4 on every 6th hand since it was bought."""
    hand.add(times=4 if ability.number("hands_since_acquired") % 6 == 5 else 1)


def swashbuckler(hand: Hand, ability: Ability) -> None:
    """The sell value of all other jokers, including debuffed ones."""
    hand.add(mult=sum(joker.sell for joker in hand.jokers if joker is not ability.joker))


def throwback(hand: Hand, ability: Ability) -> None:
    """X0.25 per blind skipped."""
    hand.add(times=1 + 0.25 * ability.number("blinds_skipped"))


def steel_joker(hand: Hand, ability: Ability) -> None:
    """X0.2 per Steel card of the deck."""
    hand.add(times=1 + 0.2 * hand.facts["steel_cards"])


def all_black_held(hand: Hand) -> bool:
    """Return whether every held card is of Spades or Clubs; true without held cards."""
    return all(card.shows_suit("S", hand.smeared) or card.shows_suit("C", hand.smeared) for card in hand.held)


def all_four_suits(hand: Hand) -> bool:
    """Return whether each suit has a separate scored card or Wild card; debuffed Wild cards do not count."""
    wilds = sum(1 for card in hand.cards if card.is_wild)
    others = [card for card in hand.cards if card.enhancement != "m_wild"]
    shown = 0
    for pair in ("HD", "SC"):
        found = [{suit for suit in pair if card.shows_suit(suit, hand.smeared)} for card in others]
        of_pair = [suits for suits in found if suits]
        shown += min(2, len(of_pair)) if hand.smeared else len(set().union(*of_pair))
    return shown + wilds >= 4


def club_and_other(hand: Hand) -> bool:
    """Return whether a Club and another suit score; a Wild card counts as one suit, a debuffed card as none."""
    wilds = sum(1 for card in hand.cards if card.is_wild)
    others = [card for card in hand.cards if not card.is_wild]
    club = any(card.is_suit("C", hand.smeared) for card in others)
    other = any(card.is_suit(suit, hand.smeared) for card in others for suit in "SHD")
    return club + other + wilds >= 2


def superposition(hand: Hand, ability: Ability) -> None:
    """Creates a Tarot for a Straight with a scored Ace."""
    if "Straight" in hand.contains and any(card.has_rank("A") for card in hand.cards):
        hand.make("Tarot")


def vagabond(hand: Hand, ability: Ability) -> None:
    """Creates a Tarot for a hand played with $4 or less, before the hand's earnings."""
    if hand.dollars_before <= 4:
        hand.make("Tarot")


def seance(hand: Hand, ability: Ability) -> None:
    """Creates a Spectral card for a Straight Flush."""
    if hand.name == "Straight Flush":
        hand.make("Spectral")


MAIN: dict[str, Main] = {
    "j_superposition": superposition,
    "j_vagabond": vagabond,
    "j_seance": seance,
    "j_joker": always(mult=4),
    "j_gros_michel": always(mult=15),
    "j_cavendish": always(times=3),
    "j_stuntman": always(chips=250),
    "j_jolly": if_contains("Pair", mult=8),
    "j_zany": if_contains("Three of a Kind", mult=12),
    "j_mad": if_contains("Two Pair", mult=10),
    "j_crazy": if_contains("Straight", mult=12),
    "j_droll": if_contains("Flush", mult=10),
    "j_sly": if_contains("Pair", chips=50),
    "j_wily": if_contains("Three of a Kind", chips=100),
    "j_clever": if_contains("Two Pair", chips=80),
    "j_devious": if_contains("Straight", chips=100),
    "j_crafty": if_contains("Flush", chips=80),
    "j_duo": if_contains("Pair", times=2),
    "j_trio": if_contains("Three of a Kind", times=3),
    "j_family": if_contains("Four of a Kind", times=4),
    "j_order": if_contains("Straight", times=3),
    "j_tribe": if_contains("Flush", times=2),
    "j_half": lambda hand, ability: hand.add(mult=20 if len(hand.played) <= 3 else 0),
    "j_mystic_summit": lambda hand, ability: hand.add(mult=15 if hand.case["discards_left"] == 0 else 0),
    "j_misprint": lambda hand, ability: hand.add(mult=ability.number("rolled")),
    "j_banner": per(lambda hand: hand.case["discards_left"], chips=30),
    "j_blue_joker": per(lambda hand: hand.case["deck_left"], chips=2),
    "j_stone": per(lambda hand: hand.facts["stone_cards"], chips=25),
    "j_bull": per(lambda hand: hand.dollars, chips=2),
    "j_bootstraps": per(lambda hand: hand.dollars // 5, mult=2),
    "j_abstract": per(lambda hand: len(hand.jokers), mult=3),
    "j_supernova": per(lambda hand: hand.plays()[0] + 1, mult=1),
    "j_erosion": per(lambda hand: hand.facts["starting_deck_size"] - hand.case["deck_size"] - hand.copies, mult=4),
    "j_fortune_teller": lambda hand, ability: hand.add(mult=ability.number("tarots_used")),
    "j_acrobat": times_if(3, lambda hand: hand.case["hands_left"] == 0),
    "j_blackboard": times_if(3, all_black_held),
    "j_card_sharp": times_if(3, lambda hand: hand.plays()[1] > 0),
    "j_flower_pot": times_if(3, all_four_suits),
    "j_seeing_double": times_if(2, club_and_other),
    "j_drivers_license": times_if(3, lambda hand: hand.facts["enhanced_cards"] >= 16),
    "j_stencil": stencil,
    "j_loyalty_card": loyalty_card,
    "j_swashbuckler": swashbuckler,
    "j_throwback": throwback,
    "j_steel_joker": steel_joker,
    "j_ceremonial": shown_mult,
    "j_green_joker": shown_mult,
    "j_ride_the_bus": shown_mult,
    "j_red_card": shown_mult,
    "j_flash": shown_mult,
    "j_popcorn": shown_mult,
    "j_trousers": shown_mult,
    "j_runner": shown_chips,
    "j_ice_cream": shown_chips,
    "j_square": shown_chips,
    "j_castle": shown_chips,
    "j_wee": shown_chips,
    "j_constellation": shown_times,
    "j_madness": shown_times,
    "j_vampire": shown_times,
    "j_hologram": shown_times,
    "j_obelisk": shown_times,
    "j_lucky_cat": shown_times,
    "j_ramen": shown_times,
    "j_campfire": shown_times,
    "j_glass": shown_times,
    "j_hit_the_road": shown_times,
    "j_caino": shown_times,
    "j_yorick": shown_times,
}
