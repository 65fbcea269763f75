"""Games: their documents, positions and histories.

The keys of a game share a hash tag, and one script writes all of a change (see
`scripts/commit.lua`): it compares the version and the random id of the previous commit first. This
module decides nothing about games: it reads them, and writes the changes that it is given.

- `game:{ID}` is a hash. It always has `game` (the document), `version` and `commit`; until the end
  also `state`, `deal` and a field for each move of a player (`played_field`), and then `record`.
- `game:{ID}:items` is a list: the history, until the end. The step of version v is at index v - 1.

`api/storage/history.py` says what steps, deal and record are. In format 1, a game had all of this
until it expired, its items in full, and the moves of its players in a hash `game:{ID}:played`.

The commit publishes a game's version on the channel `game:{ID}`: with SPUBLISH on a cluster, but
with PUBLISH, which reaches all nodes, on a cluster that does not know SPUBLISH.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace
from redis import RedisError

from api.concurrency.time_slices import long_work, pause
from api.model.events import BY_PLAYER
from api.model.game import FORMAT, NOT_A_MOVE, Game, HistoryItem, StoredDeal
from api.storage.client import Command, Script, StoreClient
from api.storage.codec import decode, decode_game, decode_state, encode
from api.storage.errors import Unreadable, count_failure, log_unreadable, readable
from api.storage.format_1 import convert, encode_deal, encode_game, encode_item, encode_state
from api.storage.history import (
    Replay,
    Setup,
    Trace,
    Traces,
    decode_steps,
    derived,
    encode_step,
    pack_deal,
    pack_record,
    unpack_deal,
)
from api.storage.keys import game_key, items_key, played_key

COMMIT = Script.load("commit")
CONFIRM_COMMIT = Script.load("confirm_commit")
CONVERT = Script.load("convert")

GAME_FIELDS = ("game", "state", "version", "commit", "record")

CACHED_GAMES = 128
"""How many decoded games a worker caches, by their stored bytes."""

CACHED_DOCUMENTS = 256
"""How many games of lists a worker caches, by their stored bytes: some pages."""

MAX_CACHED_BYTES = 16 * 1024
"""Larger games are decoded each time, so that the cache stays small."""


NOT_ASCII = 0x80 << 40


class GameDocument:
    """A game as lists read it: without its position.

    It never changes. `rendered` has what was encoded of it for an audience.
    """

    __slots__ = ("game", "rendered")

    def __init__(self, game: Game) -> None:
        self.game = game
        self.rendered: dict[Any, Raw] = {}

    @property
    def is_earlier(self) -> bool:
        """Whether the game is stored in an earlier format."""
        return self.game.format < FORMAT


class StoredGame(GameDocument):
    """A game and its position, as they were read together or have just been committed.

    Neither ever changes, so the position is decoded once: between two moves, the same game is
    requested many times. A game that has ended has its record instead of its state.
    """

    __slots__ = ("_position", "record", "state")

    def __init__(
        self,
        game: Game,
        state: bytes | None,
        position: Any = None,
        record: bytes | None = None,
    ) -> None:
        super().__init__(game)
        self.state = state
        self.record = record
        self._position = position

    @property
    def position(self) -> Any:
        """The decoded state, None before the start.

        Raises `Unreadable`.
        """
        if self._position is None:
            if self.state is not None:
                self._position = decode_state(self.game, self.state)
            elif self.record is not None and self.game.started_at is not None:
                self._position = derived(self.game, self.record).position
        return self._position


Read = TypeVar("Read", GameDocument, StoredGame)

Versions = tuple[int, int]
"""The versions of the first and the last item that a move caused."""


class WholeGame(NamedTuple):
    """A game with all that belongs to it, in the present format.

    `game.format` is the format in which it is stored. `played` are the versions of the items that
    each move caused, by the key of the move.
    """

    stored: StoredGame
    deal: StoredDeal | None
    items: tuple[HistoryItem, ...]
    played: Mapping[str, Versions]


class Change(Struct, frozen=True, kw_only=True):
    """What one commit writes. `game` has the new version and commit id.

    A field that is None is not written. `state` is the encoded `position`; `played` is the key of
    a move and the versions of the history items that it caused. The last item is that of the new
    version.
    """

    game: Game
    items: tuple[HistoryItem, ...] = ()
    state: bytes | None = None
    position: Any = None
    deal: StoredDeal | None = None
    played: tuple[str, Versions] | None = None


class Commit(NamedTuple):
    """A change to commit.

    Attributes:
        before: The game that the change was decided on, None for a new game.
        change: The change, with the new version and commit id.
        now: The store's time of the change, in ms since 1970.
        ttl_ms: How long the game is kept from now on.
    """

    before: Game | None
    change: Change
    now: int
    ttl_ms: int

    @property
    def ends(self) -> bool:
        """Whether the commit ends a game, and stores its record."""
        before, after = self.before, self.change.game
        if not after.has_ended or after.format < FORMAT:
            return False
        return before is None or not before.has_ended


class ItemRange(NamedTuple):
    """A part of the history of a game: from one version to another, both included."""

    game: Game
    first: int
    last: int


class HistoryPart(NamedTuple):
    """Items of a history that were read together, and the id of the commit that wrote a version.

    The id is None if none was asked for, or if the store does not have the version.
    """

    items: Sequence[HistoryItem]
    seen_id: str | None


class HistoryQuery(NamedTuple):
    """What is read to learn a part of a game's history.

    Attributes:
        game_id: The game.
        first: The first version of the part.
        last: The last version of the part.
        seen: The version of which the id is wanted, 0 for none.
        trace: What the worker remembers of the game before the part, None for nothing.
    """

    game_id: str
    first: int
    last: int
    seen: int
    trace: Trace | None

    @property
    def after(self) -> int:
        """The version before the first step that is read, which is that of the trace's commit."""
        return 0 if self.trace is None else self.trace.version - 1

    @property
    def commands(self) -> list[Command]:
        """The commands, whose replies `GameStore.read_history` understands.

        The steps are read first: if they are gone, because the game has ended, its record is there.
        """
        key, items = game_key(self.game_id), items_key(self.game_id)
        has_started = self.trace is not None and self.trace.state is not None
        commands = [
            Command(items, ("LRANGE", items, self.after, self.last - 1)),
            Command(key, ("HMGET", key, "record", *(() if has_started else ("deal",)))),
        ]
        if self.seen and not self.after < self.seen <= self.last:
            commands.append(Command(items, ("LRANGE", items, self.seen - 1, self.seen - 1)))
        return commands


