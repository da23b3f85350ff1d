"""The settings of learning algorithms, a class for each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from ante.training.settings.field import Settings, setting
from ante.training.settings.kinds import Kinds
from ante.training.settings.schedule import RateSchedule, Schedule, ShareSchedule, value_at
from ante.training.settings.support import ALL, Feature, Trait

if TYPE_CHECKING:
    from ante.training.settings.config import TrainConfig
    from ante.training.settings.policies import PolicySettings

NO_CLIP = 1e9  # a clipping range without effect
ALL_MINIBATCHES = 10**9  # of an epoch, however many rows the games and env runners sample
ONE_PROCESS: frozenset[Feature] = frozenset()
KIND = (
    "Algorithm: ppo; appo, asynchronous PPO with V-trace; a2c, one gradient step for each batch; dqn; "
    "rllib-ppo, RLlib's own runner and learner; sb3-maskable-ppo, sb3-a2c and sb3-dqn of Stable-Baselines3 (extra sb3), "
    "in one process; or a class as module:Class."
)
WHEN_KIND = (
    "appo if sampling must run ahead by more than one update; with lag 1, ppo is as good (decision 14). The others "
    "are for comparison: the presets a2c and dqn."
)


def kind_of(name: str) -> Any:
    """Declare the field `kind` of an algorithm."""
    return setting(name, KIND, WHEN_KIND, first=True)


class Update(NamedTuple):
    """How an algorithm uses a batch: passes over it, minibatches per gradient step, clipping range of the ratio."""

    epochs: int = 1
    accumulate: int = 1
    clip: float = NO_CLIP


class AlgoSettings(Settings):
    """Declarations and settings common to all algorithms.

    supports  features that the algorithm supports
    needs     traits that it requires of the policy
    external  whether another library samples and trains, in one process and without Ray
    accumulates  whether smaller minibatches leave the gradient steps as they are, by accumulation
    implementation  module:Class of the algorithm's configuration: derived from RLlib's AlgorithmConfig, with `configure(run)`, or
                    if `external`, from baselines.external.ExternalAlgorithm
    """

    supports: ClassVar[frozenset[Feature]] = ALL
    needs: ClassVar[frozenset[Trait]] = frozenset()
    external: ClassVar[bool] = False
    accumulates: ClassVar[bool] = False
    implementation: ClassVar[str] = ""

    kind: str
    lr: RateSchedule = setting(
        3e-4,
        "Learning rate of Adam: a number, or points [environment steps, value], linear between them.",
        "Tune this first. In a long run, points that decay to a tenth.",
        first=True,
    )
    gamma: float = setting(
        0.995,
        "Discount factor.",
        "Higher for a longer horizon: 0.99 covers about 100 decisions, 0.998 about 500.",
        first=True,
        gt=0,
        le=1,
    )
    batch: int = setting(
        8192,
        "Steps per iteration, over all learners.",
        "Higher once learning is stable and limited by gradient noise.",
        first=True,
        ge=64,
    )
    minibatch: int = setting(
        1024,
        "Steps per forward and backward pass, over all learners.",
        "Up to 4,096 for speed; raise lr with it.",
        first=True,
        ge=16,
    )
    grad_clip: float = setting(0.5, "Maximum gradient norm.", "Rarely.", gt=0)

    @property
    def ahead(self) -> int:
        """Number of batches that sampling runs ahead of the learner."""
        return 0

    @property
    def update(self) -> Update:
        """How each batch is used; by default in one pass, one minibatch per step, without clipping."""
        return Update()

    def network(self, policy: PolicySettings) -> tuple[str, dict[str, Any]]:
        """Return the module:Class of the network for this policy and its arguments; by default the policy's own."""
        return policy.implementation, policy.network()

    def check(self, config: TrainConfig) -> None:
        """Raise ValueError if other settings of the run conflict with these; no check by default."""


ALGORITHMS = Kinds(AlgoSettings, "algo", "ppo", "ante.algorithms")


