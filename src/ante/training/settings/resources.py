"""Settings of the machine: processes, GPUs and memory."""

from typing import Literal

from pydantic import model_validator

from ante.training.settings.field import Settings, setting


class ResourceSettings(Settings):
    """Resources of the machine or the cluster that a run uses."""

    games_per_runner: int = setting(
        64,
        "Games stepped together by each env runner.",
        "Up to 256 for speed: one forward pass covers all games. Fewer for longer fragments.",
        first=True,
        ge=1,
    )
    runners: int = setting(
        0,
        "Env runner processes; 0 samples in the learner's own process.",
        "One for each core beyond the learner's, on machines with four or more.",
        first=True,
        resumable=True,
        ge=0,
    )
    runner_cpus: float = setting(
        1.0,
        "CPUs that each env runner process requests from Ray.",
        "Below 1 to have more runners than cores.",
        resumable=True,
        ge=0,
    )
    runner_gpus: float = setting(
        0.0,
        "Fraction of a GPU for each env runner; 0 runs the policy on the CPU.",
        "On a GPU: 1 divided by the number of runners that share it, less the learner's fraction.",
        resumable=True,
        ge=0,
    )
    runner_resource: str = setting(
        "",
        "Custom Ray resource of which each env runner requests one; none by default.",
        "In a cluster whose pods declare this resource (set by deploy).",
        resumable=True,
    )
    games_on: Literal["cpu", "gpu"] = setting(
        "cpu",
        "Where games are stepped: on CPU cores, or on the env runner's GPU, without copies to the host in a step (extra "
        "gpu).",
        "gpu with thousands of games per runner, if `ante bench gpu` shows a speed-up (docs/how-to/gpu.md).",
        resumable=True,
    )
    learners: int = setting(
        0,
        "Learner processes, which share each batch; 0 trains in the driver.",
        "2 or more if one GPU is the bottleneck; batch and minibatch are divided among them.",
        ge=0,
    )
    learner_gpus: float = setting(
        0.0,
        "Fraction of a GPU for each learner; 0 trains on the CPU.",
        "On a GPU: 1, or less if runners share it.",
        resumable=True,
        ge=0,
    )
    learner_cpus: float | None = setting(
        None,
        "CPUs that each learner process requests from Ray; by default 1 without a GPU, 0 with one.",
        "1 or more if env runners fill the cores of the learner's node, so that they leave it some.",
        resumable=True,
        ge=0,
    )
    learner_resource: str = setting(
        "",
        "Custom Ray resource of which each learner requests one; none by default.",
        "As runner_resource.",
        resumable=True,
    )
    bf16: Literal["auto", "on", "off"] = setting(
        "auto",
        "Matrix products in bf16, in all processes; auto if all devices of the run support it.",
        "off to rule out rounding errors.",
    )
    memory_gb: float = setting(
        8.0,
        "Memory limit of all processes, in GB; at 80 % the run reduces its size; 0 = no limit.",
        "To the available memory; 0 if it is limited elsewhere, as in a cluster.",
        resumable=True,
        ge=0,
    )
    object_store_gb: float = setting(
        2.25,
        "Part of memory_gb for Ray's object store, in GB; the rest is spilled to disk in the run's folder.",
        "Higher with many runners and large batches: eight batches should fit.",
        resumable=True,
        ge=0.1,
    )
    wait_seconds: float = setting(
        600.0,
        "How long the run waits for sufficient resources in an existing cluster (RAY_ADDRESS).",
        "Higher if nodes start slowly, as with an autoscaler.",
        resumable=True,
        ge=0,
    )
    restarts: int = setting(
        3,
        "Maximum consecutive restarts from the last checkpoint without a new checkpoint in between.",
        "Higher if processes are often lost, as on spot instances; 0 to stop at the first loss.",
        resumable=True,
        ge=0,
    )

    @property
    def games(self) -> int:
        """Number of games of all env runners."""
        return self.games_per_runner * max(1, self.runners)

    @model_validator(mode="after")
    def _games_have_a_device(self) -> "ResourceSettings":
        if self.games_on == "gpu" and not self.runner_gpus:
            raise ValueError(
                "resources.games_on gpu requires a GPU for each env runner; set resources.runner_gpus, or "
                "resources.games_on cpu"
            )
        return self
