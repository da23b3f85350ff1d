"""Settings models and the metadata of their fields: what a setting does and when to change it."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache, reduce
from typing import Annotated, Any, NamedTuple, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic.fields import FieldInfo

from ante.storage.store import split_url

LARGEST = 2**53  # largest range of integers that floats represent exactly
NAME = re.compile(r"[^\W_][\w.-]{0,99}")
NAME_BYTES = 200  # file systems allow 255; names of files next to the folder are longer


class Settings(BaseModel):
    """A group of settings: immutable, without unknown keys, NaN, infinity, booleans for numbers, control characters."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _plain(cls, value: Any, info: ValidationInfo) -> Any:
        checked, truth = treatment(cls.model_fields[str(info.field_name)].annotation)  # type: ignore[arg-type]
        if checked:
            check_plain(value, truth)
        return value


@cache
def treatment(annotation: Any) -> tuple[bool, bool]:
    """Return whether a type is checked here rather than by a nested model, and whether booleans are allowed."""
    inner = [treatment(each) for each in get_args(annotation)]
    model = annotation is Any or (isinstance(annotation, type) and issubclass(annotation, BaseModel))
    return not model and all(checked for checked, _ in inner), annotation is bool or any(truth for _, truth in inner)


def check_plain(value: Any, truth: bool) -> None:
    """Raise ValueError for values that pydantic would silently coerce to a number or a string."""
    if isinstance(value, bool):
        if not truth:
            raise ValueError("the value cannot be true or false")
    elif isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        if abs(value) > LARGEST:
            raise ValueError("the number is too large")
    elif isinstance(value, str):
        if any(unicodedata.category(letter) in ("Cc", "Cs") and letter not in "\n\t" for letter in value):
            raise ValueError("control characters are not allowed")
    elif isinstance(value, Mapping):
        for key, each in value.items():
            check_plain(key, truth=False)
            check_plain(each, truth)
    elif isinstance(value, (list, tuple)):
        for each in value:
            check_plain(each, truth)


def check_run_name(name: str) -> str:
    """Return the name of a run. Raises ValueError if it is not a valid folder name."""
    if not NAME.fullmatch(name) or len(name.encode()) > NAME_BYTES:
        raise ValueError("a name has up to 100 letters, digits, '.', '_' and '-', and starts with a letter or digit")
    return name


def check_store_url(store: str | None) -> str | None:
    """Return the URL of a store, or None. Raises BadStore."""
    if store is not None:
        split_url(store)
    return store


RunName = Annotated[str, AfterValidator(check_run_name)]
StoreUrl = Annotated[str | None, AfterValidator(check_store_url)]


def setting(
    default: Any,
    description: str,
    when: str = "",
    *,
    first: bool = False,
    resumable: bool = False,
    alias: str = "",
    **limits: Any,
) -> Any:
    """Declare a field.

    Args:
        default: Its default value.
        description: What the setting does, one sentence, with its unit.
        when: When to change it, one sentence.
        first: Whether the setting is among the first in `ante train --help`.
        resumable: Whether a resumed run may change it.
        alias: A second, shorter name of its flag.
        limits: Range or pattern, as in pydantic's Field: ge, gt, le, lt, pattern.
    """
    marks: dict[str, Any] = {"when": when, "first": first, "resumable": resumable, "alias": alias}
    return Field(default, description=description, json_schema_extra=marks, **limits)


class Leaf(NamedTuple):
    """One setting of a configuration: its dotted path, its declaration and its value."""

    path: str
    field: FieldInfo
    value: Any

    @property
    def group(self) -> str:
        """The path of the setting's group; empty at the top level."""
        return self.path.rpartition(".")[0]

    @property
    def name(self) -> str:
        """The setting's name within the group."""
        return self.path.rpartition(".")[2]

    def mark(self, name: str) -> Any:
        """Return metadata given to `setting`; None for a field that was declared without it."""
        extra = self.field.json_schema_extra
        return extra.get(name) if isinstance(extra, dict) else None


def leaves(settings: BaseModel, prefix: str = "") -> Iterator[Leaf]:
    """Yield every setting in the order of declaration, groups included."""
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        if isinstance(value, Settings):
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield Leaf(prefix + name, field, value)


def value_of(settings: BaseModel, path: str) -> Any:
    """Return the value at a dotted path."""
    return reduce(getattr, path.split("."), settings)
