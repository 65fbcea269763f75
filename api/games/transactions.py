"""Transactions on a game: load it for a caller, decide on a change, commit, retry on conflict.

A change is decided on the game as it was read, and committed only if the store still has that very
commit. If another request has changed the game meanwhile, the change is decided again on the game
as it is then.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from random import SystemRandom
from typing import Any, NamedTuple

from msgspec.structs import replace
from redis import RedisError

from api.concurrency.single_flight import SingleFlight
from api.games.players import Credentials, Players, Remembered
from api.games.progress import Progress, is_due
from api.games.starting import start_with_house
from api.model.events import BY_TABLE
from api.model.game import (
    NOT_A_MOVE,
    OPEN,
    PRIVATE,
    Audience,
    Game,
    HistoryItem,
    Player,
)
from api.model.retention import Retention
from api.observability import metrics
from api.problems.problem import Problem
from api.storage.client import Command
from api.storage.errors import Unreadable, count_failure, is_full, readable
from api.storage.games import Change, Commit, StoredGame
from api.storage.indexes import Indexes
from api.storage.store import GameReading, Store
from engine.ruleset import Seat

RELEASE = version("ludotheque")
"""Part of the ETags: another release may show the same game with other members."""

MAX_ATTEMPTS = 100
"""Attempts of one transaction. Each conflict is the success of another request."""

FULL_SECONDS = 1.0
"""Pause between two attempts to settle a game while the store is full."""


@dataclass(frozen=True, slots=True)
class LoadedGame:
    """A game as it was loaded for one caller.

    Attributes:
        now: The store's time at the read, in ms since 1970.
        caller: The player whose token the request carries, None for an anonymous caller.
        stored: The game and its state.
        played_versions: The versions of the items of the same move, as JSON, if the caller has
            played it before.
        extra_answers: The answers to the extra commands; empty if the game was settled after the
            read, since they may not belong to the settled game.
    """

    now: int
    caller: Player | None
    stored: StoredGame
    played_versions: bytes | None = None
    extra_answers: Sequence[Any] = ()

    @property
    def game(self) -> Game:
        """The game without its state."""
        return self.stored.game

    @property
    def reader(self) -> str | None:
        """The caller's player id, None for an anonymous caller."""
        return None if self.caller is None else self.caller.id

    @property
    def seat(self) -> Seat | None:
        """The seat that the caller plays, None without one."""
        return self.game.seat_of(self.reader)

    @property
    def audience(self) -> Audience:
        """The audience that the caller belongs to."""
        return self.game.audience_of(self.reader)

    @property
    def tag(self) -> str:
        """The part of an ETag that identifies the game's content, the audience and the release."""
        return f"{self.game.version}-{self.game.commit}-{self.audience.name}-{RELEASE}"


class LoadedWithMoves(NamedTuple):
    """A loaded game, and by their keys the moves that the caller has played before."""

    loaded: LoadedGame
    played_versions: Mapping[str, bytes]


Admission = Callable[[Game, Player], bool]
"""Whether a private game exists for a caller who is not a member of it."""

Decision = Callable[[LoadedGame], Change | None]
"""The change to commit, or None if there is nothing to change. Raises `Problem` to refuse.

It has no side effects: it is called again after a conflict.
"""

CommitOutcome = bool | RedisError | Unreadable
"""Whether a change was committed, False for a conflict; or why it was not."""

Precondition = Callable[[str], bool]
"""Whether the tag of a loaded game satisfies the request's If-Match."""


