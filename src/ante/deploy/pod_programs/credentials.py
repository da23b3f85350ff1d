"""Create missing Secrets with random credentials, from the Job that sets up the object store.

    python -m ante.deploy.pod_programs.credentials PLAN [--users FILE]

PLAN is a JSON list of Secrets. Existing ones are read and not changed, so every run has the same result. The credentials
of those with `prefixes` are written to FILE, for `python -m ante.storage.provision --users FILE`.
"""

import argparse
import base64
import json
import os
import secrets
import string
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ante.deploy.access import Access, NotThere, Object, Rejected, connect
from ante.errors import BalatroError
from ante.files import Unreadable, parse_json

USER_LENGTH, KEY_LENGTH = 12, 40
LETTERS = string.ascii_lowercase + string.digits


class BadPlan(BalatroError, ValueError):
    """The plan is not one of the chart's."""


@dataclass(frozen=True)
class Wanted:
    """A Secret with two keys: a user name and a password."""

    namespace: str
    name: str
    user_key: str
    secret_key: str
    user: str = ""
    """Name of the user; a random one by default."""
    create: bool = True
    """Create the Secret if it does not exist."""
    copy: bool = False
    """Take the credentials of the first Secret of the plan instead of random ones."""
    prefixes: tuple[str, ...] | None = None
    """Prefixes of the bucket that its user may access, "" for all; None if it is no user of the bucket."""


def read_plan(text: str) -> list[Wanted]:
    """Return the Secrets of a plan. Raises BadPlan."""
    try:
        found = [Wanted(**entry) for entry in parse_json(text, "the plan")]
    except (Unreadable, TypeError) as error:
        raise BadPlan(f"the plan is not a list of Secrets: {error}") from None
    if found and found[0].copy:
        raise BadPlan(f"Secret {found[0].name} is the first of the plan and cannot be a copy")
    return found


def token(length: int, letters: str = string.ascii_letters + string.digits) -> str:
    """Return random letters and digits."""
    return "".join(secrets.choice(letters) for _ in range(length))


def encoded(text: str) -> str:
    """Return a value of a Secret's data."""
    return base64.b64encode(text.encode()).decode()


def new_secret(wanted: Wanted, user: str, password: str) -> Object:
    """Return a Secret. It has no label `instance`, by which GitOps tools select objects to delete."""
    labels = {"app.kubernetes.io/name": "ante", "app.kubernetes.io/managed-by": "ante-credentials"}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": wanted.name, "namespace": wanted.namespace, "labels": labels},
        "type": "Opaque",
        "data": {wanted.user_key: encoded(user), wanted.secret_key: encoded(password)},
    }


def create(access: Access, secret: Object) -> None:
    """Create a Secret. Raises Rejected if it exists."""
    path = access.path("Secret", secret["metadata"]["namespace"])
    access.call("POST", path, f"Secret {secret['metadata']['name']}", body=secret)


def ensure(access: Access, wanted: Wanted, copied: tuple[str, str] | None) -> tuple[str, str, bool]:
    """Return the user and password of a Secret, and whether it was created. Raises NotThere, Rejected, NotAllowed."""
    found = access.find("Secret", wanted.name, wanted.namespace)
    if found is not None:
        return *read(found, wanted), False
    if not wanted.create:
        raise NotThere(f"Secret {wanted.name} does not exist in namespace {wanted.namespace}: create it")
    user, password = copied or (wanted.user or f"ante-{token(USER_LENGTH, LETTERS)}", token(KEY_LENGTH))
    create(access, new_secret(wanted, user, password))
    return user, password, True


def read(found: Object, wanted: Wanted) -> tuple[str, str]:
    """Return the two values of a Secret. Raises Rejected."""
    data = found.get("data") or {}
    missing = [key for key in (wanted.user_key, wanted.secret_key) if not data.get(key)]
    if missing:
        raise Rejected(f"Secret {wanted.name} in namespace {wanted.namespace} has no key {', '.join(missing)}")
    return base64.b64decode(data[wanted.user_key]).decode(), base64.b64decode(data[wanted.secret_key]).decode()


def ensure_all(access: Access, plan: Sequence[Wanted], report: Callable[[str], object]) -> list[dict[str, Any]]:
    """Create the missing Secrets of a plan, and return the users of the bucket."""
    users: list[dict[str, Any]] = []
    first: tuple[str, str] | None = None
    for wanted in plan:
        user, password, new = ensure(access, wanted, first if wanted.copy else None)
        first = first or (user, password)
        report(f"Secret {wanted.namespace}/{wanted.name} {'created' if new else 'exists'}")
        if wanted.prefixes is not None:
            users.append({"access_key": user, "secret_key": password, "prefixes": list(wanted.prefixes)})
    return users


def main(arguments: Sequence[str] | None = None, connected: Callable[[], Access] = connect) -> int:
    """Create the Secrets. Errors are printed as one sentence with exit code 2."""
    parser = argparse.ArgumentParser(
        prog="python -m ante.deploy.pod_programs.credentials",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("plan", help="JSON list of Secrets")
    parser.add_argument("--users", type=Path, help="file for the users of the bucket, readable by its owner only")
    chosen = parser.parse_args(arguments)
    try:
        users = ensure_all(connected(), read_plan(chosen.plan), print)
    except BalatroError as error:
        print(error, file=sys.stderr)
        return 2
    if chosen.users:
        with os.fdopen(os.open(chosen.users, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as stream:
            json.dump(users, stream)
    return 0


if __name__ == "__main__":
    sys.exit(main())
