"""The 150 jokers in pool order, one row each with all its numbers."""

from dataclasses import dataclass
from enum import IntEnum

from ante.catalog.cards import ACE, JACK, KING, QUEEN, Enhancement, Suit
from ante.catalog.hands import Hand

COMMON, UNCOMMON, RARE, LEGENDARY = 1, 2, 3, 4


class Joker(IntEnum):
    """Jokers in the game's order of creation; 0 for no joker."""

    NONE = 0
    JOKER = 1
    GREEDY_JOKER = 2
    LUSTY_JOKER = 3
    WRATHFUL_JOKER = 4
    GLUTTENOUS_JOKER = 5
    JOLLY = 6
    ZANY = 7
    MAD = 8
    CRAZY = 9
    DROLL = 10
    SLY = 11
    WILY = 12
    CLEVER = 13
    DEVIOUS = 14
    CRAFTY = 15
    HALF = 16
    STENCIL = 17
    FOUR_FINGERS = 18
    MIME = 19
    CREDIT_CARD = 20
    CEREMONIAL = 21
    BANNER = 22
    MYSTIC_SUMMIT = 23
    MARBLE = 24
    LOYALTY_CARD = 25
    EIGHT_BALL = 26
    MISPRINT = 27
    DUSK = 28
    RAISED_FIST = 29
    CHAOS = 30
    FIBONACCI = 31
    STEEL_JOKER = 32
    SCARY_FACE = 33
    ABSTRACT = 34
    DELAYED_GRAT = 35
    HACK = 36
    PAREIDOLIA = 37
    GROS_MICHEL = 38
    EVEN_STEVEN = 39
    ODD_TODD = 40
    SCHOLAR = 41
    BUSINESS = 42
    SUPERNOVA = 43
    RIDE_THE_BUS = 44
    SPACE = 45
    EGG = 46
    BURGLAR = 47
    BLACKBOARD = 48
    RUNNER = 49
    ICE_CREAM = 50
    DNA = 51
    SPLASH = 52
    BLUE_JOKER = 53
    SIXTH_SENSE = 54
    CONSTELLATION = 55
    HIKER = 56
    FACELESS = 57
    GREEN_JOKER = 58
    SUPERPOSITION = 59
    TODO_LIST = 60
    CAVENDISH = 61
    CARD_SHARP = 62
    RED_CARD = 63
    MADNESS = 64
    SQUARE = 65
    SEANCE = 66
    RIFF_RAFF = 67
    VAMPIRE = 68
    SHORTCUT = 69
    HOLOGRAM = 70
    VAGABOND = 71
    BARON = 72
    CLOUD_9 = 73
    ROCKET = 74
    OBELISK = 75
    MIDAS_MASK = 76
    LUCHADOR = 77
    PHOTOGRAPH = 78
    GIFT = 79
    TURTLE_BEAN = 80
    EROSION = 81
    RESERVED_PARKING = 82
    MAIL = 83
    TO_THE_MOON = 84
    HALLUCINATION = 85
    FORTUNE_TELLER = 86
    JUGGLER = 87
    DRUNKARD = 88
    STONE = 89
    GOLDEN = 90
    LUCKY_CAT = 91
    BASEBALL = 92
    BULL = 93
    DIET_COLA = 94
    TRADING = 95
    FLASH = 96
    POPCORN = 97
    TROUSERS = 98
    ANCIENT = 99
    RAMEN = 100
    WALKIE_TALKIE = 101
    SELZER = 102
    CASTLE = 103
    SMILEY = 104
    CAMPFIRE = 105
    TICKET = 106
    MR_BONES = 107
    ACROBAT = 108
    SOCK_AND_BUSKIN = 109
    SWASHBUCKLER = 110
    TROUBADOUR = 111
    CERTIFICATE = 112
    SMEARED = 113
    THROWBACK = 114
    HANGING_CHAD = 115
    ROUGH_GEM = 116
    BLOODSTONE = 117
    ARROWHEAD = 118
    ONYX_AGATE = 119
    GLASS = 120
    RING_MASTER = 121
    FLOWER_POT = 122
    BLUEPRINT = 123
    WEE = 124
    MERRY_ANDY = 125
    OOPS = 126
    IDOL = 127
    SEEING_DOUBLE = 128
    MATADOR = 129
    HIT_THE_ROAD = 130
    DUO = 131
    TRIO = 132
    FAMILY = 133
    ORDER = 134
    TRIBE = 135
    STUNTMAN = 136
    INVISIBLE = 137
    BRAINSTORM = 138
    SATELLITE = 139
    SHOOT_THE_MOON = 140
    DRIVERS_LICENSE = 141
    CARTOMANCER = 142
    ASTRONOMER = 143
    BURNT = 144
    BOOTSTRAPS = 145
    CAINO = 146
    TRIBOULET = 147
    YORICK = 148
    CHICOT = 149
    PERKEO = 150


class Extinction(IntEnum):
    """When the pool offers a joker: always, or only before or after Gros Michel's extinction."""

    ALWAYS = 0
    BEFORE = 1
    AFTER = 2


