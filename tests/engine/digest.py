"""A fingerprint of seeded games, to compare between processes: ``python -m tests.engine.digest``.

It covers every byte of the states, of what each reader is told and sees, and of the legal moves.
"""

from __future__ import annotations

import hashlib
from random import Random

from tests.engine.play import Case, all_cases, encode, legal, random_game, views


def digest(case: Case, seed: int) -> str:
    """The fingerprint of one random game."""
    ruleset = case.ruleset
    whole = hashlib.sha256(encode(case.deal(Random(seed))))
    for step in random_game(case, seed):
        whole.update(encode(step.before))
        whole.update(encode(legal(case, step.before)))
        whole.update(encode(list(views(case, step.before).values())))
        whole.update(encode([ruleset.to_move(step.before), ruleset.countdown(step.before)]))
        whole.update(encode([step.events(reader) for reader in case.readers]))
        whole.update(encode(step.after))
        for reader in case.readers:
            whole.update(encode(ruleset.redeal_hidden(step.after, reader, Random(seed))))
    return whole.hexdigest()


def digests(seed: int) -> dict[str, str]:
    """The fingerprint of a random game of every case."""
    return {str(case): digest(case, seed) for case in all_cases()}


if __name__ == "__main__":
    print(encode(digests(seed=1)).decode())
