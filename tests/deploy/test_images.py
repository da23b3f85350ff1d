"""`ante images` against Helm's rendered resources."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ante.cli.platform.images import Images
from ante.deploy.chart import OPERATOR, images, read_chart_values
from ante.deploy.settings import BadSettings
from tests.helm.renders import CI, values_of
from tests.support.helm import render


def rendered(found: Any) -> Iterator[str]:
    """Yield every `image` in an object."""
    if isinstance(found, dict):
        if isinstance(found.get("image"), str):
            yield found["image"]
        for value in found.values():
            yield from rendered(value)
    elif isinstance(found, list):
        for value in found:
            yield from rendered(value)


@pytest.mark.parametrize("name", CI)
def test_every_image_of_a_render_is_listed_and_no_other(name: str) -> None:
    listed = {each.image for each in images(read_chart_values((CI[name],))) if each.used}
    assert listed == {OPERATOR, *(image for found in render(values_of(name)).objects for image in rendered(found))}


def test_later_values_win_and_scripts_get_plain_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "values.yaml"
    file.write_text("image: {repository: mine, tag: one}\nobjectStore: {enabled: false}\n")
    assert Images((file,), ("image.tag=two",), quiet=True).run() == 0
    assert capsys.readouterr().out.splitlines() == ["mine:two", OPERATOR]
    assert Images((file,), all=True, json=True).run() == 0
    printed = json.loads(capsys.readouterr().out)
    assert {each["used"] for each in printed} == {True, False} and len(printed) == 5


def test_a_value_that_does_not_exist_is_named() -> None:
    with pytest.raises(BadSettings, match=r"value objectStore\.size"):
        read_chart_values(sets=("objectStore.size=5Gi",))
