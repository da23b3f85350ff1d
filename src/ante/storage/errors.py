"""What can go wrong with a store, a class per cause."""

from ante.errors import BalatroError


class StorageError(BalatroError):
    """A store did not do what it was asked. `passing`: the same may work later, without anybody's help."""

    passing = False


class BadStore(StorageError, ValueError):
    """A name of a store or of an object that cannot be one."""


class NotThere(StorageError, FileNotFoundError):
    """An object that does not exist."""


class NotWhole(StorageError):
    """Something that was never completely published, or has lost parts since."""


class AlreadyPublished(StorageError):
    """A name that stands for other contents."""


class Damaged(StorageError):
    """Bytes that do not have the checksum they should have. Sending them once more may help."""

    passing = True


class NoAccess(StorageError, PermissionError):
    """Credentials that are missing or refused."""


class NoBucket(StorageError):
    """A bucket that does not exist."""


class Unreachable(StorageError, ConnectionError):
    """A server that does not answer, or is busy."""

    passing = True


class StoreFull(StorageError, OSError):
    """No room is left where something was to be written."""

    passing = True


class SpoolFull(StorageError):
    """The queue of uploads has reached its bound."""

    passing = True
