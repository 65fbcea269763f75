"""The start of a game: the deal, its published hash, and the first moves of house players."""

from __future__ import annotations

import json
import secrets
from typing import Any

import msgspec
from msgspec.structs import replace

from api.games.progress import Progress
from api.model.events import BY_PLAYER, GameStarted, HandoverCause, ItemCause
from api.model.game import StoredDeal, digest, raw
from api.storage.games import Change
from engine.house import CAREFUL
from engine.registry import RULESETS


def start_if_full(progress: Progress) -> Change:
    """Start the game if all its seats are taken, and return the change to commit."""
    if any(record.is_free for record in progress.game.seats):
        return progress.to_change()
    return start(progress)


def start_with_house(progress: Progress, by: ItemCause = BY_PLAYER) -> Change:
    """Start the game with house players in the free seats, and return the change to commit."""
    level = progress.game.house_level or CAREFUL
    for seat, record in enumerate(progress.game.seats):
        if record.is_free:
            progress.hand_over(seat, HandoverCause.START, by, level)
            progress.change_seat(seat, reserved_for=None)
    return start(progress)


def start(progress: Progress) -> Change:
    """Deal, move for house players, and return the change to commit."""
    game = progress.game
    ruleset = RULESETS[game.ruleset]
    options = msgspec.json.decode(game.options, type=ruleset.options_type)
    deal = ruleset.deal(game.seat_count, options, progress.rng)
    stored_deal = _commit_to(deal)
    progress.game = replace(game, left=(), deal_sha256=digest(stored_deal.deal_text))
    outcome = ruleset.start(game.seat_count, options, deal)
    progress.start(outcome, GameStarted(game.seat_count))
    progress.play_house_moves()
    return progress.to_change(deal=stored_deal)


def _commit_to(deal: Any) -> StoredDeal:
    """Return the deal with the text whose hash is published at the start.

    The text has a random salt, without which the deal could be found by trying all deals.
    """
    members = {**msgspec.to_builtins(deal), "salt": secrets.token_hex(32)}
    text = json.dumps(members, separators=(",", ":"), ensure_ascii=True)
    return StoredDeal(deal=raw(deal), deal_text=text)
