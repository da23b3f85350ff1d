"""Errors of stores, one class per cause."""

from ante.errors import BalatroError


class StorageError(BalatroError):
    """A failed store operation. `passing`: the error is transient, and a retry may succeed."""

    passing = False


class BadStore(StorageError, ValueError):
    """An invalid name of a store or an object."""


class NotThere(StorageError, FileNotFoundError):
    """An object does not exist."""


class NotWhole(StorageError):
    """An incomplete publication."""


class AlreadyPublished(StorageError):
    """A name is already published with other contents."""


class Damaged(StorageError):
    """A checksum mismatch; a retry may succeed."""

    passing = True


class TooLarge(StorageError):
    """An object is too large to be read into memory."""

    def __init__(self, key: str, url: str, most: int) -> None:
        super().__init__(f"{key} in {url} is larger than the limit of {most:,} bytes: use another publication")


class NoAccess(StorageError, PermissionError):
    """Missing or rejected credentials."""


class NoBucket(StorageError):
    """A bucket does not exist."""


class Unreachable(StorageError, ConnectionError):
    """A server does not respond or is overloaded."""

    passing = True


class NoStore(StorageError):
    """A server does not respond like a store, such as another service or a proxy's error page."""

    passing = True


class StoreFull(StorageError, OSError):
    """The destination has no space left."""

    passing = True


class SpoolFull(StorageError):
    """The upload queue is full."""

    passing = True
