"""The env runner whose games are played on the GPU where its policy lies: `DeviceRunner`.

Nothing of a step leaves the device: observations are packed, decisions drawn and games stepped there, in memory that
the engine's kernels and torch share. A fragment is copied to the host once, when all its steps are played, and goes on
from there like any other.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ante.env.cuda import DeviceGames, FieldView
from ante.env.games import Outcome
from ante.errors import BalatroError
from ante.training import twins
from ante.training.rollout import Standing
from ante.training.runner import BatchRunner, Played


class NotOnDevice(BalatroError, ValueError):
    """A callback asks for what games on a device do not tell."""

    def __init__(self) -> None:
        super().__init__(
            "games on a GPU do not tell callbacks of their ends: leave out on_episode_end, or play with games_on: cpu"
        )


def tensor_of(buffer: Any) -> torch.Tensor:
    """A tensor that shares the memory of an array of the device, or of one field of its records."""
    return torch.as_tensor(buffer, device="cuda")


class Buffers:
    """The buffers of n `DeviceGames` as tensors that share their memory.

    flat (n, FLAT_SIZE) float32, masks (n, N_DISCRETE) int8, actions (n,) int64, rewards (n,) float64;
    standing  a `Standing` of tensors (n,)
    """

    def __init__(self, games: DeviceGames) -> None:
        self.flat, self.masks = tensor_of(games.flat), tensor_of(games.masks)
        self.actions, self.rewards = tensor_of(games.actions), tensor_of(games.rewards)
        ante, rounds, phase = (tensor_of(FieldView(games.states, name)) for name in ("ante", "round_number", "phase"))
        self.standing = Standing(ante, rounds, phase, tensor_of(games.steps), tensor_of(games.outcome))

    def rows(self) -> torch.Tensor:
        """Packed rows of all games as they stand, (n, ROW_BYTES) uint8."""
        return twins.pack_octets(self.flat, self.masks)


class DeviceRunner(BatchRunner):
    """A BatchRunner that plays `DeviceGames`: thousands of them, one thread each.

    It wants a policy that draws from packed rows where they lie (`PackedPolicy.drawn`). Games are all dealt by the
    rules of the present stage, none from the middle. Raises NotOnDevice, and what DeviceGames raises.
    """

    def _make_games(self, n: int, options: dict[str, Any]) -> None:
        """The games lie on the device."""
        if self._tells_ends:
            raise NotOnDevice
        self._limit = options["max_decisions"]
        self._device_games = DeviceGames(n, **options)
        self.games = self._device_games  # type: ignore[assignment]  # for all that asks how many there are
        self._buffers = Buffers(self._device_games)

    def _begin_stage(self) -> None:
        """All games are dealt anew, by the rules of the stage that is to be played; statistics begin anew."""
        self.make_env()
        self.deal()

    def _deal_games(self, mother: np.random.SeedSequence) -> None:
        """All games begin; the same run meets other ones than on the cores."""
        self._device_games.draw_from(int(mother.generate_state(1)[0]))
        self._device_games.reset()

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def _played(self, steps: int) -> Played:
        """Play `steps` steps in every game; the host waits for the device once, at the end.

        Where a game may reach its last decision the host looks after every step, for what was seen of it then.
        """
        games, now, n = self._device_games, self._buffers, self._device_games.n
        rows = torch.empty((steps, n, self.module.row_t.itemsize), dtype=torch.uint8, device=self._device)
        kept = {k: torch.empty((steps, n), dtype=dtype, device=self._device) for k, dtype in self._recorded().items()}
        oldest = int(now.standing.steps.max())
        places: list[int] = []
        sights: list[torch.Tensor] = []
        for t in range(steps):
            rows[t] = now.rows()
            uniforms = torch.rand(n, generator=self._rng, device=self._device)
            drawn = self.module.drawn(rows[t], uniforms)
            kept["actions"][t], kept["log_probs"][t], kept["values"][t] = drawn
            now.actions.copy_(drawn[0])
            games.step()
            kept["rewards"][t] = now.rewards
            for name, field in now.standing._asdict().items():
                kept[name][t] = field
            if oldest + t + 1 >= self._limit:
                off = torch.nonzero(now.standing.outcome == Outcome.TRUNCATED).flatten()
                places += (t * n + off).tolist()
                sights.append(now.rows()[off])
            games.deal_ended()
        host = {name: tensor.cpu().numpy() for name, tensor in kept.items()}
        self._count(host)
        whole = self._on_host(torch.cat([rows.flatten(0, 1), now.rows(), *sights]))
        return Played(
            whole[: steps * n].reshape(steps, n),
            host["actions"],
            host["log_probs"],
            host["values"],
            host["rewards"].astype(np.float32),
            host["outcome"] != Outcome.PLAYING,
            (host["outcome"] == Outcome.WON) | (host["outcome"] == Outcome.LOST),
            whole[steps * n :],
            np.array(places, dtype=np.int64),
        )

    def _recorded(self) -> dict[str, torch.dtype]:
        """What is kept of every step besides the rows, (steps, n) each."""
        now = self._buffers
        decided = {"actions": torch.int64, "log_probs": torch.float32, "values": torch.float32}
        came = {"rewards": now.rewards.dtype, **{k: field.dtype for k, field in now.standing._asdict().items()}}
        return decided | came

    def _count(self, host: dict[str, NDArray[Any]]) -> None:
        """The fragment's steps have been counted in the statistics, one after the other."""
        for t, rewards in enumerate(host["rewards"]):
            stood = Standing(*(host[name][t] for name in Standing._fields))
            self._tally.returns += rewards
            ended = np.flatnonzero(stood.outcome)
            self._tally.end(stood, ended, ended)

    def _on_host(self, octets: torch.Tensor) -> NDArray[Any]:
        """Packed rows (k, ROW_BYTES) as records (k,) of the host."""
        return octets.cpu().numpy().view(self.module.row_t).reshape(-1)
