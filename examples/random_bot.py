"""A bot that plays random legal moves, in standard Python.

    python examples/random_bot.py --name Ada --seats 3

It joins an open game of the ruleset, or creates one, and plays it to the end.
"""

import argparse
import json
import random
import sys
import time
import urllib.error
import urllib.request


def call(method, path, body=None, unless=()):
    """One request's answer; None if it is refused with one of these codes.

    A connection that fails, or a busy service, is tried again: sending a move twice is safe.
    """
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(args.url + path, data, headers, method=method)
    request.add_header("Content-Type", "application/json")
    for attempt in range(10):
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code < 500:
                problem = json.load(error)
                if problem["code"] in unless:
                    return None
                sys.exit(f"{method} {path}: {problem['detail']}")
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            pass
        time.sleep(min(0.1 * 2**attempt, 2))
    sys.exit(f"{args.url} cannot be reached.")


def age(game):
    return game["created_at"], game["id"]


def move_over(old, new):
    """Leave one table for another; but stay if the old one started in this very moment."""
    left = call("DELETE", f"/v1/games/{old['id']}/seats/me")
    if left["status"] == "playing":
        call("DELETE", f"/v1/games/{new['id']}/seats/me")
        return call("POST", f"/v1/games/{old['id']}/seats", {})
    unless = ("not_host", "game_over", "game_already_started")
    call("DELETE", f"/v1/games/{old['id']}", unless=unless)
    return new


def sit_down():
    """Sit in the oldest open game, so that bots who come at once meet; create one if need be."""
    game, refused = None, set()
    while game is None or game["status"] != "playing":
        lobby = call("GET", f"/v1/games?status=open&ruleset={args.ruleset}&limit=100")
        fitting = [
            each
            for each in lobby["items"]
            if each["seat_count"] == args.seats and each["id"] not in refused
        ]
        oldest = min(fitting, key=age, default=None)
        lost = game is None or game["status"] == "cancelled"
        if oldest is not None and (lost or age(oldest) < age(game)):
            path = f"/v1/games/{oldest['id']}/seats"
            joined = call("POST", path, {}, unless=("game_full", "game_over"))
            if joined is None:
                refused.add(oldest["id"])
            game = move_over(game, joined) if game and joined else joined or game
        elif lost:
            wanted = {"ruleset": args.ruleset, "seat_count": args.seats}
            game = call("POST", "/v1/games", wanted)
        time.sleep(0.1)
        game = game and call("GET", f"/v1/games/{game['id']}")
    return game


def play(game_id):
    """Ask for the games that wait for us, play a random legal move in each, until it is over."""
    cursor = ""
    while True:
        turns = call("GET", f"/v1/me/turns?wait=20{cursor}")
        for game in turns["items"]:
            move = {"turn": game["turn"], "move": random.choice(game["legal_moves"])}
            call("POST", f"/v1/games/{game['id']}/moves", move, unless=("stale_turn", "game_over"))
        for ended in turns["ended"]:
            if ended["id"] == game_id:
                return ended["result"]
        cursor = f"&since={turns['cursor']}"


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--url", default="http://127.0.0.1:8000")
parser.add_argument("--name", default="Random bot")
parser.add_argument("--ruleset", default="parade")
parser.add_argument("--seats", type=int, default=2)
args = parser.parse_args()
token = None
token = call("POST", "/v1/players", {"name": args.name, "kind": "bot"})["token"]
game = sit_down()
result = play(game["id"])
line = f"{args.name}, seat {game['you']} of game {game['id']}: {json.dumps(result)}\n"
print(line, end="")  # in one piece, beside what other bots print
