"""The decision service of the chart: tokens and TLS by reference, and probes that work with them."""

from typing import Any

import pytest

from tests.support.helm import Values, render
from tests.support.manifests import check_all

TOKEN: Values = {"enabled": True, "tokenSecret": "decisions"}
TLS: Values = {"tlsSecret": "decisions-tls"}
MUTUAL: Values = {"enabled": True, **TLS, "clientCaSecret": "clients"}


def pod(service: Values) -> Any:
    """Return the pod of the Deployment, after validation of all objects."""
    found = render({"decisionService": service})
    check_all(found.objects)
    return found.kind("Deployment")["ante-decisions"]["spec"]["template"]["spec"]


def files(spec: Any) -> dict[str, tuple[str, str]]:
    """Return the files of Secrets in the container: path, then name and key."""
    volumes = {each["name"]: each["secret"] for each in spec["volumes"] if "secret" in each}
    found = {}
    for mount in spec["containers"][0]["volumeMounts"]:
        secret = volumes.get(mount["name"])
        assert secret is None or mount["readOnly"]
        for item in secret["items"] if secret else ():
            found[f"{mount['mountPath']}/{item['path']}"] = secret["secretName"], item["key"]
    return found


def arguments(spec: Any) -> dict[str, str]:
    """Return the options of the server's command line."""
    words = [word for word in spec["containers"][0]["args"] if word.startswith("--")]
    return dict(word.removeprefix("--").split("=", 1) for word in words)


@pytest.mark.parametrize(
    ("service", "secrets", "probe"),
    [
        (TOKEN, {}, 50051),
        ({**TOKEN, **TLS}, {"tls-cert": ("decisions-tls", "tls.crt"), "tls-key": ("decisions-tls", "tls.key")}, 50052),
        (
            MUTUAL,
            {
                "tls-cert": ("decisions-tls", "tls.crt"),
                "tls-key": ("decisions-tls", "tls.key"),
                "client-ca": ("clients", "ca.crt"),
            },
            50052,
        ),
    ],
)
def test_secrets_are_mounted_where_the_server_reads_them(service: Values, secrets: Values, probe: int) -> None:
    spec = pod(service)
    options, mounted = arguments(spec), files(spec)
    paths = {name: options[name] for name in ("tls-cert", "tls-key", "client-ca") if name in options}
    assert {name: mounted[path] for name, path in paths.items()} == secrets
    assert len(mounted) == len(secrets)
    container = spec["containers"][0]
    for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[kind]["grpc"]["port"] == probe
    assert probe in {each["containerPort"] for each in container["ports"]}
    assert options.get("health-port", "50051") == str(probe)


@pytest.mark.parametrize("service", [TOKEN, MUTUAL])
def test_the_token_is_read_only_if_there_is_one(service: Values) -> None:
    spec = pod(service)
    wanted = "tokenSecret" in service
    assert (arguments(spec).get("token-env") == "DECISIONS_TOKEN") == wanted
    names = [each["name"] for each in spec["containers"][0]["env"]]
    assert ("DECISIONS_TOKEN" in names) == wanted


def test_the_options_are_those_of_the_command() -> None:
    from dataclasses import fields

    from ante.cli.platform.serve_decisions import ServeDecisions

    known = {field.name.replace("_", "-") for field in fields(ServeDecisions)}
    assert set(arguments(pod({**MUTUAL, "tokenSecret": "t", "search": "16ms"}))) <= known


def test_decisions_can_have_a_higher_priority_than_trainings() -> None:
    assert "priorityClassName" not in pod(TOKEN)
    assert pod({**TOKEN, "priorityClassName": "inference"})["priorityClassName"] == "inference"
