"""Wrappers of single games, each alone, and the environment check of all variants."""

import os
from typing import Any

import gymnasium
import numpy as np
import pytest

from ante.catalog.jokers import Joker
from ante.checks import UnknownOption
from ante.env.registration import NAME, register_environments
from ante.env.single import IllegalAction, NeedsReset
from ante.errors import BalatroError, DeckOfChallenge
from ante.knowledge.embeddings import packaged
from ante.wrappers import (
    Curriculum,
    FrameStackObservation,
    JokerVectors,
    LegalAction,
    Lesson,
    NormalizeReward,
    SeedSampler,
    TimeLimit,
)
from ante.wrappers.check import check_variant

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="too slow uncompiled")
register_environments()


def made(**options: Any) -> Any:
    return gymnasium.make(NAME, disable_env_checker=True, **{"observation": "flat", **options})


class Scripted(gymnasium.Env[int, int]):
    """Games of one step: won for winning seeds, in the ante that the action selects."""

    observation_space, action_space = gymnasium.spaces.Discrete(2), gymnasium.spaces.Discrete(9)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.asked = dict(options or {})
        return 0, {}

    def action_masks(self) -> Any:
        return np.ones(9, dtype=np.bool_)

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        name = str(self.asked.get("seed", ""))
        won = name.startswith("EASY") or (name.startswith("MID") and bool(self.np_random.random() < 0.5))
        return 0, 1.0, action == 0, False, {"ante": action, "outcome": "won" if won else "lost"}


def test_an_illegal_action_becomes_a_legal_one_or_nothing() -> None:
    env = LegalAction(made())
    env.reset(seed=1)
    wrong = int(np.flatnonzero(~env.get_wrapper_attr("action_masks")())[0])
    with pytest.raises(IllegalAction):
        env.unwrapped.step(wrong)
    taken = env.step(wrong)
    assert taken[4]["illegal"] and env.unwrapped.games.steps[0] == 1
    still = LegalAction(made(), instead="refuse", penalty=-0.5)
    seen, _ = still.reset(seed=1)
    before = still.unwrapped.state.tobytes()
    again, reward, terminated, truncated, info = still.step(wrong)
    assert (reward, terminated, truncated, info["illegal"]) == (-0.5, False, False, True)
    assert np.array_equal(seen, again) and still.unwrapped.state.tobytes() == before
    right = int(np.flatnonzero(still.get_wrapper_attr("action_masks")())[0])
    assert not still.step(right)[4]["illegal"]


def test_lessons_end_at_their_goal_and_follow_each_other() -> None:
    lessons = [Lesson(goal=1, stake=1, promote=0.5), Lesson(goal=3, stake=2, promote=0.9), Lesson()]
    env = Curriculum(Scripted(), lessons, window=4, bonus=2.0)
    wins = [2, 0, 2, 2]  # an ante beyond the goal wins the lesson's game; 0 loses it
    for action in wins:
        _, info = env.reset()
        _, reward, terminated, _, last_info = env.step(action)
        assert (terminated, last_info["outcome"], reward) == (True, *(("won", 3.0) if action else ("lost", 1.0)))
        assert (info["lesson"], env.env.asked) == (1, {"stake": 1})
    assert env.reset()[1]["lesson"] == 2 and env.env.asked == {"stake": 2}
    env.reset(options={"stake": 5})
    assert env.env.asked["stake"] == 5
    assert not env.step(3)[2], "ante 3 is the goal, and its boss is not beaten yet"
    assert env.step(4)[2]
    with pytest.raises(BalatroError, match="ante from 1 to 8"):
        Curriculum(Scripted(), [Lesson(goal=9)])


def test_a_refused_step_returns_its_own_observation() -> None:
    env = LegalAction(made(), instead="refuse")
    seen, info = env.reset(seed=1)
    wrong = int(np.flatnonzero(~info["action_mask"].astype(bool))[0])
    kept = seen.copy()
    seen[:] = info["action_mask"][:] = -7
    for _ in range(2):
        again, _, _, _, info = env.step(wrong)
        assert np.array_equal(again, kept) and info["action_mask"].max() == 1
        again[:] = info["action_mask"][:] = -7


def test_a_lesson_of_a_challenge_cannot_name_deck_or_stake() -> None:
    for lesson in (Lesson(1, stake=3), Lesson(1, deck="b_blue")):
        with pytest.raises(DeckOfChallenge, match="c_omelette_1 has its own deck"):
            Curriculum(made(challenge="omelette"), [Lesson(1), lesson])
    env = Curriculum(made(challenge="omelette"), [Lesson(1)])
    env.reset(seed=1)
    assert env.unwrapped.games.challenges[0] == env.unwrapped.games.challenge > 0


@pytest.mark.parametrize("wrap", [lambda env: env, LegalAction, lambda env: LegalAction(env, "refuse")])
def test_no_step_follows_the_end_of_a_lesson(wrap: Any) -> None:
    env = wrap(Curriculum(Scripted(), [Lesson(goal=1), Lesson()]))
    with pytest.raises(NeedsReset, match="no game is in play: call reset before the next step"):
        env.step(1)
    env.reset()
    assert env.step(2)[2]
    with pytest.raises(NeedsReset, match="no game is in play"):
        env.step(1)


