"""A registry, which skopeo reads and writes, and the signatures in it, which cosign creates and verifies."""

import hashlib
import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ABSENT = re.compile(r"manifest unknown|name unknown|not found|404", re.IGNORECASE)
REFUSED = re.compile(r"unauthorized|denied|authentication required", re.IGNORECASE)
# A signing configuration of Sigstore without services: signatures stay in the registry and enter no public log.
SIGNING_CONFIG = {
    "mediaType": "application/vnd.dev.sigstore.signingconfig.v0.2+json",
    "rekorTlogConfig": {},
    "tsaConfig": {},
}


class Failed(Exception):
    """A program that is missing or ended with an error."""


def run(*command: str | Path, cwd: Path | None = None) -> bytes:
    """Run a program and return what it prints. Raises Failed with the end of its messages."""
    done = finished(*command, cwd=cwd)
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
        raise Failed(f"{command[0]} {command[1]} failed with exit code {done.returncode}: {' / '.join(lines[-3:])}")
    return done.stdout


def finished(*command: str | Path, cwd: Path | None = None) -> "subprocess.CompletedProcess[bytes]":
    """Run a program without input to its end. Raises Failed if it is not installed."""
    words = [str(word) for word in command]
    try:
        return subprocess.run(words, cwd=cwd, capture_output=True, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        raise Failed(f"{words[0]} is not installed or not on PATH") from None


@dataclass(frozen=True)
class Registry:
    """The registry, with a path if needed, that receives a release."""

    name: str
    plain_http: bool = False

    def place(self, repository: str, reference: str) -> str:
        """Return the name of a digest or tag in a repository."""
        return f"{self.name}/{repository}{'@' if ':' in reference else ':'}{reference}"

    def digest(self, repository: str, reference: str) -> str | None:
        """Return the digest of a tag or digest, or None if the registry does not have it. Raises Failed."""
        place = self.place(repository, reference)
        done = finished("skopeo", "inspect", "--raw", f"--tls-verify={self.tls}", f"docker://{place}")
        if done.returncode == 0:
            return f"sha256:{hashlib.sha256(done.stdout).hexdigest()}"
        message = done.stderr.decode(errors="replace").strip()
        if ABSENT.search(message):
            return None
        way_out = f": run skopeo login {self.name.partition('/')[0]}" if REFUSED.search(message) else ""
        raise Failed(f"{place} cannot be read{way_out}: {message[-300:]}")

    def push(self, layout: Path, repository: str, digest: str) -> None:
        """Copy the image or artifact of a layout, without a tag. Raises Failed."""
        self._copy(f"oci:{layout}", self.place(repository, digest))

    def tag(self, repository: str, digest: str, tag: str) -> None:
        """Give a digest of the registry a tag. Raises Failed."""
        self._copy(f"docker://{self.place(repository, digest)}", self.place(repository, tag))

    def _copy(self, source: str, target: str) -> None:
        verify = (f"--src-tls-verify={self.tls}", f"--dest-tls-verify={self.tls}")
        run("skopeo", "copy", "--quiet", "--all", "--preserve-digests", *verify, source, f"docker://{target}")

    @property
    def tls(self) -> str:
        """Whether skopeo verifies certificates; without that it also accepts plain HTTP."""
        return "false" if self.plain_http else "true"


@dataclass(frozen=True)
class Signer:
    """A key of cosign, a file or a reference to a KMS, and a folder for its public part."""

    key: str
    folder: Path
    plain_http: bool = False

    @property
    def public_key(self) -> Path:
        """The file of the public key."""
        return self.folder / "cosign.pub"

    def prepare(self) -> None:
        """Write the public key and the configuration of signatures. Raises Failed."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.public_key.write_bytes(self._run("public-key", "--key", self.key))
        self._config.write_text(json.dumps(SIGNING_CONFIG))

    def is_signed(self, place: str) -> bool:
        """Return whether a digest has a signature of this key."""
        return self._is_valid("verify", place)

    def has_attestation(self, place: str, kind: str) -> bool:
        """Return whether a digest has a signed statement of a kind, cyclonedx or vuln."""
        return self._is_valid("verify-attestation", "--type", kind, place)

    def sign(self, place: str) -> None:
        """Sign a digest. Raises Failed."""
        self._run("sign", *self._signing, place)

    def attest(self, place: str, kind: str, file: Path) -> None:
        """Attach a signed statement. Raises Failed."""
        self._run("attest", *self._signing, "--type", kind, "--predicate", str(file), place)

    def _is_valid(self, *words: str) -> bool:
        given = ("--key", str(self.public_key), "--insecure-ignore-tlog=true", *self._http)
        return finished("cosign", words[0], *given, *words[1:]).returncode == 0

    def _run(self, *words: str) -> bytes:
        try:
            return run("cosign", *words)
        except Failed as error:
            raise Failed(str(error).replace(self.key, "ANTE_SIGNING_KEY")) from None

    @property
    def _config(self) -> Path:
        return self.folder / "signing-config.json"

    @property
    def _signing(self) -> tuple[str, ...]:
        return ("--yes", "--key", self.key, "--signing-config", str(self._config), *self._http)

    @property
    def _http(self) -> tuple[str, ...]:
        return ("--allow-http-registry",) if self.plain_http else ()
