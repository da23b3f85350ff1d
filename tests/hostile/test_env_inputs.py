"""Arguments of environments, batches, rewards and wrappers: each invalid value raises an error and changes nothing."""

import math
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from ante.engine.core.state import copy_states
from ante.engine.validation import BadState
from ante.env.games import Games
from ante.env.registration import NAME, register_environments
from ante.env.reward import PythonReward, Reward, Term
from ante.env.single import BalatroEnv, EnvironmentClosed, NeedsReset
from ante.env.vector import BalatroVectorEnv
from ante.errors import BalatroError
from ante.lookahead.environments import BalatroShortlistEnv, BalatroShortlistVectorEnv
from ante.lookahead.records import MAX_CANDIDATES
from ante.wrappers import Curriculum, LegalAction, Lesson, SeedSampler
from tests.hostile.harness import Case, cases, check

NAN, INF, HUGE = math.nan, math.inf, 10**5000
N = 3
SELECT = 27  # the discrete action "select the blind", legal in each new game
NO_NUMBERS = (1.0, 1.5, NAN, INF, True, np.bool_(True), "1", b"1", None, [1], {}, 1j, object())
NO_FLAGS = ("no", 1, 0, None, [], 1.0)
NO_CHOICES = ("", "both", "Dict", None, 1, True, ["raise"], b"raise", np.array(["all", "none"]))
NO_SEEDS = (
    *("", " ", "no seed", "A" * 17, "a" * 10**6, "A-B", "AB\0", "A\nB", "\x1b[31mABC", "\ud800"),
    *(
        "\u0131stanbul",
        "stra\u00dfe",
        "\u017feed",
        "\ufb01",
        "\u0130",
        "\uff21\uff22\uff23",
        "\u0661\u0662\u0663",
        "\u212a",
        "\u00a0ABC",
        "AB\u200b",
    ),
    *(5, True, 1.5, NAN, b"ABC", {"ABC"}, np.array("ABC"), np.array(5)),
)


class Paid(PythonReward):
    """Returns its constructor argument."""

    name = "paid"

    def __init__(self, rewards: Any) -> None:
        self.rewards = rewards

    def before(self, states: np.recarray) -> None:
        return None

    def after(self, before: None, states: np.recarray, outcome: Any) -> Any:
        return self.rewards


