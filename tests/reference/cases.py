"""Random hands in the recorded form; one in five has open rolls (see tests/golden/README.md)."""

from random import Random
from typing import Any

from tests.reference.cards import RANKS, SUITS, Card, write_card
from tests.reference.poker import NAMES
from tests.reference.scorer import JOKERS, PLANETS, TEXT, play

Case = dict[str, Any]
KEYS = list(JOKERS)
ENHANCEMENTS = [row["key"] for row in TEXT["enhancements"]]
CARD_EDITIONS = ["foil", "holo", "polychrome"]
JOKER_EDITIONS = [*CARD_EDITIONS, "negative"]
SEALS = [row["key"] for row in TEXT["seals"]]
# The Hook discards random held cards, to which jokers react; the moment of Matador's payment is unknown.
BOSSES = [key for key in TEXT["boss_keys_sorted"] if key != "bl_hook"]
SUIT_BOSSES = {"bl_club": "C", "bl_goad": "S", "bl_head": "H", "bl_window": "D"}
COPIERS = ["j_blueprint", "j_brainstorm"]
MONEY_READERS = ["j_bull", "j_bootstraps"]
# Jokers that change other jokers' rules are drawn more often than one in 150.
FAVOURITES = [*COPIERS, "j_oops", "j_pareidolia", "j_smeared", "j_splash", "j_four_fingers", "j_shortcut", "j_baseball"]
FAVOURITES += ["j_vampire", "j_midas_mask", "j_stencil", "j_mime", "j_hanging_chad"]
# Jokers with an effect, or another effect, only in combination.
BANDS = """
space oops oops | bloodstone oops | lucky_cat oops oops oops | lucky_cat vampire oops oops oops | bull lucky_cat oops oops oops oops
bull ticket | bootstraps ticket midas_mask | bull rough_gem | bootstraps rough_gem smeared | bull todo_list | bull business oops
sixth_sense | dna | dna baron | dna mime | 8_ball oops oops | vagabond superposition | seance | 8_ball vagabond | glass | bull reserved_parking oops | bootstraps reserved_parking oops mime pareidolia | vampire midas_mask | vampire midas_mask vampire
flower_pot splash | flower_pot smeared | seeing_double smeared | flower_pot vampire | mime baron | mime raised_fist
mime shoot_the_moon blueprint | runner four_fingers | order shortcut | crazy four_fingers shortcut | tribe smeared
hanging_chad photograph | sock_and_buskin pareidolia | ride_the_bus pareidolia | hiker selzer | hiker blueprint | wee hack | wee blueprint
blackboard smeared | baseball blueprint | brainstorm blueprint | stencil stencil | square trousers | idol splash | ancient smeared
"""
BAND_LIST = [["j_" + name for name in band.split()] for band in BANDS.replace("\n", "|").split("|") if band.split()]
OPEN = 0.2
MOST_ROLLS = 6
OOPS_NEEDED = {"j_bloodstone": 1, "j_business": 1, "j_reserved_parking": 1, "j_space": 2, "j_8_ball": 2}


def random_case(random: Random) -> Case:
    """Return a legal hand with few enough open rolls to list all outcomes."""
    while True:
        case = one_case(random, random.random() < OPEN)
        if play(case, ()).rolled <= MOST_ROLLS:
            return case


