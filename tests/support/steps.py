"""Work that may wait (`api.concurrency.waits`), done in one greenlet."""

from typing import TypeVar

from api.concurrency.waits import Steps

Result = TypeVar("Result")


def complete(steps: Steps[Result]) -> Result:
    """The result, after all waits."""
    while True:
        try:
            wait = next(steps)
        except StopIteration as ended:
            return ended.value
        wait.block()
