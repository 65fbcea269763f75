"""What becomes of single records: between real servers, in the process of the test."""

import io
import time
from collections.abc import Iterable, Iterator
from typing import Any, cast

import pytest
from msgspec.structs import replace
from redis import RedisError

from api.config.settings import Settings
from api.model.game import (
    CANCELLED,
    FINISHED,
    FORMAT,
    OPEN,
    PLAYING,
    PUBLIC,
    Game,
    Player,
    SeatRecord,
    raw,
)
from api.storage.client import Command, StoreClient
from api.storage.games import Change, game_channel
from api.storage.indexes import (
    Entry,
    Indexes,
    Page,
    ended_command,
    entries,
    invited,
    lobby,
    of_player,
    read_entries,
)
from api.storage.players import Creation, Ticket
from api.storage.store import Store
from api.transfer import lines
from api.transfer.counts import CHANGED, EXPIRED, EXPORTED, NEW, REFUSED, REMOVED, SAME, Counts
from api.transfer.progress import Progress
from api.transfer.records import KINDS, NEVER, Record, StoredKey, is_foreign, kind_of
from api.transfer.scan import Scan, StoreChanged
from api.transfer.transfers import copy, export_to, import_from, remove_surplus
from api.web.wiring import make_retention
from tests.support.commits import commit, index_before
from tests.support.earlier_releases import STORED, load
from tests.support.stores import Server

LONG_MS = 3_600_000
RETENTION = make_retention(Settings())
SILENT = Progress(None)
ADA = Player("a" * 32, "Ada", "bot")
BOB = Player("b" * 32, "Bob", "bot")


def send(client: StoreClient, *words: Any) -> Any:
    (reply,) = client.execute([Command(str(words[1]), words)])
    return reply


def key_of(game_id: str) -> str:
    return game_channel(game_id)


def new_game(number: int, **members: Any) -> Game:
    members = {
        "visibility": PUBLIC,
        "commit": f"commit {number}",
        "created_at": now_ms() + number,
        "updated_at": now_ms(),
        "seats": (SeatRecord(player=ADA), SeatRecord(reserved_for=BOB)),
        **members,
    }
    return Game(
        id=f"{number:032x}",
        ruleset="parade",
        seat_count=2,
        options=raw({}),
        invite=None,
        host=ADA,
        **members,
    )


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def stored(client: StoreClient, game: Game, ttl_ms: int = LONG_MS) -> Game:
    assert commit(Store(client), None, Change(game=game), ttl_ms)
    return game


def moved(client: StoreClient, before: Game, after: Game) -> None:
    assert commit(Store(client), before, Change(game=after), LONG_MS)


def exported(client: StoreClient) -> bytes:
    file = io.BytesIO()
    export_to(lines.Writer(file, "0.2.0", 1), client, SILENT)
    return file.getvalue()


def imported(client: StoreClient, text: bytes, *, overwrites: bool = False) -> Counts:
    return import_from(lines.read(io.BytesIO(text)), client, SILENT, overwrites=overwrites)


def of_records(*records: Record) -> Iterator[tuple[Record, int]]:
    return iter([(each, 1) for each in records])


def outcomes(counts: Counts) -> dict[str, int]:
    every = (EXPORTED, NEW, CHANGED, SAME, REFUSED, EXPIRED, REMOVED)
    return {each: counts.total(each) for each in every if counts.total(each)}


def listed(client: StoreClient, indexes: Iterable[Entry]) -> list[str]:
    games, _ = Indexes(client, Store(client), RETENTION).page(
        Page(tuple(indexes), None, 100), now_ms()
    )
    return [each.game.id for each in games]


def fill(client: StoreClient) -> None:
    """Store a record of each kind."""
    store = Store(client)
    for each in (ADA, BOB):
        store.add_player(each, f"token of {each.name}", LONG_MS)
    stored(client, new_game(1))
    store.remember_creation(ADA.id, "a key: {x}", Creation("1", "digest"), LONG_MS)
    store.add_ticket("hash", Ticket(None, ADA.id, "secret", None), LONG_MS)
    send(client, "SET", "match:{wish}", '[{"id":"1","at":1,"seats":{}}]', "PX", LONG_MS)


def content(server: Server) -> dict[bytes, Any]:
    """Everything in a store but its indexes, by key: content and expiry."""
    redis = server.client()
    readers: dict[bytes, Any] = {
        b"hash": redis.hgetall,
        b"string": redis.get,
        b"list": lambda key: redis.lrange(key, 0, -1),
    }
    return {
        key: (readers[redis.type(key)](key), redis.execute_command("PEXPIRETIME", key))
        for key in redis.scan_iter()
        if not key.startswith(b"index:")
    }


