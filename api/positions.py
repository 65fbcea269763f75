"""Positions as they are stored: each ruleset's state, in JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from api.stored import Game
from engine.registry import RULESETS

_decoders = {name: msgspec.json.Decoder(ruleset.state_type) for name, ruleset in RULESETS.items()}


def read_state(game: Game, state: bytes | None) -> Any:
    """A game's position, None before the start."""
    return None if state is None else _decoders[game.ruleset].decode(state)
