"""The typed results of the tools. Clients receive their schema, with the descriptions below the fields."""

from pydantic import BaseModel, ConfigDict


class Result(BaseModel):
    """A result of a tool."""

    model_config = ConfigDict(use_attribute_docstrings=True, extra="forbid")


class FileRow(Result):
    """A file of a run that is a resource."""

    uri: str
    bytes: int


class RunRow(Result):
    """A training run."""

    run: str
    """Path of the run in the folder of runs."""
    state: str
    """running, finished, stopped, failed or unfinished."""
    kind: str
    """Algorithm and policy."""
    game: str
    """Deck and stake, or challenge."""
    steps: int | None
    """Environment steps of training so far."""
    target: int | None
    """Environment steps of the whole training."""
    blinds: float | None
    """Blinds beaten per game in the last update."""
    win_rate: float | None
    """Share of games won in the last update."""


class RunList(Result):
    """The runs of the folder."""

    runs: list[RunRow]
    others: dict[str, str]
    """Folders that are not runs, with the reason."""


class Evaluation(Result):
    """The final evaluation of a run, with 95 % intervals."""

    games: int
    win_rate: tuple[float, float, float]
    """Estimate, lower and upper end of the interval; also of the following fields."""
    blinds: tuple[float, float, float]
    ante: tuple[float, float, float]


class RunView(RunRow):
    """A training run in detail."""

    evaluation: Evaluation | None
    metrics: dict[str, float]
    """The last row of the metrics."""
    settings: dict[str, str]
    """The settings by dotted path."""
    files: list[FileRow]
    """The report, videos and replays, which are resources."""


class ReplayView(Result):
    """A recorded game."""

    seed: str
    deck: str
    stake: int
    challenge: str | None
    decisions: int
    outcome: str
    """The last line of the replay."""
    difference: str | None
    """The first line that differs from the engine's, None if all are equal."""
    lines: list[str]
    """A part of the replay: decisions with their effects, and lines about the new state."""
    first_line: int
    """Number of the first of these lines, counted from 1."""
    total_lines: int
    state: str
    """The game before `first_line`, as text."""


class ShopView(Result):
    """The shop after one blind, if nothing is bought."""

    after: str
    row: list[str]
    packs: dict[str, list[str]]


class AnteView(Result):
    """What a seed determines for one ante."""

    ante: int
    boss: str
    voucher: str
    tags: list[str]
    shops: list[ShopView]


class SeedView(Result):
    """The contents of a seed, as keys."""

    seed: str
    deck: str
    stake: int
    antes: list[AnteView]


class Choice(Result):
    """A legal decision."""

    decision: str
    """As `play_game` and `decide` read it, such as `play 0,3,4` or `buy 1`."""
    meaning: str
    facts: str
    """Estimates of its effects, empty if unknown."""
    probability: float | None = None
    """The player's probability of it; None if the player has none."""


class Advice(Result):
    """What a player decides in a state, and why."""

    player: str
    choice: Choice
    value: float | None
    """Expected sum of future rewards, in the units of the player's training."""
    reasons: list[str]
    alternatives: list[Choice]
    state: str
    """Identifies the state for which the decision was made."""


class GameView(Result):
    """A game in progress."""

    game: str
    """Identifies the game for other tools."""
    seed: str | None
    """None while the game has a hidden random seed."""
    deck: str
    stake: int
    decisions: int
    phase: str
    over: bool
    won: bool
    """Whether the boss of ante 8 was beaten; such a game continues until it is lost."""
    text: str
    """The game as a player sees it."""
    choices: list[Choice]
    """A selection of legal decisions; others are legal too, such as every set of one to five cards."""
    state: str
    """Identifies this state."""
    happened: str = ""
    """The effects of the last decision."""


class EndedGame(Result):
    """A game that was ended."""

    game: str
    seed: str
    outcome: str
    replay: str
    """The whole game as text, which `inspect_replay` and `ante replay` read."""


class PlayerList(Result):
    """The players that can be queried for decisions."""

    players: list[str]
