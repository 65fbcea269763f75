"""Many moves in one request: each has the outcome that it would have alone."""

from tests.support.api_client import Client, NewPlayers, seated


def moves_of(player: Client, *game_ids: str) -> list[dict]:
    games = map(player.game, game_ids)
    return [{"game_id": g["id"], "turn": g["turn"], "move": g["legal_moves"][0]} for g in games]


def test_smoke(new_players: NewPlayers) -> None:
    players = new_players(2)
    ids = [seated(players)["id"] for _ in range(3)]
    first = players[players[0].game(ids[0])["to_move"][0]]
    print([players[0].game(i)["to_move"] for i in ids])
    done = first.post("/v1/me/moves", {"moves": moves_of(first, *ids)})
    print(done)
    done2 = first.request("POST", "/v1/me/moves", json={"moves": []})
    print(done2.text)
    assert 0
