"""`ante hints`: probe an LLM endpoint, show one request, measure the effect and the value of hints."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg, subcommand

from ante.cli.options import Count, Number, OutFile, OutFolder, Share, Stake
from ante.cli.shown import paper, progress
from ante.errors import BalatroError

if TYPE_CHECKING:
    from ante.hints.advice import Advice
    from ante.hints.probe import Probe
    from ante.hints.question import Question
    from ante.hints.settings import AdvisorSettings
    from ante.training.players.hint_value import HintValue


def settings_of(endpoint: str | None, model: str | None) -> "AdvisorSettings":
    """Return the settings from the environment, overridden by the options. Raises BadHints."""
    import os

    from ante.hints.settings import read_settings

    return read_settings(os.environ, endpoint=endpoint, model=model)


@dataclass(frozen=True)
class ProbeHints:
    """Probe an LLM endpoint with real requests and report models, structured output, images and latency.

    LLM_ENDPOINT, LLM_MODEL and LLM_API_KEY select the endpoint (docs/how-to/hints.md lists all variables). Exit code 1
    if the endpoint is not suitable for training.

    Try:
      ante hints probe
      ante hints probe --endpoint http://127.0.0.1:8000/v1 --model fake
      ante hints probe --asks 1000 --json      (how many of 1,000 answers are discarded, and why)
    """

    endpoint: str | None = None
    """URL instead of LLM_ENDPOINT."""
    model: str | None = None
    """Model instead of LLM_MODEL; by default the server's single model."""
    asks: Count = 12
    """Requests to send, each for another position."""
    picture: bool = True
    """Also send one request with a rendered frame."""
    json: bool = False
    """Print one JSON object: all fields of Probe, works and verdict."""

    def run(self) -> int:
        """Probe and print the result."""
        import asyncio
        import os
        from itertools import islice

        from ante.hints.probe import probe
        from ante.hints.rules import sample_questions

        settings = settings_of(self.endpoint, self.model)
        if settings.model is None:
            settings = settings.model_copy(update={"model": only_model(settings)})
        questions = list(islice(sample_questions(prompt=settings.prompt), self.asks))
        picture = picture_of(state_of("TESTSEED@3")) if self.picture else None
        with ask_bar(len(questions)) as advance:
            found = asyncio.run(probe(settings, os.environ, questions, picture, advance))
        if self.json:
            written = {**asdict(found), "works": found.works, "verdict": found.verdict()}
            # JSON has no NaN
            print(json.dumps({k: None if v != v else v for k, v in written.items()}, indent=1))
        else:
            print_probe(found)
        return 0 if found.works else 1


def only_model(settings: "AdvisorSettings") -> str | None:
    """Return the server's single model. Raises BadHints if it has several or does not list them."""
    import asyncio
    import os

    from ante.hints.desk import make_advisor, words_of
    from ante.hints.probe import PATIENCE
    from ante.hints.settings import BadHints, read_key
    from ante.messages import masked

    patient = settings.model_copy(update={"model": "-", "timeout_seconds": PATIENCE})

    async def names() -> list[str]:
        advisor = make_advisor(patient, os.environ)
        try:
            found: list[str] = await advisor.models()
            return found
        finally:
            await advisor.close()

    try:
        found = asyncio.run(names())
    except BadHints:
        raise
    except Exception as error:
        key = read_key(settings, os.environ)
        where = masked(settings.endpoint or "Claude", [key])
        raise BadHints(f"{where} does not list its models ({words_of(error, key)})") from None
    if len(found) != 1:
        raise BadHints(f"set LLM_MODEL to one of {', '.join(found[:20]) or 'none'}")
    return found[0]


def ask_bar(asks: int) -> AbstractContextManager[Callable[[int], None]]:
    """Return a progress bar over requests."""
    from rich.progress import MofNCompleteColumn

    return progress(asks, "sending requests", MofNCompleteColumn())


