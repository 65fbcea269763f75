"""Stores as operators run them: a single server, a cluster, a master watched by Sentinels.

Real servers on loopback: the Valkey of the embedded store, or the system's `redis-server`. Each is
a process with a directory of its own.
"""

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import redis

from api.server.valkey import server_binary
from tests.support.ports import free_port
from tests.support.tools import find_program
from tests.support.waiting import wait_until

PATIENCE = 60.0
SLOTS = 16384
SERVERS = ("valkey", "redis")


def await_store(condition: Callable[[], Any], what: str) -> Any:
    """Wait for a condition that asks a store, which may refuse connections meanwhile."""
    errors = (redis.RedisError, redis.exceptions.RedisClusterException)
    return wait_until(condition, what, PATIENCE, ignoring=errors)


def binary(server: str) -> str:
    """Return the path of a server's program: the Valkey of the service, or the system's Redis."""
    return server_binary() if server == "valkey" else find_program("redis-server")


class Secure(NamedTuple):
    """Servers that accept only TLS, with client certificates and passwords.

    Servers and clients share one certificate. The service logs in as a user; the servers use the
    default user among themselves.
    """

    authority: Path
    certificate: Path
    key: Path
    user: str
    password: str

    def options(self, port: int) -> tuple[str, ...]:
        return (
            *("--port", "0", "--tls-port", str(port), "--tls-auth-clients", "yes"),
            *("--tls-cert-file", str(self.certificate), "--tls-key-file", str(self.key)),
            *("--tls-ca-cert-file", str(self.authority), "--tls-replication", "yes"),
            *("--requirepass", self.password_among_them),
            *("--user", self.user, "on", f">{self.password}", "~*", "&*", "+@all"),
        )

    @property
    def password_among_them(self) -> str:
        return f"{self.password}-among-us"

    @property
    def query(self) -> str:
        """The part of a store's URL that names the certificates."""
        return (
            f"ssl_ca_certs={self.authority}&ssl_certfile={self.certificate}&ssl_keyfile={self.key}"
        )

    def client_options(self) -> dict[str, Any]:
        return {
            "ssl": True,
            "ssl_ca_certs": str(self.authority),
            "ssl_certfile": str(self.certificate),
            "ssl_keyfile": str(self.key),
            "ssl_check_hostname": False,
            "password": self.password_among_them,
        }


