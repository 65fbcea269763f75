"""Positions as they are stored: each ruleset's state, in JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from api.model.game import Game
from api.storage.client import Unreadable
from api.storage.validation import UNDECODABLE, UnsupportedFormat, has_unknown_members
from engine.registry import RULESETS

_decoders = {name: msgspec.json.Decoder(ruleset.state_type) for name, ruleset in RULESETS.items()}


def read_state(game: Game, state: bytes) -> Any:
    """Return the decoded position of a game. Raises `Unreadable` or `UnsupportedFormat`."""
    try:
        return _decoders[game.ruleset].decode(state)
    except UNDECODABLE as error:
        if has_unknown_members(state, RULESETS[game.ruleset].state_type):
            raise UnsupportedFormat(game.id) from None
        raise Unreadable from error
