"""`ante cluster`: training on Kubernetes."""

import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, UseAppendAction, arg, subcommand

from ante.cli.options import Age, Count, Port, Positive, Seconds, seconds_of
from ante.cli.platform.cluster_lifecycle import Cancel, Down, Exec, Gpus, Resume, Suspend, Where
from ante.cli.shown import show
from ante.errors import BalatroError

if TYPE_CHECKING:
    from ante.deploy.access import Access
    from ante.deploy.checks import Check
    from ante.deploy.settings import Settings


@dataclass(frozen=True)
class What(Where):
    """Options that describe a training, with the settings of the Helm chart. ANTE_REGISTRY names the registry of the image."""

    name: str | None = None
    """Name of all objects; ante by default."""
    preset: str | None = None
    """Base settings: cpu, gpu, spot, queue or openshift."""
    values: Annotated[UseAppendAction[tuple[Path, ...]], arg(aliases=["-f"], metavar="FILE")] = ()
    """Values file; repeatable."""
    set: Annotated[UseAppendAction[tuple[str, ...]], arg(metavar="KEY=VALUE")] = ()
    """One setting, such as gpuWorkers.replicas=2; repeatable."""

    def settings(self, namespace: str | None = None, job: bool | None = None) -> "Settings":
        """Return the settings. Raises BadSettings."""
        from ante.deploy.settings import preset, read_settings, released

        files = ((preset(self.preset),) if self.preset else ()) + self.values
        kind = () if job is None else (f"job.enabled={str(job).lower()}",)
        image = released(os.environ.get("ANTE_REGISTRY"))
        return read_settings(files, self.set + kind, image, name=self.name, namespace=namespace or self.namespace)


@dataclass(frozen=True)
class Preflight(What):
    """Check a training's prerequisites: API, KubeRay, permissions, capacity, image, bucket, LLM, queue.

    No GPU is requested. A small pod in the cluster checks image, bucket and LLM. Exit code 1 if a check fails.

    Try:
      ante cluster preflight --preset gpu
      ante cluster preflight -f values.yaml --set s3.bucket=game-runs
      ante cluster preflight -f values.yaml --no-pod --json
    """

    pod: bool = True
    """Start a pod to check image, bucket and LLM."""
    seconds: Seconds = 180.0
    """Timeout of the pod in seconds, including the image pull."""
    in_pod: bool = False
    """Run as that pod: only check the bucket and LLM given by environment variables."""
    json: bool = False
    """Print one line of JSON per check: name, state (ok, warn, fail), words, fix."""

    def run(self) -> int:
        """Run the checks and print the results."""
        found = list(self.shown(self.checks()))
        if not self.json:
            print_verdict(found)
        return 1 if any(check.state == "fail" for check in found) else 0

    def checks(self) -> Iterator["Check"]:
        """Yield the results as they complete."""
        if self.in_pod:
            from ante.deploy.checks import inside

            yield from inside(os.environ)
            return
        from ante.deploy.preflight import preflight

        access: list[Access] = []

        def connected() -> "Access":
            if not access:
                access.append(self.access())
            return access[0]

        namespace = self.namespace
        if namespace is None:
            try:
                namespace = connected().namespace
            except BalatroError:
                namespace = None  # the API check reports the error
        yield from preflight(connected, self.settings(namespace), self.pod, self.seconds, report)

    def shown(self, checks: Iterator["Check"]) -> Iterator["Check"]:
        """Yield the results and print each one."""
        for check in checks:
            if self.json:
                print(json.dumps(check.as_json()), flush=True)
            else:
                print_check(check)
            yield check


@dataclass(frozen=True)
class Render(What):
    """Print the objects as YAML without contacting a cluster.

    Try:
      ante cluster render --preset gpu --name mine
      ante cluster render -f values.yaml --set job.enabled=false | kubectl diff -f -
    """

    def run(self) -> int:
        """Print the objects. Raises DoesNotFit."""
        print_yaml(self.settings())
        return 0


