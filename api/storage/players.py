"""Players, their tokens and tickets, and what they created.

| key | holds |
| --- | --- |
| `player:{ID}` | hash: the account |
| `creation:{ID}:{KEY}` | string: the game that a player created with an Idempotency-Key |
| `ticket:{HASH}` | string: what a ticket for a stream is for |

The channel `player:{ID}` tells that a game concerns the player from now on, or that its token has
changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from redis import RedisError, ResponseError

from api.model.game import Account, Participation, Player
from api.storage.client import Command, Deferred, Script, StoreClient
from api.storage.codec import decode, encode
from api.storage.errors import Unreadable, count_failure, readable
from api.storage.games import read_time

ADD_PLAYER = Script.load("add_player")
OFFER_TOKEN = Script.load("offer_token")
PROMOTE_TOKEN = Script.load("promote_token")
REMEMBER_CREATION = Script.load("remember_creation")
RENEW_PLAYER = Script.load("renew_player")
SEE_PLAYER = Script.load("see_player")

ACCOUNT_FIELDS = ("name", "kind", "token", "next_token", "next_token_at", "kept_at", "seen_at")


class TokenOffer(NamedTuple):
    """A player's next token: the nonce that it was derived with, its hash, the time (ms)."""

    nonce: str
    token: str
    at: int


class Creation(Struct, frozen=True):
    """An idempotent creation: the id of the game, and a digest of the request."""

    game_id: str
    digest: str


class Ticket(Struct, frozen=True):
    """What a ticket is for: one player's stream of a game, or of all its games (None).

    It is valid as long as the player has the token of this hash and its part in the game is as it
    was.
    """

    game_id: str | None
    player_id: str
    secret_hash: str
    participation: Participation | None = msgspec.field(name="place")


_creation_decoder = msgspec.json.Decoder(Creation)
_ticket_decoder = msgspec.json.Decoder(Ticket)


class PlayerStore:
    """Typed access to stored players. Any call may raise `redis.RedisError` or `Unreadable`."""

    client: StoreClient

    def add_player(self, player: Player, token: str, ttl_ms: int) -> int:
        """Store a new player with the hash of its token; return the store's time (ms)."""
        args = (player.name, player.kind, token, ttl_ms)
        add = ADD_PLAYER.call(_player_key(player.id), args=args)
        time, _ = self.client.execute([time_command(player.id), add], durable=True)
        return read_time(time)

    def players(self, ids: Sequence[str]) -> list[Player | None]:
        """Return the players with these ids, None for each that does not exist."""
        if not ids:
            return []
        replies = self.client.execute([account_command(each) for each in ids])
        return read_players(ids, replies)

    def see_player(self, player_id: str, now: int, ttl_ms: int) -> None:
        """Note when a player was last seen, and keep it for at least this long from now on."""
        self.client.execute([SEE_PLAYER.call(_player_key(player_id), args=(now, ttl_ms))])

    def last_seen(self, ids: Sequence[str]) -> list[int | None]:
        """Return when (ms) each of these players was last seen.

        None for a player who never was, and for one that cannot be read.
        """
        if not ids:
            return []
        keys = [_player_key(each) for each in ids]
        commands = [Command(key, ("HGET", key, "seen_at")) for key in keys]
        return [_seen_at(reply) for reply in self.client.execute(commands, keep_errors=True)]

    def offer_token(self, player_id: str, token: str, offer: TokenOffer) -> str | None:
        """Store a player's next token, unless it has one; return the nonce of the one it has.

        None if the player's current token (its hash) is not `token`.
        """
        args = (token, offer.nonce, offer.token, offer.at)
        nonce = self._execute_durably(OFFER_TOKEN.call(_player_key(player_id), args=args))
        return None if nonce is None else nonce.decode()

    def promote_token(self, player_id: str, token: str) -> None:
        """Make a player's next token (its hash) its only one."""
        args = (token, self.client.publish)
        self._execute_durably(PROMOTE_TOKEN.call(_player_key(player_id), args=args))

    def creation(self, player_id: str, key: str) -> Creation | None:
        """Return what a player created with this Idempotency-Key."""
        (reply,) = self.client.execute([creation_command(player_id, key)])
        return read_creation(reply)

    def remember_creation(
        self, player_id: str, key: str, creation: Creation, ttl_ms: int
    ) -> Creation:
        """Store what a player creates with this Idempotency-Key; return the first with this key."""
        command = remember_command(player_id, key, creation, ttl_ms)
        first = read_creation(self._execute_durably(command))
        assert first is not None
        return first

    def replace_creation(self, player_id: str, key: str, creation: Creation, ttl_ms: int) -> None:
        """Store what a player creates with this Idempotency-Key in place of an earlier record."""
        name = _creation_key(player_id, key)
        self._execute_durably(Command(name, ("SET", name, encode(creation), "PX", ttl_ms)))

    def add_ticket(self, ticket_hash: str, ticket: Ticket, ttl_ms: int) -> None:
        """Store a ticket."""
        key = _ticket_key(ticket_hash)
        self.client.execute([Command(key, ("SET", key, encode(ticket), "PX", ttl_ms))])

    def ticket(self, ticket_hash: str) -> Ticket | None:
        """Return the ticket with this hash."""
        key = _ticket_key(ticket_hash)
        (found,) = self.client.execute([Command(key, ("GET", key))])
        return None if found is None else decode(_ticket_decoder, found)

    def announcement(self, player_ids: Iterable[str]) -> Deferred:
        """Return what wakes the waiting requests of these players. A failure only delays them."""
        channels = [player_channel(each) for each in player_ids]

        def receive(replies: Sequence[Any]) -> None:
            failures = [each for each in replies if isinstance(each, RedisError)]
            if any(isinstance(each, ResponseError) for each in failures):
                # Clusters before Redis 7 do not know SPUBLISH.
                try:
                    self.client.execute(_publications("PUBLISH", channels))
                except RedisError as error:
                    failures = [error]
                else:
                    failures = []
            for each in failures:
                count_failure(each)

        return Deferred(_publications(self.client.publish, channels), receive)

    def _execute_durably(self, command: Command) -> Any:
        (reply,) = self.client.execute([command], durable=True)
        return reply


