"""Creation of games, from a request or as the rematch of a game that has ended."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import msgspec
from msgspec.structs import replace

from api.games.players import Credentials, new_id
from api.games.progress import Progress
from api.games.rulesets import read_setup
from api.games.seats import free_seat, no_such_seat
from api.games.starting import start_if_full
from api.games.tables import Tables
from api.games.transactions import MAX_ATTEMPTS, LoadedGame, Transactions, apply_change
from api.model.events import BY_PLAYER, SeatTaken
from api.model.game import CANCELLED, PRIVATE, PUBLIC, Game, Player, SeatRecord, digest, raw
from api.problems.problem import Problem, invalid
from api.storage.client import Deferred
from api.storage.games import Change, StoredGame
from api.storage.indexes import count_commands
from api.storage.players import (
    Creation,
    account_command,
    creation_command,
    read_creation,
    read_players,
    remember_command,
)
from engine.house import HOUSE_LEVELS
from engine.ruleset import Seat, replaced

DEFAULT_TURN_SECONDS = 24 * 60 * 60
"""The time for a turn if the request does not set it."""


class ReservedSeat(TypedDict):
    """A seat, and the id of the player for whom it is reserved."""

    seat: Seat
    player_id: str


class NewGame(TypedDict, total=False):
    """The body of createGame."""

    ruleset: str
    seat_count: int
    options: Mapping[str, Any]
    visibility: str
    take_seat: bool
    house: Sequence[str]
    reserved_seats: Sequence[ReservedSeat]
    turn_seconds: int


class _KeyUsedError(Exception):
    """Another request has used the Idempotency-Key, for this creation."""

    def __init__(self, creation: Creation) -> None:
        super().__init__()
        self.creation = creation


class GameCreation:
    """Creates games."""

    def __init__(self, transactions: Transactions, tables: Tables) -> None:
        self.transactions = transactions
        self.tables = tables
        self.store = transactions.store

    # --- From a request ----------------------------------------------------------------

    def create(
        self, credentials: Credentials, body: NewGame, idempotency_key: str | None
    ) -> tuple[LoadedGame, bool]:
        """Create a game, or find the one that the same request created; return whether it is new.

        Requests are the same if their idempotency keys are. A repeated request finds its game even
        if a new one like it would be refused by now.

        Raises:
            Problem: ``invalid_token``, ``idempotency_key_reused``,
                ``invalid_request``, ``too_many_games``, ``busy``.
        """
        player_id, game_id = credentials.player_id, new_id()
        reserved = [each["player_id"] for each in body.get("reserved_seats", ())]
        commands = [*map(account_command, reserved), *count_commands(player_id)]
        key = None
        if idempotency_key is not None:
            key = digest(idempotency_key)
            commands.append(creation_command(player_id, key))
        reading = self.store.read(player_id, game_id, extra=commands)
        host = self.transactions.players.authenticate(reading, credentials)
        accounts, counts = reading.extra[: len(reserved)], reading.extra[len(reserved) :][:2]
        body_digest = digest(msgspec.json.encode(body, order="deterministic").decode())
        earlier = None if key is None else read_creation(reading.extra[-1])
        if earlier is not None:
            loaded = self._earlier_game(host, earlier, body_digest)
            if loaded is not None:
                return loaded, False
            game_id = earlier.game_id
        game = replace(self.new_game(host, body, accounts), id=game_id)
        self.tables.check_game_count(host.id, reading.now, counts)
        if key is None:
            return self.commit_new(host, game, reading.now)
        # A refused request does not use its key up: the key is kept only for a valid body.
        remember = self._remember(player_id, key, Creation(game_id, body_digest))
        try:
            return self.commit_new(host, game, reading.now, first=[remember])
        except _KeyUsedError as used:
            first = used.creation
        loaded = self._earlier_game(host, first, body_digest)
        if loaded is not None:
            return loaded, False
        return self.commit_new(host, replace(game, id=first.game_id), reading.now)

    def _remember(self, player_id: str, key: str, creation: Creation) -> Deferred:
        """Return what stores a creation. Raises `_KeyUsedError` if its key has another one."""
        ttl_ms = self.transactions.retention.request

        def receive(replies: Sequence[Any]) -> None:
            first = read_creation(replies[0])
            if first is not None and first != creation:
                raise _KeyUsedError(first)

        command = remember_command(player_id, key, creation, ttl_ms)
        return Deferred([command], receive, is_durable=True)

    def _earlier_game(
        self, host: Player, creation: Creation, body_digest: str
    ) -> LoadedGame | None:
        """Return the game of an earlier request with the same key, None if it was not committed.

        Raises `Problem` (``idempotency_key_reused``) if that request had another body.
        """
        if creation.digest != body_digest:
            raise Problem("idempotency_key_reused")
        return self._find(host, creation.game_id)

    def _find(self, host: Player, game_id: str) -> LoadedGame | None:
        """Return a game of the host, None if it does not exist. Make sure that it is replicated."""
        for _ in range(MAX_ATTEMPTS):
            reading = self.store.read(None, game_id)
            if reading.stored is None:
                return None
            if self.store.confirm(reading.stored.game):
                return LoadedGame(reading.now, host, reading.stored)
        raise Problem("busy")

    def new_game(self, host: Player, body: NewGame, accounts: Sequence[Any] = ()) -> Game:
        """Return a game that is not stored yet. Raises `Problem` (``invalid_request``).

        `accounts` are the replies about the players for whom seats are reserved.
        """
        ruleset, options = read_setup(body)
        seats = _seat_house_players((SeatRecord(),) * body["seat_count"], body.get("house", ()))
        seats = _reserve_seats(seats, body.get("reserved_seats", ()), accounts)
        if body.get("take_seat", True):
            seats = _seat_host(seats, host)
        visibility = body.get("visibility", PUBLIC)
        return Game(
            id=new_id(),
            ruleset=ruleset.id,
            seat_count=body["seat_count"],
            options=raw(_without_absent(options)),
            visibility=visibility,
            invite=_invite(visibility),
            turn_seconds=body.get("turn_seconds", DEFAULT_TURN_SECONDS),
            host=host,
            seats=seats,
            created_at=0,  # set when the game is committed
            updated_at=0,
        )

    # --- Rematch -----------------------------------------------------------------------

    def rematch(self, credentials: Credentials, game_id: str) -> tuple[LoadedGame, bool]:
        """Create the rematch of a game, or join it; return whether it is new.

        The rematch has the same seats. Its id is committed to the old game first: a later or
        repeated request finds the id there, and creates the rematch if the first request failed
        before it did.

        Raises:
            Problem: as `Transactions.update` and `Tables.join` do; ``not_seated``,
                ``game_not_over``.
        """

        def decide(loaded: LoadedGame) -> Change | None:
            game, caller = loaded.game, loaded.caller
            if caller is None or caller.id not in game.players():
                raise Problem("not_seated")
            if not game.has_ended or game.started_at is None:
                raise Problem("game_not_over")
            if game.rematch is not None and not self._is_cancelled(game.rematch):
                return None
            self.tables.check_game_count(caller.id, loaded.now, loaded.extra_answers)
            return Change(game=replace(game, rematch=new_id()))

        counts = count_commands(credentials.player_id)
        loaded, _ = self.transactions.update(credentials, game_id, decide, extra_commands=counts)
        caller, old = loaded.caller, loaded.game
        assert caller is not None
        assert old.rematch is not None
        reading = self.store.read(None, old.rematch, extra=counts)
        if reading.stored is None:
            self.tables.check_game_count(caller.id, reading.now, reading.extra)
            rematch = _rematch_of(old, old.rematch, caller)
            new, is_new = self.commit_new(caller, rematch, reading.now)
            if is_new:
                return new, True
        return self.tables.join(credentials, old.rematch, None, None), False

    def _is_cancelled(self, game_id: str) -> bool:
        stored = self.store.read(None, game_id).stored
        return stored is not None and stored.game.status == CANCELLED

    # --- Both --------------------------------------------------------------------------

    def commit_new(
        self, host: Player, new_game: Game, now: int, *, first: Sequence[Deferred] = ()
    ) -> tuple[LoadedGame, bool]:
        """Commit a new game, or find it if another request has just committed it.

        The deadline of the new game counts from now. What is `first` is sent before the commit.
        """
        deadline = None if new_game.deadline is None else now + new_game.deadline
        game = replace(new_game, created_at=now, deadline=deadline)
        progress = Progress(game, None, now, self.transactions.rng)
        seat = game.seat_of(host.id)
        if seat is not None:
            progress.add_events(BY_PLAYER, seat, SeatTaken(seat, host))
        change = self.transactions.commit(None, start_if_full(progress), now, first=first)
        if change is not None:
            return LoadedGame(now, host, apply_change(StoredGame(game, None), change)), True
        # Another request was faster.
        loaded = self._find(host, game.id)
        if loaded is None:
            raise Problem("busy")
        return loaded, False


def _invalid_reservation(detail: str, index: int, member: str) -> Problem:
    return invalid(detail, "reserved_seats", index, member)


def no_such_level(level: str) -> str:
    """Return the error text for a level of the house that does not exist."""
    return f"There is no level {level!r}. The levels are {', '.join(HOUSE_LEVELS)}."


def _invite(visibility: str) -> str | None:
    return secrets.token_urlsafe(16) if visibility == PRIVATE else None


def _rematch_of(old: Game, game_id: str, host: Player) -> Game:
    """Return a new game with the seats of an old one: the host's taken, the others reserved."""
    seats = [
        SeatRecord(house=record.house)
        if record.player is None
        else SeatRecord(reserved_for=record.player)
        for record in old.seats
    ]
    return Game(
        id=game_id,
        ruleset=old.ruleset,
        seat_count=old.seat_count,
        options=old.options,
        visibility=old.visibility,
        invite=_invite(old.visibility),
        turn_seconds=old.turn_seconds,
        host=host,
        seats=_seat_host(tuple(seats), host),
        created_at=0,  # set when the game is committed
        updated_at=0,
    )


