"""What is kept, how long, and that what lists games is neither fooled nor forgetful."""

import json
import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.api_client import Client, NewPlayers, play_out, seated, start_countdown
from tests.support.service import Service

DAY_MS = 24 * 60 * 60 * 1000


def test_games_that_one_is_not_in_take_no_place(new_players: NewPlayers) -> None:
    """Neither what others reserve, nor what one has left or not got into."""
    attacker, victim, second_attacker = new_players(3)
    for client in (attacker, victim, second_attacker):
        client.checked = False
    for host in (attacker, second_attacker):
        for _ in range(60):
            host.create(3, reserved_seats=[{"seat": 1, "player_id": victim.id}], take_seat=False)
    for item in attacker.get("/v1/me/games?limit=100")["items"][:30]:
        victim.join(item["id"])
        victim.delete(f"/v1/games/{item['id']}/seats/me")
    last = attacker.create(2, reserved_seats=[{"seat": 1, "player_id": victim.id}])
    assert victim.create()["status"] == "open"
    assert victim.join(last["id"])["status"] == "playing"


def test_a_hundred_places_are_counted_truly_when_most_entries_are_false(
    new_players: NewPlayers,
) -> None:
    host, guest = new_players(2)
    host.checked = guest.checked = False
    for _ in range(100):
        game = host.create(3)
        guest.join(game["id"])
        guest.delete(f"/v1/games/{game['id']}/seats/me")
        host.delete(f"/v1/games/{game['id']}")
    assert guest.create()["you"] == 0
    assert host.create()["you"] == 0


def test_a_reservation_can_be_given_up(ada: Client, bob: Client, eve: Client) -> None:
    game = ada.create(2, reserved_seats=[{"seat": 1, "player_id": bob.id}], visibility="private")
    path = f"/v1/games/{game['id']}"
    given_up = bob.delete(f"{path}/seats/me")
    assert given_up["seats"][1]["reserved_for"] is None
    assert bob.delete(f"{path}/seats/me") == given_up
    bob.refused("game_not_found", "GET", path)
    assert bob.get("/v1/me/games")["items"] == []
    assert eve.join(game["id"], invite=game["invite"])["you"] == 1


def test_who_left_a_private_game_sees_nothing_of_it_once_it_is_played(
    ada: Client, bob: Client, eve: Client
) -> None:
    game = ada.create(2, visibility="private", take_seat=False)
    path = f"/v1/games/{game['id']}/seats"
    bob.join(game["id"], invite=game["invite"])
    bob.delete(f"{path}/me")
    ada.join(game["id"])
    assert eve.join(game["id"], invite=game["invite"])["status"] == "playing"
    bob.refused("game_not_found", "DELETE", f"{path}/me")


@pytest.mark.parametrize("number", [230, pytest.param(700, marks=pytest.mark.slow)])
def test_more_endings_than_one_answer_holds_are_told_in_the_next(ada: Client, number: int) -> None:
    ada.checked = False
    cursor = ada.get("/v1/me/turns")["cursor"]
    ended = []
    for _ in range(number):
        ended.append(ada.create()["id"])
        ada.delete(f"/v1/games/{ended[-1]}")
    told: list[str] = []
    for _ in range(6):
        turns = ada.get(f"/v1/me/turns?since={cursor}")
        told += [each["id"] for each in turns["ended"]]
        cursor = turns["cursor"]
    assert told == ended


def test_every_key_has_a_life_and_a_game_lives_beyond_its_deadline(
    service: Service, new_players: NewPlayers
) -> None:
    players = new_players(3)
    options = {"countdown_seconds": 86400}
    game_id = seated(players, ruleset="contrast", options=options)["id"]
    start_countdown(players, game_id)
    with service.store.client() as redis:
        # -1: it has no life. (-2: it has just expired.)
        assert not [key for key in redis.scan_iter("*") if redis.pttl(key) == -1]
        assert redis.pttl(f"game:{{{game_id}}}") > 7 * DAY_MS + 86_000_000
        assert redis.pttl(f"player:{{{players[0].id}}}") > 89 * DAY_MS


def test_a_player_who_is_in_no_game_is_forgotten_within_the_hour(
    service: Service, ada: Client
) -> None:
    with service.store.client() as redis:
        assert 0 < redis.pttl(f"player:{{{ada.id}}}") <= 60 * 60 * 1000


def test_a_game_that_goes_on_keeps_its_place_in_every_list(
    service: Service, ada: Client, bob: Client, rng: random.Random
) -> None:
    """Also when all that lists it is lost or about to be: the next move after a day renews it."""
    game_id = seated([ada, bob])["id"]
    key = f"game:{{{game_id}}}"
    with service.store.client() as redis:
        redis.delete(index := f"index:{{places:{ada.id}}}:playing")
        document = json.loads(redis.hget(key, "game") or b"")
        document["indexed_at"] -= DAY_MS + 1
        redis.hset(key, "game", json.dumps(document))
    assert ada.get("/v1/me/games")["items"] == []
    play_out([ada, bob], game_id, rng, moves=1)
    assert [each["id"] for each in ada.get("/v1/me/games?status=playing")["items"]] == [game_id]
    with service.store.client() as redis:
        assert redis.pttl(index) > redis.pttl(key)
        assert redis.zcard(index) == 1


