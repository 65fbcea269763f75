"""Queues of open games that were made by the same wish.

A queue is a hint, the games are the truth: a reader says what it knows of them when it takes a
seat. A reservation holds a seat until its player has joined or created the game, or was refused. It
lapses soon, so a request that fails in between blocks the seat only briefly, and a game that its
creator did not store is created by the next player.

| key | holds |
| --- | --- |
| `match:{WISH}` | string: the games, oldest first, with their reservations, as JSON |

`WISH` is a digest of all that the players want (see `api.games.matching`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from api.model.game import Game, Time
from api.model.retention import COMMIT_MS
from api.storage.client import Command, Script, StoreClient
from api.storage.codec import decode, encode
from api.storage.errors import Unreadable, count_failure, readable

ASSIGN_SEAT = Script.load("assign_seat")
RELEASE_SEAT = Script.load("release_seat")

RESERVATION_MS = 10_000
"""How long a reservation holds a seat."""

MAX_LISTED = 1000
"""How many games a queue has at most.

There are so many only while as many games are being filled at once.
"""


class KnownGame(Struct, frozen=True):
    """What a request knows of an open game: its players, and those that left it.

    `is_refused`: the request cannot have a seat in it, and looks for another game.
    """

    seated: tuple[str, ...]
    left: tuple[str, ...] = ()
    is_refused: bool = False


CLOSED: Literal["closed"] = "closed"
"""A game that no player can join any more."""

MISSING: Literal["missing"] = "missing"
"""A game that is not stored: its creator is about to store it, or failed to."""

Known = KnownGame | Literal["closed", "missing"]


class _Listed(Struct, frozen=True):
    id: str
    at: Time
    seats: dict[str, Time]


_queue_decoder = msgspec.json.Decoder(list[_Listed])


class MatchStore:
    """Access to the queues. Any call may raise `redis.RedisError`."""

    client: StoreClient

    def queue(self, wish: str, reply: Any) -> list[str]:
        """Return the ids of the games of a queue, oldest first, from the reply to `queue_command`.

        A damaged queue is deleted.
        """
        try:
            stored = readable(reply)
            return [] if stored is None else [each.id for each in decode(_queue_decoder, stored)]
        except Unreadable as error:
            count_failure(error)
            self.client.execute([Command(_key(wish), ("UNLINK", _key(wish)))])
            return []

    def assign_seat(
        self,
        wish: str,
        player_id: str,
        new_game: Game,
        known: Mapping[str, Known],
        ttl_ms: int,
    ) -> str | None:
        """Reserve a seat for a player, and return the id of the game; None if the queue is full.

        It is the one where the player has a reservation or is seated, else the oldest with a free
        seat, else the new one; games that are stored come first. `known` is the truth of the listed
        games.
        """
        # In the order of assign_seat.lua's ARGV.
        args: Sequence[Any] = (
            player_id,
            new_game.id,
            new_game.seat_count,
            encode(known),
            RESERVATION_MS,
            COMMIT_MS,
            MAX_LISTED,
            ttl_ms,
        )
        (game_id,) = self.client.execute([ASSIGN_SEAT.call(_key(wish), args=args)], durable=True)
        return None if game_id is None else str(game_id.decode())

    def release_seat(self, wish: str, player_id: str, game_id: str) -> None:
        """Remove a player's reservation in a game."""
        self.client.execute([RELEASE_SEAT.call(_key(wish), args=(player_id, game_id))])


def queue_command(wish: str) -> Command:
    """Return the command that reads a queue; `MatchStore.queue` decodes its reply."""
    return Command(_key(wish), ("GET", _key(wish)))


def _key(wish: str) -> str:
    return f"match:{{{wish}}}"
