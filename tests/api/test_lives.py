"""How long things are kept: all goes in its time, nothing before it, and no list keeps what went.

The application is here in this process, on a database of its own in the real store, with lives so
short that they are waited for.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import msgspec
import pytest
import redis
from flask.testing import FlaskClient
from msgspec.structs import replace

from api.config.settings import Settings
from api.model import retention
from api.model.events import BY_TABLE
from api.model.game import (
    CANCELLED,
    FINISHED,
    OPEN,
    PLAYING,
    PUBLIC,
    Game,
    HistoryItem,
    Player,
    SeatRecord,
    public_item,
    raw,
)
from api.model.retention import DAY_MS, HOUR_MS
from api.storage.client import Command, ServerClient
from api.storage.connect import connect
from api.storage.games import Change
from api.storage.indexes import MAX_REMOVED, Entry, Indexes, Page, entries, lobby
from api.storage.store import Store
from api.web.app import create_app
from api.web.wiring import make_retention
from tests.support.commits import commit, index_after, index_before
from tests.support.service import Service
from tests.support.waiting import wait_until

DAY_SECONDS = DAY_MS / 1000
DATABASE = 5


@pytest.fixture
def address(service: Service) -> str:
    return f"unix://{service.store.address}?db={DATABASE}"


@pytest.fixture
def database(service: Service) -> Iterator[redis.Redis]:
    client = redis.Redis(unix_socket_path=service.store.address, db=DATABASE)
    client.flushdb()
    with client:
        yield client
        client.flushdb()


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit is not under way for as long as it might be."""
    monkeypatch.setattr(retention, "COMMIT_MS", 300)


class Caller:
    """A player of the application in this process."""

    def __init__(self, http: FlaskClient) -> None:
        self.http = http
        created = self.post("/v1/players", {"name": "Ada", "kind": "bot"})
        self.id, self.token = created["id"], created["token"]

    token: str | None = None

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        answer = self.http.open(path, method=method, json=body, headers=headers)
        assert answer.status_code < 300, answer.text
        return answer.json

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.ask("POST", path, {} if body is None else body, **headers)

    def create(self, seat_count: int = 2, **members: Any) -> str:
        body = {"ruleset": "parade", "seat_count": seat_count, **members}
        game_id: str = self.post("/v1/games", body, **{"Idempotency-Key": f"{next(_keys)}"})["id"]
        return game_id

    def join(self, game_id: str) -> None:
        self.post(f"/v1/games/{game_id}/seats")

    def leave(self, game_id: str) -> None:
        self.ask("DELETE", f"/v1/games/{game_id}/seats/me")

    def cancel(self, game_id: str) -> None:
        self.ask("DELETE", f"/v1/games/{game_id}")

    def listed(self, path: str) -> list[str]:
        return [each["id"] for each in self.ask("GET", path)["items"]]


_keys = itertools.count()


def days(seconds: float) -> float:
    return seconds / DAY_SECONDS


def hours(seconds: float) -> float:
    return seconds * 1000 / HOUR_MS


def callers(address: str, number: int, **settings: float) -> list[Caller]:
    http = create_app(Settings(redis_url=address, **settings)).test_client()  # type: ignore[arg-type]
    return [Caller(http) for _ in range(number)]


# --- All goes ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_at_last_nothing_is_left_of_anything(
    address: str, database: redis.Redis, short: None
) -> None:
    """Open, played, finished, cancelled and left games, players, tickets, keys of requests."""
    ada, bob, _ = callers(
        address,
        3,
        open_game_days=days(1),
        finished_game_days=days(1),
        cancelled_game_hours=hours(1),
        player_days=days(2),
        # Long enough that nothing has gone before it is looked at, on a slow machine too.
        unused_player_minutes=5 / 60,
        ticket_hours=5 / 3600,
        idempotency_hours=5 / 3600,
        rate_limits=(),  # counts of the last hour live for an hour
    )
    ada.create()
    ada.cancel(ada.create())
    bob.join(played := ada.create(turn_seconds=5))
    bob.join(left := ada.create(turn_seconds=5, visibility="public"))
    ada.leave(left)
    bob.leave(left)
    ada.post(f"/v1/games/{left}/rematch")
    ada.post(f"/v1/games/{played}/stream-tickets")
    kinds = {key.partition(b":")[0] for key in database.scan_iter()}
    assert kinds == {b"game", b"player", b"index", b"ticket", b"creation"}
    # -1: it has no life. (-2: it has just expired.)
    assert all(database.pttl(key) != -1 for key in database.scan_iter())
    wait_until(lambda: database.dbsize() == 0, "all has expired")


