"""The game's random streams, reproduced bit for bit.

A run stores one number per text key ("boss", "cdt1", "rarity3buf" ...). Each draw advances the number of its own key
only and seeds a new four-word Tausworthe generator with it, so the order of draws on different keys does not matter.
Here a key is a `Stream`, its ante and its resample depth, packed into one integer. The text exists only as bytes to
hash.
"""

import math
from enum import IntEnum

import numpy as np

from ante.catalog.vouchers import Voucher
from ante.engine.core.arithmetic import EXPONENT_OF_ONE, LOW_52, bits_of, double_of
from ante.engine.core.rule import rule
from ante.engine.core.state import STREAM_SLOTS, Table

PI = 3.141592653589793
E = 2.7182818284590452354
ROUNDING = 1e13
SPLITTER = 134217729.0  # 2**27 + 1, splits a double for an exact product

# Every stream key: the text before the ante, the text after it, whether the ante is part of the key.
KEYS: dict[str, tuple[str, str, bool]] = {}


def _declare() -> None:
    plain = (
        "boss shuffle erratic orbital to_do lucky_mult lucky_money glass wheel_of_fortune bloodstone business parking "
        "space 8ball gros_michel cavendish wheel misprint madness invisible perkeo marb_fr cert_fr certsl aura "
        "ectoplasm hex ankh_choice random_destroy familiar_create grim_create incantation_create spe_card immolate "
        "sigil ouija hook cerulean_bell crimson_heart aajk illusion omen_globe flipped_card"
    )
    for key in plain.split():
        KEYS["EIGHT_BALL" if key == "8ball" else key.upper()] = (key, "", False)
    KEYS["JOKER4"] = ("Joker4", "", False)
    KEYS["VOUCHER_FROMTAG"] = ("Voucher_fromtag", "", False)
    for key in [
        "cdt",
        "shop_pack",
        "Voucher",
        "Tag",
        "nr",
        "cashout",
        "idol",
        "mail",
        "anc",
        "cas",
        "stdset",
        "standard_edition",
        "stdseal",
        "stdsealtype",
        "halu",
        "etperpoll",
        "packetper",
        "ssjr",
        "packssjr",
        "soul_Tarot",
        "soul_Planet",
        "soul_Spectral",
    ]:
        KEYS[key.upper()] = (key, "", True)
    for source in ["sho", "buf", "jud", "sou"]:
        KEYS[f"RARITY_{source.upper()}"] = ("rarity", source, True)
    for rarity in "123":
        for source in ["sho", "buf", "jud", "uta", "rta", "top", "wra", "rif"]:
            KEYS[f"JOKER{rarity}_{source.upper()}"] = (f"Joker{rarity}{source}", "", True)
    for source in ["sho", "buf", "jud", "uta", "rta", "top", "wra", "rif", "sou"]:
        KEYS[f"EDI_{source.upper()}"] = (f"edi{source}", "", True)
    for kind, sources in {
        "Tarot": "sho ar1 emp 8ba vag sup car hal",
        "Planet": "sho pl1 pri",
        "Spectral": "sho ar2 spe sea sixth",
        "Enhanced": "sta sho",
        "front": "sta sho",
    }.items():
        for source in sources.split():
            name = "EIGHT_BALL" if source == "8ba" else source.upper()
            KEYS[f"{kind.upper()}_{name}"] = (f"{kind}{source}", "", True)


_declare()
Stream = IntEnum("Stream", {name: index for index, name in enumerate(KEYS)})  # type: ignore[misc]
"""One member per kind of stream key."""

N_STREAMS = len(KEYS)
RESAMPLE_ROOM = STREAM_SLOTS - 64  # the last slots are reserved for streams that are not resamples
MAX_TEXT = 24