class Epochs(AlgoSettings):
    """Settings of algorithms with several epochs per batch."""

    epochs: int = setting(
        4, "Epochs per batch.", "1 for the fastest steps, 3 or 4 for better sample efficiency.", first=True, ge=1
    )

    @property
    def update(self) -> Update:
        """The epochs, one minibatch per step, no clipping."""
        return Update(self.epochs)


class ActorCritic(AlgoSettings):
    """Settings of algorithms with a policy gradient and a state value."""

    gae_lambda: float = setting(
        0.95,
        "Lambda of generalised advantage estimation.",
        "Lower if values are accurate and returns are noisy.",
        gt=0,
        le=1,
    )
    entropy: Schedule = setting(
        0.01,
        "Weight of the entropy bonus: a number, or points as in lr.",
        "Higher if the policy becomes deterministic too early; decaying points in a long run.",
        first=True,
    )
    value_weight: float = setting(
        1.0, "Weight of the value loss.", "Lower if the value loss dominates (try normalise_values first).", gt=0
    )


class Clipped(Epochs, ActorCritic):
    """Settings of algorithms with PPO's clipped ratio."""

    clip: float = setting(0.2, "Clipping range of the policy ratio.", "Rarely.", gt=0)
    certain: float = setting(
        1.0,
        "Probability above which an action's step is used in one epoch of a batch only; 1: never. Policies with memory use "
        "all steps in each epoch.",
        "0.999 to save time with several epochs: the policy gradient of such a step is close to 0.",
        gt=0,
        le=1,
    )

    @property
    def update(self) -> Update:
        """The epochs, one minibatch per step, the clipping range."""
        return Update(self.epochs, clip=self.clip)


class ValueClip(ActorCritic):
    """RLlib's clamp of the value loss."""

    value_error_limit: float | None = setting(
        None,
        "Maximum squared value error; larger errors are clamped and have no gradient; no limit by default.",
        "If single games with very large returns disturb the value function.",
        gt=0,
    )


class Fragments(AlgoSettings):
    """Settings of the fragment length."""

    fragment: int | None = setting(
        None,
        "Steps of a game after which advantages bootstrap from the value; as many as fit a batch by default.",
        "To match published settings; longer fragments are better at no extra cost.",
        ge=1,
    )


class Ahead(Fragments):
    """Settings of the policy lag."""

    lag: int = setting(
        1,
        "Batches that sampling runs ahead; for ppo and dqn only with overlap.",
        "Keep it at 1 if possible: a lag of four updates halved the learning progress (decision 14).",
        ge=1,
        le=8,
    )


class Overlap(Ahead):
    """Settings of concurrent sampling and learning."""

    overlap: bool = setting(
        False,
        "Sample the next batch while the learner trains on the current one (policy lag 1).",
        "On if two or more cores are free.",
    )

    @property
    def ahead(self) -> int:
        """The lag with overlap, else 0."""
        return self.lag if self.overlap else 0


class Normalised(ActorCritic):
    """Normalisation of rewards and values."""

    normalise_rewards: bool = setting(
        False,
        "Divide rewards by the running standard deviation of discounted returns.",
        "With a reward of unknown scale.",
    )
    normalise_values: bool = setting(
        False,
        "Normalise value targets by their running mean and standard deviation.",
        "If the value loss is far from 1; lr and grad_clip then have the same scale in every run.",
    )


class CriticWarmup(ActorCritic):
    """Updates in which only the value function learns."""

    critic_warmup: int = setting(
        0,
        "Updates at the start of the run that train only the output layer of the value function.",
        "10 to 50 with init_from, if rewards or games differ from those that the policy was trained on.",
        ge=0,
    )