@pytest.mark.parametrize(
    ("setting", "value", "key", "life_ms"),
    [
        ("open_game_days", 2, "game:*", 2 * DAY_MS),
        ("ticket_hours", 3, "ticket:*", 3 * HOUR_MS),
        ("idempotency_hours", 48, "creation:*", 48 * HOUR_MS),
        ("player_days", 99, "player:*", 99 * DAY_MS),
    ],
)
def test_a_setting_says_how_long(
    address: str, database: redis.Redis, setting: str, value: float, key: str, life_ms: int
) -> None:
    (ada,) = callers(address, 1, **{setting: value})
    ada.post(f"/v1/games/{ada.create(3)}/stream-tickets")
    found = list(database.scan_iter(key))
    assert found
    assert all(life_ms - HOUR_MS < database.pttl(each) <= life_ms for each in found)


def test_a_setting_says_how_long_a_player_is_kept_who_is_in_no_game(
    address: str, database: redis.Redis
) -> None:
    (ada,) = callers(address, 1, unused_player_minutes=5)
    assert 0 < database.pttl(f"player:{{{ada.id}}}") <= 5 * 60 * 1000


@pytest.mark.parametrize("path", ["/v1/me", "/v1/me/turns", "/v1/me/games", "/v1/games"])
def test_a_player_who_is_in_no_game_is_kept_from_its_last_request(
    address: str, database: redis.Redis, path: str
) -> None:
    (ada,) = callers(address, 1, unused_player_minutes=43_200)
    key = f"player:{{{ada.id}}}"
    for seen_at in (0, int(time.time() * 1000) - 21_000):
        database.hset(key, "seen_at", seen_at)
        database.pexpire(key, 60_000)
        ada.ask("GET", path)
        assert database.pttl(key) >= 30 * DAY_MS
    # A request soon after the last one need not write anything for that.
    before = database.hget(key, "seen_at")
    ada.ask("GET", path)
    assert database.hget(key, "seen_at") == before
    assert database.pttl(key) >= 30 * DAY_MS


def test_a_cancelled_game_is_kept_for_a_short_time_whether_it_had_started_or_not(
    address: str, database: redis.Redis
) -> None:
    """Of those that have not ended a player has a hundred at most; of these as many as it likes."""
    (ada,) = callers(address, 1, cancelled_game_hours=3, finished_game_days=30)
    ada.cancel(called_off := ada.create())
    ada.leave(left := ada.create(house=["random"]))
    for game_id in (called_off, left):
        assert ada.ask("GET", f"/v1/games/{game_id}")["status"] == "cancelled"
        keys = list(database.scan_iter(f"game:{{{game_id}}}*"))
        assert keys
        assert all(2 * HOUR_MS < database.pttl(key) <= 3 * HOUR_MS for key in keys)
    listing = database.pttl(f"index:{{{ada.id}}}:cancelled")
    assert 3 * HOUR_MS < listing < 3 * DAY_MS


def test_a_finished_game_is_kept_longer(address: str, database: redis.Redis) -> None:
    (ada,) = callers(address, 1, cancelled_game_hours=3, finished_game_days=30)
    game_id = ada.create(house=["random"])
    while (game := ada.ask("GET", f"/v1/games/{game_id}"))["status"] == "playing":
        move = {"turn": game["turn"], "move": game["legal_moves"][0]}
        ada.post(f"/v1/games/{game_id}/moves", move)
    assert game["status"] == "finished"
    keys = list(database.scan_iter(f"game:{{{game_id}}}*"))
    assert len(keys) == 1
    assert all(29 * DAY_MS < database.pttl(key) <= 30 * DAY_MS for key in keys)


# --- Nothing goes before its time ----------------------------------------------------------------


def test_a_slow_game_outlives_the_short_lives_of_open_games_and_of_players(
    address: str, database: redis.Redis
) -> None:
    ada, bob = callers(address, 2, open_game_days=0.01, player_days=0.01, finished_game_days=0.01)
    bob.join(game_id := ada.create(turn_seconds=604_800))
    life = database.pttl(f"game:{{{game_id}}}")
    assert life > 7 * DAY_MS
    listing = database.keys("index:*:playing")
    assert len(listing) == 3  # of each player, and of the lobby
    for index in listing:
        assert database.zscore(index, game_id)
        assert database.pttl(index) > life
    for player in (ada, bob):
        player.ask("GET", "/v1/me")
        assert database.pttl(f"player:{{{player.id}}}") > life


