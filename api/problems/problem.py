"""Problems: why a request fails, as a value that any layer can raise.

A problem is RFC 9457 JSON with a machine-readable `code` (see `api.problems.catalogue`) and, where
a member or a parameter of the request is wrong, a pointer to it. `api.web.problem_responses` makes
the HTTP response.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from api.problems.catalogue import CATALOGUE
from engine.published import described


class FieldError(Struct, frozen=True, omit_defaults=True):
    """A member or parameter that is wrong."""

    detail: Annotated[str, described("What is wrong, as text for people.")]
    pointer: Annotated[
        str | UnsetType,
        described(
            "A JSON pointer to a member of the body, for example `#/move/card`; `#` is the body.",
            pattern="^#",
        ),
    ] = UNSET
    parameter: Annotated[
        str | UnsetType,
        described("The name of a query parameter or header."),
    ] = UNSET


class ProblemBody(Struct, frozen=True, omit_defaults=True):
    """Why a request failed (RFC 9457). Decide by `code`; show `detail` to people."""

    type: Annotated[
        str,
        described(
            "The address of the explanation of this code.",
            format="uri-reference",
        ),
    ]
    title: Annotated[
        str,
        described("What is wrong, in a few words; the same for all problems of this code."),
    ]
    status: Annotated[int, described("The HTTP status of the response.", minimum=400, maximum=599)]
    code: Annotated[
        str,
        described(
            "The code, for programs. New codes may appear: handle unknown ones by their status."
        ),
    ]
    detail: Annotated[str, described("What is wrong with this request, as text for people.")]
    rule: Annotated[
        str | UnsetType,
        described(
            "The code of the rule that an illegal move breaks, for example `card_not_in_hand`."
        ),
    ] = UNSET
    errors: Annotated[
        tuple[FieldError, ...] | UnsetType,
        described(
            "The wrong members or parameters, if the problem is about any.",
            minItems=1,
        ),
    ] = UNSET


class Problem(Exception):
    """The request fails with this code.

    Attributes:
        code: A code of the catalogue.
        detail: A sentence about this request, by default the advice of the catalogue.
        errors: The members and parameters that are wrong.
        rule: The engine's machine-readable code of an illegal move.
        headers: Response headers.
    """

    def __init__(
        self,
        code: str,
        detail: str | None = None,
        *,
        errors: Iterable[FieldError] = (),
        rule: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        kind = CATALOGUE[code]
        self.code = code
        self.status = kind.status
        self.title = kind.title
        self.detail = detail or kind.advice
        self.errors = tuple(errors)
        self.rule = rule
        self.headers = dict(headers or {})
        super().__init__(self.detail)

    def within(self, *path: str | int) -> Problem:
        """Return the problem of a larger body, in which its own body stands at this path."""
        errors = [
            each
            if each.pointer is UNSET
            else replace(each, pointer=pointer(path) + each.pointer.removeprefix("#"))
            for each in self.errors
        ]
        return Problem(self.code, self.detail, errors=errors, rule=self.rule, headers=self.headers)

    def body(self) -> ProblemBody:
        """Return the JSON body."""
        return ProblemBody(
            type=f"/problems/{self.code}",
            title=self.title,
            status=self.status,
            code=self.code,
            detail=self.detail,
            rule=self.rule or UNSET,
            errors=self.errors or UNSET,
        )


def invalid(detail: str, *path: str | int) -> Problem:
    """Return an `invalid_request` that points at one member of the body."""
    return Problem("invalid_request", detail, errors=(FieldError(detail, pointer=pointer(path)),))


def pointer(path: Iterable[str | int]) -> str:
    """Return a JSON pointer (RFC 6901) in its fragment form, which names the whole body as ``#``.

    >>> pointer(["move", "cards", 0])
    '#/move/cards/0'
    """
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in path)
    # A member's name comes from the client and need not be well-formed Unicode.
    return "".join(["#", *(f"/{step}" for step in steps)]).encode("utf-8", "replace").decode()
