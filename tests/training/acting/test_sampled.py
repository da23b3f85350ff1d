"""Search around policies without a list of candidates: decisions are sampled, completed card by card, and rated."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from ante.engine.actions import Verb, verb_of
from ante.env.games import Games
from ante.search.budget import Budget
from ante.search.player import NotSearchable, SearchPlayer, likeliest
from ante.search.protocol import Positions
from ante.training.acting.player import PolicyPlayer, make_player
from ante.training.acting.sampled import SAMPLES, SampledThinker
from ante.training.policies.registry import new_policy
from ante.training.settings.config import TrainConfig
from tests.search.made import some_games, with_other_hidden_state
from tests.search.test_player import EAGER

N = 8
EVERYONE = np.ones(N, dtype=np.bool_)


@pytest.fixture(scope="module")
def games() -> Games:
    return some_games(N, 25)


@pytest.fixture(params=["mlp", "entities"])
def player(request: Any) -> PolicyPlayer:
    torch.manual_seed(0)
    policy = new_policy(TrainConfig.model_validate({"policy": {"kind": request.param}}))
    return make_player(policy, request.param, likeliest=True)


def test_decisions_are_those_of_the_player_and_samples_of_it(player: PolicyPlayer, games: Games) -> None:
    thinker, positions = player.thinker(), Positions.of(games, np.arange(N))
    assert isinstance(thinker, SampledThinker)
    views, own = thinker.view(positions), thinker.decide(positions).tolist()
    assert games.refused(np.array(own)) == -1
    assert views.decisions.shape == (N, 1 + SAMPLES)
    assert {verb_of(int(each)) > Verb.CLEAR for each in views.decisions.ravel()} == {True}
    for decisions, log_probs, first in zip(views.decisions, views.log_probs, own, strict=True):
        found = likeliest(decisions, log_probs, 0.0)
        counts = Counter(decisions.tolist())
        assert found[0] == first and sorted(found) == sorted(counts)
        rest = [counts[each] for each in found[1:].tolist()]
        assert rest == sorted(rest, reverse=True)
    assert thinker.rate(positions) == pytest.approx(views.ratings, abs=1e-6)


def test_search_compares_legal_decisions_and_sees_nothing_hidden(player: PolicyPlayer, games: Games) -> None:
    def searched(of: Games, playing: Any = EVERYONE) -> tuple[list[int], list[list[float]]]:
        searching = SearchPlayer(player, Budget(24), replace(EAGER, decisions=6), 3)
        decisions = searching.choose(of, playing).tolist()
        return decisions, [each.comparison.ratings.tolist() if each.comparison else [] for each in searching.findings]

    decisions, ratings = searched(games)
    assert games.refused(np.array(decisions)) == -1
    compared = [i for i in range(N) if ratings[i]]
    assert len(compared) >= 3
    assert str(searched(with_other_hidden_state(games, 1))) == str((decisions, ratings))  # NaN where not simulated
    one = compared[0]
    alone = searched(games, np.arange(N) == one)
    assert alone[0][one] == decisions[one] and str(alone[1]) == str([ratings[one]])


def test_policies_that_remember_are_refused() -> None:
    policy = new_policy(TrainConfig.model_validate({"policy": {"kind": "lstm"}}))
    with pytest.raises(NotSearchable, match="LstmPolicy remembers earlier decisions; use a shortlist policy"):
        SearchPlayer(make_player(policy, "lstm"), Budget(40))
