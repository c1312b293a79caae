"""Where a server listens, and who stands before it."""

from __future__ import annotations

import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path

from schemas.errors import UsageError


@dataclass(frozen=True)
class Listening:
    """Where a server listens.

    Attributes:
        host: address to listen on.
        port: port to listen on.
        certificate: TLS certificate (PEM); none for plain HTTP.
        key: its key (PEM).
        proxy: address of the proxy before it, which names the callers; none where callers connect themselves.
        metrics_port: port of this host on which Prometheus reads how its calls went; none for no such port.
    """

    host: str
    port: int
    certificate: str | None = None
    key: str | None = None
    proxy: str | None = None
    metrics_port: int | None = None

    @property
    def address(self) -> str:
        """The address of the server, with its scheme."""
        shown_host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.certificate else 'http'}://{shown_host}:{self.port}"

    @property
    def is_readable(self) -> bool:
        """Whether what is sent can be read on its way: it leaves this machine without TLS."""
        return not (self.certificate or self.proxy or is_loopback(self.host))

    def check_files(self) -> None:
        """Pass when the files that it names are a certificate and its key; raises UsageError."""
        for option, file in (("--certificate", self.certificate), ("--certificate-key", self.key)):
            if file and not Path(file).is_file():
                raise UsageError(f"The file {file} of {option} does not exist.")
        if self.key and not self.certificate:
            raise UsageError("--certificate-key goes with --certificate: name that, too.")
        if self.certificate:
            asked: list[str] = []

            def note_asked() -> str:
                asked.append("")
                return ""

            try:
                ssl.create_default_context().load_cert_chain(self.certificate, self.key, note_asked)
            except (OSError, ValueError):
                # Of a key with a password the server asks for it when it starts.
                if not asked:
                    raise UsageError(
                        f"{self.certificate} and {self.key or 'no further file'} are no certificate with its key, both as PEM. Correct "
                        "--certificate and --certificate-key."
                    ) from None


def is_loopback(host: str) -> bool:
    """Whether an address to listen on is reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