WRONG: dict[str, tuple[str, tuple[Any, ...]]] = {  # option: message, and values
    "deck": ("unknown deck", ("b_rad", "", "blac\u212a", "x" * 10**5, "red\n", "\x1b[31mred", True, -1, 99, HUGE, 1.0, NAN, None, ["red"], b"red")),
    "stake": ("unknown stake", (0, 9, -1, 10**30, HUGE, *NO_NUMBERS)),
    "seed": ("is not a game seed", NO_SEEDS),
    "challenge": ("unknown challenge", ("omlette", "", "c_omelet\u017fe_1", True, 99, -1, HUGE, 1.0, NAN, ["omelette"], b"omelette")),
    "actions": ("actions=", NO_CHOICES),
    "observation": ("observation=", NO_CHOICES),
    "reorder": ("reorder=", NO_CHOICES),
    "illegal": ("illegal=", NO_CHOICES),
    "reward": ("", ("shapd", "", "nowhere_at_all:Reward", "ante.env.reward:PythonReward", "ante.env.reward:Reward", "datetime:date", "os:getcwd", "a:b:c", "json:nothing", "../x:y", None, 5, NAN, True, ["shaped"], {})),
    "max_decisions": ("max_decisions=", (0, -1, 2**63, HUGE, *NO_NUMBERS)),
    "endless": ("endless=", NO_FLAGS),
    "locked": ("cannot be locked", ("j_blue", "", 5, None, NAN, True, ["j_joker"], [3], [["j_blueprint"]], b"x", [None], {"j_blueprint": 1, "x": 2})),
    "render_mode": ("render_mode=", ("human", "rgb", "", 1, True, ["ansi"])),
    "render_size": ("render_size", ((0, 0), (-1, 5), (640,), (640, 360, 3), 640, "640x360", (6.5, 3), (True, 2), (10**6, 10), None, (NAN, 1), {640, 360})),
    "picture": ("picture=", ("draw", 5, None, "a:b:c", "", ["x:y"])),
}  # fmt: skip
WRONG_VECTOR: dict[str, tuple[str, tuple[Any, ...]]] = {
    "num_envs": ("num_envs=", (0, -1, 2**40, 2**63, HUGE, *NO_NUMBERS)),
    "autoreset_mode": ("autoreset_mode=", ("sometimes", "", None, 5, True, ["NextStep"])),
    "copy": ("copy=", NO_FLAGS),
}
WRONG_SEED = (-1, 2**128, HUGE, "TESTSEED", *(value for value in NO_NUMBERS if value is not None))
WRONG_OPTIONS: tuple[tuple[Any, str], ...] = (
    (5, "use a dict"), ("seed", "use a dict"), ([("seed", "ABC")], "use a dict"), (True, "use a dict"), ({"seed"}, "use a dict"),
    ({"sead": "ABC"}, "did you mean seed"), ({"Deck": "red"}, "did you mean deck"), ({"Seed": "ABC"}, "no option"), ({"SEED": "ABC"}, "no option"),
    ({None: 1}, "no option"), ({1: 2}, "no option"), ({"state": b""}, "no option"), ({"goal": 3}, "no option"), ({"x" * 10**5: 1}, "no option"),
    ({"reset_masks": [True] * N}, "no option"), ({"deck": "red", "stack": 2}, "did you mean"), ({("seed",): 1}, "no option"),
    ({"deck": "rad"}, "unknown deck"), ({"deck": None}, "unknown deck"), ({"deck": True}, "unknown deck"), ({"stake": 9}, "unknown stake"), ({"stake": None}, "unknown stake"),
    ({"stake": True}, "unknown stake"), ({"stake": 1.0}, "unknown stake"), ({"stake": "1"}, "unknown stake"), ({"challenge": "x"}, "unknown challenge"),
    ({"challenge": True}, "unknown challenge"), ({"challenge": "omelette", "deck": "blue"}, "its own deck"), ({"challenge": "omelette", "stake": 2}, "its own deck"),
    ({"seed": []}, "one for each game"), ({"seed": ["A"] * 9}, "one for each game"), ({"seed": ()}, "one for each game"),
    *(({"seed": seed}, "is not a game seed") for seed in NO_SEEDS),
)  # fmt: skip
WRONG_SEEDS = (
    [1, 2], [1, 2, 3, 4], [], (1, 2), range(2), np.arange(4), np.array([[1, 2, 3]]), [1, "2", 3], [1, -1, 3], [1, True, 3], [1, 2.0, 3],
    [1, NAN, 3], np.array([1.0, 2.0, 3.0]), np.array([True] * N), [1, [2], 3], [1, 2, HUGE], 2**128 - 1, {1, 2, 3}, iter([1, 2, 3]), np.array(1.5),
)  # fmt: skip
WRONG_MASKS = (
    [True], [True] * 4, [], [1, 0, 1], ["yes"] * N, [True, False, None], "yes", b"yes", None, True, 1, np.ones(N), np.ones(N, dtype=np.int8),
    np.ones((N, 1), dtype=bool), np.ones(4, dtype=bool), np.array(True), {0: True}, iter([True] * N),
)  # fmt: skip
WRONG_ACTION = (
    2**63, -(2**63) - 1, HUGE, np.array([SELECT]), np.array(27.0), np.array(True), np.float32(27), "select", {"verb": 2}, (SELECT,), np.array("27"),
    np.array([[SELECT]]), *NO_NUMBERS,
)  # fmt: skip
WRONG_ACTIONS = (
    [SELECT] * 2, [SELECT] * 4, [[SELECT]] * N, [[SELECT] * N], SELECT, np.array(SELECT), [], [27.0] * N, ["27"] * N, [27, True, 27], [27, np.bool_(True), 27],
    np.array([True] * N), None, [27, None, 27], [27, [27], 27], np.full(N, 2**64 - 1, dtype=np.uint64), [2**70] * N, np.full(N, 27.0), "abc",
    np.array([27, 27, 27], dtype=object), np.full(N, 27 + 0j), {"verb": 2}, NAN, np.array(["27"] * N), np.zeros((N, 0)), np.full((1, N), 27),
    np.array([1, 2, 3], dtype="M8[s]"), iter([27] * N),
)  # fmt: skip
CARDS = np.zeros(24, dtype=np.int8)
PLAIN = {"verb": 2, "target": 0, "to": 0, "cards": CARDS}
WRONG_PARTS: tuple[Any, ...] = (
    None, 2, [2, 0, 0, CARDS], (2, 0, 0), "select", {}, {"verb": 2}, {**PLAIN, "card": 1}, {name: PLAIN[name] for name in ("verb", "target", "to")},
    *({**PLAIN, name: value} for name in ("verb", "target", "to") for value in (-1, 99, 300, 2**63, 1.5, NAN, True, "1", None, [2, 2, 2, 2], np.zeros((2, 2)))),
    *({**PLAIN, "cards": value} for value in (CARDS[:23], np.zeros(25, dtype=np.int8), CARDS + 2, CARDS - 1, CARDS + 0.5, ["0"] * 24, None, 1, "0" * 24, CARDS.reshape(2, 12))),
)  # fmt: skip
WRONG_WHICH = ([N], [-N - 1], [0.5], [True, False, True], "0", None, [[0]], [2**70], np.array([0.0]))


