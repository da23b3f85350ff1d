"""`ante eval` and `ante play`: evaluate players, and play or watch a game."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, arg

from ante.agents.releases import STRONGEST, policy_folder
from ante.cli.games.seeds import locked_keys
from ante.cli.options import Count, Number, OutFile, Seconds, Share, Stake, VideoFile, VideoSide, lines_of
from ante.cli.players import advised_player_of, player_of, searching
from ante.cli.shown import game_bar, paper
from ante.errors import BalatroError

if TYPE_CHECKING:
    import numpy as np

    from ante.agents.evaluate import Player, Report
    from ante.terminal.session import Session


GAMES = 1000  # default number of games of an evaluation


@dataclass(frozen=True)
class Eval:
    """Evaluate players on the same games: win rate, mean ante and blinds beaten, with 95 % intervals.

    Several players are listed in one table, with the difference of each to the first, game by game.

    Try:
      ante eval greedy
      ante eval random greedy runs/ppo --panel --save panel.json
      ante eval runs/ppo --games 50
      ante eval runs/ppo --draw 1                                  (1,000 other games)
      ante eval random --seeds my-seeds.txt --deck b_plasma --stake 3 --json
      ante eval white-stake --hints rules --games 200       (with and without hints, on the same seeds)
      ante eval white-stake --search 16ms --likeliest --games 50   (with and without search, on the same seeds)
    """

    players: Positional[Annotated[tuple[str, ...], arg(metavar="random|greedy|rules|MODEL|RUN ...")]]
    """random, greedy, rules, white-stake, a folder of a run or release, or your own player as module:Class."""
    panel: bool = False
    """Play the test panel, for results that are published: 1,000 seeds, Red Deck, White Stake, all items unlocked."""
    games: Count | None = None
    """Number of games; by default 1,000, or all seeds of --seeds."""
    draw: Number = 0
    """Number of a list of random seeds: another number gives other games, the same number the same games."""
    seeds: Path | None = None
    """File with one game seed per line, instead of random seeds."""
    deck: str = "b_red"
    """Deck by key or name."""
    stake: Stake = 1
    """Stake, from 1 (White) to 8 (Gold)."""
    challenge: str | None = None
    """One of the 20 challenges by key or name (omelette), instead of deck and stake."""
    locked: tuple[str, ...] = ()
    """Items that are locked in the profile: keys such as j_blueprint, or `fresh` for a new profile."""
    checkpoint: str = "best"
    """Checkpoint of a run: best or latest."""
    likeliest: bool = False
    """Use the policy's most likely action instead of sampling."""
    hints: Literal["off", "rules", "llm"] = "off"
    """Evaluate each policy again with hints for unsure decisions, from rules or the LLM at LLM_ENDPOINT."""
    hint_share: Share = 0.05
    """Largest share of any 1,000 consecutive decisions for which hints are requested."""
    hint_confidence: Share = 0.7
    """Probability of the most likely action below which a policy counts as unsure."""
    search: str | None = None
    """Evaluate each policy again with search: simulations per decision, such as 200, or milliseconds, such as 16ms."""
    json: bool = False
    """Print the report with all games as one JSON object; a list for several players."""
    out: Annotated[OutFile | None, arg(aliases=("--save",))] = None
    """Also write that JSON to a file."""
    events: str | None = None
    """Publish the games as events to this bus, nats://HOST:PORT or a file such as events.sqlite (docs/how-to/events.md)."""

    def run(self) -> int:
        """Play the games and print the report."""
        self.check()
        reports = self.reports(self.game_seeds())
        text = reports[0].to_json() if len(reports) == 1 else f"[{', '.join(report.to_json() for report in reports)}]"
        if self.out:
            from ante.files import write_text

            write_text(self.out, text)
        if self.json:
            print(text)
            return 0

        from ante.agents.report import blinds_of_all, blinds_table, players_table

        paper().print(players_table(reports))
        paper().print(blinds_table(reports[0]) if len(reports) == 1 else blinds_of_all(reports))
        if self.hints != "off":
            print_effects(reports)
        return 0

    def check(self) -> None:
        """Raise BalatroError if no player is given or --panel is combined with other options."""
        if not self.players:
            raise BalatroError("no player was given: try ante eval greedy")
        plain = Eval(self.players)
        for name in ("games", "draw", "seeds", "deck", "stake", "challenge", "locked"):
            if self.panel and getattr(self, name) != getattr(plain, name):
                raise BalatroError(f"--panel has fixed games: leave out --{name}, or leave out --panel")
        if self.seeds and self.draw != plain.draw:
            raise BalatroError("--draw and --seeds both choose the games: leave out one of them")

    def game_seeds(self) -> list[str]:
        """Return the seeds of the games. Raises BadSeedsFile."""
        from ante.agents.seed_lists import PANEL, evaluation_seeds, read_seeds

        if self.panel or self.seeds:
            return read_seeds(self.seeds or PANEL, self.games)
        return evaluation_seeds(self.games or GAMES, self.draw)

    def all_players(self) -> list["Player"]:
        """Return the players; with --hints or --search, each policy also with that. Raises BalatroError."""
        if self.search is not None and self.hints != "off":
            raise BalatroError("--search and --hints both replace decisions: leave out one of them")
        players: list[Player] = []
        for name in self.players:
            players.append(player_of(name, self.likeliest, self.checkpoint))
            if self.hints != "off" and policy_folder(name).is_dir():
                budget = self.hint_share, self.hint_confidence
                players.append(advised_player_of(name, self.hints, self.likeliest, self.checkpoint, *budget))
            if self.search is not None:
                players.append(searching(players[-1], self.search))
        if self.hints != "off" and len(players) == len(self.players):
            raise BalatroError(
                "--hints requires a trained policy: give a run's folder, or evaluate the advisor with ante eval rules"
            )
        return players

    def reports(self, seeds: Sequence[str]) -> list["Report"]:
        """Return a report for each player on these seeds. Raises BalatroError before any game is played."""
        from ante.agents.evaluate import evaluate

        found = []
        for player in self.all_players():
            with game_bar(len(seeds), player.name) as advance, self.published(player) as published:
                report = evaluate(
                    published,
                    seeds,
                    self.deck,
                    self.stake,
                    advance=advance,
                    challenge=self.challenge,
                    locked=locked_keys(self.locked),
                )
            found.append(report)
        return found

    @contextmanager
    def published(self, player: "Player") -> "Iterator[Player]":
        """Yield the player, with --events one whose games are published. Raises BadBus."""
        if self.events is None:
            yield player
            return
        from ante.env.replay import Heading
        from ante.events.games import PublishingPlayer
        from ante.events.publisher import publishing_events

        with publishing_events(self.events, f"eval/{player.name}", drops=False) as publisher:
            assert publisher is not None
            heading = Heading("", self.deck, self.stake, self.challenge)
            published = PublishingPlayer(player, publisher, heading, locked_keys(self.locked))
            yield published
            published.finish()


