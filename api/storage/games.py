"""Players and games in Redis or Valkey.

A game's keys share a hash tag, and one script commits all that a change writes: compare-and-set
on the version and on the random id of the previous commit. Time is the store's, read together
with what it is needed for. This module decides nothing: it reads, and writes what it is given.

| key | holds |
| --- | --- |
| `game:{ID}` | hash: `game` (the document), `state`, `deal`, `version`, `commit` |
| `game:{ID}:items` | list: what happened, the item of version v at index v - 1 |
| `game:{ID}:played` | hash: each move of a player, by player, turn and move, with its items |
| `player:{ID}` | hash: the account |
| `creation:{ID}:{KEY}` | the game that a player created with an Idempotency-Key |
| `ticket:{HASH}` | what a ticket for a stream is for |

A game's version is published on the channel `game:{ID}` by the commit itself; that a player got
into a game, or has a new token, on the channel `player:{ID}` after it. On a cluster they are
published in the old way only where its servers know no other: it tells all of them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import Raw, Struct
from redis import RedisError, ResponseError

from api.concurrency.time_slices import long_work, pause
from api.model.game import FORMAT, Account, Audience, Game, Item, Place, Player, StoredDeal
from api.storage.client import Command, Script, StoreClient, Unreadable, readable
from api.storage.coalescing import SingleFlight
from api.storage.codec import read_state
from api.storage.failures import count_failure
from api.storage.validation import (
    UNDECODABLE,
    NewerFormat,
    UnsupportedFormat,
    check_game,
    check_stored,
    has_unknown_members,
    is_early,
)

TELL = """
local function tell(publish, channel, message)
  local told = redis.pcall(publish, channel, message)
  if type(told) == 'table' and told.err then
    redis.call('PUBLISH', channel, message) -- a cluster of before version 7
  end
end
"""

COMMIT = Script.of(
    TELL
    + """
local publish, life = ARGV[1], ARGV[5]
local stored = redis.call('HMGET', KEYS[1], 'version', 'commit')
if stored[2] == ARGV[4] then
  -- This very commit arrived before, and its answer was lost. Whoever waits for replicas has to
  -- write first.
  redis.call('PEXPIRE', KEYS[1], life)
  return 1
end
if (stored[1] or '') ~= ARGV[2] or (stored[2] or '') ~= ARGV[3] then
  return 0
end
-- What is there is looked at before anything is written, since half a commit is none.
local has = redis.call('LLEN', KEYS[2])
redis.call('HLEN', KEYS[3])
local at = 6
local function take()
  local values = {}
  for i = 1, tonumber(ARGV[at]) do
    values[i] = ARGV[at + i]
  end
  at = at + 1 + #values
  return values
end
local fields = take() -- the first is the version
local items = take()
local played = take()
if has + #items ~= tonumber(fields[2]) then
  return -1
end
redis.call('HSET', KEYS[1], 'commit', ARGV[4], unpack(fields))
if #items > 0 then
  redis.call('RPUSH', KEYS[2], unpack(items))
end
if #played > 0 then
  redis.call('HSET', KEYS[3], unpack(played))
end
for _, key in ipairs(KEYS) do
  redis.call('PEXPIRE', key, life)
end
tell(publish, KEYS[1], fields[2])
return 1
"""
)

TOUCH = Script.of("""
if redis.call('HGET', KEYS[1], 'commit') ~= ARGV[1] then
  return 0
end
local life = redis.call('PTTL', KEYS[1])
if life > 0 then
  redis.call('PEXPIRE', KEYS[1], life)
