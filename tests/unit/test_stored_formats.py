"""The format of stored games: games of 0.1 are converted, and a pinned worker goes on with them."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from redis import OutOfMemoryError

from api.config.settings import Settings
from api.games.cursors import BEGINNING
from api.games.players import Credentials
from api.games.transactions import LoadedGame
from api.model.events import BY_PLAYER, GameCancelled
from api.model.game import FORMAT, NULL, StoredDeal, public_item
from api.storage.client import Command
from api.storage.errors import NewerFormat, UnsupportedFormat
from api.storage.format_1 import encode_state
from api.storage.games import Change
from engine.registry import RULESETS
from tests.support.earlier_releases import (
    STORED,
    EarlierGame,
    earlier_games,
    load_in_memory,
    with_illegal_move,
)
from tests.support.fake_clock import FakeClock
from tests.support.memory_worker import MemoryWorker, matches_anything

GAMES = {f"{each.name}, {each.commit}": each for each in earlier_games()}
EVERY_GAME = pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
PLAYING = EarlierGame("8bd2c63", "tea-time playing")


@pytest.fixture
def pinned(clock: FakeClock, worker: MemoryWorker) -> Iterator[MemoryWorker]:
    """Another worker on the same store, which writes format 1."""
    pinned = MemoryWorker(clock, worker.client, stored_format=1)
    yield pinned
    pinned.close()


def fill(worker: MemoryWorker) -> None:
    for stored in STORED.values():
        load_in_memory(worker.client, stored["keys"])


def stored_document(worker: MemoryWorker, game_id: str) -> Any:
    return msgspec.json.decode(worker.client.hget(f"game:{{{game_id}}}".encode(), b"game") or b"")


def stored_state(worker: MemoryWorker, game_id: str) -> Any:
    return msgspec.json.decode(worker.client.hget(f"game:{{{game_id}}}".encode(), b"state") or b"")


def play_out(worker: MemoryWorker, players: tuple[Credentials, ...], game_id: str) -> None:
    while worker.game(game_id).status == "playing":
        worker.move(players, game_id)


def read(worker: MemoryWorker, game_id: str) -> Any:
    stored = worker.store.read(None, game_id).stored
    assert stored is not None
    return stored


def test_the_setting_has_the_present_format_as_default() -> None:
    assert Settings().stored_format == FORMAT


# --- Conversion ----------------------------------------------------------------------------


@EVERY_GAME
def test_a_converted_game_is_the_game_that_was_stored(
    worker: MemoryWorker, game: EarlierGame
) -> None:
    fill(worker)
    converted = read(worker, game.id).game
    was = game.document
    kept = ("status", "version", "commit", "turn", "deadline", "deal_sha256", "finished_at")
    assert {each: getattr(converted, each) for each in kept} == {each: was[each] for each in kept}
    assert msgspec.json.decode(converted.options) == was["options"]
    assert list(converted.to_move) == was["to_move"]
    assert [each.player and each.player.id for each in converted.seats] == [
        each["player"] and each["player"]["id"] for each in was["seats"]
    ]
    result = msgspec.json.decode(converted.result)
    if was["result"] is None:
        assert result is None
    else:
        assert {each: result[each] for each in was["result"]} == was["result"]
        assert result["breakdown"]["ruleset"] == was["ruleset"]


@EVERY_GAME
def test_a_converted_history_has_the_same_items(worker: MemoryWorker, game: EarlierGame) -> None:
    fill(worker)
    converted = read(worker, game.id).game
    history = worker.store.history_part(converted, 1, converted.version).items
    assert [
        (each.version, each.at, each.turn, str(each.by), each.seat, each.version_id)
        for each in history
    ] == [
        (each["version"], each["at"], each["turn"], each["by"], each["seat"], version_id(each))
        for each in game.items
    ]
    assert [msgspec.json.decode(each.move) for each in history] == [
        each["move"] for each in game.items
    ]
    for item, was in zip(history, game.items, strict=True):
        told = msgspec.json.decode(item.told)
        assert [each["type"] for each in told] == [each["type"] for each in was["told"]]
        assert [each.get("deadline") for each in told] == [
            each.get("deadline") for each in was["told"]
        ]
        assert item.told_to.keys() == was["told_to"].keys()


def version_id(item: Any) -> str:
    found: str = item.get("version_id", "")
    return found


@pytest.mark.parametrize(("host_leaves", "cause"), [(False, "start"), (True, "left")])
def test_a_seat_that_0_1_handed_over_tells_why(
    pinned: MemoryWorker,
    worker: MemoryWorker,
    ada: Credentials,
    bob: Credentials,
    host_leaves: bool,
    cause: str,
) -> None:
    game_id = pinned.create(ada, 3)
    pinned.join(bob, game_id)
    pinned.tables.start(ada, game_id, matches_anything)
    if host_leaves:
        pinned.leave(ada, game_id)
    history = pinned.client.values[f"game:{{{game_id}}}:items".encode()]
    of_0_1 = [re.sub(rb',"cause":"[a-z]+"', b"", each) for each in history]
    assert of_0_1 != history
    history[:] = of_0_1
    events = [
        event
        for item in worker.items(game_id)
        for event in msgspec.json.decode(item.told)
        if event["type"] == "seat_handed_over"
    ]
    assert events[-1] == {
        "type": "seat_handed_over",
        "seat": 0 if host_leaves else 2,
        "house": "careful",
        "cause": cause,
    }


@EVERY_GAME
def test_a_converted_deal_names_its_ruleset_and_keeps_its_text(
    worker: MemoryWorker, game: EarlierGame
) -> None:
    fill(worker)
    converted = read(worker, game.id).game
    deal, _ = worker.store.deal_and_items(read(worker, game.id))
    if "deal" not in game.fields:
        assert deal is None
        return
    was = msgspec.json.decode(game.fields["deal"])
    assert isinstance(deal, StoredDeal)
    assert msgspec.json.decode(deal.deal) == {"ruleset": converted.ruleset, **was["deal"]}
    assert deal.deal_text == was["deal_text"]


@EVERY_GAME
def test_a_game_is_converted_once(worker: MemoryWorker, game: EarlierGame) -> None:
    fill(worker)
    first = read(worker, game.id)
    assert first.game.format == stored_document(worker, game.id)["format"] == FORMAT
    again = read(worker, game.id)
    assert again.game == first.game
    assert again.position == first.position
    ids = [game.id]
    assert worker.store.games(ids) == {game.id: first.game}
    (snapshot,) = worker.store.snapshots(ids)
    assert snapshot.stored.game == first.game  # type: ignore[union-attr]


@EVERY_GAME
def test_every_kind_of_read_converts(worker: MemoryWorker, game: EarlierGame) -> None:
    fill(worker)
    (snapshot,) = worker.store.snapshots([game.id])
    assert snapshot.stored.game.format == FORMAT  # type: ignore[union-attr]
    fill(worker)
    listed = worker.store.games([game.id])[game.id]
    assert listed == snapshot.stored.game  # type: ignore[union-attr]


def test_replies_of_the_same_round_trip_as_a_conversion_are_not_used(worker: MemoryWorker) -> None:
    fill(worker)
    commands = worker.store.history_query(PLAYING.id, 1, 100).commands
    assert worker.transactions.load(None, PLAYING.id, extra_commands=commands)
    fill(worker)
    loaded = worker.transactions.load(None, PLAYING.id, extra_commands=commands)
    assert loaded.extra_answers == ()


def test_a_game_with_a_move_that_the_rules_forbid_is_not_supported(worker: MemoryWorker) -> None:
    game = EarlierGame("8bd2c63", "parade playing")
    keys = STORED[game.commit]["keys"]
    load_in_memory(worker.client, with_illegal_move(keys, game.id))
    with pytest.raises(UnsupportedFormat):
        worker.store.read(None, game.id)
    assert worker.store.games([game.id]) == {}
    (snapshot,) = worker.store.snapshots([game.id])
    assert isinstance(snapshot, UnsupportedFormat)


@EVERY_GAME
def test_a_position_can_be_written_as_0_1_wrote_it(worker: MemoryWorker, game: EarlierGame) -> None:
    if "state" not in game.fields or game.commit == "b574b42":  # one with other positions
        return
    fill(worker)
    stored = read(worker, game.id)
    written = encode_state(stored.game, stored.position)
    assert msgspec.json.decode(written) == msgspec.json.decode(game.fields["state"])


# --- A worker that writes format 1 --------------------------------------------------------------


@pytest.mark.parametrize("ruleset", RULESETS)
def test_a_pinned_worker_stores_games_as_0_1_reads_them(
    pinned: MemoryWorker, ada: Credentials, bob: Credentials, eve: Credentials, ruleset: str
) -> None:
    """The members of documents and positions are those of games that 0.1 stored."""
    seat_count = max(3, RULESETS[ruleset].min_seats)
    house = ["random"] * (seat_count - 3)
    game_id = pinned.create(ada, seat_count, ruleset=ruleset, house=house)
    for player in (bob, eve):
        pinned.join(player, game_id)
    examples = [each for each in GAMES.values() if each.commit == "8bd2c63"]
    of_ruleset = [each for each in examples if each.document["ruleset"] == ruleset]
    document = examples[0].document
    state = next(
        msgspec.json.decode(each.fields["state"]) for each in of_ruleset if "state" in each.fields
    )
    key = f"game:{{{game_id}}}".encode()
    deal = msgspec.json.decode(pinned.client.hget(key, b"deal") or b"")["deal"]
    example = next(each for each in of_ruleset if "deal" in each.fields)
    assert deal.keys() == msgspec.json.decode(example.fields["deal"])["deal"].keys()
    for _ in range(8):
        stored = stored_document(pinned, game_id)
        assert stored["format"] == 1
        assert stored.keys() >= document.keys()
        assert_same_form(stored_state(pinned, game_id), state)
        pinned.move((ada, bob, eve), game_id)


def assert_same_form(one: Any, other: Any) -> None:
    """Assert that two positions have the same members, of the same types."""
    assert one.keys() >= other.keys()
    for name, value in other.items():
        if value is not None and one[name] is not None:
            assert type(one[name]) is type(value), name


def test_a_pinned_worker_goes_on_with_a_game_of_0_1(
    pinned: MemoryWorker, worker: MemoryWorker
) -> None:
    fill(pinned)
    before = stored_document(pinned, PLAYING.id)
    found = read(pinned, PLAYING.id)
    assert stored_document(pinned, PLAYING.id) == before
    assert found.game.format == 1
    deal, items = pinned.store.deal_and_items(found)
    assert len(items) == found.game.version
    assert deal is not None
    assert msgspec.json.decode(deal.deal)["ruleset"] == "tea-time"

    # Then a worker without the pin converts it.
    assert read(worker, PLAYING.id).game.format == FORMAT
    assert stored_document(worker, PLAYING.id)["format"] == FORMAT
    assert read(pinned, PLAYING.id).game.format == FORMAT


def test_games_of_a_pinned_worker_are_converted_and_played_to_their_ends(
    pinned: MemoryWorker, worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    for ruleset in ("parade", "tea-time", "contrast"):
        game_id = pinned.seated(ada, bob, ruleset=ruleset)
        for _ in range(5):
            pinned.move((ada, bob), game_id)
        position = read(pinned, game_id).position
        assert read(worker, game_id).position == position
        assert stored_document(worker, game_id)["format"] == FORMAT
        play_out(worker, (ada, bob), game_id)
        assert worker.queries.record(worker.load(ada, game_id)).result != NULL


def test_a_pinned_worker_does_not_take_a_game_back_to_format_1(
    pinned: MemoryWorker, worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    pinned.move((ada, bob), game_id)
    assert stored_document(worker, game_id)["format"] == FORMAT
    play_out(worker, (ada, bob), game_id)


# --- Another worker, between two commands of a read ------------------------------------------


def act_after(
    patch: pytest.MonkeyPatch, worker: MemoryWorker, name: str, act: Callable[[], object]
) -> None:
    """Act once, after the next command of this name and before the one that follows it."""
    reply = worker.client._reply

    def interrupted(command: Command) -> Any:
        found = reply(command)
        if command.words[0] == name:
            patch.undo()
            act()
        return found

    patch.setattr(worker.client, "_reply", interrupted)


@pytest.mark.parametrize("command", ["HMGET", "LRANGE", "HGETALL"])
def test_a_game_of_0_1_can_be_read_while_a_player_moves(
    pinned: MemoryWorker,
    ada: Credentials,
    bob: Credentials,
    command: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game_id = pinned.seated(ada, bob)
    version = pinned.game(game_id).version
    act_after(monkeypatch, pinned, command, lambda: pinned.move((ada, bob), game_id))
    assert pinned.game(game_id).version in (version, version + 1)
    assert pinned.game(game_id).version == version + 1


def test_a_repeated_move_is_found_although_another_worker_converts_its_game_meanwhile(
    pinned: MemoryWorker,
    worker: MemoryWorker,
    ada: Credentials,
    bob: Credentials,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game_id = pinned.seated(ada, bob)
    mover = pinned.mover((ada, bob), game_id)
    loaded = pinned.load(mover, game_id)
    assert loaded.game.turn is not None
    assert loaded.seat is not None
    move = pinned.moves.list_legal(loaded, loaded.seat, previews=False).moves[0]
    request = (mover, game_id, loaded.game.turn, move, matches_anything)
    played = pinned.moves.play(*request)
    act_after(monkeypatch, worker, "HMGET", lambda: worker.game(game_id))
    repeated = worker.moves.play(*request)
    assert repeated.is_repeated
    assert [each.version for each in repeated.items] == [each.version for each in played.items]


# --- Other stores, other releases ---------------------------------------------------------------


def test_a_full_store_shows_a_game_of_0_1_as_converted(
    pinned: MemoryWorker,
    worker: MemoryWorker,
    ada: Credentials,
    bob: Credentials,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game_id = pinned.seated(ada, bob)
    monkeypatch.setattr(worker.client, "hset", refuse)
    loaded = worker.load(ada, game_id)
    assert loaded.game.format == 1
    assert len(worker.queries.events(loaded, BEGINNING, 100).items) == loaded.game.version


def test_a_game_that_a_full_store_could_not_convert_is_converted_by_the_next_commit(
    pinned: MemoryWorker,
    worker: MemoryWorker,
    ada: Credentials,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill(worker)
    game = EarlierGame("8bd2c63", "tea-time open")
    monkeypatch.setattr(worker.client, "hset", refuse)

    def join(loaded: LoadedGame) -> Change:
        assert loaded.game.format == 1
        monkeypatch.undo()
        item = public_item(loaded.game.version + 1, loaded.now, BY_PLAYER, None, GameCancelled())
        return Change(game=loaded.game, items=(item,))

    loaded, _ = worker.transactions.update(ada, game.id, join)
    assert loaded.game.format == stored_document(worker, game.id)["format"] == FORMAT
    assert [each.version for each in worker.items(game.id, 1, 9)] == [1, 2]


def refuse(*_: Any) -> None:
    raise OutOfMemoryError("command not allowed when used memory > 'maxmemory'")


def test_a_game_of_a_newer_format_is_left_alone(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    game_id = worker.seated(ada, bob)
    worker.change(game_id, format=FORMAT + 1)
    with pytest.raises(NewerFormat):
        worker.store.read(None, game_id)
