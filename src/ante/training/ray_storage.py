"""Ray's own `storage_path`, in the same place as everything else: a store's URL as Tune and Train want it."""

import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pyarrow.fs import S3FileSystem

from ante.storage.errors import BadStore
from ante.storage.settings import S3Settings
from ante.storage.store import split_url


class S3OfEnvironment(S3FileSystem):  # type: ignore[misc]
    """A bucket's endpoint and credentials as the environment has them, here and wherever it is unpickled.

    Ray pickles it into `tuner.pkl`, beside the results, where no secret may stand.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """A call, without arguments."""
        return s3_of_environment, ()


def s3_of_environment() -> S3OfEnvironment:
    """The file system of S3_* and AWS_* variables (docs/artifacts.md). Raises BadStore, NoAccess."""
    settings = S3Settings.read(os.environ, "any-bucket")
    if settings.verify is False:
        raise BadStore("Ray cannot leave certificates unchecked: name the authority's file in S3_CA_BUNDLE")
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
    """What `tune.RunConfig` and `train.RunConfig` take to keep results in a store: `RunConfig(**ray_storage(url))`.

    url  as in `ante train --store`. Raises BadStore, NoAccess.
    """
    scheme, rest = split_url(url)
    if scheme == "file":
        return {"storage_path": str(Path(rest).expanduser().absolute())}
    bucket, _, prefix = rest.partition("/")
    name = S3Settings.read(os.environ, bucket).bucket
    return {"storage_path": f"{name}/{prefix}".rstrip("/"), "storage_filesystem": s3_of_environment()}