def refused(call: Callable[[], Any]) -> Callable[[Path], int]:
    """Run a call in the form of the harness; errors other than BalatroError are not caught."""

    def run(_: Path) -> int:
        try:
            call()
        except BalatroError as error:
            import sys

            print(f"ante: {error}", file=sys.stderr)
            return 2
        return 0

    return run


def case(name: str, number: int, says: str, call: Callable[[], Any]) -> Case:
    return Case(f"{name} {number}", refused(call), says)


@cache
def playing(actions: str = "discrete", many: bool = False) -> Any:
    """Return an environment with new games."""
    if actions == "shortlist":
        env: Any = BalatroShortlistVectorEnv(N, seed="TESTSEED") if many else BalatroShortlistEnv(seed="TESTSEED")
        env.reset(seed=1)
        return env
    env = (
        BalatroVectorEnv(N, seed="TESTSEED", actions=actions) if many else BalatroEnv(seed="TESTSEED", actions=actions)
    )
    env.reset(seed=1)
    return env


def unchanged(env: Any, call: Callable[[Any], Any]) -> None:
    """Run a call that may be refused; then the games, their generators and the observations must be unchanged."""
    games = env.games

    def observed() -> tuple[Any, ...]:
        buffers = [
            getattr(games, name).tobytes()
            for name in ("states", "observations", "rewards", "outcome", "steps", "decks", "stakes")
        ]
        return (*buffers, list(games.seeds), [str(rng.bit_generator.state) for rng in games.rngs])

    before = observed()
    try:
        call(env)
    finally:
        assert observed() == before


def built(many: bool, **options: Any) -> Callable[[], Any]:
    return partial(BalatroVectorEnv, N, **options) if many else partial(BalatroEnv, **options)


def on(call: Callable[[Any], Any], actions: str = "discrete", many: bool = False) -> Callable[[], Any]:
    return lambda: unchanged(playing(actions, many), call)


def constructor_cases() -> Iterator[Case]:
    for many in (False, True):
        for option, (says, values) in WRONG.items():
            for number, value in enumerate(values):
                if (option, value) != ("challenge", None):
                    yield case(
                        f"{'vector' if many else 'single'} {option}", number, says, built(many, **{option: value})
                    )
    for option, (says, values) in WRONG_VECTOR.items():
        for number, value in enumerate(values):
            yield case(f"vector {option}", number, says, partial(BalatroVectorEnv, **{option: value}))
    for number, options in enumerate(({"deck": "blue"}, {"stake": 3})):
        yield case("challenge with its own", number, "its own deck", built(False, challenge="omelette", **options))


