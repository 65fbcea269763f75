"""`ludotheque serve` with a small application in place of the API.

It has what the API lacks: slow requests, failures, a counter in the store, and the worker's
process id. Run as a script; all settings come from the environment.
"""

import os
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qs

import api
from api.server.cli import main

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def fail(secret: str) -> None:
    raise RuntimeError(secret)


def create_app(settings: Any) -> Application:
    # Not before gevent has patched, as in the service itself.
    import gevent  # noqa: PLC0415
    import redis  # noqa: PLC0415
    from redis.backoff import ConstantBackoff  # noqa: PLC0415
    from redis.retry import Retry  # noqa: PLC0415

    # As patient as the service is while its Valkey is started again.
    store = redis.Redis.from_url(
        settings.redis_url,
        retry=Retry(ConstantBackoff(0.1), 30),
        retry_on_error=[redis.ConnectionError],
    )

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        query = {name: values[0] for name, values in parse_qs(environ["QUERY_STRING"]).items()}
        match environ["PATH_INFO"]:
            case "/pid":
                answer: object = os.getpid()
            case "/increment":
                answer = store.incr(query["key"])
            case "/slow":
                time.sleep(float(query["seconds"]))
                answer = store.incr("slow")
            case "/fail":
                fail(query["secret"])
                answer = ""
            case "/background":
                gevent.spawn(fail, query["secret"]).join()
                answer = ""
            case "/settings":
                answer = settings.redis_url
            case _:
                answer = ""
        body = str(answer).encode()
        start_response("200 OK", [("Content-Length", str(len(body)))])
        return [body]

    return application


if __name__ == "__main__":
    api.create_app = create_app  # type: ignore[attr-defined, assignment, unused-ignore]
    sys.exit(main(["serve"]))
