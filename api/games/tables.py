"""Coming together and parting: creating a game, taking and leaving seats, starting, cancelling."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from hmac import compare_digest
from typing import Any, TypedDict

import msgspec
from msgspec.structs import replace

from api.games.players import Credentials, new_id
from api.games.progress import Progress
from api.games.rulesets import read_setup
from api.games.seat_limits import SeatLimits
from api.games.transactions import ATTEMPTS, LoadedGame, Transactions, whatever_it_is
from api.model.events import (
    BY_PLAYER,
    GameCancelled,
    GameStarted,
    SeatHandedOver,
    SeatLeft,
    SeatTaken,
    SeatTakenBack,
)
from api.model.game import (
    CANCELLED,
    ENDED,
    OPEN,
    PLAYING,
    PRIVATE,
    PUBLIC,
    Game,
    Player,
    SeatRecord,
    StoredDeal,
    digest,
    public_item,
    raw,
)
from api.problems.problem import Problem, invalid
from api.storage.games import Change, StoredGame
from api.storage.players import Creation
from engine.house import CAREFUL, HOUSE_LEVELS
from engine.registry import RULESETS
from engine.ruleset import Seat, replaced

MAX_UNFINISHED_GAMES = 100
"""In how many games that have not ended one player may be."""

TURN_SECONDS = 24 * 60 * 60
"""How long a turn may take if nobody says otherwise."""

REMEMBERED_LEAVERS = 32
"""How many of those who left an open private game are told so if they ask to leave again."""


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


class Tables:
    """Opens, fills, starts and closes tables."""

    def __init__(self, transactions: Transactions, seat_limits: SeatLimits) -> None:
        self.transactions = transactions
        self.seat_limits = seat_limits
        self.store = transactions.store

    # --- Creating ----------------------------------------------------------------------

    def create(
        self, credentials: Credentials | None, body: NewGame, request_key: str | None
    ) -> tuple[LoadedGame, bool]:
        """A new game, and whether it is new: the same request key gives the same game again.

        Raises `Problem` for what this server or the ruleset does not allow.
        """
        host = self.transactions.players.caller(credentials)
        key = None if request_key is None else digest(request_key)
        asked = digest(msgspec.json.encode(body, order="deterministic").decode())
        if key is not None and (known := self.store.creation(host.id, key)) is not None:
            found = self._created(host, known, asked)
            if found is not None:
                return found, False
        # The key stands for a request only from here on, when nothing is wrong with it.
        new_game = self._new_game(host, body)
        if key is not None:
            mine = Creation(new_game.id, asked)
            first = self.store.remember_creation(
                host.id, key, mine, self.transactions.retention.request
            )
            found = self._created(host, first, asked)
            if found is not None:
                return found, False
            new_game = replace(new_game, id=first.game_id)
        return self._open(host, new_game)

    def _created(self, host: Player, creation: Creation, asked: str) -> LoadedGame | None:
        """The game of an earlier request with the same key, None if it got no further."""
        if creation.digest != asked:
            raise Problem("idempotency_key_reused")
        return self._found(host, creation.game_id)

    def _found(self, host: Player, game_id: str) -> LoadedGame | None:
        """A game of the host's that may be there already, and then is not lost."""
        for _ in range(ATTEMPTS):
            reading = self.store.read(None, game_id)
            if reading.found is None:
                return None
            if self.store.confirm(reading.found.game):
                return LoadedGame(reading.now, host, reading.found)
        raise Problem("busy")

    def _new_game(self, host: Player, body: NewGame) -> Game:
        ruleset, options = read_setup(body)
        seats = _seat_host(_seat_house(self._reserve(body), body), host, body)
        visibility = body.get("visibility", PUBLIC)
        return Game(
            id=new_id(),
            ruleset=ruleset.id,
            seat_count=body["seat_count"],
            options=raw(_given(options)),
            visibility=visibility,
            invite=secrets.token_urlsafe(16) if visibility == PRIVATE else None,
            turn_seconds=body.get("turn_seconds", TURN_SECONDS),
            host=host,
            seats=seats,
            created_at=0,
            updated_at=0,
        )

    def _open(self, host: Player, new_game: Game) -> tuple[LoadedGame, bool]:
        now = self.store.read(None, new_game.id).now
        self._check_room(host.id, now)
        game = replace(new_game, created_at=now)
        progress = Progress(game, None, now, self.transactions.rng)
        seat = game.seat_of(host.id)
        if seat is not None:
            progress.tell(BY_PLAYER, seat, SeatTaken(seat, host))
        change = self.transactions.commit(None, self._start_if_full(progress), now)
        if change is not None:
            return LoadedGame(
                now, host, StoredGame(change.game, change.state, change.position)
            ), True
        # The same request at the same time, on another connection, came first.
        found = self._found(host, game.id)
        if found is None:
            raise Problem("busy")
        return found, False

    def _reserve(self, body: NewGame) -> tuple[SeatRecord, ...]:
        ids = body.get("players", ())
        seat_count = body["seat_count"]
        if len(ids) > seat_count:
            raise invalid(f"There are only {seat_count} seats.", "players")
        named = [player_id for player_id in ids if player_id is not None]
        if len(set(named)) != len(named):
            raise invalid("A player is named twice.", "players")
        players = dict(zip(named, self.store.players(named), strict=True))
        seats = [SeatRecord()] * seat_count
        for seat, player_id in enumerate(ids):
            if player_id is None:
                continue
            if players[player_id] is None:
                raise invalid("There is no such player.", "players", seat)
            seats[seat] = SeatRecord(reserved_for=players[player_id])
        return tuple(seats)

    def _check_room(self, player_id: str, now: int) -> None:
        if self.transactions.indexes.occupies(player_id, MAX_UNFINISHED_GAMES, now):
            raise Problem(
                "too_many_games", f"You are in {MAX_UNFINISHED_GAMES} games that have not ended."
            )

    # --- The same table again ----------------------------------------------------------

    def rematch(self, credentials: Credentials | None, game_id: str) -> tuple[LoadedGame, bool]:
        """The game that follows one that ended, with the same seats; and whether it is new.

        The old game is told the new one's id first: whoever comes later, or tries again, finds
        it there, and creates the game if the first caller did not get so far.
        """

        def decide(loaded: LoadedGame) -> Change | None:
            if loaded.caller is None or loaded.caller.id not in loaded.game.players():
                raise Problem("not_seated")
            if loaded.game.status not in ENDED or loaded.game.started_at is None:
                raise Problem("game_not_over")
            if loaded.game.rematch is not None and not self._was_called_off(loaded.game.rematch):
                return None
            self._check_room(loaded.caller.id, loaded.now)
            return Change(game=replace(loaded.game, rematch=new_id()))

        loaded, _ = self.transactions.update(credentials, game_id, decide)
        caller, old = loaded.caller, loaded.game
        assert caller is not None
        assert old.rematch is not None
        if self.store.read(None, old.rematch).found is None:
            found, is_new = self._open(caller, _same_again(old, old.rematch, caller))
            if is_new:
                return found, True
        return self.join(credentials, old.rematch, None, None), False

    def _was_called_off(self, game_id: str) -> bool:
        found = self.store.read(None, game_id).found
        return found is not None and found.game.status == CANCELLED

    # --- Taking a seat -----------------------------------------------------------------

    def join(
        self,
        credentials: Credentials | None,
        game_id: str,
        seat: Seat | None,
        invite: str | None,
        if_match: Callable[[str], bool] = whatever_it_is,
    ) -> LoadedGame:
        """Take this seat or, if None, any. The last one starts the game."""

        def invited(game: Game, caller: Player) -> bool:
            return game.invite is not None and compare_digest(
                game.invite.encode(), (invite or "").encode()
            )

        def decide(loaded: LoadedGame) -> Change | None:
            caller, game = loaded.caller, loaded.game
            assert caller is not None
            own = _seat_to_take_back(loaded, seat)
            if own is not None:
                self.seat_limits.check(game, caller)
                self._check_room(caller.id, loaded.now)
                return self._take_back(loaded.found, own, caller, loaded.now)
            if not _wants_to_sit(loaded, seat):
                return None
            self.seat_limits.check(game, caller)
            self._check_room(caller.id, loaded.now)
            return self._sit_down(game, _choose_seat(game, caller, seat), caller, loaded.now)

        loaded, items = self.transactions.update(
            credentials, game_id, decide, if_match=if_match, admit=invited
        )
        if items and loaded.caller is not None:
            self.seat_limits.count(loaded.game, loaded.caller)
        return loaded

    def _sit_down(self, game: Game, seat: Seat, player: Player, now: int) -> Change:
        taken = replace(
            game,
            seats=replaced(game.seats, seat, replace(game.seats[seat], player=player)),
            left=tuple(left for left in game.left if left != player.id),
        )
        progress = Progress(taken, None, now, self.transactions.rng)
        progress.tell(BY_PLAYER, seat, SeatTaken(seat, player))
        return self._start_if_full(progress)

    def _take_back(self, found: StoredGame, seat: Seat, player: Player, now: int) -> Change:
        progress = Progress.of(found, now, self.transactions.rng)
        progress.tell(BY_PLAYER, seat, SeatTakenBack(seat, player))
        record = replace(progress.game.seats[seat], house=None)
        progress.game = replace(progress.game, seats=replaced(progress.game.seats, seat, record))
        return progress.change()

    def _start_if_full(self, progress: Progress) -> Change:
        if any(record.is_free for record in progress.game.seats):
            return progress.change()
        return self._start(progress)

    def _start(self, progress: Progress) -> Change:
        """Deal, and let the house make the moves that come before a person's."""
        game = progress.game
        ruleset = RULESETS[game.ruleset]
        options = msgspec.json.decode(game.options, type=ruleset.options_type)
        deal = ruleset.deal(game.seat_count, options, self.transactions.rng)
        stored_deal = _seal(deal)
        progress.game = replace(game, left=(), deal_sha256=digest(stored_deal.deal_text))
        outcome = ruleset.start(game.seat_count, options, deal)
        progress.begin(outcome, GameStarted(game.seat_count))
        progress.let_house_move()
        return progress.change(deal=stored_deal)

    # --- Leaving, starting, cancelling -------------------------------------------------

    def leave(
        self, credentials: Credentials | None, game_id: str, if_match: Callable[[str], bool]
    ) -> LoadedGame:
        """Free the caller's seat before the start, or the one that is reserved for it."""

        def has_left(game: Game, caller: Player) -> bool:
            return caller.id in game.left

        def decide(loaded: LoadedGame) -> Change | None:
            game, caller = loaded.game, loaded.caller
            assert caller is not None
            if game.status in ENDED:
                return None
            if game.status == PLAYING:
                return self._hand_over(loaded)
            seat = _own_place(game, caller)
            if seat is None:
                return None
            stood_up = replace(
                game,
                seats=replaced(game.seats, seat, SeatRecord()),
                left=(*game.left, caller.id)[-REMEMBERED_LEAVERS:],
            )
            event = SeatLeft(seat, caller)
            left = public_item(game.version + 1, loaded.now, BY_PLAYER, seat, event)
            return Change(game=stood_up, items=(left,))

        loaded, _ = self.transactions.update(
            credentials, game_id, decide, if_match=if_match, admit=has_left
        )
        return loaded

    def _hand_over(self, loaded: LoadedGame) -> Change | None:
        """The house plays on for the caller; without any person left the game is called off."""
        game, seat = loaded.game, loaded.seat
        if seat is None:
            return None
        progress = Progress.of(loaded.found, loaded.now, self.transactions.rng)
        progress.tell(BY_PLAYER, seat, SeatHandedOver(seat, CAREFUL))
        record = game.seats[seat]
        record = replace(record, house=CAREFUL, times_left=record.times_left + 1)
        progress.game = replace(game, seats=replaced(game.seats, seat, record))
        if progress.game.active_players():
            progress.let_house_move()
        else:
            progress.cancel()
        return progress.change()

    def start(
        self, credentials: Credentials | None, game_id: str, if_match: Callable[[str], bool]
    ) -> LoadedGame:
        """Start a game before all seats are taken: the house takes the empty ones."""

        def decide(loaded: LoadedGame) -> Change | None:
            _only_host(loaded)
            if loaded.game.started_at is not None:
                return None
            if loaded.game.status in ENDED:
                raise Problem("game_over")
            if not loaded.game.active_players():
                raise Problem("no_players")
            progress = Progress(loaded.game, None, loaded.now, self.transactions.rng)
            for seat, record in enumerate(loaded.game.seats):
                if record.is_free:
                    progress.tell(BY_PLAYER, seat, SeatHandedOver(seat, CAREFUL))
            seats = [
                SeatRecord(house=CAREFUL) if record.is_free else record
                for record in loaded.game.seats
            ]
            progress.game = replace(progress.game, seats=tuple(seats))
            return self._start(progress)

        loaded, _ = self.transactions.update(credentials, game_id, decide, if_match=if_match)
        return loaded

    def cancel(
        self, credentials: Credentials | None, game_id: str, if_match: Callable[[str], bool]
    ) -> LoadedGame:
        """Call a game off before its start."""

        def decide(loaded: LoadedGame) -> Change | None:
            game = loaded.game
            _only_host(loaded)
            if game.status == CANCELLED:
                return None
            if game.status != OPEN:
                raise Problem("game_over" if game.status in ENDED else "game_already_started")
            called_off = replace(game, status=CANCELLED, finished_at=loaded.now)
            event = public_item(
                game.version + 1, loaded.now, BY_PLAYER, loaded.seat, GameCancelled()
            )
            return Change(game=called_off, items=(event,))

        loaded, _ = self.transactions.update(credentials, game_id, decide, if_match=if_match)
        return loaded