class Transactions:
    """Loads games for callers and commits changes to them."""

    def __init__(
        self, store: Store, indexes: Indexes, players: Players, retention: Retention
    ) -> None:
        self.store = store
        self.indexes = indexes
        self.players = players
        self.retention = retention
        self.rng = SystemRandom()
        self._full_until = 0.0
        self._settling = SingleFlight[None]()

    def load(
        self,
        credentials: Credentials | Remembered | None,
        game_id: str,
        *,
        move_key: str | None = None,
        extra_commands: Sequence[Command] = (),
        admit: Admission | None = None,
        for_update: bool = False,
    ) -> LoadedGame:
        """Load a game for a caller, and settle it first if it is due.

        The versions of the move with `move_key` are looked up, and `extra_commands` are sent,
        in the same round trip. While the store is full, a due game is returned unsettled, unless it
        is loaded `for_update`. A move that was played before changes nothing, so it is no update.

        Raises:
            Problem: ``invalid_token``, ``game_not_found``, ``busy``.
        """
        player_id = None if credentials is None else credentials.player_id
        for _ in range(MAX_ATTEMPTS):
            reading = self.store.read(player_id, game_id, move_key, extra_commands)
            caller = credentials and self.players.authenticate(reading, credentials)
            stored = reading.stored
            if stored is None or not exists_for(stored.game, caller, admit):
                raise Problem("game_not_found")
            if not is_due(stored.game, reading.now):
                return LoadedGame(
                    reading.now, caller, stored, reading.played_versions, reading.extra
                )
            is_update = for_update and reading.played_versions is None
            settle = self.settle if is_update else self.settle_unless_full
            settled = settle(stored, reading.now)
            if settled is not None:
                extra_answers = reading.extra if settled is stored else ()
                return LoadedGame(
                    reading.now, caller, settled, reading.played_versions, extra_answers
                )
            # Another request has changed the game, perhaps by the same move: read all of it again.
        raise Problem("busy")

    def load_all(
        self, credentials: Credentials, move_keys: Mapping[str, Sequence[str]]
    ) -> dict[str, LoadedWithMoves | Exception | None]:
        """Load games for a caller, each with the moves of these keys, in one round trip.

        None stands for a game that only `load` can load: it is due, or of an earlier format. An
        error stands for a game that `load` would raise it for.

        Raises:
            Problem: ``invalid_token``.
        """
        reading, games = self.store.read_games(credentials.player_id, move_keys)
        caller = self.players.authenticate(reading, credentials)
        return {game_id: _loaded(caller, found) for game_id, found in games.items()}

    def settle(self, stored: StoredGame, now: int) -> StoredGame | None:
        """Settle a due game and commit it: start it, or apply the timeout; move for house players.

        Return None if another request has changed the game. One request of this worker settles a
        game, since computing the moves of house players takes long; the others wait for it and get
        None.
        """
        settled: StoredGame | None = None

        def settle() -> None:
            nonlocal settled
            settled = self._settle(stored, now)

        self._settling.run((stored.game.id, stored.game.commit), settle)
        return settled

    def _settle(self, stored: StoredGame, now: int) -> StoredGame | None:
        progress = Progress.from_stored(stored, now, self.rng)
        if stored.game.status == OPEN:
            settled = start_with_house(progress, BY_TABLE)
        else:
            if stored.game.deadline is not None and stored.game.deadline <= now:
                progress.apply_timeout()
            progress.play_house_moves()
            settled = progress.to_change()
        change = self.commit(stored.game, settled, now)
        return None if change is None else apply_change(stored, change)

    def settle_unless_full(self, stored: StoredGame, now: int) -> StoredGame | None:
        """Settle a due game as `settle` does. While the store is full, return the game as it is."""
        if time.monotonic() < self._full_until:
            # Moves of house players are not computed for a store that would refuse them.
            return stored
        try:
            return self.settle(stored, now)
        except RedisError as error:
            if not is_full(error):
                raise
            count_failure(error)
            self._full_until = time.monotonic() + FULL_SECONDS
            return stored

    def update(
        self,
        credentials: Credentials,
        game_id: str,
        decide: Decision,
        *,
        if_match: Precondition | None = None,
        move_key: str | None = None,
        admit: Admission | None = None,
    ) -> tuple[LoadedGame, tuple[HistoryItem, ...]]:
        """Commit what `decide` makes of a game, and return the game after it and the new items.

        The precondition does not apply to a move that the caller has played before.

        Raises:
            Problem: as `load` and `decide` do; ``precondition_failed``, ``busy``.
        """
        for _ in range(MAX_ATTEMPTS):
            loaded = self.load(
                credentials, game_id, move_key=move_key, admit=admit, for_update=True
            )
            is_repeated = loaded.played_versions is not None
            if not is_repeated and if_match is not None and not if_match(loaded.tag):
                raise Problem("precondition_failed")
            change = decide(loaded)
            if change is None:
                if self.store.confirm(loaded.game):
                    return loaded, ()
                continue
            committed = self.commit(loaded.game, change, loaded.now)
            if committed is not None:
                after = apply_change(loaded.stored, committed)
                return LoadedGame(loaded.now, loaded.caller, after), committed.items
        raise Problem("busy")

    def commit(self, before: Game | None, change: Change, now: int) -> Change | None:
        """Commit a change, and return it as committed. Return None on a conflict.

        `before` is the game that the change was decided on, None for a new game.
        """
        commit = self.prepare(before, change, now)
        (outcome,) = self.commit_all([commit])
        return commit.change if readable(outcome) else None

    def prepare(self, before: Game | None, change: Change, now: int) -> Commit:
        """Return the commit of a change: with a new id, its time and its version."""
        commit = secrets.token_hex(8)
        format_ = max(self.store.stored_format, 0 if before is None else before.format)
        game = replace(change.game, format=format_, commit=commit, updated_at=now)
        items = change.items
        if items:
            last = replace(items[-1], version_id=commit)
            items = (*items[:-1], last)
            game = replace(game, version=last.version, version_id=commit)
        if self.indexes.are_to_be_renewed(before, game, now):
            game = replace(game, indexed_at=now)
        change = replace(change, game=game, items=items)
        return Commit(before, change, now, self.retention.of_game(game, now))

    def commit_all(self, commits: Sequence[Commit]) -> list[CommitOutcome]:
        """Commit changes, of one or of several games, in one round trip.

        Return for each whether it was committed, False for a conflict, or its error: the changes of
        different games are independent of each other. The changes of one game stand in their
        order, each prepared on the game that the one before it makes.
        """
        outcomes: list[CommitOutcome] = [
            error or False for error in self.indexes.before_commits(commits)
        ]
        written = [at for at, outcome in enumerate(outcomes) if outcome is False]
        replies = self.store.commit_all([commits[at] for at in written])
        for at, reply in zip(written, replies, strict=True):
            outcomes[at] = reply
            if reply is False:
                metrics.commit_conflicted()
        committed = [at for at in written if outcomes[at] is True]
        done = [commits[at] for at in committed]
        for commit in done:
            _count_commit(commit.before, commit.change.game, commit.change.items)
        for at, error in zip(committed, self.indexes.after_commits(done), strict=True):
            outcomes[at] = error or True
        concerned: set[str] = set().union(*map(_players_to_announce, done))
        if concerned:
            self.store.announce(concerned)
        return outcomes


