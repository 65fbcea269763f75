"""Streams: everything once, in order, to whoever may see it, and to nobody else."""

import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.api_client import Client, NewPlayers, new_player, play_out, seated
from tests.support.event_stream import Event, Stream, unavailable
from tests.support.service import Service, serving

SOON = 2.0


def ticket(client: Client, game_id: str) -> str:
    return str(client.post(f"/v1/games/{game_id}/stream-tickets", status=201)["ticket"])


def is_refused(client: Client, game_id: str, by_ticket: str) -> bool:
    path = f"/v1/games/{game_id}/stream?ticket={by_ticket}"
    Client(client.url).refused("invalid_ticket", "GET", path)
    return True


def test_a_stream_tells_a_whole_game_from_its_snapshot_to_its_end(
    ada: Client, bob: Client, stranger: Client, rng: random.Random
) -> None:
    game = seated([ada, bob])
    readers = [ada, bob, stranger]
    streams = [Stream(reader, game["id"]) for reader in readers]
    for reader, stream in zip(readers, streams, strict=True):
        stream.until(lambda s: s.events)
        assert stream.events == [Event("snapshot", game["cursor"], reader.game(game["id"]))]
        for name in ("Server-Time", "Access-Control-Allow-Origin"):
            assert name in stream.response.headers
        assert stream.response.headers["Cache-Control"] == "no-store"
        assert stream.response.headers["X-Accel-Buffering"] == "no"
        assert stream.response.headers["Content-Type"] == "text/event-stream"
    play_out([ada, bob], game["id"], rng)
    for reader, stream in zip(readers, streams, strict=True):
        stream.until(lambda s: s.is_closed)
        ended = reader.game(game["id"])
        page = reader.get(f"/v1/games/{game['id']}/events?since={game['cursor']}")
        assert stream.items == page["items"]
        *updates, end = stream.events[1:]
        assert end.name == "end"
        assert end.data == {
            "id": game["id"],
            "status": "finished",
            "result": ended["result"],
            "reason": "ended",
        }
        assert [event.name for event in updates] == ["update"] * len(updates)
        for event in updates:
            assert event.id == event.data["game"]["cursor"]
            assert event.data["game"]["version"] == event.data["items"][-1]["version"]
            assert event.data["game"]["you"] == ended["you"]
        assert updates[-1].data["game"] == ended


def test_a_stream_that_is_cut_anywhere_goes_on_without_loss_or_repetition(
    ada: Client, bob: Client, rng: random.Random
) -> None:
    game = seated([ada, bob])
    uncut = Stream(ada, game["id"]).until(lambda s: s.events)
    play_out([ada, bob], game["id"], rng)
    uncut.until(lambda s: s.is_closed)
    for at, event in enumerate(uncut.events[:-1]):
        again = Stream(ada, game["id"], event.id).until(lambda s: s.is_closed)
        assert not again.has("snapshot")
        before = [item for each in uncut.events[1 : at + 1] for item in each.data["items"]]
        assert before + again.items == uncut.items
        assert again.events[-1] == uncut.events[-1]
        assert len([each for each in again.events if each.name == "end"]) == 1
        # The query parameter is for a new EventSource, and the ids are those of listEvents.
        by_query = Stream(ada, game["id"], query=f"last_event_id={event.id}")
        assert by_query.until(lambda s: s.is_closed).events == again.events
        page = ada.get(f"/v1/games/{game['id']}/events?since={event.id}")
        assert (page["items"], page["reset"]) == (again.items, False)
    everything = ada.request(
        "GET", f"/v1/games/{game['id']}/stream", headers={"Last-Event-ID": uncut.events[-1].id}
    )
    assert everything.status_code == 204
    anew = Stream(ada, game["id"]).until(lambda s: s.is_closed)
    assert [event.name for event in anew.events] == ["snapshot", "end"]


def test_a_stream_that_is_cut_while_the_game_goes_on_loses_nothing(
    new_players: NewPlayers, rng: random.Random
) -> None:
    players = new_players(4)
    bob = players[1]
    # Long enough that it cannot end meanwhile.
    game = seated(players, ruleset="mit-list-und-tuecke")
    stream = Stream(bob, game["id"]).until(lambda s: s.events)
    last, items = stream.events[0].id, []
    for _ in range(6):
        play_out(players, game["id"], rng, moves=2)
        stream.until(lambda s: s.items)
        stream.close()
        items += stream.items
        last = stream.events[-1].id
        play_out(players, game["id"], rng, moves=1)
        stream = Stream(bob, game["id"], last)
    stream.until(lambda s: s.items)
    items += stream.items
    stream.close()
    page = bob.get(f"/v1/games/{game['id']}/events?since={game['cursor']}")
    assert items == page["items"]


