"""Clients that each send what they are given, one request after the answer to the other.

A process of its own, started by `bench.http`: it reads lanes from its standard input (pickled lists
of `Track`), opens all connections, and waits for a line. Then it drives all lanes at once for some
seconds or until one of them has nothing more to send, and prints how many requests were answered,
in how long, and what was not a success.

    python -m bench.lanes SECONDS < lanes
"""

from __future__ import annotations

from gevent import monkey

monkey.patch_all()

import json  # noqa: E402
import pickle  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Sequence  # noqa: E402

import gevent  # noqa: E402

from bench.running import Connection, Track  # noqa: E402

Opened = tuple[Connection, Sequence[bytes]]


def main() -> None:
    """Drive the lanes."""
    seconds = float(sys.argv[1])
    tracks: list[list[Track]] = pickle.load(sys.stdin.buffer)
    followers = [connect() for lane in tracks for track in lane for connect in track.followers]
    for each in followers:
        gevent.spawn(each.follow)
    lanes = [[(track.connect(), track.requests) for track in lane] for lane in tracks]
    print("ready", flush=True)
    sys.stdin.buffer.readline()

    times: list[float] = []
    failed: list[bytes] = []
    begin = time.perf_counter()
    until = begin + seconds

    def drive(lane: list[Opened]) -> None:
        nonlocal until
        for connection, requests in lane:
            for request in requests:
                sent = time.perf_counter()
                if sent > until:
                    return
                status, body = connection.send(request)
                times.append(time.perf_counter() - sent)
                if status >= 300:
                    failed.append(body)
        # With fewer at work, it would be something else that is measured.
        until = min(until, time.perf_counter())

    gevent.joinall([gevent.spawn(drive, lane) for lane in lanes], raise_error=True)
    passed = time.perf_counter() - begin
    times.sort()
    print(
        json.dumps(
            {
                "per_second": len(times) / passed,
                "p50_ms": times[len(times) // 2] * 1000,
                "p99_ms": times[len(times) * 99 // 100] * 1000,
                "answers": len(times),
                "failed": [each.decode()[:200] for each in failed[:3]],
            }
        )
    )


if __name__ == "__main__":
    main()
