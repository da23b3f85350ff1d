"""The tutorial of the first training on a cluster: its commands as the page has them, in a new namespace.

Only `values.yaml` differs from the page: the test cluster is smaller, and its nodes have the image. KubeRay (step 1) was
installed before, and a local registry contains the chart.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests
import yaml
from tests.certificates import certificate
from tests.cluster.conftest import CHART, SMALL
from tests.cluster.support import OPERATOR, Cluster, Failed, Journal, bucket_of, eventually, run
from tests.docs.pages import blocks
from tests.support.release import registry_at

pytestmark = pytest.mark.cluster
PAGE = "docs/tutorials/first-cluster.md"
NAMESPACE, NAME = "cards", "ante"  # of the page
PORT = 5443


def steps() -> list[list[str]]:
    """Return the commands of the page's blocks from step 4 on."""
    found = [
        [line.partition("  #")[0].strip() for line in block.text.replace("\\\n", " ").splitlines()]
        for block in blocks("bash", [PAGE])
    ]
    assert found[1] == ["export ANTE_REGISTRY=registry.example.com/team"]
    return found[2:]


@pytest.fixture(scope="module")
def folder(image: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a folder with the values, in which the commands run; remove their namespace afterwards."""
    made = tmp_path_factory.mktemp("tutorial")
    admitted = yaml.safe_dump({"networkPolicies": {"operatorPodLabels": dict([OPERATOR.split("=", 1)])}})
    (made / "values.yaml").write_text(SMALL.read_text() + admitted)
    yield made
    run("kubectl", "delete", "namespace", NAMESPACE, "--ignore-not-found", "--timeout=240s", timeout=300)


@pytest.fixture(scope="module")
def variables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Start a registry with the chart; return variables that name it, and with which `ante` is this checkout's command."""
    if not shutil.which("docker-registry"):
        pytest.skip("docker-registry is not installed (tools/system.sh release)")
    made = tmp_path_factory.mktemp("registry")
    certificate(made, "registry")
    run("helm", "package", str(CHART), "--destination", str(made))
    (archive,) = made.glob("*.tgz")
    names = {
        "ANTE_REGISTRY": f"localhost:{PORT}/team",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "SSL_CERT_FILE": str(made / "registry.crt"),
    }
    with registry_at(f"localhost:{PORT}", made, made / "registry.crt", made / "registry.key"):
        executed(f"helm push {archive} oci://$ANTE_REGISTRY/charts", made, names)
        yield names


def executed(command: str, folder: Path, variables: dict[str, str]) -> str:
    """Run a command of the page and return its output. Raises Failed if it fails."""
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=os.environ | variables, capture_output=True, text=True, timeout=900
    )
    if done.returncode:
        raise Failed(f"{command} exited with {done.returncode}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


@contextmanager
def running(command: str, folder: Path) -> Iterator[None]:
    """Run a command of the page that does not end."""
    process = subprocess.Popen(["bash", "-c", command], cwd=folder, start_new_session=True)
    try:
        yield
        assert process.poll() is None, f"{command} exited with {process.poll()}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def test_the_page_as_written(folder: Path, variables: dict[str, str], journal: Journal) -> None:
    begin = time.monotonic()
    check, train, (console,), remove = steps()
    cluster = Cluster(NAMESPACE)

    created, preflight = check
    executed(created, folder, variables)
    assert "? bucket " in executed(preflight, folder, variables)

    *before, follow = train
    for command in before:
        executed(command, folder, variables)
    installed = time.monotonic() - begin
    assert "✓ bucket " in executed(preflight, folder, variables)
    assert follow.startswith("ante cluster logs "), follow
    log = executed(follow, folder, variables)  # it ends with the training
    eventually("the job's end", 60, lambda: cluster.job(NAME) == "Complete")
    journal.note("tutorial: trained", installed=round(installed), seconds=round(time.monotonic() - begin))
    assert "16,384 steps" in log, log[-3000:]

    with running(console, folder):
        eventually("the console", 60, lambda: requests.get("http://localhost:9001", timeout=5).ok)
    with bucket_of(cluster, NAME) as bucket:
        videos = [each.key for each in bucket.objects.filter(Prefix=f"runs/{NAME}/episodes/") if ".mp4" in each.key]
    journal.note("tutorial: videos", seconds=round(time.monotonic() - begin), videos=len(videos))
    assert videos

    for command in remove:
        executed(command, folder, variables)
    assert not cluster.get("pvc")["items"] and not cluster.get("rayjobs")["items"]
