"""To a seat, every byte of every answer is the same in any two worlds that it cannot tell apart.

Random games of every ruleset, number of seats and option are planted in two services, with all
that one reader cannot see dealt again in the second (`tests.support.worlds`). Whatever this reader
may ask is asked in both, and so is what a stranger may; then the game goes on over HTTP, as long
as the rules tell the reader nothing by which the worlds differ, while the reader waits for it in
every way there is. What it has already it asks for again, with the tag that it was given in each
world, and a ticket opens the stream without its token. Headers are compared too: which there are,
in which order, and their values.

Left out: the house's replies, which are made by chance and from what the house's seats see, so
they differ between any two games; what is left of rate limits, which count requests and not what
they are about; and how long an answer takes. What only the end reveals (the
record) is asked for until then. `SECRECY_GAMES` says how many games of each kind the slow test
plays.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import msgspec
import pytest

from api.games.cursors import EventsCursor
from api.model.events import BY_PLAYER
from api.model.game import PRIVATE
from engine.ruleset import IllegalMove, Move, Seat, same_decision
from tests.engine.play import Case, all_cases, component_names, plain
from tests.support.service import serving
from tests.support.waiting import PATIENCE
from tests.support.worlds import (
    Answer,
    History,
    JointStep,
    Person,
    Question,
    World,
    ask,
    comparable,
    history,
    in_another_world,
    joint_steps,
    listen,
)

MANY_GAMES = int(os.environ.get("SECRECY_GAMES", "5"))
TRIES = 300
SOME_SECONDS = 0.1
"""Enough, mostly, for a request to wait; that it need not is no matter."""
IN_QUESTION = 4
"""So many moves of a kind are asked about, and the headers alone of so many answers."""

TAGGED = ("", "/legal-moves", "/legal-moves?previews=true")
"""What has a tag that says whether the reader has it already."""

# A countdown of a second would run out between the two services' answers.
CASES = [case for case in all_cases() if ("countdown_seconds", 1) not in case.given]

Worlds = tuple[World, World]


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worlds]:
    settings = {"APPEND_FSYNC": "everysec", "WEB_CONCURRENCY": "1", "RATE_LIMITS": "off"}
    with (
        serving(tmp_path_factory.mktemp("world"), **settings) as here,
        serving(tmp_path_factory.mktemp("world"), **settings) as there,
    ):
        yield World(here), World(there)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_reader_cannot_tell_worlds_apart_that_differ_in_what_it_cannot_see(
    worlds: Worlds, case: Case
) -> None:
    check_game(worlds, case, seed=0, steps=1)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_reader_cannot_tell_worlds_apart_in_many_games(worlds: Worlds, case: Case) -> None:
    for seed in range(1, MANY_GAMES):
        check_game(worlds, case, seed, steps=3)


@pytest.mark.parametrize("ruleset", ["parade", "mit-list-und-tuecke"])
def test_the_worlds_are_different_ones_to_whom_the_rules_show_it(
    worlds: Worlds, ruleset: str
) -> None:
    """Or else the tests above could not fail: hands are others, and so is what was told."""
    case = next(case for case in CASES if case.ruleset_id == ruleset and case.seats >= 4)
    pairs = (two_pasts(case, seed, 0, Random(seed)) for seed in range(100))
    past, other = next(pair for pair in pairs if all_see_another(*pair))
    plant(worlds, past, other)
    for below in ("", "/events"):
        differ = [differs(answers(worlds, each, get(past, below))) for each in past.persons]
        assert differ == [False] + [True] * (case.seats - 1)


def all_see_another(past: History, other: History) -> bool:
    """Whether all seats but the first see and were told something else."""
    view = past.case.ruleset.view

    def seen(history: History, seat: Seat) -> tuple[Any, Any]:
        return view(history.state, seat), [step.events(seat) for step in history.steps]

    return all(
        here != there
        for seat in range(1, past.case.seats)
        for here, there in zip(seen(past, seat), seen(other, seat), strict=True)
    )


def differs(pair: list[Answer]) -> bool:
    here, there = (comparable(each, is_planted=True) for each in pair)
    return here != there


# --- One game in two worlds ----------------------------------------------------------------------


def check_game(worlds: Worlds, case: Case, seed: int, steps: int) -> None:
    rng = Random(f"{case} {seed}")
    reader = rng.choice(case.readers)
    past, other = two_pasts(case, seed, reader, rng)
    plant(worlds, past, other)
    caller = past.spectator if reader is None else past.persons[reader]
    states, turn = (past.state, other.state), past.game.turn or 0
    compare(worlds, None, questions(past, None, states, turn, rng), is_planted=True)
    compare(worlds, caller, questions(past, reader, states, turn, rng), is_planted=True)
    compare_what_was_given(worlds, past, caller, is_planted=True)
    if past.game.visibility == PRIVATE and reader is None:
        return
    for _ in range(steps):
        steps_there_are = list(joint_steps(case, states, reader, rng))
        if not steps_there_are:
            return
        step = one_of_any_type(steps_there_are, rng)
        turn = check_step(worlds, past, reader, states[0], step)
        states = step.states
        compare(worlds, caller, questions(past, reader, states, turn, rng), is_planted=False)
        compare_what_was_given(worlds, past, caller, is_planted=False)


def one_of_any_type(steps: list[JointStep], rng: Random) -> JointStep:
    """A step, each type of move as likely as any other."""
    by_type = {type(step.moves[0]).__name__: step for step in rng.sample(steps, len(steps))}
    return by_type[rng.choice(sorted(by_type))]


def two_pasts(case: Case, seed: int, reader: Seat | None, rng: Random) -> tuple[History, History]:
    past = history(case, seed)
    return past, in_another_world(past, reader, rng, TRIES)


def plant(worlds: Worlds, past: History, other: History) -> None:
    now = worlds[0].now
    for world, planted in zip(worlds, (past, other), strict=True):
        world.plant(planted.at(now), now)


def check_step(
    worlds: Worlds, past: History, reader: Seat | None, before: Any, step: JointStep
) -> int:
    """A seat moves in both worlds while the reader waits; the turn after it."""
    caller = past.spectator if reader is None else past.persons[reader]
    mover = past.persons[step.seat]
    games = [ask(world, caller, get(past)) for world in worlds]
    turn = plain_body(games[0])["turn"]
    cursors = [plain_body(game)["cursor"] for game in games]
    events = [get(past, f"/events?since={cursor}&wait=20") for cursor in cursors]
    after = [(("Last-Event-ID", cursor),) for cursor in cursors]
    streams = [Question("GET", path(past, "/stream"), None, headers) for headers in after]
    by_ticket = ticketed(worlds, caller, past, after)
    had = {below: tagged(worlds, caller, get(past, below)) for below in TAGGED}
    with ThreadPoolExecutor(10) as threads:
        waiting = {
            "listEvents": [
                threads.submit(ask, world, caller, since)
                for world, since in zip(worlds, events, strict=True)
            ],
            "getGame": [
                threads.submit(ask, world, caller, until_changed(past, game))
                for world, game in zip(worlds, games, strict=True)
            ],
            "streamEvents": [
                threads.submit(listen, world, caller, stream, has_update)
                for world, stream in zip(worlds, streams, strict=True)
            ],
            "streamEvents by ticket": [
                threads.submit(listen, world, None, opening, has_update)
                for world, opening in zip(worlds, by_ticket, strict=True)
            ],
        }
        if comes_to_move(past.case, reader, before, step):
            waiting["listTurns"] = [
                threads.submit(ask, world, caller, until_news(world, caller)) for world in worlds
            ]
        time.sleep(SOME_SECONDS)
        played = [
            ask(world, mover, Question("POST", path(past, "/moves"), {"turn": turn, "move": move}))
            for world, move in zip(worlds, step.moves, strict=True)
        ]
        assert [each.status for each in played] == [200, 200]
        if mover == caller:
            check_same("playMove", played, is_planted=False)
        for what, pair in waiting.items():
            told = [each.result(PATIENCE) for each in pair]
            check_same(f"{what}, waiting", told, is_planted=False)
    for below, asked in had.items():
        check_each(worlds, caller, f"{below} with the tag before", asked, is_planted=False)
    return int(plain_body(played[0])["game"]["turn"] or 0)


def comes_to_move(case: Case, reader: Seat | None, before: Any, step: JointStep) -> bool:
    """Whether a step opens a new turn of the reader's."""
    to_move = case.ruleset.to_move
    after = to_move(step.states[0])
    is_new = not same_decision(to_move(before), step.seat, after)
    return is_new and reader in after and reader != step.seat


