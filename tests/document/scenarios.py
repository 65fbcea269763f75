"""The scenarios of the document's examples: right and wrong uses of every operation.

Each scenario has players of its own.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Callable
from typing import Any

from tests.document.recorder import Caller, Shown
from tests.support.service import Service
from tests.support.waiting import wait_until

KIB = 1024


def the_service_itself(stranger: Caller) -> None:
    stranger.send("GET", "/", show=("home", "What programs get; browsers get a page."))
    stranger.send("GET", "/livez", show=("alive", "The process answers."))
    stranger.send("GET", "/readyz", show=("ready", "The store answers too."))
    stranger.refused("invalid_request", "GET", "/readyz?verbose=true", summary="No parameters.")
    stranger.send("GET", "/problems", show=("problems", "All problems that there are."))
    stranger.send("GET", "/problems/stale_turn", show=("stale_turn", "What `stale_turn` means."))
    stranger.refused("problem_not_found", "GET", "/problems/bad_weather")


def the_catalogue(stranger: Caller) -> None:
    catalogue = stranger.send("GET", "/v1/rulesets")
    games = {each["ruleset"]: in_short(each) for each in catalogue["items"]}
    shortened = Shown("shortened", "One game in English, with less of its lists and rules.")
    stranger.recorder.keep("listRulesets", "200", shortened, {"items": [games["parade"]]})
    pictures = Shown("contrast", "A game with pictures, with less of its lists and rules.")
    stranger.recorder.keep("getRuleset", "200", pictures, games["contrast"])
    french = {"Accept-Language": "fr"}
    stranger.send(
        "GET", "/v1/rulesets/tea-time", headers=french, show=("tea-time", "One game, in French.")
    )
    stranger.refused("ruleset_not_found", "GET", "/v1/rulesets/chess")
    path = games["contrast"]["components"][1]["url"]
    stranger.send("GET", path, show=("picture", "A picture of Contrast."))
    stranger.refused("picture_not_found", "GET", path.replace("picture-2", "picture-75"))
    stranger.refused("ruleset_not_found", "GET", path.replace("contrast", "chess"))


def in_short(ruleset: Any) -> Any:
    """Return a game of the catalogue with a few entries of each list and the rules' beginning."""
    lists = {name: each[:2] for name, each in ruleset.items() if isinstance(each, list)}
    beginning, _, _ = ruleset["rules"].partition("\n## ")
    return {**ruleset, **lists, "rules": f"{beginning}\n…"}


def players_and_tokens(stranger: Caller) -> None:
    ada = stranger.new_player("Ada", show=("person", "A person."))
    stranger.new_player("Bot 7", "bot", show=("bot", "A program."))
    stranger.refused(
        "invalid_request",
        "POST",
        "/v1/players",
        {"name": "", "kind": "cat"},
        summary="Neither member will do.",
    )
    stranger.refused("unsupported_media_type", "POST", "/v1/players", data="name=Ada")
    json_type = {"Content-Type": "application/json"}
    stranger.refused("invalid_json", "POST", "/v1/players", data='{"name": ', headers=json_type)
    # Of another operation, as a new player's body has a smaller bound than all others.
    much = {"ruleset": "A" * 64 * KIB, "seat_count": 2}
    ada.refused("body_too_large", "POST", "/v1/games", much)
    head = "POST /v1/players HTTP/1.1\r\nContent-Type: application/json\r\n"
    stranger.refused_raw("body_too_slow", head + "Content-Length: 40", b'{"name": ')
    ada.send("GET", "/v1/me", show=("me", "The player whose token this is."))
    stranger.refused("missing_token", "GET", "/v1/me")
    wrong = Caller(stranger.recorder, stranger.url, "of-another-service")
    wrong.refused("invalid_token", "GET", "/v1/me")
    ada.send("POST", "/v1/me/token", show=("new_token", "A new token, of the same player."))


