"""The limit of the stack: a Flask view that asks the store once and sends back what it says.

What the service costs beyond this is ours. It runs under the same workers, with the same client of
the same store: `GET /read` reads stored bytes, `POST /swap/N` compares and sets in one script.
"""

from __future__ import annotations

import os

import redis
from flask import Flask, Response, request

SWAP = """
if redis.call('HGET', KEYS[1], 'version') ~= ARGV[1] then
  return false
end
redis.call('HSET', KEYS[1], 'version', ARGV[1] , 'state', ARGV[2])
return redis.call('HGET', KEYS[1], 'answer')
"""

READ_KEY = "bare:read"
SWAP_KEY = "bare:swap:{%s}"


def create_app() -> Flask:
    """The bare application; the store holds what it answers."""
    app = Flask("bare", static_folder=None)
    pool = redis.BlockingConnectionPool.from_url(os.environ["REDIS_URL"], max_connections=64)
    store = redis.Redis(connection_pool=pool)
    swap = store.register_script(SWAP)

    @app.get("/read")
    def read() -> Response:
        return Response(store.get(READ_KEY), content_type="application/json")

    @app.post("/swap/<key>")
    def compare_and_set(key: str) -> Response:
        answer = swap(keys=[SWAP_KEY % key], args=["1", request.get_data()])
        return Response(answer, content_type="application/json")

    return app
