"""The settings page of the site, and the flags of `ante train`."""

import os
import re
import subprocess
import sys

import pytest
from tools.reference.settings import settings_page

from ante.cli.learn.train_flags import flags_of
from ante.training.settings.config import KINDS, TrainConfig, make_config
from ante.training.settings.field import leaves
from ante.training.settings.reference import HEADINGS, rows, shown


def test_the_tables_hold_every_setting_of_every_kind_once() -> None:
    documented = [f"{group}.{name}".lstrip(".") for group in HEADINGS for name, *_ in rows(group)]
    known = {
        leaf.path for group, kinds in KINDS.items() for kind in kinds.known for leaf in leaves(example(group, kind))
    }
    assert len(documented) == len(set(documented)) and set(documented) == known


def example(group: str, kind: str) -> TrainConfig:
    return make_config({f"{group}.kind": kind})


@pytest.mark.parametrize(
    ("default", "text"), [(None, "none"), (True, "true"), (3e-4, "0.0003"), ((256, 256), "[256, 256]"), ("mlp", "mlp")]
)
def test_defaults_are_shown_as_in_a_file(default: object, text: str) -> None:
    assert shown(default) == text


def test_the_page_shows_defaults_under_the_heading_of_their_group() -> None:
    assert "| `lr` | 0.0003 |" in settings_page().partition("## algo: learning")[2].partition("\n## ")[0]


def test_help_shows_at_most_25_options_at_the_top_and_the_others_by_group() -> None:
    command = [sys.executable, "-m", "ante.cli", "train", "--policy.kind", "lstm", "--help"]
    narrow = {**os.environ, "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}  # one column of boxes
    done = subprocess.run(command, env=narrow, capture_output=True, text=True, encoding="utf-8", check=True)
    boxes = re.split(r"╭─ ([\w ]+) ─+╮", done.stdout)[1:]
    options = {title: re.findall(r"^│ (-[\w.-]+)", text, re.M) for title, text in zip(*[iter(boxes)] * 2, strict=True)}
    top = options.pop("options")
    assert len(top) <= 25 and {"--policy.kind", "--algo.lr", "--games.deck", "--resources.runners"} <= set(top)
    assert "--policy.memory" in options["policy options"]
    shown = set(top) | {each for found in options.values() for each in found}
    assert shown >= {
        f"--{flag.alias or flag.path.replace('_', '-')}" for flag in flags_of({"policy": {"kind": "lstm"}})
    }
