"""MkDocs hooks: pages generated during the build, and files of the repository that pages link to."""

import posixpath
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from mkdocs.plugins import event_priority  # noqa: E402
from mkdocs.structure.files import File, Files  # noqa: E402
from tools.reference import chart, commands, decisions, modules, observation, python_api, settings  # noqa: E402

GENERATED: dict[str, Callable[[], str]] = {
    "reference/cli/index.md": commands.index_page,
    **{f"reference/cli/{group}.md": lambda group=group: commands.group_page(group) for group in commands.GROUPS},
    **{f"reference/python/{name}.md": lambda name=name: python_api.page(name) for name in python_api.PAGES},
    "reference/settings.md": settings.settings_page,
    "reference/metrics.md": settings.metrics_page,
    "reference/chart.md": chart.page,
    "reference/observation.md": observation.page,
    "reference/modules.md": modules.page,
    "explanation/decisions/index.md": decisions.page,
}
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LINK = re.compile(r"(\]\()((?:\.\./)+[^)#\s]+)")


@event_priority(100)  # before mkdocs-jupyter, which converts the notebooks
def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages, the notebooks and the linked files of the repository."""
    for path, write in GENERATED.items():
        files.append(File.generated(config, path, content=write()))
    for notebook in NOTEBOOKS:
        files.append(File(f"notebooks/{notebook.name}", str(ROOT), config.site_dir, config.use_directory_urls))
    for path in sorted(linked(files)):
        files.append(File.generated(config, f"files/{path}", abs_src_path=str(ROOT / path)))
    return files


def linked(files: Files) -> set[str]:
    """Return the files outside docs/ that hand-written pages link to."""
    found = set()
    for file in files.documentation_pages():
        if file.generated_by is None and file.abs_src_path and file.src_uri.endswith(".md"):
            for _, target in LINK.findall(Path(file.abs_src_path).read_text()):
                found.add(outside(file.src_uri, target))
    return {path for path in found if path and not path.endswith(".ipynb")}


def outside(page: str, target: str) -> str:
    """Return the path in the repository of a linked file outside docs/, "" for other links."""
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), target))
    return path if not path.startswith("docs/") and (ROOT / path).is_file() else ""


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Rewrite links to files outside docs/ to their copies in the site."""

    def copy(match: re.Match[str]) -> str:
        path = outside(page.file.src_uri, match[2])
        if not path:
            return match[0]
        place = path if path.startswith("notebooks/") else f"files/{path}"
        return match[1] + posixpath.relpath(place, posixpath.dirname(page.file.src_uri) or ".")

    return LINK.sub(copy, markdown)
