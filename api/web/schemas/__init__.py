"""The published schemas: of request bodies, which they check, and of answers, which they describe.

Answers are encoded straight from typed values (`api.games.representations`); the tests hold every
answer against its schema here. A game's own shapes have a module each.
"""
