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
from ante.training.rollout import Standing, Tally
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

    def __init__(self, *, config: Any, **kwargs: Any) -> None:
        super().__init__(config=config, **kwargs)
        if self._tells_ends:
            raise NotOnDevice

    def make_env(self) -> None:
        """The games lie on the device, not yet dealt."""
        n = self.config.num_envs_per_env_runner
        self._limit = self.config.env_config["max_decisions"]
        self._lying = DeviceGames(n, **{**self.config.env_config, **self._rules})
        self.games = self._lying  # type: ignore[assignment]  # for all that asks how many there are
        self._buffers = Buffers(self._lying)
        self._dealt_stage = self.stage
        self._tally = Tally(np.zeros(n))
        self._discounted = np.zeros(n)
        self._dealt = False

    def _begin_stage(self) -> None:
        """All games are dealt anew, by the rules of the stage that is to be played; statistics begin anew."""
        self.make_env()
        self.deal()

    def deal(self) -> None:
        """All games begin, as in BatchRunner; the same run meets other games than there."""
        mother = self._mother()
        self._rng = torch.Generator(self._device).manual_seed(int(mother.generate_state(1, np.uint64)[0] >> 1))
        self._lying.draw_from(int(mother.generate_state(1)[0]))
        self._lying.reset()
        self._tally.returns[:] = self._discounted[:] = 0.0
        self._dealt = True

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def _played(self, steps: int) -> Played:
        """Play `steps` steps in every game; the host waits for the device once, at the end.

        Where a game may reach its last decision the host looks after every step, for what was seen of it then.
        """
        games, now, n = self._lying, self._buffers, self._lying.n
        rows = torch.empty((steps, n, self.module.row_t.itemsize), dtype=torch.uint8, device=self._device)
        kept = {name: self._blank(steps, like) for name, like in self._recorded().items()}
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
        """What is kept of every step besides the rows, and how wide it is."""
        now = self._buffers
        decided = {"actions": torch.int64, "log_probs": torch.float32, "values": torch.float32}
        came = {"rewards": now.rewards.dtype, **{k: field.dtype for k, field in now.standing._asdict().items()}}
        return decided | came

    def _blank(self, steps: int, dtype: torch.dtype) -> torch.Tensor:
        """Room for one number of each step, (steps, n) on the device."""
        return torch.empty((steps, self._lying.n), dtype=dtype, device=self._device)

    def _count(self, host: dict[str, NDArray[Any]]) -> None:
        """The fragment's steps have been counted in the statistics, one after the other."""
        for t, rewards in enumerate(host["rewards"]):
            stood = Standing(*(host[name][t] for name in Standing._fields))
            self._tally.count(rewards, stood, np.flatnonzero(stood.outcome))

    def _on_host(self, octets: torch.Tensor) -> NDArray[Any]:
        """Packed rows (k, ROW_BYTES) as records (k,) of the host."""
        return octets.cpu().numpy().view(self.module.row_t).reshape(-1)
