"""Tea Time's table, redrawn from what one reader is told."""

from __future__ import annotations

from typing import Any

from engine.tea_time import ALICE, CHARACTER_OF, in_columns


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
        case unknown:
            raise ValueError(unknown)


def lay_grid(
    table: dict[str, Any], round_: int, grid: list[list[str | None]], pile_size: int
) -> None:
    """A new round begins, with the first turn's one card."""
    table["round"] = round_
    table["turn_in_round"] = 1
    table["max_cards"] = 1
    table["grid"] = [list(row) for row in grid]
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

    is_empty = not any(card for row in table["grid"] for card in row)
    if is_empty and table["round"] == table["rounds"]:
        table["phase"] = "finished"
        table["max_cards"] = 0
    else:
        table["turn_in_round"] += 1
        table["max_cards"] = min(table["turn_in_round"], 3)


def put(table: dict[str, Any], cell: str, card: str | None) -> None:
    """A card, or nothing, lies in this cell."""
    column, row = "abcde".index(cell[0]), int(cell[1]) - 1
    table["grid"][row][column] = card
