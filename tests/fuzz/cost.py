"""The CPU time of a worker for a request, as a ratio to a plain request of the same run.

A ratio is the same on a slow machine and on a busy one. The plain request reads a game; each
request has its own connection. Background tasks of the worker only add CPU time, so a figure above
its bound is measured again, and the lowest figure counts.
"""

from __future__ import annotations

import contextlib
import socket
import time
from typing import NamedTuple

from tests.support.raw_http import Answer, connect, exchange
from tests.support.service import Service

PLAIN_REQUESTS, FEW_REQUESTS = 60, 7
ATTEMPTS = 4
PAUSE = 0.001
"""Seconds between two pieces of a request."""

HEAD_RATIO = 10.0
"""The bound of a request without a body. Reading 32 KiB of header fields costs a third of it."""
RATIO_PER_KIB = 0.35
"""Added to the bound for each KiB of a body. The service parses and checks every value, so the cost
is linear in the length: 64 KiB may cost as much as 32 plain requests, 256 KiB as 100."""
RATIO_PER_PIECE = 0.3
"""The bound of a piece, for a request in pieces. Each piece costs one turn of the event loop."""


class Cost(NamedTuple):
    """The CPU time of a request, as a ratio and in milliseconds; and its answer."""

    ratio: float
    milliseconds: float
    answer: Answer


class Meter:
    """Measures with the CPU clock of a service's only worker."""

    def __init__(self, service: Service, plain: bytes) -> None:
        self.port = service.port
        (pid,) = service.worker_pids
        # The id of a process's CPU clock, as clock_getcpuclockid(3) of Linux encodes it.
        self._clock = ~pid << 3 | 2
        for _ in range(PLAIN_REQUESTS // 2):
            exchange(self.port, plain)
        self._plain = plain
        self.plain = self._cost_of_plain(PLAIN_REQUESTS)

    def cpu(self) -> float:
        """The CPU time of the worker so far, in seconds."""
        return time.clock_gettime(self._clock)

    def cost(self, message: bytes, bound: float) -> Cost:
        """The cost of a request; measured again while it is above the bound.

        Plain requests are measured again too, as the machine may be busier than at the start.
        """
        seconds, answer = self._measure(message)
        ratio = seconds / self.plain
        for _ in range(ATTEMPTS - 1):
            if ratio <= bound:
                break
            plain = max(self.plain, self._cost_of_plain(FEW_REQUESTS))
            again = self._measure(message)[0]
            ratio, seconds = min((ratio, seconds), (again / plain, again))
        return Cost(ratio, seconds * 1000, answer)

    def cost_of_pieces(self, message: bytes, sent_whole: int, size: int) -> Cost:
        """The cost of each piece of a request that is sent in pieces after a first part.

        There is a pause between two pieces, so that the worker mostly receives them one by one.
        """
        with connect(self.port) as line:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            line.sendall(message[:sent_whole])
            time.sleep(0.05)
            begin = self.cpu()
            pieces = range(sent_whole, len(message), size)
            with contextlib.suppress(ConnectionError):  # refused before it is complete
                for place in pieces:
                    line.sendall(message[place : place + size])
                    time.sleep(PAUSE)
            time.sleep(0.05)
            seconds = (self.cpu() - begin) / len(pieces)
        return Cost(seconds / self.plain, seconds * 1000, Answer(0))

    def _cost_of_plain(self, number: int) -> float:
        costs = sorted(self._measure(self._plain)[0] for _ in range(number))
        return costs[number // 2]

    def _measure(self, message: bytes) -> tuple[float, Answer]:
        begin = self.cpu()
        answer = exchange(self.port, message)
        seconds = self.cpu() - begin
        # On some virtual machines the clock is now and then late by a request.
        return (seconds, answer) if seconds > 0 else self._measure(message)