def tables(stranger: Caller) -> None:
    ada, bob, eve = (stranger.new_player(name) for name in ("Ada", "Bob", "Eve"))
    plain = ada.create("parade", 2, show=("plain", "A public game for two."))
    path = f"/v1/games/{plain['id']}"
    private = ada.create(
        "contrast",
        4,
        show=(
            "private",
            "A private game with options, for two friends and the house.",
        ),
        options={"expert": True, "countdown_seconds": 10},
        visibility="private",
        reserved_seats=[{"seat": 1, "player_id": bob.id}, {"seat": 2, "player_id": eve.id}],
        house=["careful"],
        turn_seconds=3600,
    )
    key = {"Idempotency-Key": "3f1c0a52"}
    body = {"ruleset": "tea-time", "seat_count": 3}
    again = ("again", "The same request again, as its answer was lost.")
    eve.send("POST", "/v1/games", body, headers=key)
    eve.send("POST", "/v1/games", body, headers=key, show=again)
    eve.refused(
        "idempotency_key_reused", "POST", "/v1/games", {**body, "seat_count": 4}, headers=key
    )
    eve.refused(
        "invalid_request",
        "POST",
        "/v1/games",
        {"ruleset": "tea-time", "seat_count": 6},
        summary="Tea Time is not for six.",
    )
    stranger.send(
        "GET", "/v1/games?status=open&limit=2", show=("lobby", "Two of the games that are open.")
    )
    stranger.send(
        "GET",
        "/v1/games?ruleset=tea-time&seat_count=3&free_seats=true&limit=2",
        show=("free_seats", "Games of Tea Time for three that a player can still join."),
    )
    stranger.refused("invalid_request", "GET", "/v1/games?limit=1000", summary="Too many.")
    bob.send(
        "GET",
        "/v1/me/games?status=invited",
        show=("invited", "A game with a seat reserved for me."),
    )
    bob.refused("invalid_request", "GET", "/v1/me/games?cursor=x", summary="No such cursor.")
    bob.refused("game_not_found", "GET", "/v1/games/0123456789abcdef0123456789abcdef")
    eve.game(plain["id"], show=("open", "A game before its start."))

    bob.refused("seat_taken", "POST", f"{path}/seats", {"seat": 0})
    bob.refused("invalid_request", "POST", f"{path}/seats", {"seat": 5}, summary="No such seat.")
    ada.refused("already_seated", "POST", f"{path}/seats", {"seat": 1})
    bob.join(plain["id"], {"seat": 1}, show=("this_seat", "This seat, which starts the game."))
    eve.refused("game_full", "POST", f"{path}/seats")
    max_ = stranger.new_player("Max")
    private_path = f"/v1/games/{private['id']}"
    invited = {"invite": private["invite"]}
    max_.refused("seat_reserved", "POST", f"{private_path}/seats", {"seat": 1, **invited})
    bob.send(
        "DELETE",
        f"{private_path}/seats/me",
        show=("given_up", "Before the start: any player may take the seat now."),
    )
    max_.join(private["id"], invited, show=("invited", "Any free seat of a private game."))

    any_seat = ada.create("tea-time", 3)
    bob.join(any_seat["id"], {}, show=("any_seat", "Any free seat."))
    etag = {"If-Match": '"game-0-of-another-time-spectator"'}
    any_path = f"/v1/games/{any_seat['id']}"
    bob.refused("precondition_failed", "DELETE", f"{any_path}/seats/me", headers=etag)
    bob.refused("not_host", "POST", f"{any_path}/start")
    ada.send("POST", f"{any_path}/start", show=("early", "The house takes the third seat."))
    ada.refused("game_already_started", "DELETE", any_path)
    bob.refused("not_host", "DELETE", any_path)
    ada.refused("game_not_over", "GET", f"{any_path}/record")
    ada.refused("game_not_over", "POST", f"{any_path}/rematch")

    empty = ada.create("parade", 3, take_seat=False)
    empty_path = f"/v1/games/{empty['id']}"
    ada.refused("no_players", "POST", f"{empty_path}/start")
    ada.refused("not_seated", "GET", f"{empty_path}/legal-moves")
    ada.send("DELETE", empty_path, show=("cancelled", "A game that no other player joined."))
    ada.send("GET", f"{empty_path}/events", show=("cancelled", "It was called off."))
    for method, rest in (("POST", "/seats"), ("POST", "/start")):
        ada.refused("game_over", method, empty_path + rest)
    ada.refused("record_not_found", "GET", f"{empty_path}/record")