# --- Keys ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        (b"game:{1}", "games"),
        (b"player:{1}", "players"),
        (b"creation:{1}:", "idempotency records"),
        (b"creation:{1}:a:{b}\n", "idempotency records"),
        (b"ticket:{1}", "tickets"),
        (b"match:{1}", "queues"),
        *((key, None) for key in (b"game:{1}:items", b"game:{}", b"player:{1}:x", b"creation:{1}")),
        *(
            (key, None)
            for key in (b"index:{1}:open", b"limit:{1}:x:1:1", b"", b"\xff", b"player:{\xff}")
        ),
    ],
)
def test_the_kind_of_a_record_is_that_of_its_main_key(key: bytes, kind: str | None) -> None:
    assert kind_of(key) == kind


def test_a_key_of_another_application_is_told_from_the_service_s_own() -> None:
    own = (b"game:{1}", b"game:{1}:items", b"game:{1}:played", b"index:{lobby:x}:open:until")
    assert not any(map(is_foreign, (*own, b"limit:{::1}:moves:1:60")))
    assert all(
        map(is_foreign, (b"games", b"game:{1}:other", b"session:{1}", b"\xff", b"player:{\xff}"))
    )


# --- Whole stores -------------------------------------------------------------------------------


def test_a_copy_has_the_same_records_with_the_same_expiry(
    source: StoreClient, target: StoreClient, first: Server, second: Server
) -> None:
    fill(source)
    counts = copy(source, target, SILENT, overwrites=False)
    assert outcomes(counts) == {NEW: 6}
    assert {kind: counts.number(kind, NEW) for kind in KINDS} == {
        "games": 1,
        "players": 2,
        "idempotency records": 1,
        "tickets": 1,
        "queues": 1,
    }
    assert content(first) == content(second)
    assert all(expiry > now_ms() for _, expiry in content(second).values())


def test_an_import_has_the_same_records_with_the_same_expiry(
    source: StoreClient, target: StoreClient, first: Server, second: Server
) -> None:
    fill(source)
    assert outcomes(imported(target, exported(source))) == {NEW: 6}
    assert content(first) == content(second)


@pytest.mark.parametrize("release", STORED)
def test_games_of_earlier_releases_are_copied_as_they_are(
    source: StoreClient, target: StoreClient, first: Server, second: Server, release: str
) -> None:
    keys = STORED[release]["keys"]
    load(first.client(), keys)
    counts = copy(source, target, SILENT, overwrites=False)
    assert content(first) == content(second)
    assert {key.decode() for key in content(second)} == {
        key for key in keys if not key.startswith("index:")
    }
    assert counts.foreign == counts.unreadable == 0
    for player in STORED[release]["players"].values():
        indexes = [
            entry
            for status in ("open", "playing", "finished", "cancelled")
            for entry in of_player(player["id"], status)
        ]
        assert listed(target, indexes) == listed(source, indexes)


def test_counters_and_keys_of_others_are_left_out(
    source: StoreClient, target: StoreClient, second: Server
) -> None:
    for key in ("limit:{127.0.0.1}:requests:60:60", "session:1", "game:{}", b"match:{\xff}"):
        send(source, "SET", key, "x")
    assert copy(source, target, SILENT, overwrites=False).foreign == 3
    assert second.client().dbsize() == 0


def test_values_of_any_length_and_any_bytes_are_copied(
    source: StoreClient, target: StoreClient, first: Server, second: Server
) -> None:
    fields = [b"%d\xff\x00" % number for number in range(5002)]
    send(source, "HSET", "game:{1}", *fields)
    send(source, "RPUSH", "game:{1}:items", *fields[:2500], b"")
    send(source, "SET", "ticket:{1}", b"")
    copy(source, target, SILENT, overwrites=False)
    assert content(first) == content(second)
    assert len(content(second)) == 3


def test_a_key_that_never_expires_does_not_expire_in_the_copy(
    source: StoreClient, target: StoreClient, second: Server
) -> None:
    game = stored(source, new_game(1))
    send(source, "PERSIST", key_of(game.id))
    copy(source, target, SILENT, overwrites=False)
    assert second.client().pttl(key_of(game.id)) == -1
    assert listed(target, lobby("parade", OPEN)) == [game.id]