def one_case(random: Random, is_open: bool) -> Case:
    """Return a legal hand; if it is not open, uncertain rolls are made certain or replaced."""
    played, held = random_cards(random)
    jokers = random_jokers(random, played)
    boss = random.choice(BOSSES) if random.random() < 0.4 else None
    if any(joker["key"] == "j_chicot" for joker in jokers):
        boss = None
    settle_unknown(jokers)
    if not is_open:
        settle_chances(jokers, played)
    debuff(random, boss, jokers, played + held)
    plays = random_plays(random)
    return {
        "seed": "".join(random.choices("123456789ABCDEFGHIJKLMNPQRSTUVWXYZ", k=8)),
        "deck": "b_plasma" if random.random() < 0.2 else "b_red",
        "boss": boss,
        "boss_state": boss_state(random, boss),
        "levels": {name: random.choice([2, 3, 5, 9, 20, 90]) if random.random() < 0.4 else 1 for name in NAMES},
        "plays": plays,
        "dollars": random.choice([random.randint(-20, 30), random.randint(0, 9), random.randint(0, 400)]),
        "hands_left": random.randint(0, 3),
        "discards_left": random.choice([0, 0, 1, 2, 3, 4]),
        **hands_before(random, plays, jokers, played),
        **random_deck(random, played + held),
        "joker_slots": len(jokers) + random.choice([0, 0, 1, 2, 3]),
        "consumables": random_consumables(random),
        "vouchers": ["v_observatory"] if random.random() < 0.5 else [],
        "jokers": jokers,
        "played": [write_card(card) for card in played],
        "held": [write_card(card) for card in held],
    }


# ---- cards -----------------------------------------------------------------------------------------------------------


def random_cards(random: Random) -> tuple[list[Card], list[Card]]:
    """Return played and held cards, of few ranks, few suits or neighbouring ranks, so that poker hands occur."""
    suits = random.choice([SUITS, SUITS, SUITS, random.choice(SUITS), random.choice(SUITS), "SC", "HD", "HC"])
    fancy = random.choice([0.0, 0.2, 0.5, 0.9])
    ranks = random_ranks(random)
    count = random.choice([1, 2, 3, 4, 4, 5, 5, 5, 5, 5, 5])
    played = [random_card(random, rank, random.choice(suits), fancy) for rank in random.sample(ranks, count)]
    near = random.random() < 0.4
    held = []
    for _ in range(random.choice([0, 0, 1, 2, 3, 3, 4, 5, 6, 7, 8, 12])):
        rank, suit = random.choice(ranks if near else RANKS), random.choice(suits if near else SUITS)
        held.append(random_card(random, rank, suit, fancy))
    return played, held


def random_ranks(random: Random) -> list[str]:
    """Return five ranks: arbitrary, of a few, or neighbouring; sometimes one of them differs."""
    kind = random.random()
    if kind < 0.12:
        return random.choices(RANKS, k=5)
    if kind < 0.6:
        few = random.sample(RANKS, random.choice([1, 2, 2, 3]))
        return random.choices(few, k=5)
    return random_run(random)


def random_run(random: Random) -> list[str]:
    """Return five ascending ranks from a random one, with the Ace at both ends, sometimes with gaps or another rank."""
    circle = "A" + RANKS
    gaps = random.random() < 0.4
    at = random.randrange(len(circle) - (8 if gaps else 4))
    ranks = [circle[at]]
    for _ in range(4):
        at += random.randint(1, 2) if gaps else 1
        ranks.append(circle[at])
    if random.random() < 0.25:
        ranks[random.randrange(5)] = random.choice(RANKS)
    return ranks


def random_card(random: Random, rank: str, suit: str, fancy: float) -> Card:
    """Return a card; `fancy` is the probability of each of enhancement, edition, seal and permanent chips."""
    card = Card(suit, rank)
    if random.random() < fancy:
        card.enhancement = random.choice(ENHANCEMENTS)
    if random.random() < fancy / 2:
        card.edition = random.choice(CARD_EDITIONS)
    if random.random() < fancy / 2:
        card.seal = random.choice(SEALS)
    if random.random() < fancy / 2:
        card.bonus = 5 * random.randint(1, 12)
    return card


def debuff(random: Random, boss: str | None, jokers: list[Case], cards: list[Card]) -> None:
    """Debuff cards by the boss's rule, and sometimes an arbitrary card."""
    some = random.random() < 0.1
    for card in cards:
        card.debuffed = boss_debuffs(random, boss, jokers, card) or (some and random.random() < 0.3)


def boss_debuffs(random: Random, boss: str | None, jokers: list[Case], card: Card) -> bool:
    """Return whether this boss debuffs the card; random for The Pillar's memory."""
    owned = {joker["key"] for joker in jokers if not joker["debuffed"]}
    if boss in SUIT_BOSSES:
        return card.shows_suit(SUIT_BOSSES[boss], "j_smeared" in owned)
    if boss == "bl_plant":
        return card.is_face("j_pareidolia" in owned)
    return boss == "bl_final_leaf" or (boss == "bl_pillar" and random.random() < 0.4)


