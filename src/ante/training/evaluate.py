"""Evaluations of a run on the seed panel: short ones while it learns, the closing one beside the baselines."""

import time
from pathlib import Path
from typing import Any

import torch
from ray.rllib.core.rl_module.torch import TorchRLModule

from ante.agents.baselines import AGENTS, Baseline
from ante.agents.evaluate import Player, Report, evaluate, panel
from ante.files import write_text
from ante.training.config import TrainConfig
from ante.training.external import ExternalAlgorithm
from ante.training.games import rules
from ante.training.policies import load_policy, make_player


def evaluate_run(config: TrainConfig, advance: Any) -> list[tuple[Player, Report]]:
    """Reports of the run's best checkpoint and of the baselines, each on the same games."""
    policy, _ = load_policy(config.folder)
    players: list[Player] = [
        make_player(policy, config.name, reorder=config.reorder),
        *(Baseline(name) for name in AGENTS),
    ]
    seeds = panel()[: config.eval_games]
    return [(player, evaluate(player, seeds, **rules(config), advance=advance)) for player in players]


TRIED = ("eval_blinds", "eval_ante", "eval_win_rate", "eval_seconds")


def trial(config: TrainConfig, algorithm: Any) -> tuple[dict[str, float], Player, Report]:
    """The present policy on the first seeds of the panel: figures by the names in TRIED, who played, and the report.

    The run goes on as if nothing had been: a copy of the policy plays games of its own, and torch's generator is put
    back as it was.
    """
    begin = time.perf_counter()
    with torch.random.fork_rng(devices=[]):
        player = make_player(present_policy(algorithm), config.name, reorder=config.reorder)
        seeds = panel()[: config.trial_games]
        report = evaluate(player, seeds, **rules(config), max_decisions=config.max_decisions)
    figures = report.mean_blinds, report.mean_ante, report.wins.rate, time.perf_counter() - begin
    return dict(zip(TRIED, figures, strict=True)), player, report


def present_policy(algorithm: Any) -> TorchRLModule:
    """A copy of the policy, on the CPU, with the weights that the learner has now."""
    if isinstance(algorithm, ExternalAlgorithm):
        return algorithm.policy()
    like = algorithm.env_runner.module
    policy = type(like)(
        observation_space=like.observation_space, action_space=like.action_space, model_config=like.model_config
    )
    state = algorithm.learner_group.get_state(components="learner/rl_module")["learner"]["rl_module"]
    policy.set_state(state["default_policy"])
    return policy


def write_report(config: TrainConfig, report: Report) -> Path:
    """The report stands in the run's folder as evaluation.json."""
    file = config.folder / "evaluation.json"
    write_text(file, report.to_json())
    return file
