"""Quick matches: players who want the same kind of game are seated in the same open games.

The open games of one wish are in a queue, in which a request reserves a seat before it takes it:
so players who ask at the same moment are seated together. The queue is a hint, the game is the
truth: a request that is refused the seat looks again. A game whose creator failed after the
reservation is created by another player of its queue, under the same id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, TypedDict

import msgspec
from msgspec.structs import replace

from api.config.rate_policies import GAMES, GAMES_DAILY, GAMES_HERE
from api.games.creation import DEFAULT_TURN_SECONDS, GameCreation, NewGame, no_such_level
from api.games.players import Credentials
from api.games.progress import is_due
from api.games.rulesets import read_setup
from api.games.tables import Tables
from api.games.transactions import MAX_ATTEMPTS, LoadedGame, Transactions
from api.model.game import FORMAT, OPEN, Game, Player, digest
from api.problems.problem import Problem, invalid
from api.ratelimit.limiter import Limiter
from api.storage.indexes import count_commands
from api.storage.matches import CLOSED, MISSING, Known, KnownGame, queue_command
from api.storage.players import Creation
from engine.house import CAREFUL, HOUSE_LEVELS

REFUSALS = frozenset({"game_full", "game_over", "too_many_requests"})
"""Problems of joining a game that another game of the same wish need not have."""

MAX_MISSES = 3
"""How often a request looks for a game before it creates it in place of its creator.

