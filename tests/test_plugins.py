"""Players, rewards, policies and algorithms of other packages: by entry point or as module:attribute."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from examples.player import Hasty
from examples.reward import MOSTLY_WIN, Money

from ante import plugins
from ante.agents.evaluate import evaluate
from ante.engine.actions import Verb, is_legal
from ante.env.games import Games, Outcome
from ante.env.reward import PythonReward, Reward, UnknownReward, find_reward
from ante.env.vector import BalatroVectorEnv
from ante.errors import BalatroError
from ante.plugins import BadPlugin


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install a package `elsewhere` with a reward, a player, a policy and an algorithm, each with a name."""
    (tmp_path / "elsewhere.py").write_text(
        "from ante.env.reward import Reward\n"
        "from ante.training.settings.algorithms import Ppo\n"
        "from ante.training.settings.field import setting\n"
        "from ante.training.settings.policies import Mlp, PolicySettings\n"
        "from examples.player import Hasty\n"
        "class Sharp(Ppo):\n    kind: str = 'sharp'\n    edge: int = setting(3, 'An edge.', 'Never.', ge=1)\n"
        "class Narrow(Mlp):\n    kind: str = 'narrow'\n    hidden: tuple[int, ...] = (8,)\n"
        "class Lost(PolicySettings):\n    implementation = 'nowhere.at_all:Network'\n    kind: str = 'lost'\n"
        "class Odd(PolicySettings):\n    implementation = 'pathlib:Path'\n    kind: str = 'odd'\n"
        "half = Reward('half', 'half a point a blind', blind=0.5)\n"
        "number = 7\n"
        "class Player(Hasty):\n    name = 'from elsewhere'\n"
        "class Poor:\n    name = 'poor'\n    discrete = False\n"
    )
    (tmp_path / "elsewhere-1.dist-info").mkdir()
    (tmp_path / "elsewhere-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: elsewhere\nVersion: 1\n")
    (tmp_path / "elsewhere-1.dist-info" / "entry_points.txt").write_text(
        "[ante.rewards]\nhalved = elsewhere:half\nabsent = nowhere.at_all:half\nwhole = elsewhere\n"
        "[ante.players]\nstranger = elsewhere:Player\nabsent = elsewhere:gone\n"
        "[ante.policies]\nnarrow = elsewhere:Narrow\nlost = elsewhere:Lost\nodd = elsewhere:Odd\n"
        "absent = nowhere.at_all:Policy\nsharp = elsewhere:Sharp\nnumber = elsewhere:number\n"
        "[ante.algorithms]\nsharp = elsewhere:Sharp\nabsent = elsewhere:gone\nnarrow = elsewhere:Narrow\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    plugins.registered.cache_clear()
    yield tmp_path
    plugins.registered.cache_clear()
    sys.modules.pop("elsewhere", None)


def test_a_reward_is_found_by_its_entry_point_and_by_module_and_attribute(package: Path) -> None:
    assert find_reward("halved") == find_reward("elsewhere:half") == Reward("half", "half a point a blind", blind=0.5)
    assert find_reward("examples.reward:MOSTLY_WIN") is MOSTLY_WIN
    assert isinstance(find_reward("examples.reward:Money"), Money)
    with pytest.raises(UnknownReward, match=r"sparse, blinds, shaped, potential, halved"):
        find_reward("halved blinds")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nowhere.at_all:Reward", r"cannot import 'nowhere\.at_all'.*install it"),
        ("elsewhere:gone", "module 'elsewhere' has no 'gone'"),
        ("elsewhere:number", r"'elsewhere:number' is a int, expected an ante.env.reward.Reward"),
        ("absent", r"cannot import 'nowhere\.at_all' of 'absent' .*install it"),
        ("whole", "entry point 'whole' names only module 'elsewhere': declare it as module:attribute"),
    ],
)
def test_what_is_no_reward_is_refused(package: Path, name: str, words: str) -> None:
    with pytest.raises(BadPlugin, match=words):
        find_reward(name)


def test_a_python_reward_pays_in_the_environments() -> None:
    env = gymnasium.make("ante/Balatro-v1", reward="examples.reward:Money", actions="structured")
    env.reset(options={"seed": "TESTSEED"})
    base, paid = env.unwrapped, []
    base.state.dollars = 40
    for _ in range(60):
        mask_free = [
            verb for verb in (Verb.CASH_OUT, Verb.REROLL, Verb.SELECT_BLIND) if is_legal(base.state, int(verb))
        ]
        before = int(base.state.dollars)
        if mask_free:
            base.games.step(np.array([int(mask_free[0])]))
            paid.append(float(base.games.rewards[0]))
            assert paid[-1] == pytest.approx((int(base.state.dollars) - before) / 100)
        else:
            base.state.target = 1.0
            base.games.step(Hasty().choose(base.games, np.ones(1, dtype=np.bool_)))
    assert min(paid) < 0 < max(paid)


def test_games_that_begin_anew_are_not_paid_for_it() -> None:
    class Always(PythonReward):
        def before(self, states: np.recarray) -> None:
            pass

        def after(self, before: None, states: np.recarray, outcome: np.ndarray) -> np.ndarray:
            return np.where(outcome == Outcome.TRUNCATED, 5.0, 1.0)

    env = BalatroVectorEnv(num_envs=2, reward=Always(), max_decisions=2)
    env.reset(seed=1)
    found = [env.step(env.unwrapped.games.masks.argmax(axis=1))[1].tolist() for _ in range(3)]
    assert found == [[1.0, 1.0], [5.0, 5.0], [0.0, 0.0]]


