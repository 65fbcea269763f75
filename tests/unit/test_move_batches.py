"""Batches of moves: what is read and committed together, and what goes wrong for some of them."""

from typing import Any

import msgspec
import pytest
from redis import OutOfMemoryError
from redis.exceptions import ConnectionError as RedisConnectionError

from api.games.move_batches import BatchedMove, BatchOutcome
from api.games.moves import PlayedMove, require_seat
from api.games.players import Credentials
from api.problems.problem import Problem
from engine.parade import Play
from tests.support.memory_worker import MemoryWorker, matches_anything, refused

Pair = tuple[Credentials, Credentials]


@pytest.fixture
def pair(ada: Credentials, bob: Credentials) -> Pair:
    return ada, bob


@pytest.fixture
def executions(worker: MemoryWorker, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The commands of each round trip, one list for each."""
    trips: list[Any] = []
    execute = worker.client.execute
    monkeypatch.setattr(
        worker.client,
        "execute",
        lambda commands, **how: trips.append(commands) or execute(commands, **how),
    )
    return trips


def mover_first(worker: MemoryWorker, pair: Pair, **members: Any) -> str:
    """The id of a new game in which Ada is to move."""
    while True:
        game_id = worker.seated(*pair, **members)
        if worker.game(game_id).to_move == (0,):
            return game_id


def wanted(worker: MemoryWorker, player: Credentials, game_id: str, number: int = 0) -> BatchedMove:
    """A legal move of a player."""
    loaded = worker.load(player, game_id)
    moves = worker.moves.list_legal(loaded, require_seat(loaded), previews=False).moves
    assert loaded.game.turn is not None
    return BatchedMove(game_id, loaded.game.turn, moves[number])


def told(outcomes: list[BatchOutcome]) -> list[Any]:
    """What became of each move: `played`, `again`, a problem's code, or the type of an error."""
    return [
        ("again" if each.is_repeated else "played")
        if isinstance(each, PlayedMove)
        else each.code
        if isinstance(each, Problem)
        else type(each)
        for each in outcomes
    ]


def test_moves_in_many_games_take_one_read_and_one_commit(
    worker: MemoryWorker, pair: Pair, executions: list[Any]
) -> None:
    ada, _ = pair
    batch = [wanted(worker, ada, mover_first(worker, pair)) for _ in range(30)]
    executions.clear()
    outcomes = worker.move_batches.play(ada, batch)
    assert len(executions) == 2
    assert told(outcomes) == ["played"] * 30
    for each, outcome in zip(batch, outcomes, strict=True):
        assert isinstance(outcome, PlayedMove)
        assert outcome.loaded.game == worker.game(each.game_id)
        assert list(outcome.items) == worker.items(each.game_id, outcome.items[0].version, 99)


def test_a_batch_that_is_sent_again_has_the_same_outcomes_in_two_round_trips(
    worker: MemoryWorker, pair: Pair, executions: list[Any]
) -> None:
    ada, _ = pair
    batch = [wanted(worker, ada, mover_first(worker, pair)) for _ in range(3)]
    first = worker.move_batches.play(ada, batch)
    worker.move(pair, batch[2].game_id)
    executions.clear()
    again = worker.move_batches.play(ada, batch)
    assert len(executions) == 2
    assert told(again) == ["again"] * 3
    for before, after, each in zip(first, again, batch, strict=True):
        assert isinstance(before, PlayedMove)
        assert isinstance(after, PlayedMove)
        assert after.items == before.items
        assert after.loaded.game == worker.game(each.game_id)


def test_a_history_is_read_once_for_all_its_moves_that_are_repeated(
    worker: MemoryWorker, ada: Credentials, executions: list[Any]
) -> None:
    ids = [against_the_house(worker, ada) for _ in range(2)]
    batch = []
    for game_id in [*ids, *ids, *ids]:
        batch.append(wanted(worker, ada, game_id))
        worker.move_batches.play(ada, batch[-1:])
    executions.clear()
    again = worker.move_batches.play(ada, batch)
    assert told(again) == ["again"] * 6
    ranges = [each for trip in executions for each in trip if each.words[0] == "LRANGE"]
    assert sorted(each.key for each in ranges) == sorted(f"game:{{{each}}}:items" for each in ids)
    for each, outcome in zip(batch, again, strict=True):
        assert isinstance(outcome, PlayedMove)
        first, last = outcome.items[0], outcome.items[-1]
        assert first.turn == each.turn
        assert bytes(first.move) == msgspec.json.encode(each.move)
        assert list(outcome.items) == worker.items(each.game_id, first.version, last.version)


def test_games_that_end_write_their_indexes_together(
    worker: MemoryWorker, pair: Pair, executions: list[Any]
) -> None:
    ada, bob = pair
    ids = [last_move(worker, pair) for _ in range(3)]
    batch = [wanted(worker, ada, each) for each in ids]
    executions.clear()
    outcomes = worker.move_batches.play(ada, batch)
    assert told(outcomes) == ["played"] * 3
    # The read; the entries before the commit; the commit; the entries after it.
    assert len(executions) == 4
    assert {worker.game(each).status for each in ids} == {"finished"}
    for each in (ada, bob):
        listed = worker.queries.own_games(each, "finished", None, 10)
        assert {msgspec.json.decode(each)["id"] for each in listed.items} == set(ids)


def last_move(worker: MemoryWorker, pair: Pair) -> str:
    """The id of a game that Ada ends with her next move."""
    ada, bob = pair
    game_id = worker.seated(*pair)
    while True:
        if worker.load(ada, game_id).stored.position.phase == "discard":
            worker.move_batches.play(bob, [wanted(worker, bob, game_id)])
            return game_id
        worker.move(pair, game_id)


# --- Several moves in one game -----------------------------------------------------------


def against_the_house(worker: MemoryWorker, ada: Credentials, level: str = "random") -> str:
    """The id of a game of Ada and a house player in which Ada is to move."""
    return worker.create(ada, 2, house=[level])


def cards_of(
    worker: MemoryWorker, ada: Credentials, game_id: str, number: int
) -> list[BatchedMove]:
    """Moves of Ada in her next turns: each follows that of the house. The last one is illegal."""
    loaded = worker.load(ada, game_id)
    hand = loaded.stored.position.hands[0]
    turn = loaded.game.turn
    assert turn is not None
    moves = [
        BatchedMove(game_id, turn + 2 * at, Play(card)) for at, card in enumerate(hand[:number])
    ]
    return [*moves, BatchedMove(game_id, turn + 2 * number, Play(hand[0]))]


def test_moves_in_one_game_are_played_in_order_each_on_the_game_after_the_one_before(
    worker: MemoryWorker, ada: Credentials, executions: list[Any]
) -> None:
    game_id = against_the_house(worker, ada)
    batch = cards_of(worker, ada, game_id, 3)
    executions.clear()
    outcomes = worker.move_batches.play(ada, batch)
    assert len(executions) == 2
    assert told(outcomes) == ["played", "played", "played", "illegal_move"]
    versions = [
        (each.items[0].version, each.items[-1].version, each.loaded.game.version)
        for each in outcomes
        if isinstance(each, PlayedMove)
    ]
    first = versions[0][0]
    assert versions == [(first + at, first + at + 1, first + at + 1) for at in (0, 2, 4)]
    assert worker.game(game_id).version == first + 5
    assert told(worker.move_batches.play(ada, batch)) == ["again"] * 3 + ["illegal_move"]


def test_a_move_that_is_refused_leaves_the_game_to_those_after_it(
    worker: MemoryWorker, ada: Credentials
) -> None:
    game_id = against_the_house(worker, ada)
    first, second, *_ = cards_of(worker, ada, game_id, 2)
    now = second._replace(turn=first.turn)
    batch = [second, now, first, second._replace(move=first.move)]
    assert told(worker.move_batches.play(ada, batch)) == [
        "stale_turn", "played", "stale_turn", "played",
    ]  # fmt: skip


def test_the_same_move_twice_is_played_once(worker: MemoryWorker, pair: Pair) -> None:
    ada, _ = pair
    one, other = (wanted(worker, ada, mover_first(worker, pair)) for _ in range(2))
    outcomes = worker.move_batches.play(ada, [one, other, one])
    assert told(outcomes) == ["played", "played", "again"]
    first, _, again = outcomes
    assert isinstance(first, PlayedMove)
    assert isinstance(again, PlayedMove)
    assert again.items == first.items
    illegal = other._replace(move=Play("red-99"), turn=other.turn + 1)
    assert told(worker.move_batches.play(ada, [illegal, illegal])) == ["not_your_turn"] * 2


# --- Games that need more ----------------------------------------------------------------


def test_a_game_that_another_request_changes_meanwhile_is_decided_again_alone(
    worker: MemoryWorker, ada: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [against_the_house(worker, ada) for _ in range(2)]
    batch = [move for each in ids for move in cards_of(worker, ada, each, 2)]
    commit_all, calls = worker.transactions.commit_all, []

    def after_another(commits: Any, **deferred: Any) -> Any:
        calls.append(len(commits))
        if len(calls) == 1:
            # The same move, sent by a request that the client gave up.
            worker.moves.play(ada, *batch[0], matches_anything)
        return commit_all(commits, **deferred)

    monkeypatch.setattr(worker.transactions, "commit_all", after_another)
    outcomes = worker.move_batches.play(ada, batch)
    assert told(outcomes) == ["again", "played", "illegal_move", "played", "played", "illegal_move"]
    # Of both games together; the move of the other request; the second move of the first game.
    assert calls == [4, 1, 1]


def test_what_was_decided_on_a_move_that_is_not_committed_is_decided_again(
    worker: MemoryWorker, ada: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second move is stale only after the first one, which loses to that of the house."""
    game_id = against_the_house(worker, ada)
    first, second, *_ = cards_of(worker, ada, game_id, 2)
    batch = [first, second._replace(turn=first.turn)]
    commit_all, calls = worker.transactions.commit_all, []

    def full_once(commits: Any, **deferred: Any) -> Any:
        calls.append(len(commits))
        return [OutOfMemoryError()] if len(calls) == 1 else commit_all(commits, **deferred)

    monkeypatch.setattr(worker.transactions, "commit_all", full_once)
    assert told(worker.move_batches.play(ada, batch)) == [OutOfMemoryError, "played"]


def test_a_due_game_is_settled_first_and_the_others_do_not_wait_for_it(
    worker: MemoryWorker, pair: Pair, executions: list[Any]
) -> None:
    ada, _ = pair
    due = mover_first(worker, pair, turn_seconds=60)
    late = wanted(worker, ada, due)
    worker.clock.advance(60)
    other = wanted(worker, ada, mover_first(worker, pair))
    executions.clear()
    assert told(worker.move_batches.play(ada, [late, other])) == ["stale_turn", "played"]
    assert {each.key for each in executions[1]} == {f"game:{{{other.game_id}}}"}


def test_a_careful_house_player_chooses_after_the_other_games_are_committed(
    worker: MemoryWorker, ada: Credentials, executions: list[Any]
) -> None:
    slow, fast = against_the_house(worker, ada, "careful"), against_the_house(worker, ada)
    first, second, _ = cards_of(worker, ada, slow, 2)
    other, *_ = cards_of(worker, ada, fast, 1)
    executions.clear()
    outcomes = worker.move_batches.play(ada, [first, second, other])
    assert told(outcomes) == ["played"] * 3
    assert {each.key for each in executions[1]} == {f"game:{{{fast}}}"}


def test_a_repeated_move_is_confirmed_where_the_store_waits_for_replicas(
    worker: MemoryWorker, pair: Pair, executions: list[Any]
) -> None:
    ada, _ = pair
    batch = [wanted(worker, ada, mover_first(worker, pair))]
    worker.move_batches.play(ada, batch)
    worker.client.waits_for_replicas = True
    executions.clear()
    assert told(worker.move_batches.play(ada, batch)) == ["again"]
    confirmed = [each for each in executions[2] if each.script is not None]
    assert len(confirmed) == 1


# --- Failures ----------------------------------------------------------------------------


def test_a_wrong_token_is_refused_as_a_whole(worker: MemoryWorker, pair: Pair) -> None:
    ada, _ = pair
    batch = [wanted(worker, ada, mover_first(worker, pair))]
    with refused("invalid_token"):
        worker.move_batches.play(ada._replace(secret_hash="0" * 64), batch)


def test_games_that_cannot_be_read_disturb_no_others(
    worker: MemoryWorker, pair: Pair, eve: Credentials
) -> None:
    ada, bob = pair
    good, away, damaged = (wanted(worker, ada, mover_first(worker, pair)) for _ in range(3))
    private = BatchedMove(worker.create(eve, visibility="private"), 1, good.move)
    open_game = BatchedMove(worker.create(ada), 1, good.move)
    foreign = BatchedMove(worker.seated(bob, eve), 1, good.move)
    unknown = BatchedMove("0" * 32, 1, good.move)
    worker.client.failures[f"game:{{{away.game_id}}}"] = RedisConnectionError()
    worker.client.values[f"game:{{{damaged.game_id}}}".encode()] = b"text"
    batch = [away, damaged, private, open_game, foreign, unknown, good]
    *failed, last = told(worker.move_batches.play(ada, batch))
    assert failed[0] is RedisConnectionError
    assert failed[1].__name__ == "Unreadable"
    assert failed[2:] == ["game_not_found", "game_not_started", "not_seated", "game_not_found"]
    assert last == "played"


def test_a_store_that_fails_at_the_commit_fails_each_move_once(
    worker: MemoryWorker, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is tried again: each attempt would wait for the timeout."""
    ada, _ = pair
    batch = [wanted(worker, ada, mover_first(worker, pair)) for _ in range(3)]
    versions = [worker.game(each.game_id).version for each in batch]
    execute, calls = worker.client.execute, []

    def fail_after_the_read(commands: Any, **how: Any) -> Any:
        calls.append(commands)
        if len(calls) > 1:
            raise RedisConnectionError
        return execute(commands, **how)

    monkeypatch.setattr(worker.client, "execute", fail_after_the_read)
    stale = batch[0]._replace(turn=batch[0].turn + 9)
    outcomes = worker.move_batches.play(ada, [*batch, batch[0], stale])
    # The stale one was decided on a move of which it is not known whether it was played.
    assert told(outcomes) == [RedisConnectionError] * 5
    assert len(calls) == 2
    monkeypatch.setattr(worker.client, "execute", execute)
    assert [worker.game(each.game_id).version for each in batch] == versions
    assert told(worker.move_batches.play(ada, batch)) == ["played"] * 3


def test_a_store_that_cannot_be_read_fails_the_request(worker: MemoryWorker, pair: Pair) -> None:
    ada, _ = pair
    batch = [wanted(worker, ada, mover_first(worker, pair))]
    worker.client.failure = RedisConnectionError()
    with pytest.raises(RedisConnectionError):
        worker.move_batches.play(ada, batch)
    worker.client.failure = None


def test_an_index_that_cannot_be_written_fails_only_the_game_that_ends(
    worker: MemoryWorker, pair: Pair
) -> None:
    ada, _ = pair
    ends = wanted(worker, ada, last_move(worker, pair))
    goes_on = wanted(worker, ada, mover_first(worker, pair))
    worker.client.failures[f"index:{{{ada.player_id}}}:finished"] = RedisConnectionError()
    assert told(worker.move_batches.play(ada, [ends, goes_on])) == [RedisConnectionError, "played"]
    assert worker.game(ends.game_id).status == "playing"
    worker.client.failures.clear()
    assert told(worker.move_batches.play(ada, [ends])) == ["played"]


def test_two_requests_with_the_same_batch_play_each_move_once(
    worker: MemoryWorker, pair: Pair
) -> None:
    ada, _ = pair
    batch = [wanted(worker, ada, mover_first(worker, pair)) for _ in range(5)]
    versions = [worker.game(each.game_id).version for each in batch]
    worker.client.latency = 0.01
    both = [worker.start(worker.move_batches.play, ada, batch) for _ in range(2)]
    first, second = (worker.clock.result(each) for each in both)
    worker.client.latency = 0
    assert sorted([told(first), told(second)]) == [["again"] * 5, ["played"] * 5]
    assert [each.items for each in first] == [each.items for each in second]
    assert [worker.game(each.game_id).version for each in batch] == [at + 1 for at in versions]
