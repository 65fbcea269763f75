"""Parade's table, redrawn from what one reader is told."""

from __future__ import annotations

from typing import Any


def redraw(table: dict[str, Any], reader: int | None, event: dict[str, Any]) -> None:
    """Change the table as this event says."""
    match event["type"]:
        case "card_played":
            play(table, reader, event["seat"], event["card"])
        case "cards_collected":
            for card in event["cards"]:
                table["parade"].remove(card)
            table["collections"][event["seat"]] += event["cards"]
            table["standing"] = standing(table["collections"])
        case "card_drawn":
            table["pile_size"] = event["pile_size"]
            table["hand_sizes"][event["seat"]] += 1
            if event["seat"] == reader:
                table["hand"].append(event["card"])
        case "last_round_started":
            table["phase"] = "last_round"
            table["last_turns_left"] = len(table["hand_sizes"])
        case "cards_discarded":
            discard(table, reader, event["seat"], event["cards"])
        case "hands_laid_down":
            lay_down(table, reader, event["cards"])
        case unknown:
            raise ValueError(unknown)


def play(table: dict[str, Any], reader: int | None, seat: int, card: str) -> None:
    """The card goes from the hand to the end of the parade; in the last round a turn is over."""
    table["parade"].append(card)
    table["hand_sizes"][seat] -= 1
    if seat == reader:
        table["hand"].remove(card)
    if table["last_turns_left"] is not None:
        table["last_turns_left"] -= 1
        if table["last_turns_left"] == 0:
            table["phase"] = "discard"


def discard(table: dict[str, Any], reader: int | None, seat: int, cards: list[str] | None) -> None:
    """Two cards leave the hand; its owner knows which."""
    table["has_discarded"][seat] = True
    table["hand_sizes"][seat] -= 2
    if seat == reader:
        table["discard"] = cards
        table["hand"] = [card for card in table["hand"] if card not in (cards or ())]


def lay_down(table: dict[str, Any], reader: int | None, cards_by_seat: list[list[str]]) -> None:
    """Each hand joins its seat's collection, and the game is over."""
    for seat, cards in enumerate(cards_by_seat):
        table["collections"][seat] += cards
        table["hand_sizes"][seat] -= len(cards)
    table["standing"] = standing(table["collections"])
    if reader is not None:
        table["hand"] = []
    table["phase"] = "finished"


def standing(collections: list[list[str]]) -> list[int]:
    """By seat: its points with these collections."""
    return [
        sum(points(collections, seat, color) for color in {color_of(card) for card in own})
        for seat, own in enumerate(collections)
    ]


def points(collections: list[list[str]], seat: int, color: str) -> int:
    """The points of a seat for a colour: its cards with a majority, else their values."""
    cards = [[card for card in each if color_of(card) == color] for each in collections]
    own, others = cards[seat], [len(each) for each in cards[:seat] + cards[seat + 1 :]]
    needed = max(others) + (2 if len(collections) == 2 else 0)
    return len(own) if len(own) >= needed else sum(int(card.rpartition("-")[2]) for card in own)


def color_of(card: str) -> str:
    return card.rpartition("-")[0]
