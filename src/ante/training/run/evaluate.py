"""Evaluations of a run: short ones on the validation seeds during training, and a final one with the baselines."""

import json
import time
from pathlib import Path
from typing import Any

import torch
from ray.rllib.core.rl_module.torch import TorchRLModule

from ante.agents.baselines import AGENTS, Baseline
from ante.agents.evaluate import Player, Report, evaluate
from ante.agents.seed_lists import evaluation_seeds, validation_seeds
from ante.files import write_text
from ante.hints.rules import RulesPlayer
from ante.metrics import names_of
from ante.training.acting.player import make_player
from ante.training.baselines.external import ExternalAlgorithm
from ante.training.policies.registry import load_policy
from ante.training.run_store.checkpoints import find_checkpoint
from ante.training.sampling.games import rules
from ante.training.settings.config import TrainConfig
from ante.watch.runs import EVALUATION


def evaluate_run(config: TrainConfig, advance: Any) -> list[tuple[Player, Report]]:
    """Return reports of the run's best checkpoint and of the baselines, on the same games."""
    policy, _ = load_policy(config.folder)
    players: list[Player] = [
        make_player(policy, config.name, reorder=config.games.reorder),
        *(Baseline(name) for name in AGENTS),
        RulesPlayer(),
    ]
    seeds = evaluation_seeds(config.evaluation.games)
    horizon = config.games.max_decisions
    return [
        (player, evaluate(player, seeds, **rules(config), max_decisions=horizon, advance=advance)) for player in players
    ]


def trial(config: TrainConfig, algorithm: Any) -> tuple[dict[str, float], Player, Report]:
    """Evaluate the current policy on the first validation seeds; return its metrics, the player and the report.

    Training is not affected: a copy of the policy plays separate games, and the state of torch's generator is restored.
    """
    begin = time.perf_counter()
    with torch.random.fork_rng(devices=[]):
        player = make_player(present_policy(algorithm), config.name, reorder=config.games.reorder)
        seeds = validation_seeds()[: config.evaluation.trial_games]
        report = evaluate(player, seeds, **rules(config), max_decisions=config.games.max_decisions)
    figures = report.mean_blinds, report.mean_ante, report.wins.rate, time.perf_counter() - begin
    return dict(zip(names_of("evaluation"), figures, strict=True)), player, report


def present_policy(algorithm: Any) -> TorchRLModule:
    """Return a copy of the policy on the CPU with the learner's current weights."""
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
    """Write the report to evaluation.json in the run's folder, with the steps of the run's latest checkpoint."""
    file = config.folder / EVALUATION
    steps = find_checkpoint(config.folder / "checkpoints")[1]["timesteps"]
    write_text(file, json.dumps(json.loads(report.to_json()) | {"steps": steps}, indent=1))
    return file