def print_effects(reports: Sequence["Report"]) -> None:
    """Print the effect of hints on each policy."""
    from ante.agents.evaluate import paired_difference

    for without, advised in pairwise(reports):
        if advised.player == f"{without.player}, advised":
            more, half = paired_difference(advised, without)
            print(f"{advised.player}: {more:+.2f} ± {half:.2f} blinds beaten compared with no hints, on the same seeds")


@dataclass(frozen=True)
class Play:
    """Play a game in the terminal, watch a player, or write its game as a video.

    Input that is not a terminal is read as one sequence of keys a line, and a screen is printed after each.

    Try:
      ante play                               (you play; the keys are at the bottom of the screen, ? explains them)
      ante play --seed ABCDEFGH --save game.txt
      ante play --resume game.txt             (a replay that was saved, or that another player has left unfinished)
      ante play greedy --seed ABCDEFGH
      ante play runs/ppo --video game.mp4 --size 1280 720
      ante play --start-states ante3.states --start 2        (ante replay states writes such a file)
      ante play white-stake --hints rules --video advised.mp4
      ante play white-stake --search 16ms
    """

    player: Positional[Annotated[str, arg(metavar="me|random|greedy|RUN")]] = "me"
    """Player: me for the keyboard, a baseline, or the folder of a run or release."""
    seed: str | None = None
    """Game seed; a random one by default."""
    deck: str = "b_red"
    """Deck by key or name."""
    stake: Stake = 1
    """Stake, from 1 (White) to 8 (Gold)."""
    challenge: str | None = None
    """One of the 20 challenges by key or name (omelette), instead of deck and stake."""
    locked: tuple[str, ...] = ()
    """Items that are locked in the profile: keys such as j_blueprint, or `fresh` for a new profile."""
    start_states: Path | None = None
    """Start from a saved game in this file, with its deck, stake and seed, instead of a new game."""
    start: Count = 1
    """Number of the game in that file, counted from 1."""
    video: VideoFile | None = None
    """Write an MP4 video to this file instead of printing text."""
    size: tuple[VideoSide, VideoSide] = (640, 360)
    """Width and height of the video."""
    delay: Seconds = 0.4
    """Seconds between decisions in the terminal."""
    checkpoint: str = "best"
    """Checkpoint of a run: best or latest."""
    likeliest: bool = False
    """Use the policy's most likely action instead of sampling."""
    hints: Literal["off", "rules", "llm"] = "off"
    """Follow hints for unsure decisions, from rules or the LLM at LLM_ENDPOINT; a video shows the hints."""
    search: str | None = None
    """Improve each decision by search: simulations per decision, such as 200, or milliseconds, such as 16ms; a video
    shows what was searched."""
    save: OutFile | None = None
    """New file for your game, a replay; by default ante-SEED.txt here if you play on a terminal, none otherwise."""
    resume: Path | None = None
    """Continue your game from this replay; it is saved there again, unless --save names another file."""
    adviser: str = STRONGEST
    """Player whose advice the key h shows: the folder of a run or a release, or rules."""

    def run(self) -> int:
        """Play one game."""
        import time

        from rich.console import Console

        from ante.engine.run import one_seed
        from ante.env.games import Games

        player = self.chosen_player()
        if player is None:
            return self.play_by_hand()
        console = Console()
        games = Games(
            1,
            self.deck,
            self.stake,
            self.seed,
            reorder=player.reorder,
            challenge=self.challenge,
            locked=locked_keys(self.locked),
            discrete=player.discrete,
            rngs=[one_seed(None)],
        )
        games.reset()
        if self.start_states is not None:
            import numpy as np

            from ante.recording.starts import stand

            stand(games, np.arange(1), self.saved_game(self.start_states))
        if self.video:
            from ante.env.text import run_name
            from ante.watch.episode import annotate, collect
            from ante.watch.notes import Explained
            from ante.watch.render.frames import episode_frames
            from ante.watch.render.video import write_video

            title = f"{player.name}: {games.seeds[0]}, {run_name(games.states[0])}"
            episode = collect(games, player.choose)
            notes = annotate(episode, player) if isinstance(player, Explained) else None
            frames = write_video(self.video, episode_frames(episode, notes, player.name, self.size), title=title)
            console.print(f"{self.video}: {frames} frames, seed {games.seeds[0]}")
        else:
            from ante.watch.render.terminal import watch

            watch(games, player.choose, console, lambda: time.sleep(self.delay))
        return 0

    def play_by_hand(self) -> int:
        """Play with keys. Raises BalatroError."""
        import sys

        from ante.files import check_output_file
        from ante.terminal.advice import Adviser
        from ante.terminal.console import GameConsole, play
        from ante.terminal.game import Game
        from ante.terminal.saving import check_unused, default_file

        session, console = self.session(), GameConsole()
        file = self.save or self.resume
        if self.save is not None:
            check_unused(self.save, self.resume)
        if file is None and console.is_terminal and sys.stdin.isatty():
            file = default_file(session, Path())
        if file is not None:
            check_output_file(file)
        name = "rules" if self.adviser == STRONGEST and not policy_folder(STRONGEST).is_dir() else self.adviser
        adviser = Adviser(name, lambda name: player_of(name, self.likeliest, self.checkpoint))
        play(Game(session, adviser, file), console, sys.stdin, lines_of(sys.stdin))
        return 0

    def session(self) -> "Session":
        """Return the game that a person plays: a new one, a resumed one, or a saved position. Raises BalatroError."""
        from ante.engine.run import new_seed, one_seed
        from ante.env.replay import Heading
        from ante.terminal.saving import resume
        from ante.terminal.session import Session, start_of

        if self.resume is not None:
            for name in ("seed", "deck", "stake", "challenge", "locked", "start_states"):
                if getattr(self, name) != DEFAULTS[name]:
                    raise BalatroError(f"--resume continues a saved game: leave out --{name.replace('_', '-')}")
            return resume(self.resume)
        if self.start_states is not None:
            return Session(self.saved_game(self.start_states))
        heading = Heading(self.seed or new_seed(one_seed(None)).decode(), self.deck, self.stake, self.challenge)
        locked = locked_keys(self.locked)
        return Session(start_of(heading, locked), None if locked else heading)

    def saved_game(self, file: Path) -> "np.recarray":
        """Return the chosen game of a file of saved games, (1,). Raises BalatroError."""
        from ante.recording.starts import copied, read_starts

        saved = read_starts(file)
        if not 1 <= self.start <= len(saved):
            raise BalatroError(f"--start {self.start}: {file} contains games 1 to {len(saved)}")
        return copied(saved[self.start - 1])

    def chosen_player(self) -> "Player | None":
        """Return the player; None for keyboard play. Raises BalatroError."""
        if self.player == "me":
            if self.video:
                raise BalatroError("--video requires a player: random, greedy or a run's folder")
            if self.hints != "off":
                raise BalatroError("--hints requires a trained policy: give a run's folder or white-stake")
            if self.search is not None:
                raise BalatroError("--search requires a trained policy: give a run's folder or white-stake")
            return None
        if self.save or self.resume:
            raise BalatroError(f"--save and --resume are for your own games: leave out {self.player}")
        if self.search is not None and self.hints != "off":
            raise BalatroError("--search and --hints both replace decisions: leave out one of them")
        if self.hints != "off":
            return advised_player_of(self.player, self.hints, self.likeliest, self.checkpoint)
        player = player_of(self.player, self.likeliest, self.checkpoint)
        return player if self.search is None else searching(player, self.search)


DEFAULTS = {field.name: field.default for field in fields(Play)}
