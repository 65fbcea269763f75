"""Malformed and expensive requests to a real service: `raw`, `by_document`, `worst`."""
