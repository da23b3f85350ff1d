"""A cluster of the CodeFlare SDK with Ante's settings, for notebooks.

`create_resource()` returns the objects of `spec.py`, so a notebook, Helm and `ante cluster` create the same cluster.
Other differences from the SDK (tested with codeflare-sdk 0.40.1):

- The SDK's apply() waits up to 300 s for certificates that only OpenShift AI creates. Here it waits only on request.
- The SDK's apply() prints API errors and continues. Here the API server validates first, and errors are raised.
- The SDK drops the Kueue label if Kueue no longer serves v1beta1. Here the object always has it.
- The SDK's wait_ready() never returns without an Ingress or a Route, and never reports why pods are pending.
- The SDK's job_client requires an Ingress or a Route. Here it uses a tunnel to the head.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from codeflare_sdk import Cluster, ClusterConfiguration
from kubernetes import client

from ante.deploy.access import Access, Object, connect
from ante.deploy.jobs import follow, job_client, newest, submit
from ante.deploy.placement import check_fits, gpus_of
from ante.deploy.settings import Settings, make_settings, merged
from ante.deploy.spec import objects, submitted_entrypoint
from ante.deploy.trainings import delete_training, pods, training

if TYPE_CHECKING:
    from ray.job_submission import JobSubmissionClient

WAIT_SECONDS = 180.0
POLL_SECONDS = 2.0


class AnteCluster(Cluster):  # type: ignore[misc]
    """A Ray cluster for training, with the same settings as the Helm chart and `ante cluster`.

    settings    Settings, or a dict as in values.yaml
    api_client  a Kubernetes client, such as that of `codeflare_sdk.Codeflare`; kubectl's configuration by default

    Raises BadSettings, DoesNotFit, NoCluster.
    """

    def __init__(self, settings: Settings | Mapping[str, Any], api_client: client.ApiClient | None = None) -> None:
        given = settings if isinstance(settings, Settings) else make_settings(settings)
        self.settings = without_job(given)
        check_fits(self.settings)
        self.access = (
            Access(api_client, self.settings.namespace) if api_client else connect(None, self.settings.namespace)
        )
        self._tunnels = ExitStack()
        self._job_submission_client: Any = None
        super().__init__(configuration(self.settings), api_client=self.access.api_client)

    def create_resource(self) -> Object:
        """Return the RayCluster, as `ante cluster up` creates it."""
        return objects(self.settings)[-1]

    def apply(self, force: bool = False, timeout: int = 0) -> None:
        """Create the cluster. `timeout`: seconds to wait for certificates of OpenShift AI.

        Raises NotAllowed, NoKind, Rejected, NotThere.
        """
        for one in objects(self.settings):
            self.access.apply(one, dry_run=True)
        for one in objects(self.settings)[:-1]:
            self.access.apply(one)
        super().apply(force=force, timeout=timeout)
        self.access.get("RayCluster", self.settings.name)  # raises, because the SDK only prints errors

    def _generate_tls_certs_with_wait(self, timeout: int = 0) -> bool:
        return bool(super()._generate_tls_certs_with_wait(timeout=timeout)) if timeout else True

    def wait_ready(self, timeout: int | None = None, dashboard_check: bool = False) -> None:
        """Wait until the cluster runs, and print why its pods are pending.

        `dashboard_check` selects the SDK's method, which requires an Ingress or a Route. Raises TimeoutError, NotThere.
        """
        if dashboard_check:
            super().wait_ready(timeout=timeout, dashboard_check=True)
            return
        end, last = time.monotonic() + (timeout or float("inf")), ""
        while (now := training(self.access, self.settings.name)).state != "ready":
            waits = [f"{pod.name}: {pod.why}" for pod in pods(self.access, self.settings.name) if pod.why]
            words = "; ".join([now.state, now.reason, *waits[:3]])
            if words != last:
                print(words)
            last = words
            if time.monotonic() > end:
                raise TimeoutError(f"cluster {self.settings.name} is not ready after {timeout} s: {words}")
            time.sleep(POLL_SECONDS)
        print(f"cluster {self.settings.name} is ready")

    @property
    def job_client(self) -> "JobSubmissionClient":
        """Ray's job client, through a tunnel that stays open until down() or close(). Raises NoJobs, NotThere."""
        if self._job_submission_client is None:
            opened = job_client(self.access, self.settings.name, self.settings.name)
            self._job_submission_client = self._tunnels.enter_context(opened)
        return self._job_submission_client

    def train(self, **changes: Any) -> str:
        """Start the training, sweep or comparison, or resume it from the bucket. Returns the job's id.

        changes  keys of `training` in values.yaml for this job, such as name, and sweep or compare

        Raises BadSettings, DoesNotFit, NoJobs, NotThere.
        """
        values = merged(self.settings.to_values(), {"training": changes})
        settings = make_settings(values | {"name": self.settings.name, "namespace": self.settings.namespace})
        check_fits(settings)
        return submit(self.job_client, settings.run, submitted_entrypoint(settings))

    def lines(self, job: str = "", follow_on: bool = True) -> Iterator[str]:
        """Yield the log of a job, the newest by default, until it ends."""
        jobs = self.job_client
        yield from follow(jobs, job or newest(jobs), follow_on)

    def close(self) -> None:
        """Close the tunnel. The cluster keeps running."""
        self._job_submission_client = None
        self._tunnels.close()

    def down(self) -> None:
        """Delete the cluster, its pods and its configuration, but not the bucket's contents."""
        self.close()
        delete_training(self.access, self.settings.name, WAIT_SECONDS, lambda what: print(f"{what}: deleted"))


def without_job(settings: Settings) -> Settings:
    """Return the settings of a cluster without a RayJob, to which jobs are submitted."""
    return settings.model_copy(update={"job": settings.job.model_copy(update={"enabled": False})})


def configuration(settings: Settings) -> ClusterConfiguration:
    """Return what the SDK displays of a cluster before it runs. create_resource() defines the cluster itself."""
    group = next(iter(settings.groups.values()))
    gpus = gpus_of(group)
    return ClusterConfiguration(
        name=settings.name,
        namespace=settings.namespace,
        image=settings.image.reference,
        head_cpu_requests=settings.head.cpu_request or settings.head.cpus,
        head_cpu_limits=settings.head.cpus,
        head_memory_requests=settings.head.memory_request or settings.head.memory,
        head_memory_limits=settings.head.memory,
        num_workers=group.replicas,
        worker_cpu_requests=group.cpu_request or group.cpus,
        worker_cpu_limits=group.cpus,
        worker_memory_requests=group.memory_request or group.memory,
        worker_memory_limits=group.memory,
        worker_extended_resource_requests={settings.gpu_workers.gpu_resource: gpus} if gpus else {},
        verify_tls=True,
    )
