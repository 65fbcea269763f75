"""Certificates for TLS, made by openssl."""

import subprocess
from pathlib import Path


class Authority:
    """A certificate authority in a directory of its own."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir()
        self._directory = directory
        self.certificate = directory / "ca.pem"
        self._key = directory / "ca.key"
        _openssl(
            *("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=proof"),
            *("-keyout", str(self._key), "-out", str(self.certificate)),
            *("-addext", "basicConstraints=critical,CA:TRUE"),
            *("-addext", "keyUsage=critical,keyCertSign"),
        )

    def certify(self, host: str) -> tuple[Path, Path]:
        """Return the paths of a certificate for an IP address or a host name, and of its key."""
        key, request = self._directory / "server.key", self._directory / "server.csr"
        certificate, extra = self._directory / "server.pem", self._directory / "server.ext"
        kind = "DNS" if any(each.isalpha() for each in host) else "IP"
        extra.write_text(f"subjectAltName={kind}:{host}\nauthorityKeyIdentifier=keyid,issuer\n")
        _openssl(
            *("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=store"),
            *("-keyout", str(key), "-out", str(request)),
        )
        _openssl(
            *("x509", "-req", "-in", str(request), "-days", "2", "-extfile", str(extra)),
            *("-CA", str(self.certificate), "-CAkey", str(self._key), "-CAcreateserial"),
            *("-out", str(certificate)),
        )
        return certificate, key


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)
