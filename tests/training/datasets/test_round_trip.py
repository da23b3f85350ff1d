"""A dataset equals its games: the actions are replayed on the same seeds, and everything is compared."""

import re
from pathlib import Path

import gymnasium
import numpy as np

from ante.env.games import Games, Outcome
from ante.env.registration import register_environments
from ante.env.replay import action_text, read_file
from ante.lookahead.candidates import CandidateLister, decisions_of
from ante.lookahead.records import candidates_t
from ante.training.datasets.read import Dataset, Steps
from tests.training.datasets.conftest import GAMES, REPLAYS


def whole(folder: Path) -> tuple[Dataset, Steps]:
    dataset = Dataset(folder)
    return dataset, dataset.read(range(dataset.groups))


def games_in(steps: Steps) -> list[Steps]:
    return [steps.take(steps["game"] == game) for game in np.unique(steps["game"])]


def test_observations_masks_and_rewards_are_those_of_the_environment_bit_for_bit(greedy: Path) -> None:
    _, steps = whole(greedy)
    assert len(games_in(steps)) == GAMES
    for game in games_in(steps):
        games = Games(1, seed=game["seed"][0], reorder="none", discrete=False)
        games.reset()
        writer, lists = CandidateLister(), np.zeros(1, dtype=candidates_t).view(np.recarray)
        flat, masks, stored = game.flat, game.masks, game.lists
        for k in range(len(game)):
            writer.write(games, lists)
            assert flat[k].tobytes() == games.flat[0].tobytes()
            assert masks[k].tobytes() == games.masks[0].tobytes()
            assert stored[k].tobytes() == lists.tobytes()
            assert (game["ante"][k], game["dollars"][k]) == (games.states[0].ante, games.states[0].dollars)
            games.step(game["action"][k : k + 1])
            assert game["reward"][k] == games.rewards[0]
            assert game["done"][k] == (games.outcome[0] != Outcome.PLAYING)
        assert game["outcome"][0] == Outcome(int(games.outcome[0])).name.lower()
        assert game["blinds"][0] == games.info()["blinds"][0]
        assert np.isclose(game["game_return"][0], game["reward"].sum())


def test_clicks_go_through_the_gymnasium_environment(recorded: Path) -> None:
    register_environments()
    _, steps = whole(recorded)
    for file, game in list(zip(REPLAYS, games_in(steps), strict=True))[::8]:
        heading = dict(re.findall(r"^(seed|deck|stake|challenge) (.+)$", read_file(file), re.M))
        options = {**heading, **({"stake": int(heading["stake"])} if "stake" in heading else {})}
        env = gymnasium.make("ante/Balatro-v1", observation="flat", reward="shaped", disable_env_checker=True)
        seen, info = env.reset(options=options)
        flat, masks = game.flat, game.masks
        for k in range(len(game)):
            assert flat[k].tobytes() == seen.tobytes(), (file.name, k)
            assert np.array_equal(masks[k], info["action_mask"])
            seen, reward, ended, _, info = env.step(int(game["choice"][k]))
            assert reward == game["reward"][k]
            assert not ended or game["done"][k]


def test_every_line_of_every_replay_is_a_decision_of_the_dataset(recorded: Path) -> None:
    _, steps = whole(recorded)
    for file, game in zip(REPLAYS, games_in(steps), strict=True):
        body = read_file(file).partition("\n\n")[2].splitlines()
        lines = [line.partition("#")[0].strip() for line in body if line[:1].isalpha() and not line.startswith("end ")]
        texts = [action_text(int(action)) for action in game["action"] if action & 63 > 1]
        assert texts == lines[: len(texts)], file.name
        outcome = re.search(r"^end (\w+)", read_file(file), re.M)[1]  # type: ignore[index]
        assert game["outcome"][0] == outcome.replace("unfinished", "truncated")


def test_choices_mean_the_decisions_beside_them(greedy: Path) -> None:
    _, steps = whole(greedy)
    listed = steps["choice"] >= 0
    meant = decisions_of(steps.lists["entries"], steps["choice"].astype(np.int64))
    assert np.array_equal(meant[listed], steps["action"][listed])
    for k in np.flatnonzero(~listed):
        every = decisions_of(
            np.repeat(steps.lists["entries"][k : k + 1], steps["n"][k], axis=0), np.arange(steps["n"][k])
        )
        assert steps["action"][k] not in every
    assert 0.5 < listed.mean() < 1.0
