"""Stores with many games in them, filled quickly.

One game is played over HTTP. Copies of it, as it was at some moments, with ids and players of their
own, are written by the service's own code (`api.games.transactions`, `api.storage.games`,
`api.storage.indexes`): the same keys, entries and lives as if each had been played. Only the round
trips are saved, as what it asks of the store goes out many commands at a time.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from api.config.settings import Settings
from api.games.players import Players, new_id
from api.games.transactions import Transactions
from api.model.events import BY_PLAYER, SeatLeft, SeatTaken
from api.model.game import Game, HistoryItem, Player, StoredDeal, public_item
from api.storage.client import Command, StoreClient
from api.storage.games import Change, Commit, played_field, played_moves, played_value
from api.storage.indexes import Indexes
from api.storage.keys import game_key
from api.storage.store import Store
from api.web.wiring import Services, make_retention, make_services
from bench.games import Planned
from bench.running import Caller, Running
from engine.ruleset import Seat

AT_ONCE = 2000
"""So many commands go out together."""

GAMES_EACH = 40
"""In so many games a player of the stock may be; of more than 100 nobody can be."""

ENDED_EACH = 1000
"""The same for games that ended, of which a player may have any number."""

MIX = ("open", "half", "half", "ended", "ended")
"""What the games in a store are, again and again."""

READS = ("LRANGE", "HMGET")

HOUR_MS = 60 * 60 * 1000


class Seated(NamedTuple):
    """A player of copied games: its id and its token."""

    id: str
    token: str


class Moment(NamedTuple):
    """A game as it was at some time: all that the store has of it, with its own id in it."""

    id: str
    game: bytes
    state: bytes | None
    items: bytes
    deal: StoredDeal | None

    @classmethod
    def of(cls, services: Services, game_id: str) -> Moment:
        """A game as it is now."""
        store = services.store
        found = store.read(None, game_id).stored
        assert found is not None
        deal, items = store.deal_and_items(found)
        position = found.position
        state = None if position is None else msgspec.json.encode(position)
        encode = msgspec.json.encode
        return cls(game_id, encode(found.game), state, encode(items), deal)


class Template(NamedTuple):
    """A game at its moments, the ids of its players, and its moves from the start to the end."""

    moments: dict[str, Moment]
    players: list[str]
    plan: Planned

    @classmethod
    def play(cls, running: Running, plan: Planned) -> Template:
        """Play a planned game, and keep it as it is on the way; of an open one, one like it."""
        caller, services = Caller(running.port), services_on(running)
        moments = {"start": Moment.of(services, plan.id)}
        game = caller.ask("GET", f"/v1/games/{plan.id}")
        body = {"ruleset": game["ruleset"], "seat_count": game["seat_count"]}
        like = caller.ask("POST", "/v1/games", plan.tokens[0], body)["id"]
        moments["open"] = Moment.of(services, like)
        plan.play(caller, 0, plan.half)
        moments["half"] = Moment.of(services, plan.id)
        plan.play(caller, plan.half, len(plan.moves) - 1)
        moments["last"] = Moment.of(services, plan.id)
        plan.play(caller, len(plan.moves) - 1, len(plan.moves))
        moments["ended"] = Moment.of(services, plan.id)
        return cls(moments, [token.partition(".")[0] for token in plan.tokens], plan)

    def game(self, moment: str) -> Game:
        """The game without its position, as it was at a moment."""
        return msgspec.json.decode(self.moments[moment].game, type=Game)

    def mover(self, moment: str) -> Seat:
        """Who was to move."""
        return self.game(moment).to_move[0]


class Batch:
    """A link to the store that sends what it is asked to write many commands at a time.

    It answers at once that all has been done; `flush` raises if it cannot be. What reads a game is
    sent at once.
    """

    publish = "PUBLISH"
    waits_for_replicas = False

    def __init__(self, client: StoreClient) -> None:
        self._link = client
        self._commands: list[Command] = []

    def execute(
        self, commands: Sequence[Command], *, durable: bool = False, keep_errors: bool = False
    ) -> list[Any]:
        if any(each.words[0] in READS for each in commands):
            self.flush()
            return self._link.execute(commands, keep_errors=keep_errors)
        self._commands += commands
        if len(self._commands) >= AT_ONCE:
            self.flush()
        return [1] * len(commands)

    def execute_on_all(self, *words: Any) -> dict[str, Any]:
        return self._link.execute_on_all(*words)

    def flush(self) -> None:
        """Send what has not been sent."""
        commands, self._commands = self._commands, []
        if commands:
            self._link.execute(commands)


class Stock:
    """Copies of a game in a store."""

    def __init__(self, running: Running, template: Template) -> None:
        services = services_on(running)
        self.template = template
        self._now = services.store.read(None).now
        self._created_at = self._now - HOUR_MS
        self._batch = Batch(services.store.client)
        store = Store(self._batch)
        lives = self._lives = make_retention(Settings())
        # Players are stored at once: the answer has the time of the store.
        self._accounts = Players(services.store, lives)
        self._indexes = Indexes(self._batch, store, lives)
        self._desk = Transactions(store, self._indexes, self._accounts, lives)

    def players(self) -> list[Seated]:
        """New players, as many as the game has."""
        answers = [self._accounts.create("Bench", "bot") for _ in self.template.players]
        return [Seated(each.id, each.token) for each in answers]

    def fill(self, number: int) -> list[str]:
        """So many games of all kinds, and players for them; the ids of those in play."""
        in_play = []
        for made in range(number):
            if made % GAMES_EACH == 0:
                players = self.players()
            moment = MIX[made % len(MIX)]
            game_id = self.copy(moment, players)
            if moment == "half":
                in_play.append(game_id)
        self.flush()
        return in_play

    def fill_ended(self, number: int) -> None:
        """Store the documents and index entries of games that ended, and players for them.

        Their histories and positions are left out: a list reads none.
        """
        half, ended = (self.template.game(each) for each in ("half", "ended"))
        for made in range(number):
            if made % ENDED_EACH == 0:
                (host, *_) = players = self.players()
                seats = tuple(
                    replace(record, player=Player(player.id, "Bench", "bot"))
                    for record, player in zip(ended.seats, players, strict=True)
                )
            self._created_at += 1
            common = {"id": new_id(), "created_at": self._created_at, "seats": seats}
            common["host"] = Player(host.id, "Bench", "bot")
            before, after = (replace(each, **common) for each in (half, ended))
            self._indexes.before_commits([Commit(before, Change(game=after), self._now, 0)])
            key = game_key(after.id)
            document = msgspec.json.encode(after)
            ttl_ms = self._lives.of_game(after, self._now)
            self._batch.execute(
                [
                    Command(key, ("HSET", key, "game", document, "version", after.version)),
                    Command(key, ("PEXPIRE", key, ttl_ms)),
                ]
            )
        self.flush()

    def copy(self, moment: str, players: list[Seated], padding: int = 0) -> str:
        """A game as it was at a moment, with these players; its id.

        `padding`: so many times somebody sat down and left again before the start.
        """
        game_id = new_id()
        self._created_at += 1
        if moment != "ended":
            self._write(None, self._copied(moment, game_id, players, padding), self._now)
            return game_id
        # Long ago for those who ask what has ended.
        before = self._copied("half", game_id, players, padding)
        half = self._write(None, before, self._now - HOUR_MS)
        after = self._copied("ended", game_id, players, padding)
        rest = after.items[len(before.items) :]
        self._write(half, replace(after, items=rest, deal=None), half.updated_at)
        return game_id

    def flush(self) -> None:
        """Have all of it written."""
        self._batch.flush()

    def _write(self, before: Game | None, change: Change, now: int) -> Game:
        written = self._desk.commit(before, change, now)
        assert written is not None
        game = written.game
        if played := played_moves(game, change.items) if not game.has_ended else {}:
            pairs = [(played_field(key), played_value(each)) for key, each in played.items()]
            key = game_key(game.id)
            self._batch.execute([Command(key, ("HSET", key, *itertools.chain(*pairs)))])
        return game

    def _copied(self, moment: str, game_id: str, players: list[Seated], padding: int) -> Change:
        found = self.template.moments[moment]
        renamed = {found.id: game_id} | {
            old: new.id for old, new in zip(self.template.players, players, strict=True)
        }
        game = msgspec.json.decode(_renamed(found.game, renamed), type=Game)
        items = msgspec.json.decode(_renamed(found.items, renamed), type=list[HistoryItem])
        return Change(
            game=replace(game, created_at=self._created_at, version=0),
            items=tuple(_padded(items, game.host, padding)),
            state=found.state,
            deal=found.deal,
        )


def _renamed(text: bytes, names: dict[str, str]) -> bytes:
    """A text with other ids."""
    for old, new in names.items():
        text = text.replace(old.encode(), new.encode())
    return text


def _padded(items: list[HistoryItem], player: Player, number: int) -> list[HistoryItem]:
    """What happened, with what did so often before."""
    seated, *rest = items
    changes = [SeatLeft(0, player), SeatTaken(0, player)] * number
    more = [
        public_item(seated.version + at, seated.at, BY_PLAYER, 0, event)
        for at, event in enumerate(changes, 1)
    ]
    later = [replace(each, version=each.version + len(more)) for each in rest]
    return [seated, *more, *later]


def services_on(running: Running) -> Services:
    """The services of the application in this process, on the store of one that runs."""
    environment = {"REDIS_URL": f"unix://{running.store}", "REDIS_TIMEOUT_SECONDS": "60"}
    return make_services(Settings.from_environment(environment))
