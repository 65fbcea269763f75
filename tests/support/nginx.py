"""Debian's nginx in front of a service."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.http_client import HttpClient
from tests.support.ports import free_port
from tests.support.service import Service
from tests.support.tools import find_program
from tests.support.waiting import wait_until

CONFIGURATION = """
daemon off;
pid {directory}/nginx.pid;
error_log {directory}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {directory}/body;
    proxy_temp_path {directory}/proxy;
    fastcgi_temp_path {directory}/fastcgi;
    uwsgi_temp_path {directory}/uwsgi;
    scgi_temp_path {directory}/scgi;
    upstream service {{
        server 127.0.0.1:{service};
        {upstream}
    }}
    server {{
        listen 127.0.0.1:{port};
        {server}
        location / {{
            proxy_pass http://service;
            {location}
        }}
    }}
}}
"""


@contextmanager
def nginx(
    service: Service, directory: Path, upstream: str = "", server: str = "", location: str = ""
) -> Iterator[str]:
    """Run nginx in front of a service, and yield its URL."""
    port = free_port()
    file = directory / "nginx.conf"
    parts = {"upstream": upstream, "server": server, "location": location}
    file.write_text(
        CONFIGURATION.format(directory=directory, service=service.port, port=port, **parts)
    )
    command = [find_program("nginx"), "-p", str(directory), "-c", str(file)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: _answers(url), "nginx answers")
        yield url
    finally:
        process.terminate()
        process.wait()


def _answers(url: str) -> bool:
    try:
        return HttpClient(url, keep_alive=False).request("GET", "/livez").ok
    except OSError:
        return False
