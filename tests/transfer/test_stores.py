"""From one kind of store to each other, while games are in play, without losing one."""

import itertools
import signal
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.command import COMMAND, command_environment, ludotheque
from tests.support.ports import free_port
from tests.support.service import UNLIMITED, Service, serving
from tests.support.stores import Cluster, Server, Watched, await_store, binary, ended
from tests.support.waiting import wait_until
from tests.transfer.crowd import playing
from tests.transfer.table import Everything

pytestmark = pytest.mark.slow


def stop(service: Service) -> None:
    """Stop a service as an operator does."""
    service.process.terminate()
    assert service.exit_code() == 0


def outcomes(report: str) -> list[str]:
    """Return the columns of the table of a report: what became of the records."""
    return report.splitlines()[0].split()


def place_settings(place: str) -> dict[str, str]:
    """Return the settings of a service on a store, by its address or its data directory."""
    where = {"REDIS_URL": place} if "://" in place else {"DATA_DIR": place}
    return {**UNLIMITED, **where}


def test_games_move_through_every_kind_of_store_and_are_played_to_their_ends(
    tmp_path: Path,
) -> None:
    with ExitStack() as stack:
        server = stack.enter_context(
            ended(Server(binary("redis"), tmp_path / "server", free_port()))
        )
        watched = stack.enter_context(ended(Watched(binary("valkey"), tmp_path / "watched")))
        cluster = stack.enter_context(ended(Cluster(binary("redis"), tmp_path / "cluster")))
        places = [
            str(tmp_path / "first"),
            f"redis://127.0.0.1:{server.port}",
            watched.url,
            cluster.url,
            str(tmp_path / "last"),
        ]
        with serving(tmp_path, **place_settings(places[0])) as service:
            everything = Everything(service.url)
            before = everything.seen()
            stop(service)
        for from_, to in itertools.pairwise(places):
            assert outcomes(ludotheque("copy", from_, to)) == ["new"]
            # Both have the same: nothing to copy, and nothing to remove.
            again = ludotheque("copy", "--delete", from_, to)
            assert outcomes(again) == ["same"]
            back = ludotheque("copy", "--delete", to, from_)
            assert back.splitlines()[:-1] == again.splitlines()[:-1]
            assert "Left out" not in again
            with serving(tmp_path, **place_settings(to)) as service:
                everything.move_to(service.url)
                assert everything.seen() == before
                everything.check_all()
                everything.play(None if to == places[-1] else 3)
                before = everything.seen()
                if to == places[-1]:
                    for game_id in everything.in_play:
                        record = everything.players[0].get(f"/v1/games/{game_id}/record")
                        analysis = everything.players[0].post("/v1/analysis", record)
                        assert analysis["result"] == record["result"]
                stop(service)


def test_a_backup_of_a_running_service_has_every_move_acknowledged_before_it(
    tmp_path: Path,
) -> None:
    backups = [tmp_path / f"backup {number}" for number in range(3)]
    with serving(tmp_path / "service", **UNLIMITED) as service:
        data = service.store.directory.parent
        with playing(service.url) as pairs:
            time.sleep(3)
            for path in backups:
                began = time.monotonic()
                ludotheque("export", path, DATA_DIR=data)
        service.end()
        service.store.end()
    with (
        ended(Cluster(binary("valkey"), tmp_path / "cluster")) as cluster,
        serving(tmp_path / "restored", REDIS_URL=cluster.url, **UNLIMITED) as restored,
    ):
        report = ludotheque("import", backups[-1], REDIS_URL=cluster.url)
        assert set(outcomes(report)) == {"new"}
        assert sum(pair.check(restored.url, began) for pair in pairs) >= len(pairs)


def test_a_service_moves_to_another_store_with_a_short_stop(tmp_path: Path) -> None:
    with ended(Server(binary("redis"), tmp_path / "server", free_port())) as server:
        there = f"redis://127.0.0.1:{server.port}"
        with serving(tmp_path / "service", **UNLIMITED) as service:
            data = service.store.directory.parent
            with playing(service.url) as pairs:
                time.sleep(3)
                ludotheque("copy", data, there)
                time.sleep(1)
            stop(service)
        report = ludotheque("copy", "--overwrite", "--delete", data, there)
        assert {"same", "changed"} <= set(outcomes(report)) <= {"new", "changed", "same"}
        with serving(tmp_path / "moved", REDIS_URL=there, **UNLIMITED) as moved:
            games = sum(pair.check(moved.url, time.monotonic()) for pair in pairs)
            assert games == sum(len(pair.games) for pair in pairs)


def test_a_store_that_fails_over_during_a_copy_is_copied_again(tmp_path: Path) -> None:
    with (
        ended(Watched(binary("valkey"), tmp_path / "watched")) as watched,
        ended(Server(binary("redis"), tmp_path / "server", free_port())) as server,
    ):
        master = watched.master
        pipe = master.client().pipeline()
        for number in range(50_000):
            pipe.hset(f"player:{{{number}}}", "name", "x" * 500)
        pipe.execute()
        master.client().execute_command("WAIT", 2, 10_000)
        there = f"redis://127.0.0.1:{server.port}"
        process = subprocess.Popen(
            [*COMMAND, "copy", watched.url, there],
            env=command_environment(),
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_until(server.client().dbsize, "it copies")
        master.kill()
        _, said = process.communicate(timeout=60)
        assert process.returncode == 1, said
        assert said.count("\n") == 1
        await_store(lambda: watched.master is not master, "there is another master")
        wait_until(lambda: not copied(watched.url, there), "it can be copied")
        assert server.client().dbsize() == 50_000


def test_a_copy_into_a_cluster_that_is_interrupted_continues(tmp_path: Path) -> None:
    with (
        ended(Server(binary("redis"), tmp_path / "server", free_port())) as server,
        ended(Cluster(binary("valkey"), tmp_path / "cluster")) as cluster,
    ):
        pipe = server.client().pipeline()
        for number in range(20_000):
            pipe.hset(f"player:{{{number}}}", "name", "x" * 500)
        pipe.execute()
        here = f"redis://127.0.0.1:{server.port}"

        def size() -> int:
            return sum(each.client().dbsize() for each in cluster.masters())

        for number in range(1, 4):
            process = subprocess.Popen(
                [*COMMAND, "copy", here, cluster.url],
                env=command_environment(),
                stderr=subprocess.PIPE,
                text=True,
            )
            wait_until(lambda number=number: size() > 2000 * number, "it copies")
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
            assert (process.returncode, said) == (130, "")
        assert outcomes(ludotheque("copy", here, cluster.url)) == ["new", "same"]
        assert size() == 20_000


def copied(from_: str, to: str) -> int:
    return subprocess.call([*COMMAND, "copy", from_, to], env=command_environment())
