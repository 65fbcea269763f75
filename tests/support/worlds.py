"""Two worlds that differ only in what one reader cannot see, each on a service of its own.

A game is played with the rules alone and written to both stores as the service would have written
it, with the same players, tokens, times and commits. The second world has another deal and other
secret choices, under which the reader is told and sees the same until now. The responses of the two
services are compared byte by byte.

Both worlds publish the deal hash of the first one: a real hash would tell them apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random, SystemRandom
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from api.config.settings import Settings
from api.games.progress import Progress
from api.model.events import GameStarted
from api.model.game import (
    PRIVATE,
    PUBLIC,
    Game,
    Player,
    SeatRecord,
    StoredDeal,
    digest,
    raw,
)
from api.model.retention import DAY_MS, HOUR_MS
from api.storage.connect import connect
from api.storage.games import Change, move_key
from api.storage.indexes import Indexes
from api.storage.store import Store
from api.web.wiring import make_retention
from engine.ruleset import IllegalMove, InvalidSetup, Move, Seat, same_decision
from tests.engine.play import Case, Step, encode, plain, random_game, told_to
from tests.engine.traits import TRAITS
from tests.support.commits import commit, index_before
from tests.support.http_client import HttpClient
from tests.support.service import Service

TURN_SECONDS = 7 * 24 * 60 * 60

# --- Callers ------------------------------------------------------------------------------------


class Person(NamedTuple):
    """A player, with the secret of its token."""

    player: Player
    secret: str

    @property
    def token(self) -> str:
        return f"{self.player.id}.{self.secret}"


def person(name: str, rng: Random) -> Person:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return Person(Player(new_id(rng), name, "bot"), "".join(rng.choices(alphabet, k=43)))


def new_id(rng: Random) -> str:
    return f"{rng.getrandbits(128):032x}"


# --- What is planted -----------------------------------------------------------------------------


@dataclass(frozen=True)
class History:
    """A game so far: its deal, its steps, and the commits of them."""

    case: Case
    persons: tuple[Person, ...]
    spectator: Person
    created: Game
    commit_ids: tuple[str, ...]
    dealt: Any
    steps: tuple[Step, ...]
    changes: tuple[Change, ...]

    @property
    def game(self) -> Game:
        return self.changes[-1].game

    @property
    def state(self) -> Any:
        return self.steps[-1].after if self.steps else self.case.start(self.dealt)[0]

    def at(self, now: int) -> History:
        """The same game, played at this time: a countdown begins now."""
        created = replace(self.created, created_at=now, updated_at=now)
        return _history(
            self.case,
            self.persons,
            self.spectator,
            created,
            self.commit_ids,
            self.dealt,
            self.steps,
        )


def history(case: Case, seed: int) -> History:
    """Play a random game up to a random step.

    The ids of games and commits never come again: they identify what a worker remembers.
    """
    rng = Random(seed)
    persons = tuple(person(f"Seat {seat}", rng) for seat in range(case.seats))
    dealt = case.deal(Random(seed))
    steps = random_game(case, seed)
    steps = steps[: _somewhere(case, steps, rng)]
    given = {name: value for name, value in plain(case.options).items() if value is not None}
    created = Game(
        id=new_id(SystemRandom()),
        ruleset=case.ruleset_id,
        seat_count=case.seats,
        options=raw(given),
        visibility=rng.choice([PUBLIC, PUBLIC, PUBLIC, PRIVATE]),
        invite="an invite",
        turn_seconds=TURN_SECONDS,
        host=persons[0].player,
        seats=tuple(SeatRecord(player=each.player) for each in persons),
        deal_sha256=digest(encode(dealt).decode()),
        created_at=0,
        updated_at=0,
    )
    ids = tuple(f"{SystemRandom().getrandbits(64):016x}" for _ in range(len(steps) + 1))
    return _history(case, persons, person("Spectator", rng), created, ids, dealt, steps)


def _history(
    case: Case,
    persons: tuple[Person, ...],
    spectator: Person,
    created: Game,
    commit_ids: tuple[str, ...],
    dealt: Any,
    steps: tuple[Step, ...],
) -> History:
    now = created.created_at
    start = Progress(created, None, now, Random(0))
    start.start(case.start(dealt), GameStarted(case.seats))
    deal = StoredDeal(raw(dealt), encode(dealt).decode())
    changes = [_committed(start.to_change(deal=deal), commit_ids[0])]
    for step, commit_id in zip(steps, commit_ids[1:], strict=True):
        course = Progress(changes[-1].game, step.before, now, Random(0))
        played = None
        if step.seat is None or step.move is None:
            for seat in range(case.seats):
                # However many turns a seat misses, its player keeps it.
                course.change_seat(seat, missed_turns=0)
            course.apply_timeout()
        else:
            course.apply_move(step.seat, step.move, (step.after, step.told))
            player_id = persons[step.seat].player.id
            key = move_key(player_id, changes[-1].game.turn, encode(step.move))
            played = (key, course.versions)
        changes.append(_committed(course.to_change(played=played), commit_id))
    return History(
        case, persons, spectator, created, commit_ids, dealt, tuple(steps), tuple(changes)
    )


def _somewhere(case: Case, steps: Sequence[Step], rng: Random) -> int:
    """Return a random number of steps; half the time one after which a secret is kept, if any."""
    secret = TRAITS[case.ruleset_id].secret_moves
    kept = [
        number
        for number, step in enumerate(steps, 1)
        if step.move is not None and _type(step.move) in secret
    ]
    return rng.choice(kept) if kept and rng.random() < 0.5 else rng.randrange(len(steps) + 1)


def _type(move: Move) -> Any:
    return move.__struct_config__.tag


def _committed(change: Change, commit: str) -> Change:
    *items, last = change.items
    game = replace(
        change.game,
        version=last.version,
        commit=commit,
        version_id=commit,
        indexed_at=change.game.created_at,
    )
    return replace(change, game=game, items=(*items, replace(last, version_id=commit)))


def in_another_world(past: History, reader: Seat | None, rng: Random, tries: int) -> History:
    """Return the game with another deal and other secret moves, which the reader cannot know.

    They are found by many small exchanges, of which those are kept that show the reader nothing.
    """
    case, dealt, steps = past.case, past.dealt, past.steps
    for _ in range(tries):
        moves = [(step.seat, step.move) for step in steps]
        candidate = _exchanged(case, dealt, rng)
        if rng.random() < 0.5:
            candidate, moves = dealt, _with_another_secret(case, reader, steps, rng)
        found = _replayed(past, reader, candidate, moves)
        if found is not None:
            dealt, steps = candidate, found
    return _history(case, past.persons, past.spectator, past.created, past.commit_ids, dealt, steps)


def _exchanged(case: Case, dealt: Any, rng: Random) -> Any:
    """Return a deal with two of its texts exchanged: cards in the same pile, or in two."""
    members = plain(dealt)
    lists = list(_lists_of_texts(members))
    one = rng.choice(lists)
    other = rng.choice([each for each in lists if each is one or rng.random() < 0.5])
    here, there = rng.randrange(len(one)), rng.randrange(len(other))
    one[here], other[there] = other[there], one[here]
    return msgspec.convert(members, case.ruleset.deal_type)


def _lists_of_texts(value: Any) -> Iterator[list[str]]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        if value and all(isinstance(each, str) for each in value):
            yield value
        else:
            for each in value:
                yield from _lists_of_texts(each)


SecretMoves = list[tuple[Seat | None, Move | None]]


def _with_another_secret(
    case: Case, reader: Seat | None, steps: Sequence[Step], rng: Random
) -> SecretMoves:
    """Return the moves of some steps, with another one instead of a secret one, if there is any."""
    moves: SecretMoves = [(step.seat, step.move) for step in steps]
    secret = TRAITS[case.ruleset_id].secret_moves
    hidden = [
        number
        for number, (seat, move) in enumerate(moves)
        if move is not None and seat != reader and _type(move) in secret
    ]
    if hidden:
        # The latest ones are the likeliest to be secret still.
        number = rng.choice(hidden[-case.seats :])
        seat = steps[number].seat
        legal = case.ruleset.legal_moves(steps[number].before, seat)
        moves[number] = (seat, rng.choice(legal))
    return moves


def _replayed(
    past: History, reader: Seat | None, dealt: Any, moves: SecretMoves
) -> tuple[Step, ...] | None:
    """Return the steps of these moves from a deal, None if the reader is told or sees another."""
    case, ruleset = past.case, past.case.ruleset
    try:
        state, told = case.start(dealt)
        if told_to(told, reader) != told_to(case.start(past.dealt)[1], reader):
            return None
        steps = []
        for was, (seat, move) in zip(past.steps, moves, strict=True):
            before = state
            if seat is None:
                state, told = ruleset.expire(state)
            else:
                state, told = ruleset.apply(state, seat, move)
            if told_to(told, reader) != was.events(reader):
                return None
            steps.append(Step(before, seat, move, state, told))
    except (InvalidSetup, IllegalMove):
        return None
    if ruleset.view(state, reader) != ruleset.view(past.state, reader):
        return None
    return tuple(steps)


class World:
    """A service, and a client of its store that writes as the service does."""

    def __init__(self, service: Service) -> None:
        self.service = service
        settings = Settings(redis_url=f"unix://{service.store.address}")
        link, _ = connect(settings)
        self.store = Store(link)
        self.indexes = Indexes(link, self.store, make_retention(settings))
        self._link = link

    def plant(self, past: History, now: int) -> None:
        """Have this game in the store, and nothing else."""
        self._link.execute_on_all("FLUSHALL")
        for each in (*past.persons, past.spectator):
            self.store.add_player(each.player, digest(each.secret), DAY_MS)
            # Later than any request, so that none of them changes it.
            self.store.see_player(each.player.id, now + HOUR_MS, HOUR_MS)
        index_before(self.indexes, None, past.game, now)
        before = None
        for change in past.changes:
            assert commit(self.store, before, change, DAY_MS)
            before = change.game

    @property
    def now(self) -> int:
        return self.store.read(None).now


# --- Steps that tell the reader nothing ----------------------------------------------------------


class JointStep(NamedTuple):
    """A move in each of two worlds after which the reader still cannot tell them apart."""

    seat: Seat
    moves: tuple[Move, Move]
    states: tuple[Any, Any]


def joint_steps(
    case: Case, states: tuple[Any, Any], reader: Seat | None, rng: Random
) -> Iterator[JointStep]:
    """Yield, in random order, moves that show the reader no difference between the worlds.

    A secret choice while other seats still choose must be among them: if it shows, that is a leak.
    """
    for seat in rng.sample(range(case.seats), case.seats):
        for moves in _pairs(case, states, seat, seat == reader, rng):
            outcomes = [
                case.ruleset.apply(state, seat, move)
                for state, move in zip(states, moves, strict=True)
            ]
            after = (outcomes[0][0], outcomes[1][0])
            seen = [
                (told_to(what, reader), case.ruleset.view(state, reader))
                for state, what in outcomes
            ]
            if seat != reader and _stays_secret(case, states[0], seat, moves[0], after[0]):
                assert seen[0] == seen[1], "a secret choice shows"
            if seen[0] == seen[1]:
                yield JointStep(seat, moves, after)


def _stays_secret(case: Case, before: Any, seat: Seat, move: Move, after: Any) -> bool:
    to_move = case.ruleset.to_move
    is_secret = _type(move) in TRAITS[case.ruleset_id].secret_moves
    return is_secret and same_decision(to_move(before), seat, to_move(after))


def _pairs(
    case: Case, states: tuple[Any, Any], seat: Seat, is_own: bool, rng: Random
) -> Iterator[tuple[Move, Move]]:
    secret = TRAITS[case.ruleset_id].secret_moves
    here, there = (list(case.ruleset.legal_moves(state, seat)) for state in states)
    rng.shuffle(here)
    rng.shuffle(there)
    for move in here:
        elsewhere = [other for other in there if _type(other) == _type(move) and other != move]
        if not is_own and _type(move) in secret and elsewhere:
            yield move, elsewhere[0]
        elif move in there:
            yield move, move


# --- Requests ------------------------------------------------------------------------------------


class Question(NamedTuple):
    """A request without its caller."""

    method: str
    path: str
    body: Any = None
    headers: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.body or ''} {self.headers or ''}"


class Answer(NamedTuple):
    """A whole response."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


