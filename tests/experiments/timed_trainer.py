"""A stand-in for `python -m ante.cli train` that writes a run's clock and checkpoints, 2.5 seconds of training a step.

It stops at SIGINT, as training does. With seed 9 it fails. Its checkpoints are copies of a folder, so it needs no torch.
"""

import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path

from ante.training.run_store.checkpoints import save_checkpoint
from ante.training.settings.config import TrainConfig, read_config
from tests.support.checkpoints import METADATA


def main() -> int:
    words, stops = sys.argv[1:], []
    signal.signal(signal.SIGINT, lambda *_: stops.append(1))
    config = read_config(Path(words[words.index("--config") + 1]))
    if config.seed == 9:
        print("the teapot is empty")
        return 3
    config.folder.mkdir(parents=True, exist_ok=True)
    (config.folder / "config.yaml").write_text(config.to_yaml())
    (config.folder / "settings.json").write_text(json.dumps(config.values()))
    with (config.folder / "metrics.csv").open("w") as metrics:
        metrics.write("steps,seconds\n")
        for steps in range(10, config.steps + 10, 10):
            if stops:
                break
            before, now = 2.5 * (steps - 10), 2.5 * steps
            if config.checkpoints.due(1, before, now) or steps == config.steps:
                save(config, steps)
            metrics.write(f"{steps},{now}\n")
            metrics.flush()
            time.sleep(0.005)
    return 0


def save(config: TrainConfig, steps: int) -> None:
    about = {**METADATA, "timesteps": steps, "seconds": 2.5 * steps}
    folder = config.folder / "checkpoints"
    save_checkpoint(folder, steps, copy, about, best=True, kept=0)


def copy(folder: Path) -> None:
    shutil.copytree(os.environ["POLICY_OF_THE_STUB"], folder, dirs_exist_ok=True)


if __name__ == "__main__":
    sys.exit(main())