class Snapshot(NamedTuple):
    """A game at a time (ms of the store's clock), None if it has expired."""

    now: int
    stored: StoredGame | None


class Fingerprint(NamedTuple):
    """Identifies the content of a game; both are None for a game that has expired."""

    version: int | None
    commit: str | None


class Past(NamedTuple):
    """The replies to `GameStore.past_commands`: what a game that ends has had until then."""

    steps: Any
    fields: Any


_item_decoder = msgspec.json.Decoder(HistoryItem)
_deal_decoder = msgspec.json.Decoder(StoredDeal)
_versions_decoder = msgspec.json.Decoder(Versions)


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
    traces: Traces

    def games(self, ids: Sequence[str]) -> dict[str, Game | None]:
        """Return the documents of some games, None for each that has expired.

        Games that cannot be read are logged and left out.
        """
        found = self.documents(dict.fromkeys(ids))
        return {each: None if game is None else game.game for each, game in found.items()}

    def documents(self, replies: Mapping[str, Any]) -> dict[str, GameDocument | None]:
        """Return some games as lists read them; otherwise like `games`.

        `replies` are those to their `document_command`s, None for each that has not been sent.
        """
        missing = [each for each, reply in replies.items() if reply is None]
        if missing:
            commands = [document_command(each) for each in missing]
            added = self.client.execute(commands, keep_errors=True)
            replies = {**replies, **dict(zip(missing, added, strict=True))}
        return self._read_all(replies, read_document)

    def games_with_state(self, ids: Sequence[str]) -> dict[str, StoredGame | None]:
        """Return some games with their positions; otherwise like `games`."""
        if not ids:
            return {}
        replies = self.client.execute([game_command(each) for each in ids], keep_errors=True)
        return self._read_all(dict(zip(ids, replies, strict=True)), read_game)

    def _read_all(
        self, replies: Mapping[str, Any], read: Callable[[str, Any], Read | None]
    ) -> dict[str, Read | None]:
        found = {}
        with long_work():
            for game_id, reply in replies.items():
                pause()
                try:
                    found[game_id] = read(game_id, reply)
                except Unreadable as error:
                    log_unreadable(game_id, error)
        earlier = [each for each, game in found.items() if game is not None and game.is_earlier]
        for game_id, converted in self._convert(earlier).items():
            try:
                found[game_id] = _stored(readable(converted))
            except Unreadable as error:
                log_unreadable(game_id, error)
                del found[game_id]
        return found

    def past_commands(self, commits: Sequence[Commit]) -> dict[str, tuple[Command, Command]]:
        """Return the commands that read what the records of the games that end are made of.

        By the ids of these games, none if no game ends. `commit_all` takes their replies.
        """
        return {
            commit.change.game.id: _past_commands(commit.change.game.id)
            for commit in commits
            if commit.ends
        }

    def commit_all(
        self, commits: Sequence[Commit], pasts: Mapping[str, Past] | None = None
    ) -> list[bool | RedisError | Unreadable]:
        """Write each change if the stored game still is `before`; all in one round trip, in order.

        Return whether each was written, or its error: `Unreadable` if the stored history does not
        fit the game. A game may have several changes, each decided on what the one before it makes.
        `pasts` are the replies to `past_commands`; if they are not given, they are read first.
        """
        for before, change, *_ in commits:
            if before is not None and before.format < change.game.format:
                # The store was full when the game was read.
                self._store_converted(before.id)
                pasts = None
        if not commits:
            return []
        if pasts is None:
            pasts = self._read_pasts(commits)
        outcomes: list[Any] = []
        commands: dict[int, Command] = {}
        with long_work():
            for at, commit in enumerate(commits):
                pause()
                try:
                    record = _record(commits[: at + 1], pasts) if commit.ends else None
                    commands[at] = self._commit_command(commit, record)
                    outcomes.append(None)
                except (RedisError, Unreadable) as error:
                    outcomes.append(error)
                except _Changed:
                    outcomes.append(False)
        if commands:
            replies = self.client.execute([*commands.values()], durable=True, keep_errors=True)
            for at, reply in zip(commands, replies, strict=True):
                outcomes[at] = _commit_outcome(reply)
                if outcomes[at] is True:
                    self._follow(commits[at])
        return outcomes

    def _read_pasts(self, commits: Sequence[Commit]) -> dict[str, Past]:
        commands = self.past_commands(commits)
        if not commands:
            return {}
        both = [command for pair in commands.values() for command in pair]
        return read_pasts(commands, self.client.execute(both, keep_errors=True))

    def _commit_command(self, commit: Commit, record: bytes | None) -> Command:
        before, change, _, ttl_ms = commit
        game = change.game
        is_present = game.format == FORMAT
        document = encode(game) if is_present else encode_game(game)
        fields: list[Any] = ["version", game.version, "game", document]
        items: list[bytes] = []
        played: list[Any] = []
        if record is not None:
            fields += ["record", record]
        elif is_present:
            if change.state is not None:
                fields += ["state", change.state]
            if change.deal is not None:
                fields += ["deal", pack_deal(change.deal)]
            if change.played is not None:
                key, versions = change.played
                fields += [played_field(key), played_value(versions)]
            items = [encode_step(game, each) for each in change.items]
        else:
            if change.state is not None:
                fields += ["state", encode_state(game, change.position)]
            if change.deal is not None:
                fields += ["deal", encode_deal(change.deal)]
            if change.played is not None:
                played = [change.played[0], encode(change.played[1])]
            items = [encode_item(each) for each in change.items]
        has_record = is_present and before is not None and before.has_ended
        # In the order of commit.lua's ARGV.
        args: list[Any] = [
            self.client.publish,
            "" if before is None else before.version,
            "" if before is None else before.commit,
            game.commit,
            ttl_ms,
            0 if has_record else game.version - len(change.items),
            "" if record is None else "ends",
        ]
        for values in (fields, items, played):
            args += [len(values), *values]
        return COMMIT.call(game_key(game.id), items_key(game.id), played_key(game.id), args=args)

    def _follow(self, commit: Commit) -> None:
        """Remember a commit of this worker, so that its events are not derived again."""
        before, change, *_ = commit
        game = change.game
        if game.has_ended or game.format < FORMAT:
            self.traces.forget(game.id)
            return
        if not change.items or not game.version_id:
            return
        state, start, start_id = change.state, 0, ""
        if before is not None:
            start, start_id = before.version, before.version_id
            if state is None and before.started_at is not None:
                known = self.traces.get(game.id)
                if known is None or known.version_id != start_id:
                    return
                state = known.state
        trace = Trace(game.version, game.version_id, state, start, start_id, change.items)
        self.traces.put(game.id, trace)

    def confirm(self, game: Game) -> bool:
        """Make sure that the last commit of a game is replicated; return False if it is lost.

        The commit may not be replicated: an earlier response said so, or the game was read from a
        demoted master.
        """
        if not self.client.waits_for_replicas:
            return True
        command = CONFIRM_COMMIT.call(game_key(game.id), args=(game.commit,))
        (outcome,) = self.client.execute([command], durable=True)
        return bool(outcome)

    # --- Histories -----------------------------------------------------------------------

    def history_query(self, game_id: str, first: int, last: int, seen: int = 0) -> HistoryQuery:
        """Return how a part of a game's history is read, from one version to another.

        `seen` is a version of which the id of the commit is wanted, 0 for none. Its commands can be
        sent with others; `read_history` takes their replies.
        """
        trace = self.traces.get(game_id)
        if trace is not None and trace.version >= first:
            trace = None
        return HistoryQuery(game_id, first, last, seen, trace)

    def read_history(self, game: Game, query: HistoryQuery, replies: Sequence[Any]) -> HistoryPart:
        """Return what a query has found of a game, which is stored in the present format."""
        part = self._read_history(game, query, replies)
        if part is None:
            # A failover has lost the commit that the worker remembers.
            self.traces.forget(game.id)
            query = query._replace(trace=None)
            part = self._read_history(game, query, self.client.execute(query.commands))
            assert part is not None
        return part

    def _read_history(
        self, game: Game, query: HistoryQuery, replies: Sequence[Any]
    ) -> HistoryPart | None:
        steps_reply, (record, *deal), *seen_reply = map(readable, replies)
        first, last, seen, trace = query.first, query.last, query.seen, query.trace
        if record is not None:
            items = derived(game, record).items
            seen_id = items[seen - 1].version_id if 0 < seen <= len(items) else None
            return HistoryPart(items[first - 1 : last], seen_id)
        steps = decode_steps(steps_reply)
        if trace is not None and (not steps or steps[0].version_id != trace.version_id):
            return None
        seen_id = None
        if seen_reply:
            seen_id = next((each.version_id for each in decode_steps(seen_reply[0])), None)
        elif query.after < seen <= query.after + len(steps):
            seen_id = steps[seen - query.after - 1].version_id
        start, start_id, position = 0, "", None
        if trace is not None:
            start, start_id, steps = trace.version, trace.version_id, steps[1:]
            position = None if trace.state is None else decode_state(game, trace.state)
        packed = deal[0] if deal else None
        replay = Replay(
            Setup.of(game), None if packed is None else unpack_deal(packed), start, position
        )
        if skipped := steps[: max(first - start - 1, 0)]:
            replay.skip(skipped)
            start, start_id = replay.version, skipped[-1].version_id
        found = tuple(replay.items(steps[len(skipped) :]))
        if steps and (version_id := steps[-1].version_id):
            state = None if replay.position is None else encode(replay.position)
            follow = Trace(replay.version, version_id, state, start, start_id, found)
            self.traces.put(game.id, follow)
        return HistoryPart(found[first - start - 1 : max(last - start, 0)], seen_id)

    def history_part(self, game: Game, first: int, last: int, seen: int = 0) -> HistoryPart:
        """Return a part of a game's history, from one version to another, both included.

        With the id of the commit that wrote the version `seen`, unless that is 0. What the worker
        remembers of the game is not read again.
        """
        if game.format < FORMAT:
            whole = self._whole_game(game.id)
            items = () if whole is None else whole.items
            seen_id = items[seen - 1].version_id if 0 < seen <= len(items) else None
            return HistoryPart(items[first - 1 : last], seen_id)
        trace = self.traces.get(game.id)
        if trace is not None and trace.version_id == game.version_id and trace.start < first:
            seen_id = trace.id_of(seen)
            if seen == 0 or seen_id is not None:
                found = trace.items[first - trace.start - 1 : max(last - trace.start, 0)]
                return HistoryPart(found, seen_id)
        query = self.history_query(game.id, first, last, seen)
        return self.read_history(game, query, self.client.execute(query.commands))

    def histories(
        self, ranges: Sequence[ItemRange]
    ) -> list[Sequence[HistoryItem] | RedisError | Unreadable]:
        """Return parts of the histories of games in the present format, in one round trip.

        An error of one stands in its place. The history of each game is derived once, as a part of
        it may take as long as all of it.
        """
        spans: dict[str, ItemRange] = {}
        for game, first, last in ranges:
            span = spans.get(game.id, ItemRange(game, first, last))
            spans[game.id] = ItemRange(game, min(first, span.first), max(last, span.last))
        queries = [self.history_query(game.id, first, last) for game, first, last in spans.values()]
        commands = [command for query in queries for command in query.commands]
        replies = iter(self.client.execute(commands, keep_errors=True))
        found: dict[str, Sequence[HistoryItem] | RedisError | Unreadable] = {}
        for query in queries:
            own = [next(replies) for _ in query.commands]
            try:
                game = spans[query.game_id].game
                found[query.game_id] = self.read_history(game, query, own).items
            except (RedisError, Unreadable) as error:
                found[query.game_id] = error
        return [_part_of(found[each.game.id], spans[each.game.id], each) for each in ranges]

    def deal_and_items(
        self, stored: StoredGame
    ) -> tuple[StoredDeal | None, tuple[HistoryItem, ...]]:
        """Return the deal of a game, None if it was not started, and its whole history."""
        if stored.record is not None:
            deal, items, _ = derived(stored.game, stored.record)
            return deal, items
        whole = self._whole_game(stored.game.id)
        return (None, ()) if whole is None else (whole.deal, whole.items)

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
                stored = _stored(readable(converted[ids[at]]))
                snapshots[at] = snapshot._replace(stored=stored)
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

    def converted(self, game_id: str) -> WholeGame | None:
        """Return a game of an earlier format, read again and converted."""
        converted: WholeGame | None = readable(self._convert([game_id])[game_id])
        return converted

    def _convert(self, ids: Sequence[str]) -> dict[str, WholeGame | RedisError | Unreadable | None]:
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
        return wholes

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
        commands = [command for each in ids for command in _whole_commands(each)]
        replies = self.client.execute(commands, keep_errors=True)
        wholes: dict[str, WholeGame | RedisError | Unreadable | None] = {}
        groups = zip(ids, replies[::3], replies[1::3], replies[2::3], strict=True)
        for game_id, fields, items, played in groups:
            try:
                wholes[game_id] = _read_whole_game(game_id, fields, items, played)
            except (RedisError, Unreadable) as error:
                wholes[game_id] = error
        return wholes


