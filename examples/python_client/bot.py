"""A bot over a generated client: it sits down with the house and plays until the game is over."""

import random
import sys
import time
import uuid

import httpx
from ludotheque_client import AuthenticatedClient, Client
from ludotheque_client.api.games import create_game
from ludotheque_client.api.me import list_turns
from ludotheque_client.api.play import play_move
from ludotheque_client.api.players import create_player
from ludotheque_client.models import MoveBody, NewGameBody, NewPlayerBody, PlayerKind, Problem
from ludotheque_client.types import UNSET

url, ruleset, seats = sys.argv[1:] or ("http://127.0.0.1:8000", "parade", "4")


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

table = NewGameBody(ruleset=ruleset, seat_count=int(seats), house=["careful"] * (int(seats) - 1))
game = ok(create_game.sync(client=me, body=table, idempotency_key=str(uuid.uuid4())))

result, cursor = None, UNSET
while not result:
    turns = ok(list_turns.sync(client=me, wait=20, since=cursor))
    for waiting in turns.items:
        move = MoveBody(turn=waiting.turn, move=choose(waiting.legal_moves))
        played = play_move.sync(waiting.id, client=me, body=move)
        if isinstance(played, Problem) and played.status == 409:
            continue  # the turn has gone: look again
        ok(played)
    result = next((ended.result for ended in turns.ended if ended.id == game.id), None)
    cursor = turns.cursor
print(result.to_dict())
