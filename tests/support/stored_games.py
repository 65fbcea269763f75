"""Reads and changes of stored games that bypass the service."""

import json

from tests.support.service import Service


def make_late(service: Service, game_id: str, by_ms: int) -> None:
    """Move the deadline and the start of the turn back, as if this much more time had passed."""
    key = f"game:{{{game_id}}}"
    with service.store.client() as redis:
        document = json.loads(redis.hget(key, "game") or b"")
        for member in ("deadline", "turn_started_at"):
            document[member] -= by_ms
        redis.hset(key, "game", json.dumps(document))


def unfinished_games(service: Service) -> list[str]:
    """Return the ids of all games that are open or played, the private ones included."""
    with service.store.client() as redis:
        keys = [key for key in redis.scan_iter("game:{*}", count=1000) if key.endswith(b"}")]
        documents = [json.loads(redis.hget(key, "game") or b"{}") for key in keys]
    return [each["id"] for each in documents if each.get("status") in ("open", "playing")]
