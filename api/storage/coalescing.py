"""Ways to share: a round trip, the store, or what was found, with others who ask for it.

Who asks while nobody else does goes at once. Who comes while the store is being asked waits until
its answers are here; then all who have come go together, in one round trip. The more there are,
the less each costs: a trip's price is that of going, mostly, and not of what is carried. When a
trip fails, so does it for those who wait: they have waited as long for a store that is away.

Of one caller only so many ask at once: those who want more queue by themselves, and not before
everybody else.

This module knows nothing of the store: how a trip is made is its owner's to say.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import gevent
from gevent.event import AsyncResult
from gevent.lock import Semaphore

Question = TypeVar("Question")
Answer = TypeVar("Answer")

MOST_AT_ONCE = 500
"""With so many questions a trip is full, if it is not one who asks more than that."""


class _Passenger(Generic[Question]):
    """Who waits to go along."""

    __slots__ = ("questions", "result")

    def __init__(self, questions: Sequence[Question]) -> None:
        self.questions = questions
        self.result = AsyncResult()


class SharedTrips(Generic[Question, Answer]):
    """Makes one trip at a time, by `go`, which brings one answer to each question or raises."""

    def __init__(self, go: Callable[[Sequence[Question]], list[Answer]]) -> None:
        self._go = go
        self._is_under_way = False
        self._waiting: deque[_Passenger[Question]] = deque()

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """The answers. Raises what `go` raises, of the trip that these questions were to be on."""
        if self._is_under_way:
            passenger = _Passenger(questions)
            self._waiting.append(passenger)
            answers: list[Answer] = passenger.result.get()
            return answers
        self._is_under_way = True
        try:
            return self._go(questions)
        except Exception as error:
            self._fail(self._waiting, error)
            raise
        finally:
            if self._waiting:
                # By nobody who has somewhere else to go, or can be stopped.
                gevent.spawn(self._carry)
            else:
                self._is_under_way = False

    def _carry(self) -> None:
        """Go for those who wait until nobody does."""
        while self._waiting:
            passengers = self._next()
            try:
                answers = self._go([each for one in passengers for each in one.questions])
            except Exception as error:
                self._fail(passengers, error)
                self._fail(self._waiting, error)
                break
            at = 0
            for passenger in passengers:
                number = len(passenger.questions)
                passenger.result.set(answers[at : at + number])
                at += number
        self._is_under_way = False

    def _fail(
        self, passengers: list[_Passenger[Question]] | deque[_Passenger[Question]], error: Exception
    ) -> None:
        while passengers:
            passengers.pop().result.set_exception(error)

    def _next(self) -> list[_Passenger[Question]]:
        passengers = [self._waiting.popleft()]
        number = len(passengers[0].questions)
        while self._waiting:
            number += len(self._waiting[0].questions)
            if number > MOST_AT_ONCE:
                break
            passengers.append(self._waiting.popleft())
        return passengers


class Shares:
    """So many at once of each: `with shares.of(whose):` waits until there is room for one more."""

    REMEMBERED = 1000

    def __init__(self, of_each: int) -> None:
        self._of_each = of_each
        self._taken: dict[str, Semaphore] = {}

    def of(self, whose: str) -> Semaphore:
        """The room for this one."""
        room = self._taken.get(whose)
        if room is None:
            self._forget()
            room = self._taken[whose] = Semaphore(self._of_each)
        return room

    def _forget(self) -> None:
        """Forget those who ask nothing now, when there are many."""
        if len(self._taken) >= self.REMEMBERED:
            self._taken = {
                whose: room for whose, room in self._taken.items() if room.counter < self._of_each
            }


class SingleFlight(Generic[Answer]):
    """Something to look for, with one look for all who ask at the same time.

    Never with one that began before they asked.
    """

    def __init__(self, look: Callable[[], Answer]) -> None:
        def go(askers: Sequence[None]) -> list[Answer]:
            return [look()] * len(askers)

        self._trips = SharedTrips(go)

    def get(self) -> Answer:
        """It. Raises what looking for it raised."""
        return self._trips.ask([None])[0]
