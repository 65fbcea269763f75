"""Quick matches of many players at the same moment, also while workers are killed.

No player is left alone while others of the same wish wait, no seat is given twice, and a seat whose
player does not come is free again after ten seconds.

    python -m tests.proofs.matches [--quick] [--seconds N] [--json FILE] [SCENARIO …]
"""

from __future__ import annotations

import random
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Barrier
from typing import Any

from api.storage.matches import RESERVATION_MS
from tests.proofs.caller import Caller, Tally, new_player
from tests.proofs.crowd import tell_answers
from tests.proofs.machines import Machines, machines
from tests.proofs.report import Effort, Report, Scenario, run
from tests.support.http_client import Response

CALLERS, SEATS, PAIR = 120, 4, 2
KILLS = 4
"""Workers that are killed while one crowd asks."""

MAX_ROUNDS = 80
"""Fewer than the unfinished games that a player may be in."""

SLOWEST = 60.0
"""The slowest request (s): no proof of speed, as 120 threads and four workers share few cores, and
all four may have been killed.
"""


class Crowd:
    """Players, each with a thread and with connections of its own."""

    def __init__(self, running: Machines, seed: int) -> None:
        self.tally = Tally()
        self.rng = random.Random(seed)
        self.running = running
        self.players = [self.newcomer() for _ in range(CALLERS)]
        self._threads = ThreadPoolExecutor(CALLERS)
        self._wishes = 0

    def newcomer(self) -> Caller:
        return new_player(self.running.urls, self.tally, self.rng)

    def new_wish(self, seats: int = SEATS) -> dict[str, Any]:
        """Return a wish that no player had before."""
        self._wishes += 1
        return {"ruleset": "parade", "seat_count": seats, "turn_seconds": 3600 + self._wishes}

    def ask_at_once(
        self, wish: dict[str, Any], patient: Sequence[bool]
    ) -> list[Future[Response | None]]:
        """Let all players ask at the same moment. Those that are patient retry until they know."""
        barrier = Barrier(len(self.players))

        def ask(number: int) -> Response | None:
            player = self.players[number]
            key = {"Idempotency-Key": str(uuid.UUID(int=player.rng.getrandbits(128)))}
            player.client(number).connect()
            barrier.wait(60)
            how: Any = {"headers": key, "machine": number}
            answer = player.ask("POST", "/v1/match", wish, **how)
            if patient[number] and (answer is None or answer.status_code >= 500):
                answer = player.persist("POST", "/v1/match", wish, headers=key)
            return answer

        return [self._threads.submit(ask, number) for number in range(len(self.players))]

    def games(self, wish: dict[str, Any]) -> list[Any]:
        """Return all games of a wish, the open ones and those in play."""
        games, cursor = [], ""
        while True:
            page = self.players[0].get(f"/v1/games?ruleset=parade&limit=100{cursor}")
            games += [
                each
                for each in page["items"]
                if each["turn_seconds"] == wish["turn_seconds"] and each["status"] != "cancelled"
            ]
            if page["next"] is None:
                return games
            cursor = f"&cursor={page['next']}"

    def leave(self, games: list[Any]) -> None:
        """Let the players leave the games, so that they may be in others."""

        def leave(player: Caller) -> None:
            for game in games:
                if player.id in _players(game):
                    player.persist("DELETE", f"/v1/games/{game['id']}/seats/me")

        list(self._threads.map(leave, self.players))


def _players(game: Any) -> list[str]:
    return [seat["player"]["id"] for seat in game["seats"] if seat["player"] is not None]


def _note_seats(games: list[Any], answers: Sequence[Response | None], counts: Counter[str]) -> None:
    """Count what is wrong with the seats of a crowd."""
    seated = Counter(player for game in games for player in _players(game))
    counts["two seats"] += sum(number > 1 for number in seated.values())
    by_id = {game["id"]: game for game in games}
    for answer in answers:
        if answer is None:
            continue
        if answer.status_code != 200:
            counts["odd"] += 1
            continue
        told = answer.json()
        shown = told["seats"][told["you"]]["player"]["id"]
        game = by_id.get(told["id"])
        seat = game and game["seats"][told["you"]]["player"]
        counts["contradicted"] += seat is None or seat["id"] != shown


def at_once(report: Report, effort: Effort) -> None:
    """120 players ask four workers for games of four at the same moment: 30 games begin."""
    _fill_at_once(report, effort, SEATS)


def pairs(report: Report, effort: Effort) -> None:
    """The same with games for two: 60 games are filled at the same moment."""
    _fill_at_once(report, effort, PAIR)


