"""Where an S3 store is and who asks, from the environment variables that users of such platforms know."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ante.storage.errors import BadStore, NoAccess


@dataclass(frozen=True)
class S3Settings:
    """One bucket of one S3 endpoint, and the credentials for it, which never show."""

    bucket: str
    endpoint: str | None = None
    """URL of the server; AWS without one."""
    region: str = "us-east-1"
    access_key: str | None = field(default=None, repr=False)
    """With none, boto3 looks for credentials where it always does (profiles, roles of pods and machines)."""
    secret_key: str | None = field(default=None, repr=False)
    session_token: str | None = field(default=None, repr=False)
    verify: bool | str = True
    """Whether the server's certificate is checked, or a file of certificates to check it with."""

    @staticmethod
    def read(environment: Mapping[str, str], bucket: str = "") -> "S3Settings":
        """Settings from S3_*, else AWS_* variables. Raises BadStore, NoAccess."""

        def first(*names: str) -> str | None:
            return next((environment[name] for name in names if environment.get(name)), None)

        bucket = bucket or first("S3_BUCKET_NAME") or ""
        if len(bucket) < 3:
            raise BadStore(f"{bucket!r} is no name of a bucket: write s3://bucket/prefix, or set S3_BUCKET_NAME")
        access = first("S3_ACCESS_KEY_ID", "AWS_ACCESS_KEY_ID")
        secret = first("S3_SECRET_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY")
        if (access is None) != (secret is None):
            missing = "S3_SECRET_ACCESS_KEY" if secret is None else "S3_ACCESS_KEY_ID"
            raise NoAccess(f"{missing} is not set: key and secret belong together")
        endpoint = first("S3_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
        if endpoint and not endpoint.startswith(("http://", "https://")):
            raise BadStore(f"S3_ENDPOINT_URL is {endpoint!r}: it begins with http:// or https://")
        if endpoint and "@" in endpoint:
            raise BadStore(
                "S3_ENDPOINT_URL carries credentials: put them into S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY"
            )
        checked = (first("S3_VERIFY") or "true").lower()
        if checked not in ("true", "false", "1", "0"):
            raise BadStore(f"S3_VERIFY is {checked!r}: write true or false, and a file of certificates as S3_CA_BUNDLE")
        verify = first("S3_CA_BUNDLE", "AWS_CA_BUNDLE") or True if checked in ("true", "1") else False
        region = first("S3_REGION_NAME", "AWS_REGION", "AWS_DEFAULT_REGION") or "us-east-1"
        return S3Settings(bucket, endpoint, region, access, secret, first("AWS_SESSION_TOKEN"), verify)
