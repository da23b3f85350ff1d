"""The run catalogue of the chart: off by default, a token by reference, only the traffic it needs, options of the command."""

from dataclasses import fields
from typing import Any

import pytest

from ante.cli.platform.serve_runs import ServeRuns
from tests.support.helm import Rendered, Values, render
from tests.support.manifests import check_all

ON: Values = {"runCatalogue": {"enabled": True, "tokenSecret": "readers"}}
HOST: Values = {"ingress": {"enabled": True, "catalogueHost": "runs.example"}}


def rendered(values: Values) -> Rendered:
    """Render the chart and validate all objects."""
    found = render(ON | values)
    check_all(found.objects)
    return found


def container(found: Rendered) -> Any:
    """Return the container of the catalogue."""
    return found.kind("Deployment")["ante-catalogue"]["spec"]["template"]["spec"]["containers"][0]


def test_it_is_off_by_default_and_needs_a_token() -> None:
    assert "ante-catalogue" not in render({}).kind("Service")
    with pytest.raises(Exception, match=r"runCatalogue\.enabled needs runCatalogue\.tokenSecret"):
        render({"runCatalogue": {"enabled": True}})


def test_the_command_has_these_options_and_secrets_by_reference() -> None:
    found = container(rendered({"prices": {"cpuHour": 0.04, "gpuHour": 2.5, "currency": "EUR"}} | HOST))
    url, *words = found["args"]
    options = {word.partition("=")[0].removeprefix("--").replace("-", "_") for word in words if word.startswith("--")}
    assert options <= {field.name for field in fields(ServeRuns)}
    assert url == "s3://ante/runs"
    assert words[words.index("--names") + 1 :] == ["ante-catalogue", "runs.example"]
    assert {"--cpu-hour=0.04", "--gpu-hour=2.5", "--currency=EUR", "--token-env=RUNS_TOKEN"} <= set(words)
    secrets = {each["name"]: each["valueFrom"]["secretKeyRef"]["name"] for each in found["env"] if "valueFrom" in each}
    assert secrets == {"RUNS_TOKEN": "readers", "S3_ACCESS_KEY_ID": "ante-s3", "S3_SECRET_ACCESS_KEY": "ante-s3"}


def test_credentials_that_only_read_can_be_named() -> None:
    found = container(rendered({"runCatalogue": ON["runCatalogue"] | {"existingSecret": "reader"}}))
    used = {each["valueFrom"]["secretKeyRef"]["name"] for each in found["env"] if "valueFrom" in each}
    assert used == {"readers", "reader"}


def test_probes_send_a_host_that_the_server_accepts() -> None:
    found = container(rendered({}))
    for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert found[kind]["httpGet"]["httpHeaders"] == [{"name": "Host", "value": "localhost"}]
        assert found[kind]["httpGet"]["path"] == "/healthz"


def test_policies_admit_the_ingress_and_the_bucket_only() -> None:
    policy = rendered(HOST).kind("NetworkPolicy")["ante-catalogue"]["spec"]
    (source,) = policy["ingress"]
    assert source["ports"] == [{"port": 8500, "protocol": "TCP"}]
    assert source["from"] == [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "ingress-nginx"}}}]
    assert [rule["ports"] for rule in policy["egress"]] == [[{"port": 9000, "protocol": "TCP"}]]
    store = rendered({}).kind("NetworkPolicy")["ante-objectstore"]["spec"]["ingress"][0]["from"][0]
    assert "catalogue" in store["podSelector"]["matchExpressions"][0]["values"]
    assert "ingress" not in rendered({}).kind("NetworkPolicy")["ante-catalogue"]["spec"]


def test_an_ingress_leads_to_it() -> None:
    rules = rendered(HOST).kind("Ingress")["ante"]["spec"]["rules"]
    backend = {rule["host"]: rule["http"]["paths"][0]["backend"]["service"] for rule in rules}
    assert backend == {"runs.example": {"name": "ante-catalogue", "port": {"name": "catalogue"}}}
