"""Advice on a key: what another player would do in this position, and why."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ante.agents.evaluate import Player
from ante.engine.actions import Verb, cards_of, verb_of
from ante.engine.core.state import copy_states
from ante.errors import BalatroError, NotInstalled
from ante.hints.question import games_at, lists_of, options_of
from ante.hints.rules import reason, score
from ante.terminal.preview import preview_of, preview_text
from ante.terminal.session import decision_name
from ante.watch.episode import select
from ante.watch.notes import Explained

TOP = 3  # decisions that are shown
RULES = "rules"
Finder = Callable[[str], Player]


class Adviser:
    """Finds a player when advice is first wanted, and queries it.

    name    of the player: a folder of a run or a release, or `rules`
    finder  returns the player of a name; raises BalatroError or ModuleNotFoundError
    """

    def __init__(self, name: str, finder: Finder) -> None:
        self.name, self.note = name, ""
        self._finder = finder
        self._player: Player | None = None

    def lines(self, states: np.recarray, selected: int) -> list[str]:
        """Return the advice for one game (1,): a title, then the best decisions with probabilities and reasons.

        A player without probabilities, or that cannot be loaded, is replaced by the rules.
        """
        player = self.player()
        if not isinstance(player, Explained):
            return rules_lines(states, self.note)
        try:
            return [f"Advice of {player.name}:", *policy_lines(player, states, selected), rules_line(states)]
        except BalatroError as error:
            return rules_lines(states, f", since {player.name} gave none ({error})")

    @property
    def ready(self) -> bool:
        """Whether the player is loaded."""
        return self._player is not None or self.name == RULES

    def player(self) -> Player | None:
        """Return the player, loaded once; None for the rules."""
        if self._player is None and self.name != RULES:
            try:
                self._player = self._finder(self.name)
            except (BalatroError, ModuleNotFoundError) as error:
                why = error if isinstance(error, BalatroError) else NotInstalled(error)
                self.note, self.name = f", since {self.name} cannot be loaded ({why})", RULES
        if self._player is not None and not isinstance(self._player, Explained):
            self.note = f", since {self.name} has no probabilities"
        return self._player


def policy_lines(player: Explained, states: np.recarray, selected: int) -> list[str]:
    """Return the likeliest decisions of a policy, and its plan and search if it has them.

    The policy does not receive the game's past: one with memory starts from its initial state.
    """
    games = games_at(copy_states(states), player.reorder)
    if player.discrete:
        select(games, selected)
    note, s = player.explain(games, -1), games.states[0]
    facts = {option.decision: option.facts for option in options_of(s, listed(states))}
    lines = [
        f"{chance:4.0%}  {decision_name(s, action)}{reasons(s, action, facts.get(action, ''))}"
        for action, chance in note.options[:TOP]
    ]
    lines += [f"Its plan: {note.plan}"] if note.plan else []
    return lines + ([f"Its search: {note.search}"] if note.search else [])


def listed(states: np.recarray) -> Any:
    """Return the candidate decisions of one game (1,), candidates_t."""
    return lists_of(games_at(copy_states(states), "jokers"))[0]


def reasons(s: Any, action: int, facts: str) -> str:
    """Return what is known about a decision in brackets: the preview of a play, or the facts of its candidate."""
    if verb_of(action) == Verb.PLAY:
        found = preview_of(s, int(cards_of(action)))
        facts = preview_text(s, found) if found else facts
    return f" ({facts})" if facts else ""


def ranked(states: np.recarray) -> tuple[list[int], list[str], str]:
    """Return the best decisions by the rules, their facts, and the reason for the first."""
    s, candidates = states[0], listed(states)
    options = sorted(options_of(s, candidates), key=lambda option: -score(candidates, option.entry))[:TOP]
    facts = [reasons(s, option.decision, option.facts) for option in options]
    return [option.decision for option in options], facts, reason(candidates["entries"][options[0].entry])


def rules_lines(states: np.recarray, note: str) -> list[str]:
    """Return the best decisions by the rules below a title with the reason for the first."""
    decisions, facts, why = ranked(states)
    names = [decision_name(states[0], decision) for decision in decisions]
    return [
        f"Advice of the rules{note}: {why}",
        *(f"  {name}{about}" for name, about in zip(names, facts, strict=True)),
    ]


def rules_line(states: np.recarray) -> str:
    """Return the best decision by the rules with its reason."""
    decisions, _, why = ranked(states)
    return f"rules {decision_name(states[0], decisions[0])}: {why}"
