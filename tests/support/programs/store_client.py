"""Uses of the store's client in a process that gevent has patched, as a worker is.

    python store_client.py USE URL [ARGUMENT ...]

The uses are the functions below. Each prints what a test compares.
"""

# ruff: noqa: E402 - gevent patches first

from gevent import monkey

monkey.patch_all()

import sys
import time
from typing import Any

import gevent
from redis import Redis, exceptions

from api.config.settings import Settings
from api.storage.client import Command
from api.storage.connect import connect
from api.storage.pubsub import Listener, Subscriptions

TIMEOUT = 2


def connected(url: str) -> Any:
    return connect(Settings(redis_url=url, redis_timeout_seconds=TIMEOUT, redis_connections=2))


def listen(url: str, node: str = "") -> None:
    """Listen to a server that does not answer."""
    _, places = connected(url)
    try:
        Listener(places, node, print, print).run()
    except exceptions.TimeoutError:
        print("given up")


def listen_in_silence(url: str) -> None:
    """Listen for longer than the timeout of a request, and then hear a message."""
    _, places = connected(url)
    listener = Listener(places, "", lambda channel, _: print(channel, flush=True), print)
    listener.subscribe("news")
    hearing = gevent.spawn(listener.run)
    store = Redis.from_url(url)
    while not store.pubsub_numsub("news")[0][1]:
        gevent.sleep(0.01)
    gevent.sleep(TIMEOUT + 1)
    store.publish("news", "")
    gevent.sleep(0.5)
    print(hearing.ready())


def listen_with_a_fault(url: str) -> None:
    """Lose the connection while the callback for a loss raises, and listen on."""
    _, places = connected(url)
    heard: list[Any] = []

    def fail(channels: Any) -> None:
        raise ValueError("a fault of the callback")

    def wait_for(number: int) -> None:
        while len(heard) < number:
            gevent.sleep(0.01)

    subscriptions = Subscriptions(places, lambda *what: heard.append(what), fail)
    subscriptions.subscribe("news")
    gevent.spawn(subscriptions.run)
    store = Redis.from_url(url)
    wait_for(1)
    store.client_kill_filter(_type="pubsub")
    wait_for(2)
    store.publish("news", "")
    wait_for(3)
    print(heard)


def ask_two_nodes(url: str, frozen: str, other: str) -> None:
    """Read keys of a frozen node and of another one together; meanwhile the other one's alone."""
    client, _ = connected(url)
    there, here = (Command(key, ("GET", key)) for key in (frozen, other))
    asking = [gevent.spawn(client.execute, [there, here]) for _ in range(40)]
    gevent.sleep(0.1)
    begin = time.monotonic()
    print([client.execute([here]) for _ in range(3)], time.monotonic() - begin < TIMEOUT / 2)
    gevent.joinall(asking)
    print({type(each.exception).__name__ for each in asking})


USES = {
    use.__name__: use for use in (listen, listen_in_silence, listen_with_a_fault, ask_two_nodes)
}

if __name__ == "__main__":
    USES[sys.argv[1]](*sys.argv[2:])