def test_games_that_a_time_limit_cuts_are_not_won() -> None:
    lessons = Curriculum(Scripted(), [Lesson(goal=1, promote=0.5), Lesson()], window=2)
    seeds = SeedSampler(lessons, ["EASY"], fade=1.0)
    env = TimeLimit(seeds, 3)
    for action in (1, 1, 2, 1):
        env.reset(seed=4)
        env.reset()  # without a step before, no game is cut
        truncated = terminated = False
        while not (terminated or truncated):
            _, _, terminated, truncated, _ = env.step(action)
    env.reset()
    assert (seeds.wins.tolist(), seeds.games.tolist()) == ([1.0], [4.0])
    assert lessons.at == 1, "a win and a game that was cut are half of the window"


def test_a_reset_with_a_bad_option_changes_nothing() -> None:
    env = SeedSampler(Curriculum(made(), [Lesson(1)]), ["AAAA", "BBBB"])
    env.reset(seed=1)
    env.step(int(np.flatnonzero(env.get_wrapper_attr("action_masks")())[0]))
    game, before = env.unwrapped.games.seeds[0], env.unwrapped.state.tobytes()
    for seed in (None, 2):
        with pytest.raises(UnknownOption, match="decks"):
            env.reset(seed=seed, options={"decks": 1})
    assert (env.unwrapped.games.seeds[0], env.unwrapped.state.tobytes()) == (game, before)
    env.reset()
    assert env.games.sum() == 1.0 and env.games[("AAAA", "BBBB").index(game)] == 1.0


def test_seeds_in_the_band_come_more_often() -> None:
    seeds = [*(f"EASY{i}" for i in range(10)), *(f"MID{i}" for i in range(10)), *(f"HARD{i}" for i in range(10))]
    env = SeedSampler(Scripted(), seeds, fade=0.98)
    env.reset(seed=5)
    names = []
    for _ in range(3000):
        env.reset()
        names.append(str(env.env.asked["seed"]))
        env.step(0)
    late = names[1000:]
    shares = {kind: sum(name.startswith(kind) for name in late) / len(late) for kind in ("EASY", "MID", "HARD")}
    assert shares["MID"] > 0.7 and min(shares.values()) > 0.02
    assert env.rates[:10].min() > 0.7 and env.rates[20:].max() < 0.3
    games = env.games.sum()
    env.reset(options={"seed": "EASY0"})
    env.step(0)
    assert env.games.sum() == games, "seeds given by the caller are not counted"
    again = SeedSampler(Scripted(), seeds, fade=0.98)
    again.reset(seed=5)
    assert [(again.reset(), again.env.asked["seed"], again.step(0))[1] for _ in range(50)] == names[:50]


def test_gymnasium_s_own_wrappers_go_around_games() -> None:
    env = TimeLimit(NormalizeReward(FrameStackObservation(made(), 3)), 20)
    seen, _ = env.reset(seed=2)
    assert seen.shape == (3, *made().observation_space.shape)
    steps, terminated, truncated = 0, False, False
    while not (terminated or truncated):
        seen, _, terminated, truncated, _ = env.step(env.action_space.sample())
        steps += 1
        assert seen in env.observation_space
    assert truncated == (steps == 20 and not terminated) and steps <= 20


@pytest.mark.parametrize(
    "options", [{}, {"observation": "masked", "reward": "potential", "stake": 8}, {"actions": "structured"}]
)
def test_variants_keep_their_promises(options: dict[str, Any]) -> None:
    assert [(each.promise, each.seen) for each in check_variant(options) if not each.kept] == []


def test_an_incorrect_environment_is_detected() -> None:
    class Liar(gymnasium.Wrapper[Any, Any, Any, Any]):
        def action_masks(self) -> Any:
            mask = self.env.get_wrapper_attr("action_masks")().copy()
            mask[np.flatnonzero(~mask)[0]] = True
            return mask

        def step(self, action: Any) -> Any:
            seen, reward, *rest = self.env.step(action)
            return seen, float(reward) + np.random.default_rng().random(), *rest

    found = {each.promise: each for each in check_variant({"observation": "flat"}, Liar)}
    assert "differ from the mask" in found["the mask equals the legal actions"].seen
    assert "differ" in found["the same seed and actions give the same game"].seen
    with pytest.raises(BalatroError, match="observation='pixel'"):
        check_variant({"observation": "pixel"})


def test_jokers_are_seen_with_their_vectors() -> None:
    rng = np.random.default_rng(2)
    vectors = rng.normal(size=(150, 3)).astype(np.float32)
    env: Any = JokerVectors(made(observation="dict"), vectors)
    seen, _ = env.reset(seed=1, options={"challenge": "omelette"})
    assert env.observation_space.contains(seen)
    assert seen["joker_vectors"].shape == (16, 3)
    assert np.array_equal(seen["joker_vectors"][:5], np.tile(vectors[Joker.EGG - 1], (5, 1)))
    assert not seen["joker_vectors"][5:].any()
    with pytest.raises(BalatroError, match="observation='dict'"):
        JokerVectors(made(), vectors)
    for wrong in (vectors[:-1], vectors[0], np.full_like(vectors, np.nan), [["a"]], None, [[1], [1, 2]]):
        with pytest.raises(BalatroError, match="one row for each of 150 jokers"):
            JokerVectors(made(observation="dict"), wrong)  # type: ignore[arg-type]


@pytest.mark.slow
def test_an_environment_with_vectors_keeps_its_promises() -> None:
    vectors = packaged().vectors
    findings = check_variant({}, lambda env: JokerVectors(env, vectors))
    assert all(finding.kept for finding in findings), findings
