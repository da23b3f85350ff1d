"""Python on the pages and in the notebooks compiles, and all names and arguments of Ante in it exist."""

import ast
import inspect
import json
import os
import re
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
from tools.reference.docstrings import members, with_lists

from tests.docs.pages import ROOT, Code, blocks

RUN = ["README.md"]  # pages whose snippets are also run
UNKNOWN = object()


def cells() -> list[Code]:
    """Return the code cells of the notebooks."""
    found = []
    for file in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for number, cell in enumerate(json.loads(file.read_text())["cells"]):
            if cell["cell_type"] == "code":
                found.append(Code(f"notebooks/{file.name}", number, "python", "".join(cell["source"])))
    return found


class Names(ast.NodeVisitor):
    """Resolves a snippet's imports from Ante and checks the arguments of its calls."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}

    def visit_Import(self, node: ast.Import) -> None:
        for each in node.names:
            if each.name.partition(".")[0] in ("ante", "examples"):
                import_module(each.name)
                name = each.asname or each.name.partition(".")[0]
                self.known[name] = import_module(each.name if each.asname else name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.module and node.module.partition(".")[0] in ("ante", "examples"):
            for each in node.names:
                self.known[each.asname or each.name] = member(import_module(node.module), each.name)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.value(node)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        called = self.value(node.func)
        dynamic = any(isinstance(each, ast.Starred) for each in node.args) or any(not k.arg for k in node.keywords)
        if ast.unparse(node.func) in ("gymnasium.make", "gym.make") and node.args:
            from ante.env.single import BalatroEnv

            keywords = {k.arg for k in node.keywords} - {"render_mode", "max_episode_steps"}
            assert keywords <= set(inspect.signature(BalatroEnv).parameters), keywords
        elif called is not UNKNOWN and callable(called) and not dynamic:
            arguments = [None] * len(node.args)
            if hasattr(called, "DESCRIPTOR"):  # a message of protobuf has no signature
                assert {str(k.arg) for k in node.keywords} <= set(called.DESCRIPTOR.fields_by_name)
            else:
                inspect.signature(called).bind(*arguments, **{str(k.arg): None for k in node.keywords})
        self.generic_visit(node)

    def value(self, node: ast.AST) -> Any:
        """Return the value of a dotted name of Ante. Raises AttributeError if it does not exist."""
        if isinstance(node, ast.Name):
            return self.known.get(node.id, UNKNOWN)
        if isinstance(node, ast.Attribute):
            owner = self.value(node.value)
            if isinstance(owner, ModuleType | type):
                return member(owner, node.attr)
        return UNKNOWN


def member(owner: Any, name: str) -> Any:
    """Return an attribute of a module or class, including fields without a default, which a class lacks."""
    if isinstance(owner, ModuleType) and not hasattr(owner, name):
        return import_module(f"{owner.__name__}.{name}")
    fields = {**getattr(owner, "__annotations__", {}), **getattr(owner, "model_fields", {})}
    return UNKNOWN if name in fields else getattr(owner, name)


@pytest.mark.parametrize("code", [*blocks("python"), *cells()], ids=str)
def test_python_names_what_exists(code: Code) -> None:
    text = "\n".join("pass" if line.lstrip().startswith(("!", "%")) else line for line in code.text.splitlines())
    names = Names()
    names.visit(compile(text, str(code), "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT))
    assert names.known or not re.search(r"^\s*(from|import) (ante|examples)\b", text, re.MULTILINE)


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
@pytest.mark.parametrize("code", blocks("python", RUN), ids=str)
def test_python_runs(code: Code) -> None:
    names: dict[str, object] = {}
    exec(code.text, names)
    assert names.get("info") or names.get("n")


def test_unknown_names_and_arguments_are_found() -> None:
    for wrong in (
        "from ante.env.reward import Rewrad",
        "import ante.enf",
        "from ante.env import games\ngames.nothing",
        "from ante.env.games import Games\nGames.nothing",
        "from ante.wrappers import Lesson\nLesson(gaol=1)",
        "import gymnasium\ngymnasium.make('ante/Balatro-v1', dekc='b_red')",
    ):
        with pytest.raises((ImportError, AttributeError, TypeError, AssertionError)):
            Names().visit(ast.parse(wrong))


def test_aligned_rows_of_a_docstring_become_a_list() -> None:
    text = "One run.\n\ndeck, stake  which run\nseed         game seed;\n             None draws one\n\nA sentence.  Another."
    wanted = "One run.\n\n- `deck, stake`: which run\n- `seed`: game seed;\n  None draws one\n\nA sentence.  Another."
    assert with_lists(text) == wanted


def test_members_of_an_enum_become_a_list() -> None:
    source = 'class Outcome(IntEnum):\n    """An outcome."""\n\n    WON = 1\n    LOST = 1 << 1  # the run is over\n'
    assert members(source) == "- `WON` = 1\n- `LOST` = 1 << 1: the run is over"
