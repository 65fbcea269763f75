"""The store in memory answers as a real server does: the same cases, once against each."""

import time
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
import redis
from msgspec.structs import replace

from api.config.settings import Settings
from api.model.events import BY_TABLE, GameCancelled
from api.model.game import (
    CANCELLED,
    FORMAT,
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
from api.storage import matches
from api.storage.client import Command, StoreClient
from api.storage.connect import connect
from api.storage.errors import Unreadable
from api.storage.games import CONVERT, Change, Fingerprint, GameDocument, game_channel
from api.storage.indexes import (
    Entry,
    Indexes,
    Page,
    ended_command,
    invited,
    lobby,
    of_player,
    read_entries,
)
from api.storage.matches import CLOSED, MISSING, Known, KnownGame, queue_command
from api.storage.players import Creation, Ticket, TokenOffer, renew_command
from api.storage.store import Store
from api.web.wiring import make_retention
from tests.support.commits import announce, commit, index_after, index_before
from tests.support.memory_store import MemoryClient, MemoryNodes
from tests.support.ports import free_port
from tests.support.stores import Server, binary

LONG_MS = 60_000
RETENTION = make_retention(Settings())

_ids = count(1)


def new_id() -> str:
    return f"{next(_ids):032x}"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(binary("valkey"), tmp_path_factory.mktemp("store"), free_port())
    yield server
    server.end()


@pytest.fixture(params=["memory", "server"])
def client(request: pytest.FixtureRequest) -> StoreClient:
    if request.param == "memory":
        return MemoryClient(time.monotonic)
    server = request.getfixturevalue("server")
    return connect(Settings(redis_url=f"redis://127.0.0.1:{server.port}"))[0]


@pytest.fixture
def store(client: StoreClient) -> Store:
    return Store(client)


@pytest.fixture
def indexes(client: StoreClient, store: Store) -> Indexes:
    return Indexes(client, store, RETENTION)


def send(client: StoreClient, *words: Any) -> Any:
    (answer,) = client.execute([Command(str(words[1]), words)])
    return answer


def player(store: Store, token: str = "token") -> Player:
    player = Player(new_id(), "Ada", "bot")
    store.add_player(player, token, LONG_MS)
    return player


def new_game(host: Player, created_at: int = 1, **members: Any) -> Game:
    return Game(
        id=new_id(),
        ruleset="parade",
        seat_count=2,
        options=raw({}),
        visibility=PUBLIC,
        invite=None,
        host=host,
        seats=(SeatRecord(player=host), SeatRecord()),
        commit="first",
        created_at=created_at,
        updated_at=created_at,
        **members,
    )


def change(before: Game, commit: str, *, items: int = 1, **members: Any) -> Change:
    """A change that adds so many items and gives the game these members."""
    told = tuple(
        public_item(before.version + number, 1, BY_TABLE, None, GameCancelled())
        for number in range(1, items + 1)
    )
    game = replace(before, version=before.version + items, commit=commit, **members)
    return Change(game=game, items=told)


def stored(store: Store, host: Player, **members: Any) -> Game:
    """A new game, of which nothing has happened yet."""
    game = new_game(host, **members)
    assert commit(store, None, Change(game=game), LONG_MS)
    return game


def items(store: Store, game_id: str, first: int, last: int) -> list[HistoryItem]:
    """A part of a history, as it is read by a worker that has not met the game."""
    game = store.games([game_id])[game_id]
    assert game is not None
    part = Store(store.client, store.stored_format).history_part(game, first, last)
    return list(part.items)


# --- Players -----------------------------------------------------------------------------


def test_a_player_is_read_with_the_time(store: Store) -> None:
    ada = player(store)
    reading = store.read(ada.id)
    assert reading.now > 0
    assert reading.account is not None
    assert reading.account.player == ada
    assert (reading.account.kept_at, reading.account.seen_at) == (0, 0)
    assert store.read(new_id()).account is None
    assert store.players([ada.id, new_id()]) == [ada, None]
    assert store.players([]) == []


def test_a_player_is_kept_and_seen(store: Store, client: StoreClient) -> None:
    ada, unknown = player(store), new_id()
    assert store.last_seen([ada.id]) == [None]
    for each in (ada.id, unknown):
        client.execute([renew_command(each, 5, 2 * LONG_MS)])
        store.see_player(each, 7, 3 * LONG_MS)
    account = store.read(ada.id).account
    assert account is not None
    assert (account.kept_at, account.seen_at) == (5, 7)
    assert store.last_seen([ada.id, unknown]) == [7, None]
    assert store.read(unknown).account is None
    life = send(client, "PTTL", f"player:{{{ada.id}}}")
    assert 2 * LONG_MS < life <= 3 * LONG_MS
    client.execute([renew_command(ada.id, 6, 1000)])
    store.see_player(ada.id, 8, 1000)
    assert send(client, "PTTL", f"player:{{{ada.id}}}") > 2 * LONG_MS


def test_a_new_token_is_offered_once_and_replaces_the_old_one_when_used(store: Store) -> None:
    ada = player(store, "old")
    assert store.offer_token(ada.id, "wrong", TokenOffer("a", "new", 1)) is None
    assert store.offer_token(ada.id, "old", TokenOffer("a", "new", 1)) == "a"
    assert store.offer_token(ada.id, "old", TokenOffer("b", "newer", 2)) == "a"
    account = store.read(ada.id).account
    assert account is not None
    assert (account.token, account.next_token, account.next_token_at) == ("old", "new", 1)
    for token in ("newer", "new", "new"):
        store.promote_token(ada.id, token)
    account = store.read(ada.id).account
    assert account is not None
    assert (account.token, account.next_token) == ("new", None)


def test_a_creation_is_remembered_by_its_first_request(store: Store) -> None:
    ada = new_id()
    first, second = Creation(new_id(), "a"), Creation(new_id(), "b")
    assert store.creation(ada, "key") is None
    assert store.remember_creation(ada, "key", first, LONG_MS) == first
    assert store.remember_creation(ada, "key", second, LONG_MS) == first
    assert store.creation(ada, "key") == first
    store.replace_creation(ada, "key", second, LONG_MS)
    assert store.creation(ada, "key") == second


def test_a_ticket_is_kept_until_it_expires(store: Store) -> None:
    holder = Ticket(
        new_id(), new_id(), "hash", new_game(Player("a", "A", "bot")).participation_of("a")
    )
    long, short = new_id(), new_id()
    store.add_ticket(long, holder, LONG_MS)
    store.add_ticket(short, holder, 20)
    assert store.ticket(long) == holder
    time.sleep(0.03)
    assert store.ticket(short) is None


# --- Games -------------------------------------------------------------------------------


def test_a_commit_writes_the_game_its_items_and_the_move(store: Store) -> None:
    game = stored(store, player(store))
    next_one = replace(change(game, "second", items=3), played=("a:1:move", (1, 3)))
    assert commit(store, game, next_one, LONG_MS)
    reading = store.read(None, game.id, "a:1:move")
    assert reading.stored is not None
    assert reading.stored.game == next_one.game
    assert reading.played_versions == (1, 3)
    assert store.read(None, game.id, "a:2:move").played_versions is None
    assert items(store, game.id, 1, 10) == list(next_one.items)
    assert items(store, game.id, 2, 2) == [next_one.items[1]]
    assert items(store, game.id, 4, 9) == []
    unknown = new_id()
    assert store.games([game.id, unknown]) == {game.id: next_one.game, unknown: None}
    assert store.fingerprints([game.id, unknown]) == [
        Fingerprint(3, "second"),
        Fingerprint(None, None),
    ]
    first, second = store.snapshots([game.id, unknown])
    assert not isinstance(first, Unreadable)
    assert not isinstance(second, Unreadable)
    assert first.stored is not None
    assert first.stored.game == next_one.game
    assert second.stored is None


def test_a_commit_to_another_state_changes_nothing(store: Store) -> None:
    game = stored(store, player(store))
    assert not commit(store, None, change(game, "second"), LONG_MS)
    assert not commit(store, replace(game, commit="other"), change(game, "second"), LONG_MS)
    assert not commit(store, replace(game, version=7), change(game, "second"), LONG_MS)
    assert store.fingerprints([game.id]) == [Fingerprint(0, "first")]
    assert items(store, game.id, 1, 10) == []


def test_a_commit_that_is_sent_twice_is_made_once(store: Store) -> None:
    game = stored(store, player(store))
    next_one = change(game, "second")
    assert commit(store, game, next_one, LONG_MS)
    assert commit(store, game, next_one, LONG_MS)
    assert items(store, game.id, 1, 10) == list(next_one.items)


def test_a_commit_that_lacks_items_is_refused(store: Store) -> None:
    game = stored(store, player(store))
    lacking = change(game, "second", items=2)
    with pytest.raises(Unreadable):
        commit(store, game, replace(lacking, items=lacking.items[:1]), LONG_MS)
    assert store.fingerprints([game.id]) == [Fingerprint(0, "first")]
    assert items(store, game.id, 1, 10) == []


def test_a_game_of_an_earlier_format_is_replaced_by_the_same_game(
    store: Store, client: StoreClient
) -> None:
    earlier = Store(client, stored_format=1)
    before = stored(earlier, player(store), format=1)
    next_one = change(before, "second", items=3)
    assert commit(earlier, before, next_one, LONG_MS)
    reading = store.read(None, before.id)
    assert reading.stored is not None
    assert reading.stored.game == replace(next_one.game, format=FORMAT)
    assert items(store, before.id, 1, 10) == list(next_one.items)
    for key in (f"game:{{{before.id}}}", f"game:{{{before.id}}}:items"):
        assert 0 < send(client, "PTTL", key) <= LONG_MS
    assert commit(store, reading.stored.game, change(reading.stored.game, "third"), LONG_MS)


def test_a_conversion_leaves_a_game_that_has_changed(store: Store, client: StoreClient) -> None:
    earlier = Store(client, stored_format=1)
    before = stored(earlier, player(store), format=1)
    for version, commit_id in ((1, "first"), (0, "other")):
        keys = [f"game:{{{before.id}}}{each}" for each in ("", ":items", ":played")]
        command = CONVERT.call(*keys, args=(version, commit_id, 0, 2, "game", "{}", 0))
        assert client.execute([command]) == [0]
    assert store.games([before.id])[before.id] == replace(before, format=FORMAT)


def test_a_game_expires(store: Store) -> None:
    game = new_game(player(store))
    assert commit(store, None, Change(game=game), 20)
    time.sleep(0.03)
    assert store.read(None, game.id).stored is None
    assert store.fingerprints([game.id]) == [Fingerprint(None, None)]


def test_a_value_of_the_wrong_type_hides_no_other(store: Store, client: StoreClient) -> None:
    good, bad = (stored(store, player(store)) for _ in range(2))
    send(client, "SET", game_channel(bad.id), "text", "PX", LONG_MS)
    assert store.fingerprints([bad.id, good.id]) == [None, Fingerprint(0, "first")]
    assert isinstance(store.snapshots([bad.id])[0], Unreadable)
    assert store.games([bad.id, good.id]).keys() == {good.id}
    with pytest.raises(Unreadable):
        store.read(None, bad.id)
    with pytest.raises(Unreadable):
        commit(store, bad, change(bad, "second"), LONG_MS)


# --- Queues of matches -------------------------------------------------------------------


def assign(store: Store, wish: str, player_id: str, seats: int = 2, **known: Known) -> str | None:
    """Assign a seat; return the id of the game. The ids of known games are as after this."""
    game = replace(new_game(Player(player_id, "Ada", "bot")), seat_count=seats)
    truth = {name.removeprefix("_"): each for name, each in known.items()}
    return store.assign_seat(wish, player_id, game, truth, LONG_MS)


def queue(store: Store, client: StoreClient, wish: str) -> list[str]:
    (reply,) = client.execute([queue_command(wish)])
    return store.queue(wish, reply)


def test_players_are_assigned_to_the_oldest_game_with_a_free_seat(
    store: Store, client: StoreClient
) -> None:
    wish = new_id()
    ids = [assign(store, wish, f"player {number}") for number in range(5)]
    assert ids[0] == ids[1]
    assert ids[2] == ids[3]
    assert len(set(ids)) == 3
    # Asking again, or sending the same again, changes nothing.
    assert [assign(store, wish, f"player {number}") for number in range(5)] == ids
    assert queue(store, client, wish) == [ids[0], ids[2], ids[4]]
    assert 0 < send(client, "PTTL", f"match:{{{wish}}}") <= LONG_MS
    assert queue(store, client, new_id()) == []


def test_an_assignment_knows_of_each_game_what_the_caller_knows(
    store: Store, client: StoreClient
) -> None:
    wish = new_id()
    first = assign(store, wish, "a", 3)
    seated = KnownGame(("b", "c", "d"))
    second = assign(store, wish, "e", 3, **{f"_{first}": seated})
    assert second != first
    assert assign(store, wish, "b", 3, **{f"_{first}": seated}) == first
    left = KnownGame(("c", "d"), left=("a", "b"))
    assert assign(store, wish, "f", 3, **{f"_{first}": left}) == first
    refused = KnownGame(("c",), is_refused=True)
    assert assign(store, wish, "f", 3, **{f"_{first}": refused}) == second
    assert assign(store, wish, "g", 3, **{f"_{first}": CLOSED}) == second
    assert queue(store, client, wish) == [second]
    assert assign(store, wish, "e", 3, **{f"_{second}": MISSING}) == second


def test_reservations_lapse_and_games_that_are_missing_for_long_are_dropped(
    store: Store, client: StoreClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    wish = new_id()
    first = assign(store, wish, "a")
    assert assign(store, wish, "b") == first
    monkeypatch.setattr(matches, "RESERVATION_MS", 0)
    assert assign(store, wish, "c", **{f"_{first}": MISSING}) == first
    time.sleep(0.005)
    monkeypatch.setattr(matches, "COMMIT_MS", 1)
    second = assign(store, wish, "c", **{f"_{first}": MISSING})
    assert second != first
    assert queue(store, client, wish) == [second]


def test_a_seat_that_is_released_is_the_next_players(store: Store, client: StoreClient) -> None:
    wish = new_id()
    first = assign(store, wish, "a")
    assert assign(store, wish, "b") == first
    store.release_seat(wish, "b", new_id())
    store.release_seat(wish, "c", first)
    second = assign(store, wish, "c")
    assert second != first
    store.release_seat(wish, "b", first)
    assert 0 < send(client, "PTTL", f"match:{{{wish}}}") <= LONG_MS
    assert assign(store, wish, "d") == first
    # Also the only one of a game, which stays listed.
    store.release_seat(wish, "c", second)
    assert queue(store, client, wish) == [first, second]
    assert assign(store, wish, "e") == second
    store.release_seat(new_id(), "a", first)


def test_a_game_in_which_players_wait_is_filled_before_one_that_may_never_be_stored(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    wish = new_id()
    ids = [assign(store, wish, each) for each in ("a", "b", "c", "d", "e")]
    known = {f"_{ids[0]}": MISSING, f"_{ids[2]}": MISSING, f"_{ids[4]}": KnownGame(("e",))}
    assert assign(store, wish, "f", **known) == ids[4]
    monkeypatch.setattr(matches, "RESERVATION_MS", 0)
    assert assign(store, wish, "g", **known) == ids[4]
    assert assign(store, wish, "h", **(known | {f"_{ids[4]}": CLOSED})) == ids[0]


def test_a_full_queue_keeps_the_games_that_are_being_filled(
    store: Store, client: StoreClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matches, "MAX_LISTED", 3)
    wish = new_id()
    ids = [assign(store, wish, each) for each in ("a", "a2", "b", "b2", "c", "c2")][::2]
    assert assign(store, wish, "d") is None
    refused = {f"_{ids[0]}": KnownGame(("a",), is_refused=True)}
    assert assign(store, wish, "d", **refused) is None  # a2 has a reservation
    assert queue(store, client, wish) == ids
    assert assign(store, wish, "a2") == ids[0]
    assert assign(store, wish, "d", **{f"_{ids[2]}": CLOSED}) not in {None, *ids}
    assert queue(store, client, wish)[:2] == ids[:2]


@pytest.mark.parametrize(
    "truth", [KnownGame(("b", "b2")), KnownGame(("b",), is_refused=True)], ids=["full", "refused"]
)
def test_a_full_queue_drops_a_game_in_which_no_seat_can_be_had(
    store: Store, client: StoreClient, monkeypatch: pytest.MonkeyPatch, truth: Known
) -> None:
    monkeypatch.setattr(matches, "MAX_LISTED", 3)
    wish = new_id()
    ids = [assign(store, wish, each) for each in ("a", "a2", "b", "b2", "c", "c2")][::2]
    monkeypatch.setattr(matches, "RESERVATION_MS", 0)
    known = {f"_{ids[0]}": KnownGame(("a", "a2")), f"_{ids[1]}": truth, f"_{ids[2]}": truth}
    new = assign(store, wish, "d", **known)
    assert new not in ids
    assert queue(store, client, wish) == [*ids[1:], new]


@pytest.mark.parametrize("value", ["no JSON", '[{"id": 1}]', "[[]]"])
def test_a_damaged_queue_is_deleted(store: Store, client: StoreClient, value: str) -> None:
    for number, words in enumerate((("SET", value), ("HSET", "field", value))):
        wish = new_id()
        key = f"match:{{{wish}}}"
        send(client, words[0], key, *words[1:], *(("PX", LONG_MS) if number == 0 else ()))
        (reply,) = client.execute([queue_command(wish)], keep_errors=True)
        assert store.queue(wish, reply) == []
        assert assign(store, wish, "a") == assign(store, wish, "b")


# --- Indexes -----------------------------------------------------------------------------


def ids(page: tuple[list[GameDocument], Any]) -> list[str]:
    return [each.game.id for each in page[0]]


def listed(store: Store, indexes: Indexes, host: Player, now: int, created_at: int) -> Game:
    game = new_game(host, created_at)
    index_before(indexes, None, game, now)
    assert commit(store, None, Change(game=game), LONG_MS)
    index_after(indexes, None, game, now)
    return game


def test_an_index_lists_the_newest_games_first_and_page_by_page(
    store: Store, indexes: Indexes
) -> None:
    host = player(store)
    now = store.read(None).now
    games = [listed(store, indexes, host, now, now - age) for age in (5, 4, 3, 3, 1)]
    newest = sorted(games, key=lambda game: (game.created_at, game.id), reverse=True)
    entry, found, after = Entry(host.id, OPEN), [], None
    for _ in range(3):
        page = indexes.page(Page((entry,), after, 2), now)
        found += ids(page)
        after = page[1]
    assert after is None
    assert found == [game.id for game in newest]
    assert indexes.unfinished([host.id, new_id()], 3) == [
        frozenset(game.id for game in newest[:3]),
        frozenset(),
    ]
    assert indexes.occupies(host.id, 5, now)
    assert not indexes.occupies(host.id, 6, now)


def test_a_game_that_ends_leaves_the_index_of_open_games_for_that_of_ended_ones(
    store: Store, indexes: Indexes, client: StoreClient
) -> None:
    host = player(store)
    now = store.read(None).now
    game = listed(store, indexes, host, now, now)
    end = change(game, "second", status=CANCELLED)
    index_before(indexes, game, end.game, now)
    assert commit(store, game, end, LONG_MS)
    index_after(indexes, game, end.game, now)
    for listed_open in (of_player(host.id, OPEN), lobby(status=OPEN)):
        assert game.id not in ids(indexes.page(Page(listed_open, None, 10), now))
    for listed_cancelled in (of_player(host.id, CANCELLED), lobby(), of_player(host.id)):
        assert game.id in ids(indexes.page(Page(listed_cancelled, None, 10), now))
    for since, limit, expected in (
        (now, 10, [(game.id, now)]),
        (now, 0, []),
        (now + 1, 10, []),
    ):
        (answer,) = client.execute([ended_command(host.id, since, limit)])
        assert read_entries(answer) == expected


def test_an_index_of_invitations_keeps_the_newest_games(
    store: Store, indexes: Indexes, client: StoreClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.storage.indexes.MAX_INVITATIONS", 2)
    host, guest = player(store), player(store)
    now = store.read(None).now
    seats = (SeatRecord(player=host), SeatRecord(reserved_for=guest))
    games = [replace(new_game(host, now - age), seats=seats) for age in (1, 3, 2, 4)]
    for game in games:
        index_before(indexes, None, game, now)
    key = f"index:{{{invited(guest.id).owner}}}:{OPEN}"
    newest = [games[2].id.encode(), games[0].id.encode()]
    assert send(client, "ZRANGE", key, 0, -1) == newest
    assert set(send(client, "ZRANGE", f"{key}:until", 0, -1)) == set(newest)


def test_of_the_games_that_ended_a_bucket_of_the_lobby_keeps_the_newest_and_of_others_all(
    store: Store, indexes: Indexes, client: StoreClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.storage.indexes.MAX_LISTED_ENDED", 3)
    host = player(store)
    now = store.read(None).now
    kept: dict[str, list[bytes]] = {OPEN: [], PLAYING: [], CANCELLED: []}
    for status in kept:
        key = f"index:{{lobby:parade}}:{status}"
        send(client, "UNLINK", key)
        send(client, "UNLINK", f"{key}:until")
    for age in range(6, 0, -1):
        for status, ids_ in kept.items():
            game = replace(new_game(host, now - age), id=f"{age:032x}", status=status)
            index_before(indexes, None, game, now)
            ids_.append(game.id.encode())
    kept[CANCELLED] = kept[CANCELLED][-3:]
    for status, ids_ in kept.items():
        key = f"index:{{lobby:parade}}:{status}"
        assert [each for each in send(client, "ZRANGE", key, 0, -1) if each in ids_] == ids_
        assert set(send(client, "ZRANGE", f"{key}:until", 0, -1)) >= set(ids_)
    assert send(client, "ZCARD", "index:{lobby:parade}:cancelled") == 3
    # An index that lost its expiry times still takes a game that is too old for it.
    send(client, "UNLINK", "index:{lobby:parade}:cancelled:until")
    index_before(indexes, None, replace(new_game(host, 1), status=CANCELLED), now)
    assert send(client, "ZRANGE", "index:{lobby:parade}:cancelled", 0, -1) == kept[CANCELLED]
    assert send(client, "PTTL", "index:{lobby:parade}:cancelled") > 0


def test_entries_whose_life_is_over_are_removed_by_the_next_one(
    store: Store, indexes: Indexes, client: StoreClient
) -> None:
    host = player(store)
    now = store.read(None).now
    listed(store, indexes, host, now - 400 * 24 * LONG_MS * 60, now)
    game = listed(store, indexes, host, now, now)
    key = f"index:{{{host.id}}}:{OPEN}"
    assert send(client, "ZRANGE", key, 0, -1) == [game.id.encode()]
    assert send(client, "PTTL", key) > LONG_MS


# --- Published messages ------------------------------------------------------------------


class Listener:
    """Hears what is published on some channels, in memory or from the server."""

    def __init__(self, client: StoreClient, server: Server | None, channels: list[str]) -> None:
        self._memory = self._server = None
        if isinstance(client, MemoryClient):
            self._memory = MemoryNodes(client).connect("")
            self._memory.send_packed_command([("SUBSCRIBE", *channels)])
        else:
            assert server is not None
            self._server = redis.Redis(port=server.port).pubsub()
            self._server.subscribe(*channels)
        assert self.heard(len(channels)) == [(channel, "subscribe") for channel in channels]

    def heard(self, number: int) -> list[tuple[str, str]]:
        """The channel and the kind of so many answers."""
        heard = []
        for _ in range(number):
            if self._memory is not None:
                kind, channel, _ = self._memory.read_response()
            else:
                assert self._server is not None
                answer = self._server.get_message(timeout=5)
                kind, channel = answer["type"].encode(), answer["channel"]
            heard.append((channel.decode(), kind.decode()))
        return heard

    def unsubscribe(self, channel: str) -> None:
        if self._memory is not None:
            self._memory.send_packed_command([("UNSUBSCRIBE", channel)])
        else:
            assert self._server is not None
            self._server.unsubscribe(channel)
        assert self.heard(1) == [(channel, "unsubscribe")]


def test_a_commit_an_announcement_and_a_new_token_are_published(
    store: Store, client: StoreClient, request: pytest.FixtureRequest
) -> None:
    ada = player(store, "old")
    game, other = stored(store, ada), stored(store, ada)
    own, of_game, of_other = (
        f"player:{{{ada.id}}}",
        game_channel(game.id),
        game_channel(other.id),
    )
    server = None if isinstance(client, MemoryClient) else request.getfixturevalue("server")
    listener = Listener(client, server, [own, of_game, of_other])
    listener.unsubscribe(of_other)
    assert commit(store, other, change(other, "second"), LONG_MS)
    assert commit(store, game, change(game, "second"), LONG_MS)
    announce(store, [ada.id, new_id()])
    store.offer_token(ada.id, "old", TokenOffer("a", "new", 1))
    store.promote_token(ada.id, "new")
    assert listener.heard(3) == [(of_game, "message"), (own, "message"), (own, "message")]
