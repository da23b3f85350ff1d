"""Screenshots of the Ray dashboard and the object store's console."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page
from tests.support.browser import chromium


@contextmanager
def page() -> Iterator[Page]:
    """Open a page in a headless browser, 1280 x 800."""
    with chromium() as browser:
        yield browser.new_page(viewport={"width": 1280, "height": 800})


def see_dashboard(url: str, token: str, picture: Path) -> None:
    """Photograph the jobs in the dashboard, opened with the cluster's token."""
    with page() as seen:
        seen.context.add_cookies([{"name": "ray-authentication-token", "value": token, "url": url}])
        seen.goto(f"{url}/#/jobs", timeout=60_000)
        seen.get_by_text(re.compile("ante train")).first.wait_for(timeout=60_000)
        seen.screenshot(path=str(picture))


def see_console(url: str, secret: dict[str, str], run: str, picture: Path) -> None:
    """Photograph the run's folder in the console, opened with the run's credentials."""
    with page() as seen:
        seen.goto(url, timeout=60_000)
        seen.locator("#accessKey").fill(secret["S3_ACCESS_KEY_ID"])
        seen.locator("#secretKey").fill(secret["S3_SECRET_ACCESS_KEY"])
        seen.locator("#do-login").click()
        seen.wait_for_url(re.compile("browser"), timeout=60_000)
        seen.get_by_role("button", name="Acknowledge").click(timeout=60_000)
        seen.get_by_text("ante", exact=True).first.click(timeout=60_000)
        for folder in ("runs", run):
            seen.get_by_role("gridcell", name=folder, exact=True).first.click(timeout=60_000)
        seen.get_by_text("episode.mp4").first.wait_for(timeout=60_000)
        seen.screenshot(path=str(picture))
