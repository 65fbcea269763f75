"""The published schema of a struct: what its types, annotations and docstring become."""

from datetime import date
from typing import Annotated, Any

import pytest
from msgspec import UNSET, Raw, Struct, UnsetType

from api.web.openapi.structs import JsonSchema, StructSchemas
from engine.published import NamedChoice, NamedUnion, bounded, by_seat, described, published_as

SUIT = NamedChoice("Suit", ("clubs", "hearts"), "A suit.")


class PlayerAnswer(Struct):
    """A player.

    Published without this line.
    """

    name: Annotated[str, described("The name.", maxLength=40)]


class Played(Struct, tag="played", tag_field="type"):
    """A card was played."""

    suit: Annotated[str, published_as(SUIT, "Of the card.")]


class Passed(Struct, tag="passed", tag_field="type"):
    """Nothing was played."""


class Everything(Struct):
    """Members of each kind."""

    count: Annotated[int | None, described("How many.", minimum=1)]
    player: Annotated[PlayerAnswer | None, described("Who plays.")]
    hands: Annotated[tuple[Annotated[int, bounded(maximum=5)], ...], by_seat("By seat.", most=4)]
    event: Annotated[Raw, published_as(NamedUnion("Event", (Played, Passed), "An event."))]
    more: Annotated[bool | UnsetType, described("Whether there is more.")] = UNSET


class Clashing(Struct):
    """Has a member that is published under the name of another struct."""

    other: Annotated[Passed, bounded(title="Played")]
    played: Played


class Undatable(Struct):
    """Has a member of a type that no answer has."""

    day: date


def components_of(struct: type[Struct]) -> dict[str, Any]:
    components: dict[str, JsonSchema] = {}
    schemas = StructSchemas(components, components.__setitem__, {})
    assert schemas.schema(struct) == {"$ref": f"#/components/schemas/{struct.__name__}"}
    return components


def test_members_are_published_with_their_types_and_meanings() -> None:
    components = components_of(Everything)
    assert components["Everything"] == {
        "type": "object",
        "properties": {
            "count": {"type": ["integer", "null"], "minimum": 1, "description": "How many."},
            "player": {
                "description": "Who plays.",
                "anyOf": [{"$ref": "#/components/schemas/Player"}, {"type": "null"}],
            },
            "hands": {
                "type": "array",
                "description": "By seat.",
                "minItems": 2,
                "maxItems": 4,
                "items": {"type": "integer", "maximum": 5},
            },
            "event": {"$ref": "#/components/schemas/Event"},
            "more": {"type": "boolean", "description": "Whether there is more."},
        },
        "required": ["count", "event", "hands", "player"],
        "description": "Members of each kind.",
    }


def test_a_struct_is_published_without_its_ending_and_described_by_its_first_line() -> None:
    assert components_of(Everything)["Player"]["description"] == "A player."


def test_a_union_is_told_apart_by_the_tags_of_its_structs() -> None:
    components = components_of(Everything)
    assert components["Event"]["discriminator"] == {
        "propertyName": "type",
        "mapping": {
            "played": "#/components/schemas/Played",
            "passed": "#/components/schemas/Passed",
        },
    }
    assert components["Played"]["properties"]["type"]["const"] == "played"
    assert components["Suit"]["enum"] == ["clubs", "hearts"]


def test_components_are_registered_before_those_that_refer_to_them() -> None:
    names = list(components_of(Everything))
    assert names == ["Player", "Suit", "Played", "Passed", "Event", "Everything"]


def test_two_declarations_under_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="Two declarations would be published as Played"):
        components_of(Clashing)


def test_a_type_without_a_known_schema_is_refused() -> None:
    with pytest.raises(TypeError, match="No schema is known"):
        components_of(Undatable)
