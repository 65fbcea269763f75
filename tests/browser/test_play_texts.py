"""The texts of the table in the browser, in both languages."""

import json
import re

import pytest

from engine.contrast import PICTURES
from tests.browser.playing import FOLDER, RULESETS

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


def modules() -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.js"))]


def first_arguments(module: str) -> list[str]:
    """The first argument of each call of `t`, as it is written."""
    found = []
    for call in re.finditer(r"(?<![\w.])t\(", module):
        depth = 0
        for at in range(call.end(), len(module)):
            character = module[at]
            if depth == 0 and character in ",)":
                found.append(module[call.end() : at])
                break
            depth += (character in "([{") - (character in ")]}")
    return found


def names_in(argument: str) -> set[str]:
    """The names of texts in an argument, without the values that are compared in it."""
    compared = re.sub(r"""[!=]==? *'[^']*'""", "", argument)
    return set(re.findall(r"'([^']*)'", compared))


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
    named: set[str] = set()
    for module in modules():
        arguments = first_arguments(module)
        written = set().union(*map(names_in, arguments))
        assert written <= texts
        named |= written
        # `status.${...}` names all texts that begin like this.
        for start in re.findall(r"`([\w.-]+)\$\{", "\n".join(arguments)):
            family = {name for name in texts if name.startswith(start)}
            assert family, start
            named |= family
        # Where the name is a variable, it is a literal elsewhere in the module.
        if any(re.fullmatch(r"[\w.]+", argument) for argument in arguments):
            named |= texts & set(re.findall(r"'([\w.-]+)'", module))
    assert texts - named == set()


def test_a_text_for_each_game_is_there_for_every_game() -> None:
    families: dict[str, set[str]] = {}
    for name in read("en"):
        family, _, member = name.partition(".")
        families.setdefault(family, set()).add(member)
    of_games = {name: members for name, members in families.items() if members & set(RULESETS)}
    assert of_games.keys() >= {"about", "minutes"}
    assert all(members == set(RULESETS) for members in of_games.values()), of_games


def test_a_missing_and_an_unused_text_are_found() -> None:
    module = "t(over === 'yes' ? 'end' : `status.${state('x')}`, { n: t('cards') })"
    first, second = first_arguments(module)
    assert names_in(first) == {"end", "x"}
    assert names_in(second) == {"cards"}


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
    assert modules()
    assert all(module.startswith("// ") for module in modules())
