"""Ask a model over HTTP, and keep what it answers, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

SERVER = Path(__file__).parent / "model_server.py"
LONGEST_ANSWER = 3600
"""Seconds: a model on a busy processor takes minutes for a long prompt."""

_FOR_LATER = {429, 503}
"""What a server answers that is busy or still loads its model."""


class Answers:
    """The answers of one model: a file with a line for each request that was ever sent.

    Args:
        path: the file; it is made if it isn't there. A line that is cut off, because the process was killed
            while it wrote, is as if it weren't there.
        model: an address such as `http://127.0.0.1:8080/v1`.
        name: what the server calls the model.
    """

    def __init__(self, path: Path, model: str, name: str) -> None:
        self.path, self.model, self.name = path, model, name
        self.lock = Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        written = path.read_bytes() if path.exists() else b""
        self.kept = dict(_rows(written))
        if written and not written.endswith(b"\n"):
            path.write_bytes(written + b"\n")

    def ask(self, **body: Any) -> Any:
        """Return what the model answers: the JSON of a chat completion, or of an error.

        Raises:
            OSError: the server can't be reached, or is busy.
        """
        request = {"model": self.name, "temperature": 0, "max_tokens": 300, **body}
        key = hashlib.sha256(_with_plain_ids(json.dumps(request, sort_keys=True)).encode()).hexdigest()
        if key not in self.kept:
            answer = _posted(f"{self.model}/chat/completions", request)
            with self.lock, self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, "answer": answer}) + "\n")
            self.kept[key] = answer
        return self.kept[key]


def _with_plain_ids(request: str) -> str:
    """Return the JSON of a request with ids of calls that are the same in each run."""
    named: dict[str, str] = {}

    def plain(found: re.Match[str]) -> str:
        return f'{found[1]}"{named.setdefault(found[2], f"c{len(named) + 1}")}"'

    return re.sub(r'("(?:tool_call_)?id": )"([^"\\]+)"', plain, request)


def _rows(written: bytes) -> Iterator[tuple[str, Any]]:
    for line in written.splitlines():
        with suppress(ValueError):
            row = json.loads(line)
            yield row["key"], row["answer"]


def _posted(address: str, body: Any) -> Any:
    status, text = _sent("POST", address, json.dumps(body))
    if status in _FOR_LATER:
        raise OSError(f"{address} answers {status}: {text[:200]}")
    try:
        return json.loads(text)
    except ValueError:
        return {"error": {"message": f"{status}: {text[:200]}"}}


def _sent(method: str, address: str, body: str | None = None) -> tuple[int, str]:
    parts = urlsplit(address)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.netloc, timeout=LONGEST_ANSWER)
    try:
        connection.request(method, parts.path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.read().decode(errors="replace")
    finally:
        connection.close()


def name_at(address: str) -> str:
    """Return what a server calls the first model that it has; an empty text if it doesn't say."""
    status, text = _sent("GET", f"{address}/models")
    try:
        return str(json.loads(text)["data"][0]["id"]) if status == 200 else ""
    except (ValueError, LookupError, TypeError):
        return ""


@contextmanager
def serving(model: Path, at_once: int) -> Iterator[str]:
    """Run a server for a model's file, in a process group of its own; return its address.

    It takes one thread, at a low priority: other work on the machine goes first.
    """
    command = [sys.executable, str(SERVER), str(model), str(at_once)]
    waiting = {**os.environ, "OMP_WAIT_POLICY": "passive"}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=waiting, start_new_session=True
    ) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().decode().strip()
            if not address:
                raise OSError(f"the server ended before it had loaded {model}")
            yield f"{address}/v1"
        finally:
            process.terminate()
