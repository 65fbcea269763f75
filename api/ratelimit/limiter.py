"""Counts what callers do, and tells when it is too much. What is counted is others' business."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import NamedTuple

from limits import RateLimitItem, RateLimitItemPerSecond
from limits.strategies import FixedWindowRateLimiter
from redis import RedisError

from api.config.rate_policies import Policy
from api.observability import metrics
from api.problems.problem import Problem
from api.storage.client import StoreClient, Unreadable
from api.storage.counters import SharedCounts, WorkerCounts

AWAY_SECONDS = 1.0
"""So long nothing is noted in a store that has just failed: whoever fails anyway waits once."""


class Standing(NamedTuple):
    """How a caller stands with a limit: how much is left, and in how many seconds all is again."""

    policy: Policy
    is_over: bool
    remaining: int
    reset: int


def too_many(standing: Standing) -> Problem:
    """Return the problem for a request over a limit, and count it in the metrics."""
    policy = standing.policy
    metrics.rate_limited(policy.name)
    detail = f"The limit of {policy} for {policy.name!r} is used up for {standing.reset} s."
    return Problem("too_many_requests", detail, headers={"Retry-After": str(standing.reset)})


class Limiter:
    """Counts by the policies, each for whoever it is about; those that are off count nothing."""

    def __init__(self, client: StoreClient, policies: Iterable[Policy]) -> None:
        self._policies = {each.name: each for each in policies}
        self._items = {each.name: _item(each) for each in self._policies.values()}
        self._own = _Counting(WorkerCounts())
        self._shared = _Counting(SharedCounts(client))
        self._away_until = 0.0

    def policy(self, name: str) -> Policy | None:
        """The policy of this name, unless it is off."""
        return self._policies.get(name)

    def count(self, name: str, whose: str) -> Standing | None:
        """Count one more, unless it is too much already; None if the policy is off.

        Raises:
            redis.RedisError: it is counted in the store, which failed.
        """
        policy = self._policies.get(name)
        if policy is None:
            return None
        item, limiter = self._items[name], self._counting(policy)
        # For what is known to be used up, the store is not asked.
        is_over = policy.shared and not limiter.test(item, whose)
        is_over = is_over or not limiter.hit(item, whose)
        return self._standing(policy, whose, is_over)

    def note(self, name: str, whose: str) -> Standing | None:
        """Count what has happened already; None if the store does not let us."""
        if time.monotonic() < self._away_until:
            return None
        try:
            return self.count(name, whose)
        except Unreadable:
            return None
        except RedisError as error:
            metrics.store_failed(error)
            self._away_until = time.monotonic() + AWAY_SECONDS
            return None

    def look(self, name: str, whose: str) -> Standing | None:
        """How somebody stands, as far as this worker knows."""
        policy = self._policies.get(name)
        if policy is None:
            return None
        standing = self._standing(policy, whose, False)
        return standing._replace(is_over=standing.remaining == 0)

    def _counting(self, policy: Policy) -> _Counting:
        return self._shared if policy.shared else self._own

    def _standing(self, policy: Policy, whose: str, is_over: bool) -> Standing:
        item = self._items[policy.name]
        count, until = self._counting(policy).counts.window(item.key_for(whose))
        left = math.ceil(until - time.monotonic())
        return Standing(policy, is_over, max(item.amount - count, 0), max(left, 1))


class _Counting(FixedWindowRateLimiter):
    """The library's way to count, and where it keeps the counts."""

    def __init__(self, counts: WorkerCounts) -> None:
        super().__init__(counts)
        self.counts = counts


class _Item(RateLimitItemPerSecond):
    """An item of the library's, with keys that have a hash tag for clusters."""

    def key_for(self, *identifiers: bytes | str | float) -> str:
        return f"limit:{{{identifiers[0]!s}}}:{self.namespace}:{self.amount}:{self.multiples}"


def _item(policy: Policy) -> RateLimitItem:
    return _Item(policy.amount, policy.seconds, namespace=policy.name)
