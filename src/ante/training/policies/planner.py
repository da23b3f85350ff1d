"""The planner policy, hierarchical: a plan is chosen at the start of each period and conditions every decision in it.

Both levels share the shortlist policy's network. A packed row holds the current plan, or marks that one is to be chosen.
In the latter case an action is both, with probability pi(plan) pi(decision | plan); otherwise its probability is
pi(decision | plan). PPO's ratio is therefore exact for both levels, and rows are independent of each other.

A plan is a kind of hand to aim for and whether to spend or save money. It lasts for one blind, or for the shop phase
between two blinds.
"""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import nn

from ante.catalog.hands import Hand
from ante.engine.actions import N_VERBS, Verb
from ante.engine.core.state import Phase
from ante.env.games import Games
from ante.lookahead.records import (
    MAX_CANDIDATES,
    N_PURPOSES,
    PURPOSE_FLUSH,
    PURPOSE_MOST_OF_A_RANK,
    PURPOSE_PAIRS,
    PURPOSE_STRAIGHT,
    candidates_t,
)
from ante.training.numerics.distributions import OFF, entropy, sample_logits
from ante.training.numerics.packed_rows import flat_row_t
from ante.training.policies.layers import POLICY_HEAD_GAIN, orthogonal
from ante.training.policies.protocol import Choice, GameState, on_host
from ante.training.policies.shortlist import ListedRows, Read, ShortlistPolicy
from ante.watch.notes import Note, note_of

planned_row_t = np.dtype([("flat", flat_row_t), ("list", candidates_t), ("plan", "u1"), ("spare", "u1", (7,))])
LEAN_TO_AIM, LEAN_TO_MONEY = 1.0, 0.5  # initial bonus on the scores of decisions that fit the plan


# Kind of hand: matching played hands, and discard purposes.
KINDS: dict[str, tuple[tuple[Hand, ...], tuple[int, ...]]] = {
    "any hand": ((), ()),
    "flush": ((Hand.FLUSH, Hand.FLUSH_HOUSE, Hand.FLUSH_FIVE, Hand.STRAIGHT_FLUSH), (PURPOSE_FLUSH,)),
    "straight": ((Hand.STRAIGHT, Hand.STRAIGHT_FLUSH), (PURPOSE_STRAIGHT,)),
    "of a kind": (
        (
            *(Hand.PAIR, Hand.TWO_PAIR, Hand.THREE_OF_A_KIND, Hand.FULL_HOUSE, Hand.FOUR_OF_A_KIND),
            *(Hand.FIVE_OF_A_KIND, Hand.FLUSH_HOUSE, Hand.FLUSH_FIVE),
        ),
        (PURPOSE_PAIRS, PURPOSE_MOST_OF_A_RANK),
    ),
}
STANCES = ("save", "spend")
PLANS = tuple((kind, stance) for kind in KINDS for stance in STANCES)
N_PLANS = len(PLANS)
UNDECIDED = N_PLANS  # marks rows in which a plan is to be chosen
SPENDING = (Verb.BUY, Verb.BUY_AND_USE, Verb.BUY_VOUCHER, Verb.OPEN_PACK, Verb.REROLL, Verb.REROLL_BOSS)


def fitting() -> NDArray[np.float32]:
    """Return 1 where the purpose of a candidate action fits the plan, (N_PLANS, N_PURPOSES)."""
    found = np.zeros((N_PLANS, N_PURPOSES), dtype=np.float32)
    for number, (kind, _) in enumerate(PLANS):
        hands, aims = KINDS[kind]
        found[number, [1 + hand for hand in hands]] = 1.0
        found[number, list(aims)] = 1.0
    return found


def buying() -> NDArray[np.float32]:
    """Return 1 where the plan is to spend and the verb spends, -1 where the plan is to save, (N_PLANS, N_VERBS)."""
    found = np.zeros((N_PLANS, N_VERBS), dtype=np.float32)
    for number, (_, stance) in enumerate(PLANS):
        found[number, list(SPENDING)] = 1.0 if stance == "spend" else -1.0
    return found


def in_words(plan: int) -> str:
    """Return the plan's name, such as `flush, save`."""
    return ", ".join(PLANS[plan])


def periods(games: Games) -> NDArray[np.int64]:
    """Return the period of each game, (n,): odd between blinds, even in a blind, counted from the start of the game."""
    states = games.states.view(np.ndarray)
    phase = states["phase"]
    between = (phase != Phase.PLAY) & (phase != Phase.ROUND_END)
    return 2 * states["round_number"].astype(np.int64) + between


