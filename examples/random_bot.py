"""A bot that plays a game with random legal moves, in standard Python.

    python examples/random_bot.py --name Ada --seats 3

It is seated with others who want the same game. Stopped by Ctrl-C or SIGTERM, it leaves its seat.
"""

import argparse
import json
import random
import signal
import sys
import time
import uuid
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request, urlopen


def call(method, path, body=None, unless=()):
    """Return the answer to a request, None if it is refused with one of these codes.

    While the service is busy or away, wait as long as it says, and send the request again.
    """
    request = Request(args.url + path, body and json.dumps(body).encode(), headers, method=method)
    while True:
        try:
            unanswered.add(path)
            with urlopen(request, timeout=60) as response:
                answer, pause = json.load(response), response.headers.get("Retry-After")
            unanswered.discard(path)
            if pause:
                wait(pause, "too many requests wait already.")
            return answer
        except HTTPError as error:
            text, pause = error.read(), error.headers.get("Retry-After")
            problem = json.loads(text) if text[:1] == b"{" else {"detail": str(error)}
            if error.code < 500:
                unanswered.discard(path)
            if problem.get("code") in unless:
                return None
            if error.code < 500 and error.code != 429:
                sys.exit(f"{method} {path}: {problem['detail']}")
            wait(pause or 1, problem["detail"])
        except (OSError, HTTPException, ValueError) as error:
            wait(1, f"{args.url} does not answer: {error}")


def wait(seconds, why):
    print(f"{args.name} waits {seconds} s: {why}", file=sys.stderr, flush=True)
    time.sleep(int(seconds))


def take_seat():
    """Return the game in which this bot has a seat. Asked again, it is the same game."""
    return call("POST", "/v1/match", {"ruleset": args.ruleset, "seat_count": args.seats})


def play(game):
    """Play in every game that waits for this bot until this game is over, and return its end."""
    since = ""
    while True:
        turns = call("GET", f"/v1/me/turns?wait=20{since}")
        since = f"&since={turns['cursor']}"
        if turns["unchanged"]:
            # Nothing came for long. Ask for all that waits: a store that failed may lose a move.
            turns["items"] = call("GET", "/v1/me/turns")["items"]
        for each in turns["items"]:
            move = {"turn": each["turn"], "move": random.choice(each["legal_moves"])}
            call("POST", f"/v1/games/{each['id']}/moves", move, unless=TOO_LATE)
        if any(ended["id"] == game["id"] for ended in turns["ended"]):
            return call("GET", f"/v1/games/{game['id']}")


def stop(*_):
    for each in STOPS:
        signal.signal(each, signal.SIG_DFL)  # a second one ends the bot at once
    raise KeyboardInterrupt


TOO_LATE = ("stale_turn", "game_over", "not_seated")
STOPS = (signal.SIGINT, signal.SIGTERM)
parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--url", default="http://127.0.0.1:8000")
parser.add_argument("--name", default="Random bot")
parser.add_argument("--ruleset", default="parade")
parser.add_argument("--seats", type=int, default=2)
args = parser.parse_args()
headers = {"Content-Type": "application/json", "Idempotency-Key": str(uuid.uuid4())}
unanswered, game = set(), None
for each in STOPS:
    signal.signal(each, stop)
try:
    player = call("POST", "/v1/players", {"name": args.name, "kind": "bot"})
    headers["Authorization"] = f"Bearer {player['token']}"
    game = take_seat()
    end = play(game)
except (KeyboardInterrupt, SystemExit) as reason:
    if not game and "/v1/match" in unanswered:
        game = take_seat()  # it may have given a seat
    if game:
        call("DELETE", f"/v1/games/{game['id']}/seats/me", unless=TOO_LATE)
    sys.exit(str(reason) or f"{args.name} was stopped, and has left its game.")
line = f"{args.name}, seat {end['you']} of game {end['id']}: {json.dumps(end['result'])}\n"
print(line, end="")  # in one piece, beside what other bots print
