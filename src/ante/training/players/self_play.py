"""Self-play in races: a policy learns by PPO against the members of a league, which its checkpoints join.

An opponent is sampled by rating: the closer its rating is to the learner's, the more often it races. The reward is 1 for a
race won and -1 for one lost, LIFE for each life that the opponent loses, and -LIFE for each life that the learner loses. The
policy sees its own game only, as in every race (docs/how-to/race.md).
"""

import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ante.agents.evaluate import Player
from ante.agents.seed_lists import dataset_seeds
from ante.errors import BalatroError
from ante.league.ratings import bradley_terry
from ante.race.races import Races, Result
from ante.race.round_robin import POINTS
from ante.training.acting.player import PolicyPlayer
from ante.training.numerics import torch_ops
from ante.training.numerics.packed_rows import octets_of
from ante.training.numerics.row_kernels import gae
from ante.training.players.cloning import write_epochs
from ante.training.players.release import write_policy
from ante.training.policies.protocol import GamePolicy, GameState, on_host
from ante.training.policies.q_network import QPolicy
from ante.training.settings.config import TrainConfig

LIFE = 0.25  # reward of a life
FADE = 0.9  # weight of earlier results, for each iteration: the learner changes
OPPONENTS = 2  # sampled for each iteration
ENDS = {Result.WON: 1.0, Result.LOST: -1.0}  # rewards


class NotRaceable(BalatroError, ValueError):
    """A policy that cannot learn in races."""


@dataclass(frozen=True)
class SelfPlaySettings:
    """Settings of self-play.

    races        of each iteration
    join_every   iterations after which a copy of the learner joins the league
    value_first  iterations at the start that train the value's output layer only, which predicts other rewards
    """

    iterations: int = 20
    races: int = 64
    join_every: int = 5
    value_first: int = 1
    epochs: int = 2
    minibatch: int = 512
    lr: float = 1e-4
    gamma: float = 0.997
    decay: float = 0.95
    clip: float = 0.2
    value_weight: float = 0.5
    entropy_weight: float = 0.005
    seed: int = 0


@dataclass(frozen=True)
class Iteration:
    """The results of one iteration.

    points  share of the races won, a draw counts half
    elo     of the learner, among the members of the league
    """

    iteration: int
    opponents: str
    points: float
    elo: float
    decisions: int
    value_loss: float
    entropy: float
    kl: float
    seconds: float


@dataclass(frozen=True)
class Experience:
    """The learner's decisions in some races, race after race, (n,) each; rewards are those until its next decision."""

    rows: NDArray[Any]
    actions: NDArray[np.int64]
    log_probs: NDArray[np.float32]
    values: NDArray[np.float32]
    rewards: NDArray[np.float32]
    last: NDArray[np.bool_]  # of its race


class League:
    """The opponents, and the learner's results against each.

    points  (members,) races that the learner won, a draw counts half; earlier ones count less. lost: the others
    """

    def __init__(self, members: Sequence[Player]) -> None:
        self.members = list(members)
        self.points, self.lost = np.zeros(len(members)), np.zeros(len(members))

    def join(self, player: Player) -> None:
        """Add a member, without results."""
        self.members.append(player)
        self.points, self.lost = np.append(self.points, 0.0), np.append(self.lost, 0.0)

    def record(self, results: Sequence[tuple[int, float, int]]) -> None:
        """Add results of an iteration: member, points of the learner, races."""
        self.points *= FADE
        self.lost *= FADE
        for member, points, races in results:
            self.points[member] += points
            self.lost[member] += races - points

    def elos(self) -> NDArray[np.float64]:
        """Return the ratings of the learner, first, and of the members."""
        wins = np.zeros((len(self.members) + 1,) * 2)
        wins[0, 1:], wins[1:, 0] = self.points, self.lost
        return bradley_terry(wins)

    def chances(self) -> NDArray[np.float64]:
        """Return how likely each member is the next opponent, (members,): largest where the race is most open."""
        learner, *members = self.elos()
        expected = 1.0 / (1.0 + 10.0 ** ((np.array(members) - learner) / 400.0))
        weights = expected * (1.0 - expected)
        return np.asarray(weights / weights.sum())


