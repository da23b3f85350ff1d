"""What a check found, and those that are made inside a pod, from where training will run: bucket and LLM."""

import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Literal
from urllib.parse import urlsplit

from ante.errors import BalatroError

State = Literal["ok", "warn", "fail"]
SLOW_SECONDS = 2.0
LLM_TIMEOUT = 15.0


@dataclass(frozen=True)
class Check:
    """One line of the preflight. `fix`: the command or the setting that mends it."""

    name: str
    state: State
    words: str
    fix: str = ""

    def as_json(self) -> dict[str, str]:
        """Plain data."""
        return asdict(self)


def good(name: str, words: str) -> Check:
    """All is well."""
    return Check(name, "ok", words)


def bad(name: str, words: str, fix: str = "") -> Check:
    """Training would not run."""
    return Check(name, "fail", words, fix)


def unsure(name: str, words: str, fix: str = "") -> Check:
    """Could not be found out, or is not as it should be but does no harm."""
    return Check(name, "warn", words, fix)


def inside(environment: Mapping[str, str]) -> Iterator[Check]:
    """The checks of a pod, from the variables that its training would have."""
    yield check_bucket(environment)
    if environment.get("LLM_ENDPOINT"):
        yield check_llm(environment)


def check_bucket(environment: Mapping[str, str]) -> Check:
    """An object can be written, read and deleted where artifacts go."""
    from ante.storage.errors import NoAccess, NoBucket, StorageError
    from ante.storage.s3 import S3Store
    from ante.storage.settings import S3Settings

    begin = time.monotonic()
    bucket = environment.get("S3_BUCKET_NAME", "")
    where = f"s3://{bucket} at {environment.get('S3_ENDPOINT_URL') or 'AWS'}"
    key, data = f"preflight/{uuid.uuid4().hex}", b"ante"
    try:
        store = S3Store(S3Settings.read(environment), attempts=2)
        store.put_bytes(key, data)
        if store.get_bytes(key) != data:
            return bad("bucket", f"{where} answers with other bytes than were written: use another S3 server")
        store.delete(key)
    except NoAccess as error:
        return bad("bucket", str(error), "mend the keys in the Secret that s3.existingSecret names")
    except NoBucket as error:
        return bad(
            "bucket", str(error), f"aws s3 mb s3://{bucket} --endpoint-url {environment.get('S3_ENDPOINT_URL', '')}"
        )
    except StorageError as error:
        return bad("bucket", str(error), "mend s3.endpoint")
    seconds = time.monotonic() - begin
    words = f"{where}: written, read and deleted in {seconds:.1f} s"
    return unsure("bucket", f"{words}: slow") if seconds > SLOW_SECONDS else good("bucket", words)


def check_llm(environment: Mapping[str, str]) -> Check:
    """The LLM answers and knows the model."""
    import requests

    endpoint, model = environment["LLM_ENDPOINT"].rstrip("/"), environment.get("LLM_MODEL", "")
    where = f"{urlsplit(endpoint).scheme}://{urlsplit(endpoint).hostname}:{urlsplit(endpoint).port or ''}".rstrip(":")
    key = environment.get("LLM_API_KEY")
    try:
        answer = requests.get(
            f"{endpoint}/models", headers={"Authorization": f"Bearer {key}"} if key else {}, timeout=LLM_TIMEOUT
        )
        if answer.status_code in (401, 403):
            return bad("llm", f"{where} refuses the key", "mend the key in the Secret that llm.existingSecret names")
        answer.raise_for_status()
        known = [str(one["id"]) for one in answer.json()["data"]]
    except (requests.RequestException, ValueError, KeyError, TypeError) as error:
        words = f"{where}/models does not answer as an LLM does: {type(error).__name__}"
        return bad("llm", words, "mend llm.endpoint, or set llm.enabled false")
    if model not in known:
        return bad(
            "llm", f"{where} has no model {model!r}", f"set llm.model to one of: {', '.join(known[:8]) or 'none'}"
        )
    return good("llm", f"{where} has {model}")


def from_json(found: dict[str, str]) -> Check:
    """A check that a pod told of. Raises BalatroError for something else."""
    try:
        return Check(**found)  # type: ignore[arg-type]
    except TypeError:
        raise BalatroError(f"this is no check of ante's preflight: {found}") from None