def _same_again(old: Game, game_id: str, host: Player) -> Game:
    """A new game like an old one: each seat for whom it was, the host's own taken."""
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
        invite=secrets.token_urlsafe(16) if old.visibility == PRIVATE else None,
        turn_seconds=old.turn_seconds,
        host=host,
        seats=tuple(seats),
        created_at=0,
        updated_at=0,
    )


def _given(options: Any) -> dict[str, Any]:
    """Options as they are shown: with their defaults, without what has no value."""
    members: dict[str, Any] = msgspec.to_builtins(options)
    return {name: value for name, value in members.items() if value is not None}


def _seat_house(seats: tuple[SeatRecord, ...], body: NewGame) -> tuple[SeatRecord, ...]:
    """The last seats are the house's, one for each level that was asked for."""
    levels = body.get("house", ())
    for index, level in enumerate(levels):
        if level not in HOUSE_LEVELS:
            raise invalid(f"The levels are {', '.join(HOUSE_LEVELS)}.", "house", index)
    if len(levels) >= len(seats):
        raise invalid("The house does not play alone: leave a seat for a player.", "house")
    first = len(seats) - len(levels)
    for seat, record in enumerate(seats[first:], first):
        if record.reserved_for is not None:
            raise invalid("This seat is the house's: the last ones are.", "players", seat)
    return (*seats[:first], *(SeatRecord(house=level) for level in levels))