@dataclass(frozen=True)
class Up(What):
    """Start a Ray cluster, to which `ante cluster submit` submits jobs.

    Try:
      ante cluster up --preset cpu
      ante cluster up -f values.yaml --name mine --dry-run
    """

    dry_run: bool = False
    """Print the objects as YAML instead of creating them."""

    def run(self) -> int:
        """Create the objects. Raises DoesNotFit, NoCluster, NotAllowed, NoKind."""
        return create(self, self.dry_run, job=False)


@dataclass(frozen=True)
class Submit(What):
    """Submit a training to the cluster of that name from `ante cluster up`, or as a RayJob with its own cluster.

    The run is stored in the bucket under its name. After a failure, the same command continues it.

    Try:
      ante cluster submit --preset gpu --name first --set training.config.steps=5000000
      ante cluster submit -f values.yaml --dry-run
      ante cluster submit -f values.yaml --budget 50
      ante cluster logs first -f
    """

    dry_run: bool = False
    """Print the RayJob as YAML, and the estimated cost on standard error, instead of creating it."""
    budget: Positive | None = None
    """Most that an attempt may cost, by the prices in the settings; it ends at this amount."""
    address: str = ""
    """URL of the Ray dashboard, if it is reachable without port forwarding."""

    def run(self) -> int:
        """Submit the job. Raises DoesNotFit, NoCluster, NotAllowed, NoKind, NoJobs."""
        if self.dry_run:
            return create(self, True, job=True)
        from ante.deploy.placement import check_fits
        from ante.deploy.trainings import owned

        access = self.access()
        settings = self.settings(access.namespace, job=True)
        check_fits(settings)
        cluster = access.find("RayCluster", settings.name)
        if cluster is None or owned(cluster):
            return create(self, False, job=True)
        from ante.deploy.jobs import job_client, submit
        from ante.deploy.spec import submitted_entrypoint

        if self.budget:
            raise BalatroError(
                f"--budget ends a RayJob, and {settings.name} is a RayCluster, which remains: leave it out"
            )
        with job_client(access, settings.name, settings.name, self.address) as jobs:
            job = submit(jobs, settings.run, submitted_entrypoint(settings))
        print(f"job {job} on cluster {settings.name}; follow it: ante cluster logs {settings.name} -f")
        return 0

    def settings(self, namespace: str | None = None, job: bool | None = None) -> "Settings":
        """See What; the deadline is not later than the budget permits."""
        from ante.deploy.capacity import within_budget

        found = super().settings(namespace, job)
        return within_budget(found, self.budget) if self.budget else found


@dataclass(frozen=True)
class Status(Where):
    """Show the state of a training, its pods, and why pods are pending.

    Try:
      ante cluster status first
      ante cluster status first --json
    """

    name: Positional[Annotated[str, arg(metavar="NAME")]] = "ante"
    """Name of the training."""
    json: bool = False
    """Print one JSON object: training, pods."""

    def run(self) -> int:
        """Print the state; return 1 if the training has failed. Raises NotThere."""
        from ante.deploy.trainings import age, pods, training

        access = self.access()
        found, theirs = training(access, self.name), pods(access, self.name)
        if self.json:
            print(json.dumps({"training": found.as_json(), "pods": [asdict(pod) for pod in theirs]}, indent=1))
        else:
            state = f"{found.state}{', suspended' if found.suspended else ''}"
            print(f"{found.kind} {found.name}: {state}, age {age(found.begun)}; failed attempts: {found.failed}")
            if found.spent:
                print(f"cost of this attempt: {found.spent}")
            if found.reason:
                print("\n".join(found.reason.strip().splitlines()[-3:]))
            rows = [
                (pod.part, pod.name, pod.phase, "yes" if pod.ready else "no", str(pod.restarts), pod.node, pod.why)
                for pod in theirs
            ]
            show([], ("part", "pod", "phase", "ready", "restarts", "node", "reason"), rows, False)
        return 1 if "fail" in found.state.lower() else 0


