"""Evaluation: its statistics are consistent and match a slow computation, and its games can be replayed."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from ante.agents.baselines import Baseline
from ante.agents.evaluate import evaluate, paired_difference, wilson
from ante.agents.report import blinds_of_all
from ante.agents.seed_lists import BadSeedsFile, evaluation_seeds, read_seeds
from ante.engine.core.state import Phase
from ante.env.games import Games, Outcome
from ante.errors import UnknownSeed


def test_wilson_agrees_with_published_values() -> None:
    # 1 of 10 and 0 of 20 at 95 %: values of Newcombe (1998), method 3, and of R's binom.confint(method = "wilson").
    one = wilson(1, 10)
    assert (one.low, one.high) == pytest.approx((0.01787621, 0.4041500), abs=1e-6)
    none = wilson(0, 20)
    assert (none.low, none.high) == pytest.approx((0.0, 0.1611252), abs=1e-6)
    assert none.low == 0.0 and wilson(100, 100).high == 1.0  # not 3e-18
    assert math.isnan(wilson(0, 0).rate)


def test_counts_agree_with_the_games() -> None:
    report = evaluate(Baseline("greedy"), evaluation_seeds(12))
    assert report.games == len(report.records) == 12
    cleared = sum(row.cleared.hits for row in report.blinds)
    played = sum(row.cleared.trials for row in report.blinds)
    assert cleared == sum(record.blinds for record in report.records)
    lost = sum(record.outcome == "lost" for record in report.records)
    assert played - cleared == lost
    assert report.mean_blinds == pytest.approx(cleared / 12)
    for row in report.blinds:
        assert 0 <= row.cleared.low <= row.cleared.rate <= row.cleared.high <= 1


def test_a_game_played_again_ends_alike_and_is_counted_alike() -> None:
    seed = evaluation_seeds(4)[3]
    player = Baseline("greedy")
    (record,) = evaluate(player, [seed]).records
    games = Games(1, discrete=False, reorder="none")
    games.reset(options={"seed": seed})
    beaten, total = 0, 0.0
    for action in record.actions:
        assert games.outcome[0] == Outcome.PLAYING
        before = games.states[0].phase == Phase.PLAY
        games.step(np.array([action]))
        beaten += before and games.states[0].phase == Phase.ROUND_END
        total += float(games.rewards[0])
    assert Outcome(int(games.outcome[0])).name.lower() == record.outcome
    assert (beaten, games.steps[0]) == (record.blinds, record.decisions)
    assert total == pytest.approx(record.reward)


def test_players_stand_side_by_side_blind_by_blind() -> None:
    reports = [evaluate(Baseline(name), evaluation_seeds(8)) for name in ("random", "greedy")]
    table = blinds_of_all(reports)
    columns = [list(column.cells) for column in table.columns]
    assert [column.header for column in table.columns] == ["ante", "blind", "random", "greedy"]
    assert columns[1][:3] == ["Small", "Big", "Boss"]
    for report, cells in zip(reports, columns[2:], strict=True):
        first = report.blinds[0].cleared
        assert cells[0].startswith(f"{first.hits / first.trials:.1%} (") and cells[0].endswith(f"of {first.trials}")
        assert sum(cell != "-" for cell in cells) == sum(row.cleared.trials > 0 for row in report.blinds)


def test_the_report_is_plain_json() -> None:
    data = json.loads(evaluate(Baseline("random"), evaluation_seeds(2)).to_json(), parse_constant=pytest.fail)
    assert {"player", "wins", "mean_ante", "blinds", "records"} <= set(data)
    assert data["wins"]["trials"] == 2


def test_differences_are_paired_game_by_game() -> None:
    one, other = (evaluate(Baseline(name), evaluation_seeds(8)) for name in ("greedy", "random"))
    more = [a.blinds - b.blinds for a, b in zip(one.records, other.records, strict=True)]
    found, half = paired_difference(one, other)
    assert found == pytest.approx(np.mean(more)) and half == pytest.approx(
        1.96 * np.std(more, ddof=1) / 8**0.5, rel=1e-3
    )
    with pytest.raises(AssertionError, match="the games differ"):
        paired_difference(one, evaluate(Baseline("random"), evaluation_seeds(8, 1)))


def test_seed_files_are_checked_before_anything_is_played(tmp_path: Path) -> None:
    file = tmp_path / "seeds.txt"
    with pytest.raises(BadSeedsFile, match="cannot read"):
        read_seeds(file)
    file.write_text("# nothing here\n\n")
    with pytest.raises(BadSeedsFile, match="contains no seeds"):
        read_seeds(file)
    file.write_text("ABC  # mine\nDEF\n")
    assert read_seeds(file) == ["ABC", "DEF"]
    with pytest.raises(BadSeedsFile, match="fewer than 3 games"):
        read_seeds(file, 3)
    with pytest.raises(UnknownSeed):
        evaluate(Baseline("random"), ["AB!"])
