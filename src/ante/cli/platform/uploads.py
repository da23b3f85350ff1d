"""`ante artifacts queue`: pending uploads on this machine."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from ante.cli.shown import bytes_bar, show, size, when
from ante.errors import BalatroError

if TYPE_CHECKING:
    from ante.storage.spool import Spool


@dataclass(frozen=True)
class Queue:
    """Show pending uploads on this machine and the state of the uploader, or (--upload) run them now.

    Try:
      ante artifacts queue runs/ppo/spool
      ante artifacts queue runs/ppo/spool --upload
    """

    spool: Positional[Annotated[Path, arg(metavar="SPOOL")]]
    """Folder of the queue."""
    upload: bool = False
    """Upload everything now; Ctrl-C stops without losing data."""
    json: bool = False
    """Print one JSON object: working, state, jobs, refused."""

    def run(self) -> int:
        """Show or upload; return 1 if jobs were rejected."""
        from ante.storage.spool import Spool

        if not self.spool.is_dir():
            raise BalatroError(f"{self.spool} is not an upload queue: give the folder RUN/spool of a run")
        spool = Spool(self.spool)
        if self.upload:
            upload_now(spool)
        jobs, refused, state = spool.jobs(), spool.refusals(), spool.state
        if self.json:
            found = {
                "working": spool.working(),
                "state": asdict(state) if state else None,
                "jobs": [asdict(job) for job in jobs],
                "refused": [{**asdict(job), "why": why} for job, why in refused],
            }
            print(json.dumps(found, indent=1))
        else:
            print_queue(spool)
        return 1 if refused else 0


def upload_now(spool: "Spool") -> None:
    """Upload the whole queue. Raises BalatroError if an uploader already processes it."""
    import threading

    from ante.storage.uploader import Uploader

    total = spool.bytes
    with spool.taken() as mine:
        if not mine:
            raise BalatroError(f"an uploader already works on {spool.folder}: ante artifacts queue shows its state")
        spool.tidy()
        with bytes_bar(total, "uploading") as progress:
            Uploader(spool, threading.Event(), progress=progress).empty()


def print_queue(spool: "Spool") -> None:
    """Print the queue as a table and a summary."""
    state, rows = spool.state, []
    for job in spool.jobs():
        now = state if state and state.job == job.id else None
        rows.append(
            (
                job.about,
                job.store,
                size(job.bytes),
                when(job.queued),
                f"{size(now.sent)} sent, {now.attempts} failures" if now else "pending",
                now.error if now else "",
            )
        )
    rows += [(job.about, job.store, size(job.bytes), when(job.queued), "failed permanently", why)
             for job, why in spool.refusals()]  # fmt: skip
    show([], ("upload", "to", "size", "queued", "state", "error"), rows, False)
    works = "an uploader is running" if spool.working() else "no uploader is running"
    print(f"{spool.folder}: {len(spool.jobs())} pending, {size(spool.bytes)}; {works}")