class _Changed(Exception):
    """Another commit has changed a game that was to end."""


def _part_of(
    found: Sequence[HistoryItem] | RedisError | Unreadable, span: ItemRange, wanted: ItemRange
) -> Sequence[HistoryItem] | RedisError | Unreadable:
    """Return the wanted items of those that were found of a span, or their error."""
    if isinstance(found, Exception):
        return found
    return found[wanted.first - span.first : wanted.last - span.first + 1]


def game_channel(game_id: str) -> str:
    """Return the channel on which the commits of a game are published."""
    return game_key(game_id)


def time_command(game_id: str) -> Command:
    """Return the command that reads the time of the server that has a game."""
    return Command(game_key(game_id), ("TIME",))


def read_time(reply: Sequence[bytes]) -> int:
    """Return the milliseconds in a reply to TIME."""
    return int(reply[0]) * 1000 + int(reply[1]) // 1000


def game_command(game_id: str, move_keys: Sequence[str] = ()) -> Command:
    """Return the command that reads a game with its position, and moves that were played before.

    `read_game` and `read_played` decode its reply.
    """
    return _fields_command(game_id, (*GAME_FIELDS, *map(played_field, move_keys)))


def document_command(game_id: str) -> Command:
    """Return the command that reads a game as lists do; `read_document` decodes its reply."""
    return _fields_command(game_id, ("game",))


