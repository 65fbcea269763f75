"""Let strategies play many games against each other or the house, and find out which is best.

    python examples/arena.py --strategy frugal random --games 200
    python examples/arena.py --strategy frugal house:careful
    python examples/arena.py --strategy my_bot:choose frugal --seats 4

A strategy is a function of what its seat sees, the seat's number and its legal moves; it returns
one of the moves. Write yours in a file of your own (above: `choose` in my_bot.py), or add it here.
"""

import argparse
import functools
import importlib
import json
import random
import signal
import statistics
import sys
import threading
import time
import uuid
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request, urlopen


# Strategies: begin here.
def at_random(table, seat, moves):
    """Play any move, in any game."""
    return random.choice(moves)


def frugal(table, seat, moves):
    """In Parade, play a card that takes the fewest points. In other games, play any move."""

    def cost(move):
        if move["type"] != "play" or table["ruleset"] != "parade":
            return 0
        color, value = read(move["card"])
        exposed = map(read, table["parade"][: max(0, len(table["parade"]) - value)])
        return sum(each for its_color, each in exposed if its_color == color or each <= value)

    def read(card):  # "red-7"
        color, value = card.split("-")
        return color, int(value)

    lowest = min(map(cost, moves))
    return random.choice([move for move in moves if cost(move) == lowest])


STRATEGIES = {"random": at_random, "frugal": frugal}


def call(method, path, body=None, **headers):
    """Return the answer to a request.

    While the service is busy or away, wait as long as it says, and send the request again. Every
    request here is safe to repeat: a move that was played already is not played twice.
    """
    headers["Content-Type"] = "application/json"
    request = Request(args.url + path, body and json.dumps(body).encode(), headers, method=method)
    for attempt in range(20):
        wait(0)
        try:
            with urlopen(request, timeout=60) as response:
                answer, pause = json.load(response), response.headers.get("Retry-After")
            wait(int(pause or 0), "the service has answered, but is busy")
            return answer
        except HTTPError as error:
            text, pause = error.read(), error.headers.get("Retry-After")
            why = json.loads(text)["detail"] if text[:1] == b"{" else str(error)
            if error.code < 500 and error.code != 429:
                raise SystemExit(f"{method} {path}: {why}") from None
        except (OSError, HTTPException, ValueError) as error:
            why, pause = f"{args.url} does not answer: {error}", None
        wait(int(pause or min(2**attempt, 30)), why)
    raise SystemExit(f"The arena gives up: {why}")


def wait(seconds, why=""):
    if seconds:
        print(f"{CLEAR}Waiting {seconds} s: {why}", file=sys.stderr, flush=True)
    if stopping.wait(seconds):
        raise SystemExit


class Player:
    """A player of the service: follows one strategy, in many games at once."""

    def __init__(self, entrant):
        self.entrant, (self.name, self.choose) = entrant, args.strategy[entrant]
        player = call("POST", "/v1/players", {"name": self.name[:40], "kind": "bot"})
        self.call = functools.partial(call, Authorization=f"Bearer {player['token']}")

    def play(self):
        """Move in all games that wait, until the arena ends."""
        since = ""
        while True:
            turns = self.call("GET", f"/v1/me/turns?wait=20{since}")
            since = f"&since={turns['cursor']}"
            if not self.move(turns["items"]) <= {200} or turns["unchanged"]:
                # A move has to be made again, or nothing came for long: ask for all that waits.
                self.move(self.call("GET", "/v1/me/turns")["items"])
            for game in turns["ended"]:
                if results.setdefault(game["id"], game) is game:  # each of its players is told
                    free.release()

    def move(self, games):
        """Choose and play a move in each game, and return the statuses of the answers."""
        moves = []
        for game in games:
            move = self.choose(game["table"], game["you"], game["legal_moves"])
            moves.append({"game_id": game["id"], "turn": game["turn"], "move": move})
        if not moves:
            return set()
        played = self.call("POST", "/v1/me/moves", {"moves": moves}, Prefer="return=minimal")
        for each in played["items"]:
            if each["status"] == 422:  # not so 409: that turn is over
                raise SystemExit(f"{self.name}: {each['problem']['detail']}")
        return {each["status"] for each in played["items"]}

    def leave(self):
        """Leave all games. A game that all its players have left is cancelled."""
        for status in ("open", "playing"):
            for game in self.call("GET", f"/v1/me/games?status={status}&limit=100")["items"]:
                self.call("DELETE", f"/v1/games/{game['id']}/seats/me")


