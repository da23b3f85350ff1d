"""The settings of policies, a class for each kind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import field_validator, model_validator

from ante.training.settings.field import Settings, setting
from ante.training.settings.kinds import Kinds
from ante.training.settings.support import ALL, Feature, Trait

if TYPE_CHECKING:
    from ante.training.settings.config import TrainConfig

SMALLEST_PICTURE, LARGEST_PICTURE = 36, 720  # minimum for three convolutions, and the size of a rendered frame
EVERY_POLICY = ALL - {Feature.HINTS, Feature.HINT_SHAPING}  # features that do not depend on the network
KIND = (
    "Network: mlp on the flat view; entities, with attention over cards, jokers and items; shortlist, which scores a "
    "list of candidate actions; planner, a shortlist with a plan per blind and shop; lstm, an mlp with memory; cnn, "
    "on rendered frames; cnn-fused, on frames and the flat view; or a class as module:Class."
)
WHEN_KIND = (
    "First. shortlist learns best by far; mlp is fastest; entities chooses cards itself; lstm has memory; cnn uses "
    "frames; planner is for comparison with shortlist (docs/how-to/policies.md)."
)


def kind_of(name: str) -> Any:
    """Declare the field `kind` of a policy."""
    return setting(name, KIND, WHEN_KIND, first=True)


class PolicySettings(Settings):
    """Declarations common to all policies.

    supports        features of the policy
    traits          traits that algorithms may require
    implementation  module:Class of its network, derived from policies.protocol.GamePolicy and TorchRLModule
    q_implementation  the same for algorithms that need Trait.ACTION_VALUES
    """

    supports: ClassVar[frozenset[Feature]] = EVERY_POLICY
    traits: ClassVar[frozenset[Trait]] = frozenset()
    implementation: ClassVar[str] = ""
    q_implementation: ClassVar[str] = ""

    kind: str

    def network(self) -> dict[str, Any]:
        """Return the arguments of the network: all settings except the kind, as plain lists and numbers."""
        return self.model_dump(mode="json", exclude={"kind"})

    def check(self, config: TrainConfig) -> None:
        """Raise ValueError if other settings of the run conflict with these; no check by default."""


POLICIES = Kinds(PolicySettings, "policy", "mlp", "ante.policies")


class HiddenLayers(PolicySettings):
    """Settings of policies with shared layers."""

    hidden: tuple[int, ...] = setting((256, 256), "Widths of the shared layers.", "Wider for long runs.", first=True)

    @field_validator("hidden", "channels", check_fields=False)
    @classmethod
    def _widths(cls, widths: tuple[int, ...]) -> tuple[int, ...]:
        if not widths or min(widths) < 1:
            raise ValueError("set at least one width, each 1 or more")
        return widths


class VectorsOfJokers(PolicySettings):
    """Settings of policies that can use vectors of measured effects of jokers."""

    joker_vectors: str | None = setting(
        None,
        "Vectors of measured effects of jokers: None, or measured, which is replaced by their SHA-256. Embeddings of jokers "
        "begin with them (shortlist), or they are fixed inputs for each joker (entities).",
        "To begin with jokers that work alike close to each other (docs/how-to/knowledge.md).",
    )

    @field_validator("joker_vectors")
    @classmethod
    def _vectors(cls, name: str | None) -> str | None:
        if name == "measured":
            from ante.knowledge.embeddings import packaged

            return packaged().digest
        if name is not None and not re.fullmatch("[0-9a-f]{64}", name):
            raise ValueError("use None, measured or the SHA-256 of joker vectors")
        return name


@POLICIES.register
class Mlp(HiddenLayers):
    """A feed-forward network on the flat view."""

    supports = EVERY_POLICY | {Feature.HINTS}
    traits = frozenset(Trait)

    implementation = "ante.training.policies.mlp_rows:PackedPolicy"
    q_implementation = "ante.training.policies.q_network:QPolicy"
    kind: Literal["mlp"] = kind_of("mlp")


@POLICIES.register
class Entities(VectorsOfJokers):
    """Attention over every card, joker and item."""

    implementation = "ante.training.policies.entities:EntityPolicy"
    kind: Literal["entities"] = kind_of("entities")
    width: int = setting(64, "Width of an entity's embedding.", "On a GPU, where greater width costs little.", ge=8)
    layers: int = setting(2, "Attention layers.", "With width, on a GPU.", ge=1)
    heads: int = setting(4, "Attention heads; must divide the width.", "Rarely.", ge=1)
    trunk: int = setting(192, "Width of the two shared layers after attention.", "With width.", ge=8)

    @model_validator(mode="after")
    def _heads_divide_the_width(self) -> Entities:
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not divisible by heads {self.heads}; change one of these")
        return self


@POLICIES.register
class Shortlist(HiddenLayers, VectorsOfJokers):
    """Scores a list of candidate actions."""

    supports = EVERY_POLICY | {Feature.HINTS, Feature.HINT_SHAPING}

    implementation = "ante.training.policies.shortlist:ShortlistPolicy"
    kind: Literal["shortlist"] = kind_of("shortlist")
    entry: int = setting(64, "Width of a candidate's embedding.", "With hidden.", ge=8)


@POLICIES.register
class Planner(HiddenLayers):
    """A shortlist policy with a planning step for each blind and each shop."""

    implementation = "ante.training.policies.planner:PlannerPolicy"
    kind: Literal["planner"] = kind_of("planner")
    entry: int = setting(64, "Width of a candidate's embedding.", "With hidden.", ge=8)


@POLICIES.register
class Lstm(HiddenLayers):
    """A feed-forward network on the flat view with an LSTM before its heads."""

    supports = EVERY_POLICY | {Feature.HINTS}
    implementation = "ante.training.policies.lstm:LstmPolicy"
    kind: Literal["lstm"] = kind_of("lstm")
    memory: int = setting(128, "Width of the LSTM's state.", "With hidden; each unit adds 8 bytes per step.", ge=1)
    sequence: int = setting(
        32,
        "Length of truncated backpropagation through time, in decisions; minibatches consist of such sequences.",
        "Longer for longer dependencies; shorter sequences mix better.",
        ge=1,
    )

    def check(self, config: TrainConfig) -> None:
        """Raise ValueError if a sequence exceeds each learner's share of a minibatch."""
        share = config.algo.minibatch // max(1, config.resources.learners)
        if self.sequence > share:
            raise ValueError(
                f"policy.sequence {self.sequence} is longer than each learner's share of algo.minibatch, {share}; "
                "shorten the sequence or raise algo.minibatch"
            )


