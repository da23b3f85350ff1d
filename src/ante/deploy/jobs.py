"""Submission and logs of jobs on a running Ray cluster, through a tunnel to its head."""

import base64
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ante.deploy.access import Access, Object
from ante.deploy.trainings import DASHBOARD_PORT, head_pod
from ante.deploy.tunnel import tunnel
from ante.errors import BalatroError

if TYPE_CHECKING:
    from ray.job_submission import JobDetails, JobSubmissionClient


POLL_SECONDS = 2.0


class NoJobs(BalatroError, ConnectionError):
    """The head does not accept jobs, or has none."""


def token(access: Access, cluster: Object) -> str | None:
    """Return Ray's token from KubeRay's Secret, None without authentication. Raises NotThere, NotAllowed."""
    auth = cluster["spec"].get("authOptions", {})
    if auth.get("mode") != "token":
        return None
    secret = access.get("Secret", auth.get("secretName") or cluster["metadata"]["name"])
    return base64.b64decode(secret["data"]["auth_token"]).decode()


@contextmanager
def job_client(access: Access, cluster: str, instance: str, address: str = "") -> Iterator["JobSubmissionClient"]:
    """Open Ray's job client for a RayCluster, at an address or through a tunnel. Raises NoJobs, NotThere."""
    from ray.job_submission import JobSubmissionClient

    secret = token(access, access.get("RayCluster", cluster))
    headers = {"Authorization": f"Bearer {secret}"} if secret else None

    def made(url: str) -> JobSubmissionClient:
        try:
            return JobSubmissionClient(url, headers=headers)
        except (ConnectionError, RuntimeError) as error:
            words = str(error).partition("\n")[0]
            raise NoJobs(
                f"the head of {cluster} does not accept jobs at {url}: {words}; see ante cluster status {instance}"
            ) from None

    if address:
        yield made(address)
        return
    with tunnel(access, head_pod(access, instance), DASHBOARD_PORT) as port:
        yield made(f"http://127.0.0.1:{port}")


def submit(jobs: "JobSubmissionClient", run: str, entrypoint: str) -> str:
    """Submit the training to the cluster and return the job's id. Raises NoJobs."""
    try:
        return str(jobs.submit_job(entrypoint=entrypoint, submission_id=f"{run}-{int(time.time())}"))
    except RuntimeError as error:
        raise NoJobs(f"the head rejected the job: {str(error).partition(chr(10))[0]}") from None


def newest(jobs: "JobSubmissionClient") -> str:
    """Return the id of the newest job. Raises NoJobs if there is none."""
    found = listed(jobs)
    if not found:
        raise NoJobs("the cluster has no jobs: submit one with ante cluster submit")
    return str(max(found, key=lambda job: job.start_time or 0).submission_id)


def listed(jobs: "JobSubmissionClient") -> "list[JobDetails]":
    """Return the submitted jobs. Raises NoJobs."""
    try:
        return [job for job in jobs.list_jobs() if job.submission_id]
    except (OSError, RuntimeError) as error:
        raise NoJobs(f"the head does not list its jobs: {str(error).partition(chr(10))[0]}") from None


def idle_since(jobs: "JobSubmissionClient") -> float:
    """Return when the last job ended, in seconds since 1970: infinity if one has not ended, 0 without jobs. Raises NoJobs."""
    found = listed(jobs)
    open_ones = any(str(job.status) in ("PENDING", "RUNNING") for job in found)
    return float("inf") if open_ones else max((job.end_time or 0 for job in found), default=0) / 1000


def stop(jobs: "JobSubmissionClient", job: str) -> bool:
    """Request the end of a job; return whether it was running. It receives SIGTERM and has RAY_JOB_STOP_WAIT_TIME_S. Raises NoJobs."""
    try:
        return bool(jobs.stop_job(job))
    except (OSError, RuntimeError) as error:
        raise NoJobs(f"the head did not stop job {job}: {str(error).partition(chr(10))[0]}") from None


def follow(jobs: "JobSubmissionClient", job: str, on: bool, tail: int | None = None) -> Iterator[str]:
    """Yield the log lines of a job, with `on` until it ends. Polling works in notebooks too.

    tail  only this many of the lines that exist at first

    Raises NoJobs if the head stops responding.
    """
    sent, ended = 0, not on
    while True:
        try:
            ended = ended or jobs.get_job_status(job).is_terminal()
            text = jobs.get_job_logs(job)
        except (OSError, RuntimeError) as error:
            words = str(error).partition("\n")[0]
            raise NoJobs(f"the head no longer responds: {words}; ante cluster status shows why") from None
        whole = len(text) if ended else text.rfind("\n") + 1
        if whole > sent:
            lines = text[sent:whole].splitlines()
            yield from lines if sent or tail is None else lines[-tail:]
            sent = whole
        if ended:
            return
        time.sleep(POLL_SECONDS)