def self_play(
    policy: GamePolicy,
    config: TrainConfig,
    members: Sequence[Player],
    folder: Path,
    settings: SelfPlaySettings,
    advance: Callable[[Iteration], None] = lambda _: None,
    **options: Any,
) -> list[Iteration]:
    """Train a policy in races; write its checkpoints into `folder`, as releases iteration-N, and metrics.csv.

    policy   changed in place
    config   its configuration
    members  the league at the start; a copy of the policy joins it first
    options  of `Races`

    Raises NotRaceable, BadRelease.
    """
    if folder.exists() and any(folder.iterdir()):
        raise NotRaceable(f"{folder} is not empty: choose another folder")
    if type(policy.make_state(1)) is not GameState or isinstance(policy, QPolicy):
        raise NotRaceable(
            f"{config.policy.kind} of {config.algo.kind} has a memory or action values: use shortlist or mlp"
        )
    torch.manual_seed(settings.seed)
    rng, generator = np.random.default_rng(settings.seed), torch.Generator().manual_seed(settings.seed)
    league, reorder = League(members), config.games.reorder
    league.join(frozen(policy, "start", reorder))
    adam = torch.optim.Adam(policy.parameters(), lr=settings.lr)  # type: ignore[attr-defined]
    value = torch.optim.Adam(policy.value.parameters(), lr=1e-2)
    seeds = iter(dataset_seeds(settings.iterations * settings.races, settings.seed))
    found: list[Iteration] = []
    decisions, begin = 0, time.perf_counter()
    for number in range(1, settings.iterations + 1):
        chosen = rng.choice(len(league.members), min(OPPONENTS, settings.races), p=league.chances())
        parts, results = [], []
        for member, races in zip(chosen.tolist(), np.array_split(np.arange(settings.races), len(chosen)), strict=True):
            own = [next(seeds) for _ in races]
            part, played = race(policy, league.members[member], own, generator, reorder, **options)
            parts.append(part)
            results.append((member, float(points_of(played).sum()), len(own)))
        league.record(results)
        step, optimizer = (learn_value, value) if number <= settings.value_first else (learn_policy, adam)
        means = step(policy, optimizer, joined(parts), settings, rng)
        decisions += sum(len(part.actions) for part in parts)
        share = sum(points for _, points, _ in results) / settings.races
        names = " ".join(league.members[member].name for member in chosen)
        elo = float(league.elos()[0])
        found.append(Iteration(number, names, share, elo, decisions, *means, time.perf_counter() - begin))
        folder.mkdir(parents=True, exist_ok=True)
        write_epochs(folder / "metrics.csv", found)
        advance(found[-1])
        if number % settings.join_every == 0 or number == settings.iterations:
            trained = {"timesteps": decisions, "games": number * settings.races, "seconds": found[-1].seconds}
            name = f"iteration-{number}"
            write_policy(policy, config, trained, folder / name, how="PPO in races against a league")  # type: ignore[arg-type]
            league.join(frozen(policy, name, reorder))
    return found


def frozen(policy: GamePolicy, name: str, reorder: str) -> PolicyPlayer:
    """Return a copy of the policy as a player."""
    return PolicyPlayer(deepcopy(policy), name, reorder=reorder)


def points_of(races: Races) -> NDArray[np.float64]:
    """Return the points of the learner, at seat 0, in each race."""
    return np.array([POINTS.get(Result(each), 0.5) for each in races.results(0)])


def race(
    policy: GamePolicy, opponent: Player, seeds: Sequence[str], generator: torch.Generator, reorder: str, **options: Any
) -> tuple[Experience, Races]:
    """Play one race for each seed, the policy at seat 0; return its decisions and the finished races."""
    races = Races(
        len(seeds), discrete=(policy.discrete, opponent.discrete), reorder=(reorder, opponent.reorder), **options
    )
    races.reset({"seed": list(seeds)})
    taken: list[tuple[Any, ...]] = []  # race, row, action, log-probability, value, reward
    latest = np.full((races.n, 2), -1)  # of each race: entry of `taken`, place within it
    games, actions = races.games[0], np.full((races.n, 2), -1, dtype=np.int64)
    while not races.ended.all():
        acting = ~races.waiting()
        which = np.flatnonzero(acting[:, 0])
        if len(which):
            rows = np.zeros(races.n, dtype=policy.row_t)
            policy.pack(games, rows)
            rows = rows[which]
            choice = policy.act(rows, generator)
            numbers = on_host(choice.actions)
            latest[which] = np.stack([np.full(len(which), len(taken)), np.arange(len(which))], axis=1)
            kept = rows, numbers, on_host(choice.log_probs), on_host(choice.values), np.zeros(len(which), np.float32)
            taken.append((which, *kept))
            actions[which, 0] = policy.decisions(rows, numbers)
        if acting[:, 1].any():
            actions[:, 1] = opponent.choose(races.games[1], acting[:, 1])
        lives, running = races.races.lives.copy(), ~races.ended
        races.step(actions)
        gained = rewards_of(races, lives, running)
        for i in np.flatnonzero((gained != 0.0) & (latest[:, 0] >= 0)):
            taken[latest[i, 0]][5][latest[i, 1]] += gained[i]
    return experience_of(taken), races