def _loaded(
    caller: Player, found: GameReading | RedisError | Unreadable
) -> LoadedWithMoves | Exception | None:
    if isinstance(found, Exception):
        return found
    stored = found.stored
    if stored is None or not exists_for(stored.game, caller):
        return Problem("game_not_found")
    if stored.is_earlier or is_due(stored.game, found.now):
        return None
    return LoadedWithMoves(LoadedGame(found.now, caller, stored), found.played_versions)


def _count_commit(before: Game | None, after: Game, items: Iterable[HistoryItem]) -> None:
    for item in items:
        if item.move != NOT_A_MOVE:
            metrics.move_committed(after.ruleset, str(item.by))
    if before is None:
        metrics.game_changed(after.ruleset, "created")
    if after.started_at is not None and (before is None or before.started_at is None):
        metrics.game_changed(after.ruleset, "started")
    if after.has_ended and (before is None or not before.has_ended):
        metrics.game_changed(after.ruleset, after.status)


def apply_change(before: StoredGame, change: Change) -> StoredGame:
    """Return a stored game as it is after a change."""
    if change.state is None:
        return StoredGame(change.game, before.state)
    return StoredGame(change.game, change.state, change.position)


def _players_to_announce(commit: Commit) -> set[str]:
    """Return the players that a commit concerns although they may not watch the game."""
    return _newly_concerned(commit) | _told_of_the_end_only(commit)


def _newly_concerned(commit: Commit) -> set[str]:
    """Return the new members of a game, and the members who became occupants."""
    before, after = commit.before, commit.change.game
    if before is None:
        return after.members()
    if before.seats == after.seats:
        return set()
    return (after.members() - before.members()) | (after.occupants() - before.occupants())


def _told_of_the_end_only(commit: Commit) -> set[str]:
    """Return the participants for which a game that ends did not count as unfinished any more.

    These are players that have left and, after the start, a host without a seat.
    """
    before, after = commit.before, commit.change.game
    if before is None or before.has_ended or not after.has_ended:
        return set()
    return after.participants() - before.occupants()


def exists_for(game: Game, caller: Player | None, admit: Admission | None = None) -> bool:
    """Return whether a game exists for a caller: a private one for members and admitted callers."""
    if game.visibility != PRIVATE:
        return True
    if caller is None:
        return False
    return caller.id in game.members() or (admit is not None and admit(game, caller))
