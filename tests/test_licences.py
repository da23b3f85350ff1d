"""The installed packages are those of the pins, and their licences those of the decision on package pins."""

import re
from fnmatch import fnmatch
from importlib.metadata import Distribution, distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DECISION = ROOT / "docs" / "explanation" / "decisions" / "0005-package-pins.md"
FAMILIES = {
    "MIT": ("MIT", "MIT License", "MIT-0", "MIT-CMU"),
    "BSD": ("BSD License", "BSD-2-Clause", "BSD-3-Clause", "3-Clause BSD License", "0BSD"),
    "ISC": ("ISC", "ISC License (ISCL)"),
    "Apache 2.0": ("Apache-2.0", "Apache-2.0 WITH LLVM-exception", "Apache Software License", "Apache 2.0", "Apache"),
    "PSF": ("PSF-2.0", "Python-2.0", "Python Software Foundation License"),
    "MPL 2.0": ("MPL-2.0", "Mozilla Public License 2.0 (MPL 2.0)"),
    "Boost": ("BSL-1.0",),
    "Zlib": ("Zlib",),
    "CC0": ("CC0-1.0",),
}


def pins() -> dict[str, str]:
    """Return the pinned version of each package that installs on this platform."""
    return dict(re.findall(r"^([\w.-]+)==([^\s;\\]+) \\$", (ROOT / "requirements" / "all.txt").read_text(), re.M))


def installed() -> dict[str, Distribution]:
    """Return the installed packages by normalised name."""
    return {re.sub(r"[-_.]+", "-", each.name).lower(): each for each in distributions() if each.name}


def licences(package: Distribution) -> set[str]:
    """Return the families of a package's licences; a licence of no family is returned as it is."""
    metadata = package.metadata
    classes = [
        each.rpartition(" :: ")[2] for each in metadata.get_all("Classifier", []) if each.startswith("License ::")
    ]
    text = (metadata.get("License") or "unknown").partition("\n")[0]
    terms = (
        re.split(r" AND | OR ", metadata.get("License-Expression") or "")
        if metadata.get("License-Expression")
        else classes or re.split(r" AND | OR ", text)
    )
    family = {term: name for name, terms_of in FAMILIES.items() for term in terms_of}
    return {family.get(term.strip(" ()"), family.get(term, term)) for term in terms}


def decided() -> tuple[str, list[str]]:
    """Return the sentence with the accepted licences, and the names of the exceptions, which may have wildcards."""
    text = DECISION.read_text()
    sentence = re.search(r"The metadata of the pinned packages name (.+?), with", text, re.S)
    assert sentence
    rows = [row for row in text.splitlines() if row.startswith("| `")]
    return sentence[1], [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]


def test_every_pinned_package_is_installed_in_that_version() -> None:
    found, wanted = installed(), pins()
    assert len(wanted) > 200
    missing = wanted.keys() - found.keys()
    if missing:
        pytest.skip(f"an environment without all packages: {len(missing)} are missing, such as {min(missing)}")
    other = {name: found[name].version for name, version in wanted.items() if found[name].version != version}
    assert not other, f"not the pinned version: {other}"


def test_every_licence_is_in_the_decision() -> None:
    sentence, exceptions = decided()
    accepted = {name for name in FAMILIES if name in sentence}
    here = {name: each for name, each in installed().items() if name in pins()}
    others = {name: licences(each) - accepted for name, each in here.items()}
    others = {name: found for name, found in others.items() if found}
    unknown = {n: found for n, found in others.items() if not any(fnmatch(n, each) for each in exceptions)}
    assert not unknown, f"name these packages in {DECISION.name}, or use others: {unknown}"
    unused = [each for each in exceptions if not any(fnmatch(name, each) for name in others)]
    assert len(here) < len(pins()) or not unused, f"{unused} are no exceptions any more"
