"""The records: plain typed values without I/O.

- `game`: `Game`, `SeatRecord`, `Player`, `Account`, `HistoryItem`, `StoredDeal`
- `events`: the events of a game's lifecycle, and their `ItemCause`
- `retention`: `Retention`, how long records are kept
"""
