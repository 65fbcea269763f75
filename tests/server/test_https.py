"""gunicorn's `--certfile` and `--keyfile`: the service speaks TLS on its port, and nothing else."""

import contextlib
import json
import re
import socket
import ssl
import sys
from collections.abc import Iterator
from http.client import HTTPSConnection
from pathlib import Path

import pytest

from tests.support.certificates import Authority
from tests.support.raw_http import connect, parse
from tests.support.service import Service, service_environment
from tests.support.waiting import PATIENCE, wait_until

LIVEZ = b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls") / "authority")


@pytest.fixture(scope="module")
def service(
    authority: Authority, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Service, int]]:
    """A service with a certificate, started by the gunicorn command, and its port."""
    certificate, key = authority.certify("127.0.0.1")
    directory = tmp_path_factory.mktemp("service")
    command = [
        str(Path(sys.executable).with_name("gunicorn")),
        *("--config", "python:api.server.gunicorn_config"),
        *("--certfile", str(certificate), "--keyfile", str(key)),
        "api:create_app()",
    ]
    # No request of these tests needs a store.
    environment = service_environment(directory, REDIS_URL="redis://127.0.0.1:1")
    running = Service(command, environment, directory)
    try:
        listening = r"Listening at: https://127\.0\.0\.1:(\d+)"
        found = wait_until(lambda: re.search(listening, running.output), "it listens")
        yield running, int(found[1])
    finally:
        running.end()


def trusting(authority: Authority) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(authority.certificate))


def read_all(connection: socket.socket) -> bytes:
    received = b""
    with contextlib.suppress(ConnectionError):
        while chunk := connection.recv(65536):
            received += chunk
    return received


def test_requests_are_answered_over_tls(service: tuple[Service, int], authority: Authority) -> None:
    _, port = service
    connection = HTTPSConnection("127.0.0.1", port, context=trusting(authority), timeout=PATIENCE)
    with contextlib.closing(connection):
        for _ in range(2):
            connection.request("GET", "/v1/rulesets")
            answer = connection.getresponse()
            assert answer.status == 200
            assert len(json.load(answer)["items"]) == 4


def test_what_is_no_http_is_refused_over_tls_as_a_problem(
    service: tuple[Service, int], authority: Authority
) -> None:
    _, port = service
    with (
        connect(port) as plain,
        trusting(authority).wrap_socket(plain, server_hostname="127.0.0.1") as connection,
    ):
        connection.sendall(b"nonsense\r\n\r\n")
        answer = parse(read_all(connection))
    assert (answer.status, answer.code) == (400, "bad_request")


def test_plain_http_is_not_answered_on_the_port_of_tls(service: tuple[Service, int]) -> None:
    running, port = service
    with connect(port, LIVEZ) as connection:
        received = read_all(connection)
    assert b"HTTP/1." not in received
    assert b"ok" not in received
    wait_until(lambda: "handshake of 127.0.0.1 failed: HTTP_REQUEST" in running.output, "logged")
    assert "Traceback" not in running.output


def test_a_client_that_does_not_shake_hands_loses_its_connection(
    service: tuple[Service, int],
) -> None:
    running, port = service
    with connect(port) as connection:
        assert read_all(connection) == b""
    wait_until(lambda: "handshake of 127.0.0.1 failed: Timeout" in running.output, "logged")
