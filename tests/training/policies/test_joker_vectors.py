"""The setting policy.joker_vectors: embeddings of jokers, recorded by their digest."""

from pathlib import Path

import numpy as np
import pytest
import torch

from ante.env.entities.ids import JOKER_BASE
from ante.knowledge.embeddings import packaged
from ante.training.players.release import CARD, policy_from, write_policy
from ante.training.policies.registry import new_policy
from ante.training.settings.config import TrainConfig, read_config

JOKERS = slice(JOKER_BASE + 1, JOKER_BASE + 151)


def config(**changes: object) -> TrainConfig:
    return TrainConfig().with_changes(
        {"policy.kind": "shortlist", "policy.entry": 16, "policy.hidden": [16, 16], **changes}
    )


def weights_of(settings: TrainConfig) -> np.ndarray:
    torch.manual_seed(0)
    return new_policy(settings).entries.things.weight.detach().numpy()


def test_jokers_begin_with_measured_embeddings_and_the_rest_as_before() -> None:
    settings = config(**{"policy.joker_vectors": "measured"})
    assert settings.policy.joker_vectors == packaged().digest
    found, plain = weights_of(settings), weights_of(config())
    np.testing.assert_allclose(found[JOKERS], 0.3 * packaged().reduced(16), rtol=1e-6)
    others = np.ones(len(found), dtype=bool)
    others[JOKERS] = False
    np.testing.assert_array_equal(found[others], plain[others])
    assert found[JOKERS].std() == pytest.approx(0.3, abs=0.01)


def test_columns_beyond_the_measured_ones_stay_random() -> None:
    found = weights_of(config(**{"policy.joker_vectors": "measured", "policy.entry": 136}))
    plain = weights_of(config(**{"policy.entry": 136}))
    np.testing.assert_array_equal(found[JOKERS, 128:], plain[JOKERS, 128:])
    assert (found[JOKERS, :128] != plain[JOKERS, :128]).any()


def test_the_digest_is_in_the_settings_and_the_model_card_of_a_release(tmp_path: Path) -> None:
    settings = config(**{"policy.joker_vectors": "measured"})
    policy = new_policy(settings)
    trained = {"timesteps": 1, "games": 1, "seconds": 1.0, "iteration": 1, "timestamp": "2026-11-24T00:00:00Z"}
    write_policy(policy, settings, trained, tmp_path / "made")
    assert read_config(tmp_path / "made" / "config.yaml").policy.joker_vectors == packaged().digest
    assert packaged().digest in (tmp_path / "made" / CARD).read_text()
    restored = policy_from(tmp_path / "made").entries.things.weight
    np.testing.assert_allclose(restored.detach(), policy.entries.things.weight.detach(), atol=1e-3)


def test_the_entity_policy_has_the_measured_embeddings_as_fixed_inputs(tmp_path: Path) -> None:
    changes = {"policy.kind": "entities", "policy.width": 8, "policy.heads": 2, "policy.trunk": 8}
    settings = TrainConfig().with_changes({**changes, "policy.joker_vectors": "measured"})
    policy, plain = new_policy(settings), new_policy(TrainConfig().with_changes(changes))
    found = policy.entities.facts[:, plain.entities.facts.shape[1] :].numpy()
    np.testing.assert_array_equal(found[JOKERS], packaged().reduced(128))
    assert not found[: JOKER_BASE + 1].any() and not found[JOKERS.stop :].any()
    assert "entities.facts" not in dict(policy.named_parameters())
    trained = {"timesteps": 1, "games": 1, "seconds": 1.0, "iteration": 1, "timestamp": "2026-11-24T00:00:00Z"}
    write_policy(policy, settings, trained, tmp_path / "made")
    assert packaged().digest in (tmp_path / "made" / CARD).read_text()
    np.testing.assert_allclose(policy_from(tmp_path / "made").entities.facts, policy.entities.facts, atol=1e-3)


def test_vectors_of_another_version_are_named_and_words_are_refused() -> None:
    with pytest.warns(UserWarning, match="joker vectors 00000000 are of another version"):
        weights_of(config(**{"policy.joker_vectors": "0" * 64}))
    with pytest.raises(ValueError, match="use None, measured or the SHA-256"):
        config(**{"policy.joker_vectors": "measure"})
