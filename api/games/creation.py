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
from api.games.seats import free_seat
from api.games.starting import start_if_full
from api.games.tables import Tables
from api.games.transactions import MAX_ATTEMPTS, LoadedGame, Transactions, apply_change
from api.model.events import BY_PLAYER, SeatTaken
from api.model.game import CANCELLED, PRIVATE, PUBLIC, Game, Player, SeatRecord, digest, raw
from api.problems.problem import Problem, invalid
from api.storage.games import Change, StoredGame
from api.storage.players import Creation
from engine.house import HOUSE_LEVELS
from engine.ruleset import replaced

DEFAULT_TURN_SECONDS = 24 * 60 * 60
"""The time for a turn if the request does not set it."""


class NewGame(TypedDict, total=False):
    """The body of createGame."""

    ruleset: str
    seat_count: int
    options: Mapping[str, Any]
    visibility: str
    take_seat: bool
    house: Sequence[str]
    players: Sequence[str | None]
    turn_seconds: int


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
        host = self.transactions.players.caller(credentials)
        if idempotency_key is None:
            return self._commit_new(host, self._read_body(host, body))
        key = digest(idempotency_key)
        body_digest = digest(msgspec.json.encode(body, order="deterministic").decode())
        earlier = self.store.creation(host.id, key)
        if earlier is not None:
            loaded = self._earlier_game(host, earlier, body_digest)
            if loaded is not None:
                return loaded, False
        # A refused request does not use its key up: the key is kept only for a valid body.
        game = self._read_body(host, body)
        first = self.store.remember_creation(
            host.id, key, Creation(game.id, body_digest), self.transactions.retention.request
        )
        loaded = self._earlier_game(host, first, body_digest)
        if loaded is not None:
            return loaded, False
        return self._commit_new(host, replace(game, id=first.game_id))

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

    def _read_body(self, host: Player, body: NewGame) -> Game:
        ruleset, options = read_setup(body)
        seats = self._reserve_seats(body)
        seats = _seat_house_players(seats, body.get("house", ()))
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

    def _reserve_seats(self, body: NewGame) -> tuple[SeatRecord, ...]:
        """Return the seats, reserved for the players that the body names."""
        ids, seat_count = body.get("players", ()), body["seat_count"]
        if len(ids) > seat_count:
            raise invalid(
                f"The list names {len(ids)} seats, but the game has {seat_count}. Send at most one "
                "entry for each seat.",
                "players",
            )
        named = [player_id for player_id in ids if player_id is not None]
        if len(set(named)) != len(named):
            twice = next(each for each in named if named.count(each) > 1)
            raise invalid(f"Player {twice!r} is named twice. Name each player once.", "players")
        players = dict(zip(named, self.store.players(named), strict=True))
        seats = [SeatRecord()] * seat_count
        for seat, player_id in enumerate(ids):
            if player_id is None:
                continue
            if players[player_id] is None:
                raise invalid(
                    f"There is no player {player_id!r}: the id is wrong, or the player expired. "
                    "Send the id of an existing player, or null to leave the seat unreserved.",
                    "players",
                    seat,
                )
            seats[seat] = SeatRecord(reserved_for=players[player_id])
        return tuple(seats)

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
            self.tables.check_game_count(caller.id, loaded.now)
            return Change(game=replace(game, rematch=new_id()))

        loaded, _ = self.transactions.update(credentials, game_id, decide)
        caller, old = loaded.caller, loaded.game
        assert caller is not None
        assert old.rematch is not None
        if self.store.read(None, old.rematch).stored is None:
            new, is_new = self._commit_new(caller, _rematch_of(old, old.rematch, caller))
            if is_new:
                return new, True
        return self.tables.join(credentials, old.rematch, None, None), False

    def _is_cancelled(self, game_id: str) -> bool:
        stored = self.store.read(None, game_id).stored
        return stored is not None and stored.game.status == CANCELLED

    # --- Both --------------------------------------------------------------------------

    def _commit_new(self, host: Player, new_game: Game) -> tuple[LoadedGame, bool]:
        """Commit a new game, or find it if the same request has just committed it."""
        now = self.store.read(None, new_game.id).now
        self.tables.check_game_count(host.id, now)
        game = replace(new_game, created_at=now)
        progress = Progress(game, None, now, self.transactions.rng)
        seat = game.seat_of(host.id)
        if seat is not None:
            progress.add_events(BY_PLAYER, seat, SeatTaken(seat, host))
        change = self.transactions.commit(None, start_if_full(progress), now)
        if change is not None:
            return LoadedGame(now, host, apply_change(StoredGame(game, None), change)), True
        # The same request, sent again on another connection, was faster.
        loaded = self._find(host, game.id)
        if loaded is None:
            raise Problem("busy")
        return loaded, False


def _invite(visibility: str) -> str | None:
    return secrets.token_urlsafe(16) if visibility == PRIVATE else None


def _rematch_of(old: Game, game_id: str, host: Player) -> Game:
    """Return a new game with the seats of an old one: the host's taken, the others reserved."""
    seats = [
        SeatRecord(house=record.house)
        if record.player is None
        else SeatRecord(
            player=record.player if record.player.id == host.id else None,
            reserved_for=record.player,
        )
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
        seats=tuple(seats),
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
            raise invalid(
                f"There is no level {level!r}. The levels are {', '.join(HOUSE_LEVELS)}.",
                "house",
                index,
            )
    if len(levels) >= len(seats):
        raise invalid(
            f"{len(levels)} house players leave none of the {len(seats)} seats free. Leave at "
            "least one seat for a player.",
            "house",
        )
    first = len(seats) - len(levels)
    for seat, record in enumerate(seats[first:], first):
        if record.reserved_for is not None:
            raise invalid(
                f"Seat {seat} cannot be reserved: house players get the last {len(levels)} seats. "
                "Reserve one of the other seats.",
                "players",
                seat,
            )
    return (*seats[:first], *(SeatRecord(house=level) for level in levels))


def _seat_host(seats: tuple[SeatRecord, ...], host: Player) -> tuple[SeatRecord, ...]:
    seat = free_seat(seats, host)
    if seat is None:
        raise invalid(
            "All seats are reserved for other players, so none is left for you. Leave a seat "
            "unreserved, or send 'take_seat': false.",
            "players",
        )
    return replaced(seats, seat, replace(seats[seat], player=host))
