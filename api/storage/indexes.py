"""Indexes of games: of a player, and of the lobby, by status.

An index is a hint, the game is the truth. An entry is written before the commit that makes it true.
A reader skips an entry that the game contradicts, and removes it only when no commit can make it
true any more. So an index never lacks a game, whatever fails in between.

Entries expire, later than their games. A game that goes on renews its entries now and then, and
its players' time to live. Adding an entry removes some expired ones, more than are added, so an
index has few of them even if it is never read. An index expires with its last entry.

| key | holds |
| --- | --- |
| `index:{OWNER}:STATUS` | sorted set: game ids by the time of their creation |
| `index:{OWNER}:STATUS:until` | sorted set: the same ids by the time when their entries expire |
| `index:{PLAYER}:ended` | sorted set: a player's own games that ended, by the time of their end |

| owner | games |
| --- | --- |
| `lobby:RULESET`, `lobby:RULESET:STATUS:BUCKET` | the public games of a ruleset, by their ids |
| `PLAYER` | those that a player hosts or has a seat in; of games in play those that it only hosts |
| `places:PLAYER` | the games in play in which a player has a seat |
| `invited:PLAYER` | the open games in which a seat is only reserved for a player |

A list is merged from the indexes that have its games, in one round trip. The buckets of the lobby
spread over the nodes of a cluster. A bucket has the newest of the games that ended: the lobby does
not grow with all that was ever played. Strangers can reserve seats for any player, so the index
of invitations has the newest entries only, and the others have none of these games. The index of
ended games tells a bot what ended since it last asked.

Workers of 0.1 need more indexes (see `_earlier_entries`), and have one bucket. A worker writes what
they need while `STORED_FORMAT` is theirs. What they wrote needs no conversion: this release
lists a game in the first bucket even if its id belongs to another one, and the indexes that only
workers of 0.1 read expire.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple

from redis import RedisError

from api.model.game import (
    CANCELLED,
    ENDED,
    FINISHED,
    FORMAT,
    OPEN,
    PLAYING,
    PUBLIC,
    UNFINISHED,
    Game,
)
from api.model.retention import COMMIT_MS, DAY_MS, Retention
from api.observability.logger import log
from api.storage.client import Command, Deferred, Script, StoreClient, execute_with
from api.storage.errors import Unreadable, count_failure, readable, unless_full
from api.storage.games import Commit, GameDocument, GameStore, document_command
from api.storage.players import renew_command
from engine.registry import RULESETS

INVITED = "invited:"
LOBBY = "lobby:"
PLACES = "places:"

STATUSES = (*UNFINISHED, *ENDED)
"""In the order in which a game has them.

The indexes of a list are read in this order, so that a game whose status changes meanwhile is found
in one of them. On a cluster, nodes answer independently: there a list of several statuses can lack
a game whose status changes within the moment between two answers.
"""

BUCKETS: dict[str, int] = {OPEN: 4, PLAYING: 4, FINISHED: 4, CANCELLED: 1}
"""How many indexes of the lobby have the games of a ruleset with a status.

