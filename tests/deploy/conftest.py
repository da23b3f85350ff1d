"""A Kubernetes API in memory, and `ante cluster` against it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ante.cli import main
from tests.support.apiserver import Cluster, serving

Ante = Callable[..., tuple[int, str, str]]


@pytest.fixture
def kubernetes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """Start an empty cluster with KubeRay and point KUBECONFIG to it."""
    cluster = Cluster()
    with serving(cluster, tmp_path) as kubeconfig:
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
        monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(kubeconfig))
        yield cluster


@pytest.fixture
def ante(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ante:
    """Return a function that runs `ante cluster` and returns exit code, stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "200")

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["ante", "cluster", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return run
