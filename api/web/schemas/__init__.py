"""Request bodies and queries: their schemas, which check and publish them.

marshmallow reports all mistakes of a request at once. Each game has a module with its moves and
options, which `unions` joins. The answers of the service itself (`service`) are msgspec structs,
like all other answers (`api.games.answers`).
"""