class Accumulated(Epochs):
    """Gradient accumulation."""

    accumulates = True

    accumulate: int = setting(
        1,
        "Minibatches whose gradients are averaged for one Adam step.",
        "If a minibatch of the desired size does not fit into memory.",
        ge=1,
    )

    @property
    def update(self) -> Update:
        """The epochs, the minibatches of a step, no clipping."""
        return Update(self.epochs, self.accumulate)

    def check(self, config: TrainConfig) -> None:
        """Raise ValueError if the minibatches of one step exceed a batch."""
        if self.accumulate > 1 and self.minibatch * self.accumulate > self.batch:
            raise ValueError(
                f"algo.minibatch {self.minibatch} times algo.accumulate {self.accumulate} is larger than algo.batch "
                f"{self.batch}; lower one of them or raise the batch"
            )


class EarlyStop(Accumulated, Clipped):
    """Gradient accumulation and early stopping of updates."""

    kl_target: float | None = setting(
        None,
        "Stop an update early when the KL divergence exceeds 1.5 times this value; off by default.",
        "0.01 to 0.03 with many epochs, to limit the change per update.",
        gt=0,
    )

    @property
    def update(self) -> Update:
        """The epochs, the minibatches of a step, the clipping range."""
        return Update(self.epochs, self.accumulate, self.clip)


@ALGORITHMS.register
class Ppo(EarlyStop, ValueClip, Normalised, CriticWarmup, Overlap):
    """Proximal policy optimisation."""

    implementation = "ante.training.rllib.ppo:FastPPOConfig"
    kind: Literal["ppo"] = kind_of("ppo")


@ALGORITHMS.register
class Appo(EarlyStop, ValueClip, Normalised, CriticWarmup, Ahead):
    """Asynchronous PPO, corrected for policy lag with V-trace."""

    implementation = "ante.training.rllib.ppo:FastAPPOConfig"
    kind: Literal["appo"] = kind_of("appo")

    @property
    def ahead(self) -> int:
        """The lag."""
        return self.lag


@ALGORITHMS.register
class A2c(ValueClip, Normalised, CriticWarmup, Fragments):
    """Advantage actor-critic: one gradient step for each batch, without clipping."""

    accumulates = True

    implementation = "ante.training.rllib.ppo:FastA2CConfig"
    kind: Literal["a2c"] = kind_of("a2c")

    @property
    def update(self) -> Update:
        """One pass, all minibatches of a batch in one step, no clipping.

        In the first step on a batch all ratios are 1, where PPO's gradient without clipping equals A2C's.
        """
        return Update(accumulate=ALL_MINIBATCHES)


