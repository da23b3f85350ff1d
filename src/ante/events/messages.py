"""Events as messages: their kinds, and how they are made and checked."""

import logging
from functools import lru_cache
from typing import Any
from uuid import uuid4

from google.protobuf.message import DecodeError

from ante.errors import BalatroError, close_to, shown
from ante.events.v1 import events_pb2 as pb

LOG = logging.getLogger(__name__)
PREFIX = "ante.v1."
KINDS = {  # field of the data -> kind
    "game_begun": "game.begun",
    "game_decision": "game.decision",
    "game_ended": "game.ended",
    "decision_request": "learning.decision.request",
    "decision_response": "learning.decision.response",
    "checkpoint_published": "checkpoint.published",
    "run_state": "run.state",
    "hint_asked": "hint.asked",
}
FIELDS = {PREFIX + kind: name for name, kind in KINDS.items()}  # type -> field of the data
LONGEST_ID = 128
MOST_BYTES = 256 << 10  # of an event


class BadEvent(BalatroError, ValueError):
    """An event that is malformed."""


class UnknownKind(BadEvent):
    """An event of a kind that this version does not know, such as one of a newer version."""


class BadKind(BalatroError, ValueError):
    """A kind of events that does not exist."""

    def __init__(self, kind: object) -> None:
        known = groups()
        near = close_to(kind, known)
        hint = f"did you mean {near[0]}?" if near else f"use one of {', '.join(known)}"
        super().__init__(f"unknown kind of events {shown(kind)}: {hint}")


def groups() -> list[str]:
    """Return the kinds and their beginnings, such as game and game.begun."""
    found = dict.fromkeys(".".join(kind.split(".")[:n]) for kind in KINDS.values() for n in range(1, 4))
    return sorted(found)


def types_of(kind: str) -> list[str]:
    """Return the types of a kind or of a group of kinds; all for an empty one. Raises BadKind."""
    found = [each for each in FIELDS if not kind or f"{each}.".startswith(f"{PREFIX}{kind}.")]
    if not found:
        raise BadKind(kind)
    return found


def event_of(source: str, subject: str, data: Any, event_id: str = "", correlation_id: str = "") -> "pb.Event":
    """Return an event of now.

    Args:
        source: What publishes it, such as eval/greedy.
        subject: What it is about: the id of a game, or the name of a run.
        data: One of the messages of events.proto, such as GameBegun.
        event_id: A new one by default; events with the same id are stored once.
        correlation_id: The same for a request and its response.
    """
    name = NAMES[type(data)]
    event = pb.Event(
        id=event_id or uuid4().hex,
        source=source,
        type=PREFIX + KINDS[name],
        subject=subject,
        correlation_id=correlation_id,
        **{name: data},
    )
    event.time.GetCurrentTime()
    return event


def packed(event: "pb.Event") -> bytes:
    """Return an event as bytes. Raises BadEvent."""
    if not 1 <= len(event.id) <= LONGEST_ID or not event.id.isprintable():
        raise BadEvent(f"the event's id {shown(event.id)} must have 1 to {LONGEST_ID} printable characters")
    if event.type not in FIELDS:
        raise UnknownKind(f"the event's type {shown(event.type)} is unknown to this version of Ante")
    if FIELDS[event.type] != event.WhichOneof("data"):
        raise BadEvent(f"the event's type {shown(event.type)} does not name its data, {event.WhichOneof('data')}")
    data = event.SerializeToString()
    if len(data) > MOST_BYTES:
        raise BadEvent(f"the event has {len(data):,} bytes: at most {MOST_BYTES:,} are stored")
    return data


def read_event(data: bytes) -> "pb.Event | None":
    """Return the event of stored bytes; None, with a warning, if this version does not know its kind. Raises BadEvent."""
    try:
        event = pb.Event.FromString(data)
        packed(event)
    except DecodeError as error:
        raise BadEvent(" ".join(str(error).split())) from None
    except UnknownKind:
        warn_of(event.type)
        return None
    return event


@lru_cache(64)
def warn_of(kind: str) -> None:
    """Warn, once in a process, that events of an unknown type are skipped."""
    LOG.warning("events of type %s are skipped: this version of Ante does not know them; update it", shown(kind))


NAMES = {
    getattr(pb, field.message_type.name): field.name
    for field in pb.Event.DESCRIPTOR.fields
    if field.containing_oneof is not None
}
