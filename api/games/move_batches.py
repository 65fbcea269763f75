"""Batches of moves: many moves, of one or of many games, in one read and one commit of the store.

Each move has the outcome that it would have alone, and moves in different games are independent of
each other. Moves in one game are played in their order: each is decided on the game as the one
before it leaves it, and the commits are sent together, each for the commit before it.

A move that needs more than that is played alone, after the others, and so are those that follow it
in its game: if the game is due or of an earlier format, if another request commits first, if the
move is in the batch twice, or if a careful house player has to choose, which takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from api.concurrency.time_slices import long_work, pause
from api.games.moves import Moves, PlayedMove, change_by_move, key_of_move
from api.games.players import Credentials
from api.games.transactions import CommitOutcome, LoadedGame, LoadedWithMoves, apply_change
from api.model.game import HistoryItem
from api.problems.problem import Problem
from api.storage.errors import UNREACHABLE
from api.storage.games import Commit, ItemRange, Versions
from engine.ruleset import Move

BatchOutcome = PlayedMove | Exception
"""A move that was played, or why it was not: what `Moves.play` returns or raises."""


class BatchedMove(NamedTuple):
    """A move of a batch, with its game and its turn."""

    game_id: str
    turn: int
    move: Move


class MoveBatches:
    """Plays batches of moves."""

    def __init__(self, moves: Moves) -> None:
        self.moves = moves

    def play(self, credentials: Credentials, batch: Sequence[BatchedMove]) -> list[BatchOutcome]:
        """Play moves, and return their outcomes in the same order.

        Raises `Problem` as authentication does, and `redis.RedisError` if the caller cannot be
        read.
        """
        keys = [key_of_move(credentials.player_id, each.turn, each.move) for each in batch]
        keys_by_game: dict[str, list[str]] = {}
        for each, key in zip(batch, keys, strict=True):
            keys_by_game.setdefault(each.game_id, []).append(key)
        found = self.moves.transactions.load_all(credentials, keys_by_game)
        together = _Together(self.moves, batch)
        with long_work():
            for at, key in enumerate(keys):
                pause()
                together.decide(at, key, found[batch[at].game_id])
        together.commit()
        together.read_earlier_moves()
        outcomes = together.outcomes
        for at, each in enumerate(batch):
            if at not in outcomes:
                outcomes[at] = self._play_alone(credentials, each)
                if isinstance(outcomes[at], UNREACHABLE):
                    # Fail fast: each other move would wait for the timeout, too.
                    return [outcomes.get(index, outcomes[at]) for index in range(len(batch))]
        return [outcomes[at] for at in range(len(batch))]

    def _play_alone(self, credentials: Credentials, wanted: BatchedMove) -> BatchOutcome:
        try:
            return self.moves.play(credentials, *wanted, lambda tag: True)
        except Problem as problem:
            return _refusal(problem)
        except Exception as error:
            return error


def _refusal(problem: Problem) -> Problem:
    """Return why a move was refused, without its traceback and its context.

    Their frames refer to the outcomes, so the whole request would stay in memory until a garbage
    collection. Other errors keep theirs for the log.
    """
    problem.__context__ = None
    return problem.with_traceback(None)


class _Together:
    """The moves of a batch that are played together.

    Attributes:
        outcomes: By the index of the move. A move that has none is to be played alone.
    """

    def __init__(self, moves: Moves, batch: Sequence[BatchedMove]) -> None:
        self.outcomes: dict[int, BatchOutcome] = {}
        self._moves = moves
        self._batch = batch
        self._alone: set[str] = set()
        self._latest: dict[str, LoadedGame] = {}
        self._decided: set[tuple[str, str]] = set()
        self._commits: dict[int, tuple[Commit, PlayedMove]] = {}
        self._earlier: dict[int, tuple[ItemRange, LoadedGame]] = {}

    def decide(self, at: int, key: str, found: LoadedWithMoves | Exception | None) -> None:
        """Decide on a move, on its game as the moves before it leave it."""
        game_id = self._batch[at].game_id
        if isinstance(found, Exception):
            self.outcomes[at] = found
            return
        if found is None or game_id in self._alone or (game_id, key) in self._decided:
            self._alone.add(game_id)
            return
        loaded = self._latest.get(game_id, found.loaded)
        versions = found.played_versions.get(key)
        try:
            if versions is None:
                self._play(at, key, loaded)
            else:
                self._repeat(at, versions, loaded)
        except Problem as problem:
            self.outcomes[at] = _refusal(problem)
        except Exception as error:
            self.outcomes[at] = error

    def _play(self, at: int, key: str, loaded: LoadedGame) -> None:
        game_id, turn, move = self._batch[at]
        progress = self._moves.apply(loaded, turn, move)
        if progress.awaits_careful_house:
            self._alone.add(game_id)
            return
        progress.play_house_moves()
        change = change_by_move(progress, key)
        commit = self._moves.transactions.prepare(loaded.game, change, loaded.now)
        stored = apply_change(loaded.stored, commit.change)
        after = LoadedGame(loaded.now, loaded.caller, stored)
        self._latest[game_id] = after
        self._decided.add((game_id, key))
        self._commits[at] = commit, PlayedMove(after, commit.change.items)

    def _repeat(self, at: int, versions: Versions, loaded: LoadedGame) -> None:
        first, last = versions
        if loaded.game.version < last or self._moves.store.client.waits_for_replicas:
            # The game was read before the move was committed; or the commit must be confirmed.
            self._alone.add(loaded.game.id)
        else:
            self._earlier[at] = ItemRange(loaded.game, first, last), loaded

    def commit(self) -> None:
        """Commit the moves that were decided."""
        commits = [commit for commit, _ in self._commits.values()]
        results: Sequence[CommitOutcome | Exception]
        try:
            results = self._moves.transactions.commit_all(commits)
        except Exception as error:
            results = [error] * len(commits)
        given_up: set[str] = set()
        for (at, (_, played)), result in zip(self._commits.items(), results, strict=True):
            game_id = self._batch[at].game_id
            if result is True:
                self.outcomes[at] = played
            elif game_id not in given_up:
                given_up.add(game_id)
                self._give_up(at, result)

    def _give_up(self, at: int, failure: bool | Exception) -> None:
        """Note why a move was not committed. Those after it were decided on what it would make."""
        game_id = self._batch[at].game_id
        for later in range(at, len(self._batch)):
            if self._batch[later].game_id == game_id:
                self.outcomes.pop(later, None)
                self._earlier.pop(later, None)
                if isinstance(failure, UNREACHABLE):
                    self.outcomes[later] = failure
        if isinstance(failure, Exception):
            self.outcomes[at] = failure

    def read_earlier_moves(self) -> None:
        """Read the items of the moves that were played before."""
        if not self._earlier:
            return
        ranges = [wanted for wanted, _ in self._earlier.values()]
        histories: Sequence[Sequence[HistoryItem] | Exception]
        try:
            histories = self._moves.store.histories(ranges)
        except Exception as error:
            histories = [error] * len(ranges)
        for (at, ((_, first, last), loaded)), items in zip(
            self._earlier.items(), histories, strict=True
        ):
            if isinstance(items, Exception):
                self.outcomes[at] = items
            elif len(items) > last - first:
                self.outcomes[at] = PlayedMove(loaded, tuple(items), is_repeated=True)
