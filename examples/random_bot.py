"""A bot that plays a game with random legal moves, in standard Python.

    python examples/random_bot.py --name Ada --seats 3

It is seated with others who want the same game. Stopped by Ctrl-C or SIGTERM, it leaves its seat.
"""

import argparse
import json
import random
import signal
import sys
import threading
import time
import uuid
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request, urlopen


def call(method, path, body=None, unless=(), **headers):
    """Return the answer to a request, None if it is refused with one of these codes.

    While the service is busy or away, wait as long as it says, and send the request again.
    """
    headers |= {"Content-Type": "application/json"} | identity
    request = Request(args.url + path, body and json.dumps(body).encode(), headers, method=method)
    for attempt in range(20):
        try:
            answer, pause = changing(request) if method != "GET" else send(request)
            time.sleep(int(pause or 0))  # too many requests wait, so this one could not
            return answer
        except HTTPError as error:
            text, pause = error.read(), error.headers.get("Retry-After")
            problem = json.loads(text) if text[:1] == b"{" else {"detail": str(error)}
            if problem.get("code") in unless:
                return None
            if error.code < 500 and error.code != 429:
                sys.exit(f"{method} {path}: {problem['detail']}")
            why = problem["detail"]
        except (OSError, HTTPException, ValueError) as error:
            why, pause = f"{args.url} does not answer: {error}", None
        pause = int(pause or min(2**attempt, 30))
        print(f"{args.name} waits {pause} s: {why}", file=sys.stderr, flush=True)
        time.sleep(pause)
    sys.exit(f"{args.name} gives up.")


def send(request):
    with urlopen(request, timeout=60) as response:
        return json.load(response), response.headers.get("Retry-After")


def changing(request):
    """Send a request to its end, also if the bot is stopped meanwhile: it may be taking a seat."""
    try:
        with is_changing:
            return send(request)
    finally:
        if is_stopped.is_set():
            raise KeyboardInterrupt


def stop(*_):
    is_stopped.set()
    if not is_changing.locked():
        raise KeyboardInterrupt


def play():
    """Take a seat, and play in every game that waits until this game is over."""
    wish = {"ruleset": args.ruleset, "seat_count": args.seats}
    game = call("POST", "/v1/match", wish, **{"Idempotency-Key": str(uuid.uuid4())})
    since = ""
    while True:
        turns = call("GET", f"/v1/me/turns?wait=20{since}")
        for each in turns["items"]:
            move = {"turn": each["turn"], "move": random.choice(each["legal_moves"])}
            call("POST", f"/v1/games/{each['id']}/moves", move, unless=("stale_turn", "game_over"))
        if any(ended["id"] == game["id"] for ended in turns["ended"]):
            return call("GET", f"/v1/games/{game['id']}")
        since = f"&since={turns['cursor']}"


def leave():
    """Leave every game, as an answer that gave a seat may have been lost."""
    is_stopped.clear()
    for each in STOPS:
        signal.signal(each, signal.SIG_DFL)  # a second one ends the bot at once
    for status in ("open", "playing"):
        for game in call("GET", f"/v1/me/games?status={status}")["items"]:
            call("DELETE", f"/v1/games/{game['id']}/seats/me")


STOPS = (signal.SIGINT, signal.SIGTERM)
parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--url", default="http://127.0.0.1:8000")
parser.add_argument("--name", default="Random bot")
parser.add_argument("--ruleset", default="parade")
parser.add_argument("--seats", type=int, default=2)
args = parser.parse_args()
is_stopped, is_changing, identity = threading.Event(), threading.Lock(), {}
player = call("POST", "/v1/players", {"name": args.name, "kind": "bot"})
identity["Authorization"] = f"Bearer {player['token']}"
for each in STOPS:
    signal.signal(each, stop)
try:
    game = play()
except (KeyboardInterrupt, SystemExit) as reason:
    leave()
    sys.exit(str(reason) or f"{args.name} was stopped, and has left its game.")
line = f"{args.name}, seat {game['you']} of game {game['id']}: {json.dumps(game['result'])}\n"
print(line, end="")  # in one piece, beside what other bots print
