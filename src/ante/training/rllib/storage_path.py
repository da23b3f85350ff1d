"""Ray's `storage_path` on a store: converts a store's URL to the arguments of Tune and Train."""

import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pyarrow.fs import S3FileSystem

from ante.storage.errors import BadStore
from ante.storage.settings import S3Settings
from ante.storage.store import split_url


class S3OfEnvironment(S3FileSystem):  # type: ignore[misc]
    """An S3 file system whose endpoint and credentials come from the environment, also after unpickling.

    Ray pickles it into `tuner.pkl` next to the results, which must not contain secrets.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a constructor call without arguments."""
        return s3_of_environment, ()


def s3_of_environment() -> S3OfEnvironment:
    """Return the file system of S3_* and AWS_* variables (docs/how-to/artifacts.md). Raises BadStore, NoAccess."""
    settings = S3Settings.read(os.environ, "any-bucket")
    if settings.verify is False:
        raise BadStore("Ray requires TLS verification: set S3_CA_BUNDLE to the authority's certificate file")
    where: dict[str, Any] = {}
    if settings.endpoint:
        scheme, endpoint = urlsplit(settings.endpoint)[:2]
        where = {"scheme": scheme, "endpoint_override": endpoint}
    return S3OfEnvironment(
        access_key=settings.access_key,
        secret_key=settings.secret_key,
        session_token=settings.session_token,
        region=settings.region,
        tls_ca_file_path=settings.verify if isinstance(settings.verify, str) else None,
        **where,
    )


def ray_storage(url: str) -> dict[str, Any]:
    """Return arguments for `tune.RunConfig` and `train.RunConfig` that store results in a bucket or folder.

    url  as in `ante train --store`. Raises BadStore, NoAccess.
    """
    scheme, rest = split_url(url)
    if scheme == "file":
        return {"storage_path": str(Path(rest).expanduser().absolute())}
    bucket, _, prefix = rest.partition("/")
    name = S3Settings.read(os.environ, bucket).bucket
    return {"storage_path": f"{name}/{prefix}".rstrip("/"), "storage_filesystem": s3_of_environment()}
