"""PPO in a single file on lists of candidate actions: after ten minutes on two cores it beats more blinds than `rules`.

python examples/shortlist_ppo.py --minutes 10
"""

import argparse
import time

import gymnasium
import numpy as np
import torch
from torch import nn
from torch.nn import functional

from ante.agents.evaluate import evaluate
from ante.agents.report import players_table
from ante.agents.seed_lists import evaluation_seeds
from ante.env.layout import FLAT_SIZE
from ante.hints.rules import RulesPlayer
from ante.lookahead.environments import ID_SIZES, N_FEATURES, N_STRENGTHS, Shortlists
from ante.tables import paper

GAMES, STEPS, EPOCHS, MINIBATCH, GAMMA, LAMBDA, CLIP = 128, 64, 3, 1024, 0.998, 0.95, 0.2


class Net(nn.Module):
    """Scores each candidate, given features of the whole game."""

    def __init__(self, width: int = 128) -> None:
        super().__init__()
        self.game = nn.Sequential(nn.Linear(FLAT_SIZE + N_STRENGTHS, width), nn.SiLU())
        self.ids = nn.ModuleList(nn.Embedding(size, 32) for size in ID_SIZES)
        self.candidate = nn.Sequential(nn.Linear(N_FEATURES + 32, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU())
        self.trunk = nn.Sequential(nn.Linear(width + 64, width), nn.SiLU())
        self.query, self.key, self.score = nn.Linear(width, 64), nn.Linear(64, 64), nn.Linear(64, 1)
        self.value = nn.Linear(width, 1)

    def forward(self, seen: dict[str, torch.Tensor]) -> tuple[torch.distributions.Categorical, torch.Tensor]:
        """Return the distribution over candidates, and values (n,)."""
        ids = sum(table(seen["candidate_ids"][..., k].long()) for k, table in enumerate(self.ids))
        candidates = self.candidate(torch.cat([seen["candidates"], ids], dim=2))
        listed = seen["candidates"].any(dim=2, keepdim=True)
        pooled = (candidates * listed).sum(dim=1) / listed.sum(dim=1).clamp(min=1)
        trunk = self.trunk(torch.cat([self.game(torch.cat([seen["observations"], seen["strengths"]], 1)), pooled], 1))
        scores = self.score(functional.silu(self.key(candidates) + self.query(trunk)[:, None]))[..., 0]
        logits = scores.masked_fill(seen["action_mask"] == 0, -1e9)
        return torch.distributions.Categorical(logits=logits), self.value(trunk)[:, 0]


class NetPlayer:
    """The network as a player of evaluations."""

    name, discrete, reorder = "this network", False, "jokers"

    def __init__(self, net: Net) -> None:
        self.net = net

    @torch.no_grad()
    def choose(self, games, playing):
        """Return the likeliest decision of each game, -1 for finished games."""
        shortlists = Shortlists(games.n)
        chosen = self.net(tensors(shortlists.write(games)))[0].probs.argmax(dim=1).numpy()
        return np.where(playing, shortlists.decisions(chosen), -1)


def tensors(seen):
    """Return copies of arrays as tensors."""
    return {name: torch.from_numpy(view.copy()) for name, view in seen.items()}


def train(minutes: float, net: Net, games: int = GAMES, steps: int = STEPS) -> None:
    """Train for a number of minutes, with a line for each batch."""
    name = "ante.lookahead:ante/BalatroShortlist-v1"
    env = gymnasium.make_vec(name, games, vectorization_mode="vector_entry_point", autoreset_mode="SameStep")
    optimizer, begin, ends = torch.optim.Adam(net.parameters(), lr=1e-3, eps=1e-5), time.time(), []
    seen, batch, gone = tensors(env.reset()[0]), 0, 0.0
    while gone < 1:
        kept, batch = [], batch + 1
        for _ in range(steps):
            with torch.no_grad():
                policy, value = net(seen)
                action = policy.sample()
            after, reward, terminated, truncated, info = env.step(action.numpy())
            over = torch.from_numpy(terminated | truncated)
            kept.append((seen, action, policy.log_prob(action), value, torch.from_numpy(reward).float(), over))
            if over.any():
                ends += info["final_info"]["blinds"][over.numpy()].tolist()
            seen = tensors(after)
        with torch.no_grad():
            following, gain, gains = net(seen)[1], torch.zeros(games), []
        for *_, value, reward, over in reversed(kept):
            going = GAMMA * (~over)
            gain = reward + going * following - value + going * LAMBDA * gain
            following, gains = value, [gain, *gains]
        whole = {key: torch.cat([step[0][key] for step in kept]) for key in seen}
        actions, logs, values = (torch.cat([step[k] for step in kept]) for k in (1, 2, 3))
        advantages = torch.cat(gains)
        targets, advantages = advantages + values, (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        optimizer.param_groups[0]["lr"], bonus = 1e-3 * (1 - 0.9 * gone), 0.01 * (1 - 0.8 * gone)
        for rows in (part for _ in range(EPOCHS) for part in torch.randperm(len(actions)).split(MINIBATCH)):
            policy, value = net({key: view[rows] for key, view in whole.items()})
            ratio = (policy.log_prob(actions[rows]) - logs[rows]).exp()
            a = advantages[rows]
            surrogate = torch.min(ratio * a, ratio.clamp(1 - CLIP, 1 + CLIP) * a)
            loss = -surrogate.mean() + 0.5 * (value - targets[rows]).square().mean() - bonus * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()
        seconds, done, blinds = time.time() - begin, batch * games * steps, np.mean(ends[-400:]) if ends else 0.0
        gone = seconds / 60 / minutes
        print(f"{done:>9,} steps  {done / seconds:,.0f}/s  {len(ends):,} games  {blinds:.2f} blinds", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10, help="minutes of training")
    parser.add_argument("--games", type=int, default=1000, help="games of the evaluation")
    options = parser.parse_args()
    net = Net()
    train(options.minutes, net)
    players = RulesPlayer(), NetPlayer(net)
    paper().print(players_table([evaluate(player, evaluation_seeds(options.games)) for player in players]))
