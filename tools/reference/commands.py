"""The reference of the command line, generated from the parser of `ante`."""

import argparse
import inspect
import re
import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import Any, get_args

from tools.reference.tables import cell, table

GROUPS = ("learn", "games", "checks", "platform")
TRAIN = (
    "All settings are also flags: `--algo.lr 2e-4` changes `lr` in the group `algo`, and `--from` is the setting "
    "`init_from`: the run, RUN@CHECKPOINT or release whose weights a new run starts from. See [settings](../settings.md).\n"
)
EXIT_CODES = """## Exit codes

| code | meaning |
| --- | --- |
| 0 | done; also a training that was stopped with Ctrl-C or SIGTERM and has written a checkpoint |
| 1 | a check found something, such as differences, defects, a regression, failed preflight checks; or a bug of Ante, with a traceback |
| 2 | an error with one sentence on standard error: wrong arguments or files, a missing package, a full disk, training that diverged |
| 130, 141 | Ctrl-C in any other command; the reader of the output has closed it |
| 137 | killed by the system, usually because memory ran out |
"""


def commands() -> dict[str, type]:
    """Return the class of each command, by name."""
    from ante.cli import Command

    return {info.name: kind for kind, info in map(get_args, get_args(Command))}


def parsers() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command, by name."""
    import tyro

    from ante.cli import Command
    from ante.cli.options import REGISTRY

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # tyro offers no other way to inspect a parser
        whole = tyro.extras.get_parser(Command, prog="ante", registry=REGISTRY)
    return children(whole)


def children(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of the subcommands."""
    for action in parser._actions:
        if isinstance(action.choices, dict):
            return dict(action.choices)
    return {}


def group_of(kind: type) -> str:
    """Return the package of `ante.cli` that contains a command."""
    return kind.__module__.split(".")[2]


def about(text: str) -> str:
    """Return a help text as Markdown: paragraphs, and code blocks for aligned lines."""
    out = []
    for part in re.split(r"\n\s*\n", text.strip()):
        first, _, rest = part.partition("\n")
        if first.rstrip().endswith(":") and rest.startswith(" "):
            language = "bash" if first.rstrip() == "Try:" else "text"
            out.append(f"{first}\n\n```{language}\n{inspect.cleandoc(rest)}\n```")
        elif re.search(r"\S {2,}\S", part):
            out.append(f"```text\n{part}\n```")
        else:
            out.append(part)
    return "\n\n".join(out) + "\n"


def split_help(text: str) -> tuple[str, str]:
    """Return an option's description and its default, which tyro appends to the help."""
    found = re.search(r"\s*\((required|default: (.*?))\)\s*$", text, re.DOTALL)
    if not found:
        return text, ""
    return text[: found.start()], "required" if found[1] == "required" else found[2]


def options(parser: argparse.ArgumentParser) -> Iterator[tuple[str, ...]]:
    """Yield name, value, default and description of each argument."""
    for action in parser._actions:
        if action.dest == "help" or isinstance(action.choices, dict):
            continue
        names = ", ".join(f"`{each}`" for each in action.option_strings)
        metavar = str(action.metavar or "")
        words, default = split_help(str(action.help or "").replace(" (repeatable)", ""))
        value = "" if not action.option_strings or not metavar else f"`{metavar}`"
        default = default if default in ("", "required") else f"`{default}`"
        yield names or f"`{metavar}`", value, default, cell(words)  # a pipe in a code span needs no escape


def section(name: str, parser: argparse.ArgumentParser, level: int, text: str) -> str:
    """Return a command's heading, description, options and subcommands."""
    lines = [f"{'#' * level} {name}", "", about(text)]
    if name == "ante train":
        lines.append(TRAIN)
    if rows := list(options(parser)):
        lines += [table(("argument", "value", "default", "description"), rows), ""]
    for word, child in children(parser).items():
        lines.append(section(f"{name} {word}", child, level + 1, child.description or ""))
    return "\n".join(lines)


def group_page(group: str) -> str:
    """Return the page of one group of commands."""
    found = parsers()
    subject = import_module(f"ante.cli.{group}").__doc__ or ""
    parts = [f"# {subject.rstrip('.')}\n"]
    for name, kind in commands().items():
        if group_of(kind) == group:
            parts.append(section(f"ante {name}", found[name], 2, inspect.getdoc(kind) or ""))
    return "\n".join(parts)


def index_page() -> str:
    """Return the list of all commands with their first paragraphs."""
    parts = ["# Command line\n", "`ante COMMAND --help` prints the same text as these pages.\n"]
    for group in GROUPS:
        rows = [link(name, kind, group) for name, kind in commands().items() if group_of(kind) == group]
        subject = (import_module(f"ante.cli.{group}").__doc__ or "").rstrip(".")
        parts += [f"## {subject}\n", table(("command", "description"), rows), ""]
    return "\n".join([*parts, EXIT_CODES])


def link(name: str, kind: Any, group: str) -> tuple[str, str]:
    """Return the row of one command."""
    first = (inspect.getdoc(kind) or "").partition("\n\n")[0]
    return f"[`ante {name}`]({group}.md#ante-{name})", cell(first)