def _without_absent(options: Any) -> dict[str, Any]:
    """Return the options as answers show them: with the defaults, without options of no value."""
    members: dict[str, Any] = msgspec.to_builtins(options)
    return {name: value for name, value in members.items() if value is not None}


def _seat_house_players(
    seats: tuple[SeatRecord, ...], levels: Sequence[str]
) -> tuple[SeatRecord, ...]:
    """Give the last seats to house players of these levels."""
    for index, level in enumerate(levels):
        if level not in HOUSE_LEVELS:
            raise invalid(no_such_level(level), "house", index)
    if len(levels) >= len(seats):
        raise invalid(
            f"{len(levels)} house players leave none of the {len(seats)} seats free. Leave at "
            "least one seat for a player.",
            "house",
        )
    first = len(seats) - len(levels)
    return (*seats[:first], *(SeatRecord(house=level) for level in levels))


def _reserve_seats(
    seats: tuple[SeatRecord, ...], reserved: Sequence[ReservedSeat], accounts: Sequence[Any]
) -> tuple[SeatRecord, ...]:
    """Reserve seats for players. Raises `Problem` (``invalid_request``)."""
    ids = [each["player_id"] for each in reserved]
    players = read_players(ids, accounts)
    for index, (each, player) in enumerate(zip(reserved, players, strict=True)):
        seat, player_id = each["seat"], each["player_id"]
        if seat >= len(seats):
            raise _invalid_reservation(no_such_seat(seat, len(seats)), index, "seat")
        if seats[seat].house is not None:
            raise _invalid_reservation(
                f"Seat {seat} cannot be reserved: house players get the last seats. Reserve "
                "one of the other seats, or send fewer levels in 'house'.",
                index,
                "seat",
            )
        if seats[seat].reserved_for is not None:
            raise _invalid_reservation(
                f"Seat {seat} is reserved twice. Send one entry for each seat.", index, "seat"
            )
        if player_id in ids[:index]:
            raise _invalid_reservation(
                f"Player {player_id!r} is named twice. Name each player once.",
                index,
                "player_id",
            )
        if player is None:
            raise _invalid_reservation(
                f"There is no player {player_id!r}: the id is wrong, or the player expired. "
                "Send the id of an existing player, or leave the entry out.",
                index,
                "player_id",
            )
        seats = replaced(seats, seat, SeatRecord(reserved_for=player))
    return seats


def _seat_host(seats: tuple[SeatRecord, ...], host: Player) -> tuple[SeatRecord, ...]:
    seat = free_seat(seats, host)
    if seat is None:
        raise invalid(
            "All seats are reserved for other players, so none is left for you. Leave a seat "
            "unreserved, or send 'take_seat': false.",
            "reserved_seats",
        )
    return replaced(seats, seat, replace(seats[seat], player=host, taken_at=1))