def until_news(world: World, caller: Person) -> Question:
    cursor = plain_body(ask(world, caller, Question("GET", "/v1/me/turns")))["cursor"]
    return Question("GET", f"/v1/me/turns?wait=20&since={cursor}")


def until_changed(past: History, game: Answer) -> Question:
    (tag,) = (value for name, value in game.headers if name == "ETag")
    return Question("GET", path(past), None, (("If-None-Match", tag), ("Prefer", "wait=20")))


def tagged(worlds: Worlds, caller: Person, question: Question) -> list[Question]:
    """The same question in each world, of who has what is answered now; none if that has no tag."""
    return [
        question._replace(headers=(("If-None-Match", value),))
        for given in answers(worlds, caller, question)
        for name, value in given.headers
        if name == "ETag"
    ]


def ticketed(
    worlds: Worlds, caller: Person, past: History, headers: list[tuple[tuple[str, str], ...]]
) -> list[Question]:
    """The stream in each world, for who shows a new ticket of the caller's; none without one.

    `headers` are those of each world.
    """
    given = answers(worlds, caller, Question("POST", path(past, "/stream-tickets")))
    tickets = [plain_body(each)["ticket"] for each in given if each.status == 201]
    return [
        Question("GET", path(past, f"/stream?ticket={ticket}"), None, own)
        for ticket, own in zip(tickets, headers, strict=False)  # a stranger gets no tickets
    ]