def ask(world: World, caller: Person | None, question: Question) -> Answer:
    headers, body = dict(question.headers), None
    if question.body is not None:
        headers["Content-Type"] = "application/json"
        body = encode(question.body)
    response = _client(world, caller).request(
        question.method, question.path, data=body, headers=headers
    )
    return Answer(response.status_code, tuple(response.headers.items()), response.content)


def listen(
    world: World, caller: Person | None, question: Question, enough: Callable[[bytes], bool]
) -> Answer:
    """Read a stream until `enough` of it has come."""
    with _client(world, caller).open(
        question.method, question.path, headers=dict(question.headers)
    ) as response:
        told = b""
        for chunk in response.chunks():
            told += chunk
            if enough(told):
                break
        return Answer(response.status_code, tuple(response.headers.items()), told)


def _client(world: World, caller: Person | None) -> HttpClient:
    return HttpClient(world.service.url, caller and caller.token, keep_alive=False)


# --- What may differ -----------------------------------------------------------------------------

TIME = rb"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z"

OF_THE_REQUEST = (
    (rb'"cursor":"[0-9]{13}\.', rb'"cursor":"<ms>.'),
    (rb'("cursor":"|\nid: )((?:[0-9]+-)+)[0-9a-f]{16}', rb"\1\2<commit>"),
    (rb'"ticket":"[\w-]{43}"', rb'"ticket":"<new>"'),
    (rb'"expires_at":"' + TIME, rb'"expires_at":"<time>'),
)
"""Parts that may differ in each response: the time of the request, the random id of a commit that
it made, and a random ticket.
"""

