"""Write tests/golden/replays: games that the tests replay.

    tools/write_replays.py            rewrite the files from their recorded decisions, after a change of rules or texts;
                                      games without a file are played first
    tools/write_replays.py --play     play all games again
    tools/write_replays.py --check    fail if a file is missing, stale or not in the list

Without --play, recorded decisions are kept, so changes of the players do not change the replays.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ante.agents.baselines import Baseline
from ante.agents.evaluate import Player
from ante.agents.record import record_game
from ante.engine.core.state import Phase
from ante.env.games import Games
from ante.env.replay import Heading, read_file, read_replay, write_replay
from ante.errors import BalatroError
from ante.files import write_text

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "golden" / "replays"


class Restless:
    """Greedy in rounds, random elsewhere, so it skips, sells, rerolls, uses and redeems items that greedy does not."""

    name, discrete = "restless", False

    def __init__(self) -> None:
        self._greedy, self._random = Baseline("greedy"), Baseline("random")

    def choose(self, games: Games, playing: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the macro decision of the single game, (1,) int64."""
        player = self._greedy if games.states[0].phase == Phase.PLAY else self._random
        return player.choose(games, playing)


PLAYERS: dict[str, Callable[[], Player]] = {"greedy": lambda: Baseline("greedy"), "restless": Restless}
# Players and games, with all decks, stakes and challenges. For greedy, the seed with most blinds beaten of 600 (200 for
# a challenge); for restless, the seed with most decisions of 300.
GAMES = (
    ("greedy", Heading("PKXK3L4T", "b_red", 1)),
    ("greedy", Heading("L2GZPQ8W", "b_red", 5)),
    ("greedy", Heading("WDQBAD4N", "b_blue", 2)),
    ("greedy", Heading("853BWRCZ", "b_blue", 6)),
    ("greedy", Heading("CZ6JDI9A", "b_yellow", 3)),
    ("greedy", Heading("6HMP9XJP", "b_yellow", 7)),
    ("greedy", Heading("WS2DNQDN", "b_green", 4)),  # won
    ("greedy", Heading("ZLL221BR", "b_green", 8)),
    ("greedy", Heading("ZWIQFEXV", "b_black", 5)),
    ("greedy", Heading("NF3Q45DL", "b_black", 1)),
    ("greedy", Heading("2LKDCQZ7", "b_magic", 6)),
    ("greedy", Heading("QXIBZG1T", "b_magic", 2)),
    ("greedy", Heading("CJKM5KT6", "b_nebula", 7)),
    ("greedy", Heading("JHNIKPIJ", "b_nebula", 3)),
    ("greedy", Heading("I2K93K2F", "b_ghost", 8)),
    ("greedy", Heading("ZWZF7M59", "b_ghost", 4)),
    ("greedy", Heading("I7482HVG", "b_abandoned", 1)),  # won
    ("greedy", Heading("8ADUI2A1", "b_abandoned", 5)),
    ("greedy", Heading("6Z8711ET", "b_checkered", 2)),
    ("greedy", Heading("4NILABZM", "b_checkered", 6)),
    ("greedy", Heading("GYBV2MXY", "b_zodiac", 3)),
    ("greedy", Heading("5I1YCAZT", "b_zodiac", 7)),
    ("greedy", Heading("FEKHAJSA", "b_painted", 4)),
    ("greedy", Heading("1F92NFAS", "b_painted", 8)),
    ("greedy", Heading("6RR1HJRU", "b_anaglyph", 5)),
    ("greedy", Heading("IRLFJLHQ", "b_anaglyph", 1)),
    ("greedy", Heading("W6MCAUFV", "b_plasma", 6)),
    ("greedy", Heading("EI2PLYCI", "b_plasma", 2)),  # won
    ("greedy", Heading("RNPZ1STV", "b_erratic", 7)),
    ("greedy", Heading("RVUGI8VT", "b_erratic", 3)),
    ("restless", Heading("11GUPFP9", "b_red", 1)),
    ("restless", Heading("C3E3B3V6", "b_ghost", 2)),
    ("restless", Heading("V92YVUPW", "b_magic", 1)),
    ("restless", Heading("1SX6MIUB", "b_zodiac", 4)),
    ("restless", Heading("92DM6LUE", "b_anaglyph", 1)),
    ("restless", Heading("JY81RW3F", "b_checkered", 8)),
    ("greedy", Heading("PX5395ED", challenge="c_omelette_1")),
    ("greedy", Heading("3D5TDASP", challenge="c_city_1")),
    ("greedy", Heading("PFXU429C", challenge="c_rich_1")),  # won
    ("greedy", Heading("ZSBVDIPE", challenge="c_knife_1")),
    ("greedy", Heading("5LSJK7JS", challenge="c_xray_1")),
    ("greedy", Heading("A4YZSHZ2", challenge="c_mad_world_1")),
    ("greedy", Heading("Z1LNWBLV", challenge="c_luxury_1")),
    ("greedy", Heading("YMYCV78T", challenge="c_non_perishable_1")),
    ("greedy", Heading("EFIQGHZK", challenge="c_medusa_1")),  # won
    ("greedy", Heading("J538I7BB", challenge="c_double_nothing_1")),  # won
    ("greedy", Heading("2415CB8D", challenge="c_typecast_1")),
    ("greedy", Heading("S7UVPXBB", challenge="c_inflation_1")),
    ("greedy", Heading("DZKNR6N8", challenge="c_bram_poker_1")),
    ("greedy", Heading("GGBEEFU9", challenge="c_fragile_1")),
    ("greedy", Heading("9B38N866", challenge="c_monolith_1")),
    ("greedy", Heading("U2LMELHU", challenge="c_blast_off_1")),
    ("greedy", Heading("M9242S81", challenge="c_five_card_1")),
    ("greedy", Heading("9YEZ3JQE", challenge="c_golden_needle_1")),
    ("greedy", Heading("4DPZSFB3", challenge="c_cruelty_1")),
    ("greedy", Heading("46NJ9BMS", challenge="c_jokerless_1")),
)


