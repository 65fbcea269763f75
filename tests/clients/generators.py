"""The generators: their commands, as in the guide, and the warnings that each may print.

A listed warning must appear, so that the list has none that are no longer needed.
"""

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.clients.toolbox import Toolbox
from tests.support.paths import ROOT

BETA = r"OpenAPI 3\.1 support is still in beta\."
"""openapi-generator prints this for every document of this version."""

FREE_OBJECT = r"Failed to get the schema name: null"
"""openapi-generator prints this, for some languages, for an object with any members: a deal."""

MODELS_NOISE = (r"warn_about_msgspec_decoding",)
"""The line of source that Python prints below the warning about msgspec."""

COMPLEX_EXAMPLE = r"Ignoring complex example on request body"
"""openapi-generator's Java prints this for an example that is an object."""


@dataclass(frozen=True)
class Generator:
    """One generator for one language."""

    command: str
    warnings: dict[str, str] = field(default_factory=dict)
    """Patterns of the warnings that must appear. None is a fault of the document."""

    noise: tuple[str, ...] = ()
    """Patterns of the warnings that may appear."""

    def run(self, tools: Toolbox, directory: Path) -> list[str]:
        """Generate into a directory, and return the warnings."""
        shutil.copy(ROOT / "openapi.yaml", directory)
        return warnings_in(tools.shell(self.command, directory))


def warnings_in(said: str) -> list[str]:
    """Return the warnings and errors in a generator's output."""
    lines = [line for line in said.splitlines() if not re.match(r"npm |\[main\] INFO|\s+at ", line)]
    suspicious = re.compile(r"warn|error|unsupported|cannot|invalid|deprecat|fail", re.IGNORECASE)
    return [line for line in lines if suspicious.search(line)]


def openapi_generator(language: str, *options: str) -> Generator:
    command = ["openapi-generator-cli generate", "-i openapi.yaml", f"-g {language}", *options]
    return Generator(
        " ".join(command), {BETA: "it is true of the tool"}, (FREE_OBJECT, COMPLEX_EXAMPLE)
    )


def models(name: str, kind: str, warnings: dict[str, str] | None = None) -> Generator:
    """Models without a client, by datamodel-code-generator."""
    command = "datamodel-codegen --input openapi.yaml --input-file-type openapi"
    output = f"--output {name}_models.py --output-model-type {kind} --formatters builtin"
    return Generator(f"{command} {output}", warnings or {}, MODELS_NOISE)


GENERATORS = {
    "openapi-fetch": Generator("npx openapi-typescript openapi.yaml -o client.d.ts"),
    "hey-api": Generator("npx openapi-ts -i openapi.yaml -o client"),
    "orval": Generator("npx orval --input openapi.yaml --output client.ts --client fetch"),
    "openapi-python-client": Generator(
        "openapi-python-client generate --path openapi.yaml --meta none"
        " --output-path ludotheque_client",
        {
            r"Warning\(s\) encountered while generating": "the heading of the next one",
            r"WARNING parsing GET /openapi\.yaml": "it reads JSON and plain text alone",
            r"WARNING parsing GET /v1/rulesets/{ruleset}/pictures/{picture}": "the same",
            r"Unsupported content_type image/svg\+xml": "which is what SVG is called",
            r"Unsupported content_type application/yaml": "which is what YAML is called (RFC 9512)",
        },
    ),
    "openapi-generator-typescript": openapi_generator("typescript-fetch", "-o client"),
    "openapi-generator-python": openapi_generator(
        "python", "-o .", "--package-name ludotheque_client"
    ),
    "openapi-generator-java": openapi_generator(
        "java",
        "-o .",
        "--library native",
        "--additional-properties=openApiNullable=false,useJakartaEe=true",
    ),
    "openapi-generator-go": openapi_generator(
        "go",
        "-o ludotheque",
        "--additional-properties=packageName=ludotheque,withGoMod=false,enumClassPrefix=true,"
        "useOneOfDiscriminatorLookup=true,disallowAdditionalPropertiesIfNotPresent=false",
    ),
    "pydantic": models("pydantic", "pydantic_v2.BaseModel"),
    "dataclasses": models("dataclasses", "dataclasses.dataclass"),
    "msgspec": models(
        "msgspec",
        "msgspec.Struct",
        {
            r"msgspec cannot decode the union StreamData": "its variants have no tag in common",
            r"msgspec cannot decode the union TurnStreamData": "its variants have no tag in common",
        },
    ),
}


Make = Callable[[str], Path]
