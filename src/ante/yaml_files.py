"""Reading of untrusted YAML files, with limits on size and depth, without aliases and duplicate keys."""

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
