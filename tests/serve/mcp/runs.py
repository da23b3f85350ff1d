"""A folder of runs for the tests of the MCP server: one run with a report, a video and a replay."""

from pathlib import Path

from ante.agents.baselines import Baseline
from ante.agents.evaluate import Player
from ante.env.replay import Heading, write_replay

SECRET = "not for clients"
DECISIONS = ("select-blind", "play 0,1,2,3,4", "discard 0,1,2")


def make_runs(folder: Path) -> Path:
    """Create a folder of runs, with a file outside of it and a link to that file, and return it."""
    runs = folder / "runs"
    run = runs / "ppo"
    (run / "episodes").mkdir(parents=True)
    (folder / "secret.html").write_text(SECRET)
    (run / "config.yaml").write_text(
        "algo: {kind: ppo}\npolicy: {kind: shortlist}\ngames: {deck: b_red, stake: 1}\nsteps: 500\n"
    )
    (run / "metrics.csv").write_text("iteration,steps,blinds,win_rate\n1,100,2.5,0.0\n2,200,3.25,0.125\n")
    (run / "report.html").write_text("<p>report</p>")
    (run / "episodes" / "game.mp4").write_bytes(b"\0\1video")
    (run / "episodes" / "game.txt").write_text(replay())
    (run / "link.html").symlink_to(folder / "secret.html")
    (runs / "notes").mkdir()
    return runs


def replay() -> str:
    """Return the text of a short recorded game."""
    from ante.env.replay import read_decision

    return write_replay(Heading("TESTSEED"), [read_decision(text, 1) for text in DECISIONS])


def find(name: str) -> Player:
    """Return a baseline, as the server's finder."""
    return Baseline(name)