def reset_cases() -> Iterator[Case]:
    for many in (False, True):
        name = "vector" if many else "single"
        for number, seed in enumerate(WRONG_SEED):
            if not (many and seed == [1]):
                yield case(
                    f"{name} reset seed", number, "seed=", on(lambda env, seed=seed: env.reset(seed=seed), many=many)
                )
        for number, (options, says) in enumerate(WRONG_OPTIONS):
            yield case(
                f"{name} reset options",
                number,
                says,
                on(lambda env, o=options: env.reset(seed=5, options=o), many=many),
            )
    yield case("single reset mask", 0, "no option", on(lambda env: env.reset(options={"reset_mask": [True]})))
    for number, seeds in enumerate(WRONG_SEEDS):
        yield case("vector reset seeds", number, "seed=", on(lambda env, s=seeds: env.reset(seed=s), many=True))
    for number, mask in enumerate(WRONG_MASKS):
        call = on(lambda env, m=mask: env.reset(seed=5, options={"reset_mask": m}), many=True)
        yield case("reset mask", number, "reset_mask", call)
    for number, seed in enumerate((["A"], ["A"] * 3, ["A", 5], ["A", "\u0131"])):
        call = on(lambda env, s=seed: env.reset(options={"reset_mask": [True, False, True], "seed": s}), many=True)
        yield case("seeds of a mask", number, "seed", call)


def step_cases() -> Iterator[Case]:
    for number, action in enumerate(WRONG_ACTION):
        yield case("action", number, "action=", on(lambda env, a=action: env.step(a)))
    for number, action in enumerate((-1, 143, 10**9, 0, np.int64(500), np.uint8(200), np.array(142))):
        yield case("illegal action", number, "Legal now", on(lambda env, a=action: env.step(a)))
        yield case(
            "illegal in a batch", number, "in game 1", on(lambda env, a=action: env.step([27, int(a), 27]), many=True)
        )
    for number, actions in enumerate(WRONG_ACTIONS):
        yield case("actions", number, "actions=", on(lambda env, a=actions: env.step(a), many=True))
        yield case("actions of a batch", number, "actions=", on(lambda env, a=actions: env.games.step(a), many=True))
        yield case("actions asked of", number, "actions=", on(lambda env, a=actions: env.games.refused(a), many=True))
    for number, action in enumerate(WRONG_PARTS):
        yield case("structured action", number, "action", on(lambda env, a=action: env.step(a), "structured"))
        if not isinstance(action, dict) or action.keys() != PLAIN.keys():
            yield case(
                "structured actions", number, "action", on(lambda env, a=action: env.step(a), "structured", many=True)
            )
    for number, which in enumerate(WRONG_WHICH):
        if which is not None:
            yield case("which games", number, "which=", on(lambda env, w=which: env.games.reset(w), many=True))


def shortlist_cases() -> Iterator[Case]:
    for number, action in enumerate(WRONG_ACTION):
        yield case("candidate", number, "action=", on(lambda env, a=action: env.step(a), "shortlist"))
    for number, action in enumerate((-1, MAX_CANDIDATES, MAX_CANDIDATES - 1, 10**9, -(2**63), np.uint8(255))):
        yield case("illegal candidate", number, "Legal now", on(lambda env, a=action: env.step(a), "shortlist"))
        yield case(
            "illegal candidate of a batch",
            number,
            "in game 1",
            on(lambda env, a=action: env.step([0, int(a), 0]), "shortlist", True),
        )
    for number, actions in enumerate(WRONG_ACTIONS):
        yield case("candidates", number, "actions=", on(lambda env, a=actions: env.step(a), "shortlist", True))
    for many, make in ((False, BalatroShortlistEnv), (True, partial(BalatroShortlistVectorEnv, N))):
        name = "vector" if many else "single"
        for option, (says, values) in WRONG.items():
            for number, value in enumerate(values):
                if (option, value) != ("challenge", None) and option not in ("actions", "observation"):
                    yield case(f"shortlist, {name} {option}", number, says, partial(make, **{option: value}))
        for option in ("actions", "observation"):
            yield case(f"shortlist, {name} {option}", 0, "leave it out", partial(make, **{option: "flat"}))
        for number, (options, says) in enumerate(WRONG_OPTIONS):
            call = on(lambda env, o=options: env.reset(seed=5, options=o), "shortlist", many)
            yield case(f"shortlist, {name} reset options", number, says, call)