def test_a_player_of_games_is_kept_from_its_last_request(
    address: str, database: redis.Redis
) -> None:
    (ada,) = callers(address, 1, player_days=99)
    ada.cancel(ada.create())
    key = f"player:{{{ada.id}}}"
    database.hset(key, "seen_at", 1)
    database.pexpire(key, HOUR_MS)
    ada.ask("GET", "/v1/me")
    assert database.pttl(key) >= 99 * DAY_MS


def test_a_game_that_goes_on_is_never_lost_nor_are_its_players(
    address: str, database: redis.Redis, short: None
) -> None:
    """Longer than any life, while others come and go, and one of its players is away."""
    ada, bob, eve = callers(
        address,
        3,
        open_game_days=days(0.6),
        cancelled_game_hours=hours(0.2),
        # Players ask again within this time, on a slow machine too.
        player_days=days(2),
    )
    bob.join(game_id := ada.create(turn_seconds=5))
    begin = time.monotonic()
    while time.monotonic() - begin < 7.5:
        ada.leave(game_id)
        ada.join(game_id)
        eve.cancel(eve.create())
        for path in ("/v1/games", "/v1/games?status=playing", "/v1/me/games"):
            assert game_id in ada.listed(path)
        time.sleep(0.1)  # nobody can take a seat back more than 100 times
    assert game_id in bob.listed("/v1/me/games?status=playing")
    assert database.zcard(f"index:{{places:{bob.id}}}:playing") == 1


def test_an_index_that_nobody_reads_keeps_nothing_that_has_gone(
    address: str, database: redis.Redis, short: None
) -> None:
    ada, bob = callers(address, 2, open_game_days=days(0.2), cancelled_game_hours=hours(0.2))
    created = 0
    begin = time.monotonic()
    while time.monotonic() - begin < 4:
        game_id = ada.create()
        if created % 2:
            ada.cancel(game_id)
        created += 1
        time.sleep(0.01)
    bob.create()
    # Games live for a second at most, with all that is added for safety.
    for status in (OPEN, CANCELLED):
        buckets = lobby("parade", status)
        assert sum(database.zcard(key(each)) for each in buckets) < created / 2
        for each in buckets:
            assert database.zcard(key(each)) == database.zcard(until(each))


# --- Over any time -------------------------------------------------------------------------------


class Town:
    """Games as the service writes them, in a time of our own."""

    def __init__(self, address: str, rng: Random, settings: Settings) -> None:
        client, _ = connect(settings)
        self.rng = rng
        self.lives = make_retention(settings)
        self.store = Store(client)
        self.indexes = Indexes(client, self.store, self.lives)
        self.now = 1_700_000_000_000
        self.games: dict[str, tuple[Game, int]] = {}
        self.players = [Player(f"{n:032x}", "Ada", "bot") for n in range(6)]

    def alive(self) -> list[Game]:
        return [game for game, until in self.games.values() if until > self.now]

    def open(self) -> None:
        seats = tuple(SeatRecord() for _ in range(3))
        game = Game(
            id=f"{self.rng.getrandbits(128):032x}",
            ruleset="parade",
            seat_count=3,
            options=raw({}),
            visibility=PUBLIC,
            invite=None,
            turn_seconds=self.rng.choice([5, 3600, 604_800]),
            host=self.rng.choice(self.players),
            seats=seats,
            created_at=self.now,
            updated_at=self.now,
        )
        self.commit(None, game)

    def go_on(self) -> None:
        if alive := self.alive():
            game = self.rng.choice(alive)
            self.commit(game, self.rng.choice(NEXT[game.status])(self, game))

    def join(self, game: Game) -> Game:
        seats = list(game.seats)
        seats[self.rng.randrange(3)] = SeatRecord(player=self.rng.choice(self.players))
        return replace(game, seats=tuple(seats))

    def move(self, game: Game) -> Game:
        ends = self.now + self.rng.randrange(game.turn_seconds * 1000)
        return replace(game, status=PLAYING, turn=(game.turn or 0) + 1, deadline=ends)

    def finish(self, game: Game) -> Game:
        return replace(game, status=FINISHED, deadline=None)

    def cancel(self, game: Game) -> Game:
        return replace(game, status=CANCELLED, deadline=None)

    def rematch(self, game: Game) -> Game:
        return replace(game, rematch="a rematch")

    def commit(self, before: Game | None, after: Game) -> None:
        """As `Transactions.commit` does; now and then another was faster, or nobody comes back."""
        if self.indexes.are_to_be_renewed(before, after, self.now):
            after = replace(after, indexed_at=self.now)
        index_before(self.indexes, before, after, self.now)
        if self.rng.random() < 0.1:
            return
        after = replace(after, commit=f"{self.rng.getrandbits(64):016x}")
        items: tuple[HistoryItem, ...] = ()
        if before is None or not before.has_ended:  # a rematch is not told
            after = replace(after, version=after.version + 1)
            items = (public_item(after.version, self.now, BY_TABLE, None),)
        life_ms = self.lives.of_game(after, self.now)
        assert commit(self.store, before, Change(game=after, items=items), life_ms)
        self.games[after.id] = (after, self.now + life_ms)
        if self.rng.random() < 0.9:
            index_after(self.indexes, before, after, self.now)


