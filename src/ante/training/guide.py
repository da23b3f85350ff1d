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
        "videos": "random:2 for games as they come; [] for none but the best of the end.",
        "videos_each": "Higher where rules ask for more: a video costs seconds.",
        "keep_videos": "Higher where there is room: a video is 1 to 2 MB.",
        "keep_episodes": "Higher to look at more games in the report: a replay is half a kilobyte.",
        "eval_games": "Higher for narrower intervals: 1,000 for a figure that is published.",
    },
    "The store": {
        "store": "Wherever the machine may go away, as in a cluster; then --resume auto goes on from it.",
        "store_newest": "Higher to look back further, 0 where room costs nothing.",
        "store_wait_seconds": "Higher where the way to the store is slow.",
        "store_grace_seconds": "A little less than the machine's own grace (30 seconds in Kubernetes).",
        "store_pause_seconds": "0 where training must never wait; higher where every checkpoint must arrive.",
        "spool_gb": "To some ten checkpoints.",
    },
    "The games": {
        "deck": "To train for another deck.",
        "stake": "To make it harder.",
        "challenge": "To train for a challenge.",
        "reward": "potential, sparse or blinds to be sure that shaping does not mislead.",
        "reward_terms": "To weigh terms yourself, as blind: 0.5; ante reward ablate tells what each is good for.",
        "reorder": "jokers, so that a policy may put its jokers in order.",
        "max_decisions": "Lower to cut games that go round in circles.",
        "practice": "0.1 to 0.3, so that late antes are met before the policy reaches them by itself.",
        "start_states": "To train on positions of your own choice; practice finds them by itself, and gives each other futures.",
        "curriculum": "Where the real game is too hard to begin with: easier ones first (docs/curriculum.md).",
    },
    "The network": {
        "policy": "First. shortlist learns most by far; mlp is fastest; entities chooses cards itself; lstm remembers what it saw; cnn looks (docs/pixels.md); planner is to compare with shortlist (docs/hierarchy.md).",
        "hidden": "Wider for long runs.",
        "pixel_size": "Larger where ranks and numbers must be read; a step grows with it, and so does the time of a pass.",
        "pixel_colour": "Where suits must be told apart by colour; a step travels with three times the bytes.",
        "frame_stack": "1 where one picture says all; more cost time, no bytes.",
        "channels": "With hidden, on a GPU.",
        "memory": "With hidden; a step that travels grows by 8 bytes for each.",
        "sequence": "Longer where what matters lies further back; shorter sequences mix better.",
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
        "algo": "appo where batches must be played ahead by more than one update; with lag 1 ppo did as well (decision 14). a2c and dqn to compare with, configs/a2c.yaml and configs/dqn.yaml; sb3-... to compare with another library.",
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
    "DQN": {
        "replay": "To what memory allows; each checkpoint holds it too, at some 50 bytes a step.",
        "replay_after": "With replay: what is learned from first should not be one fragment alone.",
        "n_step": "1 for the plain rule, 10 or so where rewards are rare.",
        "epsilon": "Points that fall over the first fifth of the run.",
        "target_every": "Lower to follow faster, higher where the loss grows.",
        "double": "Off to compare with the plain rule, which overrates.",
        "duelling": "Off to compare.",
        "priority": "0 to compare with uniform replay.",
        "priority_correction": "Points that rise to 1 towards the end of a long run.",
        "boss_weight": "1 to compare; higher where bosses are hardly ever beaten.",
        "joker_weight": "1 to compare.",
    },
    "Hints": {
        "hints": "rules to begin faster than by luck; llm where a model runs beside the training (docs/hints.md).",
        "hint_share": "Lower where hints cost money.",
        "hint_confidence": "Higher to ask about more decisions, up to the share.",
        "hint_imitation": "Points that fall to 0, so that the policy outgrows its advisor.",
        "hint_prior": "0.5 falling to 0, to try what is advised without imitating it.",
        "hint_shaping": "0.1 or so, where rewards are rare.",
    },
    "Speed and machines": {
        "path": "stock to compare with RLlib as it comes.",
        "bf16": "off to find out whether rounding is to blame.",
        "overlap": "On wherever two cores or more are free: what is played is one update old.",
        "lag": "Keep it at 1 if you can: four updates of lag cost half of what was learned (decision 14).",
        "runners": "One for each core beyond the learner's, on machines with four or more.",
        "runner_cpus": "Below 1 to have more runners than cores.",
        "runner_gpus": "On a GPU: 1 divided by the runners that share one, less what the learner takes.",
        "games_on": "gpu with thousands of games for each runner, where `ante bench gpu` says that it pays (docs/gpu.md).",
        "learners": "2 or more where one GPU does not keep up; batch and minibatch are shared out.",
        "learner_gpus": "On a GPU: 1, or less where runners share it.",
        "runner_resource": "In a cluster whose pods offer places for env runners by that name (deploy sets it).",
        "learner_resource": "The same for learners.",
        "metrics_port": "In a cluster, where dashboards and alerts ask for it (docs/runbooks.md); one for each run of a machine.",
        "track": "To see runs beside others of a team: mlflow or wandb (docs/tracking.md). TensorBoard has them always.",
        "track_project": "To keep the runs of a question together.",
        "track_wait_seconds": "Higher where the way to the tracker is slow; what is missing can be sent later.",
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
