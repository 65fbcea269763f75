"""What a player of Contrast knows from the first view and the events alone."""

from __future__ import annotations

from msgspec.structs import replace

from engine.contrast import (
    ContrastTable,
    Countdown,
    CountdownStarted,
    LastTurn,
    Phase,
    PictureShown,
    RowsRefreshed,
    SymbolChosen,
    SymbolsRevealed,
)
from engine.ruleset import Event, replaced


class ContrastRebuilder:
    """A table that is kept up to date by what one reader is told."""

    def __init__(self, first_view: ContrastTable) -> None:
        self.table = first_view

    def tell(self, event: Event) -> None:
        self.table = told(self.table, event)


def told(table: ContrastTable, event: Event) -> ContrastTable:
    """The table after an event."""
    match event:
        case PictureShown(picture=picture, pile_size=pile_size):
            return replace(table, picture=picture, pile_size=pile_size)
        case SymbolChosen(seat=seat, symbol=symbol):
            return replace(
                table,
                has_chosen=replaced(table.has_chosen, seat, True),
                choice=table.choice if symbol is None else symbol,
            )
        case CountdownStarted(by=by, missing=missing):
            return replace(table, countdown=Countdown(by, missing))
        case SymbolsRevealed():
            return turned_over(table, event)
        case RowsRefreshed(rows=rows, hands=hands):
            return replace(table, rows=rows, hands=hands)
        case _:
            raise AssertionError(f"Contrast tells no {event}")


def turned_over(table: ContrastTable, event: SymbolsRevealed) -> ContrastTable:
    """The turn is over; without a pile the game is, and there is no picture."""
    over = event.pile_size == 0
    return replace(
        table,
        phase=Phase.FINISHED if over else table.phase,
        picture=None if over else table.picture,
        pile_size=event.pile_size,
        box_size=event.box_size,
        scores=tuple(score + more for score, more in zip(table.scores, event.won, strict=True)),
        has_chosen=(False,) * len(table.has_chosen),
        choice=None,
        countdown=None,
        last_turn=LastTurn(event.choices, event.winning_symbol, event.counted_out),
    )
