"""The commands `export`, `import` and `copy`: files, stores, messages and exit codes."""

import os
import pty
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from api.config.settings import URL_BOUNDS
from api.server.transfer import Store, TransferError
from api.storage.client import StoreClient
from tests.support import service
from tests.support.api_client import Client, play_by_turns, seat_two
from tests.support.command import (
    COMMAND,
    command_environment,
    ludotheque,
    ludotheque_process,
)
from tests.support.ports import free_port
from tests.support.service import Service, serving
from tests.support.stores import Server, binary, ended
from tests.support.waiting import wait_until

SECRET = "sw0rdf1sh"
NO_NAME = "must end with /NAME, the name of the master that the Sentinels watch"
DIRECTORY = "the path of a directory"
NO_STORE = (
    "{tmp}/none has no store: there is no directory `valkey` in it. Name the DATA_DIR of a "
    "service, or set REDIS_URL"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with ended(Server(binary("redis"), tmp_path_factory.mktemp("server"), free_port())) as server:
        yield server


@pytest.fixture
def url(server: Server) -> str:
    """The address of a store with one player."""
    server.client().flushall()
    server.client().hset("player:{1}", mapping={"name": "Ada"})
    return f"redis://127.0.0.1:{server.port}"


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """The data directory of an embedded store."""
    yield tmp_path / "data"
    service.Store(tmp_path / "data").end()


def names(directory: Path) -> list[str]:
    return sorted(each.name for each in directory.iterdir())


def test_a_game_goes_on_where_it_was_exported_to(fresh_service: Service, tmp_path: Path) -> None:
    players, game_id = seat_two(fresh_service.url)
    before = [each.game(game_id) for each in players]
    data = fresh_service.store.directory.parent
    assert "Left out" not in ludotheque("export", tmp_path / "games", DATA_DIR=data)
    ludotheque("import", tmp_path / "games", DATA_DIR=tmp_path / "there" / "data")
    with serving(tmp_path / "there") as there:
        moved = [Client(there.url, each.token, each.id) for each in players]
        assert [each.game(game_id) for each in moved] == before
        assert [each["id"] for each in moved[0].get("/v1/me/games")["items"]] == [game_id]
        play_by_turns(moved)
        assert moved[0].game(game_id)["status"] == "finished"


def test_an_export_is_for_its_owner_only(url: str, tmp_path: Path) -> None:
    path = tmp_path / "games"
    path.touch(0o666)
    done = ludotheque("export", path, REDIS_URL=url)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert done.splitlines()[-1] == (
        f"Exported from the store at {url.removeprefix('redis://')} to {path}."
    )
    assert names(tmp_path) == ["games"]


def test_an_export_can_be_piped_into_an_import(url: str, server: Server) -> None:
    for arguments in ((), ("-",)):
        exported = ludotheque_process("export", *arguments, REDIS_URL=url).stdout
        server.client().flushall()
        ludotheque_process("import", *arguments, given=exported, REDIS_URL=url)
        assert server.client().hgetall("player:{1}") == {b"name": b"Ada"}


def test_the_counts_are_told_by_kind(url: str, data: Path) -> None:
    done = ludotheque("copy", url, data)
    assert done.splitlines() == [
        "                     new",
        "games                  0",
        "players                1",
        "idempotency records    0",
        "tickets                0",
        "queues                 0",
        f"Copied from the store at {url.removeprefix('redis://')} to the embedded store in {data}.",
    ]
    assert "players                 1" in ludotheque("copy", url, data)


def test_other_content_is_replaced_only_when_told(url: str, server: Server, data: Path) -> None:
    ludotheque("copy", url, data)
    server.client().hset("player:{1}", "name", "Bob")
    refused = ludotheque("copy", url, data, code=1)
    assert refused.splitlines()[-1] == (
        "ludotheque: not replaced: 1 record stored already with another content. --overwrite "
        "replaces what is stored"
    )
    ludotheque("copy", "--overwrite", url, data)
    server.client().flushall()
    ludotheque("copy", data, url)
    assert server.client().hget("player:{1}", "name") == b"Bob"
    ludotheque("export", data.parent / "games", REDIS_URL=url)
    server.client().hset("player:{1}", "name", "Eve")
    ludotheque("import", data.parent / "games", REDIS_URL=url, code=1)
    ludotheque("import", "--overwrite", data.parent / "games", REDIS_URL=url)
    assert server.client().hget("player:{1}", "name") == b"Bob"


def test_what_the_source_does_not_have_is_removed_only_when_told(
    url: str, server: Server, data: Path
) -> None:
    ludotheque("copy", url, data)
    server.client().rename("player:{1}", "player:{2}")
    ludotheque("copy", url, data)
    ludotheque("copy", "--delete", url, data)
    server.client().flushall()
    ludotheque("copy", data, url)
    assert server.client().keys() == [b"player:{2}"]


def test_an_empty_source_does_not_empty_the_target(url: str, server: Server, data: Path) -> None:
    ludotheque("copy", url, data)
    server.client().flushall()
    done = ludotheque("copy", "--delete", url, data, code=1)
    assert done.endswith(f"--delete would remove all of the embedded store in {data}: check FROM\n")
    ludotheque("copy", data, url)
    assert server.client().dbsize() == 1


def test_replicas_must_be_there_to_confirm_what_is_written(
    url: str, server: Server, data: Path
) -> None:
    ludotheque("copy", url, data)
    server.client().flushall()
    done = ludotheque("copy", data, url, WAIT_REPLICAS="1", code=1)
    assert f"127.0.0.1:{server.port} has 0 replicas, and WAIT_REPLICAS is 1" in done
    assert server.client().dbsize() == 0


def test_a_file_that_is_not_complete_is_refused_before_anything_is_stored(
    url: str, server: Server, tmp_path: Path
) -> None:
    path = tmp_path / "games"
    ludotheque("export", path, REDIS_URL=url)
    text = path.read_bytes()
    server.client().flushall()
    path.write_bytes(text[:-20])
    done = ludotheque("import", path, REDIS_URL=url, code=1)
    assert done == (f"ludotheque: {path} is incomplete: it ends within line 3. Export again\n")
    with path.open("rb") as file:
        redirected = subprocess.run(
            [*COMMAND, "import"],
            stdin=file,
            env=command_environment(REDIS_URL=url),
            check=False,
            capture_output=True,
        )
    assert redirected.returncode == 1
    assert server.client().dbsize() == 0
    # Of a pipe, that is known only at its end.
    piped = ludotheque_process("import", given=text[:-20], REDIS_URL=url, code=1)
    assert b"standard input is incomplete" in piped.stderr
    ludotheque_process("import", given=text, REDIS_URL=url)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["import", "{tmp}/none"], "cannot read {tmp}/none: No such file or directory"),
        (["import", "{tmp}"], "cannot read {tmp}: Is a directory"),
        (["export", "{tmp}/none/x"], "cannot write {tmp}/none/x: No such file or directory"),
        (["export", "/dev/full"], "cannot write /dev/full: No space left on device"),
        (["copy", "{tmp}/none", "{url}"], NO_STORE),
        (
            ["copy", "redis://:{secret}@127.0.0.1:1", "{url}"],
            "The store at 127.0.0.1:1 cannot be reached: Connection refused",
        ),
        (
            ["copy", "{url}", "redis+cluster://:{secret}@127.0.0.1:1"],
            "The cluster at 127.0.0.1:1 cannot be reached: Connection refused",
        ),
    ],
)
def test_a_failure_is_one_line(
    url: str, tmp_path: Path, arguments: list[str], message: str
) -> None:
    values = {"tmp": tmp_path, "url": url, "secret": SECRET}
    given = [each.format(**values) for each in arguments]
    done = ludotheque(*given, REDIS_URL=url, code=1)
    assert done == f"ludotheque: {message.format(**values)}\n"
    assert SECRET not in done


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["http://:{secret}@there", "{url}"], f"FROM must be {URL_BOUNDS}, or {DIRECTORY}"),
        (
            ["{url}", "redis+sentinel://:{secret}@there"],
            f"TO {NO_NAME}, or {DIRECTORY}",
        ),
        (["{url}", "{url}?{secret}=1"], "TO has an option that cannot be used"),
    ],
)
def test_a_wrong_address_is_told_without_its_secrets(
    url: str, arguments: list[str], message: str
) -> None:
    given = [each.format(url=url, secret=SECRET) for each in arguments]
    done = ludotheque("copy", *given, code=2)
    assert done == f"ludotheque: {message}\n"


