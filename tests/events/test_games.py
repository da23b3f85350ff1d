"""Games as events: what is stored is the game that was played, and becomes a dataset."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ante.agents.baselines import Baseline
from ante.agents.evaluate import evaluate
from ante.env.games import Games
from ante.env.replay import Heading
from ante.events import archive
from ante.events.games import PublishingPlayer
from ante.events.opening import open_bus
from ante.events.publisher import publishing_events
from ante.events.query import kinds_of, stored_events
from ante.events.stored_games import Diverged, StoredGame, check_game, counted_games, stored_games
from ante.plugins import BadPlugin
from ante.recording.games import record_games
from ante.storage.local import LocalStore

SEEDS = ["EVENT1", "EVENT2", "EVENT3"]


def play(file: Path, agent: str, heading: Heading, locked: tuple[str, ...] = ()) -> None:
    """Play three games whose events go to a log."""
    with publishing_events(str(file), f"eval/{agent}", drops=False) as publisher:
        assert publisher is not None
        player = PublishingPlayer(Baseline(agent), publisher, heading, locked)
        evaluate(
            player, SEEDS, heading.deck, heading.stake, challenge=heading.challenge, locked=locked, max_decisions=400
        )
        player.finish()


def games_in(source: object) -> list[StoredGame]:
    with stored_events(str(source)) as db:
        return list(stored_games(db))


@pytest.mark.parametrize(
    ("agent", "heading", "locked"),
    [
        ("greedy", Heading("", "b_plasma", 3), ()),
        ("random", Heading(""), ("j_blueprint", "j_order")),
        ("greedy", Heading("", challenge="omelette"), ()),
    ],
)
def test_stored_games_equal_those_that_were_played(
    tmp_path: Path, agent: str, heading: Heading, locked: tuple[str, ...]
) -> None:
    play(tmp_path / "events.sqlite", agent, heading, locked)
    found = {game.heading.seed: game for game in games_in(tmp_path / "events.sqlite")}
    assert sorted(found) == SEEDS
    for game in found.values():
        check_game(game)  # the engine has the same record before every decision, and at the end
    if not locked:  # the recorder has no locked profiles
        (recorded,) = record_games(Baseline(agent), SEEDS, heading, max_decisions=400)
        for each in recorded:
            game = found[each.record.seed]
            assert game.actions == each.actions and game.outcome == each.record.outcome


def test_a_changed_game_is_found_out(tmp_path: Path) -> None:
    play(tmp_path / "events.sqlite", "greedy", Heading(""))
    game = games_in(tmp_path / "events.sqlite")[0]
    fields = vars(game)
    other = StoredGame(**{**fields, "heading": Heading("OTHER")})
    with pytest.raises(Diverged, match="differs from the engine's before decision 1"):
        check_game(other)
    with pytest.raises(Diverged, match=r"before decision 4|decision 3 .* is illegal"):
        check_game(StoredGame(**{**fields, "actions": (*game.actions[:2], game.actions[3], *game.actions[3:])}))
    with pytest.raises(Diverged, match="records of version 1, and this Ante"):
        check_game(StoredGame(**{**fields, "record_version": 1}))


def test_events_become_a_dataset_like_that_of_the_replays(tmp_path: Path) -> None:
    from ante.cli.platform.events import Dataset as Command
    from ante.training.datasets.export import export
    from ante.training.datasets.read import Dataset
    from ante.training.datasets.scripts import played_scripts

    play(tmp_path / "events.sqlite", "greedy", Heading(""))

    async def move() -> None:
        bus = await open_bus(str(tmp_path / "events.sqlite"))
        async for _ in archive.archive(
            bus, partial(archive.store_events, LocalStore(tmp_path / "archive")), 60.0, follow=False
        ):
            pass
        await bus.close()

    asyncio.run(move())
    assert Command(str(tmp_path / "archive"), tmp_path / "data", check=True).run() == 0
    scripts = played_scripts(Baseline("greedy"), SEEDS, Heading(""), 64)
    export(tmp_path / "wanted", scripts, "shortlist", "shaped", "all", player="greedy")
    found, wanted = (Dataset(tmp_path / name).table() for name in ("data", "wanted"))
    assert found.equals(wanted) and len(found) > 50


class Wrong(Baseline):
    """A player whose decisions are no actions."""

    def choose(self, games: Games, playing: Any) -> Any:
        return np.where(playing, 1 << 60, -1)


def test_an_illegal_decision_is_reported_and_not_published(tmp_path: Path) -> None:
    file = tmp_path / "events.sqlite"
    with publishing_events(str(file), "eval/wrong", drops=False) as publisher:
        assert publisher is not None
        with pytest.raises(BadPlugin, match="which is illegal"):
            evaluate(PublishingPlayer(Wrong("greedy"), publisher, Heading("")), SEEDS)
    with stored_events(str(file)) as db:
        assert [row[:2] for row in kinds_of(db).values] == [("ante.v1.game.begun", 3)]


def test_a_game_without_its_end_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "events.sqlite"
    play(file, "greedy", Heading(""))
    with publishing_events(str(file), "eval/greedy", drops=False) as publisher:
        assert publisher is not None
        player, games = PublishingPlayer(Baseline("greedy"), publisher, Heading("")), Games(1, discrete=False)
        games.reset(options={"seed": ["CUT"]})
        games.step(player.choose(games, np.ones(1, dtype=np.bool_)))
    with stored_events(str(file)) as db:
        assert counted_games(db) == 4 and len(list(stored_games(db))) == 3
        assert list(stored_games(db, "rules")) == [] and len(list(stored_games(db, "greedy"))) == 3
