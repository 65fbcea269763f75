"""`ludotheque serve` with an application that waits, in a worker that gives clients one second.

Each path says what is sent after a wait. The application prints what ends. `/metrics` has what it
counts. The options of gunicorn that the environment names are set.
"""

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs

import api
from api.server import gunicorn_config
from api.server.cli import main

PIECE = b"x" * 65536


def create_app(settings: Any) -> Callable[..., Any]:
    # Not before gevent has patched, as in the service itself.
    from gevent.event import Event  # noqa: PLC0415

    from api.concurrency.waits import Parts, Wait  # noqa: PLC0415
    from api.observability import metrics  # noqa: PLC0415
    from api.server import worker  # noqa: PLC0415

    worker.SEND_SECONDS = 1.0

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Parts:
        path, query = environ["PATH_INFO"], parse_qs(environ["QUERY_STRING"])

        def steps() -> Iterator[bytes | Wait]:
            if path != "/late":
                start_response("200 OK", [("X-Caller", environ["REMOTE_ADDR"])])
            for _ in range(int(query.get("waits", "1")[0])):
                yield Wait(Event(), 0.1)
            if path == "/late":
                start_response("200 OK", [("Content-Length", "4")])
                yield b"late"
            elif path == "/flood":
                for _ in range(1000):
                    yield PIECE
            elif path == "/fail":
                raise RuntimeError(path)
            elif path == "/metrics":
                yield metrics.exposition(None, None)

        return Parts(steps(), lambda: print("ended", path, flush=True))

    return application


api.create_app = create_app

if __name__ == "__main__":
    for option in {"keepalive", "proxy_protocol"} & set(os.environ):
        setattr(gunicorn_config, option, os.environ[option])
    sys.exit(main(["serve"]))
