"""`ludotheque serve`, whose check of the store is repeated every second instead of every ten."""

import sys
from typing import Any

import api
from api.server.cli import main

create_app = api.create_app


def create_app_with_quick_watch(settings: Any) -> Any:
    # Not before gevent has patched, as in the service itself.
    from api.storage import watch  # noqa: PLC0415

    watch.CHECK_SECONDS = 1.0
    return create_app(settings)


api.create_app = create_app_with_quick_watch

if __name__ == "__main__":
    sys.exit(main(["serve"]))