def test_the_header_wins_over_the_query_as_an_event_source_updates_only_the_header(
    ada: Client, bob: Client
) -> None:
    game = seated([ada, bob])
    path = f"/v1/games/{game['id']}/events?limit=1"
    first = ada.get(path)
    stream = Stream(ada, game["id"], game["cursor"], query=f"last_event_id={first['cursor']}")
    ada.delete(f"/v1/games/{game['id']}/seats/me")
    stream.until(lambda s: s.is_closed)
    assert [event.name for event in stream.events] == ["end"]


@pytest.mark.parametrize("last_id", ["9999-", "9999", "2", "2-x", "soon", "-1", ""])
def test_an_id_that_never_was_begins_anew(ada: Client, last_id: str) -> None:
    game = ada.create()
    stream = Stream(ada, game["id"], last_id).until(lambda s: s.events)
    assert [event.name for event in stream.close()] == ["snapshot"]


def test_a_stream_shows_only_what_its_audience_may_see(
    new_players: NewPlayers, stranger: Client, rng: random.Random
) -> None:
    players = new_players(4)
    game = seated(players, ruleset="mit-list-und-tuecke")
    by_ticket = Stream(players[1], game["id"], ticket=ticket(players[1], game["id"]))
    streams = {0: Stream(players[0], game["id"]), 1: by_ticket, None: Stream(stranger, game["id"])}
    for stream in streams.values():
        stream.until(lambda s: s.events)
    play_out(players, game["id"], rng, moves=12)
    cursor = players[0].game(game["id"])["cursor"]
    for seat, stream in streams.items():
        stream.until(lambda s: s.events[-1].id == cursor)
        reader = stranger if seat is None else players[seat]
        page = reader.get(f"/v1/games/{game['id']}/events?since={game['cursor']}")
        assert stream.items == page["items"]
        assert stream.events[-1].data["game"] == reader.game(game["id"])
        assert {event.data.get("game", event.data)["you"] for event in stream.events} == {seat}
        stream.close()


# --- Who may see it -----------------------------------------------------------------------


def test_a_ticket_opens_one_game_for_reading_as_often_as_need_be(ada: Client) -> None:
    game, other = ada.create(), ada.create()
    made = ada.post(f"/v1/games/{game['id']}/stream-tickets", status=201)
    assert made["expires_at"] > game["created_at"]
    for _ in range(2):
        stream = Stream(ada, game["id"], ticket=made["ticket"]).until(lambda s: s.events)
        assert stream.close()[0].data == ada.game(game["id"])
    assert is_refused(ada, other["id"], made["ticket"])
    assert is_refused(ada, game["id"], "made-up")
    headers = {"Authorization": f"Bearer {made['ticket']}"}
    Client(ada.url).refused("invalid_token", "GET", "/v1/me", headers=headers)
    Client(ada.url).refused("missing_token", "POST", f"/v1/games/{game['id']}/stream-tickets")


def test_tickets_are_kept_as_hashes_and_not_for_ever(ada: Client, service: Service) -> None:
    game = ada.create()
    made = ticket(ada, game["id"])
    with service.store.client() as store:
        keys = [key.decode() for key in store.scan_iter("ticket:*")]
        assert keys
        assert made not in str(keys)
        assert all(0 < store.pttl(key) <= 12 * 60 * 60 * 1000 for key in keys)


def test_leaving_ends_the_streams_and_the_ticket(ada: Client, bob: Client) -> None:
    for visibility in ("public", "private"):
        game = ada.create(3, visibility=visibility)
        bob.join(game["id"], **({"invite": game["invite"]} if game["invite"] else {}))
        by_ticket = ticket(bob, game["id"])
        streams = [Stream(bob, game["id"]), Stream(bob, game["id"], ticket=by_ticket)]
        for stream in streams:
            stream.until(lambda s: s.events)
        bob.delete(f"/v1/games/{game['id']}/seats/me")
        for stream in streams:
            stream.until(lambda s: s.is_closed)
            assert [event.name for event in stream.events] == ["snapshot", "end"]
            end = {"id": game["id"], "status": "open", "result": None, "reason": "left"}
            assert stream.events[-1].data == end
        path = f"/v1/games/{game['id']}/stream?ticket={by_ticket}"
        assert Client(bob.url).request("GET", path).status_code in (401, 404)


