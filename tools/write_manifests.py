"""Write k8s/: plain manifests, one subject a file. `--check` fails where a file is stale, missing or not ours.

Trainings come from the presets through `ante.deploy.spec`, services from the Helm chart, whose Secrets must exist.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import helm_python
import yaml

from ante.deploy.access import KINDS
from ante.deploy.preflight import NEEDED
from ante.deploy.settings import preset, presets, read_settings
from ante.deploy.spec import as_yaml, objects

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "k8s"
NAMESPACE = "ante"
HEAD = "# {about}\n# Written by tools/write_manifests.py: change {source} instead.\n"
KEYS = "--from-literal=S3_ACCESS_KEY_ID=... --from-literal=S3_SECRET_ACCESS_KEY=..."
ROOT_KEYS = "--from-literal=MINIO_ROOT_USER=... --from-literal=MINIO_ROOT_PASSWORD=..."
# File: template of the chart, what it is.
SERVICES = {
    "object-store": (
        ("objectstore.yaml", "bucket.yaml"),
        f"An S3 server with a console, its bucket and a user. First: kubectl -n ante create secret generic ante-objectstore "
        f"{ROOT_KEYS}; kubectl -n ante create secret generic ante-s3 {KEYS}",
    ),
    "llm": (("llm.yaml",), "A small LLM on cores (llama.cpp) for hints; put its weights into the claim."),
    "network-policies": (("networkpolicies.yaml",), "Nothing reaches these pods but what is needed."),
}
VALUES: dict[str, Any] = {
    "skipCrdCheck": True,
    "objectStore": {"existingSecret": "ante-objectstore"},
    "s3": {"existingSecret": "ante-s3"},
    "llmServer": {"enabled": True, "kind": "llamacpp", "modelPath": "/models/model.gguf"},
    "llm": {"enabled": True, "model": "model"},
}
OF_HELM = ("app.kubernetes.io/managed-by", "helm.sh/chart")


def files() -> dict[str, str]:
    """Every file of the folder by its name."""
    made = {"namespace.yaml": namespace(), "rbac.yaml": rbac()}
    for name in presets():
        made[f"rayjob-{name}.yaml"] = training(name, job=True)
    for name in ("cpu", "gpu"):
        made[f"raycluster-{name}.yaml"] = training(name, job=False)
    made |= {f"{name}.yaml": service(*SERVICES[name]) for name in SERVICES}
    return made


def text(about: str, source: str, found: list[dict[str, Any]]) -> str:
    """A file."""
    lines = "\n# ".join(wrapped(about))
    return HEAD.format(about=lines, source=source) + as_yaml(found)


def wrapped(about: str) -> Iterator[str]:
    """Text in lines of at most 118 letters."""
    line = ""
    for word in about.split():
        if line and len(line) + len(word) > 117:
            yield line
            line = ""
        line = f"{line} {word}".strip()
    yield line


def namespace() -> str:
    """The namespace, in which pods may do little."""
    labels = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn")}
    found = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": labels}}
    return text("The namespace of all other files; pods that may do more than ours are refused.", "the tool", [found])


def rbac() -> str:
    """Return the role of users of `ante cluster`, from the permissions that its preflight checks."""
    verbs: dict[tuple[str, str], list[str]] = {}
    for verb, kind, part in NEEDED:
        prefix, plural, _ = KINDS[kind]
        group = prefix.split("/")[1] if prefix.startswith("apis/") else ""
        verbs.setdefault((group, f"{plural}/{part}" if part else plural), []).append(verb)
    rules = [{"apiGroups": [group], "resources": [name], "verbs": found} for (group, name), found in verbs.items()]
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": about("ante-user"),
        "rules": rules,
    }
    reader = {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "ante-capacity"},
        "rules": [{"apiGroups": [""], "resources": ["nodes", "pods", "namespaces"], "verbs": ["get", "list"]},
                  {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["list"]},
                  {"apiGroups": ["kueue.x-k8s.io"], "resources": ["localqueues", "clusterqueues"], "verbs": ["get", "list"]}],
    }  # fmt: skip
    words = (
        "Who may use `ante cluster`: bind Role ante-user in the namespace; ClusterRole ante-capacity lets preflight see nodes. "
        "kubectl -n ante create rolebinding ante-user --role=ante-user --user=NAME"
    )
    return text(words, "src/ante/deploy/preflight.py", [role, reader])


def about(name: str) -> dict[str, Any]:
    """Metadata."""
    return {"name": name, "namespace": NAMESPACE, "labels": {"app.kubernetes.io/name": "ante"}}


def training(name: str, job: bool) -> str:
    """Return a training of a preset, for the object store next to it."""
    pairs = (f"job.enabled={str(job).lower()}", "s3.endpoint=http://ante-objectstore:9000", "s3.existingSecret=ante-s3")
    settings = read_settings((preset(name),), pairs, namespace=NAMESPACE)
    kind = "A training with a dedicated cluster" if job else "A Ray cluster that waits for jobs"
    comment = preset(name).read_text().splitlines()[0].removeprefix("# ")
    return text(f"{kind}. {comment}", f"src/ante/deploy/presets/{name}.yaml", objects(settings))


def service(templates: tuple[str, ...], words: str) -> str:
    """Objects of some templates of the chart."""
    helm_python.disable_logging()
    with helm_python.Chart.load(ROOT / "helm" / "ante") as chart:
        made = chart.render(VALUES, name="ante", namespace=NAMESPACE)
    found = [
        plain(one) for name in templates for one in yaml.safe_load_all(made[f"ante/templates/{name}"]) if one
    ]  # fmt: skip
    return text(words, f"helm/ante/templates/{templates[0]}", found)


def plain(found: dict[str, Any]) -> dict[str, Any]:
    """An object without the marks of Helm."""
    for label in OF_HELM:
        found["metadata"].get("labels", {}).pop(label, None)
    hooks = {key: value for key, value in found["metadata"].pop("annotations", {}).items() if "helm.sh" not in key}
    if hooks:
        found["metadata"]["annotations"] = hooks
    return found


def main() -> int:
    """Write or check; answers the exit code."""
    made, there = files(), {file.name: file.read_text() for file in FOLDER.glob("*.yaml")}
    if "--check" in sys.argv:
        wrong = [name for name in sorted(made | there) if made.get(name) != there.get(name)]
        if wrong:
            print(f"k8s/ is stale ({', '.join(wrong)}): run python tools/write_manifests.py", file=sys.stderr)
        return 1 if wrong else 0
    FOLDER.mkdir(exist_ok=True)
    for name, words in made.items():
        (FOLDER / name).write_text(words)
    return 0


if __name__ == "__main__":
    sys.exit(main())
