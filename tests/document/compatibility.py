"""The changes of the document that break clients of the released one.

A client was written, or generated, from the released document: it sends what that allows, and
expects what that promises. A break is allowed only if the version announces it: by its first
number, or by its second one while the first is 0.

    python -m tests.document.compatibility            list what breaks since the release
    python -m tests.document.compatibility --release  keep openapi.yaml as the released document
"""

from __future__ import annotations

import argparse
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.document.schemas import Comparison, Schema, resolve
from tests.support.paths import ROOT

METHODS = ("get", "put", "post", "delete", "patch", "options", "head")
CURRENT = ROOT / "openapi.yaml"
RELEASED = Path(__file__).with_name("released.yaml")


def load(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)


def permits_breaks(released: str, version: str) -> bool:
    """Whether a version announces breaks, compared with the released one.

    >>> permits_breaks("0.1.0", "0.1.1"), permits_breaks("0.1.0", "0.2.0")
    (False, True)
    >>> permits_breaks("1.4.0", "1.5.0"), permits_breaks("1.4.0", "2.0.0")
    (False, True)
    """
    before, now = ([int(part) for part in each.split(".")[:2]] for each in (released, version))
    return now[0] > before[0] or (now[0] == before[0] == 0 and now[1] > before[1])


def breaks(released: Schema, current: Schema) -> list[str]:
    """Yield each break as a sentence."""
    return list(dict.fromkeys(Documents(released, current).breaks()))