def test_a_new_token_ends_the_streams_and_the_tickets_of_the_old_one(
    ada: Client, bob: Client
) -> None:
    game = seated([ada, bob])
    by_ticket = ticket(ada, game["id"])
    streams = [Stream(ada, game["id"]), Stream(ada, game["id"], ticket=by_ticket)]
    others = Stream(bob, game["id"])
    for stream in (*streams, others):
        stream.until(lambda s: s.events)
    ada.token = ada.post("/v1/me/token")["token"]
    ada.get("/v1/me")
    for stream in streams:
        stream.until(lambda s: s.is_closed)
    assert is_refused(ada, game["id"], by_ticket)
    assert not others.is_closed
    others.close()


def test_a_stream_follows_a_table_from_its_creation(ada: Client, bob: Client) -> None:
    game = ada.create()
    stream = Stream(ada, game["id"]).until(lambda s: s.events)
    bob.join(game["id"])
    stream.until(lambda s: s.items)
    types = [event["type"] for item in stream.items for event in item["events"]]
    assert types[:2] == ["seat_taken", "game_started"]
    assert stream.events[-1].data["game"]["status"] == "playing"
    stream.close()


# --- Caps, pings, stops -------------------------------------------------------------------


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Service]:
    """A service with one worker that holds little."""
    with serving(
        tmp_path,
        APPEND_FSYNC="everysec",
        WEB_CONCURRENCY="1",
        WAITERS="4",
        WAITERS_PER_PLAYER="2",
    ) as running:
        yield running


def test_streams_beyond_the_cap_are_refused_and_a_stop_ends_them_all(small: Service) -> None:
    ada, stranger = new_player(small.url), Client(small.url)
    game = ada.create(3)
    path = f"/v1/games/{game['id']}/stream"
    with ada.unchecked():  # the document says nothing of HEAD; it holds no place
        assert {ada.request("HEAD", path).status_code for _ in range(5)} == {200}
    held = [Stream(ada, game["id"]).until(lambda s: s.events) for _ in range(2)]
    refused = unavailable(ada, path)
    assert refused.problem["code"] == "too_many_waiting"
    assert refused.problem["status"] == 429
    assert refused.retry_ms == 1000 * int(ada.log[-1].headers["Retry-After"])
    path = f"{path[:-6]}events?since={game['cursor']}&wait=5"
    assert "Retry-After" in ada.request("GET", path).headers
    cursor = ada.get("/v1/me/turns")["cursor"]
    assert "Retry-After" in ada.request("GET", f"/v1/me/turns?since={cursor}&wait=5").headers
    held += [Stream(stranger, game["id"]).until(lambda s: s.events) for _ in range(2)]
    path = f"/v1/games/{game['id']}/stream"
    assert unavailable(stranger, path).problem["code"] == "too_many_waiting"
    begin = time.monotonic()
    small.signal(signal.SIGTERM)
    for stream in held:
        stream.until(lambda s: s.is_closed)
    assert small.exit_code() == 0
    assert time.monotonic() - begin < SOON + 2


def test_a_stream_of_a_store_that_is_away_is_unavailable_for_now(fresh_service: Service) -> None:
    ada = new_player(fresh_service.url)
    game = ada.create()
    path = f"/v1/games/{game['id']}/stream"
    pid = fresh_service.store.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        told = unavailable(ada, path)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert (told.problem["code"], told.problem["status"]) == ("store_unavailable", 503)
    assert told.retry_ms == 1000
    headers = ada.log[-1].headers
    assert headers["Retry-After"] == "1"
    assert headers["Cache-Control"] == "no-store"
    assert "Server-Time" not in headers
    assert '"polls"' in headers["RateLimit"]
    Stream(ada, game["id"]).until(lambda s: s.events).close()


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/v1/games/{id}/stream?ticket=made-up", "invalid_ticket"),
        ("/v1/games/00000000000000000000000000000000/stream", "game_not_found"),
        ("/v1/games/{id}/stream?tickets=1", "invalid_request"),
        ("/v1/games/{id}/stream?last_event_id=" + "1" * 101, "invalid_request"),
    ],
)
def test_what_is_wrong_with_a_stream_for_good_is_told_by_the_status(
    ada: Client, stranger: Client, path: str, code: str
) -> None:
    stranger.refused(code, "GET", path.format(id=ada.create()["id"]))


def test_a_stream_survives_the_store(fresh_service: Service) -> None:
    ada, bob = new_player(fresh_service.url), new_player(fresh_service.url)
    game = ada.create()
    streams = [Stream(ada, game["id"]).until(lambda s: s.events) for _ in range(4)]
    fresh_service.kill_valkey()
    time.sleep(0.5)
    bob.join(game["id"])
    for stream in streams:
        stream.until(lambda s: s.items)
    for stream in streams:
        stream.close()
