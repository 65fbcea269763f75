"""Players: what of an account can be read, what is durable, and how announcements may fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from redis import ResponseError
from redis.exceptions import ConnectionError as RedisConnectionError

from api.model.game import Account, Participation
from api.storage import players as module
from api.storage.client import Command
from api.storage.errors import Unreadable
from api.storage.players import Creation, Ticket, TokenOffer, read_account
from api.storage.store import Store
from tests.support.commits import announce
from tests.support.memory_store import MemoryClient
from tests.support.records import ADA, BOB

VALUES = (b"Ada", b"bot", b"token", b"next", b"3", b"2", b"1")
TICKET = Ticket("0" * 32, ADA.id, "hash", Participation(1, 0))


class Client(MemoryClient):
    """A store in memory that notes what was sent, and whether it is to be durable."""

    def __init__(self) -> None:
        super().__init__(lambda: 0.0)
        self.sent: list[tuple[Command, bool]] = []

    def execute(
        self, commands: Sequence[Command], *, durable: bool = False, keep_errors: bool = False
    ) -> list[Any]:
        self.sent += [(each, durable) for each in commands]
        return super().execute(commands, durable=durable, keep_errors=keep_errors)

    def channels(self, command: str) -> list[str]:
        return [each.words[1] for each, _ in self.sent if each.words[0] == command]


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.fixture
def store(client: Client) -> Store:
    return Store(client)


def channel_of(player_id: str) -> str:
    return f"player:{{{player_id}}}"


# --- Accounts ----------------------------------------------------------------------------


def test_an_account_is_read_with_its_tokens_and_times() -> None:
    assert read_account(ADA.id, [*VALUES]) == Account(ADA, "token", "next", 3, 2, 1)
    bare = [*VALUES[:3], None, None, None, None]
    assert read_account(ADA.id, bare) == Account(ADA, "token", None, 0, 0, 0)


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_without_a_name_a_kind_or_a_token_there_is_no_account(missing: int) -> None:
    values = [None if at == missing else value for at, value in enumerate(VALUES)]
    assert read_account(ADA.id, values) is None


@pytest.mark.parametrize("damaged", range(len(VALUES)))
def test_an_account_with_a_value_that_is_no_text_or_number_is_unreadable(damaged: int) -> None:
    values: list[bytes | None] = [*VALUES]
    values[damaged] = b"\xff"
    with pytest.raises(Unreadable):
        read_account(ADA.id, values)


def test_players_come_in_the_order_of_their_ids(store: Store, client: Client) -> None:
    assert store.players([]) == []
    assert store.last_seen([]) == []
    assert client.sent == []
    for player in (ADA, BOB):
        store.add_player(player, "token", 1000)
    assert store.players([BOB.id, "unknown", ADA.id]) == [BOB, None, ADA]


def test_a_player_who_cannot_be_read_was_never_seen(store: Store, client: Client) -> None:
    for player in (ADA, BOB):
        store.add_player(player, "token", 1000)
        store.see_player(player.id, 7, 1000)
    damaged = channel_of("damaged").encode()
    client.values[damaged] = b"text"
    client.hset(channel_of(ADA.id).encode(), b"seen_at", b"-1")
    assert store.last_seen([ADA.id, BOB.id, "damaged"]) == [None, 7, None]
    client.failures[channel_of(ADA.id)] = RedisConnectionError("away")
    with pytest.raises(RedisConnectionError):
        store.last_seen([ADA.id, BOB.id])


# --- Durability --------------------------------------------------------------------------


def test_what_was_promised_to_a_player_is_durable_and_the_rest_is_not(
    store: Store, client: Client
) -> None:
    store.add_player(ADA, "old", 1000)
    store.offer_token(ADA.id, "old", TokenOffer("nonce", "new", 1))
    store.promote_token(ADA.id, "new")
    store.remember_creation(ADA.id, "key", Creation("0" * 32, "digest"), 1000)
    assert [durable for _, durable in client.sent] == [True] * 5
    client.sent.clear()
    store.see_player(ADA.id, 1, 1000)
    store.add_ticket("hash", TICKET, 1000)
    assert store.ticket("hash") == TICKET
    assert store.ticket("other") is None
    assert [durable for _, durable in client.sent] == [False] * 4


def test_a_damaged_creation_or_ticket_is_unreadable(store: Store, client: Client) -> None:
    client.set(b"creation:{%s}:key" % ADA.id.encode(), b"{", b"PX", b"1000")
    client.set(b"ticket:{hash}", b"{}", b"PX", b"1000")
    with pytest.raises(Unreadable):
        store.creation(ADA.id, "key")
    with pytest.raises(Unreadable):
        store.ticket("hash")


# --- Announcements -----------------------------------------------------------------------


def test_an_announcement_that_fails_is_counted_and_raises_nothing(
    store: Store, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[Exception] = []
    monkeypatch.setattr(module, "count_failure", counted.append)
    away = RedisConnectionError("away")
    client.failures[channel_of(ADA.id)] = away
    announce(store, [ADA.id, BOB.id])
    assert counted == [away]


def test_where_the_command_that_publishes_is_unknown_the_old_one_is_sent(
    store: Store, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*words: bytes) -> None:
        raise ResponseError("unknown command")

    client.publish = "SPUBLISH"
    monkeypatch.setattr(client, "spublish", refuse, raising=False)
    announce(store, [ADA.id, BOB.id])
    channels = [channel_of(ADA.id), channel_of(BOB.id)]
    assert client.channels("SPUBLISH") == client.channels("PUBLISH") == channels
