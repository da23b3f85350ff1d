"""What a training run is made of: frozen, validated, written beside the results. Knows neither Ray nor torch."""

import math
import re
from dataclasses import replace
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from ante.engine.run import challenge_number, deck_number, run_numbers
from ante.env.games import REORDERS, chosen
from ante.env.reward import Reward, Term, find_reward
from ante.errors import BalatroError
from ante.storage.store import split_url
from ante.training.curriculum import Stage


class BadConfig(BalatroError, ValueError):
    """A configuration that cannot be used."""


Schedule = float | tuple[tuple[int, float], ...]  # one value, or points (environment steps, value), linear between them
VIDEO_RULE = re.compile(r"best|worst|first_win|(every|random):[1-9]\d*")
TERMS = tuple(term.name.lower() for term in Term)  # what a reward weighs
SMALLEST_PICTURE, LARGEST_PICTURE = 36, 720  # three convolutions need the one, a frame is not drawn larger
NO_CLIP = 1e9  # a range of ratios that cuts nothing
# What RLlib's own path does not have.
ONLY_FAST = (
    "kl_target",
    "accumulate",
    "normalise_rewards",
    "normalise_values",
    "practice",
    "algo",
    "hints",
    "start_states",
    "games_on",
)
# What algorithms of other libraries do not have.
ONLY_OURS = (
    *("policy", "path", "overlap", "fragment", "accumulate", "kl_target", "value_clip", "normalise_rewards"),
    *("normalise_values", "practice", "curriculum", "hints", "runners", "learners", "bf16", "start_states", "games_on"),
)

# What the env runner that plays on a GPU does not have.
NOT_ON_GPU = ("policy", "practice", "start_states", "hints")

# What means nothing where there is neither a policy gradient nor a state value of its own.
NOT_DQN = ("kl_target", "accumulate", "value_clip", "normalise_rewards", "normalise_values", "hints")


def value_at(schedule: Schedule, steps: int) -> float:
    """The value of a schedule after so many environment steps; after its last point that point's."""
    if not isinstance(schedule, tuple):
        return schedule
    for (begin, one), (end, two) in pairwise(schedule):
        if steps < end:
            return one + (two - one) * max(0, steps - begin) / (end - begin)
    return schedule[-1][1]


