"""tools/release.py: its plan and notes, that tags come last after any failure, and a release to a real registry.

The fast tests replace skopeo, cosign and helm by a small model of a registry. The nightly test runs the real programs.
"""

import base64
import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml
from tools import oci_layout, registry, release, release_parts

from ante import __version__
from ante.cli.platform.cluster import Render
from ante.cli.platform.images import Images
from tests.support.release import SBOM, registry_at, write_image, write_packages

ROOT = Path(__file__).resolve().parents[1]
NAME = "registry.example.com/team"
CHANGELOG = (
    "# Changelog\n\n## Unreleased\n\n- later\n\n## 0.1.0 (2026-11-25)\n\n### New\n- first\n\n## 0.0.9\n\n- before\n"
)


@pytest.fixture
def images(tmp_path: Path) -> dict[str, Path]:
    """Return two images with an SBOM, as Dockerfile.ray writes it."""
    common = {"opt/ante/sbom.cdx.json": SBOM}
    return {name: write_image(tmp_path / name / "layout", common, {"kind": name.encode()}) for name in ("gpu", "cpu")}


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """Return a folder with the files that `make wheel sbom` writes."""
    return write_packages(tmp_path / "dist")


@dataclass
class Model:
    """A registry: manifests, tags, signatures and attestations. The change numbered `fails_at` fails."""

    folder: Path
    digests: set[str] = field(default_factory=set)
    tags: dict[str, str] = field(default_factory=dict)
    signed: set[str] = field(default_factory=set)
    attested: set[tuple[str, str]] = field(default_factory=set)
    changes: list[str] = field(default_factory=list)
    fails_at: int = -1

    def finished(self, *command: Any, cwd: Path | None = None) -> "subprocess.CompletedProcess[bytes]":
        """Do what a program would do."""
        words = [str(word) for word in command]
        if words[0] == "git":
            return subprocess.run(words, cwd=cwd, capture_output=True)
        code, out, error = getattr(self, words[0])(*words[1:])
        return subprocess.CompletedProcess(words, code, out, error.encode())

    def change(self, what: str) -> bool:
        self.changes.append(what)
        return len(self.changes) != self.fails_at

    def helm(self, verb: str, chart: str, _: str, folder: str, *more: str) -> tuple[int, bytes, str]:
        assert verb == "package"
        version = yaml.safe_load((Path(chart) / "Chart.yaml").read_text())["version"]
        with tarfile.open(Path(folder) / f"ante-{version}.tgz", "w:gz") as archive:
            archive.add(chart, arcname="ante")
        return 0, b"", ""

    def skopeo(self, verb: str, *words: str) -> tuple[int, bytes, str]:
        *_, target = words
        if verb == "inspect":
            place = target.removeprefix("docker://")
            found = self.tags.get(place, place.rpartition("@")[2] if place in self.digests else None)
            return (0, self.manifest(found), "") if found else (1, b"", "manifest unknown")
        source = words[-2]
        if target.startswith("oci:"):
            shutil.copytree(source.removeprefix("oci:"), target.removeprefix("oci:"))
            return 0, b"", ""
        place = target.removeprefix("docker://")
        if not self.change(f"copy {place}"):
            return 1, b"", "connection reset"
        if source.startswith("oci:"):
            contents = manifest_of(Path(source.removeprefix("oci:")))
            found = f"sha256:{hashlib.sha256(contents).hexdigest()}"
            assert place.endswith(f"@{found}")
            self.digests.add(place)
            MANIFESTS[found] = contents
        else:
            assert source.removeprefix("docker://") in self.digests
            self.tags[place] = source.rpartition("@")[2]
        return 0, b"", ""

    def manifest(self, digest: str) -> bytes:
        return MANIFESTS[digest]

    def cosign(self, verb: str, *words: str) -> tuple[int, bytes, str]:
        place, kind = words[-1], words[words.index("--type") + 1] if "--type" in words else ""
        if verb == "public-key":
            return 0, b"public", ""
        if verb == "verify":
            return int(place not in self.signed), b"", ""
        if verb == "verify-attestation":
            return int((place, kind) not in self.attested), b"", ""
        assert place in self.digests
        if not self.change(f"{verb} {kind} {place}"):
            return 1, b"", f"{words[words.index('--key') + 1]}: no answer"
        if verb == "sign":
            self.signed.add(place)
        else:
            self.attested.add((place, kind))
        return 0, b"", ""


MANIFESTS: dict[str, bytes] = {}