# ---- jokers ----------------------------------------------------------------------------------------------------------


def random_jokers(random: Random, cards: list[Card]) -> list[Case]:
    """Return 0 to 11 jokers, some debuffed; jokers with a shared memory agree on it."""
    shared = shared_memory(random, random.choice(cards))
    return [
        {
            "key": key,
            "edition": random.choice(JOKER_EDITIONS) if random.random() < 0.25 else None,
            "sell": random.randint(1, 20),
            "state": memory(random, key, shared),
            "debuffed": random.random() < 0.05,
        }
        for key in random_keys(random)
    ]


def random_keys(random: Random) -> list[str]:
    """Return a combination of jokers in many cases, then arbitrary ones, in random order."""
    keys = list(random.choice(BAND_LIST)) if random.random() < 0.4 else []
    for _ in range(random.choice([0, 1, 2, 3, 4, 5, 5, 6, 6, 11]) - len(keys)):
        keys.append(random.choice(FAVOURITES) if random.random() < 0.25 else random.choice(KEYS))
    random.shuffle(keys)
    return keys


def shared_memory(random: Random, card: Card) -> dict[str, Case]:
    """Return the state that the game stores once for all jokers of a kind; The Idol's is often a card of this hand."""
    listed = card if random.random() < 0.6 else Card(random.choice(SUITS), random.choice(RANKS))
    return {
        "j_idol": {"rank": listed.rank, "suit": listed.suit},
        "j_ancient": {"suit": random.choice(SUITS)},
        "j_throwback": {"blinds_skipped": random.randint(0, 10)},
        "j_fortune_teller": {"tarots_used": random.randint(0, 40)},
        "j_misprint": {"rolled": random.randint(0, 23)},
    }


def steps(start: float, step: float, most: int) -> Any:
    """Return a function that gives a number some steps above the start, as the joker shows it."""
    return lambda random: round(start + step * random.randint(0, most), 2)


MEMORY: dict[str, tuple[str, Any]] = {
    "j_madness": ("xmult", steps(1.0, 0.5, 8)),
    "j_glass": ("xmult", steps(1.0, 0.75, 6)),
    "j_yorick": ("xmult", steps(1.0, 1.0, 6)),
    "j_caino": ("xmult", steps(1.0, 1.0, 6)),
    "j_hologram": ("xmult", steps(1.0, 0.25, 12)),
    "j_campfire": ("xmult", steps(1.0, 0.25, 12)),
    "j_lucky_cat": ("xmult", steps(1.0, 0.25, 12)),
    "j_constellation": ("xmult", steps(1.0, 0.1, 25)),
    "j_vampire": ("xmult", steps(1.0, 0.1, 25)),
    "j_obelisk": ("xmult", steps(1.0, 0.2, 10)),
    "j_hit_the_road": ("xmult", steps(1.0, 0.5, 4)),
    "j_ramen": ("xmult", steps(1.01, 0.01, 99)),
    "j_green_joker": ("mult", steps(0, 1, 30)),
    "j_ride_the_bus": ("mult", steps(0, 1, 30)),
    "j_flash": ("mult", steps(0, 2, 15)),
    "j_trousers": ("mult", steps(0, 2, 15)),
    "j_red_card": ("mult", steps(0, 3, 20)),
    "j_ceremonial": ("mult", steps(0, 2, 30)),
    "j_popcorn": ("mult", steps(4, 4, 4)),
    "j_runner": ("chips", steps(0, 15, 12)),
    "j_square": ("chips", steps(0, 4, 20)),
    "j_wee": ("chips", steps(0, 8, 15)),
    "j_castle": ("chips", steps(0, 3, 30)),
    "j_ice_cream": ("chips", steps(5, 5, 19)),
    "j_loyalty_card": ("hands_since_acquired", steps(0, 1, 30)),
    "j_selzer": ("hands_left", steps(1, 1, 9)),
    "j_todo_list": ("hand", lambda random: random.choice(NAMES)),
}


