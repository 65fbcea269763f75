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
from msgspec import Struct
from msgspec.structs import replace
from redis import RedisError

from api.concurrency.time_slices import long_work, pause
from api.model.game import FORMAT, Game, HistoryItem, StoredDeal
from api.storage.client import Command, Script, StoreClient
from api.storage.codec import decode, decode_game, decode_state, encode
from api.storage.errors import Unreadable, count_failure, log_unreadable, readable
from api.storage.format_1 import convert, encode_deal, encode_state

COMMIT = Script.load("commit")
CONFIRM_COMMIT = Script.load("confirm_commit")
CONVERT = Script.load("convert")

GAME_FIELDS = ("game", "state", "version", "commit")

CACHED_GAMES = 128
"""How many decoded games a worker caches, by their stored bytes."""

MAX_CACHED_BYTES = 16 * 1024
"""Larger games are decoded each time, so that the cache stays small."""


class StoredGame:
    """A game and its position, as they were read together or have just been committed.

    Neither ever changes, so the position is decoded once: between two moves, the same game is
    requested many times.
    """

    __slots__ = ("__weakref__", "_position", "game", "state")

    def __init__(self, game: Game, state: bytes | None, position: Any = None) -> None:
        self.game = game
        self.state = state
        self._position = position

    @property
    def is_earlier(self) -> bool:
        """Whether the game is stored in an earlier format."""
        return self.game.format < FORMAT

    @property
    def position(self) -> Any:
        """The decoded state, None before the start.

        Raises `Unreadable`.
        """
        if self._position is None and self.state is not None:
            self._position = decode_state(self.game, self.state)
        return self._position