def _seat_host(
    seats: tuple[SeatRecord, ...], host: Player, body: NewGame
) -> tuple[SeatRecord, ...]:
    if not body.get("take_seat", True):
        return seats
    seat = _free_seat(seats, host)
    if seat is None:
        raise invalid("All seats are reserved for others, so none is left for you.", "players")
    return replaced(seats, seat, replace(seats[seat], player=host))


def _seat_to_take_back(loaded: LoadedGame, seat: Seat | None) -> Seat | None:
    """The caller's own seat that the house has, if that is what it asks for."""
    if loaded.game.status != PLAYING or loaded.caller is None:
        return None
    own = loaded.game.left_seat_of(loaded.caller.id)
    return own if seat in (None, own) else None


def _wants_to_sit(loaded: LoadedGame, seat: Seat | None) -> bool:
    """False if the caller already has what it asks for. Raises `Problem` if it cannot have it."""
    game = loaded.game
    if seat is not None and seat >= game.seat_count:
        raise invalid(f"The seats are 0 to {game.seat_count - 1}.", "seat")
    if loaded.seat is not None:
        if seat is None or seat == loaded.seat:
            return False
        raise Problem("already_seated", f"You have seat {loaded.seat}.")
    if game.status in ENDED:
        raise Problem("game_over")
    if game.status == PLAYING:
        raise Problem("game_full")
    return True


