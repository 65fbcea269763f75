"""The progress of a game within one commit: the start, moves, timeouts, moves of house players.

Every game in play goes on here, whatever caused it. Each step adds an item to the game's history.
House players move, from what their seats see, until the game waits for a person or is over. This
module knows no game's rules.
"""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec
from msgspec.structs import replace

from api.concurrency.time_slices import long_work, pause
from api.model.events import (
    BY_CLOCK,
    BY_HOUSE,
    BY_PLAYER,
    BY_TABLE,
    GameCancelled,
    GameFinished,
    HandoverCause,
    ItemCause,
    SeatHandedOver,
    TimeRanOut,
)
from api.model.game import (
    CANCELLED,
    FINISHED,
    PLAYING,
    Game,
    HistoryItem,
    StoredDeal,
    history_item,
    public_item,
    raw,
)
from api.storage.games import Change, StoredGame, Versions
from engine.house import CAREFUL, choose
from engine.registry import RULESETS
from engine.ruleset import Event, Move, Outcome, Seat, Told, replaced, same_decision

MAX_MISSED_TURNS = 2
"""In how many turns in a row the clock acts for a player before a house player gets the seat."""


def is_due(game: Game, now: int) -> bool:
    """Return whether a deadline has passed, or a house player is to move."""
    if game.has_ended:
        return False
    if game.deadline is not None and game.deadline <= now:
        return True
    return any(game.seats[seat].house is not None for seat in game.to_move)


