"""Which games there are: of a player, and in the lobby, by status.

An index is a hint, the game is the truth. An entry is written before the commit that makes it
true; whoever reads one that the game contradicts skips it, and removes it only when no commit
can make it true any more. So an index never lacks a game, whatever fails in between.

An entry has a life, longer than its game's; a game that goes on renews its entries now and then,
and the lives of those who play it. Whoever adds an entry removes some whose life is over, more
than are added, so an index holds little that has gone, though nobody reads it. It expires with
its last entry.

| key | holds |
| --- | --- |
| `index:{OWNER}:STATUS` | sorted set: game ids by the time of their creation |
| `index:{OWNER}:STATUS:until` | sorted set: the same ids by when their life is over |
| `index:{PLAYER}:ended` | sorted set: a player's own games that ended, by the time of their end |

An owner is the lobby, one ruleset's lobby, a player (all games that concern it), or a player's
places (those that take one). The last one tells a bot what ended since it last asked, of the games
that it hosted or had a seat in: strangers can reserve seats for it, which concerns it only then.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

from api.model.game import CANCELLED, ENDED, FINISHED, OPEN, PLAYING, PUBLIC, UNFINISHED, Game
from api.model.retention import COMMIT_MS, Retention
from api.storage.client import Command, Script, StoreClient, Unreadable, readable
from api.storage.failures import count_failure, unless_full
from api.storage.games import Store, keeping

log = logging.getLogger("ludotheque")

ALL = "all"
LOBBY = "lobby"

MOST_READS = 20
"""So often an index is read for one page. If all was false until then, the page is short."""

REMOVED_AT_ONCE = 10
"""So many entries whose life is over are removed when one is added."""

TOLD_AT_ONCE = 1000
"""So many ids are a script's arguments at most; it can take only some thousands."""

ADD = Script.of("""
local id, created_at, now, life, how = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
redis.call('ZADD', KEYS[1], created_at, id)
redis.call('ZADD', KEYS[2], how, now + life, id)
local over = redis.call('ZRANGE', KEYS[2], '-inf', '(' .. now, 'BYSCORE', 'LIMIT', 0, ARGV[6])
for _, key in ipairs(KEYS) do
  if #over > 0 then
    redis.call('ZREM', key, unpack(over))
  end
end
local last = redis.call('ZRANGE', KEYS[2], 0, 0, 'REV', 'WITHSCORES')
for _, key in ipairs(KEYS) do
  redis.call('PEXPIRE', key, last[2] - now)
end
""")

ADD_ENDED = Script.of("""
local id, now, life = ARGV[1], ARGV[2], ARGV[3]
redis.call('ZADD', KEYS[1], now, id)
local over = redis.call('ZRANGE', KEYS[1], '-inf', now - life, 'BYSCORE', 'LIMIT', 0, ARGV[4])
if #over > 0 then
  redis.call('ZREM', KEYS[1], unpack(over))
end
redis.call('PEXPIRE', KEYS[1], life)
""")

REMOVE = Script.of("""
for _, key in ipairs(KEYS) do
  redis.call('ZREM', key, unpack(ARGV))
end
""")

LONGER = "GT"
"""An entry that has a longer life keeps it: the commit may fail, and the game go on as it was."""

EXACTLY = "CH"

_PROGRESS: dict[str, int] = {OPEN: 0, PLAYING: 1, FINISHED: 2, CANCELLED: 2}


class Entry(NamedTuple):
    """Which index a game belongs in: whose, and of which status."""

    owner: str
    status: str


class Position(NamedTuple):
    """A place in an index's order, newest first; a page continues after it."""

    created_at: int
    game_id: str


def lobby(ruleset: str | None = None) -> str:
    """The owner of the index of public games, or of those of one ruleset."""
    return LOBBY if ruleset is None else f"{LOBBY}:{ruleset}"


def places(player_id: str) -> str:
    """The owner of the index of the games that a player hosts or sits in, until they end."""
    return f"places:{player_id}"


def entries(game: Game | None) -> set[Entry]:
    """The entries that a game should have."""
    if game is None:
        return set()
    listed = {Entry(owner, status) for owner in owners(game) for status in (game.status, ALL)}
    if game.status not in UNFINISHED:
        return listed
    return listed | {Entry(places(each), game.status) for each in game.table_company()}


def owners(game: Game) -> set[str]:
    """Whose indexes a game belongs to."""
    in_lobby = {lobby(), lobby(game.ruleset)} if game.visibility == PUBLIC else set()
    return in_lobby | game.members()


def _company(game: Game | None) -> set[str]:
    """Those who are kept as long as a game is, and told of its end."""
    return set() if game is None else game.company()