class Pictures(HiddenLayers):
    """Settings of policies on rendered images."""

    size: tuple[int, int] = setting(
        (84, 112),
        "Height and width of an image, in pixels.",
        "Larger to make ranks and numbers legible; memory and time per step grow with it.",
    )
    colour: bool = setting(
        False,
        "Use three colour channels instead of one grey channel.",
        "To distinguish suits by colour; needs three times the memory.",
    )
    stack: int = setting(
        4,
        "Number of stacked frames per observation.",
        "1 if one frame suffices; more cost time, no memory.",
        ge=1,
        le=16,
    )
    channels: tuple[int, int, int] = setting((16, 32, 32), "Channels of the convolutions.", "With hidden, on a GPU.")

    @field_validator("size")
    @classmethod
    def _can_be_drawn(cls, size: tuple[int, int]) -> tuple[int, int]:
        if not all(SMALLEST_PICTURE <= side <= LARGEST_PICTURE for side in size):
            raise ValueError(f"height and width are {SMALLEST_PICTURE} to {LARGEST_PICTURE} pixels")
        return size


@POLICIES.register
class Cnn(Pictures):
    """Convolutions over rendered images."""

    implementation = "ante.training.policies.pixels:CnnPolicy"
    kind: Literal["cnn"] = kind_of("cnn")


@POLICIES.register
class FusedCnn(Pictures):
    """Convolutions over rendered images, combined with the flat view."""

    implementation = "ante.training.policies.pixels:FusedCnnPolicy"
    kind: Literal["cnn-fused"] = kind_of("cnn-fused")