@dataclass(frozen=True, slots=True)
class JokerRow:
    """One joker. Fields that do not apply to it are None.

    rarity      1 Common, 2 Uncommon, 3 Rare, 4 Legendary
    cost        base price in dollars
    mult        +Mult, in total or for each counted thing
    chips       +Chips, likewise
    xmult       X Mult; for a joker that counts things, the amount that each adds to X1
    dollars     money earned, or sell value gained
    odds        the probability is 1 in `odds`
    start       initial Mult, Chips or X Mult of the joker's value; a reset restores it
    growth      added to the value by each step
    loss        subtracted from the value by each step
    count       initial counter: hands left, cards left, cards of hand size, dollars paid
    repeats     additional triggers of cards
    levels      levels that a poker hand gains
    creates     number of cards or jokers created
    hand_size, hands, discards, rerolls, debt   added to these limits while held; Burglar adds hands once per round
    doublings   how often it doubles every probability
    share       fraction of the required chips
    cards       exact number of cards that are played or discarded, or that a Flush or a Straight needs
    at_least, at_most   limits of the count in its condition (cards, faces, dollars, rounds, discards), or of its roll
    every       it acts on every n-th hand
    per         dollars that count as one
    ranks       ranks that it depends on; Jack 11, Queen 12, King 13, Ace 14
    suit, suits suit or suits that it depends on
    hand        poker hand that the played cards must contain
    target_rarity   rarity of the other jokers that it depends on
    unlocked_at_start, unlock   whether a new profile has it, and the condition that unlocks it; None if unknown
    needs_in_deck   enhancement that must be in the deck before the pool offers it
    extinction  whether the pool offers it before or after Gros Michel's extinction
    """

    joker: Joker
    key: str
    name: str
    rarity: int
    cost: int
    effect: str
    mult: float | None = None
    chips: float | None = None
    xmult: float | None = None
    dollars: int | None = None
    odds: float | None = None
    start: float | None = None
    growth: float | None = None
    loss: float | None = None
    count: int | None = None
    repeats: int | None = None
    levels: int | None = None
    creates: int | None = None
    hand_size: int | None = None
    hands: int | None = None
    discards: int | None = None
    rerolls: int | None = None
    debt: int | None = None
    doublings: int | None = None
    share: float | None = None
    cards: int | None = None
    at_least: int | None = None
    at_most: int | None = None
    every: int | None = None
    per: int | None = None
    ranks: tuple[int, ...] = ()
    suit: Suit | None = None
    suits: tuple[Suit, ...] = ()
    hand: Hand | None = None
    target_rarity: int | None = None
    blueprint_compat: bool = True
    eternal_compat: bool = True
    perishable_compat: bool = True
    unlocked_at_start: bool = True
    unlock: str | None = None
    needs_in_deck: Enhancement = Enhancement.NONE
    extinction: Extinction = Extinction.ALWAYS


