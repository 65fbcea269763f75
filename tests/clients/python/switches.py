"""One match over every union of the document, with no case left out.

Each is an error for mypy as soon as the document has a variant that is not here, or one is
here that it lacks.
"""

from typing import assert_never

from ludotheque_client.models import (
    AliceLaid,
    CardDrawn,
    CardPlayed,
    CardsCollected,
    CardsDiscarded,
    CardsPicked,
    CardsTaken,
    ChooseSymbol,
    ColorsKept,
    ContrastBreakdown,
    ContrastPhase,
    ContrastTable,
    CountdownStarted,
    DiscardCards,
    GameCancelled,
    GameFinished,
    GameStarted,
    GameStatus,
    GridLaid,
    HandsLaidDown,
    ItemCause,
    KeepColors,
    LastRoundStarted,
    MitListBreakdown,
    MitListPhase,
    MitListPlayPreview,
    MitListTable,
    MitListTakePreview,
    NothingPreview,
    OptionType,
    ParadeBreakdown,
    ParadePhase,
    ParadePlayPreview,
    ParadeTable,
    PickCells,
    PictureShown,
    PlayCard,
    RoundScored,
    RoundStarted,
    RowsRefreshed,
    SeatHandedOver,
    SeatLeft,
    SeatTaken,
    SeatTakenBack,
    StartCountdown,
    SymbolChosen,
    SymbolsRevealed,
    TakeCards,
    TeaTimeBreakdown,
    TeaTimePhase,
    TeaTimePickPreview,
    TeaTimeTable,
    TimeRanOut,
    TrickCompleted,
)

Move = ChooseSymbol | StartCountdown | DiscardCards | KeepColors | PickCells | PlayCard | TakeCards
Table = ContrastTable | MitListTable | ParadeTable | TeaTimeTable
Preview = (
    MitListPlayPreview
    | MitListTakePreview
    | NothingPreview
    | ParadePlayPreview
    | TeaTimePickPreview
)
Breakdown = ContrastBreakdown | MitListBreakdown | ParadeBreakdown | TeaTimeBreakdown
Event = (
    AliceLaid
    | CardDrawn
    | CardPlayed
    | CardsCollected
    | CardsDiscarded
    | CardsPicked
    | CardsTaken
    | ColorsKept
    | CountdownStarted
    | GameCancelled
    | GameFinished
    | GameStarted
    | GridLaid
    | HandsLaidDown
    | LastRoundStarted
    | PictureShown
    | RoundScored
    | RoundStarted
    | RowsRefreshed
    | SeatHandedOver
    | SeatLeft
    | SeatTaken
    | SeatTakenBack
    | SymbolChosen
    | SymbolsRevealed
    | TimeRanOut
    | TrickCompleted
)


def retold(move: Move) -> Move:
    """The same move, put together again from what its type is known to have."""
    match move:
        case PlayCard():
            return PlayCard(type_="play", card=move.card)
        case DiscardCards():
            return DiscardCards(type_="discard", cards=[*move.cards])
        case PickCells():
            return PickCells(type_="pick", cells=[*move.cells])
        case ChooseSymbol():
            return ChooseSymbol(type_="choose", symbol=move.symbol)
        case StartCountdown():
            return StartCountdown(type_="count")
        case TakeCards():
            return TakeCards(type_="take", cards=[*move.cards])
        case KeepColors():
            return KeepColors(type_="keep", colors=[*move.colors])
        case _:
            assert_never(move)


def seat_count(table: Table) -> int:
    """Which seats a table has something of."""
    match table:
        case ParadeTable() | TeaTimeTable():
            return len(table.collections)
        case ContrastTable():
            return len(table.rows)
        case MitListTable():
            return len(table.piles)
        case _:
            assert_never(table)


def is_finished(table: Table) -> bool:
    """Whether a table says that its game is over."""
    match table.phase:
        case ParadePhase.PLAY | ParadePhase.LAST_ROUND | ParadePhase.DISCARD:
            return False
        case TeaTimePhase.PLAY | ContrastPhase.CHOOSE:
            return False
        case MitListPhase.PLAY | MitListPhase.TAKE | MitListPhase.KEEP:
            return False
        case ParadePhase.FINISHED | TeaTimePhase.FINISHED:
            return True
        case ContrastPhase.FINISHED | MitListPhase.FINISHED:
            return True
        case _:
            assert_never(table.phase)


def foreseen(preview: Preview) -> int:
    """How many cards a move is known to concern before it is played."""
    match preview:
        case ParadePlayPreview():
            return len(preview.collected)
        case TeaTimePickPreview():
            return len(preview.cards)
        case MitListPlayPreview():
            return 0 if preview.high is None else 1
        case MitListTakePreview() | NothingPreview():
            return 0
        case _:
            assert_never(preview)


def totals(breakdown: Breakdown) -> list[int]:
    """The scores by seat that a breakdown adds up to."""
    match breakdown:
        case ParadeBreakdown():
            return [sum(line.points for line in seat.colors) for seat in breakdown.seats]
        case TeaTimeBreakdown():
            return [
                sum(line.points for line in seat.characters) + seat.alice
                for seat in breakdown.seats
            ]
        case ContrastBreakdown():
            return breakdown.pictures or [breakdown.points or 0] * 2
        case MitListBreakdown():
            by_seat = zip(*breakdown.rounds, strict=True)
            return [sum(line.points for line in lines) for lines in by_seat]
        case _:
            assert_never(breakdown)


def concerned(event: Event) -> list[int | None]:
    """An event's seats: whose it is, or none if it is everybody's."""
    match event:
        case SeatTaken() | SeatLeft() | SeatHandedOver() | SeatTakenBack() | TimeRanOut():
            return [event.seat]
        case CardPlayed() | CardsCollected() | CardDrawn() | LastRoundStarted() | CardsDiscarded():
            return [event.seat]
        case CardsPicked() | AliceLaid() | SymbolChosen() | CardsTaken() | ColorsKept():
            return [event.seat]
        case CountdownStarted():
            return [event.by, event.missing]
        case RoundStarted():
            return [event.dealer, event.leader]
        case TrickCompleted():
            return [event.high, event.low]
        case GameFinished():
            return [*event.result.winners]
        case GameStarted() | GameCancelled() | HandsLaidDown() | GridLaid() | PictureShown():
            return []
        case SymbolsRevealed() | RowsRefreshed() | RoundScored():
            return []
        case _:
            assert_never(event)


def can_go_on(status: GameStatus) -> bool:
    """Whether a game can still go on."""
    match status:
        case GameStatus.OPEN | GameStatus.PLAYING:
            return True
        case GameStatus.FINISHED | GameStatus.CANCELLED:
            return False
        case _:
            assert_never(status)


def is_of_somebody(cause: ItemCause) -> bool:
    """Whether somebody at the table did it."""
    match cause:
        case ItemCause.PLAYER | ItemCause.HOUSE:
            return True
        case ItemCause.CLOCK | ItemCause.TABLE:
            return False
        case _:
            assert_never(cause)


def fits(option_type: OptionType, value: object) -> bool:
    """Whether a value is one that an option of this type may have."""
    match option_type:
        case OptionType.BOOLEAN:
            return isinstance(value, bool)
        case OptionType.INTEGER:
            return isinstance(value, int)
        case OptionType.STRING:
            return isinstance(value, str)
        case OptionType.STRINGS:
            return isinstance(value, list) and all(isinstance(each, str) for each in value)
        case _:
            assert_never(option_type)
