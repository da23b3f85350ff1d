"""Reward ablations: runs with all terms of a reward, and with one term removed each, on the same seeds."""

from collections.abc import Sequence
from pathlib import Path

from ante.errors import BalatroError
from ante.experiments.spec import Entry, Spec, make_spec
from ante.training.settings.config import TrainConfig, read_config
from ante.training.settings.games import TERMS

WHOLE = "whole"


def terms_of(config: TrainConfig) -> dict[str, float]:
    """Return the terms of the reward with their weights."""
    weights = {name: float(getattr(config.games.weighted_reward, name, 0.0)) for name in TERMS}
    return {name: weight for name, weight in weights.items() if weight}


def ablation(file: Path | None, seeds: Sequence[int], steps: int, eval_games: int) -> Spec:
    """Return a comparison of the settings in a file (or the defaults) with variants that each lack one reward term.

    Raises BadConfig; BalatroError if the reward has a single term.
    """
    config = read_config(file) if file else TrainConfig()
    terms = terms_of(config)
    if len(terms) < 2:
        raise BalatroError(
            f"reward {config.games.reward} has only the term {', '.join(terms) or 'none'}: an ablation needs two terms"
        )
    entries = {WHOLE: Entry(config=file)}
    for name in terms:
        entries[f"without-{name}"] = Entry(
            config=file, settings={"games.reward_terms": {**config.games.reward_terms, name: 0.0}}
        )
    weights = ", ".join(f"{name} {weight:g}" for name, weight in terms.items())
    return make_spec(
        {
            "title": f"Terms of reward {config.games.reward}",
            "about": f"All terms ({weights}), and all but one.",
            "entries": entries,
            "seeds": tuple(seeds),
            "steps": steps,
            "eval_games": eval_games,
        }
    )
