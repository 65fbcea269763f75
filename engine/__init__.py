"""The rules of the games, and nothing else.

Pure and typed: no web, no Redis, no clock and no randomness of its own. States are
immutable values, chance comes in as a deal, time as a call of ``expire``. Each game is one
module that reads from top to bottom like its rule sheet; ``engine.ruleset`` says what every
game offers, ``engine.registry`` lists the games.
"""
