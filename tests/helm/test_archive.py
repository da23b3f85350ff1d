"""The archiver of the chart: its command, its Secrets, and policies for the bus and the bucket only."""

from typing import Any

import pytest
import yaml

from ante.cli.platform.events import Archive
from tests.support.helm import CHART, ChartError, Values, render
from tests.support.manifests import check_all

BUS: Values = {"events": {"url": "nats://nats.nats:4222", "existingSecret": "nats-token"}}
ON: Values = {**BUS, "eventArchive": {"enabled": True, "keepDays": 90, "everySeconds": 30}}


def rendered(values: Values) -> dict[tuple[str, str], Any]:
    found = render(values).objects
    check_all(found)
    return {(each["kind"], each["metadata"]["name"]): each for each in found}


def test_the_archiver_has_the_bus_the_bucket_and_their_secrets() -> None:
    pod = rendered(ON)["Deployment", "ante-archive"]["spec"]["template"]["spec"]
    container = pod["containers"][0]
    bus, *options = container["args"]
    words = dict(option.removeprefix("--").partition("=")[::2] for option in options)
    assert bus == BUS["events"]["url"] and words.keys() <= set(Archive.__dataclass_fields__)
    bucket = yaml.safe_load((CHART / "values.yaml").read_text())["s3"]["bucket"]
    assert words == {"to": f"s3://{bucket}/events", "follow": "", "every": "30", "days": "90"}
    secrets = {each["name"]: each["valueFrom"]["secretKeyRef"] for each in container["env"] if "valueFrom" in each}
    assert secrets["ANTE_EVENTS_TOKEN"] == {"name": "nats-token", "key": "token"}
    assert {"S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"} < secrets.keys() and not pod["automountServiceAccountToken"]


def test_policies_let_the_archiver_reach_bus_and_bucket_only() -> None:
    found = rendered(ON)
    policy = found["NetworkPolicy", "ante-archive"]["spec"]
    assert {port["port"] for rule in policy["egress"] for port in rule["ports"]} == {4222, 9000}
    (rule,) = [
        each
        for each in found["NetworkPolicy", "ante-objectstore"]["spec"]["ingress"]
        if each["ports"][0]["port"] == 9000
    ]
    assert "archive" in rule["from"][0]["podSelector"]["matchExpressions"][0]["values"]


def test_without_a_bus_it_is_refused_and_by_default_it_is_not_there() -> None:
    with pytest.raises(ChartError, match=r"eventArchive\.enabled needs events\.url"):
        render({"eventArchive": {"enabled": True}})
    assert ("Deployment", "ante-archive") not in rendered(BUS)
