"""What is wrong or risky about a store: which sentence, when, and how often."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import cast

import gevent
import pytest
from redis import RedisError, ResponseError
from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    NoPermissionError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.sentinel import MasterNotFoundError

from api.storage import watch as module
from api.storage.connect import store_name
from api.storage.findings import findings, unreachable
from api.storage.health import Condition, StoreHealth, read_condition
from api.storage.watch import FIRST_CHECK_SECONDS, StoreWatch

AT = "cache:6379"
SECRET = "sw0rdf1sh"

GOOD = {
    "redis_version": "7.2.4",
    "valkey_version": "9.1.2",
    "role": "master",
    "connected_slaves": "1",
    "maxmemory": "1000",
    "used_memory": "100",
    "maxmemory_policy": "noeviction",
    "aof_enabled": "1",
}


def condition(address: str = AT, **info: str | None) -> Condition:
    fields = GOOD | info
    text = "".join(f"{name}:{value}\r\n" for name, value in fields.items() if value is not None)
    return read_condition(address, f"# Server\r\n{text}")


def sentences(*conditions: Condition, wait_replicas: int = 0) -> list[str]:
    return [each.sentence for each in findings(conditions, wait_replicas).values()]


def test_a_store_as_it_should_be_gives_no_finding() -> None:
    assert sentences(condition(), wait_replicas=1) == []


def test_the_product_and_its_version_are_told_apart() -> None:
    assert condition()[1:3] == ("Valkey", "9.1.2")
    assert condition(valkey_version=None)[1:3] == ("Redis", "7.2.4")


@pytest.mark.parametrize(
    ("info", "sentence"),
    [
        (
            {"role": "slave"},
            (
                "is a replica and takes no changes: put the address of its master, or of its "
                "Sentinels, into REDIS_URL"
            ),
        ),
        (
            {"maxmemory_policy": "allkeys-lru"},
            (
                "drops games when its memory is full (maxmemory-policy allkeys-lru): set "
                "maxmemory-policy to noeviction"
            ),
        ),
        (
            {"aof_enabled": "0"},
            (
                "writes no append-only file: when it restarts, the games since its last snapshot "
                "are lost. Set appendonly to yes"
            ),
        ),
        (
            {"maxmemory": "0"},
            "has no memory limit, so the system may end it when memory runs out: set maxmemory",
        ),
        (
            {"used_memory": "950"},
            (
                "uses more than 90% of its memory limit, 1000 bytes, and will refuse changes at "
                "the limit: raise maxmemory"
            ),
        ),
        (
            {"used_memory": "1001"},
            "refuses changes: its memory is full (1001 bytes of 1000). Raise its maxmemory",
        ),
        (
            {"aof_last_write_status": "err"},
            "refuses changes: it cannot write to its disk (aof_last_write_status)",
        ),
        (
            {"valkey_version": None, "redis_version": "6.0.16"},
            "is Redis 6.0.16, which is not tested: use Redis 7 or newer, or Valkey",
        ),
    ],
)
def test_each_finding_is_one_sentence_with_host_and_port(
    info: dict[str, str | None], sentence: str
) -> None:
    assert sentences(condition(**info)) == [f"The store at {AT} {sentence}"]


def test_too_few_replicas_are_told_where_changes_wait_for_them() -> None:
    assert sentences(condition(connected_slaves="0")) == []
    for number, replicas in (("0", "0 replicas"), ("1", "1 replica")):
        (sentence,) = sentences(condition(connected_slaves=number), wait_replicas=2)
        assert sentence == (
            f"The store at {AT} has {replicas}, and WAIT_REPLICAS is 2: changes are answered 503 "
            "until more replicas follow it"
        )


def test_of_the_embedded_store_neither_its_limit_nor_its_disk_is_told() -> None:
    """It has no limit, and its supervisor tells of its disk."""
    at = "/srv/data/valkey/valkey.sock"
    assert sentences(condition(at, maxmemory="0"), condition(at, maxmemory="1")) == []


def test_each_server_of_a_cluster_is_told_by_its_own_address() -> None:
    told = sentences(condition("one:1"), condition("two:2", aof_enabled="0"))
    assert [each.partition(" writes ")[0] for each in told] == ["The store at two:2"]


def test_an_info_that_says_nothing_is_read() -> None:
    assert read_condition(AT, "").version == ""


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("redis://", None),
        (f"redis://:{SECRET}@/3", None),
        ("redis://cache", "the store at cache:6379"),
        (f"redis://keeper:{SECRET}@cache:7000/3", "the store at cache:7000"),
        (f"rediss://:{SECRET}@[::1]?password={SECRET}", "the store at [::1]:6379"),
        (f"unix:///run/a%20b.sock?password={SECRET}", "the store at /run/a b.sock"),
        (
            f"redis+sentinel://:{SECRET}@a,b:5000/games/0?sentinel_password={SECRET}",
            "the master games of the Sentinels at a:26379, b:5000",
        ),
        (f"rediss+cluster://:{SECRET}@a:1,b:2", "the cluster at a:1, b:2"),
    ],
)
def test_a_store_is_named_by_hosts_and_ports_without_its_secrets(
    url: str, name: str | None
) -> None:
    assert store_name(url) == (name or "the store at localhost:6379")


@pytest.mark.parametrize(
    ("error", "what"),
    [
        (
            RedisConnectionError("Error 111 connecting to cache:6379. Connection refused."),
            "cannot be reached: Connection refused",
        ),
        (
            # A node of a cluster, or the master that Sentinels name.
            RedisConnectionError("Error -2 connecting to node-c:6379. Name or service not known."),
            "cannot be reached: node-c:6379: Name or service not known",
        ),
        (
            RedisConnectionError("Connection closed by server."),
            "closes each connection: if it speaks TLS, REDIS_URL has to begin with rediss://",
        ),
        (
            AuthenticationError("WRONGPASS invalid username-password pair or user is disabled."),
            "refuses the user or the password of REDIS_URL",
        ),
        (AuthenticationError("invalid password"), "refuses the user or the password of REDIS_URL"),
        (
            AuthenticationError("Authentication required."),
            "asks for a password: put it into REDIS_URL",
        ),
        (
            NoPermissionError("User keeper has no permissions to run the 'info' command"),
            "does not let the user of REDIS_URL run INFO: permit it, as all commands",
        ),
        (
            # What redis-py says of a server that is no node of a cluster.
            RedisConnectionError(
                "Redis Cluster cannot be connected. Please provide at least one reachable node: "
                "Cluster mode is not enabled on this node"
            ),
            "is no cluster: for one server, REDIS_URL has to begin with redis:// or rediss://",
        ),
        (BusyLoadingError("Redis is loading the dataset in memory"), "is loading its data"),
        (
            RedisTimeoutError("Timeout reading from socket"),
            "does not answer within REDIS_TIMEOUT_SECONDS",
        ),
        (
            MasterNotFoundError("No master found for 'games'"),
            "cannot be found: no Sentinel that answers names it",
        ),
        (
            ResponseError(f"unknown command 'AUTH', with args beginning with: '{SECRET}'"),
            "cannot be reached: ResponseError",
        ),
    ],
)
def test_why_a_store_cannot_be_asked_is_one_sentence_without_a_secret(
    error: RedisError, what: str
) -> None:
    (finding,) = unreachable("the store at cache:6379", error).values()
    assert finding.sentence == f"The store at cache:6379 {what}"


# --- When it is logged ---------------------------------------------------------------------------


class FakeHealth:
    """Answers what the test says: conditions, or an error."""

    def __init__(self) -> None:
        self.now: list[Condition] | RedisError = [condition()]
        self.delay = 0.0

    def conditions(self) -> list[Condition]:
        gevent.sleep(self.delay)
        if isinstance(self.now, RedisError):
            raise self.now
        return self.now


class Watched:
    """A watch over a fake store, and what it has logged since it was last asked."""

    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        self.health = FakeHealth()
        self.watch = StoreWatch(cast("StoreHealth", self.health), "the store at cache:6379", 0)
        self._caplog = caplog

    def check(self, now: list[Condition] | RedisError) -> list[str]:
        self.health.now = now
        self.watch.check()
        return self.lines()

    def lines(self) -> list[str]:
        lines = [f"{each.levelname} {each.getMessage()}" for each in self._caplog.records]
        self._caplog.clear()
        return lines


@pytest.fixture
def watched(caplog: pytest.LogCaptureFixture) -> Iterator[Watched]:
    logger = logging.getLogger("ludotheque")
    level, propagates = logger.level, logger.propagate
    logger.setLevel(logging.INFO)
    logger.propagate = True
    yield Watched(caplog)
    logger.setLevel(level)
    logger.propagate = propagates


GONE = RedisConnectionError("Error 111 connecting to cache:6379. Connection refused.")
REFUSED = "ERROR The store at cache:6379 cannot be reached: Connection refused"


def test_a_store_is_named_once_and_again_when_it_is_another_version(watched: Watched) -> None:
    assert watched.check([condition()]) == ["INFO The store at cache:6379 is Valkey 9.1.2"]
    assert watched.check([condition()]) == []
    assert watched.check([condition(valkey_version="9.2.0")]) == [
        "INFO The store at cache:6379 is Valkey 9.2.0"
    ]


def test_a_finding_is_logged_when_it_appears_and_when_it_has_gone(watched: Watched) -> None:
    evicting = condition(maxmemory_policy="allkeys-lru")
    assert watched.check([evicting])[1:] == [
        (
            "ERROR The store at cache:6379 drops games when its memory is full (maxmemory-policy "
            "allkeys-lru): set maxmemory-policy to noeviction"
        )
    ]
    assert watched.check([evicting]) == []
    assert watched.check([condition()]) == ["INFO The store at cache:6379 drops no games any more"]


def test_numbers_that_change_are_not_logged_again(watched: Watched) -> None:
    watched.check([condition(used_memory="1001")])
    assert watched.check([condition(used_memory="1002")]) == []


def test_a_store_that_goes_and_comes_back_is_two_lines(watched: Watched) -> None:
    watched.check([condition(aof_enabled="0")])
    assert watched.check(GONE) == [REFUSED]
    assert watched.check(GONE) == []
    # What was known of the server before is not said to have gone, nor said again.
    assert watched.check([condition(aof_enabled="0")]) == [
        "INFO The store at cache:6379 answers again"
    ]


def test_another_reason_is_another_line(watched: Watched) -> None:
    assert watched.check(GONE) == [REFUSED]
    assert watched.check(AuthenticationError("invalid password")) == [
        "ERROR The store at cache:6379 refuses the user or the password of REDIS_URL"
    ]


def test_the_start_waits_for_the_first_check_and_not_for_a_slow_store(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_CHECK_SECONDS", 0.2)
    watched.health.delay = 0.02
    watched.watch.start()
    assert watched.lines() == ["INFO The store at cache:6379 is Valkey 9.1.2"]
    slow = StoreWatch(cast("StoreHealth", watched.health), "the store at cache:6379", 0)
    watched.health.delay = 30
    with gevent.Timeout(10):
        slow.start()
    assert watched.lines() == []
    assert FIRST_CHECK_SECONDS < 10, "gunicorn ends a worker that does not start within 30 s"