def test_more_records_than_fit_in_a_batch_are_copied(
    source: StoreClient, target: StoreClient
) -> None:
    for number in range(1, 1500):
        send(source, "HSET", f"player:{{{number}}}", "name", "x")
    text = exported(source)
    assert outcomes(imported(target, text)) == {NEW: 1499}
    assert outcomes(copy(source, target, SILENT, overwrites=False)) == {SAME: 1499}


# --- Again --------------------------------------------------------------------------------------


def test_what_is_there_already_is_left_alone(source: StoreClient, target: StoreClient) -> None:
    fill(source)
    text = exported(source)
    imported(target, text)
    assert outcomes(imported(target, text)) == {SAME: 6}
    assert outcomes(copy(source, target, SILENT, overwrites=False)) == {SAME: 6}


def test_another_content_is_replaced_only_if_that_is_wanted(
    source: StoreClient, target: StoreClient, first: Server, second: Server
) -> None:
    game = stored(source, new_game(1))
    Store(source).add_player(ADA, "token", LONG_MS)
    copy(source, target, SILENT, overwrites=False)
    moved(source, game, replace(game, commit="later"))
    Store(source).add_player(ADA, "another token", LONG_MS)
    before, text = content(second), exported(source)
    assert outcomes(copy(source, target, SILENT, overwrites=False)) == {REFUSED: 2}
    assert outcomes(imported(target, text)) == {REFUSED: 2}
    assert content(second) == before
    assert outcomes(copy(source, target, SILENT, overwrites=True)) == {CHANGED: 2}
    assert content(second) == content(first)
    assert outcomes(imported(target, text, overwrites=True)) == {SAME: 2}


def test_what_the_record_has_no_more_goes(
    source: StoreClient, target: StoreClient, first: Server, second: Server
) -> None:
    """A game that has ended has no history besides its record."""
    game = stored(source, new_game(1))
    send(source, "RPUSH", f"{key_of(game.id)}:items", "x")
    copy(source, target, SILENT, overwrites=False)
    send(source, "DEL", f"{key_of(game.id)}:items")
    send(source, "HSET", key_of(game.id), "commit", "later")
    copy(source, target, SILENT, overwrites=True)
    assert content(second) == content(first)
    assert len(content(second)) == 1