NEXT: dict[str, list[Callable[[Town, Game], Game]]] = {
    OPEN: [Town.join, Town.join, Town.move, Town.cancel],
    PLAYING: [*[Town.move] * 6, Town.finish, Town.cancel],
    FINISHED: [Town.rematch],
    CANCELLED: [Town.rematch],
}


@pytest.mark.parametrize("seed", range(4))
def test_an_index_holds_all_games_that_live_and_ever_fewer_of_those_that_do_not(
    address: str, database: redis.Redis, seed: int
) -> None:
    rng = Random(seed)
    lasting = [rng.choice([0.01, 1.0, 30.0]) for _ in range(4)]
    settings = Settings(
        redis_url=address,
        open_game_days=lasting[0],
        finished_game_days=lasting[1],
        cancelled_game_hours=24 * lasting[3],
        player_days=lasting[2],
    )
    town = Town(address, rng, settings)
    buckets = lobby("parade", OPEN)

    def expired() -> int:
        return sum(database.zcount(until(each), "-inf", f"({town.now}") for each in buckets)

    for _ in range(600):
        over = expired()
        if rng.random() < 0.4:
            town.open()
            assert expired() <= over
        else:
            town.go_on()
        town.now += rng.choice([10, 60_000, HOUR_MS, retention.COMMIT_MS])
    for game in town.alive():
        for entry in entries(game):
            assert database.zscore(key(entry), game.id) == game.created_at, (entry, game.status)
    for each in lobby("parade"):
        assert database.zcard(key(each)) == database.zcard(until(each))
    # And all goes once nothing more happens but a few more games, long after.
    town.now += 10_000 * DAY_MS
    over, opened = expired(), 0
    while over:
        town.open()
        opened += 1
        # A game removes some of its bucket: all of it, or as many as it may.
        assert over - expired() <= MAX_REMOVED
        over = expired()
        assert opened < 200
    assert sum(database.zcard(key(each)) for each in buckets) <= opened


def test_of_the_ends_that_were_long_ago_each_new_one_removes_only_some(
    address: str, database: redis.Redis
) -> None:
    settings = Settings(redis_url=address)
    town = Town(address, Random(1), settings)
    (host, *_) = town.players
    town.players = [host]
    ends = f"index:{{{host.id}}}:ended"
    long_ago, of_late = town.now - 31 * DAY_MS, town.now - 29 * DAY_MS
    number = 5 * MAX_REMOVED // 2
    database.zadd(ends, {f"{n:032x}": long_ago for n in range(number)})
    database.zadd(ends, {f"{n:032x}": of_late for n in range(number, number + 3)})
    left = []
    for made in range(1, 5):
        town.open()
        (game,) = town.alive()
        index_before(town.indexes, game, town.cancel(game), town.now)
        town.games.clear()
        assert database.zcount(ends, of_late, "+inf") == 3 + made
        left.append(database.zcount(ends, "-inf", long_ago))
    assert left == [number - MAX_REMOVED, number - 2 * MAX_REMOVED, 0, 0]
    assert 29 * DAY_MS < database.pttl(ends) <= 30 * DAY_MS


