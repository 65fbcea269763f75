"""A player's stream: what concerns the player in all its games, each once, to it alone."""

import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.api_client import Client, NewPlayers, new_player, play_out, seated
from tests.support.document import validator
from tests.support.event_stream import Event, Stream
from tests.support.service import Service, serving
from tests.support.waiting import wait_until

STANDSTILL = 8.0


def about(event: Event) -> tuple[str, str]:
    return event.name, str(event.data["id"] if event.name == "ended" else event.data["game"]["id"])


def told(stream: Stream) -> list[tuple[str, str]]:
    return [about(event) for event in stream.events]


def own_stream(client: Client, last_id: str | None = None, ticket: str | None = None) -> Stream:
    return Stream(client, None, last_id, ticket)


def until_told(stream: Stream, *expected: tuple[str, str]) -> None:
    stream.until(lambda s: set(expected) <= set(told(s)))
    assert len(told(stream)) == len(set(told(stream)))


def turn_passes_to(player: Client, players: list[Client], game_id: str) -> None:
    """Play a move if that is needed for a game of two to wait for this player."""
    mover = players[player.game(game_id)["to_move"][0]]
    if mover is not player:
        mover.play_first(game_id)


def invite(host: Client, guest: Client) -> str:
    reserved = [{"seat": 1, "player_id": guest.id}]
    return str(host.create(2, reserved_seats=reserved)["id"])


def test_a_stream_tells_turns_starts_invitations_and_ends_of_all_games(
    ada: Client, bob: Client
) -> None:
    stream = own_stream(bob)
    for name in ("Server-Time", "Access-Control-Allow-Origin"):
        assert name in stream.response.headers
    assert stream.response.headers["Content-Type"] == "text/event-stream"
    assert stream.response.headers["Cache-Control"] == "no-store"
    assert stream.response.headers["X-Accel-Buffering"] == "no"
    game_id = invite(ada, bob)
    until_told(stream, ("invited", game_id))
    bob.join(game_id)
    turn_passes_to(bob, [ada, bob], game_id)
    until_told(stream, ("invited", game_id), ("started", game_id), ("turn", game_id))
    assert stream.events[-1].data == {"game": bob.game(game_id)}
    for player in (ada, bob):
        player.delete(f"/v1/games/{game_id}/seats/me")
    until_told(stream, ("ended", game_id))
    assert stream.events[-1].data == {"id": game_id, "result": None}
    schema = validator("#/components/schemas/TurnStreamData")
    for event in stream.close():
        schema.validate(event.data)


def test_a_stream_that_is_cut_anywhere_goes_on_without_loss_or_repetition(
    ada: Client, bob: Client
) -> None:
    expected = []
    for _ in range(3):
        ended = ada.create()["id"]
        ada.delete(f"/v1/games/{ended}")
        playing = ada.create(2, house=["careful"])["id"]
        expected += [("ended", ended), ("invited", invite(bob, ada))]
        expected += [("started", playing), ("turn", playing)]
    whole = own_stream(ada).until(lambda s: len(s.events) == len(expected)).close()
    assert sorted(map(about, whole)) == sorted(expected)
    for at, event in enumerate(whole):
        # Something that only comes last shows that nothing else came.
        rest = own_stream(ada, event.id)
        last = ada.create()["id"]
        ada.delete(f"/v1/games/{last}")
        until_told(rest, ("ended", last))
        news = [each for each in told(rest) if each in expected]
        assert news == [about(each) for each in whole[at + 1 :]]
        rest.close()


def test_a_stream_that_is_cut_while_games_go_on_tells_every_turn_that_stands(
    ada: Client, bob: Client, rng: random.Random
) -> None:
    games = [seated([ada, bob])["id"] for _ in range(3)]
    last_id, events = None, []
    for _ in range(10):
        stream = own_stream(ada, last_id)
        turn_passes_to(ada, [ada, bob], rng.choice(games))
        time.sleep(rng.random() * 0.1)
        kept = stream.close()
        kept = kept[: rng.randrange(len(kept) + 1)]
        events += kept
        last_id = kept[-1].id if kept else last_id
        play_out([ada, bob], rng.choice(games), rng, moves=1)
    for game_id in games:
        turn_passes_to(ada, [ada, bob], game_id)
    stream = own_stream(ada, last_id)
    standing = {(game_id, ada.game(game_id)["turn"]) for game_id in games}

    def all_turns(stream: Stream) -> set[tuple[str, Any]]:
        told = [each for each in events + stream.events if each.name == "turn"]
        return {(each.data["game"]["id"], each.data["game"]["turn"]) for each in told}

    stream.until(lambda s: standing <= all_turns(s))
    events += stream.close()
    keys = [(about(each), each.data["game"]["turn"]) for each in events]
    turns = [key for key in keys if key[0][0] == "turn"]
    starts = [key[0] for key in keys if key[0][0] == "started"]
    assert len(turns) == len(set(turns))
    assert sorted(starts) == sorted(("started", each) for each in games)