def print_probe(found: "Probe") -> None:
    """Print the results as a table, and the verdict."""
    from rich.table import Table
    from rich.text import Text

    def ok(value: bool | None) -> str:
        return "not tested" if value is None else "yes" if value else "no"

    table = Table("property", "result", show_header=False)
    table.add_row("endpoint", Text(found.endpoint))
    table.add_row("models", Text(found.listed() or "not listed"))
    table.add_row("model", Text(f"{found.model}, {'listed' if found.known else 'not listed'}"))
    table.add_row("structured output", ok(found.structured))
    table.add_row("image input", ok(found.vision))
    if found.asks:
        table.add_row("valid hints", f"{found.valid} of {found.asks}")
        table.add_row("first response", f"{found.first:.2f} s")
        table.add_row("p50, p95, deadline", f"{found.p50:.2f} s, {found.p95:.2f} s, {found.deadline:g} s")
        table.add_row("tokens per request", f"{found.tokens_per_ask:,.0f}")
        if found.dollars_per_1000 == found.dollars_per_1000:  # not NaN
            table.add_row("price of 1,000 requests", f"${found.dollars_per_1000:,.2f}")
    if found.trouble:
        table.add_row("error", Text(found.trouble))
    paper().print(table)
    print(*found.verdict(), sep="\n")


@dataclass(frozen=True)
class AskHint:
    """Show one request as an advisor receives it, its image, and the answer.

    The position is a game SEED after STEP decisions of the rule-based advisor, or a replay file before LINE.

    Try:
      ante hints ask TESTSEED@20
      ante hints ask tests/golden/replays/greedy-b_red-1-PKXK3L4T.txt@40 --picture frame.png
      ante hints ask TESTSEED@20 --by llm
    """

    position: Positional[Annotated[str, arg(metavar="SEED@STEP|REPLAY@LINE")]]
    """Position: SEED@STEP or REPLAY@LINE."""
    by: Literal["rules", "llm", "both"] = "rules"
    """Advisor that answers."""
    deck: str = "b_red"
    """Deck by key or name, for a seed."""
    stake: Stake = 1
    """Stake, from 1 (White) to 8 (Gold), for a seed."""
    picture: OutFile | None = None
    """File for the frame as PNG."""
    endpoint: str | None = None
    """URL instead of LLM_ENDPOINT."""
    model: str | None = None
    """Model instead of LLM_MODEL."""
    json: bool = False
    """Print one JSON object: system, text, options, answers."""

    def run(self) -> int:
        """Send the request and print the answer."""
        import os

        from ante.hints.question import games_at, lists_of, question_of
        from ante.knowledge.facts import facts_from

        state = state_of(self.position, self.deck, self.stake)
        settings = settings_of(self.endpoint, self.model)
        frame = picture_of(state) if self.picture or (settings.vision and self.by != "rules") else None
        listed = lists_of(games_at(state.reshape(1)))[0]
        facts = facts_from(settings.knowledge, os.environ)
        seen = frame if settings.vision else None
        question = question_of(state.reshape(1)[0], listed, settings.prompt, seen, facts)
        if question is None:
            raise BalatroError(f"{self.position} is the end of the game: choose an earlier position")
        if self.picture and frame:
            self.picture.write_bytes(frame)
        answers = self.answers(question, settings)
        if self.json:
            found = {
                "system": question.system,
                "text": question.text,
                "options": [asdict(option) for option in question.options],
                "answers": {who: advice and asdict(advice) for who, (advice, _) in answers.items()},
            }
            print(json.dumps(found, indent=1))
        else:
            print(f"-- system prompt ({question.prompt})\n{question.system}\n\n-- question\n{question.text}")
            for who, (advice, why) in answers.items():
                print(f"\n-- {who} response\n{written(advice) if advice else why}")
            if self.picture:
                print(f"\npicture: {self.picture}")
        return 0 if all(advice for advice, _ in answers.values()) else 1

    def answers(self, question: "Question", settings: "AdvisorSettings") -> dict[str, tuple["Advice | None", str]]:
        """Return the hint, or why there is none, by advisor."""
        import asyncio
        import os

        from ante.hints.rules import advise

        found: dict[str, tuple[Advice | None, str]] = {}
        if self.by != "llm":
            found["rules"] = advise(question), ""
        if self.by != "rules":
            from ante.hints.desk import Desk, make_advisor

            async def ask() -> None:
                desk = Desk(settings, make_advisor(settings, os.environ))
                advice = await desk.advise(question)
                why = ", ".join(f"{how} ({count})" for how, count in desk.ledger.ends.items())
                found["llm"] = advice, f"no hint: {why}"
                await desk.close()

            asyncio.run(ask())
        return found


