"""Reading: lists of games, what happened, the games that wait for a player, whole records."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import NamedTuple, TypeVar

from msgspec import Raw
from redis import RedisError

from api.concurrency.time_slices import long_work, pause
from api.games.answers import (
    EndedGame,
    EventPage,
    GamePage,
    GameRecord,
    GameSummary,
    MadeMove,
    PresenceAnswer,
    RunOutCountdown,
    SeatPresence,
    TurnsAnswer,
)
from api.games.players import Credentials, Players
from api.games.progress import is_due
from api.games.representations import game_answer, game_summary, item_answers
from api.games.rulesets import find_ruleset, unknown_ruleset
from api.games.transactions import LoadedGame, Transactions
from api.model.events import BY_CLOCK
from api.model.game import ENDED, NOT_A_MOVE, PLAYING, Game, Item, Version, digest, raw, timestamp
from api.model.retention import COMMIT_MS
from api.problems.problem import FieldError, Problem
from api.storage.client import Command
from api.storage.games import Reading, Store, StoredGame, log_unreadable, read_items
from api.storage.indexes import (
    ALL,
    Entry,
    Indexes,
    Page,
    Position,
    asking_ended,
    lobby,
    places,
    read_entries,
)

Looked = TypeVar("Looked")
Made = TypeVar("Made")

MAX_TURNS = 100
"""How many games listTurns returns at most."""

MAX_SETTLED = 4
"""For how many due games one listTurns request applies the clock. The next request goes on."""

MAX_ENDED = 200
"""How many games that ended listTurns tells of at once; the rest the next time."""

MAX_END_MARKS = 250
"""So many endings fit into a cursor, which is part of an address, beside as many turns."""

ENDED_SHOWN_MS = 24 * 60 * 60 * 1000
"""How far back a first listTurns, which has no cursor yet, tells of games that ended."""


ITEMS_AT_ONCE = 500
"""How much of a game's history is read in one round trip."""


@dataclass(frozen=True)
class Turns:
    """What there is for a player at a time (ms), and whether it is news to who has `seen` this."""

    now: int
    caller: str
    seen: frozenset[bytes]
    is_news: bool
    answer: TurnsAnswer

    @cached_property
    def rendered(self) -> Raw:
        """The answer as it is sent, to all who share it."""
        return raw(self.answer)

    def would_be_news(self, game: Game) -> bool:
        """Whether such a game waits for the player, or has ended, without its knowing."""
        if game.status in ENDED:
            return self.caller in game.company() and _end_mark(game.id) not in self.seen
        return _waits_for(game, self.caller) and _turn_mark(game) not in self.seen


