"""`ante cluster suspend`, `resume`, `cancel`, `down`, `exec` and `gpus`: trainings that exist, and the GPUs they use."""

import shlex
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from ante.cli.options import Age, Count, Seconds, seconds_of
from ante.cli.shown import show
from ante.errors import BalatroError

if TYPE_CHECKING:
    from ante.deploy.access import Access


@dataclass(frozen=True)
class Where:
    """Options that select the cluster and namespace."""

    context: str | None = None
    """Context of the kubeconfig; the current one by default."""
    namespace: Annotated[str | None, arg(aliases=["-n"])] = None
    """Namespace; the context's by default."""

    def access(self) -> "Access":
        """Return the cluster client. Raises NoCluster."""
        from ante.deploy.access import connect

        return connect(self.context, self.namespace)


@dataclass(frozen=True)
class Suspend(Where):
    """Suspend a training or a cluster: the run writes a checkpoint, then all pods are deleted. `resume` continues it.

    With --if-idle, a cluster of `ante cluster up` is suspended only if it has had no job for that time, for example by a
    scheduled command.

    Try:
      ante cluster suspend first
      ante cluster suspend first --if-idle 30m
    """

    name: Positional[Annotated[str, arg(metavar="NAME")]] = "ante"
    """Name of the training."""
    seconds: Seconds = 180.0
    """Seconds to wait until the pods are deleted."""
    if_idle: Age | None = None
    """Do nothing if a job runs or ended within this time, such as 30m."""
    address: str = ""
    """URL of the Ray dashboard for --if-idle, if it is reachable without port forwarding."""

    def run(self) -> int:
        """Suspend and wait; return 1 if pods still exist. Raises NotThere, ManagedByHelm, NoJobs."""
        from ante.deploy.trainings import suspend_training

        if self.if_idle and (busy := self.busy(seconds_of(self.if_idle))):
            print(f"cluster {self.name} is not suspended: {busy}")
            return 0
        if suspend_training(self.access(), self.name, self.seconds):
            print(
                f"training {self.name} is suspended and occupies no pods; ante cluster resume {self.name} continues it"
            )
            return 0
        print(f"pods still exist after {self.seconds:.0f} s: see ante cluster status {self.name}", file=sys.stderr)
        return 1

    def busy(self, seconds: int) -> str:
        """Return why a cluster is not idle, empty if it is."""
        import time

        from ante.deploy.jobs import idle_since, job_client
        from ante.deploy.trainings import SUSPENDED, pods, training

        access = self.access()
        now = training(access, self.name)
        if now.kind == "RayJob":
            raise BalatroError(f"{self.name} is a RayJob, which ends with its training: leave out --if-idle")
        if now.state in SUSPENDED:
            return "it is suspended already"
        with job_client(access, now.cluster, now.name, self.address) as jobs:
            since = idle_since(jobs)
        head = max((pod.begun for pod in pods(access, self.name) if pod.part == "head"), default=now.begun)
        idle = time.time() - max(since, head)
        return (
            "a job is running" if since == float("inf") else "" if idle >= seconds else f"it is idle for {idle:.0f} s"
        )


@dataclass(frozen=True)
class Resume(Where):
    """Resume a suspended, failed or finished RayJob from its newest checkpoint in the bucket.

    Try:
      ante cluster resume first
      ante cluster resume first --steps 10000000
    """

    name: Positional[Annotated[str, arg(metavar="NAME")]] = "ante"
    """Name of the training."""
    steps: Count | None = None
    """New total of environment steps of the run."""

    def run(self) -> int:
        """Resume the training. Raises NotThere."""
        from ante.deploy.trainings import resume_training

        done = resume_training(self.access(), self.name, f"--steps {self.steps}" if self.steps else "")
        print(f"training {self.name} {done}; follow it: ante cluster logs {self.name} -f")
        return 0


