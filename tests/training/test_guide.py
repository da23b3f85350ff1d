"""The guide to the settings: every one of them, once, and the page that is written from it."""

import subprocess
import sys
from pathlib import Path

import pytest

from ante.training import guide
from ante.training.config import TrainConfig


def test_every_setting_stands_in_the_guide_once_with_a_sentence() -> None:
    told = [name for lines in guide.groups().values() for name, *_ in lines]
    assert sorted(told) == sorted(TrainConfig.model_fields)
    for lines in guide.GUIDE.values():
        assert all(when.endswith(".") and "|" not in when for when in lines.values())


def test_a_setting_that_is_left_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    shorter = {
        group: {name: when for name, when in lines.items() if name != "lr"} for group, lines in guide.GUIDE.items()
    }
    monkeypatch.setattr(guide, "GUIDE", shorter)
    with pytest.raises(LookupError, match=r"differ.*\['lr'\]"):
        guide.groups()


@pytest.mark.parametrize(
    ("default", "text"), [(None, "none"), (True, "true"), (3e-4, "0.0003"), ((256, 256), "[256, 256]"), ("mlp", "mlp")]
)
def test_defaults_are_shown_as_in_a_file(default: object, text: str) -> None:
    assert guide.shown(default) == text


def test_the_page_is_fresh() -> None:
    done = subprocess.run([sys.executable, "tools/write_training.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "| `lr` | 0.0003 |" in Path("docs/training.md").read_text()
