"""Contract checks of an environment variant: Gymnasium's checker, and checks beyond it."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode

from ante.engine.actions import N_DISCRETE
from ante.env.registration import NAME, register_environments
from ante.env.single import IllegalAction
from ante.env.vector import BalatroVectorEnv

Make = Callable[[], gymnasium.Env[Any, Any]]
STEPS = 300  # steps of random play in each check


@dataclass(frozen=True)
class Finding:
    """One check: its name, whether it passed, and details."""

    promise: str
    kept: bool
    seen: str


class Broken(Exception):
    """A failed check, with an explanation."""


def check_variant(options: dict[str, Any], wrap: Callable[[Any], Any] = lambda env: env) -> list[Finding]:
    """Return all findings on `ante/Balatro-v1` with these options of `BalatroEnv`, wrapped by `wrap`."""
    register_environments()

    def make() -> gymnasium.Env[Any, Any]:
        return wrap(gymnasium.make(NAME, disable_env_checker=True, **options))

    made: Any = make()
    made.close()  # reject unknown options before any check
    checks: dict[str, Callable[[], str]] = {
        "Gymnasium's check_env": lambda: check_gymnasium(make),
        "spaces contain all observations and actions": lambda: check_spaces(make),
        "the mask equals the legal actions": lambda: check_mask(make),
        "the same seed and actions give the same game": lambda: check_determinism(make),
        "autoreset of the vector environment": lambda: check_autoreset(options),
    }
    return [run_check(promise, check) for promise, check in checks.items()]


def run_check(promise: str, check: Callable[[], str]) -> Finding:
    """Run one check and return its finding."""
    try:
        return Finding(promise, True, check())
    except Broken as error:
        return Finding(promise, False, str(error))


def check_gymnasium(make: Make) -> str:
    """Run Gymnasium's checker and report its warnings as well. Raises Broken."""
    env = make()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            check_env(env, skip_render_check=True)
        except Exception as error:  # any error is a finding
            raise Broken(f"{type(error).__name__}: {first_line(error)}") from error
    words = {first_line(each.message) for each in caught if "gymnasium" in str(each.filename)}
    return "no warnings" if not words else "warnings: " + "; ".join(sorted(words))


def first_line(error: object) -> str:
    """Return the first line of a message, without Gymnasium's colours."""
    return str(error).strip().partition("\n")[0].replace("\x1b[33m", "").replace("\x1b[0m", "")


def random_play(env: gymnasium.Env[Any, Any], seed: int, steps: int = STEPS) -> Iterator[tuple[Any, ...]]:
    """Yield random legal play: (observation, action, reward, terminated, truncated, info); ended games are reset."""
    env.action_space.seed(seed)
    seen, info = env.reset(seed=seed)
    env.action_space.sample()  # the first sample after a seed is for a new run
    yield seen, None, 0.0, False, False, info
    for _ in range(steps):
        action = env.action_space.sample()
        seen, reward, terminated, truncated, info = env.step(action)
        yield seen, action, reward, terminated, truncated, info
        if terminated or truncated:
            seen, info = env.reset()
            yield seen, None, 0.0, False, False, info


def check_spaces(make: Make) -> str:
    """Check that the spaces contain all observations and actions. Raises Broken."""
    env = make()
    for count, (seen, action, *_) in enumerate(random_play(env, 1)):
        if seen not in env.observation_space:
            raise Broken(f"observation {count} of a random game is outside observation_space")
        if action is not None and action not in env.action_space:
            raise Broken(f"sample {action} is outside action_space")
    return f"{STEPS} random steps"


def check_mask(make: Make) -> str:
    """Check the mask in all states of a random game against the rules, and play some illegal actions. Raises Broken."""
    env = make()
    base: Any = env.unwrapped
    if not base.games.discrete:
        return "skipped: structured actions have no mask of discrete actions"
    rng, refused = np.random.default_rng(2), 0
    for seen, _, _, terminated, truncated, _ in random_play(env, 2):
        if terminated or truncated:
            continue
        mask = np.asarray(env.get_wrapper_attr("action_masks")(), dtype=bool)
        shown = seen.get("action_mask") if isinstance(seen, dict) else None
        if shown is not None and shown.ndim == 1 and not np.array_equal(shown != 0, mask):
            raise Broken("the mask in the observation differs from action_masks()")
        takes = np.array([base.games.refused(np.array([number])) < 0 for number in range(N_DISCRETE)])
        if not np.array_equal(takes, mask):
            raise Broken(f"actions {np.flatnonzero(takes != mask)[:8].tolist()} differ from the mask")
        if not mask.all() and rng.random() < 0.1:
            check_illegal_action(base, int(rng.choice(np.flatnonzero(~mask))))
            refused += 1
    return f"{N_DISCRETE} actions in each of {STEPS} states; {refused} illegal ones played without effect"


def check_illegal_action(base: Any, number: int) -> None:
    """Check that an illegal action changes nothing: it raises an error or earns 0. Raises Broken."""
    before, steps = base.state.tobytes(), base.games.steps.copy()
    try:
        _, reward, *_ = base.step(number)
    except IllegalAction:
        reward = 0.0
    base.games.steps[:] = steps
    if base.state.tobytes() != before:
        raise Broken(f"illegal action {number} changed the game")
    if reward != 0.0 and base.games.weights[-1] == 1.0:
        raise Broken(f"illegal action {number} has reward {reward}")


def check_determinism(make: Make) -> str:
    """Check that equal seeds and actions give equal games. Raises Broken."""
    for count, (one, other) in enumerate(zip(random_play(make(), 3), random_play(make(), 3), strict=True)):
        for name, mine, theirs in zip(("observation", "action", "reward"), one[:3], other[:3], strict=True):
            if not data_equivalence(mine, theirs):
                raise Broken(f"{name} {count} of two games of the same seed differ")
    return f"{STEPS} random steps, twice"


def check_autoreset(options: dict[str, Any]) -> str:
    """Check that finished games are reset as each autoreset mode specifies. Raises Broken."""
    own = {name: value for name, value in options.items() if name not in ("render_mode", "max_decisions")}
    for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
        env = BalatroVectorEnv(4, max_decisions=12, autoreset_mode=mode, **own)
        env.reset(seed=4)
        env.action_space.seed(4)
        before = np.zeros(4, dtype=bool)
        for _ in range(40):
            _, rewards, terminated, truncated, infos = env.step(env.action_space.sample())
            ended = terminated | truncated
            if mode == AutoresetMode.NEXT_STEP and (rewards[before].any() or ended[before].any()):
                raise Broken("next_step: the step that resets a game has a reward, or ends it")
            if mode == AutoresetMode.SAME_STEP and ended.any():
                last = infos["final_obs"]
                if any((last[i] is None) == ended[i] for i in range(4)):
                    raise Broken("same_step: final_obs is not set for exactly the games that ended")
                if env.games.steps[ended].any():
                    raise Broken("same_step: a game that ended was not reset")
            before = ended
    return "next_step and same_step, 4 games truncated after 12 steps"