def manifest_of(layout: Path) -> bytes:
    """Return the manifest of a layout, read without tools/oci_layout.py."""
    [described] = json.loads((layout / "index.json").read_text())["manifests"]
    return (layout / "blobs" / described["digest"].replace(":", "/")).read_bytes()


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Model:
    """Replace the programs by a model of a registry."""
    found = Model(tmp_path / "built" / __version__)
    monkeypatch.setattr(registry, "finished", lambda *words, cwd=None: found.finished(*words, cwd=cwd))
    monkeypatch.setattr(shutil, "which", lambda name: None if name in ("syft", "grype", "trivy") else f"/bin/{name}")
    key = tmp_path / "cosign.key"
    key.write_text("x")
    monkeypatch.setenv("ANTE_REGISTRY", NAME)
    monkeypatch.setenv("ANTE_SIGNING_KEY", str(key))
    return found


@pytest.fixture
def words(images: dict[str, Path], packages: Path, model: Model) -> list[str]:
    """Return arguments of a release that builds no image."""
    given = ["--image", str(images["gpu"]), "--cpu-image", str(images["cpu"]), "--packages", str(packages)]
    return ["--rehearsal", "--folder", str(model.folder.parent), *given]


def complete(model: Model) -> bool:
    """Return whether every tag names a digest that exists, is signed, and is described if it contains packages."""
    places = [f"{tag.rpartition(':')[0]}@{digest}" for tag, digest in model.tags.items()]
    described = [(place, "cyclonedx") in model.attested for place in places if "/charts/" not in place]
    return all(place in model.digests & model.signed for place in places) and all(described)


def test_a_release_sets_all_tags_and_a_second_one_changes_nothing(words: list[str], model: Model) -> None:
    assert release.main(words) == 0
    chart = yaml.safe_load((ROOT / "helm/ante/Chart.yaml").read_text())["version"]
    names = (
        f"ante-balatro:{__version__}",
        f"ante-ray:{__version__}",
        f"ante-ray:{__version__}-cpu",
        f"charts/ante:{chart}",
    )
    assert set(model.tags) == {f"{NAME}/{name}" for name in names}
    assert complete(model)
    first = [place.partition(" ")[0] for place in model.changes].index("copy")
    assert first == 0 and all(re.search(r":[^:@]+$", change) and "@" not in change for change in model.changes[-4:])
    before = list(model.changes)
    assert release.main(words) == 0
    assert model.changes == before


def test_a_tag_never_names_an_incomplete_part_and_a_repeated_command_continues(words: list[str], model: Model) -> None:
    assert release.main(words) == 0
    whole, tags = len(model.changes), dict(model.tags)
    assert whole > 12
    for number in range(1, whole + 1):
        fresh = Model(model.folder, fails_at=number)
        vars(model).update(vars(fresh))
        assert release.main(words) == 1
        assert complete(model)
        if model.tags:  # the first tag is set only when everything is complete
            assert {f"{tag.rpartition(':')[0]}@{digest}" for tag, digest in tags.items()} <= model.signed
        assert release.main(words) == 0
        assert model.tags == tags
        assert len(model.changes) == whole + 1  # the one that failed was done again, no other


