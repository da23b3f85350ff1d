"""The GraphQL schema: the questions of `ante know`, and limits on what one request may cost."""

from collections.abc import Callable
from dataclasses import fields
from typing import Annotated, Any, TypeVar, cast

import strawberry
from graphql import GraphQLError
from strawberry.extensions import MaskErrors, MaxAliasesLimiter, MaxTokensLimiter

from ante.errors import BalatroError
from ante.knowledge import queries
from ante.knowledge.backends import Backend
from ante.knowledge.names import key_of

MOST_ROWS = 150  # of a list: the number of jokers
MOST_NAMES = 16
ALIASES, TOKENS = 10, 500  # types do not refer to each other, so the depth of a query is at most 3
BOUNDED = f"Number of rows, 1 to {MOST_ROWS}."
T = TypeVar("T")
Info = strawberry.Info[Backend, None]
Limit = Annotated[int, strawberry.argument(description=BOUNDED)]


@strawberry.type
class Measured:
    """A measured difference of the logarithm (base 10) of the score of the best play."""

    effect: float = strawberry.field(description="Mean difference; 0.3 doubles the score.")
    low: float = strawberry.field(description="Lower end of the 95 % interval.")
    high: float = strawberry.field(description="Upper end of the 95 % interval.")
    n: int = strawberry.field(description="Number of positions.")
    q: float = strawberry.field(description="Smallest false discovery rate at which the effect is significant.")

    @strawberry.field(description="The effect as a factor of the score.")
    def factor(self) -> float:
        """Return the factor."""
        return float(10**self.effect)


@strawberry.type
class Effect(Measured):
    """The effect of a joker, or with another item."""

    name: str = strawberry.field(description="The other item: a joker, hand, boss or deck.")


@strawberry.type
class Interaction(Measured):
    """The interaction of two jokers: what both gain beyond the sum of their single gains; above 0 is a synergy."""

    one: str
    other: str
    counts: bool = strawberry.field(description="Whether the interaction is significant and large enough.")
    gain: float = strawberry.field(description="Gain of both jokers against none.")
    acts: float = strawberry.field(description="Share of positions in which they interact.")


@strawberry.type
class Strategy:
    """A line-up, hand played most or levelled hand with which more games are won, and what play on other seeds showed."""

    name: str
    validated: bool = strawberry.field(description="Whether it wins significantly more often than its control.")
    games: int = strawberry.field(description="Mined games that had it at the beginning of ante 6.")
    support: float = strawberry.field(description="Share of the won games that had it.")
    rate: float = strawberry.field(description="Win rate of the mined games that had it.")
    lift: float = strawberry.field(description="That win rate, divided by the win rate of all games.")
    base: float = strawberry.field(description="Win rate of the games in which it is validated, without it.")
    control: float = strawberry.field(description="Win rate with other jokers of the same rarities.")
    granted: float = strawberry.field(description="Win rate with it.")
    effect: float = strawberry.field(description="Win rate with it, less that of the control.")
    low: float = strawberry.field(description="Lower end of the effect's 95 % interval.")
    high: float = strawberry.field(description="Upper end of the effect's 95 % interval.")
    n: int = strawberry.field(description="Number of games in which it is validated.")
    q: float = strawberry.field(description="Smallest false discovery rate at which it is validated.")
    part: str = strawberry.field(description="Its best part, without one of its items; empty if only one is granted.")
    alone: float = strawberry.field(description="Win rate with this part alone.")
    joint: float = strawberry.field(description="Win rate with it, less that with this part.")
    joint_low: float = strawberry.field(description="Lower end of the 95 % interval of this difference.")
    joint_high: float = strawberry.field(description="Upper end of the 95 % interval of this difference.")
    example: str = strawberry.field(description="Seed of a won game that had it.")


@strawberry.type
class Seen:
    """What trainings saw of a joker or a pair: an observation, not a causal effect."""

    name: str = strawberry.field(description="The joker, or both jokers.")
    runs: int = strawberry.field(description="Runs with games with and without it.")
    games: int = strawberry.field(description="Games that held it at the beginning of ante 4.")
    wins: int = strawberry.field(description="Those of them that are won.")
    rate: float = strawberry.field(description="Their win rate.")
    lift: float = strawberry.field(description="Their wins, divided by those expected from the win rates of the runs.")
    effect: float = strawberry.field(description="Win rate with it, less that without it, within runs.")
    low: float = strawberry.field(description="Lower end of the effect's 95 % interval.")
    high: float = strawberry.field(description="Upper end of the effect's 95 % interval.")
    n: int = strawberry.field(description="Games of these runs.")
    q: float = strawberry.field(description="Smallest false discovery rate at which the effect is significant.")


@strawberry.type
class Chain:
    """Jokers, each of which has a synergy with the next."""

    jokers: list[str]
    effects: list[float]
    weakest: float


