"""Secrets that the Job of the object store creates: once, random, by name, and handed on to the bucket's users."""

import base64
import json
from pathlib import Path

import pytest

from ante.deploy.access import NotThere, Rejected, connect
from ante.deploy.pod_programs.credentials import BadPlan, ensure_all, main, read_plan
from ante.storage.provision import User, read_users
from tests.helm.renders import values_of
from tests.support.apiserver import Cluster
from tests.support.helm import render

ROOT = {"namespace": "default", "name": "root", "user_key": "U", "secret_key": "P", "user": "ante-root"}
OWN = {"namespace": "default", "name": "own", "user_key": "A", "secret_key": "S"}


def data(kubernetes: Cluster, namespace: str, name: str) -> dict[str, str]:
    """Return the decoded data of a Secret."""
    found = kubernetes.objects["Secret", namespace, name]["data"]
    return {key: base64.b64decode(value).decode() for key, value in found.items()}


def namespaces(kubernetes: Cluster, *names: str) -> None:
    for name in names:
        kubernetes.put({"kind": "Namespace", "metadata": {"name": name}})


def test_missing_secrets_are_created_once(kubernetes: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    plan = json.dumps([ROOT, OWN])
    assert main([plan]) == 0
    first = data(kubernetes, "default", "root"), data(kubernetes, "default", "own")
    assert first[0]["U"] == "ante-root" and first[1]["A"].startswith("ante-")
    assert len({first[0]["P"], first[1]["S"]}) == 2 and all(len(word) == 40 for word in (first[0]["P"], first[1]["S"]))
    assert main([plan]) == 0
    assert (data(kubernetes, "default", "root"), data(kubernetes, "default", "own")) == first
    printed = capsys.readouterr().out
    assert printed.count("created") == 2 and printed.count("exists") == 2
    assert not any(word in printed for one in first for word in one.values())


def test_a_copy_has_the_credentials_of_the_first(kubernetes: Cluster) -> None:
    ensure_all(connect(), read_plan(json.dumps([ROOT, {**OWN, "copy": True}])), print)
    assert list(data(kubernetes, "default", "own").values()) == list(data(kubernetes, "default", "root").values())


def test_users_of_the_charts_plan_are_those_that_provision_reads(kubernetes: Cluster, tmp_path: Path) -> None:
    (job,) = render(values_of("platform"), namespace="platform").kind("Job").values()
    plan = job["spec"]["template"]["spec"]["initContainers"][0]["args"][0]
    namespaces(kubernetes, "platform", "team-a", "team-b")
    file = tmp_path / "users.json"
    assert main([plan, f"--users={file}"]) == 0
    alice, bob = data(kubernetes, "team-a", "ante-s3-alice"), data(kubernetes, "team-b", "ante-s3-bob")
    assert read_users(file) == [
        User(alice["S3_ACCESS_KEY_ID"], alice["S3_SECRET_ACCESS_KEY"], ("runs/alice",)),
        User(bob["S3_ACCESS_KEY_ID"], bob["S3_SECRET_ACCESS_KEY"], ("runs/bob", "models/bob")),
    ]
    assert file.stat().st_mode & 0o077 == 0


def test_secrets_that_others_create_are_waited_for_by_name(kubernetes: Cluster) -> None:
    wanted = read_plan(json.dumps([{**OWN, "create": False}]))
    with pytest.raises(NotThere, match="Secret own does not exist in namespace default"):
        ensure_all(connect(), wanted, print)
    kubernetes.put({"kind": "Secret", "metadata": {"name": "own", "namespace": "default"}, "data": {"A": "eA=="}})
    with pytest.raises(Rejected, match="Secret own in namespace default has no key S"):
        ensure_all(connect(), wanted, print)


def test_a_bad_plan_is_refused(kubernetes: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("{", "[1]", '[{"name": "x"}]'):
        assert main([text]) == 2
        assert "the plan is not a list of Secrets" in capsys.readouterr().err
    with pytest.raises(BadPlan, match="cannot be a copy"):
        read_plan(json.dumps([{**OWN, "copy": True}]))
