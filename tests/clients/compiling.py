"""Compile TypeScript programs that use a generated client."""

import json
from pathlib import Path

from tests.clients.toolbox import HERE, Toolbox

PROGRAMS = HERE / "typescript"


def compile_(tools: Toolbox, project: Path, *files: str) -> list[str]:
    """Return the compiler's errors. It must not fail in another way."""
    own = {"extends": "./tsconfig.json", "files": list(files)}
    (project / "tsconfig.own.json").write_text(json.dumps(own))
    command = ("tsc", "--pretty", "false", "-p", "tsconfig.own.json")
    code, said = tools.try_to(*command, cwd=project)
    errors = [line for line in said.splitlines() if "error TS" in line]
    assert (code == 0) == (not errors), said
    return errors
