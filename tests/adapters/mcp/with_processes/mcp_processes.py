"""Start servers in processes of their own, as their users do."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import contextmanager
from pathlib import Path

import warm_processes
from mcp import StdioServerParameters
from patience import LONGEST_WAIT

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[3]


def environment(**more):
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", **more}


def command(*words):
    """Return the words that start a server."""
    return [*warm_processes.command(serves=True), "serve", *words]


def over_stdio(*words, folder=HERE):
    program, *arguments = command(*words)
    return StdioServerParameters(command=program, args=arguments, cwd=folder, env=environment())


def run(*words, folder=HERE, **more):
    """Run a command that ends by itself."""
    return subprocess.run(  # noqa: PLW1510  # the tests look at the status
        command(*words),
        cwd=folder,
        env=environment(**more),
        capture_output=True,
        text=True,
        timeout=LONGEST_WAIT,
    )


class Raw:
    """A client that speaks in lines."""

    def __init__(self, process):
        self.process = process

    def send(self, *messages):
        for message in messages:
            data = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def receive(self):
        return json.loads(self.process.stdout.readline())

    def begin(self):
        opening = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"},
        }
        self.send(
            request(0, "initialize", opening), {"jsonrpc": "2.0", "method": "notifications/initialized"}
        )
        return self.receive()["result"]

    def call(self, number, name, **arguments):
        self.send(request(number, "tools/call", {"name": name, "arguments": arguments}))


def request(number, method, params=None):
    return {"jsonrpc": "2.0", "id": number, "method": method, **({"params": params} if params else {})}


@contextmanager
def raw_server(*words, folder=HERE, program=None):
    process = subprocess.Popen(
        program or command(*words),
        cwd=folder,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield Raw(process)
    finally:
        end(process)


def said_at_the_start(*words, folder):
    """Return what a server writes to standard error until a client has greeted it and left."""
    with raw_server(*words, folder=folder) as raw:
        raw.begin()
        raw.process.stdin.close()
        assert raw.process.wait(LONGEST_WAIT) == 0
        return raw.process.stderr.read().decode()


@contextmanager
def http_server(*words, folder=HERE, port=0, **more):
    """Start a server, and yield its URL and its process; what it says is in `process.said` afterwards."""
    process = subprocess.Popen(
        command("--http", "--port", str(port), *words),
        cwd=folder,
        env=environment(**more),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    said = []
    try:
        for line in process.stderr:
            said.append(line)
            if " on http://" in line:
                break
        yield said[-1].split()[-1], process
    finally:
        process.terminate()
        said.append(process.stderr.read())
        end(process)
        process.said = "".join(said)


def end(process):
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(LONGEST_WAIT)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()
