"""Open and running games as tables: take a seat, leave it, start early, cancel."""

from __future__ import annotations

from collections.abc import Sequence
from hmac import compare_digest
from typing import Any

from msgspec.structs import replace

from api.games.players import Credentials
from api.games.progress import Progress
from api.games.seat_limits import SeatLimits
from api.games.seats import (
    choose_seat,
    next_host,
    seat_to_take_back,
    taken_or_reserved_seat,
    wants_seat,
)
from api.games.starting import start_if_full, start_with_house
from api.games.transactions import LoadedGame, Precondition, Transactions
from api.model.events import (
    BY_PLAYER,
    GameCancelled,
    HandoverCause,
    SeatLeft,
    SeatTaken,
    SeatTakenBack,
)
from api.model.game import CANCELLED, OPEN, PLAYING, Game, Player, SeatRecord, public_item
from api.problems.problem import Problem
from api.storage.games import Change, StoredGame
from api.storage.indexes import count_commands
from engine.ruleset import Seat, replaced

MAX_UNFINISHED_GAMES = 100
"""How many games that have not ended one player may host or sit in."""

MAX_REMEMBERED_LEAVERS = 32
"""How many players who left an open private game may repeat that request."""


class Tables:
    """Seats players, and starts and cancels games."""

    def __init__(self, transactions: Transactions, seat_limits: SeatLimits) -> None:
        self.transactions = transactions
        self.seat_limits = seat_limits

    # --- Joining -----------------------------------------------------------------------

    def join(
        self,
        credentials: Credentials,
        game_id: str,
        seat: Seat | None,
        invite: str | None,
        if_match: Precondition | None = None,
    ) -> LoadedGame:
        """Take a seat (None: any) for the caller. The last seat taken starts the game."""

        def is_invited(game: Game, caller: Player) -> bool:
            return game.invite is not None and compare_digest(
                game.invite.encode(), (invite or "").encode()
            )

        def decide(loaded: LoadedGame) -> Change | None:
            caller = loaded.caller
            assert caller is not None
            own = seat_to_take_back(loaded, seat)
            if own is None and not wants_seat(loaded, seat):
                return None
            self.seat_limits.check(loaded.game, caller)
            self.check_game_count(caller.id, loaded.now, loaded.extra_answers)
            if own is not None:
                return self._take_back(loaded.stored, own, caller, loaded.now)
            chosen = choose_seat(loaded.game, caller, seat)
            return self._take(loaded.game, chosen, caller, loaded.now)

        loaded, _ = self.transactions.update(
            credentials,
            game_id,
            decide,
            if_match=if_match,
            extra_commands=count_commands(credentials.player_id),
            admit=is_invited,
            on_commit=self.seat_limits.count,
        )
        return loaded

    def check_game_count(self, player_id: str, now: int, counts: Sequence[Any] = ()) -> None:
        """Raise `Problem` (``too_many_games``) if a player may be in no further game.

        `counts` are the replies to `api.storage.indexes.count_commands`, if they have been sent.
        """
        if self.transactions.indexes.occupies(player_id, MAX_UNFINISHED_GAMES, now, counts):
            raise Problem(
                "too_many_games",
                f"You are in {MAX_UNFINISHED_GAMES} games that have not ended, which is the limit. "
                "Finish, leave or cancel one of them first.",
            )

    def _take(self, game: Game, seat: Seat, player: Player, now: int) -> Change:
        record = replace(game.seats[seat], player=player, taken_at=game.version + 1)
        seated = replace(
            game,
            seats=replaced(game.seats, seat, record),
            left=tuple(left for left in game.left if left != player.id),
        )
        progress = Progress(seated, None, now, self.transactions.rng)
        progress.add_events(BY_PLAYER, seat, SeatTaken(seat, player))
        return start_if_full(progress)

    def _take_back(self, stored: StoredGame, seat: Seat, player: Player, now: int) -> Change:
        progress = Progress.from_stored(stored, now, self.transactions.rng)
        progress.add_events(BY_PLAYER, seat, SeatTakenBack(seat, player))
        progress.change_seat(seat, house=None, missed_turns=0)
        return progress.to_change()

    # --- Leaving -----------------------------------------------------------------------

    def leave(
        self, credentials: Credentials, game_id: str, if_match: Precondition | None
    ) -> LoadedGame:
        """Free the caller's seat or reservation. After the start, let a house player have the seat.

        Leaving again changes nothing.
        """

        def has_left(game: Game, caller: Player) -> bool:
            return caller.id in game.left

        def decide(loaded: LoadedGame) -> Change | None:
            if loaded.game.has_ended:
                return None
            if loaded.game.status == PLAYING:
                return self._hand_over(loaded)
            return self._free_seat(loaded)

        loaded, _ = self.transactions.update(
            credentials, game_id, decide, if_match=if_match, admit=has_left
        )
        return loaded

    def _free_seat(self, loaded: LoadedGame) -> Change | None:
        """Free the caller's seat or reservation, and pass the game on if its host has left.

        A host without a seat has not left. Without a seated player to be host, cancel the game.
        """
        game, caller = loaded.game, loaded.caller
        assert caller is not None
        seat = taken_or_reserved_seat(game, caller)
        if seat is None:
            return None
        left = replace(
            game,
            seats=replaced(game.seats, seat, SeatRecord()),
            left=(*game.left, caller.id)[-MAX_REMEMBERED_LEAVERS:],
        )
        progress = Progress(left, None, loaded.now, self.transactions.rng)
        progress.add_events(BY_PLAYER, seat, SeatLeft(seat, caller))
        if loaded.seat is not None and caller.id == game.host.id:
            host = next_host(left)
            if host is None:
                progress.cancel()
            else:
                progress.game = replace(left, host=host)
        return progress.to_change()

    def _hand_over(self, loaded: LoadedGame) -> Change | None:
        """Let a house player continue for the caller, or cancel the game if no person is left."""
        seat = loaded.seat
        if seat is None:
            return None
        progress = Progress.from_stored(loaded.stored, loaded.now, self.transactions.rng)
        progress.hand_over(seat, HandoverCause.LEFT)
        progress.change_seat(seat, times_left=loaded.game.seats[seat].times_left + 1)
        progress.cancel_if_abandoned()
        progress.play_house_moves()
        return progress.to_change()

    # --- Starting and cancelling -------------------------------------------------------

    def start(
        self, credentials: Credentials, game_id: str, if_match: Precondition | None
    ) -> LoadedGame:
        """Start a game for its host, with house players in the free seats."""

        def decide(loaded: LoadedGame) -> Change | None:
            game = loaded.game
            _require_host(loaded)
            if game.started_at is not None:
                return None
            if game.has_ended:
                raise Problem("game_over")
            if not game.active_players():
                raise Problem("no_players")
            return start_with_house(Progress(game, None, loaded.now, self.transactions.rng))

        loaded, _ = self.transactions.update(credentials, game_id, decide, if_match=if_match)
        return loaded

    def cancel(
        self, credentials: Credentials, game_id: str, if_match: Precondition | None
    ) -> LoadedGame:
        """Cancel a game for its host, before its start."""

        def decide(loaded: LoadedGame) -> Change | None:
            game = loaded.game
            _require_host(loaded)
            if game.status == CANCELLED:
                return None
            if game.status != OPEN:
                raise Problem("game_over" if game.has_ended else "game_already_started")
            cancelled = replace(game, status=CANCELLED, deadline=None, finished_at=loaded.now)
            item = public_item(
                game.version + 1, loaded.now, BY_PLAYER, loaded.seat, GameCancelled()
            )
            return Change(game=cancelled, items=(item,))

        loaded, _ = self.transactions.update(credentials, game_id, decide, if_match=if_match)
        return loaded


def _require_host(loaded: LoadedGame) -> None:
    """Raise `Problem` (``not_host``) unless the caller is the host of the game."""
    if loaded.reader != loaded.game.host.id:
        raise Problem("not_host")