def other_cases() -> Iterator[Case]:
    for term in Term:
        for number, value in enumerate((NAN, INF, -INF, True, "1", None, 1j, [1.0], HUGE)):
            yield case(
                f"weight {term.name}",
                number,
                "finite number",
                partial(Reward, "mine", "", **{term.name.lower(): value}),
            )
    for number, value in enumerate((-0.1, 1.1, NAN, INF, True, "1", None)):
        yield case("discount", number, "discount", partial(Reward, "mine", "", discount=value))
        yield case("discounted", number, "discount", lambda v=value: Reward("mine", "").discounted(v))
    for number, rewards in enumerate(
        (
            np.array([NAN, 0, 0]),
            np.array([INF, 0, 0]),
            np.zeros(2),
            0.0,
            None,
            ["a"] * N,
            [None] * N,
            np.zeros((N, 1)),
            np.ones(N) * 1j,
        )
    ):
        yield case("rewards of Python", number, "paid returned", lambda r=rewards: paid(r))
    for number, goal in enumerate((0, 9, -1, 2.5, True, NAN, "8", None, HUGE)):
        yield case("goal", number, "goal=", partial(Games, 1, goal=goal))
        yield case("goal of a lesson", number, "goal=", partial(Lesson, goal=goal))
    yield case("goal of an endless game", 0, "does not end at a goal", partial(Games, 1, goal=4, endless=True))
    for number, value in enumerate((-0.1, 1.1, NAN, True, "0.5", None)):
        yield case("promote", number, "promote", partial(Lesson, promote=value))
        yield case("band", number, "band", lambda v=value: SeedSampler(inner(), ["A"], band=(v, 0.7)))
    for number, lesson in enumerate(({"deck": "rad"}, {"stake": 0}, {"stake": 1.5}, {"deck": True})):
        yield case("lesson", number, next(iter(lesson)), partial(Lesson, **lesson))
    for number, lessons in enumerate(([], None, "abc", [1], [Lesson(), None], {Lesson()})):
        yield case("lessons", number, "lessons=", lambda v=lessons: Curriculum(inner(), v))
    for number, value in enumerate((0, -1, *NO_NUMBERS)):
        yield case("window", number, "window=", lambda v=value: Curriculum(inner(), [Lesson()], window=v))
    for number, value in enumerate((NAN, INF, True, "1", None)):
        yield case("bonus", number, "bonus=", lambda v=value: Curriculum(inner(), [Lesson()], bonus=v))
        yield case("penalty", number, "penalty=", lambda v=value: LegalAction(inner(), penalty=v))
        yield case("often", number, "often=", lambda v=value: SeedSampler(inner(), ["A"], often=v))
        yield case("fade", number, "fade=", lambda v=value: SeedSampler(inner(), ["A"], fade=v))
    yield case("penalty", 9, "penalty=", lambda: LegalAction(inner(), penalty=1.0))
    yield case("fade", 9, "fade", lambda: SeedSampler(inner(), ["A"], fade=0.0))
    yield case("band", 9, "band", lambda: SeedSampler(inner(), ["A"], band=(0.7, 0.3)))
    for number, value in enumerate(([], "ABC", None, {"A"}, 5, ["no seed"], ["A", 5], ["\u0131"])):
        yield case("seeds", number, "seed", lambda v=value: SeedSampler(inner(), v))
    for number, value in enumerate(NO_CHOICES):
        yield case("instead", number, "instead=", lambda v=value: LegalAction(inner(), instead=v))
    for number, value in enumerate((*NO_NUMBERS, np.array([27]), HUGE)):
        yield case("action of a wrapper", number, "action=", lambda v=value: begun(LegalAction(inner())).step(v))
    yield case("wrapper before a reset", 0, "call reset", lambda: LegalAction(BalatroEnv()).step(27))


