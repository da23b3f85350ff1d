"""Env runners for games stepped on the GPU: `DeviceRunner`, and `MirrorRunner` with `MirroredGames`.

In a DeviceRunner no step leaves the device: observations are packed, actions sampled and games stepped there, in memory
shared by the engine's kernels and torch. A fragment is copied to the host once, after its last step.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ante.env.cuda import DeviceGames, FieldView
from ante.env.games import Games, Outcome
from ante.env.text import seed_of
from ante.errors import BalatroError
from ante.training.numerics import torch_ops
from ante.training.numerics.normalisation import nothing
from ante.training.sampling.fragment import StepState, Trajectory
from ante.training.sampling.hooks import EpisodeEnds, RunnerHook
from ante.training.sampling.runner import BatchRunner


class NotOnDevice(BalatroError, ValueError):
    """A hook needs games on the host."""

    def __init__(self, hook: RunnerHook) -> None:
        what = "the callback on_episode_end" if isinstance(hook, EpisodeEnds) else type(hook).__name__
        super().__init__(f"{what} is not supported with games on a GPU; leave it out, or use games_on cpu")


def tensor_of(buffer: Any) -> torch.Tensor:
    """Return a tensor that shares the memory of a device array or of one field of its records."""
    return torch.as_tensor(buffer, device="cuda")


class Buffers:
    """The buffers of n `DeviceGames` as tensors that share their memory.

    flat (n, FLAT_SIZE) float32, masks (n, N_DISCRETE) int8, actions (n,) int64, rewards (n,) float64;
    step_state  a `StepState` of tensors (n,)
    """

    def __init__(self, games: DeviceGames) -> None:
        self.flat, self.masks = tensor_of(games.flat), tensor_of(games.masks)
        self.actions, self.rewards = tensor_of(games.actions), tensor_of(games.rewards)
        ante, rounds, phase = (tensor_of(FieldView(games.states, name)) for name in ("ante", "round_number", "phase"))
        self.step_state = StepState(ante, rounds, phase, tensor_of(games.steps), tensor_of(games.outcome))

    def rows(self) -> torch.Tensor:
        """Return packed rows of all games in their current state, (n, ROW_BYTES) uint8."""
        return torch_ops.pack_octets(self.flat, self.masks)


class MirroredGames(Games):
    """Games stepped on a device and read on the host, for policies and hooks that need host memory.

    After each step the changes are copied to the host: records, rewards, outcomes, and masks and flat observations if
    the policy reads them. Seeds are drawn on the device.
    """

    def __init__(self, n: int, flat: bool = True, discrete: bool = True, **options: Any) -> None:
        super().__init__(n, flat=flat, discrete=discrete, **options)
        self._device = DeviceGames(n, flat=flat, discrete=discrete, **options)
        self._copy()

    def draw_from(self, number: int) -> None:
        """See DeviceGames."""
        self._device.draw_from(number)

    def reset(self, which: NDArray[np.int64] | None = None, options: dict[str, Any] | None = None) -> None:
        """Reset the games at these indices, by default all. `options` are not supported."""
        assert options is None, "seeds are drawn on the device"
        if which is None:
            self._device.reset()
        else:
            self._device.renew.copy_to_device(np.isin(self._all, which).astype(np.uint8))
            self._device.deal_ended()
        self._copy()
        for i in self._all if which is None else which:
            self.seeds[i] = seed_of(self.states[i])

    def step(self, actions: NDArray[np.int64], renew: NDArray[np.bool_] | None = None) -> None:
        """Play one action in every game. `renew` is not supported."""
        assert renew is None, "call `reset` instead"
        self._device.step(np.ascontiguousarray(actions, dtype=np.int64))
        self._copy()

    def _copy(self) -> None:
        """Copy the device's state to the host."""
        for name in ("states", "observations", "flat", "rewards", "outcome", "steps"):
            mine, theirs = getattr(self, name), getattr(self._device, name).copy_to_host()
            if mine.size:
                mine.view(np.uint8).reshape(-1)[:] = theirs.view(np.uint8).reshape(-1)


class MirrorRunner(BatchRunner):
    """A BatchRunner that plays `MirroredGames`, for policies whose rows are packed on the host.

    All games follow the rules of the current stage; none starts from a saved position.
    """

    saves_games = False

    def _make_games(self, n: int, options: dict[str, Any]) -> None:
        """Create games on the device, mirrored on the host."""
        self.games = MirroredGames(n, **options, flat=self.module.flat, discrete=self.module.discrete)

    def _deal_games(self, seeds: np.random.SeedSequence) -> None:
        """Reset all games; seeds differ from those of the same run on a CPU."""
        assert isinstance(self.games, MirroredGames)
        self.games.draw_from(int(seeds.generate_state(1)[0]))
        self.games.reset()


