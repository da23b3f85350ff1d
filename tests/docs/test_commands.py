"""Every command on a page exists and accepts its arguments."""

import contextlib
import io
import re
import subprocess
import tomllib

import pytest
import yaml

from ante.deploy.chart import ChartValues
from ante.deploy.settings import merged, one_value
from ante.errors import BalatroError
from tests.docs.pages import HAND_WRITTEN, LANGUAGES, ROOT, Code, blocks, code_of
from tests.docs.shell import ante_commands, commands, is_mention, parse_ante

CLI = [f"docs/reference/cli/{group}.md" for group in ("learn", "games", "checks", "platform")]
FIRST_LINE = "ante replay 1"  # of a replay, not a command
BASH = blocks("bash")
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def refusal(words: list[str]) -> str:
    """Return why `ante` rejects the arguments; empty if it accepts them."""
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            parse_ante(words)
    except (SystemExit, BalatroError, AssertionError) as refused:
        return f"ante {' '.join(words)}: {refused} {output.getvalue()}"
    return ""


@pytest.mark.parametrize("page", HAND_WRITTEN)
def test_every_block_has_a_language(page: str) -> None:
    assert not [f"{code}" for code in code_of(page) if code.language not in (*LANGUAGES, "inline")]


@pytest.mark.parametrize("page", [*HAND_WRITTEN, *CLI])
def test_ante_takes_the_arguments(page: str) -> None:
    refused = []
    for code in code_of(page):
        inline = code.language == "inline" and code.text.startswith("ante ")
        if code.language == "bash" or inline:
            for words in ante_commands(
                re.sub(r" {2,}\(.*\)$", "", code.text, flags=re.MULTILINE)
            ):  # a remark in the help
                if inline and (is_mention(words) or code.text == FIRST_LINE):
                    continue
                why = refusal([word for word in words if not (inline and word == "...")])
                if why and not (inline and ("Missing" in why or "Required" in why)):  # a mention of some of its options
                    refused.append(f"{code} {why}")
    assert not refused, "\n".join(refused)


@pytest.mark.parametrize("page", HAND_WRITTEN)
def test_make_has_the_targets(page: str) -> None:
    for code in code_of(page):
        if code.language == "bash" or code.text.startswith("make "):
            for words in commands(code.text):
                if words[0] == "make":
                    targets = {word for word in words[1:] if "=" not in word and not word.startswith("-")}
                    assert targets <= TARGETS, str(code)


@pytest.mark.parametrize("code", BASH, ids=str)
def test_a_shell_reads_it(code: Code) -> None:
    done = subprocess.run(["bash", "-n"], input=code.text, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_helm_and_the_cluster_take_the_values() -> None:
    pairs = [pair for code in BASH for words in commands(code.text) for pair in set_values(words)]
    assert len(pairs) >= 1
    for pair in pairs:
        with_values(one_value(pair))


def set_values(words: list[str]) -> list[str]:
    """Return the `--set` pairs of a command that reads the chart's values."""
    charts = {"helm/ante", "oci://$ANTE_REGISTRY/charts/ante"}
    ours = (words[:1] == ["helm"] and charts & set(words)) or words[:2] in (["ante", "cluster"], ["ante", "images"])
    return [words[i + 1] for i, word in enumerate(words) if word == "--set"] if ours else []


def with_values(values: dict[str, object]) -> None:
    """Check chart values on top of the defaults, including rules that involve several values."""
    ChartValues.model_validate(merged(ChartValues().model_dump(mode="json", by_alias=True), values))


@pytest.mark.parametrize("page", HAND_WRITTEN)
def test_pip_knows_the_extras(page: str) -> None:
    named = {each for code in code_of(page) for each in re.findall(r"\bante-balatro\[([\w,]+)\]", code.text)}
    assert {extra for each in named for extra in each.split(",")} <= set(EXTRAS)


@pytest.mark.parametrize("code", blocks("yaml"), ids=str)
def test_settings_in_yaml_are_accepted(code: Code) -> None:
    from ante.training.settings.config import TrainConfig, make_config

    for values in yaml.safe_load_all(code.text):
        keys = set(values)
        if "apiVersion" in keys:
            assert "kind" in keys
        elif "entries" in keys:
            from ante.experiments.spec import make_spec

            make_spec(values)
        elif "search" in keys:
            from ante.training.sweeps.space import Space

            Space.model_validate(values)
        elif keys == {"config", "container"}:
            assert {"cluster", "jetstream"} <= set(values["config"])  # values of NATS's chart, which is not at hand
        elif keys <= {field.alias or name for name, field in ChartValues.model_fields.items()}:
            with_values(values)
        else:
            assert keys <= set(TrainConfig.model_fields), keys
            make_config(values)


@pytest.mark.parametrize("code", blocks("toml"), ids=str)
def test_toml_is_read(code: Code) -> None:
    assert tomllib.loads(code.text)
