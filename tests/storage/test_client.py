"""The client of one server, on connections in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import gevent
import pytest
from gevent.event import Event
from redis import RedisError, ResponseError
from redis.connection import ConnectionPool
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError
from redis.exceptions import TimeoutError as RedisTimeoutError

from api.storage import client as module
from api.storage.client import Command, Replicas, Script, ServerClient
from api.storage.errors import NotReplicated, PoolExhausted, Unreadable
from api.storage.fair_client import FairClient

WRONG_TYPE = ResponseError("WRONGTYPE Operation against a key holding the wrong kind of value")
LOST = RedisConnectionError("lost")
GET = Command("a", ("GET", "a"))
SET = Command("a", ("SET", "a", "1"))

Reply = Callable[[str], Any]


class FakeConnection:
    """A connection whose replies are a function of what was sent; an exception is raised."""

    host, port = "store", 6379

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.opened = 0
        self.is_open = False
        self.sent: list[str] = []
        self.unread: list[str] = []

    def connect(self) -> None:
        self.opened += not self.is_open
        self.is_open = True

    def disconnect(self) -> None:
        self.is_open = False
        self.unread.clear()

    def send_packed_command(self, packed: list[bytes]) -> None:
        for command in b"".join(packed).decode().split("*")[1:]:
            self.unread.append(" ".join(command.split("\r\n")[2::2]))
        self.sent += self.unread

    def read_response(self) -> Any:
        reply = self.reply(self.unread.pop(0))
        if isinstance(reply, Exception):
            raise reply
        return reply


class FakePool:
    """A pool of such connections."""

    max_connections = 1

    def __init__(self, reply: Reply) -> None:
        self.connection = FakeConnection(reply)
        self.in_use = 0

    def get_connection(self) -> FakeConnection:
        assert self.in_use < self.max_connections
        self.in_use += 1
        self.connection.connect()
        return self.connection

    def release(self, connection: FakeConnection) -> None:
        self.in_use -= 1


class Server:
    """A client of a fake server, and its connections."""

    def __init__(self, reply: Reply, replicas: int = 0, timeout: float = 1.0) -> None:
        self.batches = FakeConnection(reply)
        self.pool = FakePool(reply)
        self.client = ServerClient(
            cast("Any", self.batches),
            cast("ConnectionPool", self.pool),
            Replicas(replicas, 10),
            timeout,
        )


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RETRY_PAUSE_SECONDS", 0)


def in_turn(*replies: Any) -> Reply:
    """These replies, one after the other."""
    left = list(replies)
    return lambda sent: left.pop(0)


def test_replies_come_in_the_order_of_the_commands() -> None:
    server = Server(str.lower)
    assert server.client.execute([GET, SET]) == ["get a", "set a 1"]
    assert server.batches.sent == ["GET a", "SET a 1"]


def test_a_lost_connection_is_opened_again_for_one_retry() -> None:
    server = Server(in_turn("1", LOST, "1", "2"))
    assert server.client.execute([GET, SET]) == ["1", "2"]
    assert server.batches.opened == 2
    assert server.batches.sent == ["GET a", "SET a 1"] * 2


def test_a_retry_that_fails_raises_and_leaves_no_reply_for_the_next_command() -> None:
    server = Server(in_turn(LOST, RedisTimeoutError("late"), "1"))
    with pytest.raises(RedisTimeoutError):
        server.client.execute([GET, SET])
    assert not server.batches.is_open
    assert server.client.execute([GET]) == ["1"]


@pytest.mark.parametrize("value", [None, "\ud800"])
def test_a_value_that_cannot_be_sent_fails_its_own_request_only(value: Any) -> None:
    go_on = Event()

    def reply(sent: str) -> Any:
        go_on.wait()
        return sent

    server = Server(reply)
    wrong = Command("b", ("SET", "b", value))
    requests = [gevent.spawn(server.client.execute, [each]) for each in (GET, SET, wrong, GET)]
    gevent.sleep(0)
    go_on.set()
    gevent.joinall(requests)
    assert [each.value for each in requests] == [["GET a"], ["SET a 1"], None, ["GET a"]]
    assert isinstance(requests[2].exception, (TypeError, ValueError))
    assert server.batches.opened == 1


def test_there_is_no_retry_when_the_first_attempt_took_all_the_time() -> None:
    server = Server(in_turn(RedisTimeoutError("late")), timeout=0.0)
    with pytest.raises(RedisTimeoutError):
        server.client.execute([GET])
    assert server.batches.sent == ["GET a"]


def test_an_unknown_script_is_sent_again_with_its_source_and_all_other_commands() -> None:
    def reply(sent: str) -> Any:
        return NoScriptError("unknown") if sent.startswith("EVALSHA") else sent

    script = Script("return 1", "sha")
    server = Server(reply, replicas=1)
    assert server.client.execute([SET, script.call("a", args=("x",))]) == [
        "SET a 1",
        "EVAL return 1 1 a x",
    ]
    server.pool.connection.reply = lambda sent: 1 if "WAIT" in sent else reply(sent)
    server.client.execute([script.call("a")], durable=True)
    assert server.pool.connection.sent == [
        "EVALSHA sha 1 a",
        "WAIT 1 10",
        "EVAL return 1 1 a",
        "WAIT 1 10",
    ]


def test_data_of_a_wrong_type_is_unreadable_for_its_own_command_only() -> None:
    server = Server(lambda sent: WRONG_TYPE if "GET" in sent else "OK")
    with pytest.raises(Unreadable):
        server.client.execute([SET, GET])
    done, unreadable = server.client.execute([SET, GET], keep_errors=True)
    assert done == "OK"
    assert isinstance(unreadable, Unreadable)


def test_an_error_of_the_server_is_raised_or_kept_as_the_reply_to_its_command() -> None:
    refused = ResponseError("OOM command not allowed")
    server = Server(lambda sent: refused if "SET" in sent else "1")
    with pytest.raises(ResponseError, match="OOM"):
        server.client.execute([GET, SET])
    assert server.client.execute([GET, SET], keep_errors=True) == ["1", refused]


def test_a_durable_change_waits_for_replicas_on_a_connection_of_its_own() -> None:
    server = Server(lambda sent: 2 if "WAIT" in sent else "OK", replicas=2)
    assert server.client.execute([SET], durable=True) == ["OK"]
    assert server.pool.connection.sent == ["SET a 1", "WAIT 2 10"]
    assert server.batches.sent == []
    assert server.client.execute([SET]) == ["OK"]
    assert server.batches.sent == ["SET a 1"]


def test_a_change_that_too_few_replicas_confirm_is_not_replicated() -> None:
    server = Server(lambda sent: 1 if "WAIT" in sent else "OK", replicas=2)
    with pytest.raises(NotReplicated):
        server.client.execute([SET], durable=True)
    refused = ResponseError("refused")
    server = Server(lambda sent: 1 if "WAIT" in sent else refused, replicas=2)
    assert server.client.execute([SET], durable=True, keep_errors=True) == [refused]


def test_without_replicas_a_durable_change_is_coalesced_like_others() -> None:
    server = Server(lambda sent: "OK")
    assert server.client.execute([SET], durable=True) == ["OK"]
    assert server.batches.sent == ["SET a 1"]


def test_a_pool_without_a_free_connection_is_exhausted_after_the_timeout() -> None:
    go_on = Event()

    def reply(sent: str) -> Any:
        go_on.wait()
        return 1

    server = Server(reply, replicas=1, timeout=0.01)
    first = gevent.spawn(server.client.execute, [SET], durable=True)
    gevent.sleep(0)
    with pytest.raises(PoolExhausted):
        server.client.execute([SET], durable=True)
    go_on.set()
    assert first.get() == [1]
    assert server.client.execute_on_all("INFO") == {"store:6379": 1}
    assert server.pool.in_use == 0


def test_a_caller_has_a_bounded_number_of_requests_in_flight() -> None:
    go_on = Event()
    in_flight = 0

    class SlowClient:
        publish = "PUBLISH"
        waits_for_replicas = False

        def execute(self, commands: list[Command], **options: bool) -> list[Any]:
            nonlocal in_flight
            in_flight += 1
            go_on.wait()
            return []

    fair = FairClient(cast("ServerClient", SlowClient()))
    requests = [gevent.spawn(fair.execute, [GET]) for _ in range(2 * FairClient.MAX_CONCURRENT)]
    gevent.sleep(0)
    assert in_flight == FairClient.MAX_CONCURRENT
    go_on.set()
    gevent.joinall(requests, raise_error=True)


def test_a_request_that_was_queued_when_the_server_went_down_fails_at_once() -> None:
    go_on = Event()

    def reply(sent: str) -> Any:
        go_on.wait()
        return RedisTimeoutError("late")

    server = Server(reply, timeout=0.0)
    fair = FairClient(server.client)
    requests = [gevent.spawn(fair.execute, [GET]) for _ in range(2 * FairClient.MAX_CONCURRENT)]
    gevent.sleep(0)
    go_on.set()
    gevent.joinall(requests)
    assert {type(each.exception) for each in requests} == {RedisTimeoutError}
    # Those of the first batch were sent; those that had to wait for them send nothing.
    assert len(server.batches.sent) == FairClient.MAX_CONCURRENT
    assert server.batches.opened == 1


def test_a_server_that_is_back_is_asked_again() -> None:
    server = Server(in_turn(LOST, LOST, "1"))
    fair = FairClient(server.client)
    with pytest.raises(RedisError):
        fair.execute([GET])
    assert fair.execute([GET]) == ["1"]


def test_every_script_documents_its_keys_and_its_reply() -> None:
    folder = module.files("api.storage") / "scripts"
    for file in folder.iterdir():
        source = Script.load(file.name.removesuffix(".lua")).source
        head = source.partition("\n\n")[0]
        assert all(line.startswith("--") for line in head.splitlines()), file.name
        assert "KEYS[1]" in head
        assert "Returns" in head
