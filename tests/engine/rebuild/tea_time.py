"""Tea Time's table, redrawn from what one reader is told."""

from __future__ import annotations

from typing import Any

from engine.tea_time import ALICE, CHARACTER_OF, CHARACTERS, in_columns


def redraw(table: dict[str, Any], reader: int | None, event: dict[str, Any]) -> None:
    """Change the table as this event says. All readers see the same."""
    match event["type"]:
        case "grid_laid":
            lay_grid(table, event["round"], event["grid"], event["pile_size"])
        case "cards_picked":
            pick(table, event)
        case "alice_laid":
            put(table, event["cell"], ALICE)
            table["alice_holder"] = None
            table["standing"] = standing(table)
        case unknown:
            raise ValueError(unknown)


def lay_grid(
    table: dict[str, Any], round_: int, grid: list[list[dict[str, Any]]], pile_size: int
) -> None:
    """A new round begins, with the first turn's one card."""
    table["round"] = round_
    table["turn_in_round"] = 1
    table["max_cards"] = 1
    table["grid"] = [[dict(cell) for cell in row] for row in grid]
    table["pile_size"] = pile_size


def pick(table: dict[str, Any], event: dict[str, Any]) -> None:
    """Cards go from the grid to the seat's collection or out of the game, and the turn passes."""
    seat = event["seat"]
    for cell in event["cells"]:
        put(table, cell, None)
    kept = table["collections"][seat] + [card for card in event["cards"] if card != ALICE]
    for card in event["cancelled"]:
        kept.remove(card)
        table["out"].append(CHARACTER_OF[card])
    table["collections"][seat] = list(in_columns(kept))
    if ALICE in event["cards"]:
        table["alice_holder"] = seat
    table["standing"] = standing(table)

    is_empty = not any(cell["card"] for row in table["grid"] for cell in row)
    if is_empty and table["round"] == table["rounds"]:
        table["phase"] = "finished"
        table["max_cards"] = 0
    else:
        table["turn_in_round"] += 1
        table["max_cards"] = min(table["turn_in_round"], 3)


def put(table: dict[str, Any], name: str, card: str | None) -> None:
    """A card, or nothing, lies in the cell of this name."""
    (cell,) = [cell for row in table["grid"] for cell in row if cell["cell"] == name]
    cell["card"] = card


def standing(table: dict[str, Any]) -> list[int]:
    """By seat: its points for what it has collected, and for Alice."""
    return [
        sum(points_for(collection, character) for character in CHARACTERS)
        + (4 if seat == table["alice_holder"] else 0)
        for seat, collection in enumerate(table["collections"])
    ]


def points_for(collection: list[str], character: str) -> int:
    """The points for the cards of one character."""
    cards = sum(CHARACTER_OF[card] == character for card in collection)
    return [5, 1, 3, 6, 10, 15][min(cards, 5)]