def file_of(player: str, heading: Heading) -> Path:
    """Return the file of a game, named by its player and heading."""
    run = heading.challenge or f"{heading.deck}-{heading.stake}"
    return FOLDER / f"{player}-{run}-{heading.seed}.txt"


def text_of(player: str, heading: Heading, play: bool) -> str:
    """Return the replay of a game, from the decisions in its file or newly played."""
    file = file_of(player, heading)
    if play or not file.exists():
        return record_game(PLAYERS[player](), heading)
    recorded, actions = read_replay(read_file(file))
    if recorded != heading:
        raise BalatroError(f"{file.name} contains another game: {recorded}")
    return write_replay(heading, actions)


def stale_files() -> list[str]:
    """Return the names of files that are missing, stale or not in the list."""
    wanted = {file_of(*game): game for game in GAMES}
    stale = [file for file, game in wanted.items() if not file.exists() or read_file(file) != text_of(*game, False)]
    return sorted(file.name for file in {*stale, *(set(FOLDER.glob("*")) - wanted.keys())})


def main() -> int:
    """Write or check the files, and return the exit code."""
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if a file is stale")
    parser.add_argument("--play", action="store_true", help="play all games again")
    options = parser.parse_args()
    if options.check:
        stale = stale_files()
        if stale:
            print(f"stale in {FOLDER}: {', '.join(stale)}; run make replays and review the diff", file=sys.stderr)
        return 1 if stale else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for game in GAMES:
        write_text(file_of(*game), text_of(*game, options.play))
    for file in set(FOLDER.glob("*.txt")) - {file_of(*game) for game in GAMES}:
        print(f"{file.name} is not in the list of games: remove it", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
