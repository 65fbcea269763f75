"""Free TCP ports on loopback."""

import socket


def free_port(*, for_cluster: bool = False) -> int:
    """Return a port that is free now. A cluster node also takes the one 10,000 above it."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port: int = taken.getsockname()[1]
        if not for_cluster:
            return port
        # Both are below the ports from which the system takes those of outgoing connections.
        port = 10000 + port % 12000
        if _is_free(port) and _is_free(port + 10000):
            return port


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) != 0