def read_game(game_id: str, reply: Any) -> StoredGame | None:
    """Return the game in a reply with all of `GAME_FIELDS`, None if it has expired."""
    document, *fields = readable(reply)[: len(GAME_FIELDS)]
    if document is None:
        return None
    is_small = sum(len(value or b"") for value in (document, *fields)) <= MAX_CACHED_BYTES
    decode_stored = _cached_game if is_small else _decode_game
    return decode_stored(game_id, document, *fields)


def read_document(game_id: str, reply: Any) -> GameDocument | None:
    """Return the game in a reply with its document, None if it has expired."""
    (document,) = readable(reply)
    if document is None:
        return None
    decode_document = _cached_document if len(document) <= MAX_CACHED_BYTES else _decode_document
    return decode_document(game_id, document)


def _decode_game(game_id: str, document: bytes, *fields: bytes | None) -> StoredGame:
    # The position is decoded, or derived, only when a request needs it.
    game = decode_game(game_id, document, *fields)
    state, *_, record = fields
    return StoredGame(game, state, record=record)


def _decode_document(game_id: str, document: bytes) -> GameDocument:
    return GameDocument(decode_game(game_id, document))


_cached_game = lru_cache(CACHED_GAMES)(_decode_game)
_cached_document = lru_cache(CACHED_DOCUMENTS)(_decode_document)


