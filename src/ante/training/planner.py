"""The planner policy: at the beginning of each period a plan is chosen, and every decision of it is taken under that plan.

Both levels share the shortlist policy's network. A packed row says which plan is held before it, or that one is to be chosen;
then an action is both, and its probability pi(plan) pi(decision | plan). Where a plan is held it is pi(decision | plan)
alone. So PPO's ratio is exact for both levels, rows stay independent of each other, and no row needs the one before it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import nn

from ante.env.games import Games
from ante.env.shortlist import MAX_ENTRIES, shortlist_t
from ante.training.chances import OFF, drawn, entropy
from ante.training.layers import HARDLY, clear
from ante.training.plans import N_PLANS, UNDECIDED, HeldPlans, buying, fates, fitting, in_words
from ante.training.rollout import on_host
from ante.training.rows import flat_row_t
from ante.training.runner import BatchRunner
from ante.training.shortlist import ListedRows, Read, ShortlistPlayer, ShortlistPolicy
from ante.watch.notes import Note, note_of

planned_row_t = np.dtype([("flat", flat_row_t), ("list", shortlist_t), ("plan", "u1"), ("spare", "u1", (7,))])
LEAN_TO_AIM, LEAN_TO_MONEY = 1.0, 0.5  # what a plan adds to the scores of what fits it, before anything is learned


@dataclass(frozen=True)
class Planned:
    """Packed rows made ready for the network; indexing answers a minibatch.

    held  (m,) int64: the plan that each row holds, or UNDECIDED
    """

    listed: ListedRows
    held: NDArray[np.int64]

    def __len__(self) -> int:
        """Rows."""
        return len(self.held)

    def __getitem__(self, which: NDArray[np.int64]) -> "Planned":
        """The rows at these indices."""
        return Planned(self.listed[which], self.held[which])


class PlannerPolicy(ShortlistPolicy):
    """Chooses plans, and listed decisions under them: a `RolloutPolicy`. An action is plan x MAX_ENTRIES + number of the list.

    model_config: as ShortlistPolicy's.
    """

    row_t = planned_row_t

    @staticmethod
    def spaces() -> tuple[spaces.Space[Any], spaces.Space[Any]]:
        """Of observations, packed rows as bytes, and of actions, plan and number of the list in one."""
        return spaces.Box(0, 255, (planned_row_t.itemsize,), np.uint8), spaces.Discrete(N_PLANS * MAX_ENTRIES)

    def setup(self) -> None:
        """Build the layers from model_config."""
        super().setup()
        size = self.value.in_features
        self.plan = clear(nn.Linear(size, N_PLANS), HARDLY)
        self.under = nn.Embedding(N_PLANS + 1, 2 * size)  # scale and shift of the trunk under each plan, and under none
        nn.init.normal_(self.under.weight, std=0.1)
        self.lean = nn.Parameter(torch.tensor([LEAN_TO_AIM, LEAN_TO_MONEY]))
        self.register_buffer("fits", torch.from_numpy(fitting()), persistent=False)
        self.register_buffer("buys", torch.from_numpy(buying()), persistent=False)

    def pack(self, games: Games, out: NDArray[Any]) -> None:
        """Write the rows of all games: out (n,) row_t, overwritten; no plan is held yet."""
        super().pack(games, out)
        out["plan"] = UNDECIDED

    def decisions(self, rows: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The macro decisions that these actions mean."""
        return super().decisions(rows, np.asarray(actions) % MAX_ENTRIES)

    def stage(self, rows: NDArray[Any]) -> Planned:  # type: ignore[override]
        """All rows of an update, made ready once; index it for a minibatch."""
        return Planned(ListedRows(rows), rows["plan"].astype(np.int64))

    def informed(self, read: Read, plans: torch.Tensor) -> torch.Tensor:
        """The trunk under these plans (m,), UNDECIDED among them; (m, size)."""
        scale, shift = self.under(plans).chunk(2, dim=1)
        return read.trunk * (1.0 + scale) + shift

    def plan_logs(self, read: Read) -> torch.Tensor:
        """Log-probabilities of the plans, (m, N_PLANS)."""
        return self.plan(read.trunk).float().log_softmax(dim=1)

    def entry_logs(self, read: Read, plans: torch.Tensor) -> torch.Tensor:
        """Log-probabilities of the list's numbers under these plans (m,), (m, MAX_ENTRIES)."""
        under, (_, verb, _, aim, _) = plans[read.row], read.ids.unbind(1)
        lean = self.lean[0] * self.fits[under, aim] + self.lean[1] * self.buys[under, verb]
        return self.weigh(read, self.informed(read, plans), lean).log_softmax(dim=1)

    def _read(self, rows: Any) -> tuple[Read, torch.Tensor]:
        """What the network reads of packed or staged rows, and the plans they hold."""
        staged = rows if isinstance(rows, Planned) else self.stage(rows)
        return self.read(staged.listed), torch.from_numpy(staged.held).to(self.device)

    def values_of(self, read: Read, held: torch.Tensor) -> torch.Tensor:
        """Values (m,): of the position and the plan that is held; a plan that is chosen with the decision is not asked."""
        return self.value(self.informed(read, held)).squeeze(1).float()

    def heads(self, rows: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probabilities of every action (m, N_PLANS x MAX_ENTRIES), OFF where it cannot be chosen, and values (m,)."""
        read, held = self._read(rows)
        first, decided = self.plan_logs(read), held != UNDECIDED
        parts = []
        for plan in range(N_PLANS):
            own = torch.where(decided, torch.where(held == plan, 0.0, OFF), first[:, plan])
            logs = self.entry_logs(read, torch.full_like(held, plan))
            parts.append((logs + own[:, None]).clamp(min=OFF))
        return torch.cat(parts, dim=1), self.values_of(read, held)

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def chances(self, rows: NDArray[Any]) -> tuple[torch.Tensor, torch.Tensor]:
        """As `RolloutPolicy.chances`, of plans and decisions together."""
        logs, values = self.heads(rows)
        return logs, values

    @staticmethod
    def plans_of(logs: torch.Tensor, held: torch.Tensor, fates: torch.Tensor | None) -> torch.Tensor:
        """The plans (m,) that are held, or chosen now: drawn as numbers in [0, 1) decide, without them the likeliest."""
        if fates is None:
            drawn = logs.argmax(dim=1)
        else:
            drawn = (logs.exp().cumsum(dim=1) <= fates[:, None]).sum(dim=1).clamp(max=N_PLANS - 1)
        return torch.where(held == UNDECIDED, drawn, held)

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def act(
        self,
        rows: NDArray[Any],
        rng: torch.Generator | None,
        likeliest: bool = False,
        fates: NDArray[np.float32] | None = None,
    ) -> tuple[Any, Any, Any]:
        """Choose plans where they are to be chosen, and decisions under them; else as `RolloutPolicy.act`.

        fates  (n,) numbers in [0, 1) that decide which plans are drawn; by default from rng
        """
        read, held = self._read(rows)
        logs = self.plan_logs(read)
        own = None
        if not likeliest:
            own = torch.rand(len(rows), generator=rng, device=self.device) if fates is None else torch.from_numpy(fates)
            own = own.to(self.device)
        plans = self.plans_of(logs, held, own)
        entries = self.entry_logs(read, plans)
        chosen = entries.argmax(dim=1) if likeliest else drawn(entries, rng)
        log_probs = joint(logs, entries, held, plans, chosen)
        return plans * MAX_ENTRIES + chosen, log_probs, self.values_of(read, held)

    def evaluate(self, rows: Any, actions: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Log-probabilities, entropies and values, (m,) each with gradient.

        The entropy is that of the decision under its plan, and where a plan was chosen that of the plan besides: of the chain
        rule's sum over plans the one term that was drawn.
        """
        read, held = self._read(rows)
        chosen = torch.as_tensor(actions, device=self.device)
        plans, entries = chosen // MAX_ENTRIES, chosen % MAX_ENTRIES
        first, logs = self.plan_logs(read), self.entry_logs(read, plans)
        entropies = entropy(logs) + torch.where(held == UNDECIDED, entropy(first), 0.0)
        return joint(first, logs, held, plans, entries), entropies, self.values_of(read, held)


def joint(
    first: torch.Tensor, logs: torch.Tensor, held: torch.Tensor, plans: torch.Tensor, entries: torch.Tensor
) -> torch.Tensor:
    """Log-probabilities (m,) of decisions under plans, and of the plans where they were chosen."""
    of_plan = first.gather(1, plans[:, None])[:, 0]
    return logs.gather(1, entries[:, None])[:, 0] + torch.where(held == UNDECIDED, of_plan, 0.0)


class PlannerRunner(BatchRunner):
    """A BatchRunner whose games hold plans."""

    _held: HeldPlans

    def deal(self) -> None:
        """All games begin; no plan is held."""
        assert self.games is not None
        self._held = HeldPlans(self.games.n)
        super().deal()

    def _renewed(self, games: Games, which: NDArray[np.int64]) -> None:
        """These games have just been dealt: they hold no plan."""
        super()._renewed(games, which)
        self._held.forget(which)

    def _see(self, games: Games, out: NDArray[Any]) -> None:
        """What the policy sees, and the plans that are held: out (n,) row_t, overwritten."""
        super()._see(games, out)
        out["plan"] = self._held.now(games)

    def _acted(self, games: Games, rows: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        """As any runner; plans that were chosen are held."""
        actions, log_probs, values = super()._acted(games, rows)
        self._held.hold(games, np.arange(games.n), actions // MAX_ENTRIES)
        return actions, log_probs, values


class PlannerPlayer(ShortlistPlayer):
    """A trained planner as evaluation and videos ask for it. Which plan it draws follows from the game's seed and period."""

    _policy: PlannerPolicy

    def __init__(self, policy: PlannerPolicy, name: str, likeliest: bool = False, seed: int = 0) -> None:
        super().__init__(policy, name, likeliest, seed)
        self._held: tuple[Games, HeldPlans] | None = None  # games that it plays, and their plans
        self._shown: tuple[Games, HeldPlans] | None = None  # games that are explained only

    def _rows(self, games: Games, plans: HeldPlans) -> NDArray[Any]:
        """What is seen of all games, (n,) row_t, with the plans that they hold."""
        plans.forget(np.flatnonzero(games.steps == 0))
        rows = np.zeros(games.n, dtype=self._policy.row_t)
        self._policy.pack(games, rows)
        rows["plan"] = plans.now(games)
        return rows

    def choose(self, games: Games, playing: NDArray[np.bool_]) -> NDArray[np.int64]:
        """One macro decision for each game (n,) int64, -1 where a game is not played any more."""
        if self._held is None or self._held[0] is not games:
            self._held = games, HeldPlans(games.n)
        plans = self._held[1]
        which, decisions = np.flatnonzero(playing), np.full(games.n, -1, dtype=np.int64)
        rows = self._rows(games, plans)[which]
        actions = on_host(self._policy.act(rows, self._generator, self._likeliest, fates(games)[which])[0])
        plans.hold(games, which, actions // MAX_ENTRIES)
        decisions[which] = self._policy.decisions(rows, actions)
        return decisions

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def explain(self, games: Games, taken: int) -> Note:
        """See `watch.notes.Explained`. What is not on the list has no probability; the plan is the one that was held."""
        plans = self._plans_shown(games)
        row = self._rows(games, plans)
        read, held = self._policy._read(row)
        own = None if self._likeliest else torch.from_numpy(fates(games)).to(self._policy.device)
        held = self._policy.plans_of(self._policy.plan_logs(read), held, own)
        plan = int(held[0])
        plans.hold(games, np.zeros(1, dtype=np.int64), on_host(held))
        chances = self._policy.entry_logs(read, held).exp()[0]
        numbers = np.arange(int(row["list"]["n"][0]))
        decisions = self._policy.decisions(row[np.zeros_like(numbers)], numbers)
        value = float(self._policy.values_of(read, held)[0])
        return note_of(decisions, on_host(chances[numbers]), taken, value, plan=in_words(plan))

    def _plans_shown(self, games: Games) -> HeldPlans:
        """The plans of a game that is explained: its own where it is being played, those of no other where it is not."""
        if self._held is not None and self._held[0] is games:
            return self._held[1]
        if self._shown is None or self._shown[0] is not games:
            self._shown = games, HeldPlans(games.n)
        return self._shown[1]