def quick_matches(stranger: Caller) -> None:
    ada, bob, eve = (stranger.new_player(name) for name in ("Ada", "Bob", "Eve"))
    wish = {"ruleset": "parade", "seat_count": 3, "turn_seconds": 600}
    impatient = {**wish, "house_after_seconds": 30, "house": "random"}
    path, key = "/v1/match", {"Idempotency-Key": "77e1b04c"}
    ada.send("POST", path, wish, headers=key, show=("first", "The first caller opens a game."))
    bob.send("POST", path, wish)
    eve.send("POST", path, wish, show=("last", "The last seat taken starts it."))
    ada.send("POST", path, wish, headers=key, show=("again", "Again, as the answer was lost."))
    ada.refused("idempotency_key_reused", "POST", path, impatient, headers=key)
    mine = bob.send(
        "POST", path, impatient, show=("with_house", "The house fills up after 30 seconds.")
    )
    bob.send("DELETE", f"/v1/games/{mine['id']}/seats/me")
    bob.refused(
        "invalid_request", "POST", path, {**wish, "house": "random"}, summary="When, is missing."
    )


def too_many_games(stranger: Caller) -> None:
    eager = stranger.new_player("Eager", "bot")
    ids = [eager.create("parade", 6)["id"] for _ in range(100)]
    for path in ("/v1/games", "/v1/match"):
        eager.refused("too_many_games", "POST", path, {"ruleset": "parade", "seat_count": 2})
    for game_id in ids:
        eager.send("DELETE", f"/v1/games/{game_id}")


def a_game_of_parade(stranger: Caller) -> None:
    ada, bob = (stranger.new_player(name) for name in ("Ada", "Bob"))
    game_id = ada.create("parade", 2)["id"]
    path = f"/v1/games/{game_id}"
    first = ada.game(game_id)
    ada.refused("game_not_started", "POST", f"{path}/moves", _body(1, "red-0"))
    bob.join(game_id)
    stranger.send("GET", f"{path}/events", show=("start", "How a game came together and began."))
    first = ada.game(game_id)
    mover, other = (ada, bob) if first["to_move"] == [0] else (bob, ada)
    own = mover.game(game_id, show=("parade", "Parade, to the seat that is to move."))
    mover.send("GET", f"{path}/legal-moves", show=("plain", "My legal moves."))
    mover.send(
        "GET",
        f"{path}/legal-moves?previews=true",
        show=("previews", "With what each would do."),
    )
    mover.refused(
        "invalid_request", "GET", f"{path}/legal-moves?previews=1", summary="`true` or `false`."
    )
    not_mine = other.game(game_id)["table"]["hand"][0]
    for turn, card, shown in (
        (1, own["table"]["hand"][0], ("legal", "A legal move, with what it would do.")),
        (1, not_mine, ("illegal", "A card that I do not have.")),
        (9, not_mine, ("stale", "A turn that is not the present one.")),
    ):
        mover.send("POST", f"{path}/moves/check", _body(turn, card), show=shown)
    stranger_with_token = stranger.new_player("Eve")
    for rest in ("/moves", "/moves/check"):
        stranger_with_token.refused("not_seated", "POST", path + rest, _body(1, not_mine))
        mover.refused(
            "invalid_request", "POST", path + rest, {"turn": 1}, summary="The move is missing."
        )
    mover.refused("illegal_move", "POST", f"{path}/moves", _body(1, not_mine))
    other.refused("not_your_turn", "POST", f"{path}/moves", _body(1, not_mine))
    told = mover.send("GET", "/v1/me/turns", show=("one", "One game waits for me."))
    mover.send(
        "GET",
        f"/v1/me/turns?since={told['cursor']}",
        show=("unchanged", "Nothing new since: the game that I know of still waits."),
    )
    mover.send("GET", "/v1/me/turns?view=false", show=("no_view", "Without table and legal moves."))
    bob.refused("invalid_request", "GET", "/v1/me/turns?wiat=20", summary="A misspelt parameter.")
    cursor = other.send("GET", "/v1/me/turns")["cursor"]
    best = max(
        own["legal_moves"],
        key=lambda move: len(
            mover.send("POST", f"{path}/moves/check", {"turn": 1, "move": move})["preview"][
                "collected"
            ]
        ),
    )
    mover.play(game_id, best, show=("parade_play", "A card of Parade."))
    mover.refused("stale_turn", "POST", f"{path}/moves", _body(1, own["table"]["hand"][0], best))
    stranger.send("GET", f"{path}/presence", show=("both", "Both were heard of just now."))
    _play_until(game_id, (ada, bob), lambda game: game["table"]["phase"] == "discard")

    moves = ada.game(game_id)["legal_moves"]
    ada.play(game_id, moves[0], show=("parade_discard", "Two cards thrown away, in secret."))
    turn = ada.game(game_id)["turn"]
    ada.refused("already_moved", "POST", f"{path}/moves", {"turn": turn, "move": moves[1]})
    bob.game(game_id, show=("parade_end", "Parade, while I am to throw two cards away."))
    bob.play(game_id, bob.game(game_id)["legal_moves"][0])
    _show_events_with(ada, game_id, "last_round_started", ("last_round", "The last round begins."))
    collected = ("collected", "Cards leave the parade.")
    _show_events_with(ada, game_id, "cards_collected", collected)
    version = stranger.game(game_id, show=("finished", "A finished game."))["version"]
    page = ada.send("GET", f"{path}/events?limit={version - 3}")
    ada.send(
        "GET",
        f"{path}/events?since={page['cursor']}",
        show=("parade_end", "How Parade ends."),
    )
    ada.send(
        "GET",
        f"{path}/events?since={version}-0123456789abcdef",
        show=("reset", "The store has lost what the cursor names."),
    )
    ada.refused("game_over", "POST", f"{path}/moves", {"turn": turn, "move": moves[1]})
    ada.send("GET", f"/v1/me/turns?since={cursor}", show=("ended", "No game waits; one has ended."))
    record = ada.send("GET", f"{path}/record", show=("finished", "A whole game of Parade."))
    stranger.send("POST", "/v1/analysis", record, show=("record", "A record, as it is."))
    ada.send("POST", f"{path}/rematch", show=("first", "The first request creates the rematch."))
    bob.send(
        "POST",
        f"{path}/rematch",
        show=("second", "A later request takes a seat."),
    )
    stranger_with_token.refused("not_seated", "POST", f"{path}/rematch")


