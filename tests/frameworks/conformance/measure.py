"""Run the protocol's conformance tests on our server, gateway and client, and on the SDK's and FastMCP's.

What isn't expected to pass is in `Server.missing`, with the reason. Anything else that fails, and anything
there that passes, ends this program with 1. `--write` updates the tables of docs/mcp.md.
"""

from __future__ import annotations

import argparse
import re
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from npm_programs import installed_from_npm

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PACKAGE = "@modelcontextprotocol/conformance"


class Suite(NamedTuple):
    """A list of scenarios.

    Attributes:
        label: for the table.
        release: of the package that has it.
        server: options for the scenarios of a server.
        client: options for one scenario of a client.
        client_scenarios: all of the list but those of OAuth: our client takes a connection that its program
            has made.
    """

    label: str
    release: str
    server: tuple[str, ...]
    client: tuple[str, ...]
    client_scenarios: tuple[str, ...]


_OF_2025 = ("initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry")
SUITES = (
    Suite("all of 0.1.16", "0.1.16", ("--suite", "active"), (), _OF_2025),
    Suite(
        "required by 2025-11-25",
        "0.2.0-alpha.12",
        ("--requirements", "2025-11-25"),
        ("--spec-version", "2025-11-25"),
        _OF_2025,
    ),
    Suite(
        "required by 2026-07-28",
        "0.2.0-alpha.12",
        ("--requirements", "2026-07-28"),
        ("--spec-version", "2026-07-28"),
        (
            "tools_call",
            "request-metadata",
            "sep-2322-client-request-state",
            "http-standard-headers",
            "http-custom-headers",
            "http-invalid-tool-headers",
            "json-schema-ref-no-deref",
        ),
    ),
)
"""0.1.16 is the last stable release, and knows nothing of 2026-07-28."""


class Server(NamedTuple):
    """What is measured.

    Attributes:
        label: for the table.
        words: of the command, but the port.
        missing: scenario that isn't expected to pass to the reason; None for what isn't ours to expect.
    """

    label: str
    words: tuple[str, ...]
    missing: dict[str, str] | None


SERVERS = (
    Server("our server", ("our_server.py",), {}),
    Server("our gateway, before our server over standard input", ("gateway.py",), {}),
    Server(f"`MCPServer` of mcp {version('mcp')}", ("peer_server.py", "sdk"), None),
    Server(f"FastMCP {version('fastmcp')}", ("peer_server.py", "fastmcp"), None),
)
CLIENTS = {
    "our client": "ours",
    f"`Client` of mcp {version('mcp')}": "sdk",
    f"FastMCP {version('fastmcp')}": "fastmcp",
}


class Count(NamedTuple):
    """Which scenarios of a list pass, and which don't."""

    passed: tuple[str, ...]
    failed: tuple[str, ...]

    @classmethod
    def of(cls, found: dict[str, bool]) -> Count:
        """Sort scenarios by whether they passed."""
        passed, failed = (
            tuple(sorted(name for name in found if found[name] is is_good)) for is_good in (True, False)
        )
        return cls(passed, failed)

    def __str__(self) -> str:
        """Return what the table shows."""
        return f"{len(self.passed)} of {len(self.passed) + len(self.failed)}"


def program(release: str) -> Path:
    """Install the conformance tests, and return their program."""
    script = installed_from_npm(PACKAGE, release) / "node_modules" / PACKAGE / "dist" / "index.js"
    # Node.js has `globSync` from 22 on; these scenarios don't use it.
    text = re.sub(r"\bglobSync as (\w+),", r"readdirSync as \1,", script.read_text(encoding="utf-8"))
    script.write_text(text, encoding="utf-8")
    return script