def test_a_game_of_a_newer_release_is_left_alone(
    service: Service, ada: Client, bob: Client
) -> None:
    game_id = seated([ada, bob])["id"]
    key = f"game:{{{game_id}}}"
    with service.store.client() as redis:
        before = redis.hget(key, "game")
        document = json.loads(before or b"")
        redis.hset(key, "game", json.dumps({**document, "format": 99, "more": 1}))
    ada.refused("newer_format", "GET", f"/v1/games/{game_id}")
    assert int(ada.log[-1].headers["Retry-After"]) >= 1
    with service.store.client() as redis:
        redis.hset(key, "game", before or b"")
    assert ada.game(game_id)["status"] == "playing"


# --- If-Match, and conditional reads of what may not be read ---------------------------------


def test_a_change_can_be_made_to_depend_on_what_the_game_is(ada: Client, bob: Client) -> None:
    game = seated([ada, bob])
    mover = (ada, bob)[game["to_move"][0]]
    path = f"/v1/games/{game['id']}"
    tag = mover.request("GET", path).headers["ETag"]
    own = mover.game(game["id"])
    body = {"turn": own["turn"], "move": own["legal_moves"][0]}
    headers = {"If-Match": '"another", W/"third"'}
    mover.refused("precondition_failed", "POST", f"{path}/moves", body, headers=headers)
    assert mover.game(game["id"]) == own
    played = mover.post(f"{path}/moves", body, headers={"If-Match": tag})
    # The same move again is a retry, though the game is another one by now.
    assert mover.post(f"{path}/moves", body, headers={"If-Match": tag}) == played
    mover.refused("precondition_failed", "DELETE", f"{path}/seats/me", headers={"If-Match": tag})


def test_if_match_takes_a_tag_that_a_proxy_has_weakened(ada: Client, bob: Client) -> None:
    path = f"/v1/games/{ada.create(3)['id']}"

    def weak(player: Client) -> dict[str, str]:
        tag = player.request("GET", path).headers["ETag"]
        return {"If-Match": f'"another", W/{tag.removeprefix("W/")}'}

    before = weak(ada)
    bob.post(f"{path}/seats", {}, headers=weak(bob))
    ada.refused("precondition_failed", "POST", f"{path}/start", headers=before)
    ada.post(f"{path}/start", headers=weak(ada))


@pytest.mark.parametrize("tag", ["*", None])
def test_what_may_not_be_read_is_refused_whatever_the_reader_has(
    ada: Client, bob: Client, eve: Client, tag: str | None
) -> None:
    path = f"/v1/games/{seated([ada, bob])['id']}"
    for reader, below, code in (
        (ada, "/record", "game_not_over"),
        (eve, "/legal-moves", "not_seated"),
    ):
        known = tag or reader.request("GET", path).headers["ETag"]
        headers = {"If-None-Match": known}
        reader.refused(code, "GET", path + below, headers=headers)


def test_the_tag_of_one_answer_is_not_that_of_another(ada: Client, bob: Client) -> None:
    path = f"/v1/games/{seated([ada, bob])['id']}"
    urls = (path, f"{path}/legal-moves", f"{path}/legal-moves?previews=true")
    assert len({ada.request("GET", url).headers["ETag"] for url in urls}) == 3


def test_a_request_with_mistakes_does_not_use_up_its_key(ada: Client) -> None:
    body = {"ruleset": "parade", "seat_count": 2}
    headers = {"Idempotency-Key": "key"}
    wrong = {**body, "reserved_seats": [{"seat": 1, "player_id": "0" * 32}]}
    ada.refused("invalid_request", "POST", "/v1/games", wrong, headers=headers)
    ada.post("/v1/games", body, 201, headers=headers)


def test_a_full_player_still_gets_the_game_of_its_key_again(ada: Client) -> None:
    body = {"ruleset": "parade", "seat_count": 2}
    headers = {"Idempotency-Key": "key"}
    game = ada.post("/v1/games", body, 201, headers=headers)
    with ada.unchecked():
        for _ in range(99):
            ada.create()
    ada.refused("too_many_games", "POST", "/v1/games", body)
    assert ada.post("/v1/games", body, 200, headers=headers) == game


def test_a_lobby_can_be_walked_while_games_come_and_go(new_players: NewPlayers) -> None:
    """No game twice, and none missing that was there all the time."""
    host, other = new_players(2)
    host.checked = other.checked = False
    stay = {host.create(3)["id"] for _ in range(25)}
    reader = Client(host.url, checked=False)

    def churn(_: int) -> None:
        mine = Client(other.url, other.token, checked=False)
        for _ in range(8):
            mine.delete(f"/v1/games/{mine.create(3)['id']}")

    with ThreadPoolExecutor(3) as threads:
        busy = [threads.submit(churn, i) for i in range(3)]
        while not all(each.done() for each in busy):
            seen: list[str] = []
            cursor = ""
            while cursor is not None:
                query = f"status=open&limit=3{cursor and '&cursor=' + cursor}"
                page = reader.get(f"/v1/games?{query}")
                seen += [each["id"] for each in page["items"]]
                cursor = page["next"]
            assert len(set(seen)) == len(seen)
            assert stay <= set(seen)
        for each in busy:
            each.result()