@pytest.mark.parametrize("names", [("data", "data"), ("data", "link/../data/.")])
def test_a_store_is_not_copied_to_itself(tmp_path: Path, url: str, names: tuple[str, str]) -> None:
    (tmp_path / "link").mkdir()
    stores = [tmp_path / each for each in names]
    for from_, to in (stores, (url, url)):
        done = ludotheque("copy", from_, to, code=2)
        assert done == "ludotheque: FROM and TO are the same store: name another one\n"


def test_a_wrong_password_is_told_without_it(url: str, server: Server, data: Path) -> None:
    server.client().config_set("requirepass", "another")
    try:
        done = ludotheque("copy", url.replace("//", f"//:{SECRET}@"), data, code=1)
    finally:
        server.client(password="another").config_set("requirepass", "")
    assert "refuses the user or the password" in done
    assert SECRET not in done


def test_a_user_without_a_permission_is_told(url: str, server: Server, data: Path) -> None:
    commands = ["+@all", "-evalsha", "-eval"]
    server.client().acl_setuser("weak", True, passwords=["+pw"], keys=["*"], commands=commands)
    try:
        done = ludotheque("copy", url.replace("//", "//weak:pw@"), data, code=1)
    finally:
        server.client().acl_deluser("weak")
    assert done.endswith(" does not let its user run a command: permit all commands and keys\n")


