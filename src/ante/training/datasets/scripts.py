"""The games of a dataset as scripts: heading and decisions, from a player or from replays."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ante.agents.evaluate import Player
from ante.engine.actions import DISCRETE, TAKES_SELECTION, Verb, cards_of, target_of, to_of, verb_of
from ante.engine.core.state import MAX_HAND
from ante.env.replay import BadReplay, Heading, read_file, read_replay
from ante.env.text import seed_of
from ante.recording.games import record_games
from ante.training.datasets.layout import BadDataset

NUMBERS = {tuple(int(part) for part in row): number for number, row in enumerate(DISCRETE)}
TAKING = {int(row[0]) for row, takes in zip(DISCRETE, TAKES_SELECTION, strict=True) if takes}


@dataclass(frozen=True)
class Script:
    """One game: its heading and its macro decisions, including SELECT and CLEAR if the player selects cards singly."""

    heading: Heading
    actions: tuple[int, ...]


def played_scripts(
    player: Player,
    seeds: Sequence[str],
    heading: Heading,
    batch: int,
    advance: Callable[[int], None] = lambda _: None,
) -> Iterator[list[Script]]:
    """Play one game per seed with the heading's deck, stake and challenge; yield the scripts, `batch` at a time."""
    for games in record_games(player, seeds, heading, batch, advance):
        yield [Script(game.heading, game.actions) for game in games]


def replay_scripts(files: Iterable[Path]) -> list[Script]:
    """Return the games of replay files. Raises BadReplay, naming the file."""
    scripts = []
    for file in files:
        try:
            heading, actions = read_replay(read_file(file))
        except BadReplay as error:
            raise BadReplay(f"{file}: {error}") from None
        scripts.append(Script(heading, tuple(actions)))
    return scripts


def discrete_actions(s: np.record, action: int) -> list[int]:
    """Return the discrete actions that carry out a macro decision in this game, selections first.

    Raises BadDataset if the discrete view lacks the decision.
    """
    verb, target, to = int(verb_of(action)), int(target_of(action)), int(to_of(action))
    if (verb, target, to) not in NUMBERS:
        raise BadDataset(
            f"{Verb(verb).name.lower()} {target} {to} of game {seed_of(s)} has no "
            "number in the discrete view: export with --view shortlist"
        )
    wanted, selected = int(cards_of(action)), int(s.selected)
    changed = wanted ^ selected if verb in TAKING else 0
    places = [i for i in range(MAX_HAND) if (changed >> i) & 1]
    places.sort(key=lambda i: not (selected >> i) & 1)  # deselect first: the selection is limited
    return [NUMBERS[int(Verb.SELECT), i, 0] for i in places] + [NUMBERS[verb, target, to]]