OF_LATER_COMMITS = (
    (TIME, b"<time>"),
    (rb'("cursor":"<ms>\.(?:[\w-]{8})*)', lambda match: b"<%d>" % len(match[1])),
)
"""Times of commits that were played and not planted, and the marks that a cursor has of them."""

COMMIT = re.compile(r'^(W/)?"(\w+-[0-9]+)-[0-9a-f]{16}-')


def comparable(answer: Answer, *, is_planted: bool) -> Answer:
    """Return a response without what differs between any two requests or any two commits."""
    body = answer.body
    for pattern, placeholder in OF_THE_REQUEST + (() if is_planted else OF_LATER_COMMITS):
        body = re.sub(pattern, placeholder, body)
    headers = tuple(
        (name, _header(name, value, is_planted=is_planted))
        for name, value in answer.headers
        # It tells whether the request came in time to wait for the step.
        if is_planted or name != "Preference-Applied"
    )
    return Answer(answer.status, headers, body)


def _header(name: str, value: str, *, is_planted: bool) -> str:
    if name == "Date":
        return "<time>"
    if name == "Server-Time":
        assert re.fullmatch(TIME.decode(), value)
        return "<time>"
    if name == "X-Request-ID":
        assert re.fullmatch("[0-9a-f]{32}", value)
        return "<new>"
    if name == "ETag" and not is_planted:
        return COMMIT.sub(r'"\2-<commit>-', value)
    return value