def _fill_at_once(report: Report, effort: Effort, seats: int) -> None:
    with machines(2, APPEND_FSYNC="everysec") as running:
        crowd = Crowd(running, 1)
        counts = Counter[str]()
        until = time.monotonic() + effort.seconds
        while time.monotonic() < until and counts["crowds"] < MAX_ROUNDS:
            wish = crowd.new_wish(seats)
            answers = [each.result() for each in crowd.ask_at_once(wish, [False] * CALLERS)]
            games = crowd.games(wish)
            counts["crowds"] += 1
            counts["lonely"] += sum(game["status"] != "playing" for game in games)
            counts["more games"] += abs(len(games) - CALLERS // seats)
            counts["broken"] += answers.count(None)
            _note_seats(games, answers, counts)
        report.at_least("crowds of 120 that asked at once", counts["crowds"], 1)
        report.none("games that did not begin", counts["lonely"])
        report.none(f"games more or less than {CALLERS // seats}", counts["more games"])
        report.none("players with two seats", counts["two seats"])
        report.none("answers that the game contradicts", counts["contradicted"])
        report.none("refused, or without an answer", counts["odd"] + counts["broken"])
        tell_answers(report, crowd.tally, SLOWEST)
        report.none("workers that died", len(running.lost_workers()), running.lost_workers())


def workers_killed(report: Report, effort: Effort) -> None:
    """The same while workers are killed; all players retry, so that all of them play."""
    with machines(2, APPEND_FSYNC="everysec") as running:
        crowd = Crowd(running, 2)
        counts = Counter[str]()
        until = time.monotonic() + effort.seconds
        while time.monotonic() < until and counts["crowds"] < MAX_ROUNDS:
            wish = crowd.new_wish()
            began = time.monotonic()
            asking = crowd.ask_at_once(wish, [True] * CALLERS)
            _kill_workers(running, crowd.rng)
            answers = [each.result() for each in asking]
            counts["slow"] += time.monotonic() - began > RESERVATION_MS / 1000
            games = crowd.games(wish)
            counts["crowds"] += 1
            counts["lonely"] += sum(game["status"] != "playing" for game in games)
            counts["more games"] += abs(len(games) - CALLERS // SEATS)
            _note_seats(games, answers, counts)
        report.at_least("crowds of 120 that asked at once", counts["crowds"], 1)
        report.at_least("connections that broke", crowd.tally.broken, 1)
        report.tell("crowds that took longer than a reservation", counts["slow"])
        report.none("games that did not begin", counts["lonely"])
        report.none("games more or less than 30", counts["more games"])
        report.none("players with two seats", counts["two seats"])
        report.none("answers that the game contradicts", counts["contradicted"])
        report.none("refused in the end", counts["odd"])
        tell_answers(report, crowd.tally, SLOWEST)


def players_lost(report: Report, effort: Effort) -> None:
    """The same, but half of the players never come again: after ten seconds their seats are free.

    Then as many newcomers as there are empty seats fill all games, and open no other.
    """
    with machines(2, APPEND_FSYNC="everysec") as running:
        crowd = Crowd(running, 3)
        counts = Counter[str]()
        until = time.monotonic() + effort.seconds
        # Each round takes longer than a reservation, so a short effort has one; in it, all may have
        # been answered before a worker was killed.
        while counts["crowds"] < MAX_ROUNDS and (
            time.monotonic() < until or not crowd.tally.broken
        ):
            wish = crowd.new_wish()
            patient = [number % 2 == 0 for number in range(CALLERS)]
            asking = crowd.ask_at_once(wish, patient)
            _kill_workers(running, crowd.rng)
            answers = [each.result() for each in asking]
            time.sleep(RESERVATION_MS / 1000)
            waiting = crowd.games(wish)
            free = sum(SEATS - len(_players(game)) for game in waiting)
            for _ in range(free):
                crowd.newcomer().persist("POST", "/v1/match", wish)
            games = crowd.games(wish)
            counts["crowds"] += 1
            counts["lost"] += sum(game["status"] != "playing" for game in games)
            counts["more games"] += len(games) - len(waiting)
            counts["newcomers"] += free
            _note_seats(games, answers, counts)
        report.at_least("crowds of 120 that asked at once", counts["crowds"], 1)
        report.at_least("connections that broke", crowd.tally.broken, 1)
        report.tell("newcomers", counts["newcomers"])
        report.none("games with a seat that no newcomer got", counts["lost"])
        report.none("games that newcomers opened", counts["more games"])
        report.none("players with two seats", counts["two seats"])
        report.none("answers that the game contradicts", counts["contradicted"])
        tell_answers(report, crowd.tally, SLOWEST)


def _kill_workers(running: Machines, rng: random.Random) -> None:
    for _ in range(KILLS):
        time.sleep(rng.uniform(0.01, 0.1))
        running.kill_worker(rng)


SCENARIOS: dict[str, Scenario] = {
    "at-once": at_once,
    "pairs": pairs,
    "workers-killed": workers_killed,
    "players-lost": players_lost,
}

if __name__ == "__main__":
    run(SCENARIOS, __doc__)
