"""The image and the compose file, as far as they can be tried without an engine for containers.

The Dockerfile's own steps are carried out in a directory of the test's own, and what it would
start is started; the compose file's store is started with its arguments.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import redis
import yaml

from api.config import capacity
from api.config.settings import Settings, describe
from api.server.valkey import server_binary
from tests.support.paths import ROOT
from tests.support.service import Service, clean_environment
from tests.support.waiting import wait_until

SETTINGS = {row.variable for row in describe()}
OTHERS = re.compile(r"PATH|PIP_\w+|PYTHON\w+")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
# What the steps name, and the test has elsewhere.
PLACES = ("/opt/venv", "/src", "/data")


class Step(NamedTuple):
    """An instruction of the Dockerfile: its name and the rest of its line."""

    name: str
    rest: str

    @property
    def words(self) -> list[str]:
        """The words of an instruction in exec form."""
        words: list[str] = json.loads(self.rest[self.rest.index("[") :])
        return words


def stages() -> list[list[Step]]:
    """The steps of each stage."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    found: list[list[Step]] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        step = Step(*line.split(None, 1))
        if step.name == "FROM":
            found.append([])
        found[-1].append(step)
    return found


def only(steps: list[Step], name: str) -> Step:
    (step,) = (each for each in steps if each.name == name)
    return step


def variables(steps: list[Step]) -> dict[str, str]:
    """What the stage's ENV says."""
    text = " ".join(step.rest for step in steps if step.name == "ENV")
    return dict(pair.split("=", 1) for pair in text.split())


def seconds(duration: str) -> int:
    return int(duration.removesuffix("s"))


