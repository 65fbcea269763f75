"""A reverse proxy that publishes a service below a path prefix."""

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.http_client import BROKEN, HttpClient

# Headers of one connection only, and the length, which an interrupted stream would belie.
HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length"}


@contextmanager
def below_prefix(
    url: str,
    prefix: str,
    loses: Callable[[str, str], bool] = lambda method, path: False,
    others: Sequence[str] = (),
) -> Iterator[str]:
    """Publish the service at `url` below a prefix, and yield its new URL.

    Below each of the `others` it is on the same host, like another service.
    `loses(method, path)` tells whether the connection breaks when the service has answered.
    """

    client = HttpClient(url, keep_alive=False)

    class Proxy(BaseHTTPRequestHandler):
        def forward(self) -> None:
            prefixes = (prefix, *others)
            asked = next((each for each in prefixes if self.path.startswith(f"{each}/")), None)
            if asked is None:
                self.send_error(404)
                return
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name: value for name, value in self.headers.items() if name != "Host"}
            path = self.path.removeprefix(asked)
            if self.command == "GET":  # which may be a stream
                answer = client.open("GET", path, headers=headers)
            else:
                answer = client.request(self.command, path, data=body, headers=headers)
            if loses(self.command, path):
                return
            self.send_response(answer.status_code)
            for name, value in answer.headers.items():
                if name.lower() not in HOP_BY_HOP:
                    self.send_header(name, value)
            # The end of the connection is the end of the body: a stream passes as it comes.
            self.send_header("Connection", "close")
            self.end_headers()
            if self.command != "GET":
                self.wfile.write(answer.content)
                return
            with answer, contextlib.suppress(*BROKEN):  # a stream is closed at either end
                for chunk in answer.chunks():
                    self.wfile.write(chunk)

        do_GET = do_POST = forward  # noqa: N815

        def log_message(self, *_: Any) -> None:
            """Write no log."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}{prefix}"
        server.shutdown()
