"""What a refused value is told: what is wrong with it and what is allowed, in a sentence."""

from collections.abc import Iterator
from typing import Any

import pytest
from marshmallow import fields, validate

from api.web.schemas.analysis import AnalysisBodySchema
from api.web.schemas.fields import REQUIRED, Length, Pattern, Range, RequestSchema, Union
from tests.support.api_client import Client

NOWHERE = "0" * 32
GAME = {"ruleset": "parade", "seat_count": 2}
ANALYSIS = {**GAME, "deal": {}, "moves": []}
SECRET = "s3cr3t-_" * 5 + "xyz"
"""As long as the secret of a token."""


@pytest.mark.parametrize(
    ("path", "body", "texts"),
    [
        ("/v1/players", [1], {"#": "The body is not an object, but must be one."}),
        (
            "/v1/players",
            {"kind": "robot"},
            {
                "#/name": "`name` is missing, but required.",
                "#/kind": '`kind` is "robot"; it must be one of: human, bot.',
            },
        ),
        (
            "/v1/players",
            {"name": "", "kind": None},
            {
                "#/name": "`name` has 0 characters; 1 to 40 are allowed.",
                "#/kind": "`kind` is null; it must be one of: human, bot.",
            },
        ),
        (
            "/v1/players",
            {"name": "a\u0007", "kind": ["bot"]},
            {
                "#/name": "`name` has the character U+0007; control and format characters are not "
                "allowed.",
                "#/kind": "`kind` is an array; it must be one of: human, bot.",
            },
        ),
        (
            "/v1/players",
            {"name": "\ud800", "kind": {}, "nmae": "Ada"},
            {
                "#/name": "`name` has half of a surrogate pair; it must be Unicode text.",
                "#/kind": "`kind` is an object; it must be one of: human, bot.",
                "#/nmae": "`nmae` is unknown; the members here are: name, kind. Did you mean "
                "`name`?",
            },
        ),
        (
            "/v1/players",
            {"name": "\u200d", "kind": "bot"},
            {"#/name": "`name` has only invisible characters; at least one must be visible."},
        ),
        (
            "/v1/games",
            {"ruleset": 7, "seat_count": 9, "options": 5, "take_seat": "yes", "house": "careful"},
            {
                "#/ruleset": "`ruleset` is 7; it must be a string.",
                "#/seat_count": "`seat_count` is 9; it must be from 2 to 6.",
                "#/options": "`options` is not an object, but must be one.",
                "#/take_seat": '`take_seat` is "yes"; it must be true or false.',
                "#/house": '`house` is "careful"; it must be an array.',
            },
        ),
        (
            "/v1/games",
            {**GAME, "house": [5], "options": {"expert": 1}, "turn_seconds": 7.5},
            {
                "#/house/0": "Item 0 of `house` is 5; it must be a string.",
                "#/options/expert": "`expert` is 1; it must be true or false.",
                "#/turn_seconds": "`turn_seconds` is 7.5; it must be an integer.",
            },
        ),
        (
            "/v1/analysis",
            {
                **ANALYSIS,
                "deal": None,
                "moves": [
                    5,
                    {"type": "wait"},
                    {"expire": True, "seat": 0, "move": {}},
                    {"seat": 0, "move": {"type": 7}},
                    {"seat": 0, "move": {}},
                    {"seat": 0, "move": {"type": "play", "card": "red 7"}},
                    {"seat": 0, "move": {"type": "pick", "cells": ["A1"]}},
                ],
            },
            {
                "#/deal": "`deal` is null; it must be an object.",
                "#/moves/0": "Item 0 of `moves` is 5; it must be an object.",
                "#/moves/1/type": '`type` is "wait"; it must be one of: move, countdown_ran_out.',
                "#/moves/2": "Item 2 of `moves` has `expire` and a move; it must be a seat's move "
                "or the end of a countdown.",
                "#/moves/3/move/type": "`type` is 7; it must be one of: play, discard, pick, "
                "choose, count, take, keep.",
                "#/moves/4/move/type": "`type` is missing, but required.",
                "#/moves/5/move/card": '`card` is "red 7"; cards are named like red-7.',
                "#/moves/6/move/cells/0": 'Item 0 of `cells` is "A1"; cells are named like a1.',
            },
        ),
        (
            "/v1/analysis",
            {**ANALYSIS, "moves": [0] * 2001},
            {"#/moves": "`moves` has 2001 items; at most 2000 are allowed."},
        ),
    ],
)
def test_a_wrong_member_is_told_what_is_wrong_and_what_is_allowed(
    ada: Client, path: str, body: Any, texts: dict[str, str]
) -> None:
    problem = ada.refused("invalid_request", "POST", path, body)
    assert {each["pointer"]: each["detail"] for each in problem["errors"]} == texts


