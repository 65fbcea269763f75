"""A transport that sends again what did not arrive or came too early.

Every request of ours may be repeated: a move is recognised by seat, turn and move, a creation
by its Idempotency-Key.
"""

import time

import httpx

TRIES = 10
NOT_NOW = {429, 502, 503, 504}


class Patient(httpx.HTTPTransport):
    repeated = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        for attempt in range(1, TRIES + 1):
            pause = 0.1 * 2**attempt
            try:
                response = super().handle_request(request)
            except httpx.TransportError:
                if attempt == TRIES:
                    raise
            else:
                again = response.status_code in NOT_NOW and attempt < TRIES
                # On a 200, Retry-After says that too many are waiting: the answer is good.
                pause = float(response.headers.get("Retry-After", pause if again else 0))
                if not again:
                    time.sleep(pause)
                    return response
                response.close()
            Patient.repeated += 1
            time.sleep(pause)
        raise AssertionError
