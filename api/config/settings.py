"""All settings of the service, read once from the environment into one typed value.

Each field of `Settings` declares its variable, default, bounds and meaning; a test compares the
table in `docs/operating.md` with `describe`. No other module reads settings from the environment,
and this one opens no file and no connection.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
from collections.abc import Callable, Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from api.config.rate_policies import BOUNDS, Policy, read_policies
from api.observability.addresses import Network
from api.observability.redaction import LoggableError


class SettingsError(LoggableError, ValueError):
    """A setting's value cannot be used. The message is one line that names the variable."""


@dataclasses.dataclass(frozen=True, slots=True)
class SettingType:
    """The type of a setting. `parse` turns a variable's text into a value, or raises ValueError."""

    parse: Callable[[str], Any]
    bounds: str


def _type(
    bounds: str,
    pattern: str = ".*",
    read: Callable[[str], Any] = str,
    accepts: Callable[[Any], bool] = lambda value: True,
) -> SettingType:
    """Return the type of a text that matches `pattern` and that `read` makes an accepted value."""

    def parse(text: str) -> Any:
        # Path.expanduser raises RuntimeError.
        with contextlib.suppress(ValueError, RuntimeError):
            if re.fullmatch(pattern, text, re.DOTALL) and accepts(value := read(text)):
                return value
        raise ValueError(f"must be {bounds}")

    return SettingType(parse, bounds)


def _integer(minimum: int, maximum: int) -> SettingType:
    bounds = f"a whole number from {minimum} to {maximum}"
    # int() alone would accept "1_000", "+5" and digits of other scripts.
    return _type(bounds, "[0-9]+", int, lambda number: minimum <= number <= maximum)


def _number(minimum: float, maximum: float) -> SettingType:
    bounds = f"a number from {minimum:g} to {maximum:g}"
    return _type(bounds, read=float, accepts=lambda number: minimum <= number <= maximum)


def _choice(*choices: str) -> SettingType:
    return _type("one of " + ", ".join(choices), read=str.lower, accepts=choices.__contains__)


HOST = _type("a host name or an IP address", r"[^\s/\[\]@]*")
DIRECTORY = _type("the path of a directory", r"[^\0]*", lambda text: Path(text).expanduser())
TOKEN = _type("16 to 200 printable ASCII characters without spaces", "[!-~]{16,200}")
LIMITS = SettingType(read_policies, BOUNDS)
NETWORKS = _type(
    "IP addresses and networks (10.0.0.0/8), separated by commas",
    read=lambda text: tuple(ip_network(each.strip()) for each in text.split(",")),
)


SCHEMES = ("redis", "rediss", "unix")
SCHEMES_OF_SEVERAL = ("redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster")
URL_BOUNDS = "a redis://, rediss://, unix://, redis+sentinel:// or redis+cluster:// address"


def _read_redis_url(text: str) -> str:
    try:
        url = urlsplit(text)
        hosts = [urlsplit(f"//{each}") for each in url.netloc.rpartition("@")[2].split(",")]
        # `port` raises ValueError if it is not a number.
        has_hosts = all(each.hostname and each.port != 0 for each in hosts)
    except ValueError:
        raise ValueError(f"must be {URL_BOUNDS}") from None
    if url.scheme not in (*SCHEMES, *SCHEMES_OF_SEVERAL):
        raise ValueError(f"must be {URL_BOUNDS}")
    if url.scheme in SCHEMES_OF_SEVERAL and not has_hosts:
        raise ValueError("must name HOST:PORT, or several separated by commas")
    if url.scheme.endswith("+sentinel") and not url.path.strip("/"):
        raise ValueError("must end with /NAME, the name of the master that the Sentinels watch")
    return text


REDIS_URL = SettingType(_read_redis_url, URL_BOUNDS)


