"""`ante seed`: contents of a seed."""

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

from tyro.conf import Positional, arg

from ante.cli.options import Antes, Stake, lines_of
from ante.cli.shown import paper
from ante.errors import BalatroError

STAKES = tuple("12345678")


@dataclass(frozen=True)
class Seed:
    """Print the contents of a game seed: bosses, tags, vouchers, shops and packs of each ante.

    The table shows names, the JSON object keys.

    Try:
      ante seed 2K9H9HN
      ante seed 2K9H9HN --deck b_ghost --stake 8 --json
      ante seed 2K9H9HN --challenge omelette
      printf 'TESTSEED b_red 1\\n' | ante seed -
    """

    seed: Positional[Annotated[str, arg(metavar="SEED|-")]]
    """Game seed, or - to read lines `SEED DECK STAKE` from standard input and print one JSON object per line."""
    deck: str = "b_red"
    """Deck by key or name."""
    stake: Stake = 1
    """Stake, from 1 (White) to 8 (Gold)."""
    challenge: str | None = None
    """One of the 20 challenges by key or name (omelette), instead of deck and stake."""
    locked: tuple[str, ...] = ()
    """Items that are locked in the profile: keys such as j_blueprint, or `fresh` for a new profile."""
    antes: Antes = 8
    """Number of antes to list."""
    json: bool = False
    """Print one JSON object (format: docs/reference/formats.md)."""

    def run(self) -> int:
        """Print the survey."""
        from ante.engine.drivers.survey import survey

        if self.seed == "-":
            surveyed = 0
            for number, line in enumerate(lines_of(sys.stdin), 1):
                found = survey(*parse_line(line, number), antes=self.antes, locked=locked_keys(self.locked))
                print(json.dumps(found))
                surveyed += 1
            if not surveyed:
                raise BalatroError("standard input contains no seed: write one per line, as in TESTSEED b_red 1")
            return 0
        found = survey(self.seed, self.deck, self.stake, self.antes, self.challenge, locked_keys(self.locked))
        if self.json:
            print(json.dumps(found))
        else:
            print_survey(found)
        return 0


def locked_keys(words: Sequence[str]) -> str | Sequence[str]:
    """Return the keys given by --locked, or the word `fresh`."""
    return words[0] if len(words) == 1 else words


def parse_line(line: str, number: int) -> tuple[str, str, int]:
    """Parse one line `SEED DECK STAKE`; deck and stake are optional."""
    parts = line.split()
    if not 1 <= len(parts) <= 3 or (len(parts) == 3 and parts[2] not in STAKES):
        raise BalatroError(
            f"line {number} is {line.strip()!r}: write SEED, SEED DECK or SEED DECK STAKE, as in TESTSEED b_red 1"
        )
    seed, deck, stake = (*parts, *("", "b_red", "1")[len(parts) :])
    return seed, deck, int(stake)


def print_survey(found: dict[str, Any]) -> None:
    """Print a survey as a table."""
    from rich.table import Table

    deck = named(found["deck"])
    table = Table(title=f"seed {found['seed']}, {deck}, stake {found['stake']}", show_lines=True)
    for column in ("ante", "boss, tags, voucher", "shop after", "row", "packs"):
        table.add_column(column, overflow="fold")
    for ante, facts in enumerate(found["antes"], 1):
        head = named(f"{facts['boss']}\n{', '.join(facts['tags'])}\n{facts['voucher']}")
        for index, shop in enumerate(facts["shops"]):
            packs = named("\n".join(f"{key}: {', '.join(cards)}" for key, cards in shop["packs"]))
            first = (str(ante), head) if index == 0 else ("", "")
            table.add_row(*first, shop["after"], named(", ".join(shop["row"])), packs)
    paper().print(table)


@cache
def names() -> dict[str, str]:
    """Return the name of each item and blind of the catalogue, by key."""
    from ante.catalog import blinds, cards, consumables, decks, jokers, packs, tags, vouchers

    tables = (
        blinds.BLINDS, cards.ENHANCEMENTS, consumables.CONSUMABLES, decks.DECKS, jokers.JOKERS, packs.PACKS, tags.TAGS,
        vouchers.VOUCHERS,
    )  # fmt: skip
    return {row.key: row.name for table in tables for row in table if row.key}


def named(text: str) -> str:
    """Return a text with names in place of keys, and cards as in `QS Gold Card`."""
    text = re.sub(r"\b[a-z]+_[a-z0-9_]+\b", lambda key: names().get(key[0], key[0]), text)
    return re.sub(r"\b([SHCD])_(\w)(:?)", lambda card: f"{card[2]}{card[1]}{' ' if card[3] else ''}", text)
