"""Hooks of env runners: called at the points of sampling that their methods name."""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from ante.engine.core.state import Phase
from ante.env.games import Games, Outcome
from ante.recording.starts import parse_starts, stand
from ante.training.compat import make_callback
from ante.training.numerics.advantages import values_after
from ante.training.policies.protocol import Choice, on_host
from ante.training.sampling.callbacks import ended_games
from ante.training.sampling.fragment import BOSS, JOKER, Trajectory
from ante.training.sampling.saved_games import read_generators, save_generators

if TYPE_CHECKING:
    from ante.training.sampling.runner import BatchRunner


class RunnerHook:
    """Base class of sampling hooks. Methods that a subclass does not override are not called.

    on_device  whether the hook supports games on a device: it then reads `BatchRunner.field` only, and its methods
               `choose`, `ended` and `renewed` are not called
    """

    on_device: ClassVar[bool] = False

    def __init__(self, runner: "BatchRunner") -> None:
        self.runner = runner

    @property
    def games(self) -> Games:
        """The runner's current games."""
        assert self.runner.games is not None
        return self.runner.games

    def games_made(self) -> None:
        """Called after the runner has created its games, before they are reset."""

    def dealt(self, seeds: np.random.SeedSequence, before: Games | None) -> None:
        """Called after all games are reset; `before` holds those of the previous stage when a stage begins."""

    def fragment_begins(self, steps: int) -> None:
        """Called before this many steps are played in every game."""

    def choose(self, seen: Any, rows: NDArray[Any]) -> Choice | None:
        """Choose in place of the policy, given its input `seen`; None to use the policy. Not called in greedy mode."""

    def before_step(self, t: int) -> None:
        """Called with actions chosen but not yet taken."""

    def stepped(self, t: int) -> None:
        """Called after all games have taken a step; finished games are not yet reset."""

    def ended(self, which: NDArray[np.int64]) -> None:
        """Called with the indices of finished games, which are not yet reset."""

    def renewed(self, which: NDArray[np.int64]) -> None:
        """Called with the indices of games that were just reset; the hook may replace them by saved positions."""

    def paid(self, trajectory: Trajectory) -> NDArray[np.float32]:
        """Return the rewards of a fragment (t, n), including shaping rewards."""
        return trajectory.rewards

    def finish(self, trajectory: Trajectory) -> None:
        """Extend a fragment that has been played."""

    def metrics(self) -> dict[str, Any]:
        """Return entries for the runner's next metrics; `FastAlgorithm` removes them before RLlib reads the rest."""
        return {}

    def saved(self) -> dict[str, Any]:
        """Return the hook's state between two fragments as plain values, for checkpoints; nothing by default."""
        return {}

    def restore(self, saved: dict[str, Any]) -> None:
        """Set the state to what `saved` returned; called instead of `dealt`, once the games are restored.

        Raises ValueError, KeyError or TypeError if it does not fit.
        """


class SavedStarts(RunnerHook):
    """Starts all games from saved positions, sampled uniformly."""

    def __init__(self, runner: "BatchRunner") -> None:
        super().__init__(runner)
        self._states = parse_starts(runner.config.starts)

    def dealt(self, seeds: np.random.SeedSequence, before: Games | None) -> None:
        """See RunnerHook."""
        self._rng = np.random.default_rng((*self.runner.entropy, 1))
        self.renewed(np.arange(self.games.n))

    def renewed(self, which: NDArray[np.int64]) -> None:
        """See RunnerHook."""
        stand(self.games, which, self._states[self._rng.integers(len(self._states), size=len(which))])

    def saved(self) -> dict[str, Any]:
        """See RunnerHook."""
        return {"rng": save_generators([self._rng])}

    def restore(self, saved: dict[str, Any]) -> None:
        """See RunnerHook."""
        (self._rng,) = read_generators(saved["rng"], 1)


class EpisodeEnds(RunnerHook):
    """Calls RLlib's `on_episode_end` callbacks for games that started from the beginning."""

    def ended(self, which: NDArray[np.int64]) -> None:
        """See RunnerHook."""
        runner, games = self.runner, self.games
        which = which[~runner.begun[which]]
        returns = runner.tally.returns + games.rewards
        for i, game in ended_games(games.info(), which, games.steps, returns, games.truncated):
            make_callback(
                "on_episode_end",
                callbacks_objects=runner.callbacks,
                callbacks_functions=runner.config.callbacks_on_episode_end,
                kwargs={
                    "episode": game,
                    "env_runner": runner,
                    "metrics_logger": runner.metrics,
                    "env": None,
                    "env_index": i,
                    "rl_module": runner.module,
                },
            )


class RareSteps(RunnerHook):
    """Marks steps that beat a boss blind or gain a joker; prioritised replay samples them more often."""

    on_device = True

    def fragment_begins(self, steps: int) -> None:
        """See RunnerHook."""
        self._marks: list[Any] = []

    def before_step(self, t: int) -> None:
        """See RunnerHook."""
        phase, jokers = self.runner.field("phase"), self.runner.field("n_jokers")
        self._before = (
            (phase.clone(), jokers.clone()) if isinstance(phase, torch.Tensor) else (phase.copy(), jokers.copy())
        )

    def stepped(self, t: int) -> None:
        """See RunnerHook."""
        field, (phase, jokers) = self.runner.field, self._before
        beaten = (phase == Phase.PLAY) & (field("phase") == Phase.ROUND_END) & (field("beat_boss") != 0)
        beaten = beaten | (field("outcome") == Outcome.WON)
        self._marks.append(BOSS * beaten + JOKER * (field("n_jokers") > jokers))

    def finish(self, trajectory: Trajectory) -> None:
        """See RunnerHook."""
        trajectory.marks = np.stack([on_host(marks) for marks in self._marks]).astype(np.uint8)


def shaped(trajectory: Trajectory, potentials: NDArray[np.float32], last: NDArray[np.float32], discount: float) -> Any:
    """Return shaping rewards per step (t, n) from potentials (t, n) of its rows, `last` of its extra rows."""
    after = values_after(potentials, last, trajectory.places, trajectory.terminal)
    return np.float32(discount) * after - potentials
