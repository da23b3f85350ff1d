"""What each term of a reward is good for: runs with all of them, and without one after the other, on the same seeds."""

from collections.abc import Sequence
from pathlib import Path

from ante.errors import BalatroError
from ante.experiments.spec import Entry, Spec
from ante.training.config import TERMS, TrainConfig, read_config

WHOLE = "whole"


def terms_of(config: TrainConfig) -> dict[str, float]:
    """The terms that its reward pays, with their weights."""
    weights = {name: float(getattr(config.paid, name)) for name in TERMS}
    return {name: weight for name, weight in weights.items() if weight}


def ablation(file: Path | None, seeds: Sequence[int], steps: int, eval_games: int) -> Spec:
    """A comparison of the settings in a file (the defaults without one) with the same less one term of the reward each.

    Raises BadConfig; BalatroError where the reward has a single term, so that nothing would be left.
    """
    config = read_config(file) if file else TrainConfig()
    terms = terms_of(config)
    if len(terms) < 2:
        raise BalatroError(
            f"reward {config.reward} pays {', '.join(terms) or 'nothing'} alone: nothing can be left out"
        )
    entries = {WHOLE: Entry(config=file)}
    for name in terms:
        entries[f"without-{name}"] = Entry(config=file, settings={"reward_terms": {**config.reward_terms, name: 0.0}})
    weights = ", ".join(f"{name} {weight:g}" for name, weight in terms.items())
    return Spec(
        title=f"Terms of reward {config.reward}",
        about=f"All of them ({weights}), and without one at a time.",
        entries=entries,
        seeds=tuple(seeds),
        steps=steps,
        eval_games=eval_games,
    )