def read_played(
    stored: StoredGame | None, move_keys: Sequence[str], reply: Any
) -> dict[str, Versions]:
    """Return by their keys the moves that were played before, from the reply to `game_command`."""
    if stored is None or not move_keys:
        return {}
    if stored.record is not None:
        played = played_moves(stored.game, derived(stored.game, stored.record).items)
        return {key: played[key] for key in move_keys if key in played}
    played = {}
    for key, value in zip(move_keys, reply[len(GAME_FIELDS) :], strict=True):
        if value is not None:
            played[key] = _read_versions(value)
    return played


@lru_cache(CACHED_GAMES)
def played_field(move_key: str) -> bytes:
    """Return the field that stores a move that was played, by a hash of its key.

    Its first byte is not ASCII, as opposed to the names of the other fields. Of 600 moves, as many
    as the longest games have, one in 10^12 is taken for another.
    """
    number = int.from_bytes(blake2b(move_key.encode(), digest_size=6).digest())
    return (number | NOT_ASCII).to_bytes(6)


def played_value(versions: Versions) -> str:
    """Return the value of a move that was played: the versions of its items."""
    first, last = versions
    return str(first) if first == last else f"{first}-{last}"


def _read_versions(value: bytes) -> Versions:
    first, _, last = value.partition(b"-")
    try:
        return int(first), int(last or first)
    except ValueError as error:
        raise Unreadable from error


