"""A trained policy with an advisor: hints during evaluation, within the same budget as in training."""

import asyncio
import json
import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from ante.agents.evaluate import Report, evaluate, paired_difference
from ante.engine.core.records import as_records
from ante.engine.core.state import copy_states
from ante.env.games import Games
from ante.errors import BalatroError
from ante.files import plain, write_text
from ante.hints.advice import Advice
from ante.hints.broker import hint_field
from ante.hints.budget import DecisionBudget
from ante.hints.ledger import GOOD, Ledger
from ante.hints.question import PROMPT, Question, lists_of, question_of, without_seed
from ante.hints.rules import advise
from ante.hints.settings import AdvisorSettings, read_settings
from ante.knowledge.facts import facts_from
from ante.training.acting.player import make_player
from ante.training.advice.asks import HintRequest, number_of
from ante.training.players.release import policy_from
from ante.training.sampling.games import rules
from ante.training.settings.config import TrainConfig, read_config
from ante.watch.episode import fingerprint
from ante.watch.notes import Note

if TYPE_CHECKING:
    from ante.hints.desk import Desk

EFFECT_GAMES = 64  # games of a run's final evaluation that are repeated with hints


class AdvisedPlayer:
    """Follows hints where the policy is uncertain and the budget permits, and the policy otherwise.

    hints     by (seed, step of the game): text, agreed, source
    ledger    counts of requests by result
    alone     the policy without advisor
    asks_llm  whether the advisor is an LLM instead of the rules

    With `earlier`, the player continues the cache, the limits of tokens and the circuit breaker of that player's LLM.
    """

    def __init__(
        self,
        policy: Any,
        name: str,
        settings: AdvisorSettings | None,
        share: float = 0.05,
        confidence: float = 0.7,
        likeliest: bool = False,
        seed: int = 0,
        reorder: str = "none",
        picture: Callable[[Any], bytes] | None = None,
        earlier: "AdvisedPlayer | None" = None,
    ) -> None:
        if not hasattr(policy, "action_log_probs"):
            raise BalatroError(
                f"{name} cannot be advised: its policy has no probabilities of actions; use shortlist, mlp or lstm"
            )
        self.name, self.discrete, self.reorder = f"{name}, advised", policy.discrete, reorder
        self.hints: dict[tuple[str, int], dict[str, Any]] = {}
        self.policy, self._likeliest, self._confidence = policy, likeliest, confidence
        self.alone = make_player(policy, name, likeliest, seed, reorder)
        self._played: set[str] = set()  # seeds
        self._hint_texts: dict[str, str] = {}  # texts of hints, by the fingerprint of the game
        self._budget, self._picture = DecisionBudget(share), picture
        self._generator = torch.Generator(policy.device).manual_seed(seed)
        self._settings, self.asks_llm = settings, settings is not None
        if earlier is None:
            self._facts = facts_from(settings.knowledge, os.environ) if settings else None
            self._loop = asyncio.new_event_loop()
            self._desk = desk_of(settings) if settings else None
        else:
            self._facts, self._loop, self._desk = earlier._facts, earlier._loop, earlier._desk
        self.ledger = self._desk.ledger if self._desk else Ledger()

    def close(self) -> None:
        """Release the advisor's connections and files."""
        if self._desk is not None:
            self._loop.run_until_complete(self._desk.close())
        self._loop.close()

    def forget(self) -> None:
        """Drop the hints and the seeds of the games so far, which otherwise accumulate."""
        self.hints.clear()
        self._hint_texts.clear()
        self._played.clear()

    def choose(self, games: Games, playing: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return one action for each game (n,) int64, -1 for games that are not in play."""
        followed, which = self.alone.played(games), np.flatnonzero(playing)
        rows = followed.rows()
        self._played.update(str(games.seeds[i]) for i in which)
        logs, _, carry = self.policy.action_log_probs(followed.state.view(rows[which]))
        followed.chose(which, carry)
        logs = logs.cpu()
        numbers = self._drawn(logs)
        self._advised(games, rows, which, logs.amax(dim=1).exp().numpy(), numbers)
        actions = np.full(games.n, -1, dtype=np.int64)
        actions[which] = self.policy.decisions(rows[which], numbers)
        return actions

    def explain(self, games: Games, taken: int) -> Note:
        """See `watch.notes.Explained`. For games of other players, the advisor is called now, within the budget."""
        if str(games.seeds[0]) not in self._played:
            followed = self.alone.explained(games)
            rows = followed.rows()
            number = number_of(self.policy, HintRequest(rows, copy_states(games.states), 0, {}), taken)
            sure = self.policy.action_log_probs(followed.state.view(rows))[0].cpu().amax(dim=1).exp().numpy()
            chosen = np.array([-1 if number is None else number])
            self._advised(games, rows, np.zeros(1, dtype=np.int64), sure, chosen)
        return replace(self.alone.explain(games, taken), hint=self._hint_texts.get(fingerprint(games.states[0]), ""))

    def _drawn(self, logs: torch.Tensor) -> NDArray[np.int64]:
        """Return actions (n,), sampled or most likely, from log-probabilities (n, actions)."""
        if self._likeliest:
            return np.asarray(logs.argmax(dim=1))
        return np.asarray(torch.multinomial(logs.exp(), 1, generator=self._generator)[:, 0])

    def _advised(
        self, games: Games, rows: NDArray[Any], which: NDArray[np.int64], sure: NDArray[Any], numbers: NDArray[np.int64]
    ) -> None:
        """Request hints for the least certain of these games and write the hinted actions into `numbers`."""
        room, unsure = self._budget.allows(len(which)), np.flatnonzero(sure < self._confidence)
        places = sorted(int(k) for k in unsure[np.argsort(sure[unsure], kind="stable")][:room])
        self._budget.take(len(which), places)
        if not places:
            return
        lists = lists_of(games)
        questions = [self._question(games, int(which[k]), lists) for k in places]
        for k, advice in zip(places, self._answers(questions), strict=True):
            i = int(which[k])
            if advice is None:
                continue
            state = copy_states(as_records(games.states, slice(i, i + 1)))
            number = number_of(self.policy, HintRequest(rows[i : i + 1], state, 0, {}), advice.decision)
            if number is not None:
                agreed = number == int(numbers[k])
                self.ledger.compared, self.ledger.agreed = self.ledger.compared + 1, self.ledger.agreed + agreed
                self.hints[str(games.seeds[i]), int(games.steps[i])] = hint_field(advice, agreed) or {}
                self._hint_texts[fingerprint(games.states[i])] = f"{advice.text} ({advice.source})"
                numbers[k] = number

    def _question(self, games: Games, i: int, lists: Any) -> Any:
        prompt = self._settings.prompt if self._settings else PROMPT
        seen = self._picture is not None and self._settings is not None and self._settings.vision
        frame = self._picture(without_seed(games.states[i])) if seen and self._picture else None
        return question_of(games.states[i], lists[i], prompt, frame, self._facts)

    def _answers(self, questions: list[Any]) -> list[Advice | None]:
        """Return a hint or None for each question. Waits for the responses."""
        if self._desk is None:
            for question in questions:
                self.ledger.asks += question is not None
                self.ledger.ended(GOOD)
            return [advise(question) if question is not None else None for question in questions]
        return self._loop.run_until_complete(answers_of(self._desk, questions))


async def answers_of(
    desk: "Desk", questions: Sequence[Question | None], advance: Callable[[int], None] = lambda _: None
) -> list[Advice | None]:
    """Return a hint or None for each question. Waits for the responses."""
    gate = asyncio.Semaphore(desk.settings.concurrency)

    async def one(question: Question | None) -> Advice | None:
        async with gate:
            found = await desk.advise(question) if question is not None else None
        advance(1)
        return found

    return list(await asyncio.gather(*map(one, questions)))


def desk_of(settings: AdvisorSettings) -> "Desk":
    """Return the desk of an LLM, with its key from the environment. Raises BadHints, NotInstalled."""
    from ante.hints.desk import Desk, make_advisor

    return Desk(settings, make_advisor(settings, os.environ))


def advised_from(
    folder: Path,
    source: str,
    share: float = 0.05,
    confidence: float = 0.7,
    checkpoint: str = "best",
    likeliest: bool = False,
    earlier: AdvisedPlayer | None = None,
) -> AdvisedPlayer:
    """Return the policy of a run or a release with an advisor, the rules or an LLM. Raises BalatroError.

    earlier  a player with the same source, whose advisor and limits of tokens the new one continues
    """
    settings: AdvisorSettings | None = None
    picture: Callable[[Any], bytes] | None = None
    if source == "llm":
        settings = read_settings(os.environ).complete()
        if settings.vision:
            from ante.watch.render.picture import png_of

            picture = png_of
    policy, reorder = policy_from(folder, checkpoint), read_config(folder / "config.yaml").games.reorder
    return AdvisedPlayer(policy, folder.name, settings, share, confidence, likeliest, 0, reorder, picture, earlier)


@dataclass(frozen=True)
class Effect:
    """The effect of following hints in evaluation: change in blinds beaten per game, with its 95 % half-width."""

    source: str
    games: int
    more: float
    half_width: float

    def __str__(self) -> str:
        return (
            f"{self.more:+.2f} ± {self.half_width:.2f} blinds beaten with hints, {self.games} games on the same seeds"
        )


def advice_effect(config: TrainConfig, alone: Report) -> Effect:
    """Return the effect of hints on a run's best checkpoint, over the first games of its evaluation.

    alone  the report without hints. The result is also written to hints/effect.json. Raises BalatroError.
    """
    source = "rules" if config.hints.source == "rules" else "llm"
    records = alone.records[:EFFECT_GAMES]
    seeds, limit = [record.seed for record in records], config.games.max_decisions
    with closing(advised_from(config.folder, source, config.hints.share, config.hints.confidence)) as player:
        advised = evaluate(player, seeds, **rules(config), max_decisions=limit)
    found = Effect(source, len(records), *paired_difference(advised, replace(alone, records=records)))
    (config.folder / "hints").mkdir(exist_ok=True)
    write_text(config.folder / "hints" / "effect.json", json.dumps(plain(asdict(found)), indent=1))
    return found
