"""Plays the games of a league: all players on the same seeds, one stretch at a time, skipping stored results."""

from collections.abc import Callable
from dataclasses import asdict

from ante.agents.evaluate import Player
from ante.env.replay import Heading, write_replay
from ante.files import write_text
from ante.league.folder import STRETCH, Entrant, League, Rules
from ante.recording.games import Recording, record_games

TOP = 3  # replays kept per player
Seat = Callable[[int], Player]  # creates the player for a stretch; deterministic per stretch


def play_stretch(
    seat: Seat, rules: Rules, seeds: list[str], stretch: int, advance: Callable[[int], None] = lambda _: None
) -> list[Recording]:
    """Return one player's games on the seeds of a stretch."""
    kind = {name: value for name, value in asdict(rules).items() if name != "games"}
    batches = record_games(seat(stretch), seeds, Heading("", **kind), STRETCH, advance)
    return [game for batch in batches for game in batch]


def play_missing(league: League, entrant: Entrant, seat: Seat, advance: Callable[[int], None] = lambda _: None) -> int:
    """Play the player's missing games and return their number. An interruption loses at most one stretch."""
    league.check_engine()
    played = 0
    for stretch in league.missing(entrant.name):
        games = play_stretch(seat, league.rules, league.seeds(stretch), stretch, advance)
        league.store(entrant.name, stretch, games)
        played += len(games)
    if played:
        keep_top(league, entrant.name)
    return played


def keep_top(league: League, name: str) -> None:
    """Keep the replays of a player's games that progressed furthest, and delete others."""
    results, table = league.results(name), league.table(name)
    best = sorted(range(len(results)), key=lambda i: (-results.reach[i], i))[:TOP]
    folder = league.folder / "replays" / name
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.txt"):
        if old.stem not in {results.seeds[i] for i in best}:
            old.unlink(missing_ok=True)  # another process may play the same player
    kind = {field: value for field, value in asdict(league.rules).items() if field != "games"}
    for i in best:
        heading = Heading(results.seeds[i], **kind)
        write_text(folder / f"{heading.seed}.txt", write_replay(heading, table["actions"][i].as_py()))
