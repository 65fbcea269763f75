"""The request that is being answered, with what more than one part of the service asks of it."""

from __future__ import annotations

from functools import cached_property
from typing import cast

import flask
from flask.globals import request_ctx

from api.games.players import Credentials, read_credentials
from api.observability import context


class Request(flask.Request):
    """A request. Each of its headers is read where it is needed, its token once."""

    @cached_property
    def credentials(self) -> Credentials | None:
        """What the caller shows, None if nothing. Raises `Problem` (``invalid_token``)."""
        return read_credentials(self.environ.get("HTTP_AUTHORIZATION"))

    @property
    def preferred(self) -> str | None:
        """The header Prefer."""
        return self.environ.get("HTTP_PREFER")

    @property
    def required_tags(self) -> str | None:
        """The header If-Match."""
        return self.environ.get("HTTP_IF_MATCH")

    @property
    def known_tags(self) -> str | None:
        """The header If-None-Match."""
        return self.environ.get("HTTP_IF_NONE_MATCH")


def current_request() -> Request:
    """The request that is being answered here and now."""
    trace = context.current()
    # Much shorter than by way of Flask's proxies, for what every request asks several times.
    if trace is not None and trace.request is not None:
        return cast("Request", trace.request)
    return cast("Request", request_ctx.request)