end
return 1
""")

ADD_PLAYER = Script.of("""
redis.call('HSET', KEYS[1], 'name', ARGV[1], 'kind', ARGV[2], 'token', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
""")

OFFER = Script.of("""
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then
  return false
end
local offered = redis.call('HGET', KEYS[1], 'nonce')
if offered then
  redis.call('HSET', KEYS[1], 'nonce', offered) -- for whoever waits for replicas
  return offered
end
redis.call('HSET', KEYS[1], 'nonce', ARGV[2], 'next_token', ARGV[3], 'next_token_at', ARGV[4])
return ARGV[2]
""")

PROMOTE = Script.of(
    TELL
    + """
if redis.call('HGET', KEYS[1], 'next_token') ~= ARGV[1] then
  return 0
end
redis.call('HSET', KEYS[1], 'token', ARGV[1])
redis.call('HDEL', KEYS[1], 'nonce', 'next_token', 'next_token_at')
tell(ARGV[2], KEYS[1], '')
return 1
"""
)

REMEMBER = Script.of("""
local known = redis.call('GET', KEYS[1])
if known then
  redis.call('PEXPIRE', KEYS[1], redis.call('PTTL', KEYS[1])) -- for whoever waits for replicas
  return known
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ARGV[1]
""")

KEEP = Script.of("""
if redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('HSET', KEYS[1], 'kept_at', ARGV[1])
  if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
  end
end
""")

SEE = Script.of("""
if redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('HSET', KEYS[1], 'seen_at', ARGV[1])
end
""")

GAME_FIELDS = ("game", "state", "version", "commit")
ACCOUNT_FIELDS = ("name", "kind", "token", "next_token", "next_token_at", "kept_at", "seen_at")


class StoredGame:
    """A game and its position, as one read found them or as they were just committed.

    Neither ever changes, so what is worked out of them is kept with them: between two moves the
    same game is asked for again and again.
    """

    __slots__ = ("_position", "game", "shown", "state")

    def __init__(self, game: Game, state: bytes | None, position: Any = None) -> None:
        self.game = game
        self.state = state
        self._position = position
        # The game as it is shown, by audience (see `api.games.representations`).
        self.shown: dict[Audience, Raw] = {}

    @property
    def position(self) -> Any:
        """The position as the rules know it, None before the start.

        Raises `Unreadable` or `UnsupportedFormat`.
        """
        if self._position is None and self.state is not None:
            self._position = read_state(self.game, self.state)
        return self._position


class Reading(NamedTuple):
    """What one round trip found: the time, who may be calling, the game, a move played before.

    And the answers to what was asked along, as they came.
    """

    now: int
    account: Account | None
    found: StoredGame | None
    played: bytes | None
    along: Sequence[Any]


class Change(Struct, frozen=True, kw_only=True):
    """What one commit writes. `game` has the new version and commit id; None is left as it is.

    `position` is what `state` was written of; `played` is a move's key and the versions of the
    items that it caused.
    """

    game: Game
    items: tuple[Item, ...] = ()
    state: bytes | None = None
    position: Any = None
    deal: StoredDeal | None = None
    played: tuple[str, str] | None = None


class TokenOffer(NamedTuple):
    """A new token: what it was worked out with, its hash, and when (ms)."""

    nonce: str
    token: str
    at: int


class Creation(Struct, frozen=True):
    """A creation that is safe to repeat: the game's id, and a digest of what was asked."""

    game_id: str
    digest: str


class Ticket(Struct, frozen=True):
    """What a ticket is for: one game, as one player sees it at its place, with its token's hash."""

    game_id: str
    player_id: str
    secret_hash: str
    place: Place


log = logging.getLogger("ludotheque")

MOST_KEPT = 128
"""So many games are not read anew as long as the store has the very same of them."""

MOST_KEPT_BYTES = 16 * 1024
"""Games that take more are read anew each time, so that what is kept stays small."""

Kept = TypeVar("Kept")


class _Format(Struct):
    format: int = FORMAT


_format_decoder = msgspec.json.Decoder(_Format)
_game_decoder = msgspec.json.Decoder(Game)
_item_decoder = msgspec.json.Decoder(Item)
_deal_decoder = msgspec.json.Decoder(StoredDeal)
_creation_decoder = msgspec.json.Decoder(Creation)
_ticket_decoder = msgspec.json.Decoder(Ticket)
_encode = msgspec.json.Encoder().encode


class Snapshot(NamedTuple):
    """What one look at a game found: the time (ms), and the game unless it has expired."""

    now: int
    found: StoredGame | None


class GameMark(NamedTuple):
    """What tells two contents of a game apart; of one that has expired, nothing."""

    version: int | None
    commit: str | None


class Condition(NamedTuple):
    """How a server is doing.

    What it drops when its memory is full, whether it is a master, and why it refuses changes: a
    sentence, or None if it accepts them.
    """

    eviction_policy: str | None
    is_master: bool
    refusal: str | None


class Store:
    """All that is kept, behind typed calls.

    Any call may raise `redis.RedisError`, and `Unreadable` for what cannot be what was kept, or
    its kinds `NewerFormat` and `UnsupportedFormat`. Who asks for several things is told of each by
    itself.
    """

    def __init__(self, client: StoreClient) -> None:
        self.client = client
        self._conditions = SingleFlight(self._look_at_servers)

    # --- Games -------------------------------------------------------------------------

    def read(
        self,
        player_id: str | None,
        game_id: str | None = None,
        played: str | None = None,
        along: Sequence[Command] = (),
    ) -> Reading:
        """The time, a player, a game and a move played before, in one round trip.

        The time is that of the server that has the game, or else the player. What else is asked
        `along` may be answered with `Unreadable`, which is not raised: it is about that alone.
        """
        commands = []
        if game_id is not None:
            commands += [_time(_game_key(game_id)), _hmget(_game_key(game_id), GAME_FIELDS)]
        elif player_id is not None:
            commands.append(_time(_player_key(player_id)))
        else:
            commands.append(_time(""))
        if player_id is not None:
            commands.append(_hmget(_player_key(player_id), ACCOUNT_FIELDS))
        if game_id is not None and played is not None:
            key = _played_key(game_id)
            commands.append(Command(key, ("HGET", key, played)))
        own = len(commands)
        asked = self.client.ask([*commands, *along], apart=True)
        answers = iter(map(readable, asked[:own]))
        now = _milliseconds(next(answers))
        found = _stored_game(game_id, next(answers)) if game_id is not None else None
        account = _account(player_id, next(answers)) if player_id is not None else None
        return Reading(now, account, found, next(answers, None), asked[own:])

    def games(self, ids: Sequence[str]) -> dict[str, Game | None]:
        """The documents of some games, None for each that there is no more.

        One that cannot be read is left out, so that it hides no other.
        """
        found = self._games(ids, ("game",))
        games = {each: None if game is None else game.game for each, game in found.items()}
        early = [each for each, game in games.items() if game is not None and is_early(game)]
        # Only their positions tell whether this release can play them.
        playable = self._games(early, GAME_FIELDS)
        return {each: games[each] for each in games if each not in early or each in playable}

    def games_with_state(self, ids: Sequence[str]) -> dict[str, StoredGame | None]:
        """Some games with their positions, as `games`."""
        return self._games(ids, GAME_FIELDS)

    def _games(self, ids: Sequence[str], fields: Sequence[str]) -> dict[str, StoredGame | None]:
        if not ids:
            return {}
        answers = self.client.ask([_hmget(_game_key(each), fields) for each in ids], apart=True)
        found = {}
        with long_work():
            for game_id, values in zip(ids, answers, strict=True):
                pause()
                try:
                    found[game_id] = _stored_game(game_id, values)
                except Unreadable as error:
                    log_unreadable(game_id, error)
        return found

    def commit(self, before: Game | None, change: Change, life_ms: int) -> bool:
        """Write a change if the game still is what it was decided upon; tell whether.

        Raises `Unreadable` if what happened before is not what is kept of it.
        """
        game = change.game
        fields: list[Any] = ["version", game.version, "game", _encode(game)]
        if change.state is not None:
            fields += ["state", change.state]
        if change.deal is not None:
            fields += ["deal", _encode(change.deal)]
        items = [_encode(each) for each in change.items]
        played = list(change.played or ())
        args: list[Any] = [
            self.client.publish,
            "" if before is None else before.version,
            "" if before is None else before.commit,
            game.commit,
            life_ms,
        ]
        for values in (fields, items, played):
            args += [len(values), *values]
        keys = (_game_key(game.id), _items_key(game.id), _played_key(game.id))
        outcome = self._durably(COMMIT.on(*keys, args=args))
        if outcome < 0:
            raise Unreadable
        return bool(outcome)

    def confirm(self, game: Game) -> bool:
        """Make sure that a game as it was read is not lost, before it is said again; tell whether.

        An earlier answer may have been that it was not replicated. False if it is another by now:
        it may have been read where the master was until then.
        """
        if not self.client.waits_for_replicas:
            return True
        return bool(self._durably(TOUCH.on(_game_key(game.id), args=(game.commit,))))

    def items(self, game_id: str, first: int, last: int) -> list[Item]:
        """What happened, from one version to another, both included."""
        (found,) = self.client.ask([asking_items(game_id, first, last)])
        return read_items(found)

    def deal(self, game_id: str) -> StoredDeal | None:
        """The deal of a game that was started."""
        key = _game_key(game_id)
        found = self._ask(key, "HGET", key, "deal")
        return None if found is None else _decode(_deal_decoder, found)

    # --- Waiting -----------------------------------------------------------------------

    def look(self, ids: Sequence[str]) -> list[Snapshot | Unreadable]:
        """What some games are now, or why that cannot be told of one."""
        keys = [_game_key(each) for each in ids]
        commands = [each for key in keys for each in (_time(key), _hmget(key, GAME_FIELDS))]
        answers = self.client.ask(commands, apart=True)
        looks = []
        with long_work():
            for game_id, time, values in zip(ids, answers[::2], answers[1::2], strict=True):
                pause()
                looks.append(_look(game_id, _milliseconds(time), values))
        return looks

    def marks(self, ids: Sequence[str]) -> list[GameMark | None]:
        """Which version and commit some games are at, None for each that cannot be read."""
        keys = [_game_key(each) for each in ids]
        answers = self.client.ask([_hmget(key, ("version", "commit")) for key in keys], apart=True)
        return [_game_mark(values) for values in answers]

    def announce(self, player_ids: Iterable[str]) -> None:
        """Wake these players' waiting requests. That it may fail is all right."""
        channels = [player_channel(each) for each in player_ids]
        if not channels:
            return
        try:
            self._announce(channels)
        except RedisError as error:
            count_failure(error)

    def _announce(self, channels: list[str]) -> None:
        try:
            self.client.ask([Command(each, (self.client.publish, each, "")) for each in channels])
        except ResponseError:
            # A cluster of before version 7.
            self.client.ask([Command(each, ("PUBLISH", each, "")) for each in channels])

    def add_ticket(self, ticket: str, holder: Ticket, life_ms: int) -> None:
        """Keep a ticket (its hash) and what it is for."""
        key = _ticket_key(ticket)
        self._ask(key, "SET", key, _encode(holder), "PX", life_ms)

    def ticket(self, ticket: str) -> Ticket | None:
        """What a ticket (its hash) is for."""
        key = _ticket_key(ticket)
        found = self._ask(key, "GET", key)
        return None if found is None else _decode(_ticket_decoder, found)

    # --- Players -----------------------------------------------------------------------

    def add_player(self, player: Player, token: str, life_ms: int) -> None:
        """Keep a new player, for as long as one is kept who was in no game."""
        args = (player.name, player.kind, token, life_ms)
        self._durably(ADD_PLAYER.on(_player_key(player.id), args=args))

    def players(self, ids: Sequence[str]) -> list[Player | None]:
        """The players of these ids, None for each that there is not."""
        if not ids:
            return []
        answers = self.client.ask([_hmget(_player_key(each), ACCOUNT_FIELDS) for each in ids])
        players = [_account(i, values) for i, values in zip(ids, answers, strict=True)]
        return [None if account is None else account.player for account in players]

    def keep_player(self, player_id: str, now: int, life_ms: int) -> None:
        """Renew a player's life: it is at least this long from now on."""
        self.client.ask([keeping(player_id, now, life_ms)])

    def see_player(self, player_id: str, now: int) -> None:
        """Note that a player was heard of."""
        self.client.ask([SEE.on(_player_key(player_id), args=(now,))])

    def last_seen(self, ids: Sequence[str]) -> list[int | None]:
        """When (ms) each of these players was last heard of, None for one who never was.

        And for one of whom it cannot be told: the others were heard of all the same.
        """
        if not ids:
            return []
        keys = [_player_key(each) for each in ids]
        commands = [Command(key, ("HGET", key, "seen_at")) for key in keys]
        return [_seen_at(answer) for answer in self.client.ask(commands, apart=True)]

    def offer_token(self, player_id: str, token: str, offer: TokenOffer) -> str | None:
        """Note a new token beside the present one, unless one is noted; the nonce of what is.

        None if the present token (its hash) is another one.
        """
        args = (token, offer.nonce, offer.token, offer.at)
        offered = self._durably(OFFER.on(_player_key(player_id), args=args))
        return None if offered is None else offered.decode()

    def promote_token(self, player_id: str, token: str) -> None:
        """A new token was used: from now on it is the only one."""
        args = (token, self.client.publish)
        self._durably(PROMOTE.on(_player_key(player_id), args=args))

    def creation(self, player_id: str, key: str) -> Creation | None:
        """The creation that this player's key stands for, if it was used."""
        name = _creation_key(player_id, key)
        found = self._ask(name, "GET", name)
        return None if found is None else _decode(_creation_decoder, found)

    def remember_creation(
        self, player_id: str, key: str, creation: Creation, life_ms: int
    ) -> Creation:
        """The creation that this player's key stands for: this one, or the first one with it."""
        name = _creation_key(player_id, key)
        known = self._durably(REMEMBER.on(name, args=(_encode(creation), life_ms)))
        return _decode(_creation_decoder, known)

    # --- The servers -------------------------------------------------------------------

    def conditions(self) -> list[Condition]:
        """How every server that has keys is doing. Anybody may ask, as often as they like."""
        return self._conditions.get()

    def _look_at_servers(self) -> list[Condition]:
        found = []
        for answer in self.client.everywhere("INFO"):
            facts = dict(line.split(":", 1) for line in answer.decode().splitlines() if ":" in line)
            found.append(_condition(facts))
        return found

    def is_full(self) -> bool:
        """Whether a server says that its memory or its disk is full."""
        return any(each.refusal is not None for each in self.conditions())

    # --- Asking ------------------------------------------------------------------------

    def _ask(self, key: str, *words: Any) -> Any:
        (answer,) = self.client.ask([Command(key, words)])
        return answer

    def _durably(self, command: Command) -> Any:
        (answer,) = self.client.ask([command], durable=True)
        return answer


def game_channel(game_id: str) -> str:
    """Where each commit of a game is told of."""
    return _game_key(game_id)


def player_channel(player_id: str) -> str:
    """Where it is told that a player got into a game, or has a new token."""
    return _player_key(player_id)


def keeping(player_id: str, now: int, life_ms: int) -> Command:
    """What `Store.keep_player` sends, for whoever sends more with it."""
    return KEEP.on(_player_key(player_id), args=(now, life_ms))


def asking_items(game_id: str, first: int, last: int) -> Command:
    """What `Store.items` asks, for whoever asks it along; `read_items` reads the answer."""
    key = _items_key(game_id)
    return Command(key, ("LRANGE", key, first - 1, last - 1))


def read_items(answer: Any) -> list[Item]:
    """What happened, from what the store says of it. Raises `Unreadable`."""
    items = []
    with long_work():
        for each in readable(answer):
            pause()
            items.append(_decode(_item_decoder, each))
    return items


def _game_key(game_id: str) -> str:
    return f"game:{{{game_id}}}"


def _items_key(game_id: str) -> str:
    return f"game:{{{game_id}}}:items"


def _played_key(game_id: str) -> str:
    return f"game:{{{game_id}}}:played"


def _player_key(player_id: str) -> str:
    return f"player:{{{player_id}}}"


def _creation_key(player_id: str, key: str) -> str:
    return f"creation:{{{player_id}}}:{key}"


def _ticket_key(ticket: str) -> str:
    return f"ticket:{{{ticket}}}"


def _condition(facts: Mapping[str, str]) -> Condition:
    """How a server is doing, by what its INFO says."""
    return Condition(facts.get("maxmemory_policy"), facts.get("role") == "master", _refusal(facts))


DISK_FULL_MAXMEMORY = "1"
"""The maxmemory (bytes) that `api.server.valkey_supervisor` sets while the disk is full."""


def _refusal(facts: Mapping[str, str]) -> str | None:
    """Why a server refuses changes, as a sentence for the operator."""
    if facts.get("maxmemory") == DISK_FULL_MAXMEMORY:
        return "The store refuses changes: the disk of DATA_DIR is full. Free some space there."
    limit = int(facts.get("maxmemory", 0))
    used = int(facts.get("used_memory", 0)) - int(facts.get("mem_not_counted_for_evict", 0))
    if 0 < limit < used:
        return (
            f"The store refuses changes: its memory is full ({used} bytes of {limit}). Raise its "
            "maxmemory."
        )
    if facts.get("aof_last_write_status", "ok") != "ok":
        return "The store refuses changes: it cannot write to its disk (aof_last_write_status)."
    if facts.get("rdb_last_bgsave_status", "ok") != "ok":
        return "The store may refuse changes: its last snapshot failed (rdb_last_bgsave_status)."
    return None


def _time(key: str) -> Command:
    return Command(key, ("TIME",))


def _hmget(key: str, fields: Sequence[str]) -> Command:
    return Command(key, ("HMGET", key, *fields))


def _milliseconds(time: Sequence[bytes]) -> int:
    return int(time[0]) * 1000 + int(time[1]) // 1000


def _account(player_id: str, values: list[bytes | None]) -> Account | None:
    name, kind, token, next_token, next_token_at, kept_at, seen_at = values
    if name is None or kind is None or token is None:
        return None
    try:
        return Account(
            player=Player(player_id, name.decode(), kind.decode()),
            token=token.decode(),
            next_token=next_token.decode() if next_token else None,
            next_token_at=int(next_token_at or 0),
            kept_at=int(kept_at or 0),
            seen_at=int(seen_at or 0),
        )
    except ValueError as error:
        raise Unreadable from error


def _seen_at(answer: bytes | Unreadable | None) -> int | None:
    if isinstance(answer, bytes) and answer.isdigit():
        return int(answer)
    return None


def _game_mark(values: list[bytes | None] | Unreadable) -> GameMark | None:
    if isinstance(values, Unreadable):
        return None
    version, commit = values
    try:
        return GameMark(
            None if version is None else int(version), None if commit is None else commit.decode()
        )
    except ValueError:
        return None


def _look(game_id: str, now: int, values: list[bytes | None] | Unreadable) -> Snapshot | Unreadable:
    try:
        return Snapshot(now, _stored_game(game_id, values))
    except Unreadable as error:
        return error


def _stored_game(game_id: str, values: list[bytes | None] | Unreadable) -> StoredGame | None:
    """A game from some of its fields: the document, and perhaps the others of `GAME_FIELDS`."""
    document, *beside = readable(values)
    if document is None:
        return None
    if not beside or sum(len(value or b"") for value in (document, *beside)) > MOST_KEPT_BYTES:
        return _read_game(game_id, document, *beside)
    return _known_game(game_id, document, *beside)


def _read_game(game_id: str, document: bytes, *beside: bytes | None) -> StoredGame:
    try:
        game = _game_decoder.decode(document.decode())
        check_game(game, game_id)
        if beside:
            check_stored(game, *beside)
    except UNDECODABLE as error:
        # Whatever else a newer release has changed, it says that it has.
        if _is_newer(document):
            raise NewerFormat(game_id) from None
        if has_unknown_members(document, Game):
            raise UnsupportedFormat(game_id) from None
        raise Unreadable from error
    state = beside[0] if beside else None
    # Other positions are decoded only when a request needs them. The format of an early release
    # must be noticed by every request.
    position = read_state(game, state) if state is not None and is_early(game) else None
    return StoredGame(game, state, position)


_known_game = lru_cache(MOST_KEPT)(_read_game)


def _is_newer(document: bytes) -> bool:
    try:
        return _format_decoder.decode(document).format > FORMAT
    except UNDECODABLE:
        return False


def _decode(decoder: msgspec.json.Decoder[Kept], value: bytes) -> Kept:
    try:
        # By way of a text: what is kept raw would else be looked at by nobody.
        return decoder.decode(value.decode())
    except UNDECODABLE as error:
        raise Unreadable from error


def log_unreadable(game_id: str, error: Exception) -> None:
    """Say that a game cannot be read: what was raised where, and nothing of what is there."""
    if isinstance(error, NewerFormat):
        log.warning("game %s was written by a newer release", game_id)
    elif isinstance(error, UnsupportedFormat):
        log.warning("game %s has a format of an earlier release that is not supported", game_id)
    else:
        log.error("game %s cannot be read", game_id, exc_info=error)
