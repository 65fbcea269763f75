"""The rules of the games, and nothing else.

Pure and typed: no web, no store, no clock, no global random numbers. States are immutable
values; chance comes in as a deal, time as a call of ``expire``. Each game is one module that
reads from top to bottom like its rule sheet.

- ``engine.registry``: all games, and reading a move from JSON.
- ``engine.ruleset``: what a game offers, and the types that games share.
- ``engine.house``: the move of a house player.
- ``engine.texts``: the rules as text for players.
- ``engine.pictures``: the pictures that a game needs.
"""
