"""Resolves the players of a league by name: baselines, releases, checkpoints of runs."""

from functools import cache

from ante.agents.baselines import AGENTS, Baseline
from ante.agents.releases import policy_at, policy_folder, released_policies
from ante.errors import BalatroError
from ante.league.folder import BadLeague, Entrant
from ante.league.play import Seat
from ante.training.run_store.checkpoints import checkpoints_of, find_checkpoint
from ante.training.settings.config import read_config


def entrants_of(spec: str, likeliest: bool = False) -> list[Entrant]:
    """Return the players of a name: random, greedy, FOLDER, RUN@best, RUN@latest, RUN@CHECKPOINT or RUN@all.

    A later change of `best` does not affect them. Raises BalatroError, BadCheckpoint, BadRelease.
    """
    if spec in AGENTS:
        return [Entrant(spec, spec)]
    folder, pointer = policy_at(spec)
    place = spec.removesuffix(f"@{pointer}")
    if not folder.is_dir():
        raise BalatroError(
            f"there is no player {spec!r}: choose {', '.join((*AGENTS, *released_policies()))}, a run, RUN@all, or a release"
        )
    mark = "!" if likeliest else ""
    if not (folder / "checkpoints").is_dir():
        from ante.training.players.release import digest_of_weights, read_release

        about = read_release(folder)[1]
        name, pin = folder.name + mark, digest_of_weights(about)[:12]
        return [Entrant(name, place, pin, steps=about["trained"]["timesteps"], likeliest=likeliest)]
    names = checkpoints_of(folder / "checkpoints") if pointer == "all" else [pointer]
    found = []
    for each in names:
        target, metadata = find_checkpoint(folder / "checkpoints", each)
        name = f"{folder.name}@{target.name}{mark}"
        found.append(Entrant(name, str(folder), target.name, str(folder), metadata["timesteps"], likeliest))
    return found


@cache
def seat_of(entrant: Entrant) -> Seat:
    """Return the factory of a player's seat, seeded by the stretch. Raises BadLeague, BadCheckpoint, BadConfig."""
    if entrant.source in AGENTS:
        return lambda stretch: Baseline(entrant.source, seed=stretch)
    from ante.training.acting.player import make_player
    from ante.training.players.release import digest_of_weights, read_release
    from ante.training.policies.registry import load_policy

    folder = policy_folder(entrant.source)
    if entrant.run:
        policy = load_policy(folder, entrant.pin)[0]
    else:
        policy, about = read_release(folder)
        if not digest_of_weights(about).startswith(entrant.pin):
            raise BadLeague(f"{folder} has other weights than {entrant.name} in the league: rename the folder")
    reorder = read_config(folder / "config.yaml").games.reorder
    return lambda stretch: make_player(policy, entrant.name, entrant.likeliest, seed=stretch, reorder=reorder)