def a_game_of_tea_time(stranger: Caller) -> None:
    ada = stranger.new_player("Ada")
    game = ada.create("tea-time", 3, house=["careful", "random"], options={"grid": "rows"})
    game_id = game["id"]
    _wait_for_turn(ada, game_id)
    move = ada.game(game_id)["legal_moves"][-1]
    ada.play(game_id, move, show=("tea_time_pick", "Cards of Tea Time; the house moves at once."))
    stranger.game(game_id, show=("tea_time", "Tea Time, to a spectator."))
    ada.send(
        "GET",
        f"/v1/games/{game_id}/events?limit=2",
        show=("tea_time", "A player sits down, and the grid is laid."),
    )
    _show_events_with(ada, game_id, "alice_laid", ("alice_laid", "Alice is put into the grid."))
    ada.send(
        "DELETE",
        f"/v1/games/{game_id}/seats/me",
        show=("last_person", "The last person leaves, and the game is cancelled."),
    )


def a_game_of_contrast(stranger: Caller) -> None:
    ada, bob, eve = players = [stranger.new_player(name) for name in ("Ada", "Bob", "Eve")]
    game_id = ada.create("contrast", 3, options={"countdown_seconds": 1})["id"]
    path = f"/v1/games/{game_id}"
    for player in (bob, eve):
        player.join(game_id)
    symbol = ada.game(game_id)["legal_moves"][0]
    ada.play(game_id, symbol, show=("contrast_choose", "A symbol of Contrast, in secret."))
    own = bob.game(game_id)
    bob.send(
        "POST",
        f"{path}/moves/check",
        {"turn": own["turn"], "move": own["legal_moves"][0]},
        show=("nothing", "A legal move of which nothing can be known beforehand."),
    )
    bob.play(game_id, own["legal_moves"][0])
    turn = ada.game(game_id)["turn"]
    counted = ada.play(
        game_id,
        {"type": "count"},
        show=("contrast_count", "The countdown for the last seat."),
    )
    bob.refused(
        "countdown_running", "POST", f"{path}/moves", {"turn": turn, "move": {"type": "count"}}
    )
    eve.game(game_id, show=("contrast", "Contrast, to the seat that is counted on."))
    page = ada.send(
        "GET",
        f"{path}/events?since={counted['game']['cursor']}&wait=10",
        show=("contrast_countdown", "The countdown runs out, and the symbols are revealed."),
    )
    assert page["items"][0]["by"] == "clock"
    for player in players:
        player.send("DELETE", f"{path}/seats/me")
    record = stranger.send(
        "GET", f"{path}/record", show=("countdown", "A game that was broken off, with a countdown.")
    )
    body = {name: record[name] for name in ("ruleset", "seat_count", "options", "deal", "moves")}
    stranger.send(
        "POST",
        "/v1/analysis",
        {**body, "moves": body["moves"][:2], "trace": True, "seat": 1},
        show=("trace", "The beginning of a game, step by step, as seat 1 sees it."),
    )
    illegal = {"seat": 0, "move": {"type": "count"}}
    for name, members, summary in (
        ("illegal_move", {"moves": [illegal]}, "The first move is against the rules."),
        ("invalid_deal", {"deal": {**record["deal"], "pile": []}}, "The pile is missing."),
        ("invalid_request", {"seat_count": 7}, "Contrast is not for seven."),
    ):
        stranger.refused(name, "POST", "/v1/analysis", {**body, **members}, summary=summary)
    much = {**body, "ignored": "A" * 256 * KIB}
    stranger.refused("body_too_large", "POST", "/v1/analysis", much)


