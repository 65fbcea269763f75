"""The types of the table in the browser, against those of the document."""

import json
import shutil
from pathlib import Path

import pytest

from tests.clients.generators import Make
from tests.clients.toolbox import Toolbox
from tests.support.paths import ROOT

pytestmark = pytest.mark.slow

OPTIONS = {
    "strict": True,
    "checkJs": True,
    "noEmit": True,
    "target": "es2022",
    "module": "es2022",
    "moduleResolution": "bundler",
    "lib": ["es2022", "dom", "dom.iterable"],
    "types": [],
}


@pytest.fixture
def project(client: Make, tmp_path: Path) -> Path:
    """The modules of the page, and beside them the types generated from the document."""
    shutil.copytree(ROOT / "api" / "web" / "pages" / "play", tmp_path, dirs_exist_ok=True)
    shutil.copy(client("openapi-fetch") / "client.d.ts", tmp_path / "api.d.ts")
    (tmp_path / "tsconfig.json").write_text(
        json.dumps({"compilerOptions": OPTIONS, "files": ["main.js"]})
    )
    return tmp_path


def check(tools: Toolbox, project: Path) -> tuple[int, str]:
    return tools.try_to("tsc", "--pretty", "false", "-p", "tsconfig.json", cwd=project)


def test_the_page_agrees_with_the_types_of_the_document(project: Path, tools: Toolbox) -> None:
    assert check(tools, project) == (0, "")


def test_a_member_that_the_document_does_not_have_is_found(project: Path, tools: Toolbox) -> None:
    module = project / "parade.js"
    module.write_text(module.read_text().replace("table.pile_size", "table.pile_height"))
    code, said = check(tools, project)
    assert code != 0
    assert "pile_height" in said