def _setting(default: Any, kind: SettingType, meaning: str, *, secret: bool = False) -> Any:
    metadata = {"kind": kind, "meaning": meaning, "secret": secret}
    return dataclasses.field(default=default, metadata=metadata, repr=not secret)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a service. A field's variable is its name in capitals."""

    host: str = _setting(
        "127.0.0.1",
        HOST,
        "The address to listen on; 0.0.0.0 for all addresses of this machine.",
    )
    port: int = _setting(
        8000,
        _integer(0, 65535),
        "The TCP port to listen on; 0 picks a free one.",
    )
    redis_url: str | None = _setting(
        None,
        REDIS_URL,
        "The Redis or Valkey that stores the games: a server, a master that Sentinels watch, or a "
        "cluster. Unset: an embedded Valkey with its files in DATA_DIR.",
        secret=True,  # it may hold a password
    )
    data_dir: Path = _setting(  # noqa: RUF009 (it is a field)
        Path("data"),
        DIRECTORY,
        "The directory in which the embedded Valkey creates its own, `valkey`, which no other "
        "account can read; relative to the working directory.",
    )
    web_concurrency: int = _setting(
        2,
        _integer(1, 256),
        "Worker processes. Each serves thousands of connections; one for each core is enough.",
    )
    open_game_days: float = _setting(
        7.0,
        _number(0.01, 3650),
        "Days that an unfinished game is kept after its last change.",
    )
    finished_game_days: float = _setting(
        30.0,
        _number(0.01, 3650),
        "Days that a finished game and its record are kept.",
    )
    cancelled_game_hours: float = _setting(
        24.0,
        _number(0.01, 87600),
        "Hours that a cancelled game is kept, with its record if it had started.",
    )
    player_days: float = _setting(
        90.0,
        _number(0.01, 3650),
        "Days that a player is kept after the last use of its token, and at least as long as its "
        "games.",
    )
    unused_player_minutes: float = _setting(
        60.0,
        _number(1, 43_200),
        "Minutes that a player who was never in a game is kept after the last use of its token.",
    )
    ticket_hours: float = _setting(
        12.0,
        _number(0.01, 720),
        "Hours that a ticket for a stream is valid.",
    )
    stored_format: int = _setting(
        2,
        _integer(1, 2),
        "The format of the games that are stored. During a rolling upgrade from 0.1, 1 until all "
        "workers are new: workers of 0.1 read no other one.",
    )
    idempotency_hours: float = _setting(
        24.0,
        _number(24, 720),
        "Hours that an Idempotency-Key stands for the game that it created.",
    )
    redis_timeout_seconds: float = _setting(
        2.0,
        _number(0.05, 60),
        "Seconds to wait for a connection to the store, or for its answer, before a request "
        "fails with 503.",
    )
    redis_connections: int = _setting(
        64,
        _integer(1, 12_000),
        "The most connections to the store that one worker opens.",
    )
    wait_replicas: int = _setting(
        0,
        _integer(0, 10),
        "Replicas that must confirm a change before it is acknowledged; 503 if they do not within "
        "REDIS_TIMEOUT_SECONDS. With 0, a failover may lose the last changes.",
    )
    waiters: int = _setting(
        10_000,
        _integer(0, 10_800),
        "The most long polls and streams that one worker holds, and at most nine in ten of its "
        "connections. Beyond it, a poll is answered at once and a stream is `unavailable`, with "
        "Retry-After.",
    )
    waiters_per_player: int = _setting(
        100,
        _integer(0, 10_800),
        "The most long polls and streams that one worker holds for one player.",
    )
    waiters_per_address: int = _setting(
        2000,
        _integer(0, 10_800),
        "The most long polls and streams that one worker holds for one address, and at most half "
        "as many as its connections.",
    )
    connections_per_address: int = _setting(
        4000,
        _integer(1, 12_000),
        "The most connections that one worker holds for one address, and at most half of its "
        "connections; further connections are closed. Trusted proxies have no such limit.",
    )
    keep_alive_seconds: int = _setting(
        75,
        _integer(1, 3600),
        "Seconds that a connection stays open without a request. A proxy in front must close its "
        "idle connections earlier: nginx after 60 seconds by default.",
    )
    rate_limits: tuple[Policy, ...] | None = _setting(
        None,
        LIMITS,
        "Changes to the numbers in [Limits](limits.md#rate-limits), or `off` for no limits at all.",
    )
    trusted_proxies: tuple[Network, ...] | None = _setting(
        None,
        NETWORKS,
        "The proxies whose X-Forwarded-For and X-Forwarded-Proto are believed. From other "
        "addresses, these headers are ignored.",
    )
    log_level: str = _setting(
        "info",
        _choice("debug", "info", "warning", "error", "critical"),
        "The least severe message that is logged.",
    )
    log_format: str = _setting(
        "text",
        _choice("text", "json"),
        "The format of the log: lines for people, or one JSON object a line.",
    )
    metrics: str = _setting(
        "on",
        _choice("on", "off"),
        "Whether `/metrics` answers with metrics for Prometheus.",
    )
    metrics_token: str | None = _setting(
        None,
        TOKEN,
        "The bearer token that `/metrics` requires. Unset: it answers everyone.",
        secret=True,
    )
    stop_delay_seconds: int = _setting(
        0,
        _integer(0, 600),
        "Seconds that the service still serves after the order to stop, while `/readyz` answers "
        "503, so that load balancers notice.",
    )
    grace_seconds: int = _setting(
        10,
        _integer(1, 600),
        "Seconds that requests in flight then have to end.",
    )
    append_fsync: str = _setting(
        "always",
        _choice("always", "everysec"),
        "When the embedded Valkey forces its file to the disk: before each answer, or once a "
        "second. With `everysec`, a crash or a power cut can lose the last seconds; see "
        "[Durability](scaling.md#durability).",
    )

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None) -> Settings:
        """Read the settings from `environ`, by default the environment of the process.

        An empty or blank variable counts as unset.

        Raises:
            SettingsError: a value is malformed or out of bounds.
        """
        environ = os.environ if environ is None else environ
        values = {}
        for field in dataclasses.fields(cls):
            variable = field.name.upper()
            text = environ.get(variable, "").strip()
            if text:
                values[field.name] = _parse(variable, text, field.metadata)
        return cls(**values)


def _parse(variable: str, text: str, metadata: Mapping[str, Any]) -> Any:
    try:
        return metadata["kind"].parse(text)
    except ValueError as error:
        given = "" if metadata["secret"] else f", not {text[:80]!r}"
        raise SettingsError(f"{variable} {error}{given}") from None


@dataclasses.dataclass(frozen=True, slots=True)
class Description:
    """One row of the table of settings in `docs/operating.md`."""

    variable: str
    default: str
    bounds: str
    meaning: str


def describe() -> list[Description]:
    """Return a row for each setting, in order. The default of a setting that may be unset is ''."""
    return [
        Description(
            variable=field.name.upper(),
            default="" if field.default is None else _shown(field.default),
            bounds=field.metadata["kind"].bounds,
            meaning=field.metadata["meaning"],
        )
        for field in dataclasses.fields(Settings)
    ]


def _shown(default: object) -> str:
    return f"{default:g}" if isinstance(default, float) else str(default)
