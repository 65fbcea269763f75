"""The keys of a game. They share a hash tag, so that one script can change all of them."""

from __future__ import annotations


def game_key(game_id: str) -> str:
    """Return the key of a game's hash; its name is also the channel of the game's commits."""
    return f"game:{{{game_id}}}"


def items_key(game_id: str) -> str:
    """Return the key of the history of a game in play."""
    return f"game:{{{game_id}}}:items"


def played_key(game_id: str) -> str:
    """Return the key of the played moves of a game in format 1."""
    return f"game:{{{game_id}}}:played"
