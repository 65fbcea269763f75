"""What card games share: playing a card, and the check of a deal. Knows no game's rules."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Annotated

from engine.published import described
from engine.ruleset import Card, Event, IllegalMove, InvalidDeal, Move, Seat


class Play(Move, frozen=True, tag="play"):
    """Play a hand card."""

    card: Card
    """A card of the seat's hand."""


class CardPlayed(Event, frozen=True, tag="card_played"):
    """A seat played a card."""

    seat: Annotated[Seat, described("The seat that played.")]
    card: Annotated[Card, described("The card, visible to all.")]


def card_not_in_hand(card: Card, cards: Collection[Card]) -> IllegalMove:
    """The refusal of a move with a card that the seat does not hold; `cards` are the game's."""
    wrong = f"{card} is not in your hand" if card in cards else f"There is no card {card}"
    return IllegalMove("card_not_in_hand", f"{wrong}. Choose a card of your hand.")


Path = tuple[str | int, ...]
"""The steps from a deal to one of its members: names and indexes."""


def check_seat(seat: Seat, seats: int, member: str) -> None:
    """Raise `InvalidDeal` unless this member of a deal names one of the seats."""
    if not 0 <= seat < seats:
        raise InvalidDeal(f"There is no seat {seat}. The seats are 0 to {seats - 1}.", (member,))


def check_hand_sizes(
    hands: Sequence[Sequence[Card]], seats: int, hand_size: int, path: Path
) -> None:
    """Raise `InvalidDeal` unless each seat is dealt a hand of this size."""
    if len(hands) != seats:
        raise InvalidDeal(f"{len(hands)} hands are dealt. {seats} seats need {seats}.", path)
    for seat, hand in enumerate(hands):
        if len(hand) != hand_size:
            raise InvalidDeal(
                f"The hand has {len(hand)} cards. Each hand is dealt {hand_size}.", (*path, seat)
            )


def check_dealt_once(cards: Collection[Card], dealt: Iterable[tuple[Path, Sequence[Card]]]) -> None:
    """Check that the lists of a deal hold each card of a game exactly once, and no other card.

    Each list comes with its path in the deal.

    >>> check_dealt_once(("red-1", "red-2"), [(("hands", 0), ["red-2"]), (("pile",), ["red-2"])])
    Traceback (most recent call last):
    engine.ruleset.InvalidDeal: red-2 is dealt twice. Deal each card once.

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
            if card in cards:
                raise InvalidDeal(f"{card} is dealt twice. Deal each card once.", (*path, index))
            raise InvalidDeal(
                f"This game has no card {card[:24]!r}. Deal each of its cards once.", (*path, index)
            )
    if missing:
        raise InvalidDeal(
            f"{len(missing)} of {len(cards)} cards are missing. Deal each card once.", path
        )
