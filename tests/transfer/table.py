"""One of everything that a service stores, and what its players see of it."""

import itertools
import random
from typing import Any

from tests.support.api_client import Client, new_player, play_out, seated
from tests.transfer.crowd import RULESETS, items_of

KEY = {"Idempotency-Key": "a key of the test"}
WISH = {"ruleset": "parade", "seat_count": 4, "turn_seconds": 4000}
LOBBY = "/v1/games?limit=100"


class Everything:
    """Players with games of every ruleset and status, a ticket, an idempotent creation, a queue."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.rng = random.Random(7)
        self.players = [new_player(url) for _ in range(4)]
        ada, bob, *_ = self.players
        self.in_play = [
            self._start(ruleset, visibility)
            for ruleset in RULESETS
            for visibility in ("public", "private")
        ]
        self.in_play.append(ada.create(3, house=["careful", "random"])["id"])
        ended = seated([ada, bob])["id"]
        play_out([ada, bob], ended, self.rng)
        cancelled = ada.create(2)["id"]
        ada.delete(f"/v1/games/{cancelled}")
        invited = ada.create(3, reserved_seats=[{"seat": 1, "player_id": bob.id}])["id"]
        self.creation = self._create(ada, 201)
        self.others = [ended, cancelled, invited, self.creation["id"]]
        self.ticket = ada.post(f"/v1/games/{self.in_play[0]}/stream-tickets", status=201)["ticket"]
        self.matched = self.players[2].post("/v1/match", WISH)["id"]
        self.play()

    def _start(self, ruleset: str, visibility: str) -> str:
        host, *others = self.players
        game = host.create(len(self.players), ruleset=ruleset, visibility=visibility)
        for each in others:
            each.join(game["id"], **({"invite": game["invite"]} if game["invite"] else {}))
        return str(game["id"])

    def _create(self, player: Client, status: int) -> Any:
        body = {"ruleset": "tea-time", "seat_count": 3}
        return player.post("/v1/games", body, status, headers=KEY)

    def move_to(self, url: str) -> None:
        """Use another service from now on."""
        self.url = url
        self.players = [Client(url, each.token, each.id) for each in self.players]

    def play(self, moves: int | None = 4) -> None:
        """Play some moves in all games in play, or all of them to their ends."""
        for game_id in self.in_play:
            players = self.players
            if len(players[0].game(game_id)["seats"]) == 3:
                players = players[:1] * 3
            play_out(players, game_id, self.rng, moves)

    def seen(self) -> dict[str, Any]:
        """Return what all players see of their games and lists."""
        seen: dict[str, Any] = {}
        ids = [*self.in_play, *self.others, self.matched]
        for number, player in enumerate(self.players):
            for game_id in ids:
                answer = player.request("GET", f"/v1/games/{game_id}")
                seen[f"{number} {game_id}"] = (answer.status_code, answer.json())
                if answer.status_code == 200:
                    seen[f"{number} {game_id} history"] = items_of(player, game_id)
            for path in ("/v1/me/games?limit=100", "/v1/me/games?status=invited", LOBBY):
                seen[f"{number} {path}"] = [each["id"] for each in player.get(path)["items"]]
            turns = player.get("/v1/me/turns")
            seen[f"{number} turns"] = {each["id"]: each for each in turns["items"]}
            me = player.get("/v1/me")
            seen[f"{number} me"] = [me["id"], me["name"], me["kind"]]
        return seen

    def check_all(self) -> None:
        """Check what only a request shows: the ticket, the idempotent creation, the queue."""
        assert self._create(self.players[0], 200)["id"] == self.creation["id"]
        path = f"/v1/games/{self.in_play[0]}/stream?ticket={self.ticket}"
        with Client(self.url, checked=False).open("GET", path) as stream:
            assert stream.status_code == 200
            assert "event: snapshot" in itertools.islice(stream.lines(), 5)
        assert self.players[3].post("/v1/match", WISH)["id"] == self.matched