@ALGORITHMS.register
class Dqn(Accumulated, Overlap):
    """Deep Q-learning with prioritised replay."""

    supports = ALL - {Feature.HINTS, Feature.HINT_SHAPING, Feature.LEARNERS}
    needs = frozenset({Trait.ACTION_VALUES})

    implementation = "ante.training.rllib.dqn:FastDQNConfig"
    kind: Literal["dqn"] = kind_of("dqn")
    replay: int = setting(
        200_000,
        "Capacity of the replay buffer in steps, at 0.6 KB of memory each.",
        "As large as memory allows; each checkpoint also contains it, at about 50 bytes per step.",
        ge=1000,
    )
    replay_after: int = setting(
        10_000,
        "Steps sampled before learning starts.",
        "With replay: the buffer should hold more than one fragment.",
        ge=1,
    )
    n_step: int = setting(
        5,
        "Steps of rewards in an n-step return before bootstrapping.",
        "1 for one-step Q-learning, about 10 if rewards are sparse.",
        ge=1,
    )
    epsilon: ShareSchedule = setting(
        ((0, 1.0), (100_000, 0.05)),
        "Probability of a random legal action instead of the best one: a number, or points as in lr.",
        "Points that decay over the first fifth of the run.",
    )
    target_every: int = setting(
        500,
        "Gradient steps after which the target network is updated.",
        "Lower to track faster, higher if the loss diverges.",
        ge=1,
    )
    double: bool = setting(
        True,
        "Double DQN: the online network selects, the target network evaluates.",
        "Off to compare with plain Q-learning, which overestimates.",
    )
    duelling: bool = setting(
        True, "Duelling heads: a state value plus an advantage for each action.", "Off to compare."
    )
    priority: float = setting(
        0.6,
        "Exponent of the TD error in prioritised sampling; 0 samples uniformly.",
        "0 to compare with uniform replay.",
        ge=0,
        le=1,
    )
    priority_correction: ShareSchedule = setting(
        0.4,
        "Exponent of the importance-sampling correction, 0 to 1: a number, or points as in lr.",
        "Points that rise to 1 towards the end of a long run.",
    )
    boss_weight: float = setting(
        4.0,
        "Factor on the sampling weight of steps that beat a boss.",
        "1 to compare; higher if bosses are rarely beaten.",
        ge=1,
        le=100,
    )
    joker_weight: float = setting(
        2.0, "Factor on the sampling weight of steps that add a joker.", "1 to compare.", ge=1, le=100
    )

    def network(self, policy: PolicySettings) -> tuple[str, dict[str, Any]]:
        """The policy's network of action values."""
        explore = value_at(self.epsilon, 0)
        return policy.q_implementation, policy.network() | {"duelling": self.duelling, "explore": explore}

    def check(self, config: TrainConfig) -> None:
        """Raise ValueError if the replay buffer is smaller than two batches or a fragment; see Accumulated."""
        super().check(config)
        if self.replay < 2 * self.batch:
            raise ValueError(
                f"algo.replay {self.replay} is smaller than two batches of {self.batch}; raise it or lower algo.batch"
            )
        games, steps = config.resources.games_per_runner, -(-self.batch // config.resources.games)
        finals = 2 + steps // config.games.max_decisions  # of a game: after the last step, and of truncated games
        if self.replay < games * (steps + finals):
            raise ValueError(
                f"algo.replay {self.replay} is smaller than a fragment of {games} games, up to {games * (steps + finals)} "
                "rows; raise it or lower resources.games_per_runner"
            )


@ALGORITHMS.register
class RllibPpo(Clipped, ValueClip, Fragments):
    """PPO with RLlib's own runner, connectors and learner, as a baseline."""

    supports = frozenset({Feature.RUNNERS, Feature.LEARNER, Feature.LEARNERS})
    needs = frozenset({Trait.FLAT_NETWORK})

    implementation = "ante.training.rllib.stock:StockPPOConfig"
    kind: Literal["rllib-ppo"] = kind_of("rllib-ppo")

    def network(self, policy: PolicySettings) -> tuple[str, dict[str, Any]]:
        """The policy's network on unpacked observations, as RLlib's own runner passes them."""
        return "ante.training.policies.mlp:MaskedPolicy", policy.network()


@ALGORITHMS.register
class Sb3MaskablePpo(Clipped):
    """Maskable PPO of sb3-contrib."""

    supports = ONE_PROCESS
    needs = frozenset({Trait.FLAT_NETWORK})
    external = True

    implementation = "ante.training.baselines.sb3_run:Sb3Algorithm"
    kind: Literal["sb3-maskable-ppo"] = kind_of("sb3-maskable-ppo")


@ALGORITHMS.register
class Sb3A2c(ActorCritic):
    """A2C of Stable-Baselines3."""

    supports = ONE_PROCESS
    needs = frozenset({Trait.FLAT_NETWORK})
    external = True

    implementation = "ante.training.baselines.sb3_run:Sb3Algorithm"
    kind: Literal["sb3-a2c"] = kind_of("sb3-a2c")


@ALGORITHMS.register
class Sb3Dqn(Epochs):
    """DQN of Stable-Baselines3."""

    supports = ONE_PROCESS
    needs = frozenset({Trait.FLAT_NETWORK, Trait.ACTION_VALUES})
    external = True

    implementation = "ante.training.baselines.sb3_run:Sb3Algorithm"
    kind: Literal["sb3-dqn"] = kind_of("sb3-dqn")
