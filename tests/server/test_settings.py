"""Every setting: its default, another value, and what is said about a bad one."""

import dataclasses
from ipaddress import ip_network
from pathlib import Path

import pytest

from api.config.rate_policies import POLICIES
from api.config.settings import Settings, SettingsError, describe

DEFAULTS = {
    "HOST": "127.0.0.1",
    "PORT": 8000,
    "REDIS_URL": None,
    "DATA_DIR": Path("data"),
    "WEB_CONCURRENCY": 2,
    "OPEN_GAME_DAYS": 7.0,
    "FINISHED_GAME_DAYS": 30.0,
    "CANCELLED_GAME_HOURS": 24.0,
    "PLAYER_DAYS": 90.0,
    "UNUSED_PLAYER_MINUTES": 60.0,
    "TICKET_HOURS": 12.0,
    "STORED_FORMAT": 2,
    "IDEMPOTENCY_HOURS": 24.0,
    "REDIS_TIMEOUT_SECONDS": 2.0,
    "REDIS_CONNECTIONS": 64,
    "WAIT_REPLICAS": 0,
    "WAITERS": 10_000,
    "WAITERS_PER_PLAYER": 100,
    "WAITERS_PER_ADDRESS": 2000,
    "CONNECTIONS_PER_ADDRESS": 4000,
    "KEEP_ALIVE_SECONDS": 75,
    "RATE_LIMITS": None,
    "TRUSTED_PROXIES": None,
    "LOG_LEVEL": "info",
    "LOG_FORMAT": "text",
    "METRICS": "on",
    "METRICS_TOKEN": None,
    "STOP_DELAY_SECONDS": 0,
    "GRACE_SECONDS": 10,
    "APPEND_FSYNC": "always",
}

GIVEN = [
    ("HOST", "0.0.0.0", "0.0.0.0"),
    ("HOST", "::1", "::1"),
    ("PORT", "0", 0),
    ("PORT", " 65535 ", 65535),
    ("REDIS_URL", "redis://:secret@cache:6379/0", "redis://:secret@cache:6379/0"),
    ("REDIS_URL", "unix:///run/valkey.sock", "unix:///run/valkey.sock"),
    ("DATA_DIR", "/var/lib/ludotheque", Path("/var/lib/ludotheque")),
    ("WEB_CONCURRENCY", "8", 8),
    ("OPEN_GAME_DAYS", "0.5", 0.5),
    ("FINISHED_GAME_DAYS", "365", 365.0),
    ("CANCELLED_GAME_HOURS", "0.5", 0.5),
    ("PLAYER_DAYS", "1", 1.0),
    ("UNUSED_PLAYER_MINUTES", "43200", 43_200.0),
    ("TICKET_HOURS", "0.5", 0.5),
    ("STORED_FORMAT", "1", 1),
    ("IDEMPOTENCY_HOURS", "48", 48.0),
    ("REDIS_TIMEOUT_SECONDS", "0.25", 0.25),
    ("REDIS_CONNECTIONS", "5", 5),
    (
        "REDIS_URL",
        "rediss+cluster://:secret@a:7000,[::1]:7001",
        "rediss+cluster://:secret@a:7000,[::1]:7001",
    ),
    ("REDIS_URL", "redis+sentinel://a,b:26380/games", "redis+sentinel://a,b:26380/games"),
    ("WAIT_REPLICAS", "2", 2),
    ("WAITERS", "0", 0),
    ("WAITERS_PER_PLAYER", "7", 7),
    ("WAITERS_PER_ADDRESS", "12", 12),
    ("CONNECTIONS_PER_ADDRESS", "10", 10),
    ("KEEP_ALIVE_SECONDS", "120", 120),
    ("RATE_LIMITS", "Off", ()),
    (
        "RATE_LIMITS",
        "reads=5/hour, moves=off,players=0/day",
        tuple(
            each._replace(amount=5, seconds=3600) if each.name == "reads" else each
            for each in POLICIES
            if each.name not in ("moves", "players")
        ),
    ),
    ("TRUSTED_PROXIES", "10.0.0.0/8,\n::1", (ip_network("10.0.0.0/8"), ip_network("::1"))),
    ("LOG_LEVEL", "Debug", "debug"),
    ("LOG_FORMAT", "JSON", "json"),
    ("METRICS", "off", "off"),
    ("METRICS_TOKEN", "0123456789abcdef", "0123456789abcdef"),
    ("STOP_DELAY_SECONDS", "600", 600),
    ("GRACE_SECONDS", "1", 1),
    ("APPEND_FSYNC", "everysec", "everysec"),
]

