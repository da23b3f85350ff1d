"""Which group a setting of `TrainConfig` belongs to, and when to touch it: docs/training.md is written from this.

What a setting does stands beside it in config.py, as its description; a new setting needs a line here too.
"""

from ante.training.config import TrainConfig

GUIDE: dict[str, dict[str, str]] = {
    "The run": {
        "name": "Always: a run is never overwritten.",
        "runs": "To keep runs on another disk.",
        "steps": "First. With --resume a run may get more.",
        "seed": "To see how much of a result is luck: three seeds at least.",
        "checkpoint_every": "Lower where a lost hour hurts, higher where writing is slow.",
        "keep_checkpoints": "0 to let the checkpoints of a run play a league (docs/league.md).",
        "eval_every": "10 or so in long runs: the best checkpoint is then one that plays well on the panel.",
        "trial_games": "Higher for a surer choice of the best checkpoint; 64 games cost seconds.",
        "eval_games": "Higher for narrower intervals: 1,000 for a figure that is published.",
    },
    "The games": {
        "deck": "To train for another deck.",
        "stake": "To make it harder.",
        "challenge": "To train for a challenge.",
        "reward": "potential, sparse or blinds to be sure that shaping does not mislead.",
        "reorder": "jokers, so that a policy may put its jokers in order.",
        "max_decisions": "Lower to cut games that go round in circles.",
        "practice": "0.1 to 0.3, so that late antes are met before the policy reaches them by itself.",
        "curriculum": "Where the real game is too hard to begin with: easier ones first (docs/curriculum.md).",
    },
    "The network": {
        "policy": "First. shortlist learns most by far; mlp is fastest; entities chooses cards itself.",
        "hidden": "Wider for long runs.",
        "entry": "With hidden.",
        "width": "On a GPU, where wider costs little.",
        "layers": "With width, on a GPU.",
        "heads": "Hardly ever.",
        "trunk": "With width.",
    },
    "The batch": {
        "games": "Up to 256 for speed: one forward pass serves all. Fewer for longer fragments.",
        "batch": "Higher once learning is steady and noise is what holds it back.",
        "fragment": "To compare with results of others; longer is better and costs nothing here.",
        "minibatch": "Up to 4,096 for speed, with lr.",
        "accumulate": "Where a minibatch of the wanted size does not fit into memory.",
        "epochs": "1 for speed per step, 3 or 4 for what is learned from a step.",
    },
    "Learning": {
        "algo": "appo where batches must be played ahead by more than one update; with lag 1 ppo did as well (decision 14). a2c to compare with, configs/a2c.yaml.",
        "lr": "First of these. Points that fall to a tenth towards the end of a long run.",
        "gamma": "Higher to look further ahead: 0.99 weighs some 100 decisions, 0.998 some 500.",
        "gae_lambda": "Lower where values are trusted and returns are noisy.",
        "clip": "Hardly ever.",
        "kl_target": "0.01 to 0.03 with many epochs, so that none of them goes too far.",
        "entropy": "Higher where play becomes uniform too soon; points that fall in a long run.",
        "value_weight": "Lower where the value loss drowns the policy's (see normalise_values first).",
        "value_clip": "Where single games with huge returns shake the value.",
        "normalise_rewards": "With a reward of unknown size.",
        "normalise_values": "Where the value loss is far from 1: then lr and grad_clip mean the same in every run.",
        "grad_clip": "Hardly ever.",
    },
    "Speed and machines": {
        "path": "stock to compare with RLlib as it comes.",
        "bf16": "off to find out whether rounding is to blame.",
        "overlap": "On wherever two cores or more are free: what is played is one update old.",
        "lag": "Keep it at 1 if you can: four updates of lag cost half of what was learned (decision 14).",
        "runners": "One for each core beyond the learner's, on machines with four or more.",
        "runner_cpus": "Below 1 to have more runners than cores.",
        "runner_gpus": "On a GPU: 1 divided by the runners that share one, less what the learner takes.",
        "learners": "2 or more where one GPU does not keep up; batch and minibatch are shared out.",
        "learner_gpus": "On a GPU: 1, or less where runners share it.",
        "restarts": "Higher where processes are taken away often, as on spot machines; 0 to stop at the first loss.",
        "memory_gb": "To what may be used; 0 where something else limits it, as in a cluster.",
        "object_store_gb": "Higher with many runners and large batches: eight batches should fit.",
    },
}


def groups() -> dict[str, list[tuple[str, str, str, str]]]:
    """For each group its settings: name, default, what it does, when to touch it.

    Raises LookupError where guide and configuration differ.
    """
    told = [name for settings in GUIDE.values() for name in settings]
    unlike = set(told) ^ set(TrainConfig.model_fields)
    if unlike or len(told) != len(set(told)):
        raise LookupError(
            f"training/guide.py and TrainConfig differ, or a setting stands there twice: {sorted(unlike)}"
        )
    fields = TrainConfig.model_fields
    return {
        group: [
            (name, shown(fields[name].default), fields[name].description or "", when) for name, when in lines.items()
        ]
        for group, lines in GUIDE.items()
    }


def shown(default: object) -> str:
    """A default as one would write it in a file."""
    if default is None:
        return "none"
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, tuple):
        return str(list(default))
    return f"{default:g}" if isinstance(default, float) else str(default)


def as_text() -> str:
    """All groups as tables."""
    parts = []
    for group, lines in groups().items():
        rows = [f"| `{name}` | {default} | {does} | {when} |" for name, default, does, when in lines]
        parts.append(
            "\n".join(
                [
                    f"### {group}",
                    "",
                    "| setting | default | what it does | when to touch it |",
                    "| --- | --- | --- | --- |",
                    *rows,
                ]
            )
        )
    return "\n\n".join(parts)
