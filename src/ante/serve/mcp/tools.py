"""The tools: their arguments with limits, and what each does."""

from pathlib import Path
from threading import Lock
from typing import Annotated, Any

from pydantic import Field

from ante.engine.drivers.survey import survey
from ante.env.replay import Heading
from ante.errors import BalatroError
from ante.serve.mcp.advice import RULES, Advisers, Finder
from ante.serve.mcp.files import RunFiles, replay_view
from ante.serve.mcp.games import MOST_DECISIONS, GameTable, position
from ante.serve.mcp.results import (
    Advice,
    AnteView,
    EndedGame,
    GameView,
    PlayerList,
    ReplayView,
    RunList,
    RunView,
    SeedView,
    ShopView,
)
from ante.watch.episode import with_words

MOST_ANTES = 16

Name = Annotated[str, Field(min_length=1, max_length=255)]
Path_ = Annotated[str, Field(max_length=1024, description="Path in the folder of runs, as inspect_run lists it.")]
ReplayText = Annotated[str, Field(max_length=1 << 19, description="Text of a replay, instead of a path.")]
GameSeed = Annotated[str, Field(max_length=16, description="1 to 16 letters A-Z and digits, such as 2K9H9HN.")]
DeckKey = Annotated[str, Field(max_length=40, description="Deck by key or name, such as b_red.")]
StakeNumber = Annotated[int, Field(ge=1, le=8, description="1 (White) to 8 (Gold).")]
GameName = Annotated[str, Field(max_length=64, description="Identifier that new_game returned.")]
StateName = Annotated[str, Field(max_length=64)]
Decision = Annotated[str, Field(max_length=200, description="A decision as in `choices`, such as `play 0,3,4`.")]


class BadArguments(BalatroError, ValueError):
    """Arguments exclude each other."""


class Tools:
    """The tools of one server. Calls run in threads; a lock lets one at a time play or query a player."""

    def __init__(self, runs: Path, finder: Finder) -> None:
        self.runs = RunFiles(runs)
        self.advisers = Advisers(runs, finder)
        self.games = GameTable()
        self.lock = Lock()

    def list_runs(self) -> RunList:
        """List the training runs with their state and last results."""
        return self.runs.list()

    def inspect_run(self, run: Name) -> RunView:
        """Show one training run: evaluation, last metrics, settings, and the URIs of its report, videos and replays."""
        return self.runs.run(run)

    def inspect_replay(
        self, path: Path_ = "", replay: ReplayText = "", first_line: Annotated[int, Field(ge=1, le=10**7)] = 1
    ) -> ReplayView:
        """Show a recorded game from a line on: decisions with their effects, and the state before that line."""
        if bool(path) == bool(replay):
            raise BadArguments("give either path or replay")
        return replay_view(self.runs.replay_text(path) if path else with_words(replay), first_line)

    def inspect_seed(
        self,
        seed: GameSeed,
        deck: DeckKey = "b_red",
        stake: StakeNumber = 1,
        antes: Annotated[int, Field(ge=1, le=MOST_ANTES)] = 8,
    ) -> SeedView:
        """Show what a seed determines: bosses, vouchers, tags, shops and packs of each ante."""
        found = survey(seed, deck, stake, antes)
        return SeedView(
            seed=found["seed"],
            deck=found["deck"],
            stake=found["stake"],
            antes=[ante_view(number, ante) for number, ante in enumerate(found["antes"], 1)],
        )

    def list_players(self) -> PlayerList:
        """List the players that can be queried for decisions."""
        return PlayerList(players=self.advisers.names())

    def decide(
        self,
        player: Name = RULES,
        game: GameName = "",
        seed: GameSeed = "",
        deck: DeckKey = "b_red",
        stake: StakeNumber = 1,
        decisions: Annotated[
            list[Decision],
            Field(max_length=MOST_DECISIONS, description="Decisions since the start of the game of `seed`."),
        ] = [],  # noqa: B006  (pydantic copies it)
    ) -> Advice:
        """Query a player for a decision and its reasons, in a game of new_game, or after decisions on a seed."""
        if bool(game) == bool(seed) or (game and decisions):
            raise BadArguments("give either game, or seed with decisions")
        with self.lock:
            states = self.games[game].states if game else position(Heading(seed, deck, stake), decisions)
            return self.advisers.advise(player, states)

    def new_game(self, seed: GameSeed = "", deck: DeckKey = "b_red", stake: StakeNumber = 1) -> GameView:
        """Start a game to play with play_game. Without a seed, a random one stays hidden until the game is ended."""
        with self.lock:
            return self.games.begin(Heading(seed, deck, stake) if seed else None, deck, stake)

    def show_game(self, game: GameName) -> GameView:
        """Show a game in progress."""
        with self.lock:
            return self.games.view(game)

    def play_game(self, game: GameName, decision: Decision, state: StateName | None = None) -> GameView:
        """Take a decision in a game. With `state`, only if the game is still in that state."""
        with self.lock:
            return self.games.play(game, decision, state)

    def end_game(self, game: GameName) -> EndedGame:
        """End a game and return its replay."""
        with self.lock:
            return self.games.end(game)


def ante_view(number: int, ante: dict[str, Any]) -> AnteView:
    """Return one ante of a survey."""
    shops = [ShopView(after=shop["after"], row=shop["row"], packs=dict(shop["packs"])) for shop in ante["shops"]]
    return AnteView(ante=number, boss=ante["boss"], voucher=ante["voucher"], tags=ante["tags"], shops=shops)
