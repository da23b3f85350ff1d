"""The win head: fitted to outcomes, stored beside the weights, refused for other weights."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from ante.training.acting.win_head import BadWinHead, read_win_head
from ante.training.players.calibration import NotCalibrated, Positions, calibrate, fitted


def positions(games: int) -> Positions:
    """Return positions whose first feature decides how likely the game is won."""
    rng = np.random.default_rng(0)
    strength = rng.normal(size=games)
    won = rng.random(games) < 1.0 / (1.0 + np.exp(-2.0 * strength))
    game = np.repeat(np.arange(games), 10)
    features = rng.normal(size=(len(game), 6))
    features[:, 0] = strength[game]
    return Positions(features.astype(np.float16), game, won[game])


def test_the_fit_finds_what_decides_games_and_is_calibrated() -> None:
    fit = fitted(positions(12000), 0, "abc")
    assert fit.loss < fit.constant - 0.05
    features = np.zeros((3, 6), dtype=np.float32)
    features[:, 0] = (-1.5, 0.0, 1.5)
    low, middle, high = fit.head(features)
    assert low < 0.3 < middle < 0.7 < high


def test_a_stored_head_belongs_to_its_weights(tmp_path: Path) -> None:
    head = fitted(positions(200), 0, "abc").head
    file = head.write(tmp_path)
    again = read_win_head(tmp_path, "abc")
    assert again is not None
    features = np.random.default_rng(1).normal(size=(20, 6)).astype(np.float32)
    np.testing.assert_allclose(again(features), head(features), atol=2e-3)  # float16
    with pytest.raises(BadWinHead, match="other weights"):
        read_win_head(tmp_path, "another")
    file.write_bytes(b"damaged")
    with pytest.raises(BadWinHead, match="ante calibrate"):
        read_win_head(tmp_path, "abc")
    file.unlink()
    assert read_win_head(tmp_path, "abc") is None


@pytest.mark.parametrize(
    ("numbers", "wins"), [(range(20), ()), (range(20), range(20)), ([0], [0]), ([1, 2, 3], [1]), ([], [])]
)
def test_too_few_games_are_refused(numbers: Sequence[int], wins: Sequence[int]) -> None:
    game = np.repeat(np.array(numbers, dtype=np.int64), 4)
    features = np.zeros((len(game), 6), dtype=np.float16)
    with pytest.raises(NotCalibrated, match=f"{len(wins)} of {len(numbers)} games were won"):
        fitted(Positions(features, game, np.isin(game, list(wins))), 0, "abc")


def test_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotCalibrated, match="ante export"):
        calibrate(tmp_path, 10, 0, lambda count: None)


def test_the_games_that_began_first_are_used_however_long_they_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first games to end are mostly lost ones."""
    pytest.importorskip("torch")
    from ante.training.players import calibration
    from ante.training.policies.registry import new_policy
    from ante.training.settings.config import make_config
    from tests.support.tiny import tiny_network

    monkeypatch.setattr(calibration, "TOGETHER", 8)
    monkeypatch.setattr(calibration, "KEPT", 1.0)
    config, ended = make_config(tiny_network("shortlist")), []
    found = calibration.play(new_policy(config), config, 20, 0, ended.append)
    assert sorted(set(found.game.tolist())) == list(range(20))
    assert sum(ended) == 20 and len(found.won) == len(found.features) == len(found.game)
