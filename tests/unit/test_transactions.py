"""Loading a game and changing it: what is decided anew when another request comes first."""

from typing import Any

import pytest
from redis import OutOfMemoryError
from redis.exceptions import ConnectionError as RedisConnectionError

from api.games.moves import require_seat
from api.games.players import Credentials
from api.games.transactions import FULL_SECONDS, MAX_ATTEMPTS, RELEASE, LoadedGame
from api.model.events import BY_PLAYER, GameCancelled
from api.model.game import public_item
from api.storage.client import Command
from api.storage.games import Change
from tests.support.memory_worker import MemoryWorker, matches_anything, refused


def tell(loaded: LoadedGame) -> Change:
    """A change that adds an item and nothing else."""
    game = loaded.game
    item = public_item(game.version + 1, loaded.now, BY_PLAYER, None, GameCancelled())
    return Change(game=game, items=(item,))


def change_now(worker: MemoryWorker, player: Credentials, game_id: str) -> None:
    worker.transactions.update(player, game_id, tell)


# --- Loading -----------------------------------------------------------------------------


def test_a_loaded_game_has_the_caller_and_the_time_of_the_store(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    worker.clock.advance(5)
    loaded = worker.transactions.load(bob, game_id)
    assert loaded.now == worker.client.time_ms
    assert loaded.reader == bob.player_id
    assert loaded.seat == 1
    assert not loaded.audience.is_host
    assert loaded.tag == f"{loaded.game.version}-{loaded.game.commit}-seat1-{RELEASE}"
    assert worker.transactions.load(ada, game_id).audience.is_host


def test_a_caller_without_a_token_sees_public_games_only(
    worker: MemoryWorker, ada: Credentials
) -> None:
    public, private = worker.create(ada), worker.create(ada, visibility="private")
    load = worker.transactions.load
    loaded = load(None, public)
    assert (loaded.reader, loaded.seat) == (None, None)
    with refused("game_not_found"):
        load(None, private)
    with refused("game_not_found"):
        load(ada, "0" * 32)


def test_a_private_game_exists_for_its_members_and_for_callers_that_are_admitted(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, eve: Credentials
) -> None:
    game_id = worker.create(
        ada, 3, visibility="private", reserved_seats=[{"seat": 1, "player_id": bob.player_id}]
    )
    load = worker.transactions.load
    assert load(ada, game_id).game.id == load(bob, game_id).game.id == game_id
    with refused("game_not_found"):
        load(eve, game_id)
    admitted = load(eve, game_id, admit=lambda game, caller: caller.id == eve.player_id)
    assert admitted.game.id == game_id


def test_a_wrong_token_is_refused_before_the_game_is_looked_at(
    worker: MemoryWorker, ada: Credentials
) -> None:
    with refused("invalid_token"):
        worker.transactions.load(ada._replace(secret_hash="0" * 64), "0" * 32)


def test_a_due_game_is_settled_before_it_is_shown(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob, turn_seconds=60)
    before = worker.game(game_id)
    worker.clock.advance(59.999)
    assert worker.load(ada, game_id).game == before
    worker.clock.advance(0.001)
    settled = worker.load(ada, game_id).game
    assert settled.version == before.version + 1
    assert settled == worker.game(game_id)


def test_answers_to_extra_commands_belong_to_the_game_that_was_read(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob, turn_seconds=60)
    commands = [Command("x", ("GET", "x"))]
    assert worker.transactions.load(ada, game_id, extra_commands=commands).extra_answers == [None]
    worker.clock.advance(60)
    # The game was settled after the read, so they may say less than the game does.
    assert worker.transactions.load(ada, game_id, extra_commands=commands).extra_answers == ()


def test_a_game_that_another_request_settles_is_read_again(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = worker.seated(ada, bob, turn_seconds=60)
    worker.clock.advance(60)
    loads = [worker.start(worker.transactions.load, reader, game_id) for reader in (ada, bob)]
    games = {worker.clock.result(each, 0).game.commit for each in loads}
    assert games == {worker.game(game_id).commit}
    monkeypatch.setattr(worker.transactions, "settle_unless_full", lambda found, now: None)
    worker.clock.advance(60)
    with refused("busy"):
        worker.load(ada, game_id)


def full_store(worker: MemoryWorker, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let the store refuse commits as it is full; the times at which they are tried."""
    tries: list[float] = []

    def refuse(*args: Any) -> Any:
        tries.append(worker.clock.now)
        raise OutOfMemoryError

    monkeypatch.setattr(worker.transactions, "commit", refuse)
    return tries


def test_while_the_store_is_full_a_due_game_can_be_read_but_not_changed(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = worker.seated(ada, bob, turn_seconds=60)
    before = worker.game(game_id)
    worker.clock.advance(60)
    tries = full_store(worker, monkeypatch)
    assert worker.load(ada, game_id).game == before
    assert worker.load(ada, game_id).game == before
    assert len(tries) == 1, "what the house would do is not computed again and again"
    with pytest.raises(OutOfMemoryError):
        worker.transactions.update(ada, game_id, tell)
    worker.clock.advance(FULL_SECONDS)
    worker.load(ada, game_id)
    assert tries == [60, 60, 60 + FULL_SECONDS]


def test_a_due_game_is_not_shown_while_the_store_fails_otherwise(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = worker.seated(ada, bob, turn_seconds=60)
    worker.clock.advance(60)

    def fail(*args: Any) -> Any:
        raise RedisConnectionError

    monkeypatch.setattr(worker.transactions, "commit", fail)
    with pytest.raises(RedisConnectionError):
        worker.load(ada, game_id)


# --- Settling ----------------------------------------------------------------------------


def test_a_due_game_is_settled_once_for_all_requests_that_find_it(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [worker.seated(ada, bob, turn_seconds=60) for _ in range(2)]
    worker.client.latency = 0.1
    worker.clock.advance(60)
    commit, commits = worker.transactions.commit, []
    monkeypatch.setattr(
        worker.transactions, "commit", lambda *args: commits.append(args) or commit(*args)
    )
    loads = [worker.start(worker.load, ada, game_id) for game_id in ids for _ in range(10)]
    for each in loads:
        assert worker.clock.result(each).game.version == 4
    assert len(commits) == 2


def test_a_settlement_that_fails_fails_for_every_request_that_waits_for_it(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = worker.seated(ada, bob, turn_seconds=60)
    worker.client.latency = 0.1
    worker.clock.advance(60)
    commit, commits = worker.transactions.commit, []

    def fail(*args: Any) -> Any:
        commits.append(args)
        worker.store.read(None, game_id)
        raise ZeroDivisionError

    monkeypatch.setattr(worker.transactions, "commit", fail)
    loads = [worker.start(worker.load, ada, game_id) for _ in range(3)]
    for each in loads:
        with pytest.raises(ZeroDivisionError):
            worker.clock.result(each)
    assert len(commits) == 1
    monkeypatch.setattr(worker.transactions, "commit", commit)
    assert worker.clock.result(worker.start(worker.load, ada, game_id)).game.version == 4


# --- Changing ----------------------------------------------------------------------------


def test_a_change_is_decided_again_when_another_request_came_first(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    first = worker.game(game_id).version
    seen = []

    def decide(loaded: LoadedGame) -> Change:
        seen.append(loaded.game.version)
        if len(seen) == 1:
            change_now(worker, bob, game_id)
        return tell(loaded)

    loaded, items = worker.transactions.update(ada, game_id, decide)
    assert seen == [first, first + 1]
    assert loaded.game.version == first + 2
    assert [item.version for item in items] == [first + 2]
    assert loaded.game == worker.game(game_id)


def test_a_change_with_a_conflict_at_every_attempt_is_refused_as_busy(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    seen = []

    def decide(loaded: LoadedGame) -> Change:
        seen.append(loaded.game.version)
        change_now(worker, bob, game_id)
        return tell(loaded)

    with refused("busy"):
        worker.transactions.update(ada, game_id, decide)
    assert len(seen) == MAX_ATTEMPTS


def test_a_precondition_holds_for_the_game_as_it_was_read_for_the_change(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    tag = worker.load(ada, game_id).tag
    update = worker.transactions.update
    with refused("precondition_failed"):
        update(ada, game_id, tell, if_match=lambda present: present == "other")
    update(ada, game_id, tell, if_match=lambda present: present == tag)
    with refused("precondition_failed"):
        update(ada, game_id, tell, if_match=lambda present: present == tag)


def test_a_move_that_was_played_before_needs_to_match_nothing(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    mover = worker.mover((ada, bob), game_id)
    loaded = worker.load(mover, game_id)
    move = worker.moves.list_legal(loaded, require_seat(loaded), previews=False).moves[0]
    assert loaded.game.turn is not None
    args = (mover, game_id, loaded.game.turn, move)
    first = worker.moves.play(*args, lambda tag: tag == loaded.tag)
    again = worker.moves.play(*args, lambda tag: tag == loaded.tag)
    assert again.items == first.items
    assert again.loaded.game == first.loaded.game == worker.game(game_id)
    with refused("precondition_failed"):
        worker.moves.play(mover, game_id, loaded.game.turn + 1, move, lambda tag: False)


def test_a_move_that_was_played_before_is_answered_while_a_full_store_leaves_the_game_due(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = worker.seated(ada, bob, turn_seconds=60)
    mover = worker.mover((ada, bob), game_id)
    loaded = worker.load(mover, game_id)
    move = worker.moves.list_legal(loaded, require_seat(loaded), previews=False).moves[0]
    assert loaded.game.turn is not None
    args = (mover, game_id, loaded.game.turn, move, matches_anything)
    first = worker.moves.play(*args)
    worker.clock.advance(60)
    full_store(worker, monkeypatch)
    again = worker.moves.play(*args)
    assert again.items == first.items
    assert again.loaded.game == first.loaded.game
    with pytest.raises(OutOfMemoryError):
        worker.moves.play(mover, game_id, loaded.game.turn + 1, move, matches_anything)


def test_nothing_is_committed_where_nothing_is_to_change(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    before = worker.game(game_id)
    loaded, items = worker.transactions.update(ada, game_id, lambda loaded: None)
    assert loaded.game == before == worker.game(game_id)
    assert items == ()


def test_an_unchanged_game_is_confirmed_where_the_store_waits_for_replicas(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    """It may have been read from a server that is the master no more."""
    game_id = worker.seated(ada, bob)
    worker.client.waits_for_replicas = True
    seen = []

    def decide(loaded: LoadedGame) -> None:
        seen.append(loaded.game.version)
        if len(seen) == 1:
            change_now(worker, bob, game_id)

    loaded, _ = worker.transactions.update(ada, game_id, decide)
    assert len(seen) == 2
    assert loaded.game == worker.game(game_id)


def test_a_commit_gives_the_last_item_its_id_and_the_game_the_version(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    worker.clock.advance(7)
    worker.move((ada, bob), game_id)
    game = worker.game(game_id)
    *_, last = worker.items(game_id, 1, 100)
    assert last.version == game.version
    assert last.version_id == game.version_id == game.commit
    assert game.updated_at == worker.client.time_ms
    # A change without an item brings no version.
    worker.transactions.update(ada, game_id, lambda loaded: Change(game=loaded.game))
    after = worker.game(game_id)
    assert (after.version, after.version_id) == (game.version, game.version_id)
    assert after.commit != game.commit


def test_a_state_that_a_change_leaves_alone_is_kept(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    before = worker.load(ada, game_id).stored
    loaded, _ = worker.transactions.update(ada, game_id, tell)
    assert loaded.stored.state == before.state
    assert loaded.stored.position == before.position


def test_a_new_player_of_a_game_is_notified(
    worker: MemoryWorker,
    ada: Credentials,
    bob: Credentials,
    eve: Credentials,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[set[str]] = []
    announcement = worker.store.announcement
    monkeypatch.setattr(
        worker.store, "announcement", lambda ids: told.append(set(ids)) or announcement(ids)
    )
    game_id = worker.create(ada, 3, reserved_seats=[{"seat": 1, "player_id": bob.player_id}])
    worker.join(bob, game_id)
    worker.join(eve, game_id)
    worker.move((ada, bob, eve), game_id)
    # Bob's seat was reserved for him, but the game takes a place of his only from then on.
    assert told == [{ada.player_id, bob.player_id}, {bob.player_id}, {eve.player_id}]


def test_a_commit_whose_players_cannot_be_woken_is_no_failure(
    worker: MemoryWorker, ada: Credentials, bob: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = worker.create(ada, 3)
    commit_all = worker.store.commit_all

    def fail_after(*args: Any) -> Any:
        outcomes = commit_all(*args)
        worker.client.failure = RedisConnectionError("away")
        return outcomes

    monkeypatch.setattr(worker.store, "commit_all", fail_after)
    # No index entry is to be removed, since the game does not start.
    assert worker.join(bob, game_id).seat == 1
    worker.client.failure = None
    # With the last seat one is: then the request fails, and finds its seat when it is repeated.
    monkeypatch.setattr(worker.store, "commit_all", fail_after)
    eve = worker.player("Eve")
    with pytest.raises(RedisConnectionError):
        worker.join(eve, game_id)
    worker.client.failure = None
    assert worker.join(eve, game_id).seat == 2


def test_index_entries_of_a_long_game_are_renewed(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    written = worker.game(game_id).indexed_at
    worker.move((ada, bob), game_id)
    assert worker.game(game_id).indexed_at == written == worker.client.time_ms
    worker.client.offset_ms += worker.retention.renewal + 1
    worker.change(game_id, deadline=worker.client.time_ms + 60_000)
    worker.move((ada, bob), game_id)
    assert worker.game(game_id).indexed_at == worker.client.time_ms


def test_leaving_a_started_game_hands_the_seat_to_the_house(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    loaded = worker.tables.leave(bob, game_id, matches_anything)
    assert loaded.game.seats[1].house is not None


def test_the_last_player_who_leaves_cancels_the_game(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    worker.leave(bob, game_id)
    game = worker.leave(ada, game_id).game
    assert game.status == "cancelled"
    assert (game.to_move, game.deadline) == ((), None)
    assert game.finished_at == worker.client.time_ms