class CurrentPlans(GameState):
    """The plans of n games played in a batch; each lasts until its period ends.

    plans  (n,) uint8, the latest plan; of (n,) int64, the period it was chosen in; seen (n,) int64, observed period
    """

    def __init__(self, n: int) -> None:
        self.plans, self.of = np.full(n, UNDECIDED, dtype=np.uint8), np.full(n, -1, dtype=np.int64)
        self.seen = np.full(n, -1, dtype=np.int64)

    def begin(self, which: NDArray[np.int64]) -> None:
        """Clear the plans of these games."""
        self.of[which] = -1

    def observe(self, games: Games, rows: NDArray[Any]) -> None:
        """Write each game's plan into rows (n,), UNDECIDED where one is to be chosen."""
        self.seen = periods(games)
        rows["plan"] = np.where(self.of == self.seen, self.plans, UNDECIDED)

    def advance(self, which: NDArray[np.int64], carry: NDArray[Any]) -> None:
        """Set the plans of these games (k,) to `carry` (k,) until the observed period ends."""
        self.plans[which], self.of[which] = carry, self.seen[which]

    def seeded_uniforms(self, games: Games) -> NDArray[np.float32]:
        """Return a number per game and period, (n,), derived from the seed, so that replays reproduce the plans."""
        words = (f"{seed}:{period}" for seed, period in zip(games.seeds, periods(games), strict=True))
        drawn = [
            int.from_bytes(hashlib.blake2b(each.encode(), digest_size=3).digest(), "big") / 2**24 for each in words
        ]
        return np.array(drawn, dtype=np.float32)


@dataclass(frozen=True)
class Planned:
    """Packed rows prepared for the network; indexing returns a minibatch.

    held  (m,) int64: the current plan of each row, or UNDECIDED
    """

    listed: ListedRows
    held: NDArray[np.int64]

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.held)

    def __getitem__(self, which: NDArray[np.int64]) -> "Planned":
        """Return the rows at these indices."""
        return Planned(self.listed[which], self.held[which])