def move_key(player_id: str, turn: int | None, move: bytes) -> str:
    """Return the key of a move, which makes playing it idempotent. The move is encoded."""
    return f"{player_id}:{turn}:{move.decode()}"


def played_moves(game: Game, items: Sequence[HistoryItem]) -> dict[str, Versions]:
    """Return the moves of players in a whole history, by their keys."""
    played: dict[str, Versions] = {}
    last = len(items)
    for item in reversed(items):
        if item.version_id:
            last = item.version
        if item.by == BY_PLAYER and item.move != NOT_A_MOVE and item.seat is not None:
            player = game.seats[item.seat].player
            if player is not None:
                played[move_key(player.id, item.turn, bytes(item.move))] = item.version, last
    return played


def _stored(whole: WholeGame | None) -> StoredGame | None:
    return None if whole is None else whole.stored


def _whole_commands(game_id: str) -> tuple[Command, ...]:
    """Return the commands that read all of a game.

    The game is read first: a commit that comes in between adds items that it does not have yet.
    """
    items, played = items_key(game_id), played_key(game_id)
    return (
        _fields_command(game_id, (*GAME_FIELDS, "deal")),
        Command(items, ("LRANGE", items, 0, -1)),
        Command(played, ("HGETALL", played)),
    )


def _read_whole_game(
    game_id: str, fields_reply: Any, items_reply: Any, played_reply: Any
) -> WholeGame | None:
    *fields, deal = readable(fields_reply)
    stored = read_game(game_id, fields)
    if stored is None:
        return None
    game, steps, played = stored.game, readable(items_reply), readable(played_reply)
    if stored.record is not None:
        old = derived(game, stored.record)
        return WholeGame(stored, old.deal, old.items, played_moves(game, old.items))
    if len(steps) < game.version:
        raise Unreadable
    if not stored.is_earlier:
        new_deal = None if deal is None else unpack_deal(deal)
        items = tuple(Replay(Setup.of(game), new_deal).items(decode_steps(steps[: game.version])))
        return WholeGame(stored, new_deal, items, played_moves(game, items))
    earlier = [decode(_item_decoder, each) for each in steps[: game.version]]
    converted = convert(game, None if deal is None else decode(_deal_decoder, deal), earlier)
    state = None if converted.position is None else encode(converted.position)
    stored = StoredGame(converted.game, state, converted.position)
    versions = {
        key.decode(): decode(_versions_decoder, value)
        for key, value in zip(played[::2], played[1::2], strict=True)
    }
    return WholeGame(stored, converted.deal, converted.items, versions)


