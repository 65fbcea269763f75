"""The choice between moves by their value. Knows no game."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

Choice = TypeVar("Choice")


def best(choices: Sequence[Choice], value: Callable[[Choice], float], rng: Random) -> Choice:
    """Return the choice with the highest value; in a tie, one of them at random.

    >>> best(("ox", "horse", "cat"), len, Random(1))
    'horse'
    """
    values = [value(choice) for choice in choices]
    highest = max(values)
    return rng.choice([c for c, v in zip(choices, values, strict=True) if v == highest])
