"""Endpoint and credentials of an S3 store, read from the usual environment variables."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ante.messages import check_url, foreign, masked
from ante.storage.errors import BadStore, NoAccess

ADDRESSING = ("path", "virtual", "auto")
ENCRYPTION = ("AES256", "aws:kms", "aws:kms:dsse")


@dataclass(frozen=True)
class S3Settings:
    """A bucket of an S3 endpoint and its credentials, which its representation omits."""

    bucket: str
    endpoint: str | None = None
    """URL of the server; AWS by default."""
    region: str = "us-east-1"
    access_key: str | None = field(default=None, repr=False)
    """Access key; without one, boto3 uses its default credential chain (profiles, roles of pods and machines)."""
    secret_key: str | None = field(default=None, repr=False)
    session_token: str | None = field(default=None, repr=False)
    verify: bool | str = True
    """Whether to verify the server's certificate, or a file with CA certificates for it."""
    addressing: str = "path"
    """Position of the bucket in addresses: path (`https://server/bucket/key`), virtual (`https://bucket.server/key`) or auto."""
    encryption: str | None = None
    """Server-side encryption requested for each object: AES256, aws:kms or aws:kms:dsse; the bucket's default without one."""
    kms_key: str | None = None
    """Key of a KMS encryption; the account's default key without one."""

    @staticmethod
    def read(environment: Mapping[str, str], bucket: str = "") -> "S3Settings":
        """Read settings from S3_* variables, else AWS_* variables, such as those of a data connection of OpenShift AI.

        Raises BadStore, NoAccess.
        """

        def first(*names: str) -> str | None:
            return next((environment[name] for name in names if environment.get(name)), None)

        bucket = bucket or first("S3_BUCKET_NAME", "AWS_S3_BUCKET") or ""
        if len(bucket) < 3:
            raise BadStore(f"{bucket!r} is not a bucket name: write s3://bucket/prefix, or set S3_BUCKET_NAME")
        access = first("S3_ACCESS_KEY_ID", "AWS_ACCESS_KEY_ID")
        secret = first("S3_SECRET_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY")
        if (access is None) != (secret is None):
            missing = "S3_SECRET_ACCESS_KEY" if secret is None else "S3_ACCESS_KEY_ID"
            raise NoAccess(f"{missing} is not set: set both access key and secret key")
        endpoint = first("S3_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_S3_ENDPOINT", "AWS_ENDPOINT_URL")
        if endpoint and ("@" in endpoint or "?" in endpoint or "#" in endpoint):
            raise BadStore(
                f"S3_ENDPOINT_URL {masked(endpoint)} contains credentials or a query: remove them, and put credentials "
                "into S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY"
            )
        try:
            check_url(endpoint or "https://aws")
        except ValueError as error:
            raise BadStore(f"S3_ENDPOINT_URL is {foreign(endpoint)!r}: {error}") from None
        checked = (first("S3_VERIFY") or "true").lower()
        if checked not in ("true", "false", "1", "0"):
            raise BadStore(f"S3_VERIFY is {checked!r}: set true or false, and S3_CA_BUNDLE for a certificate file")
        verify = first("S3_CA_BUNDLE", "AWS_CA_BUNDLE") or True if checked in ("true", "1") else False
        region = first("S3_REGION_NAME", "AWS_REGION", "AWS_DEFAULT_REGION") or "us-east-1"
        addressing = one_of("S3_ADDRESSING_STYLE", first("S3_ADDRESSING_STYLE"), ADDRESSING) or "path"
        encryption = one_of("S3_ENCRYPTION", first("S3_ENCRYPTION"), ENCRYPTION)
        kms_key = first("S3_KMS_KEY_ID")
        if kms_key and not (encryption or "").startswith("aws:kms"):
            raise BadStore("S3_KMS_KEY_ID is set without a KMS encryption: set S3_ENCRYPTION to aws:kms")
        keys = access, secret, first("AWS_SESSION_TOKEN")
        return S3Settings(bucket, endpoint, region, *keys, verify, addressing, encryption, kms_key)


def one_of(name: str, value: str | None, known: tuple[str, ...]) -> str | None:
    """Return the value of a variable. Raises BadStore if it is none of the known ones."""
    if value is not None and value not in known:
        raise BadStore(f"{name} is {foreign(value)!r}: set one of {', '.join(known)}")
    return value
