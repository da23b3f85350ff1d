"""Settings of a cluster: the valid contents of values.yaml, and the errors for others."""

import re
from pathlib import Path

import pytest

from ante.deploy.blocks import quantity
from ante.deploy.settings import BadSettings, Settings, make_settings, preset, presets, read_settings


def test_camel_case_and_snake_case_say_the_same() -> None:
    camel = make_settings({"gpuWorkers": {"runnersPerWorker": 3}, "s3": {"caConfigMap": "ca"}})
    snake = make_settings({"gpu_workers": {"runners_per_worker": 3}, "s3": {"ca_config_map": "ca"}})
    assert camel == snake
    assert camel != make_settings({})


@pytest.mark.parametrize("name", presets())
def test_a_preset_survives_being_written_as_values(name: str) -> None:
    settings = read_settings((preset(name),))
    assert settings != Settings()
    assert Settings.from_values(settings.to_values()) == settings


def test_later_files_and_pairs_replace_single_keys(tmp_path: Path) -> None:
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    one.write_text("gpuWorkers: {replicas: 2, cpus: 16}\nimage: {tag: '1'}\n")
    two.write_text("gpuWorkers: {replicas: 3}\n")
    settings = read_settings((one, two), ("image.tag='2'", "training.args=[--games.deck, b_blue]"), name="mine")
    assert (settings.gpu_workers.replicas, settings.gpu_workers.cpus) == (3, 16)
    assert (settings.image.tag, settings.training.args, settings.name) == ("2", ("--games.deck", "b_blue"), "mine")


def test_services_of_the_chart_are_found_by_their_names() -> None:
    values = {"objectStore": {"enabled": True, "size": "1Gi"}, "networkPolicies": {"enabled": True}}
    assert Settings.from_values(values, name="mine").s3.endpoint == "http://mine-objectstore:9000"
    own = {**values, "s3": {"endpoint": "https://s3.example.com"}}
    assert Settings.from_values(own, name="mine").s3.endpoint == "https://s3.example.com"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"gpuWorker": {}}, "unknown setting gpuWorker: did you mean gpuWorkers?"),
        ({"gpuWorkers": {"replica": 1}}, "unknown setting gpuWorkers.replica: did you mean replicas?"),
        ({"job": {"deletion": {"workersAfter": 1}}}, "did you mean workersAfterSeconds?"),
        ({"head": {"memory": "12Gb"}}, "setting head.memory: '12Gb' is not a quantity such as 500m, 2, 512Mi or 16Gi"),
        ({"head": {"terminationGracePeriodSeconds": 30}}, "terminationGracePeriodSeconds"),
        ({"env": {"MY_API_KEY": "x"}}, "looks like a secret: store it in a Secret"),
        ({"s3": {"endpoint": "minio:9000"}}, "it must start with http:// or https://"),
        ({"s3": {"endpoint": "http://me:pw@minio"}}, "it contains credentials"),
        ({"llm": {"enabled": True}}, "llm.enabled needs llm.endpoint and llm.model"),
        ({"gcsFaultTolerance": {"enabled": True}}, "needs gcsFaultTolerance.redisAddress"),
        ({"name": "Ante_1"}, "setting name"),
        ({"image": {"pullPolicy": "Sometimes"}}, "setting image.pullPolicy"),
        ({"image": {"digest": "abc"}}, "setting image.digest"),
    ],
)
def test_what_cannot_be_is_refused_in_words(values: dict[str, object], words: str) -> None:
    with pytest.raises(BadSettings) as refused:
        make_settings(values)
    assert words in str(refused.value)
    assert "pw@" not in str(refused.value)


@pytest.mark.parametrize(("pair", "words"), [("gpuWorkers", "write key=value"), ("a=[", "cannot read the value")])
def test_a_bad_pair_is_named(pair: str, words: str) -> None:
    with pytest.raises(BadSettings, match=words):
        read_settings((), (pair,))


def test_an_unknown_preset_lists_the_known() -> None:
    with pytest.raises(BadSettings, match="choose one of cpu, gpu, openshift, queue, spot"):
        preset("tpu")


@pytest.mark.parametrize(
    ("text", "number"), [("500m", 0.5), ("2", 2), ("1.5", 1.5), ("512Mi", 536870912), ("16Gi", 2**34), ("5G", 5e9)]
)
def test_quantities_are_read_as_kubernetes_reads_them(text: str, number: float) -> None:
    assert quantity(text) == number


def test_further_groups_take_the_values_that_they_leave_out_and_survive_a_round_trip() -> None:
    settings = make_settings(
        {
            "gpuWorkers": {"cpus": 16, "nodeSelector": {"a": "b"}},
            "extraWorkers": {"large": {"like": "gpu", "gpus": 4}, "spot": {"like": "cpu", "cpus": 8, "spot": True}},
        }
    )
    assert list(settings.groups) == ["gpu", "large", "spot"]
    large = settings.groups["large"]
    assert (large.cpus, large.node_selector, large.enabled) == (16, {"a": "b"}, True)
    assert Settings.from_values(settings.to_values()) == settings


@pytest.mark.parametrize(
    ("group", "words"),
    [
        ({"large": {"like": "gpu", "gpu": 4}}, "unknown setting extraWorkers.large.gpu: did you mean gpus?"),
        ({"large": {"gpus": 4}}, "extraWorkers.large: set like: gpu or like: cpu"),
        ({"head": {"like": "cpu"}}, "head is the name of other pods"),
        ({"Large": {"like": "cpu"}}, "extraWorkers.Large"),
    ],
)
def test_a_wrong_further_group_is_refused_by_name(group: dict[str, dict[str, object]], words: str) -> None:
    with pytest.raises(BadSettings, match=re.escape(words)):
        make_settings({"extraWorkers": group})


def test_a_platform_sets_addresses_secret_and_prefix() -> None:
    given = {"platform": {"namespace": "shared", "tenant": "alice"}, "llm": {"enabled": True, "model": "m"}}
    settings = make_settings(given)
    assert settings.s3.endpoint == "http://ante-objectstore.shared.svc:9000"
    assert settings.llm.endpoint == "http://ante-llm.shared.svc:8000/v1"
    assert (settings.s3_secret, settings.s3.url) == ("ante-s3-alice", "s3://ante/runs/alice")
    assert Settings.from_values(settings.to_values()) == settings
    own = make_settings(
        {**given, "s3": {"endpoint": "https://s3.example.com", "prefix": "games", "existingSecret": "mine"}}
    )
    assert (own.s3.endpoint, own.s3_secret) == ("https://s3.example.com", "mine") and own.s3.url.endswith("/games")
    for wrong in ("shared", {"namespace": 1}, {"nam": "x"}):
        with pytest.raises(BadSettings, match="platform"):
            make_settings({"platform": wrong})
