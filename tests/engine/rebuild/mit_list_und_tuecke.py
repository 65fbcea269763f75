"""Mit List und Tücke's table, redrawn from what one reader is told."""

from __future__ import annotations

from typing import Any

COLORS = ["red", "yellow", "blue", "green"]
HAND_SIZE = 14


def redraw(table: dict[str, Any], reader: int | None, event: dict[str, Any]) -> None:
    """Change the table as this event says."""
    match event["type"]:
        case "round_started":
            lay_out_round(table, event)
        case "card_played":
            play(table, reader, event["seat"], event["card"])
        case "trick_completed":
            table.update(phase="take", high=event["high"], low=event["low"])
        case "cards_taken":
            take(table, event["seat"], event["cards"])
        case "colors_kept":
            keep(table, event["seat"], event["colors"])
        case "round_scored":
            table["round_scores"].append(event["scores"])
            table["standing"] = [sum(scores) for scores in zip(*table["round_scores"], strict=True)]
            if event["round"] == table["rounds"]:
                table["phase"] = "finished"
        case unknown:
            raise ValueError(unknown)


def color_of(card: str) -> str:
    return card.rpartition("-")[0]


def open_piles(table: dict[str, Any]) -> bool:
    return table["face_down"][0]["size"] is not None


def lay_out_round(table: dict[str, Any], event: dict[str, Any]) -> None:
    """New hands, and nothing before anyone."""
    seats = len(table["hand_sizes"])
    size = 0 if open_piles(table) else None
    table.update({name: event[name] for name in ("round", "dealer", "leader", "hand")})
    table.update(
        phase="play",
        hand_sizes=[HAND_SIZE] * seats,
        trick=[],
        led_color=None,
        tricks_played=0,
        piles=[[] for _ in range(seats)],
        face_down=[{"any": False, "size": size} for _ in range(seats)],
        kept=[[] for _ in range(seats)],
    )


def play(table: dict[str, Any], reader: int | None, seat: int, card: str) -> None:
    """The card goes from the hand to the trick; the first one leads its colour."""
    table["trick"].append({"seat": seat, "card": card})
    table["led_color"] = table["led_color"] or color_of(card)
    table["hand_sizes"][seat] -= 1
    if seat == reader:
        table["hand"].remove(card)


def take(table: dict[str, Any], seat: int | None, cards: list[str]) -> None:
    """Cards go from the trick to a seat, or away; after the last of them the trick is over."""
    table["trick"] = [played for played in table["trick"] if played["card"] not in cards]
    if seat is not None:
        for card in cards:
            receive(table, seat, card)
    if not table["trick"]:
        table["leader"] = table["high"] if table["low"] is None else table["low"]
        table["tricks_played"] += 1
        table.update(led_color=None, high=None, low=None)
        show_whether_to_choose(table)


def receive(table: dict[str, Any], seat: int, card: str) -> None:
    """A card goes on top of the pile of its colour, or face down if that was dropped."""
    color, kept, piles = color_of(card), table["kept"][seat], table["piles"][seat]
    if kept and color not in kept:
        turn_down(table, seat, 1)
        return
    pile = next((pile for pile in piles if pile["color"] == color), None)
    if pile is None:
        pile = {"color": color, "top": card, "cards": [] if open_piles(table) else None}
        piles.append(pile)
        piles.sort(key=lambda pile: COLORS.index(pile["color"]))
    pile["top"] = card
    if open_piles(table):
        pile["cards"].append(card)


def keep(table: dict[str, Any], seat: int, colors: list[str]) -> None:
    """The piles of the other colours are turned face down."""
    table["kept"][seat] = colors
    for pile in table["piles"][seat]:
        if pile["color"] not in colors:
            turn_down(table, seat, len(pile["cards"] or ()))
    table["piles"][seat] = [pile for pile in table["piles"][seat] if pile["color"] in colors]
    show_whether_to_choose(table)


def turn_down(table: dict[str, Any], seat: int, count: int) -> None:
    """Put this many cards on the face-down pile."""
    pile = table["face_down"][seat]
    pile["any"] = True
    if open_piles(table):
        pile["size"] += count


def show_whether_to_choose(table: dict[str, Any]) -> None:
    """Colours are chosen while a seat has all four face up."""
    choosing = any(len(piles) == len(COLORS) for piles in table["piles"])
    table["phase"] = "keep" if choosing else "play"
