"""Files of figures: their ending names the format, and they are written completely or not at all."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from ante.cli import outcome
from ante.watch.render.figures import BadEnding, write_figure


@pytest.mark.parametrize(
    ("name", "begin"), [("c.png", b"\x89PNG"), ("c.SVG", b"<?xml"), ("c.pdf", b"%PDF"), ("c", b"\x89PNG")]
)
def test_the_ending_is_the_format(tmp_path: Path, name: str, begin: bytes) -> None:
    assert write_figure(Figure(figsize=(1, 1)), tmp_path / name).read_bytes().startswith(begin)
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_figure_that_cannot_be_drawn_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "c.png"
    file.write_text("old")

    def broken(_: Any, aside: Path, **__: Any) -> None:
        aside.write_text("half")
        raise RuntimeError

    monkeypatch.setattr(Figure, "savefig", broken)
    with pytest.raises(RuntimeError):
        write_figure(Figure(), file)
    assert [each.read_text() for each in tmp_path.iterdir()] == ["old"]
    with pytest.raises(BadEnding, match=r"the ending '.abc' is unknown; use one of .png, .svg"):
        write_figure(Figure(), tmp_path / "c.abc")


@pytest.mark.parametrize(
    "words",
    [
        ["curves", "RUN", "--out", "c.abc"],
        ["stats", "greedy", "--plot", "c.abc"],
        ["league", "table", "RUN", "--plot", "c.abc"],
        ["know", "page", "--plot", "c.abc"],
    ],
)
def test_an_unknown_ending_is_refused_before_the_work(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(words) == 2
    said = capsys.readouterr().err
    assert "the ending '.abc' is unknown; use one of .png" in said and len(said.splitlines()) == 1


def test_curves_are_drawn_to_a_file_without_an_ending(tmp_path: Path) -> None:
    (tmp_path / "metrics.csv").write_text("steps,seconds,blinds,ante,win_rate,entropy\n1,1,1,1,0,1\n2,2,2,1,0,1\n")
    assert outcome(["curves", str(tmp_path), "--out", str(tmp_path / "c")]) == 0
    assert (tmp_path / "c").read_bytes()[:4] == b"\x89PNG"
