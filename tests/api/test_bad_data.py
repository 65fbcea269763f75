"""Data that cannot be what the service wrote: it is the problem of whom it belongs to alone.

A game's keys, a player's, an index are spoiled in the real store, as a damaged file, another
program or a release that does not exist yet would.
"""

import json
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import pytest
import redis

from api.problems.catalogue import CATALOGUE as PROBLEMS
from api.storage.indexes import lobby
from tests.support.api_client import Client, seated
from tests.support.event_stream import Stream
from tests.support.http_client import Response
from tests.support.service import (
    UNLIMITED,
    Service,
    fresh_metrics,
    serving,
)
from tests.support.waiting import wait_until

ABSENT = 253_402_300_800_000
"""The first millisecond that no date has."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One whose data is spoiled, with one worker: what silences it silences everybody."""
    directory = str(tmp_path_factory.mktemp("service"))
    more = {"APPEND_FSYNC": "everysec", "WEB_CONCURRENCY": "1"}
    with serving(directory, **UNLIMITED, **more) as running:
        yield running


@pytest.fixture
def store(service: Service) -> Iterator[redis.Redis]:
    with service.store.client() as client:
        yield client


def game_key(game_id: str) -> str:
    return f"game:{{{game_id}}}"


def make_a_string(store: redis.Redis, key: str) -> None:
    store.delete(key)
    store.set(key, "x")


def log_of(service: Service, what: str) -> list[str]:
    """The lines of errors and warnings about something."""
    lines = service.output.splitlines()
    return [each for each in lines if what in each and "[INFO]" not in each]


# --- What can be wrong with a game ---------------------------------------------------------------

Spoil = Callable[[redis.Redis, str], None]


class Kind(NamedTuple):
    """A way to spoil a game under a key, and what follows."""

    spoil: Spoil
    code: str = "internal_error"
    is_listed: bool = False


def field(name: str, change: Callable[[bytes], bytes]) -> Spoil:
    def spoil(store: redis.Redis, key: str) -> None:
        store.hset(key, name, change(store.hget(key, name)))

    return spoil


def members(**changed: Any) -> Spoil:
    return field("game", lambda old: json.dumps({**json.loads(old), **changed}).encode())


def seats(**changed: Any) -> Spoil:
    def change(old: bytes) -> bytes:
        game = json.loads(old)
        return json.dumps(
            {**game, "seats": [{**game["seats"][0], **changed}, *game["seats"][1:]]}
        ).encode()

    return field("game", change)


def nothing_left(store: redis.Redis, key: str) -> None:
    store.hdel(key, "state")


def an_earlier_format_without_a_deal(store: redis.Redis, key: str) -> None:
    members(format=1)(store, key)
    store.hdel(key, "deal")
    steps = range(store.llen(key + ":items"))
    store.delete(key + ":items")
    items = ({"version": at + 1, "at": 1, "by": "table", "told": []} for at in steps)
    store.rpush(key + ":items", *map(json.dumps, items))


CATALOGUE = {
    "a string": Kind(make_a_string),
    "no text": Kind(field("game", lambda old: old.replace(b'"name":"', b'"name":"\xff'))),
    "options that are no text": Kind(
        field("game", lambda old: old.replace(b'"options":{', b'"options":{"\xff":1,'))
    ),
    "cut off": Kind(field("game", lambda old: old[:100])),
    "empty": Kind(field("game", lambda old: b"")),
    "without end": Kind(field("game", lambda old: b'{"options":' + b"[" * 100_000)),
    "another game": Kind(members(id="0" * 32)),
    "a seat that there is not": Kind(members(to_move=[9])),
    "a seat below the first": Kind(members(answered=[-1])),
    "more seats": Kind(members(seat_count=3)),
    "a status that there is not": Kind(members(status="asleep")),
    "a visibility that there is not": Kind(members(visibility="dim")),
    "a time that there is not": Kind(members(created_at=ABSENT)),
    "a time that is no number": Kind(members(deadline=2**70)),
    "no turn": Kind(members(turn=None)),
    "a version below none": Kind(members(version=-1)),
    "no position": Kind(nothing_left, is_listed=True),
    "a position cut off": Kind(field("state", lambda old: old[:50]), is_listed=True),
    "a position of nothing": Kind(field("state", lambda old: b"{}"), is_listed=True),
    "another version": Kind(field("version", lambda old: b"99"), is_listed=True),
    "a version that is none": Kind(field("version", lambda old: b"x"), is_listed=True),
    "another commit": Kind(field("commit", lambda old: b"\xff"), is_listed=True),
    "a newer format": Kind(members(format=99, seats={}), "newer_format"),
    "a game to come": Kind(members(ruleset="zebra"), "newer_format"),
    "a player to come": Kind(seats(house="brilliant"), "newer_format"),
    "a format below the first": Kind(members(format=0)),
    "an earlier format without a deal": Kind(
        an_earlier_format_without_a_deal, "unsupported_format"
    ),
}