def _publications(command: str, channels: Sequence[str]) -> list[Command]:
    return [Command(each, (command, each, "")) for each in channels]


def player_channel(player_id: str) -> str:
    """Return the channel of a player."""
    return _player_key(player_id)


def creation_command(player_id: str, key: str) -> Command:
    """Return the command of `PlayerStore.creation`; `read_creation` decodes its reply."""
    name = _creation_key(player_id, key)
    return Command(name, ("GET", name))


def remember_command(player_id: str, key: str, creation: Creation, ttl_ms: int) -> Command:
    """Return the command of `PlayerStore.remember_creation`; `read_creation` decodes its reply."""
    name = _creation_key(player_id, key)
    return REMEMBER_CREATION.call(name, args=(encode(creation), ttl_ms))


def read_creation(reply: Any) -> Creation | None:
    """Return the creation in a reply. Raises `Unreadable` or `redis.RedisError`."""
    found = readable(reply)
    return None if found is None else decode(_creation_decoder, found)


def renew_command(player_id: str, now: int, ttl_ms: int) -> Command:
    """Return the command that keeps a player of a game for at least this long from now on."""
    return RENEW_PLAYER.call(_player_key(player_id), args=(now, ttl_ms))


def time_command(player_id: str) -> Command:
    """Return the command that reads the time of the server that has a player."""
    return Command(_player_key(player_id), ("TIME",))


def account_command(player_id: str) -> Command:
    """Return the command that reads an account; `read_account` decodes its reply."""
    key = _player_key(player_id)
    return Command(key, ("HMGET", key, *ACCOUNT_FIELDS))


def read_account(player_id: str, values: list[bytes | None]) -> Account | None:
    """Return the account in a reply to `account_command`. Raises `Unreadable`."""
    name, kind, token, next_token, next_token_at, kept_at, seen_at = values
    if name is None or kind is None or token is None:
        return None
    try:
        return Account(
            player=Player(player_id, name.decode(), kind.decode()),
            token=token.decode(),
            next_token=next_token.decode() if next_token else None,
            next_token_at=int(next_token_at or 0),
            kept_at=int(kept_at or 0),
            seen_at=int(seen_at or 0),
        )
    except ValueError as error:
        raise Unreadable from error


def read_players(ids: Sequence[str], replies: Sequence[Any]) -> list[Player | None]:
    """Return the players in replies to `account_command`, None for each that does not exist.

    Raises `Unreadable` or `redis.RedisError`.
    """
    accounts = [
        read_account(each, readable(reply)) for each, reply in zip(ids, replies, strict=True)
    ]
    return [None if account is None else account.player for account in accounts]


def _seen_at(reply: Any) -> int | None:
    if isinstance(reply, RedisError):
        raise reply
    if isinstance(reply, bytes) and reply.isdigit():
        return int(reply)
    return None


def _player_key(player_id: str) -> str:
    return f"player:{{{player_id}}}"


def _creation_key(player_id: str, key: str) -> str:
    return f"creation:{{{player_id}}}:{key}"


def _ticket_key(ticket_hash: str) -> str:
    return f"ticket:{{{ticket_hash}}}"
