"""Types that declare the ranges of command options, and their validation by `check_options`."""

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TextIO, Union, get_args, get_type_hints

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError
from tyro.conf import Positional
from tyro.constructors import (
    ConstructorRegistry,
    PrimitiveConstructorSpec,
    PrimitiveTypeInfo,
    UnsupportedTypeAnnotationError,
)

from ante.errors import BalatroError, shown
from ante.files import check_output_file, check_output_folder
from ante.watch.render.figures import check_picture_file

Count = Annotated[int, Field(ge=1, le=10**9)]  # number of games, repeats or iterations
Decisions = Annotated[int, Field(ge=1, le=10**12)]
Antes = Annotated[int, Field(ge=1, le=1000)]
Number = Annotated[int, Field(ge=0, lt=2**32)]  # seed of a generator
Stake = Annotated[int, Field(ge=1, le=8)]
Workers = Annotated[int, Field(ge=1, le=1000)]
Fewest = Annotated[int, Field(ge=2, le=10**9)]
Frames = Annotated[int, Field(ge=1, le=64)]
Width = Annotated[int, Field(ge=1, le=65536)]
PartShare = Annotated[float, Field(gt=0, lt=1)]
Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0, le=1e9)]
NotNegative = Annotated[float, Field(ge=0, le=1e9)]
Seconds = Annotated[float, Field(ge=0, le=10**6)]
Port = Annotated[int, Field(ge=0, le=65535)]
OutFile = Annotated[Path, AfterValidator(check_output_file)]  # written at the end of the command
OutFolder = Annotated[Path, AfterValidator(check_output_folder)]
PictureFile = Annotated[Path, AfterValidator(check_picture_file)]
VideoFile = Annotated[Path, AfterValidator(partial(check_output_file, makes_folder=True))]
Side = Annotated[int, Field(ge=8, le=720)]  # pixels of an observation
VideoSide = Annotated[int, Field(ge=64, le=4096)]


def age(text: str) -> str:
    """Check a time that has passed. Raises ValueError."""
    if not re.fullmatch(r"[0-9]{1,6}[smhd]", text):
        raise ValueError("a number of seconds, minutes, hours or days, such as 90s, 10m, 2h or 7d")
    return text


Age = Annotated[str, AfterValidator(age)]

NONE = "None"  # unsets a value, for example of a preset
REGISTRY = ConstructorRegistry()

LONGEST_WORD = 4096  # characters of an argument, and of a line of standard input


class BadOption(BalatroError, ValueError):
    """The value of an option is out of range."""


def optional(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[Any] | UnsupportedTypeAnnotationError | None:
    """Let tyro show an optional value as `STR`, not as `{None}|STR`; `None` is still accepted."""
    kinds = get_args(info.type)
    if type(None) not in kinds:
        return None
    kind: Any = Union[tuple(each for each in kinds if each is not type(None))]  # noqa: UP007
    spec = ConstructorRegistry.get_primitive_spec(PrimitiveTypeInfo.make(kind, info.markers))
    if isinstance(spec, UnsupportedTypeAnnotationError):
        return spec
    if isinstance(spec.nargs, int):
        spec = replace(spec, nargs=tuple(sorted({1, spec.nargs})) if spec.nargs != 1 else 1)
    return replace(
        spec,
        choices=spec.choices and (*spec.choices, NONE),
        instance_from_str=lambda words: None if words == [NONE] else spec.instance_from_str(words),
        is_instance=lambda value: value is None or spec.is_instance(value),
        str_from_instance=lambda value: [NONE] if value is None else spec.str_from_instance(value),
    )


REGISTRY.primitive_rule(optional)


def events_url(option: str | None) -> str | None:
    """Return the event bus of an option --events, by default that of the environment."""
    return option if option is not None else os.environ.get("ANTE_EVENTS_URL") or None


def seconds_of(time: str) -> int:
    """Return an Age in seconds."""
    return int(time[:-1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[time[-1]]


def check_words(words: list[str]) -> None:
    """Raise BadOption if an argument is longer than LONGEST_WORD."""
    for word in words:
        if len(word) > LONGEST_WORD:
            raise BadOption(
                f"an argument has {len(word):,} characters, {word[:20]!r}...: the limit is {LONGEST_WORD:,}"
            )


def check_options(command: Any) -> None:
    """Raise BadOption if an option of a parsed command or of its subcommand is outside the range of its type.

    Raises Unwritable if a file or folder cannot be written in which the command stores its results.
    """
    for name, kind in get_type_hints(type(command), include_extras=True).items():
        value = getattr(command, name)
        if is_dataclass(value):
            check_options(value)
            continue
        try:
            TypeAdapter(kind).validate_python(value)
        except ValidationError as error:
            first = error.errors()[0]
            cause = first["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
            given = shown(first["input"]) if isinstance(first["input"], str) else str(first["input"])
            raise BadOption(f"{flag(name, kind)} {given} is out of range: it must be {cause}") from None


def flag(name: str, kind: Any) -> str:
    """Return an option as written on the command line: `--hint-share`, or the bare name if it is positional."""
    return name if Positional in getattr(kind, "__metadata__", ()) else f"--{name.replace('_', '-')}"


def lines_of(stream: TextIO) -> Iterator[str]:
    """Yield the lines of standard input. Raises BadOption if a line is not text or is too long."""
    number = 1
    try:
        while line := stream.readline(LONGEST_WORD + 1):
            if len(line) > LONGEST_WORD:
                raise BadOption(f"line {number} of standard input is longer than {LONGEST_WORD:,} characters")
            yield line
            number += 1
    except UnicodeDecodeError as error:
        raise BadOption(
            f"line {number} of standard input is not {sys.getdefaultencoding()} text: {error.reason}"
        ) from None
