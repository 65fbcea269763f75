"""What the games that are played with cards share: a move, its event, and the check of a deal.

Nothing here knows any game's rules.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Annotated

from engine.published import described
from engine.ruleset import Card, Event, InvalidDeal, Move, Seat


class Play(Move, frozen=True, tag="play"):
    """Play a hand card."""

    card: Card
    """A card of the seat's hand."""


class CardPlayed(Event, frozen=True, tag="card_played"):
    """A seat played a card."""

    seat: Annotated[Seat, described("Who played.")]
    card: Annotated[Card, described("The card, which all see.")]


Path = tuple[str | int, ...]
"""The names and numbers that lead to a member of a deal."""


def check_dealt_once(cards: Collection[Card], dealt: Iterable[tuple[Path, Sequence[Card]]]) -> None:
    """Check that the lists of a deal hold each card of a game exactly once, and no other card.

    Each list comes with the path that leads to it.

    >>> check_dealt_once(("red-1", "red-2"), [(("hands", 0), ["red-2"]), (("pile",), ["red-2"])])
    Traceback (most recent call last):
    engine.ruleset.InvalidDeal: red-2 is dealt twice.

    Raises:
        InvalidDeal: a card is unknown or dealt twice, or cards are missing from the last list.
    """
    missing = set(cards)
    path: Path = ()
    for path, dealt_here in dealt:
        for index, card in enumerate(dealt_here):
            if card in missing:
                missing.remove(card)
                continue
            is_known = card in cards
            wrong = f"{card} is dealt twice." if is_known else "This game has no such card."
            raise InvalidDeal(wrong, (*path, index))
    if missing:
        raise InvalidDeal(f"{len(missing)} of {len(cards)} cards are missing.", path)