def _text_table(part: int) -> tuple[np.ndarray, np.ndarray]:
    text = np.zeros((N_STREAMS, MAX_TEXT), dtype=np.int64)
    length = np.zeros(N_STREAMS, dtype=np.int64)
    for row, key in enumerate(KEYS.values()):
        for column, byte in enumerate(str(key[part]).encode()):
            text[row, column] = byte
        length[row] = len(str(key[part]))
    return text, length


PREFIX, N_PREFIX = _text_table(0)
SUFFIX, N_SUFFIX = _text_table(1)
HAS_ANTE = np.array([key[2] for key in KEYS.values()], dtype=np.uint8)
RESAMPLE = np.frombuffer(b"_resample", dtype=np.uint8).astype(np.int64)

# Words of the generator: (q, a, mask of cleared low bits, b) and the smallest seed of each.
TAU = ((31, 45, 1, 18), (19, 30, 6, 28), (24, 48, 9, 7), (21, 39, 17, 8))
ONE = np.uint64(1)
Q0, A0, B0, M0, MIN0 = np.uint64(31), np.uint64(45), np.uint64(18), np.uint64(~1 & (2**64 - 1)), np.uint64(2)
Q1, A1, B1, M1, MIN1 = np.uint64(19), np.uint64(30), np.uint64(28), np.uint64(~63 & (2**64 - 1)), np.uint64(64)
Q2, A2, B2, M2, MIN2 = np.uint64(24), np.uint64(48), np.uint64(7), np.uint64(~511 & (2**64 - 1)), np.uint64(512)
Q3, A3, B3, M3, MIN3 = np.uint64(21), np.uint64(39), np.uint64(8), np.uint64(~131071 & (2**64 - 1)), np.uint64(131072)
NAN_STREAM_BITS = np.uint64(0x7FF8000000000000)
NAN_SEED_BITS = np.uint64(0xFFF8000000000000)


@rule
def hash_byte(num, byte, position):
    """Apply one step of the game's string hash. `position` counts from 1; the last byte is hashed first."""
    if num == 0.0:
        return math.nan  # QUIRK: the game divides by zero here and the stream stays NaN for the rest of the run
    t = 1.1239285023 / num * byte * PI + PI * position
    return t - math.floor(t) if t == t else math.nan


@rule
def round13(y):
    """Return y in [0, 1) rounded to 13 decimals, as printing and parsing it does.

    The product y * 1e13 is computed exactly (Dekker's two-product), since its own rounding could cross a half.
    """
    p = y * ROUNDING
    c = SPLITTER * y
    y_high = c - (c - y)
    y_low = y - y_high
    d = SPLITTER * ROUNDING
    r_high = d - (d - ROUNDING)
    r_low = ROUNDING - r_high
    error = ((y_high * r_high - p) + y_high * r_low + y_low * r_high) + y_low * r_low
    whole = math.floor(p)
    part = (p - whole) + error
    if part >= 0.5:
        whole += 1.0
    elif part < -0.5:
        whole -= 1.0
    return whole / ROUNDING


@rule
def seed_hash(s):
    """Return the hash of the run's seed text."""
    num = 1.0
    for i in range(int(s.seed_length) - 1, -1, -1):
        num = hash_byte(num, float(s.seed[i]), i + 1)
    return num


@rule
def n_digits(n):
    """Return the number of characters of an integer as decimal text, including its minus sign."""
    count = 1 if n >= 0 else 2
    n = abs(n)
    while n >= 10:
        n //= 10
        count += 1
    return count


@rule
def hash_number(num, n, end):
    """Hash the decimal text of n whose last character is at position `end`."""
    rest = abs(n)
    position = end
    while True:
        num = hash_byte(num, float(48 + rest % 10), position)
        position -= 1
        rest //= 10
        if rest == 0:
            break
    if n < 0:
        num = hash_byte(num, 45.0, position)
    return num