@pytest.mark.parametrize(
    ("path", "parameter", "text"),
    [
        ("games?limit=0", "limit", "`limit` is 0; it must be from 1 to 100."),
        ("games?limit=x", "limit", '`limit` is "x"; it must be an integer, in digits.'),
        (
            "games?status=gone",
            "status",
            '`status` is "gone"; it must be one of: open, playing, finished, cancelled.',
        ),
        (
            f"games?cursor={'x' * 101}",
            "cursor",
            "`cursor` has 101 characters; at most 100 are allowed.",
        ),
        ("me/turns?wait=-1", "wait", '`wait` is "-1"; it must be an integer, in digits.'),
        (
            f"games/{NOWHERE}/legal-moves?previews=1",
            "previews",
            '`previews` is "1"; it must be true or false.',
        ),
    ],
)
def test_a_wrong_parameter_is_told_what_is_wrong_and_what_is_allowed(
    ada: Client, path: str, parameter: str, text: str
) -> None:
    problem = ada.refused("invalid_request", "GET", f"/v1/{path}")
    assert problem["errors"] == [{"parameter": parameter, "detail": text}]
    assert problem["detail"] == text


def test_a_wrong_idempotency_key_is_told_what_is_allowed(ada: Client) -> None:
    text = 'The header Idempotency-Key is ""; it must have 1 to 100 printable ASCII characters.'
    problem = ada.refused(
        "invalid_request", "POST", "/v1/games", GAME, headers={"Idempotency-Key": ""}
    )
    assert problem["errors"] == [{"parameter": "Idempotency-Key", "detail": text}]
    assert problem["detail"] == text


@pytest.mark.parametrize(("number", "more"), [(1, ""), (2, " `errors` has 1 more.")])
def test_the_text_of_a_problem_has_the_first_three_errors_without_pointers(
    ada: Client, number: int, more: str
) -> None:
    unknown = {f"m{index}": 0 for index in range(number)}
    problem = ada.refused("invalid_request", "POST", "/v1/players", unknown)
    assert len(problem["errors"]) == 2 + number  # name and kind are missing
    first = " ".join(each["detail"] for each in problem["errors"][:3])
    assert problem["detail"] == first + more
    assert "#" not in problem["detail"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/players", {"name": "Ada", "kind": SECRET}),
        ("/v1/players", {SECRET: 1}),
        ("/v1/games", {**GAME, "turn_seconds": SECRET, "options": {"grid": SECRET}}),
        ("/v1/analysis", {**ANALYSIS, "moves": [SECRET, {"expire": SECRET}]}),
    ],
)
def test_a_long_value_is_quoted_shortened_and_so_no_secret_is(
    ada: Client, path: str, body: Any
) -> None:
    problem = ada.refused("invalid_request", "POST", path, body)
    for text in (problem["detail"], *(each["detail"] for each in problem["errors"])):
        assert SECRET not in text
        assert len(text) < 500
    assert f"{SECRET[:24]}…" in problem["detail"]


def objects(schema: type[RequestSchema]) -> Iterator[type[RequestSchema]]:
    yield schema
    for below in schema.__subclasses__():
        yield from objects(below)


def within(field: fields.Field[Any]) -> Iterator[fields.Field[Any]]:
    yield field
    if isinstance(field, fields.List):
        yield from within(field.inner)


def test_no_field_of_a_request_has_an_error_of_a_library() -> None:
    schemas = [schema() for schema in objects(RequestSchema)]
    assert any(isinstance(schema, AnalysisBodySchema) for schema in schemas)
    for schema in schemas:
        for name, declared in schema.fields.items():
            for field in within(declared):
                about = f"{type(schema).__name__}.{name}"
                assert field.error_messages["required"] == REQUIRED, about
                assert field.error_messages["null"].startswith("is null; it must be "), about
                for validator in field.validators:
                    is_own = isinstance(validator, Length | Pattern | Range)
                    assert is_own or isinstance(validator, validate.Equal), about
                if isinstance(field, Union):
                    variants = field.variants.values()
                    assert all(isinstance(each, RequestSchema) for each in variants), about