BAD = [
    ("HOST", "http://localhost"),
    ("HOST", "[::1]"),
    ("PORT", "65536"),
    ("PORT", "-1"),
    ("PORT", "8_000"),
    ("PORT", "http"),
    ("PORT", "٨٠٠٠"),
    ("REDIS_URL", "localhost:6379"),
    ("REDIS_URL", "http://[cache"),
    ("REDIS_URL", "unix+cluster:///run/valkey.sock"),
    ("REDIS_URL", "redis+cluster://a:7000,:7001"),
    ("REDIS_URL", "redis+cluster://a:7000,b:port"),
    ("REDIS_URL", "redis+sentinel://a,b"),
    ("WAIT_REPLICAS", "-1"),
    ("DATA_DIR", "a\0b"),
    ("DATA_DIR", "~no-such-account/data"),
    ("WEB_CONCURRENCY", "0"),
    ("WEB_CONCURRENCY", "2.5"),
    ("OPEN_GAME_DAYS", "0"),
    ("FINISHED_GAME_DAYS", "nan"),
    ("CANCELLED_GAME_HOURS", "0"),
    ("PLAYER_DAYS", "inf"),
    ("UNUSED_PLAYER_MINUTES", "43201"),
    ("TICKET_HOURS", "0"),
    ("STORED_FORMAT", "3"),
    ("IDEMPOTENCY_HOURS", "23"),
    ("REDIS_TIMEOUT_SECONDS", "soon"),
    ("REDIS_CONNECTIONS", "0"),
    ("WAITERS", "10801"),
    ("WAITERS_PER_PLAYER", "-1"),
    ("WAITERS_PER_ADDRESS", "10801"),
    ("CONNECTIONS_PER_ADDRESS", "0"),
    ("KEEP_ALIVE_SECONDS", "0"),
    ("RATE_LIMITS", "on"),
    ("RATE_LIMITS", "reads=5/hour, writes=5/hour"),
    ("RATE_LIMITS", "reads=5/fortnight"),
    ("RATE_LIMITS", "reads=-5/hour"),
    ("TRUSTED_PROXIES", "1"),
    ("TRUSTED_PROXIES", "10.0.0.1/8"),
    ("TRUSTED_PROXIES", "proxy.example"),
    ("LOG_LEVEL", "verbose"),
    ("LOG_FORMAT", "xml"),
    ("METRICS", "yes"),
    ("METRICS_TOKEN", "too-short"),
    ("METRICS_TOKEN", "with a space in it"),
    ("STOP_DELAY_SECONDS", "601"),
    ("GRACE_SECONDS", "0"),
    ("APPEND_FSYNC", "no"),
]


def values(settings: Settings) -> dict[str, object]:
    return {name.upper(): value for name, value in dataclasses.asdict(settings).items()}


def test_an_empty_environment_gives_the_defaults() -> None:
    assert values(Settings.from_environment({})) == DEFAULTS


@pytest.mark.parametrize("variable", DEFAULTS)
def test_a_blank_variable_counts_as_unset(variable: str) -> None:
    assert values(Settings.from_environment({variable: "  "})) == DEFAULTS


@pytest.mark.parametrize(("variable", "text", "value"), GIVEN)
def test_a_variable_sets_its_own_setting_and_no_other(
    variable: str, text: str, value: object
) -> None:
    assert values(Settings.from_environment({variable: text})) == DEFAULTS | {variable: value}


@pytest.mark.parametrize(("variable", "text"), BAD)
def test_a_bad_value_is_refused_in_one_line_that_names_the_variable(
    variable: str, text: str
) -> None:
    with pytest.raises(SettingsError) as refusal:
        Settings.from_environment({variable: text})
    message = str(refusal.value)
    assert message.startswith(f"{variable} must ")
    assert "\n" not in message


def test_every_setting_is_tried_with_a_good_and_a_bad_value() -> None:
    assert {variable for variable, _, _ in GIVEN} == set(DEFAULTS)
    assert {variable for variable, _ in BAD} == set(DEFAULTS)


def test_the_password_in_the_address_of_the_store_is_never_shown() -> None:
    settings = Settings.from_environment({"REDIS_URL": "redis://:swordfish@cache"})
    assert "swordfish" not in repr(settings)
    with pytest.raises(SettingsError) as refusal:
        Settings.from_environment({"REDIS_URL": "http://:swordfish@cache"})
    assert "swordfish" not in str(refusal.value)


def test_the_token_for_the_metrics_is_never_shown() -> None:
    settings = Settings.from_environment({"METRICS_TOKEN": "swordfish-swordfish"})
    assert "swordfish" not in repr(settings)
    with pytest.raises(SettingsError) as refusal:
        Settings.from_environment({"METRICS_TOKEN": "swordfish"})
    assert "swordfish" not in str(refusal.value)


def test_the_process_own_environment_is_read_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "4321")
    assert Settings.from_environment().port == 4321


def test_the_descriptions_cover_every_setting() -> None:
    rows = describe()
    assert [row.variable for row in rows] == list(DEFAULTS)
    assert {row.variable: row.default for row in rows} == {
        variable: "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
        for variable, value in DEFAULTS.items()
    }
    assert all(row.bounds and row.meaning.endswith(".") for row in rows)
