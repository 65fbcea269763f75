"""A match that forgets a case: mypy names the one that is missing."""

from typing import assert_never

from ludotheque_client.models import (
    ChooseSymbol,
    DiscardCards,
    GameStatus,
    MitListTable,
    ParadeTable,
    PickCells,
    PlayCard,
    RoundScored,
    StartCountdown,
    TakeCards,
    TeaTimeTable,
)
from switches import Event, Move, Table


def forgets_keep(move: Move) -> str:
    match move:
        case (
            PlayCard()
            | DiscardCards()
            | PickCells()
            | ChooseSymbol()
            | StartCountdown()
            | TakeCards()
        ):
            return move.type_
        case _:
            assert_never(move)


def forgets_contrast(table: Table) -> str:
    match table:
        case ParadeTable() | TeaTimeTable() | MitListTable():
            return table.ruleset
        case _:
            assert_never(table)


def forgets_cancelled(status: GameStatus) -> str:
    match status:
        case GameStatus.OPEN | GameStatus.PLAYING | GameStatus.FINISHED:
            return status.value
        case _:
            assert_never(status)


def forgets_all_but_one(event: Event) -> str:
    match event:
        case RoundScored():
            return event.type_
        case _:
            assert_never(event)
