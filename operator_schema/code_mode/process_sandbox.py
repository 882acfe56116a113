"""How does a program that you trust run in a Python process of its own?

`child.py` is the other half: the main module of that process.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from hashlib import sha256
from io import BufferedReader
from os import environ
from pathlib import Path
from queue import Empty, Full, Queue
from tempfile import TemporaryDirectory
from threading import Event, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..json_values import is_object
from ..message_text import checked_path
from ..processes import kill_group
from .sandbox import Ended, Request, error_lines, too_much_memory_text, too_much_printed_text, too_slow_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from os import PathLike

    from .sandbox import CallAnswer, Limits, Program

_SECONDS_TO_START = 60.0
_SECONDS_TO_END = 2.0
_LONGEST_MESSAGE = 10_000_000
"""The most bytes of one call, or of the value of a program."""

_SURELY_TAKEN = 4_096
"""Bytes that an empty pipe surely takes at once. The pipe is empty, because a process that asks has read all
answers."""

_KEPT = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH")
"""Environment variables that Python and the programs that it starts may need."""


class ProcessSandbox:
    """Runs programs that you trust, each in its own Python process.

    It protects against mistakes, not against attacks: a malicious program can read and change whatever you
    can. It has a new folder of its own, which is deleted with it, and of your environment only `PATH`,
    `SYSTEMROOT` and `LD_LIBRARY_PATH`; its time, memory, output and messages are bounded. Everything it has
    started ends with it, except processes in a session of their own (`start_new_session=True`).

    Args:
        python: path of the interpreter; None for the one that runs here.

    Raises:
        TypeError: `python` isn't a path.
    """

    def __init__(self, python: str | PathLike[str] | None = None, /) -> None:
        self._python = (
            sys.executable if python is None else checked_path("the path of an interpreter", python)
        )

    def start(
        self, code: str, names: Iterable[str], limits: Limits, /, *, seed: str, now: datetime
    ) -> Program:
        """Make a program; see `Sandbox.start`.

        Raises:
            OSError: the interpreter can't be started.
        """
        return _ProcessProgram(self._python, code, [*names], limits, seed, now)


class _ProcessProgram:
    def __init__(
        self, python: str, code: str, names: list[str], limits: Limits, seed: str, now: datetime
    ) -> None:
        self._limits = limits
        self._printed: list[str] = []
        self._bytes = 0
        self._seconds = limits.seconds
        """The remaining seconds."""
        self._first: Mapping[str, Any] = {
            "code": code, "names": names, "seed": seed, "now": now.timestamp(), "memory": limits.memory,
        }  # fmt: skip
        self._folder = TemporaryDirectory(prefix="program-", ignore_cleanup_errors=True)
        own = {"HOME": self._folder.name, "TMPDIR": self._folder.name, "TEMP": self._folder.name}
        number = int.from_bytes(sha256(seed.encode()).digest()[:4], "big")
        kept = {name: environ[name] for name in _KEPT if name in environ}
        self._process: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603  # that is what it is for
            [python, "-s", "-P", "-B", "-X", "utf8", str(Path(__file__).with_name("child.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,  # nothing is written to it: its end tells that this process is gone
            bufsize=0,
            env={**kept, **own, "PYTHONHASHSEED": str(number)},
            cwd=self._folder.name,
            start_new_session=True,
        )
        self._lines: Queue[bytes] = Queue(100)
        self._is_over = Event()
        self._killing = Lock()
        Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        """Pass on the messages, in a thread; an empty one means the end."""
        stream: Any = self._process.stdout
        with BufferedReader(stream) as lines:
            line = b"."
            while line and not self._is_over.is_set():
                line = lines.readline(_LONGEST_MESSAGE)
                self._put(line)

    def _put(self, line: bytes) -> None:
        while not self._is_over.is_set():
            with suppress(Full):
                self._lines.put(line, timeout=1.0)
                return

    def step(self, answer: CallAnswer | None, /) -> Request | Ended:
        if answer is None:
            self._send(self._first, _SECONDS_TO_START)
            if self._next(_SECONDS_TO_START) != {"ready": True}:
                return Ended(None, self._why_gone())
            found = self._until_call()
        elif answer.error is None:
            found = self._continued({"value": answer.value})
        else:
            found = self._continued({"error": [type(answer.error).__name__, str(answer.error)]})
        return found if found is not None else Ended(None, "a result isn't there yet")

    def ahead(self) -> Request | None:
        found = self._continued({"unfinished": True})
        return found if isinstance(found, Request) else None

    def _continued(self, message: Mapping[str, Any]) -> Request | Ended | None:
        """Answer the last call, within the program's remaining time, and read as `_until_call` does."""
        began = monotonic()
        is_sent = self._send(message, self._seconds)
        self._seconds -= monotonic() - began
        if is_sent:
            return self._until_call()
        self._kill()
        return Ended(None, too_slow_text(self._limits))

    def printed(self) -> str:
        return "".join(self._printed)

    def close(self) -> None:
        self._is_over.set()
        self._kill()
        with suppress(Empty):
            while True:
                self._lines.get_nowait()
        self._lines.put(b"")  # for a step that still waits in its thread; there is room for 100
        for stream in (self._process.stdin, self._process.stderr):
            if stream is not None:
                stream.close()
        self._folder.cleanup()

    def _kill(self) -> None:
        with self._killing:  # two threads may be here, and one has waited for it already
            if self._process.returncode is not None:
                return
            kill_group(self._process)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_SECONDS_TO_END)

    def _send(self, message: Mapping[str, Any], seconds: float) -> bool:
        """Write a message; return whether the program took it in time."""
        line = json.dumps(message).encode() + b"\n"
        if len(line) <= _SURELY_TAKEN:
            self._write(line)
            return True
        writer = Thread(target=self._write, args=(line,), daemon=True)
        writer.start()
        writer.join(max(0.0, seconds))
        return not writer.is_alive()

    def _write(self, line: bytes) -> None:
        stream = self._process.stdin
        assert stream is not None  # noqa: S101  # it is a pipe
        with suppress(OSError, ValueError):  # it has ended, which the missing answer shows
            while line:
                line = line[stream.write(line) :]

    def _until_call(self) -> Request | Ended | None:
        """Read until the next call or the end; return None if the program needs a missing result."""
        limits = self._limits
        while True:
            began = monotonic()
            message = self._next(self._seconds)
            self._seconds -= monotonic() - began
            if message is None:
                if self._seconds <= 0:
                    return Ended(None, too_slow_text(limits))
                return Ended(None, self._why_gone())
            if "printed" in message:
                error = self._print(str(message["printed"]))
                if error is not None:
                    return Ended(None, error)
            elif "call" in message:
                return Request(message["call"], tuple(message["args"]), message["kwargs"])
            elif "ended" in message:
                return Ended(message["ended"], None)
            elif "failed" in message:
                told = message["failed"]
                return Ended(None, too_much_memory_text(limits) if told == "memory" else error_lines(told))
            else:
                return None

    def _print(self, text: str) -> str | None:
        """Store printed text; return an error if it is too much, else None."""
        left = self._limits.output - self._bytes
        data = text.encode("utf-8", "backslashreplace")  # a lone surrogate isn't a character
        self._bytes += len(data)
        self._printed.append(data[: max(0, left)].decode("utf-8", "ignore"))
        return too_much_printed_text(self._limits) if len(data) > left else None

    def _next(self, seconds: float) -> dict[str, Any] | None:
        """Return the next message; None if none arrives in time, or it isn't a valid message."""
        try:
            line = self._lines.get(timeout=max(0.0, seconds))
            if len(line) == _LONGEST_MESSAGE:
                return {"failed": f"a call, or the value of the program, has more than {len(line):,} bytes"}
            message = json.loads(line)
        except (Empty, ValueError):
            return None
        return message if is_object(message) else None

    def _why_gone(self) -> str:
        self._kill()
        return f"the process of the program ended early, with the exit status {self._process.returncode}"