class Queries:
    """Answers questions."""

    def __init__(
        self, transactions: Transactions, store: Store, indexes: Indexes, players: Players
    ) -> None:
        self.transactions = transactions
        self.store = store
        self.indexes = indexes
        self.players = players

    # --- Lists of games ----------------------------------------------------------------

    def public_games(
        self,
        credentials: Credentials | None,
        status: str | None,
        ruleset: str | None,
        cursor: str | None,
        limit: int,
    ) -> GamePage:
        """A page of the public games, newest first."""
        if ruleset is not None and find_ruleset(ruleset) is None:
            at = FieldError(unknown_ruleset(), parameter="ruleset")
            raise Problem("invalid_request", at.detail, errors=(at,))
        return self._page(lobby(ruleset), credentials, status, cursor, limit)

    def own_games(
        self, credentials: Credentials | None, status: str | None, cursor: str | None, limit: int
    ) -> GamePage:
        """A page of the games that the caller hosts, sits in or has a seat reserved in."""
        if credentials is None:
            raise Problem("missing_token")
        return self._page(credentials.player_id, credentials, status, cursor, limit)

    def _page(
        self,
        owner: str,
        credentials: Credentials | None,
        status: str | None,
        cursor: str | None,
        limit: int,
    ) -> GamePage:
        after = None if cursor is None else _read_cursor(cursor)
        wanted = Page(Entry(owner, status or ALL), after, limit)
        reader = None if credentials is None else credentials.player_id
        reading = self.store.read(reader, along=[wanted.beginning])
        if credentials is not None:
            self.players.authenticate(reading, credentials)
        games, following = self.indexes.page(wanted, reading.now, reading.along[0])

        def summary(game: Game) -> GameSummary:
            pause()
            return game_summary(game, reader)

        with long_work():
            items = tuple(_of_each(games, lambda game: game.id, summary))
        return GamePage(items, None if following is None else _cursor(following))

    # --- One game ----------------------------------------------------------------------

    def events(self, loaded: LoadedGame, since: int, limit: int) -> EventPage:
        """What happened in a game after a version, as the caller is told it.

        The items may have been asked for along with the game.
        """
        game = loaded.game
        if since > game.version:
            return EventPage((), game.version, False, game.status, True)
        known = read_items(loaded.along[0]) if loaded.along else None
        items = self._items(game, since, min(since + limit, game.version), known)
        return self._event_page(loaded, items, since + len(items))

    def events_after(self, loaded: LoadedGame, seen: Version, limit: int) -> EventPage | None:
        """What happened after a version, None if that version is not what it was."""
        game = loaded.game
        if seen.number > game.version:
            return None
        first = max(seen.number - 1, 0)
        last = min(seen.number + limit, game.version)
        items = self._items(game, first, last)
        if len(items) < last - first:
            return None
        if seen.number > 0:
            known, *items = items
            # Without an id it is in the middle of a commit, and was not what was seen either.
            if seen.id and known.version_id != seen.id:
                return None
        return self._event_page(loaded, items, last)

    def _items(
        self, game: Game, since: int, last: int, known: list[Item] | None = None
    ) -> list[Item]:
        """What happened from one version to another; none of it if the store has lost some.

        `known` is what was read with the game, from the one version on.

        The game is read before: between the two a failover may have put another past in its place.
        """
        if last <= since:
            items = []
        elif known is not None:
            items = known[: last - since]
        else:
            items = self.store.items(game.id, since + 1, last)
        is_whole = len(items) == last - since == game.version - since
        if is_whole and items and game.version_id not in ("", items[-1].version_id):
            return []
        return items

    def _event_page(self, loaded: LoadedGame, items: Sequence[Item], last: int) -> EventPage:
        """A part of what happened, up to a version, as the caller is told it."""
        game = loaded.game
        return EventPage(
            item_answers(items, loaded.seat), last, last < game.version, game.status, False
        )

    def _all_items(self, game: Game) -> Iterator[Item]:
        """All that happened in a game, some at a time: there may be very much of it."""
        for first in range(1, game.version + 1, ITEMS_AT_ONCE):
            yield from self.store.items(game.id, first, first + ITEMS_AT_ONCE - 1)

    def presence(self, loaded: LoadedGame) -> PresenceAnswer:
        """When each seat's player was last heard of."""
        playing = [
            record.player.id if record.player is not None and record.house is None else None
            for record in loaded.game.seats
        ]
        ids = [player_id for player_id in playing if player_id is not None]
        seen = dict(zip(ids, self.store.last_seen(ids), strict=True))
        return PresenceAnswer(
            tuple(
                SeatPresence(seat, timestamp(at) if player_id and (at := seen[player_id]) else None)
                for seat, player_id in enumerate(playing)
            )
        )

    def check_record(self, loaded: LoadedGame) -> None:
        """Raise `Problem` unless this game was started and has ended."""
        if loaded.game.status not in ENDED:
            raise Problem("game_not_over")
        if loaded.game.started_at is None:
            raise Problem("record_not_found")

    def record(self, loaded: LoadedGame) -> GameRecord:
        """A whole game that was started and has ended. Raises `Problem` for any other."""
        self.check_record(loaded)
        game = loaded.game
        deal = self.store.deal(game.id)
        if deal is None:
            raise Problem("game_not_found")  # it has expired just now
        return GameRecord(
            ruleset=game.ruleset,
            seat_count=game.seat_count,
            options=game.options,
            deal=deal.deal,
            deal_text=deal.deal_text,
            deal_sha256=digest(deal.deal_text),
            moves=tuple(
                recorded
                for each in self._all_items(game)
                if (recorded := _recorded(each)) is not None
            ),
            result=game.result,
        )

    # --- A player's turns --------------------------------------------------------------

    def turns(self, credentials: Credentials | None, since: str | None) -> Turns:
        """The games that wait for the caller, those that ended, and whether any of it is new."""
        if credentials is None:
            raise Problem("missing_token")
        caller = credentials.player_id
        given = None if since is None else _read_turns_cursor(since)
        playing = Page(Entry(places(caller), PLAYING), None, MAX_TURNS)
        along = [playing.beginning]
        if given is not None:
            along.append(_asking_ended(caller, given))
        reading = self.store.read(caller, along=along)
        self.players.authenticate(reading, credentials)
        seen = _to_tell(given, reading.now)
        waiting = self._waiting(caller, playing, reading)
        answers = reading.along[1:]
        if seen is not given or reading.along[0]:
            # After the games: of what has ended meanwhile, no answer says neither.
            answers = self.store.client.ask([_asking_ended(caller, seen)])
        entries = read_entries(answers[0])
        marks = [_turn_mark(game) for game, _ in waiting]
        ended, since_then, told = self._ended(caller, seen, entries, reading.now)
        return Turns(
            now=reading.now,
            caller=caller,
            seen=seen.marks,
            is_news=bool(ended) or not seen.marks.issuperset(marks),
            answer=TurnsAnswer(
                items=tuple(answer for _, answer in waiting),
                ended=tuple(EndedGame(game.id, game.result) for game in ended),
                cursor=_turns_cursor(since_then, marks + told),
            ),
        )

    def _waiting(self, caller: str, playing: Page, reading: Reading) -> list[tuple[Game, Raw]]:
        """The games with the caller to move. Documents first: most games wait for others.

        Of many games that are due, some are settled; the others are left out, since nobody can
        tell yet whose turn it will be. Which ones is left to chance, so that games which cannot
        be settled keep no others from it.
        """
        now = reading.now

        def answer(found: StoredGame) -> tuple[Game, Raw]:
            pause()
            return found.game, game_answer(found, found.game.audience_of(caller))

        games, _ = self.indexes.page(playing, now, reading.along[0])
        due = [game.id for game in games if is_due(game, now)]
        ids = [game.id for game in games if _waits_for(game, caller) and not is_due(game, now)]
        ids += self.transactions.rng.sample(due, min(len(due), MAX_SETTLED))
        found = [each for each in self.store.games_with_state(ids).values() if each is not None]
        settled = _of_each(found, _game_id, lambda each: self._settled(each, now))
        waiting = [each for each in settled if each is not None and _waits_for(each.game, caller)]
        with long_work():
            answers = list(_of_each(waiting, _game_id, answer))
        return sorted(answers, key=lambda each: each[0].turn_started_at or 0)

    def _settled(self, found: StoredGame, now: int) -> StoredGame | None:
        """A game after what the clock and the house had to do, whoever did it."""
        if not is_due(found.game, now):
            return found
        settled = self.transactions.settle_if_possible(found, now)
        return settled or self.store.read(None, found.game.id).found

    def _ended(
        self, caller: str, seen: TurnsCursor, entries: list[tuple[str, int]], now: int
    ) -> tuple[list[Game], int, list[bytes]]:
        """The games that ended and were not told yet; from when on to look next, and past whom.

        `entries` are those that may have ended since, and when.

        A commit may be under way, so what ended a little before is looked at again, and marks
        tell what of it was told. When there are too many to remember, it is looked at no more.
        """
        new = [each for each in entries if _end_mark(each[0]) not in seen.marks][:MAX_ENDED]
        found = self.store.games([each[0] for each in new]).values()
        games = [game for game in found if game is not None]
        games = [game for game in games if game.status in ENDED and caller in game.company()]
        until = new[-1][1] if len(new) == MAX_ENDED else now
        since = max(seen.since, until - COMMIT_MS)
        told = {game.id for game in games}
        past = [
            (game_id, at)
            for game_id, at in entries
            if at >= since and (game_id in told or _end_mark(game_id) in seen.marks)
        ]
        if len(past) > MAX_END_MARKS:
            since = past[-MAX_END_MARKS - 1][1] + 1
        return games, since, [_end_mark(game_id) for game_id, _ in past[-MAX_END_MARKS:]]


