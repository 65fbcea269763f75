"""The use cases: what a player can do with games, without HTTP and without waiting.

- `players.Players`: create and authenticate players, rotate tokens.
- `transactions.Transactions`: load a game for a caller, commit changes, retry on conflict.
- `creation.GameCreation`: create games and rematches.
- `tables.Tables`: join, leave, start and cancel games.
- `moves.Moves`: list, check and play moves.
- `queries.Queries`: lists of games; the events, the record and the presence of one game.
- `turns.TurnQueries`: the games that wait for a player.
- `analysis.analyse`: replay a deal and moves without a stored game.
- `representations`: the answers that clients get.
"""