@dataclass(frozen=True)
class Logs(Where):
    """Print the log of a training or (--part) of its pods.

    Try:
      ante cluster logs first -f
      ante cluster logs first --part head --tail 50
      ante cluster logs first --since 10m
    """

    name: Positional[Annotated[str, arg(metavar="NAME")]] = "ante"
    """Name of the training."""
    follow: Annotated[bool, arg(aliases=["-f"])] = False
    """Follow the log until the training ends; Ctrl-C stops."""
    part: str = ""
    """Print the logs of one kind of pod: head, gpu, cpu, submitter or a group of extraWorkers."""
    tail: Count | None = None
    """Number of last lines to print."""
    since: Age | None = None
    """Print only the lines of this last time, such as 30s, 10m or 2h."""
    address: str = ""
    """URL of the Ray dashboard, if it is reachable without port forwarding."""

    def run(self) -> int:
        """Print the log. Raises NotThere."""
        from ante.deploy.trainings import training

        access = self.access()
        found = training(access, self.name)
        if self.part or found.kind == "RayJob":
            for line in self.of_pods(access, self.part or "submitter"):
                print(line, flush=True)
            return 0
        from ante.deploy.jobs import follow, job_client, newest

        if self.since:
            raise BalatroError(
                f"--since needs the log of a pod, and {self.name} is a RayCluster, whose jobs' logs have no times: add --part "
                "head, or use --tail"
            )
        with job_client(access, found.cluster, found.name, self.address) as jobs:
            for line in follow(jobs, newest(jobs), self.follow, self.tail):
                print(line, flush=True)
        return 0

    def of_pods(self, access: "Access", part: str) -> Iterator[str]:
        """Yield log lines of the pods of one part; with follow, also of pods that start later."""
        from ante.deploy.trainings import container_of, follow_pods, started

        since = seconds_of(self.since) if self.since else None
        names = started(access, self.name, part)
        if self.follow:
            yield from follow_pods(access, self.name, part, self.tail, since, report)
            names = names or started(access, self.name, part)
        else:
            for pod in names:
                yield from access.logs(pod, container=container_of(part), tail=self.tail, since=since)
        if not names:
            raise BalatroError(f"no {part} pod of {self.name} has started: see ante cluster status {self.name}")


@dataclass(frozen=True)
class Dashboard(Where):
    """Forward a local port to the Ray dashboard of a training until Ctrl-C.

    Try:
      ante cluster dashboard first
      ante cluster dashboard first --port 9000 --show-token
    """

    name: Positional[Annotated[str, arg(metavar="NAME")]] = "ante"
    """Name of the training."""
    port: Port = 8265
    """Local port; 0 selects a free one."""
    show_token: bool = False
    """Print the authentication token of the dashboard."""

    def run(self) -> int:
        """Forward the port. Raises NotThere, NoTunnel."""
        from ante.deploy.jobs import token
        from ante.deploy.trainings import DASHBOARD_PORT, head_pod, training
        from ante.deploy.tunnel import tunnel

        access = self.access()
        found = training(access, self.name)
        with tunnel(access, head_pod(access, self.name), DASHBOARD_PORT, self.port) as port:
            print(f"http://127.0.0.1:{port}  (Ctrl-C stops)", flush=True)
            if secret := token(access, access.get("RayCluster", found.cluster)):
                print(f"token: {secret if self.show_token else 'required; --show-token prints it'}", flush=True)
            while True:
                time.sleep(3600)


@dataclass(frozen=True)
class List(Where):
    """List trainings.

    Try:
      ante cluster ls
      ante cluster ls --everywhere --json
    """

    everywhere: Annotated[bool, arg(aliases=["-A"])] = False
    """List trainings in all namespaces."""
    json: bool = False
    """Print a JSON list."""

    def run(self) -> int:
        """Print the list."""
        from ante.deploy.trainings import age, trainings

        found = trainings(self.access(), self.everywhere)
        rows = [
            (one.namespace, one.name, one.kind, one.state, str(one.failed), age(one.begun), one.spent, one.cluster)
            for one in found
        ]
        heads = ("namespace", "name", "kind", "state", "failed attempts", "age", "cost", "Ray cluster")
        show([one.as_json() for one in found], heads, rows, self.json)
        return 0