@strawberry.type
class Joker:
    """A joker of the catalogue with its measured effects."""

    key: str
    name: str
    text: str
    rarity: str
    cost: int
    scores: bool = strawberry.field(description="Whether it acts while a hand is scored.")
    gain: float | None = strawberry.field(description="Gain alone, as a difference of log10 scores.")
    traits: list[str]

    @strawberry.field(description="Partners with significant synergies, the strongest first.")
    def partners(self, info: Info, limit: Limit = 10) -> list[Effect]:
        """Return the partners."""
        return effects(queries.partners(info.context, self.key, bounded(limit)))

    @strawberry.field(description="Partners with which it gains less than the sum, the worst first.")
    def overlaps(self, info: Info, limit: Limit = 10) -> list[Effect]:
        """Return the overlaps."""
        return effects(queries.partners(info.context, self.key, bounded(limit), descending=False))

    @strawberry.field(description="Gain by the poker hand that is played.")
    def hands(self, info: Info) -> list[Effect]:
        """Return the effects with hands."""
        return effects(queries.of_joker(info.context, self.key, "WITH_HAND", "Hand"))

    @strawberry.field(description="Gain under a boss against none.")
    def bosses(self, info: Info) -> list[Effect]:
        """Return the effects under bosses."""
        return effects(queries.of_joker(info.context, self.key, "UNDER", "Boss"))

    @strawberry.field(description="Gain on a deck against the Red Deck.")
    def decks(self, info: Info) -> list[Effect]:
        """Return the effects on decks."""
        return effects(queries.of_joker(info.context, self.key, "ON_DECK", "Deck"))


@strawberry.type
class Query:
    """Measured effects. Items are given by name or key."""

    @strawberry.field(description="A joker.")
    def joker(self, info: Info, name: str) -> Joker:
        """Return a joker."""
        found = queries.joker(info.context, key_of("joker", name))
        return made(Joker, found)

    @strawberry.field(description=f"All interactions among 2 to {MOST_NAMES} jokers, the strongest first.")
    def among(self, info: Info, names: list[str]) -> list[Interaction]:
        """Return the interactions."""
        if not 2 <= len(names) <= MOST_NAMES:
            raise BalatroError(f"{len(names)} jokers were named: name 2 to {MOST_NAMES}")
        return interactions(queries.among(info.context, [key_of("joker", name) for name in names]))

    @strawberry.field(description="The pairs with the strongest synergies, or overlaps, without some jokers.")
    def top(
        self, info: Info, limit: Limit = 20, overlaps: bool = False, without: list[str] | None = None
    ) -> list[Interaction]:
        """Return the pairs."""
        left_out = [key_of("joker", name) for name in without or ()]
        return interactions(queries.top(info.context, bounded(limit), not overlaps, left_out))

    @strawberry.field(description="Effects of all jokers when a poker hand is played, the largest first.")
    def with_hand(self, info: Info, name: str) -> list[Effect]:
        """Return the effects with a hand."""
        return effects(queries.with_item(info.context, "WITH_HAND", "Hand", key_of("hand", name)))

    @strawberry.field(description="Effects of all jokers under a boss, the largest first.")
    def under_boss(self, info: Info, name: str) -> list[Effect]:
        """Return the effects under a boss."""
        return effects(queries.with_item(info.context, "UNDER", "Boss", key_of("boss", name)))

    @strawberry.field(description="Effects of all jokers on a deck, the largest first.")
    def on_deck(self, info: Info, name: str) -> list[Effect]:
        """Return the effects on a deck."""
        return effects(queries.with_item(info.context, "ON_DECK", "Deck", key_of("deck", name)))

    @strawberry.field(description="Strategies that play has validated, the largest effect first; or all proposed ones.")
    def strategies(self, info: Info, rejected: bool = False) -> list[Strategy]:
        """Return the strategies."""
        return [made(Strategy, row) for row in queries.strategies(info.context, rejected)]

    @strawberry.field(description="What trainings saw of jokers or pairs, or of one joker; the largest effect first.")
    def seen(self, info: Info, name: str | None = None, pairs: bool = False, limit: Limit = 20) -> list[Seen]:
        """Return the estimates."""
        key = key_of("joker", name) if name is not None else None
        question = queries.seen_pairs if pairs else queries.seen
        return [made(Seen, row) for row in question(info.context, bounded(limit), key)]

    @strawberry.field(description="Chains of synergies from one joker to another, the shortest and strongest first.")
    def path(self, info: Info, one: str, other: str) -> list[Chain]:
        """Return the chains."""
        found = queries.path(info.context, key_of("joker", one), key_of("joker", other))
        return [Chain(**row) for row in found]


def bounded(limit: int) -> int:
    """Return a number of rows. Raises BalatroError."""
    if not 1 <= limit <= MOST_ROWS:
        raise BalatroError(f"limit {limit}: must be 1 to {MOST_ROWS}")
    return limit


def effects(rows: list[dict[str, Any]]) -> list[Effect]:
    """Return rows as effects."""
    return [made(Effect, row) for row in rows]


def interactions(rows: list[dict[str, Any]]) -> list[Interaction]:
    """Return rows as interactions."""
    return [made(Interaction, row) for row in rows]


def made(kind: Callable[..., T], row: dict[str, Any]) -> T:
    """Return an object of a type from the properties of a row that the type has."""
    return kind(**{each.name: row[each.name] for each in fields(cast(Any, kind)) if each.init})


def is_internal(error: GraphQLError) -> bool:
    """Return whether an error is not the client's, so that its message stays on the server."""
    return error.original_error is not None and not isinstance(error.original_error, BalatroError | GraphQLError)


class Schema(strawberry.Schema):
    """A schema that logs its own errors, not the mistakes of clients."""

    def process_errors(self, errors: list[GraphQLError], execution_context: Any = None) -> None:
        """See strawberry."""
        super().process_errors([error for error in errors if is_internal(error)], execution_context)


SCHEMA = Schema(
    Query,
    extensions=[
        lambda: MaxAliasesLimiter(max_alias_count=ALIASES),
        lambda: MaxTokensLimiter(max_token_count=TOKENS),
        lambda: MaskErrors(is_internal, "internal error: see the log of the server"),
    ],
)
