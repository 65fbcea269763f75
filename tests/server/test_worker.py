"""What gunicorn itself refuses is a problem like any other, and repeats nothing."""

import json
import signal

import pytest

from api.web.headers import DATA_POLICY, POLICY, SAFE_HEADERS
from tests.support.raw_http import exchange
from tests.support.service import Service, Start

TOKEN = "s3cr3t-t0ken"


@pytest.mark.parametrize(
    ("request_bytes", "status", "code"),
    [
        (b"%b\r\n\r\n" % TOKEN.encode(), 400, "bad_request"),
        (
            b"GET / HTTP/9.9\r\nAuthorization: Bearer %b\r\n\r\n" % TOKEN.encode(),
            400,
            "bad_request",
        ),
        (b"GET / HTTP/1.1\r\nBad Header %b: 1\r\n\r\n" % TOKEN.encode(), 400, "bad_request"),
        (
            b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            400,
            "bad_request",
        ),
        (b"GET /%b HTTP/1.1\r\n\r\n" % (b"x" * 200_000), 414, "uri_too_long"),
        (
            b"GET / HTTP/1.1\r\nAuthorization: %b\r\n\r\n" % (TOKEN.encode() * 20_000),
            431,
            "headers_too_large",
        ),
        (
            b"GET / HTTP/1.1\r\n%b\r\n" % b"".join(b"X-%d: 1\r\n" % n for n in range(200)),
            431,
            "headers_too_large",
        ),
        (b"GET / HTTP/1.1\r\nExpect: %b\r\n\r\n" % TOKEN.encode(), 417, "expectation_failed"),
        (
            b"POST / HTTP/1.1\r\nTransfer-Encoding: %b\r\n\r\n" % TOKEN.encode(),
            501,
            "unsupported_transfer_coding",
        ),
        (
            b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n0\r\n\r\n",
            501,
            "unsupported_transfer_coding",
        ),
        (
            b"POST / HTTP/1.1\r\n%b%b\r\n0\r\n\r\n"
            % (b"Transfer-Encoding: deflate\r\n", b"Transfer-Encoding: chunked\r\n"),
            501,
            "unsupported_transfer_coding",
        ),
        (b"GET /fail?secret=%b HTTP/1.1\r\n\r\n" % TOKEN.encode(), 500, "internal_error"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_refusal_is_a_problem(
    service: Service, request_bytes: bytes, status: int, code: str
) -> None:
    answer = exchange(service.port, request_bytes, half_close=False)
    headers, problem = answer.headers, json.loads(answer.body)
    assert (answer.status, problem["status"], problem["code"]) == (status, status, code)
    assert problem["type"] == f"/problems/{code}"
    assert problem["title"]
    assert problem["detail"]
    assert headers["content-type"] == "application/problem+json"
    assert headers["content-length"] == str(len(answer.body))
    assert headers["connection"] == "close"
    assert headers["access-control-allow-origin"] == "*"
    for name, value in ((POLICY, DATA_POLICY), *SAFE_HEADERS):
        assert headers[name.lower()] == value
    assert TOKEN.encode() not in answer.body


@pytest.fixture
def service(start: Start) -> Service:
    return start(WEB_CONCURRENCY=1)


def test_no_refusal_writes_what_was_sent_to_the_log(service: Service) -> None:
    token = TOKEN.encode()
    for request in (
        b"%b\r\n\r\n" % token,
        b"GET / HTTP/1.1\r\nBad Header %b: 1\r\n\r\n" % token,
        b"GET / HTTP/1.1\r\nAuthorization: %b\r\n\r\n" % (token * 20_000),
    ):
        exchange(service.port, request, half_close=False)
    service.signal(signal.SIGTERM)
    assert service.exit_code() == 0
    assert "Refused" in service.output
    assert TOKEN not in service.output