Each of them is read for a page.
"""

MAX_LISTED_ENDED = 10_000
"""How many games of a ruleset that ended the lobby lists, about: of each status the newest."""

MAX_READS = 20
"""How often games are read for one page. If all entries were false until then, the page is short.
"""

SPARSE_BATCH = 101
"""Entries that are read at once for a page of only some of the games."""

MAX_SPARSE_READS = 5
"""How often games are read for such a page."""

MANY_INDEXES = 8
"""From so many indexes on, a page reads only a part of a batch of each at first."""

CACHED_PAGES = 256
"""Of how many pages a worker remembers the games."""

MAX_REMOVED = 10
"""How many entries that expired, and how many that are too many, are removed when one is added."""

MAX_INVITATIONS = 100
"""How many of the open games in which a seat is reserved for a player its index has."""

MAX_ENTRIES = 1_000_000_000
"""More than any index has."""

MAX_SCRIPT_IDS = 1000
"""How many ids are passed to one call of a script, which can take some thousands of arguments."""

ADD_ENTRY = Script.load("add_entry")
ADD_ENDED_ENTRY = Script.load("add_ended_entry")
REMOVE_ENTRIES = Script.load("remove_entries")


class Entry(NamedTuple):
    """Names an index that a game belongs in: by owner and status."""

    owner: str
    status: str


class Cursor(NamedTuple):
    """The last game of a page, newest first; the next page begins after it."""

    created_at: int
    game_id: str


def lobby(ruleset: str | None = None, status: str | None = None) -> tuple[Entry, ...]:
    """Return the indexes of public games, all or those of a ruleset, of a status, or both."""
    return _lobby(ruleset, status)


@cache
def _lobby(ruleset: str | None, status: str | None) -> tuple[Entry, ...]:
    return tuple(
        Entry(_bucket(each, of_status, number), of_status)
        for of_status in ([*STATUSES] if status is None else [status])
        for each in ([*RULESETS] if ruleset is None else [ruleset])
        for number in range(BUCKETS[of_status])
    )


def _bucket(ruleset: str, status: str, number: int) -> str:
    """Return the owner of a bucket; the first one is the only index that 0.1 has."""
    owner = f"{LOBBY}{ruleset}"
    return f"{owner}:{status}:{number}" if number else owner


def of_player(player_id: str, status: str | None = None) -> tuple[Entry, ...]:
    """Return the indexes of the games that a player hosts or has a seat in."""
    entries = []
    for each in [*STATUSES] if status is None else [status]:
        entries.append(Entry(player_id, each))
        if each == PLAYING:
            entries.append(occupied(player_id, PLAYING))
    return tuple(entries)


def occupied(player_id: str, status: str) -> Entry:
    """Return the index of the unfinished games of a status that a player hosts or sits in.

    It also has those in play that the player has left.
    """
    return Entry(player_id if status == OPEN else f"{PLACES}{player_id}", status)


def invited(player_id: str) -> Entry:
    """Return the index of open games in which a seat is reserved for a player."""
    return Entry(f"{INVITED}{player_id}", OPEN)


def entries(game: Game | None) -> set[Entry]:
    """Return the entries that a game should have."""
    if game is None:
        return set()
    listed = set()
    if game.visibility == PUBLIC:
        number = int(game.id[:8], 16) % BUCKETS[game.status]
        listed.add(Entry(_bucket(game.ruleset, game.status, number), game.status))
    seated = game.players() if game.status == PLAYING else set()
    listed |= {occupied(each, PLAYING) for each in seated}
    listed |= {Entry(each, game.status) for each in game.participants() - seated}
    if game.status == OPEN:
        listed |= {invited(each) for each in game.members() - game.participants()}
    return listed


def _earlier_entries(game: Game | None) -> set[Entry]:
    """Return the entries that workers of 0.1 look for."""
    if game is None:
        return set()
    owners = game.members() if game.status == OPEN else game.participants()
    if game.visibility == PUBLIC:
        owners |= {"lobby", f"{LOBBY}{game.ruleset}"}
    listed = {Entry(owner, status) for owner in owners for status in (game.status, "all")}
    if game.status in UNFINISHED:
        listed |= {Entry(f"{PLACES}{each}", game.status) for each in game.occupants()}
    if game.status == OPEN:
        listed |= {invited(each) for each in game.members() - game.participants()}
    return listed


def is_true(entry: Entry, game: Game | None) -> bool:
    """Return whether a game belongs in the index of an entry, or did so for 0.1."""
    return game is not None and entry.status == game.status and _has_game(entry.owner, game)


def _has_game(owner: str, game: Game) -> bool:
    """Return whether an index of this owner has a game; the status of the game does not count."""
    _, is_special, name = owner.partition(":")
    if not is_special:
        return owner in game.participants()
    if owner.startswith(LOBBY):
        return game.visibility == PUBLIC and name.partition(":")[0] == game.ruleset
    if owner.startswith(PLACES):
        return name in game.players()
    return name in game.members() - game.participants()


def can_become_true(entry: Entry, cursor: Cursor, game: Game | None, now: int) -> bool:
    """Return whether a commit in flight may still make a false entry true.

    A game's status only goes forward, and no player joins after the start.
    """
    if game is None:
        return now - cursor.created_at < COMMIT_MS
    if entry.owner.startswith(INVITED):
        return False  # seats are reserved only by the commit that creates the game
    if game.status == PLAYING and entry.status == OPEN:
        return False
    if game.has_ended and entry.status != game.status:
        return False
    return game.status == OPEN or _has_game(entry.owner, game)


def any_game(game: Game) -> bool:
    """Accept every game."""
    return True


class Page(NamedTuple):
    """A request for a page of a list, newest first, of the games that `accepts` is true for.

    `entries` name the indexes that have the games of the list.
    """

    entries: tuple[Entry, ...]
    after: Cursor | None
    limit: int
    accepts: Callable[[Game], bool] = any_game

    @property
    def batch(self) -> int:
        """The number of entries that are read at once: more than the limit, to find a next page."""
        return self.limit + 1 if self.accepts is any_game else max(self.limit + 1, SPARSE_BATCH)

    @property
    def max_games(self) -> int:
        """How many games are read for this page; if they are used up, it is short."""
        return self.batch * (MAX_READS if self.accepts is any_game else MAX_SPARSE_READS)

    @property
    def first_batch(self) -> int:
        """The number of entries of each index that are read first.

        Of many indexes, none is expected to have much more than the share of a bucket.
        """
        if len(self.entries) < MANY_INDEXES:
            return self.batch
        return self.batch // BUCKETS[OPEN] + 2 * math.isqrt(self.batch)

    @property
    def first_commands(self) -> list[Command]:
        """The first commands for this page; they can be sent with other commands."""
        return [self.command(entry, self.after, 0, self.first_batch) for entry in self.entries]

    def command(self, entry: Entry, after: Cursor | None, offset: int, count: int) -> Command:
        """Return the command that reads entries of an index after a cursor."""
        newest = "+inf" if after is None else after.created_at
        limits = ("BYSCORE", "REV", "LIMIT", offset, count)
        return _range(_key(entry), newest, "-inf", *limits)

    def includes(self, game: Game | None) -> bool:
        """Return whether one of the indexes should have a game."""
        return any(is_true(entry, game) for entry in self.entries)


class PageQuery(NamedTuple):
    """What is read for a page: its indexes, and the games that the worker found the last time.

    If the page has not changed, no other round trip is needed.
    """

    page: Page
    expected: Sequence[str]

    @property
    def commands(self) -> list[Command]:
        """The commands. The indexes come first: games that they name are not older than them."""
        return [*self.page.first_commands, *map(document_command, self.expected)]


class Indexes:
    """The indexes in the store. Any call may raise `redis.RedisError`.

    Reading an index that is damaged raises `Unreadable`; writing to it does not.
    """

    def __init__(self, client: StoreClient, store: GameStore, retention: Retention) -> None:
        self.client = client
        self.store = store
        self.retention = retention
        self._found = OrderedDict[Page, list[str]]()

    def are_to_be_renewed(self, before: Game | None, after: Game, now: int) -> bool:
        """Return whether to write all of a game's entries: when its status changes, or by age."""
        is_new = before is None or before.status != after.status
        return is_new or now - after.indexed_at > self.retention.renewal

    def before_commits(
        self, commits: Sequence[Commit], deferred: Sequence[Deferred] = ()
    ) -> list[RedisError | None]:
        """Write the entries that commits are about to make true; all of them if they are renewed.

        Their players are kept for as long as the entries. Return the error of each commit whose
        entries could not be written. What is deferred is sent in the same round trip.
        """
        return self._write_each([self._commands_before(each) for each in commits], deferred)

    def _commands_before(self, commit: Commit) -> list[Command]:
        before, after, now = commit.before, commit.change.game, commit.now
        if _have_same_entries(before, after):
            return []
        old = before
        if before is not None and after.indexed_at != before.indexed_at:
            old = None
        entries_ms = self.retention.of_entries(after)
        commands = [
            _add_command(entry, after, now, entries_ms, self.is_shared_with_earlier)
            for entry in sorted(self._entries(after) - self._entries(old))
        ]
        ttl_ms = max(self.retention.player, entries_ms)
        commands += [
            renew_command(player_id, now, ttl_ms)
            for player_id in sorted(_participants(after) - _participants(old))
        ]
        if _ends(before, after):
            args = (after.id, now, self.retention.ended, MAX_REMOVED)
            commands += [
                ADD_ENDED_ENTRY.call(_ended_key(player_id), args=args)
                for player_id in sorted(_participants(after))
            ]
        return commands

    def after_commits(
        self, commits: Sequence[Commit], deferred: Sequence[Deferred] = ()
    ) -> list[RedisError | None]:
        """Remove the entries that commits have made false for good; return errors as before.

        What is deferred is sent in the same round trip; if there is nothing else, an unreachable
        store is no error.
        """
        groups = [self._commands_after(each) for each in commits]
        try:
            return self._write_each(groups, deferred)
        except RedisError as error:
            if any(groups):
                raise
            count_failure(error)
            return [None] * len(commits)

    def _commands_after(self, commit: Commit) -> list[Command]:
        before, after, now = commit.before, commit.change.game, commit.now
        if _have_same_entries(before, after):
            return []
        cursor = Cursor(after.created_at, after.id)
        return [
            REMOVE_ENTRIES.call(*_keys(entry), args=(after.id,))
            for entry in sorted(self._entries(before) - self._entries(after))
            if not can_become_true(entry, cursor, after, now)
        ]

    @property
    def is_shared_with_earlier(self) -> bool:
        """Whether workers of 0.1 read the indexes too."""
        return self.store.stored_format < FORMAT

    def _entries(self, game: Game | None) -> set[Entry]:
        return _earlier_entries(game) if self.is_shared_with_earlier else entries(game)

    def occupies(self, player_id: str, number: int, now: int, replies: Sequence[Any] = ()) -> bool:
        """Return whether a player hosts or sits in so many games that have not ended.

        As long as there are fewer entries, counting them is enough; only then are false entries
        told from true ones. `replies` are those to `count_commands`, if they have been sent.
        """
        try:
            counts = replies or self.client.execute(count_commands(player_id))
            if sum(map(readable, counts)) < number:
                return False
            games, _ = self.page(unfinished_page(player_id, UNFINISHED, number), now)
        except Unreadable as error:
            # A damaged index must not keep its player from playing.
            _note_unreadable(_key(occupied(player_id, OPEN)), error)
            return False
        return len(games) >= number

    def lobby_sizes(self) -> dict[str, int]:
        """Return the number of public games by status, false entries included."""
        buckets = [entry for status in UNFINISHED for entry in lobby(status=status)]
        counts = self.client.execute([_command("ZCARD", _key(each)) for each in buckets])
        sizes: dict[str, int] = dict.fromkeys(UNFINISHED, 0)
        for entry, count in zip(buckets, counts, strict=True):
            sizes[entry.status] += count
        return sizes

    def query(self, page: Page) -> PageQuery:
        """Return how a page that may be asked for again is read; `read_page` takes the replies."""
        return PageQuery(page, self._found.get(page, ()))

    def read_page(
        self, query: PageQuery, now: int, replies: Sequence[Any]
    ) -> tuple[list[GameDocument], Cursor | None]:
        """Return the same as `page`."""
        page, expected = query
        number = len(page.entries)
        known = dict(zip(expected, replies[number:], strict=True))
        return self.page(page, now, replies[:number], known)

    def page(
        self,
        page: Page,
        now: int,
        first_replies: Sequence[Any] = (),
        known: Mapping[str, Any] | None = None,
    ) -> tuple[list[GameDocument], Cursor | None]:
        """Return the games of a page, and the cursor of the next page, if there is one.

        There may be fewer games than the limit, even none, and still a next page. `first_replies`
        are those to `page.first_commands`, if they were sent with other commands. `known` are
        replies about games that may be on the page; None if it is not to be remembered.
        """
        games: list[GameDocument] = []
        false: dict[Entry, list[str]] = {}
        listed = following = None
        for number, (cursor, found, document) in enumerate(
            self._read(page, first_replies, known), 1
        ):
            game = None if document is None else document.game
            is_listed = False
            for entry in found:
                if is_true(entry, game):
                    is_listed = True
                elif not can_become_true(entry, cursor, game, now):
                    false.setdefault(entry, []).append(cursor.game_id)
            # A game that has just changed may be found by an entry that was true before.
            is_listed = is_listed or page.includes(game)
            if document is not None and is_listed and page.accepts(document.game):
                if len(games) == page.limit:
                    following = listed
                    break
                games.append(document)
                listed = cursor
            if number == page.max_games:
                following = cursor
                break
        # Not earlier: a removal moves the entries that `_read` has still to read.
        self._remove(false)
        return games, following

    def unfinished(
        self, player_ids: Sequence[str], limit: int
    ) -> list[frozenset[str] | RedisError]:
        """Return the newest games of each player that may not have ended, by id.

        First come the games that it plays or hosts, of which it can have few: however many seats
        strangers reserve for it, they do not displace those. A damaged index counts as empty: a
        request that reads it reports the error. An error of a server that has an index of a player
        stands in the place of its games.
        """
        replies = self.client.execute(
            [
                _command("ZRANGE", _key(entry), 0, limit - 1, "REV")
                for each in player_ids
                for entry in (occupied(each, PLAYING), occupied(each, OPEN), invited(each))
            ],
            keep_errors=True,
        )
        by_player = zip(replies[::3], replies[1::3], replies[2::3], strict=True)
        return [_unfinished(parts, limit) for parts in by_player]

    def _read(
        self, page: Page, replies: Sequence[Any], known: Mapping[str, Any] | None
    ) -> Iterator[tuple[Cursor, Sequence[Entry], GameDocument | None]]:
        """Yield the games of a list from where a page begins, each with its entries.

        A game that has expired is None; one that cannot be read is None without entries.
        """
        replies = replies or self.client.execute(page.first_commands)
        indexes = [
            self._read_index(page, *each) for each in zip(page.entries, replies, strict=True)
        ]
        merged = itertools.groupby(heapq.merge(*indexes, reverse=True), itemgetter(0))
        listed = ((cursor, [entry for _, entry in group]) for cursor, group in merged)
        while batch := list(itertools.islice(listed, page.batch)):
            ids = [cursor.game_id for cursor, _ in batch]
            if known is not None:
                self._remember(page, ids)
            games = self.store.documents({each: (known or {}).get(each) for each in ids})
            known = None  # what was read first is of the first batch
            for cursor, found in batch:
                id_ = cursor.game_id
                yield cursor, found if id_ in games else (), games.get(id_)

    def _remember(self, page: Page, ids: list[str]) -> None:
        self._found[page] = ids
        self._found.move_to_end(page)
        if len(self._found) > CACHED_PAGES:
            self._found.popitem(last=False)

    def _read_index(self, page: Page, entry: Entry, reply: Any) -> Iterator[tuple[Cursor, Entry]]:
        """Yield the entries of one index from where a page begins, newest first."""
        after, offset, count = page.after, 0, page.first_batch
        while True:
            found = readable(reply)
            last = None
            for game_id, score in zip(found[::2], found[1::2], strict=True):
                cursor = _read_cursor(game_id, score)
                if after is None or cursor < after:
                    last = cursor
                    yield cursor, entry
            if len(found) < 2 * count:
                return
            # Continue after the last entry rather than by offset, so that entries which are added
            # or removed meanwhile do not matter. An offset is needed only within a millisecond.
            offset = offset + count if last is None else 0
            after, count = after if last is None else last, page.batch
            (reply,) = self.client.execute([page.command(entry, after, offset, count)])

    def _remove(self, false: Mapping[Entry, Sequence[str]]) -> None:
        """Remove false entries that a read has met, unless the store is full."""
        commands = [
            REMOVE_ENTRIES.call(*_keys(entry), args=game_ids[at : at + MAX_SCRIPT_IDS])
            for entry, game_ids in false.items()
            for at in range(0, len(game_ids), MAX_SCRIPT_IDS)
        ]
        with unless_full():
            self._write(commands)

    def _write(self, commands: list[Command]) -> None:
        """Change some indexes. Raises `redis.RedisError`."""
        (error,) = self._write_each([commands])
        if error is not None:
            raise error

    def _write_each(
        self,
        groups: Sequence[Sequence[Command]],
        deferred: Sequence[Deferred] = (),
    ) -> list[RedisError | None]:
        """Change some indexes in one round trip, and return the first error of each group.

        A damaged index is no error, since it is only a hint.
        """
        commands = [command for group in groups for command in group]
        replies: Iterator[Any] = iter(())
        if commands or deferred:
            replies = iter(execute_with(self.client, commands, deferred))
        errors: list[RedisError | None] = []
        for group in groups:
            first: RedisError | None = None
            for command, reply in zip(group, replies, strict=False):
                if isinstance(reply, Unreadable):
                    _note_unreadable(command.key, reply)
                elif isinstance(reply, RedisError):
                    first = first or reply
            errors.append(first)
        return errors