def test_a_published_version_is_never_replaced(
    words: list[str], model: Model, packages: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert release.main(words) == 0
    before = dict(model.tags), len(model.changes)
    (packages / "sbom.json").write_bytes(SBOM + b"\n")
    assert release.main(words) == 2
    assert "increase the version" in capsys.readouterr().err
    assert (model.tags, len(model.changes)) == before


def test_a_dry_run_shows_the_plan_and_changes_nothing(
    words: list[str], model: Model, capsys: pytest.CaptureFixture[str]
) -> None:
    assert release.main([*words, "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"  then tag {NAME}/ante-ray:{__version__}-cpu" in lines
    pushed = [number for number, line in enumerate(lines) if "push by digest" in line]
    tagged = [number for number, line in enumerate(lines) if "then tag" in line]
    assert len(pushed) == len(tagged) == 4 and max(pushed) < min(tagged)
    assert model.changes == [] and not model.folder.exists()


def test_the_chart_of_a_release_has_its_image_as_default(words: list[str], model: Model, tmp_path: Path) -> None:
    assert release.main(words) == 0
    layout = model.folder / "chart"
    manifest = json.loads(manifest_of(layout))
    assert manifest["config"]["mediaType"] == "application/vnd.cncf.helm.config.v1+json"
    [chart] = manifest["layers"]
    with tarfile.open(layout / "blobs" / chart["digest"].replace(":", "/")) as archive:
        archive.extractall(tmp_path / "chart", filter="data")
    values = yaml.safe_load((tmp_path / "chart/ante/values.yaml").read_text())
    assert values["image"]["repository"] == f"{NAME}/ante-ray" and values["image"]["tag"] == __version__
    ours = yaml.safe_load((ROOT / "helm/ante/values.yaml").read_text())
    assert values | {"image": ours["image"]} == ours
    text = (tmp_path / "chart/ante/README.md").read_text()
    assert f"helm install ante oci://{NAME}/charts/ante --version" in text and f"`{NAME}/ante-ray`" in text


def test_notes_name_every_digest_and_say_that_nothing_was_scanned(words: list[str], model: Model) -> None:
    assert release.main(words) == 0
    notes = (model.folder / "NOTES.md").read_text()
    assert all(f"| `{tag}` | `{digest}` |" in notes for tag, digest in model.tags.items())
    assert notes.count("not scanned: neither grype nor trivy is installed") == 2
    assert f"helm install ante oci://{NAME}/charts/ante --version" in notes


def test_changes_of_a_version_are_its_section() -> None:
    assert release.changes(CHANGELOG, "0.1.0") == "### New\n- first"
    assert release.changes(CHANGELOG, "0.0.9") == "- before"
    assert release.changes(CHANGELOG, "0.2.0") == ""
    assert release.changes(CHANGELOG, "0.2.0", rehearsal=True) == "- later"


@pytest.mark.parametrize(
    ("variables", "more", "expected"),
    [
        ({"ANTE_REGISTRY": ""}, [], "ANTE_REGISTRY is ''"),
        ({"ANTE_REGISTRY": "https://registry.example.com"}, [], "set it to a registry"),
        ({"ANTE_SIGNING_KEY": ""}, [], "ANTE_SIGNING_KEY names no key"),
        ({"ANTE_SIGNING_KEY": "missing.key"}, [], "a file that does not exist"),
        ({"ANTE_SIGNING_KEY": "-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\nabc"}, [], "contains a key"),
        ({}, ["--image", "missing.tar"], "missing.tar does not exist"),
    ],
)
def test_wrong_input_is_refused_before_anything_is_built(
    variables: dict[str, str],
    more: list[str],
    expected: str,
    words: list[str],
    model: Model,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert release.main([*words, *more]) == 2
    said = capsys.readouterr()
    assert expected in said.err
    assert "abc" not in said.err + said.out
    assert model.changes == [] and not model.folder.exists()


@pytest.mark.parametrize(
    ("message", "expected"), [("unauthorized", "skopeo login registry.example.com"), ("no route", "")]
)
def test_a_registry_that_refuses_or_does_not_answer_is_reported(
    message: str,
    expected: str,
    words: list[str],
    model: Model,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    works = model.skopeo
    monkeypatch.setattr(model, "skopeo", lambda *given: (1, b"", message) if given[0] == "inspect" else works(*given))
    assert release.main(words) == 1
    error = capsys.readouterr().err
    assert f": {message}" in error and expected in error and ("login" in error) == bool(expected)
    assert model.changes == []


def test_a_file_that_is_no_image_is_refused(
    words: list[str], model: Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "image.tar").write_text("no archive")
    assert release.main([*words, "--image", str(tmp_path / "image.tar")]) == 2
    assert "image.tar is no tar archive" in capsys.readouterr().err


def test_missing_programs_are_named(
    words: list[str], model: Model, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert release.main(["--rehearsal"]) == 2
    errors = capsys.readouterr().err
    for name in ("skopeo", "helm", "cosign", "neither buildah nor docker"):
        assert name in errors
    assert release.main([*words, "--unsigned"]) == 2


def test_the_key_is_not_in_messages(
    words: list[str], model: Model, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANTE_SIGNING_KEY", "hashivault://very-private")
    model.fails_at = 2  # the first signature
    assert release.main(words) == 1
    said = capsys.readouterr()
    assert "ANTE_SIGNING_KEY: no answer" in said.err and "the same command continues" in said.err
    assert "very-private" not in said.out + said.err


@pytest.mark.parametrize(
    ("program", "result"),
    [
        ("grype", {"matches": [{"vulnerability": {"severity": name}} for name in ("High", "Low", "High", "Unknown")]}),
        ("trivy", {"Results": [{"Vulnerabilities": [{"Severity": name} for name in ("HIGH", "HIGH", "LOW")]}, {}]}),
    ],
)
def test_a_scan_is_counted_and_attached(
    program: str, result: dict[str, Any], words: list[str], model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        shutil, "which", lambda name: None if name in ({"syft", "grype", "trivy"} - {program}) else name
    )
    done = subprocess.CompletedProcess([program], 0, json.dumps(result).encode(), b"")
    monkeypatch.setattr(release_parts, "finished", lambda *command, cwd=None: done)
    assert release.main(words) == 0
    assert {place for place, kind in model.attested if kind == "vuln"} == {
        f"{NAME}/ante-ray@{digest}" for tag, digest in model.tags.items() if "ante-ray:" in tag
    }
    notes = (model.folder / "NOTES.md").read_text()
    assert f"{program}: 0 critical, 2 high, 0 medium, 1 low" in notes


def test_a_scanner_without_its_database_is_reported(
    words: list[str], model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None if name in ("syft", "trivy") else name)
    done = subprocess.CompletedProcess(["grype"], 1, b"", b"starting\nno database\n")
    monkeypatch.setattr(release_parts, "finished", lambda *command, cwd=None: done)
    assert release.main(words) == 0
    assert "not scanned: grype failed: no database" in (model.folder / "NOTES.md").read_text()
    assert "vuln" not in {kind for _, kind in model.attested}


def test_a_file_of_an_image_is_that_of_the_highest_layer(tmp_path: Path) -> None:
    found = write_image(
        tmp_path / "a" / "layout", {"etc/one": b"old", "etc/two": b"2"}, {"etc/one": b"new"}, {"etc/.wh.two": b""}
    )
    assert oci_layout.read_file(found, "/etc/one") == b"new"
    assert oci_layout.read_file(found, "/etc/two") is None
    assert oci_layout.read_file(found, "/etc/three") is None
    gone = write_image(tmp_path / "b" / "layout", {"etc/one": b"old"}, {".wh.etc": b""})
    assert oci_layout.read_file(gone, "/etc/one") is None


def test_archives_are_recognised(tmp_path: Path) -> None:
    for name, kind in (("oci-layout", "oci-archive"), ("manifest.json", "docker-archive")):
        with tarfile.open(tmp_path / kind, "w") as archive:
            archive.addfile(tarfile.TarInfo(f"./{name}"))
        assert oci_layout.transport(tmp_path / kind) == f"{kind}:{tmp_path / kind}"
    (tmp_path / "text").write_text("no archive")
    for wrong in (tmp_path / "text", tmp_path, tmp_path / "missing"):
        with pytest.raises(oci_layout.NotALayout):
            oci_layout.transport(wrong)


def test_a_damaged_layout_is_refused(images: dict[str, Path]) -> None:
    found = oci_layout.digest(images["gpu"])
    oci_layout.blob(images["gpu"], found).write_text("{}")
    with pytest.raises(oci_layout.NotALayout, match="damaged"):
        oci_layout.digest(images["gpu"])


def test_one_version_is_named_everywhere() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == __version__
    assert yaml.safe_load((ROOT / "helm/ante/Chart.yaml").read_text())["appVersion"] == __version__
    files = [*(ROOT / "helm/ante/ci").glob("*.yaml"), *(ROOT / "src/ante/deploy/presets").glob("*.yaml")]
    tags = [yaml.safe_load(file.read_text()).get("image", {}).get("tag") for file in files]
    assert {tag for tag in tags if tag} == {f"{__version__}-cpu"}
    for file in (ROOT / "Dockerfile.ray", *(ROOT / "docker").iterdir()):
        assert set(re.findall(r'image\.version="(.*)"', file.read_text())) <= {__version__}


def test_cluster_commands_use_the_image_of_the_registry_unless_the_values_name_another(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def image_of(**options: Any) -> str:
        return Render(**options).settings().image.reference

    monkeypatch.delenv("ANTE_REGISTRY", raising=False)
    assert image_of() == f"ante-ray:{__version__}"
    monkeypatch.setenv("ANTE_REGISTRY", f"{NAME}/")
    assert image_of() == f"{NAME}/ante-ray:{__version__}"
    assert image_of(preset="cpu") == f"{NAME}/ante-ray:{__version__}-cpu"
    assert image_of(set=("image.repository=mine/ray", "image.tag=v1")) == "mine/ray:v1"
    assert Images(quiet=True).run() == 0
    assert capsys.readouterr().out.splitlines()[0] == f"{NAME}/ante-ray:{__version__}"


def needed(*programs: str) -> None:
    """Skip the test if one of these programs is missing."""
    if missing := [name for name in programs if not shutil.which(name)]:
        pytest.skip(f"not installed: {', '.join(missing)} (tools/system.sh release, docs/how-to/release.md)")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """Start a registry on a free port of this machine and return its address."""
    needed("docker-registry", "skopeo", "helm")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with registry_at(address, tmp_path):
        yield address


@dataclass(frozen=True)
class Release:
    """A release to a real registry by the real programs."""

    folder: Path
    registry: str
    words: list[str]
    key: Path | None = None

    def publish(self) -> list[str]:
        """Run the command and return its lines of progress."""
        words = ["--rehearsal", "--plain-http", "--folder", str(self.folder / "built"), *self.words]
        done = self.run(sys.executable, "-m", "tools.release", *words, *(() if self.key else ("--unsigned",)))
        return [line for line in done.stderr.splitlines() if re.match(r"[a-z-]+: (push|sign|attach|tag) ?", line)]

    def run(self, *words: str | Path, code: int | None = 0) -> "subprocess.CompletedProcess[str]":
        variables = {**os.environ, "ANTE_REGISTRY": self.registry, "ANTE_SIGNING_KEY": str(self.key or "")}
        variables |= {
            "COSIGN_PASSWORD": "test",
            "HOME": str(self.folder),
            "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}",
        }
        done = subprocess.run(list(map(str, words)), cwd=self.folder, env=variables, capture_output=True, text=True)
        assert (done.returncode == code) if code is not None else done.returncode, done.stdout + done.stderr
        return done

    def tagged(self, name: str, tag: str) -> str:
        """Return the digest of a tag, requested from the registry without skopeo."""
        host, _, path = self.registry.partition("/")
        accepted = {"Accept": "application/vnd.oci.image.manifest.v1+json"}
        answer = requests.get(f"http://{host}/v2/{path}/{name}/manifests/{tag}", headers=accepted, timeout=5)
        assert answer.ok, answer.text
        assert answer.headers["Docker-Content-Digest"] == f"sha256:{hashlib.sha256(answer.content).hexdigest()}"
        return answer.headers["Docker-Content-Digest"]


@pytest.fixture
def published(server: str, images: dict[str, Path], packages: Path, tmp_path: Path) -> Release:
    """Return a release that builds no image."""
    words = ["--image", str(images["gpu"]), "--cpu-image", str(images["cpu"]), "--packages", str(packages)]
    return Release(tmp_path, f"{server}/team", words)


CHART = yaml.safe_load((ROOT / "helm/ante/Chart.yaml").read_text())["version"]
TAGS = {"packages": ("ante-balatro", __version__), "image": ("ante-ray", __version__),
        "cpu-image": ("ante-ray", f"{__version__}-cpu"), "chart": ("charts/ante", CHART)}  # fmt: skip


@pytest.mark.nightly
def test_a_real_registry_has_what_was_built_and_helm_installs_from_it(published: Release) -> None:
    lines = published.publish()
    assert [line.split()[1] for line in lines] == ["push"] * 4 + ["tag"] * 4
    for part, (name, tag) in TAGS.items():
        built = hashlib.sha256(manifest_of(published.folder / "built" / __version__ / part)).hexdigest()
        assert published.tagged(name, tag) == f"sha256:{built}"
    chart = (f"oci://{published.registry}/charts/ante", "--version", CHART, "--plain-http")
    rendered = published.run("helm", "template", "ante", *chart, "--set", "skipCrdCheck=true").stdout
    assert f"{published.registry}/ante-ray:{__version__}" in rendered and '"ante-ray:' not in rendered
    assert published.publish() == []


@pytest.mark.nightly
def test_cosign_verifies_every_part_and_its_sbom(published: Release) -> None:
    needed("cosign")
    published.run("cosign", "generate-key-pair")
    published.run("cosign", "generate-key-pair", "--output-key-prefix", "other")
    signed = replace(published, key=published.folder / "cosign.key")
    kinds = [line.split()[1] for line in signed.publish()]
    assert (kinds.count("sign"), kinds.count("attach"), kinds[-4:]) == (4, 3, ["tag"] * 4)
    common = ("--insecure-ignore-tlog=true", "--allow-http-registry")
    for part, (name, tag) in TAGS.items():
        place = f"{signed.registry}/{name}@{signed.tagged(name, tag)}"
        signed.run("cosign", "verify", "--key", "cosign.pub", *common, place)
        signed.run("cosign", "verify", "--key", "other.pub", *common, place, code=None)
        if part != "chart":
            verify = ("cosign", "verify-attestation", "--key", "cosign.pub", *common, "--type", "cyclonedx", place)
            statement = json.loads(base64.b64decode(json.loads(signed.run(*verify).stdout.splitlines()[0])["payload"]))
            assert statement["predicate"]["bomFormat"] == "CycloneDX"
    assert signed.publish() == []