def a_game_of_mit_list_und_tuecke(stranger: Caller) -> None:
    ada = stranger.new_player("Ada")
    house = ["careful", "careful", "random"]
    options = {"open_piles": True}
    game_id = ada.create("mit-list-und-tuecke", 4, house=house, options=options)["id"]
    shown = {
        "play": "A card of Mit List und Tücke.",
        "take": "Cards taken out of the trick, as its high seat.",
        "keep": "The two colours that will score.",
    }
    rng = random.Random(1)
    game = _wait_for_turn(ada, game_id)
    while shown or not game["table"]["round_scores"]:
        move = rng.choice(game["legal_moves"])
        summary = shown.pop(move["type"], None)
        if summary and move["type"] == "take":
            ada.send(
                "POST",
                f"/v1/games/{game_id}/moves/check",
                {"turn": game["turn"], "move": move},
                show=("take", "A take, and which seat gets the rest of the trick."),
            )
        ada.play(game_id, move, show=summary and (f"mit_list_{move['type']}", summary))
        game = _wait_for_turn(ada, game_id)
        assert game["status"] == "playing", "a whole game without all types of moves"
    ada.game(game_id, show=("mit_list", "Mit List und Tücke, in its second round."))
    for event, summary in (
        ("trick_completed", "A trick is complete."),
        ("cards_taken", "Cards are taken out of a trick."),
        ("round_scored", "A round is scored, and the next begins."),
    ):
        _show_events_with(ada, game_id, event, (f"mit_list_{event}", summary))


def moves_in_many_games(stranger: Caller) -> None:
    ada = stranger.new_player("Ada", "bot")
    games = [ada.create("tea-time", 2, house=["random"]) for _ in range(3)]
    moves = [
        {"game_id": each["id"], "turn": each["turn"], "move": each["legal_moves"][0]}
        for each in games
    ]
    ada.send(
        "POST",
        "/v1/me/moves",
        {"moves": moves[:1]},
        show=("whole", "A move, answered with its game and its items."),
    )
    ada.send(
        "POST",
        "/v1/me/moves",
        {"moves": [*moves[1:], {**moves[0], "turn": moves[0]["turn"] + 9}]},
        headers={"Prefer": "return=minimal"},
        show=("minimal", "Moves in three games, of which one is refused; the answer is minimal."),
    )
    ada.refused("invalid_request", "POST", "/v1/me/moves", {"moves": []}, summary="No move.")


