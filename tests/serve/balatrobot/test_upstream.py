"""The test suite of the mod itself, unmodified, against our server. It is not part of this repository.

BALATROBOT_SUITE    folder of a copy of coder/balatrobot 1.5.2
BALATROBOT_PYTHON   a Python that has what the suite needs: httpx, typer, pytest, pytest-asyncio, pytest-xdist;
                    by default the one that runs this test
"""

import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ante.serve.balatrobot.server import server_of
from ante.serve.balatrobot.session import Session

SUITE, PYTHON = os.environ.get("BALATROBOT_SUITE", ""), os.environ.get("BALATROBOT_PYTHON", sys.executable)
EXPECTED = {  # docs/how-to/balatrobot.md lists the reasons
    "FAILED tests/lua/endpoints/test_gamestate.py::TestGamestateBlinds::test_blinds_structure_extraction",
    "FAILED tests/lua/endpoints/test_gamestate.py::TestGamestateCards::TestGamestateCardValue::test_card_value_effect_tarot",
    "ERROR tests/lua/core/test_server.py::TestHTTPServerConcurrency::test_concurrent_requests_do_not_crash",
}


@pytest.mark.nightly
@pytest.mark.skipif(not SUITE, reason="BALATROBOT_SUITE does not name a copy of coder/balatrobot 1.5.2")
def test_the_suite_of_the_mod_passes(tmp_path: Path) -> None:
    """Run it on a copy, since it writes its saved games beside its tests; an xdist worker starts no game itself."""
    copy = tmp_path / "suite"
    shutil.copytree(SUITE, copy, ignore=shutil.ignore_patterns("*.jkr", ".git", ".venv"))
    with server_of([Session()], testing=True) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        environment = {
            **os.environ,
            "PYTEST_XDIST_WORKER": "master",
            "BALATROBOT_PORTS": str(server.port),
            "PYTHONPATH": str(copy / "src"),
        }
        found = subprocess.run(
            [PYTHON, "-m", "pytest", "tests/lua", "-q", "-p", "no:cacheprovider", "-rfE", "--tb=line"],
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            timeout=900,
        )
        server.shutdown()
    print(found.stdout[-4000:])
    failed = set(re.findall(r"^(?:FAILED|ERROR) tests/\S+", found.stdout, re.MULTILINE))
    counted = re.search(r"(\d+) passed", found.stdout)
    assert failed <= EXPECTED
    assert counted and int(counted[1]) >= 458
