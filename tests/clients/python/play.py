"""Plays a game to its end over the client that openapi-python-client writes.

    python play.py URL RULESET SEATS

All its players are in this one process, and each of them waits for its turns by itself. Then
they find two games by quickMatch, and play in both at once with playMoves.
"""

import json
import random
import sys
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import httpx
import switches
from ludotheque_client import AuthenticatedClient, Client
from ludotheque_client.api.analysis import analyse
from ludotheque_client.api.games import (
    create_game,
    get_game,
    get_record,
    join_game,
    quick_match,
)
from ludotheque_client.api.me import list_turns, play_moves
from ludotheque_client.api.play import check_move, list_events, play_move
from ludotheque_client.api.players import create_player
from ludotheque_client.api.rulesets import get_ruleset
from ludotheque_client.models import (
    AnalysisBody,
    Game,
    GameMove,
    GameResult,
    JoinBody,
    MatchBody,
    MoveBody,
    MovesBody,
    NewGameBody,
    NewPlayerBody,
    PlayerKind,
    Problem,
    StartCountdown,
    Visibility,
    WaitingGame,
)
from ludotheque_client.types import UNSET, Unset
from patient import Patient

url, ruleset, seats = sys.argv[1:]
seat_count = int(seats)
moves: Counter[str] = Counter()
events: Counter[str] = Counter()

Answer = TypeVar("Answer")


def good(answer: Answer | Problem | None) -> Answer:
    """An answer that is no problem."""
    assert answer is not None
    assert not isinstance(answer, Problem), answer
    return answer


def connect(token: str) -> AuthenticatedClient:
    return AuthenticatedClient(
        base_url=url,
        token=token,
        timeout=httpx.Timeout(60),
        raise_on_unexpected_status=True,
        httpx_args={"transport": Patient()},
    )


def take(client: AuthenticatedClient, game: Game | WaitingGame) -> None:
    """Play a random move, but look at it from all sides first."""
    assert game.turn is not None
    assert game.table
    assert game.legal_moves
    assert game.you is not None
    assert game.status == "playing"
    assert switches.seat_count(game.table) == seat_count
    assert not switches.is_finished(game.table)
    move = switches.retold(random.choice(game.legal_moves))
    body = MoveBody(turn=game.turn, move=move)
    preview = good(check_move.sync(game.id, client=client, body=body)).preview
    assert not preview or switches.foreseen(preview) >= 0

    played = play_move.sync(game.id, client=client, body=body)
    assert played is not None
    if isinstance(played, Problem):
        # Somebody counted, or laid the last card, before us. No other move can come too late.
        assert played.status == 409, played
        assert isinstance(move, StartCountdown), played
        return
    moves[move.type_] += 1
    # A move is safe to send again: it is recognised, and answered with what it caused.
    again = good(play_move.sync(game.id, client=client, body=body))
    assert again.items[0].version == played.items[0].version
    # Who has laid a card in Contrast may have another move: to count for whoever has not.
    if any(isinstance(following, StartCountdown) for following in again.game.legal_moves):
        take(client, again.game)


def live(client: AuthenticatedClient, game_id: str) -> GameResult:
    """Take every turn as it comes, until the game has ended."""
    since: str | Unset = UNSET
    while True:
        turns = good(list_turns.sync(client=client, wait=20, since=since))
        for game in turns.items:
            take(client, game)
        for ended in turns.ended:
            if ended.id == game_id:
                assert ended.result
                return ended.result
        since = turns.cursor


def find_games(client: AuthenticatedClient) -> list[str]:
    """Take a seat in two games: one for each wish."""
    games = []
    for seconds in (600, 601):
        wish = MatchBody(ruleset=ruleset, seat_count=seat_count, turn_seconds=seconds)
        key = str(uuid.uuid4())
        game, same = (
            good(quick_match.sync(client=client, body=wish, idempotency_key=key)) for _ in range(2)
        )
        assert game.id == same.id
        assert game.you == same.you is not None
        assert game.turn_seconds == seconds
        games.append(game.id)
    return games