# --- What lists cost -----------------------------------------------------------------------------


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Every round trip to the store: how many commands, and how much came back."""
    trips: list[tuple[int, int]] = []
    execute = ServerClient.execute

    def watched(self: ServerClient, commands: Sequence[Command], **how: bool) -> list[Any]:
        answers = execute(self, commands, **how)
        trips.append((len(commands), sum(len(a) for a in answers if isinstance(a, list))))
        return answers

    monkeypatch.setattr(ServerClient, "execute", watched)
    return trips


def test_a_page_of_ten_thousand_games_costs_no_more_than_one_of_a_few(
    address: str, database: redis.Redis, asked: list[tuple[int, int]]
) -> None:
    (stranger,) = callers(address, 1)
    stranger.token = None
    limit = 100
    ids = plant_open_games(database, 10_000)
    seen: list[str] = []
    cursor = ""
    while cursor is not None:
        asked.clear()
        page = stranger.ask(
            "GET", f"/v1/games?status=open&limit={limit}{cursor and '&cursor=' + cursor}"
        )
        # The time, and who asks; a part of each index; its games; those two once more where a page
        # begins in the middle of a millisecond.
        assert len(asked) <= 5
        commands, values = (sum(each) for each in zip(*asked, strict=True))
        indexes = lobby(status=OPEN)
        assert commands <= 2 * limit + 5 + len(indexes)
        # Four of them have games.
        assert values <= (4 * 2 + 5) * limit
        seen += [each["id"] for each in page["items"]]
        cursor = page["next"]
    assert seen == ids[::-1]


def test_ten_thousand_entries_without_a_game_are_read_past_and_removed(
    address: str, database: redis.Redis
) -> None:
    (ada,) = callers(address, 1)
    open_games = key(lobby("parade", OPEN)[0])
    long_ago = int(time.time() * 1000) - 2 * retention.COMMIT_MS
    database.zadd(open_games, {f"{n:032x}": long_ago - n for n in range(10_000)})
    game_id = ada.create()
    for _ in range(6):  # a page goes through so many entries and no more
        assert ada.listed("/v1/games?status=open&limit=100") == [game_id]
    buckets = lobby("parade", OPEN)
    listed = [each for entry in buckets for each in database.zrange(key(entry), 0, -1)]
    assert listed == [game_id.encode()]


def plant_open_games(database: redis.Redis, number: int) -> list[str]:
    """The ids of so many public games, as the store keeps them, oldest first."""
    ids = [f"{n:032x}" for n in range(number)]
    now = int(time.time() * 1000)
    host = Player(f"{0:032x}", "Ada", "bot")
    rng, buckets = Random(1), lobby("parade", OPEN)
    with database.pipeline(transaction=False) as pipeline:
        for n, game_id in enumerate(ids):
            game = Game(
                id=game_id,
                ruleset="parade",
                seat_count=2,
                options=raw({}),
                visibility=PUBLIC,
                invite=None,
                host=host,
                seats=(SeatRecord(), SeatRecord()),
                # Several in each millisecond.
                created_at=now - number + n // 7,
                updated_at=now,
            )
            document = msgspec.json.encode(game)
            pipeline.hset(f"game:{{{game_id}}}", mapping={"game": document, "version": 0})
            pipeline.zadd(key(rng.choice(buckets)), {game_id: game.created_at})
        pipeline.execute()
    return ids


@pytest.mark.parametrize("status", [None, OPEN, PLAYING, FINISHED, CANCELLED])
def test_a_list_misses_no_game_and_tells_none_twice_while_games_change(
    address: str, database: redis.Redis, status: str
) -> None:
    """Whatever others become meanwhile, the games that stay what they are come once, in order."""
    rng = Random(str(status))
    town = Town(address, rng, Settings(redis_url=address))
    for _ in range(150):
        town.open()
        town.go_on()
        town.now += rng.choice([0, 0, 1, 1000])
    staying = set(rng.sample(sorted(town.games), 90))
    before = {game_id: town.games[game_id][0] for game_id in staying}
    told: list[str] = []
    position = None
    while True:
        found, position = town.indexes.page(Page(lobby(status=status), position, 5), town.now)
        games = [each.game for each in found]
        told += [game.id for game in games]
        assert all(status in (None, game.status) for game in games)
        if position is None:
            break
        for _ in range(5):
            town.open()
            if moving := [game for game in town.alive() if game.id not in staying]:
                game = rng.choice(moving)
                town.commit(game, rng.choice(NEXT[game.status])(town, game))
    expected = [game_id for game_id, game in before.items() if status in (None, game.status)]
    expected.sort(key=lambda game_id: (before[game_id].created_at, game_id), reverse=True)
    assert len(set(told)) == len(told)
    assert [game_id for game_id in told if game_id in staying] == expected


def key(entry: Entry) -> str:
    return f"index:{{{entry.owner}}}:{entry.status}"


def until(entry: Entry) -> str:
    return f"{key(entry)}:until"
