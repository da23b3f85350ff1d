"""`ante watch`: write the report of a run, and videos of replays."""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import quote

from tyro.conf import Positional, arg

from ante.cli.options import Number, OutFile, Port, Positive, VideoFile, VideoSide
from ante.cli.players import advised_player_of, player_of, searching
from ante.cli.shown import game_bar
from ante.errors import BalatroError

if TYPE_CHECKING:
    from ante.http.server import HttpServer
    from ante.storage.store import Store
    from ante.watch.live import LiveRun
    from ante.watch.notes import Explained
    from ante.watch.report import Link, Report

LONGEST_LINK = 7 * 24  # hours, the limit of S3
RUNS = "runs"  # the folder of runs by default
SMALL = (
    "config.yaml",
    "machine.json",
    "metrics.csv",
    "evaluation.json",
    "hints/ledger.json",
    "hints/effect.json",
    "checkpoints/latest.json",
    "episodes/index.json",
)


@dataclass(frozen=True)
class Watch:
    """Write a run's report, one HTML file with curves, episodes, videos and a player; or make a video of any replay.

    The report of a local run is RUN/report.html and needs no server. The report of a run in a bucket is written to the
    current folder with links to its videos, which are valid for --hours. With --serve, this machine serves the videos,
    and the page follows the run: new metrics, checkpoints and episodes appear without a reload. Without RUN, or for a
    folder with several runs, --serve shows all of them, compares their curves, and links to the report of each.

    Try:
      ante watch runs/ppo
      ante watch runs/ppo --serve --port 8000
      ante watch --serve                              (all runs in ./runs)
      ante watch runs/ppo --player runs/ppo           (probabilities for all episodes)
      ante watch s3://bucket/runs/ppo --out ppo.html
      ante watch game.txt --video game.mp4 --player white-stake
      ante watch game.txt --video game.mp4 --player white-stake --hints rules
    """

    what: Positional[Annotated[str, arg(metavar="RUN|REPLAY")]] = ""
    """Folder of a run, its URL in a store (s3://bucket/runs/NAME), or the file of a replay; with --serve also a folder
    with several runs, ./runs by default."""
    out: Annotated[OutFile | None, arg(aliases=["-o"])] = None
    """File of the report; RUN/report.html by default, NAME-report.html here for a run in a store."""
    video: VideoFile | None = None
    """File for a video of the replay."""
    size: tuple[VideoSide, VideoSide] = (640, 360)
    """Width and height of the video."""
    player: str | None = None
    """Folder of a run or release whose policy annotates decisions without recorded probabilities and values."""
    checkpoint: str = "best"
    """Checkpoint of that player: best or latest."""
    hints: Literal["off", "rules", "llm"] = "off"
    """Also show hints for that player's unsure decisions, from rules or the LLM at LLM_ENDPOINT."""
    search: str | None = None
    """Also show what that player's search finds: simulations per decision, such as 200, or milliseconds, such as 16ms."""
    serve: bool = False
    """Serve the report on this machine until Ctrl-C; the page follows the run."""
    port: Port = 0
    """Port of --serve; a free port by default."""
    open: bool = False
    """Open the report in the browser."""
    traces: Number = 200
    """Number of episodes to include step by step; episodes with videos first, then the newest."""
    hours: Positive = 24.0
    """Validity of links to a bucket, in hours; at most 168."""

    def run(self) -> int:
        """Write the report or video, and serve it if requested."""
        self.check()
        if self.is_replay():
            return self.write_replay_video()
        if self.is_folder_of_runs():
            return self.serve_all(Path(self.what or RUNS))
        if "://" not in self.what:
            return self.report(Path(self.what))
        from ante.storage.opening import open_store
        from ante.storage.store import check_key

        store, name = open_store(self.what), check_key(self.what.rstrip("/").rpartition("/")[2])
        with TemporaryDirectory(prefix="ante-watch-") as place:
            return self.report_stored(store, Path(place) / name)

    def check(self) -> None:
        """Raise BalatroError if the options exclude each other."""
        if not 0 < self.hours <= LONGEST_LINK:
            raise BalatroError(
                f"--hours {self.hours:g} must be above 0 and at most {LONGEST_LINK}, S3's limit for links"
            )
        if self.video and not self.is_replay():
            raise BalatroError(f"--video requires a replay, not {self.what}: give one of RUN/episodes/*.txt.gz")
        if self.hints != "off" and self.player is None:
            raise BalatroError("--hints requires --player with a run's folder")
        if self.search is not None and (self.player is None or self.hints != "off"):
            raise BalatroError("--search requires --player with a run's folder, and no --hints")
        if self.is_replay() and not self.video:
            raise BalatroError(f"a replay requires --video: ante watch {self.what} --video game.mp4")
        if not self.what and not self.serve:
            raise BalatroError(f"no run was given: try ante watch {RUNS}/NAME, or ante watch --serve for all runs")
        if "://" not in self.what and not Path(self.what or RUNS).exists():
            raise BalatroError(
                f"{self.what or RUNS} does not exist: give a run's folder, its URL in a store, or a replay file"
            )

    def is_replay(self) -> bool:
        """Return whether the path is a file."""
        return "://" not in self.what and Path(self.what).is_file()

    def is_folder_of_runs(self) -> bool:
        """Return whether to serve all runs in a folder."""
        from ante.watch.runs import is_run

        return self.serve and "://" not in self.what and not is_run(Path(self.what or RUNS))

    def serve_all(self, folder: Path) -> int:
        """Serve a page of all runs in a folder, until Ctrl-C."""
        from ante.watch.index import index_server

        with index_server(folder, self.port) as server:
            return self.until_stopped(server)

    def explained(self) -> "Explained | None":
        """Return the player that annotates decisions, if any. Raises BalatroError."""
        from ante.watch.notes import Explained

        if self.player is None:
            return None
        if self.hints != "off":
            return advised_player_of(self.player, self.hints, likeliest=False, checkpoint=self.checkpoint)
        player = player_of(self.player, likeliest=False, checkpoint=self.checkpoint)
        if self.search is not None:
            return searching(player, self.search)
        if not isinstance(player, Explained):
            raise BalatroError(f"{self.player} has no probabilities: give a run's folder, or white-stake")
        return player

    def write_replay_video(self) -> int:
        """Write a video of the replay."""
        from ante.watch.episode import annotate, read_episode
        from ante.watch.notes import notes_beside, read_notes
        from ante.watch.render.frames import episode_frames
        from ante.watch.render.video import write_video

        assert self.video is not None
        file = Path(self.what)
        heading, episode = read_episode(file)
        beside = notes_beside(file)
        player, notes, about = self.explained(), None, ""
        if player is not None:
            about, notes = player.name, annotate(episode, player)
        elif beside.exists():
            about, notes = read_notes(beside)
        frames = write_video(self.video, episode_frames(episode, notes, about, self.size), title=heading.seed)
        print(f"{self.video}: {frames} frames, seed {heading.seed}")
        return 0

    def report(self, run: Path) -> int:
        """Write the report of a local run."""
        from ante.watch.live import LiveRun
        from ante.watch.report import REPORT, links_from

        file = self.out or run / REPORT
        found = self.read(run, quote if self.serve else links_from(file, run))
        print(found.write(file))
        return self.follow(run, found, LiveRun(run)) if self.serve else self.show(file)

    def report_stored(self, store: "Store", run: Path) -> int:
        """Write the report of a run in a store, after downloading its small files."""
        from ante.watch.live import STORE_SECONDS, LiveRun
        from ante.watch.report import REPORT

        download(store, run)
        if self.serve:
            live = LiveRun(run, STORE_SECONDS, lambda: download_small(store, run))
            return self.follow(run, self.read(run), live, lambda key: download_one(store, run, key))
        presigned = getattr(store, "presigned", None)
        if presigned is None:
            raise BalatroError(f"{self.what} cannot create links: give its folder without file://, or add --serve")
        target = self.out or Path(f"{run.name}-{REPORT}")
        print(self.read(run, lambda key: presigned(key, int(self.hours * 3600))).write(target))
        return self.show(target)

    def read(self, run: Path, link: "Link" = quote) -> "Report":
        """Return the contents of the report, with a progress bar over the episodes that are replayed."""
        from ante.watch.gallery import read_index
        from ante.watch.report import read_report

        with game_bar(min(self.traces, len(read_index(run))), "report") as advance:
            return read_report(run, link, self.explained(), self.traces, advance)

    def show(self, file: Path) -> int:
        """Open the report in the browser, if requested."""
        import webbrowser

        if self.open:
            webbrowser.open(file.absolute().as_uri())
        return 0

    def follow(self, run: Path, report: "Report", live: "LiveRun", fetch: Any = lambda _: None) -> int:
        """Serve a page that follows the run, until Ctrl-C."""
        from ante.watch.report import REPORT
        from ante.watch.serve import server_of

        with TemporaryDirectory(prefix="ante-watch-") as place:
            page = report.write(Path(place).resolve() / REPORT, live.seconds)
            with server_of(run, self.port, fetch, page, live) as server:
                return self.until_stopped(server)

    def until_stopped(self, server: "HttpServer") -> int:
        """Print the address of a server, open it if requested, and serve until Ctrl-C."""
        import webbrowser

        from ante.http.server import LOOPBACK

        address = f"http://{LOOPBACK}:{server.port}/"
        print(f"{address}   (Ctrl-C stops)", flush=True)
        if self.open:
            webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
        return 0


def download(store: "Store", run: Path) -> None:
    """Download the files for a report: all except videos, posters and checkpoints."""
    from ante.watch.gallery import FOLDER, read_index

    download_small(store, run)
    entries = read_index(run)
    names = [name for entry in entries for name in (entry.replay, entry.notes) if name]
    with game_bar(len(names), "downloading") as advance:
        for name in names:
            download_one(store, run, f"{FOLDER}/{name}")
            advance(1)


def download_small(store: "Store", run: Path) -> None:
    """Download settings, metrics, evaluation and indexes."""
    for key in SMALL:
        download_one(store, run, key, must=key == "config.yaml")


def download_one(store: "Store", run: Path, key: str, must: bool = False) -> None:
    """Download one file of the run. Raises StorageError if it is missing and `must` is set."""
    from ante.storage.errors import NotThere

    file = run / key
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        store.get_file(key, file)
    except NotThere:
        if must:
            raise BalatroError(
                f"{store.url} is not a run: it has no {key}; ante artifacts ls lists the publications"
            ) from None
