"""Records the document's examples: `python -m tests.document.record`, or `make examples`.

Starts real services with an embedded Valkey, runs the scenarios against them, and writes the
requests and responses. Each recording has other cards and ids.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from api.web.openapi.examples import RECORDED
from tests.document.recorder import Caller, Recorder
from tests.document.scenarios import (
    SCENARIOS,
    a_crowded_service,
    a_service_of_few_words,
    a_service_that_stops,
    a_service_without_metrics,
    a_service_without_replicas,
)
from tests.support.service import Service, serving


def main() -> None:
    """Record all examples."""
    recorder = Recorder()
    with running() as service:
        for scenario in SCENARIOS:
            scenario(Caller(recorder, service.url))
    with running(WAITERS="0", LOG_LEVEL="critical") as service:
        a_crowded_service(service, Caller(recorder, service.url))
    with running(WAIT_REPLICAS="1", REDIS_TIMEOUT_SECONDS="0.2") as service:
        a_service_without_replicas(Caller(recorder, service.url))
    with running(RATE_LIMITS="reads=1/hour") as service:
        a_service_of_few_words(Caller(recorder, service.url))
    with running(METRICS_TOKEN="known-to-few-people", STOP_DELAY_SECONDS="5") as service:
        a_service_that_stops(service, Caller(recorder, service.url))
    with running(METRICS="off") as service:
        a_service_without_metrics(Caller(recorder, service.url))
    RECORDED.write_text(recorder.text(), encoding="utf-8")


@contextmanager
def running(**settings: str) -> Iterator[Service]:
    """Run a service with an empty store."""
    with (
        tempfile.TemporaryDirectory() as directory,
        serving(directory, APPEND_FSYNC="everysec", WEB_CONCURRENCY="1", **settings) as service,
    ):
        yield service


if __name__ == "__main__":
    main()