def test_a_target_that_would_drop_games_is_refused(url: str, server: Server, data: Path) -> None:
    ludotheque("copy", url, data)
    server.client().config_set("maxmemory-policy", "allkeys-lru")
    try:
        done = ludotheque("copy", data, url, code=1)
        assert "drops games when its memory is full" in done
        # Games can be moved away from it.
        ludotheque("copy", url, data)
    finally:
        server.client().config_set("maxmemory-policy", "noeviction")


def test_a_full_target_is_told(url: str, server: Server, data: Path) -> None:
    ludotheque("copy", url, data)
    server.client().flushall()
    server.client().config_set("maxmemory", 1)
    try:
        done = ludotheque("copy", data, url, code=1)
    finally:
        server.client().config_set("maxmemory", 0)
    assert done.endswith(" refuses changes: its memory or its disk is full\n")


def test_a_replica_is_not_read(url: str, server: Server, tmp_path: Path) -> None:
    """It may lack what was acknowledged."""
    options = ("--replicaof", f"127.0.0.1 {server.port}")
    with ended(Server(binary("redis"), tmp_path / "r", free_port(), *options)) as replica:
        wait_until(replica.client().dbsize, "the replica has the player")
        done = ludotheque(
            "export", tmp_path / "x", REDIS_URL=f"redis://127.0.0.1:{replica.port}", code=1
        )
    assert "is a replica" in done
    assert names(tmp_path) == ["r"]