@pytest.mark.parametrize("kind", CATALOGUE)
def test_a_game_that_cannot_be_read_is_a_problem_for_itself_alone(
    service: Service, store: redis.Redis, ada: Client, bob: Client, eve: Client, kind: str
) -> None:
    good, bad = seated([ada, bob])["id"], seated([ada, bob])["id"]
    spoil, code, is_listed = CATALOGUE[kind]
    spoil(store, game_key(bad))

    assert ada.refused(code, "GET", f"/v1/games/{bad}")["status"] == PROBLEMS[code].status
    lists = [
        eve.get("/v1/games"),
        eve.get("/v1/games?ruleset=parade&status=playing"),
        ada.get("/v1/me/games"),
        bob.get("/v1/me/games?status=playing"),
    ]
    for page in lists:
        ids = [each["id"] for each in page["items"]]
        assert good in ids
        assert (bad in ids) == is_listed
    turns = [each["id"] for one in (ada, bob) for each in one.get("/v1/me/turns")["items"]]
    assert turns == [good]
    assert ada.game(good)["status"] == "playing"
    seated([ada, bob])


def test_what_cannot_be_read_is_logged_without_what_it_is(
    service: Service, store: redis.Redis, ada: Client, bob: Client, eve: Client
) -> None:
    game_id = seated([ada, bob])["id"]
    key = game_key(game_id)
    secret = "a hand that nobody may see"
    before = len(log_of(service, game_id))
    store.hset(key, "state", store.hget(key, "state")[:-1] + secret.encode())
    ada.refused("internal_error", "GET", f"/v1/games/{game_id}")
    waited = wait_until(lambda: log_of(service, game_id)[before:], "it is logged")
    assert len(waited) == 1
    store.hset(key, "game", store.hget(key, "game")[:-1] + secret.encode())
    eve.get("/v1/games")
    wait_until(lambda: len(log_of(service, game_id)) == before + 2, "it is logged again")
    assert secret not in service.output


# --- Who waits -----------------------------------------------------------------------------------


def due_and_cut_off(store: redis.Redis, key: str) -> None:
    store.hset(key, "state", b'{"x"')
    members(deadline=1)(store, key)


WAITED_FOR = {
    "a string": make_a_string,
    "no text": CATALOGUE["no text"].spoil,
    "a seat that there is not": CATALOGUE["a seat that there is not"].spoil,
    "a version that is none": CATALOGUE["a version that is none"].spoil,
    "no position to go on from": due_and_cut_off,
}


def test_games_that_turn_bad_end_the_waits_for_them_and_no_other(
    service: Service, store: redis.Redis, ada: Client, bob: Client, eve: Client
) -> None:
    good = seated([ada, bob])
    bad = {kind: seated([ada, bob]) for kind in WAITED_FOR}
    streams = [Stream(eve, game["id"]) for game in bad.values()]
    for stream in streams:
        stream.until(lambda each: each.events)
    with ThreadPoolExecutor(len(bad) + 3) as threads:
        for_bad = [threads.submit(poll, Client(eve.url), game, 25) for game in bad.values()]
        # Whoever waits for turns waits on in spite of it, and so it is looked at again.
        turns = [
            threads.submit(
                Client(each.url, each.token).get,
                "/v1/me/turns?wait=6&since=" + each.get("/v1/me/turns")["cursor"],
            )
            for each in (ada, bob)
        ]
        time.sleep(0.5)
        for kind, game in bad.items():
            WAITED_FOR[kind](store, game_key(game["id"]))
            store.publish(game_key(game["id"]), "9")
        for kind, polled in zip(bad, for_bad, strict=True):
            assert polled.result().json()["code"] == "internal_error", kind
        for stream in streams:
            stream.until(lambda each: each.is_closed)
        time.sleep(4)  # some looks later
        for_good = threads.submit(poll, Client(eve.url), good, 25)
        time.sleep(0.5)
        mover = (ada, bob)[good["to_move"][0]]
        mover.play_first(good["id"])
        begin = time.monotonic()
        assert for_good.result().json()["items"]
        assert time.monotonic() - begin < 3
        for each in turns:
            each.result()
    for kind, game in bad.items():
        told = [each for each in log_of(service, game["id"]) if "cannot be read" in each]
        assert len(told) <= 3, kind  # by the look that all share, and by who asked for turns