def test_rewards_of_another_shape_are_refused() -> None:
    class Scalar(Money):
        def after(self, before: object, states: np.recarray, outcome: np.ndarray) -> np.ndarray:
            return np.float64(1.0)

    games = Games(3, reward=Scalar())
    games.reset()
    with pytest.raises(BadPlugin, match=r"money returned rewards of shape \(\), expected \(3,\)"):
        games.step(games.masks.argmax(axis=1))


def test_games_on_a_gpu_refuse_rewards_in_python() -> None:
    from ante.env.cuda import DeviceGames

    with pytest.raises(BadPlugin, match="'money' is written in Python: games on a GPU"):
        DeviceGames(1, reward=Money())


def test_a_discount_makes_another_reward() -> None:
    money = Money()
    assert money.discounted(0.9).discount == 0.9 and money.discount == 1.0


def test_the_example_player_plays_whole_games() -> None:
    report = evaluate(Hasty(), ["TESTSEED", "2K9H9HN"])
    assert report.player == "hasty" and report.games == 2 and report.truncated == 0
    assert evaluate(Hasty(), ["TESTSEED", "2K9H9HN"]).records == report.records


def test_players_are_found_by_name(package: Path) -> None:
    from ante.training.players.by_name import player_of

    assert player_of("stranger", False, "best").name == "from elsewhere"
    assert isinstance(player_of("examples.player:Hasty", False, "best"), Hasty)
    with pytest.raises(BadPlugin, match="module 'elsewhere' has no 'gone', to which 'absent' refers"):
        player_of("absent", False, "best")
    with pytest.raises(BadPlugin, match=r"lacks reorder, choose"):
        player_of("elsewhere:Poor", False, "best")
    with pytest.raises(
        BalatroError,
        match=r"no player 'nobody': choose random, greedy, rules, stranger, absent, white-stake, white-stake-2, white-stake-3, white-stake-4, the folder of a run",
    ):
        player_of("nobody", False, "best")


def test_settings_keep_the_name_of_a_reward_and_refuse_terms_that_it_lacks(package: Path) -> None:
    from ante.training.settings.config import BadConfig, make_config

    config = make_config({"games.reward": "halved", "games.reward_terms": {"win": 2.0}})
    assert config.games.reward == "halved" and (
        config.games.weighted_reward.blind,
        config.games.weighted_reward.win,
    ) == (0.5, 2.0)
    assert isinstance(make_config({"games.reward": "examples.reward:Money"}).games.weighted_reward, Money)
    with pytest.raises(BadConfig, match="is Python code without terms"):
        make_config({"games.reward": "examples.reward:Money", "games.reward_terms": {"win": 2.0}})


def test_policies_and_algorithms_are_found_by_their_entry_points(package: Path) -> None:
    from ante.training.settings.config import BadConfig, make_config

    config = make_config({"policy.kind": "narrow", "algo": {"kind": "sharp", "edge": 5}})
    assert config.policy.network() == {"hidden": [8]} and config.algo.model_dump()["edge"] == 5
    assert make_config(config.model_dump(mode="json")) == config, "restored from a run's file"
    with pytest.raises(BadConfig, match=r"algo\.edge: .*greater than or equal to 1, got 0"):
        make_config({"algo": {"kind": "sharp", "edge": 0}})
    with pytest.raises(BadConfig, match=r"there is no policy.kind 'narow': did you mean narrow\?"):
        make_config({"policy.kind": "narow"})


def test_a_policy_of_another_package_is_built(package: Path) -> None:
    pytest.importorskip("torch")
    from ante.training.policies.registry import new_policy
    from ante.training.settings.config import make_config

    policy = new_policy(make_config({"policy.kind": "narrow"}))
    assert type(policy).__name__ == "PackedPolicy" and policy.policy.in_features == 8


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"policy.kind": "absent"}, r"cannot import 'nowhere\.at_all' of 'absent' .*install it"),
        ({"policy.kind": "sharp"}, r"policy.kind 'sharp' names <class 'elsewhere\.Sharp'>, not .* PolicySettings"),
        ({"policy.kind": "number"}, "policy.kind 'number' names 7, not a class derived from PolicySettings"),
        ({"algo.kind": "absent"}, "module 'elsewhere' has no 'gone', to which 'absent' refers"),
        ({"algo.kind": "narrow"}, r"algo.kind 'narrow' names <class 'elsewhere\.Narrow'>, not .* AlgoSettings"),
    ],
)
def test_a_kind_that_cannot_be_used_is_refused(package: Path, settings: dict[str, str], words: str) -> None:
    from ante.training.settings.config import BadConfig, make_config

    with pytest.raises(BadConfig, match=words):
        make_config(settings)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("lost", "Lost.implementation 'nowhere.at_all:Network' cannot be imported: .*name it as module:Class"),
        ("odd", "Odd.implementation 'pathlib:Path' is not a class derived from GamePolicy"),
    ],
)
def test_an_implementation_that_cannot_be_used_is_refused(package: Path, kind: str, words: str) -> None:
    pytest.importorskip("torch")
    from ante.training.policies.registry import NotImplementedHere, new_policy
    from ante.training.settings.config import make_config

    with pytest.raises(NotImplementedHere, match=words):
        new_policy(make_config({"policy.kind": kind}))


def test_modules_of_the_current_folder_are_found(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("from ante.env.reward import Reward\npaid = Reward('mine', '', win=3.0)\n")
    code = (
        "import sys; sys.path.remove(''); from ante.env.reward import find_reward; print(find_reward('mine:paid').win)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.strip() == "3.0", done.stderr
