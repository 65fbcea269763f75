"""Contrast's table, redrawn from what one reader is told."""

from __future__ import annotations

from typing import Any


def redraw(table: dict[str, Any], reader: int | None, event: dict[str, Any]) -> None:
    """Change the table as this event says."""
    match event["type"]:
        case "picture_shown":
            table["picture"] = event["picture"]
            table["pile_size"] = event["pile_size"]
        case "symbol_chosen":
            table["has_chosen"][event["seat"]] = True
            if event["seat"] == reader:
                table["choice"] = event["symbol"]
        case "countdown_started":
            table["countdown"] = {"by": event["by"], "missing": event["missing"]}
        case "symbols_revealed":
            reveal(table, event)
        case "rows_refreshed":
            table["rows"] = event["rows"]
            table["hands"] = event["hands"]
        case unknown:
            raise ValueError(unknown)


def reveal(table: dict[str, Any], event: dict[str, Any]) -> None:
    """The turn is over, and the game with the last picture of the pile."""
    shown = ("choices", "winning_symbol", "counted_out")
    table["last_turn"] = {name: event[name] for name in shown}
    table["has_chosen"] = [False] * len(table["has_chosen"])
    table["choice"] = None
    table["countdown"] = None
    for seat, pictures in enumerate(event["won"]):
        table["scores"][seat] += pictures
    table["standing"] = list(table["scores"])
    table["pile_size"] = event["pile_size"]
    table["box_size"] = event["box_size"]
    if event["pile_size"] == 0:
        table["picture"] = None
        table["phase"] = "finished"
