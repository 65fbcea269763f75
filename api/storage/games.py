"""Games: their documents, positions, histories and played moves.

The keys of a game share a hash tag, and one script writes all of a change (see
`scripts/commit.lua`): it compares the version and the random id of the previous commit first. This
module decides nothing about games: it reads them, and writes the changes that it is given.

| key | holds |
| --- | --- |
| `game:{ID}` | hash: `game` (the document), `state`, `deal`, `version`, `commit` |
| `game:{ID}:items` | list: the history; the item of version v is at index v - 1 |
| `game:{ID}:played` | hash: by player, turn and move, the versions of the first and last item |

The commit publishes a game's version on the channel `game:{ID}`: with SPUBLISH on a cluster, but
with PUBLISH, which reaches all nodes, on a cluster that does not know SPUBLISH.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw, Struct
from redis import RedisError

from api.concurrency.time_slices import long_work, pause
from api.model.game import Audience, Game, HistoryItem, StoredDeal
from api.storage.client import Command, Script, StoreClient
from api.storage.codec import decode, decode_game, decode_state, encode, is_early
from api.storage.errors import Unreadable, log_unreadable, readable

COMMIT = Script.load("commit")
CONFIRM_COMMIT = Script.load("confirm_commit")

GAME_FIELDS = ("game", "state", "version", "commit")

CACHED_GAMES = 128
"""How many decoded games a worker caches, by their stored bytes."""

MAX_CACHED_BYTES = 16 * 1024
"""Larger games are decoded each time, so that the cache stays small."""


class StoredGame:
    """A game and its position, as they were read together or have just been committed.

    Neither ever changes, so results that are computed from them are kept with them: between two
    moves, the same game is requested many times.
    """

    __slots__ = ("_position", "game", "shown", "state")

    def __init__(self, game: Game, state: bytes | None, position: Any = None) -> None:
        self.game = game
        self.state = state
        self._position = position
        # The game's representations, by audience (see `api.games.representations`).
        self.shown: dict[Audience, Raw] = {}

    @property
    def position(self) -> Any:
        """The decoded state, None before the start.

        Raises `Unreadable` or `UnsupportedFormat`.
        """
        if self._position is None and self.state is not None:
            self._position = decode_state(self.game, self.state)
        return self._position


class Change(Struct, frozen=True, kw_only=True):
    """What one commit writes. `game` has the new version and commit id.

    A field that is None is not written. `state` is the encoded `position`; `played` is the key of
    a move and the versions of the history items that it caused.
    """

    game: Game
    items: tuple[HistoryItem, ...] = ()
    state: bytes | None = None
    position: Any = None
    deal: StoredDeal | None = None
    played: tuple[str, str] | None = None


class Snapshot(NamedTuple):
    """A game at a time (ms of the store's clock), None if it has expired."""

    now: int
    stored: StoredGame | None


class Fingerprint(NamedTuple):
    """Identifies the content of a game; both are None for a game that has expired."""

    version: int | None
    commit: str | None


_item_decoder = msgspec.json.Decoder(HistoryItem)
_deal_decoder = msgspec.json.Decoder(StoredDeal)


class GameStore:
    """Typed access to stored games. Any call may raise `redis.RedisError`.

    A method about one game may raise `Unreadable` or a subclass. A method about several games
    treats each game apart, so that one damaged game does not hide the others.
    """

    client: StoreClient

    def games(self, ids: Sequence[str]) -> dict[str, Game | None]:
        """Return the documents of some games, None for each that has expired.

        Games that cannot be read are logged and left out.
        """
        found = self._games(ids, ("game",))
        games = {each: None if game is None else game.game for each, game in found.items()}
        early = [each for each, game in games.items() if game is not None and is_early(game)]
        # Only their positions tell whether this release can read them.
        readable_early = self._games(early, GAME_FIELDS)
        return {each: games[each] for each in games if each not in early or each in readable_early}

    def games_with_state(self, ids: Sequence[str]) -> dict[str, StoredGame | None]:
        """Return some games with their positions; otherwise like `games`."""
        return self._games(ids, GAME_FIELDS)

    def _games(self, ids: Sequence[str], fields: Sequence[str]) -> dict[str, StoredGame | None]:
        if not ids:
            return {}
        commands = [_fields_command(each, fields) for each in ids]
        replies = self.client.execute(commands, keep_errors=True)
        found = {}
        with long_work():
            for game_id, reply in zip(ids, replies, strict=True):
                pause()
                try:
                    found[game_id] = read_game(game_id, reply)
                except Unreadable as error:
                    log_unreadable(game_id, error)
        return found

    def commit(self, before: Game | None, change: Change, ttl_ms: int) -> bool:
        """Write a change if the stored game still is `before`; return whether it was.

        Raises `Unreadable` if the stored history does not fit the game.
        """
        game = change.game
        fields: list[Any] = ["version", game.version, "game", encode(game)]
        if change.state is not None:
            fields += ["state", change.state]
        if change.deal is not None:
            fields += ["deal", encode(change.deal)]
        items = [encode(each) for each in change.items]
        played = list(change.played or ())
        # In the order of commit.lua's ARGV.
        args: list[Any] = [
            self.client.publish,
            "" if before is None else before.version,
            "" if before is None else before.commit,
            game.commit,
            ttl_ms,
        ]
        for values in (fields, items, played):
            args += [len(values), *values]
        keys = (_game_key(game.id), _items_key(game.id), _played_key(game.id))
        (outcome,) = self.client.execute([COMMIT.call(*keys, args=args)], durable=True)
        if outcome < 0:
            raise Unreadable
        return bool(outcome)

    def confirm(self, game: Game) -> bool:
        """Make sure that the last commit of a game is replicated; return False if it is lost.

        The commit may not be replicated: an earlier response said so, or the game was read from a
        demoted master.
        """
        if not self.client.waits_for_replicas:
            return True
        command = CONFIRM_COMMIT.call(_game_key(game.id), args=(game.commit,))
        (outcome,) = self.client.execute([command], durable=True)
        return bool(outcome)

    def items(self, game_id: str, first: int, last: int) -> list[HistoryItem]:
        """Return the history from one version to another, both included."""
        (reply,) = self.client.execute([items_command(game_id, first, last)])
        return read_items(reply)

    def deal(self, game_id: str) -> StoredDeal | None:
        """Return the deal of a game that was started."""
        key = _game_key(game_id)
        (reply,) = self.client.execute([Command(key, ("HGET", key, "deal"))])
        return None if reply is None else decode(_deal_decoder, reply)

    def snapshots(self, ids: Sequence[str]) -> list[Snapshot | RedisError | Unreadable]:
        """Return some games with the time, or the error that keeps one from being read."""
        commands = [each for id_ in ids for each in (time_command(id_), game_command(id_))]
        replies = self.client.execute(commands, keep_errors=True)
        snapshots: list[Snapshot | RedisError | Unreadable] = []
        with long_work():
            for game_id, time, reply in zip(ids, replies[::2], replies[1::2], strict=True):
                pause()
                try:
                    stored = read_game(game_id, reply)
                    snapshots.append(Snapshot(read_time(readable(time)), stored))
                except (RedisError, Unreadable) as error:
                    snapshots.append(error)
        return snapshots

    def fingerprints(self, ids: Sequence[str]) -> list[Fingerprint | RedisError | None]:
        """Return the fingerprints of some games, None for each that is damaged.

        An error of the server that has a game stands in the place of its fingerprint.
        """
        commands = [_fields_command(each, ("version", "commit")) for each in ids]
        replies = self.client.execute(commands, keep_errors=True)
        return [_fingerprint(reply) for reply in replies]


def game_channel(game_id: str) -> str:
    """Return the channel on which the commits of a game are published."""
    return _game_key(game_id)


def time_command(game_id: str) -> Command:
    """Return the command that reads the time of the server that has a game."""
    return Command(_game_key(game_id), ("TIME",))


def read_time(reply: Sequence[bytes]) -> int:
    """Return the milliseconds in a reply to TIME."""
    return int(reply[0]) * 1000 + int(reply[1]) // 1000


def game_command(game_id: str) -> Command:
    """Return the command that reads a game with its position; `read_game` decodes its reply."""
    return _fields_command(game_id, GAME_FIELDS)


def played_command(game_id: str, move_key: str) -> Command:
    """Return the command that reads which items a move caused, if it was played."""
    key = _played_key(game_id)
    return Command(key, ("HGET", key, move_key))


def items_command(game_id: str, first: int, last: int) -> Command:
    """Return the command of `GameStore.items`; `read_items` decodes its reply."""
    key = _items_key(game_id)
    return Command(key, ("LRANGE", key, first - 1, last - 1))


def read_items(reply: Any) -> list[HistoryItem]:
    """Return the items in a reply to `items_command`. Raises `Unreadable`."""
    items = []
    with long_work():
        for each in readable(reply):
            pause()
            items.append(decode(_item_decoder, each))
    return items


def read_game(game_id: str, reply: Any) -> StoredGame | None:
    """Return the game in a reply with its document, or with all of `GAME_FIELDS`."""
    document, *fields = readable(reply)
    if document is None:
        return None
    if not fields or sum(len(value or b"") for value in (document, *fields)) > MAX_CACHED_BYTES:
        return _decode_game(game_id, document, *fields)
    return _cached_game(game_id, document, *fields)


def _decode_game(game_id: str, document: bytes, *fields: bytes | None) -> StoredGame:
    game = decode_game(game_id, document, *fields)
    state = fields[0] if fields else None
    # Positions are decoded only when a request needs them, except those of early releases: every
    # request must notice their format.
    position = decode_state(game, state) if state is not None and is_early(game) else None
    return StoredGame(game, state, position)


_cached_game = lru_cache(CACHED_GAMES)(_decode_game)


def _fingerprint(
    reply: list[bytes | None] | RedisError | Unreadable,
) -> Fingerprint | RedisError | None:
    if isinstance(reply, RedisError):
        return reply
    if isinstance(reply, Unreadable):
        return None
    version, commit = reply
    try:
        return Fingerprint(
            None if version is None else int(version), None if commit is None else commit.decode()
        )
    except ValueError:
        return None


def _fields_command(game_id: str, fields: Sequence[str]) -> Command:
    key = _game_key(game_id)
    return Command(key, ("HMGET", key, *fields))


def _game_key(game_id: str) -> str:
    return f"game:{{{game_id}}}"


def _items_key(game_id: str) -> str:
    return f"game:{{{game_id}}}:items"


def _played_key(game_id: str) -> str:
    return f"game:{{{game_id}}}:played"
