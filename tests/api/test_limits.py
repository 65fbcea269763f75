"""What a stranger with a script can do before it is told to wait, and what never waits."""

import json
import re
import secrets
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from redis import RedisError

from api import create_app
from api.config.rate_policies import (
    FAILURES,
    PLAYERS,
    POLICIES,
    READS,
    SITTINGS,
    Policy,
    read_policies,
)
from api.config.settings import Settings
from api.ratelimit.limiter import Limiter
from api.storage.connect import connect
from api.storage.counters import MAX_KEYS, MIN_KEYS, WorkerCounters
from api.web.bodies import MAX_COMMAS, MAX_MEMBERS, MAX_OBJECTS
from api.web.headers import READ_HEADERS, max_length
from tests.support.api_client import Client, new_player, seated
from tests.support.document import METHODS, document, resolved
from tests.support.event_stream import Stream, unavailable
from tests.support.http_client import Response
from tests.support.paths import ROOT
from tests.support.raw_http import exchange
from tests.support.service import Service, start_service, stop_service
from tests.support.waiting import wait_until

MADE_UP = f"{'0' * 32}.{'a' * 43}"


Limited = Callable[..., Service]


@pytest.fixture
def limited(tmp_path: Path) -> Iterator[Limited]:
    """Starts a service with one worker, by default, and these limits."""
    running: list[Service] = []

    def start(limits: str, **settings: str) -> Service:
        given = {"APPEND_FSYNC": "everysec", "WEB_CONCURRENCY": "1", **settings}
        running.append(start_service(str(tmp_path), RATE_LIMITS=limits, **given))
        return running[-1].await_ready()

    try:
        yield start
    finally:
        for each in running:
            stop_service(each)


def standing(response: Response, name: str) -> tuple[int, int]:
    """What is left of a limit, and in how many seconds all is again."""
    found = re.search(rf'"{name}";r=(\d+);t=(\d+)', response.headers["RateLimit"])
    assert found, response.headers["RateLimit"]
    return int(found[1]), int(found[2])


def refused_for_now(response: Response, name: str) -> None:
    """Fail unless this is the answer to too much of something."""
    assert response.status_code == 429, response.text
    problem = response.json()
    assert problem["code"] == "too_many_requests"
    assert f"'{name}'" in problem["detail"]
    left, reset = standing(response, name)
    assert left == 0
    assert response.headers["Retry-After"] == str(reset)
    assert reset >= 1


# --- What is told -------------------------------------------------------------------------------


def test_every_answer_tells_how_its_sender_stands(limited: Limited) -> None:
    ada = new_player(limited("reads=5/minute").url)
    first = ada.request("GET", "/v1/me")
    assert '"reads";q=5;w=60' in first.headers["RateLimit-Policy"].split(", ")
    assert standing(first, "reads")[0] == 4
    left = [standing(ada.request("GET", "/v1/games"), "reads")[0] for _ in range(3)]
    assert left == [3, 2, 1]
    exposed = ada.request("GET", "/v1/me", headers={"Origin": "https://cards.example"})
    shown = {name.strip() for name in exposed.headers["Access-Control-Expose-Headers"].split(",")}
    assert {"RateLimit", "RateLimit-Policy", "Retry-After"} <= shown


def test_a_stream_beyond_a_limit_is_opened_again_when_the_limit_allows_it(
    limited: Limited,
) -> None:
    ada = new_player(limited("polls=2/minute").url)
    game = ada.create()
    path = f"/v1/games/{game['id']}/stream"
    for _ in range(2):
        Stream(ada, game["id"]).until(lambda s: s.events).close()
    told = unavailable(ada, path)
    assert told.problem["code"] == "too_many_requests"
    assert told.problem["status"] == 429
    answer = ada.log[-1]
    left, reset = standing(answer, "polls")
    assert (left, told.retry_ms) == (0, 1000 * reset)
    assert answer.headers["Retry-After"] == str(reset)


@pytest.mark.parametrize(
    "path",
    ["/v1/rulesets", "/v1/rulesets/parade", "/v1/rulesets/contrast/pictures/picture-7"],
)
def test_what_caches_keep_for_all_tells_nothing_of_one_caller(limited: Limited, path: str) -> None:
    stranger = Client(limited("reads=2/hour").url)
    for _ in range(2):
        answer = stranger.request("GET", path)
        assert answer.status_code == 200
        assert "public" in answer.headers["Cache-Control"]
        assert not {"RateLimit", "RateLimit-Policy"} & set(answer.headers)
    # It counts all the same; and a refusal, which nobody may keep, says so.
    over = stranger.request("GET", path)
    refused_for_now(over, "reads")
    assert over.headers["Cache-Control"] == "no-store"


