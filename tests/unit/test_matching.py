"""Quick matches: players of one wish meet, whatever fails between a reservation and its seat."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import gevent
import msgspec
import pytest
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import OutOfMemoryError

from api.config.rate_policies import GAMES, GAMES_DAILY, GAMES_HERE
from api.games import tables
from api.games.matching import Wish, read_wish
from api.games.players import Credentials
from api.model.game import Game
from api.model.retention import COMMIT_MS
from api.problems.problem import Problem
from api.storage.client import Deferred
from api.storage.matches import RESERVATION_MS
from engine.house import CAREFUL
from tests.support.fake_clock import FakeClock
from tests.support.memory_worker import MemoryWorker, refused


def wish(**members: Any) -> Wish:
    body: Any = {"ruleset": "parade", "seat_count": 2, **members}
    return read_wish(body)


def queue_key(**members: Any) -> str:
    return f"match:{{{wish(**members).digest}}}"


@pytest.fixture
def workers(worker: MemoryWorker, clock: FakeClock) -> Iterator[list[MemoryWorker]]:
    """Workers on one store."""
    others = [MemoryWorker(clock, worker.client) for _ in range(3)]
    yield [worker, *others]
    for each in others:
        each.close()


def match_at_once(
    workers: list[MemoryWorker], players: list[Credentials], seat_count: int, **how: Any
) -> list[Game]:
    """Each player asks a worker for a match, at the same moment."""
    greenlets = [
        gevent.spawn(workers[number % len(workers)].match, player, seat_count, **how)
        for number, player in enumerate(players)
    ]
    return [workers[0].clock.result(each).game for each in greenlets]


# --- Which players meet --------------------------------------------------------------------


@pytest.mark.parametrize(("callers", "seats"), [(120, 4), (120, 2), (13, 2), (7, 6), (1, 3)])
def test_players_who_ask_at_once_fill_as_few_games_as_they_can(
    workers: list[MemoryWorker], callers: int, seats: int
) -> None:
    players = [workers[0].player(f"Player {number}") for number in range(callers)]
    matched = match_at_once(workers, players, seats)
    ids = {game.id for game in matched}
    full, rest = divmod(callers, seats)
    assert len(ids) == full + bool(rest)
    games = [workers[0].game(each) for each in ids]
    assert Counter(game.status for game in games) == Counter(playing=full, open=bool(rest))
    for player, game in zip(players, matched, strict=True):
        assert workers[0].game(game.id).seat_of(player.player_id) is not None
    assert sum(len(game.players()) for game in games) == callers


@pytest.mark.parametrize(("callers", "seats"), [(120, 4), (120, 2), (2, 2)])
@pytest.mark.parametrize("key", [None, "a key"])
def test_players_who_only_join_do_not_count_for_new_games(
    workers: list[MemoryWorker],
    monkeypatch: pytest.MonkeyPatch,
    callers: int,
    seats: int,
    key: str | None,
) -> None:
    players = [workers[0].player(f"Player {number}") for number in range(callers)]
    workers[0].client.latency = 0.001
    counted: list[str] = []

    def defer(*names: str) -> list[Deferred]:
        gevent.sleep(workers[0].client.latency)
        counted.extend(names)
        return []

    for each in workers:
        monkeypatch.setattr(each.limiter, "defer", defer)
    games = {game.id for game in match_at_once(workers, players, seats, key=key)}
    assert Counter(counted) == dict.fromkeys((GAMES, GAMES_HERE, GAMES_DAILY), len(games))


def test_the_oldest_game_is_filled_first(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    first = worker.match(ada, 3).game
    worker.match(bob, 3)
    second = worker.match(worker.player(), 3).game
    assert first.id == second.id
    assert second.status == "playing"
    assert second.host.id == ada.player_id


def test_asking_again_while_the_game_is_open_returns_it(
    worker: MemoryWorker, clock: FakeClock, ada: Credentials, bob: Credentials
) -> None:
    first = worker.match(ada, 3)
    clock.advance(2 * RESERVATION_MS / 1000)
    again = worker.match(ada, 3)
    assert (again.game.id, again.game.version) == (first.game.id, first.game.version)
    worker.match(bob, 3)
    worker.match(worker.player(), 3)
    assert worker.match(ada, 3).game.id != first.game.id


def test_a_player_who_joined_by_the_lobby_is_in_the_game(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.match(ada, 3).game.id
    worker.join(bob, game_id)
    assert worker.match(bob, 3).game.id == game_id
    assert worker.match(worker.player(), 3).game.status == "playing"
    assert worker.match(worker.player(), 3).game.id != game_id


def test_a_player_who_leaves_frees_the_seat_for_the_next_caller_at_once(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, eve: Credentials
) -> None:
    game_id = worker.match(ada, 3).game.id
    worker.match(bob, 3)
    worker.leave(bob, game_id)
    assert worker.match(eve, 3).game.id == game_id
    assert worker.match(bob, 3).game.id == game_id
    assert worker.game(game_id).status == "playing"


def test_a_game_that_its_last_player_leaves_is_over_and_not_offered_again(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.match(ada).game.id
    worker.leave(ada, game_id)
    assert worker.game(game_id).status == "cancelled"
    assert worker.match(bob).game.id != game_id


def test_a_game_that_its_host_starts_or_cancels_is_not_offered_again(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    first = worker.match(ada).game.id
    worker.tables.start(ada, first, lambda tag: True)
    second = worker.match(ada).game.id
    worker.cancel(ada, second)
    assert worker.match(bob).game.id not in {first, second}


def test_one_player_gets_one_seat_however_often_it_asks_at_once(
    workers: list[MemoryWorker], ada: Credentials
) -> None:
    ids = {game.id for game in match_at_once(workers, [ada] * 8, 3)}
    assert len(ids) == 1
    assert workers[0].game(ids.pop()).players() == {ada.player_id}


# --- Wishes --------------------------------------------------------------------------------


def test_a_wish_is_the_same_however_it_is_written() -> None:
    plain = {"ruleset": "contrast", "seat_count": 3}
    same: list[dict[str, Any]] = [
        {"seat_count": 3, "ruleset": "contrast"},
        {**plain, "options": {}},
        {**plain, "options": {"expert": False}},
        {**plain, "turn_seconds": 86_400},
    ]
    digests = {read_wish(each).digest for each in (plain, *same)}  # type: ignore[arg-type]
    assert len(digests) == 1
    assert wish(house_after_seconds=5).digest == wish(house_after_seconds=5, house=CAREFUL).digest


def test_wishes_that_differ_are_other_wishes() -> None:
    wishes = [
        wish(),
        wish(seat_count=3),
        wish(turn_seconds=60),
        wish(house_after_seconds=5),
        wish(house_after_seconds=6),
        wish(house_after_seconds=5, house="random"),
        wish(ruleset="tea-time"),
        wish(ruleset="tea-time", options={"grid": "rows"}),
    ]
    assert len({each.digest for each in wishes}) == len(wishes)


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"ruleset": "chess"}, "#/ruleset"),
        ({"ruleset": "tea-time", "seat_count": 6}, "#/seat_count"),
        ({"house": "random"}, "#/house"),
        ({"house": "brilliant", "house_after_seconds": 5}, "#/house"),
    ],
)
def test_a_wish_that_cannot_be_met_is_refused(members: dict[str, Any], pointer: str) -> None:
    with refused("invalid_request") as caught:
        wish(**members)
    assert [error.pointer for error in caught.value.errors] == [pointer]


# --- Failures in between -------------------------------------------------------------------


def fails_once(monkeypatch: pytest.MonkeyPatch, target: Any, name: str) -> None:
    """Let the next call fail, as if the worker had been killed before it."""

    def fail(*args: Any, **how: Any) -> Any:
        monkeypatch.undo()
        raise RedisConnectionError("killed")

    monkeypatch.setattr(target, name, fail)


def test_a_creator_that_fails_leaves_its_game_to_the_next_player(
    worker: MemoryWorker,
    monkeypatch: pytest.MonkeyPatch,
    ada: Credentials,
    bob: Credentials,
) -> None:
    fails_once(monkeypatch, worker.creation, "commit_new")
    with pytest.raises(RedisConnectionError):
        worker.match(ada)
    game = worker.match(bob).game
    assert game.host.id == bob.player_id
    assert worker.match(ada).game.id == game.id
    assert worker.game(game.id).status == "playing"


def refuses(code: str) -> Any:
    """A function that refuses whatever it is asked."""

    def refuse(*args: Any, **how: Any) -> Any:
        raise Problem(code)

    return refuse


@pytest.mark.parametrize(
    ("target", "name", "code"),
    [("limiter", "defer", "too_many_requests"), ("creation", "commit_new", "too_many_games")],
)
def test_a_creator_that_is_refused_holds_no_seat(
    worker: MemoryWorker,
    monkeypatch: pytest.MonkeyPatch,
    ada: Credentials,
    bob: Credentials,
    eve: Credentials,
    target: str,
    name: str,
    code: str,
) -> None:
    monkeypatch.setattr(getattr(worker, target), name, refuses(code))
    with refused(code):
        worker.match(ada)
    monkeypatch.undo()
    game_id = worker.match(bob).game.id
    assert worker.match(eve).game.id == game_id


def test_a_player_who_may_not_join_holds_no_seat(
    worker: MemoryWorker,
    monkeypatch: pytest.MonkeyPatch,
    ada: Credentials,
    bob: Credentials,
    eve: Credentials,
) -> None:
    game_id = worker.match(ada).game.id
    monkeypatch.setattr(worker.tables, "join", refuses("too_many_games"))
    with refused("too_many_games"):
        worker.match(bob)
    monkeypatch.undo()
    assert worker.match(eve).game.id == game_id


def test_a_reservation_that_is_not_used_lapses(
    worker: MemoryWorker,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
    ada: Credentials,
    bob: Credentials,
    eve: Credentials,
) -> None:
    game_id = worker.match(ada).game.id
    fails_once(monkeypatch, worker.tables, "join")
    with pytest.raises(RedisConnectionError):
        worker.match(bob)
    other = worker.match(eve).game.id
    assert other != game_id
    worker.leave(eve, other)
    clock.advance(RESERVATION_MS / 1000)
    assert worker.match(eve).game.id == game_id


def test_a_game_that_was_never_stored_is_forgotten_after_a_minute(
    worker: MemoryWorker,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
    ada: Credentials,
    bob: Credentials,
) -> None:
    fails_once(monkeypatch, worker.creation, "commit_new")
    with pytest.raises(RedisConnectionError):
        worker.match(ada)
    (never_stored,) = worker.store.queue(wish().digest, worker.client.get(queue_key().encode()))
    clock.advance(COMMIT_MS / 1000 + 1)
    assert worker.match(bob).game.id != never_stored


def test_a_game_that_was_filled_meanwhile_is_passed_over(
    worker: MemoryWorker,
    monkeypatch: pytest.MonkeyPatch,
    ada: Credentials,
    bob: Credentials,
    eve: Credentials,
) -> None:
    game_id = worker.match(ada).game.id
    assign = worker.store.assign_seat

    def fill_first(*args: Any) -> str:
        monkeypatch.undo()
        worker.join(eve, game_id)
        return assign(*args)

    monkeypatch.setattr(worker.store, "assign_seat", fill_first)
    assert worker.match(bob).game.id != game_id


def test_a_game_whose_seats_may_not_be_taken_any_more_is_passed_over(
    worker: MemoryWorker,
    monkeypatch: pytest.MonkeyPatch,
    ada: Credentials,
    bob: Credentials,
    eve: Credentials,
) -> None:
    worn = worker.match(ada).game.id

    def check(game: Game, player: Any) -> None:
        if game.id == worn:
            raise Problem("too_many_requests")

    monkeypatch.setattr(worker.tables.seat_limits, "check", check)
    other = worker.match(bob).game.id
    assert other != worn
    assert worker.match(eve).game.id == other


def test_a_player_in_too_many_games_blocks_no_seat(
    worker: MemoryWorker,
    monkeypatch: pytest.MonkeyPatch,
    ada: Credentials,
    bob: Credentials,
    eve: Credentials,
) -> None:
    monkeypatch.setattr(tables, "MAX_UNFINISHED_GAMES", 1)
    worker.create(bob)
    game_id = worker.match(ada).game.id
    with refused("too_many_games"):
        worker.match(bob)
    assert worker.match(ada).game.id == game_id
    assert worker.match(eve).game.id == game_id


@pytest.mark.parametrize("value", [b"no JSON", b'[{"id": 1}]', b"[[]]", "a hash"])
def test_a_damaged_queue_begins_anew(worker: MemoryWorker, ada: Credentials, value: Any) -> None:
    if value == "a hash":
        worker.client.hset(queue_key().encode(), b"field", b"value")
    else:
        worker.client.set(queue_key().encode(), value, b"PX", b"1000000")
    game_id = worker.match(ada).game.id
    assert worker.match(worker.player()).game.id == game_id


def test_a_queue_expires_after_its_games(worker: MemoryWorker, ada: Credentials) -> None:
    game_id = worker.match(ada, house_after_seconds=3600).game.id
    game_key = f"game:{{{game_id}}}".encode()
    queue = queue_key(house_after_seconds=3600).encode()
    assert worker.client.pttl(queue) > worker.client.pttl(game_key)


def test_a_store_that_is_full_seats_no_player_and_blocks_no_seat(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, eve: Credentials
) -> None:
    game_id = worker.match(ada, 3).game.id
    worker.client.failures[queue_key(seat_count=3)] = OutOfMemoryError()
    with pytest.raises(OutOfMemoryError):
        worker.match(bob, 3)
    worker.client.failures.clear()
    assert worker.match(ada, 3).game.players() == {ada.player_id}
    worker.match(eve, 3)
    assert worker.match(bob, 3).game.id == game_id


# --- Idempotency ---------------------------------------------------------------------------


def test_a_request_repeated_after_the_start_finds_its_game_by_its_key(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game = worker.match(ada, key="a key").game
    worker.match(bob)
    again = worker.match(ada, key="a key")
    assert again.game.id == game.id
    assert again.game.status == "playing"
    assert worker.match(ada, key="another key").game.id != game.id
    with refused("idempotency_key_reused"):
        worker.match(ada, 3, key="a key")


def test_a_game_that_was_found_again_is_kept_for_the_key_too(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game = worker.match(ada).game
    assert worker.match(ada, key="a key").game.id == game.id
    worker.match(bob)
    assert worker.match(ada, key="a key").game.id == game.id


def test_a_key_stands_for_the_game_that_was_joined_in_the_end(
    worker: MemoryWorker,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
    ada: Credentials,
    bob: Credentials,
    eve: Credentials,
) -> None:
    first = worker.match(ada).game
    fails_once(monkeypatch, worker.tables, "join")
    with pytest.raises(RedisConnectionError):
        worker.match(bob, key="a key")
    worker.join(eve, first.id)
    second = worker.match(bob, key="a key").game
    assert second.id != first.id
    worker.match(worker.player())
    assert worker.match(bob, key="a key").game.id == second.id


def test_one_key_on_many_connections_takes_one_seat(
    workers: list[MemoryWorker], ada: Credentials, bob: Credentials
) -> None:
    workers[0].match(ada)
    ids = {game.id for game in match_at_once(workers, [bob] * 8, 2, key="a key")}
    assert len(ids) == 1


# --- The deadline --------------------------------------------------------------------------


def test_a_lonely_player_gets_a_game_against_the_house_at_the_deadline(
    worker: MemoryWorker, clock: FakeClock, ada: Credentials
) -> None:
    game = worker.match(ada, 3, house_after_seconds=5, house="random").game
    assert game.deadline == game.created_at + 5000
    clock.advance(4.9)
    assert worker.load(ada, game.id).game.status == "open"
    clock.advance(0.1)
    started = worker.load(ada, game.id).game
    assert started.status == "playing"
    assert [seat.house for seat in started.seats] == [None, "random", "random"]


def test_turns_start_an_open_game_whose_deadline_has_passed(
    worker: MemoryWorker, clock: FakeClock, ada: Credentials
) -> None:
    game = worker.match(ada, 2, house_after_seconds=5).game
    clock.advance(5)
    worker.turns.turns(ada, None)
    assert worker.game(game.id).status == "playing"


def test_lists_start_an_open_game_whose_deadline_has_passed(
    worker: MemoryWorker, clock: FakeClock, ada: Credentials
) -> None:
    game = worker.match(ada, 2, house_after_seconds=5).game
    clock.advance(5)
    page = worker.queries.own_games(ada, None, None, 10)
    (listed,) = map(msgspec.json.decode, page.items)
    assert (listed["id"], listed["status"]) == (game.id, "playing")


def test_a_poll_of_a_game_is_answered_at_its_deadline(
    worker: MemoryWorker, clock: FakeClock, ada: Credentials
) -> None:
    loaded = worker.match(ada, 2, house_after_seconds=5)
    poll = worker.start(worker.long_polls.until_changed, loaded, 20)
    clock.advance(4)
    assert not poll.ready()
    clock.advance(1.5)
    assert poll.ready()
    assert poll.get().loaded.game.status == "playing"


def test_a_game_that_is_due_is_not_offered(
    worker: MemoryWorker, clock: FakeClock, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.match(ada, 3, house_after_seconds=5).game.id
    clock.advance(5)
    assert worker.match(bob, 3, house_after_seconds=5).game.id != game_id
    # For its own player it is the game that was waited for.
    mine = worker.match(ada, 3, house_after_seconds=5).game
    assert (mine.id, mine.status) == (game_id, "playing")


def test_a_game_goes_on_to_its_deadline_without_a_player_who_left(
    worker: MemoryWorker, clock: FakeClock, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.match(ada, 3, house_after_seconds=5).game.id
    worker.match(bob, 3, house_after_seconds=5)
    worker.leave(ada, game_id)
    clock.advance(5)
    game = worker.load(bob, game_id).game
    assert game.status == "playing"
    assert game.players() == {bob.player_id}


@pytest.mark.parametrize("end", ["leave", "cancel"])
def test_a_game_that_was_cancelled_has_no_deadline(
    worker: MemoryWorker, clock: FakeClock, ada: Credentials, end: str
) -> None:
    game_id = worker.match(ada, 3, house_after_seconds=5).game.id
    getattr(worker, end)(ada, game_id)
    assert worker.game(game_id).deadline is None
    clock.advance(10)
    assert worker.load(ada, game_id).game.status == "cancelled"


def test_a_game_that_is_full_before_its_deadline_has_that_of_its_first_turn(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    worker.match(ada, 2, house_after_seconds=5)
    game = worker.match(bob, 2, house_after_seconds=5).game
    assert game.deadline == (game.started_at or 0) + game.turn_seconds * 1000


def test_a_game_that_its_host_starts_has_house_players_of_the_level_of_its_wish(
    worker: MemoryWorker, ada: Credentials
) -> None:
    game = worker.match(ada, 2, house_after_seconds=5, house="random").game
    started = worker.tables.start(ada, game.id, lambda tag: True).game
    assert started.seats[1].house == "random"


def test_a_deadline_is_refused_while_the_earlier_format_is_stored(
    worker: MemoryWorker, clock: FakeClock, ada: Credentials, bob: Credentials
) -> None:
    pinned = MemoryWorker(clock, worker.client, stored_format=1)
    with refused("newer_format"):
        pinned.match(ada, house_after_seconds=5)
    game = pinned.match(ada).game
    assert pinned.match(bob).game.id == game.id
    assert game.format == 1
    pinned.close()