def live_in_all(client: AuthenticatedClient, games: list[str]) -> list[GameResult]:
    """Move in all games that wait with one request, until all have ended."""
    results: dict[str, GameResult] = {}
    since: str | Unset = UNSET
    while not results.keys() >= set(games):
        turns = good(list_turns.sync(client=client, wait=20, since=since))
        assert not (turns.unchanged and (turns.items or turns.ended))
        for ended in turns.ended:
            assert ended.result
            results[ended.id] = ended.result
        since = UNSET if turns.unchanged else turns.cursor
        batch = []
        for game in turns.items:
            assert game.turn is not None
            assert game.legal_moves
            move = switches.retold(random.choice(game.legal_moves))
            batch.append(GameMove(game_id=game.id, turn=game.turn, move=move))
        if not batch:
            continue
        body = MovesBody(moves=batch)
        played = good(play_moves.sync(client=client, body=body, prefer="return=minimal"))
        assert [each.game_id for each in played.items] == [each.game_id for each in batch]
        for outcome in played.items:
            assert outcome.game is None
            assert outcome.items is None
            if outcome.problem:
                # In Contrast, another player may count, or lay the last card, before us.
                assert outcome.status == outcome.problem.status in {409, 429, 503}, outcome
                since = UNSET
    return [results[each] for each in games]


def main() -> None:
    stranger = Client(base_url=url, httpx_args={"transport": Patient()})
    for option in good(get_ruleset.sync(ruleset, client=stranger)).options:
        assert option.default is None or switches.fits(option.type_, option.default), option

    clients = []
    for seat in range(seat_count):
        player = NewPlayerBody(name=f"Bot {seat}", kind=PlayerKind.BOT)
        clients.append(connect(good(create_player.sync(client=stranger, body=player)).token))
    host, *guests = clients

    # The same key and body give the same game again.
    key = str(uuid.uuid4())
    body = NewGameBody(ruleset=ruleset, seat_count=seat_count, visibility=Visibility.PRIVATE)
    game = good(create_game.sync(client=host, body=body, idempotency_key=key))
    same = good(create_game.sync(client=host, body=body, idempotency_key=key))
    assert game.id == same.id
    assert game.invite
    assert switches.can_go_on(game.status)
    for client in guests:
        good(join_game.sync(game.id, client=client, body=JoinBody(invite=game.invite)))

    print("playing", flush=True)
    with ThreadPoolExecutor(seat_count) as pool:
        result, *others = pool.map(lambda client: live(client, game.id), clients)
    assert all(other == result for other in others)
    assert switches.totals(result.breakdown) == result.scores

    over = good(get_game.sync(game.id, client=host))
    assert not switches.can_go_on(over.status)
    assert over.table
    assert switches.is_finished(over.table)
    cursor: str | Unset = UNSET
    more = True
    while more:
        page = good(list_events.sync(game.id, client=host, since=cursor, limit=50))
        for item in page.items:
            assert switches.is_of_somebody(item.by) or item.turn is None, item
            for event in item.events:
                assert all(seat is None or seat < seat_count for seat in switches.concerned(event))
                events[event.type_] += 1
        cursor, more = page.cursor, page.more

    # A record is a body for analyse as it is.
    record = good(get_record.sync(game.id, client=host)).to_dict()
    replayed = good(analyse.sync(client=stranger, body=AnalysisBody.from_dict(record)))
    assert replayed.result == result

    # Now in two games at once. Players who ask at the same moment are seated together.
    with ThreadPoolExecutor(seat_count) as pool:
        found, *others_found = pool.map(find_games, clients)
        assert all(other == found for other in others_found)
        ends, *others_ends = pool.map(lambda client: live_in_all(client, found), clients)
    assert all(other == ends for other in others_ends)

    print(
        json.dumps(
            {
                "status": over.status.value,
                "result": result.to_dict(),
                "moves": moves,
                "events": events,
                "repeated": Patient.repeated,
            }
        )
    )


if __name__ == "__main__":
    main()
