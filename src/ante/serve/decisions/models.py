"""Loading of the player that the service serves, and reloading when its run publishes another checkpoint."""

import asyncio
import logging
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ante.agents.baselines import AGENTS
from ante.agents.releases import policy_at
from ante.errors import BalatroError
from ante.messages import described
from ante.plugins import PLAYERS, is_plugin
from ante.search.budget import budget_of
from ante.search.player import SearchPlayer
from ante.serve.decisions.deciders import AdvisedDecider, Decider, decider_of
from ante.serve.decisions.desk import LARGEST_BATCH, Desk
from ante.training.players.advised import advised_from
from ante.training.players.by_name import player_of
from ante.training.players.release import ABOUT
from ante.training.run_store.checkpoints import find_checkpoint, read_pointer
from ante.training.run_store.manifest import SEAL, BadCheckpoint, read_manifest
from ante.training.run_store.start import is_release
from ante.watch.runs import is_run

LOG = logging.getLogger(__name__)
POINTERS = ("best", "latest")
SLOW_BATCH = 4


@dataclass(frozen=True)
class Source:
    """Which player to serve.

    Attributes:
        name: As in `training.players.by_name.player_of`.
        checkpoint: Checkpoint of a run, if the name contains none; best and latest are followed.
        search: Budget of the search, as `search.budget.budget_of` parses it.
        hints: Advisor of the policy.
    """

    name: str
    checkpoint: str = "best"
    search: str | None = None
    hints: Literal["off", "rules", "llm"] = "off"

    @property
    def largest(self) -> int:
        """Most queries to decide at a time: few if each one takes long, so that all of them are not late."""
        return LARGEST_BATCH if self.search is None and self.hints != "llm" else SLOW_BATCH

    @property
    def folder(self) -> Path | None:
        """Folder of the policy; None for players without one."""
        if self.name in (*AGENTS, "rules") or (is_plugin(PLAYERS, self.name) and not Path(self.name).is_dir()):
            return None
        folder = policy_at(self.name, self.checkpoint)[0]
        return folder if folder.is_dir() else None

    def digest(self) -> str:
        """Return the seal of the model at present; empty without one. Raises BadCheckpoint."""
        if (folder := self.folder) is None:
            return ""
        if is_release(folder):
            return str(read_manifest(folder, ABOUT)[SEAL])
        checkpoints, pointer = folder / "checkpoints", policy_at(self.name, self.checkpoint)[1]
        found = read_pointer(checkpoints, pointer) if pointer in POINTERS else None
        return found[1] if found else str(find_checkpoint(checkpoints, pointer)[1][SEAL])

    def load(self, earlier: Decider | None = None) -> Decider:
        """Return the decider with its most likely actions. Raises BalatroError.

        earlier  the decider that it replaces, whose connection to an LLM and limits of tokens it continues
        """
        while True:
            digest = self.digest()
            found = self._load(digest, earlier)
            if self.digest() == digest:  # else another checkpoint was published meanwhile
                return found

    def _load(self, digest: str, earlier: Decider | None) -> Decider:
        folder, checkpoint = policy_at(self.name, self.checkpoint)
        if self.hints != "off":
            if self.folder is None:
                raise BalatroError(f"--hints requires a trained policy, not {self.name}: give a run or a release")
            before = earlier.player if isinstance(earlier, AdvisedDecider) else None
            advised = advised_from(folder, self.hints, checkpoint=checkpoint, likeliest=True, earlier=before)
            return decider_of(advised.name, digest, advised)
        player = player_of(self.name, True, self.checkpoint)
        if self.search is not None:
            player = SearchPlayer(player, budget_of(self.search))
        return decider_of(player.name, digest, player)


def first_decider(source: Source) -> tuple[Decider | None, str]:
    """Return the decider, or None and why, if its run has no complete checkpoint yet. Raises BalatroError."""
    try:
        return source.load(), ""
    except BadCheckpoint as error:
        if source.folder is None or not is_run(source.folder):
            raise
        return None, f"the model is missing: {error}"


async def follow(source: Source, desk: Desk, seconds: float) -> None:
    """Check every `seconds` whether the player's run has published another checkpoint, and serve it.

    The next batch uses it. If it cannot be loaded, which is logged and counted, the present one stays.
    """
    tried = desk.decider.digest if desk.decider else ""
    while True:
        await asyncio.sleep(seconds)
        published = False
        try:
            digest = await asyncio.to_thread(source.digest)
            if digest == tried:
                continue
            begin, tried, published = time.monotonic(), digest, True
            decider = await asyncio.to_thread(source.load, desk.decider)
        except Exception as error:  # also of file systems and of PyTorch: the service continues, and looks again
            why = str(error) if isinstance(error, BalatroError) else described(error)
            if desk.decider is None:
                desk.missing = f"the model is missing: {why}"
            if published or desk.decider:  # else the run has no model yet
                instead = "the present one stays" if desk.decider else "the rules decide"
                LOG.warning("the new model of %s cannot be loaded, and %s: %s", source.name, instead, why)
                desk.exporter.reloads.labels("failed").inc()
            continue
        desk.decider = decider
        tried = decider.digest
        desk.exporter.reloads.labels("loaded").inc()
        desk.exporter.show_model(decider.name, decider.digest)
        LOG.info("loaded %s %s in %.1f s", decider.name, decider.digest[:12], time.monotonic() - begin)
