"""How a careful player of the house plays, one module a game.

Each ends in a function ``careful(table, seat, moves, rng)``, which chooses one of the moves. It
looks one move ahead, sees no more than its seat does, and takes its chance from ``rng`` alone.
"""
