"""The measurement of all jokers and pairs on a set of positions: loops that can be interrupted and continued."""

import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ante import __version__
from ante.catalog.blinds import Blind
from ante.catalog.jokers import JOKERS
from ante.engine.core.compile_cache import neighbours_hash, source_hash
from ante.engine.core.records import as_records
from ante.engine.core.state import copy_states, item_t, new_states
from ante.knowledge.arms import scoring
from ante.knowledge.arms.scoring import (
    BENDERS,
    BOUGHT,
    N_JOKERS,
    N_MEASURES,
    TYPICAL,
    measure_boss,
    measure_pair,
    measure_position,
    measure_singles,
    remove_jokers,
    singles_t,
    write_items,
)
from ante.knowledge.measuring.positions import ANTES, Chooser, Positions, collect
from ante.knowledge.measuring.sums import Sums
from ante.knowledge.measuring.table import RATE, SMALLEST, Table, table_of
from ante.lookahead.determinised import N_COPIES

SAVED_EVERY = 8  # positions
BOSSES = tuple(blind for blind in Blind if blind > Blind.BIG)
DECKS = ("b_abandoned", "b_checkered", "b_plasma", "b_erratic")  # other cards or other scoring than the Red Deck
AUDITED = 100  # pairs of a position in the audit
Bar = Callable[[int, str], AbstractContextManager[Callable[[int], None]]]


@dataclass(frozen=True)
class Plan:
    """What is measured.

    each         positions of each ante, for pairs
    with_bosses  positions, of those, that are also measured under every boss
    on_decks     positions of each ante on each of DECKS, for single jokers
    audited      positions in which the lists of plays are compared with all plays
    """

    each: int = 150
    with_bosses: int = 160
    on_decks: int = 25
    audited: int = 24


class Bench:
    """Measures one position after the other; owns the buffers."""

    def __init__(self, positions: Positions) -> None:
        self._positions = positions
        self._copies = new_states(N_COPIES)
        self._singles = as_records(np.zeros(1, dtype=singles_t))[0]
        self._scores = np.zeros((N_MEASURES, N_JOKERS, N_JOKERS))
        self._seeds = np.random.default_rng(20_262).random(len(positions.states))

    def prepared(self, i: int) -> tuple[np.record, np.recarray, NDArray[np.uint8]]:
        """Return position i without jokers, the items by state, and which of them differ in the typical state."""
        game = copy_states(as_records(self._positions.states, slice(i, i + 1)))
        remove_jokers(game[0])
        items = as_records(np.zeros((2, N_JOKERS), dtype=item_t))
        write_items(copy_states(game)[0], items[BOUGHT])
        items[TYPICAL] = items[BOUGHT]
        typical = self._positions.typical[self._positions.ante[i]]
        known = ~np.isnan(typical)
        items[TYPICAL]["value"][known] = typical[known]
        grown = items[TYPICAL]["value"] != items[BOUGHT]["value"]
        return game[0], items, grown.astype(np.uint8)

    def pairs(self, i: int, sums: Sums) -> None:
        """Add all arms of position i to the sums."""
        game, items, grown = self.prepared(i)
        if measure_position(game, self._copies, self._seeds[i], items, grown, self._singles, self._scores):
            ante = int(self._positions.ante[i])
            gains = sums.add(ante, self._singles)
            sums.add_pairs(ante, float(self._singles.best[BOUGHT, 0]), gains, self._scores)

    def alone(self, i: int, sums: Sums) -> None:
        """Add the arms of position i with at most one joker to the sums."""
        game, items, grown = self.prepared(i)
        if measure_singles(game, self._copies, self._seeds[i], items, grown, self._singles):
            sums.add(int(self._positions.ante[i]), self._singles)

    def bosses(self, i: int, sums: Sums) -> None:
        """Add position i under every boss to the sums; positions of a boss are left out."""
        game, items, _ = self.prepared(i)
        if game.blind > Blind.BIG:
            return
        arms = []
        for blind in (int(game.blind), *BOSSES):
            playable = measure_boss(game, self._copies, self._seeds[i], items[TYPICAL], int(blind), self._singles)
            arms.append(self._singles.best[TYPICAL].copy() if playable else None)
        plain, *under = arms
        for boss, scores in zip(BOSSES, under, strict=True):
            if plain is not None and scores is not None:
                sums.add_boss(int(boss), plain, scores)

    def shortfall(self, i: int) -> list[float]:
        """Return by how much the listed plays of AUDITED random pairs fall short of the best of all plays, in log10."""
        game, items, grown = self.prepared(i)
        if not measure_singles(game, self._copies, self._seeds[i], items, grown, self._singles):
            return []
        rng = np.random.default_rng([20_263, i])
        missed = []
        for _ in range(AUDITED):
            one, other = sorted(int(x) for x in rng.choice(np.flatnonzero(~BENDERS)[1:], 2, replace=False))
            arm = (game, self._copies, self._seeds[i], items, TYPICAL, one, other, self._singles)
            missed.append(measure_pair(*arm, True)[1] - measure_pair(*arm, False)[1])
        return missed


