"""The JSON schemas of the Kubernetes objects in `deploy/kubernetes.yaml`.

They are Kubernetes' own, as the package kubernetes-validate 1.37.0 carries them, without the
descriptions and without what these objects do not refer to: the package has 17,000 files. To take
newer ones, install it in an environment of its own, and run

    python -m tests.deploy.kubernetes_schemas .../kubernetes_validate/kubernetes-json-schema/v1.37.0-local-strict
"""  # noqa: E501 - a command

import json
import sys
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("kubernetes-schemas.json")
NAMES = {
    "Deployment": "deployment-apps-v1",
    "Service": "service-v1",
    "PodDisruptionBudget": "poddisruptionbudget-policy-v1",
    "HorizontalPodAutoscaler": "horizontalpodautoscaler-autoscaling-v2",
}
DEFINITIONS = "#/$defs/"


def schema(kind: str) -> dict[str, Any]:
    """Return the schema of a kind of object, which admits no member that does not exist."""
    stored = json.loads(FILE.read_text(encoding="utf-8"))
    return {**stored["kinds"][kind], "$defs": stored["definitions"]}


def _plain(value: Any, used: set[str]) -> Any:
    """Return a schema without descriptions; note the definitions that it refers to."""
    if isinstance(value, list):
        return [_plain(each, used) for each in value]
    if not isinstance(value, dict):
        return value
    plain = {}
    for name, part in value.items():
        if name == "$ref":
            definition = part.partition(DEFINITIONS)[2]
            used.add(definition)
            plain[name] = DEFINITIONS + definition
        # A property may be called like a keyword; its value is a schema then.
        elif isinstance(part, dict) or name not in ("description", "format", "$schema", "$id"):
            plain[name] = _plain(part, used)
    return plain


def main(directory: Path) -> None:
    available = json.loads((directory / "_definitions.json").read_text())["$defs"]
    used: set[str] = set()
    kinds = {
        kind: _plain(json.loads((directory / f"{name}.json").read_text()), used)
        for kind, name in NAMES.items()
    }
    definitions: dict[str, Any] = {}
    while missing := sorted(used - definitions.keys()):
        for name in missing:
            definitions[name] = _plain(available[name], used)
    stored = {"kinds": kinds, "definitions": dict(sorted(definitions.items()))}
    FILE.write_text(json.dumps(stored, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
