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

    ``secret_moves``: the types of move that the other seats learn only the fact of.
    """

    inventory: Callable[[Any], Iterable[str]]
    secret_moves: frozenset[str] = frozenset()


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


TRAITS: dict[str, Traits] = {
    "parade": Traits(inventory=parade_cards, secret_moves=frozenset({"discard"})),
    "tea-time": Traits(inventory=tea_time_cards),
    "contrast": Traits(inventory=contrast_cards, secret_moves=frozenset({"choose"})),
    "mit-list-und-tuecke": Traits(inventory=mit_list_cards),
}
