"""The table of training metrics: the single definition of their names, help texts, formats and curves.

metrics.csv, TensorBoard and trackers have a column per row, in this order. Console, Prometheus and report.html show the
rows with the corresponding fields. The page "Metrics" of the documentation is generated from this table. A metric that
a runner or a learner already logs needs only one row here.
"""

import math
from dataclasses import dataclass
from typing import Literal

Source = Literal["run", "runners", "learner", "memory", "evaluation", "hints"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric.

    name        column of metrics.csv, tag in TensorBoard, name in trackers
    source      origin: the training loop (run), the env runners or the learner (RLlib's results), the memory monitor,
                the short evaluation, or the ledger of hints
    key         name in RLlib's results, if different
    help        description, one sentence
    unit        "" for plain counts and means; "share" is 0 to 1
    better      whether more or less is better; "" for neither
    heading, format   heading and format of its console column; "" for none
    where       the console shows the metric only if this metric has a value
    prometheus  name in Prometheus; "" for none
    counter     whether it only increases
    curve       title of its curve in report.html; "" for none
    evaluated   metric of short evaluations in the same plot
    """

    name: str
    source: Source
    help: str
    key: str = ""
    unit: str = ""
    better: Literal["more", "less", ""] = ""
    heading: str = ""
    format: str = ""
    where: str = ""
    prometheus: str = ""
    counter: bool = False
    curve: str = ""
    evaluated: str = ""


METRICS = (
    Metric(name="iteration", source="run", help="Training batches.", prometheus="ante_iterations", counter=True),
    Metric(
        name="steps",
        source="run",
        help="Environment steps used for training, including those before a resume.",
        prometheus="ante_env_steps",
        counter=True,
    ),
    Metric(
        name="games",
        source="run",
        help="Finished games.",
        heading="games",
        format="{:,.0f}",
        prometheus="ante_games",
        counter=True,
    ),
    Metric(name="seconds", source="run", help="Time spent sampling and learning.", unit="seconds", counter=True),
    Metric(
        name="blinds",
        source="runners",
        help="Mean blinds beaten in the last games.",
        better="more",
        heading="blinds",
        format="{:.2f}",
        prometheus="ante_episode_blinds",
        curve="blinds beaten per game",
        evaluated="eval_blinds",
    ),
    Metric(
        name="win_rate",
        source="runners",
        help="Share of the last games won.",
        unit="share",
        better="more",
        heading="wins",
        format="{:.1%}",
        prometheus="ante_episode_win_rate",
        curve="games won",
        evaluated="eval_win_rate",
    ),
    Metric(
        name="ante",
        source="runners",
        help="Mean ante reached in the last games.",
        better="more",
        heading="mean ante",
        format="{:.2f}",
        prometheus="ante_episode_ante",
        curve="highest ante, mean",
        evaluated="eval_ante",
    ),
    Metric(
        name="return",
        source="runners",
        help="Mean sum of rewards of the last games.",
        key="episode_return_mean",
        better="more",
        heading="return",
        format="{:.3f}",
        prometheus="ante_episode_return",
        curve="return",
    ),
    Metric(
        name="games_counted",
        source="runners",
        help="Finished games in the means of return, ante, blinds and win_rate, at most 200; fast path only.",
    ),
    Metric(
        name="stage",
        source="runners",
        help="Stage of the curriculum, from 1; empty without a curriculum.",
        heading="stage",
        format="{:.0f}",
        where="stage",
        prometheus="ante_curriculum_stage",
    ),
    Metric(
        name="illegal",
        source="runners",
        help="Share of this iteration's actions that were illegal; algorithms of other libraries only.",
        unit="share",
        better="less",
    ),
    Metric(
        name="policy_loss",
        source="learner",
        help="Policy loss, last iteration.",
        heading="policy loss",
        format="{:.4f}",
        prometheus="ante_policy_loss",
        curve="policy loss",
    ),
    Metric(
        name="value_loss",
        source="learner",
        help="Value loss, last iteration.",
        key="vf_loss",
        heading="value loss",
        format="{:.4f}",
        prometheus="ante_value_loss",
        curve="value loss",
    ),
    Metric(
        name="entropy",
        source="learner",
        help="Entropy of the policy, last iteration.",
        unit="nats",
        heading="entropy",
        format="{:.2f}",
        prometheus="ante_policy_entropy",
        curve="entropy of the policy, nats",
    ),
    Metric(
        name="kl",
        source="learner",
        help="KL divergence between the sampling policy and the trained policy, mean over the gradient steps.",
        key="mean_kl_loss",
        unit="nats",
        prometheus="ante_policy_kl",
        curve="KL to the sampling policy",
    ),
    Metric(
        name="clipped",
        source="learner",
        help="Share of rows with a clipped ratio.",
        unit="share",
        prometheus="ante_policy_clipped",
        curve="rows with a clipped ratio",
    ),
    Metric(
        name="first_ratio",
        source="learner",
        help="Mean |ratio - 1| of a batch's first minibatch, before any gradient step; 0 if the sampling weights are current.",
        better="less",
        prometheus="ante_policy_first_ratio",
        curve="|ratio - 1| before the first gradient step",
    ),
    Metric(
        name="explained_variance",
        source="learner",
        help="Share of the variance of the value targets that the values predict; 1 is perfect, 0 or less is useless.",
        better="more",
        prometheus="ante_explained_variance",
        curve="variance explained by the values",
    ),
    Metric(
        name="grad_norm",
        source="learner",
        help="Norm of the gradient before clipping, mean over the gradient steps.",
        prometheus="ante_grad_norm",
        curve="norm of the gradient",
    ),
    Metric(
        name="nonfinite_grad_steps",
        source="learner",
        help="Gradient steps of the last iteration that were skipped because the gradient was not finite.",
        better="less",
        prometheus="ante_nonfinite_grad_steps",
        curve="skipped gradient steps",
    ),
    Metric(
        name="fragments_lost",
        source="learner",
        help="Fragments of the last iteration that were lost with a node before the learner read them.",
        better="less",
        prometheus="ante_fragments_lost",
        curve="lost fragments",
    ),
    Metric(
        name="epochs",
        source="learner",
        help="Passes over the batch; fewer than configured if kl_target stopped the update.",
    ),
    Metric(name="lr", source="learner", help="Learning rate.", key="default_optimizer_learning_rate"),
    Metric(
        name="policy_lag",
        source="learner",
        help="Updates between the sampling weights and the trained weights.",
        prometheus="ante_policy_lag",
    ),
    Metric(name="q_mean", source="learner", help="Mean value of the actions in training batches; dqn only."),
    Metric(
        name="epsilon",
        source="learner",
        help="Probability of a random legal action instead of the best one; dqn only.",
        unit="share",
    ),
    Metric(name="replay_steps", source="learner", help="Steps in the replay buffer; dqn only."),
    Metric(name="updates", source="learner", help="Gradient steps; dqn only.", counter=True),
    Metric(
        name="steps_per_second",
        source="run",
        help="Environment steps per second, last iteration.",
        unit="steps/s",
        better="more",
        heading="steps/s",
        format="{:,.0f}",
        prometheus="ante_env_steps_per_second",
        curve="decisions per second",
    ),
    Metric(
        name="games_per_second",
        source="run",
        help="Finished games per second, last iteration.",
        unit="games/s",
        better="more",
        heading="games/s",
        format="{:,.1f}",
        prometheus="ante_games_per_second",
    ),
    Metric(
        name="sample_seconds",
        source="runners",
        help="Time to sample one fragment, mean over the runners; fast path only.",
        unit="seconds",
        better="less",
        prometheus="ante_sample_seconds",
    ),
    Metric(
        name="learn_seconds",
        source="learner",
        help="Time of the last iteration's gradient steps, including staging; fast path only.",
        unit="seconds",
        better="less",
        prometheus="ante_learn_seconds",
    ),
    Metric(
        name="bytes_per_step",
        source="runners",
        help="Bytes sent from runner to learner per step; fast path only.",
        unit="bytes",
        better="less",
    ),
    Metric(
        name="memory_gb",
        source="memory",
        help="Memory of all processes, last measurement.",
        unit="GiB",
        better="less",
        heading="memory GB",
        format="{:.1f}",
        curve="memory, GB",
    ),
    Metric(name="memory_peak_gb", source="memory", help="Highest memory measured so far.", unit="GiB", better="less"),
    Metric(
        name="gpu_utilisation",
        source="learner",
        help="Share of the last moments of an update in which the learner's GPU computed; empty without one.",
        unit="share",
        better="more",
        prometheus="ante_learner_gpu_utilisation_ratio",
        curve="GPU utilisation of the learner",
    ),
    Metric(
        name="gpu_memory_gb",
        source="learner",
        help="Highest memory of the learner's tensors on its GPU so far; empty without one.",
        unit="GiB",
        better="less",
        prometheus="ante_learner_gpu_memory_gib",
    ),
    Metric(name="minibatch", source="memory", help="Rows of a minibatch; halved if memory runs short."),
    Metric(name="games_per_runner", source="memory", help="Games of each runner; halved if memory runs short."),
    Metric(
        name="eval_blinds",
        source="evaluation",
        help="Mean blinds beaten in the last short evaluation on the validation seeds; empty without one.",
        better="more",
        prometheus="ante_eval_blinds",
    ),
    Metric(
        name="eval_ante", source="evaluation", help="Mean ante reached in the last short evaluation.", better="more"
    ),
    Metric(
        name="eval_win_rate",
        source="evaluation",
        help="Share of games won in the last short evaluation.",
        unit="share",
        better="more",
        prometheus="ante_eval_win_rate",
    ),
    Metric(
        name="eval_seconds",
        source="evaluation",
        help="Time of the last short evaluation.",
        unit="seconds",
        better="less",
    ),
    Metric(
        name="hint_loss",
        source="learner",
        help="Cross-entropy on hinted positions.",
        key="imitation_loss",
        unit="nats",
        better="less",
    ),
    Metric(
        name="hint_asks",
        source="hints",
        help="Requests for hints.",
        heading="hint requests",
        format="{:,.0f}",
        where="hint_asks",
        prometheus="ante_hint_asks",
        counter=True,
    ),
    Metric(
        name="hint_calls",
        source="hints",
        help="Requests sent to the LLM, including retries.",
        prometheus="ante_hint_calls",
        counter=True,
    ),
    Metric(
        name="hint_success",
        source="hints",
        help="Share of the last 50 requests for hints that succeeded.",
        unit="share",
        better="more",
        heading="succeeded",
        format="{:.0%}",
        where="hint_asks",
        prometheus="ante_hint_success_ratio",
        curve="successful requests for hints",
    ),
    Metric(
        name="hint_p50",
        source="hints",
        help="Time of a call to the LLM, median of the last 1,000.",
        unit="seconds",
        better="less",
        prometheus="ante_hint_latency_p50_seconds",
    ),
    Metric(
        name="hint_p95",
        source="hints",
        help="Time of a call to the LLM, 95th percentile of the last 1,000.",
        unit="seconds",
        better="less",
        heading="p95 s",
        format="{:.2f}",
        where="hint_asks",
        prometheus="ante_hint_latency_p95_seconds",
    ),
    Metric(
        name="hint_tokens",
        source="hints",
        help="Tokens of requests and answers.",
        prometheus="ante_hint_tokens",
        counter=True,
    ),
    Metric(
        name="hint_cache_hits",
        source="hints",
        help="Requests for hints served from the cache.",
        better="more",
        prometheus="ante_hint_cache_hits",
        counter=True,
    ),
    Metric(
        name="hint_breaker",
        source="hints",
        help="State of the circuit breaker: 0 closed, 1 half-open, 2 open (no calls are made).",
        prometheus="ante_hint_breaker",
    ),
    Metric(
        name="hint_agreement",
        source="hints",
        help="Share of hints that equal the policy's own choice.",
        unit="share",
        heading="agreed",
        format="{:.0%}",
        where="hint_asks",
        prometheus="ante_hint_agreement_ratio",
        curve="hints equal to the policy's choice",
    ),
)
COLUMNS = tuple(metric.name for metric in METRICS)


def names_of(source: Source) -> tuple[str, ...]:
    """Return the names of the metrics from this source."""
    return tuple(metric.name for metric in METRICS if metric.source == source)


def without_values(source: Source) -> dict[str, float]:
    """Return NaN for each metric of this source."""
    return dict.fromkeys(names_of(source), math.nan)
