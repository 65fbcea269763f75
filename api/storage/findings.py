"""What an operator should know of the store: one sentence for each finding, without a secret."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from typing import NamedTuple

from redis import RedisError
from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    NoPermissionError,
)
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.sentinel import MasterNotFoundError

from api.observability.redaction import reason
from api.storage.health import Condition

OLDEST_TESTED_REDIS = 7

NEARLY_FULL = 0.9
"""The part of its limit that a server may use before the operator is told."""

_UNREACHABLE = re.compile(r"Error -?\d+ connecting to (.+?)\. (.+)\.", re.DOTALL)
"""redis-py's message: the address, and the system's or the TLS library's reason."""


class Topic(NamedTuple):
    """What a finding is about: a server, or the store as a whole, and what is wrong with it."""

    address: str
    name: str


class Finding(NamedTuple):
    """A finding, and the sentence for its end.

    `cause` tells findings about one topic apart. `level` is ERROR if `/readyz` answers 503.
    """

    level: int
    cause: str
    sentence: str
    end: str


def unreachable(store: str, error: RedisError) -> dict[Topic, Finding]:
    """Return the finding that the store, by its name, cannot be asked."""
    what = _why_unreachable(store, error)
    end = f"{_capital(store)} answers again"
    finding = Finding(logging.ERROR, what, f"{_capital(store)} {what}", end)
    return {Topic("", "unreachable"): finding}


def findings(conditions: Iterable[Condition], wait_replicas: int) -> dict[Topic, Finding]:
    """Return what is wrong, or risky, about each server."""
    found: dict[Topic, Finding] = {}
    for each in conditions:
        at = f"The store at {each.address}"
        for name, finding in (
            *_about_changes(each, at, wait_replicas).items(),
            *_about_safety(each, at).items(),
        ):
            found[Topic(each.address, name)] = finding
    return found


def _about_changes(condition: Condition, at: str, wait_replicas: int) -> dict[str, Finding]:
    """Return the reasons for which a server takes no changes, or none of the service's."""
    found = {}
    if not condition.is_master:
        found["replica"] = Finding(
            logging.ERROR,
            "",
            f"{at} is a replica and takes no changes: put the address of its master, or of its "
            "Sentinels, into REDIS_URL",
            f"{at} is a master again",
        )
    if condition.refusal is not None and not condition.disk_is_watched:
        sentence = condition.refusal.detail.removeprefix("The store ").rstrip(".")
        found["refusal"] = Finding(
            logging.WARNING, condition.refusal.cause, f"{at} {sentence}", f"{at} accepts changes"
        )
    if condition.is_master and condition.replicas < wait_replicas:
        found["replicas"] = Finding(
            logging.WARNING,
            str(condition.replicas),
            f"{at} has {_count(condition.replicas)}, and WAIT_REPLICAS is {wait_replicas}: "
            "changes are answered 503 until more replicas follow it",
            f"{at} has enough replicas again",
        )
    return found


def _about_safety(condition: Condition, at: str) -> dict[str, Finding]:
    """Return the reasons for which a server may lose games, or end."""
    found = {}
    if condition.may_drop_games:
        policy = condition.eviction_policy
        found["eviction"] = Finding(
            logging.ERROR,
            policy or "",
            f"{at} drops games when its memory is full (maxmemory-policy {policy}): set "
            "maxmemory-policy to noeviction",
            f"{at} drops no games any more",
        )
    if not condition.logs_changes:
        found["persistence"] = Finding(
            logging.WARNING,
            "",
            f"{at} writes no append-only file: when it restarts, the games since its last "
            "snapshot are lost. Set appendonly to yes",
            f"{at} writes an append-only file now",
        )
    # A socket is on this machine, as that of the embedded server, which is started again.
    is_local = condition.address.startswith("/")
    if condition.max_memory == 0 and not is_local:
        found["limit"] = Finding(
            logging.WARNING,
            "",
            f"{at} has no memory limit, so the system may end it when memory runs out: set "
            "maxmemory",
            f"{at} has a memory limit now",
        )
    full = NEARLY_FULL * condition.max_memory < condition.used_memory <= condition.max_memory
    if full and condition.refusal is None:
        found["memory"] = Finding(
            logging.WARNING,
            "",
            f"{at} uses more than {NEARLY_FULL:.0%} of its memory limit, {condition.max_memory} "
            "bytes, and will refuse changes at the limit: raise maxmemory",
            f"{at} uses less than {NEARLY_FULL:.0%} of its memory limit again, or is full",
        )
    major = condition.version.partition(".")[0]
    is_old = major.isdigit() and int(major) < OLDEST_TESTED_REDIS
    if condition.product == "Redis" and is_old:
        found["version"] = Finding(
            logging.WARNING,
            condition.version,
            f"{at} is Redis {condition.version}, which is not tested: use Redis "
            f"{OLDEST_TESTED_REDIS} or newer, or Valkey",
            f"{at} is {condition.product} {condition.version}",
        )
    return found


def _why_unreachable(store: str, error: RedisError) -> str:
    """Return a phrase after the store's name. It quotes no reply, which could quote a password."""
    text = str(error)
    if isinstance(error, AuthenticationError):
        if "required" in text.lower():
            return "asks for a password: put it into REDIS_URL"
        return "refuses the user or the password of REDIS_URL"
    if isinstance(error, NoPermissionError):
        return "does not let the user of REDIS_URL run INFO: permit it, as all commands"
    if isinstance(error, BusyLoadingError):
        return "is loading its data"
    if isinstance(error, RedisTimeoutError):
        return "does not answer within REDIS_TIMEOUT_SECONDS"
    if isinstance(error, MasterNotFoundError):
        return "cannot be found: no Sentinel that answers names it"
    if text.endswith("Cluster mode is not enabled on this node"):
        return "is no cluster: for one server, REDIS_URL has to begin with redis:// or rediss://"
    if text.startswith("Connection closed by server"):
        return "closes each connection: if it speaks TLS, REDIS_URL has to begin with rediss://"
    if found := _UNREACHABLE.fullmatch(text):
        # Of several servers, the address tells which one.
        server = "" if store.endswith(f" {found[1]}") else f"{found[1]}: "
        return f"cannot be reached: {server}{found[2]}"
    return f"cannot be reached: {reason(error)}"


def _count(replicas: int) -> str:
    return "1 replica" if replicas == 1 else f"{replicas} replicas"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
