"""Decode every example of the document with models that datamodel-code-generator wrote.

    python decode.py MODELS EXAMPLES

Prints what cannot be decoded, and what is lost when the model is encoded again.
"""

import dataclasses
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import pydantic


def encoded_again(model: Any, text: str) -> Any:
    """Return the JSON value that a model makes of a text."""
    if issubclass(model, msgspec.Struct):
        return msgspec.to_builtins(msgspec.json.decode(text, type=model))
    adapter = pydantic.TypeAdapter(model)
    kept = {} if dataclasses.is_dataclass(model) else {"exclude_unset": True}
    return adapter.dump_python(adapter.validate_json(text), mode="json", by_alias=True, **kept)


def lost(before: Any, after: Any, path: str = "") -> list[str]:
    """Return where members or items are gone. Numbers and times may be written otherwise."""
    if isinstance(before, dict):
        return [
            place
            for name, value in before.items()
            for place in (
                lost(value, after[name], f"{path}/{name}") if name in after else [f"{path}/{name}"]
            )
        ]
    if isinstance(before, list):
        if len(before) != len(after):
            return [path]
        pairs = enumerate(zip(before, after, strict=True))
        return [place for index, pair in pairs for place in lost(*pair, f"{path}/{index}")]
    return []


def main(name: str, file: str) -> None:
    models = importlib.import_module(name)
    for schema, value in json.loads(Path(file).read_text(encoding="utf-8")):
        try:
            again = encoded_again(getattr(models, schema), json.dumps(value))
        except (pydantic.ValidationError, msgspec.ValidationError, TypeError) as error:
            print(f"{schema}: {error}")
            continue
        # A record is posted to analyse as it is: members that analyse ignores may be lost.
        if schema != "AnalysisBody":
            for place in lost(value, again):
                print(f"{schema}: {place} is lost")


if __name__ == "__main__":
    main(*sys.argv[1:])