def list_commands(game: Game, now: int, ttl_ms: int) -> list[Command]:
    """Return the commands that list a game that is about to be copied into the store.

    `ttl_ms` is the time to live of the game. That of its entries is longer: the next commits may
    prolong that of the game by a turn, and renew the entries only after `Retention.renewal`.
    """
    is_shared_with_earlier = game.format < FORMAT
    listed = entries(game) | (_earlier_entries(game) if is_shared_with_earlier else set())
    ttl_ms += game.turn_seconds * 1000 + DAY_MS + COMMIT_MS
    commands = [
        _add_command(entry, game, now, ttl_ms, is_shared_with_earlier) for entry in sorted(listed)
    ]
    if game.has_ended:
        # No entry is removed as expired: those of other games may live longer than this one.
        args = (game.id, game.finished_at or game.updated_at, ttl_ms, 0)
        commands += [
            ADD_ENDED_ENTRY.call(_ended_key(player_id), args=args)
            for player_id in sorted(game.participants())
        ]
    return commands


def unlist_commands(before: Game, after: Game | None) -> list[Command]:
    """Return the commands that remove the entries of a game that has been replaced by a copy.

    `after` is the copy, None if the game has been removed.
    """
    commands = [
        REMOVE_ENTRIES.call(*_keys(entry), args=(before.id,))
        for entry in sorted(
            (entries(before) | _earlier_entries(before)) - entries(after) - _earlier_entries(after)
        )
    ]
    if before.has_ended and not (after is not None and after.has_ended):
        keys = map(_ended_key, sorted(before.participants()))
        commands += [Command(key, ("ZREM", key, before.id)) for key in keys]
    return commands