@dataclass(frozen=True)
class Cancel(Where):
    """Stop the job of a training for good: the run writes a checkpoint and ends. Its log stays, and `resume` may restart it.

    The cluster of a RayJob is deleted afterwards; a cluster from `ante cluster up` remains for other jobs.

    Try:
      ante cluster cancel first
    """

    name: Positional[Annotated[str, arg(metavar="NAME")]] = "ante"
    """Name of the training."""
    address: str = ""
    """URL of the Ray dashboard, if it is reachable without port forwarding."""

    def run(self) -> int:
        """Stop the job. Raises NotThere, ManagedByHelm, NoJobs."""
        from ante.deploy.jobs import job_client, newest, stop
        from ante.deploy.trainings import ENDED, release_at_end, training

        access = self.access()
        now = training(access, self.name)
        if now.kind == "RayJob":
            if now.state in ENDED or not now.cluster:
                raise BalatroError(
                    f"training {self.name} is {now.state} and has no running job: ante cluster down {self.name} deletes it"
                )
            release_at_end(access, self.name)
        with job_client(access, now.cluster, now.name, self.address) as jobs:
            job = newest(jobs)
            if not stop(jobs, job):
                raise BalatroError(f"job {job} of {self.name} does not run: see ante cluster status {self.name}")
        print(f"job {job} is stopping; ante cluster logs {self.name} -f follows it")
        return 0


@dataclass(frozen=True)
class Down(Where):
    """Delete a training: RayJob or RayCluster, pods and configuration. The bucket is not changed.

    Try:
      ante cluster down first
    """

    name: Positional[Annotated[str, arg(metavar="NAME")]] = "ante"
    """Name of the training."""
    seconds: Seconds = 180.0
    """Seconds to wait for the deletion to complete."""

    def run(self) -> int:
        """Delete and wait; return 1 if the deletion is not complete. Raises NotThere, ManagedByHelm."""
        from ante.deploy.trainings import delete_training

        gone = delete_training(self.access(), self.name, self.seconds, lambda what: print(f"{what}: deleted"))
        if not gone:
            print(
                f"deletion is incomplete after {self.seconds:.0f} s: see ante cluster status {self.name}",
                file=sys.stderr,
            )
        return 0 if gone else 1


@dataclass(frozen=True)
class Exec(Where):
    """Run a command in a pod of a training and return its exit code. It has no terminal and no input.

    Try:
      ante cluster exec first 'df -h'
      ante cluster exec first --part gpu nvidia-smi
    """

    name: Positional[Annotated[str, arg(metavar="NAME")]] = "ante"
    """Name of the training."""
    command: Positional[Annotated[str, arg(metavar="COMMAND")]] = ""
    """The command and its arguments, quoted as one word for the shell; it runs without a shell."""
    part: str = "head"
    """Kind of pod: head, gpu, cpu or a group of extraWorkers; the first running one is used."""

    def run(self) -> int:
        """Run the command. Raises NotThere, NoTunnel, CannotRun."""
        from ante.deploy.trainings import container_of, pods, training
        from ante.deploy.tunnel import execute

        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise BalatroError(f"cannot split the command {self.command!r} into words: {error}") from None
        if not words:
            raise BalatroError(f"no command was given: ante cluster exec {self.name} COMMAND")
        access = self.access()
        training(access, self.name)
        found = [pod.name for pod in pods(access, self.name) if pod.part == self.part and pod.phase == "Running"]
        if not found:
            raise BalatroError(f"no {self.part} pod of {self.name} is running: see ante cluster status {self.name}")
        return execute(access, found[0], container_of(self.part), words, write_to)


def write_to(number: int, data: bytes) -> None:
    """Write a part of a command's output to stdout (1) or stderr (2)."""
    stream = (sys.stdout if number == 1 else sys.stderr).buffer  # a part may end within a character
    stream.write(data)
    stream.flush()


@dataclass(frozen=True)
class Gpus(Where):
    """List the GPUs of the cluster's nodes, which of them are free, and the pods that use the others.

    Try:
      ante cluster gpus
      ante cluster gpus --json
    """

    json: bool = False
    """Print a JSON list."""

    def run(self) -> int:
        """Print the list. Raises NotAllowed."""
        from ante.deploy.capacity import gpus

        access = self.access()
        found = list(gpus(access.list("Node"), access.list("Pod", "")))
        rows = [
            (one.node, one.product, one.resource, str(one.total), str(one.used),
             str(one.free) if one.schedulable else "0, cordoned", " ".join(one.users))
            for one in found
        ]  # fmt: skip
        heads = ("node", "GPU", "resource", "total", "used", "free", "used by")
        show([asdict(one) | {"free": one.free} for one in found], heads, rows, self.json)
        return 0
