"""`ante/BalatroLive-v0` against our own server over HTTP, beside the local environment."""

import copy
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

from ante.agents.baselines import Baseline
from ante.checks import BadValue
from ante.cli.platform.live import Live
from ante.engine.actions import DISCRETE, F_SELECT_BLIND, N_DISCRETE, Verb, legal_mask, to_macro
from ante.engine.core.state import Phase
from ante.env.single import BalatroEnv, IllegalAction, NeedsReset
from ante.env.spaces import unpack
from ante.errors import BalatroError
from ante.http.server import HttpServer
from ante.serve.balatrobot.dialects import DIALECTS
from ante.serve.balatrobot.server import server_of
from ante.serve.balatrobot.session import Session
from ante.serve.live import NAME
from ante.serve.live.client import Client, Unreachable
from ante.serve.live.environment import BalatroLiveEnv, GamesDiffer
from ante.serve.live.link import StaleState
from ante.wrappers.check import check_gymnasium


@contextmanager
def running(dialect: str, port: int = 0) -> Iterator[HttpServer]:
    """Serve one session in a thread."""
    with server_of([Session(DIALECTS[dialect])], port=port) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join(10)


@pytest.fixture(scope="module", params=["1.5", "2.0"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with running(request.param) as server:
        yield f"http://127.0.0.1:{server.ports[0]}"


def without_mask(seen: Any) -> Any:
    return {name: value for name, value in seen.items() if name != "action_mask"}


def check_equal(found: Any, expected: Any) -> bool:
    """Check a step or reset of both environments; return whether the mask of the first one is smaller."""
    assert data_equivalence(without_mask(found[0]), without_mask(expected[0]), exact=True)
    assert found[1:-1] == expected[1:-1]
    assert without_mask(found[-1]) == without_mask(expected[-1])
    mine, theirs = found[-1]["action_mask"], expected[-1]["action_mask"]
    assert (mine <= theirs).all() and (found[1:-1][-2:] != (False, False) or mine.any())
    assert "action_mask" not in found[0] or np.array_equal(found[0]["action_mask"], mine)
    return bool((mine < theirs).any())


@pytest.mark.parametrize(("deck", "stake", "observation"), [("b_red", 1, "dict"), ("b_ghost", 5, "masked")])
def test_the_same_actions_give_the_observations_and_rewards_of_the_local_environment(
    url: str, deck: str, stake: int, observation: str
) -> None:
    """Random actions that the mask allows, and half of the time the best hand, so that shops and packs are reached."""
    options: dict[str, Any] = {"deck": deck, "stake": stake, "observation": observation, "actions": "structured"}
    live: Any = gymnasium.make(NAME, url=url, **options)
    local: Any = BalatroEnv(reorder="jokers", **options)
    live.action_space.seed(1)
    greedy, rng, playing = Baseline("greedy"), np.random.default_rng(5), np.ones(1, dtype=np.bool_)
    phases: set[int] = set()
    smaller = steps = games_played = 0
    while steps < 60:
        games_played += 1
        start = {"seed": f"LIVE{games_played}"}
        smaller += check_equal((*live.reset(options=start),), (*local.reset(options=start),))
        ended = False
        while not ended:
            games = live.unwrapped.games
            phases.add(int(games.states[0].phase))
            phase = games.states[0].phase
            best = phase == Phase.PLAY or (phase == Phase.SHOP and rng.random() < 0.5)
            action = unpack(int(greedy.choose(games, playing)[0])) if best else live.action_space.sample()
            found = live.step(action)
            smaller += check_equal(found, local.step(action))
            ended, steps = found[2] or found[3], steps + 1
    assert games_played > 1 and {Phase.BLIND_SELECT, Phase.PLAY, Phase.ROUND_END, Phase.SHOP} <= phases
    assert smaller or live.unwrapped.link.session.dialect.keyed


def test_discrete_actions_select_cards_without_a_call(url: str) -> None:
    live, local = BalatroLiveEnv(url), BalatroEnv(reorder="jokers")
    live.reset(options={"seed": "DISCRETE"})
    local.reset(options={"seed": "DISCRETE"})
    rng, calls = np.random.default_rng(0), 0
    call = live.link.caller.call

    def counted(method: str, **params: Any) -> Any:
        nonlocal calls
        calls += 1
        return call(method, **params)

    live.link.caller.call = counted  # type: ignore[method-assign]
    selected = steps = 0
    while not live.games.outcome[0] and steps < 150:
        action = int(rng.choice(np.flatnonzero(live.action_masks())))
        before = calls
        check_equal(live.step(action), local.step(action))
        selected, steps = selected + (calls == before), steps + 1
    assert selected > 10 and calls == 2 * (steps - selected)


def test_it_passes_the_checker_of_gymnasium(url: str) -> None:
    assert check_gymnasium(lambda: gymnasium.make(NAME, url=url, disable_env_checker=True).unwrapped) == "no warnings"


def test_what_the_protocol_cannot_express_is_illegal() -> None:
    """Dialect 1.5 cannot sell a joker before a blind."""
    with running("1.5") as server:
        url = f"http://127.0.0.1:{server.ports[0]}"
        live = BalatroLiveEnv(url, actions="structured")
        action = sale_before_a_blind(live)
        with pytest.raises(IllegalAction):
            live.step(action)
        live.step(live.action_space.sample())
        ignoring = BalatroLiveEnv(url, actions="structured", illegal="ignore")
        action, before = sale_before_a_blind(ignoring), ignoring.state.tobytes()
        _, reward, terminated, *_ = ignoring.step(action)
        assert (reward, terminated) == (0.0, False) and ignoring.state.tobytes() == before


def sale_before_a_blind(live: BalatroLiveEnv) -> Any:
    """Play until a joker is owned before a blind; return an action that is legal in the game but masked here."""
    greedy, playing, mask = Baseline("greedy"), np.ones(1, dtype=np.bool_), np.zeros(N_DISCRETE, dtype=np.uint8)
    for game in range(20):
        live.reset(options={"seed": f"SALE{game + 1}"})
        while not live.games.outcome[0]:
            legal_mask(live.state, mask)
            more = np.flatnonzero((mask > live.games.masks[0]) & (DISCRETE[:, 0] == Verb.SELL_JOKER))
            if len(more) and live.state.phase == Phase.BLIND_SELECT:
                return unpack(int(to_macro(live.state, int(more[0]))))
            live.step(unpack(int(greedy.choose(live.games, playing)[0])))
    raise AssertionError("no game owns a joker before a blind")


def test_a_server_that_dies_is_an_error_and_a_new_one_plays_again() -> None:
    with running("1.5") as server:
        port = server.ports[0]
        live = BalatroLiveEnv(f"http://127.0.0.1:{port}", patience=0.0)
        live.reset(options={"seed": "DIES"})
        live.step(int(F_SELECT_BLIND))
    with pytest.raises(Unreachable, match=f"no reply from 127.0.0.1:{port}"):
        play_a_card(live)
    with pytest.raises(NeedsReset, match="call reset"):
        live.step(int(F_SELECT_BLIND))
    with running("1.5", port):
        live.reset(options={"seed": "DIES"})
        live.step(int(F_SELECT_BLIND))
        play_a_card(live)
        assert live.state.hands_played == 1


def test_a_server_that_lost_the_game_is_named() -> None:
    with running("1.5") as server:
        port = server.ports[0]
        live = BalatroLiveEnv(f"http://127.0.0.1:{port}", patience=5.0)
        live.reset(options={"seed": "LOST"})
        live.step(int(F_SELECT_BLIND))

    def start_again(_: float) -> None:
        if not servers:
            servers.append(running("1.5", port))
            servers[0].__enter__()

    servers: list[Any] = []
    live.link.wait = start_again
    with pytest.raises(GamesDiffer, match="the server has lost the game"):
        play_a_card(live)
    servers[0].__exit__(None, None, None)


def test_a_game_that_another_client_changed_is_not_continued(url: str) -> None:
    live = BalatroLiveEnv(url)
    live.reset(options={"seed": "OTHER"})
    Client(url).call("select")
    with pytest.raises(StaleState, match="changed before select"):
        live.step(int(F_SELECT_BLIND))


def play_a_card(live: BalatroLiveEnv) -> None:
    """Select the first card that can be selected and play it."""
    live.step(int(np.flatnonzero(live.action_masks() & (DISCRETE[:, 0] == Verb.SELECT))[0]))
    live.step(int(np.flatnonzero(DISCRETE[:, 0] == Verb.PLAY)[0]))


@pytest.mark.parametrize("options", [{"challenge": "omelette"}, {"locked": "fresh"}, {"endless": True}])
def test_options_that_a_server_does_not_have_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(BadValue, match="leave it out"):
        BalatroLiveEnv(**options)


def test_a_challenge_an_order_of_the_hand_and_a_copy_are_refused() -> None:
    live = BalatroLiveEnv()
    with pytest.raises(BadValue, match="a deck and a stake"):
        live.reset(options={"challenge": "omelette"})
    with pytest.raises(BalatroError, match="reorder"):
        BalatroLiveEnv(reorder="all")
    with pytest.raises(BalatroError, match="cannot be copied"):
        copy.deepcopy(live)


def test_the_command_plays_a_named_seed(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert Live(url, seed="TESTSEED").run() == 0
    assert capsys.readouterr().out == "TESTSEED  lost, ante 5, 107 decisions\n"
    with pytest.raises(BalatroError, match="leave out --games and --draw"):
        Live(url, seed="TESTSEED", games=2).run()
