"""Plays a league's missing games on Ray: one task per player and stretch of seeds; results are stored on arrival."""

from collections.abc import Callable, Sequence
from typing import Any

import ray

from ante.league.folder import Entrant, League, Rules
from ante.league.play import keep_top, play_stretch
from ante.recording.games import Recording
from ante.training.players.league_seats import seat_of
from ante.training.rllib.cluster import ray_of_our_own


def play_task(entrant: Entrant, rules: Rules, seeds: list[str], stretch: int) -> list[Recording]:
    """Play one stretch; the games do not depend on the process."""
    return play_stretch(seat_of(entrant), rules, seeds, stretch)


def play_on_ray(
    league: League, entrants: Sequence[Entrant], workers: int, advance: Callable[[int], None] = lambda _: None
) -> int:
    """Play all missing games of these players, `workers` stretches at a time; return the number of games."""
    league.check_engine()
    with ray_of_our_own(num_cpus=workers, address="local"):
        return gather(league, entrants, workers, advance)


def gather(league: League, entrants: Sequence[Entrant], workers: int, advance: Callable[[int], None]) -> int:
    """Submit tasks and store their results."""
    task = ray.remote(num_cpus=1)(play_task)
    waiting = [(each, stretch) for each in entrants for stretch in league.missing(each.name)]
    out: dict[Any, tuple[Entrant, int]] = {}
    played = 0
    while waiting or out:
        while waiting and len(out) < workers:
            entrant, stretch = waiting.pop(0)
            out[task.remote(entrant, league.rules, league.seeds(stretch), stretch)] = entrant, stretch
        done, _ = ray.wait(list(out), num_returns=1)
        entrant, stretch = out.pop(done[0])
        games = ray.get(done[0])
        league.store(entrant.name, stretch, games)
        played += len(games)
        advance(len(games))
        if not league.missing(entrant.name):
            keep_top(league, entrant.name)
    return played
