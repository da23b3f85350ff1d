"""Reading of untrusted YAML files, with limits on size and depth, without aliases and duplicate keys; writing of streams."""

import re
from pathlib import Path
from typing import Any

import yaml

from ante.files import Unreadable, decoded, read_bytes

LARGEST = 1 << 18  # bytes of a file
DEEPEST = 40  # nesting depth of lists and mappings


# SPEED: libyaml's loader is eight times as fast: 0.6 ms for the settings of a run.
Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Plain(Loader):  # type: ignore[misc]
    """A loader that rejects duplicate keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """See yaml.constructor: construct a mapping without duplicate keys."""
        lines: dict[Any, int] = {}
        for key_node, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if not isinstance(key_node, yaml.ScalarNode):
                raise yaml.MarkedYAMLError(problem="a key must be a word or a number", problem_mark=key_node.start_mark)
            key, line = self.construct_object(key_node), key_node.start_mark.line + 1
            if key in lines:
                raise yaml.MarkedYAMLError(
                    problem=f"duplicate key {key_node.value[:80]!r}, first in line {lines[key]}",
                    problem_mark=key_node.start_mark,
                )
            lines[key] = line
        return super().construct_mapping(node, deep)


def check_structure(text: str) -> None:
    """Raise a YAMLError for aliases and deep nesting, before anything is constructed."""
    depth = 0
    for event in yaml.parse(text, Loader):
        mark: Any = event.start_mark
        if isinstance(event, yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem="aliases are not supported: write the value itself", problem_mark=mark)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise yaml.MarkedYAMLError(problem=f"nested more than {DEEPEST} levels deep", problem_mark=mark)


def read_yaml(file: Path) -> Any:
    """Return the contents of a YAML file. Raises Unreadable, with the line."""
    return parse_yaml(decoded(read_bytes(file, LARGEST), file), file)


def parse_yaml(text: str, name: Path | str) -> Any:
    """Return the contents of a YAML text; `name` is its origin. Raises Unreadable, with the line."""
    if len(text) > LARGEST:
        raise Unreadable(f"cannot read {name}: it is longer than the limit of {LARGEST:,} characters")
    try:
        check_structure(text)
        return yaml.load(text, Plain)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise Unreadable(f"cannot read {name}: {place}{error.problem or error.context}") from None
    except yaml.YAMLError as error:  # a character that YAML does not allow
        raise Unreadable(f"cannot read {name}: {' '.join(str(error).split())}") from None
    except (ValueError, OverflowError) as error:  # an impossible date, a number with thousands of digits
        raise Unreadable(f"cannot read {name}: {error}") from None
    except RecursionError:
        raise Unreadable(f"cannot read {name}: nested too deeply") from None


class Documents(yaml.SafeDumper):
    """A YAML dumper without references, with indented lists and with block style for multi-line strings."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent lists in mappings."""
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        """Disable references."""
        return True


NUMBER = re.compile(r"[-+.\d][\d_.]*([eE][-+]?\d+)?")  # a number in YAML 1.2, such as 1e-3


def block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Represent a string, quoted if Kubernetes would parse it as a number."""
    style = "|" if "\n" in text else "'" if NUMBER.fullmatch(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


Documents.add_representer(str, block)


def as_yaml(found: list[dict[str, Any]]) -> str:
    """Return objects as one YAML stream."""
    text: str = yaml.dump_all(found, Dumper=Documents, sort_keys=False, explicit_start=True, width=100)
    return text