def run_tool(name: str, *arguments: str) -> None:
    command = [str(Path(sys.executable).with_name(name)), *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


# --- The Dockerfile --------------------------------------------------------------------------


def test_hadolint_has_nothing_to_say() -> None:
    run_tool("hadolint", "Dockerfile")


def test_all_that_is_copied_is_there_and_gets_into_the_context() -> None:
    allowed = (ROOT / ".dockerignore").read_text().splitlines()
    for stage in stages():
        for step in stage:
            if step.name != "COPY" or "--from" in step.rest:
                continue
            for source in step.rest.split()[:-1]:
                assert (ROOT / source).exists(), source
                assert f"!{source}" in allowed


def test_every_variable_of_the_image_is_a_setting_with_a_value_that_it_takes() -> None:
    for stage in stages():
        given = variables(stage)
        assert {name for name in given if not OTHERS.fullmatch(name)} <= SETTINGS
        Settings.from_environment(given)


def test_the_image_that_runs_has_no_root_no_shell_form_and_no_tools() -> None:
    build, final = stages()
    user = re.fullmatch(r"(\d+):(\d+)", only(final, "USER").rest)
    assert user
    assert "0" not in user.groups()
    assert only(final, "STOPSIGNAL").rest == "SIGTERM"
    assert variables(final)["PYTHONUNBUFFERED"] == "1"
    assert only(final, "VOLUME").rest == variables(final)["DATA_DIR"]
    assert only(final, "EXPOSE").rest == variables(final)["PORT"]
    # All of these are in exec form, and Python asks after its health.
    assert [only(final, name).words for name in ("ENTRYPOINT", "CMD", "HEALTHCHECK")] == [
        ["ludotheque"],
        ["serve"],
        ["ludotheque", "check"],
    ]
    assert not any("pip" in step.rest or "apt" in step.rest for step in final)
    assert only(final, "FROM").rest == only(build, "FROM").rest.removesuffix(" AS build")


def test_dependencies_are_installed_as_they_are_locked() -> None:
    build, _ = stages()
    installs = [step.rest for step in build if step.name == "RUN" and "pip install" in step.rest]
    assert len(installs) == 2
    assert "--require-hashes --requirement /src/requirements.lock" in installs[0]
    assert "--no-deps /src" in installs[1]


@pytest.fixture
def replayed(tmp_path: Path) -> Iterator[Service]:
    """The service as the image would start it, after the image's own steps."""
    if find_spec("ensurepip") is None:
        assert "CI" not in os.environ, "this Python lacks ensurepip"
        pytest.skip("this Python lacks ensurepip, which `python -m venv` needs")
    build, final = stages()
    for stage in (build, final):
        for step in stage:
            replay(step, tmp_path, variables(stage))
    given = variables(final) | {"PORT": "0", "HOST": "127.0.0.1"}
    given["DATA_DIR"] = str(tmp_path / "data")
    given["PATH"] = moved(given["PATH"], tmp_path).replace("$PATH", "/usr/bin:/bin")
    entry = only(final, "ENTRYPOINT").words + only(final, "CMD").words
    entry[0] = str(shutil.which(entry[0], path=given["PATH"]))
    service = Service(entry, base_environment() | given, tmp_path / "data")
    try:
        yield service.await_ready()
    finally:
        service.end()
        service.store.end()


def replay(step: Step, root: Path, given: dict[str, str]) -> None:
    """Do what a step does, below a directory."""
    if step.name == "RUN":
        command = moved(step.rest, root)
        if os.geteuid() != 0:
            command = re.sub(r" -[og] \d+", "", command)  # only root can give files away
        environment = base_environment() | given | {"PATH": own_path()}
        done = subprocess.run(
            ["sh", "-ec", command], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    elif step.name == "COPY" and "--from" not in step.rest:
        *sources, target = step.rest.split()
        for source in sources:
            copy(ROOT / source, Path(moved(target, root)), is_into=target.endswith("/"))
    elif step.name == "COPY":
        _, source, target = step.rest.split()
        assert source == target  # an environment cannot be moved


def copy(source: Path, target: Path, *, is_into: bool) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        return
    assert is_into
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)


def moved(text: str, root: Path) -> str:
    """The same with its places below a directory."""
    return re.sub(rf"(?<![\w/])({'|'.join(PLACES)})\b", rf"{root}\1", text)


def own_path() -> str:
    """A PATH where `python` is the one that runs this, outside of its environment."""
    return f"{Path(sys.base_prefix) / 'bin'}:/usr/bin:/bin"


def base_environment() -> dict[str, str]:
    hidden = {"PYTHONPATH", "VIRTUAL_ENV", "PATH"}
    return {name: value for name, value in clean_environment().items() if name not in hidden}


@pytest.mark.slow
def test_the_steps_of_the_image_make_a_service_that_runs_and_stops(replayed: Service) -> None:
    final = stages()[-1]
    venv = replayed.store.directory.parents[1] / "opt" / "venv"
    health = subprocess.run(
        [str(venv / "bin" / word) if word == "ludotheque" else word for word in check_words(final)],
        env=base_environment() | {"PORT": str(replayed.port), "PATH": "/usr/bin:/bin"},
        check=False,
    )
    assert health.returncode == 0
    assert replayed.request("GET", "/readyz").status_code == 200
    assert (replayed.store.directory / "appendonlydir").is_dir()
    # The tools that built it are not in it.
    assert not (venv / "bin" / "pip").exists()
    assert not list(venv.glob("lib/python*/site-packages/pip"))
    replayed.signal(signal.Signals[only(final, "STOPSIGNAL").rest])
    assert replayed.exit_code() == 0
    for line in replayed.lines:
        json.loads(line)


def check_words(final: list[Step]) -> list[str]:
    return only(final, "HEALTHCHECK").words


# --- The compose file ------------------------------------------------------------------------


def test_compose_lint_finds_no_grave_fault() -> None:
    run_tool("compose-lint", "compose.yaml")


def test_every_variable_of_the_compose_file_is_a_setting_with_a_value_that_it_takes() -> None:
    given = SERVICES["ludotheque"]["environment"]
    assert set(given) <= SETTINGS
    assert all(isinstance(value, str) for value in given.values())
    settings = Settings.from_environment(given)
    # The address is that of the other service, on a network that both are in.
    assert settings.redis_url == "redis://valkey:6379/0"
    assert set(SERVICES["valkey"]["networks"]) <= set(SERVICES["ludotheque"]["networks"])


def test_a_container_is_not_killed_while_it_stops() -> None:
    service = SERVICES["ludotheque"]
    settings = Settings.from_environment(service["environment"])
    takes = settings.stop_delay_seconds + settings.grace_seconds + 2
    assert seconds(service["stop_grace_period"]) > takes


def test_the_store_is_reached_by_the_service_alone() -> None:
    assert "ports" not in SERVICES["valkey"]
    for network in SERVICES["valkey"]["networks"]:
        assert COMPOSE["networks"][network]["internal"] is True
    assert SERVICES["ludotheque"]["depends_on"]["valkey"]["condition"] == "service_healthy"
    assert "healthcheck" in SERVICES["valkey"]


@pytest.mark.parametrize("name", SERVICES)
def test_no_container_can_use_up_the_machine(name: str) -> None:
    service = SERVICES[name]
    assert service["mem_limit"].endswith("g")
    assert 0 < service["pids_limit"] <= 128
    rotation = service["logging"]["options"]
    assert rotation.keys() == {"max-size", "max-file"}


def test_the_service_may_open_as_many_files_as_its_connections_take() -> None:
    service = SERVICES["ludotheque"]
    settings = Settings.from_environment(service["environment"])
    assert service["ulimits"]["nofile"] >= capacity.needed(settings)


@pytest.mark.parametrize("name", SERVICES)
def test_no_container_may_do_more_than_it_has_to(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "cap_add", "devices", "pid", "network_mode"} & set(service)


def test_every_volume_and_network_that_is_named_is_declared() -> None:
    for service in SERVICES.values():
        assert set(service["networks"]) <= set(COMPOSE["networks"])
        for volume in service.get("volumes", []):
            assert volume.partition(":")[0] in COMPOSE["volumes"]


def test_the_store_that_is_composed_drops_nothing_and_writes_everything_down(
    tmp_path: Path,
) -> None:
    command = SERVICES["valkey"]["command"]
    assert command[0] == "valkey-server"
    address = f"/tmp/ludotheque-compose-{os.getpid()}"
    here = ["--port", "0", "--unixsocket", address, "--dir", str(tmp_path)]
    store = subprocess.Popen(
        [server_binary(), *command[1:], *here], stdout=subprocess.DEVNULL, cwd=tmp_path
    )
    try:
        with redis.Redis(unix_socket_path=address, decode_responses=True) as client:
            wait_until(lambda: Path(address).exists() and client.ping(), "the store answers")
            configured = {
                name: client.config_get(name)[name]
                for name in ("maxmemory", "maxmemory-policy", "appendonly", "appendfsync", "save")
            }
        allowed = int(SERVICES["valkey"]["mem_limit"].removesuffix("g")) << 30
        assert 0 < int(configured.pop("maxmemory")) <= allowed // 2
        assert configured == {
            "maxmemory-policy": "noeviction",
            "appendonly": "yes",
            "appendfsync": "always",
            "save": "",
        }
    finally:
        store.terminate()
        store.wait(30)
        Path(address).unlink(missing_ok=True)
