"""Requests that no client should send, to a real service: `raw`, `by_document`, `worst`."""
