"""Ludothèque's web service: `create_app` makes the WSGI application.

Layers, each calling only downwards: resources (the routes), the game service, and below it the
engine (rules) and the store (Redis). Nothing in here knows the rules of any game.

Importing this package imports nothing else: gevent workers patch the standard library first,
and whatever opened a socket or took a lock before that would block a whole worker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask

    from api.config.settings import Settings


def create_app(settings: Settings | None = None) -> Flask:
    """The application; without settings, with those that the environment holds.

    Raises:
        SettingsError: the environment holds a value that cannot be used.
    """
    from api.web.app import create_app as make  # noqa: PLC0415

    return make(settings)


def openapi_document() -> str:
    """The published document as YAML text."""
    from api.web.app import openapi_document as write  # noqa: PLC0415

    return write()