def count_commands(player_id: str) -> list[Command]:
    """Return the commands that count a player's games; `Indexes.occupies` takes their replies."""
    return [_command("ZCARD", _key(occupied(player_id, status))) for status in UNFINISHED]


@dataclass(frozen=True)
class Belongs:
    """The condition that a game belongs in the index of an entry."""

    entry: Entry

    def __call__(self, game: Game) -> bool:
        """Return whether a game belongs there."""
        return is_true(self.entry, game)


def invitations_page(player_id: str, after: Cursor | None, limit: int) -> Page:
    """Return a page of the open games in which a seat is reserved for a player.

    0.1 listed them with the player's own open games.
    """
    entry = invited(player_id)
    return Page((entry, Entry(player_id, OPEN)), after, limit, Belongs(entry))


def unfinished_page(player_id: str, statuses: Sequence[str], limit: int) -> Page:
    """Return the page of the newest unfinished games that a player hosts or plays itself."""
    entries = tuple(occupied(player_id, status) for status in statuses)
    return Page(entries, None, limit, lambda game: player_id in game.occupants())


def ended_command(player_id: str, since: int, limit: int) -> Command:
    """Return the command that reads a player's games that ended since a time, oldest first.

    `read_entries` decodes its reply.
    """
    return _range(_ended_key(player_id), since, "+inf", "BYSCORE", "LIMIT", 0, limit)