class Documents:
    """The released document and the new one."""

    def __init__(self, released: Schema, current: Schema) -> None:
        self.released = released
        self.current = current

    def breaks(self) -> Iterator[str]:
        """Yield the breaks, part by part."""
        yield from self._security_schemes()
        now = dict(operations(self.current))
        for (path, method), was in operations(self.released):
            what = f"{method.upper()} {path}"
            if (path, method) not in now:
                yield f"{what} is gone"
                continue
            yield from self._operation(was, now[path, method], what)

    def _security_schemes(self) -> Iterator[str]:
        now = self.current.get("components", {}).get("securitySchemes", {})
        for name, was in self.released.get("components", {}).get("securitySchemes", {}).items():
            if _without_words(now.get(name, {})) != _without_words(was):
                yield f"the security scheme {name} is another one"

    def _operation(self, was: Schema, now: Schema, what: str) -> Iterator[str]:
        if was["operationId"] != now["operationId"]:
            yield f"{what} is called {now['operationId']}, and was {was['operationId']}"
        yield from self._security(was, now, what)
        yield from self._parameters(was, now, what)
        yield from self._body(was, now, what)
        yield from self._answers(was, now, what)

    def _security(self, was: Schema, now: Schema, what: str) -> Iterator[str]:
        """Yield the ways to authenticate that no longer suffice."""
        sufficient = [set(each) for each in now.get("security") or [{}]]
        for each in was.get("security") or [{}]:
            if not any(enough <= set(each) for enough in sufficient):
                yield f"{what} no longer takes {' and '.join(each) or 'requests without a token'}"

    def _parameters(self, was: Schema, now: Schema, what: str) -> Iterator[str]:
        before = {(each["in"], each["name"]): each for each in was["parameters"]}
        after = {(each["in"], each["name"]): each for each in now["parameters"]}
        for (place, name), parameter in after.items():
            known = before.get((place, name), {})
            if parameter.get("required") and not known.get("required"):
                yield f"{what}: the {place} parameter {name} is required now"
            if known:
                yield from self._sent(known, parameter, f"{what}: {name}")
        for place, name in before.keys() - after.keys():
            yield f"{what}: the {place} parameter {name} is gone"

    def _body(self, was: Schema, now: Schema, what: str) -> Iterator[str]:
        before, after = was.get("requestBody"), now.get("requestBody")
        if after is None:
            if before is not None:
                yield f"{what} no longer takes a body"
            return
        if after.get("required") and not (before or {}).get("required"):
            yield f"{what} needs a body now"
        for kind, known in (before or {"content": {}})["content"].items():
            if kind not in after["content"]:
                yield f"{what} no longer takes {kind}"
            else:
                yield from self._sent(known, after["content"][kind], f"{what}: body")

    def _sent(self, was: Schema, now: Schema, where: str) -> Iterator[str]:
        comparison = Comparison(self.released, self.current, is_request=True)
        yield from comparison.breaks(was["schema"], now["schema"], where)

    def _answers(self, was: Schema, now: Schema, what: str) -> Iterator[str]:
        before = {str(status): each for status, each in was["responses"].items()}
        after = {str(status): each for status, each in now["responses"].items()}
        for status in sorted(before.keys() ^ after.keys()):
            if status < "400":
                yield f"{what}: {status} is {'gone' if status in before else 'a new success'}"
        for status in sorted(before.keys() & after.keys()):
            old = self._resolved(self.released, before[status])
            new = self._resolved(self.current, after[status])
            yield from self._answer(old, new, f"{what}: {status}")
        kept = set(self._problems(self.current, after))
        for status, code in self._problems(self.released, before):
            if (status, code) not in kept:
                yield f"{what}: the problem {code} with {status} is gone"

    def _answer(self, was: Schema, now: Schema, where: str) -> Iterator[str]:
        for name, header in was.get("headers", {}).items():
            yield from self._header(header, now.get("headers", {}).get(name), f"{where}: {name}")
        known = was.get("content", {})
        for kind in known.keys() - now.get("content", {}).keys():
            yield f"{where}: {kind} is gone"
        for kind, content in now.get("content", {}).items():
            if kind in known:
                comparison = Comparison(self.current, self.released, is_request=False)
                yield from comparison.breaks(content["schema"], known[kind]["schema"], where)
            else:
                yield f"{where}: {kind} is new"

    def _header(self, was: Schema, now: Schema | None, where: str) -> Iterator[str]:
        if now is None:
            yield f"{where} is gone"
            return
        before, after = self._resolved(self.released, was), self._resolved(self.current, now)
        if before.get("required") and not after.get("required"):
            yield f"{where} may be missing now"
        comparison = Comparison(self.current, self.released, is_request=False)
        yield from comparison.breaks(after["schema"], before["schema"], where)

    def _problems(self, document: Schema, answers: Schema) -> Iterator[tuple[str, str]]:
        """Return the documented problem codes, each with its status."""
        for status, answer in answers.items():
            if status >= "400":
                text = self._resolved(document, answer)["description"]
                for code in re.findall(r"^- `([a-z_]+)`", text, re.MULTILINE):
                    yield status, code

    @staticmethod
    def _resolved(document: Schema, part: Schema) -> Schema:
        return resolve(document, part["$ref"]) if "$ref" in part else part


def operations(document: Schema) -> Iterator[tuple[tuple[str, str], Schema]]:
    """Return all operations by path and method, with all their parameters."""
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                named = [*item.get("parameters", ()), *item[method].get("parameters", ())]
                parameters = [Documents._resolved(document, each) for each in named]
                yield (path, method), {**item[method], "parameters": parameters}


def _without_words(part: Schema) -> Schema:
    return {name: each for name, each in part.items() if name != "description"}


def judge(released: Schema, current: Schema) -> tuple[list[str], bool]:
    """Return the breaks, and whether the version allows them."""
    found = breaks(released, current)
    return found, not found or permits_breaks(
        released["info"]["version"], current["info"]["version"]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--release", action="store_true", help="keep it as what was released")
    release = parser.parse_args().release
    if RELEASED.exists():
        found, is_allowed = judge(load(RELEASED), load(CURRENT))
        print("\n".join(found) or "Nothing breaks.")
        if not is_allowed:
            print("The version does not say so: raise it in pyproject.toml, or break nothing.")
            return 1
    if release:
        shutil.copyfile(CURRENT, RELEASED)
        print(f"{RELEASED.name} is now version {load(RELEASED)['info']['version']}.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