def poll(client: Client, game: Any, seconds: int) -> Response:
    path = f"/v1/games/{game['id']}/events?since={game['cursor']}&wait={seconds}"
    return client.request("GET", path)


def test_a_game_that_is_well_again_is_waited_for_again(
    service: Service, store: redis.Redis, ada: Client, bob: Client, eve: Client
) -> None:
    game = seated([ada, bob])
    key = game_key(game["id"])
    with ThreadPoolExecutor() as threads:
        first = threads.submit(poll, Client(eve.url), game, 25)
        time.sleep(0.5)
        kept = store.dump(key)
        make_a_string(store, key)
        assert first.result().json()["code"] == "internal_error"
        store.restore(key, 60_000, kept, replace=True)
        second = threads.submit(poll, Client(eve.url), game, 25)
        time.sleep(0.5)
        mover = (ada, bob)[game["to_move"][0]]
        mover.play_first(game["id"])
        assert second.result().json()["items"]


# --- What happened in a game ---------------------------------------------------------------------


ALL = "0-"
"""The cursor before all items: of the last ones a worker remembers what it has committed."""


def one_too_few(store: redis.Redis, key: str) -> None:
    store.rpop(key)


@pytest.mark.parametrize(
    ("below", "spoil"),
    [
        (":items", make_a_string),
        (":items", one_too_few),
        (":played", make_a_string),
    ],
)
def test_a_move_is_committed_whole_or_not_at_all(
    store: redis.Redis, ada: Client, bob: Client, below: str, spoil: Spoil
) -> None:
    game = seated([ada, bob])
    keys = [game_key(game["id"]) + each for each in ("", ":items", ":played")]
    mover = (ada, bob)[game["to_move"][0]]
    own = mover.game(game["id"])
    body = {"turn": own["turn"], "move": own["legal_moves"][0]}
    kept = store.dump(game_key(game["id"]) + below)
    spoil(store, game_key(game["id"]) + below)
    before = [store.dump(key) for key in keys]
    for _ in range(2):
        mover.refused("internal_error", "POST", f"/v1/games/{game['id']}/moves", body)
    assert [store.dump(key) for key in keys] == before
    assert mover.game(game["id"]) == own

    store.delete(game_key(game["id"]) + below)
    if kept is not None:
        store.restore(game_key(game["id"]) + below, 60_000, kept)
    assert mover.play(game["id"], **body)["game"]["version"] == own["version"] + 1


@pytest.mark.parametrize("item", [b"{", b'{"version":1,"told":"\xff"}', b"{}"])
def test_what_happened_and_cannot_be_read_is_a_problem_of_its_game(
    store: redis.Redis, ada: Client, bob: Client, item: bytes
) -> None:
    good, bad = seated([ada, bob]), seated([ada, bob])
    store.lset(game_key(bad["id"]) + ":items", 0, item)
    ada.refused("internal_error", "GET", f"/v1/games/{bad['id']}/events")
    assert ada.get(f"/v1/games/{good['id']}/events")["items"]


def test_a_stream_that_cannot_be_told_what_happened_ends(
    service: Service, store: redis.Redis, ada: Client, bob: Client, eve: Client
) -> None:
    game = ada.create()
    bob.join(game["id"])
    wait_until(lambda: service.waiters() == 0, "no stream is open")
    make_a_string(store, game_key(game["id"]) + ":items")
    Stream(eve, game["id"], last_id=ALL).until(lambda each: each.is_closed)
    wait_until(lambda: service.waiters() == 0, "its place is free")


def test_a_stream_whose_store_fails_for_a_while_says_so_and_goes_on(
    store: redis.Redis, ada: Client, bob: Client, eve: Client
) -> None:
    game = ada.create()
    bob.join(game["id"])
    store.execute_command("ACL", "SETUSER", "default", "-lrange")
    try:
        stream = Stream(eve, game["id"], last_id=ALL)
        stream.until(lambda each: ": ping" in each.text)
        refused = calls(store)
        time.sleep(3)
        # Two ranges of items each time, and ever more seldom.
        assert calls(store) - refused <= 2 * 4
    finally:
        store.execute_command("ACL", "SETUSER", "default", "+lrange")
    stream.until(lambda each: [event.name for event in each.events] == ["update"])