@rule
def key_hash(s, stream, depth):
    """Return the hash of the key's text followed by the seed: the stream's number before its first draw."""
    ante = int(s.ante)
    key_end = int(N_PREFIX[stream] + N_SUFFIX[stream])
    if HAS_ANTE[stream]:
        key_end += n_digits(ante)
    length = key_end
    if depth:
        length += len(RESAMPLE) + n_digits(depth)
    num = 1.0
    for i in range(int(s.seed_length) - 1, -1, -1):
        num = hash_byte(num, float(s.seed[i]), length + i + 1)
    if depth:
        num = hash_number(num, depth, length)
        for i in range(len(RESAMPLE) - 1, -1, -1):
            num = hash_byte(num, float(RESAMPLE[i]), key_end + i + 1)
    position = key_end
    for i in range(N_SUFFIX[stream] - 1, -1, -1):
        num = hash_byte(num, float(SUFFIX[stream, i]), position)
        position -= 1
    if HAS_ANTE[stream]:
        num = hash_number(num, ante, position)
        position -= n_digits(ante)
    for i in range(N_PREFIX[stream] - 1, -1, -1):
        num = hash_byte(num, float(PREFIX[stream, i]), i + 1)
    return num


@rule
def stream_id(s, stream, depth):
    """Return the key as one positive integer: stream, ante (offset by 16) and resample depth."""
    ante = int(s.ante) + 16 if HAS_ANTE[stream] else 0
    return 1 + int(stream) + (ante << 8) + (depth << 20)


@rule
def home_of(identity):
    """Return the slot at which the search for a stream begins."""
    return (identity * 40503 >> 3) & (STREAM_SLOTS - 1)


@rule
def find_slot(s, identity):
    """Return the slot of this stream, or the free slot where it would be inserted."""
    slot = home_of(identity)
    while s.stream_ids[slot] != 0 and s.stream_ids[slot] != identity:
        slot = (slot + 1) & (STREAM_SLOTS - 1)
    return slot


@rule
def drop_dead_streams(s):
    """Remove streams of antes that can no longer be visited from the table.

    Hieroglyph and Petroglyph each go back one ante, once per run, so one ante below this one is reachable for each of
    them that is not redeemed.
    """
    back = 2 - int(s.vouchers[Voucher.HIEROGLYPH]) - int(s.vouchers[Voucher.PETROGLYPH])
    oldest = int(s.ante) - back + 16
    slot = 0
    while slot < STREAM_SLOTS:
        ante = (int(s.stream_ids[slot]) >> 8) & 0xFFF
        if s.stream_ids[slot] != 0 and 0 < ante < oldest:
            drop_stream(s, slot)
        else:
            slot += 1


@rule
def drop_stream(s, hole):
    """Free one slot and move up the entries behind it whose probe path crosses it."""
    s.n_streams -= 1
    s.stream_ids[hole] = 0
    slot = (hole + 1) & (STREAM_SLOTS - 1)
    while s.stream_ids[slot] != 0:
        home = home_of(int(s.stream_ids[slot]))
        if ((slot - home) & (STREAM_SLOTS - 1)) >= ((slot - hole) & (STREAM_SLOTS - 1)):
            s.stream_ids[hole] = s.stream_ids[slot]
            s.stream_states[hole] = s.stream_states[slot]
            s.stream_ids[slot] = 0
            hole = slot
        slot = (slot + 1) & (STREAM_SLOTS - 1)


@rule
def advance(s, stream, depth):
    """Advance one stream by one draw. Returns the value that seeds the generator.

    A new stream for which the table is full is not stored, and `s.overflows` counts it: its next draw starts it again.
    Resample streams cannot use the last STREAM_SLOTS - RESAMPLE_ROOM slots.
    """
    stream = int(stream)
    identity = stream_id(s, stream, depth)
    slot = find_slot(s, identity)
    new = s.stream_ids[slot] == 0
    if new and s.n_streams >= RESAMPLE_ROOM:
        drop_dead_streams(s)
        slot = find_slot(s, identity)
    state = key_hash(s, stream, depth) if new else float(s.stream_states[slot])
    x = 2.134453429141 + state * 1.72431234
    if x == x:
        state = round13(x - math.floor(x))
    if new:
        if s.n_streams >= (RESAMPLE_ROOM if depth else STREAM_SLOTS - 1):
            s.overflows[Table.RESAMPLES if depth else Table.STREAMS] += 1
            return (state + s.seed_hash) / 2.0
        s.stream_ids[slot] = identity
        s.n_streams += 1
    s.stream_states[slot] = state
    return (state + s.seed_hash) / 2.0