@contextmanager
def running(words: tuple[str, ...]) -> Iterator[str]:
    """Start a server on a free port; yield its URL."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, *words, str(port)],
        cwd=HERE,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(port, process)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(120)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    message = f"the server ended with {process.returncode}"
    raise RuntimeError(message)


_LINE = re.compile(r"^\S+ ([\w-]+): (\d+) passed, (\d+) failed", re.MULTILINE)
_UNSCORED = re.compile(r"^  \S+ ([\w-]+) \([\w-]+\)$", re.MULTILINE)


def measured_server(server: Server, suite: Suite) -> Count:
    """Run the scenarios of a list on a server.

    Raises:
        RuntimeError: the scenarios didn't run.
    """
    with running(server.words) as url:
        said = _said(suite, "server", "--url", url, *suite.server)
    unscored = set(_UNSCORED.findall(said))
    found = {name: int(failed) == 0 for name, _, failed in _LINE.findall(said) if name not in unscored}
    if not found:
        raise RuntimeError(said)
    return Count.of(found)


def measured_client(library: str, suite: Suite) -> Count:
    """Run the scenarios of a list on a client, one after the other.

    Raises:
        RuntimeError: a scenario didn't run.
    """
    words = f"env PYTHONPATH={ROOT} {sys.executable} {HERE / 'client.py'} {library}"
    found: dict[str, bool] = {}
    for scenario in suite.client_scenarios:
        said = _said(suite, "client", "--command", words, "--scenario", scenario, *suite.client)
        if "OVERALL:" not in said:
            raise RuntimeError(said)
        found[scenario] = "OVERALL: PASSED" in said
    return Count.of(found)


def _said(suite: Suite, *words: str) -> str:
    """Return what the conformance tests write."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["node", program(suite.release), *words],  # noqa: S607  # of whoever runs it
            cwd=folder,
            capture_output=True,
            check=False,
            text=True,
            timeout=300,
        )
    return done.stdout + done.stderr


def unexpected(label: str, count: Count, missing: dict[str, str]) -> list[str]:
    """Return what is otherwise than expected, one line each."""
    failing = [f"{label}: {name} fails" for name in count.failed if name not in missing]
    return failing + [
        f"{label}: {name} passes, and is listed as missing" for name in count.passed if name in missing
    ]


Table = dict[str, dict[str, Count]]


def table(rows: Table, heading: str) -> str:
    """Return a table of counts: a row for each subject, a column for each list."""
    labels = [suite.label for suite in SUITES]
    lines = [f"| {heading} | {' | '.join(labels)} |", "|---" * (len(labels) + 1) + "|"]
    lines += [
        f"| {row} | {' | '.join(str(counts[label]) for label in labels)} |" for row, counts in rows.items()
    ]
    return "\n".join(lines)


def main() -> int:
    """Measure, print, and return the status of this program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="update docs/mcp.md")
    parser.add_argument("--own", action="store_true", help="only our server, gateway and client")
    given = parser.parse_args()
    wrong: list[str] = []
    servers: Table = {}
    for server in SERVERS:
        if given.own and server.missing is None:
            continue
        servers[server.label] = {suite.label: measured_server(server, suite) for suite in SUITES}
        wrong += _told(server.label, servers[server.label], server.missing)
    clients: Table = {}
    for label, library in CLIENTS.items():
        if given.own and library != "ours":
            continue
        clients[label] = {suite.label: measured_client(library, suite) for suite in SUITES}
        wrong += _told(label, clients[label], {} if library == "ours" else None)
    if given.write:
        _write(f"{table(servers, 'server')}\n\n{table(clients, 'client')}")
    print(*wrong, sep="\n")
    return bool(wrong)


def _told(label: str, counts: dict[str, Count], missing: dict[str, str] | None) -> list[str]:
    """Print what was counted; return what is otherwise than expected."""
    for name, count in counts.items():
        print(f"{label}, {name}: {count}; not: {', '.join(count.failed) or 'none'}", flush=True)
    if missing is None:
        return []
    return [line for count in counts.values() for line in unexpected(label, count, missing)]


_TABLES = re.compile(r"(?<=<!-- conformance -->\n).*(?=<!-- end of conformance -->)", re.DOTALL)


def _write(text: str) -> None:
    page = ROOT / "docs" / "mcp.md"
    before = page.read_text(encoding="utf-8")
    page.write_text(_TABLES.sub(lambda _: f"\n{text}\n\n", before), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