JOKERS: tuple[JokerRow, ...] = (
    JokerRow(Joker.NONE, "", "", 0, cost=0, effect=""),
    JokerRow(
        Joker.JOKER,
        "j_joker",
        "Joker",
        COMMON,
        cost=2,
        effect="+4 Mult.",
        mult=4,
    ),
    JokerRow(
        Joker.GREEDY_JOKER,
        "j_greedy_joker",
        "Greedy Joker",
        COMMON,
        cost=5,
        effect="Each scored Diamond gives +3 Mult.",
        mult=3,
        suit=Suit.DIAMONDS,
    ),
    JokerRow(
        Joker.LUSTY_JOKER,
        "j_lusty_joker",
        "Lusty Joker",
        COMMON,
        cost=5,
        effect="Each scored Heart gives +3 Mult.",
        mult=3,
        suit=Suit.HEARTS,
    ),
    JokerRow(
        Joker.WRATHFUL_JOKER,
        "j_wrathful_joker",
        "Wrathful Joker",
        COMMON,
        cost=5,
        effect="Each scored Spade gives +3 Mult.",
        mult=3,
        suit=Suit.SPADES,
    ),
    JokerRow(
        Joker.GLUTTENOUS_JOKER,
        "j_gluttenous_joker",
        "Gluttonous Joker",
        COMMON,
        cost=5,
        effect="Each scored Club gives +3 Mult.",
        mult=3,
        suit=Suit.CLUBS,
    ),
    JokerRow(
        Joker.JOLLY,
        "j_jolly",
        "Jolly Joker",
        COMMON,
        cost=3,
        effect="+8 Mult if the hand contains a Pair.",
        mult=8,
        hand=Hand.PAIR,
    ),
    JokerRow(
        Joker.ZANY,
        "j_zany",
        "Zany Joker",
        COMMON,
        cost=4,
        effect="+12 Mult if the hand contains Three of a Kind.",
        mult=12,
        hand=Hand.THREE_OF_A_KIND,
    ),
    JokerRow(
        Joker.MAD,
        "j_mad",
        "Mad Joker",
        COMMON,
        cost=4,
        effect="+10 Mult if the hand contains Two Pair.",
        mult=10,
        hand=Hand.TWO_PAIR,
    ),
    JokerRow(
        Joker.CRAZY,
        "j_crazy",
        "Crazy Joker",
        COMMON,
        cost=4,
        effect="+12 Mult if the hand contains a Straight.",
        mult=12,
        hand=Hand.STRAIGHT,
    ),
    JokerRow(
        Joker.DROLL,
        "j_droll",
        "Droll Joker",
        COMMON,
        cost=4,
        effect="+10 Mult if the hand contains a Flush.",
        mult=10,
        hand=Hand.FLUSH,
    ),
    JokerRow(
        Joker.SLY,
        "j_sly",
        "Sly Joker",
        COMMON,
        cost=3,
        effect="+50 Chips if the hand contains a Pair.",
        chips=50,
        hand=Hand.PAIR,
    ),
    JokerRow(
        Joker.WILY,
        "j_wily",
        "Wily Joker",
        COMMON,
        cost=4,
        effect="+100 Chips if the hand contains Three of a Kind.",
        chips=100,
        hand=Hand.THREE_OF_A_KIND,
    ),
    JokerRow(
        Joker.CLEVER,
        "j_clever",
        "Clever Joker",
        COMMON,
        cost=4,
        effect="+80 Chips if the hand contains Two Pair.",
        chips=80,
        hand=Hand.TWO_PAIR,
    ),
    JokerRow(
        Joker.DEVIOUS,
        "j_devious",
        "Devious Joker",
        COMMON,
        cost=4,
        effect="+100 Chips if the hand contains a Straight.",
        chips=100,
        hand=Hand.STRAIGHT,
    ),
    JokerRow(
        Joker.CRAFTY,
        "j_crafty",
        "Crafty Joker",
        COMMON,
        cost=4,
        effect="+80 Chips if the hand contains a Flush.",
        chips=80,
        hand=Hand.FLUSH,
    ),
    JokerRow(
        Joker.HALF,
        "j_half",
        "Half Joker",
        COMMON,
        cost=5,
        effect="+20 Mult when 3 or fewer cards are played.",
        mult=20,
        at_most=3,
    ),
    JokerRow(
        Joker.STENCIL,
        "j_stencil",
        "Joker Stencil",
        UNCOMMON,
        cost=8,
        effect="X1 Mult per empty Joker slot; every Joker Stencil counts as an empty slot.",
        xmult=1,
    ),
    JokerRow(
        Joker.FOUR_FINGERS,
        "j_four_fingers",
        "Four Fingers",
        UNCOMMON,
        cost=7,
        effect="Flushes and Straights need only 4 cards.",
        cards=4,
        blueprint_compat=False,
    ),
    JokerRow(
        Joker.MIME,
        "j_mime",
        "Mime",
        UNCOMMON,
        cost=5,
        effect="Retriggers abilities of cards held in hand.",
        repeats=1,
    ),
    JokerRow(
        Joker.CREDIT_CARD,
        "j_credit_card",
        "Credit Card",
        COMMON,
        cost=1,
        effect="Allows debt down to -$20.",
        debt=20,
        blueprint_compat=False,
    ),
    JokerRow(
        Joker.CEREMONIAL,
        "j_ceremonial",
        "Ceremonial Dagger",
        UNCOMMON,
        cost=6,
        effect="When a blind is selected, destroys the Joker to its right (not Eternal) and permanently gains twice that Joker's sell value as Mult.",
        growth=2,
        perishable_compat=False,
    ),
    JokerRow(
        Joker.BANNER,
        "j_banner",
        "Banner",
        COMMON,
        cost=5,
        effect="+30 Chips per discard remaining.",
        chips=30,
    ),
    JokerRow(
        Joker.MYSTIC_SUMMIT,
        "j_mystic_summit",
        "Mystic Summit",
        COMMON,
        cost=5,
        effect="+15 Mult with 0 discards left.",
        mult=15,
        at_most=0,
    ),
    JokerRow(
        Joker.MARBLE,
        "j_marble",
        "Marble Joker",
        UNCOMMON,
        cost=6,
        effect="When a blind is selected, adds a Stone card to the deck.",
        creates=1,
    ),
    JokerRow(
        Joker.LOYALTY_CARD,
        "j_loyalty_card",
        "Loyalty Card",
        UNCOMMON,
        cost=5,
        effect="X4 Mult on every 6th hand played.",
        xmult=4,
        every=6,
    ),
    JokerRow(
        Joker.EIGHT_BALL,
        "j_8_ball",
        "8 Ball",
        COMMON,
        cost=5,
        effect="Each scored 8 has a 1 in 4 chance to create a Tarot (needs room).",
        odds=4,
        ranks=(8,),
    ),
    JokerRow(
        Joker.MISPRINT,
        "j_misprint",
        "Misprint",
        COMMON,
        cost=4,
        effect="Adds a random 0 to 23 Mult.",
        at_least=0,
        at_most=23,
    ),
    JokerRow(
        Joker.DUSK,
        "j_dusk",
        "Dusk",
        UNCOMMON,
        cost=5,
        effect="Retriggers all scored cards in the last hand of the round.",
        repeats=1,
    ),
    JokerRow(
        Joker.RAISED_FIST,
        "j_raised_fist",
        "Raised Fist",
        COMMON,
        cost=5,
        effect="Adds twice the rank value of the lowest card held in hand to Mult.",
        mult=2,
    ),
    JokerRow(
        Joker.CHAOS,
        "j_chaos",
        "Chaos the Clown",
        COMMON,
        cost=4,
        effect="One free reroll per shop.",
        rerolls=1,
        blueprint_compat=False,
    ),
    JokerRow(
        Joker.FIBONACCI,
        "j_fibonacci",
        "Fibonacci",
        UNCOMMON,
        cost=8,
        effect="Scored A, 2, 3, 5, 8 give +8 Mult each.",
        mult=8,
        ranks=(ACE, 2, 3, 5, 8),
    ),
    JokerRow(
        Joker.STEEL_JOKER,
        "j_steel_joker",
        "Steel Joker",
        UNCOMMON,
        cost=7,
        effect="X(1 + 0.2 per Steel card in the full deck) Mult.",
        xmult=0.2,
        needs_in_deck=Enhancement.STEEL,
    ),
    JokerRow(
        Joker.SCARY_FACE,
        "j_scary_face",
        "Scary Face",
        COMMON,
        cost=4,
        effect="Scored face cards give +30 Chips each.",
        chips=30,
    ),
    JokerRow(
        Joker.ABSTRACT,
        "j_abstract",
        "Abstract Joker",
        COMMON,
        cost=4,
        effect="+3 Mult per Joker owned.",
        mult=3,
    ),
    JokerRow(
        Joker.DELAYED_GRAT,
        "j_delayed_grat",
        "Delayed Gratification",
        COMMON,
        cost=4,
        effect="$2 per unused discard at round end if none were used.",
        dollars=2,
        blueprint_compat=False,
    ),
    JokerRow(
        Joker.HACK,
        "j_hack",
        "Hack",
        UNCOMMON,
        cost=6,
        effect="Retriggers scored 2, 3, 4, 5.",
        repeats=1,
        ranks=(2, 3, 4, 5),
    ),
    JokerRow(
        Joker.PAREIDOLIA,
        "j_pareidolia",
        "Pareidolia",
        UNCOMMON,
        cost=5,
        effect="All cards count as face cards.",
        blueprint_compat=False,
    ),
    JokerRow(
        Joker.GROS_MICHEL,
        "j_gros_michel",
        "Gros Michel",
        COMMON,
        cost=5,
        effect="+15 Mult; 1 in 6 chance to go extinct at round end.",
        mult=15,
        odds=6,
        eternal_compat=False,
        extinction=Extinction.BEFORE,
    ),
    JokerRow(
        Joker.EVEN_STEVEN,
        "j_even_steven",
        "Even Steven",
        COMMON,
        cost=4,
        effect="Scored even ranks (2,4,6,8,10) give +4 Mult each.",
        mult=4,
        ranks=(2, 4, 6, 8, 10),
    ),
    JokerRow(
        Joker.ODD_TODD,
        "j_odd_todd",
        "Odd Todd",
        COMMON,
        cost=4,
        effect="Scored odd ranks (A,3,5,7,9) give +31 Chips each.",
        chips=31,
        ranks=(ACE, 3, 5, 7, 9),
    ),
    JokerRow(
        Joker.SCHOLAR,
        "j_scholar",
        "Scholar",
        COMMON,
        cost=4,
        effect="Scored Aces give +20 Chips and +4 Mult.",
        chips=20,
        mult=4,
        ranks=(ACE,),
    ),
    JokerRow(
        Joker.BUSINESS,
        "j_business",
        "Business Card",
        COMMON,
        cost=4,
        effect="Scored face cards have a 1 in 2 chance to give $2.",
        dollars=2,
        odds=2,
    ),
    JokerRow(
        Joker.SUPERNOVA,
        "j_supernova",
        "Supernova",
        COMMON,
        cost=5,
        effect="Adds the number of times this poker hand has been played this run to Mult.",
        mult=1,
    ),
    JokerRow(
        Joker.RIDE_THE_BUS,
        "j_ride_the_bus",
        "Ride the Bus",
        COMMON,
        cost=6,
        effect="Gains +1 Mult per consecutive hand without a scoring face card; resets otherwise.",
        growth=1,
        perishable_compat=False,
    ),
    JokerRow(
        Joker.SPACE,
        "j_space",
        "Space Joker",
        UNCOMMON,
        cost=5,
        effect="1 in 4 chance to upgrade the level of the played hand.",
        odds=4,
        levels=1,
    ),
    JokerRow(
        Joker.EGG,
        "j_egg",
        "Egg",
        COMMON,
        cost=4,
        effect="Gains $3 of sell value at round end.",
        dollars=3,
        blueprint_compat=False,
    ),
    JokerRow(
        Joker.BURGLAR,
        "j_burglar",
        "Burglar",
        UNCOMMON,
        cost=6,
        effect="When a blind is selected, +3 hands and lose all discards.",
        hands=3,
    ),
    JokerRow(
        Joker.BLACKBOARD,
        "j_blackboard",
        "Blackboard",
        UNCOMMON,
        cost=6,
        effect="X3 Mult if every card held in hand is a Spade or Club.",
        xmult=3,
        suits=(Suit.SPADES, Suit.CLUBS),
    ),
    JokerRow(
        Joker.RUNNER,
        "j_runner",
        "Runner",
        COMMON,
        cost=5,
        effect="Gains +15 Chips if the hand contains a Straight (starts at 0).",
        growth=15,
        hand=Hand.STRAIGHT,
        perishable_compat=False,
    ),
    JokerRow(
        Joker.ICE_CREAM,
        "j_ice_cream",
        "Ice Cream",
        COMMON,
        cost=5,
        effect="+100 Chips, -5 per hand played; melts at 0.",
        start=100,
        loss=5,
        eternal_compat=False,
    ),
    JokerRow(
        Joker.DNA,
        "j_dna",
        "DNA",
        RARE,
        cost=8,
        effect="If the first hand of the round has exactly 1 card, adds a permanent copy of it to the deck and hand.",
        cards=1,
    ),
    JokerRow(
        Joker.SPLASH,
        "j_splash",
        "Splash",
        COMMON,
        cost=3,
        effect="Every played card scores.",
        blueprint_compat=False,
    ),
    JokerRow(
        Joker.BLUE_JOKER,
        "j_blue_joker",
        "Blue Joker",
        COMMON,
        cost=5,
        effect="+2 Chips per card remaining in the deck.",
        chips=2,
    ),
    JokerRow(
        Joker.SIXTH_SENSE,
        "j_sixth_sense",
        "Sixth Sense",
        UNCOMMON,
        cost=6,
        effect="If the first hand of the round is a single 6, destroys it and creates a Spectral card (needs room).",
        cards=1,
        ranks=(6,),
        blueprint_compat=False,
    ),
    JokerRow(
        Joker.CONSTELLATION,
        "j_constellation",
        "Constellation",
        UNCOMMON,
        cost=6,
        effect="Gains X0.1 Mult per Planet used (starts X1).",
        start=1,
        growth=0.1,
        perishable_compat=False,
    ),
    JokerRow(
        Joker.HIKER,
        "j_hiker",
        "Hiker",
        UNCOMMON,
        cost=5,
        effect="Every scored card permanently gains +5 Chips.",
        chips=5,
    ),
    JokerRow(
        Joker.FACELESS,
        "j_faceless",
        "Faceless Joker",
        COMMON,
        cost=4,
        effect="$5 if 3 or more face cards are discarded at once.",
        dollars=5,
        at_least=3,
    ),
    JokerRow(
        Joker.GREEN_JOKER,
        "j_green_joker",
        "Green Joker",
        COMMON,
        cost=4,
        effect="+1 Mult per hand played, -1 Mult per discard (min 0).",
        growth=1,
        loss=1,
        perishable_compat=False,
    ),
    JokerRow(
        Joker.SUPERPOSITION,
        "j_superposition",
        "Superposition",
        COMMON,
        cost=4,
        effect="Creates a Tarot if the hand contains an Ace and a Straight (needs room).",
        hand=Hand.STRAIGHT,
        ranks=(ACE,),
    ),
    JokerRow(
        Joker.TODO_LIST,
        "j_todo_list",
        "To Do List",
        COMMON,
        cost=4,
        effect="$4 if the hand is the listed poker hand; the listed hand changes every round.",
        dollars=4,
    ),
    JokerRow(
        Joker.CAVENDISH,
        "j_cavendish",
        "Cavendish",
        COMMON,
        cost=4,
        effect="X3 Mult; 1 in 1000 chance to be destroyed at round end.",
        xmult=3,
        odds=1000,
        eternal_compat=False,
        extinction=Extinction.AFTER,
    ),
    JokerRow(
        Joker.CARD_SHARP,
        "j_card_sharp",
        "Card Sharp",
        UNCOMMON,
        cost=6,
        effect="X3 Mult if this poker hand was already played this round.",
        xmult=3,
    ),
    JokerRow(
        Joker.RED_CARD,
        "j_red_card",
        "Red Card",
        COMMON,
        cost=5,
        effect="Gains +3 Mult when a booster pack is skipped.",
        growth=3,
        perishable_compat=False,
    ),
    JokerRow(
        Joker.MADNESS,
        "j_madness",
        "Madness",
        UNCOMMON,
        cost=7,
        effect="When a Small or Big Blind is selected, gains X0.5 Mult and destroys a random other Joker.",
        start=1,
        growth=0.5,
        perishable_compat=False,
    ),
    JokerRow(
        Joker.SQUARE,
        "j_square",
        "Square Joker",
        COMMON,
        cost=4,
        effect="Gains +4 Chips if the hand has exactly 4 cards (starts at 0).",
        growth=4,
        cards=4,
        perishable_compat=False,
    ),
    JokerRow(
        Joker.SEANCE,
        "j_seance",
        "Seance",
        UNCOMMON,
        cost=6,
        effect="If the hand is a Straight Flush, creates a Spectral card (needs room).",
        hand=Hand.STRAIGHT_FLUSH,
    ),
    JokerRow(
        Joker.RIFF_RAFF,
        "j_riff_raff",
        "Riff-raff",
        COMMON,
        cost=6,
        effect="When a blind is selected, creates up to 2 Common Jokers (needs room).",
        creates=2,
    ),
    JokerRow(
        Joker.VAMPIRE,
        "j_vampire",
        "Vampire",
        UNCOMMON,
        cost=7,
        effect="Gains X0.1 Mult per scored enhanced card and strips the enhancement.",
        start=1,
        growth=0.1,
        perishable_compat=False,
    ),
    JokerRow(
        Joker.SHORTCUT,
        "j_shortcut",
        "Shortcut",
        UNCOMMON,
        cost=7,
        effect="Straights may have gaps of one rank.",
        blueprint_compat=False,
    ),
    JokerRow(
        Joker.HOLOGRAM,
        "j_hologram",
        "Hologram",
        UNCOMMON,
        cost=7,
        effect="Gains X0.25 Mult per playing card added to the deck.",
        start=1,
        growth=0.25,
        perishable_compat=False,
    ),
    JokerRow(
        Joker.VAGABOND,
        "j_vagabond",
        "Vagabond",
        RARE,
        cost=8,
        effect="Creates a Tarot if the hand is played with $4 or less (needs room).",
        at_most=4,
    ),
    JokerRow(
        Joker.BARON,
        "j_baron",
        "Baron",
        RARE,
        cost=8,
        effect="Each King held in hand gives X1.5 Mult.",
        xmult=1.5,
        ranks=(KING,),
    ),
    JokerRow(
        Joker.CLOUD_9,
        "j_cloud_9",
        "Cloud 9",
        UNCOMMON,
        cost=7,
        effect="$1 per 9 in the full deck at round end.",
        dollars=1,
        ranks=(9,),
        blueprint_compat=False,
    ),
    JokerRow(
        Joker.ROCKET,
        "j_rocket",
        "Rocket",
        UNCOMMON,
        cost=6,
        effect="$1 at round end; payout rises by $2 when a Boss is beaten.",
        count=1,
        growth=2,
        blueprint_compat=False,
        perishable_compat=False,
    ),
    JokerRow(
        Joker.OBELISK,
        "j_obelisk",
        "Obelisk",
        RARE,
        cost=8,
        effect="Gains X0.2 Mult per consecutive hand that is not the most played hand; resets otherwise.",
        start=1,
        growth=0.2,
        perishable_compat=False,
    ),
    JokerRow(
        Joker.MIDAS_MASK,
        "j_midas_mask",
        "Midas Mask",
        UNCOMMON,
        cost=7,
        effect="Scored face cards become Gold cards.",
        blueprint_compat=False,
    ),
    JokerRow(
        Joker.LUCHADOR,
        "j_luchador",
        "Luchador",
        UNCOMMON,
        cost=5,
        effect="Sell it to disable the current Boss Blind.",
        eternal_compat=False,
    ),
    JokerRow(
        Joker.PHOTOGRAPH,
        "j_photograph",
        "Photograph",
        COMMON,
        cost=5,
        effect="The first scored face card gives X2 Mult.",
        xmult=2,
    ),
    JokerRow(
        Joker.GIFT,
        "j_gift",
        "Gift Card",
        UNCOMMON,
        cost=6,
        effect="All Jokers and consumables gain $1 sell value at round end.",
        dollars=1,
        blueprint_compat=False,
    ),
    JokerRow(
        Joker.TURTLE_BEAN,
        "j_turtle_bean",
        "Turtle Bean",
        UNCOMMON,
        cost=6,
        effect="+5 hand size, reduced by 1 each round; destroyed at 0.",
        count=5,
        loss=1,
        blueprint_compat=False,
        eternal_compat=False,
    ),
    JokerRow(
        Joker.EROSION,
        "j_erosion",
        "Erosion",
        UNCOMMON,
        cost=6,
        effect="+4 Mult per card below the starting deck size.",
        mult=4,
    ),
    JokerRow(
        Joker.RESERVED_PARKING,
        "j_reserved_parking",
        "Reserved Parking",
        COMMON,
        cost=6,
        effect="Each face card held in hand has a 1 in 2 chance to give $1.",
        dollars=1,
        odds=2,
    ),
    JokerRow(
        Joker.MAIL,
        "j_mail",
        "Mail-In Rebate",
        COMMON,
        cost=4,
        effect="$5 per discarded card of the listed rank; the rank changes every round.",
        dollars=5,
    ),
    JokerRow(
        Joker.TO_THE_MOON,
        "j_to_the_moon",
        "To the Moon",
        UNCOMMON,
        cost=5,
        effect="$1 extra interest per $5 held.",
        dollars=1,
        blueprint_compat=False,
    ),
    JokerRow(
        Joker.HALLUCINATION,
        "j_hallucination",
        "Hallucination",
        COMMON,
        cost=4,
        effect="1 in 2 chance to create a Tarot when a booster pack is opened (needs room).",
        odds=2,
    ),
    JokerRow(
        Joker.FORTUNE_TELLER,
        "j_fortune_teller",
        "Fortune Teller",
        COMMON,
        cost=6,
        effect="+1 Mult per Tarot used this run.",
        mult=1,
    ),
    JokerRow(
        Joker.JUGGLER,
        "j_juggler",
        "Juggler",
        COMMON,
        cost=4,
        effect="+1 hand size.",
        hand_size=1,
        blueprint_compat=False,
    ),
    JokerRow(
        Joker.DRUNKARD,
        "j_drunkard",
        "Drunkard",
        COMMON,
        cost=4,
        effect="+1 discard.",
        discards=1,
        blueprint_compat=False,
    ),
    JokerRow(
        Joker.STONE,
        "j_stone",
        "Stone Joker",
        UNCOMMON,
        cost=6,
        effect="+25 Chips per Stone card in the full deck.",
        chips=25,
        needs_in_deck=Enhancement.STONE,
    ),
    JokerRow(
        Joker.GOLDEN,
        "j_golden",
        "Golden Joker",
        COMMON,
        cost=6,
        effect="$4 at round end.",
        dollars=4,
        blueprint_compat=False,
    ),
    JokerRow(
        Joker.LUCKY_CAT,
        "j_lucky_cat",
        "Lucky Cat",
        UNCOMMON,
        cost=6,
        effect="Gains X0.25 Mult each time a Lucky card triggers.",
        start=1,
        growth=0.25,
        perishable_compat=False,
        needs_in_deck=Enhancement.LUCKY,
    ),
    JokerRow(
        Joker.BASEBALL,
        "j_baseball",
        "Baseball Card",
        RARE,
        cost=8,
        effect="Each Uncommon Joker gives X1.5 Mult.",
        xmult=1.5,
        target_rarity=UNCOMMON,
    ),
    JokerRow(
        Joker.BULL,
        "j_bull",
        "Bull",
        UNCOMMON,
        cost=6,
        effect="+2 Chips per $1 held.",
        chips=2,
    ),
    JokerRow(
        Joker.DIET_COLA,
        "j_diet_cola",
        "Diet Cola",
        UNCOMMON,
        cost=6,
        effect="Sell it to create a free Double Tag.",
        eternal_compat=False,
    ),
    JokerRow(
        Joker.TRADING,
        "j_trading",
        "Trading Card",
        UNCOMMON,
        cost=6,
        effect="If the first discard of the round is exactly 1 card, destroy it and gain $3.",
        dollars=3,
        cards=1,
        blueprint_compat=False,
    ),
    JokerRow(
        Joker.FLASH,
        "j_flash",
        "Flash Card",
        UNCOMMON,
        cost=5,
        effect="Gains +2 Mult per shop reroll.",
        growth=2,
        perishable_compat=False,
    ),
    JokerRow(
        Joker.POPCORN,
        "j_popcorn",
        "Popcorn",
        COMMON,
        cost=5,
        effect="+20 Mult, -4 per round; eaten at 0.",
        start=20,
        loss=4,
        eternal_compat=False,
    ),
    JokerRow(
        Joker.TROUSERS,
        "j_trousers",
        "Spare Trousers",
        UNCOMMON,
        cost=6,
        effect="Gains +2 Mult if the hand contains Two Pair.",
        growth=2,
        hand=Hand.TWO_PAIR,
        perishable_compat=False,
    ),
    JokerRow(
        Joker.ANCIENT,
        "j_ancient",
        "Ancient Joker",
        RARE,
        cost=8,
        effect="Scored cards of the listed suit give X1.5 Mult; suit changes every round.",
        xmult=1.5,
    ),
    JokerRow(
        Joker.RAMEN,
        "j_ramen",
        "Ramen",
        UNCOMMON,
        cost=6,
        effect="X2 Mult, loses X0.01 per card discarded; eaten at X1.",
        start=2,
        loss=0.01,
        eternal_compat=False,
    ),
    JokerRow(
        Joker.WALKIE_TALKIE,
        "j_walkie_talkie",
        "Walkie Talkie",
        COMMON,
        cost=4,
        effect="Scored 10s and 4s give +10 Chips and +4 Mult.",
        chips=10,
        mult=4,
        ranks=(10, 4),
    ),
    JokerRow(
        Joker.SELZER,
        "j_selzer",
        "Seltzer",
        UNCOMMON,
        cost=6,
        effect="Retriggers all scored cards for the next 10 hands.",
        count=10,
        repeats=1,
        eternal_compat=False,
    ),
    JokerRow(
        Joker.CASTLE,
        "j_castle",
        "Castle",
        UNCOMMON,
        cost=6,
        effect="Gains +3 Chips per discarded card of the listed suit; suit changes every round.",
        growth=3,
        perishable_compat=False,
    ),
    JokerRow(
        Joker.SMILEY,
        "j_smiley",
        "Smiley Face",
        COMMON,
        cost=4,
        effect="Scored face cards give +5 Mult each.",
        mult=5,
    ),
    JokerRow(
        Joker.CAMPFIRE,
        "j_campfire",
        "Campfire",
        RARE,
        cost=9,
        effect="Gains X0.25 Mult per card sold; resets when a Boss is beaten.",
        start=1,
        growth=0.25,
    ),
    JokerRow(
        Joker.TICKET,
        "j_ticket",
        "Golden Ticket",
        COMMON,
        cost=5,
        effect="Scored Gold cards give $4 each.",
        dollars=4,
        unlocked_at_start=False,
        unlock="play a 5-card hand of Gold cards",
        needs_in_deck=Enhancement.GOLD,
    ),
    JokerRow(
        Joker.MR_BONES,
        "j_mr_bones",
        "Mr. Bones",
        UNCOMMON,
        cost=5,
        effect="Prevents defeat once if at least 25% of the requirement was scored, then is destroyed.",
        share=0.25,
        blueprint_compat=False,
        eternal_compat=False,
        unlocked_at_start=False,
        unlock="lose 5 runs",
    ),
    JokerRow(
        Joker.ACROBAT,
        "j_acrobat",
        "Acrobat",
        UNCOMMON,
        cost=6,
        effect="X3 Mult on the last hand of the round.",
        xmult=3,
        unlocked_at_start=False,
        unlock="play 200 hands (career)",
    ),
    JokerRow(
        Joker.SOCK_AND_BUSKIN,
        "j_sock_and_buskin",
        "Sock and Buskin",
        UNCOMMON,
        cost=6,
        effect="Retriggers scored face cards.",
        repeats=1,
        unlocked_at_start=False,
        unlock="play 300 face cards (career)",
    ),
    JokerRow(
        Joker.SWASHBUCKLER,
        "j_swashbuckler",
        "Swashbuckler",
        COMMON,
        cost=4,
        effect="Adds the total sell value of all other owned Jokers to Mult.",
        mult=1,
        unlocked_at_start=False,
        unlock="sell 20 Jokers (career)",
    ),
    JokerRow(
        Joker.TROUBADOUR,
        "j_troubadour",
        "Troubadour",
        UNCOMMON,
        cost=6,
        effect="+2 hand size, -1 hand per round.",
        hand_size=2,
        hands=-1,
        blueprint_compat=False,
        unlocked_at_start=False,
        unlock="win 5 consecutive rounds with one hand each",
    ),
    JokerRow(
        Joker.CERTIFICATE,
        "j_certificate",
        "Certificate",
        UNCOMMON,
        cost=6,
        effect="At round start, adds a random playing card with a random seal to the hand.",
        unlocked_at_start=False,
        unlock="have a Gold card with a Gold Seal",
    ),
    JokerRow(
        Joker.SMEARED,
        "j_smeared",
        "Smeared Joker",
        UNCOMMON,
        cost=7,
        effect="Hearts and Diamonds count as one suit, Spades and Clubs as one suit.",
        blueprint_compat=False,
        unlocked_at_start=False,
        unlock="have 3 Wild cards in the deck",
    ),
    JokerRow(
        Joker.THROWBACK,
        "j_throwback",
        "Throwback",
        UNCOMMON,
        cost=6,
        effect="X0.25 Mult per blind skipped this run (from X1).",
        xmult=0.25,
        unlocked_at_start=False,
        unlock="continue a saved run",
    ),
    JokerRow(
        Joker.HANGING_CHAD,
        "j_hanging_chad",
        "Hanging Chad",
        COMMON,
        cost=4,
        effect="Retriggers the first scored card 2 extra times.",
        repeats=2,
        unlocked_at_start=False,
        unlock="beat a Boss with a High Card",
    ),
    JokerRow(
        Joker.ROUGH_GEM,
        "j_rough_gem",
        "Rough Gem",
        UNCOMMON,
        cost=7,
        effect="Scored Diamonds give $1 each.",
        dollars=1,
        suit=Suit.DIAMONDS,
        unlocked_at_start=False,
        unlock="have 30 Diamonds in the deck",
    ),
    JokerRow(
        Joker.BLOODSTONE,
        "j_bloodstone",
        "Bloodstone",
        UNCOMMON,
        cost=7,
        effect="Scored Hearts have a 1 in 2 chance of X1.5 Mult.",
        xmult=1.5,
        odds=2,
        suit=Suit.HEARTS,
        unlocked_at_start=False,
        unlock="have 30 Hearts in the deck",
    ),
    JokerRow(
        Joker.ARROWHEAD,
        "j_arrowhead",
        "Arrowhead",
        UNCOMMON,
        cost=7,
        effect="Scored Spades give +50 Chips each.",
        chips=50,
        suit=Suit.SPADES,
        unlocked_at_start=False,
        unlock="have 30 Spades in the deck",
    ),
    JokerRow(
        Joker.ONYX_AGATE,
        "j_onyx_agate",
        "Onyx Agate",
        UNCOMMON,
        cost=7,
        effect="Scored Clubs give +7 Mult each.",
        mult=7,
        suit=Suit.CLUBS,
        unlocked_at_start=False,
        unlock="have 30 Clubs in the deck",
    ),
    JokerRow(
        Joker.GLASS,
        "j_glass",
        "Glass Joker",
        UNCOMMON,
        cost=6,
        effect="Gains X0.75 Mult per Glass card destroyed.",
        start=1,
        growth=0.75,
        perishable_compat=False,
        unlocked_at_start=False,
        unlock="have 5 Glass cards in the deck",
        needs_in_deck=Enhancement.GLASS,
    ),
    JokerRow(
        Joker.RING_MASTER,
        "j_ring_master",
        "Showman",
        UNCOMMON,
        cost=5,
        effect="Jokers, Tarots, Planets and Spectrals may appear more than once.",
        blueprint_compat=False,
        unlocked_at_start=False,
        unlock="reach Ante 4",
    ),
    JokerRow(
        Joker.FLOWER_POT,
        "j_flower_pot",
        "Flower Pot",
        UNCOMMON,
        cost=6,
        effect="X3 Mult if the scored cards include all four suits.",
        xmult=3,
        unlocked_at_start=False,
        unlock="reach Ante 8",
    ),
    JokerRow(
        Joker.BLUEPRINT,
        "j_blueprint",
        "Blueprint",
        RARE,
        cost=10,
        effect="Copies the ability of the Joker to its right.",
        unlocked_at_start=False,
        unlock="win a run",
    ),
    JokerRow(
        Joker.WEE,
        "j_wee",
        "Wee Joker",
        RARE,
        cost=8,
        effect="Gains +8 Chips per scored 2.",
        growth=8,
        ranks=(2,),
        perishable_compat=False,
        unlocked_at_start=False,
        unlock="win within 18 rounds",
    ),
    JokerRow(
        Joker.MERRY_ANDY,
        "j_merry_andy",
        "Merry Andy",
        UNCOMMON,
        cost=7,
        effect="+3 discards, -1 hand size.",
        discards=3,
        hand_size=-1,
        blueprint_compat=False,
        unlocked_at_start=False,
        unlock="win within 12 rounds",
    ),
    JokerRow(
        Joker.OOPS,
        "j_oops",
        "Oops! All 6s",
        UNCOMMON,
        cost=4,
        effect="Doubles all listed probabilities.",
        doublings=1,
        blueprint_compat=False,
        unlocked_at_start=False,
        unlock="score 10000 in one hand",
    ),
    JokerRow(
        Joker.IDOL,
        "j_idol",
        "The Idol",
        UNCOMMON,
        cost=6,
        effect="Each scored copy of the listed card gives X2 Mult; card changes every round.",
        xmult=2,
        unlocked_at_start=False,
        unlock="score 1000000 in one hand",
    ),
    JokerRow(
        Joker.SEEING_DOUBLE,
        "j_seeing_double",
        "Seeing Double",
        UNCOMMON,
        cost=6,
        effect="X2 Mult if the scored cards include a Club and a card of another suit.",
        xmult=2,
        suit=Suit.CLUBS,
        unlocked_at_start=False,
        unlock="play a hand of four 7 of Clubs",
    ),
    JokerRow(
        Joker.MATADOR,
        "j_matador",
        "Matador",
        UNCOMMON,
        cost=7,
        effect="$8 if the played hand triggers the Boss ability.",
        dollars=8,
        unlocked_at_start=False,
        unlock="beat a Boss in one hand without discards",
    ),
    JokerRow(
        Joker.HIT_THE_ROAD,
        "j_hit_the_road",
        "Hit the Road",
        RARE,
        cost=8,
        effect="Gains X0.5 Mult per Jack discarded this round; resets each round.",
        start=1,
        growth=0.5,
        ranks=(JACK,),
        unlocked_at_start=False,
        unlock="discard 5 Jacks at once",
    ),
    JokerRow(
        Joker.DUO,
        "j_duo",
        "The Duo",
        RARE,
        cost=8,
        effect="X2 Mult if the hand contains a Pair.",
        xmult=2,
        hand=Hand.PAIR,
        unlocked_at_start=False,
        unlock="win without ever playing Pair",
    ),
    JokerRow(
        Joker.TRIO,
        "j_trio",
        "The Trio",
        RARE,
        cost=8,
        effect="X3 Mult if the hand contains Three of a Kind.",
        xmult=3,
        hand=Hand.THREE_OF_A_KIND,
        unlocked_at_start=False,
        unlock="win without ever playing Three of a Kind",
    ),
    JokerRow(
        Joker.FAMILY,
        "j_family",
        "The Family",
        RARE,
        cost=8,
        effect="X4 Mult if the hand contains Four of a Kind.",
        xmult=4,
        hand=Hand.FOUR_OF_A_KIND,
        unlocked_at_start=False,
        unlock="win without ever playing Four of a Kind",
    ),
    JokerRow(
        Joker.ORDER,
        "j_order",
        "The Order",
        RARE,
        cost=8,
        effect="X3 Mult if the hand contains a Straight.",
        xmult=3,
        hand=Hand.STRAIGHT,
        unlocked_at_start=False,
        unlock="win without ever playing Straight",
    ),
    JokerRow(
        Joker.TRIBE,
        "j_tribe",
        "The Tribe",
        RARE,
        cost=8,
        effect="X2 Mult if the hand contains a Flush.",
        xmult=2,
        hand=Hand.FLUSH,
        unlocked_at_start=False,
        unlock="win without ever playing Flush",
    ),
    JokerRow(
        Joker.STUNTMAN,
        "j_stuntman",
        "Stuntman",
        RARE,
        cost=7,
        effect="+250 Chips, -2 hand size.",
        chips=250,
        hand_size=-2,
        unlocked_at_start=False,
        unlock="score 100000000 in one hand",
    ),
    JokerRow(
        Joker.INVISIBLE,
        "j_invisible",
        "Invisible Joker",
        RARE,
        cost=8,
        effect="After 2 rounds, sell it to duplicate a random other Joker (Negative is removed from the copy).",
        at_least=2,
        blueprint_compat=False,
        eternal_compat=False,
        unlocked_at_start=False,
        unlock="win without having more than 4 Jokers",
    ),
    JokerRow(
        Joker.BRAINSTORM,
        "j_brainstorm",
        "Brainstorm",
        RARE,
        cost=10,
        effect="Copies the ability of the leftmost Joker.",
        unlocked_at_start=False,
        unlock="discard a Royal Flush",
    ),
    JokerRow(
        Joker.SATELLITE,
        "j_satellite",
        "Satellite",
        UNCOMMON,
        cost=6,
        effect="$1 at round end per different Planet used this run.",
        dollars=1,
        blueprint_compat=False,
        unlocked_at_start=False,
        unlock="hold $400",
    ),
    JokerRow(
        Joker.SHOOT_THE_MOON,
        "j_shoot_the_moon",
        "Shoot the Moon",
        COMMON,
        cost=5,
        effect="Each Queen held in hand gives +13 Mult.",
        mult=13,
        ranks=(QUEEN,),
        unlocked_at_start=False,
        unlock="play every Heart of the deck in one round",
    ),
    JokerRow(
        Joker.DRIVERS_LICENSE,
        "j_drivers_license",
        "Driver's License",
        RARE,
        cost=7,
        effect="X3 Mult if the full deck has at least 16 enhanced cards.",
        xmult=3,
        at_least=16,
        unlocked_at_start=False,
        unlock="have 16 enhanced cards in the deck",
    ),
    JokerRow(
        Joker.CARTOMANCER,
        "j_cartomancer",
        "Cartomancer",
        UNCOMMON,
        cost=6,
        effect="Creates a Tarot when a blind is selected (needs room).",
        unlocked_at_start=False,
        unlock="discover every Tarot",
    ),
    JokerRow(
        Joker.ASTRONOMER,
        "j_astronomer",
        "Astronomer",
        UNCOMMON,
        cost=8,
        effect="Planet cards and Celestial packs in the shop are free.",
        blueprint_compat=False,
        unlocked_at_start=False,
        unlock="discover every Planet",
    ),
    JokerRow(
        Joker.BURNT,
        "j_burnt",
        "Burnt Joker",
        RARE,
        cost=8,
        effect="Upgrades the level of the first hand discarded each round.",
        levels=1,
        unlocked_at_start=False,
        unlock="sell 50 cards (career)",
    ),
    JokerRow(
        Joker.BOOTSTRAPS,
        "j_bootstraps",
        "Bootstraps",
        UNCOMMON,
        cost=7,
        effect="+2 Mult per $5 held.",
        mult=2,
        per=5,
        unlocked_at_start=False,
        unlock="have 2 Polychrome Jokers",
    ),
    JokerRow(
        Joker.CAINO,
        "j_caino",
        "Canio",
        LEGENDARY,
        cost=20,
        effect="Gains X1 Mult per face card destroyed.",
        start=1,
        growth=1,
        unlocked_at_start=False,
    ),
    JokerRow(
        Joker.TRIBOULET,
        "j_triboulet",
        "Triboulet",
        LEGENDARY,
        cost=20,
        effect="Scored Kings and Queens give X2 Mult each.",
        xmult=2,
        ranks=(KING, QUEEN),
        unlocked_at_start=False,
    ),
    JokerRow(
        Joker.YORICK,
        "j_yorick",
        "Yorick",
        LEGENDARY,
        cost=20,
        effect="Gains X1 Mult per 23 cards discarded.",
        start=1,
        growth=1,
        count=23,
        unlocked_at_start=False,
    ),
    JokerRow(
        Joker.CHICOT,
        "j_chicot",
        "Chicot",
        LEGENDARY,
        cost=20,
        effect="Disables every Boss Blind ability.",
        blueprint_compat=False,
        unlocked_at_start=False,
    ),
    JokerRow(
        Joker.PERKEO,
        "j_perkeo",
        "Perkeo",
        LEGENDARY,
        cost=20,
        effect="On leaving the shop, creates a Negative copy of a random consumable held.",
        unlocked_at_start=False,
    ),
)


def joker_pool(rarity: int) -> tuple[Joker, ...]:
    """Return the jokers of a rarity, in pool order."""
    return tuple(row.joker for row in JOKERS[1:] if row.rarity == rarity)


by_key: dict[str, Joker] = {row.key: row.joker for row in JOKERS[1:]}
