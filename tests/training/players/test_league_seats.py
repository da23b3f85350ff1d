"""Names of players in a league; every seat plays the same games on a range of seeds."""

import shutil
from pathlib import Path

import pytest

pytest.importorskip("torch")

from ante.cli.players import player_of
from ante.errors import BalatroError
from ante.league.folder import BadLeague, Entrant, League, Rules
from ante.league.play import play_missing, play_stretch
from ante.training.players.league_seats import entrants_of, seat_of
from ante.training.players.release import write_release
from ante.training.run_store.checkpoints import (
    BadCheckpoint,
    checkpoints_of,
    find_checkpoint,
    point_best,
    save_checkpoint,
)
from tests.support.checkpoints import METADATA
from tests.training.players.test_release import made_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run with two checkpoints, the first of which is the best."""
    folder = made_run(tmp_path_factory.mktemp("runs") / "ppo", "mlp")
    first, metadata = find_checkpoint(folder / "checkpoints", "best")

    def copy(aside: Path) -> None:
        for name in metadata["files"]:
            shutil.copyfile(first / name, aside / name)

    save_checkpoint(folder / "checkpoints", 2000, copy, {**METADATA, "timesteps": 2000}, best=False)
    return folder


def test_a_run_is_pinned_to_the_checkpoint_that_it_names_now(run: Path) -> None:
    best, latest = entrants_of(str(run))[0], entrants_of(f"{run}@latest")[0]
    assert (best.pin, best.steps, best.run, best.name) == ("000000001000", 1000, str(run), "ppo@000000001000")
    assert (latest.pin, latest.steps) == ("000000002000", 2000)
    assert entrants_of(f"{run}@all") == [best, latest]
    assert entrants_of(f"{run}@000000001000", likeliest=True)[0].name == "ppo@000000001000!"
    assert entrants_of("greedy") == [Entrant("greedy", "greedy")]
    with pytest.raises(BalatroError, match="there is no player 'gredy'"):
        entrants_of("gredy")
    with pytest.raises(BadCheckpoint, match="no 000000003000 checkpoint"):
        entrants_of(f"{run}@000000003000")


def test_a_folder_may_have_an_at_sign(run: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(run, tmp_path / "me@home" / "ppo"))
    assert [each.pin for each in entrants_of(str(folder))] == ["000000001000"]
    assert entrants_of(f"{folder}@latest")[0].run == str(folder)


def test_a_release_is_pinned_to_its_weights(run: Path, tmp_path: Path) -> None:
    folder = write_release(run, tmp_path / "mine")
    entrant = entrants_of(str(folder))[0]
    assert (entrant.name, entrant.run, entrant.steps) == ("mine", "", 1000)
    assert seat_of(entrant)(0).name == "mine"
    with pytest.raises(BadLeague, match="has other weights than mine"):
        seat_of(Entrant("mine", str(folder), "0123456789ab"))


def test_a_stretch_has_its_own_luck(run: Path) -> None:
    seat = seat_of(entrants_of(str(run))[0])
    games = [play_stretch(seat, Rules(50), ["TESTSEED", "2K9H9HN"], stretch) for stretch in (0, 1, 0)]
    taken = [[game.actions for game in each] for each in games]
    assert taken[0] == taken[2] != taken[1]


def test_every_command_takes_a_checkpoint_by_name(run: Path) -> None:
    assert player_of(f"{run}@000000002000", False, "best").name == "ppo"
    with pytest.raises(BadCheckpoint):
        player_of(f"{run}@000000009000", False, "best")


def test_best_points_where_it_is_told(run: Path) -> None:
    checkpoints = run / "checkpoints"
    assert checkpoints_of(checkpoints) == ["000000001000", "000000002000"]
    point_best(checkpoints, "000000002000")
    assert find_checkpoint(checkpoints, "best")[1]["timesteps"] == 2000
    with pytest.raises(BadCheckpoint):
        point_best(checkpoints, "000000009000")
    point_best(checkpoints, "000000001000")
    assert find_checkpoint(checkpoints, "best")[1]["timesteps"] == 1000


@pytest.mark.ray
def test_a_tournament_on_ray_has_the_results_of_one_process(run: Path, tmp_path: Path) -> None:
    from ante.training.players.tournament import play_on_ray

    entrants = [*entrants_of("greedy"), *entrants_of(str(run))]
    alone, together = (League.begin(tmp_path / name, Rules(50)) for name in ("alone", "together"))
    for league in (alone, together):
        league.enter(entrants)
    for entrant in entrants:
        play_missing(alone, entrant, seat_of(entrant))
    assert play_on_ray(together, entrants, 2) == 100
    assert play_on_ray(together, entrants, 2) == 0
    for entrant in entrants:
        assert together.table(entrant.name).equals(alone.table(entrant.name))
