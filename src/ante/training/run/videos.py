"""Selection of games to keep and render as videos: the rules of `TrainConfig.videos`."""

import random
from collections.abc import Sequence
from pathlib import Path

from ante.agents.evaluate import GameRecord, Player, Report
from ante.env.replay import Heading
from ante.files import inside, whole
from ante.training.settings.config import TrainConfig
from ante.watch.episode import annotate, recorded
from ante.watch.gallery import FOLDER, Entry, add_episodes, entry_of, read_index, write_episode
from ante.watch.notes import Explained

BEST, WORST, FIRST_WIN = "best", "worst", "first_win"


def merit(record: GameRecord) -> tuple[bool, int, float]:
    """Return the sort key of a game: won or not, blinds beaten, reward."""
    return record.outcome == "won", record.blinds, record.reward


def choose(
    rules: Sequence[str], records: Sequence[GameRecord], most: int, won_before: bool, seed: int
) -> dict[int, tuple[str, ...]]:
    """Return which of these games are filmed, by index, and why: at most `most`, in the order of the rules.

    won_before  whether the run has a first win already
    seed        of the rule `random`
    """
    reasons: dict[int, list[str]] = {}
    for rule in rules:
        for i in chosen_by(rule, records, won_before, random.Random(seed)):
            if i in reasons or len(reasons) < most:
                reasons.setdefault(i, []).append(rule.partition(":")[0])
    return {i: tuple(why) for i, why in reasons.items()}


def chosen_by(rule: str, records: Sequence[GameRecord], won_before: bool, rng: random.Random) -> list[int]:
    """Return the games that one rule selects."""
    ranked = sorted(range(len(records)), key=lambda i: merit(records[i]))
    if rule == BEST:
        return ranked[-1:]
    if rule == WORST:
        return ranked[:1]
    if rule == FIRST_WIN:
        return [] if won_before else [i for i in range(len(records)) if records[i].outcome == "won"][:1]
    kind, number = rule.split(":")
    if kind == "every":
        return list(range(0, len(records), int(number)))
    return rng.sample(range(len(records)), min(int(number), len(records)))


def keep_games(config: TrainConfig, player: Player, report: Report, steps: int, final: bool = False) -> list[Entry]:
    """Save games of an evaluation as replays, the chosen ones with notes and a video; return the chosen ones.

    steps  environment steps of the policy's training. Raises BadVideo.
    """
    won_before = any(FIRST_WIN in entry.why for entry in read_index(config.folder))
    rules = tuple(dict.fromkeys((BEST, *config.videos.select))) if final else config.videos.select
    most = max(1, config.videos.per_evaluation) if final else config.videos.per_evaluation
    chosen = choose(rules, report.records, most, won_before, steps)
    about, entries = f"{config.name}, {in_short(steps)} steps", []
    kept = sorted(range(len(report.records)), key=lambda i: i in chosen)[-config.videos.keep_episodes :]
    for i in sorted(kept):
        record = report.records[i]
        heading = Heading(record.seed, config.games.deck, config.games.stake, config.games.challenge)
        episode = recorded(heading, record.actions, player.discrete)
        notes = annotate(episode, player) if i in chosen and isinstance(player, Explained) else None
        entry = entry_of(
            episode,
            heading,
            name=f"{'final-' if final else ''}{steps:012d}-{record.seed}",
            outcome=record.outcome,
            ante=record.ante,
            blinds=record.blinds,
            reward=record.reward,
            steps=steps,
            final=final,
            why=chosen.get(i, ()),
        )
        entries.append(write_episode(config.folder, entry, episode, player.name, notes, about, video=i in chosen))
    add_episodes(config.folder, entries, config.videos.keep_episodes, max(config.videos.keep, len(chosen)))
    return [entry for entry in entries if entry.why]


def write_best(config: TrainConfig, kept: Sequence[Entry]) -> tuple[Path, Entry]:
    """Copy the video of the best of these games to the run's folder as episode.mp4."""
    best = next(entry for entry in kept if BEST in entry.why)
    file = config.folder / "episode.mp4"
    with whole(file) as aside:
        aside.write_bytes(inside(config.folder / FOLDER, best.video).read_bytes())
    return file, best


def in_short(steps: int) -> str:
    """Format a number of steps: `24.0M`, `150k`, `512`."""
    if steps >= 1_000_000:
        return f"{steps / 1e6:.1f}M"
    return f"{steps / 1e3:.0f}k" if steps >= 10_000 else f"{steps:,}"
