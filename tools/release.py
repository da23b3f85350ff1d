"""Build a release and publish it, signed, to the registry that ANTE_REGISTRY names: python -m tools.release [--dry-run].

Everything is pushed, signed and described by digest first; tags are set last. A tag never names a part of an incomplete
release, and a command that was interrupted continues where it stopped. docs/how-to/release.md explains the use.
"""

import argparse
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools import release_parts
from tools.oci_layout import NotALayout, digest, size
from tools.registry import Failed, Registry, Signer
from tools.release_parts import IMAGE, ROOT, Part, Scan, Sources, Versions

FOLDER = ROOT / "build" / "release"
REGISTRY = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*")
USE = {"skopeo": "copies images", "helm": "packages the chart", "cosign": "signs"}


class Refused(Exception):
    """A release that must not be published like this; one reason per line."""


@dataclass(frozen=True)
class Options:
    """The options of the command line."""

    dry_run: bool
    rehearsal: bool
    unsigned: bool
    plain_http: bool
    image: Path | None
    cpu_image: Path | None
    packages: Path | None
    folder: Path


@dataclass(frozen=True)
class Made:
    """A part that is built: its layout and digest, and the statements about it."""

    part: Part
    layout: Path
    digest: str
    statements: dict[str, Path]  # file by kind, cyclonedx or vuln
    scan: Scan | None = None


def main(arguments: Sequence[str] | None = None) -> int:
    """Publish a release, or show the plan."""
    options = Options(**vars(parser().parse_args(arguments)))
    try:
        release(options, os.environ.get("ANTE_REGISTRY", "").rstrip("/"), os.environ.get("ANTE_SIGNING_KEY", ""))
    except Refused as error:
        for line in str(error).splitlines():
            print(f"release: {line}", file=sys.stderr)
        return 2
    except NotALayout as error:
        print(f"release: {error}", file=sys.stderr)
        return 2
    except Failed as error:
        print(f"release: {error}\nrelease: not complete; the same command continues here", file=sys.stderr)
        return 1
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = argparse.ArgumentParser(prog="python -m tools.release", description=__doc__)
    found.add_argument("--dry-run", action="store_true", help="only show what would be built and published")
    found.add_argument(
        "--rehearsal", action="store_true", help="accept uncommitted changes, and the notes under Unreleased"
    )
    found.add_argument("--unsigned", action="store_true", help="publish without signatures, SBOM and scan")
    found.add_argument("--plain-http", action="store_true", help="the registry has no TLS; only for a local one")
    found.add_argument("--image", type=Path, metavar="ARCHIVE", help="use this image instead of building it")
    found.add_argument("--cpu-image", type=Path, metavar="ARCHIVE", help="use this image as the one without CUDA")
    found.add_argument("--packages", type=Path, metavar="FOLDER", help="use wheel, sdist and sbom.json of this folder")
    found.add_argument("--folder", type=Path, default=FOLDER, help="where parts are built; build/release by default")
    return found


def release(options: Options, registry_name: str, key: str) -> None:
    """Check, build, publish. Raises Refused, Failed, NotALayout."""
    versions = release_parts.versions()
    archives = {"image": options.image, "cpu-image": options.cpu_image}
    sources = Sources(
        release_parts.commit(), registry_name, {name: file for name, file in archives.items() if file}, options.packages
    )
    parts = release_parts.parts(versions, sources)
    text = (ROOT / "CHANGELOG.md").read_text()
    reasons = list(problems(options, sources, key, versions, text))
    print(plan(versions, sources, parts, bool(key)))
    if reasons:
        raise Refused("\n".join(reasons))
    if options.dry_run:
        return
    folder = options.folder.resolve() / versions.package
    folder.mkdir(parents=True, exist_ok=True)
    registry = Registry(registry_name, options.plain_http)
    signer = Signer(key, folder, options.plain_http) if key else None
    if signer:
        signer.prepare()
    made = [make(part, sources, folder) for part in parts]
    publish(made, registry, signer)
    notes = folder / "NOTES.md"
    notes.write_text(
        release_notes(made, registry, signer, versions, changes(text, versions.package, options.rehearsal))
    )
    print(f"published; release notes: {notes}")


def problems(options: Options, sources: Sources, key: str, versions: Versions, changelog: str) -> Iterator[str]:
    """Yield what must be corrected before anything is built."""
    if not REGISTRY.fullmatch(sources.registry):
        yield f"ANTE_REGISTRY is {sources.registry!r}: set it to a registry, such as registry.example.com/team"
    if not key and not options.unsigned:
        yield "ANTE_SIGNING_KEY names no key: set it to a file of cosign or a KMS reference, or give --unsigned"
    if "\n" in key or "PRIVATE KEY" in key:
        yield "ANTE_SIGNING_KEY contains a key: write that to a file and name the file"
    elif key and "://" not in key and not Path(key).is_file():
        yield "ANTE_SIGNING_KEY names a file that does not exist"
    if "+" in sources.commit and not options.rehearsal:
        yield "there are uncommitted changes: commit them, or give --rehearsal"
    if not changes(changelog, versions.package, options.rehearsal):
        yield f"CHANGELOG.md has no section '## {versions.package}': rename Unreleased, or give --rehearsal"
    for file in (options.image, options.cpu_image, options.packages):
        if file and not file.exists():
            yield f"{file} does not exist"
    yield from missing_programs(options, bool(key))


