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

An owner is the lobby, the lobby of one ruleset, a player (the games that it hosts or has a seat
in), `places:PLAYER` (those that it hosts or plays, until they end), or `invited:PLAYER` (the open
games in which a seat is only reserved for it). Strangers can reserve seats for any player, so this
last index has the newest entries only, and the others have none of these games. The index of ended
games tells a bot what ended since it last asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from redis import RedisError

from api.model.game import OPEN, PLAYING, PUBLIC, UNFINISHED, Game
from api.model.retention import COMMIT_MS, Retention
from api.observability.logger import log
from api.storage.client import Command, Script, StoreClient
from api.storage.errors import Unreadable, count_failure, readable, unless_full
from api.storage.games import Commit, GameStore
from api.storage.players import renew_command

ALL = "all"
LOBBY = "lobby"
INVITED = "invited:"

MAX_READS = 20
"""How often an index is read for one page. If all entries were false until then, the page is short.
"""

SPARSE_BATCH = 101
"""Entries that are read at once for a page of only some of the games."""

MAX_SPARSE_READS = 5
"""How often an index is read for such a page."""

MAX_REMOVED = 10
"""How many expired entries are removed when one is added."""

MAX_INVITATIONS = 100
"""How many of the open games in which a seat is reserved for a player its index has."""

MAX_ENTRIES = 1_000_000_000
"""More than any index has."""

MAX_SCRIPT_IDS = 1000
"""How many ids are passed to one call of a script, which can take some thousands of arguments."""

ADD_ENTRY = Script.load("add_entry")
ADD_ENDED_ENTRY = Script.load("add_ended_entry")
REMOVE_ENTRIES = Script.load("remove_entries")

KEEP_LATER = "GT"
"""An entry that expires later is left so: the commit may fail, and the game go on as it was."""

REPLACE = "CH"


class Entry(NamedTuple):
    """Names an index that a game belongs in: by owner and status."""

    owner: str
    status: str


class Cursor(NamedTuple):
    """The last game of a page, newest first; the next page begins after it."""

    created_at: int
    game_id: str


def lobby(ruleset: str | None = None) -> str:
    """Return the owner of the index of public games, or of those of one ruleset."""
    return LOBBY if ruleset is None else f"{LOBBY}:{ruleset}"


def occupied(player_id: str) -> str:
    """Return the owner of the index of games that a player hosts or sits in, until they end."""
    return f"places:{player_id}"


def invited(player_id: str) -> str:
    """Return the owner of the index of open games in which a seat is reserved for a player."""
    return f"{INVITED}{player_id}"


def entries(game: Game | None) -> set[Entry]:
    """Return the entries that a game should have."""
    if game is None:
        return set()
    listed = {Entry(owner, status) for owner in owners(game) for status in (game.status, ALL)}
    if game.status not in UNFINISHED:
        return listed
    listed |= {Entry(occupied(each), game.status) for each in game.occupants()}
    if game.status == OPEN:
        listed |= {Entry(invited(each), OPEN) for each in game.members() - game.participants()}
    return listed


def owners(game: Game) -> set[str]:
    """Return the owners of the indexes that a game belongs in, whatever its status."""
    in_lobby = {lobby(), lobby(game.ruleset)} if game.visibility == PUBLIC else set()
    return in_lobby | game.participants()


def is_true(entry: Entry, game: Game | None) -> bool:
    """Return whether a game belongs in the index of an entry."""
    return entry in entries(game)


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
    if game.has_ended and entry.status not in (ALL, game.status):
        return False
    if game.status == OPEN or entry.owner in owners(game):
        return True
    # A player who left can take the seat back from the house.
    return entry.owner in {occupied(player_id) for player_id in game.players()}


def any_game(game: Game) -> bool:
    """Accept every game."""
    return True


class Page(NamedTuple):
    """A request for a page of an index, newest first, of the games that `accepts` is true for."""

    entry: Entry
    after: Cursor | None
    limit: int
    accepts: Callable[[Game], bool] = any_game

    @property
    def batch(self) -> int:
        """The number of entries that are read at once: more than the limit, to find a next page."""
        return self.limit + 1 if self.accepts is any_game else max(self.limit + 1, SPARSE_BATCH)

    @property
    def max_entries(self) -> int:
        """How many entries are read for this page; if they are used up, it is short."""
        return self.batch * (MAX_READS if self.accepts is any_game else MAX_SPARSE_READS)

    @property
    def first_command(self) -> Command:
        """The first command for this page; it can be sent with other commands."""
        return self.command(self.after, 0)

    def command(self, after: Cursor | None, offset: int) -> Command:
        """Return the command that reads entries after a cursor."""
        newest = "+inf" if after is None else after.created_at
        limits = ("BYSCORE", "REV", "LIMIT", offset, self.batch)
        return _range(_key(self.entry), newest, "-inf", *limits)

    def includes(self, game: Game) -> bool:
        """Return whether a game belongs in the list that this is a page of."""
        return is_true(self.entry, game) and self.accepts(game)


