"""What a release consists of: two images, the chart and the packages, each built as an OCI layout below build/release.

A part that was built before from the same sources, or from the same archive, is not built again, so that a repeated
command publishes the same digests.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from tools.oci_layout import Blob, blob, manifest, read_file, transport, write_artifact
from tools.registry import Failed, finished, run

from ante.deploy.settings import Image

ROOT = Path(__file__).resolve().parent.parent
CHART = ROOT / "helm" / "ante"
IMAGE, CHARTS, PACKAGES = Image().repository, "charts/ante", "ante-balatro"
TORCH_WITHOUT_CUDA = "https://download.pytorch.org/whl/cpu"
HELM_CONFIG = "application/vnd.cncf.helm.config.v1+json"
HELM_CHART = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
PACKAGES_TYPE = "application/vnd.ante.packages.v1+json"
SBOM_TYPE = "application/vnd.cyclonedx+json"
SBOM_OF_IMAGE = "/opt/ante/sbom.cdx.json"  # written by Dockerfile.ray
LEVELS = ("critical", "high", "medium", "low")


@dataclass(frozen=True)
class Versions:
    """Versions of the package, which images have as their tag, and of the chart."""

    package: str
    chart: str


@dataclass(frozen=True)
class Sources:
    """Where parts come from: the commit, or files that exist already."""

    commit: str
    registry: str
    archives: Mapping[str, Path]  # of images, by name
    packages: Path | None = None


@dataclass(frozen=True)
class Part:
    """One part of a release: its place in the registry, and how it is built."""

    name: str
    repository: str
    tag: str
    origin: str
    build: Callable[[Path], None]  # writes the layout
    is_image: bool = False


@dataclass(frozen=True)
class Scan:
    """Known vulnerabilities of an image, or why they are unknown."""

    file: Path | None
    summary: str


def versions() -> Versions:
    """Return the versions in pyproject.toml and Chart.yaml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return Versions(project["version"], str(chart_metadata(CHART)["version"]))


def parts(found: Versions, sources: Sources) -> list[Part]:
    """Return the parts of a release, in the order in which they are published."""
    archives, version = sources.archives, found.package

    def image(name: str, tag: str, *arguments: str) -> Part:
        if archive := archives.get(name):
            return Part(name, IMAGE, tag, str(archive), lambda layout: import_image(archive, layout), True)
        words = (f"--label=org.opencontainers.image.revision={sources.commit}", *arguments)
        return Part(
            name, IMAGE, tag, "Dockerfile.ray", lambda layout: build_image(f"{IMAGE}:{tag}", layout, words), True
        )

    def packages(layout: Path) -> None:
        pack(sources.packages or made_packages(), version, layout)

    def chart(layout: Path) -> None:
        pack_chart(sources.registry, found, layout)

    origin = str(sources.packages or "make wheel, make sbom")
    return [
        Part("packages", PACKAGES, version, origin, packages),
        image("image", version),
        image("cpu-image", f"{version}-cpu", f"--build-arg=TORCH_INDEX={TORCH_WITHOUT_CUDA}"),
        Part("chart", CHARTS, found.chart, "helm package", chart),
    ]


def commit() -> str:
    """Return the commit, with a sum of uncommitted changes and of the names of new files if there are any."""
    head = run("git", "rev-parse", "HEAD", cwd=ROOT).decode().strip()
    changes = run("git", "status", "--porcelain", cwd=ROOT) + run("git", "diff", "HEAD", cwd=ROOT)
    return f"{head}+{hashlib.sha256(changes).hexdigest()[:8]}" if changes else head


def built(part: Part, sources: Sources, folder: Path) -> Path:
    """Return the layout of a part, built unless it was built before from the same sources. Raises Failed."""
    layout, stamp = folder / part.name, folder / f"{part.name}.sources"
    origin = fingerprint(part, sources)
    if stamp.is_file() and stamp.read_text() == origin:
        return layout
    stamp.unlink(missing_ok=True)
    shutil.rmtree(layout, ignore_errors=True)
    part.build(layout)
    stamp.write_text(origin)
    return layout


def fingerprint(part: Part, sources: Sources) -> str:
    """Return a text that changes if a part must be built again."""
    files = [sources.archives[part.name]] if part.name in sources.archives else []
    if part.name == "packages" and sources.packages:
        files = sorted(sources.packages.iterdir())
    facts = [f"{file.resolve()} {file.stat().st_size} {file.stat().st_mtime_ns}" for file in files]
    return "\n".join(facts) or (f"{sources.commit} {sources.registry}" if part.name == "chart" else sources.commit)


def builder() -> str | None:
    """Return the program that builds images."""
    return next((name for name in ("buildah", "docker") if shutil.which(name)), None)


def build_image(name: str, layout: Path, arguments: tuple[str, ...]) -> None:
    """Build Dockerfile.ray, without cached layers, which would lack Debian's latest security updates. Raises Failed."""
    program = builder()
    shown(program or "buildah", "build", "--no-cache", "--tag", name, "--file", "Dockerfile.ray", *arguments, ".")
    if program == "docker":
        archive = layout.with_suffix(".tar")
        run("docker", "save", "--output", archive, name)
        import_image(archive, layout)
        archive.unlink()
    else:
        run("buildah", "push", "--quiet", name, f"oci:{layout}")


