"""The certificates that a gateway trusts: read once, shared by its connections, and still checked."""

from __future__ import annotations

import datetime as dt
import json
import ssl
import threading
from contextlib import contextmanager
from ipaddress import ip_address
from socket import create_server

import anyio
import httpcore2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from operator_schema.adapters.mcp.gateway import Gateway, ServerBehind
from operator_schema.workbench.cli.gateway_config import servers_in
from operator_schema.workbench.cli.gateway_opening import open_servers
from operator_schema.workbench.cli.module_loading import WrongUse

pytestmark = [pytest.mark.needs_threads, pytest.mark.needs_process]
REFUSED = b"HTTP/1.1 418 I'm a teapot\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


@pytest.fixture(scope="module")
def certified(tmp_path_factory):
    """Make a key and a certificate of 127.0.0.1 that nobody but itself has signed; return their file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a test")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    path = tmp_path_factory.mktemp("certificates") / "own.pem"
    own = key.private_bytes(serialization.Encoding.PEM, form, plain)
    path.write_bytes(own + made.public_bytes(serialization.Encoding.PEM))
    return path


@contextmanager
def listening(certified):
    """Serve TLS; yield the port, and a list of the first lines of requests, all of which are refused."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certified)
    asked = []

    def serve():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:  # it is closed
                return
            try:
                with context.wrap_socket(connection, server_side=True) as stream:
                    asked.append(stream.recv(65536).split(b"\r\n")[0])
                    stream.sendall(REFUSED)
            except OSError:  # the client refuses the certificate
                continue

    with create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1], asked


def reasons(servers):
    """Connect to servers, none of which can be reached; return why, by their names."""
    found = {}

    async def connect():
        async with Gateway(servers, unreachable=lambda name, error: found.update({name: error})):
            pass

    with pytest.raises(ConnectionError):
        anyio.run(connect)
    return {name: str(error) for name, error in found.items()}


def test_a_certificate_that_nobody_trusts_is_refused(certified, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with listening(certified) as (port, asked):
        found = reasons({"a": f"https://127.0.0.1:{port}/mcp", "b": f"https://127.0.0.1:{port}/mcp"})
    assert len(found) == 2
    assert all("certificate verify failed" in reason for reason in found.values()), found
    assert asked == []


def test_a_certificate_of_another_name_is_refused(certified, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certified))
    with listening(certified) as (port, asked):
        (reason,) = reasons({"a": f"https://localhost:{port}/mcp"}).values()
        assert "certificate verify failed" in reason
        assert asked == []
        (reason,) = reasons({"a": f"https://127.0.0.1:{port}/mcp"}).values()
    assert "certificate" not in reason
    assert asked


@pytest.fixture
def reads(monkeypatch):
    """List the certificates that were read."""
    found = []
    read = httpcore2.default_ssl_context

    def counted(**options):
        found.append(read(**options))
        return found[-1]

    monkeypatch.setattr(httpcore2, "default_ssl_context", counted)
    return found


def test_a_gateway_reads_the_certificates_once(reads):
    nowhere = "http://127.0.0.1:9/mcp"
    assert len(reasons({"a": nowhere, "b": ServerBehind(nowhere, seconds=30), "c": nowhere})) == 3
    assert len(reads) == 1
    assert reads[0].verify_mode == ssl.CERT_REQUIRED
    assert reads[0].check_hostname
    reasons({"a": nowhere})
    assert len(reads) == 2


class Quiet:
    """Standard error, of which nothing is shown."""

    def report(self, place, text):
        pass

    def flush(self):
        pass


def test_the_gateway_of_the_command_line_reads_them_once_too(reads, tmp_path):
    entry = {"url": "http://127.0.0.1:9/mcp", "headers": {"X-Key": "hush"}}
    file = tmp_path / "servers.json"
    file.write_text(json.dumps({"mcpServers": {"a": entry, "b": entry}}))

    async def connect():
        async with open_servers(servers_in(str(file)), Quiet()):
            pass

    with pytest.raises(WrongUse, match="can be reached"):
        anyio.run(connect)
    assert len(reads) == 1
