"""What mypy must refuse: on each line with an `# expect:`, exactly that error, and no other."""

from ludotheque_client.models import (
    ChooseSymbol,
    ContrastSymbol,
    MoveBody,
    NewGameBody,
    PlayCard,
    StartCountdown,
    TakeCards,
)
from switches import Move, Table

right: list[Move] = [
    PlayCard(type_="play", card="red-0"),
    StartCountdown(type_="count"),
    ChooseSymbol(type_="choose", symbol=ContrastSymbol.HEAVY),
]

unknown_type = PlayCard(type_="fly", card="red-0")  # expect: arg-type
no_type = PlayCard(card="red-0")  # expect: call-arg
missing_member = PlayCard(type_="play")  # expect: call-arg
misspelt = PlayCard(type_="play", crad="red-0")  # expect: call-arg
wrong_shape = TakeCards(type_="take", cards="red-0")  # expect: arg-type
foreign_member = StartCountdown(type_="count", symbol=ContrastSymbol.HEAVY)  # expect: call-arg
unknown_symbol = ContrastSymbol.PURPLE  # expect: attr-defined
text_for_a_symbol = ChooseSymbol(type_="choose", symbol="heavy")  # expect: arg-type
no_turn = MoveBody(move=StartCountdown(type_="count"))  # expect: call-arg
no_move_at_all = MoveBody(turn=1, move={"type": "count"})  # expect: arg-type
unknown_member = NewGameBody(ruleset="parade", seat_count=2, speed="fast")  # expect: call-arg


def narrow(move: Move, table: Table) -> list[object]:
    return [
        move.card,  # expect: union-attr
        table.parade,  # expect: union-attr
        isinstance(move, PlayCard) and move.card,
    ]