def _in_present_format(whole: WholeGame) -> WholeGame:
    stored = whole.stored
    game = replace(stored.game, format=FORMAT)
    return whole._replace(stored=StoredGame(game, stored.state, stored.position))


def _convert_command(whole: WholeGame) -> Command:
    """Return the command that stores a whole game in the present format, unless it has changed."""
    game, state = replace(whole.stored.game, format=FORMAT), whole.stored.state
    deal = None if whole.deal is None else pack_deal(whole.deal)
    steps = [encode_step(game, each) for each in whole.items]
    fields: list[Any] = ["version", game.version, "commit", game.commit, "game", encode(game)]
    if game.has_ended:
        fields += ["record", pack_record(deal, steps)]
        steps = []
    else:
        if state is not None:
            fields += ["state", state]
        if deal is not None:
            fields += ["deal", deal]
        for key, versions in whole.played.items():
            fields += [played_field(key), played_value(versions)]
    # In the order of convert.lua's ARGV.
    args = (game.version, game.commit, game.version, len(fields), *fields, len(steps), *steps)
    keys = (game_key(game.id), items_key(game.id), played_key(game.id))
    return CONVERT.call(*keys, args=args)


def _past_commands(game_id: str) -> tuple[Command, Command]:
    items = items_key(game_id)
    return Command(items, ("LRANGE", items, 0, -1)), _fields_command(game_id, ("commit", "deal"))


def read_pasts(
    commands: Mapping[str, tuple[Command, Command]], replies: Sequence[Any]
) -> dict[str, Past]:
    """Return by their games the replies to the commands of `GameStore.past_commands`."""
    pairs = zip(commands, replies[::2], replies[1::2], strict=True)
    return {game_id: Past(steps, fields) for game_id, steps, fields in pairs}


def _record(commits: Sequence[Commit], pasts: Mapping[str, Past]) -> bytes:
    """Return the record of the game that the last of some commits ends.

    Those before it in the same game are in the record too. Raises `_Changed`, `RedisError`, or
    `Unreadable` if the stored history does not fit the game.
    """
    game = commits[-1].change.game
    own = [each for each in commits if each.change.game.id == game.id]
    before, steps, deal = own[0].before, [], None
    if before is not None:
        past = pasts[game.id]
        stored_steps, (commit_id, deal) = readable(past.steps), readable(past.fields)
        if commit_id != before.commit.encode():
            raise _Changed
        if len(stored_steps) != before.version:
            raise Unreadable
        steps = list(stored_steps)
    for _, change, *_ in own:
        steps += [encode_step(game, each) for each in change.items]
        if change.deal is not None:
            deal = pack_deal(change.deal)
    return pack_record(deal, steps)


def _commit_outcome(reply: Any) -> bool | RedisError | Unreadable:
    if isinstance(reply, (RedisError, Unreadable)):
        return reply
    return Unreadable() if reply < 0 else bool(reply)


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


def _fields_command(game_id: str, fields: Sequence[str | bytes]) -> Command:
    key = game_key(game_id)
    return Command(key, ("HMGET", key, *fields))
