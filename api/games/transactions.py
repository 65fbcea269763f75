"""How every request meets a game: load it, see who is calling, decide, commit.

A change is decided on what was read and committed only if that is still what is stored; if
another request was faster, it is decided again on what is there now.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import SystemRandom
from typing import Any

from gevent.event import AsyncResult
from msgspec.structs import replace
from redis import RedisError

from api.games.players import Credentials, Players, Remembered
from api.games.progress import Progress, is_due
from api.model.game import CANCELLED, FINISHED, NOT_A_MOVE, PRIVATE, Audience, Game, Item, Player
from api.model.retention import Retention
from api.observability import metrics
from api.problems.problem import Problem
from api.storage.client import Command, is_full
from api.storage.failures import count_failure
from api.storage.games import Change, Store, StoredGame
from api.storage.indexes import Indexes
from engine.ruleset import Seat

ATTEMPTS = 100
"""How often a change is decided anew when others come first, each time by another's success."""

FULL_SECONDS = 1.0
"""How long a store that was full counts as full for games that are only read."""


@dataclass(frozen=True, slots=True)
class LoadedGame:
    """A caller before a game: the time (ms), who, the game with its position, a move found.

    And the answers to what was asked along, if the game still is as it was read.
    """

    now: int
    caller: Player | None
    found: StoredGame
    played: bytes | None = None
    along: Sequence[Any] = ()

    @property
    def game(self) -> Game:
        """The game without its position."""
        return self.found.game

    @property
    def reader(self) -> str | None:
        """The id of whoever reads, None for a stranger without a token."""
        return None if self.caller is None else self.caller.id

    @property
    def seat(self) -> Seat | None:
        """The caller's seat."""
        return self.game.seat_of(self.reader)

    @property
    def audience(self) -> Audience:
        """The audience that the caller belongs to."""
        return self.game.audience_of(self.reader)

    @property
    def tag(self) -> str:
        """What an answer about the game depends on: its content, and for whom it is."""
        return f"{self.game.version}-{self.game.commit}-{self.audience.name}"


def nobody_else(game: Game, caller: Player) -> bool:
    """Lets in nobody for whom a private game does not exist anyway."""
    return False


def whatever_it_is(tag: str) -> bool:
    """The precondition of a caller who sets none."""
    return True


