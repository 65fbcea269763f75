"""Counts what callers do by the policies, and tells when a caller has reached a limit.

The library `limits` is not used: it would need a storage and two subclasses of our own, as its
storages open their own connections to Redis or grow without bound, and the rest of it is one
comparison.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from redis import RedisError

from api.config.rate_policies import Policy
from api.observability import metrics
from api.observability.context import current
from api.problems.problem import Problem
from api.storage.client import Deferred, StoreClient, execute_with
from api.storage.counters import SharedCounters, Window, WorkerCounters
from api.storage.errors import Unreadable, count_failure

AWAY_SECONDS = 1.0
"""How long `note` does not use a store that has just failed, so that only one request waits."""


class Standing(NamedTuple):
    """The standing of a caller with a policy.

    `remaining` is what is left in the window, which ends in `reset` seconds.
    """

    policy: Policy
    is_over: bool
    remaining: int
    reset: int


def refuse_if_over(standing: Standing | None) -> None:
    """Raise `Problem` (``too_many_requests``) and tell the standing if the limit is used up."""
    if standing is not None and standing.is_over:
        current().tell(standing)
        raise too_many(standing)


def too_many(standing: Standing) -> Problem:
    """Return the problem for a request over a limit, and count it in the metrics."""
    policy = standing.policy
    metrics.rate_limited(policy.name)
    detail = f"The limit of {policy} for {policy.name!r} is used up for {standing.reset} s."
    return Problem("too_many_requests", detail, headers={"Retry-After": str(standing.reset)})


class Limiter:
    """Counts by policy and by key, which is an address, a token or a game."""

    def __init__(self, client: StoreClient, policies: Iterable[Policy]) -> None:
        self._policies = {each.name: each for each in policies}
        self._client = client
        self._own = WorkerCounters()
        self._shared = SharedCounters(client)
        self._away_until = 0.0

    def policy(self, name: str) -> Policy | None:
        """Return the policy of this name, None if it is off."""
        return self._policies.get(name)

    def count(self, name: str, key: str) -> Standing | None:
        """Count one more, unless the limit is reached; None if the policy is off.

        Raises:
            redis.RedisError: the policy is counted in the store, which failed.
        """
        policy = self._policies.get(name)
        if policy is None:
            return None
        counters, counter = self._counters(policy), _counter(policy, key)
        window = counters.window(counter)
        # A limit that is known to be reached is refused without a round trip.
        is_over = window.total >= policy.amount
        if not is_over:
            window = counters.add(counter, policy.seconds)
            # Other workers may have reached the limit in the meantime.
            is_over = window.total > policy.amount
        return _standing(policy, window, is_over)

    def take(self, *names: str) -> None:
        """Count the current request for some limits, in one round trip; tell its standings.

        Raises:
            Problem: ``too_many_requests``.
            redis.RedisError: as `count`.
        """
        self._execute(self.defer(*names))

    def defer(self, *names: str) -> list[Deferred]:
        """Count the current request for the limits of this worker, and defer the shared ones.

        Raises `Problem` as `take` does if a limit is known to be reached; what is deferred raises
        the rest.
        """
        context = current()
        shared: list[tuple[Policy, str]] = []
        for policy in (self._policies[name] for name in names if name in self._policies):
            key = context.address if policy.by_address else context.counted_for
            standing = (self.look if policy.shared else self.count)(policy.name, key)
            if standing is not None and policy.shared and not standing.is_over:
                shared.append((policy, _counter(policy, key)))
            elif standing is not None:
                context.tell(standing)
                refuse_if_over(standing)

        def receive(replies: Sequence[Any]) -> None:
            standings = [
                self._received(*each, reply) for each, reply in zip(shared, replies, strict=True)
            ]
            for standing in standings:
                context.tell(standing)
            for standing in standings:
                refuse_if_over(standing)

        commands = [self._shared.command(counter, policy.seconds) for policy, counter in shared]
        return [Deferred(commands, receive)] if commands else []

    def _received(self, policy: Policy, counter: str, reply: Any) -> Standing:
        window = self._shared.received(counter, reply)
        return _standing(policy, window, window.total > policy.amount)

    def _execute(self, deferred: Sequence[Deferred]) -> None:
        if deferred:
            execute_with(self._client, (), deferred)

    def count_deferred(self) -> Problem | None:
        """Count what the current request has deferred and not sent, as it read nothing.

        Return the problem if a limit is used up. If the store fails, count nothing.
        """
        try:
            self._execute(current().take_deferred())
        except Problem as problem:
            return problem
        except (RedisError, Unreadable) as error:
            count_failure(error)
        return None

    def note(self, name: str, key: str) -> Standing | None:
        """Count what has happened already; None if the policy is off or the store fails."""
        if time.monotonic() < self._away_until:
            return None
        try:
            return self.count(name, key)
        except (RedisError, Unreadable) as error:
            self._note_failure(error)
            return None

    def defer_note(self, name: str, key: str) -> list[Deferred]:
        """Return what counts for a shared limit something that has happened; as `note` does.

        Its receiver tells the standing.
        """
        policy = self._policies.get(name)
        if policy is None or time.monotonic() < self._away_until:
            return []
        context, counter = current(), _counter(policy, key)

        def receive(replies: Sequence[Any]) -> None:
            try:
                context.tell(self._received(policy, counter, replies[0]))
            except (RedisError, Unreadable) as error:
                self._note_failure(error)

        return [Deferred([self._shared.command(counter, policy.seconds)], receive)]

    def _note_failure(self, error: RedisError | Unreadable) -> None:
        """Leave a store that fails alone for a while."""
        if isinstance(error, RedisError):
            count_failure(error)
            self._away_until = time.monotonic() + AWAY_SECONDS

    def look(self, name: str, key: str) -> Standing | None:
        """Return the standing of a caller, as far as this worker knows."""
        policy = self._policies.get(name)
        if policy is None:
            return None
        window = self._counters(policy).window(_counter(policy, key))
        return _standing(policy, window, window.total >= policy.amount)

    def _counters(self, policy: Policy) -> WorkerCounters:
        return self._shared if policy.shared else self._own


def _counter(policy: Policy, key: str) -> str:
    """Return the key of a counter; its hash tag spreads the counters over a cluster."""
    return f"limit:{{{key}}}:{policy.name}:{policy.amount}:{policy.seconds}"


def _standing(policy: Policy, window: Window, is_over: bool) -> Standing:
    reset = max(math.ceil(window.ends_at - time.monotonic()), 1)
    return Standing(policy, is_over, max(policy.amount - window.total, 0), reset)
