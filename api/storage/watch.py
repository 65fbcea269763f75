"""Checks the store when the service starts, and from then on, and logs what changes."""

from __future__ import annotations

import logging

import gevent
from gevent.event import Event
from redis import RedisError

from api.observability.logger import log
from api.storage.errors import Unreadable
from api.storage.findings import Finding, Topic, findings, unreachable
from api.storage.health import Condition, StoreHealth

CHECK_SECONDS = 10.0

FIRST_CHECK_SECONDS = 5.0
"""The longest time that the start waits for the first check, whatever the store's timeout is."""


class StoreWatch:
    """Logs each finding about the store once when it appears, and once when it has gone.

    Args:
        health: Asks the servers.
        name: The store's name for the log.
        wait_replicas: The replicas that have to confirm a change.
    """

    def __init__(self, health: StoreHealth, name: str, wait_replicas: int) -> None:
        self._health = health
        self._name = name
        self._wait_replicas = wait_replicas
        self._known: dict[Topic, Finding] = {}
        self._products: dict[str, str] = {}
        self._has_checked = Event()

    def start(self) -> None:
        """Check the store, and again every CHECK_SECONDS. Return after the first check."""
        gevent.spawn(self._run)
        self._has_checked.wait(FIRST_CHECK_SECONDS)

    def _run(self) -> None:
        while True:
            try:
                self.check()
            finally:
                self._has_checked.set()
            gevent.sleep(CHECK_SECONDS)

    def check(self) -> None:
        """Check the store once, and log what has changed since the last check."""
        try:
            conditions = self._health.conditions()
        except (RedisError, Unreadable) as error:
            if isinstance(error, RedisError):
                # What was known of the servers may still be so.
                known = {topic: each for topic, each in self._known.items() if topic.address}
                self._log_changes({**known, **unreachable(self._name, error)})
            return
        self._log_servers(conditions)
        self._log_changes(findings(conditions, self._wait_replicas))

    def _log_servers(self, conditions: list[Condition]) -> None:
        """Log which servers there are, when they are new or another version."""
        products = {each.address: f"{each.product} {each.version}" for each in conditions}
        for address, product in products.items():
            if self._products.get(address) != product:
                log.info("The store at %s is %s", address, product)
        self._products = products

    def _log_changes(self, found: dict[Topic, Finding]) -> None:
        for topic, finding in found.items():
            known = self._known.get(topic)
            if known is None or known.cause != finding.cause:
                log.log(finding.level, finding.sentence)
        for topic, finding in self._known.items():
            if topic not in found:
                log.log(logging.INFO, finding.end)
        self._known = found