def has_update(told: bytes) -> bool:
    return b"event: update" in told and told.endswith(b"\n\n")


def compare(
    worlds: Worlds, caller: Person | None, asked: list[Question], *, is_planted: bool
) -> None:
    for question in asked:
        check_same(str(question), answers(worlds, caller, question), is_planted=is_planted)


def compare_what_was_given(
    worlds: Worlds, past: History, caller: Person, *, is_planted: bool
) -> None:
    """Ask again with the tags and the tickets that the caller was given in each world."""
    for below in TAGGED:
        asked = tagged(worlds, caller, get(past, below))
        for method in ("GET", "HEAD"):
            again = [each._replace(method=method) for each in asked]
            told = check_each(
                worlds, caller, f"{method} {below} with its tag", again, is_planted=is_planted
            )
            assert all(each.status == 304 for each in told)
    for headers in ((), (("Last-Event-ID", "0-"),)):
        opened = ticketed(worlds, caller, past, [headers] * len(worlds))
        check_each(worlds, None, f"a ticket, {headers}", opened, is_planted=is_planted)


def check_each(
    worlds: Worlds, caller: Person | None, what: str, asked: list[Question], *, is_planted: bool
) -> list[Answer]:
    """Ask in each world what is to be asked there, if anything; the answers."""
    if not asked:
        return []
    told = [answer(world, caller, each) for world, each in zip(worlds, asked, strict=True)]
    check_same(what, told, is_planted=is_planted)
    return told


def answers(worlds: Worlds, caller: Person | None, question: Question) -> list[Answer]:
    return [answer(world, caller, question) for world in worlds]


def answer(world: World, caller: Person | None, question: Question) -> Answer:
    if question.path.partition("?")[0].endswith("/stream"):
        return listen(world, caller, question, has_first)
    return ask(world, caller, question)


def has_first(told: bytes) -> bool:
    """Whether a stream has said what there is, or that there is nothing."""
    return told.count(b"\n\n") >= 2 or told.startswith(b"{")


def check_same(what: str, pair: list[Answer], *, is_planted: bool) -> None:
    assert all(each.status < 500 for each in pair), what
    here, there = (comparable(each, is_planted=is_planted) for each in pair)
    assert here.status == there.status, f"{what} tells the worlds apart"
    assert here.body == there.body, f"{what} tells the worlds apart"
    assert here.headers == there.headers, f"{what} tells the worlds apart"


# --- What a reader may ask -----------------------------------------------------------------------


def path(past: History, below: str = "") -> str:
    return f"/v1/games/{past.game.id}{below}"


def get(past: History, below: str = "") -> Question:
    return Question("GET", path(past, below))


def plain_body(answer: Answer) -> Any:
    return msgspec.json.decode(answer.body)


