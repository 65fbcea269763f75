"""All settings of the service, read once from the environment into one typed value.

Each field of `Settings` declares its variable, default, bounds and meaning; the README's table
is checked against `describe`. Nothing else in the service reads the environment for its
configuration, and nothing here acts on a setting: it opens no file and no connection.
"""

from __future__ import annotations

import dataclasses
import math
import os
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
    """How the text of a variable becomes a value: `parse` raises ValueError, saying why not."""

    parse: Callable[[str], Any]
    bounds: str


def _integer(minimum: int, maximum: int) -> SettingType:
    bounds = f"a whole number from {minimum} to {maximum}"

    def parse(text: str) -> int:
        # int() alone would accept "1_000", "+5" and digits of other scripts.
        if not (text.isascii() and text.isdigit() and minimum <= int(text) <= maximum):
            raise ValueError(f"must be {bounds}")
        return int(text)

    return SettingType(parse, bounds)


def _number(minimum: float, maximum: float) -> SettingType:
    bounds = f"a number from {minimum:g} to {maximum:g}"

    def parse(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not minimum <= number <= maximum:
            raise ValueError(f"must be {bounds}")
        return number

    return SettingType(parse, bounds)


def _choice(*choices: str) -> SettingType:
    bounds = "one of " + ", ".join(choices)

    def parse(text: str) -> str:
        if text.lower() not in choices:
            raise ValueError(f"must be {bounds}")
        return text.lower()

    return SettingType(parse, bounds)


def _host() -> SettingType:
    bounds = "a host name or an IP address"

    def parse(text: str) -> str:
        if any(char.isspace() or char in "/[]@" for char in text):
            raise ValueError(f"must be {bounds}, without brackets, port or scheme")
        return text

    return SettingType(parse, bounds)


def _redis_url() -> SettingType:
    schemes = ("redis", "rediss", "unix")
    several = tuple(f"{each}+{kind}" for each in schemes[:2] for kind in ("sentinel", "cluster"))
    bounds = "a redis://, rediss://, unix://, redis+sentinel:// or redis+cluster:// address"

    def parse(text: str) -> str:
        try:
            url = urlsplit(text)
            hosts = [urlsplit(f"//{each}") for each in url.netloc.rpartition("@")[2].split(",")]
            # To ask for a port that is none raises ValueError.
            has_hosts = all(each.hostname and each.port != 0 for each in hosts)
        except ValueError:
            raise ValueError(f"must be {bounds}") from None
        if url.scheme not in (*schemes, *several):
            raise ValueError(f"must be {bounds}")
        if url.scheme in several and not has_hosts:
            raise ValueError("must be an address of HOST:PORT, or of several with commas")
        if url.scheme.endswith("+sentinel") and not url.path.strip("/"):
            raise ValueError("must be an address that ends with /NAME, the name of a master")
        return text

    return SettingType(parse, bounds)


def _directory() -> SettingType:
    bounds = "the path of a directory"

    def parse(text: str) -> Path:
        if "\0" in text:
            raise ValueError(f"must be {bounds}")
        return Path(text).expanduser()

    return SettingType(parse, bounds)


def _token() -> SettingType:
    bounds = "16 to 200 printable ASCII characters without spaces"

    def parse(text: str) -> str:
        if not (16 <= len(text) <= 200 and all("!" <= char <= "~" for char in text)):
            raise ValueError(f"must be {bounds}")
        return text

    return SettingType(parse, bounds)


def _limits() -> SettingType:
    return SettingType(read_policies, BOUNDS)


def _networks() -> SettingType:
    bounds = "IP addresses and networks (10.0.0.0/8) with commas between them"

    def parse(text: str) -> tuple[Network, ...]:
        try:
            return tuple(ip_network(each.strip()) for each in text.split(","))
        except ValueError:
            raise ValueError(f"must be {bounds}") from None

    return SettingType(parse, bounds)


def _setting(default: Any, kind: SettingType, meaning: str, *, secret: bool = False) -> Any:
    metadata = {"kind": kind, "meaning": meaning, "secret": secret}
    return dataclasses.field(default=default, metadata=metadata, repr=not secret)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the service was told. A field's variable is its name in capitals."""

    host: str = _setting(
        "127.0.0.1",
        _host(),
        "The address to listen on; 0.0.0.0 for all of this machine's.",
    )
    port: int = _setting(
        8000,
        _integer(0, 65535),
        "The TCP port to listen on; 0 picks a free one.",
    )
    redis_url: str | None = _setting(
        None,
        _redis_url(),
        "The Redis or Valkey that keeps the games: one server, the master that Sentinels name, or "
        "a cluster. Unset: an embedded Valkey is started, with its files in DATA_DIR.",
        secret=True,  # it may hold a password
    )
    data_dir: Path = _setting(  # noqa: RUF009 (it is a field)
        Path("data"),
        _directory(),
        "Where the embedded Valkey keeps its files, in a directory `valkey` of its own that no "
        "other account can read; relative to the working directory.",
    )
    web_concurrency: int = _setting(
        2,
        _integer(1, 256),
        "Worker processes. Each serves thousands of connections; one for each core is plenty.",
    )
    open_game_days: float = _setting(
        7.0,
        _number(0.01, 3650),
        "Days that a game is kept which has not ended, counted from its last change.",
    )
    finished_game_days: float = _setting(
        30.0,
        _number(0.01, 3650),
        "Days that a finished game and its record are kept.",
    )
    cancelled_game_hours: float = _setting(
        24.0,
        _number(0.01, 87600),
        "Hours that a game is kept which was cancelled, with its record if it had started.",
    )
    player_days: float = _setting(
        90.0,
        _number(0.01, 3650),
        "Days that a player is kept, counted from the last use of its token; never less than the "
        "games that it is in.",
    )
    unused_player_minutes: float = _setting(
        60.0,
        _number(1, 60),
        "Minutes that a new player is kept which is in no game.",
    )
    ticket_hours: float = _setting(
        12.0,
        _number(0.01, 720),
        "Hours that a ticket for a stream can be used.",
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
        _integer(1, 10000),
        "Connections to the store that one worker opens at most.",
    )
    wait_replicas: int = _setting(
        0,
        _integer(0, 10),
        "How many replicas must have a change before it is acknowledged; 503 if they have not in "
        "REDIS_TIMEOUT_SECONDS. With 0, a failover may lose the last changes.",
    )
    waiters: int = _setting(
        8000,
        _integer(0, 9000),
        "Long polls and streams that one worker holds at most; beyond it a poll is answered at "
        "once, and a stream refused, with Retry-After. At most nine in ten of its connections.",
    )
    waiters_per_player: int = _setting(
        100,
        _integer(0, 9000),
        "Long polls and streams that one worker holds for one player at most.",
    )
    waiters_per_address: int = _setting(
        2000,
        _integer(0, 9000),
        "Long polls and streams that one worker holds for one address at most, and never more than "
        "half as many as its connections.",
    )
    connections_per_address: int = _setting(
        4000,
        _integer(1, 10000),
        "Connections that one worker holds for one address at most, and never more than half of "
        "its connections, unless it is a trusted proxy's; those beyond are closed.",
    )
    rate_limits: tuple[Policy, ...] | None = _setting(
        None,
        _limits(),
        "What differs from the numbers in [Limits](#limits); `off` for none at all.",
    )
    trusted_proxies: tuple[Network, ...] | None = _setting(
        None,
        _networks(),
        "The proxies before the service, whose X-Forwarded-For and X-Forwarded-Proto are believed. "
        "Nobody else's are.",
    )
    log_level: str = _setting(
        "info",
        _choice("debug", "info", "warning", "error", "critical"),
        "The least severe message that is logged.",
    )
    log_format: str = _setting(
        "text",
        _choice("text", "json"),
        "How a line of the log is written: for people, or as one JSON object.",
    )
    metrics: str = _setting(
        "on",
        _choice("on", "off"),
        "Whether `/metrics` answers, with figures of the service's load for Prometheus.",
    )
    metrics_token: str | None = _setting(
        None,
        _token(),
        "A bearer token that `/metrics` asks for. Unset: it answers anyone.",
        secret=True,
    )
    stop_delay_seconds: int = _setting(
        0,
        _integer(0, 600),
        "Seconds that the service goes on serving after it was told to stop, while `/readyz` "
        "already answers 503: until load balancers have noticed.",
    )
    grace_seconds: int = _setting(
        10,
        _integer(1, 600),
        "Seconds that requests in flight have to end when the service stops, after that delay.",
    )
    append_fsync: str = _setting(
        "always",
        _choice("always", "everysec"),
        "When the embedded Valkey forces its file to the disk: before each answer, or once a "
        "second. With `everysec`, a crash or a power cut can lose the last seconds; see "
        "[Scaling out](#scaling-out).",
    )

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None) -> Settings:
        """The settings that `environ` (by default the process's own) holds.

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
    """One row of the README's table of settings."""

    variable: str
    default: str
    bounds: str
    meaning: str


def describe() -> list[Description]:
    """Every setting, in the order of declaration; the default of one that may be unset is ''."""
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
