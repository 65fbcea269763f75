"""Representations: a loaded game is encoded once for each audience."""

from api.games.players import Credentials
from api.games.representations import game_answer
from tests.support.memory_worker import MemoryWorker


def test_a_loaded_game_is_encoded_once_for_each_audience(
    worker: MemoryWorker, ada: Credentials, bob: Credentials
) -> None:
    loaded = worker.load(ada, worker.seated(ada, bob))
    audiences = [loaded.game.audience_of(each and each.player_id) for each in (ada, bob, None)]
    answers = [game_answer(loaded.stored, audience) for audience in audiences]
    assert len({bytes(answer) for answer in answers}) == 3
    again = [game_answer(loaded.stored, audience) for audience in audiences]
    assert all(answer is same for answer, same in zip(answers, again, strict=True))
