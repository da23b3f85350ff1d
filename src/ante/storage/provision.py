"""Create a bucket and its user on a self-hosted server. Existing ones are not changed.

    python -m ante.storage.provision [--user] [--seconds 240]

S3_ENDPOINT_URL and S3_BUCKET_NAME contain endpoint and bucket, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY the new user's
credentials, MINIO_ROOT_USER and MINIO_ROOT_PASSWORD the administrator's credentials.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_fixed

from ante.errors import BalatroError
from ante.storage.errors import NoAccess, NoBucket, StorageError
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


def provision(environment: Mapping[str, str], user: bool, seconds: float, progress: Progress = no_progress) -> str:
    """Create bucket and user if needed, and return a description. Waits for the server. Raises StorageError."""
    root, own = root_settings(environment), S3Settings.read(environment)
    if user and not (own.access_key and own.secret_key):
        raise NoAccess("S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY are not set: --user requires them")
    patient = Retrying(
        retry=retry_if_exception(lambda error: isinstance(error, StorageError) and error.passing),
        stop=stop_after_delay(seconds),
        wait=wait_fixed(2),
        before_sleep=lambda _: progress(1),
        reraise=True,
    )
    new = patient(make_bucket, root)
    if user:
        assert own.access_key and own.secret_key
        patient(MinioAdmin(root).add_bucket_user, own.access_key, own.secret_key)
        next(S3Store(own).list(), None)  # raises unless the user has access
    words = f"bucket {root.bucket} {'created' if new else 'exists'}"
    return f"{words}; its user has access" if user else words


def main(arguments: Sequence[str] | None = None) -> int:
    """Create bucket and user. Errors are printed as one sentence with exit code 2."""
    parser = argparse.ArgumentParser(
        prog="python -m ante.storage.provision", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--user", action="store_true", help="also create the user, with MinIO's admin API")
    parser.add_argument("--seconds", type=float, default=240.0, help="seconds to wait for the server")
    chosen = parser.parse_args(arguments)
    try:
        print(provision(os.environ, chosen.user, chosen.seconds))
    except BalatroError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