def import_image(archive: Path, layout: Path) -> None:
    """Convert an image archive or layout into a layout. Raises Failed, NotALayout."""
    run("skopeo", "copy", "--quiet", transport(archive), f"oci:{layout}")


def shown(*command: str) -> None:
    """Run a program whose output goes to the terminal. Raises Failed."""
    code = subprocess.run(command, cwd=ROOT, stdout=sys.stderr, stdin=subprocess.DEVNULL).returncode
    if code:
        raise Failed(f"{command[0]} {command[1]} failed with exit code {code}; its messages are above")


def made_packages() -> Path:
    """Build wheel, sdist and SBOM into dist. Raises Failed."""
    shown("make", "wheel", "sbom")
    return ROOT / "dist"


def pack(folder: Path, version: str, layout: Path) -> None:
    """Write the wheel, the sdist and their SBOM as an artifact. Raises Failed."""
    names = (f"ante_balatro-{version}-py3-none-any.whl", f"ante_balatro-{version}.tar.gz", "sbom.json")
    kinds = ("application/zip", "application/gzip", SBOM_TYPE)
    for name in names:
        if not (folder / name).is_file():
            raise Failed(f"{folder} does not contain {name}: run make wheel sbom")
    write_artifact(layout, [Blob(folder / name, kind) for name, kind in zip(names, kinds, strict=True)], PACKAGES_TYPE)


def pack_chart(registry: str, found: Versions, layout: Path) -> None:
    """Package the chart, with the release's image as its default, and write it as an artifact. Raises Failed."""
    copy = layout.parent / "chart-source" / CHART.name
    shutil.rmtree(copy.parent, ignore_errors=True)
    shutil.copytree(CHART, copy)
    name_images(copy, registry, found)
    run("helm", "package", copy, "--destination", copy.parent, "--app-version", found.package)
    metadata = chart_metadata(copy) | {"appVersion": found.package}
    file = copy.parent / f"{metadata['name']}-{found.chart}.tgz"
    write_artifact(layout, [Blob(file, HELM_CHART)], HELM_CONFIG, metadata)


def name_images(chart: Path, registry: str, found: Versions) -> None:
    """Make the image in a registry the default of a copy of the chart."""
    from tools.write_chart import HEAD, block, readme

    from ante.deploy.chart import ChartValues

    image = {"repository": f"{registry}/{IMAGE}", "tag": found.package}
    (chart / "values.yaml").write_text(HEAD + block(ChartValues.model_validate({"image": image})))
    text = readme().replace("ante helm/ante ", f"ante oci://{registry}/{CHARTS} --version {found.chart} ")
    (chart / "README.md").write_text(text.replace(f"`{IMAGE}`", f"`{image['repository']}`"))


def chart_metadata(chart: Path) -> dict[str, Any]:
    """Return the contents of Chart.yaml."""
    return dict(yaml.safe_load((chart / "Chart.yaml").read_text()))


def bill_of_materials(part: Part, layout: Path, folder: Path) -> Path | None:
    """Write the SBOM of a part; None for the chart, which contains no packages. Raises Failed."""
    file = folder / f"{part.name}.cdx.json"
    if part.is_image:
        file.write_bytes(sbom_of_image(layout))
        return file
    if part.name == "packages":
        [sbom] = [each for each in manifest(layout)["layers"] if each["mediaType"] == SBOM_TYPE]
        shutil.copyfile(blob(layout, sbom["digest"]), file)
        return file
    return None


def sbom_of_image(layout: Path) -> bytes:
    """Return the SBOM of syft, with all packages of the system, or else the one that the build wrote. Raises Failed."""
    if shutil.which("syft"):
        return run("syft", "scan", f"oci-dir:{layout}", "--output", "cyclonedx-json", "--quiet")
    found = read_file(layout, SBOM_OF_IMAGE)
    if found is None:
        raise Failed(f"the image does not contain {SBOM_OF_IMAGE}: build it from Dockerfile.ray, or install syft")
    return found


def scan(layout: Path, file: Path) -> Scan:
    """Scan an image with grype or trivy and write the result as a statement of cosign's type `vuln`."""
    for program, words, counted in (
        ("grype", ("--output", "json", f"oci-dir:{layout}"), counts_of_grype),
        ("trivy", ("image", "--quiet", "--format", "json", "--input", str(layout)), counts_of_trivy),
    ):
        if shutil.which(program):
            done = finished(program, *words)
            if done.returncode:
                lines = done.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
                return Scan(None, f"not scanned: {program} failed: {lines[-1]}")
            result = json.loads(done.stdout)
            file.write_text(json.dumps({"scanner": {"uri": program, "result": result}}))
            counts = counted(result)
            return Scan(file, f"{program}: " + ", ".join(f"{counts[level]} {level}" for level in LEVELS))
    return Scan(None, "not scanned: neither grype nor trivy is installed")


def counts_of_grype(result: dict[str, Any]) -> Counter[str]:
    """Return the number of vulnerabilities by severity, in lower case."""
    return Counter(match["vulnerability"]["severity"].lower() for match in result["matches"])


def counts_of_trivy(result: dict[str, Any]) -> Counter[str]:
    """Return the number of vulnerabilities by severity, in lower case."""
    every = [found for each in result.get("Results") or [] for found in each.get("Vulnerabilities") or []]
    return Counter(found["Severity"].lower() for found in every)
