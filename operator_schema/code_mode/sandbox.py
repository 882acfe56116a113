"""Sandboxes for a model's programs: a protocol and two implementations, Monty and a Python process."""

from __future__ import annotations

import json
import re
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
from typing import TYPE_CHECKING, Any, Protocol

from ..immutable import Value
from ..json_values import is_object
from ..message_text import checked_path, clip, escape
from ..processes import kill_group
from .child import end_asked

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from os import PathLike


class Limits(Value):
    """The limits of a program.

    Attributes:
        seconds: how long it may compute; the time in which it waits for tools doesn't count.
        memory: bytes of memory.
        calls: number of calls of tools.
        output: bytes that it may print.
    """

    seconds: float
    memory: int
    calls: int
    output: int


class Request(Value):
    """A call that a program makes.

    Attributes:
        name: name of the function.
        args: its arguments without names.
        kwargs: its arguments by name.
    """

    name: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


class CallAnswer(Value):
    """The outcome of a call, for the program.

    Attributes:
        value: a JSON value.
        error: the error to raise in the program instead of returning the value; None if the call went well.
    """

    value: Any
    error: Exception | None = None


class Ended(Value):
    """The outcome of a program.

    Attributes:
        value: the value of its last expression, in any class that the sandbox uses.
        error: the reason why it ended early, for the model; None if it didn't.
    """

    value: Any
    error: str | None


class Program(Protocol):
    """A program that runs in a sandbox.

    It may have a method `ahead`, which continues like `step` but without the result of the last call: it
    returns the next call, or None if the program ends or needs a missing result. No other step follows. With
    this method, several waiting calls form one plan.
    """

    def step(self, answer: CallAnswer | None, /) -> Request | Ended:
        """Run until the next call, or to the end; callable in any thread, but only one at a time.

        Args:
            answer: the answer to the last call; None at the beginning.
        """
        ...

    def printed(self) -> str:
        """Return the text that it has printed so far."""
        ...

    def close(self) -> None:
        """End the program at any point; called once."""
        ...


class Sandbox(Protocol):
    """A runner of untrusted programs."""

    def start(
        self, code: str, names: Iterable[str], limits: Limits, /, *, seed: str, now: datetime
    ) -> Program:
        """Make a program, which runs with its first step.

        The same code, seed, time and answers have to make the same calls.

        Args:
            code: the code in Python.
            names: names of the functions that it may call.
            limits: the limits of the program. The sandbox enforces all but the number of calls.
            seed: the seed of random numbers.
            now: the time that the program sees.
        """
        ...


class Monty:
    """Runs programs in Monty, an interpreter for a subset of Python; it needs the extra `monty`.

    Each program runs in a process of its own, which has no files, network, environment or processes: there is
    only the language itself, a few modules of the standard library, and the tools.
    """

    def start(
        self, code: str, names: Iterable[str], limits: Limits, /, *, seed: str, now: datetime
    ) -> Program:
        """Make a program; see `Sandbox.start`.

        Raises:
            ImportError: the extra isn't installed.
        """
        return _MontyProgram(code, frozenset(names), limits, seed, now)


_LONGEST_ERROR = 4_000
_LONGEST_PROGRAM = 200_000
"""The most characters; an expression of more than twice as many overflows the stack of Monty's process."""

_UNFINISHED = "<coroutine external_future("
"""Monty's text for a result that isn't there yet."""

_EXITS = ("exit", "quit")
_GRACE = 5.0
_MORE_STEPS = 10
"""How many steps a program may take for each call, because looking up a name is a step too."""