def test_a_node_of_a_cluster_is_not_a_whole_store(tmp_path: Path) -> None:
    options = ("--cluster-enabled", "yes")
    port = free_port(for_cluster=True)
    with ended(Server(binary("redis"), tmp_path / "node", port, *options)) as node:
        done = ludotheque(
            "export", tmp_path / "x", REDIS_URL=f"redis://127.0.0.1:{node.port}", code=1
        )
    assert done.endswith(
        " is a node of a cluster: write its address as redis+cluster://HOST:PORT\n"
    )


def test_a_server_that_is_too_old_is_told() -> None:
    class Old:
        publish = "PUBLISH"
        waits_for_replicas = False

        def execute_on_all(self, *words: str) -> dict[str, bytes]:
            return {"there:6379": b"redis_version:6.2.1\r\nrole:master\r\naof_enabled:1\r\n"}

    store = Store(cast("StoreClient", Old()), "the store at there:6379")
    with pytest.raises(TransferError, match=r"is Redis 6\.2\.1, which is not tested"):
        store.check(is_cluster=False, is_target=False, wait_replicas=0)


def test_nothing_is_written_into_a_store_that_a_service_runs(
    fresh_service: Service, url: str
) -> None:
    done = ludotheque("copy", url, fresh_service.store.directory.parent, code=1)
    assert "is in use by another ludotheque serve" in done


def test_a_store_that_holds_what_is_no_record_is_reported(url: str, server: Server) -> None:
    server.client().sadd("player:{2}", "x")
    server.client().set("session:1", "x")
    server.client().hset("game:{1}", mapping={"commit": "x", "game": "x"})
    done = ludotheque("export", "/dev/null", REDIS_URL=url, code=1)
    lines = done.splitlines()
    assert "Left out: 1 key of other applications." in lines
    assert lines[-1] == ("ludotheque: left out: 1 record of a type that the service does not use")


@pytest.mark.parametrize(
    ("redirection", "message"),
    [
        (">&-", "standard output is closed: name a FILE, or redirect the output"),
        ("> /dev/full", "cannot write standard output: No space left on device"),
    ],
)
def test_a_standard_output_that_cannot_be_used_is_told(
    url: str, redirection: str, message: str
) -> None:
    done = subprocess.run(
        ["bash", "-c", f"{' '.join(COMMAND)} export {redirection}"],
        env=command_environment(REDIS_URL=url),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == f"ludotheque: {message}\n"
    assert done.returncode == 1


def many_players(server: Server, number: int) -> None:
    pipe = server.client().pipeline()
    for each in range(number):
        pipe.hset(f"player:{{{each}}}", "name", "x" * 100)
    pipe.execute()


def test_an_export_that_is_stopped_leaves_no_file(url: str, server: Server, tmp_path: Path) -> None:
    many_players(server, 50_000)
    path = tmp_path / "games"
    path.write_bytes(b"earlier")
    for number in (signal.SIGTERM, signal.SIGINT):
        process = subprocess.Popen(
            [*COMMAND, "export", str(path)], env=command_environment(REDIS_URL=url)
        )
        wait_until(lambda: len(names(tmp_path)) == 2, "it writes")
        server.freeze()
        try:
            process.send_signal(number)
            assert process.wait(30) == 130
        finally:
            server.thaw()
        assert names(tmp_path) == ["games"]
        assert path.read_bytes() == b"earlier"


def test_progress_is_shown_on_a_terminal(url: str, server: Server, tmp_path: Path) -> None:
    many_players(server, 5000)
    shown, given = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "export", str(tmp_path / "games")],
        env=command_environment(REDIS_URL=url),
        stderr=given,
    )
    os.close(given)
    text = b""
    while True:
        try:
            part = os.read(shown, 4096)
        except OSError:
            break
        if not part:
            break
        text += part
    assert process.wait() == 0
    assert b"%  " in text
    assert b" records" in text
    assert b"5,000" in text.rpartition(b"\x1b[K")[2]
    # Without a terminal, nothing of it.
    assert "%" not in ludotheque("export", tmp_path / "games", REDIS_URL=url)
