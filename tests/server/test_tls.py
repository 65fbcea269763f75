"""Clusters and Sentinels that speak TLS alone, with certificates, users and passwords."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.api_client import play_by_turns, seat_two
from tests.support.certificates import Authority
from tests.support.service import serving
from tests.support.stores import Cluster, Secure, Watched, await_store, binary, ended
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow

Kind = type[Cluster] | type[Watched]


def certified(directory: Path, host: str = "127.0.0.1") -> Secure:
    """How servers are secured whose certificates, by an authority of ours, name this host."""
    authority = Authority(directory)
    certificate, key = authority.certify(host)
    return Secure(authority.certificate, certificate, key, "keeper", "kept")


@pytest.fixture
def ours(tmp_path: Path) -> Secure:
    return certified(tmp_path / "authority")


def address(store: Any, of_servers: Secure, of_sentinels: Secure, *query: str) -> str:
    """What REDIS_URL is for a store."""
    scheme, _, rest = store.url.partition("://")
    of_servers_query = [of_servers.query, *query]
    if isinstance(store, Watched):
        of_servers_query += [
            f"sentinel_username={of_sentinels.user}",
            f"sentinel_password={of_sentinels.password}",
        ]
    credentials = f"{of_servers.user}:{of_servers.password}"
    return (
        f"{scheme.replace('redis', 'rediss')}://{credentials}@{rest}?{'&'.join(of_servers_query)}"
    )


def test_a_game_is_played_on_a_cluster_over_tls(ours: Secure, tmp_path: Path) -> None:
    with (
        ended(Cluster(binary("redis"), tmp_path / "store", secure=ours)) as cluster,
        serving(tmp_path / "service", REDIS_URL=address(cluster, ours, ours)) as service,
    ):
        players, _ = seat_two(service.url)
        assert play_by_turns(players)


def test_a_game_is_played_on_what_sentinels_watch_over_tls_across_a_failover(
    ours: Secure, tmp_path: Path
) -> None:
    of_sentinels = ours._replace(user="watcher", password="watched")
    with (
        ended(Watched(binary("redis"), tmp_path / "store", ours, of_sentinels)) as watched,
        serving(tmp_path / "service", REDIS_URL=address(watched, ours, of_sentinels)) as service,
    ):
        players, _ = seat_two(service.url)
        assert play_by_turns(players)
        before = watched.master
        before.kill()
        await_store(lambda: watched.master is not before, "another one is the master")
        wait_until(lambda: service.request("GET", "/readyz").ok, "the service has found it")
        players, _ = seat_two(service.url)
        assert play_by_turns(players)


@pytest.mark.parametrize("kind", [Cluster, Watched])
def test_a_store_with_the_certificate_of_another_host_is_not_talked_to_unless_told_so(
    kind: Kind, tmp_path: Path
) -> None:
    others = certified(tmp_path / "authority", "127.0.0.2")
    program, place = binary("redis"), tmp_path / "store"
    made = (
        Cluster(program, place, masters=1, secure=others)
        if kind is Cluster
        else Watched(program, place, others, others)
    )
    with ended(made) as store:
        url = address(store, others, others, "ssl_check_hostname=false")
        with serving(tmp_path / "trusting", REDIS_URL=url) as service:
            players, _ = seat_two(service.url)
            assert play_by_turns(players)
        with serving(tmp_path / "wary", REDIS_URL=address(store, others, others)) as service:
            answer = service.request("GET", "/readyz")
            assert answer.status_code == 503
            assert answer.json()["code"] == "store_unavailable"
