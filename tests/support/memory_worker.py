"""One worker's services without HTTP, on the store in memory: what the views call."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from random import Random
from types import SimpleNamespace
from typing import Any

import gevent
import msgspec
import pytest
from msgspec.structs import replace

from api.config.settings import Settings
from api.games.creation import GameCreation
from api.games.matching import Matching
from api.games.move_batches import MoveBatches
from api.games.moves import Moves, require_seat
from api.games.players import Credentials, Players, read_credentials
from api.games.queries import Queries
from api.games.tables import Tables
from api.games.transactions import LoadedGame, Transactions
from api.games.turns import TurnQueries
from api.live.event_streams import EventStreams
from api.live.hub import Hub
from api.live.long_polls import LongPolls
from api.live.quota import Quota
from api.live.tickets import Tickets
from api.live.turn_streams import TurnStreams
from api.model.game import FORMAT, Game, HistoryItem
from api.problems.problem import Problem
from api.ratelimit.limiter import Limiter
from api.storage.indexes import Indexes
from api.storage.store import Store
from api.web.wiring import make_retention
from tests.support.fake_clock import FakeClock
from tests.support.memory_store import MemoryClient, MemoryNodes, to_bytes
from tests.support.steps import complete

NO_SEAT_LIMITS: Any = SimpleNamespace(
    check=lambda game, player: None, count=lambda game, player: []
)


@contextmanager
def refused(code: str) -> Iterator[pytest.ExceptionInfo[Problem]]:
    """What is done here is refused with this problem."""
    with pytest.raises(Problem) as caught:
        yield caught
    assert caught.value.code == code


def matches_anything(tag: str) -> bool:
    return True


class MemoryWorker:
    """A worker's services, and what tests do with them again and again.

    Two workers share a store if the second one is made with the client of the first.
    """

    def __init__(
        self,
        clock: FakeClock,
        client: MemoryClient | None = None,
        quota: Quota | None = None,
        stored_format: int = FORMAT,
    ) -> None:
        self.clock = clock
        self.client = client or MemoryClient(clock.monotonic)
        self.nodes = MemoryNodes(self.client)
        self.retention = make_retention(Settings())
        self.store = Store(self.client, stored_format)
        self.players = Players(self.store, self.retention)
        self.indexes = Indexes(self.client, self.store, self.retention)
        self.transactions = Transactions(self.store, self.indexes, self.players, self.retention)
        self.transactions.rng = Random(1)
        self.tables = Tables(self.transactions, NO_SEAT_LIMITS)
        self.creation = GameCreation(self.transactions, self.tables)
        self.limiter = Limiter(self.client, ())
        self.matching = Matching(self.transactions, self.tables, self.creation, self.limiter)
        self.moves = Moves(self.transactions)
        self.move_batches = MoveBatches(self.moves)
        self.queries = Queries(self.transactions, self.store, self.indexes, self.players)
        self.turns = TurnQueries(self.transactions, self.store, self.indexes, self.players)
        self.hub = Hub(self.store, self.indexes, self.transactions, self.nodes)
        self.quota = quota or Quota(1000, 1000, 1000)
        self.long_polls = LongPolls(self.hub, self.quota, self.queries, self.turns)
        tickets = Tickets(self.store, self.retention)
        self.event_streams = EventStreams(self.hub, self.quota, tickets, self.queries)
        self.turn_streams = TurnStreams(self.hub, self.quota, tickets, self.turns)
        self._greenlets: list[gevent.Greenlet] = []

    def close(self) -> None:
        """End what runs in the background."""
        self.hub.stop()
        self.clock.settle()
        gevent.killall(self._greenlets)

    def start(self, act: Any, *args: Any, **options: Any) -> gevent.Greenlet:
        """A request of its own, with all its waits; the clock has its result."""

        def run() -> Any:
            result = act(*args, **options)
            return complete(result) if isinstance(result, Generator) else result

        self._greenlets.append(gevent.spawn(run))
        self.clock.settle()
        return self._greenlets[-1]

    # --- Players and games -------------------------------------------------------------

    def player(self, name: str = "Ada") -> Credentials:
        credentials = read_credentials(f"Bearer {self.players.create(name, 'bot').token}")
        assert credentials is not None
        return credentials

    def rotated(self, player: Credentials) -> Credentials:
        """The player's next token, which replaces the present one when it is first used."""
        credentials = read_credentials(f"Bearer {self.players.rotate_token(player).token}")
        assert credentials is not None
        return credentials

    def create(self, host: Credentials, seat_count: int = 2, **members: Any) -> str:
        """The id of a new game."""
        body: Any = {"ruleset": "parade", "seat_count": seat_count, **members}
        loaded, _ = self.creation.create(host, body, None)
        return loaded.game.id

    def match(
        self, player: Credentials, seat_count: int = 2, key: str | None = None, **members: Any
    ) -> LoadedGame:
        body: Any = {"ruleset": "parade", "seat_count": seat_count, **members}
        return self.matching.match(player, body, key)

    def join(self, player: Credentials, game_id: str, invite: str | None = None) -> LoadedGame:
        return self.tables.join(player, game_id, None, invite)

    def seated(self, *players: Credentials, **members: Any) -> str:
        """The id of a game with these players in their seats, in order, that has started."""
        game_id = self.create(players[0], len(players), **members)
        for player in players[1:]:
            self.join(player, game_id)
        assert self.game(game_id).status == "playing"
        return game_id

    def leave(self, player: Credentials, game_id: str) -> LoadedGame:
        return self.tables.leave(player, game_id, matches_anything)

    def cancel(self, host: Credentials, game_id: str) -> LoadedGame:
        return self.tables.cancel(host, game_id, matches_anything)

    def load(self, player: Credentials | None, game_id: str) -> LoadedGame:
        return self.transactions.load(player, game_id)

    def game(self, game_id: str) -> Game:
        """A game as it is stored."""
        found = self.store.read(None, game_id).stored
        assert found is not None
        return found.game

    def items(self, game_id: str, first: int = 1, last: int = 1000) -> list[HistoryItem]:
        """A part of the history of a game, as a worker derives it that has not met the game."""
        store = Store(self.client, self.store.stored_format)
        return list(store.history_part(self.game(game_id), first, last).items)

    def change(self, game_id: str, **members: Any) -> None:
        """Store another document of a game, as no commit would: nothing is published."""
        key = f"game:{{{game_id}}}"
        changed = replace(self.game(game_id), **members)
        pairs = ["game", msgspec.json.encode(changed), "version", changed.version]
        self.client.hset(*map(to_bytes, (key, *pairs, "commit", changed.commit)))

    def mover(self, players: tuple[Credentials, ...], game_id: str) -> Credentials:
        """The first player to move. The players are in the order of their seats."""
        return players[self.game(game_id).to_move[0]]

    def move(self, players: tuple[Credentials, ...], game_id: str, move: Any = None) -> None:
        """The player to move makes this move, or the first legal one."""
        mover = self.mover(players, game_id)
        loaded = self.load(mover, game_id)
        assert loaded.game.turn is not None
        move = move or self.moves.list_legal(loaded, require_seat(loaded), previews=False).moves[0]
        self.moves.play(mover, game_id, loaded.game.turn, move, matches_anything)