class Server:
    """One server process."""

    def __init__(
        self,
        program: str,
        directory: Path,
        port: int,
        *options: str,
        secure: Secure | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.port = port
        self._environment = os.environ | dict(environment or {})
        self._client_options = {} if secure is None else secure.client_options()
        self._command = [
            program,
            *options,
            *(("--port", str(port)) if secure is None else secure.options(port)),
            *("--bind", "127.0.0.1", "--dir", str(directory)),
            *("--save", "", "--daemonize", "no", "--logfile", str(directory / "log")),
        ]
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            self._command,
            env=self._environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        await_store(self.client().ping, f"{self._command[0]} answers on {self.port}")

    def client(self, **options: Any) -> redis.Redis:
        options = {"socket_timeout": 5, **self._client_options, **options}
        return redis.Redis(host="127.0.0.1", port=self.port, protocol=2, retry=None, **options)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def freeze(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.thaw()
            self.kill()


class Cluster:
    """A cluster of masters with one replica each."""

    def __init__(
        self,
        program: str,
        directory: Path,
        *options: str,
        masters: int = 3,
        secure: Secure | None = None,
    ) -> None:
        self.servers: list[Server] = []
        try:
            for number in range(2 * masters):
                self.servers.append(_node(program, directory / str(number), options, secure))
            self._make(masters)
        except BaseException:
            self.end()
            raise

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{each.port}" for each in self.servers)
        return f"redis+cluster://{hosts}"

    def _make(self, masters: int) -> None:
        first = self.servers[0].client()
        ids = [each.client().execute_command("CLUSTER MYID") for each in self.servers]
        bounds = [SLOTS * number // masters for number in range(masters + 1)]
        for number in range(masters):
            self.servers[number].client().execute_command(
                "CLUSTER ADDSLOTSRANGE", bounds[number], bounds[number + 1] - 1
            )
        for each in self.servers[1:]:
            first.execute_command("CLUSTER MEET", "127.0.0.1", each.port)
        for number, replica in enumerate(self.servers[masters:]):
            client = replica.client()
            await_store(
                lambda client=client, number=number: client.execute_command(
                    "CLUSTER REPLICATE", ids[number]
                ),
                "a replica knows its master",
            )
        await_store(self.is_whole, "the cluster is complete")

    def is_whole(self) -> bool:
        """Whether all live nodes say that all slots are served, and each master has its replica."""
        alive = [each for each in self.servers if each.process and each.process.poll() is None]
        for each in alive:
            client = each.client()
            if client.execute_command("CLUSTER INFO")["cluster_state"] != "ok":
                return False
            facts = client.info("replication")
            if facts["role"] == "slave" and facts["master_link_status"] != "up":
                return False
        masters = [each for each in alive if self.role(each) == "master"]
        return all(each.client().info("replication")["connected_slaves"] for each in masters)

    def role(self, server: Server) -> str:
        role: str = server.client().info("replication")["role"]
        return role

    def masters(self) -> list[Server]:
        return [
            each
            for each in self.servers
            if each.process and each.process.poll() is None and self.role(each) == "master"
        ]

    def client(self) -> redis.RedisCluster:
        return redis.RedisCluster(port=self.masters()[0].port, host="127.0.0.1")

    def end(self) -> None:
        for each in self.servers:
            each.end()


def _node(program: str, directory: Path, options: tuple[str, ...], secure: Secure | None) -> Server:
    if secure is not None:
        options = (*options, "--tls-cluster", "yes", "--masterauth", secure.password_among_them)
    return Server(
        program,
        directory,
        free_port(for_cluster=True),
        *("--cluster-enabled", "yes", "--cluster-node-timeout", "1500"),
        *("--cluster-config-file", str(directory / "nodes.conf")),
        *("--repl-diskless-sync-delay", "0", "--appendonly", "no"),
        *options,
        secure=secure,
    )


class Watched:
    """A master with two replicas, and three Sentinels that replace it when it dies."""

    NAME = "games"

    def __init__(
        self,
        program: str,
        directory: Path,
        secure: Secure | None = None,
        of_sentinels: Secure | None = None,
    ) -> None:
        self.servers: list[Server] = []
        self.sentinels: list[Server] = []
        self._secure, self._of_sentinels = secure, of_sentinels
        options = self.QUICK
        if secure is not None:
            options += ("--masterauth", secure.password_among_them)
        try:
            place, port = directory / "0", free_port()
            self.servers.append(Server(program, place, port, *options, secure=secure))
            options += ("--replicaof", f"127.0.0.1 {port}")
            for number in (1, 2):
                place, port = directory / str(number), free_port()
                self.servers.append(Server(program, place, port, *options, secure=secure))
            for number in range(3):
                self.sentinels.append(self._sentinel(program, directory / f"s{number}"))
            await_store(self.is_whole, "the Sentinels know all servers")
        except BaseException:
            self.end()
            raise

    QUICK = ("--repl-diskless-sync-delay", "0", "--appendonly", "no")

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{each.port}" for each in self.sentinels)
        return f"redis+sentinel://{hosts}/{self.NAME}"

    def _sentinel(self, program: str, directory: Path) -> Server:
        directory.mkdir(parents=True)
        config = directory / "sentinel.conf"
        own = self._of_sentinels
        secrets = ""
        if self._secure is not None:
            secrets += f"sentinel auth-pass {self.NAME} {self._secure.password_among_them}\n"
        if own is not None:
            secrets += f"sentinel sentinel-pass {own.password_among_them}\n"
        config.write_text(
            f"sentinel monitor {self.NAME} 127.0.0.1 {self.servers[0].port} 2\n"
            f"sentinel down-after-milliseconds {self.NAME} 1000\n"
            f"sentinel failover-timeout {self.NAME} 5000\n{secrets}"
        )
        return Server(program, directory, free_port(), str(config), "--sentinel", secure=own)

    def is_whole(self) -> bool:
        for each in self.sentinels:
            (facts,) = each.client().sentinel_masters().values()
            if facts["num-slaves"] < 2 or facts["num-other-sentinels"] < 2:
                return False
        return bool(self.master.client().info("replication")["connected_slaves"] == 2)

    @property
    def master(self) -> Server:
        _, port = self.sentinels[0].client().sentinel_get_master_addr_by_name(self.NAME)
        return next(each for each in self.servers if each.port == int(port))

    def end(self) -> None:
        for each in (*self.sentinels, *self.servers):
            each.end()


@contextlib.contextmanager
def ended(store: Any) -> Iterator[Any]:
    try:
        yield store
    finally:
        store.end()
