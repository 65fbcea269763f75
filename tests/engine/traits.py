"""What the conformance suite cannot find out of a ruleset by itself. One entry a ruleset."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from engine.contrast import State as ContrastState
from engine.mit_list_und_tuecke import State as MitListState
from engine.parade import State as ParadeState
from engine.tea_time import ALICE, CHARACTER_OF
from engine.tea_time import State as TeaTimeState


@dataclass(frozen=True)
class Traits:
    """``inventory(state)``: the things from the box that are in a position, wherever they are,
    each as often as it is there. It stays the same from the first position to the last.

    ``totals(breakdown, seats)``: by seat, the score that a breakdown in JSON adds up to.

    ``secret_moves``: the types of move that the other seats learn only the fact of.

    ``plays_together(seats)``: whether this many seats win or lose together.
    """

    inventory: Callable[[Any], Iterable[str]]
    totals: Callable[[Any, int], list[int]]
    secret_moves: frozenset[str] = frozenset()
    plays_together: Callable[[int], bool] = lambda seats: False


def parade_cards(state: ParadeState) -> Iterable[str]:
    """The parade, the pile, and every hand, collection and discard."""
    yield from state.parade
    yield from state.pile
    for of_seats in (state.hands, state.collections, state.discards):
        for cards in of_seats:
            yield from cards or ()


def tea_time_cards(state: TeaTimeState) -> Iterable[str]:
    """The characters in the pile, the grid, the collections and out of the game; and Alice."""
    yield from state.pile
    yield from state.out
    for cards in (state.grid, *state.collections):
        yield from (CHARACTER_OF.get(card, card) for card in cards if card)
    if state.alice_holder is not None:
        yield ALICE


def contrast_cards(state: ContrastState) -> Iterable[str]:
    """The pictures, wherever they went, and each seat's symbol cards."""
    yield from (*state.pile, *state.shown, *state.unshown)
    for of_seat in (*state.rows, *state.hands):
        yield from of_seat


def mit_list_cards(state: MitListState) -> Iterable[str]:
    """Every hand, the trick, the piles before each seat, and what was discarded."""
    for hand in state.hands:
        yield from hand
    yield from (played.card for played in state.trick)
    for winnings in state.winnings:
        for pile in (*winnings.piles, winnings.face_down):
            yield from pile
    yield from state.discarded


def parade_totals(breakdown: Any, seats: int) -> list[int]:
    """The points of all colours."""
    return [sum(of_color["points"] for of_color in each["colors"]) for each in breakdown["seats"]]


def tea_time_totals(breakdown: Any, seats: int) -> list[int]:
    """The points of all characters, and those for Alice."""
    return [
        sum(of_character["points"] for of_character in each["characters"]) + each["alice"]
        for each in breakdown["seats"]
    ]


def contrast_totals(breakdown: Any, seats: int) -> list[int]:
    """The pictures of each seat, or the points that two seats share."""
    if breakdown["pictures"] is None:
        return [breakdown["points"]] * seats
    assert breakdown["points"] is breakdown["goal"] is None
    return list(breakdown["pictures"])


def mit_list_totals(breakdown: Any, seats: int) -> list[int]:
    """The points of all rounds, of which there are as many as seats."""
    assert len(breakdown["rounds"]) == seats
    return [
        sum(of_round[seat]["points"] for of_round in breakdown["rounds"]) for seat in range(seats)
    ]


TRAITS: dict[str, Traits] = {
    "parade": Traits(parade_cards, parade_totals, secret_moves=frozenset({"discard"})),
    "tea-time": Traits(tea_time_cards, tea_time_totals),
    "contrast": Traits(
        contrast_cards,
        contrast_totals,
        secret_moves=frozenset({"choose"}),
        plays_together=lambda seats: seats == 2,
    ),
    "mit-list-und-tuecke": Traits(mit_list_cards, mit_list_totals),
}
