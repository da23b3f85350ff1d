"""docs/pictures/architecture.svg: the layers that `lint-imports` enforces, and the libraries that each layer imports.

python -m tools.reference.architecture            write the file
python -m tools.reference.architecture --check    exit 1 if the committed file is stale
"""

import sys
import textwrap
from html import escape

import grimp
from tools.reference.modules import ROOT, SOURCES, layers, subject

FILE = ROOT / "docs" / "pictures" / "architecture.svg"
WIDTH, GAP, NAME, LINE, PAD = 1040, 8, 20, 15, 8
LETTER = 7.0  # width of a letter of the small text
INNER = {"stopping", "files", "metrics", "plugins", "errors", "machine", "warmup"}  # helpers without a subject
STYLE = """
  text { font-family: system-ui, sans-serif; font-size: 12px; fill: #24292f; }
  .name { font-size: 14px; font-weight: 600; }
  .libraries { font-size: 11px; fill: #57606a; font-style: italic; }
  rect { fill: #eef1fb; stroke: #8c9ad6; rx: 4px; }
  rect.page { fill: #ffffff; stroke: none; }
"""


def libraries(graph: grimp.ImportGraph, packages: list[str]) -> list[str]:
    """Return the third-party libraries that the packages of a layer import directly."""
    found: set[str] = set()
    for package in packages:
        for module in {f"ante.{package}", *graph.find_descendants(f"ante.{package}")}:
            found |= {each.partition(".")[0] for each in graph.find_modules_directly_imported_by(module)}
    return sorted(found - {"ante", *sys.stdlib_module_names})


def words(package: str) -> str:
    """Return the first sentence of a package's subject."""
    file = SOURCES / package / "__init__.py"
    if package in INNER or not file.exists():
        return ""
    text = subject(file)
    return text.partition(". ")[0].rstrip(".").replace("`", "")


def row(packages: list[str], top: int, used: list[str]) -> tuple[list[str], int]:
    """Return the drawing of one layer and its height."""
    width = (WIDTH - GAP * (len(packages) + 1)) / len(packages)
    texts = [textwrap.wrap(words(package), int((width - 2 * PAD) / LETTER)) for package in packages]
    height = PAD * 2 + NAME + LINE * max(map(len, texts))
    out = []
    for i, (package, lines) in enumerate(zip(packages, texts, strict=True)):
        x = GAP + i * (width + GAP)
        out.append(f'<rect x="{x:.0f}" y="{top}" width="{width:.0f}" height="{height}"/>')
        out.append(f'<text class="name" x="{x + PAD:.0f}" y="{top + PAD + 13}">{escape(package)}</text>')
        for n, line in enumerate(lines):
            out.append(f'<text x="{x + PAD:.0f}" y="{top + PAD + NAME + LINE * n + 11}">{escape(line)}</text>')
    if used:
        out.append(
            f'<text class="libraries" x="{GAP + PAD}" y="{top + height + 13}">{escape("imports " + ", ".join(used))}</text>'
        )
    return out, height + (18 if used else 0)


def picture() -> str:
    """Return the whole drawing."""
    graph = grimp.build_graph("ante", include_external_packages=True, cache_dir=None)
    top, out = GAP, []
    for packages in layers("ante"):
        drawn, height = row(packages, top, libraries(graph, packages))
        out += drawn
        top += height + GAP
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" height="{top}" role="img">'
    title = "<title>The layers of Ante: each imports only from those below it</title>"
    page = f'<rect class="page" width="{WIDTH}" height="{top}"/>'
    return "\n".join([head, title, f"<style>{STYLE}</style>", page, *out, "</svg>", ""])


def main() -> int:
    """Write or check the file, and return the exit code."""
    if "--check" not in sys.argv:
        FILE.write_text(picture())
        return 0
    if FILE.exists() and FILE.read_text() == picture():
        return 0
    print(f"{FILE.relative_to(ROOT)} is stale: run make architecture", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
