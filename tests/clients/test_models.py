"""Models for Python, without a client, decode every example of the document."""

import json
import shutil
from typing import Any

import pytest
import yaml

from tests.clients.generators import Make
from tests.clients.toolbox import HERE, Toolbox
from tests.support.paths import ROOT

DOCUMENT = yaml.safe_load((ROOT / "openapi.yaml").read_text(encoding="utf-8"))


def resolved(node: Any) -> Any:
    while "$ref" in node:
        target = DOCUMENT
        for name in node["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        node = target
    return node


def examples() -> list[tuple[str, Any]]:
    """Return all examples of bodies and answers, each with the name of its schema."""
    contents = [
        (media_type, content)
        for item in DOCUMENT["paths"].values()
        for operation in item.values()
        if isinstance(operation, dict)
        for message in [operation.get("requestBody", {}), *operation["responses"].values()]
        for media_type, content in resolved(message).get("content", {}).items()
    ]
    return [
        (content["schema"]["$ref"].rpartition("/")[2], resolved(example)["value"])
        for media_type, content in contents
        if "json" in media_type and "$ref" in content["schema"]
        for example in content.get("examples", {}).values()
    ]


def test_no_union_of_the_document_may_be_null() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    unions = {name for name, schema in schemas.items() if "discriminator" in schema}
    nullable = {
        (name, member)
        for name, schema in schemas.items()
        for member, declared in schema.get("properties", {}).items()
        if {"type": "null"} in declared.get("anyOf", [])
        and any(each.get("$ref", "").rpartition("/")[2] in unions for each in declared["anyOf"])
    }
    assert unions > {"Breakdown", "Move", "Preview", "Table"}
    assert nullable == set()
    assert not any({"type": "null"} in schemas[name]["oneOf"] for name in unions)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pydantic", "dataclasses", "msgspec"])
def test_models_decode_every_example(name: str, client: Make, tools: Toolbox) -> None:
    project = client(name)
    shutil.copy(HERE / "models" / "decode.py", project)
    shown = examples()
    assert len(shown) > 150
    (project / "examples.json").write_text(json.dumps(shown))
    assert tools.run("python", "decode.py", f"{name}_models", "examples.json", cwd=project) == ""
