"""gunicorn's `--certfile` and `--keyfile`: the service speaks TLS on its port, and nothing else."""

import json
import re
import socket
import ssl
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.proofs.failover import Authority
from tests.server.service import PATIENCE, ROOT, Service, clean_environment, wait_until

HANDSHAKE_SECONDS = 2
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
        *("--keep-alive", str(HANDSHAKE_SECONDS)),
        "api:create_app()",
    ]
    environment = clean_environment() | {
        "PORT": "0",
        "DATA_DIR": str(directory),
        "PYTHONPATH": str(ROOT),
        # No request of these tests needs a store.
        "REDIS_URL": "redis://127.0.0.1:1",
    }
    running = Service(command, environment, directory)
    try:
        listening = r"Listening at: https://127\.0\.0\.1:(\d+)"
        found = wait_until(lambda: re.search(listening, running.output), "it listens")
        yield running, int(found[1])
    finally:
        running.end()


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def read_all(connection: socket.socket) -> bytes:
    received = b""
    try:
        while chunk := connection.recv(65536):
            received += chunk
    except ConnectionError:
        pass
    return received


def test_requests_are_answered_over_tls(service: tuple[Service, int], authority: Authority) -> None:
    _, port = service
    url = f"https://127.0.0.1:{port}/v1/rulesets"
    with requests.Session() as session:
        for _ in range(2):
            answer = session.get(url, timeout=PATIENCE, verify=str(authority.certificate))
            assert answer.status_code == 200
            assert len(answer.json()["items"]) == 4


def test_what_is_no_http_is_refused_over_tls_as_a_problem(
    service: tuple[Service, int], authority: Authority
) -> None:
    _, port = service
    context = ssl.create_default_context(cafile=str(authority.certificate))
    with (
        connect(port) as plain,
        context.wrap_socket(plain, server_hostname="127.0.0.1") as connection,
    ):
        connection.sendall(b"nonsense\r\n\r\n")
        head, _, body = read_all(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body)["code"] == "bad_request"


def test_plain_http_is_not_answered_on_the_port_of_tls(service: tuple[Service, int]) -> None:
    running, port = service
    with connect(port) as connection:
        connection.sendall(LIVEZ)
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