@rule
def seed_word(d, smallest):
    """Return one word of the generator from a double."""
    u = bits_of(d)
    return u + smallest if u < smallest else u


@rule
def seed_words(s, value):
    """Return the four words that a draw's value seeds. NaN has the same bits as on x86-64."""
    if value != value:
        bits = NAN_SEED_BITS if s.seed_hash != s.seed_hash else NAN_STREAM_BITS
        return bits, bits, bits, bits
    d0 = value * PI + E
    d1 = d0 * PI + E
    d2 = d1 * PI + E
    d3 = d2 * PI + E
    return seed_word(d0, MIN0), seed_word(d1, MIN1), seed_word(d2, MIN2), seed_word(d3, MIN3)


@rule
def next_words(u0, u1, u2, u3):
    """Return the words of the generator after one step."""
    return (
        (((u0 << Q0) ^ u0) >> A0) ^ ((u0 & M0) << B0),
        (((u1 << Q1) ^ u1) >> A1) ^ ((u1 & M1) << B1),
        (((u2 << Q2) ^ u2) >> A2) ^ ((u2 & M2) << B2),
        (((u3 << Q3) ^ u3) >> A3) ^ ((u3 & M3) << B3),
    )


@rule
def uniform_of(u0, u1, u2, u3):
    """Return the number in [0, 1) that these words represent."""
    return double_of(((u0 ^ u1 ^ u2 ^ u3) & LOW_52) | EXPONENT_OF_ONE) - 1.0


@rule
def first_uniform(s, value):
    """Return the first number of the generator that `value` seeds."""
    u0, u1, u2, u3 = seed_words(s, value)
    for _ in range(11):
        u0, u1, u2, u3 = next_words(u0, u1, u2, u3)
    return uniform_of(u0, u1, u2, u3)


@rule
def roll(s, stream):
    """Return one uniform draw on a stream, in [0, 1)."""
    return first_uniform(s, advance(s, stream, 0))


@rule
def roll_resample(s, stream, depth):
    """Return one uniform draw on a stream's `_resample<depth>` key, or on the stream itself for depth 0."""
    return first_uniform(s, advance(s, stream, depth))


@rule
def pick(s, stream, n):
    """Return a number 0..n-1: the index of a drawn element in a list of n."""
    return int(math.floor(roll(s, stream) * n))


@rule
def roll_int(s, stream, low, high):
    """Return an integer from low to high, both included."""
    return int(math.floor(roll(s, stream) * (high - low + 1))) + low


@rule
def chance(s, stream, odds):
    """Return whether a 1 in `odds` roll succeeds; each working Oops! All 6s doubles the probability."""
    return roll(s, stream) < float(1 << int(s.oops)) / odds


@rule
def shuffle(s, stream, order, n):
    """Shuffle order[0..n) in place with one draw; the list must be in creation order before."""
    u0, u1, u2, u3 = seed_words(s, advance(s, stream, 0))
    for _ in range(10):
        u0, u1, u2, u3 = next_words(u0, u1, u2, u3)
    for i in range(n - 1, 0, -1):
        u0, u1, u2, u3 = next_words(u0, u1, u2, u3)
        j = int(math.floor(uniform_of(u0, u1, u2, u3) * (i + 1)))
        held = order[i]
        order[i] = order[j]
        order[j] = held
