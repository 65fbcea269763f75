"""The log: one line for each thing that happened, as text for people or as JSON for programs.

Every line within a request carries the request's id. Of an exception the log has its type and where
it happened, never its message: that may quote what could not be read, which may be a hand, a token
or a body. Of a path, a query, a header or a body no level logs anything except a game's id and the
client's X-Request-ID (`api.observability.context`). The master loads this module, so it imports
nothing that gevent has to patch.
"""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gunicorn.glogging import Logger as GunicornLogger

from api.config.settings import SettingsError
from api.observability import context
from api.observability.logger import SERVICE

TOLD = (SettingsError, ImportError)
"""Exceptions whose messages speak of settings and modules alone."""

FRAMES = 20
"""So many places an exception came through are logged, the innermost."""

ROOT = Path(__file__).resolve().parents[2]


def describe(error: BaseException) -> list[dict[str, Any]]:
    """An exception and what led to it, without anything that it is about."""
    return [_describe_one(each) for each in _chain(error)]


def reason(error: BaseException) -> str:
    """An exception and what led to it in a few words, without anything that it is about."""
    return ", from ".join(
        type(each).__name__ + (f": {told}" if (told := _told(each)) else "")
        for each in _chain(error)
    )


def _describe_one(error: BaseException) -> dict[str, Any]:
    kind = type(error)
    described: dict[str, Any] = {"type": f"{kind.__module__}.{kind.__qualname__}"}
    if told := _told(error):
        described["message"] = told
    frames = traceback.StackSummary.extract(
        traceback.walk_tb(error.__traceback__), lookup_lines=False
    )
    described["at"] = [
        f"{_short(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames[-FRAMES:]
    ]
    return described


def _told(error: BaseException) -> str:
    """As much of an exception's message as is certain to be about nothing secret."""
    if isinstance(error, TOLD):
        return str(error)
    # What the system says, without the name of the file.
    return str(error.strerror or "") if isinstance(error, OSError) else ""


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception, what caused it, what caused that: each once."""
    seen: set[int] = set()
    following: BaseException | None = error
    while following is not None and id(following) not in seen:
        seen.add(id(following))
        yield following
        is_hidden = following.__suppress_context__
        following = following.__cause__ or (None if is_hidden else following.__context__)


def _short(filename: str) -> str:
    path = Path(filename)
    if path.is_relative_to(ROOT):
        return str(path.relative_to(ROOT))
    return filename.rpartition("site-packages/")[2]


def _message(record: logging.LogRecord) -> str:
    """The message of a record, with exceptions among its arguments described by `reason`.

    Their own texts quote the request: gunicorn logs the bytes of a head that was cut short.
    """
    if isinstance(record.msg, BaseException):
        return reason(record.msg)
    if isinstance(record.args, tuple) and record.args:
        return str(record.msg) % tuple(
            reason(each) if isinstance(each, BaseException) else each for each in record.args
        )
    return record.getMessage()


def _facts(record: logging.LogRecord) -> dict[str, Any]:
    """What is known of a record beyond its message: of the request, and of what was given."""
    facts: dict[str, Any] = {}
    if (trace := context.current()) is not None:
        facts["request_id"] = trace.id
        facts["method"] = trace.known_method
        facts["route"] = trace.route
        if trace.game is not None:
            facts["game"] = trace.game
        if trace.player is not None:
            facts["player"] = trace.player
    facts.update(getattr(record, "facts", {}))
    return facts


def _error(record: logging.LogRecord) -> BaseException | None:
    return record.exc_info[1] if record.exc_info else None


class JsonFormatter(logging.Formatter):
    """A line is one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as JSON."""
        moment = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, Any] = {
            "time": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "pid": record.process,
            "message": _message(record),
            **_facts(record),
        }
        if (error := _error(record)) is not None:
            line["error"] = describe(error)
        return json.dumps(line)


class TextFormatter(logging.Formatter):
    """A line for people: gunicorn's own form, then what else is known; an exception below it."""

    def __init__(self) -> None:
        super().__init__(GunicornLogger.error_fmt, GunicornLogger.datefmt)

    def format(self, record: logging.LogRecord) -> str:
        """The record as text."""
        record.message = _message(record)
        record.asctime = self.formatTime(record, self.datefmt)
        facts = " ".join(f"{name}={value}" for name, value in _facts(record).items())
        lines = [" ".join(filter(None, (self.formatMessage(record), facts)))]
        if (error := _error(record)) is not None:
            for each in describe(error):
                told = f": {each['message']}" if "message" in each else ""
                lines += [f"  {each['type']}{told}", *(f"    at {place}" for place in each["at"])]
        return "\n".join(lines)


class ServerLog(GunicornLogger):  # type: ignore[misc]
    """gunicorn's log and the service's as one: the same place, the same form, the same level."""

    formatter: logging.Formatter

    def setup(self, cfg: Any) -> None:
        """As gunicorn's, in our form; the service's and the libraries' loggers write there too."""
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(self.formatter)
        for name in (SERVICE, "py.warnings"):
            logger = logging.getLogger(name)
            logger.handlers = list(self.error_log.handlers)
            logger.setLevel(self.loglevel)
            logger.propagate = False
        # Libraries log warnings and errors only, in our form. Without a handler here, Python
        # would write their messages and tracebacks to stderr as they are.
        root = logging.getLogger()
        root.handlers = list(self.error_log.handlers)
        root.setLevel(max(self.loglevel, logging.WARNING))
        logging.captureWarnings(True)
        # No line names threads, and gevent would have to make one up for each request.
        logging.logThreads = False
        logging.logMultiprocessing = False


class TextLog(ServerLog):
    """For people."""

    formatter = TextFormatter()


class JsonLog(ServerLog):
    """For programs."""

    formatter = JsonFormatter()


LOGS: dict[str, type[ServerLog]] = {"text": TextLog, "json": JsonLog}
