"""Connections whose answers wait, as the worker serves them."""

import time

import pytest

from tests.support.paths import PROGRAMS
from tests.support.raw_http import connect, exchange
from tests.support.service import Service, Start
from tests.support.waiting import wait_until

AT_ONCE = b"GET /late?waits=0 HTTP/1.1\r\nHost: x\r\n\r\n"
CALLER = b"HEAD /caller HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture
def service(start: Start) -> Service:
    return start(program=PROGRAMS / "waits.py")


def test_a_client_that_does_not_read_what_comes_after_a_wait_loses_the_connection(
    service: Service,
) -> None:
    flood = b"GET /flood HTTP/1.1\r\nHost: x\r\n\r\n"
    with connect(service.port, flood, receive_buffer=4096):
        wait_until(lambda: "ended /flood" in service.output, "the answer has ended")
        wait_until(lambda: "did not read its answer" in service.output, "the log tells it")
    assert "Traceback" not in service.output


def test_a_connection_may_be_idle_for_longer_than_a_client_may_take_to_read(
    service: Service,
) -> None:
    with connect(service.port) as connection:
        for pause in (0.0, 1.5):
            time.sleep(pause)
            connection.sendall(AT_ONCE)
            assert connection.recv(65536).endswith(b"late")


@pytest.mark.parametrize("waits", [0, 1])
def test_an_answer_that_fails_is_a_problem_and_does_not_count_as_malformed(
    service: Service, waits: int
) -> None:
    answer = exchange(service.port, b"GET /fail?waits=%d HTTP/1.1\r\nHost: x\r\n\r\n" % waits)
    assert (answer.status, answer.code) == (500, "internal_error")
    assert 'status="500"' not in service.get("/metrics")
    wait_until(lambda: service.output.count("Error handling a request") == 1, "it is logged once")


def test_an_answer_that_waits_is_sent_by_a_service_that_keeps_no_connection(start: Start) -> None:
    service = start(program=PROGRAMS / "waits.py", keepalive=0)
    assert service.get("/late") == "late"


def test_with_the_proxy_protocol_a_wait_does_not_change_the_clients_address(start: Start) -> None:
    service = start(program=PROGRAMS / "waits.py", proxy_protocol="v1")
    of_proxy = b"PROXY TCP4 192.0.2.7 192.0.2.1 5000 80\r\n"
    forged = of_proxy.replace(b"192.0.2.7", b"192.0.2.8")
    with connect(service.port) as connection:
        for sent, answer in (
            (of_proxy + CALLER, b"X-Caller: 192.0.2.7"),
            (CALLER, b"X-Caller: 192.0.2.7"),
            (forged + CALLER, b"400 Bad Request"),
        ):
            connection.sendall(sent)
            assert answer in connection.recv(65536)