Each look takes several round trips, in which a creator that did not fail has stored the game. So a
request that only joins does not count as a new game.
"""

MIN_HOUSE_AFTER_SECONDS, MAX_HOUSE_AFTER_SECONDS = 5, 3600
"""Bounds of the time after which house players take the free seats."""


class NewMatch(TypedDict, total=False):
    """The body of quickMatch."""

    ruleset: str
    seat_count: int
    options: Mapping[str, Any]
    turn_seconds: int
    house_after_seconds: int
    house: str


class Wish(NamedTuple):
    """What players want; those with the same digest are seated together.

    `new_game` is the body that creates such a game. `house_after` is the time in milliseconds from
    its creation after which house players of `house_level` take the free seats; both may be None.
    """

    digest: str
    new_game: NewGame
    house_after: int | None
    house_level: str | None


class Matching:
    """Seats players in open games, and creates games for them."""

    def __init__(
        self, transactions: Transactions, tables: Tables, creation: GameCreation, limiter: Limiter
    ) -> None:
        self.transactions = transactions
        self.tables = tables
        self.creation = creation
        self.limiter = limiter
        self.store = transactions.store

    def match(
        self, credentials: Credentials, body: NewMatch, idempotency_key: str | None
    ) -> LoadedGame:
        """Seat the caller in the oldest open game of its wish, or create one.

        A caller with a seat in such a game keeps it. A repeated request with an idempotency key
        finds the game of the first one even if that game has started.

        Raises:
            Problem: ``invalid_token``, ``invalid_request``, ``idempotency_key_reused``,
                ``too_many_games``, ``too_many_requests``, ``busy``.
        """
        wish = read_wish(body)
        if wish.house_after is not None and self.store.stored_format < FORMAT:
            raise Problem(
                "newer_format",
                "The service is being updated, and workers of the earlier release do not start a "
                "game at a deadline. Repeat the request later, or without 'house_after_seconds'.",
            )
        key = None if idempotency_key is None else digest(idempotency_key)
        refused: set[str] = set()
        misses = Counter[str]()
        for _ in range(MAX_ATTEMPTS):
            commands = [queue_command(wish.digest), *count_commands(credentials.player_id)]
            reading = self.store.read(credentials.player_id, extra=commands)
            caller = self.transactions.players.authenticate(reading, credentials)
            if key is not None:
                earlier = self._earlier_game(credentials, self.store.creation(caller.id, key), wish)
                if earlier is not None:
                    return earlier
            queue, *counts = reading.extra
            listed = self.store.queue(wish.digest, queue)
            games = self.store.games(listed)
            new_game = self._new_game(caller, wish)
            known = {each: _known(each, games, refused, reading.now) for each in listed}
            game_id = _own_game(games.values(), caller)
            if game_id is None:
                self.tables.check_game_count(caller.id, reading.now, counts)
                game_id = self._reserve_seat(caller, wish, new_game, known)
            with self._reservation(caller, wish, game_id):
                earlier = self._remember(credentials, key, game_id, wish)
                if earlier is not None:
                    return earlier
                has_failed = known.get(game_id) == MISSING and misses[game_id] >= MAX_MISSES
                if game_id == new_game.id or has_failed:
                    created = self._create(caller, replace(new_game, id=game_id), reading.now)
                    if created is not None:
                        return created
                try:
                    return self.tables.join(credentials, game_id, None, None)
                except Problem as problem:
                    if problem.code in REFUSALS:
                        refused.add(game_id)
                    elif problem.code == "game_not_found":
                        # Another request has listed it, and not stored it yet.
                        misses[game_id] += 1
                    else:
                        raise
        raise Problem("busy")

    def _reserve_seat(
        self, caller: Player, wish: Wish, new_game: Game, known: Mapping[str, Known]
    ) -> str:
        """Reserve a seat, and return the id of its game. Raises `Problem` (``busy``)."""
        ttl_ms = self.transactions.retention.of_entries(new_game)
        game_id = self.store.assign_seat(wish.digest, caller.id, new_game, known, ttl_ms)
        if game_id is None:
            raise Problem("busy")
        return game_id

    @contextmanager
    def _reservation(self, caller: Player, wish: Wish, game_id: str) -> Iterator[None]:
        """Release the caller's reservation if its request is refused.

        Else the seat would be held for a caller that does not come, and the next two callers could
        wait in two games.
        """
        try:
            yield
        except Problem:
            self.store.release_seat(wish.digest, caller.id, game_id)
            raise

    # --- The same request, sent again --------------------------------------------------

    def _earlier_game(
        self, credentials: Credentials, creation: Creation | None, wish: Wish
    ) -> LoadedGame | None:
        """Return the game of an earlier request with the same key, None if it took no seat.

        Raises `Problem` (``idempotency_key_reused``) if that request had another wish.
        """
        if creation is None:
            return None
        if creation.digest != wish.digest:
            raise Problem("idempotency_key_reused")
        try:
            loaded, _ = self.transactions.update(credentials, creation.game_id, lambda loaded: None)
        except Problem as problem:
            if problem.code != "game_not_found":
                raise
            return None
        took_seat = loaded.reader in loaded.game.players() or loaded.reader in loaded.game.left
        return loaded if took_seat else None

    def _remember(
        self, credentials: Credentials, key: str | None, game_id: str, wish: Wish
    ) -> LoadedGame | None:
        """Store which game a key stands for, if there is one, before the caller takes its seat.

        Return the game of another request with this key that has taken a seat meanwhile.
        """
        if key is None:
            return None
        creation = Creation(game_id, wish.digest)
        ttl_ms = self.transactions.retention.request
        player_id = credentials.player_id
        first = self.store.remember_creation(player_id, key, creation, ttl_ms)
        if first == creation:
            return None
        earlier = self._earlier_game(credentials, first, wish)
        if earlier is None:
            self.store.replace_creation(player_id, key, creation, ttl_ms)
        return earlier

    # --- Creating ----------------------------------------------------------------------

    def _new_game(self, host: Player, wish: Wish) -> Game:
        game = self.creation.new_game(host, wish.new_game)
        return replace(game, deadline=wish.house_after, house_level=wish.house_level)

    def _create(self, host: Player, new_game: Game, now: int) -> LoadedGame | None:
        """Create a game, and return it; return None if another request has created it.

        The request counts as a new game too.
        """
        counts = self.limiter.defer(GAMES_DAILY, GAMES_HERE, GAMES)
        loaded, is_new = self.creation.commit_new(host, new_game, now, first=counts)
        return loaded if is_new else None


def read_wish(body: NewMatch) -> Wish:
    """Return what a body asks for. Raises `Problem` (``invalid_request``).

    However it is written, the same wish has the same digest.
    """
    ruleset, options = read_setup(body)
    seconds, level = body.get("house_after_seconds"), body.get("house")
    if level is not None and level not in HOUSE_LEVELS:
        raise invalid(no_such_level(level), "house")
    if seconds is None:
        if level is not None:
            raise invalid(
                "House players take seats only after 'house_after_seconds', which is missing. "
                "Send it, or leave 'house' out.",
                "house",
            )
    else:
        level = level or CAREFUL
    turn_seconds = body.get("turn_seconds", DEFAULT_TURN_SECONDS)
    parts = (ruleset.id, body["seat_count"], options, turn_seconds, seconds, level)
    return Wish(
        digest=digest(msgspec.json.encode(parts).decode()),
        new_game=NewGame(
            ruleset=ruleset.id,
            seat_count=body["seat_count"],
            options=body.get("options", {}),
            turn_seconds=turn_seconds,
        ),
        house_after=None if seconds is None else seconds * 1000,
        house_level=level,
    )


def _own_game(games: Iterable[Game | None], caller: Player) -> str | None:
    """Return the id of the oldest open game in which the caller has a seat, None without one."""
    for game in games:
        if game is not None and game.status == OPEN and caller.id in game.players():
            return game.id
    return None


def _known(game_id: str, games: Mapping[str, Game | None], refused: set[str], now: int) -> Known:
    if game_id not in games:
        return CLOSED  # it cannot be read
    game = games[game_id]
    if game is None:
        return MISSING
    if game.status != OPEN:
        return CLOSED
    # A game that is due is listed until it has started, so that its own players find it.
    is_refused = game_id in refused or is_due(game, now)
    return KnownGame(tuple(sorted(game.players())), game.left, is_refused)
