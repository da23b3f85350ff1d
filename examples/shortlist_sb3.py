"""MaskablePPO of sb3-contrib, unchanged, on lists of candidate actions (needs `pip install 'ante-balatro[sb3]'`).

    python examples/shortlist_sb3.py --steps 500000
    ante eval examples.shortlist_sb3:Player greedy --games 300

The first command writes the model to shortlist-sb3.zip, the second one plays whole games with it.
The library's default network flattens the list, so it learns each index separately; `examples/shortlist_ppo.py` scores
all candidates with the same weights and learns faster.
"""

import argparse

import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env

from ante.lookahead.environments import Shortlists

FILE = "shortlist-sb3.zip"
NAME = "ante.lookahead:ante/BalatroShortlist-v1"


def train(steps: int, games: int = 16) -> MaskablePPO:
    """Return a trained model. Masks come from the environment's `action_masks`."""
    env = make_vec_env(NAME, n_envs=games)
    passes = {"n_steps": 256, "batch_size": 1024, "n_epochs": 4, "learning_rate": 5e-4, "gamma": 0.998}
    model = MaskablePPO("MultiInputPolicy", env, policy_kwargs={"net_arch": [128, 128]}, verbose=1, **passes)
    return model.learn(steps)


class Player:
    """The saved model as a player of evaluations."""

    name, discrete, reorder = "shortlist-sb3", False, "jokers"  # whole decisions; may move jokers, as the environment

    def __init__(self, file: str = FILE) -> None:
        self.model = MaskablePPO.load(file, device="cpu")

    def choose(self, games, playing):
        """Return the likeliest decision of each game, -1 for finished games."""
        shortlists = Shortlists(games.n)
        seen = shortlists.write(games)
        masks = seen["action_mask"] | ~playing[:, None]  # the mask of a finished game is empty
        chosen, _ = self.model.predict(seen, action_masks=masks.astype(bool), deterministic=True)
        return np.where(playing, shortlists.decisions(chosen), -1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=500_000, help="decisions to train on")
    train(parser.parse_args().steps).save(FILE)