class _MontyProgram:
    def __init__(self, code: str, names: frozenset[str], limits: Limits, seed: str, now: datetime) -> None:
        try:
            import pydantic_monty
        except ImportError:
            message = "to run programs in Monty, install the extra: pip install 'operator-schema[monty]'"
            raise ImportError(message) from None
        self._monty: Any = pydantic_monty
        self._code, self._names, self._limits = code, names, limits
        self._snapshot: Any = None
        self._output: Any = pydantic_monty.CollectString(limits.output)
        self._pool: Any = pydantic_monty.Monty(max_processes=1, request_timeout=limits.seconds + _GRACE)
        self._pool.__enter__()
        self._session: Any = self._pool.checkout(
            limits={
                "max_feed_duration_secs": limits.seconds,
                "max_memory": limits.memory,
                "max_suspensions": _MORE_STEPS * (limits.calls + 100),
            },
            os_policy={"datetime": now, "sleep": "zero", "random_start": {"seed": seed}},
        )
        self._session.__enter__()

    def step(self, answer: CallAnswer | None, /) -> Request | Ended:
        monty = self._monty
        try:
            if answer is None:
                if len(self._code) > _LONGEST_PROGRAM:
                    return Ended(None, _too_long(len(self._code)))
                self._snapshot = self._session.feed_start(self._code, print_callback=self._output)
            elif answer.error is None:
                self._snapshot = self._snapshot.resume({"return_value": answer.value})
            else:
                self._snapshot = self._snapshot.resume({"exception": answer.error})
            while not isinstance(self._snapshot, monty.MontyComplete):
                if self._is_call():
                    return self._ending() or self._request()
                self._snapshot = self._went_on()
            return Ended(self._snapshot.output, None)
        except monty.MontyError as error:
            raised = error.exception()
            if isinstance(raised, SystemExit):
                return Ended(None, _clean(end_asked(raised.code or None)))  # Monty has "" for no code
            return Ended(None, _error_text(error, self._limits))

    def ahead(self) -> Request | None:
        monty = self._monty
        with suppress(monty.MontyError):
            self._snapshot = self._snapshot.resume({"future": ...})
            while not isinstance(self._snapshot, (monty.MontyComplete, monty.FutureSnapshot)):
                if self._is_call():
                    found = self._request()
                    return None if _UNFINISHED in repr(found) else found
                self._snapshot = self._went_on()
        return None

    def _ending(self) -> Ended | None:
        """Return the end of the program, if the call is one of `exit` or `quit`, which Monty doesn't have."""
        found = self._snapshot
        if found.function_name not in _EXITS or found.function_name in self._names:
            return None
        return Ended(None, _clean(end_asked(next(iter(found.args), None))))

    def _request(self) -> Request:
        found = self._snapshot
        return Request(str(found.function_name), tuple(found.args), dict(found.kwargs))

    def _is_call(self) -> bool:
        found = self._snapshot
        return isinstance(found, self._monty.FunctionSnapshot) and not found.is_os_function

    def _went_on(self) -> Any:
        """Answer requests of Monty that aren't calls of a tool, until the next call or the end."""
        found = self._snapshot
        if isinstance(found, self._monty.FunctionSnapshot):
            return found.resume_not_handled()  # files and the like: there are none
        if isinstance(found, self._monty.NameLookupSnapshot) and found.variable_name in self._names:
            return found.resume(value=_function(found.variable_name))
        return found.resume()

    def printed(self) -> str:
        return str(self._output.output)

    def close(self) -> None:
        self._session.__exit__(None, None, None)
        self._pool.__exit__(None, None, None)


def _function(name: str) -> Any:
    def called(*_args: object, **_kwargs: object) -> None:
        """Stand in for a tool; Monty reads only its name."""

    called.__name__ = called.__qualname__ = name
    return called


_LIMIT_REACHED = re.compile(
    r"^(?:TimeoutError: feed time limit exceeded: .*"
    r"|MemoryError: memory limit exceeded: \d+ bytes > (\d+) bytes)\Z",
    re.MULTILINE,
)
"""Monty's message that a limit is reached: the last line, and the only one for the limit of output."""

_INTERNAL = "RuntimeError: Internal error in monty: "
"""The beginning of Monty's message that it lacks a part of Python, such as exceptions with a number."""


def _error_text(error: Any, limits: Limits) -> str:
    text = error.display() if hasattr(error, "display") else str(error)
    text = text.replace(_INTERNAL, "the interpreter can't do this: ")
    found = _LIMIT_REACHED.search(text)
    if found is not None:
        text = text[: found.start()] + _limit_text(found, limits)
    return _escaped_lines(text)


def _limit_text(found: re.Match[str], limits: Limits) -> str:
    most = found[1]
    if most is None:
        return _too_slow(limits)
    return _too_much(limits) if found.start() == 0 and int(most) == limits.output else _too_large(limits)


def _clean(text: str | None) -> str | None:
    return None if text is None else _escaped_lines(text)


def _escaped_lines(text: str) -> str:
    return "\n".join([escape(line) for line in clip(text, _LONGEST_ERROR).splitlines()])


def _too_long(length: int) -> str:
    return (
        f"the program has {length:,} characters, at most {_LONGEST_PROGRAM:,} are run: "
        "write it shorter, or get large data by calling a tool"
    )


def _too_slow(limits: Limits) -> str:
    return f"the program computed for more than {limits.seconds:g} seconds"


def _too_much(limits: Limits) -> str:
    return f"the program printed more than {limits.output:,} bytes"


def _too_large(limits: Limits) -> str:
    return f"the program needs more than {limits.memory:,} bytes of memory"


# --- a process -------------------------------------------------------------------------------------

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
            found = self._went_on({"value": answer.value})
        else:
            found = self._went_on({"error": [type(answer.error).__name__, str(answer.error)]})
        return found if found is not None else Ended(None, "a result isn't there yet")

    def ahead(self) -> Request | None:
        found = self._went_on({"unfinished": True})
        return found if isinstance(found, Request) else None

    def _went_on(self, message: Mapping[str, Any]) -> Request | Ended | None:
        """Answer the last call, within the program's remaining time, and read as `_until_call` does."""
        began = monotonic()
        is_sent = self._send(message, self._seconds)
        self._seconds -= monotonic() - began
        if is_sent:
            return self._until_call()
        self._kill()
        return Ended(None, _too_slow(self._limits))

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
                    return Ended(None, _too_slow(limits))
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
                return Ended(None, _too_large(limits) if told == "memory" else _escaped_lines(told))
            else:
                return None

    def _print(self, text: str) -> str | None:
        """Store printed text; return an error if it is too much, else None."""
        left = self._limits.output - self._bytes
        data = text.encode("utf-8", "backslashreplace")  # a lone surrogate isn't a character
        self._bytes += len(data)
        self._printed.append(data[: max(0, left)].decode("utf-8", "ignore"))
        return _too_much(self._limits) if len(data) > left else None

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
