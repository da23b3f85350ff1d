"""What a player decides in a state, with probabilities and reasons."""

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ante.agents.baselines import AGENTS
from ante.agents.evaluate import Player
from ante.agents.releases import policy_folder, released_policies
from ante.engine.core.state import Phase, copy_states
from ante.env.text import macro_name
from ante.errors import BalatroError, shown
from ante.files import inside
from ante.hints.question import games_at
from ante.hints.rules import reason, score
from ante.serve.mcp.games import candidates_of, choice_of
from ante.serve.mcp.results import Advice, Choice
from ante.watch.episode import fingerprint
from ante.watch.notes import Explained
from ante.watch.runs import candidates, is_run

RULES = "rules"
KEPT = 4  # players in memory
SHOWN = 5  # alternatives
CHECKPOINTS = "checkpoints"
Finder = Callable[[str], Player]


class NoAdvice(BalatroError, ValueError):
    """A player does not exist, or the game has no decision."""


class Advisers:
    """The players that give advice: the rules, baselines, released policies, and runs of the folder.

    finder  returns the player of a name or of a folder; raises BalatroError or ModuleNotFoundError
    """

    def __init__(self, runs: Path, finder: Finder) -> None:
        self.runs, self._finder = runs, finder
        self._players: OrderedDict[str, Player] = OrderedDict()

    def names(self) -> list[str]:
        """Return the names of all players."""
        trained = []
        if self.runs.is_dir():
            folders = (each for each in candidates(self.runs) if is_run(each) and (each / CHECKPOINTS).is_dir())
            trained = [each.relative_to(self.runs).as_posix() for each in folders]
        return [RULES, *AGENTS, *released_policies(), *trained]

    def player(self, name: str) -> Player:
        """Return a player, loaded once. Raises NoAdvice and the errors of the finder."""
        if name not in self._players:
            if name not in self.names():
                raise NoAdvice(f"there is no player {shown(name)}: list_players shows the names")
            builtin = name in (*AGENTS, *released_policies())
            folder = policy_folder(name) if builtin else inside(self.runs, name)
            self._players[name] = self._finder(name if builtin else str(folder))
            while len(self._players) > KEPT:
                self._players.popitem(last=False)
        self._players.move_to_end(name)
        return self._players[name]

    def advise(self, name: str, states: np.recarray) -> Advice:
        """Return what a player decides in the game of `states` (1,). Raises NoAdvice and the errors of `player`."""
        s = states[0]
        if s.phase == Phase.OVER:
            raise NoAdvice("the game is over: start another one")
        if name == RULES:
            return rules_advice(s)
        player = self.player(name)
        if player.discrete:
            raise NoAdvice(f"{name} selects cards one by one: choose a player of whole decisions, such as {RULES}")
        games = games_at(copy_states(states), player.reorder)
        if isinstance(player, Explained):
            note = player.explain(games, -1)
            notes = [text for text in (f"plan: {note.plan}" if note.plan else "", note.search) if text]
            return advice(name, s, [(d, p) for d, p in note.options], note.value, notes)
        return advice(name, s, [(int(player.choose(games, np.ones(1, dtype=np.bool_))[0]), None)], None, [])


def rules_advice(s: Any) -> Advice:
    """Return what the rule-based advisor decides."""
    listed, options = candidates_of(s)
    best = sorted(options, key=lambda option: -score(listed, option.entry))
    return advice(RULES, s, [(option.decision, None) for option in best], None, [])


def advice(
    name: str, s: Any, ranked: list[tuple[int, float | None]], value: float | None, reasons: list[str]
) -> Advice:
    """Return the advice for decisions with probabilities, the best first. Raises NoAdvice without any."""
    if not ranked:
        raise NoAdvice(f"{name} has no decision for this state")
    listed, options = candidates_of(s)
    by_decision = {option.decision: option for option in options}

    def choice(decision: int, probability: float | None) -> Choice:
        option = by_decision.get(decision)
        return choice_of(decision, macro_name(s, decision), option.facts if option else "", probability)

    first = ranked[0][0]
    if first in by_decision:
        entry = listed["entries"][by_decision[first].entry]
        reasons = [reason(entry), *([by_decision[first].facts] if by_decision[first].facts else []), *reasons]
    return Advice(
        player=name,
        choice=choice(*ranked[0]),
        value=value,
        reasons=reasons,
        alternatives=[choice(*each) for each in ranked[1:SHOWN]],
        state=fingerprint(s),
    )