class TrainConfig(BaseModel):
    """One PPO run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field("ppo", pattern=r"^[\w.-]+$", description="Name of the run: its folder under `runs`.")
    runs: str = Field("runs", description="Folder that holds all runs.")
    deck: str = Field("b_red", description="Deck of every game.")
    stake: int = Field(1, ge=1, le=8, description="Stake of every game, 1 White to 8 Gold.")
    challenge: str | None = Field(None, description="One of the 20 challenges, which brings its own deck and stake.")
    reward: str = Field("shaped", description="Reward by name: sparse, blinds, shaped or potential.")
    reward_terms: dict[str, float] = Field(
        {},
        description="Weights that replace those of the named reward: win, loss, blind, progress, ante, potential. A "
        "term of weight 0 is left out.",
    )
    reorder: str = Field("none", description="Re-ordering on offer: none, jokers or all.")
    max_decisions: int = Field(2000, ge=10, description="Steps after which a game is cut off.")
    steps: int = Field(200_000, ge=1, description="Environment steps of the whole run, resumed parts included.")
    games: int = Field(64, ge=1, description="Games stepped together by each env runner.")
    runners: int = Field(0, ge=0, description="Env runner processes; 0 samples in the learner's own process.")
    runner_cpus: float = Field(1.0, ge=0, description="Cores that each env runner process takes of Ray's.")
    runner_gpus: float = Field(
        0.0, ge=0, description="Share of a GPU that each env runner takes; 0 asks the policy on the CPU."
    )
    games_on: Literal["cpu", "gpu"] = Field(
        "cpu",
        description="Where games are stepped: on the cores, or on the env runner's GPU, where nothing of a step leaves the "
        "device (extra gpu; policy mlp, not dqn, all games from their beginning).",
    )
    learners: int = Field(0, ge=0, description="Learner processes, which share each batch; 0 learns in the driver.")
    learner_gpus: float = Field(0.0, ge=0, description="Share of a GPU that each learner takes; 0 learns on the CPU.")
    runner_resource: str = Field("", description="Ray resource of which each env runner takes one; none by default.")
    learner_resource: str = Field("", description="Ray resource of which each learner takes one; none by default.")
    batch: int = Field(8192, ge=64, description="Steps of one iteration, of all learners together.")
    minibatch: int = Field(1024, ge=16, description="Steps put through the network at once, of all learners together.")
    epochs: int = Field(4, ge=1, description="Passes over each batch.")
    accumulate: int = Field(
        1, ge=1, description="Minibatches whose gradients are averaged for one step of Adam, fast path only."
    )
    lr: Schedule = Field(
        3e-4, description="Learning rate of Adam: a number, or points [environment steps, value], linear between them."
    )
    gamma: float = Field(0.995, gt=0, le=1, description="Discount.")
    gae_lambda: float = Field(0.95, gt=0, le=1, description="Lambda of generalised advantage estimation.")
    clip: float = Field(0.2, gt=0, description="Clipping range of the policy ratio.")
    kl_target: float | None = Field(
        None, gt=0, description="An update ends early once the policy has moved 1.5 times as far (KL), fast path only."
    )
    entropy: Schedule = Field(0.01, description="Weight of the entropy bonus: a number, or points as in lr.")
    value_weight: float = Field(1.0, gt=0, description="Weight of the value loss.")
    value_clip: float | None = Field(
        None, gt=0, description="Largest squared error of a value that is still learned from; none by default."
    )
    normalise_rewards: bool = Field(
        False, description="Divide rewards by the running spread of discounted returns, fast path only."
    )
    normalise_values: bool = Field(
        False, description="Learn values in units of their running mean and spread, fast path only."
    )
    grad_clip: float = Field(0.5, gt=0, description="Largest norm of a gradient step.")
    path: Literal["fast", "stock"] = Field(
        "fast", description="How steps are sampled and learned: fast (packed batches) or stock (RLlib's own)."
    )
    bf16: Literal["auto", "on", "off"] = Field(
        "auto", description="Products of the network in bf16, fast path only; auto asks the machine."
    )
    overlap: bool = Field(
        False, description="Play the next batch while this one is learned from (policy lag 1), fast path only."
    )
    algo: Literal["ppo", "appo", "a2c", "dqn", "sb3-maskable-ppo", "sb3-a2c", "sb3-dqn"] = Field(
        "ppo",
        description="ppo; or appo, which always plays ahead and corrects with V-trace for the older policy that "
        "played; or a2c, one gradient step for each batch, without clipping: epochs, clip and accumulate are not "
        "asked; or dqn, which keeps steps and learns the worth of decisions from them again and again. All but ppo on "
        "the fast path only. sb3-maskable-ppo, sb3-a2c and sb3-dqn are those of Stable-Baselines3 (extra sb3), on the "
        "same games, with policy mlp, in one process.",
    )
    replay: int = Field(
        200_000, ge=1000, description="Steps kept to learn from again, dqn only; 0.6 KB of memory each."
    )
    replay_after: int = Field(10_000, ge=1, description="Steps played before anything is learned, dqn only.")
    n_step: int = Field(5, ge=1, description="Steps whose rewards are counted before the network's value, dqn only.")
    epsilon: Schedule = Field(
        ((0, 1.0), (100_000, 0.05)),
        description="Chance of any legal decision instead of the best one: a number, or points as in lr, dqn only.",
    )
    target_every: int = Field(
        500, ge=1, description="Gradient steps after which the target network becomes the present one, dqn only."
    )
    double: bool = Field(True, description="Choose with the present network what the target network values, dqn only.")
    duelling: bool = Field(
        True, description="The worth of a decision as value of the position and advantage, dqn only."
    )
    priority: float = Field(
        0.6, ge=0, le=1, description="Exponent of a step's error when steps are drawn; 0 draws all alike, dqn only."
    )
    priority_correction: Schedule = Field(
        0.4,
        description="How far the loss makes up for that, 0 to 1: a number, or points as in lr, dqn only.",
    )
    boss_weight: float = Field(
        4.0, ge=1, le=100, description="Steps that beat a boss are drawn so many times as often, dqn only."
    )
    joker_weight: float = Field(
        2.0, ge=1, le=100, description="Steps that bring a joker are drawn so many times as often, dqn only."
    )
    lag: int = Field(1, ge=1, le=8, description="Batches played ahead, with overlap or appo.")
    fragment: int | None = Field(
        None,
        ge=1,
        description="Steps of a game after which advantages begin anew from the value; a batch's by default.",
    )
    practice: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Share of games that begin in the middle, from positions met before; fast path only.",
    )
    start_states: str | None = Field(
        None,
        description="File of saved games (ante replay states) that all games begin from, drawn evenly, each with the "
        "future that its seed gives it; evaluations play whole games. Fast path only.",
    )
    curriculum: tuple[Stage, ...] = Field(
        (),
        description="Easier games first, a list of stages: goal (the ante whose boss ends a game as won), deck, stake, and "
        "promote, the share of games won at which the next stage begins. After them the run's own game; fast path only.",
    )
    policy: Literal["mlp", "entities", "shortlist", "lstm", "cnn", "cnn-fused", "planner"] = Field(
        "mlp",
        description="Network: mlp on the flat view; entities, which attends to every card, joker and item; shortlist, "
        "which weighs a list of decisions worth a thought; lstm, the mlp with a memory of its game; cnn, which looks at "
        "pictures of the game; cnn-fused, which has the flat view beside them; planner, the shortlist that plans each "
        "blind and each shop first. All but mlp on the fast path only.",
    )
    hidden: tuple[int, ...] = Field((256, 256), description="Widths of the shared layers, all but entities.")
    pixel_size: tuple[int, int] = Field((84, 112), description="Height and width of a picture, cnn and cnn-fused only.")
    pixel_colour: bool = Field(False, description="Three channels a picture instead of a grey one, cnn policies only.")
    frame_stack: int = Field(4, ge=1, le=16, description="Pictures that are seen together, cnn policies only.")
    channels: tuple[int, int, int] = Field((16, 32, 32), description="Channels of the convolutions, cnn policies only.")
    memory: int = Field(128, ge=1, description="Width of what is remembered, lstm only.")
    sequence: int = Field(
        32,
        ge=1,
        description="Decisions through which gradients go back; a minibatch takes such sequences whole, lstm only.",
    )
    entry: int = Field(64, ge=8, description="Width of a listed decision, shortlist and planner only.")
    width: int = Field(64, ge=8, description="Width of an entity, entities only.")
    layers: int = Field(2, ge=1, description="Attention layers, entities only.")
    heads: int = Field(4, ge=1, description="Attention heads, which share the width out, entities only.")
    trunk: int = Field(192, ge=8, description="Width of the two shared layers after attention, entities only.")
    seed: int = Field(0, ge=0, description="Seed of the run.")
    checkpoint_every: int = Field(10, ge=1, description="Iterations between checkpoints.")
    keep_checkpoints: int = Field(
        3, ge=0, description="Newest checkpoints that are kept beside the best one; 0 = all of them."
    )
    eval_games: int = Field(100, ge=1, description="Games of the closing evaluation, from the fixed seed panel.")
    memory_gb: float = Field(
        8.0,
        ge=0,
        description="Memory of all processes together, in GB; from 80 % on the run becomes smaller; 0 = no limit.",
    )
    object_store_gb: float = Field(
        2.25, ge=0.1, description="Of it for Ray's object store, in GB; what does not fit goes to disk, into the run."
    )
    restarts: int = Field(
        3, ge=0, description="Restarts from the last checkpoint after losses in a row without a new checkpoint between."
    )
    eval_every: int = Field(
        0, ge=0, description="Iterations between short evaluations, which then choose the best checkpoint; 0 = none."
    )
    trial_games: int = Field(64, ge=1, description="Games of each short evaluation, the first of the seed panel.")
    hints: Literal["off", "rules", "llm"] = Field(
        "off",
        description="Who is asked where the policy is unsure: nobody, the rule-based advisor, or the LLM of LLM_ENDPOINT; "
        "shortlist and mlp on the fast path only.",
    )
    hint_share: float = Field(
        0.05, ge=0, le=1, description="Decisions that may be asked about, as a share of any 1,000 in a row."
    )
    hint_confidence: float = Field(
        0.7, ge=0, le=1, description="Chance of its likeliest action below which the policy is unsure."
    )
    hint_imitation: Schedule = Field(
        0.1, description="Weight of the loss that imitates hints: a number, or points as in lr."
    )
    hint_prior: Schedule = Field(
        0.0,
        description="Chance of following a hint in a game that begins from its position: a number, or points as in lr.",
    )
    hint_shaping: float = Field(
        0.0, ge=0, description="Weight of the potential learned from the advisor's outlooks, shortlist only."
    )
    metrics_port: int = Field(
        0, ge=0, le=65535, description="Port at which Prometheus finds the run's numbers (/metrics); 0 = none."
    )
    track: tuple[Literal["wandb", "mlflow"], ...] = Field(
        (),
        description="Trackers that get the run's rows too, from a process of their own: wandb, mlflow (extra track).",
    )
    track_project: str | None = Field(
        None, description="W&B's project, MLflow's experiment; by default what their own variables say, or ante."
    )
    track_wait_seconds: float = Field(
        30.0, ge=0, description="How long the run waits at its end for its rows to arrive there."
    )

    store: str | None = Field(
        None,
        description="Where the run is kept beside its folder: a folder or s3://bucket/prefix, under the run's name.",
    )
    store_newest: int = Field(
        5, ge=0, description="Newest checkpoints kept in the store, beside latest and best; 0 = all."
    )
    store_wait_seconds: float = Field(
        600.0, ge=0, description="How long the run waits at its end for uploads to arrive."
    )
    store_grace_seconds: float = Field(
        25.0, ge=0, description="The same after a termination (SIGTERM), counted from when it came."
    )
    store_pause_seconds: float = Field(
        60.0, ge=0, description="How long a checkpoint waits for room in a full queue of uploads before it is left out."
    )
    spool_gb: float = Field(4.0, gt=0, description="What may wait to be uploaded, in GB, in the run's folder.")
    videos: tuple[str, ...] = Field(
        ("best", "worst", "first_win"),
        description="Which games of an evaluation become videos: best, worst, first_win, every:N, random:N. The best one "
        "of the closing evaluation always does.",
    )
    videos_each: int = Field(4, ge=0, le=16, description="Most videos of one evaluation.")
    keep_videos: int = Field(40, ge=1, description="Videos of a run that are kept; the oldest go first.")
    keep_episodes: int = Field(400, ge=16, description="Replays of a run that are kept; the oldest go first.")

    @field_validator("store")
    @classmethod
    def _a_store(cls, store: str | None) -> str | None:
        if store is not None:
            split_url(store)
        return store

    @field_validator("track")
    @classmethod
    def _each_once(cls, trackers: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(trackers)) < len(trackers):
            raise ValueError("a tracker stands there twice")
        return trackers

    @field_validator("deck")
    @classmethod
    def _known_deck(cls, deck: str) -> str:
        deck_number(deck)
        return deck

    @field_validator("challenge")
    @classmethod
    def _known_challenge(cls, challenge: str | None) -> str | None:
        challenge_number(challenge)
        return challenge

    @field_validator("reward")
    @classmethod
    def _known_reward(cls, reward: str) -> str:
        return find_reward(reward).name

    @field_validator("reward_terms")
    @classmethod
    def _known_terms(cls, terms: dict[str, float]) -> dict[str, float]:
        for name, weight in terms.items():
            if name not in TERMS:
                raise ValueError(f"there is no term {name!r}: choose among {', '.join(TERMS)}")
            if not math.isfinite(weight):
                raise ValueError(f"the weight of {name} must be a finite number")
        return terms

    @field_validator("reorder")
    @classmethod
    def _known_reorder(cls, reorder: str) -> str:
        return chosen("reorder", reorder, list(REORDERS))

    @field_validator("pixel_size")
    @classmethod
    def _a_picture(cls, size: tuple[int, int]) -> tuple[int, int]:
        if not all(SMALLEST_PICTURE <= side <= LARGEST_PICTURE for side in size):
            raise ValueError(f"height and width are {SMALLEST_PICTURE} to {LARGEST_PICTURE} pixels")
        return size

    @field_validator("channels", "hidden")
    @classmethod
    def _widths(cls, widths: tuple[int, ...]) -> tuple[int, ...]:
        if not widths or min(widths) < 1:
            raise ValueError("one width at least, each 1 or more")
        return widths

    @field_validator("lr", "entropy", "epsilon", "priority_correction", "hint_imitation", "hint_prior")
    @classmethod
    def _a_schedule(cls, schedule: Schedule, info: ValidationInfo) -> Schedule:
        points = schedule if isinstance(schedule, tuple) else ((0, schedule), (1, schedule))
        times = [steps for steps, _ in points]
        if len(points) < 2 or times[0] != 0 or any(one >= two for one, two in pairwise(times)):
            raise ValueError("points are [steps, value], two at least, the first at 0, each later than the one before")
        if min(value for _, value in points) < 0:
            raise ValueError("no value may be below 0")
        if info.field_name in ("epsilon", "priority_correction", "hint_prior") and max(v for _, v in points) > 1:
            raise ValueError("it is a share: no value may be above 1")
        if info.field_name == "lr" and points[0][1] == 0:
            raise ValueError("nothing would be learned: it must begin above 0")
        return schedule

    @field_validator("videos")
    @classmethod
    def _known_rules(cls, rules: tuple[str, ...]) -> tuple[str, ...]:
        for rule in rules:
            if not VIDEO_RULE.fullmatch(rule):
                raise ValueError(f"{rule!r} is no rule: best, worst, first_win, every:20 or random:2")
        return rules

    @model_validator(mode="after")
    def _fits_the_path(self) -> "TrainConfig":
        for name in ONLY_FAST:
            if self.path == "stock" and getattr(self, name) != TrainConfig.model_fields[name].default:
                raise ValueError(f"{name} {getattr(self, name)} needs path fast: RLlib's own path has no such setting")
        if self.path == "stock" and self.policy != "mlp":
            raise ValueError(f"policy {self.policy} needs path fast: RLlib's own path has the flat view only")
        return self

    @model_validator(mode="after")
    def _games_fit_the_device(self) -> "TrainConfig":
        if self.games_on == "cpu":
            return self
        if not self.runner_gpus:
            raise ValueError("games_on gpu needs a share of one for each env runner: set runner_gpus")
        for name in NOT_ON_GPU:
            if getattr(self, name) != TrainConfig.model_fields[name].default:
                raise ValueError(f"{name} {getattr(self, name)} needs games_on cpu: games on a GPU do not have it")
        if self.algo == "dqn":
            raise ValueError("algo dqn needs games_on cpu: it looks at every step as it is played")
        return self

    @model_validator(mode="after")
    def _hints_can_be_used(self) -> "TrainConfig":
        if self.hints != "off" and self.policy not in ("shortlist", "mlp"):
            raise ValueError(f"hints need policy shortlist or mlp: they were not taught to {self.policy}")
        if self.hint_shaping and self.policy != "shortlist":
            raise ValueError(
                f"hint_shaping {self.hint_shaping:g} needs policy shortlist, whose list the potential reads"
            )
        return self

    @model_validator(mode="after")
    def _a2c_waits(self) -> "TrainConfig":
        if self.algo == "a2c" and (self.overlap or self.kl_target):
            name = "overlap" if self.overlap else "kl_target"
            raise ValueError(f"algo a2c makes one step from each batch that it has just played: leave out {name}")
        return self

    @model_validator(mode="after")
    def _known_to_the_library(self) -> "TrainConfig":
        for name in ONLY_OURS if self.external else ():
            if getattr(self, name) != TrainConfig.model_fields[name].default:
                raise ValueError(f"algo {self.algo} knows no {name}: leave out {name} {getattr(self, name)}")
        return self

    @model_validator(mode="after")
    def _dqn_can_learn(self) -> "TrainConfig":
        if self.algo != "dqn":
            return self
        if self.policy != "mlp":
            raise ValueError(f"algo dqn needs policy mlp, whose decisions are a fixed list: it was {self.policy}")
        for name in NOT_DQN:
            if getattr(self, name) != TrainConfig.model_fields[name].default:
                raise ValueError(f"algo dqn has no {name}: leave it out")
        if self.learners > 1:
            raise ValueError(f"algo dqn keeps its steps in one learner: learners is {self.learners}, it may be 0 or 1")
        if self.replay < 2 * self.batch:
            raise ValueError(f"replay {self.replay} must hold two batches of {self.batch} at least")
        return self

    @model_validator(mode="after")
    def _stages_can_be_played(self) -> "TrainConfig":
        if self.curriculum and self.path == "stock":
            raise ValueError("a curriculum needs path fast: RLlib's own path plays one kind of game from first to last")
        if self.curriculum and self.start_states:
            raise ValueError("start_states and a curriculum exclude each other: saved games have their own beginnings")
        if self.challenge and any(stage.deck or stage.stake for stage in self.curriculum):
            raise ValueError(f"challenge {self.challenge} brings its own deck and stake: its stages have goals only")
        return self

    @model_validator(mode="after")
    def _heads_share_the_width(self) -> "TrainConfig":
        if self.width % self.heads:
            raise ValueError(f"width {self.width} cannot be shared out among {self.heads} heads")
        return self

    @model_validator(mode="after")
    def _batches_fit(self) -> "TrainConfig":
        if self.minibatch * self.accumulate > self.batch:
            times = f" times accumulate {self.accumulate}" if self.accumulate > 1 else ""
            raise ValueError(f"minibatch {self.minibatch}{times} is larger than batch {self.batch}")
        if self.policy == "lstm" and self.sequence * max(1, self.learners) > self.minibatch:
            raise ValueError(
                f"sequence {self.sequence} is longer than each learner's share of minibatch {self.minibatch}"
            )
        if self.batch % max(1, self.learners) or self.minibatch % max(1, self.learners):
            raise ValueError(
                f"batch {self.batch} and minibatch {self.minibatch} must divide by learners {self.learners}"
            )
        run_numbers(self.deck, self.stake, self.challenge)
        return self

    @property
    def external(self) -> bool:
        """Whether the algorithm is another library's."""
        return self.algo.startswith("sb3-")

    @property
    def paid(self) -> Reward:
        """The reward of the games: the named one with its own terms replaced, without the learner's discount."""
        terms: dict[str, Any] = dict(self.reward_terms)
        return replace(find_reward(self.reward), **terms)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages of the curriculum, then the run's own game; all with deck and stake."""
        return tuple(stage.within(self.deck, self.stake) for stage in (*self.curriculum, Stage()))

    @property
    def ahead(self) -> int:
        """Batches that are played ahead."""
        return self.lag if self.overlap or self.algo == "appo" else 0

    @property
    def update(self) -> tuple[int, int, float]:
        """Passes over each batch, minibatches whose gradients make one step, and the range that ratios are cut to.

        In the first step after a batch was played all ratios are 1: PPO's gradient without its clip is A2C's.
        """
        if self.algo == "a2c":
            return 1, max(1, self.batch // self.minibatch), NO_CLIP
        return self.epochs, self.accumulate, self.clip

    @property
    def folder(self) -> Path:
        """Where the run is kept."""
        return Path(self.runs) / self.name

    @property
    def spill_folder(self) -> Path:
        """Where Ray puts objects that its store has no room for, while the run lasts."""
        return self.folder / "spill"

    @property
    def spool_folder(self) -> Path:
        """Where uploads to the store wait."""
        return self.folder / "spool"

    def to_yaml(self) -> str:
        """The whole configuration as text."""
        return yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False)


