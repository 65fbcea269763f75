"""Responses that may wait: the answer of a long poll, and an event stream.

While they wait, Flask has ended the request. A poll's answer is made after its wait, so Flask gets
the request a second time, for the hooks and the error handlers that come after a view. What hooks
have kept in `flask.g` is there again; functions for the teardown run both times.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from flask import Flask, Response, current_app, g

from api.concurrency.waits import Parts, Steps, Wait
from api.live.streaming import OpenStream
from api.web.problem_responses import STREAM_HEADERS, STREAM_TYPE

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

Result = TypeVar("Result")


def poll_response(poll: Steps[Result], answer: Callable[[Result], Response]) -> Response:
    """Return the answer to a poll's result: at once, or when its wait has ended."""
    try:
        wait = next(poll)
    except StopIteration as ended:
        return answer(ended.value)
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]
    return PendingResponse(app, wait, poll, answer)


class PendingResponse(Response, Generic[Result]):
    """Stands for the answer of a poll that waits. Flask's hooks get the answer instead."""

    def __init__(
        self, app: Flask, wait: Wait, poll: Steps[Result], answer: Callable[[Result], Response]
    ) -> None:
        super().__init__()
        self._pending = _Pending(app, {name: g.get(name) for name in g}, wait, poll, answer)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Send the answer when the wait has ended."""
        # The response itself is not needed any more: waiting costs less memory without it.
        pending = self._pending
        return Parts(pending.steps(environ, start_response), pending.poll.close)


class _Pending(NamedTuple, Generic[Result]):
    """What is needed to answer a poll when its wait has ended."""

    app: Flask
    kept: dict[str, Any]
    wait: Wait
    poll: Steps[Result]
    answer: Callable[[Result], Response]

    def steps(
        self, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Generator[bytes | Wait, None, None]:
        yield self.wait
        outcome: Result | Exception
        try:
            outcome = yield from self.poll
        except Exception as error:
            outcome = error
        with self.app.request_context(environ):
            for name, value in self.kept.items():
                setattr(g, name, value)
            body = self._respond(outcome)(environ, start_response)
        if isinstance(outcome, Exception):
            # The traceback refers to this frame, which refers to the error: together, they would
            # keep the request until the next garbage collection.
            outcome.__traceback__ = None
        yield from body

    def _respond(self, outcome: Result | Exception) -> Response:
        try:
            return self.app.process_response(self._answer_or_problem(outcome))
        except Exception as error:
            # A hook failed.
            return self.app.handle_exception(error)

    def _answer_or_problem(self, outcome: Result | Exception) -> Response:
        try:
            if isinstance(outcome, Exception):
                raise outcome
            return self.answer(outcome)
        except Exception as error:
            return self.app.make_response(self.app.handle_user_exception(error))


class StreamResponse(Response):
    """An event stream."""

    def __init__(self, stream: OpenStream) -> None:
        super().__init__(headers=STREAM_HEADERS, content_type=STREAM_TYPE)
        self._stream = stream

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Send the stream."""
        start_response(self.status, self.headers.to_wsgi_list())
        if environ["REQUEST_METHOD"] == "HEAD":
            self._stream.close()
            return ()
        return Parts(self._stream.steps(), self._stream.close)
