"""Choosing between moves once each has been given a value. Knows no game."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

Choice = TypeVar("Choice")


def best(choices: Sequence[Choice], value: Callable[[Choice], float], rng: Random) -> Choice:
    """The choice of the highest value; of several one at random.

    >>> best(("ox", "horse", "cat"), len, Random(1))
    'horse'
    """
    values = [value(choice) for choice in choices]
    highest = max(values)
    return rng.choice(
        [choice for choice, of_it in zip(choices, values, strict=True) if of_it == highest]
    )
