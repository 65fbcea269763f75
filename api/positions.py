"""Positions as they are stored: each ruleset's state, in JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from api.link import Unreadable
from api.soundness import UNDECODABLE
from api.stored import Game
from engine.registry import RULESETS

_decoders = {name: msgspec.json.Decoder(ruleset.state_type) for name, ruleset in RULESETS.items()}


def read_state(game: Game, state: bytes | None) -> Any:
    """A game's position, None before the start. Raises `Unreadable`."""
    if state is None:
        return None
    try:
        return _decoders[game.ruleset].decode(state)
    except UNDECODABLE as error:
        raise Unreadable from error
