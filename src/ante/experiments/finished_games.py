"""Files of finished games: one JSON line per game, appended as games end, so that a measurement can be continued."""

import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from ante.agents.evaluate import Player
from ante.errors import BalatroError, first_fault
from ante.files import NoFile, append_lines, parse_json, read_object, whole_lines, write_text

WEIGHTS = "weights.json"  # digests of the weights by the name of their file of games
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Game = TypeVar("Game")  # a dataclass with the fields seed, player and settings


class BadCampaign(BalatroError, ValueError):
    """A measurement that cannot be continued."""


@cache
def adapter_of(kind: Any) -> TypeAdapter[Any]:
    """Return the validator of a dataclass."""
    return TypeAdapter(kind)


def read_games(file: Path, kind: type[Game]) -> list[Game]:
    """Return the games of a file; an incomplete last line is skipped. Raises Unreadable, BadCampaign."""
    dataclass: Any = kind
    names = {each.name for each in fields(dataclass)}
    found: list[Any] = []
    for number, line in enumerate(whole_lines(file), 1):
        content = parse_json(line, f"{file}, line {number}")
        if not isinstance(content, dict) or set(content) != names:
            raise BadCampaign(f"{file}, line {number} is not a game of this version: choose another --out")
        try:
            found.append(adapter_of(dataclass).validate_json(line))
        except ValidationError as error:
            raise BadCampaign(f"cannot read {file}, line {number}: {first_fault(error)}: remove the line") from None
    if len({each.seed for each in found}) < len(found):
        raise BadCampaign(f"{file} has two games of the same seed: remove one of them")
    return found


def append_games(file: Path, games: Sequence[Any]) -> None:
    """Append games."""
    append_lines(file, [json.dumps(asdict(each)) for each in games])


def read_digests(file: Path) -> dict[str, str]:
    """Return the digests of weights by the name of their file of games. Raises Unreadable, BadCampaign."""
    try:
        return TypeAdapter(dict[str, Digest]).validate_python(read_object(file))
    except NoFile:
        return {}
    except ValidationError as error:
        raise BadCampaign(f"cannot read {file}: {first_fault(error)}: choose another --out") from None


def check_same(file: Path, done: Sequence[Any], player: Player, settings: dict[str, Any]) -> None:
    """Raise BadCampaign if games were played by another player, with other weights or with other settings."""
    for game in done:
        if (game.player, game.settings) != (player.name, settings):
            raise BadCampaign(
                f"{file} has games of {game.player} with settings {game.settings}, not of {player.name} with {settings}: "
                "choose another --out"
            )
    if done and read_digests(file.parent / WEIGHTS).get(file.stem, "") != digest_of(player):
        raise BadCampaign(f"{file} has games of {player.name} with other weights: choose another --out")


def keep_digest(file: Path, player: Player) -> None:
    """Store the digest of the player whose games the file has."""
    digests, digest = read_digests(file.parent / WEIGHTS), digest_of(player)
    if digest and digests.get(file.stem) != digest:
        write_text(file.parent / WEIGHTS, json.dumps(digests | {file.stem: digest}, indent=1) + "\n")


def digest_of(player: Player) -> str:
    """Return the digest of a player's weights; empty for players without weights."""
    return str(getattr(player, "digest", ""))
