"""The store of games and players, which are read together in one round trip.

Time is that of the store's clock, read in the same round trip as the records that it is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from api.model.game import FORMAT, Account
from api.observability.context import current
from api.storage import games, players
from api.storage.client import Command, StoreClient
from api.storage.errors import readable
from api.storage.games import GameStore, StoredGame
from api.storage.matches import MatchStore
from api.storage.players import PlayerStore


class Reading(NamedTuple):
    """The result of one round trip: time (ms), account and game.

    `played_versions` are the versions of the items of a move played before, as JSON; `extra` has
    the replies to the extra commands, as they came. It is empty if the game was of an earlier
    format: the replies may be, too.
    """

    now: int
    account: Account | None
    stored: StoredGame | None
    played_versions: bytes | None
    extra: Sequence[Any]


class Store(GameStore, PlayerStore, MatchStore):
    """Typed access to stored games, players and queues, and to several in one round trip."""

    def __init__(self, client: StoreClient, stored_format: int = FORMAT) -> None:
        self.client = client
        self.stored_format = stored_format

    def read(
        self,
        player_id: str | None,
        game_id: str | None = None,
        move_key: str | None = None,
        extra: Sequence[Command] = (),
    ) -> Reading:
        """Read the time, an account, a game and a move played before, in one round trip.

        The time is that of the server that has the game, or else the player. An error of
        an extra command is not raised: it is among their replies.
        """
        if game_id is not None:
            commands = [games.time_command(game_id), games.game_command(game_id)]
        elif player_id is not None:
            commands = [players.time_command(player_id)]
        else:
            commands = [Command("", ("TIME",))]
        if player_id is not None:
            commands.append(players.account_command(player_id))
        if game_id is not None and move_key is not None:
            commands.append(games.played_command(game_id, move_key))
        replies = self.client.execute([*commands, *extra], keep_errors=True)
        own = iter(map(readable, replies[: len(commands)]))
        now = games.read_time(next(own))
        current().store_time = now
        stored = games.read_game(game_id, next(own)) if game_id is not None else None
        account = players.read_account(player_id, next(own)) if player_id is not None else None
        played_versions = next(own, None)
        if stored is not None and stored.is_earlier:
            return Reading(now, account, self.converted(stored.game.id), played_versions, ())
        return Reading(now, account, stored, played_versions, replies[len(commands) :])