def play_games():
    """Open one game after the other, a few at once. The players change seats each time."""
    wish = {"ruleset": args.ruleset, "seat_count": args.seats, "visibility": "private"}
    wish["house"] = [args.strategy[each][0].removeprefix("house:") for each in house]
    for number in range(args.games):
        while not free.acquire(timeout=0.1):
            show_progress()
        first = number % len(players)
        host, *guests = players[first:] + players[:first]
        game = host.call("POST", "/v1/games", wish, **{"Idempotency-Key": str(uuid.uuid4())})
        lineups[game["id"]] = [host.entrant, *(each.entrant for each in guests), *house]
        for seat, guest in enumerate(guests, 1):
            body = {"seat": seat, "invite": game["invite"]}
            guest.call("POST", f"/v1/games/{game['id']}/seats", body)
    while len(results) < args.games:
        show_progress()
        time.sleep(0.1)


def show_progress():
    if CLEAR:
        bar = "#" * (40 * len(results) // args.games)
        print(f"{CLEAR}[{bar:<40}] {len(results)} of {args.games} games", end="", file=sys.stderr)
    wait(0)


def stop(reason):
    reasons.append(reason)
    stopping.set()


def print_table():
    ended = [(lineups[each], game["result"]) for each, game in results.items() if game["result"]]
    print(f"{'strategy':<20}{'score':>15}{'wins':>6}{'draws':>6}{'losses':>7}{'share of wins':>18}")
    for entrant, (name, _) in enumerate(args.strategy):
        scores, shares = [], []
        for lineup, result in ended:
            own = {seat for seat, each in enumerate(lineup) if each == entrant}
            scores.append(statistics.mean(result["scores"][seat] for seat in own))
            shares.append(len(own & set(result["winners"])) / max(1, len(result["winners"])))
        wins, losses = shares.count(1), shares.count(0)
        counts = f"{wins:>6}{len(ended) - wins - losses:>6}{losses:>7}"
        share = mean_of([100 * each for each in shares])
        print(f"{name[-20:]:<20}{mean_of(scores):>15}{counts}{share:>16} %")
    seconds = time.monotonic() - began
    print(f"{len(ended)} games in {seconds:.1f} s: {len(ended) / seconds:.1f} games a second")


def mean_of(values):
    """Return a mean with its 95 % confidence interval."""
    error = 1.96 * statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0
    return f"{statistics.fmean(values or [0]):.1f} ± {error:.1f}"


def strategy(name):
    if name in STRATEGIES or name.startswith("house:"):
        return name, STRATEGIES.get(name)
    module, function = name.split(":")
    sys.path.insert(0, "")  # the directory in which the arena was started
    return name, getattr(importlib.import_module(module), function)


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument(
    "--strategy", nargs="+", type=strategy, help="by name, house:LEVEL or module:function"
)
parser.add_argument("--ruleset", default="parade")
parser.add_argument("--seats", type=int, help="of each game; strategies fill them in turn")
parser.add_argument("--games", type=int, default=100)
parser.add_argument("--at-once", type=int, default=32, help="games in play; at most 100")
parser.add_argument("--seed", type=int, help="for the strategies; the service shuffles the cards")
parser.add_argument("--url", default="http://127.0.0.1:8000")
args = parser.parse_args()
args.strategy = args.strategy or [strategy("frugal"), strategy("random")]
args.seats = args.seats or max(2, len(args.strategy))
random.seed(args.seed)
STOPS = (signal.SIGINT, signal.SIGTERM)
CLEAR = "\r\033[K" if sys.stderr.isatty() else ""
stopping, reasons, free = threading.Event(), [], threading.Semaphore(args.at_once)
lineups, results = {}, {}  # by the ids of the games
entrants = [seat % len(args.strategy) for seat in range(args.seats)]
house = [each for each in entrants if args.strategy[each][1] is None]
if len(house) == args.seats or not 1 <= args.at_once <= 100:
    parser.error("one strategy is not the house's, and 1 to 100 games are played at once.")
players = [Player(each) for each in entrants if args.strategy[each][1] is not None]
threading.excepthook = lambda raised: stop(raised.exc_value)
for each in STOPS:
    signal.signal(
        each, lambda *_: stop(SystemExit("The arena was stopped; it has left its games."))
    )
began = time.monotonic()
for player in players:
    threading.Thread(target=player.play, daemon=True).start()
try:
    play_games()
except BaseException as error:
    stop(error)
print(CLEAR, end="", file=sys.stderr)
if reasons:
    for each in STOPS:
        signal.signal(each, signal.SIG_DFL)  # a second one ends the arena at once
    stopping.clear()  # the requests to leave may wait and be sent again
    for player in players:
        player.leave()
print_table()
if reasons:
    raise reasons[0]
