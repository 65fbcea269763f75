"""The format of the log: one line for each event, as text for people or as JSON for programs.

Every JSON line within a request carries the request's id. As text, a request is one short line, in
colours on a terminal unless NO_COLOR is set. An exception is described by
`api.observability.redaction`. No level logs anything of a query, a header or a body except the
client's X-Request-ID (`api.observability.context`), and of a path only a game's id and, as text,
what `redaction.shown_path` shows of one that was not found. The master loads this module, so it
imports nothing that gevent has to patch.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from datetime import UTC, datetime
from http import HTTPStatus
from typing import IO, Any

from gunicorn.glogging import Logger as GunicornLogger

from api.observability import context
from api.observability.logger import ANSWERED, SERVICE
from api.observability.redaction import describe, reason


def _message(record: logging.LogRecord) -> str:
    """Return the message of a record, with exceptions among its arguments described by `reason`.

    Their own messages quote the request: gunicorn logs the bytes of a head that was cut short.
    """
    if isinstance(record.msg, BaseException):
        return reason(record.msg)
    if isinstance(record.args, tuple) and record.args:
        return str(record.msg) % tuple(
            reason(each) if isinstance(each, BaseException) else each for each in record.args
        )
    return record.getMessage()


def _facts(record: logging.LogRecord) -> dict[str, Any]:
    """Return the fields of a record beside its message: of the request, and those it was given."""
    facts: dict[str, Any] = {}
    request = context.current()
    if request.id:
        known = {
            "request_id": request.id,
            "method": request.known_method,
            "route": request.route,
            "game": request.game,
            "player": request.player,
        }
        facts = {name: value for name, value in known.items() if value is not None}
    return facts | _given_facts(record)


def _given_facts(record: logging.LogRecord) -> dict[str, Any]:
    """Return the fields that a record was given with `extra`."""
    return getattr(record, "facts", {})


def _error(record: logging.LogRecord) -> BaseException | None:
    return record.exc_info[1] if record.exc_info else None


class JsonFormatter(logging.Formatter):
    """Formats a record as one JSON object on one line."""

    @classmethod
    def of(cls, stream: IO[str] | None) -> JsonFormatter:
        """Return the formatter, the same for every output."""
        return cls()

    def format(self, record: logging.LogRecord) -> str:
        """Return the line for a record."""
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


DAY_AND_TIME, TIME = "%Y-%m-%d %H:%M:%S", "%H:%M:%S"

# The colours of a terminal, as SGR parameters.
DIM, RED, GREEN, YELLOW, CYAN = "2", "31", "32", "33", "36"
LEVEL_COLORS = {"WARNING": YELLOW, "ERROR": RED, "CRITICAL": RED}
STATUS_COLORS = {2: GREEN, 3: CYAN, 4: YELLOW, 5: RED}

SHOWN_OF_A_GAME = 8
"""Characters of a game's id: enough to tell the games of one log apart."""


class TextFormatter(logging.Formatter):
    """Formats a record for people.

    A request is one short line; anything else has its level, its message and its fields, with an
    exception below. On a terminal, the date is left out.
    """

    def __init__(self, *, is_terminal: bool = False, has_colors: bool = False) -> None:
        super().__init__(datefmt=TIME if is_terminal else DAY_AND_TIME)
        self._has_colors = has_colors

    @classmethod
    def of(cls, stream: IO[str] | None) -> TextFormatter:
        """Return the formatter for an output, with colours if it is a terminal that has them."""
        is_terminal = stream is not None and stream.isatty()
        has_colors = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        return cls(is_terminal=is_terminal, has_colors=is_terminal and has_colors)

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines for a record."""
        time = self._colored(self.formatTime(record, self.datefmt), DIM)
        if record.name == SERVICE and record.msg == ANSWERED:
            return f"{time} {self._request(_given_facts(record))}"
        level = f"[{record.levelname}]"
        if (color := LEVEL_COLORS.get(record.levelname)) is not None:
            level = self._colored(level, color)
        fields = (f"{name}={value}" for name, value in _facts(record).items())
        lines = [" ".join((time, level, _message(record), *fields))]
        if (error := _error(record)) is not None:
            for each in describe(error):
                message = f": {each['message']}" if "message" in each else ""
                lines += [
                    f"  {each['type']}{message}",
                    *(f"    at {place}" for place in each["at"]),
                ]
        return "\n".join(lines)

    def _request(self, facts: dict[str, Any]) -> str:
        """Return what the line of a request says: method, path, status, duration, game."""
        request = context.current()
        status, seconds = facts["status"], facts["seconds"]
        parts = [request.known_method, request.path or request.route]
        parts.append(self._colored(str(status), STATUS_COLORS.get(status // 100, RED)))
        if request.problem is not None:
            parts.append(request.problem)
        parts.append(_milliseconds(seconds))
        if request.game is not None:
            parts.append(f"game {request.game[:SHOWN_OF_A_GAME]}")
        parts += [f"{name}={facts[name]}" for name in ("moves", "problems") if name in facts]
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            # The line with the cause has it too.
            parts.append(f"request_id={request.id}")
        return " ".join(parts)

    def _colored(self, text: str, color: str) -> str:
        return f"\x1b[{color}m{text}\x1b[0m" if self._has_colors else text


def _milliseconds(seconds: float) -> str:
    """Return a duration for people.

    >>> _milliseconds(0.0032), _milliseconds(2.5)
    ('3.2 ms', '2500 ms')
    """
    milliseconds = seconds * 1000
    return f"{milliseconds:.1f} ms" if milliseconds < 100 else f"{milliseconds:.0f} ms"


class ServerLog(GunicornLogger):  # type: ignore[misc]
    """The log of gunicorn, the service and the libraries: one output, one format, one level."""

    formatter_of: Callable[[IO[str] | None], logging.Formatter]
    """Returns the formatter for an output; None is one that is no stream, such as syslog."""

    def setup(self, cfg: Any) -> None:
        """Set up gunicorn's log, and let the service's and the libraries' loggers write to it."""
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(self.formatter_of(getattr(handler, "stream", None)))
        for name in (SERVICE, "py.warnings"):
            logger = logging.getLogger(name)
            logger.handlers = list(self.error_log.handlers)
            logger.setLevel(self.loglevel)
            logger.propagate = False
        # Libraries log warnings and errors only, in the same format. Without a handler here,
        # Python would write their messages and tracebacks to stderr as they are.
        root = logging.getLogger()
        root.handlers = list(self.error_log.handlers)
        root.setLevel(max(self.loglevel, logging.WARNING))
        logging.captureWarnings(True)
        # A line that cannot be written, as the disk of the log is full, is dropped: the standard
        # library would write a traceback there.
        logging.raiseExceptions = False
        # No line names a thread or the place of its call. Finding them out takes a third of the
        # time of a line; the documentation of `logging` names these switches.
        logging.logThreads = False
        logging.logMultiprocessing = False
        logging._srcfile = None


class TextLog(ServerLog):
    """The log as lines for people."""

    formatter_of = TextFormatter.of


class JsonLog(ServerLog):
    """The log as JSON objects for programs."""

    formatter_of = JsonFormatter.of


LOGS: dict[str, type[ServerLog]] = {"text": TextLog, "json": JsonLog}
