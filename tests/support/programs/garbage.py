"""`ludotheque serve`, which also tells what its requests have left for the garbage collector.

The first request to /garbage turns the collector off in its worker. Each returns the types of the
objects that were unreachable, because they refer to each other, and how many there were.
"""

import gc
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import api
from api.server.cli import main

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

create_app = api.create_app


def unreachable() -> dict[str, int]:
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    gc.set_debug(0)
    types = map(type, gc.garbage)
    names = Counter(f"{each.__module__}.{each.__qualname__}" for each in types)
    gc.garbage.clear()
    # They were kept in `gc.garbage`: free them now.
    gc.collect()
    return names


def create_app_with_garbage(settings: Any) -> Application:
    app = create_app(settings)

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ["PATH_INFO"] != "/garbage":
            return app(environ, start_response)
        body = json.dumps(unreachable()).encode()
        start_response("200 OK", [("Content-Length", str(len(body)))])
        return [body]

    return application


api.create_app = create_app_with_garbage

if __name__ == "__main__":
    sys.exit(main(["serve"]))