class DeviceRunner(BatchRunner):
    """A BatchRunner that plays thousands of `DeviceGames`, one thread per game.

    Requires a policy whose rows the device can pack (`GamePolicy.packs_on_device`) and hooks with `on_device`. All
    games follow the rules of the current stage; none starts from a saved position. Raises NotOnDevice, and errors of
    DeviceGames.
    """

    saves_games = False

    def _make_games(self, n: int, options: dict[str, Any]) -> None:
        """Create games on the device."""
        for hook in self.hooks:
            if not hook.on_device:
                raise NotOnDevice(hook)
        self._limit = options["max_decisions"]
        self._device_games = DeviceGames(n, **options)
        self.games = self._device_games  # type: ignore[assignment]  # provides `n`
        self._buffers = Buffers(self._device_games)

    def field(self, name: str) -> Any:
        """See BatchRunner; returns a tensor that shares the records' memory."""
        if name == "outcome":
            return self._buffers.step_state.outcome
        return tensor_of(FieldView(self._device_games.states, name))

    def _begin_stage(self) -> None:
        """Reset all games by the rules of the next stage, and reset the statistics."""
        self.make_env()
        self.deal()

    def _deal_games(self, seeds: np.random.SeedSequence) -> None:
        """Reset all games; seeds differ from those of the same run on a CPU."""
        self._device_games.draw_from(int(seeds.generate_state(1)[0]))
        self._device_games.reset()

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def _played(self, steps: int) -> tuple[Trajectory, NDArray[np.float32]]:
        """See BatchRunner; synchronises with the device once, at the end.

        If a game may reach its step limit, each step is synchronised to read the final observation.
        """
        games, now, n = self._device_games, self._buffers, self._device_games.n
        rows = torch.empty((steps, n, self.module.row_t.itemsize), dtype=torch.uint8, device=self._device)
        kept = {k: torch.empty((steps, n), dtype=dtype, device=self._device) for k, dtype in self._recorded().items()}
        oldest = int(now.step_state.steps.max())
        places: list[int] = []
        finals: list[torch.Tensor] = []
        for call in self._calls("fragment_begins"):
            call(steps)
        before_step, stepped = map(self._calls, ("before_step", "stepped"))
        for t in range(steps):
            rows[t] = now.rows()
            choice = self.module.act_octets(rows[t], self._rng, self._greedy)
            kept["actions"][t], kept["log_probs"][t], kept["values"][t] = choice[:3]
            now.actions.copy_(choice.actions)
            for call in before_step:
                call(t)
            games.step()
            kept["rewards"][t] = now.rewards
            for call in stepped:
                call(t)
            for name, field in now.step_state._asdict().items():
                kept[name][t] = field
            if oldest + t + 1 >= self._limit:
                off = torch.nonzero(now.step_state.outcome == Outcome.TRUNCATED).flatten()
                places += (t * n + off).tolist()
                finals.append(now.rows()[off])
            games.deal_ended()
        host = {name: tensor.cpu().numpy() for name, tensor in kept.items()}
        self._count(host)
        whole = self._on_host(torch.cat([rows.flatten(0, 1), now.rows(), *finals]))
        played = Trajectory(
            whole[: steps * n].reshape(steps, n),
            host["actions"],
            host["log_probs"],
            host["rewards"].astype(np.float32),
            host["outcome"] != Outcome.PLAYING,
            (host["outcome"] == Outcome.WON) | (host["outcome"] == Outcome.LOST),
            whole[steps * n :],
            np.array(places, dtype=np.int64),
            nothing(),
            self._weights_seq_no,
        )
        return played, host["values"]

    def _recorded(self) -> dict[str, torch.dtype]:
        """Allocate the per-step data other than the rows, (steps, n) each."""
        now = self._buffers
        decided = {"actions": torch.int64, "log_probs": torch.float32, "values": torch.float32}
        came = {"rewards": now.rewards.dtype, **{k: field.dtype for k, field in now.step_state._asdict().items()}}
        return decided | came

    def _count(self, host: dict[str, NDArray[Any]]) -> None:
        """Add the fragment's steps to the statistics in order."""
        for t, rewards in enumerate(host["rewards"]):
            after = StepState(*(host[name][t] for name in StepState._fields))
            self.tally.returns += rewards
            ended = np.flatnonzero(after.outcome)
            self.tally.end(after, ended, ended)

    def _on_host(self, octets: torch.Tensor) -> NDArray[Any]:
        """Return packed rows (k, ROW_BYTES) as records (k,) on the host."""
        return octets.cpu().numpy().view(self.module.row_t).reshape(-1)