def test_every_operation_but_those_of_the_service_documents_its_limits() -> None:
    for path, methods in document()["paths"].items():
        for method in METHODS & methods.keys():
            responses = methods[method]["responses"]
            is_limited = path.startswith("/v1/")
            # A stream that is refused is answered 200 with the problem as an event.
            status = (
                "200"
                if "text/event-stream" in responses.get("200", {}).get("content", {})
                else "429"
            )
            refusal = resolved(responses.get(status, {"description": ""}))["description"]
            assert ("`too_many_requests`" in refusal) == is_limited, path
            for response in responses.values() if is_limited else ():
                named = resolved(response)["headers"].keys()
                assert {"RateLimit", "RateLimit-Policy"} <= named, path


def test_the_document_lists_every_limit_with_its_default() -> None:
    text = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z-]+)` \| ([0-9]+/[a-z]+) \| (.*?) \|", text, re.MULTILINE)

    def of_whom(policy: Policy) -> str:
        if policy.name == SITTINGS:
            return "game"
        return "address" if policy.by_address else "token, else address"

    assert rows == [(each.name, str(each), of_whom(each)) for each in POLICIES]


# --- Reads --------------------------------------------------------------------------------------


def test_who_reads_too_much_waits_and_nobody_else_does(limited: Limited) -> None:
    url = limited("reads=5/minute").url
    ada, bob, stranger = new_player(url), new_player(url), Client(url)
    for _ in range(5):
        ada.get("/v1/me")
        stranger.get("/v1/games")
    refused_for_now(ada.request("GET", "/v1/me"), "reads")
    refused_for_now(stranger.request("GET", "/v1/games"), "reads")
    bob.get("/v1/me")


def test_all_that_an_address_asks_for_has_a_limit_but_its_moves(limited: Limited) -> None:
    url = limited("requests=4/hour").url
    ada, bob = new_player(url), new_player(url)
    game = ada.create(2, house=["careful"])
    bob.get("/v1/me")
    for caller in (ada, bob, Client(url)):
        refused_for_now(caller.request("GET", "/v1/games"), "requests")
    ada.play(game["id"], game["turn"], game["legal_moves"][0])


def test_asking_for_turns_does_not_use_up_reads(limited: Limited) -> None:
    ada = new_player(limited("reads=3/minute,polls=20/minute").url)
    for _ in range(20):
        ada.get("/v1/me/turns")
    refused_for_now(ada.request("GET", "/v1/me/turns"), "polls")
    ada.get("/v1/me")


def test_a_window_ends(limited: Limited) -> None:
    ada = new_player(limited("reads=2/second").url)
    statuses = set()
    deadline = time.monotonic() + 20
    while 429 not in statuses:
        assert time.monotonic() < deadline
        last = ada.request("GET", "/v1/me")
        statuses.add(last.status_code)
    time.sleep(int(last.headers["Retry-After"]))
    assert ada.request("GET", "/v1/me").status_code == 200


def test_reads_and_moves_cost_the_store_nothing_more(limited: Limited) -> None:
    running = limited("reads=1000/minute")
    ada = new_player(running.url)
    game = ada.create(2, house=["careful"])
    with running.store.client() as redis:

        def counted() -> int:
            return int(redis.info("commandstats")["cmdstat_incrby"]["calls"])

        before = counted()
        assert before  # what was created
        ada.game(game["id"])
        ada.get("/v1/me/turns")
        ada.play(game["id"], game["turn"], game["legal_moves"][0])
        assert counted() == before
        ada.create(3)
        assert counted() > before


def test_without_limits_nothing_is_counted_or_told(limited: Limited) -> None:
    stranger = Client(limited("off").url, checked=False)  # the document tells of headers
    created = stranger.request("POST", "/v1/players", json={"name": "Ada", "kind": "bot"})
    assert created.status_code == 201
    assert not {"RateLimit", "RateLimit-Policy"} & set(created.headers)


# --- What is created ----------------------------------------------------------------------------


def test_all_workers_count_what_is_created_together(limited: Limited) -> None:
    url = limited("players=30/hour", WEB_CONCURRENCY="3").url

    def create(_: int) -> Response:
        client = Client(url)
        return client.request("POST", "/v1/players", json={"name": "Ada", "kind": "bot"})

    with ThreadPoolExecutor(12) as threads:
        answers = list(threads.map(create, range(60)))
    assert [answer.status_code for answer in answers].count(201) == 30
    for answer in answers:
        if answer.status_code != 201:
            refused_for_now(answer, "players")


@pytest.mark.parametrize(
    ("limit", "method", "path", "body"),
    [
        ("games", "POST", "/v1/games", {"ruleset": "parade", "seat_count": 2}),
        ("games-here", "POST", "/v1/games", {"ruleset": "parade", "seat_count": 2}),
        ("games-daily", "POST", "/v1/games", {"ruleset": "parade", "seat_count": 2}),
        ("seats", "POST", "/v1/games/{id}/seats", None),
        ("seats-daily", "POST", "/v1/games/{id}/seats", None),
        ("tickets", "POST", "/v1/games/{id}/stream-tickets", None),
        ("tickets-here", "POST", "/v1/games/{id}/stream-tickets", None),
        ("tickets", "POST", "/v1/me/stream-tickets", None),
        ("tickets-here", "POST", "/v1/me/stream-tickets", None),
        ("tokens", "POST", "/v1/me/token", None),
    ],
)
def test_what_is_created_has_a_limit(
    limited: Limited, limit: str, method: str, path: str, body: Any
) -> None:
    ada = new_player(limited(f"{limit}=3/hour").url)
    game = ada.create(3)
    path = path.format(id=game["id"])
    how = {} if body is None else {"json": body}
    answers = [ada.request(method, path, **how) for _ in range(4)]
    assert {answer.status_code for answer in answers[:2]} <= {200, 201}
    refused_for_now(answers[3], limit)


def leave(player: Client, game_id: str) -> Any:
    return player.delete(f"/v1/games/{game_id}/seats/me")


def test_an_open_table_is_joined_so_often_by_whomever_and_its_host_goes_on(
    limited: Limited,
) -> None:
    """Each time adds to the game for ever, and there may be any number of players who do it."""
    url = limited("sittings=6/hour").url
    ada, bob, eve = (new_player(url) for _ in range(3))
    game, other = ada.create(3), ada.create(3)
    path = f"/v1/games/{game['id']}/seats"
    for player in (bob, eve) * 3:
        player.join(game["id"])
        # To join again, or to want a seat that is taken, changes nothing and counts nothing.
        player.join(game["id"])
        player.refused("already_seated", "POST", path, {"seat": 0})
        leave(player, game["id"])
    for player in (bob, eve):
        refused_for_now(player.request("POST", path), "sittings")
    assert ada.game(game["id"])["version"] == 1 + 12
    # Another table has its own count; and the host can start or cancel this one.
    eve.join(other["id"])
    assert ada.post(f"/v1/games/{game['id']}/start")["status"] == "playing"
    assert ada.delete(f"/v1/games/{other['id']}")["status"] == "cancelled"


def test_who_comes_and_goes_in_a_game_keeps_no_other_player_out(limited: Limited) -> None:
    url = limited("sittings=4/hour").url
    ada, bob, eve = players = [new_player(url) for _ in range(3)]
    game = seated(players)
    for _ in range(4):
        leave(bob, game["id"])
        bob.join(game["id"])
    # To leave is never refused, though to come back is then.
    leave(bob, game["id"])
    refused_for_now(bob.request("POST", f"/v1/games/{game['id']}/seats"), "sittings")
    leave(eve, game["id"])
    assert eve.join(game["id"])["you"] == 2
    assert ada.game(game["id"])["seats"][1]["house"] == "careful"


def test_all_workers_count_together_who_sits_down(limited: Limited) -> None:
    url = limited("sittings=20/hour", WEB_CONCURRENCY="2").url
    ada, bob = new_player(url), new_player(url)
    game = ada.create(3)
    path = f"/v1/games/{game['id']}/seats"
    joined = 0
    for _ in range(60):
        # A connection of its own each time: whichever worker takes it.
        bob.close()
        if bob.request("POST", path).status_code == 200:
            joined += 1
            leave(bob, game["id"])
    # A worker knows what the store has counted when it has counted itself.
    assert 20 <= joined <= 22


def test_a_record_however_long_is_one_value(limited: Limited) -> None:
    running = limited("sittings=10000/hour")
    ada, bob = new_player(running.url), new_player(running.url)
    game = ada.create(3, take_seat=False)
    with bob.unchecked():
        for _ in range(270):
            bob.join(game["id"])
            leave(bob, game["id"])
    bob.join(game["id"])
    ada.post(f"/v1/games/{game['id']}/start")
    own = bob.game(game["id"])
    assert own["to_move"] == [own["you"]]
    played = bob.play(game["id"], own["turn"], own["legal_moves"][0])["items"]
    assert leave(bob, game["id"])["status"] == "cancelled"
    with running.store.client() as redis:
        redis.config_set("slowlog-log-slower-than", 0)
        record = bob.get(f"/v1/games/{game['id']}/record")
        asked = [entry["command"].split() for entry in redis.slowlog_get(100)]
        assert redis.hstrlen(f"game:{{{game['id']}}}", "record") < 10_000
    assert not any(command == b"LRANGE" for command, *_ in asked)
    moves = [(item["seat"], item["turn"]) for item in played if item["seat"] is not None]
    assert set(moves) <= {(move["seat"], move["turn"]) for move in record["moves"]}


def test_analyses_have_a_limit_of_their_own(limited: Limited) -> None:
    stranger = Client(limited("analyses=2/minute").url)
    for _ in range(2):
        stranger.refused("invalid_request", "POST", "/v1/analysis", {})
    refused_for_now(stranger.request("POST", "/v1/analysis", json={}), "analyses")
    stranger.get("/v1/games")


# --- Failures -----------------------------------------------------------------------------------


def test_guessing_ends_and_who_proves_who_it_is_goes_on(limited: Limited) -> None:
    url = limited("failures=5/minute").url
    ada, stranger = new_player(url), Client(url)
    game = ada.create(visibility="private")
    for _ in range(5):
        stranger.refused("game_not_found", "GET", f"/v1/games/{secrets.token_hex(16)}")
    refused_for_now(stranger.request("GET", f"/v1/games/{secrets.token_hex(16)}"), "failures")
    # Even what is right is not told any more to who shows nothing.
    refused_for_now(stranger.request("GET", "/v1/games"), "failures")
    refused_for_now(stranger.request("POST", f"/v1/games/{game['id']}/moves"), "failures")
    assert ada.game(game["id"])["you"] == 0
    # But what fails for the others of the address is too much too.
    refused_for_now(ada.request("GET", f"/v1/games/{secrets.token_hex(16)}"), "failures")


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/v1/me", "invalid_token"),
        ("GET", "/v1/games/{id}/stream?ticket=made-up", "invalid_ticket"),
        ("POST", "/v1/games/{id}/seats", "game_not_found"),
        ("POST", "/v1/games/{id}/moves", "invalid_json"),
    ],
)
def test_what_is_made_up_counts_as_a_failure(
    limited: Limited, method: str, path: str, code: str
) -> None:
    url = limited("failures=3/minute").url
    game = new_player(url).create(visibility="private")
    path = path.format(id=game["id"])
    shows_nothing = {"invalid_token": MADE_UP, "invalid_ticket": None}
    guesser = Client(url, shows_nothing[code]) if code in shows_nothing else new_player(url)
    how: dict[str, Any] = {}
    if code == "invalid_json":
        how = {"data": "{", "headers": {"Content-Type": "application/json"}}
    if code == "game_not_found":
        how = {"json": {"invite": "made-up"}}
    for _ in range(3):
        guesser.refused(code, method, path, **how)
    if code == "invalid_ticket":
        assert "'failures'" in unavailable(guesser, path).problem["detail"]
    else:
        refused_for_now(guesser.request(method, path, **how), "failures")


def test_moves_without_a_token_count_as_failures(limited: Limited) -> None:
    url = limited("failures=3/minute").url
    ada, stranger = new_player(url), Client(url)
    game = ada.create(2, house=["careful"])
    path = f"/v1/games/{game['id']}/moves"
    body = {"turn": game["turn"], "move": game["legal_moves"][0]}
    for _ in range(3):
        stranger.refused("missing_token", "POST", path, body)
    refused_for_now(stranger.request("POST", path, json=body), "failures")
    ada.play(game["id"], game["turn"], game["legal_moves"][0])


def test_moves_with_a_header_that_is_too_long_count_as_failures(limited: Limited) -> None:
    url = limited("failures=3/minute").url
    ada = new_player(url)
    game = ada.create(2, house=["careful"])
    path = f"/v1/games/{game['id']}/moves"
    body = {"turn": game["turn"], "move": game["legal_moves"][0]}
    headers = {"Prefer": "x" * 2000}
    with ada.unchecked():
        for _ in range(3):
            assert ada.request("POST", path, json=body, headers=headers).status_code == 431
    refused_for_now(ada.request("POST", path, json=body, headers=headers), "failures")
    ada.play(game["id"], game["turn"], game["legal_moves"][0])


def test_nobody_is_kept_out_by_who_claims_to_be_it(limited: Limited) -> None:
    url = limited("reads=5/minute,seats=5/hour,games=5/hour,failures=5/minute").url
    ada = new_player(url)
    liar = Client(url, f"{ada.id}.{'a' * 43}")
    for _ in range(8):
        liar.request("GET", "/v1/me")
        liar.request("POST", "/v1/games", json={"ruleset": "parade", "seat_count": 2})
    for _ in range(5):
        ada.get("/v1/me")
    ada.create()


def test_made_up_tokens_do_not_fill_the_store(limited: Limited) -> None:
    running = limited("failures=5/minute")
    game = new_player(running.url).create(3)
    for number in range(40):
        liar = Client(running.url, f"{number:032x}.{'a' * 43}")
        assert liar.request("POST", f"/v1/games/{game['id']}/seats").status_code in (401, 429)
    with running.store.client() as redis:
        assert len(list(redis.scan_iter("limit:*"))) < 15


# --- Moves --------------------------------------------------------------------------------------


def test_a_legal_move_passes_after_any_number_of_illegal_ones(limited: Limited) -> None:
    url = limited("moves=5/hour,reads=1000/minute").url
    players = [new_player(url), new_player(url)]
    game, other = seated(players), seated(players)
    mover = players[game["to_move"][0]]
    path = f"/v1/games/{game['id']}/moves"
    own = mover.game(game["id"])
    wrong = {"turn": own["turn"], "move": {"type": "discard", "cards": []}}
    stale = {"turn": own["turn"] + 7, "move": own["legal_moves"][0]}
    for body, code in ((wrong, "illegal_move"), (stale, "stale_turn")) * 2:
        assert mover.refused(code, "POST", path, body)
    mover.refused("illegal_move", "POST", path, wrong)
    for body in (wrong, stale):
        refused_for_now(mover.request("POST", path, json=body), "moves")
    # Another game has its own count, and the legal move was never too many.
    there = players[other["to_move"][0]]
    there.refused("illegal_move", "POST", f"/v1/games/{other['id']}/moves", {**wrong, "turn": 1})
    played = mover.play(game["id"], own["turn"], own["legal_moves"][0])
    assert played["game"]["version"] > own["version"]


def test_a_move_can_be_sent_again_but_not_for_ever(limited: Limited) -> None:
    url = limited("moves=5/hour").url
    players = [new_player(url), new_player(url)]
    game = seated(players)
    mover = players[game["to_move"][0]]
    own = mover.game(game["id"])
    for _ in range(6):
        mover.play(game["id"], own["turn"], own["legal_moves"][0])
    body = {"turn": own["turn"], "move": own["legal_moves"][0]}
    refused_for_now(mover.request("POST", f"/v1/games/{game['id']}/moves", json=body), "moves")
    # The other seat plays on, and so does this one at its next turn.
    waiting = players[1 - players.index(mover)]
    for player in (waiting, mover):
        now = player.game(game["id"])
        player.play(game["id"], now["turn"], now["legal_moves"][0])


def test_a_whole_game_is_played_with_every_other_limit_used_up(limited: Limited) -> None:
    ada = new_player(limited("reads=1/hour,polls=1/hour,requests=3/hour,moves=1/hour").url)
    game = ada.create(2, ruleset="tea-time", house=["careful"])
    ada.get("/v1/me")
    for path in ("/v1/me", "/v1/me/turns"):
        refused_for_now(ada.request("GET", path), "requests")
    while game["status"] == "playing":
        game = ada.play(game["id"], game["turn"], game["legal_moves"][0])["game"]
    assert game["result"]


def send_moves(player: Client, *moves: Any) -> tuple[Response, list[str]]:
    """Send a batch; its response, and the code of each problem."""
    response = player.request("POST", "/v1/me/moves", json={"moves": moves})
    items = response.json()["items"]
    return response, [each["problem"]["code"] if each["problem"] else "" for each in items]


def test_each_move_of_a_batch_counts_in_its_game_as_a_single_one(limited: Limited) -> None:
    url = limited("moves=3/hour,failures=off").url
    ada = new_player(url)
    games = [ada.create(2, house=["careful"]) for _ in range(2)]
    here, there = (
        {"game_id": each["id"], "turn": each["turn"], "move": each["legal_moves"][0]}
        for each in games
    )
    stale, stale_there = ({**each, "turn": each["turn"] + 7} for each in (here, there))
    response, codes = send_moves(ada, stale, stale, stale_there, stale, stale, here)
    over = "too_many_requests"
    assert codes == ["stale_turn"] * 4 + [over, ""]
    problem = response.json()["items"][4]["problem"]
    assert problem["status"] == response.json()["items"][4]["status"] == 429
    assert "'moves'" in problem["detail"]
    assert 1 <= int(response.headers["Retry-After"]) <= 3600
    # Single moves and those of batches have one count.
    path = f"/v1/games/{here['game_id']}/moves"
    body = {name: stale[name] for name in ("turn", "move")}
    refused_for_now(ada.request("POST", path, json=body), "moves")
    _, codes = send_moves(ada, here, there, there)
    assert codes == [over, "", ""]


def test_a_batch_counts_as_one_request(limited: Limited) -> None:
    ada = new_player(limited("requests=5/hour,reads=1/hour").url)
    game = ada.create(2, house=["careful"])
    move = {"game_id": game["id"], "turn": game["turn"], "move": game["legal_moves"][0]}
    for left in (2, 1, 0):
        response, codes = send_moves(ada, move, move, move)
        assert codes == ["", "", ""]
        assert standing(response, "requests")[0] == left
        assert "Retry-After" not in response.headers
    refused_for_now(ada.request("POST", "/v1/me/moves", json={"moves": [move]}), "requests")


def test_a_batch_gives_no_more_guesses_than_single_requests(limited: Limited) -> None:
    url = limited("failures=5/minute").url
    ada, eve = new_player(url), new_player(url)
    game = ada.create(2, house=["careful"], visibility="private")
    move = {"game_id": game["id"], "turn": game["turn"], "move": game["legal_moves"][0]}
    guesses = [{**move, "game_id": secrets.token_hex(16)} for _ in range(4)]
    response, codes = send_moves(eve, *guesses, move, *guesses)
    assert codes == ["game_not_found"] * 5 + ["too_many_requests"] * 4
    assert standing(response, "failures")[0] == 0
    # A public game in which it has no seat is told no more, either.
    public = ada.create(2, house=["careful"])["id"]
    assert send_moves(eve, {**move, "game_id": public})[1] == ["too_many_requests"]
    assert send_moves(ada, move)[1] == [""]


def test_a_batch_of_a_wrong_form_counts_as_a_failure(limited: Limited) -> None:
    ada = new_player(limited("failures=3/minute").url)
    for _ in range(3):
        ada.refused("invalid_request", "POST", "/v1/me/moves", {"moves": []})
    refused_for_now(ada.request("POST", "/v1/me/moves", json={"moves": []}), "failures")


# --- Who is one caller --------------------------------------------------------------------------


def ask_through(url: str, forwarded_for: str) -> int:
    stranger = Client(url)
    return stranger.request(
        "GET", "/v1/games", headers={"X-Forwarded-For": forwarded_for}
    ).status_code


def test_nobody_is_believed_to_speak_for_others(limited: Limited) -> None:
    running = limited("reads=4/minute")
    answers = [ask_through(running.url, f"192.0.2.{number}") for number in range(5)]
    assert answers == [200] * 4 + [429]
    assert len(running.await_lines("TRUSTED_PROXIES")) == 1


def test_the_warning_of_a_proxy_that_is_not_trusted_names_the_request(limited: Limited) -> None:
    running = limited("off", LOG_FORMAT="json")
    headers = {"X-Forwarded-For": "192.0.2.1", "X-Request-ID": "the-first"}
    running.request("GET", "/livez", headers=headers)
    (line,) = running.await_lines("TRUSTED_PROXIES")
    assert json.loads(line)["request_id"] == "the-first"


def test_a_trusted_proxy_is_believed_but_not_what_its_clients_say(limited: Limited) -> None:
    url = limited("reads=2/minute", TRUSTED_PROXIES="127.0.0.1, 10.0.0.0/8").url
    for number in range(3):
        assert [ask_through(url, f"192.0.2.{number}") for _ in range(3)] == [200, 200, 429]
    # What stands before the last address is the client's own word, also through two proxies.
    forged = [ask_through(url, f"198.51.100.{n}, 203.0.113.9, 10.1.1.1") for n in range(3)]
    assert forged == [200, 200, 429]
    assert ask_through(url, "203.0.113.10:4711, 10.1.1.1:80") == 200
    # A network of the new protocol is one caller.
    one = [ask_through(url, f"2001:db8:1:2{n:x}::{n:x}") for n in range(3)]
    assert one == [200, 200, 429]
    assert ask_through(url, "2001:db8:1:100::1") == 200


@pytest.mark.parametrize("header", ["SCRIPT_NAME", "PATH_INFO"])
def test_a_trusted_proxy_passes_on_no_path_but_the_one_that_it_was_asked_for(
    limited: Limited, header: str
) -> None:
    service = limited("failures=off", TRUSTED_PROXIES="127.0.0.1")
    answer = service.request("GET", "/livez", headers={header: "/nowhere"})
    assert (answer.status_code, answer.json()) == (200, {"status": "alive", "detail": None})
    there = service.request("GET", "/nowhere", headers={header: "/livez"})
    assert there.status_code == 404
    root = service.request("GET", "/", headers={header: "/nowhere"})
    assert "nowhere" not in str(root.headers.items()) + root.text


def test_the_scheme_is_believed_of_trusted_proxies_only() -> None:
    from api.server import gunicorn_config  # noqa: PLC0415 (it reads the environment)

    assert gunicorn_config.forwarded_allow_ips == ""


def test_an_address_holds_so_many_waiters(limited: Limited) -> None:
    running = limited("failures=off", TRUSTED_PROXIES="127.0.0.1", WAITERS_PER_ADDRESS="3")
    url = running.url
    game = new_player(url).create(3)
    path = f"/v1/games/{game['id']}/events?since={game['cursor']}&wait=4"

    def ask(address: str) -> Response:
        return Client(url).request("GET", path, headers={"X-Forwarded-For": address})

    with ThreadPoolExecutor(8) as threads:
        held = [threads.submit(ask, "192.0.2.1") for _ in range(3)]
        wait_until(lambda: running.waiters() == 3, "they wait")
        full = threads.submit(ask, "192.0.2.1").result()
        assert not any(each.done() for each in held)
        other = threads.submit(ask, "192.0.2.2")
        wait_until(lambda: running.waiters() == 4, "it waits too")
    assert "Retry-After" in full.headers
    assert not [each for each in (*held, other) if "Retry-After" in each.result().headers]


# --- The store is away --------------------------------------------------------------------------


@pytest.fixture
def nowhere() -> Settings:
    return Settings(redis_url="redis://127.0.0.1:1", redis_timeout_seconds=0.2)


def test_without_a_store_what_needs_none_goes_on(nowhere: Settings) -> None:
    limiter = Limiter(connect(nowhere)[0], POLICIES)
    first = limiter.count(READS, "somebody")
    assert first is not None
    assert not first.is_over
    with pytest.raises(RedisError):
        limiter.count(PLAYERS, "somebody")
    assert limiter.note(FAILURES, "somebody") is None


def test_without_a_store_a_request_fails_as_it_would_anyway(nowhere: Settings) -> None:
    client = create_app(nowhere).test_client()
    created = client.post("/v1/players", json={"name": "Ada", "kind": "bot"})
    assert (created.status_code, created.json["code"]) == (503, "store_unavailable")
    refused = client.get("/v1/me", headers={"Authorization": "Bearer nonsense"})
    assert (refused.status_code, refused.json["code"]) == (401, "invalid_token")
    assert client.get("/v1/rulesets").status_code == 200


# --- What is kept -------------------------------------------------------------------------------


def test_counts_of_strangers_do_not_grow_without_bound() -> None:
    counts = WorkerCounters()
    for number in range(MAX_KEYS + 10):
        counts.add(str(number), 60)
    assert len(counts) <= MAX_KEYS
    counts.add("gone", 0)
    assert counts.window("gone").total == 0


def test_counts_that_are_over_are_forgotten_before_there_are_many() -> None:
    counts = WorkerCounters()
    for number in range(10 * MIN_KEYS):
        counts.add(f"over {number}", 0)
    for number in range(MIN_KEYS):
        counts.add(f"going on {number}", 60)
    assert all(counts.window(f"going on {number}").total == 1 for number in range(MIN_KEYS))
    assert len(counts) <= 2 * MIN_KEYS


def test_a_setting_names_only_what_there_is() -> None:
    assert read_policies("off") == ()
    (moves,) = [each for each in read_policies("moves=7/day") if each.name == "moves"]
    assert (moves.amount, moves.seconds) == (7, 86400)
    assert len(read_policies("moves=off,reads=0/day")) == len(POLICIES) - 2
    for wrong in ("reads", "reads=5", "reads=5/", "reads=x/day", "reads=5/month", "x=5/day", ","):
        with pytest.raises(ValueError, match=r"must (be|name|have) "):
            read_policies(wrong)


def test_a_lobby_of_expired_games_is_read_in_bounded_steps(limited: Limited) -> None:
    running = limited("reads=100000/minute", WEB_CONCURRENCY="1")
    stranger = Client(running.url)
    key, limit, most = "index:{lobby:contrast}:finished", 10, 20 * 11
    with running.store.client() as redis:
        redis.zadd(key, {secrets.token_hex(16): 1_000_000 + number for number in range(1000)})
        path = f"/v1/games?ruleset=contrast&limit={limit}"
        page = stranger.get(path)
        pages = 1
        while page["next"] is not None:
            assert page["items"] == []
            assert redis.zcard(key) == 1000 - pages * most
            page = stranger.get(f"{path}&cursor={page['next']}")
            pages += 1
        assert pages == 5
        assert redis.zcard(key) == 0


@pytest.mark.parametrize("element", ["{}", "0", '"a"', "[]", '{"seat":9,"move":{}}'])
def test_a_list_far_too_long_is_refused_before_it_is_gone_through(
    stranger: Client, element: str
) -> None:
    moves = ",".join([element] * min(200_000 // (len(element) + 1), 2400))
    body = f'{{"ruleset":"parade","seat_count":2,"deal":{{}},"moves":[{moves}]}}'
    headers = {"Content-Type": "application/json"}
    problem = stranger.refused(
        "invalid_request", "POST", "/v1/analysis", data=body, headers=headers
    )
    (error,) = problem["errors"]
    assert error["pointer"] == "#/moves"
    assert error["detail"].endswith(" items; at most 2000 are allowed.")


def test_a_request_with_very_many_mistakes_is_told_some_of_them(ada: Client) -> None:
    few = {"ruleset": "parade", "seat_count": 2, "deal": {}, "moves": [0] * 2000}
    assert len(ada.refused("invalid_request", "POST", "/v1/analysis", few)["errors"]) == 20
    unknown = {str(number): 0 for number in range(MAX_MEMBERS - 1)}
    many = {**few, "moves": [{"seat": 0, "move": {"type": "play", **unknown}}] * 4}
    assert len(ada.refused("invalid_request", "POST", "/v1/analysis", many)["errors"]) == 100


@pytest.mark.parametrize("path", ["/v1/games", "/v1/players", "/v1/analysis"])
def test_an_object_with_too_many_members_is_refused_as_a_whole(ada: Client, path: str) -> None:
    unknown = {str(number): 0 for number in range(MAX_MEMBERS + 1)}
    for body in (unknown, {"ruleset": "parade", "options": unknown}):
        problem = ada.refused("invalid_request", "POST", path, body)
        (error,) = problem["errors"]
        assert error["pointer"] == "#"
        assert "101 members; at most 100 are allowed" in error["detail"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/games", "[" + ",".join(["{}"] * (MAX_OBJECTS + 1)) + "]"),
        ("/v1/analysis", "[" + ",".join(["1e9"] * (MAX_COMMAS + 2)) + "]"),
    ],
    ids=["objects", "commas"],
)
def test_a_body_with_too_many_values_is_refused_before_they_are_read(
    stranger: Client, path: str, body: str
) -> None:
    headers = {"Content-Type": "application/json"}
    problem = stranger.refused("invalid_request", "POST", path, data=body, headers=headers)
    assert "at most 5000 and 25000 are allowed" in problem["detail"]


def test_a_name_is_refused_by_its_length_before_it_is_normalised(stranger: Client) -> None:
    longest = "e\u0301" * 40 + "\u0301" * 80
    assert len(longest) == 160
    for name, detail in (
        (longest, "`name` has 120 characters; 1 to 40 are allowed."),
        (longest + "\u0301", "`name` has 161 characters; at most 40 are allowed."),
    ):
        body = {"name": name, "kind": "bot"}
        (error,) = stranger.refused("invalid_request", "POST", "/v1/players", body)["errors"]
        assert error == {"pointer": "#/name", "detail": detail}
    decomposed = {"name": "e\u0301" * 40, "kind": "bot"}
    assert stranger.post("/v1/players", decomposed, status=201)["name"] == "é" * 40


@pytest.mark.parametrize("header", READ_HEADERS.values())
def test_a_header_that_is_read_has_a_bound(ada: Client, header: str) -> None:
    longest = max_length(header)
    with ada.unchecked():
        for length, is_refused in ((longest, False), (longest + 1, True)):
            headers = {header: "x" * length}
            answer = ada.request("GET", "/v1/rulesets", headers=headers)
            assert (answer.status_code == 431) == is_refused, length
        problem = answer.json()
        assert problem["code"] == "headers_too_large"
        assert problem["errors"] == [{"parameter": header, "detail": problem["detail"]}]
        detail = f"The header {header} has {longest + 1} characters; at most {longest} are allowed."
        assert detail in problem["detail"]


def test_fields_of_one_header_count_together(service: Service) -> None:
    field = b"Accept-Language: %b\r\n" % (b"fr," * 200)
    request = b"GET /v1/rulesets HTTP/1.1\r\nHost: x\r\n%b\r\n" % (field * 2)
    assert exchange(service.port, request).status == 431


FLASK_READS = {
    "accept_encodings": "Accept-Encoding",
    "accept_languages": "Accept-Language",
    "accept_mimetypes": "Accept",
    "is_json": "Content-Type",
}
"""What Flask's requests have of a header, where the code asks for it."""

READS_NO_LIST = {
    *("args", "content_length", "endpoint", "environ", "headers", "method", "path"),
    *("query_string", "routing_exception", "script_root", "url_rule", "view_args"),
    *("credentials", "required_credentials", "_get_current_object"),
}
"""What else the code asks of a request: nothing of it takes long to read."""


def test_every_header_that_is_read_anywhere_has_a_bound() -> None:
    read = set()
    for file in (ROOT / "api").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        read |= set(re.findall(r'headers\.get\("([A-Za-z-]+)"', text))
        if file.name != "headers.py":
            # Whether there is one is known without reading it.
            variables = re.findall(r'"HTTP_([A-Z_]+)"(?! (?:not )?in )', text)
            read |= {variable.replace("_", "-").title() for variable in variables}
        asked = (
            set(re.findall(r"\b(?:request|req|current_request\(\))\.([a-z_]+)", text))
            - READS_NO_LIST
        )
        # Other packages have requests of another kind.
        if "web" in file.parts:
            read |= {FLASK_READS[each] for each in asked}
    assert {"Prefer", "Idempotency-Key", "Accept"} <= read
    assert {name.lower() for name in read} <= {name.lower() for name in READ_HEADERS.values()}


@pytest.mark.parametrize("change", [-7200.0, 7200.0], ids=["set back", "set forward"])
def test_a_window_lasts_as_long_whatever_becomes_of_the_machine_s_clock(
    nowhere: Settings, monkeypatch: pytest.MonkeyPatch, change: float
) -> None:
    passed = [1000.0]
    wall = [1_700_000_000.0]
    monkeypatch.setattr(time, "monotonic", lambda: passed[0])
    monkeypatch.setattr(time, "time", lambda: wall[0] + passed[0])
    policy = next(each for each in read_policies("reads=2/minute") if each.name == READS)
    limiter = Limiter(connect(nowhere)[0], [policy])
    for _ in range(2):
        assert not limiter.count(READS, "ada").is_over
    wall[0] += change
    passed[0] += 30
    standing = limiter.count(READS, "ada")
    assert (standing.is_over, standing.reset) == (True, 30)
    passed[0] += 31
    assert not limiter.count(READS, "ada").is_over


def test_nothing_in_a_worker_is_timed_by_the_wall_clock() -> None:
    """But for the master, which compares files' time stamps with it."""
    users = {
        str(file.relative_to(ROOT))
        for file in (ROOT / "api").rglob("*.py")
        if re.search(r"\btime\.time\(|\bdatetime\.now\(", file.read_text(encoding="utf-8"))
    }
    assert users == {"api/observability/multiprocess.py"}
