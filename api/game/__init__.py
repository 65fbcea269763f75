"""The game service: load a game, decide, commit. It knows no rule of any game."""