class Indexes:
    """The indexes in the store. Any call may raise `redis.RedisError`.

    Reading an index that is damaged raises `Unreadable`; writing to it does not.
    """

    def __init__(self, client: StoreClient, store: GameStore, retention: Retention) -> None:
        self.client = client
        self.store = store
        self.retention = retention

    def are_to_be_renewed(self, before: Game | None, after: Game, now: int) -> bool:
        """Return whether to write all of a game's entries: when its status changes, or by age."""
        is_new = before is None or before.status != after.status
        return is_new or now - after.indexed_at > self.retention.renewal

    def before_commits(
        self, commits: Sequence[Commit], reads: Sequence[Command] = ()
    ) -> tuple[list[RedisError | None], list[Any]]:
        """Write the entries that commits are about to make true; all of them if they are renewed.

        Their players are kept for as long as the entries. Return the error of each commit whose
        entries could not be written, and the replies to `reads`, which are sent with them.
        """
        return self._write_each([self._commands_before(each) for each in commits], reads)

    def _commands_before(self, commit: Commit) -> list[Command]:
        before, after, now = commit.before, commit.change.game, commit.now
        if _have_same_entries(before, after):
            return []
        old = before
        if before is not None and after.indexed_at != before.indexed_at:
            old = None
        commands = [
            self._add_command(entry, after, now, KEEP_LATER)
            for entry in sorted(entries(after) - entries(old))
        ]
        ttl_ms = max(self.retention.player, self.retention.of_entries(after))
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

    def after_commits(self, commits: Sequence[Commit]) -> list[RedisError | None]:
        """Remove the entries that commits have made false for good; return errors as before.

        The entries of a game that has ended need not be kept longer than the game.
        """
        errors, _ = self._write_each([self._commands_after(each) for each in commits])
        return errors

    def _commands_after(self, commit: Commit) -> list[Command]:
        before, after, now = commit.before, commit.change.game, commit.now
        if _have_same_entries(before, after):
            return []
        cursor = Cursor(after.created_at, after.id)
        commands = [
            REMOVE_ENTRIES.call(*_keys(entry), args=(after.id,))
            for entry in sorted(entries(before) - entries(after))
            if not can_become_true(entry, cursor, after, now)
        ]
        if _ends(before, after):
            commands += [
                self._add_command(entry, after, now, REPLACE) for entry in sorted(entries(after))
            ]
        return commands

    def occupies(self, player_id: str, number: int, now: int) -> bool:
        """Return whether a player hosts or sits in so many games that have not ended.

        As long as there are fewer entries, counting them is enough; only then are false entries
        told from true ones.
        """
        indexes = [Entry(occupied(player_id), status) for status in UNFINISHED]
        counts = [_command("ZCARD", _key(entry)) for entry in indexes]
        try:
            if sum(self.client.execute(counts)) < number:
                return False
            taken = {
                game.id
                for entry in indexes
                for game in self.page(Page(entry, None, number), now)[0]
            }
        except Unreadable as error:
            # A damaged index must not keep its player from playing.
            _note_unreadable(_key(indexes[0]), error)
            return False
        return len(taken) >= number

    def lobby_sizes(self) -> dict[str, int]:
        """Return the number of public games by status, false entries included."""
        keys = [_key(Entry(lobby(), status)) for status in UNFINISHED]
        sizes = self.client.execute([_command("ZCARD", key) for key in keys])
        return dict(zip(UNFINISHED, sizes, strict=True))

    def page(
        self, page: Page, now: int, first_reply: Any = None
    ) -> tuple[list[Game], Cursor | None]:
        """Return the games of a page, and the cursor of the next page, if there is one.

        There may be fewer games than the limit, even none, and still a next page. `first_reply` is
        the reply to `page.first_command`, if that was sent with other commands.
        """
        entry = page.entry
        games: list[Game] = []
        false: list[str] = []
        following = None
        for number, (cursor, game) in enumerate(self._read(page, first_reply), 1):
            if game is None or not is_true(entry, game):
                if not can_become_true(entry, cursor, game, now):
                    false.append(cursor.game_id)
            elif not page.accepts(game):
                pass
            elif len(games) < page.limit:
                games.append(game)
            else:
                following = Cursor(games[-1].created_at, games[-1].id)
                break
            if number == page.max_entries:
                following = cursor
                break
        # Not earlier: a removal moves the entries that `_read` has still to read.
        self._remove(entry, false)
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
                for player_id in player_ids
                for entry in (
                    Entry(occupied(player_id), PLAYING),
                    Entry(occupied(player_id), OPEN),
                    Entry(invited(player_id), OPEN),
                )
            ],
            keep_errors=True,
        )
        by_player = zip(replies[::3], replies[1::3], replies[2::3], strict=True)
        return [_unfinished(parts, limit) for parts in by_player]

    def _read(self, page: Page, reply: Any) -> Iterator[tuple[Cursor, Game | None]]:
        """Yield the entries of an index from where a page begins, with their games."""
        after, offset = page.after, 0
        while True:
            if reply is None:
                (reply,) = self.client.execute([page.command(after, offset)])
            found, reply = read_entries(reply), None
            cursors = [Cursor(score, game_id) for game_id, score in found]
            batch = [each for each in cursors if after is None or each < after]
            games = self.store.games([each.game_id for each in batch])
            yield from ((each, games[each.game_id]) for each in batch if each.game_id in games)
            if len(found) < page.batch:
                return
            # Continue after the last entry rather than by offset, so that entries which are added
            # or removed meanwhile do not matter. An offset is needed only within a millisecond.
            offset = 0 if batch else offset + len(found)
            after = batch[-1] if batch else after

    def _add_command(self, entry: Entry, game: Game, now: int, mode: str) -> Command:
        ttl_ms = self.retention.of_entries(game)
        most = MAX_INVITATIONS if entry.owner.startswith(INVITED) else MAX_ENTRIES
        args = (game.id, game.created_at, now, ttl_ms, mode, MAX_REMOVED, most)
        return ADD_ENTRY.call(*_keys(entry), args=args)

    def _remove(self, entry: Entry, game_ids: list[str]) -> None:
        """Remove false entries that a read has met, unless the store is full."""
        chunks = [
            game_ids[at : at + MAX_SCRIPT_IDS] for at in range(0, len(game_ids), MAX_SCRIPT_IDS)
        ]
        with unless_full():
            self._write([REMOVE_ENTRIES.call(*_keys(entry), args=chunk) for chunk in chunks])

    def _write(self, commands: list[Command]) -> None:
        """Change some indexes. Raises `redis.RedisError`."""
        (error,), _ = self._write_each([commands])
        if error is not None:
            raise error

    def _write_each(
        self, groups: Sequence[Sequence[Command]], reads: Sequence[Command] = ()
    ) -> tuple[list[RedisError | None], list[Any]]:
        """Change some indexes in one round trip, and return the first error of each group.

        A damaged index is no error, since it is only a hint. Other reads can go along: their
        replies are returned too.
        """
        commands = [*reads]
        for group in groups:
            commands += group
        if not commands:
            return [None] * len(groups), []
        all_replies = self.client.execute(commands, keep_errors=True)
        replies = iter(all_replies[len(reads) :])
        errors: list[RedisError | None] = []
        for group in groups:
            first: RedisError | None = None
            for command, reply in zip(group, replies, strict=False):
                if isinstance(reply, Unreadable):
                    _note_unreadable(command.key, reply)
                elif isinstance(reply, RedisError):
                    first = first or reply
            errors.append(first)
        return errors, all_replies[: len(reads)]


def ended_command(player_id: str, since: int, limit: int) -> Command:
    """Return the command that reads a player's games that ended since a time, oldest first.

    `read_entries` decodes its reply.
    """
    return _range(_ended_key(player_id), since, "+inf", "BYSCORE", "LIMIT", 0, limit)


def read_entries(reply: Any) -> list[tuple[str, int]]:
    """Return the game ids and times in a reply from an index. Raises `Unreadable`."""
    found = readable(reply)
    pairs = zip(found[::2], found[1::2], strict=True)
    try:
        return [(game_id.decode(), int(float(score))) for game_id, score in pairs]
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


def _keys(entry: Entry) -> tuple[str, str]:
    return _key(entry), f"{_key(entry)}:until"


def _ended_key(player_id: str) -> str:
    return f"index:{{{player_id}}}:ended"
