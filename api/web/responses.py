"""What views share: who is calling, the services, answers that can be asked for conditionally."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import msgspec
from flask import Response, current_app
from msgspec import Raw, Struct

from api.games.players import Credentials
from api.games.representations import game_answer
from api.games.transactions import LoadedGame
from api.live import MAX_WAIT_SECONDS
from api.observability.context import note_time
from api.storage.client import Command
from api.web.problem_responses import RETRY_AFTER_SECONDS
from api.web.request import current_request
from api.web.wiring import Services

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


class Whole(Response):
    """An answer that is there as a whole: it is sent as it stands, without a look at it again."""

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Send it."""
        start_response(self.status, self.headers.to_wsgi_list())
        return () if environ["REQUEST_METHOD"] == "HEAD" else self.iter_encoded()


class Empty(Whole):
    """An answer without a body, which has no type then either."""

    default_mimetype = None


_encode = msgspec.json.Encoder().encode

GAME = "game"
"""What getGame answers, in a tag."""


def services() -> Services:
    """The services of this application."""
    return cast("Services", current_app.extensions["ludotheque"])


def credentials() -> Credentials | None:
    """What the caller shows, None if nothing. Raises `Problem` (``invalid_token``)."""
    return current_request().credentials


def if_match(tag: str) -> bool:
    """Whether the caller's If-Match, if it sent one, is the tag of getGame's answer."""
    required = current_request().required_tags
    return not required or _names(required, f'"{GAME}-{tag}"')


def load_game(game_id: str, *, anonymous: bool = True, along: Sequence[Command] = ()) -> LoadedGame:
    """The caller, perhaps without a token, before a game; and what is asked `along`.

    Raises `Problem` (``missing_token``, ``invalid_token``, ``game_not_found``).
    """
    found = services().transactions.load(credentials(), game_id, anonymous=anonymous, along=along)
    note_time(found.now)
    return found


def answer(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """An answer with a JSON body."""
    headers = {"Content-Type": "application/json", **(headers or {})}
    return Whole(_encode(body), status=status, headers=headers)


def game(found: LoadedGame, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A game as the caller sees it."""
    note_time(found.now)
    return answer(shown(found), status, headers)


def unless_known(found: LoadedGame, what: str, body: Callable[[], Struct | Raw]) -> Response:
    """The answer that `body` makes, or 304 if the caller has it already.

    `what` tells apart the answers that there are about one game.
    """
    tag = f'"{what}-{found.tag}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache", "Vary": "Authorization"}
    if _has(tag):
        return Empty(status=304, headers=headers)
    return answer(body(), headers=headers)


def unless_had(response: Response) -> Response:
    """An answer with a tag, or 304 if the caller has it already.

    Response.make_conditional heeds If-Match too, with a 412 that is no problem of ours.
    """
    tag, _ = response.get_etag()
    if tag is None or not _has(f'"{tag}"'):
        return response
    kept = ("ETag", "Cache-Control", "Vary")
    headers = {name: response.headers[name] for name in kept if name in response.headers}
    return Empty(status=304, headers=headers)


def is_known(found: LoadedGame, what: str) -> bool:
    """Whether the caller has this answer already."""
    return _has(f'"{what}-{found.tag}"')


def _has(tag: str) -> bool:
    """Whether the caller says that it has the answer with this tag."""
    said = current_request().known_tags
    return said is not None and _names(said, tag, is_weak=True)


def _names(tags: str, tag: str, *, is_weak: bool = False) -> bool:
    """Whether a list of tags, or a star, stands for one of our tags, which hold no comma.

    `is_weak`: a weak tag stands for the strong one too.
    """
    listed = (each.strip() for each in tags.split(","))
    if is_weak:
        listed = (each.removeprefix("W/") for each in listed)
    return tags.strip() == "*" or tag in listed


def shown(found: LoadedGame) -> Raw:
    """A game as the caller sees it, rendered."""
    return game_answer(found.found, found.audience)


def preferred_wait() -> int | None:
    """How many seconds the caller would wait for a change (RFC 7240), None if it would not."""
    preferred = current_request().preferred
    if preferred is None:
        return None
    found = re.search(r"(?:^|[,;\s])wait\s*=\s*\"?([0-9]{1,9})", preferred)
    return None if found is None else min(int(found[1]), MAX_WAIT_SECONDS)


def retry_later(response: Response) -> Response:
    """An answer that would have been waited for, if not so many did: ask again later."""
    response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return response
