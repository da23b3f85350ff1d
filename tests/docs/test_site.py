"""The built site, as `make docs` writes it and Chromium shows it."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from tests.docs.pages import ROOT
from tests.support.browser import chromium

pytestmark = pytest.mark.browser
PICTURES = os.environ.get("SITE_PICTURES")  # folder for screenshots


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without printing."""

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site without a network: a proxy refuses all traffic."""
    folder = tmp_path_factory.mktemp("site")
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    command = [sys.executable, "-m", "mkdocs", "--quiet", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, **nowhere, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stderr
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def page(address: str) -> Iterator[Any]:
    """Open a browser page; `asked` collects requested addresses outside the site."""
    with chromium() as browser:
        found = browser.new_page(viewport={"width": 1280, "height": 900})
        found.asked = []
        found.on(
            "request",
            lambda each: found.asked.append(each.url) if not each.url.startswith((address, "data:")) else None,
        )
        yield found


def keep(page: Any, name: str) -> None:
    if PICTURES:
        page.screenshot(path=f"{PICTURES}/{name}.png")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("index.html", "Your first hour on a laptop"),
        ("reference/cli/learn.html", "ante train"),
        ("reference/settings.html", "gae_lambda"),
        ("reference/python/env.html", "BalatroVectorEnv"),
        ("reference/chart.html", "gpuWorkers.replicas"),
        ("explanation/architecture.html", "One decision in the engine"),
        ("notebooks/2-explore-a-seed.html", "seed"),
        ("explanation/decisions/index.html", "Generated dispatchers call the effects"),
    ],
)
def test_a_page_shows_what_it_is_about_and_loads_nothing_from_elsewhere(
    page: Any, address: str, path: str, words: str
) -> None:
    failed: list[str] = []
    page.on("response", lambda each: failed.append(each.url) if each.status >= 400 else None)
    page.goto(f"{address}/{path}")
    assert words in page.inner_text("main")
    keep(page, path.replace("/", "-").removesuffix(".html"))
    assert not page.asked and not failed


@pytest.mark.parametrize(
    ("words", "path"),
    [
        ("gae_lambda", "reference/settings.html"),
        ("write your own reward", "tutorials/own-reward.html"),
        ("list_candidates", "reference/python/lookahead.html"),
    ],
)
def test_the_search_finds_a_page(page: Any, address: str, words: str, path: str) -> None:
    page.goto(f"{address}/index.html")
    page.click("input.md-search__input")
    page.type("input.md-search__input", words)
    found = page.wait_for_selector(f'.md-search-result__link[href*="{path}"]', state="attached", timeout=20_000)
    assert found.inner_text().strip()
    keep(page, "search-" + re.sub(r"\W+", "-", words))


def test_no_page_names_a_content_network(site: Path) -> None:
    loaded = re.compile(r'<(?:script|link|img|iframe)\b[^>]*(?:src|href)="?(https?://[^"\s>]+)')
    for file in site.rglob("*.html"):
        if "comparisons" not in file.parts:
            found = [each for each in loaded.findall(file.read_text()) if "rel=canonical" not in each]
            assert not found, f"{file.relative_to(site)}: {found[:3]}"


def test_no_link_of_a_page_is_dead(site: Path) -> None:
    links = [
        (page, urlsplit(target))
        for page in site.rglob("*.html")
        for target in re.findall(r'(?:href|src)="([^"#][^"]*)"', page.read_text())
    ]
    local = [(page, link.path) for page, link in links if not link.scheme and not link.netloc and link.path]
    roots = {page: site if path.startswith("/") else page.parent for page, path in local}
    dead = [(str(page), path) for page, path in local if not (roots[page] / unquote(path).lstrip("/")).exists()]
    assert len(local) > 1000 and not dead