def written(advice: "Advice") -> str:
    """Return a hint as text."""
    return f"{advice.text}. {advice.reason} (confidence {advice.confidence} %, outlook {advice.outlook} %, by {advice.source})"


def state_of(position: str, deck: str = "b_red", stake: int = 1) -> Any:
    """Return the record of a position SEED@STEP or REPLAY@LINE, (1,) state_t. Raises BalatroError."""
    import numpy as np

    from ante.env.games import Games

    name, at, number = position.rpartition("@")
    if not at or not number.isdigit():
        raise BalatroError(f"{position!r} is not a position: write SEED@STEP such as TESTSEED@20, or FILE@LINE")
    if Path(name).is_file():
        from ante.engine.core.state import new_states
        from ante.env.replay import read_file, state_at

        found = new_states(1)
        found.view(np.uint8)[:] = np.frombuffer(state_at(read_file(Path(name)), int(number)).tobytes(), dtype=np.uint8)
        return found
    from ante.hints.rules import RulesPlayer

    games = Games(1, deck, stake, name, reorder="none", discrete=False)
    games.reset()
    player = RulesPlayer()
    for _ in range(int(number)):
        if games.outcome[0]:
            raise BalatroError(f"the game of {name} ends after {games.steps[0]} decisions: choose an earlier step")
        games.step(player.choose(games, np.ones(1, dtype=np.bool_)))
    return games.states


def picture_of(state: Any) -> bytes:
    """Return the frame of a position (1,) as PNG, without the seed."""
    from ante.hints.question import without_seed
    from ante.watch.render.picture import png_of

    return png_of(without_seed(state.reshape(1)[0]))


@dataclass(frozen=True)
class EffectOfHints:
    """Train with and without hints from the same seeds, evaluate both on the same games at equal steps, and compare.

    The settings, including hints, come from --config. Runs are sequential: 2 x seeds in total.

    Try:
      ante hints effect --seeds 2 --steps 20000 --points 1 --games 64       (a quick check, minutes)
      ante hints effect --seeds 5 --json --out effect.json
    """

    config: Path = Path("hints")
    """YAML file or preset of the run with hints."""
    seeds: Count = 5
    """Pairs of runs."""
    steps: Count | None = None
    """Environment steps per run, overriding the file."""
    points: Count = 4
    """Evaluations per run, the last one at its end."""
    games: Count = 256
    """Games per evaluation."""
    json: bool = False
    """Print one JSON object: effects, points, config."""
    out: OutFile | None = None
    """Also write that JSON to a file."""

    def run(self) -> int:
        """Train and compare."""
        import os

        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in `ante train`
        from ante.training.settings.config import read_config

        steps = {"steps": self.steps} if self.steps else {}
        config = read_config(self.config, {"evaluation.trial_games": self.games, "store": None, **steps})
        if config.hints.source == "off":
            raise BalatroError(f"{self.config} has no hints: set its hints.source to rules or llm")
        from rich.console import Console

        from ante.bench.hints import measure
        from ante.files import plain

        console = Console(stderr=True)
        points, effects = measure(config, self.seeds, self.points, lambda point: console.print(str(point)))
        found = {"effects": [asdict(each) for each in effects], "points": [asdict(each) for each in points]}
        text = json.dumps(plain({**found, "config": config.model_dump(mode="json")}), indent=1)
        if self.out:
            from ante.files import write_text

            write_text(self.out, text)
        if self.json:
            print(text)
            return 0
        for each in effects:
            print(
                f"{each.steps:>9,} steps, {each.seeds} pairs: {each.without:.2f} blinds without, {each.with_hints:.2f} "
                f"with {config.hints.source}: {each.more:+.2f} ({each.low:+.2f} to {each.high:+.2f})"
            )
        return 0


