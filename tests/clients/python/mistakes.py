"""What mypy must refuse: on each line with an `# expect:`, exactly that error, and no other."""

from ludotheque_client.models import (
    Choose,
    ContrastSymbol,
    Count,
    MoveBody,
    NewGameBody,
    Play,
    Take,
)
from switches import Move, Table

right: list[Move] = [
    Play(type_="play", card="red-0"),
    Count(type_="count"),
    Choose(type_="choose", symbol=ContrastSymbol.HEAVY),
]

unknown_type = Play(type_="fly", card="red-0")  # expect: arg-type
no_type = Play(card="red-0")  # expect: call-arg
missing_member = Play(type_="play")  # expect: call-arg
misspelt = Play(type_="play", crad="red-0")  # expect: call-arg
wrong_shape = Take(type_="take", cards="red-0")  # expect: arg-type
foreign_member = Count(type_="count", symbol=ContrastSymbol.HEAVY)  # expect: call-arg
unknown_symbol = ContrastSymbol.PURPLE  # expect: attr-defined
text_for_a_symbol = Choose(type_="choose", symbol="heavy")  # expect: arg-type
no_turn = MoveBody(move=Count(type_="count"))  # expect: call-arg
no_move_at_all = MoveBody(turn=1, move={"type": "count"})  # expect: arg-type
unknown_member = NewGameBody(ruleset="parade", seat_count=2, speed="fast")  # expect: call-arg


def narrow(move: Move, table: Table) -> list[object]:
    return [
        move.card,  # expect: union-attr
        table.parade,  # expect: union-attr
        isinstance(move, Play) and move.card,
    ]
