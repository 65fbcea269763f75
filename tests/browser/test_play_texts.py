"""The texts of the table in the browser, in both languages."""

import json
import re
from pathlib import Path

import pytest

from tests.support.paths import ROOT

FOLDER = ROOT / "api" / "web" / "pages" / "play"
LANGUAGES = ("en", "fr")
PLACEHOLDER = re.compile(r"\{(\w+)\}")

Texts = dict[str, str | list[str]]


def read(language: str) -> Texts:
    texts: Texts = json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8"))
    return texts


def placeholders(text: str | list[str]) -> set[str]:
    """The placeholders of a text; a text for one thing may leave the number out."""
    forms = [text] if isinstance(text, str) else text
    return set().union(*(PLACEHOLDER.findall(form) for form in forms)) - {"n"}


def code() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.js")))


def test_both_languages_have_the_same_texts_with_the_same_placeholders_in_order() -> None:
    english, french = map(read, LANGUAGES)
    assert list(english) == sorted(english)
    assert list(french) == list(english)
    for name, text in english.items():
        assert placeholders(text) == placeholders(french[name]), name
        assert isinstance(text, str) == isinstance(french[name], str), name


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_text_is_not_empty_and_has_one_form_or_two(language: str) -> None:
    for name, text in read(language).items():
        forms = [text] if isinstance(text, str) else text
        assert len(forms) in {1, 2}, name
        assert all(form.strip() == form != "" for form in forms), name


def test_every_text_that_the_code_names_exists_and_every_text_is_named() -> None:
    texts = set(read("en"))
    # A name may be a literal in any expression, or have an inserted end: `status.${...}`.
    literals = set(re.findall(r"""['"`]([a-z][\w.-]*)['"`]""", code()))
    patterns = re.findall(r"t\(`([\w.-]+)\$\{[^`]*?\}`", code())
    families = {name for name in texts if any(name.startswith(start) for start in patterns)}
    called = set(re.findall(r"""\bt\('([^']+)'""", code()))
    assert called <= texts
    assert texts - literals - families == set()
    assert all(any(name.startswith(start) for name in texts) for start in patterns)


def test_every_module_says_what_it_is() -> None:
    modules: list[Path] = sorted(FOLDER.glob("*.js"))
    assert modules
    assert all(path.read_text(encoding="utf-8").startswith("// ") for path in modules)
