"""Positions as they are stored: each ruleset's state, in JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from api.link import Unreadable
from api.soundness import UNDECODABLE
from engine.registry import RULESETS

_decoders = {name: msgspec.json.Decoder(ruleset.state_type) for name, ruleset in RULESETS.items()}


def read_state(ruleset: str, state: bytes) -> Any:
    """A position of this ruleset's. Raises `Unreadable`."""
    try:
        return _decoders[ruleset].decode(state)
    except UNDECODABLE as error:
        raise Unreadable from error