@dataclass(frozen=True)
class Cluster:
    """Submit, monitor, suspend and delete trainings on Kubernetes. The settings are those of the Helm chart.

    Try:
      ante cluster preflight --preset gpu
      ante cluster submit --preset gpu --name first
      ante cluster logs first -f
    """

    command: Annotated[
        Annotated[Preflight, subcommand("preflight")]
        | Annotated[Render, subcommand("render")]
        | Annotated[Up, subcommand("up")]
        | Annotated[Submit, subcommand("submit")]
        | Annotated[Status, subcommand("status")]
        | Annotated[Logs, subcommand("logs")]
        | Annotated[Dashboard, subcommand("dashboard")]
        | Annotated[List, subcommand("ls")]
        | Annotated[Gpus, subcommand("gpus")]
        | Annotated[Exec, subcommand("exec")]
        | Annotated[Suspend, subcommand("suspend")]
        | Annotated[Resume, subcommand("resume")]
        | Annotated[Cancel, subcommand("cancel")]
        | Annotated[Down, subcommand("down")],
        arg(name=""),
    ]

    def run(self) -> int:
        """Run the chosen command."""
        return self.command.run()


def create(what: What, dry_run: bool, job: bool) -> int:
    """Create the objects or print them. Raises DoesNotFit."""
    from ante.deploy.placement import check_fits
    from ante.deploy.spec import objects
    from ante.deploy.trainings import make

    if dry_run:
        settings = what.settings(job=job)
        print_yaml(settings)
        report_cost(settings)
        return 0
    access = what.access()
    settings = what.settings(access.namespace, job)
    check_fits(settings)
    report_cost(settings)
    for made in make(access, objects(settings)):
        print(f"{made}: applied")
    then = f"ante cluster logs {settings.name} -f" if job else f"ante cluster status {settings.name}"
    print(f"next: {then}")
    return 0


def report_cost(settings: "Settings") -> None:
    """Print the price for an hour and the most that an attempt can cost, if the settings have prices."""
    from ante.deploy.capacity import hourly_cost
    from ante.deploy.spec import objects

    found = objects(settings)[-1]
    (hourly, currency), (largest, _) = hourly_cost(found), hourly_cost(found, most=True)
    if not hourly:
        return
    hours = settings.job.active_deadline_seconds / 3600 if settings.job.enabled else 0
    grown = f", {largest:,.2f} with all replicas" if largest > hourly else ""
    most = (
        f", at most {largest * hours:,.2f} {currency} in {hours:g} hours, the deadline of an attempt" if hours else ""
    )
    report(f"estimated cost: {hourly:,.2f} {currency} per hour{grown}{most}")


def print_yaml(settings: "Settings") -> None:
    """Print the objects as YAML. Raises DoesNotFit if the settings cannot run."""
    from ante.deploy.placement import check_fits
    from ante.deploy.spec import objects
    from ante.yaml_files import as_yaml

    check_fits(settings)
    print(as_yaml(objects(settings)), end="")


def report(words: str) -> None:
    """Print a progress message on standard error."""
    print(f"ante: {words}", file=sys.stderr, flush=True)


MARKS = {"ok": ("green", "✓"), "warn": ("yellow", "?"), "fail": ("red", "✗")}


def print_check(check: "Check") -> None:
    """Print one line of the table and how to fix a failed check."""
    from rich.console import Console
    from rich.markup import escape

    colour, mark = MARKS[check.state]
    console = Console(soft_wrap=True, highlight=False)
    console.print(f"[{colour}]{mark} {check.name:<12}[/{colour}] {escape(check.words)}")
    if check.fix and check.state != "ok":
        console.print(f"  {'':<12} [dim]→ {escape(check.fix)}[/dim]")


def print_verdict(found: list["Check"]) -> None:
    """Print the overall result."""
    red, yellow = (sum(check.state == state for check in found) for state in ("fail", "warn"))
    print(f"{red} of {len(found)} checks failed" if red else f"ready: {len(found)} checks, {yellow} warnings")