def _are_alike(before: Game | None, after: Game) -> bool:
    """Whether two states of a game have the same entries, written at the same time.

    As nearly all that follow one another do: a move changes nothing of it.
    """
    return (
        before is not None
        and before.status == after.status
        and before.seats == after.seats
        and before.indexed_at == after.indexed_at
    )


def is_true(entry: Entry, game: Game | None) -> bool:
    """Whether the game is what the entry says."""
    return game is not None and entry in entries(game)


def can_become_true(entry: Entry, position: Position, game: Game | None, now: int) -> bool:
    """Whether a commit under way may yet make a false entry true.

    A game's status only goes forward, and after the start nobody joins.
    """
    if game is None:
        return now - position.created_at < COMMIT_MS
    if entry.status != ALL and _PROGRESS[game.status] > _PROGRESS[entry.status]:
        return False
    if game.status in ENDED and entry.status not in (ALL, game.status):
        return False
    if game.status == OPEN or entry.owner in owners(game):
        return True
    # A place that was left to the house can be taken back.
    return entry.owner in {places(player_id) for player_id in game.players()}


class Page(NamedTuple):
    """A page of an index, newest first: after which position, and how many games at most."""

    entry: Entry
    after: Position | None
    limit: int

    @property
    def beginning(self) -> Command:
        """What is asked first for it; so it can be asked along with something else."""
        return self.part(self.after, 0)

    def part(self, after: Position | None, offset: int) -> Command:
        """What is asked for a part of it, as large as a page with one more game may take."""
        newest = "+inf" if after is None else after.created_at
        limits = ("BYSCORE", "REV", "LIMIT", offset, self.limit + 1)
        return _scored(_key(self.entry), newest, "-inf", *limits)


