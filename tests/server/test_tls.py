"""Clusters and Sentinels that speak TLS alone, each with passwords of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
import requests

from tests.proofs.failover import Authority
from tests.server.stores import Cluster, Secure, Watched, binary, ended, wait_until
from tests.server.test_stores import play_to_the_end, serving, sit_down

pytestmark = pytest.mark.slow


@pytest.fixture
def ours(tmp_path: Path) -> Secure:
    """Servers with a certificate of our own authority."""
    authority = Authority(tmp_path / "authority")
    certificate, key = authority.certify("127.0.0.1")
    return Secure(authority.certificate, certificate, key, "kept")


def test_a_game_is_played_on_a_cluster_over_tls(ours: Secure, tmp_path: Path) -> None:
    with ended(Cluster(binary("redis"), tmp_path / "cluster", secure=ours)) as cluster:
        hosts = ",".join(f"127.0.0.1:{each.port}" for each in cluster.servers)
        url = f"rediss+cluster://:{ours.password}@{hosts}?ssl_ca_certs={ours.authority}"
        with serving(tmp_path / "service", url) as service:
            ada, bob, game_id = sit_down(service)
            assert play_to_the_end(game_id, ada, bob)


def test_a_game_is_played_on_what_sentinels_watch_over_tls_across_a_failover(
    ours: Secure, tmp_path: Path
) -> None:
    of_sentinels = ours._replace(password="watched")
    with ended(Watched(binary("redis"), tmp_path / "watched", ours, of_sentinels)) as watched:
        hosts = ",".join(f"127.0.0.1:{each.port}" for each in watched.sentinels)
        url = (
            f"rediss+sentinel://:{ours.password}@{hosts}/{watched.NAME}"
            f"?sentinel_password={of_sentinels.password}&ssl_ca_certs={ours.authority}"
        )
        with serving(tmp_path / "service", url) as service:
            ada, bob, game_id = sit_down(service)
            assert play_to_the_end(game_id, ada, bob)
            before = watched.master
            before.kill()
            ready = f"{service.url}/readyz"
            wait_until(lambda: watched.master is not before, "another one is the master")
            wait_until(lambda: requests.get(ready, timeout=10).ok, "the service has found it")
            ada, bob, game_id = sit_down(service)
            assert play_to_the_end(game_id, ada, bob)
