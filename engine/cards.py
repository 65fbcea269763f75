"""What the games that are played from hands of cards share: the move and its event.

Nothing here knows any game's rules.
"""

from __future__ import annotations

from engine.ruleset import Card, Event, Move, Seat


class Play(Move, frozen=True, tag="play"):
    """Play a hand card."""

    card: Card


class CardPlayed(Event, frozen=True, tag="card_played"):
    """A seat played a card."""

    seat: Seat
    card: Card
