"""Request bodies and queries: what is read, checked and published of them.

marshmallow reports all mistakes of a request at once. Each game has a module with its moves and
options, which `unions` joins. The answers of the service itself (`service`) are msgspec structs,
like all other answers (`api.games.answers`).
"""
