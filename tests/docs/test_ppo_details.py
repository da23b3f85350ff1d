"""The page on PPO's implementation details covers the published list, and its modules exist."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/explanation/ppo-details.md").read_text()
ROW = re.compile(r"^\| (\d+)\. ([^|]+) \| ([^|]+) \| `([\w/.]+)` \| ([^|]+) \|$", re.M)
VERDICTS = {"kept", "changed", "not applicable", "not used"}


def test_every_detail_has_a_verdict_and_a_module_that_exists() -> None:
    sections = {
        title: ROW.findall(body) for title, body in re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
    }
    assert [len(rows) for rows in sections.values()] == [13, 9, 9, 5, 1, 4], "the categories of the article"
    rows = [row for each in sections.values() for row in each]
    assert [int(number) for number, *_ in rows] == list(range(1, 42))
    for number, name, verdict, module, about in rows:
        assert verdict in VERDICTS and about, (number, name)
        assert (ROOT / "src/ante" / module).is_file(), (number, module)
