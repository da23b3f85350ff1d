"""The highlights of a run: the best games of training by the rules of `ante.watch.highlights`, kept as replays."""

from collections.abc import Callable
from dataclasses import replace

from ante.env.replay import outcome
from ante.env.reward import blinds_beaten
from ante.training.sampling.highlights import BestGames, PlayedGame
from ante.training.settings.config import TrainConfig
from ante.watch.episode import recorded
from ante.watch.gallery import Entry, entry_of, read_index, replace_highlights, write_episode
from ante.watch.highlights import ahead


def keep_highlights(
    config: TrainConfig, found: BestGames, steps: int, check: Callable[[], None] = lambda: None
) -> None:
    """Write the games of training that are better than the highlights of the run, and delete those they replace.

    steps  environment steps of the policy's training
    check  called before each write; raises RunGone if the run's folder was moved or deleted
    """
    holders = {rule: entry for entry in read_index(config.folder) for rule in entry.highlights}
    before = dict(holders)
    for game in found.take():
        rules = ahead(game.figures, {rule: entry.highlights[rule] for rule, entry in holders.items()})
        if rules:
            entry = written(config, game, steps, check)
            holders |= dict.fromkeys(rules, entry)
    if holders != before:
        kept = {entry.name: entry for entry in holders.values()}
        check()
        replace_highlights(
            config.folder,
            [
                replace(entry, highlights={k: v for k, v in entry.highlights.items() if holders[k].name == name})
                for name, entry in kept.items()
            ],
        )


def written(config: TrainConfig, game: PlayedGame, steps: int, check: Callable[[], None]) -> Entry:
    """Write the replay of a game of training and return its entry, with the game's figure by each rule."""
    episode, heading = recorded(game.heading, game.actions.tolist(), game.discrete), game.heading
    last = episode.end()
    entry = entry_of(
        episode,
        heading,
        name=f"train-{steps:012d}-{heading.seed}",
        outcome=outcome(last),
        ante=int(last.ante) - int(last.won),  # the win increases the ante
        blinds=int(blinds_beaten(last)),
        reward=game.total,
        steps=steps,
        final=False,
        highlights=game.figures,
    )
    check()
    return write_episode(config.folder, entry, episode, config.name, None, "", video=False)