def repeat(
    key: str, file: Path, order: NDArray[np.int64], step: Callable[[int, Sums], None], bar: Bar, about: str
) -> Sums:
    """Return the sums over the positions in `order`, continued from the file. Raises OtherMeasurement."""
    sums = Sums.read(file, key)
    with bar(len(order), about) as advance:
        advance(int(sums.done))
        while (k := int(sums.done)) < len(order):
            part, begun = order[k : k + SAVED_EVERY], time.process_time()
            for i in part:
                step(int(i), sums)
                advance(1)
            sums.done += len(part)
            sums.seconds += time.process_time() - begun
            sums.write(file, key)
    return sums


def spread(n: int, most: int) -> NDArray[np.int64]:
    """Return at most `most` different indices of n positions, evenly spread."""
    return np.linspace(0, n - 1, min(n, most)).astype(np.int64)


def positions_of(
    player: Chooser, seeds: Sequence[str], each: int, deck: str, origin: Any, work: Path, bar: Bar
) -> Positions:
    """Return the positions of a deck, from the work folder if they are already there. Raises TooFewPositions.

    origin  identifies the player: a policy that was trained again, or another checkpoint, has the same name
    """
    seeds_digest = hashlib.sha256("\n".join(seeds).encode()).hexdigest()
    parts = (origin, player.name, seeds_digest, each, deck, source_hash("lookahead"))
    name = hashlib.sha256(repr(parts).encode()).hexdigest()
    file = work / f"positions-{deck}-{name[:16]}.npz"
    if not file.exists():
        with bar(each * len(ANTES), f"positions, {deck}") as advance:
            collect(player, seeds, each, deck, advance=advance).write(file)
    return Positions.read(file)


def measure(player: Chooser, seeds: Sequence[str], plan: Plan, about: dict[str, Any], work: Path, bar: Bar) -> Table:
    """Collect positions, measure them, and return the tables. What is already in the work folder is not repeated.

    Args:
        player: The player whose games are the positions.
        seeds: Game seeds, as many as needed are played.
        plan: Numbers of positions.
        about: What identifies player and seeds, for the origin of the tables.
        work: Folder of intermediate results.
        bar: Progress bar, called with a total and a description.

    Raises:
        TooFewPositions: The player does not reach an ante often enough.
        OtherMeasurement: The work folder has a measurement of other positions.
    """
    work.mkdir(parents=True, exist_ok=True)
    positions = positions_of(player, seeds, plan.each, "b_red", about, work, bar)
    bench, key, n = Bench(positions), key_of(positions), len(positions.states)
    file = work / f"sums-{positions.digest[:16]}.npz"
    sums = repeat(key, file, np.arange(n), bench.pairs, bar, "pairs, positions")
    with_bosses = spread(n, plan.with_bosses)
    file = work / f"bosses-{len(with_bosses)}-{positions.digest[:16]}.npz"
    under = repeat(key, file, with_bosses, bench.bosses, bar, "bosses, positions")
    sums.bosses = under.bosses
    sums.seconds += under.seconds
    decks = {}
    for deck in DECKS:
        there = positions_of(player, seeds, plan.on_decks, deck, about, work, bar)
        key = key_of(there)
        file = work / f"sums-{there.digest[:16]}.npz"
        decks[deck] = repeat(key, file, np.arange(len(there.states)), Bench(there).alone, bar, f"{deck}, positions")
    missed = np.array([each for i in spread(n, plan.audited) for each in bench.shortfall(int(i))])
    return table_of(
        sums,
        decks,
        {
            **about,
            "version": __version__,
            "engine": source_hash("lookahead"),
            "deck": "b_red",
            "stake": 1,
            "player": player.name,
            "antes": list(ANTES),
            "positions": [int(x) for x in sums.n],
            "positions_sha256": positions.digest,
            "bosses": {"positions": len(with_bosses)},
            "decks": {deck: int(there.n.sum()) for deck, there in decks.items()},
            "typical": {str(ante): typical_of(positions, at) for at, ante in enumerate(ANTES)},
            "false_discovery_rate": RATE,
            "smallest": SMALLEST,
            "listed_plays": {
                "pairs": len(missed),
                "below_best": int((missed > 0).sum()),
                "mean_shortfall": round(float(missed.mean()), 6),
                "largest_shortfall": round(float(missed.max()), 4),
            },
            "cpu_seconds": round(float(sums.seconds) + sum(float(there.seconds) for there in decks.values())),
        },
    )


def key_of(positions: Positions) -> str:
    """Return what identifies a measurement: the positions, the engine, and the scoring of arms."""
    return f"{positions.digest} {source_hash('lookahead')} {neighbours_hash(Path(scoring.__file__))}"


def typical_of(positions: Positions, at: int) -> dict[str, float]:
    """Return the typical counters of an ante by the joker's key."""
    known = np.flatnonzero(~np.isnan(positions.typical[at]))
    return {JOKERS[joker].key: round(float(positions.typical[at, joker]), 2) for joker in known}
