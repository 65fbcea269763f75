"""What is counted in the store is counted on whatever the store is, and once for all workers."""

from pathlib import Path

import pytest

from api.config.rate_policies import GAMES, read_policies
from api.config.settings import Settings
from api.ratelimit.limiter import Limiter
from api.storage.connect import connect
from tests.support.ports import free_port
from tests.support.stores import SERVERS, Cluster, Server, Watched, binary, ended

CALLERS = 20


def fill(url: str) -> None:
    """Two workers count for many callers, whose keys are all over a cluster."""
    policies = read_policies("games=5/hour")
    settings = Settings(redis_url=url, redis_timeout_seconds=10)
    workers = [Limiter(connect(settings)[0], policies) for _ in range(2)]
    for caller in map(str, range(CALLERS)):
        stands = [workers[number % 2].count(GAMES, caller) for number in range(8)]
        assert [each is not None and each.is_over for each in stands] == [False] * 5 + [True] * 3
        assert [each.remaining for each in stands if each is not None] == [4, 3, 2, 1, 0, 0, 0, 0]
        assert all(each is not None and 3590 <= each.reset <= 3600 for each in stands)


def test_a_single_server_counts(tmp_path: Path) -> None:
    with ended(Server(binary("valkey"), tmp_path, port := free_port())):
        fill(f"redis://127.0.0.1:{port}")


@pytest.mark.slow
@pytest.mark.parametrize("server", SERVERS)
def test_a_cluster_counts(server: str, tmp_path: Path) -> None:
    with ended(Cluster(binary(server), tmp_path)) as cluster:
        fill(cluster.url)


@pytest.mark.slow
@pytest.mark.parametrize("server", SERVERS)
def test_the_master_that_sentinels_name_counts(server: str, tmp_path: Path) -> None:
    with ended(Watched(binary(server), tmp_path)) as watched:
        fill(watched.url)
