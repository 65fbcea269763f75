"""The careful players of the house, one module for each game.

Each module offers ``careful(table, seat, moves, rng)``, which chooses one of the moves. It looks
one move ahead, knows the view of its seat alone, and uses no random numbers but those of ``rng``.
``engine.registry`` lists them.
"""
