"""`ante live`: a player in a game that runs elsewhere."""

import json
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator
from tyro.conf import Positional, arg

from ante.cli.options import Count, Number, Seconds, Stake
from ante.errors import BalatroError

if TYPE_CHECKING:
    from ante.serve.live.bridge import Bridge


def new_recording(name: Path) -> Path:
    """Return the name of a recording whose files can be written, for a check before the player is loaded.

    Raises BalatroError if one exists or cannot be written.
    """
    from ante.serve.live.client import check_new

    check_new(name)
    return name


@dataclass(frozen=True)
class Live:
    """Let a player play the real game through the mod BalatroBot, and compare each state with the engine.

    The engine plays the same seed beside it. A game ends at the first difference, which is printed with its place: the
    real game then disagrees with the engine, or its profile has locked items. Exit code 1 if there is one.

    Try:
      ante live http://127.0.0.1:12346 --player white-stake --games 5
      ante live http://127.0.0.1:12346 --seed TESTSEED        (is this seed the same in the real game?)
      ante live http://127.0.0.1:12346 --player greedy --record today
      ante live http://127.0.0.1:13000 --check today          (the same requests to another server)
    """

    url: Positional[Annotated[str, arg(metavar="URL")]] = "http://127.0.0.1:12346"
    """Address of BalatroBot, or of ante serve balatrobot."""
    player: str = "greedy"
    """random, greedy, the folder of a run or a release, or module:Class."""
    games: Count = 1
    """Number of games, on the first evaluation seeds."""
    seed: str | None = None
    """Play one game on this seed instead."""
    draw: Number = 0
    """Which evaluation seeds: 0, 1, 2 ... give other games."""
    deck: str = "b_red"
    """Deck, by key or name."""
    stake: Stake = 1
    """Stake from 1 (White) to 8 (Gold)."""
    patience: Seconds = 60.0
    """Seconds in which a game that does not reply can start again."""
    record: Annotated[Path, AfterValidator(new_recording)] | None = None
    """Write all requests and replies to the new files RECORD.req.jsonl and RECORD.res.jsonl."""
    check: Path | None = None
    """Play no game: send the requests of CHECK.req.jsonl and compare the replies with CHECK.res.jsonl."""
    json: bool = False
    """Print one JSON object for each game."""

    def run(self) -> int:
        """Play the games and print a line for each, or check a recording."""
        from ante.cli.players import player_of
        from ante.serve.live.bridge import Bridge, check_recording
        from ante.serve.live.client import Client, Recorder

        if self.seed is not None and (self.games != 1 or self.draw):
            raise BalatroError("--seed names the one game that is played: leave out --games and --draw")
        if self.check and self.record:
            raise BalatroError("--check plays no game that --record could write: leave one of them out")
        client = Client(self.url)
        if self.check:
            equal, why = check_recording(self.check, client.exchange)
            print(f"{equal} equal replies; {why or 'no difference'}")
            return 1 if why else 0
        bridge = Bridge(client, player_of(self.player, False, "best"), self.patience)
        with Recorder(client, self.record) if self.record else nullcontext(client) as bridge.caller:
            return self._play(bridge)

    def _play(self, bridge: "Bridge") -> int:
        from ante.agents.seed_lists import evaluation_seeds

        different = 0
        for seed in [self.seed] if self.seed is not None else evaluation_seeds(self.games, self.draw):
            found = bridge.play(seed, self.deck, self.stake)
            different += bool(found.difference)
            if self.json:
                print(json.dumps(asdict(found)), flush=True)
            else:
                about = f"ante {found.ante}, {found.decisions} decisions"
                print(f"{seed}  {found.outcome}, {about}  {found.difference}".rstrip(), flush=True)
        return 1 if different else 0