def read_entries(reply: Any) -> list[tuple[str, int]]:
    """Return the game ids and times in a reply from an index. Raises `Unreadable`."""
    found = readable(reply)
    cursors = map(_read_cursor, found[::2], found[1::2])
    return [(game_id, time) for time, game_id in cursors]


def _read_cursor(game_id: bytes, score: bytes) -> Cursor:
    try:
        return Cursor(int(float(score)), game_id.decode())
    except (ValueError, OverflowError) as error:
        raise Unreadable from error


def _participants(game: Game | None) -> set[str]:
    return set() if game is None else game.participants()


def _have_same_entries(before: Game | None, after: Game) -> bool:
    """Return whether two states of a game have the same entries, written at the same time.

    That is the case after nearly every move.
    """
    return (
        before is not None
        and before.status == after.status
        and before.seats == after.seats
        and before.indexed_at == after.indexed_at
    )


def _ends(before: Game | None, after: Game) -> bool:
    return before is not None and not before.has_ended and after.has_ended


def _range(key: str, *words: Any) -> Command:
    return _command("ZRANGE", key, *words, "WITHSCORES")


def _unfinished(replies: Sequence[Any], limit: int) -> frozenset[str] | RedisError:
    ids: dict[str, None] = {}
    for reply in replies:
        if isinstance(reply, RedisError):
            return reply
        if not isinstance(reply, Unreadable):
            ids |= dict.fromkeys(game_id.decode(errors="replace") for game_id in reply)
    return frozenset([*ids][:limit])


