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


def call(method, path, body=None):
    """One request. A connection that fails, or a busy service, is tried again: moves are safe."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(args.url + path, data, headers, method=method)
    request.add_header("Content-Type", "application/json")
    for attempt in range(10):
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code < 500:
                return error.code, json.load(error)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            pass
        time.sleep(min(0.1 * 2**attempt, 2))
    sys.exit(f"{args.url} cannot be reached.")


def sit_down():
    """Sit in the oldest open game, so that bots who come at once meet; create one if need be."""
    game = {"id": None, "status": "open"}
    while game["status"] in ("open", "cancelled"):
        _, lobby = call("GET", f"/v1/games?status=open&ruleset={args.ruleset}&limit=100")
        fitting = [each for each in lobby["items"] if each["seat_count"] == args.seats]
        oldest = min(fitting, key=lambda each: (each["created_at"], each["id"]), default=None)
        if oldest is None:
            wanted = {"ruleset": args.ruleset, "seat_count": args.seats}
            _, game = call("POST", "/v1/games", wanted)
        elif oldest["id"] != game["id"]:
            status, joined = call("POST", f"/v1/games/{oldest['id']}/seats")
            if status == 200:
                if game["id"]:
                    call("DELETE", f"/v1/games/{game['id']}/seats/me")
                    call("DELETE", f"/v1/games/{game['id']}")
                game = joined
        time.sleep(0.2)
        _, game = call("GET", f"/v1/games/{game['id']}") if game["id"] else (0, game)
    return game


def play(game_id):
    """Ask for the games that wait for us, play a random legal move in each, until it is over."""
    cursor = ""
    while True:
        _, turns = call("GET", f"/v1/me/turns{cursor}")
        for game in turns["items"]:
            move = random.choice(game["legal_moves"])
            call("POST", f"/v1/games/{game['id']}/moves", {"turn": game["turn"], "move": move})
        for ended in turns["ended"]:
            if ended["id"] == game_id:
                return ended["result"]
        cursor = f"?since={turns['cursor']}"
        if not turns["items"]:
            time.sleep(0.1)


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--url", default="http://127.0.0.1:8000")
parser.add_argument("--name", default="Random bot")
parser.add_argument("--ruleset", default="parade")
parser.add_argument("--seats", type=int, default=2)
args = parser.parse_args()
token = None
token = call("POST", "/v1/players", {"name": args.name, "kind": "bot"})[1]["token"]
game = sit_down()
result = play(game["id"])
print(f"{args.name}, seat {game['you']} of game {game['id']}: {json.dumps(result)}")