def questions(
    past: History,
    seat: Seat | None,
    states: tuple[Any, Any],
    turn: int,
    rng: Random,
) -> list[Question]:
    """All that may be asked of a game without changing it."""
    version, is_over = past.game.version, past.case.ruleset.result(states[0]) is not None
    reads = [
        get(past),
        Question("HEAD", path(past)),
        get(past, "/legal-moves"),
        get(past, "/legal-moves?previews=true"),
        get(past, "/events"),
        get(past, f"/events?since={rng.randrange(version + 1)}-&limit=3"),
        get(past, f"/events?since={version + 1000}-"),
        get(past, f"/events?since={EventsCursor.after(past.game).text}"),
        get(past, "/stream"),
        Question("GET", path(past, "/stream"), None, (("Last-Event-ID", "0-"),)),
        get(past, "/presence"),
        *(() if is_over else (get(past, "/record"),)),
        *(Question("GET", "/v1/games" + query) for query in ("", f"?ruleset={past.game.ruleset}")),
        *(Question("GET", f"/v1/games?status={each}") for each in ("playing", "finished")),
        *(Question("GET", f"/v1/me{below}") for below in ("", "/turns", "/games")),
        Question("GET", "/v1/me/games?status=playing&limit=1"),
        Question("POST", path(past, "/stream-tickets")),
        Question("POST", path(past, "/seats"), {"seat": rng.randrange(past.case.seats)}),
        Question("POST", path(past, "/start")),
        Question("DELETE", path(past)),
        *(() if is_over else (Question("POST", path(past, "/rematch")),)),
    ]
    gets = [each for each in reads if each.method == "GET"]
    heads = [each._replace(method="HEAD") for each in rng.sample(gets, IN_QUESTION)]
    return [*reads, *heads, *moves_in_question(past, seat, states, turn, rng)]


def moves_in_question(
    past: History,
    seat: Seat | None,
    states: tuple[Any, Any],
    turn: int,
    rng: Random,
) -> Iterator[Question]:
    """Is this move legal? Asked of those that are, and of what others have, or lies hidden."""
    ruleset = past.case.ruleset
    own = [] if seat is None else list(ruleset.legal_moves(states[0], seat))
    for move in rng.sample(own, min(IN_QUESTION, len(own))):
        yield Question("POST", path(past, "/moves/check"), {"turn": turn, "move": plain(move)})
    legal = [plain(move) for move in own]
    for move in illegal(past, seat, states, legal, rng):
        body = {"turn": turn, "move": move}
        yield Question("POST", path(past, "/moves/check"), body)
        yield Question("POST", path(past, "/moves"), body)
    # The same move again is answered as the first time, and another's move is nobody else's.
    for change in rng.sample(past.changes, min(IN_QUESTION, len(past.changes))):
        happened = change.items[0]
        # What another chose for this very turn would be a move of the reader's own.
        is_safe = happened.seat == seat or happened.turn != turn
        if happened.by == BY_PLAYER and is_safe:
            body = {"turn": happened.turn, "move": plain(happened.move)}
            yield Question("POST", path(past, "/moves"), body)


def illegal(
    past: History,
    seat: Seat | None,
    states: tuple[Any, Any],
    legal: list[Any],
    rng: Random,
) -> list[Any]:
    """Moves that others may make in one world or the other, and those with things exchanged."""
    ruleset = past.case.ruleset
    others: list[Move] = [
        move
        for state in states
        for other in range(past.case.seats)
        for move in ruleset.legal_moves(state, other)
    ]
    things = sorted(component_names(past.case))
    shapes = [*map(plain, others), *past_moves(past)]
    exchanged = [exchange(move, things, rng) for move in rng.choices(shapes, k=IN_QUESTION)]
    tried = [move for move in [*map(plain, others), *exchanged] if move not in legal]
    if seat is not None:
        tried = [move for move in tried if is_illegal(past, seat, states, move)]
    return rng.sample(tried, min(IN_QUESTION, len(tried)))


def past_moves(past: History) -> list[Any]:
    return [plain(step.move) for step in past.steps if step.move is not None] or [
        {"type": past.case.ruleset.move_types[0]}
    ]


def exchange(move: Any, things: list[str], rng: Random) -> Any:
    """A move with another thing in each place."""
    changed = dict(move)
    for name, value in move.items():
        if isinstance(value, list):
            changed[name] = [rng.choice(things) for _ in value]
        elif isinstance(value, str) and name != "type":
            changed[name] = rng.choice(things)
    return changed


def is_illegal(past: History, seat: Seat, states: tuple[Any, Any], move: Any) -> bool:
    """Whether the rules, or its form, forbid this move in both worlds."""
    for state in states:
        try:
            past.case.ruleset.apply(state, seat, msgspec.convert(move, past.case.ruleset.move_type))
        except (IllegalMove, msgspec.ValidationError):
            continue
        return False
    return True
