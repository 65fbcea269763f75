"""Requests that nobody would send on purpose, to a real service: `raw` and `by_document`."""
