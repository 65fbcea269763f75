"""How often a request asks the store, counted on the line between the two.

That is what a request takes more of the further away the store is. The numbers are exact: whoever
saves a trip writes the smaller number here.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.support.api_client import Client, new_player
from tests.support.ports import free_port
from tests.support.service import start_service
from tests.support.store_tap import Tap
from tests.support.stores import Server, binary

TRIPS = {
    # One for who is calling and the game, together.
    "getGame": 1,
    "getGame, not modified": 1,
    "listLegalMoves": 1,
    "checkMove": 1,
    "listEvents": 1,
    "getMe": 1,
    # Who is asked after is known only then.
    "getPresence": 2,
    # The caller and the index; the games that were not on the page the last time.
    "listGames": 2,
    "listGames, again": 1,
    "listMyGames": 2,
    "listMyGames, again": 1,
    # The caller and the index of games in play; the games; the positions of those that wait, if
    # one of them is news; and, after them, the index of ended ones, which comes along with the
    # first if there are no games.
    "listTurns, without games": 2,
    "listTurns, none waits": 3,
    "listTurns, one waits": 4,
    "listTurns with a cursor, without games": 1,
    "listTurns with a cursor, none waits": 3,
    "listTurns with a cursor, one waits": 3,
    "listTurns with an old cursor, one waits": 4,
    "listTurns without a view, one waits": 3,
    # The read and the commit; a move that is refused, or was made before, commits nothing.
    "playMove": 2,
    "playMove, again": 2,
    "playMove, too late": 1,
    # Indexes before and after the commit.
    "playMove, the last of a game": 4,
    # The same for many: in two games, in both again, and in one that ends with its move.
    "playMoves": 2,
    "playMoves, again": 2,
    "playMoves, one of them the last": 4,
    # The limit, which all workers share; the player.
    "createPlayer": 2,
    # Shared limits, the caller, the game and the number of the caller's others; index entries,
    # and the Idempotency-Key; the commit; old entries, and the players to wake.
    "createGame": 4,
    "createGame with a key and a reserved seat": 4,
    "createGame with a key, again": 2,
    "joinGame, which starts it": 4,
    # The read as above, with the queue; the games of the queue; the reservation. Then as
    # createGame, or joinGame.
    "quickMatch, which creates a game": 6,
    "quickMatch, again": 3,
    "quickMatch, which starts the game": 7,
    "listRulesets": 0,
}


@dataclass
class Room:
    """A game for two, the tap on the line to its store, and what was counted there."""

    url: str
    tap: Tap
    counted: dict[str, int] = field(default_factory=dict)
    players: list[Client] = field(default_factory=list)
    game: str = ""

    @property
    def path(self) -> str:
        return f"/v1/games/{self.game}"

    def newcomer(self) -> Client:
        return new_player(self.url)

    def mover(self) -> Client:
        """The player to move."""
        return self.players[self.players[0].game(self.game)["to_move"][0]]

    def other(self) -> Client:
        return next(each for each in self.players if each is not self.mover())

    def a_move(self) -> dict[str, Any]:
        game = self.mover().game(self.game)
        return {"turn": game["turn"], "move": game["legal_moves"][0]}

    def count(self, what: str, caller: Client, act: Callable[[], Any]) -> None:
        """Count the trips of a request, when nothing else is due with it."""
        caller.get("/v1/me")  # notes that the player was heard of
        before = self.tap.trips
        act()
        self.counted[what] = self.tap.trips - before


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, int]]:
    directory: Path = tmp_path_factory.mktemp("tapped")
    store = Server(binary("valkey"), directory / "store", free_port())
    tap = Tap(store.port)
    service = start_service(str(directory), REDIS_URL=tap.url, WEB_CONCURRENCY="1")
    try:
        url = service.await_ready().url
        room = Room(url, tap)
        # Once without counting: then the worker has a connection, and the store its scripts.
        for _ in range(2):
            come_together(room)
            match(room)
            ask(room)
            play(room)
            play_many(room)
        yield room.counted
    finally:
        service.end()
        tap.close()
        store.end()


def come_together(room: Room) -> None:
    # New ones each time, to whom no game has ended.
    host, guest = room.players = [room.newcomer(), room.newcomer()]
    created: dict[str, Any] = {}
    room.count("createPlayer", host, room.newcomer)
    room.count("createGame", host, lambda: created.update(host.create()))
    room.game = created["id"]
    eve, bob = room.newcomer(), room.newcomer()
    body = {
        "ruleset": "parade",
        "seat_count": 2,
        "reserved_seats": [{"seat": 1, "player_id": bob.id}],
    }
    headers = {"Idempotency-Key": str(uuid4())}
    for what, status in {
        "createGame with a key and a reserved seat": 201,
        "createGame with a key, again": 200,
    }.items():
        room.count(
            what,
            eve,
            lambda status=status: eve.post("/v1/games", body, status, headers=headers),
        )
    room.count("joinGame, which starts it", guest, lambda: guest.join(room.game))


def match(room: Room) -> None:
    host, guest = room.newcomer(), room.newcomer()
    wish = {"ruleset": "parade", "seat_count": 2}
    for what, caller in {
        "quickMatch, which creates a game": host,
        "quickMatch, again": host,
        "quickMatch, which starts the game": guest,
    }.items():
        room.count(what, caller, lambda caller=caller: caller.post("/v1/match", wish))


def ask(room: Room) -> None:
    me, path = room.mover(), room.path
    mine = {"If-None-Match": me.request("GET", path).headers["ETag"]}
    reads: dict[str, tuple[Client, str]] = {
        "getGame": (me, path),
        "listLegalMoves": (me, f"{path}/legal-moves"),
        "listEvents": (me, f"{path}/events"),
        "getPresence": (me, f"{path}/presence"),
        "getMe": (me, "/v1/me"),
        "listGames": (me, "/v1/games"),
        "listGames, again": (me, "/v1/games"),
        "listMyGames": (me, "/v1/me/games"),
        "listMyGames, again": (me, "/v1/me/games"),
        "listRulesets": (me, "/v1/rulesets"),
    }
    for what, who in {
        "without games": room.newcomer(),
        "none waits": room.other(),
        "one waits": me,
    }.items():
        cursor = who.get("/v1/me/turns")["cursor"]
        reads[f"listTurns, {what}"] = (who, "/v1/me/turns")
        reads[f"listTurns with a cursor, {what}"] = (who, f"/v1/me/turns?since={cursor}")
    old = cursor.partition(".")[0]
    reads["listTurns with an old cursor, one waits"] = (me, f"/v1/me/turns?since={old}.")
    reads["listTurns without a view, one waits"] = (me, "/v1/me/turns?view=false")
    for name, (caller, where) in reads.items():
        room.count(name, caller, lambda caller=caller, where=where: caller.get(where))
    room.count("getGame, not modified", me, lambda: not_modified(me, path, mine))


def not_modified(caller: Client, path: str, headers: dict[str, str]) -> None:
    assert caller.request("GET", path, headers=headers).status_code == 304


def play(room: Room) -> None:
    """To the end; of the moves before the last, each is counted."""
    path = f"{room.path}/moves"
    first = room.mover().game(room.game)
    moves: list[int] = []
    while room.players[0].game(room.game)["status"] == "playing":
        mover, body = room.mover(), room.a_move()
        room.count("checkMove", mover, lambda m=mover, b=body: m.post(f"{path}/check", b))
        room.count("playMove", mover, lambda m=mover, b=body: m.post(path, b))
        moves.append(room.counted["playMove"])
    *before, room.counted["playMove, the last of a game"] = moves
    assert len(set(before)) == 1
    room.counted["playMove"] = before[0]
    room.count("playMove, again", mover, lambda: mover.post(path, body))
    # Not the move of turn 1: to send that one again is a repeat, which is answered with 200.
    late = {"turn": first["turn"], "move": first["legal_moves"][1]}
    room.count("playMove, too late", mover, lambda: mover.refused("game_over", "POST", path, late))


def play_many(room: Room) -> None:
    """Two games at once, each played by one player and the house, until one of them ends."""
    me = room.newcomer()
    ids = [me.create(house=["random"], ruleset=each)["id"] for each in ("parade", "contrast")]
    moves: list[Any] = []
    while True:
        games = [me.game(each) for each in ids]
        moves = [
            {"game_id": each["id"], "turn": each["turn"], "move": each["legal_moves"][0]}
            for each in games
            if each["legal_moves"]
        ]
        before = dict(room.counted)
        room.count("playMoves", me, lambda: me.post("/v1/me/moves", {"moves": moves}))  # noqa: B023
        if any(me.game(each)["status"] != "playing" for each in ids):
            room.counted["playMoves, one of them the last"] = room.counted["playMoves"]
            room.counted["playMoves"] = before["playMoves"]
            break
    room.count("playMoves, again", me, lambda: me.post("/v1/me/moves", {"moves": moves}))


@pytest.mark.parametrize("request_name", TRIPS)
def test_a_request_asks_the_store_no_oftener(request_name: str, counted: dict[str, int]) -> None:
    assert counted[request_name] == TRIPS[request_name]


def test_nothing_is_counted_that_is_not_held(counted: dict[str, int]) -> None:
    assert counted.keys() == TRIPS.keys()
