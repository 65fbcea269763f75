"""The store of games and players, which are read together in one round trip.

Time is that of the store's clock, read in the same round trip as the records that it is about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from redis import RedisError

from api.concurrency.time_slices import long_work, pause
from api.model.game import FORMAT, Account
from api.observability.context import current
from api.storage import games, players
from api.storage.client import Command, StoreClient, execute_with
from api.storage.errors import Unreadable, readable
from api.storage.games import GameStore, StoredGame, Versions
from api.storage.history import Traces
from api.storage.matches import MatchStore
from api.storage.players import PlayerStore


class Reading(NamedTuple):
    """The result of one round trip: time (ms), account and game.

    `played_versions` are the versions of the items of a move played before; `extra` has the replies
    to the extra commands, as they came. It is empty if the game was of an earlier format: the
    replies may be, too.
    """

    now: int
    account: Account | None
    stored: StoredGame | None
    played_versions: Versions | None
    extra: Sequence[Any]


class GameReading(NamedTuple):
    """One of several games that were read: time (ms), game, and the moves played before.

    `played_versions` are, by the keys of the moves, the versions of their items.
    """

    now: int
    stored: StoredGame | None
    played_versions: Mapping[str, Versions]


class Store(GameStore, PlayerStore, MatchStore):
    """Typed access to stored games, players and queues, and to several in one round trip."""

    def __init__(self, client: StoreClient, stored_format: int = FORMAT) -> None:
        self.client = client
        self.stored_format = stored_format
        self.traces = Traces()

    def read(
        self,
        player_id: str | None,
        game_id: str | None = None,
        move_key: str | None = None,
        extra: Sequence[Command] = (),
    ) -> Reading:
        """Read the time, an account, a game and a move played before, in one round trip.

        The time is that of the server that has the game, or else the player. An error of
        an extra command is not raised: it is among their replies. What the request has deferred
        is sent as well, and raises what its receivers raise.
        """
        move_keys = () if move_key is None else (move_key,)
        if game_id is not None:
            commands = [games.time_command(game_id), games.game_command(game_id, move_keys)]
        elif player_id is not None:
            commands = [players.time_command(player_id)]
        else:
            commands = [Command("", ("TIME",))]
        if player_id is not None:
            commands.append(players.account_command(player_id))
        replies = execute_with(self.client, [*commands, *extra], current().take_deferred())
        own = iter(map(readable, replies[: len(commands)]))
        now = games.read_time(next(own))
        current().store_time = now
        reply = next(own) if game_id is not None else None
        stored = games.read_game(game_id, reply) if game_id is not None else None
        account = players.read_account(player_id, next(own)) if player_id is not None else None
        if stored is not None and stored.is_earlier:
            whole = self.converted(stored.game.id)
            if whole is None:
                return Reading(now, account, None, None, ())
            played_versions = whole.played.get(move_key or "")
            return Reading(now, account, whole.stored, played_versions, ())
        played = games.read_played(stored, move_keys, reply)
        played_versions = played.get(move_key or "")
        return Reading(now, account, stored, played_versions, replies[len(commands) :])

    def read_games(
        self, player_id: str, move_keys: Mapping[str, Sequence[str]]
    ) -> tuple[Reading, dict[str, GameReading | RedisError | Unreadable]]:
        """Read an account and, by their ids, some games and moves played before, in one round trip.

        `move_keys` are those of the moves in each game. The error of a game stands in its place.
        """
        commands = [players.time_command(player_id), players.account_command(player_id)]
        for game_id, keys in move_keys.items():
            commands += [
                games.time_command(game_id),
                games.game_command(game_id, keys),
            ]
        replies = iter(execute_with(self.client, commands, current().take_deferred()))
        now = games.read_time(readable(next(replies)))
        current().store_time = now
        account = players.read_account(player_id, readable(next(replies)))
        found: dict[str, GameReading | RedisError | Unreadable] = {}
        with long_work():
            for game_id, keys in move_keys.items():
                pause()
                time, reply = next(replies), next(replies)
                try:
                    stored = games.read_game(game_id, reply)
                    found[game_id] = GameReading(
                        games.read_time(readable(time)),
                        stored,
                        games.read_played(stored, keys, reply),
                    )
                except (RedisError, Unreadable) as error:
                    found[game_id] = error
        return Reading(now, account, None, None, ()), found