def make_config(values: dict[str, Any]) -> TrainConfig:
    """A validated configuration. Raises BadConfig, naming the nearest key for an unknown one."""
    for key in values:
        if key not in TrainConfig.model_fields:
            near = get_close_matches(key, TrainConfig.model_fields, 1)
            hint = f"did you mean {near[0]}?" if near else f"known keys: {', '.join(TrainConfig.model_fields)}"
            raise BadConfig(f"unknown configuration key {key!r}: {hint}")
    try:
        return TrainConfig(**values)
    except ValidationError as error:
        raise BadConfig(sentence(error)) from None


def sentence(error: ValidationError) -> str:
    """The first thing that is wrong, in words."""
    first = error.errors()[0]
    cause = first["msg"].removeprefix("Value error, ")
    if not first["loc"]:
        return cause
    if first["loc"][0] == "store":  # not shown: it may hold a secret
        return f"configuration key store: {cause}"
    place = first["loc"] if first["loc"][0] == "curriculum" else first["loc"][:1]
    return f"configuration key {'.'.join(map(str, place))}: {cause}, got {first['input']!r}"


def read_config(file: Path, **overrides: Any) -> TrainConfig:
    """The configuration of a YAML file with some values replaced. Raises BadConfig."""
    try:
        values = yaml.safe_load(file.read_text()) or {}
    except (OSError, yaml.YAMLError) as error:
        raise BadConfig(f"cannot read configuration {file}: {error}") from None
    if not isinstance(values, dict):
        raise BadConfig(f"configuration {file} is not a list of `key: value` lines")
    return make_config({**values, **overrides})