@dataclass(frozen=True)
class ValueOfHints:
    """Measure what hints are worth to a policy: play on from its own choice and from each hint, in the same futures.

    One decision of each game (Red Deck, White Stake) is drawn among those in which the policy is unsure. From each
    choice, copies of the game are played on in which everything that was not seen is redrawn, the same for all
    choices. With LLM_KNOWLEDGE the LLM answers each question without and with the lines of the graph, and only
    decisions about which the graph has lines are drawn. Repeated with the same --out, the command continues.

    Try:
      ante hints value white-stake-4 --by rules --games 50
      LLM_KNOWLEDGE=default ante hints value white-stake-4 --games 200 --out runs/hint-value
    """

    player: Positional[Annotated[str, arg(metavar="MODEL|RUN")]]
    """Policy of kind shortlist: a released model, or the folder of a run."""
    by: Literal["rules", "llm", "both"] = "both"
    """Advisor whose hints are measured."""
    games: Count = 100
    """Games, of each of which one decision is drawn."""
    draw: Number = 0
    """Number of a list of random seeds, as in `ante eval`."""
    futures: Count = 200
    """Games that are played on from each choice."""
    confidence: Share = 0.7
    """The policy is unsure if its most probable action is less probable than this."""
    checkpoint: str = "best"
    """Checkpoint of a run: best or latest."""
    endpoint: str | None = None
    """URL instead of LLM_ENDPOINT."""
    model: str | None = None
    """Model instead of LLM_MODEL."""
    out: OutFolder | None = None
    """Folder for value.json and the LLM's answers, which are not requested again."""
    json: bool = False
    """Print one JSON object: gains, answered, decisions, and what was measured."""

    def run(self) -> int:
        """Measure and print the gains."""
        import os

        from ante.agents.releases import policy_folder
        from ante.agents.seed_lists import evaluation_seeds
        from ante.cli.players import one_thread
        from ante.files import write_text
        from ante.knowledge.facts import facts_from
        from ante.training.players.hint_value import value_of_hints
        from ante.training.players.release import player_from

        player = one_thread(player_from(policy_folder(self.player), self.checkpoint, likeliest=True))
        settings = self.llm() if self.by != "rules" else None
        facts = facts_from(settings.knowledge, os.environ) if settings else None
        seeds = evaluation_seeds(self.games, self.draw)
        rules = self.by != "llm"
        found = value_of_hints(player, seeds, self.confidence, self.futures, rules, settings, facts, progress)
        about = {"player": self.player, "games": self.games, "draw": self.draw, "futures": self.futures}
        if settings:
            about |= {"model": settings.model, "prompt": settings.prompt, "knowledge": settings.knowledge}
        text = json.dumps({**about, **found.written()}, indent=1)
        if self.out:
            write_text(self.out / "value.json", text)
        if self.json:
            print(text)
        else:
            print_value(found, self.player)
        return 0

    def llm(self) -> "AdvisorSettings":
        """Return the settings of the LLM. Raises BadHints."""
        settings = settings_of(self.endpoint, self.model).complete()
        if self.out is None:
            return settings
        self.out.mkdir(parents=True, exist_ok=True)
        return settings.model_copy(update={"cache": str(self.out / "answers.sqlite")})


def print_value(found: "HintValue", player: str) -> None:
    """Print the gain of each source as a table."""
    from rich.table import Table

    table = Table("hints of", "against", "changed", "win rate")
    for (one, other), gain in found.gains().items():
        table.add_row(one, player if other == "policy" else other, str(gain.changed), str(gain))
    paper().print(table)
    n = len(found.decisions.seeds)
    print(f"Change of the win rate by one decision in points, with 95 % intervals; {n} decisions, one of each game.")
    for source, answered in found.answered.items():
        if answered < n:
            print(f"{source}: {n - answered} decisions without a hint count as unchanged.")


@dataclass(frozen=True)
class Hints:
    """Test hints of an LLM or rules: check an endpoint, inspect a request, measure the effect (docs/how-to/hints.md).

    Try:
      ante hints probe
      ante hints ask TESTSEED@20
      ante train --hints.source rules
    """

    command: Annotated[
        Annotated[ProbeHints, subcommand("probe")]
        | Annotated[AskHint, subcommand("ask")]
        | Annotated[EffectOfHints, subcommand("effect")]
        | Annotated[ValueOfHints, subcommand("value")],
        arg(name=""),
    ]

    def run(self) -> int:
        """Run the chosen command."""
        return self.command.run()