def _of_each(
    games: Iterable[Looked],
    game_id: Callable[[Looked], str],
    make: Callable[[Looked], Made],
) -> Iterator[Made]:
    """What is made of each of some games; one that fails is left out, so that it hides no other."""
    for game in games:
        try:
            yield make(game)
        except (RedisError, Problem):
            raise
        except Exception as error:
            # A position that can be read may still be one that no rule knows what to do with.
            log_unreadable(game_id(game), error)


def _recorded(happened: Item) -> MadeMove | RunOutCountdown | None:
    """An item's place in the record: a move, a countdown that ran out, or none."""
    at = timestamp(happened.at)
    if happened.move != NOT_A_MOVE and happened.seat is not None:
        return MadeMove(happened.seat, happened.move, happened.turn, at, happened.by)
    return RunOutCountdown(happened.turn, at) if happened.by == BY_CLOCK else None


def _game_id(found: StoredGame) -> str:
    return found.game.id


def _waits_for(game: Game, player_id: str) -> bool:
    return game.status == PLAYING and game.seat_of(player_id) in game.to_move


# --- Cursors: opaque to clients ----------------------------------------------------------

_CURSOR = re.compile(r"([0-9]{1,15})-([0-9a-f]{32})")


def _cursor(position: Position) -> str:
    return f"{position.created_at}-{position.game_id}"


