"""Connectivity checks that the pod of `helm test` runs.

    python -m ante.deploy.pod_programs.inside s3://BUCKET/PREFIX

It reads bucket and LLM from the pod's S3_* and LLM_* variables, and the API server's token from its service account.
"""

import os
import sys
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import requests
import urllib3

from ante.errors import BalatroError
from ante.files import Unreadable, decoded, parse_json
from ante.messages import foreign, masked
from ante.storage.opening import open_store

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
SECONDS = 20.0
LARGEST = 4 << 20  # bytes of a response
CHUNK = 1 << 16


class NotReady(BalatroError):
    """A failed check."""


def check_bucket(url: str, environment: Mapping[str, str]) -> str:
    """Write, read, list and delete an object. Raises StorageError, NotReady."""
    store, data = open_store(url, environment), uuid.uuid4().bytes
    key = f"preflight/{uuid.uuid4().hex}"
    store.put_bytes(key, data)
    try:
        if store.get_bytes(key) != data or [found.key for found in store.list(key)] != [key]:
            raise NotReady(f"{url} returns other data than was written: is it a single server?")
    finally:
        store.delete(key)
    return f"{url}: an object can be written, listed, read and deleted"


def check_llm(environment: Mapping[str, str]) -> str:
    """Check that the LLM serves the configured model. Raises NotReady."""
    endpoint, model = environment["LLM_ENDPOINT"].rstrip("/"), environment.get("LLM_MODEL", "")
    key = environment.get("LLM_API_KEY")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    where = masked(endpoint, [key])
    try:
        listed = get_json(f"{endpoint}/models", headers, "LLM_ENDPOINT, and whether its pod runs")
        served = [str(each["id"]) for each in listed["data"]]
    except (Unreadable, KeyError, TypeError):
        raise NotReady(f"{where}/models does not return a list of models: check LLM_ENDPOINT") from None
    if model not in served:
        names = foreign(", ".join(served), [key]) or "no model"
        raise NotReady(f"{where} serves {names}, not {model}: set llm.model to one of them")
    return f"{where} serves {model}"


def check_operator(environment: Mapping[str, str], account: Path = ACCOUNT) -> str:
    """Check that the API server serves Ray's resources. Raises NotReady."""
    server = f"https://{environment['KUBERNETES_SERVICE_HOST']}:{environment.get('KUBERNETES_SERVICE_PORT', '443')}"
    headers = {"Authorization": f"Bearer {(account / 'token').read_text().strip()}"}
    try:
        found = get_json(f"{server}/apis/ray.io/v1", headers, "networkPolicies.apiServerCidrs", str(account / "ca.crt"))
        kinds = {str(each["kind"]) for each in found["resources"]}
    except (Unreadable, KeyError, TypeError):
        raise NotReady(f"{server} does not respond like an API server: check networkPolicies.apiServerCidrs") from None
    missing = {"RayCluster", "RayJob"} - kinds
    if missing:
        raise NotReady(f"ray.io/v1 lacks {', '.join(sorted(missing))}: reinstall KubeRay's CRDs")
    return "ray.io/v1 has RayCluster and RayJob"


def get_json(url: str, headers: Mapping[str, str], check: str, authority: str | bool = True) -> Any:
    """Return a server's JSON response, read up to LARGEST bytes within SECONDS. Raises NotReady, Unreadable."""
    where, body, until = masked(url), bytearray(), time.monotonic() + SECONDS
    plain = {**headers, "Accept-Encoding": "identity"}
    try:
        with requests.get(
            url, headers=plain, timeout=SECONDS, verify=authority, stream=True, allow_redirects=False
        ) as answer:
            if answer.status_code != 200:
                raise NotReady(f"{where} returned status {answer.status_code}: check {check}")
            while chunk := answer.raw.read1(CHUNK):
                body += chunk
                if len(body) > LARGEST or time.monotonic() > until:
                    raise NotReady(
                        f"{where} returned more than {LARGEST >> 20} MB or took {SECONDS:g} s: check {check}"
                    )
    except (requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
        if isinstance(error, NotReady):
            raise
        raise NotReady(f"{where} does not respond ({type(error).__name__}): check {check}") from None
    return parse_json(decoded(bytes(body), where), where)


def checks(url: str, environment: Mapping[str, str]) -> dict[str, Callable[[], str]]:
    """Return the checks by name."""
    found: dict[str, Callable[[], str]] = {"bucket": lambda: check_bucket(url, environment)}
    if environment.get("LLM_ENDPOINT"):
        found["LLM"] = lambda: check_llm(environment)
    if environment.get("KUBERNETES_SERVICE_HOST"):
        found["operator"] = lambda: check_operator(environment)
    return found


def main(arguments: Sequence[str] | None = None, environment: Mapping[str, str] = os.environ) -> int:
    """Print a line for each check; return 1 if one fails."""
    words = sys.argv[1:] if arguments is None else arguments
    if len(words) != 1:
        print("usage: python -m ante.deploy.pod_programs.inside s3://BUCKET/PREFIX", file=sys.stderr)
        return 2
    failed = 0
    for name, check in checks(words[0], environment).items():
        try:
            print(f"ok      {name:9} {check()}", flush=True)
        except (BalatroError, OSError) as error:
            failed += 1
            print(f"FAILED  {name:9} {masked(error)}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
