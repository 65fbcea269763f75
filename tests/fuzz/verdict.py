"""Find what is wrong with a response to a malformed request."""

from __future__ import annotations

import json
from typing import Any

from api.problems.catalogue import CATALOGUE
from tests.support.raw_http import Answer

PROBLEM = "application/problem+json"


def fault(answer: Answer, method: str, *, whole: bool = True, hopeless: bool = False) -> str | None:
    """Return what is wrong with a response to a malformed request, if anything.

    `whole`: the request's header was complete, so there must be a response. `hopeless`: the request
    must be refused.
    """
    if answer.status == 0 and whole:
        return "no answer"
    if answer.status >= 500 and answer.code != "unsupported_transfer_coding":
        return f"a status of {answer.status}"
    if hopeless and answer.status < 400:
        return f"accepted with {answer.status}"
    if answer.status < 400:
        return None
    if answer.content_type != PROBLEM:
        return f"{answer.content_type or 'nothing'} in place of a problem"
    return None if method.upper() == "HEAD" else _fault_of_problem(answer)


def _fault_of_problem(answer: Answer) -> str | None:
    try:
        problem: Any = json.loads(answer.body)
    except ValueError:
        return "a problem that is no JSON"
    kind = CATALOGUE.get(problem.get("code"))
    if kind is None or kind.status != answer.status or problem.get("status") != answer.status:
        return f"a problem with code {problem.get('code')} and status {answer.status}"
    return None