def test_an_interrupted_import_continues(
    source: StoreClient, target: StoreClient, first: Server, second: Server
) -> None:
    fill(source)
    text = exported(source)
    cut = text[: len(text) // 2]
    with pytest.raises(lines.WrongExport):
        imported(target, cut)
    send(target, "SET", "ticket:{other}", "keeps the store from being empty")
    assert outcomes(imported(target, text)).keys() <= {NEW, SAME}
    send(target, "DEL", "ticket:{other}")
    assert content(second) == content(first)


def test_what_comes_before_the_damage_of_a_file_is_stored(
    source: StoreClient, target: StoreClient, second: Server
) -> None:
    for number in range(1, 4):
        send(source, "HSET", f"player:{{{number}}}", "name", "x")
    *before, _, _ = exported(source).splitlines(keepends=True)
    with pytest.raises(lines.WrongExport):
        imported(target, b"".join(before))
    assert second.client().dbsize() == 2


def test_a_record_that_an_export_has_twice_counts_as_it_was_read_last(
    target: StoreClient, second: Server
) -> None:
    """SCAN may return a key twice, and the record may have changed in between."""
    both = [
        Record([StoredKey("player:{1}", "hash", NEVER, [b"name", name])])
        for name in (b"early", b"late")
    ]
    send(target, "SET", "ticket:{1}", "keeps the store from being empty")
    counts = import_from(of_records(*both), target, SILENT, overwrites=False)
    assert outcomes(counts) == {NEW: 1}
    assert second.client().hget("player:{1}", "name") == b"late"


def test_a_record_that_comes_again_much_later_replaces_what_an_empty_store_got(
    target: StoreClient, second: Server
) -> None:
    names = [b"early", *(b"%d" % number for number in range(500)), b"late"]
    ids = [1, *range(2, 502), 1]
    records = [
        Record([StoredKey(f"player:{{{id_}}}", "hash", NEVER, [b"name", name])])
        for id_, name in zip(ids, names, strict=True)
    ]
    counts = import_from(of_records(*records), target, SILENT, overwrites=False)
    assert outcomes(counts) == {NEW: 501, CHANGED: 1}
    assert second.client().hget("player:{1}", "name") == b"late"


def test_a_record_that_has_expired_since_the_export_is_left_out(
    target: StoreClient, second: Server
) -> None:
    old = Record([StoredKey("player:{1}", "hash", now_ms() - 1, [b"name", b"x"])])
    counts = import_from(of_records(old), target, SILENT, overwrites=False)
    assert outcomes(counts) == {EXPIRED: 1}
    assert second.client().dbsize() == 0


def test_what_the_source_does_not_have_is_removed_only_if_that_is_wanted(
    source: StoreClient, target: StoreClient, second: Server
) -> None:
    fill(source)
    copy(source, target, SILENT, overwrites=False)
    only_there = stored(target, new_game(7))
    index_before(Indexes(target, Store(target), RETENTION), None, only_there, now_ms())
    send(target, "RPUSH", f"{key_of(only_there.id)}:items", "x")
    send(target, "SET", "session:1", "of another application")
    counts = copy(source, target, SILENT, overwrites=True)
    # Its host was noted to have a game.
    assert outcomes(counts) == {SAME: 5, CHANGED: 1}
    remove_surplus(source, target, counts, SILENT)
    assert outcomes(counts) == {SAME: 5, CHANGED: 1, REMOVED: 1}
    keys = second.client().keys()
    assert not [each for each in keys if only_there.id.encode() in each]
    assert b"session:1" in keys
    for entry in entries(only_there):
        assert only_there.id.encode() not in send(target, "ZRANGE", key_of_index(entry), 0, -1)


def key_of_index(entry: Entry) -> str:
    return f"index:{{{entry.owner}}}:{entry.status}"


# --- Lists --------------------------------------------------------------------------------------


def test_copied_games_are_in_all_lists_that_they_belong_in(
    source: StoreClient, target: StoreClient
) -> None:
    sits = (SeatRecord(player=ADA), SeatRecord(player=BOB))
    open_ = stored(source, new_game(1))
    playing = stored(source, new_game(2, status=PLAYING, seats=sits, turn=1))
    ended = now_ms() - 5000
    finished = stored(source, new_game(3, status=FINISHED, seats=sits, finished_at=ended))
    cancelled = stored(source, new_game(4, status=CANCELLED, finished_at=ended + 1), 1000)
    copy(source, target, SILENT, overwrites=False)
    for game in (open_, playing, finished, cancelled):
        assert listed(target, lobby("parade", game.status)) == [game.id]
        assert listed(target, of_player(ADA.id, game.status)) == [game.id]
    assert listed(target, of_player(BOB.id)) == [finished.id, playing.id]
    assert listed(target, [invited(BOB.id)]) == [open_.id]
    (reply,) = target.execute([ended_command(ADA.id, 0, 10)])
    assert read_entries(reply) == [(finished.id, ended), (cancelled.id, ended + 1)]


def test_entries_live_longer_than_their_games(
    source: StoreClient, target: StoreClient, second: Server
) -> None:
    long, short = stored(source, new_game(1), 10 * LONG_MS), stored(source, new_game(2))
    ended = [
        stored(source, new_game(number, status=FINISHED, finished_at=now_ms()), ttl)
        for number, ttl in ((3, 10 * LONG_MS), (4, LONG_MS))
    ]
    copy(source, target, SILENT, overwrites=False)
    redis = second.client()
    for key in redis.keys("index:*"):
        assert redis.pttl(key) > 10 * LONG_MS
    until = f"index:{{{ADA.id}}}:open:until"
    for game, ttl in ((long, 10 * LONG_MS), (short, LONG_MS)):
        assert redis.zscore(until, game.id) > now_ms() + ttl
    assert redis.zcard(f"index:{{{ADA.id}}}:ended") == len(ended)


def test_a_game_that_went_on_leaves_the_lists_that_it_does_not_belong_in_any_more(
    source: StoreClient, target: StoreClient
) -> None:
    game = stored(source, new_game(1))
    copy(source, target, SILENT, overwrites=False)
    sits = (SeatRecord(player=ADA), SeatRecord(player=BOB))
    moved(source, game, replace(game, commit="later", status=PLAYING, seats=sits, turn=1))
    copy(source, target, SILENT, overwrites=True)
    assert listed(target, lobby("parade")) == listed(target, of_player(BOB.id)) == [game.id]
    for entry in entries(game):
        assert send(target, "ZCARD", key_of_index(entry)) == 0


def test_the_lists_fit_the_games_and_not_the_lists_of_the_source(
    source: StoreClient, target: StoreClient
) -> None:
    """While a service runs, its lists are read at another moment than its games."""
    game = stored(source, new_game(1))
    send(source, "ZADD", f"index:{{{ADA.id}}}:playing", 1, game.id)
    copy(source, target, SILENT, overwrites=False)
    assert send(target, "EXISTS", f"index:{{{ADA.id}}}:playing") == 0
    assert listed(target, lobby("parade", OPEN)) == [game.id]


# --- What is damaged, full, or changes ----------------------------------------------------------


def test_a_game_that_cannot_be_read_is_copied_as_it_is_and_named(
    source: StoreClient, target: StoreClient, first: Server, second: Server
) -> None:
    newer = stored(source, new_game(1))
    document = send(source, "HGET", key_of(newer.id), "game")
    later = document.replace(b'"format":%d' % FORMAT, b'"format":99')
    send(source, "HSET", key_of(newer.id), "game", later)
    send(source, "SET", key_of("d" * 32), "no hash")
    counts = copy(source, target, SILENT, overwrites=False)
    assert outcomes(counts) == {NEW: 2}
    assert sorted(counts.unlisted_ids) == sorted([newer.id, "d" * 32])
    assert content(first) == content(second)
    assert outcomes(copy(source, target, SILENT, overwrites=False)) == {SAME: 2}


def test_data_of_a_type_that_the_service_does_not_use_is_counted(
    source: StoreClient, target: StoreClient, second: Server
) -> None:
    send(source, "ZADD", "player:{1}", 1, "x")
    send(source, "SADD", "game:{1}", "x")
    assert copy(source, target, SILENT, overwrites=False).unreadable == 2
    assert second.client().dbsize() == 0


def test_data_of_another_type_in_the_target_is_another_content(
    source: StoreClient, target: StoreClient, second: Server
) -> None:
    game = stored(source, new_game(1))
    Store(source).add_player(ADA, "token", LONG_MS)
    send(target, "ZADD", key_of(game.id), 1, "x")
    send(target, "SADD", f"player:{{{ADA.id}}}", "x")
    assert outcomes(copy(source, target, SILENT, overwrites=False)) == {REFUSED: 2}
    assert outcomes(copy(source, target, SILENT, overwrites=True)) == {CHANGED: 2}
    assert second.client().type(key_of(game.id)) == b"hash"


def test_a_damaged_index_of_the_target_stops_nothing(
    source: StoreClient, target: StoreClient, second: Server
) -> None:
    game = stored(source, new_game(1))
    send(target, "SET", f"index:{{{ADA.id}}}:open", "x")
    copy(source, target, SILENT, overwrites=False)
    assert listed(target, lobby("parade", OPEN)) == [game.id]


def test_a_full_target_loses_nothing_that_it_had(
    source: StoreClient, target: StoreClient, second: Server
) -> None:
    Store(source).add_player(ADA, "token", LONG_MS)
    copy(source, target, SILENT, overwrites=False)
    before = content(second)
    Store(source).add_player(ADA, "another token", LONG_MS)
    second.client().config_set("maxmemory", 1)
    try:
        with pytest.raises(RedisError):
            copy(source, target, SILENT, overwrites=True)
    finally:
        second.client().config_set("maxmemory", 0)
    assert content(second) == before
    assert outcomes(copy(source, target, SILENT, overwrites=True)) == {CHANGED: 1}


def test_slots_that_move_while_keys_are_read_are_noticed() -> None:
    node = b"id%d 127.0.0.1:%d@1 %s - 0 0 1 connected %s\n"

    class Cluster:
        """A node of a cluster, with its slots and those of another node."""

        slots = b"0-100 200"

        def execute_on_all(self, *words: str) -> dict[str, bytes]:
            if words == ("INFO",):
                return {"a": b"cluster_enabled:1\r\nrun_id:abc\r\n"}
            other = node % (2, 2, b"master", b"300-400")
            return {"a": other + node % (1, 1, b"myself,master", self.slots)}

        def servers(self) -> list[Any]:
            return [self]

        def execute(self, commands: list[Command]) -> list[Any]:
            return [[b"0", [b"key"]]]

    cluster = Cluster()
    scan = Scan(cast("StoreClient", cluster))
    assert list(scan.batches()) == [[b"key"]]
    batches = scan.batches()
    next(batches)
    cluster.slots = b"0-100"
    with pytest.raises(StoreChanged, match="changed meanwhile"):
        next(batches)
    cluster.slots = b"0-100 [200->-other]"
    with pytest.raises(StoreChanged, match="being moved"):
        next(scan.batches())


def test_a_server_that_is_restarted_while_its_keys_are_read_is_noticed(
    source: StoreClient, first: Server
) -> None:
    fill(source)
    batches = Scan(source).batches()
    next(batches)
    first.kill()
    first.start()
    with pytest.raises(StoreChanged):
        list(batches)
