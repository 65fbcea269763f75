"""Players, and the tokens that authenticate them.

A token is ``<player id>.<secret>`` with a secret of 256 random bits. Only its SHA-256 is stored,
which is enough for a secret that cannot be guessed.

A client rotates its token by asking for a new one with the current one. The current token expires
when the new one is first used, at the latest after ten minutes. Until then the request is
idempotent: it gives the same new token each time, so a lost answer locks no client out. The new
secret is derived from the current one and a random nonce, which the store keeps.
"""

from __future__ import annotations

import re
import secrets
from base64 import urlsafe_b64encode
from hmac import compare_digest
from hmac import digest as hmac_digest
from typing import NamedTuple

from redis import ResponseError

from api.games.answers import NewTokenAnswer, OwnPlayer, PlayerWithToken
from api.model.game import Account, Player, digest, timestamp
from api.model.retention import OLD_TOKEN_MS, SEEN_MS, Retention
from api.observability.context import current
from api.problems.problem import Problem
from api.storage.errors import count_failure, unless_full
from api.storage.players import TokenOffer
from api.storage.store import Reading, Store

WITHOUT_SCHEME = (
    "The Authorization header has a token without its scheme. Send the word Bearer and a space "
    "before the token."
)

WRONG_SCHEME = (
    "The Authorization header has another scheme than Bearer. Send the word Bearer, a space and "
    "the token."
)
WITHOUT_TOKEN = (
    "The Authorization header has no token after the word Bearer. Send the word Bearer, a space "
    "and the token."
)

_TOKEN = re.compile(r"([0-9a-f]{32})\.([A-Za-z0-9_-]{43})")


class Credentials(NamedTuple):
    """A token as it was sent: the player's id, the secret, and the hash of the secret."""

    player_id: str
    secret: str
    secret_hash: str

    def __repr__(self) -> str:
        return f"Credentials of {self.player_id}"


class Remembered(NamedTuple):
    """Credentials of an earlier request, of which only the hash of the secret is stored."""

    player_id: str
    secret_hash: str


def new_id() -> str:
    """Return an id that cannot be guessed: 128 random bits in hexadecimal."""
    return secrets.token_hex(16)


def read_credentials(header: str | None) -> Credentials | None:
    """Return the credentials in an Authorization header, None without a header.

    Raises `Problem` (``invalid_token``) if the header is not a bearer token of this form.
    """
    if header is None:
        return None
    scheme, _, token = header.strip().partition(" ")
    if scheme.lower() != "bearer":
        is_token = _TOKEN.fullmatch(header.strip())
        raise Problem("invalid_token", WITHOUT_SCHEME if is_token else WRONG_SCHEME)
    if not token:
        raise Problem("invalid_token", WITHOUT_TOKEN)
    match = _TOKEN.fullmatch(token.strip())
    if match is None:
        raise Problem("invalid_token")
    return Credentials(match[1], match[2], digest(match[2]))


class Players:
    """Creates and authenticates players."""

    def __init__(self, store: Store, retention: Retention) -> None:
        self.store = store
        self.retention = retention

    def create(self, name: str, kind: str) -> PlayerWithToken:
        """Create a player, and return it with its token."""
        player = Player(new_id(), name, kind)
        secret = secrets.token_urlsafe(32)
        ttl_ms = self.retention.unused_player
        now = self.store.add_player(player, digest(secret), ttl_ms)
        return PlayerWithToken(
            player.id, name, kind, timestamp(now + ttl_ms), f"{player.id}.{secret}"
        )

    def own(self, credentials: Credentials | None) -> OwnPlayer:
        """Return the caller's player with the time until which it is kept.

        Raises `Problem` (``missing_token``, ``invalid_token``).
        """
        if credentials is None:
            raise Problem("missing_token")
        reading = self.store.read(credentials.player_id)
        player = self.authenticate(reading, credentials)
        assert reading.account is not None
        expires_at = reading.now + self.retention.of_player(reading.account)
        return OwnPlayer(player.id, player.name, player.kind, timestamp(expires_at))

    def rotate_token(self, credentials: Credentials) -> NewTokenAnswer:
        """Return a new token for the caller. A repeated request gives the same token.

        Raises `Problem` (``invalid_token``).
        """
        reading = self.store.read(credentials.player_id)
        player = self.authenticate(reading, credentials)
        nonce = secrets.token_bytes(32)
        offer = TokenOffer(nonce.hex(), digest(_next_secret(credentials, nonce)), reading.now)
        offered = self.store.offer_token(player.id, credentials.secret_hash, offer)
        if offered is None:
            raise Problem("invalid_token")
        return NewTokenAnswer(f"{player.id}.{_next_secret(credentials, bytes.fromhex(offered))}")

    def caller(self, credentials: Credentials) -> Player:
        """Return the player with these credentials.

        Raises `Problem` (``invalid_token``).
        """
        return self.authenticate(self.store.read(credentials.player_id), credentials)

    def authenticate(self, reading: Reading, credentials: Credentials | Remembered) -> Player:
        """Return the player with these credentials, of whom the account was read.

        Raises `Problem` (``invalid_token``) if they do not match the account.
        """
        account = reading.account
        if account is None:
            raise Problem("invalid_token")
        token = credentials.secret_hash
        if compare_digest(account.token, token):
            if account.next_token and reading.now - account.next_token_at > OLD_TOKEN_MS:
                raise Problem("invalid_token")
        elif account.next_token and compare_digest(account.next_token, token):
            self._promote(account, token)
        else:
            raise Problem("invalid_token")
        self._renew(account, reading.now)
        current().player = account.player.id
        return account.player

    def _promote(self, account: Account, token: str) -> None:
        """Make the new token the only one. While the store is full, both tokens stay valid."""
        with unless_full():
            self.store.promote_token(account.player.id, token)

    def _renew(self, account: Account, now: int) -> None:
        """Note that the player was seen, and extend the account's time to live.

        This is written only every so often, which saves a write on nearly every request.
        """
        if now - account.seen_at < SEEN_MS:
            return
        try:
            # As much longer as the next use may go unnoticed.
            ttl_ms = self.retention.of_player(account) + SEEN_MS
            self.store.see_player(account.player.id, now, ttl_ms)
        except ResponseError as error:
            # A store that is full refuses changes, but requests can still read.
            count_failure(error)


def _next_secret(credentials: Credentials, nonce: bytes) -> str:
    secret = hmac_digest(credentials.secret.encode(), nonce, "sha256")
    return urlsafe_b64encode(secret).decode().rstrip("=")
