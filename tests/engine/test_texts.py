"""The words of each game: complete, in both languages, and for every rule that refuses a move."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from types import ModuleType

import pytest
from msgspec import Struct

from engine import cards
from engine.contrast import MAX_PICTURE_LENGTH, MAX_PICTURES_BYTES, TAKEN_OUT, fewest_pictures
from engine.registry import RULESETS
from engine.ruleset import AnyRuleset, IllegalMove
from engine.texts import LANGUAGES, Words, words

every_ruleset = pytest.mark.parametrize("ruleset", RULESETS.values(), ids=list(RULESETS))
every_language = pytest.mark.parametrize("language", LANGUAGES)


def members(text: Words) -> dict[str, object]:
    """Return the names of everything that has words, without the words."""
    return {
        "components": set(text.components),
        "names": list(text.names),
        "moves": set(text.moves),
        "refusals": set(text.refusals),
        "options": {name: list(option.choices) for name, option in text.options.items()},
    }


def sentences(value: object) -> Iterator[str]:
    """Yield every text of some words."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from sentences(each)
    elif isinstance(value, Struct):
        for name in value.__struct_fields__:
            yield from sentences(getattr(value, name))


@every_ruleset
def test_all_languages_have_words_for_the_same_things(ruleset: AnyRuleset) -> None:
    first, *others = [members(words(ruleset.id, language)) for language in LANGUAGES]
    assert others
    assert all(other == first for other in others)


@every_language
@every_ruleset
def test_no_text_is_empty(ruleset: AnyRuleset, language: str) -> None:
    texts = list(sentences(words(ruleset.id, language)))
    assert texts
    assert all(text.strip() == text != "" for text in texts)


@every_language
@every_ruleset
def test_everything_in_the_box_has_a_title_of_its_own(ruleset: AnyRuleset, language: str) -> None:
    text = words(ruleset.id, language)
    titles = [text.title(component) for component in ruleset.components]
    assert len(set(titles)) == len(ruleset.components)
    assert not any("None" in title or "{" in title for title in titles)


@every_ruleset
def test_colours_and_parts_of_components_have_titles(ruleset: AnyRuleset) -> None:
    named = {name for each in ruleset.components for name in (*each.parts, each.color) if name}
    assert named <= set(words(ruleset.id, "en").names)


def test_a_card_is_called_as_people_call_it() -> None:
    red_seven = next(each for each in RULESETS["parade"].components if each.name == "red-7")
    assert words("parade", "en").title(red_seven) == "red 7"
    assert words("parade", "fr").title(red_seven) == "7 rouge"


@every_ruleset
def test_moves_options_and_choices_have_words(ruleset: AnyRuleset) -> None:
    text = words(ruleset.id, "en")
    assert set(text.moves) == set(ruleset.move_types)
    assert {name: tuple(option.choices) for name, option in text.options.items()} == {
        option.name: option.choices or () for option in ruleset.options
    }


def rules_that_refuse(module: ModuleType) -> set[str]:
    """Return the rule codes of the moves that a game's module refuses.

    They are read from the code, as a rule that no test breaks must have words too.
    """
    return {
        rule
        for source in (module, cards)
        for function in ast.walk(ast.parse(inspect.getsource(source)))
        if isinstance(function, ast.FunctionDef) and hasattr(module, function.name)
        # The end of a countdown is no move.
        if function.name != "expire"
        for rule in codes(function)
    }


def codes(function: ast.FunctionDef) -> Iterator[str]:
    """Yield the first argument of each `IllegalMove` that a function makes."""
    for call in ast.walk(function):
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == IllegalMove.__name__:
            assert isinstance(call.args[0], ast.Constant)
            yield call.args[0].value


@every_ruleset
def test_every_rule_that_refuses_a_move_has_words_and_no_other(ruleset: AnyRuleset) -> None:
    module = importlib.import_module(f"engine.{ruleset.id.replace('-', '_')}")
    assert set(words(ruleset.id, "en").refusals) == rules_that_refuse(module)


@every_language
def test_the_words_about_pictures_name_the_bounds_that_hold(language: str) -> None:
    description = words("contrast", language).options["pictures"].description
    bounds = [fewest_pictures(seats) for seats in TAKEN_OUT]
    for number in (*bounds, MAX_PICTURE_LENGTH, MAX_PICTURES_BYTES):
        assert str(number) in description