def calls(store: redis.Redis) -> int:
    return int(store.info("commandstats").get("cmdstat_lrange", {}).get("rejected_calls", 0))


# --- Players and lists ---------------------------------------------------------------------------


def test_a_player_that_cannot_be_read_keeps_nobody_else_from_playing(
    store: redis.Redis, ada: Client, bob: Client, eve: Client
) -> None:
    game = ada.create(3)
    bob.join(game["id"])
    make_a_string(store, f"player:{{{bob.id}}}")
    assert eve.join(game["id"])["status"] == "playing"
    assert ada.game(game["id"])["seats"][1]["player"]["id"] == bob.id
    seen = ada.get(f"/v1/games/{game['id']}/presence")["items"]
    assert [each["last_seen"] is not None for each in seen] == [True, False, True]
    bob.refused("internal_error", "GET", "/v1/me")
    store.delete(f"player:{{{bob.id}}}")


@pytest.mark.parametrize("field_", ["name", "seen_at", "next_token_at"])
def test_a_player_of_whom_something_cannot_be_read_is_a_problem_of_its_own(
    store: redis.Redis, ada: Client, bob: Client, field_: str
) -> None:
    game = seated([ada, bob])
    store.hset(f"player:{{{bob.id}}}", field_, b"\xff")
    bob.refused("internal_error", "GET", "/v1/me")
    ada.get(f"/v1/games/{game['id']}/presence")
    assert ada.game(game["id"])["seats"][1]["player"]["id"] == bob.id


@pytest.mark.parametrize(
    ("owner", "status"),
    [
        *(("bob", each) for each in ("open", "playing", "open:until", "ended", "cancelled")),
        *(("places:bob", each) for each in ("playing", "playing:until")),
    ],
)
def test_a_player_s_list_that_cannot_be_read_keeps_nobody_from_playing(
    service: Service, store: redis.Redis, ada: Client, bob: Client, owner: str, status: str
) -> None:
    make_a_string(store, f"index:{{{owner.replace('bob', str(bob.id))}}}:{status}")
    game = ada.create(2)
    bob.join(game["id"])
    started = ada.game(game["id"])
    assert started["status"] == "playing"
    bob.create(2)
    ada.delete(f"/v1/games/{game['id']}/seats/me")
    bob.delete(f"/v1/games/{game['id']}/seats/me")
    assert ada.game(game["id"])["status"] == "cancelled"
    assert [each["id"] for each in ada.get("/v1/me/games")["items"]] == [game["id"]]


def test_a_list_that_cannot_be_read_is_a_problem_of_its_own(
    service: Service, store: redis.Redis, ada: Client, bob: Client
) -> None:
    failures = store_errors(service)
    buckets = [f"index:{{{owner}}}:{status}" for owner, status in lobby("parade", "open")]
    kept = {key: store.dump(key) for key in buckets}
    for key in buckets:
        make_a_string(store, key)
    try:
        game = ada.create(2)
        for query in ("", "?status=open", "?ruleset=parade"):
            bob.refused("internal_error", "GET", f"/v1/games{query}")
        for query in ("?status=playing", "?ruleset=contrast", "?status=open&ruleset=contrast"):
            bob.get(f"/v1/games{query}")
        assert [each["id"] for each in ada.get("/v1/me/games?status=open")["items"]] == [game["id"]]
        assert bob.join(game["id"])["status"] == "playing"
        assert store_errors(service) > failures
        wait_until(lambda: log_of(service, "index:{lobby:parade"), "it is logged")
    finally:
        for key, value in kept.items():
            store.delete(key)
            if value is not None:
                store.restore(key, 0, value)


@pytest.mark.parametrize("entry", [{b"\xff": 1}, {"0" * 32: float("inf")}])
def test_an_entry_that_cannot_be_read_is_a_problem_of_its_list(
    store: redis.Redis, ada: Client, bob: Client, entry: dict[Any, float]
) -> None:
    game = seated([ada, bob])
    store.zadd(f"index:{{{ada.id}}}:finished", entry)
    ada.refused("internal_error", "GET", "/v1/me/games")
    assert [each["id"] for each in bob.get("/v1/me/games")["items"]] == [game["id"]]


def store_errors(service: Service) -> float:
    found = re.search(
        r'^ludotheque_store_errors_total\{kind="other"\} (\S+)',
        fresh_metrics(service),
        re.MULTILINE,
    )
    return float(found[1]) if found else 0.0
