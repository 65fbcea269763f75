"""Secrets are in the answer that hands them out, and nowhere else: not in logs, errors, the store.

A whole session with good and bad tokens, tickets, invites and bodies, then all that the server
has said is searched for them.
"""

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.api_client import Client, new_player, seated
from tests.support.raw_http import exchange
from tests.support.service import Service, serving

WORD = "xyzzy-plugh"
"""What a client may put anywhere by mistake."""


@pytest.fixture
def talkative(tmp_path: Path) -> Iterator[Service]:
    """A service that logs all that it ever does."""
    with serving(tmp_path, APPEND_FSYNC="everysec", LOG_LEVEL="debug") as running:
        yield running


class Session:
    """Who talked to the service, and every secret that came up."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.ada, self.bob = new_player(service.url), new_player(service.url)
        self.stranger = Client(service.url)
        self.clients = [self.ada, self.bob, self.stranger]
        self.secrets: set[str] = set()
        for player in (self.ada, self.bob):
            self.note(player.token)

    def note(self, secret: Any) -> str:
        assert isinstance(secret, str)
        self.secrets.add(secret.rpartition(".")[2])
        return secret

    def caller(self, token: str) -> Client:
        self.clients.append(Client(self.service.url, token))
        return self.clients[-1]


def use_what_is_right(session: Session) -> str:
    """A private game, a stream by ticket, a new token; the address of the stream."""
    ada, bob = session.ada, session.bob
    private = ada.create(3, visibility="private")
    bob.join(private["id"], invite=session.note(private["invite"]))
    path = f"/v1/games/{seated([ada, bob])['id']}"
    ticket = session.note(ada.post(f"{path}/stream-tickets", status=201)["ticket"])
    stream = f"{path}/stream?ticket={ticket}"
    with session.stranger.open("GET", stream) as response:
        assert response.status_code == 200
        next(response.chunks())
    renewed = session.caller(session.note(ada.post("/v1/me/token")["token"]))
    renewed.get("/v1/me")
    ada.refused("invalid_token", "GET", "/v1/me")
    session.stranger.refused("invalid_ticket", "GET", stream)
    return stream


def try_what_is_wrong(session: Session, stream: str) -> None:
    """Made up secrets, and secrets where they do not belong."""
    path = stream.partition("/stream?")[0]
    made_up = session.note(secrets.token_urlsafe(32))
    liar = session.caller(f"{session.ada.id}.{made_up}")
    for method, at in (("GET", "/v1/me"), ("POST", f"{path}/moves"), ("POST", "/v1/me/token")):
        liar.request(method, at, json={"turn": 1, "move": {"type": "pass"}})
    session.bob.request("POST", f"{path}/seats", json={"invite": made_up})
    odd = session.caller(session.note(WORD))
    odd.refused("invalid_token", "GET", "/v1/me")
    session.bob.request("GET", f"{path}?ticket={WORD}", headers={"If-None-Match": WORD})
    session.bob.request("GET", f"/v1/me/turns?since={WORD}")
    session.bob.request("POST", "/v1/games", data=f'{{"{WORD}', headers={"Content-Type": WORD})


NOT_HTTP = (
    b"GET /v1/me?%b HTTP/1.1\r\nAuthorization: Bearer %b\r\nBad Header: 1\r\n\r\n",
    b"GET /v1/%b HTTP/9.9\r\nAuthorization: Bearer %b\r\n\r\n",
    b"POST /v1/players?%b HTTP/1.1\r\nX: %b\r\nContent-Length: 100\r\n\r\n{",
    b"GET /%b HTTP/1.1\r\nHost: x\r\nExpect: %b\r\nConnection: close\r\n\r\n",
)


def test_no_secret_is_ever_logged_or_told_to_anybody_else(talkative: Service) -> None:
    session = Session(talkative)
    stream = use_what_is_right(session)
    try_what_is_wrong(session, stream)
    token = str(session.clients[-2].token).encode()
    ticket = stream.partition("=")[2].encode()
    for request in NOT_HTTP:
        answer = exchange(talkative.port, request % (ticket, token))
        told = repr(answer.headers).encode() + answer.body
        assert token not in told
        assert ticket not in told
    session.stranger.checked = False
    for path in ("/metrics", "/readyz", "/livez"):
        session.stranger.request("GET", path)

    talkative.end()
    assert "Refused" in talkative.output
    for secret in session.secrets:
        assert secret not in talkative.output
    hands_out = {("POST", "/v1/players"), ("POST", "/v1/me/token"), ("POST", "/v1/games")}
    for client in session.clients:
        for told in client.log:
            is_stream = told.ok and "stream" in told.path
            if (told.method, told.path) in hands_out or is_stream:
                continue
            for secret in session.secrets:
                assert secret not in told.text + repr(told.headers.items()), told.path
