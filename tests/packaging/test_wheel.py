"""The distribution, installed as a stranger would: a wheel, an empty environment, the newest of
everything that it allows, another directory. Nothing of the checkout may be needed.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin
from zipfile import ZipFile

import pytest

from tests.support.paths import ROOT
from tests.support.service import Service, clean_environment

pytestmark = pytest.mark.slow

BOTS = 3
MINUTE = 60


def run(*command: str | Path, cwd: Path = ROOT, timeout: float = 5 * MINUTE) -> str:
    result = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"
    return result.stdout


def environment() -> dict[str, str]:
    hidden = {"PYTHONPATH", "VIRTUAL_ENV"}
    return {name: value for name, value in clean_environment().items() if name not in hidden}


def uv(*arguments: str | Path) -> str:
    return run(sys.executable, "-m", "uv", "--no-config", *arguments)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution."""
    out = tmp_path_factory.mktemp("dist")
    uv("build", "--out-dir", out, ROOT)
    (built,) = out.glob("ludotheque-*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that holds the wheel and what it asked for, no more."""
    venv = tmp_path_factory.mktemp("installed") / "venv"
    uv("venv", "--python", sys.executable, venv)
    interpreter = venv / "bin" / "python"
    uv("pip", "install", "--python", interpreter, wheel)
    return interpreter


@pytest.fixture
def service(python: Path, tmp_path: Path) -> Iterator[Service]:
    settings = {"PORT": "0", "DATA_DIR": str(tmp_path / "data")}
    service = Service(
        [str(python.with_name("ludotheque")), "serve"], environment() | settings, tmp_path
    )
    try:
        yield service.await_ready()
    finally:
        service.end()
        service.store.end()


def test_the_wheel_holds_the_two_packages_and_the_licence_alone(wheel: Path) -> None:
    names = ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {
        "api",
        "engine",
    }
    assert any(name.endswith("/licenses/LICENSE") for name in names)


def test_the_wheel_has_the_scripts_of_the_store(wheel: Path) -> None:
    scripts = {str(path.relative_to(ROOT)) for path in ROOT.glob("api/storage/scripts/*.lua")}
    assert scripts
    assert scripts <= set(ZipFile(wheel).namelist())


def test_the_wheel_has_all_files_of_the_table_in_the_browser(wheel: Path) -> None:
    folder = ROOT / "api" / "web" / "pages" / "play"
    files = {str(path.relative_to(ROOT)) for path in folder.iterdir()}
    assert "api/web/pages/play/index.html" in files
    assert files <= set(ZipFile(wheel).namelist())


def test_the_wheel_has_all_documents_of_the_guide(wheel: Path) -> None:
    docs = ROOT / "docs"
    files = {f"api/web/pages/guide/{path.relative_to(docs)}" for path in docs.rglob("*.*")}
    assert "api/web/pages/guide/rules/parade.md" in files
    assert files <= set(ZipFile(wheel).namelist())


def test_the_code_that_runs_is_the_installed_one(python: Path, tmp_path: Path) -> None:
    code = "import api, engine; print(api.__file__); print(engine.__file__)"
    for path in run(python, "-c", code, cwd=tmp_path).splitlines():
        assert Path(path).is_relative_to(python.parents[1])


def test_the_installed_command_writes_the_published_document(python: Path, tmp_path: Path) -> None:
    command = python.with_name("ludotheque")
    run(command, "openapi", "--output", tmp_path / "openapi.yaml", cwd=tmp_path)
    assert (tmp_path / "openapi.yaml").read_bytes() == (ROOT / "openapi.yaml").read_bytes()


def test_the_reference_comes_with_all_that_it_loads(service: Service) -> None:
    page = service.request("GET", "/docs")
    assert page.headers["Content-Type"].startswith("text/html")
    loaded = re.findall(r'(?:href|src)="\./(assets/[^"]+)"', page.text)
    assert {"assets/docs.js", "assets/swagger-ui-bundle.js"} <= set(loaded)
    for path in loaded:
        answer = service.request("GET", f"/{path}")
        assert answer.status_code == 200, path
        assert answer.content


def test_the_table_in_the_browser_comes_with_all_that_it_loads(service: Service) -> None:
    paths, loaded = ["index.html"], set()
    while paths:
        path = paths.pop()
        loaded.add(path)
        answer = service.request("GET", f"/play/{path}")
        assert answer.status_code == 200, path
        if not path.endswith(".css"):
            found = re.findall(r"""(?:href=|src=|from )["']\./([^"']+)["']""", answer.text)
            paths += [name for name in found if name not in loaded]
    assert {"main.js", "play.css", "tea-time.js", "icon.svg"} <= loaded


def test_the_guide_comes_with_all_its_documents_and_pictures(service: Service) -> None:
    paths, seen = [""], set()
    while paths:
        path = paths.pop()
        seen.add(path)
        answer = service.request("GET", f"/guide/{path}")
        assert answer.status_code == 200, path
        if path.endswith(".svg"):
            continue
        for link in re.findall(r'(?:href|src)="([^"#]+)', answer.text.partition("<main>")[2]):
            target = urljoin(f"/guide/{path}", link)
            if target.startswith("/guide/") and target.removeprefix("/guide/") not in seen:
                paths.append(target.removeprefix("/guide/"))
    assert {"clients", "operating", "rules/parade", "growth.svg"} <= seen


def test_the_pictures_of_a_game_come_with_it(service: Service) -> None:
    components = service.request("GET", "/v1/rulesets/contrast").json()["components"]
    paths = [each["url"] for each in components if each["url"] is not None]
    assert len(paths) == 74
    for path in paths:
        assert service.request("GET", path).headers["Content-Type"] == "image/svg+xml"


def test_three_bots_play_a_game_to_its_end(service: Service, python: Path, tmp_path: Path) -> None:
    bots = [
        subprocess.Popen(
            [
                *(python, ROOT / "examples" / "random_bot.py"),
                *("--url", service.url, "--name", f"Bot {number}", "--seats", str(BOTS)),
            ],
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for number in range(BOTS)
    ]
    try:
        for bot in bots:
            said, _ = bot.communicate(timeout=MINUTE)
            assert bot.returncode == 0, said
    finally:
        for bot in bots:
            bot.kill()
            bot.wait()
    games = service.request("GET", "/v1/games?status=finished").json()["items"]
    assert [game["seat_count"] for game in games] == [BOTS]