def who_comes_and_goes(stranger: Caller) -> None:
    ada, bob, eve = (stranger.new_player(name) for name in ("Ada", "Bob", "Eve"))
    passed_on = ada.create("parade", 3)
    bob.join(passed_on["id"])
    ada.send(
        "DELETE",
        f"/v1/games/{passed_on['id']}/seats/me",
        show=("host_leaves", "The host leaves, and the player who sat down next is host."),
    )

    game_id = ada.create("parade", 3, turn_seconds=5)["id"]
    path = f"/v1/games/{game_id}"
    bob.join(game_id)
    bob.send("DELETE", f"{path}/seats/me")
    bob.join(game_id)
    eve.join(game_id)
    bob.send("DELETE", f"{path}/seats/me", show=("while_playing", "The house plays on for me."))
    bob.join(game_id, {}, show=("back", "Back from the house."))
    time.sleep(5.2)
    ada.game(game_id)
    for event, summary in (
        ("seat_left", "A player leaves before the start."),
        ("seat_handed_over", "The house plays on for a player who left."),
        ("seat_taken_back", "The player is back."),
        ("time_ran_out", "A turn takes too long, and the house makes the move."),
    ):
        _show_events_with(stranger, game_id, event, (event, summary))


def streams(stranger: Caller) -> None:
    ada = stranger.new_player("Ada")
    game = ada.create("parade", 2)
    path = f"/v1/games/{game['id']}"
    made = ada.send(
        "POST", f"{path}/stream-tickets", show=("ticket", "For an EventSource of a browser.")
    )
    ada.send("DELETE", path)
    ada.show_stream(f"{path}/stream", {"snapshot": "`snapshot`: the game, when a stream opens."})
    stranger.show_stream(
        f"{path}/stream?ticket={made['ticket']}",
        {
            "update": "`update`: what happened, and the game after it.",
            "end": "`end`: how the game ended.",
        },
        headers={"Last-Event-ID": game["cursor"]},
    )
    stranger.refused("invalid_ticket", "GET", f"{path}/stream?ticket=expired")


def a_stream_of_all_my_games(stranger: Caller) -> None:
    ada, bob = (stranger.new_player(name) for name in ("Ada", "Bob"))
    ada.send("DELETE", f"/v1/games/{ada.create('parade', 2)['id']}")
    bob.create("parade", 2, reserved_seats=[{"seat": 1, "player_id": ada.id}])
    ada.create("parade", 2, house=["careful"])
    made = ada.send(
        "POST",
        "/v1/me/stream-tickets",
        show=("ticket", "For one EventSource that follows all my games."),
    )
    stranger.show_stream(
        f"/v1/me/stream?ticket={made['ticket']}",
        {
            "invited": "`invited`: a seat is reserved for me.",
            "started": "`started`: a game that I play from now on.",
            "turn": "`turn`: a game that waits for me.",
            "ended": "`ended`: a game that is over.",
        },
    )
    stranger.refused("missing_token", "GET", "/v1/me/stream")
    stranger.refused("invalid_ticket", "GET", "/v1/me/stream?ticket=expired")


def a_crowded_service(service: Service, stranger: Caller) -> None:
    """A service without room for waiters."""
    ada = stranger.new_player("Ada")
    game_id = ada.create("parade", 2)["id"]
    ada.unavailable("too_many_waiting", f"/v1/games/{game_id}/stream")
    ada.unavailable("too_many_waiting", "/v1/me/stream")
    with service.store.client() as store:
        key = f"game:{{{game_id}}}"
        document = json.loads(store.hget(key, "game"))
        store.hset(key, "game", json.dumps({**document, "format": 99}))
        ada.refused("newer_format", "GET", f"/v1/games/{game_id}")
        # Its moves have not finished it.
        not_a_game = {**document, "format": 1, "status": "finished"}
        store.hset(key, "game", json.dumps(not_a_game))
        store.delete(f"{key}:items")
        item = {"version": 1, "at": document["created_at"], "by": "player", "told": []}
        store.rpush(f"{key}:items", json.dumps(item))
        ada.refused("unsupported_format", "GET", f"/v1/games/{game_id}")
        store.hset(key, "game", "{}")
        ada.refused("internal_error", "GET", f"/v1/games/{game_id}")
        store.config_set("maxmemory-policy", "allkeys-lru")
        stranger.refused("store_evicts", "GET", "/readyz")
        store.config_set("maxmemory-policy", "noeviction")
        # What the supervisor of the embedded server does when its disk is full.
        store.config_set("maxmemory", 1)
        ada.refused("store_full", "POST", "/v1/games", {"ruleset": "parade", "seat_count": 2})
        stranger.send(
            "GET", "/readyz", show=("full", "Games can be read; the disk of the store is full.")
        )
        store.config_set("maxmemory", 0)
        store.replicaof("127.0.0.1", 1)
        stranger.refused("store_read_only", "GET", "/readyz")
        store.replicaof("NO", "ONE")
    pid = wait_until(lambda: service.store.pid, "the store runs")
    os.kill(pid, signal.SIGSTOP)
    try:
        ada.refused("store_unavailable", "GET", "/v1/me")
    finally:
        os.kill(pid, signal.SIGCONT)