class Indexes:
    """The indexes in Redis. Any call may raise `redis.RedisError`.

    Whoever reads one that is not what it should be is told `Unreadable`; who writes is not.
    """

    def __init__(self, client: StoreClient, store: Store, retention: Retention) -> None:
        self.client = client
        self.store = store
        self.retention = retention

    def are_to_be_renewed(self, before: Game | None, after: Game, now: int) -> bool:
        """Whether all of a game's entries are to be written: at each stage, and now and then."""
        is_new = before is None or before.status != after.status
        return is_new or now - after.indexed_at > self.retention.renewal

    def before_commit(self, before: Game | None, after: Game, now: int) -> None:
        """Write the entries that a commit is about to make true; all of them if it is time.

        Whoever plays is kept as long as they are.
        """
        if _are_alike(before, after):
            return
        old = before
        if before is not None and after.indexed_at != before.indexed_at:
            old = None
        commands = [
            self._adding(entry, after, now, LONGER)
            for entry in sorted(entries(after) - entries(old))
        ]
        life_ms = max(self.retention.player, self.retention.of_entries(after))
        commands += [
            keeping(player_id, now, life_ms)
            for player_id in sorted(_company(after) - _company(old))
        ]
        if before is not None and before.status not in ENDED and after.status in ENDED:
            commands += [
                self._adding_ended(player_id, after, now) for player_id in sorted(_company(after))
            ]
        self._write(commands)

    def _write(self, commands: list[Command]) -> None:
        """Change some indexes. One that cannot be read fails no commit: it is but a hint."""
        answers = self.client.ask(commands, apart=True) if commands else []
        for command, answer in zip(commands, answers, strict=True):
            if isinstance(answer, Unreadable):
                _note_unreadable(command.key, answer)

    def _adding(self, entry: Entry, game: Game, now: int, how: str) -> Command:
        life_ms = self.retention.of_entries(game)
        args = (game.id, game.created_at, now, life_ms, how, REMOVED_AT_ONCE)
        return ADD.on(*_keys(entry), args=args)

    def _adding_ended(self, player_id: str, game: Game, now: int) -> Command:
        args = (game.id, now, self.retention.ended, REMOVED_AT_ONCE)
        return ADD_ENDED.on(_ended_key(player_id), args=args)

    def after_commit(self, before: Game | None, after: Game, now: int) -> None:
        """Remove the entries that a commit made false for good.

        What lists a game that has ended needs to live no longer than it does.
        """
        if _are_alike(before, after):
            return
        position = Position(after.created_at, after.id)
        commands = [
            REMOVE.on(*_keys(entry), args=(after.id,))
            for entry in sorted(entries(before) - entries(after))
            if not can_become_true(entry, position, after, now)
        ]
        if before is not None and before.status not in ENDED and after.status in ENDED:
            commands += [
                self._adding(entry, after, now, EXACTLY) for entry in sorted(entries(after))
            ]
        self._write(commands)

    def has_places(self, player_id: str, most: int, now: int) -> bool:
        """Whether a player hosts or sits in so many games that have not ended.

        A count of entries is enough as long as it is low; false ones are told from true ones
        only where it matters.
        """
        indexes = [Entry(places(player_id), status) for status in UNFINISHED]
        try:
            if sum(self.client.ask([_command("ZCARD", _key(entry)) for entry in indexes])) < most:
                return False
            taken = {
                game.id for entry in indexes for game in self.page(Page(entry, None, most), now)[0]
            }
        except Unreadable as error:
            # Who cannot be counted is not kept from playing.
            _note_unreadable(_key(indexes[0]), error)
            return False
        return len(taken) >= most

    def lobby_sizes(self) -> dict[str, int]:
        """How many public games there are, by status, as far as counting entries can tell."""
        keys = [_key(Entry(lobby(), status)) for status in UNFINISHED]
        sizes = self.client.ask([_command("ZCARD", key) for key in keys])
        return dict(zip(UNFINISHED, sizes, strict=True))

    def page(
        self, page: Page, now: int, beginning: Any = None
    ) -> tuple[list[Game], Position | None]:
        """The games of a page, and where the next one begins, if there is one.

        There may be fewer than asked for, even none, and a next page all the same. `beginning`
        is the answer to what is asked first, if it was asked along with something else.
        """
        entry, limit = page.entry, page.limit
        games: list[Game] = []
        false: list[str] = []
        following = None
        most = MOST_READS * (limit + 1)
        for number, (position, game) in enumerate(self._positions(page, beginning), 1):
            if game is None or not is_true(entry, game):
                if not can_become_true(entry, position, game, now):
                    false.append(position.game_id)
            elif len(games) < limit:
                games.append(game)
            else:
                following = Position(games[-1].created_at, games[-1].id)
                break
            if number == most:
                following = position
                break
        # Only now: a removal shifts what `_positions` has still to read.
        self._remove(entry, false)
        return games, following

    def unfinished(self, player_ids: Sequence[str], most: int) -> list[frozenset[str]]:
        """The newest games that may concern each of some players and may not have ended.

        Those that it plays or hosts come first, of which it may have few: however many seats
        strangers reserve for it, they are not displaced.

        None of an index that cannot be read: who asks for it is told so.
        """
        answers = self.client.ask(
            [
                _command("ZRANGE", _key(entry), 0, most - 1, "REV")
                for player_id in player_ids
                for entry in (
                    Entry(places(player_id), PLAYING),
                    Entry(places(player_id), OPEN),
                    Entry(player_id, OPEN),
                )
            ],
            apart=True,
        )
        groups = zip(answers[::3], answers[1::3], answers[2::3], strict=True)
        return [
            frozenset([*dict.fromkeys(chain.from_iterable(map(_members, group)))][:most])
            for group in groups
        ]

    def _positions(self, page: Page, beginning: Any) -> Iterator[tuple[Position, Game | None]]:
        """An index from where a page begins, with what is known of each game."""
        after, offset = page.after, 0
        while True:
            if beginning is None:
                (beginning,) = self.client.ask([page.part(after, offset)])
            found, beginning = read_entries(beginning), None
            positions = [Position(score, member) for member, score in found]
            batch = [each for each in positions if after is None or each < after]
            games = self.store.games([each.game_id for each in batch])
            yield from ((each, games[each.game_id]) for each in batch if each.game_id in games)
            if len(found) <= page.limit:
                return
            # From the last one on, not by counting: what comes or goes meanwhile shifts nothing.
            # Only within one and the same millisecond there is no other way.
            offset = 0 if batch else offset + len(found)
            after = batch[-1] if batch else after

    def _remove(self, entry: Entry, false: list[str]) -> None:
        """Remove false entries that a read has met. A full store may keep them for now."""
        parts = [false[at : at + TOLD_AT_ONCE] for at in range(0, len(false), TOLD_AT_ONCE)]
        with unless_full():
            self._write([REMOVE.on(*_keys(entry), args=part) for part in parts])


def asking_ended(player_id: str, since: int, limit: int) -> Command:
    """Asks for the ids of the player's games that ended since then, and when, in this order."""
    return _scored(_ended_key(player_id), since, "+inf", "BYSCORE", "LIMIT", 0, limit)


def read_entries(answer: Any) -> list[tuple[str, int]]:
    """The members of a part of an index, and their times. Raises `Unreadable`."""
    found = readable(answer)
    pairs = zip(found[::2], found[1::2], strict=True)
    try:
        return [(member.decode(), int(float(score))) for member, score in pairs]
    except (ValueError, OverflowError) as error:
        raise Unreadable from error


def _scored(key: str, *words: Any) -> Command:
    return _command("ZRANGE", key, *words, "WITHSCORES")


def _members(found: list[bytes] | Unreadable) -> list[str]:
    if isinstance(found, Unreadable):
        return []
    return [member.decode(errors="replace") for member in found]


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
