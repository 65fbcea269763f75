"""The texts of the table in the browser, in both languages."""

import json
import re
from pathlib import Path

import pytest

from engine.contrast import PICTURES
from tests.support.paths import ROOT

FOLDER = ROOT / "api" / "web" / "pages" / "play"
LANGUAGES = ("en", "fr")
# The twelve words of the game, in their forms.
WORDS_OF_CONTRAST = {
    "en": r"(red|yellow|blue|green|big|small|heav|light|fat|thin|round|square)"
    r"(s|y|ier|iest|ly|n?ess|t?ter|n?ner|g?ger|er|est|ed|ish)?",
    "fr": r"(rouge|jaune|bleue?|verte?|grande?|petite?|lourde?|l[ée]g[eè]re?|grosse?|gros|fine?"
    r"|ronde?|carr[ée]e?)s?",
}
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


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_picture_of_contrast_shows_is_told_without_the_words_of_the_game(
    language: str,
) -> None:
    texts = {
        name.removeprefix("contrast.seen."): str(text)
        for name, text in read(language).items()
        if name.startswith("contrast.seen.")
    }
    assert set(texts) == set(PICTURES)
    assert len(set(texts.values())) == len(PICTURES)
    words = re.compile(rf"\b{WORDS_OF_CONTRAST[language]}\b", re.IGNORECASE)
    assert [text for text in texts.values() if words.search(text)] == []


def test_every_module_says_what_it_is() -> None:
    modules: list[Path] = sorted(FOLDER.glob("*.js"))
    assert modules
    assert all(path.read_text(encoding="utf-8").startswith("// ") for path in modules)