class Transactions:
    """Loads games for callers, and commits what was decided."""

    def __init__(
        self, store: Store, indexes: Indexes, players: Players, retention: Retention
    ) -> None:
        self.store = store
        self.indexes = indexes
        self.players = players
        self.retention = retention
        self.rng = SystemRandom()
        self._full_until = 0.0
        # The games that this worker settles now, as they were read.
        self._settling: dict[tuple[str, str], AsyncResult] = {}

    def load(
        self,
        credentials: Credentials | Remembered | None,
        game_id: str,
        *,
        anonymous: bool = False,
        played: str | None = None,
        along: Sequence[Command] = (),
        admit: Callable[[Game, Player], bool] = nobody_else,
        to_change: bool = False,
    ) -> LoadedGame:
        """A caller, if it may be `anonymous` perhaps without a token, before a game.

        The game exists for the caller; a private one also for whom `admit` lets in. What the
        clock and the house have to do is done, unless the store is full: then the game can be
        read as it is, but not visited `to_change` it.

        Raises:
            Problem: ``missing_token``, ``invalid_token``, ``game_not_found``.
        """
        if credentials is None and not anonymous:
            raise Problem("missing_token")
        player_id = None if credentials is None else credentials.player_id
        for _ in range(ATTEMPTS):
            reading = self.store.read(player_id, game_id, played, along)
            caller = None
            if credentials is not None:
                caller = self.players.authenticate(reading, credentials)
            found = reading.found
            if found is None or not exists_for(found.game, caller, admit):
                raise Problem("game_not_found")
            if is_due(found.game, reading.now):
                settle = self.settle if to_change else self.settle_if_possible
                found = settle(found, reading.now)
            if found is not None:
                is_as_read = found is reading.found
                also = reading.along if is_as_read else ()
                return LoadedGame(reading.now, caller, found, reading.played, also)
            # Another request was faster, perhaps with the very move that is asked about: all
            # that was read belongs together and is read again.
        raise Problem("busy")

    def settle(self, found: StoredGame, now: int) -> StoredGame | None:
        """Commit what the clock and the house do to a game that is due, and the game after it.

        None if another request was faster: to the others it has happened. What the house does is
        computed once for all requests that find the game in the same state at the same time.
        """
        key = found.game.id, found.game.commit
        if (others := self._settling.get(key)) is not None:
            failure: Exception | None = others.get()
            if failure is not None:
                # With its traceback it would keep the other request alive.
                raise failure.with_traceback(None)
            return None
        self._settling[key] = AsyncResult()
        failure = None
        try:
            return self._settle(found, now)
        except Exception as error:
            failure = error
            raise
        finally:
            self._settling.pop(key).set(failure)

    def _settle(self, found: StoredGame, now: int) -> StoredGame | None:
        progress = Progress.of(found, now, self.rng)
        if found.game.deadline is not None and found.game.deadline <= now:
            progress.clock()
        progress.let_house_move()
        change = self.commit(found.game, progress.change(), now)
        return None if change is None else after(found, change)

    def settle_if_possible(self, found: StoredGame, now: int) -> StoredGame | None:
        """Do as `settle`, but return the game as it is while the store is full."""
        # What the house would do is not computed again and again for a store that refuses it.
        if time.monotonic() < self._full_until:
            return found
        try:
            return self.settle(found, now)
        except RedisError as error:
            if not is_full(error):
                raise
            count_failure(error)
            self._full_until = time.monotonic() + FULL_SECONDS
            return found

    def update(
        self,
        credentials: Credentials | None,
        game_id: str,
        decide: Callable[[LoadedGame], Change | None],
        *,
        if_match: Callable[[str], bool] = whatever_it_is,
        played: str | None = None,
        admit: Callable[[Game, Player], bool] = nobody_else,
    ) -> tuple[LoadedGame, tuple[Item, ...]]:
        """Commit what `decide` makes of the game, and the game as it then is.

        `decide` returns None if there is nothing to change, and raises `Problem` to refuse. It
        has no effects: it is asked again when another request was faster. A move that was played
        before needs to match nothing.

        Raises:
            Problem: as `visit` and `decide`; ``precondition_failed``, ``busy``.
        """
        for _ in range(ATTEMPTS):
            loaded = self.load(credentials, game_id, played=played, admit=admit, to_change=True)
            if loaded.played is None and not if_match(loaded.tag):
                raise Problem("precondition_failed")
            decided = decide(loaded)
            if decided is None:
                if self.store.confirm(loaded.game):
                    return loaded, ()
                continue
            change = self.commit(loaded.game, decided, loaded.now)
            if change is not None:
                now_it_is = after(loaded.found, change)
                return LoadedGame(loaded.now, loaded.caller, now_it_is), change.items
        raise Problem("busy")

    def commit(self, before: Game | None, change: Change, now: int) -> Change | None:
        """Commit a change if the game still is what it was; None if it is not."""
        commit = secrets.token_hex(8)
        game = replace(change.game, commit=commit, updated_at=now)
        if change.items:
            last = replace(change.items[-1], version_id=commit)
            game = replace(game, version=last.version, version_id=commit)
            change = replace(change, items=(*change.items[:-1], last))
        if self.indexes.are_to_be_renewed(before, game, now):
            game = replace(game, indexed_at=now)
        change = replace(change, game=game)
        self.indexes.before_commit(before, game, now)
        if not self.store.commit(before, change, self.retention.of_game(game, now)):
            metrics.commit_conflicted()
            return None
        _count_commit(before, game, change.items)
        self.indexes.after_commit(before, game, now)
        if before is None or before.seats != game.seats:
            self.store.announce(_newcomers(before, game))
        return change


def _count_commit(before: Game | None, after: Game, items: Iterable[Item]) -> None:
    for item in items:
        if item.move != NOT_A_MOVE:
            metrics.move_committed(after.ruleset, str(item.by))
    if before is None:
        metrics.game_changed(after.ruleset, "created")
    if after.started_at is not None and (before is None or before.started_at is None):
        metrics.game_changed(after.ruleset, "started")
    if after.status in (FINISHED, CANCELLED) and (before is None or before.status != after.status):
        metrics.game_changed(after.ruleset, after.status)


def after(before: StoredGame, change: Change) -> StoredGame:
    """A game as it is after a change."""
    if change.state is None:
        return StoredGame(change.game, before.state)
    return StoredGame(change.game, change.state, change.position)


def _newcomers(before: Game | None, after: Game) -> set[str]:
    """Those whom a game concerns from now on, or more than before."""
    if before is None:
        return after.members()
    return (after.members() - before.members()) | (after.table_company() - before.table_company())


def exists_for(
    game: Game, caller: Player | None, admit: Callable[[Game, Player], bool] = nobody_else
) -> bool:
    """Whether there is this game for this caller."""
    if game.visibility != PRIVATE:
        return True
    if caller is None:
        return False
    return caller.id in game.members() or admit(game, caller)