class PlannerPolicy(ShortlistPolicy):
    """Chooses plans, and candidate actions given them. An action is plan x MAX_CANDIDATES + index of the candidate.

    model_config: as ShortlistPolicy's.
    """

    row_t = planned_row_t

    @staticmethod
    def spaces() -> tuple[spaces.Space[Any], spaces.Space[Any]]:
        """Return the spaces of observations (packed rows as bytes) and actions (plan and candidate index in one)."""
        return spaces.Box(0, 255, (planned_row_t.itemsize,), np.uint8), spaces.Discrete(N_PLANS * MAX_CANDIDATES)

    def setup(self) -> None:
        """Build the layers from model_config."""
        super().setup()
        size = self.value.in_features
        self.plan = orthogonal(nn.Linear(size, N_PLANS), POLICY_HEAD_GAIN)
        self.under = nn.Embedding(N_PLANS + 1, 2 * size)  # scale and shift of the trunk for each plan, and for none
        nn.init.normal_(self.under.weight, std=0.1)
        self.lean = nn.Parameter(torch.tensor([LEAN_TO_AIM, LEAN_TO_MONEY]))
        self.register_buffer("fits", torch.from_numpy(fitting()), persistent=False)
        self.register_buffer("buys", torch.from_numpy(buying()), persistent=False)

    def pack(self, games: Games, out: NDArray[Any]) -> None:
        """Write the rows of all games: out (n,) row_t, overwritten, without a plan."""
        super().pack(games, out)
        out["plan"] = UNDECIDED

    def decisions(self, rows: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the macro decisions that these actions encode."""
        return super().decisions(rows, np.asarray(actions) % MAX_CANDIDATES)

    def stage(self, rows: NDArray[Any]) -> Planned:  # type: ignore[override]
        """Prepare all rows of an update once; index the result for a minibatch."""
        return Planned(ListedRows(rows), rows["plan"].astype(np.int64))

    def informed(self, read: Read, plans: torch.Tensor) -> torch.Tensor:
        """Return the trunk conditioned on these plans (m,), which may be UNDECIDED; (m, size)."""
        scale, shift = self.under(plans).chunk(2, dim=1)
        return read.trunk * (1.0 + scale) + shift

    def plan_logs(self, read: Read) -> torch.Tensor:
        """Return log-probabilities of the plans, (m, N_PLANS)."""
        return self.plan(read.trunk).float().log_softmax(dim=1)

    def entry_logs(self, read: Read, plans: torch.Tensor) -> torch.Tensor:
        """Return log-probabilities of the candidates given these plans (m,), (m, MAX_CANDIDATES)."""
        under, (_, verb, _, aim) = plans[read.row], read.ids.unbind(1)
        lean = self.lean[0] * self.fits[under, aim] + self.lean[1] * self.buys[under, verb]
        return self.weigh(read, self.informed(read, plans), lean).log_softmax(dim=1)

    def _read(self, rows: Any) -> tuple[Read, torch.Tensor]:
        """Return the network's features of packed or staged rows, and the plans in these rows."""
        staged = rows if isinstance(rows, Planned) else self.stage(rows)
        return self.read(staged.listed), torch.from_numpy(staged.held).to(self.device)

    def values_of(self, read: Read, held: torch.Tensor) -> torch.Tensor:
        """Return values (m,) of position and current plan; a plan chosen with the decision has no influence."""
        return self.value(self.informed(read, held)).squeeze(1)

    def heads(self, rows: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Return log-probabilities of all actions (m, N_PLANS x MAX_CANDIDATES), OFF if illegal, and values (m,)."""
        read, held = self._read(rows)
        first, decided = self.plan_logs(read), held != UNDECIDED
        parts = []
        for plan in range(N_PLANS):
            own = torch.where(decided, torch.where(held == plan, 0.0, OFF), first[:, plan])
            logs = self.entry_logs(read, torch.full_like(held, plan))
            parts.append((logs + own[:, None]).clamp(min=OFF))
        return torch.cat(parts, dim=1), self.values_of(read, held)

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def action_log_probs(self, seen: NDArray[Any]) -> tuple[torch.Tensor, torch.Tensor, NDArray[np.uint8]]:
        """See GamePolicy; joint log-probabilities of plans and decisions. The carry holds the current plans."""
        logs, values = self.heads(seen)
        return logs, values, seen["plan"]

    @staticmethod
    def plans_of(logs: torch.Tensor, held: torch.Tensor, uniforms: torch.Tensor | None) -> torch.Tensor:
        """Return the plans (m,): current ones, else sampled with uniforms in [0, 1), or the most likely."""
        if uniforms is None:
            chosen = logs.argmax(dim=1)
        else:
            chosen = (logs.exp().cumsum(dim=1) <= uniforms[:, None]).sum(dim=1).clamp(max=N_PLANS - 1)
        return torch.where(held == UNDECIDED, chosen, held)

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def act(
        self,
        seen: Any,
        rng: torch.Generator | None,
        likeliest: bool = False,
        uniforms: NDArray[np.float32] | None = None,
    ) -> Choice:
        """Choose plans where there is none, and decisions given the plans; see GamePolicy. The carry holds the plans.

        uniforms  (n,) used to sample plans; by default drawn from rng
        """
        read, held = self._read(seen)
        logs = self.plan_logs(read)
        own = None
        if not likeliest:
            own = (
                torch.rand(len(seen), generator=rng, device=self.device)
                if uniforms is None
                else torch.from_numpy(uniforms)
            )
            own = own.to(self.device)
        plans = self.plans_of(logs, held, own)
        entries = self.entry_logs(read, plans)
        chosen = entries.argmax(dim=1) if likeliest else sample_logits(entries, rng)
        log_probs = joint(logs, entries, held, plans, chosen)
        return Choice(plans * MAX_CANDIDATES + chosen, log_probs, self.values_of(read, held), on_host(plans))

    def make_state(self, n: int, stream: int = 0) -> CurrentPlans:
        """Return the state of n games without plans."""
        return CurrentPlans(n)

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def explain(
        self,
        games: Games,
        seen: NDArray[Any],
        taken: int,
        likeliest: bool = False,
        uniforms: NDArray[np.float32] | None = None,
    ) -> tuple[Note, Any]:
        """See GamePolicy. Decisions that are not candidates have probability 0; the plan is the current one."""
        read, held = self._read(seen)
        own = None if likeliest or uniforms is None else torch.from_numpy(uniforms).to(self.device)
        held = self.plans_of(self.plan_logs(read), held, own)
        found = self.entry_logs(read, held).exp()[0]
        numbers = np.arange(int(seen["list"]["n"][0]))
        decisions = self.decisions(seen[np.zeros_like(numbers)], numbers)
        value, plan = float(self.values_of(read, held)[0]), in_words(int(held[0]))
        return note_of(decisions, on_host(found[numbers]), taken, value, plan=plan), on_host(held)

    def score_actions(self, rows: Any, actions: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """See GamePolicy."""
        log_probs, _, values = self.evaluate(rows, actions)
        return log_probs, values

    def ppo_gradient(self, *_: Any) -> None:
        """Return None: autograd computes the gradients, since the network depends on plans."""

    def evaluate(self, rows: Any, actions: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return log-probabilities, entropies and values, (m,) each with gradient.

        The entropy is that of the decision given its plan, plus that of the plan where one was chosen. This is a
        one-sample estimate of the chain rule's expectation over plans.
        """
        read, held = self._read(rows)
        chosen = torch.as_tensor(actions, device=self.device)
        plans, entries = chosen // MAX_CANDIDATES, chosen % MAX_CANDIDATES
        first, logs = self.plan_logs(read), self.entry_logs(read, plans)
        entropies = entropy(logs) + torch.where(held == UNDECIDED, entropy(first), 0.0)
        return joint(first, logs, held, plans, entries), entropies, self.values_of(read, held)


def joint(
    first: torch.Tensor, logs: torch.Tensor, held: torch.Tensor, plans: torch.Tensor, entries: torch.Tensor
) -> torch.Tensor:
    """Return log-probabilities (m,) of decisions given their plans, plus those of plans chosen with them."""
    of_plan = first.gather(1, plans[:, None])[:, 0]
    return logs.gather(1, entries[:, None])[:, 0] + torch.where(held == UNDECIDED, of_plan, 0.0)