def _choose_seat(game: Game, player: Player, seat: Seat | None) -> Seat:
    if seat is None:
        free = _free_seat(game.seats, player)
        if free is None:
            raise Problem("game_full", "All seats are taken or reserved.")
        return free
    record = game.seats[seat]
    if not record.is_free:
        raise Problem("seat_taken")
    if record.reserved_for is not None and record.reserved_for.id != player.id:
        raise Problem("seat_reserved")
    return seat


def _free_seat(seats: tuple[SeatRecord, ...], player: Player) -> Seat | None:
    """The seat reserved for this player, else the first that is for anybody."""
    empty = [(seat, r.reserved_for) for seat, r in enumerate(seats) if r.is_free]
    own = [seat for seat, whom in empty if whom is not None and whom.id == player.id]
    return next(iter([*own, *(seat for seat, whom in empty if whom is None)]), None)


def _own_place(game: Game, player: Player) -> Seat | None:
    """The player's seat, else the one that is reserved for it."""
    own = [
        seat
        for seat, record in enumerate(game.seats)
        if (record.player or record.reserved_for) == player
    ]
    return own[0] if own else None


def _only_host(loaded: LoadedGame) -> None:
    if loaded.reader != loaded.game.host.id:
        raise Problem("not_host")


def _seal(deal: Any) -> StoredDeal:
    """The deal, with the text whose hash commits to it; the salt keeps it from being guessed."""
    members = {**msgspec.to_builtins(deal), "salt": secrets.token_hex(32)}
    text = json.dumps(members, separators=(",", ":"), ensure_ascii=True)
    return StoredDeal(deal=raw(deal), deal_text=text)
