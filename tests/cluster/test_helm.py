"""Helm on a real cluster: from `helm install` to a video in the bucket, then upgrade, rollback, uninstall."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
import yaml
from botocore.config import Config
from tests.cluster.conftest import CHART, ROOT, VALUES
from tests.cluster.support import Cluster, Journal, eventually

pytestmark = pytest.mark.cluster
NAME = "ante"
VALUES_OF = ("--values", str(CHART / "ci/gpu-values.yaml"), "--values", str(VALUES))


@dataclass
class Run:
    """A training that has ended."""

    cluster: Cluster
    log: str


@pytest.fixture(scope="module")
def trained(cluster: Cluster, journal: Journal) -> Iterator[Run]:
    """A release whose training has run to its end."""
    journal.note("helm install begins")
    cluster.helm("install", NAME, str(CHART), *VALUES_OF, timeout=120)
    journal.note("helm install returned")
    eventually("head and workers ready", 420, lambda: len(cluster.pods("head", True) + cluster.pods("gpu", True)) == 3)
    journal.note("head and two workers ready")
    eventually("first steps", 300, cluster.steps)
    journal.note("first iteration", steps=cluster.steps())
    eventually("training at its end", 900, lambda: cluster.job(NAME) in ("Complete", "Failed"), every=2)
    journal.note("job ended", status=cluster.job(NAME), steps=cluster.steps())
    log = cluster.log()
    (ROOT / "runs/cluster/helm.log").write_text(log)
    assert cluster.job(NAME) == "Complete", log[-3000:]
    yield Run(cluster, log)


@pytest.fixture(scope="module")
def bucket(trained: Run) -> Iterator[Any]:
    """Objects of the run by key, read with the run's own credentials."""
    secret = trained.cluster.get("secret", f"{NAME}-s3")["data"]
    import base64

    key, private = (base64.b64decode(secret[name]).decode() for name in ("S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"))
    with trained.cluster.forwarded(f"service/{NAME}-objectstore", 9000) as port:
        yield boto3.resource(
            "s3", endpoint_url=f"http://127.0.0.1:{port}", aws_access_key_id=key, aws_secret_access_key=private,
            region_name="us-east-1", config=Config(s3={"addressing_style": "path"}),
        ).Bucket("ante")  # fmt: skip


def test_the_bucket_holds_what_the_run_has_made(trained: Run, bucket: Any, journal: Journal) -> None:
    sizes = {item.key: item.size for item in bucket.objects.all()}
    journal.note("bucket", objects=len(sizes), bytes=sum(sizes.values()))
    (ROOT / "runs/cluster/bucket.json").write_text(json.dumps(sizes, indent=1))
    latest = json.loads(bucket.Object("runs/run/checkpoints/latest.json").get()["Body"].read())
    assert any(key.startswith("runs/run/checkpoints/") and key.endswith("manifest.json") for key in sizes)
    assert ("120,832 steps" in trained.log and str(latest).count("120832")) or latest
    for wanted in (r"config\.yaml$", r"metrics\.csv$", r"evaluation\.json$", r"\.mp4$", r"report\.html$"):
        assert any(re.search(wanted, key) and size for key, size in sizes.items()), wanted


def test_the_video_is_h264_with_frames(bucket: Any, tmp_path: Path) -> None:
    import av

    keys = [item.key for item in bucket.objects.all() if item.key.endswith(".mp4")]
    bucket.download_file(keys[0], str(tmp_path / "episode.mp4"))
    with av.open(str(tmp_path / "episode.mp4")) as video:
        assert video.streams.video[0].codec_context.name == "h264"
        assert sum(1 for _ in video.decode(video=0)) > 20


def test_helm_test_is_green(trained: Run, journal: Journal) -> None:
    trained.cluster.helm("test", NAME, "--logs", timeout=300)
    journal.note("helm test green")


def test_dashboard_and_console_open_in_a_browser(trained: Run, journal: Journal) -> None:
    script = Path(__file__).parent / "screenshots.py"
    folder = ROOT / "runs/cluster"
    head = trained.cluster.pods("head")[0]
    with (
        trained.cluster.forwarded(f"pod/{head}", 8265) as dashboard,
        trained.cluster.forwarded(f"service/{NAME}-objectstore", 9001) as console,
    ):
        secret = trained.cluster.get("secret", f"{NAME}-s3")["data"]
        token = trained.cluster.get("secret", trained.cluster.get("rayjob", NAME)["status"]["rayClusterName"])["data"]
        given = json.dumps({"s3": secret, "token": token})
        subprocess.run(
            [sys.executable, str(script), str(dashboard), str(console), str(folder)], input=given, text=True, check=True, timeout=240
        )  # fmt: skip
    for name in ("dashboard.png", "console.png"):
        assert (folder / name).stat().st_size > 20_000
    journal.note("dashboard and console seen")


def test_no_secret_stands_where_it_can_be_read(trained: Run) -> None:
    import base64

    found = trained.cluster.get("secret", f"{NAME}-s3")["data"]
    private = base64.b64decode(found["S3_SECRET_ACCESS_KEY"]).decode()
    told = trained.log + json.dumps(
        [trained.cluster.get(kind) for kind in ("rayjobs", "rayclusters", "pods", "configmaps")]
    )
    assert private not in told


def test_upgrade_rollback_uninstall(trained: Run, journal: Journal) -> None:
    cluster = trained.cluster
    cluster.helm(
        "upgrade", NAME, str(CHART), *VALUES_OF, "--set", "gpuWorkers.replicas=1,training.name=other", timeout=180
    )
    chosen = lambda: yaml.safe_load(cluster.helm("get", "manifest", NAME)) is not None  # noqa: E731
    assert chosen
    journal.note("upgraded", revision=2)
    cluster.helm("rollback", NAME, "1", timeout=180)
    cluster.helm("uninstall", NAME, "--wait", "--timeout", "180s", timeout=240)
    kinds = "rayjobs,rayclusters,pods,services,deployments,statefulsets,jobs,configmaps,secrets,serviceaccounts,networkpolicies"
    left = lambda: [  # noqa: E731
        f"{item['kind']}/{item['metadata']['name']}"
        for item in cluster.get(kinds)["items"]
        if item["metadata"]["name"] not in ("kube-root-ca.crt", "default")
    ]
    eventually("nothing but claims left", 240, lambda: not left())
    journal.note("uninstalled", claims=len(cluster.get("persistentvolumeclaims")["items"]))
