"""Commands on pages: parsed, but not run."""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import tyro
from tools.reference import commands as reference

from ante.cli.learn.train import chosen_early, defaults, parsed
from ante.cli.options import REGISTRY
from ante.training.settings.config import TrainConfig

ROOT = Path(__file__).resolve().parents[2]
OURS = ("configs/", "examples/", "helm/", "k8s/", "notebooks/", "tests/", "tools/")  # paths that must exist
ENDS = {"do", "done", "then", "if", "fi", "for", "while"}  # words that end a command, as some operators do


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each command in a script, without comments, redirections and assignments."""
    script = re.sub(r"(^|\s)#(\s.*|)$", "", text.replace("\\\n", " "), flags=re.MULTILINE)
    lexer = shlex.shlex(script, posix=True, punctuation_chars="|&;<>()\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t", True, ""
    words: list[str] = []
    for word in [*lexer, ";"]:
        if word in ENDS or set(word) <= set("|&;<>()$\n"):
            if words := without_assignments(words):
                yield words
            words = []
        else:
            words.append(word)


def without_assignments(words: list[str]) -> list[str]:
    """Return a command without its leading variable assignments."""
    while words and re.match(r"[A-Z][A-Z0-9_]*=", words[0]):
        words = words[1:]
    return words


def ante_commands(text: str) -> Iterator[list[str]]:
    """Yield the arguments of each `ante` command, including those after `kubectl exec ... --` and `sh -c`."""
    for words in commands(text):
        if "--" in words and words[0] == "kubectl":
            words = words[words.index("--") + 1 :]
        if words[:2] == ["sh", "-c"]:
            yield from ante_commands(words[2])
        elif words and words[0] in ("ante", ".venv/bin/ante"):
            yield words[1:]
        elif words[:3] in (["python", "-m", "ante.cli"], [".venv/bin/python", "-m", "ante.cli"]):
            yield words[3:]


def is_mention(words: list[str]) -> bool:
    """Return whether the words name a command or a group of commands without arguments."""
    known = all_parsers()
    for word in words:
        if word not in known:
            return False
        known = reference.children(known[word])
    return True


@cache
def all_parsers() -> dict[str, Any]:
    """Return the parser of each command."""
    return reference.parsers()


@cache
def known_commands() -> dict[str, type]:
    """Return the class of each command."""
    return reference.commands()


def parse_ante(words: list[str]) -> None:
    """Parse the arguments of `ante` as the command does. Raises SystemExit or BalatroError for invalid ones."""
    for word in words:
        path = word.rpartition("=")[2]
        if path.startswith(OURS) and not any(sign in path for sign in "*@") and path.isascii() and path.lower() == path:
            assert (ROOT / path).exists(), f"{path} does not exist"
    if "--help" in words:
        assert is_mention([word for word in words if not word.startswith("-") and word in all_parsers()][:1])
        words = [word for word in words if word != "--help"]
        if words[:1] != ["train"]:
            return
    if words[:1] == ["train"]:
        parse_train(words[1:])
    else:
        kind = known_commands().get(words[0])
        assert kind, f"there is no command {words[0]}"
        tyro.cli(kind, prog=f"ante {words[0]}", args=words[1:], registry=REGISTRY)


def parse_train(words: list[str]) -> TrainConfig:
    """Return the settings of an `ante train` command; a missing file counts as empty."""
    chosen = chosen_early(words)
    if chosen.config and not chosen.config.exists():
        chosen.config = None
    if chosen.preset and "/" in chosen.preset:
        chosen.preset = None
    chosen.resume = None
    return parsed(words, chosen, defaults(chosen, False)[0])[1]
