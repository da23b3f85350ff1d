"""Released policies: small folders of plain files, read without Ray and without pickles.

weights.npz   the parameters as float16 and the buffers as they are, by name
config.yaml   the configuration of the run, which also defines the policy class
README.md     the model card; written once, then edited by hand
win.npz       optional: the probability of winning, for search (`ante calibrate`)
policy.json   the manifest: training data, size and digest of every other file (run_store.manifest)

After an edit of the model card, `ante export FOLDER FOLDER` seals the folder again.
"""

from pathlib import Path
from typing import Any

import numpy as np
from ray.rllib.core.rl_module.torch import TorchRLModule

from ante.files import write_text
from ante.training.acting.player import PolicyPlayer, make_player
from ante.training.acting.win_head import WIN_HEAD, WinHead, read_win_head
from ante.training.policies.registry import SETTINGS, load_policy, read_policy
from ante.training.run_store.checkpoints import with_facts
from ante.training.run_store.lineage import Ancestor, Lineage, as_json, read_lineage
from ante.training.run_store.manifest import FILES, SEAL, BadCheckpoint, read_manifest, seal, verified, verify_files
from ante.training.run_store.start import is_release
from ante.training.run_store.weights import WEIGHTS, write_weights
from ante.training.settings.config import TrainConfig, read_config
from ante.watch.runs import RELEASE

ABOUT, CARD = RELEASE, "README.md"
TRAINED = ("timesteps", "games", "seconds", "iteration", "timestamp")  # facts about the training of a run's policy
LARGEST = 65504.0  # largest float16


class BadRelease(BadCheckpoint):
    """A released policy that is missing or incomplete, or a policy that cannot be released."""


def write_release(run: Path, folder: Path, pointer: str = "best") -> Path:
    """Write the policy of a run's checkpoint to `folder` and return the folder; an existing model card is kept.

    If `run` is the same folder, a release with an edited model card, it is sealed again.
    Raises BadCheckpoint, and BadRelease if a weight does not fit into float16.
    """
    if is_release(run) and run.resolve() == folder.resolve():
        seal(
            folder,
            ABOUT,
            {key: value for key, value in verified(folder, ABOUT, (CARD,)).items() if key not in (FILES, SEAL)},
        )
        return folder
    policy, metadata = load_policy(run, pointer)
    trained = {name: with_facts(run, metadata, TRAINED)[name] for name in TRAINED}
    config = read_config(run / "config.yaml")
    return write_policy(policy, config, trained, folder, config.algo.kind, read_lineage(run))


def write_policy(
    policy: TorchRLModule,
    config: TrainConfig,
    trained: dict[str, Any],
    folder: Path,
    how: str = "PPO",
    lineage: Lineage = (),
) -> Path:
    """Write a policy to `folder` as a release and return the folder; an existing model card is kept.

    trained  timesteps, games and seconds of training, and other values for the manifest
    how      training method, for the model card
    lineage  the policies whose weights training started from

    Raises BadRelease if a weight does not fit into float16.
    """
    weights = {name: value.numpy() for name, value in policy.state_dict().items()}
    parameters = {name for name, _ in policy.named_parameters()}  # buffers, such as the scale of values, stay exact
    for name in parameters:
        value = weights[name]
        if value.dtype.kind == "f" and not np.abs(value).max(initial=0.0) <= LARGEST:
            raise BadRelease(f"weight {name} of {config.name} exceeds the range of float16: choose another checkpoint")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / WIN_HEAD).unlink(missing_ok=True)  # of other weights
    packed = {name: value.astype(np.float16) if name in parameters else value for name, value in weights.items()}
    write_weights(packed, folder, compressed=True)
    about = {
        "policy": config.policy.kind,
        "parameters": int(sum(weights[name].size for name in parameters)),
        "trained": trained,
        **as_json(lineage),
    }
    of_machine = {"name": folder.name, "runs": "runs", "store": None, "init_from": None}  # the lineage names its start
    write_text(folder / SETTINGS, config.with_changes(of_machine).to_yaml())
    if not (folder / CARD).exists():
        write_text(folder / CARD, card(folder.name, config, about, how, lineage))
    seal(folder, ABOUT, about)  # last, so that an incomplete folder is not a release
    return folder