class WholeGame(NamedTuple):
    """A game with its deal, None before the start, and its history, in the present format.

    `game.format` is the format in which it is stored.
    """

    stored: StoredGame
    deal: StoredDeal | None
    items: tuple[HistoryItem, ...]


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

    A game of an earlier format is converted when it is read, and then stored in `stored_format`.
    While the store is full, or `stored_format` is the earlier one, it is converted at each read;
    its `format` tells.
    """

    client: StoreClient
    stored_format: int

    def games(self, ids: Sequence[str]) -> dict[str, Game | None]:
        """Return the documents of some games, None for each that has expired.

        Games that cannot be read are logged and left out.
        """
        found = self._games(ids, ("game",))
        return {each: None if game is None else game.game for each, game in found.items()}

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
        earlier = [each for each, game in found.items() if game is not None and game.is_earlier]
        for game_id, converted in self._convert(earlier).items():
            try:
                found[game_id] = readable(converted)
            except Unreadable as error:
                log_unreadable(game_id, error)
                del found[game_id]
        return found

    def commit(self, before: Game | None, change: Change, ttl_ms: int) -> bool:
        """Write a change if the stored game still is `before`; return whether it was.

        Raises `Unreadable` if the stored history does not fit the game.
        """
        game = change.game
        if before is not None and before.format < game.format:
            # The store was full when the game was read.
            self._store_converted(game.id)
        fields: list[Any] = ["version", game.version, "game", encode(game)]
        is_present = game.format == FORMAT
        if change.state is not None:
            fields += ["state", change.state if is_present else encode_state(game, change.position)]
        if change.deal is not None:
            fields += ["deal", encode(change.deal) if is_present else encode_deal(change.deal)]
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

    def history(self, game: Game, first: int, last: int) -> list[HistoryItem]:
        """Return the history of a game from one version to another, both included."""
        if game.format < FORMAT:
            whole = self._whole_game(game.id)
            return [] if whole is None else list(whole.items[first - 1 : last])
        return self.items(game.id, first, last)

    def items(self, game_id: str, first: int, last: int) -> list[HistoryItem]:
        """Return the history as `history` does, of a game that is stored in the present format."""
        (reply,) = self.client.execute([items_command(game_id, first, last)])
        return read_items(reply)

    def deal(self, game: Game) -> StoredDeal | None:
        """Return the deal of a game that was started."""
        if game.format < FORMAT:
            whole = self._whole_game(game.id)
            return None if whole is None else whole.deal
        key = _game_key(game.id)
        (reply,) = self.client.execute([Command(key, ("HGET", key, "deal"))])
        return _read_deal(reply)

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
        earlier = {
            at: each
            for at, each in enumerate(snapshots)
            if isinstance(each, Snapshot) and each.stored is not None and each.stored.is_earlier
        }
        converted = self._convert([ids[at] for at in earlier])
        for at, snapshot in earlier.items():
            try:
                snapshots[at] = snapshot._replace(stored=readable(converted[ids[at]]))
            except (RedisError, Unreadable) as error:
                snapshots[at] = error
        return snapshots

    def fingerprints(self, ids: Sequence[str]) -> list[Fingerprint | RedisError | None]:
        """Return the fingerprints of some games, None for each that is damaged.

        An error of the server that has a game stands in the place of its fingerprint.
        """
        commands = [_fields_command(each, ("version", "commit")) for each in ids]
        replies = self.client.execute(commands, keep_errors=True)
        return [_fingerprint(reply) for reply in replies]

    # --- Games of an earlier format ----------------------------------------------------

    def converted(self, game_id: str) -> StoredGame | None:
        """Return a game of an earlier format, read again and converted."""
        converted: StoredGame | None = readable(self._convert([game_id])[game_id])
        return converted

    def _convert(
        self, ids: Sequence[str]
    ) -> dict[str, StoredGame | RedisError | Unreadable | None]:
        """Return some games converted, and store them so if the store takes them."""
        wholes = self._whole_games(ids)
        earlier = {
            game_id: whole
            for game_id, whole in wholes.items()
            if isinstance(whole, WholeGame) and whole.stored.is_earlier
        }
        if earlier and self.stored_format == FORMAT:
            commands = [_convert_command(each) for each in earlier.values()]
            outcomes = self.client.execute(commands, keep_errors=True)
            for (game_id, whole), outcome in zip(earlier.items(), outcomes, strict=True):
                if outcome == 1:
                    wholes[game_id] = _in_present_format(whole)
                elif isinstance(outcome, RedisError):
                    count_failure(outcome)
        return {
            game_id: whole.stored if isinstance(whole, WholeGame) else whole
            for game_id, whole in wholes.items()
        }

    def _store_converted(self, game_id: str) -> None:
        """Store a game in the present format that could not be stored when it was read."""
        whole = self._whole_game(game_id)
        if whole is not None and whole.stored.is_earlier:
            self.client.execute([_convert_command(whole)])

    def _whole_game(self, game_id: str) -> WholeGame | None:
        whole: WholeGame | None = readable(self._whole_games([game_id])[game_id])
        return whole

    def _whole_games(
        self, ids: Sequence[str]
    ) -> dict[str, WholeGame | RedisError | Unreadable | None]:
        """Read some games with all that belongs to them, and convert those of earlier formats."""
        if not ids:
            return {}
        fields = (*GAME_FIELDS, "deal")
        commands = [
            command
            for each in ids
            for command in (_fields_command(each, fields), items_command(each, 1, 0))
        ]
        replies = self.client.execute(commands, keep_errors=True)
        wholes: dict[str, WholeGame | RedisError | Unreadable | None] = {}
        for game_id, reply, items in zip(ids, replies[::2], replies[1::2], strict=True):
            try:
                wholes[game_id] = _read_whole_game(game_id, reply, items)
            except (RedisError, Unreadable) as error:
                wholes[game_id] = error
        return wholes


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
    # The position is decoded only when a request needs it.
    return StoredGame(decode_game(game_id, document, *fields), fields[0] if fields else None)


_cached_game = lru_cache(CACHED_GAMES)(_decode_game)


def _read_deal(reply: bytes | None) -> StoredDeal | None:
    return None if reply is None else decode(_deal_decoder, reply)


def _read_whole_game(game_id: str, reply: Any, items_reply: Any) -> WholeGame | None:
    *fields, deal_reply = readable(reply)
    stored = read_game(game_id, fields)
    if stored is None:
        return None
    game, deal = stored.game, _read_deal(deal_reply)
    # The history may have been read later than the game.
    items = read_items(items_reply)[: game.version]
    if len(items) != game.version:
        raise Unreadable
    if not stored.is_earlier:
        return WholeGame(stored, deal, tuple(items))
    converted = convert(game, deal, items)
    state = None if converted.position is None else encode(converted.position)
    stored = StoredGame(converted.game, state, converted.position)
    return WholeGame(stored, converted.deal, converted.items)


def _in_present_format(whole: WholeGame) -> WholeGame:
    stored = whole.stored
    game = replace(stored.game, format=FORMAT)
    return whole._replace(stored=StoredGame(game, stored.state, stored.position))


def _convert_command(whole: WholeGame) -> Command:
    """Return the command that stores a whole game in the present format, unless it has changed."""
    game, state = replace(whole.stored.game, format=FORMAT), whole.stored.state
    fields: list[Any] = ["game", encode(game)]
    if state is not None:
        fields += ["state", state]
    if whole.deal is not None:
        fields += ["deal", encode(whole.deal)]
    items = [encode(each) for each in whole.items]
    # In the order of convert.lua's ARGV.
    args = (game.version, game.commit, len(fields), *fields, len(items), *items)
    return CONVERT.call(_game_key(game.id), _items_key(game.id), args=args)


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