def _read_cursor(text: str) -> Position:
    match = _CURSOR.fullmatch(text)
    if match is None:
        raise _bad_cursor("cursor")
    return Position(int(match[1]), match[2])


class TurnsCursor(NamedTuple):
    """From when on (ms) a caller of listTurns wants to be told, and marks of what it was told."""

    since: int
    marks: frozenset[bytes]


MARK_SIZE = 6
_TURNS_CURSOR = re.compile(r"([0-9]{1,15})\.([A-Za-z0-9_-]{0,4096})")


def _turns_cursor(since: int, marks: list[bytes]) -> str:
    return f"{since}.{urlsafe_b64encode(b''.join(marks)).decode()}"


def _read_turns_cursor(text: str) -> TurnsCursor:
    match = _TURNS_CURSOR.fullmatch(text)
    # A mark's six bytes are eight characters, so there is never any padding.
    if match is None or len(match[2]) % 8:
        raise _bad_cursor("since")
    joined = urlsafe_b64decode(match[2])
    marks = (joined[at : at + MARK_SIZE] for at in range(0, len(joined), MARK_SIZE))
    return TurnsCursor(int(match[1]), frozenset(marks))


def _to_tell(given: TurnsCursor | None, now: int) -> TurnsCursor:
    """From when on endings are told, by the cursor that was given."""
    if given is None:
        return TurnsCursor(now - ENDED_SHOWN_MS, frozenset())
    if given.since > now:
        # A clock that was set back puts what ends from then on before what was told already.
        return given._replace(since=now - COMMIT_MS)
    return given


def _asking_ended(caller: str, seen: TurnsCursor) -> Command:
    # Those that were told already may be among them.
    return asking_ended(caller, seen.since, MAX_ENDED + len(seen.marks))


def _turn_mark(game: Game) -> bytes:
    return _mark(f"{game.id} {game.turn} {game.deadline}")


def _end_mark(game_id: str) -> bytes:
    return _mark(f"{game_id} ended")


def _mark(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=MARK_SIZE).digest()


def _bad_cursor(parameter: str) -> Problem:
    detail = "This is not a cursor that this service gave out."
    return Problem("invalid_request", detail, errors=(FieldError(detail, parameter=parameter),))
