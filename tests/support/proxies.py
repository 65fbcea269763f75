"""The reverse proxies of `deploy/`, with their published configurations.

Only what has to be another on a test's machine is replaced in a file: ports, certificates, logs.
"""

import contextlib
import getpass
import os
import socket
import ssl
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPSConnection
from pathlib import Path

from tests.support.certificates import Authority
from tests.support.paths import ROOT
from tests.support.ports import free_port
from tests.support.service import Service
from tests.support.tools import find_program
from tests.support.waiting import wait_until

HOST = "games.example.org"

NGINX = """
daemon off;
# Otherwise its workers run as an account that cannot reach the test's directory.
user {user};
pid {directory}/nginx.pid;
error_log {directory}/main.log crit;
events {{}}
http {{
    client_body_temp_path {directory}/body;
    proxy_temp_path {directory}/proxy;
    fastcgi_temp_path {directory}/fastcgi;
    uwsgi_temp_path {directory}/uwsgi;
    scgi_temp_path {directory}/scgi;
    include {directory}/ludotheque.conf;
}}
"""


@dataclass(frozen=True)
class Proxy:
    """A proxy that runs, and its files."""

    directory: Path
    authority: Path
    http_port: int
    https_port: int

    @property
    def url(self) -> str:
        return f"https://{HOST}:{self.https_port}"

    def curl(self, url: str, *arguments: str) -> str:
        """Return what curl prints. `url` may be a path of the service behind the proxy."""
        done = subprocess.run(
            self.curl_command(url, *arguments), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def curl_command(self, url: str, *arguments: str) -> list[str]:
        return [
            *(find_program("curl"), "-sS", "--max-time", "60", "--cacert", str(self.authority)),
            *("--resolve", f"{HOST}:{self.https_port}:127.0.0.1"),
            *("--resolve", f"{HOST}:{self.http_port}:127.0.0.1"),
            *(self.url + url if url.startswith("/") else url, *arguments),
        ]

    def connection(self) -> HTTPSConnection:
        """Open a connection that stays open between requests."""
        context = ssl.create_default_context(cafile=self.authority)
        connection = HTTPSConnection(HOST, self.https_port, timeout=60)
        plain = socket.create_connection(("127.0.0.1", self.https_port), 60)
        connection.sock = context.wrap_socket(plain, server_hostname=HOST)
        return connection

    @property
    def logs(self) -> str:
        return "".join(each.read_text() for each in self.directory.glob("*.log"))


def _published(name: str, changes: Mapping[str, str]) -> str:
    text = (ROOT / "deploy" / name).read_text(encoding="utf-8")
    for part, replacement in changes.items():
        assert part in text, f"{name} lacks {part!r}"
        text = text.replace(part, replacement)
    return text


@contextlib.contextmanager
def nginx(service: Service, directory: Path, changes: Mapping[str, str]) -> Iterator[Proxy]:
    """Run nginx with `deploy/nginx.conf`, further changed."""
    authority = Authority(directory / "authority")
    certificate, key = authority.certify(HOST)
    proxy = Proxy(directory, authority.certificate, free_port(), free_port())
    own = {
        "127.0.0.1:8000": f"127.0.0.1:{service.port}",
        "listen 80;": f"listen 127.0.0.1:{proxy.http_port};",
        "listen 443 ssl": f"listen 127.0.0.1:{proxy.https_port} ssl",
        "/etc/ssl/ludotheque/fullchain.pem": str(certificate),
        "/etc/ssl/ludotheque/key.pem": str(key),
        "/var/log/nginx/": f"{directory}/",
    }
    (directory / "ludotheque.conf").write_text(_published("nginx.conf", own | dict(changes)))
    main = directory / "nginx.conf"
    main.write_text(NGINX.format(directory=directory, user=getpass.getuser()))
    command = (find_program("nginx"), "-p", str(directory), "-c", str(main))
    with _running(proxy, command, {}):
        yield proxy


@contextlib.contextmanager
def caddy(service: Service, directory: Path, changes: Mapping[str, str]) -> Iterator[Proxy]:
    """Run Caddy with `deploy/Caddyfile`, further changed."""
    authority = Authority(directory / "authority")
    certificate, key = authority.certify(HOST)
    proxy = Proxy(directory, authority.certificate, free_port(), free_port())
    own = {
        "127.0.0.1:8000": f"127.0.0.1:{service.port}",
        "\n{\n": (
            f"\n{{\n\tadmin off\n\tdefault_bind 127.0.0.1\n\thttp_port {proxy.http_port}\n"
            f"\thttps_port {proxy.https_port}\n"
        ),
        f"\n{HOST} {{\n": f"\n{HOST} {{\n\ttls {certificate} {key}\n",
    }
    file = directory / "Caddyfile"
    file.write_text(_published("Caddyfile", own | dict(changes)))
    home = {"HOME": str(directory), "XDG_DATA_HOME": f"{directory}/data"}
    command = (find_program("caddy"), "run", "--adapter", "caddyfile", "--config", str(file))
    with _running(proxy, command, home):
        yield proxy


@contextlib.contextmanager
def _running(
    proxy: Proxy, command: Sequence[str], environment: Mapping[str, str]
) -> Iterator[None]:
    with (proxy.directory / "output.log").open("wb") as log:
        process = subprocess.Popen(
            command, env=os.environ | dict(environment), stdout=log, stderr=log
        )

    def answers() -> bool:
        assert process.poll() is None, proxy.logs
        command = proxy.curl_command("/livez", "--fail", "--output", os.devnull)
        return subprocess.run(command, check=False, capture_output=True).returncode == 0

    try:
        wait_until(answers, f"{command[0]} answers")
        yield
    finally:
        process.terminate()
        process.wait()
