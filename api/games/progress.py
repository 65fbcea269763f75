"""The course of a game: what a move, the clock and the house make of it within one commit.

This is the one place where a game in play goes on, whoever caused it. Each step adds an item;
after every one of them the house moves for its seats, from what those seats see, until the game
waits for a person or is over. No game's rules are known here.
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
    Cause,
    GameCancelled,
    GameFinished,
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
    timestamp,
)
from api.storage.games import Change, StoredGame
from engine.house import CAREFUL, choose
from engine.registry import RULESETS
from engine.ruleset import Event, Move, Outcome, Seat, TimedEvent, Told, same_decision


def is_due(game: Game, now: int) -> bool:
    """Whether the clock or the house has something to do before anybody else."""
    if game.status != PLAYING:
        return False
    if game.deadline is not None and game.deadline <= now:
        return True
    return any(game.seats[seat].house is not None for seat in game.to_move)


class Progress:
    """A game as it goes on from what was read, item by item, to what will be committed."""

    def __init__(self, game: Game, state: Any, now: int, rng: Random) -> None:
        self.game = game
        self.state = state
        self.now = now
        self.rng = rng
        self.ruleset = RULESETS[game.ruleset]
        self.items: list[HistoryItem] = []

    @classmethod
    def of(cls, found: StoredGame, now: int, rng: Random) -> Progress:
        """The course of a stored game from here on."""
        return cls(found.game, found.position, now, rng)

    def change(
        self, played: tuple[str, str] | None = None, deal: StoredDeal | None = None
    ) -> Change:
        """What is to be committed."""
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
    def versions(self) -> tuple[int, int]:
        """The versions of the first and the last item."""
        return self.items[0].version, self.items[-1].version

    # --- What happens ------------------------------------------------------------------

    def tell(self, by: Cause, seat: Seat | None, *events: Event) -> None:
        """Something happened that is no move, and is the same for all."""
        self.items.append(public_item(self._next_version(), self.now, by, seat, *events))

    def begin(self, outcome: Outcome[Any], first: Event) -> None:
        """The game starts, at its first turn."""
        self.state, told = outcome
        self.items.append(
            history_item(self._next_version(), self.now, BY_TABLE, (Told(first), *told))
        )
        self.game = replace(self.game, status=PLAYING, turn=0, started_at=self.now)
        self._new_turn()

    def move(
        self, seat: Seat, move: Move, outcome: Outcome[Any], by: Cause = BY_PLAYER, *told: Told
    ) -> None:
        """A seat moved; `told` is what came before the move's own events."""
        before = self.game
        self.state, events = outcome
        to_move = self.ruleset.to_move(self.state)
        if same_decision(before.to_move, seat, to_move):
            answered = tuple(sorted({*before.answered, seat}))
            self.game = replace(before, to_move=to_move, answered=answered)
            self._set_deadline()
        else:
            self._new_turn()
        self.items.append(
            history_item(
                self._next_version(),
                self.now,
                by,
                (*told, *_timed(events, self.game.deadline)),
                turn=before.turn,
                seat=seat,
                move=move,
            )
        )
        self._finish_if_over()

    def clock(self) -> None:
        """The time is up: of the countdown that runs, or of the seats that have not moved."""
        game = self.game
        countdown = self.ruleset.countdown(self.state)
        if countdown is not None and (game.deadline or 0) < _turn_ends_at(game):
            self._countdown_ran_out()
            return
        with long_work():
            for seat in game.to_move:
                if self.game.turn == game.turn and seat in self.game.to_move:
                    move, outcome = self._choose(seat, CAREFUL)
                    self.move(seat, move, outcome, BY_CLOCK, Told(TimeRanOut(seat)))
                    pause()

    def let_house_move(self) -> None:
        """The house moves for its seats until the game waits for a person, or is over."""
        if not self._waits_for_house():
            return
        with long_work():
            while waiting := self._waits_for_house():
                seat, level = waiting[0]
                move, outcome = self._choose(seat, level)
                self.move(seat, move, outcome, BY_HOUSE)
                pause()

    def cancel(self) -> None:
        """The game is called off."""
        self.tell(BY_TABLE, None, GameCancelled())
        self._end(CANCELLED)

    # --- How it goes on ----------------------------------------------------------------

    def _countdown_ran_out(self) -> None:
        turn = self.game.turn
        self.state, told = self.ruleset.expire(self.state)
        self._new_turn()
        events = _timed(told, self.game.deadline)
        self.items.append(history_item(self._next_version(), self.now, BY_CLOCK, events, turn=turn))
        self._finish_if_over()

    def _choose(self, seat: Seat, level: str) -> tuple[Move, Outcome[Any]]:
        """A move of the house, which sees what the seat sees and not the position."""
        table = self.ruleset.view(self.state, seat)
        moves = self.ruleset.legal_moves(self.state, seat)
        move = choose(self.ruleset, table, seat, moves, level=level, rng=self.rng)
        return move, self.ruleset.apply(self.state, seat, move)

    def _waits_for_house(self) -> list[tuple[Seat, str]]:
        """The seats to move that the house plays for, and at which level."""
        if self.game.status != PLAYING:
            return []
        seats = self.game.seats
        return [(seat, level) for seat in self.game.to_move if (level := seats[seat].house)]

    def _next_version(self) -> int:
        return (self.items[-1].version if self.items else self.game.version) + 1

    def _new_turn(self) -> None:
        self.game = replace(
            self.game,
            turn=(self.game.turn or 0) + 1,
            turn_started_at=self.now,
            to_move=self.ruleset.to_move(self.state),
            answered=(),
            # What ran until now ended with the turn.
            deadline=None,
        )
        self._set_deadline()

    def _set_deadline(self) -> None:
        """The earlier of the turn's end and of the countdown's, if one runs."""
        game, ends_at = self.game, _turn_ends_at(self.game)
        countdown = self.ruleset.countdown(self.state)
        if countdown is not None:
            # One that runs already has its deadline, which only the countdown can have moved up.
            running = game.deadline is not None and game.deadline < ends_at
            began = game.deadline if running else self.now + countdown * 1000
            ends_at = min(ends_at, began or ends_at)
        self.game = replace(game, deadline=ends_at)

    def _finish_if_over(self) -> None:
        result = self.ruleset.result(self.state)
        if result is not None:
            self.tell(BY_TABLE, None, GameFinished(result))
            self.game = replace(self.game, result=result)
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
    """When the time of the seats to move is up."""
    return (game.turn_started_at or 0) + game.turn_seconds * 1000


def _timed(told: tuple[Told, ...], deadline: int | None) -> tuple[Told, ...]:
    """What happened, with the time filled in that the engine cannot know."""
    if deadline is None:
        return told
    until = timestamp(deadline)
    return tuple(
        replace(each, everybody=replace(each.everybody, deadline=until))
        if isinstance(each.everybody, TimedEvent)
        else each
        for each in told
    )
