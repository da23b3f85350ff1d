"""A stand-in for `python -m ante.cli` in tests of comparisons: writes a run's files without playing.

An entry's result depends on its learning rate. With entropy 7 the first attempt stops half way, with 9 all fail.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import yaml

from ante.training.run_store.checkpoints import save_checkpoint

ROWS = 20


def main() -> int:
    words = sys.argv[1:]
    if words[0] == "eval":
        return play(words)
    config = yaml.safe_load(Path(words[words.index("--config") + 1]).read_text())
    folder = Path(config["runs"]) / config["name"]
    with (Path(config["runs"]).parent / "calls.txt").open("a") as calls:
        calls.write(f"{config['runs'].rpartition('/')[2]} {config['seed']} {time.time()}\n")
    if config["algo"]["entropy"] == 9:
        print("the teapot is empty")
        return 3
    breaks = config["algo"]["entropy"] == 7 and not (folder / "metrics.csv").exists()
    make_run(config, ROWS // 2 if breaks else ROWS)
    if breaks:
        return 1
    evaluation = report("seed", config, config["evaluation"]["games"]) | {"steps": config["steps"]}
    (folder / "evaluation.json").write_text(json.dumps(evaluation))
    return 0


def play(words: list[str]) -> int:
    first = next(i for i, word in enumerate(words) if word.startswith("--"))
    players = words[1:first]
    games = int(words[words.index("--games") + 1])
    rules = {name: words[words.index(f"--{name}") + 1] for name in ("deck", "stake")}
    config = {"algo": {"lr": 0.1}, "seed": 0, "games": {**rules, "stake": int(rules["stake"])}}
    made = [report(Path(player).name, config, games) for player in players]
    Path(words[words.index("--out") + 1]).write_text(json.dumps(made if len(made) > 1 else made[0]))
    return 0


def make_run(config: dict[str, Any], rows: int) -> None:
    folder = Path(config["runs"]) / config["name"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    (folder / "machine.json").write_text(json.dumps({"cpu": "a processor", "cores": 2}))
    heads = "iteration,steps,games,seconds,return,ante,blinds,win_rate,entropy,memory_peak_gb"
    lines = [heads]
    for i in range(1, rows + 1):
        share = i / ROWS
        blinds = (1 + config["algo"]["lr"] * 10) * share**0.5 * 3 + 0.2 * config["seed"]
        steps, seconds = round(config["steps"] * share), 60 * share * (1 + config["algo"]["lr"] * 100)
        lines.append(
            f"{i},{steps},{i * 9},{seconds},{blinds / 5},{1 + blinds / 3},{blinds},{0.01 * share},2.0,{1 + share}"
        )
    (folder / "metrics.csv").write_text("\n".join(lines) + "\n")
    reached = {"timesteps": round(config["steps"] * rows / ROWS)}
    save_checkpoint(folder / "checkpoints", rows, lambda _: None, reached, best=False)


def report(player: str, config: dict[str, Any], games: int) -> dict[str, Any]:
    """Return an evaluation whose games differ by game seed, training seed and learning rate."""
    records = []
    for i in range(games):
        blinds = round(2 + 20 * config["algo"]["lr"]) + i % 4 + config["seed"]
        outcome = "won" if i == 0 and config["algo"]["lr"] > 0.05 else "lost"
        records.append({"outcome": outcome, "ante": 1 + blinds // 3, "blinds": blinds, "reward": blinds / 5})
    rules = {name: config["games"][name] for name in ("deck", "stake")}
    return {"player": player, "games": games, "records": records, **rules}


if __name__ == "__main__":
    sys.exit(main())