def read_release(folder: Path) -> tuple[TorchRLModule, dict[str, Any]]:
    """Return the released policy and the contents of policy.json. Raises BadRelease, naming the invalid file."""
    try:
        about = verified(folder, ABOUT)
        if not isinstance(about.get("trained"), dict):
            raise BadCheckpoint(f"{folder / ABOUT} does not describe its training")
        with_facts(folder, about["trained"])
        return read_policy(folder), about
    except BadCheckpoint as error:
        raise BadRelease(f"no released policy: {error}; download it again") from None


def digest_of_weights(about: dict[str, Any]) -> str:
    """Return the hex SHA-256 of the weights in policy.json: the identity of a release in a league."""
    return str(about[FILES][WEIGHTS]["sha256"])


def write_win_head(head: WinHead, folder: Path) -> Path:
    """Add a win head to a release and return its file. Raises BadCheckpoint."""
    about = read_manifest(folder, ABOUT)
    verify_files(folder, ABOUT, about, (WIN_HEAD,) if WIN_HEAD in about[FILES] else ())
    file = head.write(folder)
    seal(folder, ABOUT, {key: value for key, value in about.items() if key not in (FILES, SEAL)})
    return file


def policy_from(folder: Path, checkpoint: str = "best") -> TorchRLModule:
    """Return the policy of a run's checkpoint or of a release. Raises BadCheckpoint, BadConfig."""
    return (read_release(folder) if is_release(folder) else load_policy(folder, checkpoint))[0]


def player_from(folder: Path, checkpoint: str = "best", likeliest: bool = False) -> PolicyPlayer:
    """Return the player of a run's checkpoint (or best, latest) or of a release. Raises BadCheckpoint, BadConfig."""
    config, head = read_config(folder / "config.yaml"), None
    if is_release(folder):
        policy, about = read_release(folder)
        head = read_win_head(folder, digest_of_weights(about))
    else:
        policy = load_policy(folder, checkpoint)[0]
    player = make_player(policy, folder.name, likeliest, reorder=config.games.reorder)
    player.win_head, player.reward = head, config.games.weighted_reward
    return player


def card(name: str, config: TrainConfig, about: dict[str, Any], how: str, lineage: Lineage = ()) -> str:
    """Return a model card without evaluation results; the user adds them."""
    trained = about["trained"]
    vectors = getattr(config.policy, "joker_vectors", None)
    jokers = f"\n| vectors of jokers | measured effects, SHA-256 `{vectors}` |" if vectors else ""
    started = f"\n| started from | {', then '.join(map(described, reversed(lineage)))} |" if lineage else ""
    return f"""# {name}

A `{about["policy"]}` policy for Balatro with {about["parameters"]:,} parameters in float16.

| | |
| --- | --- |
| trained on | {config.games.deck}, stake {config.games.stake}; {trained["timesteps"]:,} decisions, {trained["games"]:,} games |
| training | {how}, settings in `config.yaml`, seed {config.seed}; {trained["seconds"] / 60:.0f} minutes |{started}{jokers}
| use | `ante eval {name} --panel`, `ante play {name}` with the path of this folder |

## Evaluation

Not evaluated yet. Run `ante eval` with this folder and `--panel`, and add its table here.
"""


def described(ancestor: Ancestor) -> str:
    """Return a policy of the lineage as text for a model card."""
    checkpoint = f", checkpoint {ancestor.checkpoint}" if ancestor.checkpoint else ""
    return f"`{ancestor.name}`{checkpoint}: {ancestor.steps:,} decisions, SHA-256 of its weights `{ancestor.weights_sha256}`"
