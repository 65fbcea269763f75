"""Players and the tokens that prove who is calling.

A token is ``<player id>.<secret>`` with a secret of 256 random bits; only its SHA-256 is kept,
which is enough for a secret that nobody can guess. A new token can be had with the present one;
the present one ends when the new one is first used, at the latest after ten minutes, so an
answer that was lost on its way locks nobody out.
"""

from __future__ import annotations

import re
import secrets
from hmac import compare_digest
from typing import NamedTuple

from api.answers import PlayerAnswer, TokenAnswer
from api.problems import Problem
from api.settings import Settings
from api.store import Reading, Store
from api.stored import Account, Player, digest

OLD_TOKEN_MS = 10 * 60 * 1000
"""How long a token lives on, at most, after a new one was issued."""

UNUSED_PLAYER_MS = 60 * 60 * 1000
"""How long a player is kept who was never in a game."""

DAY_MS = 24 * 60 * 60 * 1000

_TOKEN = re.compile(r"([0-9a-f]{32})\.([A-Za-z0-9_-]{43})")


class Credentials(NamedTuple):
    """What a caller shows: whose token, and the hash of its secret."""

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
    return Credentials(match[1], digest(match[2]))


class Accounts:
    """Creates players and tells who is calling."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store = store
        self.life_ms = int(settings.player_days * DAY_MS)

    def create(self, name: str, kind: str) -> PlayerAnswer:
        """A new player with its token."""
        player = Player(new_id(), name, kind)
        secret = secrets.token_urlsafe(32)
        self.store.add_player(player, digest(secret), UNUSED_PLAYER_MS)
        return PlayerAnswer(player.id, name, kind, f"{player.id}.{secret}")

    def rotate_token(self, credentials: Credentials | None) -> TokenAnswer:
        """A new token for the caller. With the old one, a lost answer can be asked for again."""
        player = self.caller(credentials)
        assert credentials is not None
        secret = secrets.token_urlsafe(32)
        reading = self.store.read(player.id)
        if not self.store.offer_token(
            player.id, credentials.secret_hash, digest(secret), reading.now
        ):
            raise Problem("invalid_token")
        return TokenAnswer(f"{player.id}.{secret}")

    def caller(self, credentials: Credentials | None) -> Player:
        """Who is calling. Raises `Problem` (``missing_token``, ``invalid_token``)."""
        if credentials is None:
            raise Problem("missing_token")
        return self.authenticate(self.store.read(credentials.player_id), credentials)

    def authenticate(self, reading: Reading, credentials: Credentials) -> Player:
        """The player of these credentials, if what was read bears them out.

        Raises `Problem` (``invalid_token``).
        """
        account = reading.account
        if account is None:
            raise Problem("invalid_token")
        if compare_digest(account.token, credentials.secret_hash):
            if account.next_token and reading.now - account.next_token_at > OLD_TOKEN_MS:
                raise Problem("invalid_token")
        elif account.next_token and compare_digest(account.next_token, credentials.secret_hash):
            self.store.promote_token(account.player.id, credentials.secret_hash)
        else:
            raise Problem("invalid_token")
        self._renew(account, reading.now)
        return account.player

    def keep(self, player_id: str, now: int) -> None:
        """This player is in a game now, and is kept for as long as players are."""
        self.store.keep_player(player_id, now, self.life_ms)

    def _renew(self, account: Account, now: int) -> None:
        # Once a day is often enough, and saves a write on every request.
        if account.kept_at and now - account.kept_at > min(DAY_MS, self.life_ms // 2):
            self.keep(account.player.id, now)
