"""A player's turns: which games wait for it, which have ended, and what of it is news."""

import copy
from typing import Any

import msgspec
import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from api.games import turns as module
from api.games.players import Credentials
from api.games.settling import MAX_SETTLED
from api.games.turns import ENDED_SHOWN_MS, Turns
from api.model.retention import COMMIT_MS
from tests.support.memory_worker import MemoryWorker, refused


def waiting(turns: Turns) -> list[str]:
    items = msgspec.json.decode(turns.rendered)["items"]
    return [game["id"] for game in items]


def ended(turns: Turns) -> list[str]:
    return [game.id for game in turns.answer.ended]


def ask(
    worker: MemoryWorker, player: Credentials, after: Turns | None = None, *, has_view: bool = True
) -> Turns:
    since = None if after is None else after.answer.cursor
    return worker.turns.turns(player, since, has_view=has_view)


@pytest.fixture
def positions(worker: MemoryWorker, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the games whose positions are read from now on."""
    read, ids = worker.store.games_with_state, []
    monkeypatch.setattr(
        worker.store, "games_with_state", lambda asked: ids.extend(asked) or read(asked)
    )
    return ids


def cancelled(worker: MemoryWorker, host: Credentials, player: Credentials) -> str:
    game_id = worker.create(host, 3)
    worker.join(player, game_id)
    worker.cancel(host, game_id)
    return game_id


def movers(
    worker: MemoryWorker, players: tuple[Credentials, ...], game_id: str
) -> tuple[Credentials, Credentials]:
    """The player to move, and the other one."""
    mover = worker.mover(players, game_id)
    return mover, next(each for each in players if each is not mover)


# --- Games that wait -----------------------------------------------------------------------


def test_a_game_that_waits_is_news_until_the_cursor_knows_it(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    mover, other = movers(worker, (ada, bob), game_id)
    first = ask(worker, mover)
    assert waiting(first) == [game_id]
    assert first.is_news
    assert first.now == worker.client.time_ms
    assert not first.answer.unchanged
    again = ask(worker, mover, first)
    assert not again.is_news
    assert again.answer.unchanged
    assert waiting(again) == []
    assert again.answer.cursor == first.answer.cursor
    assert waiting(ask(worker, mover)) == [game_id]
    nothing = ask(worker, other)
    assert waiting(nothing) == []
    assert not nothing.is_news
    # Without a cursor there is nothing that it could be the same as.
    assert not nothing.answer.unchanged


def test_news_of_one_game_lists_all_games_that_wait(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    first = worker.create(ada, 2, house=["careful"])
    turns = ask(worker, ada)
    worker.clock.advance(1)
    second = worker.create(ada, 2, house=["careful"])
    turns = ask(worker, ada, turns)
    assert waiting(turns) == [first, second]
    assert not turns.answer.unchanged
    # An end is news too.
    worker.cancel(ada, worker.create(ada))
    assert waiting(ask(worker, ada, turns)) == [first, second]


def test_positions_are_read_only_for_an_answer_that_shows_them(
    worker: MemoryWorker, ada: Credentials, positions: list[str]
) -> None:
    ids = [worker.create(ada, 2, house=["careful"]) for _ in range(3)]
    turns = ask(worker, ada)
    assert sorted(positions) == sorted(ids)
    positions.clear()
    ask(worker, ada, turns)
    assert positions == []
    ask(worker, ada, has_view=False)
    assert positions == []


def test_without_a_view_a_game_has_all_but_table_and_legal_moves(
    worker: MemoryWorker, ada: Credentials
) -> None:
    worker.create(ada, 2, house=["careful"])
    (plain,) = msgspec.json.decode(ask(worker, ada, has_view=False).rendered)["items"]
    (whole,) = msgspec.json.decode(ask(worker, ada).rendered)["items"]
    assert whole.keys() - plain.keys() == {"table", "legal_moves"}
    assert plain == {name: whole[name] for name in plain}


def test_a_game_that_waits_no_more_when_its_position_is_read_is_no_news(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = worker.seated(ada, bob)
    mover, other = movers(worker, (ada, bob), game_id)
    before = ask(worker, other)
    worker.move((ada, bob), game_id)
    read = worker.store.games_with_state

    def after_a_move(ids: list[str]) -> Any:
        monkeypatch.setattr(worker.store, "games_with_state", read)
        worker.move((ada, bob), game_id)
        return read(ids)

    monkeypatch.setattr(worker.store, "games_with_state", after_a_move)
    turns = ask(worker, other, before)
    assert (turns.is_news, turns.answer.unchanged, waiting(turns)) == (False, True, [])
    assert waiting(ask(worker, mover)) == [game_id]


def test_the_next_turn_in_the_same_game_is_news(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    mover, _ = movers(worker, (ada, bob), game_id)
    first = ask(worker, mover)
    worker.move((ada, bob), game_id)
    between = ask(worker, mover, first)
    assert not between.is_news
    worker.move((ada, bob), game_id)
    assert ask(worker, mover, first).is_news
    assert ask(worker, mover, between).is_news


def test_games_are_listed_by_how_long_they_have_waited(
    worker: MemoryWorker, ada: Credentials
) -> None:
    ids = []
    for _ in range(4):
        worker.clock.advance(1)
        game_id = worker.create(ada, 2, house=["careful"])
        ids.append(game_id)
    assert waiting(ask(worker, ada)) == ids


def test_a_game_would_be_news_if_the_cursor_does_not_know_its_turn(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    mover, other = movers(worker, (ada, bob), game_id)
    before = worker.game(game_id)
    first = ask(worker, mover)
    assert first.would_be_news(before)
    known = ask(worker, mover, first)
    assert not known.would_be_news(before)
    assert not ask(worker, other).would_be_news(before)
    worker.move((ada, bob), game_id)
    after = worker.game(game_id)
    assert not known.would_be_news(after)
    assert ask(worker, other).would_be_news(after)


def test_an_end_would_be_news_to_the_company_until_it_was_told(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, eve: Credentials
) -> None:
    game_id = worker.create(ada, 3, reserved_seats=[{"seat": 2, "player_id": eve.player_id}])
    worker.join(bob, game_id)
    before = ask(worker, bob)
    worker.cancel(ada, game_id)
    game = worker.game(game_id)
    assert before.would_be_news(game)
    assert not ask(worker, bob, ask(worker, bob)).would_be_news(game)
    # The seat was only reserved for her.
    assert not ask(worker, eve).would_be_news(game)


def test_of_many_due_games_some_are_settled_and_the_others_are_left_out(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    ids = [worker.seated(ada, bob, turn_seconds=60) for _ in range(MAX_SETTLED + 2)]
    versions = {each: worker.game(each).version for each in ids}
    worker.clock.advance(60)
    first = ask(worker, ada)
    due = {each for each in ids if worker.game(each).version == versions[each]}
    assert len(due) == 2
    assert not due & set(waiting(first))
    second = ask(worker, ada, first)
    told = {*waiting(first), *waiting(second)}
    assert told == {each for each in ids if worker.game(each).to_move == (0,)}
    assert all(worker.game(each).version > versions[each] for each in ids)


def test_due_games_that_cannot_be_settled_keep_no_others_from_it(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    ids = [worker.seated(ada, bob, turn_seconds=60) for _ in range(MAX_SETTLED + 2)]
    broken, sound = ids[:MAX_SETTLED], ids[MAX_SETTLED:]
    versions = {each: worker.game(each).version for each in sound}
    for each in broken:
        worker.client.hset(f"game:{{{each}}}".encode(), b"state", b'{"nonsense": 1}')
    worker.clock.advance(60)
    for _ in range(100):
        ask(worker, ada)
    assert all(worker.game(each).version > versions[each] for each in sound)


def test_a_game_that_another_request_settles_is_shown_as_it_then_is(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = worker.seated(ada, bob, turn_seconds=60)
    _mover, other = movers(worker, (ada, bob), game_id)
    worker.clock.advance(60)
    settle = worker.transactions.settle

    def late(found: Any, now: int) -> None:
        settle(found, now)

    monkeypatch.setattr(worker.transactions, "settle", late)
    assert waiting(ask(worker, other)) == [game_id]


def test_a_store_that_fails_while_a_game_is_settled_fails_the_request(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker.seated(ada, bob, turn_seconds=60)
    worker.clock.advance(60)

    def fail(*args: Any) -> Any:
        raise RedisConnectionError

    monkeypatch.setattr(worker.transactions, "commit", fail)
    with pytest.raises(RedisConnectionError):
        ask(worker, ada)


# --- Games that have ended -----------------------------------------------------------------


def test_an_end_is_told_once(worker: MemoryWorker, ada: Credentials, bob: Credentials) -> None:
    before = ask(worker, bob)
    game_id = cancelled(worker, ada, bob)
    told = ask(worker, bob, before)
    assert ended(told) == [game_id]
    assert told.is_news
    for _ in range(3):
        worker.clock.advance(COMMIT_MS / 1000)
        told = ask(worker, bob, told)
        assert ended(told) == []
        assert not told.is_news


def test_without_a_cursor_the_ends_of_the_last_day_are_told(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    cancelled(worker, ada, bob)
    worker.client.offset_ms += ENDED_SHOWN_MS // 2
    game_id = cancelled(worker, ada, bob)
    worker.client.offset_ms += ENDED_SHOWN_MS // 2 + 1
    assert ended(ask(worker, bob)) == [game_id]


def test_an_end_is_told_to_the_host_and_the_players_and_not_to_a_reserved_seat(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, eve: Credentials
) -> None:
    game_id = worker.create(
        ada,
        3,
        take_seat=False,
        reserved_seats=[
            {"seat": 1, "player_id": bob.player_id},
            {"seat": 2, "player_id": eve.player_id},
        ],
    )
    worker.join(eve, game_id)
    worker.cancel(ada, game_id)
    assert [ended(ask(worker, each)) for each in (ada, eve, bob)] == [[game_id], [game_id], []]


def test_an_end_whose_entry_is_read_before_its_commit_is_told_later(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index entry is written first; the commit may come at any time within COMMIT_MS."""
    before = ask(worker, bob)
    game_id = worker.create(ada, 3)
    worker.join(bob, game_id)
    commit_all = worker.store.commit_all
    between: list[Turns] = []

    def slowly(*args: Any) -> Any:
        between.append(ask(worker, bob, before))
        worker.clock.advance(COMMIT_MS / 1000 - 1)
        between.append(ask(worker, bob, between[0]))
        return commit_all(*args)

    monkeypatch.setattr(worker.store, "commit_all", slowly)
    worker.cancel(ada, game_id)
    assert [ended(each) for each in between] == [[], []]
    told = ask(worker, bob, between[-1])
    assert ended(told) == [game_id]
    assert ended(ask(worker, bob, told)) == []


def test_a_game_that_ends_while_turns_are_read_is_told_as_ended(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = ask(worker, ada)
    game_id = worker.seated(ada, bob)
    worker.clock.advance(COMMIT_MS / 1000)
    read = worker.store.games_with_state

    def after_the_end(ids: list[str]) -> Any:
        monkeypatch.setattr(worker.store, "games_with_state", read)
        for player in (ada, bob):
            worker.leave(player, game_id)
        return read(ids)

    monkeypatch.setattr(worker.store, "games_with_state", after_the_end)
    told = ask(worker, ada, before)
    assert (waiting(told), ended(told)) == ([], [game_id])


def test_an_end_long_ago_is_looked_at_no_more(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancelled(worker, ada, bob)
    told = ask(worker, bob)
    worker.clock.advance(COMMIT_MS / 1000 + 1)
    later = ask(worker, bob, told)
    assert later.answer.cursor == f"{worker.client.time_ms - COMMIT_MS}."


def test_many_ends_are_told_in_parts_and_each_once(
    worker: MemoryWorker,
    ada: Credentials,
    bob: Credentials,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_ENDED", 4)
    monkeypatch.setattr(module, "MAX_END_MARKS", 5)
    turns = ask(worker, bob)
    ids = []
    for _ in range(11):
        worker.clock.advance(0.01)
        ids.append(cancelled(worker, ada, bob))
    parts = []
    for _ in range(4):
        turns = ask(worker, bob, turns)
        parts.append(ended(turns))
        # A cursor is a part of an address, so it stays short.
        assert len(turns.answer.cursor.partition(".")[2]) <= 5 * 8
    assert [len(part) for part in parts] == [4, 4, 3, 0]
    assert [each for part in parts for each in part] == ids


def test_an_end_is_told_though_many_games_that_ended_before_it_are_gone(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_ENDED", 4)
    turns = ask(worker, bob)
    for _ in range(9):
        worker.clock.advance(0.01)
        cancelled(worker, ada, bob)
    worker.client.offset_ms += worker.retention.cancelled
    game_id = cancelled(worker, ada, bob)
    parts = []
    for _ in range(5):
        turns = ask(worker, bob, turns)
        parts += ended(turns)
    assert parts == [game_id]


def test_an_end_is_told_though_a_failover_has_lost_another_end_of_the_game(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    turns = ask(worker, bob)
    game_id = worker.seated(ada, bob)
    replica = copy.deepcopy(worker.client.values)
    for player in (ada, bob):
        worker.leave(player, game_id)
    turns = ask(worker, bob, turns)
    assert ended(turns) == [game_id]
    turns = ask(worker, bob, turns)
    assert not turns.would_be_news(worker.game(game_id))
    worker.client.values = replica
    worker.clock.advance(1)
    for player in (ada, bob):
        worker.leave(player, game_id)
    assert turns.would_be_news(worker.game(game_id))
    turns = ask(worker, bob, turns)
    assert ended(turns) == [game_id]
    assert ended(ask(worker, bob, turns)) == []


def test_an_end_is_told_though_the_clock_of_the_store_was_set_back(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.create(ada, 3)
    worker.join(bob, game_id)
    worker.client.offset_ms += 3_600_000
    before = ask(worker, bob)
    worker.client.offset_ms -= 3_600_000
    worker.cancel(ada, game_id)
    told = ask(worker, bob, before)
    assert ended(told) == [game_id]
    assert ended(ask(worker, bob, told)) == []


@pytest.mark.parametrize("cursor", ["", "soon", "1", "1.abc", "1.äöü", f"{10**15}."])
def test_a_made_up_cursor_is_refused(worker: MemoryWorker, ada: Credentials, cursor: str) -> None:
    with refused("invalid_request") as caught:
        worker.turns.turns(ada, cursor)
    (error,) = caught.value.errors
    assert error.parameter == "since"
