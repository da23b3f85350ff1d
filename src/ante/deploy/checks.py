"""Results of checks, and the checks that run inside a pod: bucket and LLM."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from ante.errors import BalatroError
from ante.messages import masked

State = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Check:
    """One line of the preflight. `fix`: the command or the setting that fixes a failure."""

    name: str
    state: State
    words: str
    fix: str = ""

    def as_json(self) -> dict[str, str]:
        """Return the check as plain data."""
        return asdict(self)


def good(name: str, words: str) -> Check:
    """Return a passed check."""
    return Check(name, "ok", words)


def bad(name: str, words: str, fix: str = "") -> Check:
    """Return a failed check."""
    return Check(name, "fail", words, fix)


def unsure(name: str, words: str, fix: str = "") -> Check:
    """Return a warning."""
    return Check(name, "warn", words, fix)


def inside(environment: Mapping[str, str]) -> Iterator[Check]:
    """Yield the checks that run inside a pod, with the environment variables of a training."""
    from ante.deploy.pod_programs.inside import NotReady, check_bucket, check_llm
    from ante.storage.errors import NoAccess, NoBucket, StorageError

    bucket, endpoint = environment.get("S3_BUCKET_NAME", ""), environment.get("S3_ENDPOINT_URL", "")
    where = f" --endpoint-url {masked(endpoint)}" if endpoint else ""
    try:
        yield good("bucket", check_bucket(environment.get("ANTE_STORE") or f"s3://{bucket}/preflight", environment))
    except NoAccess as error:
        yield bad("bucket", str(error), "correct s3.bucket, or the keys in the Secret named in s3.existingSecret")
    except NoBucket as error:
        yield bad("bucket", str(error), f"aws s3 mb s3://{bucket}{where}, or correct s3.bucket")
    except (StorageError, NotReady) as error:
        yield bad("bucket", str(error), "correct s3.endpoint")
    if environment.get("LLM_ENDPOINT"):
        try:
            yield good("llm", check_llm(environment))
        except NotReady as error:
            yield bad("llm", str(error), "correct llm.endpoint and llm.model, or set llm.enabled false")


def from_json(found: dict[str, str]) -> Check:
    """Return a check that a pod printed. Raises BalatroError for anything else."""
    try:
        return Check(**found)  # type: ignore[arg-type]
    except TypeError:
        raise BalatroError(f"not a check of ante's preflight: {found}") from None