def one_who_waits_wrongly(stranger: Caller) -> None:
    ada = stranger.new_player("Ada")
    path = f"/v1/games/{ada.create('parade', 2)['id']}"
    ada.refused("invalid_request", "GET", f"{path}/events?since=31&wait=60")
    ada.refused("invalid_request", "GET", f"{path}/stream?ticket={'a' * 200}")
    ada.refused("invalid_request", "GET", "/v1/me/stream?since=0", summary="A wrong parameter.")


def a_service_without_replicas(stranger: Caller) -> None:
    """A service that waits for replicas that do not exist."""
    body = {"name": "Ada", "kind": "human"}
    stranger.refused("not_replicated", "POST", "/v1/players", body)


def a_service_of_few_words(stranger: Caller) -> None:
    """A service with a low rate limit."""
    stranger.send("GET", "/v1/rulesets")
    stranger.refused("too_many_requests", "GET", "/v1/rulesets")


def a_service_that_stops(service: Service, stranger: Caller) -> None:
    """A service that is stopping, and whose metrics need a token."""
    stranger.refused("missing_token", "GET", "/metrics")
    wrong = Caller(stranger.recorder, stranger.url, "of-another-service")
    wrong.refused("invalid_token", "GET", "/metrics")
    service.signal(signal.SIGTERM)
    wait_until(
        lambda: service.request("GET", "/readyz").status_code == 503,
        "it says that it stops",
    )
    stranger.refused("stopping", "GET", "/readyz")


def a_service_without_metrics(stranger: Caller) -> None:
    """A service whose metrics are off."""
    stranger.refused("not_found", "GET", "/metrics")


SCENARIOS: tuple[Callable[[Caller], None], ...] = (
    the_service_itself,
    the_catalogue,
    players_and_tokens,
    one_who_waits_wrongly,
    tables,
    quick_matches,
    too_many_games,
    a_game_of_parade,
    a_game_of_tea_time,
    a_game_of_contrast,
    a_game_of_mit_list_und_tuecke,
    moves_in_many_games,
    who_comes_and_goes,
    streams,
    a_stream_of_all_my_games,
)


def _body(turn: int, card: str, but_not: Any = None) -> Any:
    """Return the body of a move that plays a card, with another value if this move was played."""
    move = {"type": "play", "card": card}
    if move == but_not:
        color, _, value = card.partition("-")
        move["card"] = f"{color}-{(int(value) + 1) % 11}"
    return {"turn": turn, "move": move}


def _wait_for_turn(player: Caller, game_id: str) -> Any:
    """Return the game when it is the player's turn; at once if only the house plays besides."""
    game = player.game(game_id)
    assert game["status"] != "playing" or game["to_move"] == [game["you"]]
    return game


def _play_until(game_id: str, players: tuple[Caller, ...], done: Callable[[Any], bool]) -> None:
    while not done(game := players[0].game(game_id)):
        player = players[game["to_move"][0]]
        player.play(game_id, player.game(game_id)["legal_moves"][0])


def _show_events_with(reader: Caller, game_id: str, event_type: str, show: tuple[str, str]) -> None:
    """Record the first item of a game's history that has an event of this type."""
    path = f"/v1/games/{game_id}/events"
    items = reader.send("GET", path)["items"]
    versions = [
        item["version"]
        for item in items
        if event_type in [event["type"] for event in item["events"]]
    ]
    since = ""
    if versions[0] > 1:
        page = reader.send("GET", f"{path}?limit={versions[0] - 1}")
        since = f"since={page['cursor']}&"
    reader.send("GET", f"{path}?{since}limit=1", show=show)
