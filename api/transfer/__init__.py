"""Copying everything that is stored from one store to another, or to a file and back.

- `records`: `Record`, a game or another record with all of its keys; reading and writing it
- `scan`: `Scan`, all keys of a store
- `lines`: the format of export files
- `transfers`: `export_to`, `import_from`, `copy` and `remove_surplus`
- `counts`, `progress`: `Counts` of what became of the records, and `Progress` on a terminal
- `private_file`: a file for its owner only, which is complete or not there
"""