def missing_programs(options: Options, signs: bool) -> Iterator[str]:
    """Yield a sentence for each program that is needed and not installed."""
    for program, use in USE.items():
        if (program != "cosign" or signs) and not shutil.which(program):
            yield f"{program} is not installed or not on PATH: it {use}"
    if not (options.image and options.cpu_image) and not release_parts.builder():
        yield "neither buildah nor docker is installed: give existing images with --image and --cpu-image"


def plan(versions: Versions, sources: Sources, parts: Sequence[Part], signs: bool) -> str:
    """Return what a release does, as text."""
    where = sources.registry or "(ANTE_REGISTRY)"
    lines = [f"Ante {versions.package}, chart {versions.chart}, commit {sources.commit[:12]}, to {where}"]
    lines += [f"  build {part.name:9} from {part.origin}" for part in parts]
    how = "push by digest, sign, attach SBOM and scan" if signs else "push by digest, without signature, SBOM and scan"
    lines += [f"  {how}: {where}/{part.repository}" for part in parts]
    lines += [f"  then tag {where}/{part.repository}:{part.tag}" for part in parts]
    return "\n".join(lines)


def make(part: Part, sources: Sources, folder: Path) -> Made:
    """Build a part, its SBOM and its scan. Raises Failed, NotALayout."""
    say(f"{part.name}: from {part.origin}")
    layout = release_parts.built(part, sources, folder)
    statements: dict[str, Path] = {}
    if sbom := release_parts.bill_of_materials(part, layout, folder):
        statements["cyclonedx"] = sbom
    scan = release_parts.scan(layout, folder / f"{part.name}.scan.json") if part.is_image else None
    if scan:
        say(f"{part.name}: {scan.summary}")
        if scan.file:
            statements["vuln"] = scan.file
    return Made(part, layout, digest(layout), statements, scan)


def publish(made: Sequence[Made], registry: Registry, signer: Signer | None) -> None:
    """Push and sign every part by digest, then set the tags. Raises Refused, Failed."""
    untagged = [one for one in made if not is_tagged(one, registry)]
    for one in made:
        upload(one, registry, signer)
    for one in untagged:
        say(f"{one.part.name}: tag {one.part.tag}")
        registry.tag(one.part.repository, one.digest, one.part.tag)


def is_tagged(one: Made, registry: Registry) -> bool:
    """Return whether the tag names this digest. Raises Refused if it names another one."""
    found = registry.digest(one.part.repository, one.part.tag)
    if found and found != one.digest:
        place = registry.place(one.part.repository, one.part.tag)
        raise Refused(f"{place} is published as {found}, this build is {one.digest}: increase the version")
    return found is not None


def upload(one: Made, registry: Registry, signer: Signer | None) -> None:
    """Push what the registry lacks of a part, its signature and its statements. Raises Failed."""
    repository, place = one.part.repository, registry.place(one.part.repository, one.digest)
    if registry.digest(repository, one.digest) is None:
        say(f"{one.part.name}: push {place}")
        registry.push(one.layout, repository, one.digest)
    if signer is None:
        return
    if not signer.is_signed(place):
        say(f"{one.part.name}: sign")
        signer.sign(place)
    for kind, file in one.statements.items():
        if not signer.has_attestation(place, kind):
            say(f"{one.part.name}: attach {file.name}")
            signer.attest(place, kind, file)


def changes(changelog: str, version: str, rehearsal: bool = False) -> str:
    """Return the section of a version without its heading; in a rehearsal, Unreleased takes its place if it is missing."""
    sections = re.split(r"^## +", changelog, flags=re.MULTILINE)[1:]
    found = {name.split()[0].strip("[]"): text.strip() for name, _, text in (each.partition("\n") for each in sections)}
    return found.get(version) or (found.get("Unreleased", "") if rehearsal else "")


def release_notes(
    made: Sequence[Made], registry: Registry, signer: Signer | None, versions: Versions, changed: str
) -> str:
    """Return the release notes: what is published, how to install and verify it, and what changed."""
    rows = [
        f"| `{registry.place(one.part.repository, one.part.tag)}` | `{one.digest}` | {size(one.layout) / 1e6:,.2f} |"
        for one in made
    ]
    scans = [f"- {one.part.name}: {one.scan.summary}" for one in made if one.scan]
    chart = f"oci://{registry.name}/{release_parts.CHARTS} --version {versions.chart}"
    verify = f"cosign verify --key cosign.pub --insecure-ignore-tlog=true {registry.name}/{IMAGE}:{versions.package}"
    signed = [verify, f"cosign verify-attestation --type cyclonedx {verify.removeprefix('cosign verify ')}"]
    return "\n".join(
        [
            f"# Ante {versions.package}",
            "",
            "```bash",
            f"helm install ante {chart} -n cards --create-namespace",
            *(signed if signer else ()),
            "```",
            "",
            "| artifact | digest | download, MB |",
            "| --- | --- | --- |",
            *rows,
            "",
            *(
                ["The signatures are in no transparency log. cosign.pub is their key."]
                if signer
                else ["Not signed; SBOM and scan are not attached."]
            ),
            "",
            *scans,
            "",
            changed,
            "",
        ]
    )


def say(line: str) -> None:
    """Print progress."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
