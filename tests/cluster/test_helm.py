"""Helm on a real cluster: from `helm install` to a video in the bucket, then uninstall."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import pytest
from tests.cluster.conftest import CHART, ROOT, VALUES
from tests.cluster.screens import see_console, see_dashboard
from tests.cluster.support import Cluster, Journal, bucket_of, eventually, kept_steps, secret_of

pytestmark = pytest.mark.cluster
NAME = "ante"
VALUES_OF = ("--values", str(VALUES))


@dataclass
class Run:
    """A completed training."""

    cluster: Cluster
    log: str


@pytest.fixture(scope="module")
def trained(cluster: Cluster, journal: Journal) -> Iterator[Run]:
    """Install a release and wait until its training has ended."""
    journal.note("helm install begins")
    run_name = f"training.name={cluster.namespace}"  # a volume may contain data of earlier tests
    cluster.helm("install", NAME, str(CHART), *VALUES_OF, "--set", run_name, timeout=120)
    journal.note("helm install returned")
    eventually("head and workers ready", 420, lambda: len(cluster.pods("head", True) + cluster.pods("gpu", True)) == 3)
    journal.note("head and two workers ready")
    eventually("first steps", 300, cluster.steps)
    journal.note("first iteration", steps=cluster.steps())
    eventually("training completed", 900, lambda: cluster.job(NAME) in ("Complete", "Failed"), every=2)
    journal.note("job ended", status=cluster.job(NAME), steps=cluster.steps())
    log = cluster.log()
    (ROOT / "runs/cluster/helm.log").write_text(log)
    assert cluster.job(NAME) == "Complete", log[-3000:]
    yield Run(cluster, log)


@pytest.fixture(scope="module")
def bucket(trained: Run) -> Iterator[Any]:
    """Open the run's bucket."""
    with bucket_of(trained.cluster, NAME) as found:
        yield found


def test_the_bucket_holds_what_the_run_has_made(trained: Run, bucket: Any, journal: Journal) -> None:
    folder = f"runs/{trained.cluster.namespace}"
    sizes = {item.key: item.size for item in bucket.objects.filter(Prefix=folder)}
    journal.note("bucket", objects=len(sizes), bytes=sum(sizes.values()))
    (ROOT / "runs/cluster/bucket.json").write_text(json.dumps(sizes, indent=1))
    assert kept_steps(bucket, trained.cluster.namespace) == trained.cluster.steps() >= 120_000
    for wanted in (r"config\.yaml$", r"metrics\.csv$", r"evaluation\.json$", r"\.mp4$", r"report\.html$"):
        assert any(re.search(wanted, key) and size for key, size in sizes.items()), wanted


def test_the_video_is_h264_with_frames(bucket: Any, tmp_path: Path) -> None:
    keys = [item.key for item in bucket.objects.all() if item.key.endswith("episode.mp4")]
    bucket.download_file(keys[0], str(tmp_path / "episode.mp4"))
    with av.open(str(tmp_path / "episode.mp4")) as video:
        assert video.streams.video[0].codec_context.name == "h264"
        assert sum(1 for _ in video.decode(video=0)) > 20


def test_helm_test_is_green(trained: Run, journal: Journal) -> None:
    printed = trained.cluster.helm("test", NAME, timeout=300)
    assert "Succeeded" in printed and "Failed" not in printed
    journal.note("helm test green")


def test_dashboard_and_console_open_in_a_browser(trained: Run, journal: Journal) -> None:
    cluster, folder = trained.cluster, ROOT / "runs/cluster"
    token = secret_of(cluster, cluster.get("rayjob", NAME)["status"]["rayClusterName"])["auth_token"]
    with (
        cluster.forwarded(f"service/{NAME}-dashboard", 8265) as dashboard,
        cluster.forwarded(f"service/{NAME}-console", 9001) as console,
    ):
        see_dashboard(f"http://127.0.0.1:{dashboard}", token, folder / "dashboard.png")
        see_console(
            f"http://127.0.0.1:{console}", secret_of(cluster, f"{NAME}-s3"), cluster.namespace, folder / "console.png"
        )
    for name in ("dashboard.png", "console.png"):
        assert (folder / name).stat().st_size > 20_000
    journal.note("dashboard and console photographed")


def test_no_secret_stands_where_it_can_be_read(trained: Run) -> None:
    private = secret_of(trained.cluster, f"{NAME}-s3")["S3_SECRET_ACCESS_KEY"]
    printed = trained.log + json.dumps(
        [trained.cluster.get(kind) for kind in ("rayjobs", "rayclusters", "pods", "configmaps")]
    )
    assert private not in printed


def left(cluster: Cluster) -> list[str]:
    """Return the remaining objects of a release, except volume claims and the credentials of their bucket."""
    kinds = "rayjobs,rayclusters,pods,services,deployments,statefulsets,jobs,configmaps,secrets,serviceaccounts,roles,networkpolicies"
    found = [(item["kind"], item["metadata"]["name"]) for item in cluster.get(kinds)["items"]]
    kept = ("kube-root-ca.crt", "default", f"{NAME}-objectstore", f"{NAME}-s3")
    return [f"{kind}/{name}" for kind, name in found if name not in kept]


def test_uninstall_leaves_claims_and_their_credentials(trained: Run, journal: Journal) -> None:
    cluster = trained.cluster
    cluster.helm("uninstall", NAME, "--wait", "--timeout", "180s", timeout=240)
    eventually("only claims and credentials left", 240, lambda: not left(cluster))
    claims = [claim["metadata"]["name"] for claim in cluster.get("persistentvolumeclaims")["items"]]
    assert len(claims) == 1 and left(cluster) == []
    journal.note("uninstalled", claims=claims)