def inner() -> Any:
    return BalatroEnv(seed="TESTSEED")


def begun(env: Any) -> Any:
    env.reset(seed=1)
    return env


def paid(rewards: Any) -> None:
    begun(BalatroVectorEnv(N, seed="TESTSEED", reward=Paid(rewards))).step([27] * N)


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """Load compiled code before cases limit memory and time."""
    register_environments()
    for many in (False, True):
        for actions in ("discrete", "structured", "shortlist"):
            playing(actions, many)
    begun(inner()).step(SELECT)
    begun(BalatroVectorEnv(2)).step([SELECT] * 2)


def test_there_are_many_cases() -> None:
    assert sum(len(list(each())) for each in (constructor_cases, reset_cases, step_cases, other_cases)) >= 900


@pytest.mark.parametrize("case", cases(list(constructor_cases()), 60))
def test_a_wrong_option_is_refused(case: Case, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    check(case, tmp_path, capfd)


@pytest.mark.parametrize("case", cases(list(reset_cases()), 60))
def test_a_wrong_reset_is_refused_and_changes_nothing(
    case: Case, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    check(case, tmp_path, capfd)


@pytest.mark.parametrize("case", cases(list(step_cases()), 60))
def test_a_wrong_step_is_refused_and_changes_nothing(
    case: Case, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    check(case, tmp_path, capfd)


@pytest.mark.parametrize("case", cases(list(shortlist_cases()), 60))
def test_a_wrong_candidate_or_option_of_the_shortlist_view_is_refused(
    case: Case, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    check(case, tmp_path, capfd)


@pytest.mark.parametrize("case", cases(list(other_cases()), 60))
def test_a_wrong_reward_goal_or_wrapper_is_refused(
    case: Case, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    check(case, tmp_path, capfd)


@pytest.mark.parametrize("use", [lambda env: env.step(SELECT), lambda env: env.render()])
def test_nothing_is_played_before_a_reset_and_after_the_end(use: Callable[[Any], Any]) -> None:
    with pytest.raises(NeedsReset, match="call reset"):
        use(BalatroEnv(render_mode="ansi"))
    with pytest.raises(NeedsReset, match=r"games \[0, 1\]"):
        use(BalatroVectorEnv(2, render_mode="ansi"))
    assert issubclass(NeedsReset, gymnasium.error.ResetNeeded) and issubclass(NeedsReset, BalatroError)


@pytest.mark.parametrize("illegal", ["raise", "ignore"])
def test_a_finished_game_is_not_continued(illegal: str) -> None:
    env = BalatroEnv(seed="TESTSEED", max_decisions=1, illegal=illegal)
    env.reset()
    assert env.step(SELECT)[3]
    for action in (0, 143, SELECT):
        with pytest.raises(NeedsReset, match="over, truncated: call reset"):
            unchanged(env, lambda env, action=action: env.step(action))
    env.reset()
    assert env.step(SELECT)[3]
    lost = BalatroEnv(seed="TESTSEED", illegal=illegal)
    lost.reset()
    lost.step(SELECT)
    lost.state.hands_left = 1
    lost.step(0)
    assert lost.step(25)[2]
    with pytest.raises(NeedsReset, match="over, lost: call reset"):
        lost.step(0)


@pytest.mark.parametrize("make", [BalatroEnv, lambda **options: BalatroVectorEnv(2, **options)])
def test_a_closed_environment_raises_an_error(make: Callable[..., Any]) -> None:
    env = make(render_mode="ansi")
    env.reset(seed=1)
    env.close()
    env.close()
    for use in (lambda: env.step(SELECT), lambda: env.reset(), env.render):
        with pytest.raises(EnvironmentClosed, match="create a new one"):
            use()
    assert issubclass(EnvironmentClosed, gymnasium.error.ClosedEnvironmentError)


def test_some_games_of_a_vector_may_begin_before_others() -> None:
    envs = BalatroVectorEnv(N)
    envs.reset(options={"reset_mask": [True, False, True]})
    with pytest.raises(NeedsReset, match=r"games \[1\] have not started"):
        envs.step([SELECT] * N)
    envs.reset(options={"reset_mask": (False, True, False)})
    envs.step([SELECT] * N)


def test_unusual_values_that_are_right_are_taken_as_they_are() -> None:
    env = BalatroEnv(
        deck=np.int64(3), stake=np.int8(2), seed=" abc1 ", max_decisions=np.int32(50), endless=np.bool_(False)
    )
    assert env.reset()[1]["seed"] == "ABC1"
    assert (env.state.deck_id, env.state.stake) == (3, 2)
    for action in (np.array(SELECT), np.uint8(0), np.int16(25)):
        env.step(action)
    assert env.state.hands_played == 1
    envs = BalatroVectorEnv(N, seed="TESTSEED")
    plain = BalatroVectorEnv(N, seed="TESTSEED")
    read_only = np.full(N, SELECT)
    read_only.flags.writeable = False
    for first in (
        [SELECT] * N,
        (SELECT,) * N,
        np.full(N, SELECT, dtype=np.uint8),
        np.full(2 * N, SELECT)[::2],
        read_only,
        np.full(N, SELECT, dtype=">i8"),
    ):
        envs.reset()
        plain.reset()
        envs.step(first)
        plain.step(np.full(N, SELECT))
        assert copy_states(envs.games.states).tobytes() == copy_states(plain.games.states).tobytes()


def test_seeds_of_any_size_up_to_128_bits_deal_their_own_games() -> None:
    env = BalatroEnv()
    numbers = (0, 1, 2**31, 2**32, 2**32 + 1, 2**64 + 1, 2**128 - 1)
    names = [env.reset(seed=number)[1]["seed"] for number in numbers]
    assert len(set(names)) == len(numbers)
    assert [env.reset(seed=number)[1]["seed"] for number in numbers] == names
    assert env.reset(seed=np.uint64(2**64 - 1))[1]["seed"] == env.reset(seed=2**64 - 1)[1]["seed"]
    env = BalatroEnv()
    dealt = env.reset()[1]["seed"]
    assert BalatroEnv().reset(seed=env.np_random_seed)[1]["seed"] == dealt
    envs = BalatroVectorEnv(N)
    first = list(envs.reset(seed=2**32 - 1)[1]["seed"])
    assert first == list(envs.reset(seed=[2**32 - 1, 2**32, 2**32 + 1])[1]["seed"])
    assert first[1:] == list(envs.reset(seed=np.array([7, 2**32, 2**32 + 1]))[1]["seed"][1:])


def test_registered_environments_and_wrappers_refuse_the_same() -> None:
    for wrong, says in (
        ({"render_mode": "ansii"}, "render_mode"),
        ({"deck": "rad"}, "unknown deck"),
        ({"max_decisions": 0}, "max_decisions"),
    ):
        with pytest.raises((BalatroError, gymnasium.error.Error), match=says):
            gymnasium.make(NAME, **wrong)
    env = gymnasium.make(NAME, seed="TESTSEED")
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(SELECT)
    with pytest.raises(BalatroError, match="did you mean seed"):
        env.reset(options={"sead": "ABC"})
    envs = gymnasium.make_vec(NAME, N, vectorization_mode="vector_entry_point")
    with pytest.raises(BalatroError, match="seed="):
        envs.reset(seed=[1, 2])


def test_foreign_records_are_validated_before_they_are_played() -> None:
    games = Games(2, discrete=False)
    games.reset()
    before = games.states.tobytes()
    foreign = copy_states(games.states)
    foreign.n_jokers[1] = 17
    with pytest.raises(BadState, match="n_jokers is 17, expected 0 to 16"):
        games.put(np.array([0, 1]), foreign)
    assert games.states.tobytes() == before
