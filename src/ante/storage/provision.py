"""Create a bucket and its users on a self-hosted server, and set its rules. Existing ones are not changed.

    python -m ante.storage.provision [--user] [--users FILE] [--versions DAYS] [--seconds 240]

S3_ENDPOINT_URL and S3_BUCKET_NAME contain endpoint and bucket, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY the new user's
credentials, MINIO_ROOT_USER and MINIO_ROOT_PASSWORD the administrator's credentials. FILE is a JSON list of users with
the keys access_key, secret_key and prefixes ("" for the whole bucket).
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_fixed

from ante.errors import BalatroError
from ante.files import Unreadable, parse_json, read_text
from ante.storage.errors import BadStore, NoAccess, NoBucket, StorageError
from ante.storage.minio import MinioAdmin
from ante.storage.s3 import S3Store
from ante.storage.settings import S3Settings
from ante.storage.store import Progress, no_progress


def root_settings(environment: Mapping[str, str]) -> S3Settings:
    """Return the settings of the bucket with the administrator's credentials. Raises BadStore, NoAccess."""
    user, word = environment.get("MINIO_ROOT_USER"), environment.get("MINIO_ROOT_PASSWORD")
    if not (user and word):
        raise NoAccess("MINIO_ROOT_USER and MINIO_ROOT_PASSWORD are not set: creating a bucket requires them")
    return replace(S3Settings.read(environment), access_key=user, secret_key=word)


def make_bucket(settings: S3Settings) -> bool:
    """Create the bucket if needed, and return whether it is new. Raises StorageError."""
    store = S3Store(settings)
    try:
        next(store.list(), None)
        return False
    except NoBucket:
        store.create_bucket()
        return True


@dataclass(frozen=True)
class User:
    """A user of the bucket, who may access these prefixes."""

    access_key: str
    secret_key: str = field(repr=False)
    prefixes: tuple[str, ...] = ("",)


def read_users(file: Path) -> list[User]:
    """Read users. Raises BadStore."""
    try:
        return [
            User(str(entry["access_key"]), str(entry["secret_key"]), tuple(map(str, entry["prefixes"])))
            for entry in parse_json(read_text(file), file)
        ]
    except (Unreadable, KeyError, TypeError):
        raise BadStore(f"{file} is not a list of users with access_key, secret_key and prefixes") from None


def own_user(settings: S3Settings) -> User:
    """Return the user of the environment. Raises NoAccess."""
    if not (settings.access_key and settings.secret_key):
        raise NoAccess("S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY are not set: --user requires them")
    return User(settings.access_key, settings.secret_key)


def add_user(root: S3Settings, user: User) -> None:
    """Create or update a user, and check that it has access. Raises StorageError."""
    MinioAdmin(root).add_bucket_user(user.access_key, user.secret_key, user.prefixes)
    own = replace(root, access_key=user.access_key, secret_key=user.secret_key)
    for prefix in user.prefixes:
        next(S3Store(own, prefix).list(), None)  # raises unless the user has access


def provision(
    environment: Mapping[str, str],
    users: Sequence[User] = (),
    seconds: float = 240.0,
    versions: int | None = None,
    progress: Progress = no_progress,
) -> str:
    """Create bucket and users if needed, and return a description. Waits for the server. Raises StorageError.

    versions  days for which replaced and deleted objects are kept; 0 keeps none, None leaves the bucket's rules
    """
    root = root_settings(environment)
    patient = Retrying(
        retry=retry_if_exception(lambda error: isinstance(error, StorageError) and error.passing),
        stop=stop_after_delay(seconds),
        wait=wait_fixed(2),
        before_sleep=lambda _: progress(1),
        reraise=True,
    )
    words = [f"bucket {root.bucket} {'created' if patient(make_bucket, root) else 'exists'}"]
    if versions is not None:
        patient(S3Store(root).keep_versions, versions)
        words.append(f"versions are kept for {versions} days" if versions else "versions are not kept")
    for user in users:
        patient(add_user, root, user)
    if users:
        words.append(f"{len(users)} {'user has' if len(users) == 1 else 'users have'} access")
    return "; ".join(words)


def main(arguments: Sequence[str] | None = None) -> int:
    """Create bucket and users. Errors are printed as one sentence with exit code 2."""
    parser = argparse.ArgumentParser(
        prog="python -m ante.storage.provision", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--user", action="store_true", help="also create the user of the environment")
    parser.add_argument("--users", type=Path, help="file of further users, created with MinIO's admin API")
    parser.add_argument("--versions", type=int, help="days for which replaced and deleted objects are kept")
    parser.add_argument("--seconds", type=float, default=240.0, help="seconds to wait for the server")
    chosen = parser.parse_args(arguments)
    try:
        users = read_users(chosen.users) if chosen.users else []
        if chosen.user:
            users.append(own_user(S3Settings.read(os.environ)))
        print(provision(os.environ, users, chosen.seconds, chosen.versions))
    except BalatroError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
