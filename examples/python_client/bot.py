"""A bot over a generated client: it plays one game of each ruleset, all at once, to their ends."""

import random
import sys
import time
import uuid

import httpx
from ludotheque_client import AuthenticatedClient, Client
from ludotheque_client.api.games import quick_match
from ludotheque_client.api.me import list_turns, play_moves
from ludotheque_client.api.players import create_player
from ludotheque_client.models import (
    GameMove,
    MatchBody,
    MovesBody,
    NewPlayerBody,
    PlayerKind,
    Problem,
)
from ludotheque_client.types import UNSET

url, seats, *rulesets = sys.argv[1:] or ("http://127.0.0.1:8000", "2", "parade", "tea-time")


class Patient(httpx.HTTPTransport):
    """Sends a request again while it is not answered, or the service asks to come back later."""

    def handle_request(self, request):
        for attempt in range(1, 11):
            try:
                response = super().handle_request(request)
            except httpx.TransportError:
                response = httpx.Response(504)
            again = response.status_code in {429, 502, 503, 504}
            time.sleep(float(response.headers.get("Retry-After", attempt if again else 0)))
            if not again:
                break
        return response


def ok(answer):
    """What was asked for; a problem ends the program."""
    return sys.exit(f"{answer.code}: {answer.detail}") if isinstance(answer, Problem) else answer


def choose(moves):
    return random.choice(moves)  # your idea here


settings = {"base_url": url, "timeout": 60, "httpx_args": {"transport": Patient()}}
player = NewPlayerBody(name="Ada", kind=PlayerKind.BOT)
token = ok(create_player.sync(client=Client(**settings), body=player)).token
me = AuthenticatedClient(token=token, **settings)


def take_seat(ruleset):
    """Take a seat beside others who want the same; the house takes those empty after 5 seconds."""
    wish = MatchBody(ruleset=ruleset, seat_count=int(seats), turn_seconds=60, house_after_seconds=5)
    return ok(quick_match.sync(client=me, body=wish, idempotency_key=str(uuid.uuid4()))).id


games = {take_seat(ruleset) for ruleset in rulesets}
results, cursor = {}, UNSET
while results.keys() != games:
    turns = ok(list_turns.sync(client=me, wait=20, since=cursor))
    results |= {ended.id: ended.result for ended in turns.ended if ended.id in games}
    # If nothing came while the request waited, list all games that wait, not only what is new.
    cursor = UNSET if turns.unchanged else turns.cursor
    moves = [
        GameMove(game_id=each.id, turn=each.turn, move=choose(each.legal_moves))
        for each in turns.items
    ]
    if moves:
        batch = MovesBody(moves=moves)
        played = ok(play_moves.sync(client=me, body=batch, prefer="return=minimal"))
        for outcome in played.items:
            if outcome.status != 200:
                cursor = UNSET  # list the game again, if it still waits
            if outcome.status not in {200, 409, 429, 503}:
                ok(outcome.problem)
for result in results.values():
    print(result.to_dict() if result else "cancelled")
