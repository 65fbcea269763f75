"""Compare acknowledged moves with the games: each must be there once, and no others.

The audit uses the API only.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.proofs.caller import Caller
from tests.proofs.report import Report

Key = tuple[int, int, str]
"""A move: its seat, its turn, and its JSON."""


def key_of(seat: int, turn: int, move: Any) -> Key:
    """Return the key of a move, the same for any order of members that are sets."""
    plain = {name: sorted(v) if isinstance(v, list) else v for name, v in move.items()}
    return seat, turn, json.dumps(plain, sort_keys=True)


class Acknowledged(NamedTuple):
    """A move that was answered with 200, and the items in the response.

    `at` is the time of the answer (monotonic).
    """

    key: Key
    items: list[Any]
    at: float


class Fate(NamedTuple):
    """An acknowledged move: its game, its last version, its time, and whether it was lost."""

    game_id: str
    version: int
    at: float
    is_lost: bool


@dataclass
class Table:
    """A game, its players by seat, and their acknowledged moves."""

    game_id: str
    players: list[Caller]
    version: int = 0
    """The last acknowledged version."""
    is_finished: bool = False
    acknowledged: list[Acknowledged] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def path(self) -> str:
        """The path of the game."""
        return f"/v1/games/{self.game_id}"

    def note(self, seat: int, turn: int, move: Any, items: list[Any]) -> None:
        """Note an acknowledged move."""
        with self.lock:
            self.version = max([self.version, *(each["version"] for each in items)])
            key = key_of(seat, turn, move)
            self.acknowledged.append(Acknowledged(key, items, time.monotonic()))


class Audit:
    """Checks tables after a run, and collects what is wrong."""

    def __init__(self, may_lose: bool) -> None:
        self._may_lose = may_lose
        self.moves = 0
        self.finished = 0
        self.lost: list[str] = []
        self.fates: list[Fate] = []
        self.twice: list[str] = []
        self.unannounced: list[str] = []
        self.inconsistent: list[str] = []
        self.gone: list[str] = []

    def take(self, table: Table) -> None:
        """Check a table from all of its seats."""
        self.moves += len({each.key for each in table.acknowledged})
        try:
            games = [player.get(table.path) for player in table.players]
            items = [all_items(player, table) for player in table.players]
        except LookupError as error:
            self.gone.append(str(error))
            self.fates += [_fate(table, move, is_lost=True) for move in table.acknowledged]
            return
        for seat, (game, told) in enumerate(zip(games, items, strict=True)):
            self._look(table, seat, game, told)
        for move in table.acknowledged:
            told = items[move.key[0]]
            is_lost = not move.items or any(
                told[each["version"] - 1 : each["version"]] != [each] for each in move.items
            )
            self.fates.append(_fate(table, move, is_lost))
            if is_lost:
                self.lost.append(f"{table.game_id}: items of {move}")
        if games[0]["status"] == "finished":
            self.finished += 1
            self._replay(table, games[0])

    def _look(self, table: Table, seat: int, game: Any, items: list[Any]) -> None:
        where = f"{table.game_id} from seat {seat}"
        if [each["version"] for each in items] != list(range(1, game["version"] + 1)):
            self.inconsistent.append(f"{where}: versions")
        if self._may_lose and game["status"] == "open":
            return  # that somebody sat down was lost, and so the start
        if game["you"] != seat or "table" not in game:
            self.inconsistent.append(f"{where}: {game['you']}, {game['status']}")
        if (game["status"] == "playing") != bool(game["to_move"]):
            self.inconsistent.append(f"{where}: nobody is to move")
        if bool(game["legal_moves"]) < (seat in game["to_move"]):
            self.inconsistent.append(f"{where}: no legal move")

    def _replay(self, table: Table, game: Any) -> None:
        record = table.players[0].get(f"{table.path}/record")
        played = Counter(
            key_of(each["seat"], each["turn"], each["move"])
            for each in record["moves"]
            if each.get("by") == "player"
        )
        told = {each.key for each in table.acknowledged}
        self.lost += [f"{table.game_id}: {each}" for each in told - played.keys()]
        self.twice += [f"{table.game_id}: {each}" for each, times in played.items() if times > 1]
        self.unannounced += [f"{table.game_id}: {each}" for each in played.keys() - told]
        analysis = table.players[0].persist("POST", "/v1/analysis", record)
        if analysis.status_code != 200 or analysis.json()["result"] != game["result"]:
            self.inconsistent.append(f"{table.game_id}: {analysis.content[:500]!r}")

    def tell(self, report: Report) -> None:
        """Report the figures."""
        report.tell("moves acknowledged", self.moves)
        report.tell("games played to the end and replayed", self.finished)
        if self._may_lose:
            lost = sum(each.is_lost for each in self.fates)
            report.tell("acknowledged moves lost", lost)
            report.tell("games lost as a whole", len(self.gone))
        else:
            report.none("acknowledged moves lost", len(self.lost), self.lost[:3])
            report.none("games lost", len(self.gone), self.gone[:3])
            report.none(
                "moves that nobody was told of", len(self.unannounced), self.unannounced[:3]
            )
        report.none("moves played twice", len(self.twice), self.twice[:3])
        report.none("games inconsistent", len(self.inconsistent), self.inconsistent[:3])


def _fate(table: Table, move: Acknowledged, is_lost: bool) -> Fate:
    version = max((each["version"] for each in move.items), default=0)
    return Fate(table.game_id, version, move.at, is_lost)


def all_items(player: Caller, table: Table) -> list[Any]:
    """Return the whole history of a game, as a player is told it."""
    items: list[Any] = []
    since = ""
    while True:
        page = player.get(f"{table.path}/events{since}")
        items += page["items"]
        since = f"?since={page['cursor']}"
        if not page["more"]:
            return items


def audit(tables: Sequence[Table], *, may_lose: bool = False) -> Audit:
    """Audit all tables."""
    found = Audit(may_lose)
    for each in tables:
        found.take(each)
    return found
