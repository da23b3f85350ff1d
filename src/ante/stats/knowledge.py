"""The measured effects of jokers as one self-contained HTML page, and a picture of the strongest pairs."""

from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from ante.catalog.blinds import BLINDS
from ante.catalog.decks import DECKS
from ante.catalog.jokers import JOKERS
from ante.files import write_text
from ante.knowledge.content import RARITIES, scoring_jokers, traits_of
from ante.knowledge.measuring.table import Table, is_synergy
from ante.knowledge.winning.table import Winning
from ante.watch.pages import page, part
from ante.watch.render.figures import write_figure

COPIERS = (
    "j_blueprint",
    "j_brainstorm",
    "j_swashbuckler",
    "j_baseball",
    "j_stencil",
    "j_abstract",
)  # work with almost all
SHOWN = 20  # pairs of the picture, of each sign


def write_page(table: Table, winning: Winning, file: Path) -> Path:
    """Write the page and return its file."""
    own = files("ante.stats") / "page"
    style = part("page.css") + (own / "knowledge.css").read_text()
    script = part("common.js") + (own / "knowledge.js").read_text()
    write_text(
        file, page("What works with what", (own / "knowledge.html").read_text(), style, script, data_of(table, winning))
    )
    return file


def data_of(table: Table, winning: Winning) -> dict[str, Any]:
    """Return the data of the page: jokers, pairs that interact, effects with other items, strategies, and the origin."""
    pairs, effects = table.pairs, table.effects
    index = {row.key: int(row.joker) - 1 for row in JOKERS[1:]}
    counts = is_synergy(pairs["effect"], pairs["q"])
    names = {row.key: row.name for row in BLINDS} | {row.key: row.name for row in DECKS}
    alone, scoring = effects["kind"] == "alone", scoring_jokers()
    gains = dict(zip(effects["joker"][alone].tolist(), effects["effect"][alone].tolist(), strict=True))
    return {
        "about": table.about,
        "generic": [index[key] for key in COPIERS],
        "jokers": [
            {
                "name": row.name,
                "text": row.effect,
                "rarity": RARITIES[row.rarity],
                "cost": row.cost,
                "gain": short(gains.get(row.key, 0.0)),
                "scores": row.key in scoring,
                "traits": sorted(traits_of(row).values()),
            }
            for row in JOKERS[1:]
        ],
        "pairs": [
            [
                index[pairs["one"][i]],
                index[pairs["other"][i]],
                short(pairs["effect"][i]),
                short(pairs["half"][i]),
                short(pairs["gain"][i]),
                short(pairs["acts"][i], 2),
                int(counts[i]),
            ]
            for i in np.flatnonzero(pairs["acts"] > 0)
        ],
        "measured": len(counts),
        "effects": [
            [
                index[effects["joker"][i]],
                str(effects["kind"][i]),
                names.get(str(effects["target"][i]), str(effects["target"][i])),
                short(effects["effect"][i]),
                short(effects["half"][i]),
                int(effects["n"][i]),
            ]
            for i in np.flatnonzero(~alone & (effects["q"] <= 0.05) & (np.abs(effects["effect"]) >= 0.01))
        ],
        "winning": winning.about,
        "strategies": [
            {**asdict(each), "validated": each.validated, "jokers": [index[key] for key in each.items if key in index]}
            for each in sorted(winning.strategies, key=lambda each: (not each.validated, -each.effect))
        ],
        "wins": [
            {**asdict(each), "one": index[each.one], "other": index[each.other]}
            for each in sorted(winning.pairs, key=lambda each: -each.effect)
        ],
    }


def short(value: float, digits: int = 4) -> float:
    """Return a number with few digits."""
    return round(float(value), digits) + 0.0


def draw_pairs(table: Table, file: Path) -> Path:
    """Write a picture of the strongest synergies and overlaps, as factors with 95 % intervals, and return the file.

    Jokers that work with almost all others are left out of the synergies.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.0, 6.5), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    names = {row.key: row.name for row in JOKERS[1:]}
    pairs = table.pairs
    specific = ~(np.isin(pairs["one"], COPIERS) | np.isin(pairs["other"], COPIERS))
    counts = is_synergy(pairs["effect"], pairs["q"]) & specific
    for axes, order, title, colour in zip(
        figure.subplots(1, 2),
        (np.argsort(-pairs["effect"]), np.argsort(pairs["effect"])),
        ("strongest synergies", "strongest overlaps"),
        ("#3f9d63", "#c9504a"),
        strict=True,
    ):
        chosen = [i for i in order if counts[i]][:SHOWN][::-1]
        effect, half = pairs["effect"][chosen].astype(float), pairs["half"][chosen].astype(float)
        factors = 10.0**effect
        errors = np.abs(np.array([factors - 10.0 ** (effect - half), 10.0 ** (effect + half) - factors]))
        places = np.arange(len(chosen))
        axes.barh(places, factors - 1.0, left=1.0, color=colour, alpha=0.75)
        axes.errorbar(factors, places, xerr=errors, fmt="none", ecolor="#333333", capsize=2, linewidth=1)
        axes.set_yticks(places, [f"{names[pairs['one'][i]]} + {names[pairs['other'][i]]}" for i in chosen], fontsize=8)
        axes.set_xlabel("score of both, divided by what the single gains predict")
        axes.axvline(1.0, color="#333333", linewidth=0.8)
        axes.set_title(title)
        axes.grid(axis="x", alpha=0.25)
    return write_figure(figure, file)
