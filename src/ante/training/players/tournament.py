"""Plays a league's missing games on Ray: one task per player and stretch of seeds; results are stored on arrival."""

from collections.abc import Callable, Sequence

from ante.league.folder import Entrant, League, Rules
from ante.league.play import keep_top, play_stretch
from ante.recording.games import Recording
from ante.training.players.league_seats import seat_of
from ante.training.rllib.tasks import parallel_calls


def play_task(entrant: Entrant, rules: Rules, seeds: list[str], stretch: int) -> list[Recording]:
    """Play one stretch; the games do not depend on the process."""
    return play_stretch(seat_of(entrant), rules, seeds, stretch)


def play_on_ray(
    league: League, entrants: Sequence[Entrant], workers: int, advance: Callable[[int], None] = lambda _: None
) -> int:
    """Play all missing games of these players, `workers` stretches at a time; return the number of games."""
    league.check_engine()
    missing = [(each, stretch) for each in entrants for stretch in league.missing(each.name)]
    calls = [(each, league.rules, league.seeds(stretch), stretch) for each, stretch in missing]
    played = 0
    for index, games in parallel_calls(play_task, calls, workers):
        entrant, stretch = missing[index]
        league.store(entrant.name, stretch, games)
        played += len(games)
        advance(len(games))
        if not league.missing(entrant.name):
            keep_top(league, entrant.name)
    return played
