"""Rate limits: counting by policies in fixed windows.

- `limiter`: `Limiter` counts for a caller and returns its `Standing`
"""