def memory(random: Random, key: str, shared: dict[str, Case]) -> Case:
    """Return the memory of a joker of this key."""
    if key in shared:
        return dict(shared[key])
    if key in MEMORY:
        name, make = MEMORY[key]
        return {name: make(random)}
    return {}


def settle_unknown(jokers: list[Case]) -> None:
    """Replace jokers with unrecorded behaviour by plain ones: Matador's payment, a second Sixth Sense."""
    working = [joker["key"] for joker in jokers if not joker["debuffed"]]
    senses = 0
    for joker in jokers:
        senses += joker["key"] == "j_sixth_sense"
        if (joker["key"] == "j_matador" and set(MONEY_READERS) & set(working)) or senses > 1:
            joker["key"] = "j_joker"
            senses = min(senses, 1)


def settle_chances(jokers: list[Case], played: list[Card]) -> None:
    """Without enough Oops! All 6s, replace jokers that roll by plain ones, and Lucky and Glass cards by Mult cards."""
    oops = sum(1 for joker in jokers if joker["key"] == "j_oops" and not joker["debuffed"])
    for joker in jokers:
        if oops < OOPS_NEEDED.get(joker["key"], 0):
            joker["key"] = "j_joker"
    for card in played:
        if (card.enhancement == "m_lucky" and oops < 4) or (card.enhancement == "m_glass" and oops < 2):
            card.enhancement = "m_mult"


# ---- the run ---------------------------------------------------------------------------------------------------------


def random_plays(random: Random) -> dict[str, list[int]]:
    """Return the number of times that each hand was played in this run and in this round."""
    plays = {}
    for name in NAMES:
        if random.random() < 0.4:
            run = random.randint(1, 15)
            plays[name] = [run, min(run, random.choice([0, 0, 1, 2]))]
    return plays


def hands_before(random: Random, plays: dict[str, list[int]], jokers: list[Case], played: list[Card]) -> Case:
    """Return hands played this round, often none; no record shows when Hologram sees the copy of DNA in the first."""
    keys = {joker["key"] for joker in jokers}
    if random.random() < 0.4:
        for times in plays.values():
            times[1] = 0
    if len(played) == 1 and {"j_dna", "j_hologram"} <= keys:
        plays["High Card"] = [max(1, plays.get("High Card", [0, 0])[0]), 1]
    return {"round_hands_played": sum(this_round for _, this_round in plays.values())}


def boss_state(random: Random, boss: str | None) -> Case:
    """Return the memory of The Eye and The Mouth."""
    if boss == "bl_eye":
        return {"hands_used": random.sample(NAMES, random.randint(0, 4))}
    if boss == "bl_mouth":
        return {"only_hand": random.choice([None, *NAMES])}
    if boss == "bl_ox":
        return {"most_played": random.choice(NAMES)}
    return {}


def random_deck(random: Random, shown: list[Card]) -> Case:
    """Return a deck that contains the visible cards and has the counts that jokers require."""
    size = random.randint(max(20, len(shown)), 62)
    room = size - len(shown)
    stone, steel, other = (random.randint(0, room // 3) if random.random() < 0.5 else 0 for _ in range(3))
    enhancements = [card.enhancement for card in shown]
    return {
        "deck_left": random.randint(0, room),
        "deck_size": size,
        "deck_facts": {
            "starting_deck_size": random.choice([40, 52]),
            "stone_cards": stone + enhancements.count("m_stone"),
            "steel_cards": steel + enhancements.count("m_steel"),
            "enhanced_cards": stone + steel + other + sum(1 for enhancement in enhancements if enhancement),
            "nines": 0,
        },
    }


def random_consumables(random: Random) -> list[str]:
    """Return up to two consumables, mostly Planets."""
    few = random.sample(list(PLANETS), 3)
    return [random.choice([*few, "c_strength"]) for _ in range(random.choice([0, 0, 1, 2]))]
