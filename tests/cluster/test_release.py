"""A release in a registry: `helm install oci://...` brings its image to the nodes, although no value names an image.

The image is empty, so its pods do not run; the other tests train with the real image.
"""

import os
import shutil
import sys
from pathlib import Path

import pytest
import yaml
from tests.cluster.conftest import CHART, SMALL
from tests.cluster.support import Cluster, Journal, eventually, run
from tests.support.release import SBOM, write_image, write_packages

from ante import __version__

pytestmark = pytest.mark.cluster
NAME = "ante"


@pytest.fixture(scope="module")
def registry(cluster: Cluster, journal: Journal, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Publish an empty image and the chart, signed if cosign is installed, and return the name of the registry."""
    if not os.environ.get("CLUSTER_REGISTRY"):
        pytest.skip("CLUSTER_REGISTRY names no registry")
    if missing := [name for name in ("skopeo", "helm") if not shutil.which(name)]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    folder = tmp_path_factory.mktemp("release")
    name = f"{os.environ['CLUSTER_REGISTRY']}/{cluster.namespace}"
    image = str(write_image(folder / "image" / "layout", {"opt/ante/sbom.cdx.json": SBOM}))
    words = ["--image", image, "--cpu-image", image, "--packages", str(write_packages(folder / "dist"))]
    key, signs = folder / "cosign.key", shutil.which("cosign") is not None
    if signs:
        run("env", "COSIGN_PASSWORD=test", "cosign", "generate-key-pair", f"--output-key-prefix={key.with_suffix('')}")
    variables = (f"ANTE_REGISTRY={name}", f"ANTE_SIGNING_KEY={key if signs else ''}", "COSIGN_PASSWORD=test")
    command = (sys.executable, "-m", "tools.release", "--rehearsal", "--plain-http", f"--folder={folder}", *words)
    run("env", *variables, *command, *(() if signs else ("--unsigned",)))
    journal.note("release published", signed=signs)
    return name


def test_nodes_pull_the_image_of_a_published_chart(
    registry: str, cluster: Cluster, journal: Journal, tmp_path: Path
) -> None:
    values = yaml.safe_load(SMALL.read_text())
    del values["image"]
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump(values))
    version = yaml.safe_load((CHART / "Chart.yaml").read_text())["version"]
    chart = (f"oci://{registry}/charts/ante", "--version", version, "--plain-http", "--values", str(file))
    run("helm", "--namespace", cluster.namespace, "install", NAME, *chart)
    pulled = f'Successfully pulled image "{registry}/ante-ray:{__version__}"'

    def is_pulled() -> bool:
        events = cluster.get("events")["items"]
        return any(one["reason"] == "Pulled" and one["message"].startswith(pulled) for one in events)

    eventually("the image is pulled", 180, is_pulled)
    journal.note("nodes have the published image")
    run("helm", "--namespace", cluster.namespace, "uninstall", NAME)
