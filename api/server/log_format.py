"""The format of the log: one line for each event, as text for people or as JSON for programs.

Every line within a request carries the request's id. An exception is described by
`api.observability.redaction`. No level logs anything of a path, a query, a header or a body except
a game's id and the client's X-Request-ID (`api.observability.context`). The master loads this
module, so it imports nothing that gevent has to patch.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any

from gunicorn.glogging import Logger as GunicornLogger

from api.observability import context
from api.observability.logger import SERVICE
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
    return facts | getattr(record, "facts", {})


def _error(record: logging.LogRecord) -> BaseException | None:
    return record.exc_info[1] if record.exc_info else None


class JsonFormatter(logging.Formatter):
    """Formats a record as one JSON object on one line."""

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


class TextFormatter(logging.Formatter):
    """Formats a record for people: as gunicorn does, then the fields; an exception below."""

    def __init__(self) -> None:
        super().__init__(GunicornLogger.error_fmt, GunicornLogger.datefmt)

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines for a record."""
        record.message = _message(record)
        record.asctime = self.formatTime(record, self.datefmt)
        facts = " ".join(f"{name}={value}" for name, value in _facts(record).items())
        lines = [" ".join(filter(None, (self.formatMessage(record), facts)))]
        if (error := _error(record)) is not None:
            for each in describe(error):
                message = f": {each['message']}" if "message" in each else ""
                lines += [
                    f"  {each['type']}{message}",
                    *(f"    at {place}" for place in each["at"]),
                ]
        return "\n".join(lines)


class ServerLog(GunicornLogger):  # type: ignore[misc]
    """The log of gunicorn, the service and the libraries: one output, one format, one level."""

    formatter: logging.Formatter

    def setup(self, cfg: Any) -> None:
        """Set up gunicorn's log, and let the service's and the libraries' loggers write to it."""
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(self.formatter)
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
        # No line names a thread, and looking it up costs gevent a little for each request.
        logging.logThreads = False
        logging.logMultiprocessing = False


class TextLog(ServerLog):
    """The log as lines for people."""

    formatter = TextFormatter()


class JsonLog(ServerLog):
    """The log as JSON objects for programs."""

    formatter = JsonFormatter()


LOGS: dict[str, type[ServerLog]] = {"text": TextLog, "json": JsonLog}
