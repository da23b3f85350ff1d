"""Settings of the games: rules, start positions and reward."""

from dataclasses import replace
from typing import Any

from pydantic import field_validator, model_validator

from ante.checks import chosen
from ante.engine.run import challenge_number, deck_number, run_numbers
from ante.env.games import REORDERS
from ante.env.reward import AnyReward, Reward, Term, find_reward
from ante.training.settings.curriculum import Stage
from ante.training.settings.field import Settings, setting

TERMS = tuple(term.name.lower() for term in Term)  # terms of a reward


class GamesSettings(Settings):
    """Settings of the games."""

    deck: str = setting(
        "b_red",
        "Deck of every game, by key or name: b_red, b_blue, b_yellow, b_green, b_black, b_magic, b_nebula, b_ghost, "
        "b_abandoned, b_checkered, b_zodiac, b_painted, b_anaglyph, b_plasma or b_erratic.",
        "To train for another deck.",
        first=True,
    )
    stake: int = setting(1, "Stake of every game, 1 White to 8 Gold.", "For harder games.", first=True, ge=1, le=8)
    challenge: str | None = setting(
        None, "One of the 20 challenges, which sets its own deck and stake.", "To train for a challenge."
    )
    reward: str = setting(
        "shaped",
        "Reward: sparse, blinds, shaped, potential, a registered name, or module:Class.",
        "potential, sparse or blinds to rule out bias from reward shaping.",
        first=True,
    )
    reward_terms: dict[str, float] = setting(
        {},
        "Weights that replace those of the named reward: win, loss, blind, progress, ante, potential. 0 leaves a term "
        "out.",
        "To choose weights, such as blind: 0.5; ante reward ablate measures the effect of each term.",
    )
    reorder: str = setting(
        "none",
        "Reordering actions: none, jokers or all.",
        "jokers, to let the policy reorder its jokers.",
    )
    max_decisions: int = setting(
        2000, "Steps after which a game is truncated.", "Lower to truncate games that loop.", ge=10
    )
    practice: float = setting(
        0.0,
        "Fraction of games that start from positions reached in earlier games.",
        "0.1 to 0.3, to train on late antes before the policy reaches them reliably.",
        ge=0,
        lt=1,
    )
    start_states: str | None = setting(
        None,
        "File of saved games (ante replay states) from which all games start, sampled uniformly, each with the random "
        "streams of its seed; evaluations play whole games.",
        "To train on chosen positions; practice instead collects positions itself and changes their seeds.",
    )
    curriculum: tuple[Stage, ...] = setting(
        (),
        "Easier games first, a list of stages: goal (the ante whose boss wins the game), deck, stake, and promote, the "
        "win rate at which the next stage begins. The last stage is the run's own game.",
        "If the real game is too hard at first (docs/how-to/train.md).",
    )

    @field_validator("deck")
    @classmethod
    def _known_deck(cls, deck: str) -> str:
        deck_number(deck)
        return deck

    @field_validator("challenge")
    @classmethod
    def _known_challenge(cls, challenge: str | None) -> str | None:
        challenge_number(challenge)
        return challenge

    @field_validator("reward")
    @classmethod
    def _known_reward(cls, reward: str) -> str:
        find_reward(reward)
        return reward

    @field_validator("reward_terms")
    @classmethod
    def _known_terms(cls, terms: dict[str, float]) -> dict[str, float]:
        for name in terms:
            if name not in TERMS:
                raise ValueError(f"there is no term {name!r}: choose among {', '.join(TERMS)}")
        return terms

    @field_validator("reorder")
    @classmethod
    def _known_reorder(cls, reorder: str) -> str:
        return chosen("reorder", reorder, list(REORDERS))

    @model_validator(mode="after")
    def _can_be_played(self) -> "GamesSettings":
        if self.reward_terms and not isinstance(find_reward(self.reward), Reward):
            raise ValueError(f"games.reward {self.reward} is Python code without terms: leave out games.reward_terms")
        if self.curriculum and self.start_states:
            raise ValueError(
                "games.start_states and games.curriculum exclude each other: saved games have their own rules; leave "
                "out one of them"
            )
        if self.challenge and any(stage.deck or stage.stake for stage in self.curriculum):
            raise ValueError(
                f"challenge {self.challenge} has its own deck and stake: set only goals in games.curriculum"
            )
        run_numbers(self.deck, self.stake, self.challenge)
        return self

    @property
    def weighted_reward(self) -> AnyReward:
        """Return the named reward with `reward_terms` applied, without the learner's discount."""
        terms: dict[str, Any] = dict(self.reward_terms)
        found = find_reward(self.reward)
        return replace(found, **terms) if isinstance(found, Reward) else found

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Return the stages of the curriculum, then the run's own game; all have deck and stake."""
        return tuple(stage.within(self.deck, self.stake) for stage in (*self.curriculum, Stage()))
