"""Which games there are: of a player, and in the lobby, by status.

An index is a hint, the game is the truth. An entry is written before the commit that makes it
true; whoever reads one that the game contradicts skips it, and removes it only when no commit
can make it true any more. So an index never lacks a game, whatever fails in between.

An index is a sorted set of game ids by the time of their creation. A second kind, of a player's
ended games by the time of their end, tells a bot what ended since it last asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from redis import Redis

from api.store import Store
from api.stored import CANCELLED, ENDED, FINISHED, OPEN, PLAYING, PUBLIC, STATUSES, Game

ALL = "all"
LOBBY = "lobby"
UNFINISHED = (OPEN, PLAYING)

COMMIT_MS = 60_000
"""Longer than a commit can be under way: an older entry without a game will never have one."""

_PROGRESS = {OPEN: 0, PLAYING: 1, FINISHED: 2, CANCELLED: 2}


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


def entries(game: Game | None) -> set[Entry]:
    """The entries that a game should have."""
    if game is None:
        return set()
    return {Entry(owner, status) for owner in owners(game) for status in (game.status, ALL)}


def owners(game: Game) -> set[str]:
    """Whose indexes a game belongs to."""
    in_lobby = {lobby(), lobby(game.ruleset)} if game.visibility == PUBLIC else set()
    return in_lobby | game.members()


def is_true(entry: Entry, game: Game | None) -> bool:
    """Whether the game is what the entry says."""
    return game is not None and entry in entries(game)


def can_become_true(entry: Entry, position: Position, game: Game | None, now: int) -> bool:
    """Whether a commit under way may yet make a false entry true.

    A game's status only goes forward, and after the start nobody joins or leaves.
    """
    if game is None:
        return now - position.created_at < COMMIT_MS
    if entry.status != ALL and _PROGRESS[game.status] > _PROGRESS[entry.status]:
        return False
    if game.status in ENDED and entry.status not in (ALL, game.status):
        return False
    return game.status == OPEN or entry.owner in owners(game)


class Indexes:
    """The indexes in Redis. Any call may raise `redis.RedisError`."""

    def __init__(self, redis: Redis, store: Store, life_ms: int, ended_life_ms: int) -> None:
        self.redis = redis
        self.store = store
        self.life_ms = life_ms
        self.ended_life_ms = ended_life_ms

    def before_commit(self, before: Game | None, after: Game, now: int) -> None:
        """Write the entries that a commit is about to make true."""
        new = sorted(entries(after) - entries(before))
        ends = before is not None and before.status not in ENDED and after.status in ENDED
        if not new:
            return
        pipe = self.redis.pipeline(transaction=False)
        for entry in new:
            pipe.zadd(_key(entry), {after.id: after.created_at})
            pipe.pexpire(_key(entry), self.life_ms)
        for player_id in sorted(after.members()) if ends else ():
            key = _ended_key(player_id)
            pipe.zadd(key, {after.id: now})
            pipe.zremrangebyscore(key, "-inf", now - self.ended_life_ms)
            pipe.pexpire(key, self.ended_life_ms)
        pipe.execute()

    def after_commit(self, before: Game | None, after: Game, now: int) -> None:
        """Remove the entries that a commit made false for good."""
        position = Position(after.created_at, after.id)
        old = [
            entry
            for entry in sorted(entries(before) - entries(after))
            if not can_become_true(entry, position, after, now)
        ]
        self._remove([(entry, after.id) for entry in old])

    def count(self, owner: str, statuses: Sequence[str]) -> int:
        """How many games an index lists, false entries included."""
        pipe = self.redis.pipeline(transaction=False)
        for status in statuses:
            pipe.zcard(_key(Entry(owner, status)))
        return sum(pipe.execute())

    def page(
        self, owner: str, status: str, after: Position | None, limit: int, now: int
    ) -> tuple[list[Game], Position | None]:
        """Some games of an index, newest first, and where the next page begins, if there is one."""
        entry = Entry(owner, status)
        games: list[Game] = []
        false: list[tuple[Entry, str]] = []
        following = None
        for position, game in self._positions(entry, after, limit + 1):
            if game is None or not is_true(entry, game):
                if not can_become_true(entry, position, game, now):
                    false.append((entry, position.game_id))
            elif len(games) < limit:
                games.append(game)
            else:
                following = Position(games[-1].created_at, games[-1].id)
                break
        # Only now: a removal shifts what `_positions` has still to read.
        self._remove(false)
        return games, following

    def ended_since(self, player_id: str, since: int, limit: int) -> list[str]:
        """The ids of the player's games that ended since then, latest first."""
        found = self.redis.zrange(
            _ended_key(player_id), "+inf", since, byscore=True, desc=True, offset=0, num=limit
        )
        return [each.decode() for each in cast("list[bytes]", found)]

    def _positions(
        self, entry: Entry, after: Position | None, size: int
    ) -> Iterator[tuple[Position, Game | None]]:
        """An index from a position on, with what is known of each game."""
        highest = "+inf" if after is None else after.created_at
        offset = 0
        while True:
            found = cast(
                "list[tuple[bytes, float]]",
                self.redis.zrange(
                    _key(entry),
                    highest,
                    "-inf",
                    desc=True,
                    byscore=True,
                    withscores=True,
                    offset=offset,
                    num=size,
                ),
            )
            positions = [Position(int(score), member.decode()) for member, score in found]
            batch = [each for each in positions if after is None or each < after]
            yield from zip(batch, self.store.games([each.game_id for each in batch]), strict=True)
            if len(found) < size:
                return
            offset += len(found)

    def _remove(self, false: list[tuple[Entry, str]]) -> None:
        if not false:
            return
        pipe = self.redis.pipeline(transaction=False)
        for entry, game_id in false:
            pipe.zrem(_key(entry), game_id)
        pipe.execute()


def _key(entry: Entry) -> str:
    return f"index:{{{entry.owner}}}:{entry.status}"


def _ended_key(player_id: str) -> str:
    return f"index:{{{player_id}}}:ended"


assert set(_PROGRESS) == set(STATUSES)