def test_many_games_at_once_are_told_each_once(new_players: NewPlayers) -> None:
    ada, *others = new_players(5)
    stream = own_stream(ada)
    games = [seated([other, ada])["id"] for other in others for _ in range(6)]
    for number, game_id in enumerate(games):
        turn_passes_to(ada, [others[number // 6], ada], game_id)
    expected = [(name, game_id) for game_id in games for name in ("started", "turn")]
    until_told(stream, *expected)
    assert sorted(told(stream)) == sorted(expected)
    stream.close()


def test_a_cursor_of_a_list_opens_a_stream_and_the_other_way_round(
    ada: Client, bob: Client
) -> None:
    game_id = ada.create(2, house=["careful"])["id"]
    turns = ada.get("/v1/me/turns")
    stream = own_stream(ada, turns["cursor"])
    until_told(stream, ("started", game_id))
    invitation = invite(bob, ada)
    until_told(stream, ("invited", invitation))
    assert told(stream) == [("started", game_id), ("invited", invitation)]
    (*_, last) = stream.close()
    assert ada.get(f"/v1/me/turns?since={last.id}")["unchanged"]
    # A new EventSource cannot send a header.
    ticket = ada.post("/v1/me/stream-tickets", status=201)["ticket"]
    ended = ada.create()["id"]
    ada.delete(f"/v1/games/{ended}")
    path = f"/v1/me/stream?ticket={ticket}&last_event_id={last.id}"
    with Client(ada.url).open("GET", path) as response:
        assert next(line for line in response.lines() if line.startswith("data"))
    for path, header in (
        (f"/v1/me/stream?last_event_id={last.id}", None),
        ("/v1/me/stream?last_event_id=0.", last.id),
    ):
        with ada.open("GET", path, headers={"Last-Event-ID": header}) as response:
            names = (line for line in response.lines() if line.startswith("event"))
            assert next(names) == "event: ended"


# --- Who may open it ------------------------------------------------------------------------


def test_a_ticket_opens_its_players_stream_and_no_other(ada: Client, bob: Client) -> None:
    game_id = seated([ada, bob])["id"]
    ticket = ada.post("/v1/me/stream-tickets", status=201)["ticket"]
    for _ in range(2):
        stream = own_stream(Client(ada.url), ticket=ticket)
        until_told(stream, ("started", game_id))
        stream.close()
    of_game = ada.post(f"/v1/games/{game_id}/stream-tickets", status=201)["ticket"]
    stranger = Client(ada.url)
    for path, wrong in (
        ("/v1/me/stream", of_game),
        ("/v1/me/stream", "made-up"),
        (f"/v1/games/{game_id}/stream", ticket),
    ):
        stranger.refused("invalid_ticket", "GET", f"{path}?ticket={wrong}")
    ada.token = ada.post("/v1/me/token")["token"]
    ada.get("/v1/me")
    stranger.refused("invalid_ticket", "GET", f"/v1/me/stream?ticket={ticket}")


def test_a_new_token_ends_the_stream_and_opens_it_again(ada: Client) -> None:
    stream = own_stream(ada)
    first = ada.create(2, house=["careful"])["id"]
    until_told(stream, ("turn", first))
    ada.token = ada.post("/v1/me/token")["token"]
    second = ada.create(2, house=["careful"])["id"]
    stream.until(lambda s: s.is_closed)
    again = own_stream(ada, stream.events[-1].id)
    until_told(again, ("turn", second))
    assert {game_id for _, game_id in told(again)} == {second}
    again.close()


# --- Two workers, restarts, a store that stands still -------------------------------------------


@pytest.fixture
def two_workers(tmp_path: Path) -> Iterator[Service]:
    with serving(tmp_path, APPEND_FSYNC="everysec", WEB_CONCURRENCY="2") as running:
        yield running


def test_streams_in_two_workers_go_on_after_a_restart_without_loss_or_repetition(
    two_workers: Service,
) -> None:
    ada, bob = new_player(two_workers.url), new_player(two_workers.url)
    games = [seated([bob, ada])["id"] for _ in range(3)]
    expected = [(name, game_id) for game_id in games for name in ("started", "turn")]
    streams = [own_stream(ada) for _ in range(6)]
    for game_id in games:
        turn_passes_to(ada, [bob, ada], game_id)
    for stream in streams:
        until_told(stream, *expected)
    for pid in two_workers.worker_pids:
        os.kill(pid, signal.SIGTERM)
    for stream in streams:
        stream.until(lambda s: s.is_closed)
    two_workers.await_ready()
    new = invite(bob, ada)
    for stream in streams:
        again = own_stream(ada, stream.events[-1].id)
        until_told(again, ("invited", new))
        assert told(again) == [("invited", new)]
        again.close()


@pytest.mark.slow
def test_a_stream_survives_a_store_that_stands_still(two_workers: Service) -> None:
    ada, bob = new_player(two_workers.url), new_player(two_workers.url)
    first = ada.create(2, house=["careful"])["id"]
    streams = [own_stream(ada) for _ in range(4)]
    for stream in streams:
        until_told(stream, ("turn", first))
    pid = wait_until(lambda: two_workers.store.pid, "the store runs")
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(STANDSTILL)
        # A stream that is opened now is unavailable, and EventSource tries again.
        unavailable = own_stream(ada).until(lambda s: s.is_closed)
        assert [event.name for event in unavailable.events] == ["unavailable"]
    finally:
        os.kill(pid, signal.SIGCONT)
    invitation = invite(bob, ada)
    for stream in streams:
        until_told(stream, ("invited", invitation))
        assert told(stream)[-1] == ("invited", invitation)
        stream.close()


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Service]:
    """A service with one worker that holds little."""
    with serving(tmp_path, WEB_CONCURRENCY="1", WAITERS="4", WAITERS_PER_PLAYER="2") as running:
        yield running


def test_a_stream_beyond_the_cap_is_unavailable(small: Service) -> None:
    ada = new_player(small.url)
    with ada.unchecked():  # HEAD holds no slot
        assert {ada.request("HEAD", "/v1/me/stream").status_code for _ in range(5)} == {200}
    held = [own_stream(ada) for _ in range(2)]
    refused = own_stream(ada).until(lambda s: s.is_closed)
    (event,) = refused.events
    assert (event.name, event.data["code"]) == ("unavailable", "too_many_waiting")
    for stream in held:
        stream.close()