def _note_unreadable(key: str, error: Unreadable) -> None:
    count_failure(error)
    log.error("an index or a player cannot be read: %s", key, exc_info=error)


def _command(name: str, key: str, *words: Any) -> Command:
    return Command(key, (name, key, *words))


def _key(entry: Entry) -> str:
    return f"index:{{{entry.owner}}}:{entry.status}"


def _add_command(
    entry: Entry, game: Game, now: int, ttl_ms: int, is_shared_with_earlier: bool
) -> Command:
    most = _max_entries(entry, is_shared_with_earlier)
    args = (game.id, game.created_at, now, ttl_ms, MAX_REMOVED, most)
    return ADD_ENTRY.call(*_keys(entry), args=args)


def _max_entries(entry: Entry, is_shared_with_earlier: bool) -> int:
    """Return how many entries an index has at most; the newest are kept.

    0.1 lists all games that ended.
    """
    if entry.owner.startswith(INVITED):
        return MAX_INVITATIONS
    if entry.owner.startswith(LOBBY) and entry.status in ENDED and not is_shared_with_earlier:
        return MAX_LISTED_ENDED // BUCKETS[entry.status]
    return MAX_ENTRIES


def _keys(entry: Entry) -> tuple[str, str]:
    return _key(entry), f"{_key(entry)}:until"


def _ended_key(player_id: str) -> str:
    return f"index:{{{player_id}}}:ended"
