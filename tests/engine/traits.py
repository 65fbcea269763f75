"""What the conformance suite cannot find out of a ruleset by itself. One entry a ruleset."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from engine.parade import State as ParadeState


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


TRAITS: dict[str, Traits] = {
    "parade": Traits(inventory=parade_cards, secret_moves=frozenset({"discard"})),
}
