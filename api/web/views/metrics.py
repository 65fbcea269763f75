"""The route of the metrics, for Prometheus."""

from __future__ import annotations

from hmac import compare_digest

from flask import Response, current_app, request

from api.observability import metrics
from api.problems.problem import Problem
from api.web.openapi.blueprint import METRICS_TOKEN, Blueprint
from api.web.responses import services

blueprint = Blueprint("metrics", __name__)


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

    The metrics of all workers behind this address. With METRICS_TOKEN set, the request must send
    it as a bearer token; a player's token does not count. 404 if the metrics are switched off. A
    worker renders them at most once a second.
    """
    if not current_app.config["METRICS"]:
        raise Problem("not_found", "The metrics are switched off.")
    _admit(current_app.config["METRICS_TOKEN"], request.headers.get("Authorization"))
    return Response(services().metrics_page.get(), content_type=metrics.CONTENT_TYPE)


def _admit(token: str | None, header: str | None) -> None:
    """Raise `Problem` unless the Authorization header has the token, if one is required."""
    if token is None:
        return
    if header is None:
        raise Problem("missing_token", "Send the service's METRICS_TOKEN as a bearer token.")
    scheme, _, shown = header.partition(" ")
    if scheme.lower() != "bearer" or not compare_digest(shown.strip().encode(), token.encode()):
        raise Problem("invalid_token", "Send the service's METRICS_TOKEN as a bearer token.")