def rewards_of(races: Races, lives: NDArray[Any], running: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the rewards of seat 0 in a step, (n,): lives before it (n, 2), and which races were not over."""
    lost = np.maximum(lives, 0) - np.maximum(races.races.lives, 0)
    ends = np.array([ENDS.get(Result(each), 0.0) for each in races.results(0)])
    return np.where(running, LIFE * (lost[:, 1] - lost[:, 0]) + ends, 0.0)


def experience_of(taken: list[tuple[Any, ...]]) -> Experience:
    """Return decisions in the order of their races."""
    number, *columns = (np.concatenate([entry[k] for entry in taken]) for k in (0, 2, 3, 4, 5))
    order = np.argsort(number, kind="stable")
    last = np.append(np.diff(number[order]) != 0, True)
    actions, log_probs, values, rewards = (column[order] for column in columns)
    return Experience(rows_of([entry[1] for entry in taken])[order], actions, log_probs, values, rewards, last)


def rows_of(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return concatenated rows; NumPy itself would drop the padding of their type."""
    return np.concatenate([octets_of(each) for each in parts]).view(parts[0].dtype)[:, 0]


def joined(parts: Sequence[Experience]) -> Experience:
    """Return the decisions of all parts."""
    names = [name for name in Experience.__annotations__ if name != "rows"]
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    return Experience(rows=rows_of([part.rows for part in parts]), **columns)


def estimates(played: Experience, settings: SelfPlaySettings) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return advantages and value targets, (n,) each."""
    after = np.where(played.last, 0.0, np.append(played.values[1:], 0.0)).astype(np.float32)
    advantages, targets = np.empty((len(after), 1), dtype=np.float32), np.empty((len(after), 1), dtype=np.float32)
    columns = (each[:, None] for each in (played.rewards, played.values, after, played.last))
    gae(*columns, settings.gamma, settings.decay, advantages, targets)
    return advantages[:, 0], targets[:, 0]


def learn_value(
    policy: Any, adam: torch.optim.Optimizer, played: Experience, settings: SelfPlaySettings, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Fit the value's output layer to the discounted rewards; return value loss, entropy and KL, which are not known."""
    unvalued = replace(played, values=np.zeros_like(played.values))
    targets = estimates(unvalued, replace(settings, decay=1.0))[1]  # the discounted rewards themselves
    losses = []
    for which in minibatches(len(targets), settings, rng):
        values = policy.evaluate(played.rows[which], played.actions[which])[2]
        loss = (values - torch.from_numpy(targets[which])).square().mean()
        adam.zero_grad(set_to_none=True)
        loss.backward()
        adam.step()
        losses.append(float(loss.detach()))
    policy.zero_grad(set_to_none=True)
    return float(np.mean(losses)), float("nan"), float("nan")


def learn_policy(
    policy: Any, adam: torch.optim.Optimizer, played: Experience, settings: SelfPlaySettings, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Take PPO's gradient steps on these decisions; return the means of value loss, entropy and KL."""
    advantages, targets = estimates(played, settings)
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    sums = []
    for which in minibatches(len(targets), settings, rng):
        before, gains, wanted = (torch.from_numpy(each[which]) for each in (played.log_probs, advantages, targets))
        now = policy.evaluate(played.rows[which], played.actions[which])
        weights = settings.clip, settings.value_weight, settings.entropy_weight
        loss, means = torch_ops.ppo(now, before, gains, wanted, *weights)
        adam.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
        adam.step()
        sums.append(means.numpy())
    _, value_loss, entropy, moved, *_ = np.mean(sums, axis=0)
    return float(value_loss), float(entropy), float(moved)


def minibatches(n: int, settings: SelfPlaySettings, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Return the indices of all minibatches of an update, at least one for each epoch."""
    parts = max(1, n // settings.minibatch)
    return [part for _ in range(settings.epochs) for part in np.array_split(rng.permutation(n), parts)]
