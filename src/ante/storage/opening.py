"""Opening of stores by URL."""

import os
from collections.abc import Mapping
from pathlib import Path

from ante.storage.local import LocalStore
from ante.storage.store import Store, split_url


def open_store(url: str | Path, environment: Mapping[str, str] = os.environ) -> Store:
    """Open a store by its URL: a folder (`runs`, `file:///data/runs`) or `s3://bucket/prefix`. Raises BadStore, NoAccess.

    environment  variables with an S3 store's endpoint and credentials (docs/how-to/artifacts.md)
    """
    scheme, rest = split_url(url)
    if scheme == "file":
        return LocalStore(Path(rest))
    from ante.storage.s3 import S3Store
    from ante.storage.settings import S3Settings

    bucket, _, prefix = rest.partition("/")
    return S3Store(S3Settings.read(environment, bucket), prefix)


def target_environment(environment: Mapping[str, str] = os.environ) -> Mapping[str, str]:
    """Return the variables of the target of a copy: TARGET_S3_* as S3_*, without those of the source's server."""
    own = {name.removeprefix("TARGET_"): value for name, value in environment.items() if name.startswith("TARGET_")}
    if not own:
        return environment
    return {name: value for name, value in environment.items() if not name.startswith(("S3_", "AWS_"))} | own
