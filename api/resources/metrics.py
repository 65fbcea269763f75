"""What the service has counted and measured, for Prometheus."""

from __future__ import annotations

from collections.abc import Callable
from hmac import compare_digest
from typing import TypeVar

from flask import Response, current_app, request
from redis import RedisError

from api import metrics
from api.link import Unreadable
from api.openapi import METRICS_TOKEN, Blueprint
from api.problems import Problem
from api.resources.common import services

blueprint = Blueprint("metrics", __name__)

Answer = TypeVar("Answer")


@blueprint.get("/metrics", tags=["service"])
@blueprint.operation(
    "getMetrics",
    "missing_token",
    "invalid_token",
    "not_found",
    security=METRICS_TOKEN,
    store=False,
)
@blueprint.response(
    200,
    {"type": "string"},
    content_type="text/plain",
    description="Prometheus' text format.",
)
def get_metrics() -> Response:
    """Get the service's metrics

    Of all workers behind this address. If the service was given a METRICS_TOKEN, only for those
    who send it as a bearer token; a player's is none. 404 if the metrics are switched off.
    """
    if not current_app.config["METRICS"]:
        raise Problem("not_found", "The metrics are switched off.")
    _admit(current_app.config["METRICS_TOKEN"], request.headers.get("Authorization"))
    text = metrics.exposition(
        _of_store(services().lobby_sizes.get), _of_store(services().store.is_full)
    )
    return Response(text, content_type=metrics.CONTENT_TYPE)


def _admit(token: str | None, header: str | None) -> None:
    """Raises `Problem` unless this header shows the token, if one is asked for."""
    if token is None:
        return
    if header is None:
        raise Problem("missing_token", "Send the service's METRICS_TOKEN as a bearer token.")
    scheme, _, shown = header.partition(" ")
    if scheme.lower() != "bearer" or not compare_digest(shown.strip().encode(), token.encode()):
        raise Problem("invalid_token", "Send the service's METRICS_TOKEN as a bearer token.")


def _of_store(ask: Callable[[], Answer]) -> Answer | None:
    try:
        return ask()
    except (RedisError, Unreadable) as error:
        # What was counted here is worth most when the store is away.
        metrics.store_failed(error)
        return None