class Progress:
    """A game on its way from the state that was read to the state that will be committed.

    Attributes:
        game: The game after the items so far.
        state: The ruleset's state, None before the start.
        now: The time of all items, in ms since 1970.
        rng: The source of the deal and of the house players' choices.
        items: The items so far.
    """

    def __init__(self, game: Game, state: Any, now: int, rng: Random) -> None:
        self.game = game
        self.state = state
        self.now = now
        self.rng = rng
        self.ruleset = RULESETS[game.ruleset]
        self.items: list[HistoryItem] = []

    @classmethod
    def from_stored(cls, stored: StoredGame, now: int, rng: Random) -> Progress:
        """Continue a stored game."""
        return cls(stored.game, stored.position, now, rng)

    def to_change(
        self, played: tuple[str, Versions] | None = None, deal: StoredDeal | None = None
    ) -> Change:
        """Return the change to commit."""
        state = None if self.state is None else msgspec.json.encode(self.state)
        return Change(
            game=self.game,
            items=tuple(self.items),
            state=state,
            position=self.state,
            played=played,
            deal=deal,
        )

    @property
    def versions(self) -> Versions:
        """The versions of the first and the last item."""
        return self.items[0].version, self.items[-1].version

    # --- Steps -------------------------------------------------------------------------

    def add_events(self, by: ItemCause, seat: Seat | None, *events: Event) -> None:
        """Add an item that is not a move, with the same events for every audience."""
        self.items.append(public_item(self._next_version(), self.now, by, seat, *events))

    def start(self, outcome: Outcome[Any], started: Event) -> None:
        """Start the game with its first turn. `outcome` is what the ruleset makes of the deal."""
        self.state, told = outcome
        events = (Told(started), *told)
        self.items.append(history_item(self._next_version(), self.now, BY_TABLE, events))
        self.game = replace(self.game, status=PLAYING, turn=0, started_at=self.now)
        self._begin_turn()

    def apply_move(
        self,
        seat: Seat,
        move: Move,
        outcome: Outcome[Any],
        by: ItemCause = BY_PLAYER,
        *before: Told,
    ) -> None:
        """Apply a move of a seat. The events `before` come before the move's own."""
        if by == BY_PLAYER and self.game.seats[seat].missed_turns:
            self.change_seat(seat, missed_turns=0)
        game = self.game
        self.state, events = outcome
        to_move = self.ruleset.to_move(self.state)
        if same_decision(game.to_move, seat, to_move):
            answered = tuple(sorted({*game.answered, seat}))
            self.game = replace(game, to_move=to_move, answered=answered)
            self._set_deadline()
        else:
            self._begin_turn()
        self.items.append(
            history_item(
                self._next_version(),
                self.now,
                by,
                (*before, *events),
                turn=game.turn,
                seat=seat,
                move=move,
                deadline=self.game.deadline,
            )
        )
        self._finish_if_over()

    def apply_timeout(self) -> None:
        """End the countdown that has run out, or move for every seat whose time has run out.

        Then hand over the seats of players who have missed too many turns.
        """
        late = [seat for seat in self.game.to_move if self.game.seats[seat].house is None]
        self._act_for_late_seats()
        for seat in late:
            missed = self.game.seats[seat].missed_turns + 1
            self.change_seat(seat, missed_turns=missed)
            if missed >= MAX_MISSED_TURNS and self.game.status == PLAYING:
                self.hand_over(seat, HandoverCause.TIME, BY_TABLE)
        self.cancel_if_abandoned()

    def _act_for_late_seats(self) -> None:
        game = self.game
        countdown = self.ruleset.countdown(self.state)
        if countdown is not None and (game.deadline or 0) < _turn_ends_at(game):
            self._end_countdown()
            return
        with long_work():
            for seat in game.to_move:
                if self.game.turn == game.turn and seat in self.game.to_move:
                    move, outcome = self._choose(seat, CAREFUL)
                    self.apply_move(seat, move, outcome, BY_CLOCK, Told(TimeRanOut(seat)))
                    pause()

    def play_house_moves(self) -> None:
        """Move for house players until the game waits for a person or is over."""
        if not self._house_to_move():
            return
        with long_work():
            while house := self._house_to_move():
                seat, level = house[0]
                move, outcome = self._choose(seat, level)
                self.apply_move(seat, move, outcome, BY_HOUSE)
                pause()

    @property
    def awaits_careful_house(self) -> bool:
        """Whether a careful house player is to move, which takes milliseconds to choose."""
        return any(level == CAREFUL for _, level in self._house_to_move())

    def hand_over(
        self,
        seat: Seat,
        cause: HandoverCause,
        by: ItemCause = BY_PLAYER,
        level: str = CAREFUL,
    ) -> None:
        """Let a house player of this level play for a seat from now on."""
        self.add_events(by, seat, SeatHandedOver(seat, level, cause))
        self.change_seat(seat, house=level)

    def change_seat(self, seat: Seat, **members: Any) -> None:
        """Change members of a seat's record."""
        record = replace(self.game.seats[seat], **members)
        self.game = replace(self.game, seats=replaced(self.game.seats, seat, record))

    def cancel_if_abandoned(self) -> None:
        """Cancel the game if it is being played and house players have all seats."""
        if self.game.status == PLAYING and not self.game.active_players():
            self.cancel()

    def cancel(self) -> None:
        """Cancel the game."""
        self.add_events(BY_TABLE, None, GameCancelled())
        self._end(CANCELLED)

    # --- Turns, deadlines and the end --------------------------------------------------

    def _end_countdown(self) -> None:
        turn = self.game.turn
        self.state, told = self.ruleset.expire(self.state)
        self._begin_turn()
        version, deadline = self._next_version(), self.game.deadline
        self.items.append(
            history_item(version, self.now, BY_CLOCK, told, turn=turn, deadline=deadline)
        )
        self._finish_if_over()

    def _choose(self, seat: Seat, level: str) -> tuple[Move, Outcome[Any]]:
        """Choose a house player's move, from the view of its seat and not from the state."""
        table = self.ruleset.view(self.state, seat)
        moves = self.ruleset.legal_moves(self.state, seat)
        move = choose(self.ruleset, table, seat, moves, level=level, rng=self.rng)
        return move, self.ruleset.apply(self.state, seat, move)

    def _house_to_move(self) -> list[tuple[Seat, str]]:
        """Return the seats of house players that are to move, each with its level."""
        if self.game.status != PLAYING:
            return []
        seats = self.game.seats
        return [(seat, level) for seat in self.game.to_move if (level := seats[seat].house)]

    def _next_version(self) -> int:
        return (self.items[-1].version if self.items else self.game.version) + 1

    def _begin_turn(self) -> None:
        self.game = replace(
            self.game,
            turn=(self.game.turn or 0) + 1,
            turn_started_at=self.now,
            to_move=self.ruleset.to_move(self.state),
            answered=(),
            # A countdown ends with its turn.
            deadline=None,
        )
        self._set_deadline()

    def _set_deadline(self) -> None:
        """Set the deadline to the end of the turn, or of the countdown if that is earlier."""
        game, ends_at = self.game, _turn_ends_at(self.game)
        countdown = self.ruleset.countdown(self.state)
        if countdown is not None:
            # A deadline before the turn's end is that of a countdown that is running already.
            is_running = game.deadline is not None and game.deadline < ends_at
            countdown_ends_at = game.deadline if is_running else self.now + countdown * 1000
            ends_at = min(ends_at, countdown_ends_at or ends_at)
        self.game = replace(game, deadline=ends_at)

    def _finish_if_over(self) -> None:
        result = self.ruleset.result(self.state)
        if result is not None:
            self.add_events(BY_TABLE, None, GameFinished(result))
            self.game = replace(self.game, result=raw(result))
            self._end(FINISHED)

    def _end(self, status: str) -> None:
        self.game = replace(
            self.game,
            status=status,
            turn=None,
            turn_started_at=None,
            to_move=(),
            answered=(),
            deadline=None,
            finished_at=self.now,
        )


def _turn_ends_at(game: Game) -> int:
    """Return when the time of the seats to move runs out, in ms since 1970."""
    return (game.turn_started_at or 0) + game.turn_seconds * 1000
