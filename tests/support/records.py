"""Stored records that tests make up."""

from __future__ import annotations

from typing import Any

from api.model.game import PUBLIC, Game, Player, SeatRecord, raw

ADA = Player("a" * 32, "Ada", "bot")
BOB = Player("b" * 32, "Bob", "human")


def make_game(**members: Any) -> Game:
    """Return an open game that Ada hosts and sits in, or one with these members."""
    seats = members.pop("seats", (SeatRecord(player=ADA), SeatRecord()))
    defaults: dict[str, Any] = {
        "id": "0" * 32,
        "ruleset": "parade",
        "seat_count": len(seats),
        "options": raw({}),
        "visibility": PUBLIC,
        "invite": None,
        "host": ADA,
        "seats": seats,
        "created_at": 1,
        "updated_at": 1,
    }
    return Game(**{**defaults, **members})
