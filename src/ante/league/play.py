"""The games of a league: every player on the same seeds, a stretch at a time, only those that are missing."""

from collections.abc import Callable
from dataclasses import asdict

from ante.agents.evaluate import Player
from ante.env.replay import Heading, write_replay
from ante.files import write_text
from ante.league.folder import STRETCH, Entrant, League, Rules
from ante.recording.games import Recording, record_games

TOP = 3  # games of each player whose replays are kept
Seat = Callable[[int], Player]  # the player with the luck of a stretch: the same stretch, the same games


def play_stretch(
    seat: Seat, rules: Rules, seeds: list[str], stretch: int, advance: Callable[[int], None] = lambda _: None
) -> list[Recording]:
    """One player's games on the seeds of a stretch."""
    kind = {name: value for name, value in asdict(rules).items() if name != "games"}
    batches = record_games(seat(stretch), seeds, Heading("", **kind), STRETCH, advance)
    return [game for batch in batches for game in batch]


def play_missing(league: League, entrant: Entrant, seat: Seat, advance: Callable[[int], None] = lambda _: None) -> int:
    """The player has played all its games; answers how many were missing. A stop loses a stretch at most."""
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
    """The replays of a player's games that went furthest stand in the folder, and no others."""
    results, table = league.results(name), league.table(name)
    best = sorted(range(len(results)), key=lambda i: (-results.reach[i], i))[:TOP]
    folder = league.folder / "replays" / name
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.txt"):
        if old.stem not in {results.seeds[i] for i in best}:
            old.unlink()
    kind = {field: value for field, value in asdict(league.rules).items() if field != "games"}
    for i in best:
        heading = Heading(results.seeds[i], **kind)
        write_text(folder / f"{heading.seed}.txt", write_replay(heading, table["actions"][i].as_py()))
