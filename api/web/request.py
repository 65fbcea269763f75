"""The HTTP request, with the headers that several modules read."""

from __future__ import annotations

from functools import cached_property

import flask

from api.games.players import Credentials, read_credentials
from api.problems.problem import Problem


class Request(flask.Request):
    """Flask's request, which reads the token once."""

    @cached_property
    def credentials(self) -> Credentials | None:
        """The caller's token, None without one. Raises `Problem` (``invalid_token``)."""
        return read_credentials(self.environ.get("HTTP_AUTHORIZATION"))

    @property
    def required_credentials(self) -> Credentials:
        """The caller's token. Raises `Problem` (``missing_token``, ``invalid_token``)."""
        if self.credentials is None:
            raise Problem("missing_token")
        return self.credentials


def current_request() -> Request:
    """Return the request that is being answered."""
    # The object itself: each attribute of Flask's proxy costs a lookup.
    request: Request = flask.request._get_current_object()  # type: ignore[attr-defined]
    return request
