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
LINK = re.compile(r"(\]\()([\w./-]+)")
MENTION = re.compile(r"\bdocs/([\w/-]+/)?([\w-]+)\.md\b")
NOTEBOOK_LINK = re.compile(r'href="(?:\.\./docs/([\w/-]+)\.md|([\w-]+)\.ipynb)')
COPIES = "files/"  # folder in the site of the repository's other files


@event_priority(100)  # before mkdocs-jupyter, which converts the notebooks
def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages, the notebooks and the linked files of the repository."""
    for path, write in GENERATED.items():
        files.append(File.generated(config, path, content=write()))
    for notebook in NOTEBOOKS:
        files.append(File(f"notebooks/{notebook.name}", str(ROOT), config.site_dir, config.use_directory_urls))
    for path in sorted(linked(files)):
        files.append(File.generated(config, path, abs_src_path=str(ROOT / source(path))))
    return files


def linked(files: Files) -> set[str]:
    """Return the places in the site of files outside docs/ that pages link to, including pages that are such files."""
    waiting = [
        file.src_uri
        for file in files.documentation_pages()
        if file.generated_by is None and file.abs_src_path and file.src_uri.endswith(".md")
    ]
    found: set[str] = set()
    while waiting:
        page = waiting.pop()
        for _, target in LINK.findall((ROOT / source(page)).read_text()):
            place = site_path(page, target)
            if place.startswith(COPIES) and place not in found:
                found.add(place)
                waiting += [place] if place.endswith(".md") else []
    return found


def source(page: str) -> str:
    """Return the path in the repository of a page or copied file of the site."""
    if not page.startswith(COPIES):
        return f"docs/{page}"
    path = page.removeprefix(COPIES)
    return path if (ROOT / path).is_file() else path.removesuffix(".md") + "/README.md"


def site_path(page: str, target: str) -> str:
    """Return the path in the site of a file that a page links to; "" if the link names no file of the repository.

    FOLDER/README.md becomes FOLDER.md: MkDocs would make it the index page of its section.
    """
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source(page)), target))
    if not (ROOT / path).is_file():
        return ""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.startswith("notebooks/"):
        return path
    return COPIES + (posixpath.dirname(path) + ".md" if posixpath.basename(path) == "README.md" else path)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Rewrite links between docs/ and other files of the repository to their places in the site.

    In pages made from help texts and docstrings, names of pages become links.
    """
    uri = page.file.src_uri
    if page.file.generated_by and not uri.startswith(COPIES):
        markdown = linked_mentions(markdown, posixpath.dirname(uri) or ".")

    def rewritten(match: re.Match[str]) -> str:
        place = site_path(uri, match[2])
        return match[1] + (posixpath.relpath(place, posixpath.dirname(uri) or ".") if place else match[2])

    return LINK.sub(rewritten, markdown)


def linked_mentions(markdown: str, folder: str) -> str:
    """Replace names such as docs/how-to/train.md by links, except in code."""

    def link(match: re.Match[str]) -> str:
        target = posixpath.relpath(f"{match[1] or ''}{match[2]}.md", folder)
        return f"[{match[2].replace('-', ' ')}]({target})"

    parts = re.split(r"(```.*?```|`[^`\n]*`)", markdown, flags=re.DOTALL)
    return "".join(part if part.startswith("`") else MENTION.sub(link, part) for part in parts)


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Rewrite the links of a notebook, which MkDocs does not see, to pages of the site."""
    if not page.file.src_uri.startswith("notebooks/"):
        return html
    return NOTEBOOK_LINK.sub(lambda link: f'href="{"../" + link[1] if link[1] else link[2]}.html', html)
