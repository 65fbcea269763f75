"""Players and the tokens that prove who is calling.

A token is ``<player id>.<secret>`` with a secret of 256 random bits; only its SHA-256 is kept,
which is enough for a secret that nobody can guess. A new token can be had with the present one;
the present one ends when the new one is first used, at the latest after ten minutes. Until then
it gives the same new token however often it is asked, so no answer that was lost on its way, or
came late, locks anybody out: the new secret is worked out of the old one and a random nonce.
"""

from __future__ import annotations

import re
import secrets
from base64 import urlsafe_b64encode
from hmac import compare_digest
from hmac import digest as hmac_digest
from typing import NamedTuple

from redis import ResponseError

from api.games.representations import PlayerAnswer, TokenAnswer
from api.model.game import Account, Player, digest
from api.model.retention import OLD_TOKEN_MS, SEEN_MS, Retention
from api.observability.context import note_player
from api.problems.problem import Problem
from api.storage.failures import count_failure, unless_full
from api.storage.games import Reading, Store, TokenOffer

_TOKEN = re.compile(r"([0-9a-f]{32})\.([A-Za-z0-9_-]{43})")


class Credentials(NamedTuple):
    """What a caller shows: whose token it is, its secret, and what the store knows of that."""

    player_id: str
    secret: str
    secret_hash: str

    def __repr__(self) -> str:
        return f"Credentials of {self.player_id}"


class Remembered(NamedTuple):
    """Credentials that were shown before, as far as they are kept."""

    player_id: str
    secret_hash: str


def new_id() -> str:
    """An id that nobody can guess: 128 random bits."""
    return secrets.token_hex(16)


def read_credentials(header: str | None) -> Credentials | None:
    """The credentials in an Authorization header, None without one.

    Raises `Problem` (``invalid_token``) for anything that is not a token of ours.
    """
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    match = _TOKEN.fullmatch(token.strip())
    if scheme.lower() != "bearer" or match is None:
        raise Problem("invalid_token")
    return Credentials(match[1], match[2], digest(match[2]))


class Players:
    """Creates players and tells who is calling."""

    def __init__(self, store: Store, retention: Retention) -> None:
        self.store = store
        self.retention = retention

    def create(self, name: str, kind: str) -> PlayerAnswer:
        """A new player with its token."""
        player = Player(new_id(), name, kind)
        secret = secrets.token_urlsafe(32)
        self.store.add_player(player, digest(secret), self.retention.unused_player)
        return PlayerAnswer(player.id, name, kind, f"{player.id}.{secret}")

    def rotate_token(self, credentials: Credentials | None) -> TokenAnswer:
        """The caller's new token; asked again with the old one, the same."""
        if credentials is None:
            raise Problem("missing_token")
        reading = self.store.read(credentials.player_id)
        player = self.authenticate(reading, credentials)
        nonce = secrets.token_bytes(32)
        offer = TokenOffer(nonce.hex(), digest(_next_secret(credentials, nonce)), reading.now)
        offered = self.store.offer_token(player.id, credentials.secret_hash, offer)
        if offered is None:
            raise Problem("invalid_token")
        return TokenAnswer(f"{player.id}.{_next_secret(credentials, bytes.fromhex(offered))}")

    def caller(self, credentials: Credentials | None) -> Player:
        """Who is calling. Raises `Problem` (``missing_token``, ``invalid_token``)."""
        if credentials is None:
            raise Problem("missing_token")
        return self.authenticate(self.store.read(credentials.player_id), credentials)

    def authenticate(self, reading: Reading, credentials: Credentials | Remembered) -> Player:
        """The player of these credentials, if what was read bears them out.

        Raises `Problem` (``invalid_token``).
        """
        account = reading.account
        if account is None:
            raise Problem("invalid_token")
        shown = credentials.secret_hash
        if compare_digest(account.token, shown):
            if account.next_token and reading.now - account.next_token_at > OLD_TOKEN_MS:
                raise Problem("invalid_token")
        elif account.next_token and compare_digest(account.next_token, shown):
            self._promote(account, shown)
        else:
            raise Problem("invalid_token")
        self._renew(account, reading.now)
        note_player(account.player.id)
        return account.player

    def _promote(self, account: Account, token: str) -> None:
        """Make the new token the only one. While the store is full, both tokens are valid."""
        with unless_full():
            self.store.promote_token(account.player.id, token)

    def _renew(self, account: Account, now: int) -> None:
        # A store that takes no changes, as its memory is full, can still be read.
        try:
            self._renew_now_and_then(account, now)
        except ResponseError as error:
            count_failure(error)

    def _renew_now_and_then(self, account: Account, now: int) -> None:
        # Often enough, and it saves writes on every request.
        if now - account.seen_at >= SEEN_MS:
            self.store.see_player(account.player.id, now)
        if account.kept_at and now - account.kept_at > self.retention.renewal:
            self.store.keep_player(account.player.id, now, self.retention.player)


def _next_secret(credentials: Credentials, nonce: bytes) -> str:
    secret = hmac_digest(credentials.secret.encode(), nonce, "sha256")
    return urlsafe_b64encode(secret).decode().rstrip("=")
