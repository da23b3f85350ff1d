"""Settings from outside: every file and name is either a valid configuration, or refused with a message."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ante.deploy.settings import BadSettings, make_settings, one_value
from ante.files import Unreadable
from ante.training.settings.config import KINDS, BadConfig, TrainConfig, make_config, read_config
from ante.training.settings.values import paths
from ante.training.sweeps.spec import read_sweep
from ante.yaml_files import DEEPEST, LARGEST, parse_yaml, read_yaml
from tests.hostile.files import BOMBS, NEVER
from tests.hostile.harness import Case, cases, check, reader

YAML = {
    "alias": ("a: &x 1\nb: *x\n", "line 2, column 4: aliases are not supported"),
    "alias bomb": (
        "a: &a [x, x]\n" + "".join(f"{two}: &{two} [*{one}, *{one}]\n" for one, two in zip("abcdefgh", "bcdefghi", strict=True)),
        "line 2, column 8: aliases",
    ),
    "alias of itself": ("&a [*a]\n", "aliases"),
    "merge of an alias": ("a: &a {x: 1}\nb:\n  <<: *a\n", "aliases"),
    "key twice": ("steps: 1\nseed: 2\nsteps: 3\n", "line 3, column 1: duplicate key 'steps', first in line 1"),
    "key twice within": ("algo:\n  lr: 0.1\n  gamma: 0.9\n  lr: 0.2\n", "line 4, column 3: duplicate key 'lr', first in line 2"),
    "key twice in one line": ("algo: {lr: 0.1, lr: 0.2}\n", "duplicate key 'lr'"),
    "lists in lists": ("a: " + "[" * 10_000, f"nested more than {DEEPEST} levels deep"),
    "groups in groups": ("{a: " * 10_000, f"nested more than {DEEPEST} levels deep"),
    "indented groups": ("\n".join(" " * i + "a:" for i in range(300)), f"nested more than {DEEPEST} levels deep"),
    "a list as a key": ("? [1, 2]\n: 3\n", "a key must be a word"),
    "an object of Python": ("a: !!python/object/apply:os.system ['true']\n", "line 1, column 4"),
    "a date that does not exist": ("steps: 2026-13-77\n", "cannot read"),
    "a number of 5,000 digits": (f"steps: {'9' * 5000}\n", "cannot read"),
    "an empty binary number": ("steps: 0b_\n", "cannot read"),
    "two documents": ("steps: 1\n---\nsteps: 2\n", "cannot read"),
    "a control character": ("name: a\x07b\n", "cannot read"),
    "an open quote": ("name: 'x\n", "line 2"),
    "a tab": ("algo:\n\tlr: 1\n", "line 2"),
    "too long": ("#" * (LARGEST + 1), "larger than"),
    "a list": ("- 1\n", "key: value"),
    "a word": ("steps\n", "key: value"),
}  # fmt: skip
CASES = [
    Case(
        f"{kind} {name}",
        reader(read, lambda folder, text=text: written(folder, text)),
        says if kind == "config" else "",
    )
    for name, (text, says) in YAML.items()
    for kind, read in (("config", read_config), ("sweep", read_sweep))
]
CASES += [
    Case(f"config {name}", reader(read_config, lambda folder, make=make: make(folder, "input.yaml")), refused=name not in ("null", "object", "byte order mark"))
    for name, make in {**NEVER, **BOMBS}.items()
]  # fmt: skip

NAMES = (".", "..", "", "a/b", "../x", "/x", "a\\b", "a b", ".hidden", "-x", "_x", "x\n", "x\0", "a\x1b[2J", "x" * 101,
         "x" * 300, "ü" * 101, "字" * 90, "a:b", "~", "$HOME", "*")  # fmt: skip
NUMBERS = [float("nan"), float("inf"), -float("inf"), True, False, 10**30, 10**5000, "nan", "inf", None, [], {}, "x\0"]


def written(folder: Path, text: str) -> Path:
    file = folder / "input.yaml"
    file.write_text(text)
    return file


@pytest.mark.parametrize("case", cases(CASES))
def test_a_file_of_settings_that_is_none_is_refused_in_a_sentence(
    case: Case, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    check(case, tmp_path, capfd)


def test_what_is_nested_as_deeply_as_may_be_is_read() -> None:
    found, depth = parse_yaml("[" * DEEPEST + "]" * DEEPEST, "text"), 0
    while found:
        found, depth = found[0], depth + 1
    assert depth == DEEPEST - 1


def test_every_file_of_settings_in_this_repository_is_read() -> None:
    files = [*Path("configs").rglob("*.yaml"), *Path("src").rglob("*.yaml"), *Path("helm").rglob("*values.yaml")]
    assert len(files) > 10
    for file in files:
        assert isinstance(read_yaml(file), dict)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_leads_out_of_the_folder_of_runs_is_refused(name: str) -> None:
    with pytest.raises(BadConfig, match=r"^name: "):
        make_config({"name": name})


@pytest.mark.parametrize("name", ["ppo", "a.b-c_d", "9", "x" * 100, "läufe", "字" * 60])
def test_a_name_of_a_folder_is_taken(name: str) -> None:
    assert make_config({"name": name}).folder == Path("runs") / name


def numbers() -> list[tuple[str, str]]:
    """Return each numeric setting, with a kind that has it."""
    found = []
    for group, kinds in {"": None, **KINDS}.items():
        for kind in kinds.known if kinds else ("",):
            config = make_config({f"{group}.kind": kind}) if kind else TrainConfig()
            for path, value in config.flat().items():
                if isinstance(value, (int, float)) and not isinstance(value, bool) and path.startswith(group):
                    found.append((f"{group}.kind={kind}" if kind else "", path))
    return found


def test_no_number_is_nan_infinite_boolean_or_excessive() -> None:
    every = numbers()
    assert len(every) > 100
    for kind, path in every:
        base = dict([kind.split("=")]) if kind else {}
        for bad in NUMBERS:
            if bad is not None:  # None is the default of some
                with pytest.raises(BadConfig) as refused:
                    make_config({**base, path: bad})
                assert str(refused.value).startswith(path) and len(str(refused.value)) < 500


@pytest.mark.parametrize(
    "values",
    [
        {"algo.lr": [[0, 1e-3], [100, float("nan")]]},
        {"algo.lr": [[0, True], [100, 1e-4]]},
        {"algo.entropy": [[0, float("inf")], [10, 0.1]]},
        {"policy.hidden": [True]},
        {"policy.hidden": [10**30]},
        {"games.reward_terms": {"win": float("nan")}},
        {"games.reward_terms": {"win": True}},
        {"games.curriculum": [{"goal": True}]},
        {"games.curriculum": [{"goal": 1, "promote": float("nan")}]},
        {"algo.overlap": "x"},
        {"seed": 2**31},
        {"runs": ""},
        {"runs": "a\0b"},
        {"algo": {1: 2}},
        {"algo": None},
        {"games": 3},
    ],
)
def test_what_is_within_a_setting_is_checked_too(values: dict[str, Any]) -> None:
    with pytest.raises(BadConfig, match=r"^(algo|policy|games|seed|runs)"):
        make_config(values)


def test_truth_values_are_kept_where_they_are_meant() -> None:
    assert make_config({"algo.overlap": True}).algo.ahead == 1


def test_a_list_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(BadConfig):
        make_config({"policy.hidden": endless})


@pytest.mark.parametrize("values", [{"training.runnerCpus": ".nan"}, {"training.runnerCpus": ".inf"}, {"training.learners": "true"}])  # fmt: skip
def test_settings_of_a_cluster_are_checked_alike(values: dict[str, str]) -> None:
    for path, text in values.items():
        with pytest.raises(BadSettings):
            make_settings(one_value(f"{path}={text}"))
    with pytest.raises(BadSettings, match="aliases"):
        one_value("x=*a")


plain = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from([each for each in NUMBERS if each != 10**5000] + list(NAMES))
)
nested = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(plain.filter(lambda key: key.__hash__), inner, max_size=3), max_leaves=6
)  # fmt: skip
known = st.sampled_from([path for path in paths(TrainConfig, KINDS) if not path.endswith("kind")] + ["algo", "policy", "games", "x", "a.b", "games.x.y", ""])  # fmt: skip
kinds = st.fixed_dictionaries({}, optional={f"{group}.kind": st.sampled_from([*each.known, "x", ""]) for group, each in KINDS.items()})  # fmt: skip


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(kinds, st.dictionaries(known, nested, max_size=4))
@example({}, {"steps": 9007199254740994.0})
def test_any_values_are_a_configuration_or_a_bad_one(kind: dict[str, str], values: dict[str, Any]) -> None:
    try:
        config = make_config({**kind, **values})
    except BadConfig as error:
        assert str(error).strip()
        return
    assert make_config(config.values()) == config


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab:&*[]{}-?!|>'\"#% \n\t0.,\\~<", max_size=60) | st.text(max_size=40))
def test_any_text_is_yaml_or_unreadable(text: str) -> None:
    try:
        parse_yaml(text, "text")
    except Unreadable as error:
        assert str(error).startswith("cannot read text: ")


@pytest.mark.parametrize("group", ["policy", "algo", "games", "resources"])
@pytest.mark.parametrize("value", [None, 5, "x", [1]])
def test_a_group_of_settings_that_is_none_is_refused(group: str, value: Any, tmp_path: Path) -> None:
    search = {"algo.lr": {"low": 0.0001, "high": 0.01}}
    (tmp_path / "sweep.yaml").write_text(json.dumps({"settings": {group: value}, "search": search}))
    (tmp_path / "config.yaml").write_text(json.dumps({group: value}))
    with pytest.raises(BadConfig, match=group):
        read_sweep(tmp_path / "sweep.yaml")
    with pytest.raises(BadConfig, match=group):
        read_config(tmp_path / "config.yaml")
