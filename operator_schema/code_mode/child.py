"""How does the child process of a `ProcessSandbox` run a program? It needs nothing but Python."""

from __future__ import annotations

import ast
import datetime as dt
import json
import linecache
import os
import random
import signal
import sys
import threading
import time
import traceback
from contextlib import suppress
from math import isfinite
from typing import Any

_MOST_LEVELS = 100
_MOST_BITS = 13_952
"""The most bits of a whole number, about 4,200 digits; Python doesn't write or read more than 4,300."""
_LONGEST_ERROR = 4_000
_LONGEST_PRINT = 4_096
"""The most characters of one message; the other process stores 100 messages while a tool runs."""
_FILE = "<program>"
_MEGABYTE = 2**20


def as_json(value: Any, levels: int = _MOST_LEVELS) -> Any:
    """Return a value of a program as a JSON value.

    Raises:
        TypeError: some part of it isn't a JSON value.
        ValueError: the value nests too deeply, or has a number that isn't JSON, or a text with a lone
            surrogate.
    """
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        message = "a whole number has 4,200 digits or more"
        raise ValueError(message)
    if isinstance(value, str):
        _check_characters(value)
        return value
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        if not isfinite(value):
            message = f"{value} isn't a number of JSON"
            raise ValueError(message)
        return value
    if levels == 0:
        message = f"a value nests more than {_MOST_LEVELS} levels deep"
        raise ValueError(message)
    if isinstance(value, (list, tuple, set, frozenset)):
        items: list[Any] = list(value)  # pyright: ignore[reportUnknownArgumentType]  # of whatever items
        if isinstance(value, (set, frozenset)):
            items.sort(key=repr)  # in the same order each time
        return [as_json(item, levels - 1) for item in items]
    if _has_names(value):
        return {as_json(key): as_json(item, levels - 1) for key, item in value.items()}
    if isinstance(value, (dt.date, dt.time)):  # a datetime is a date
        return value.isoformat()
    message = f"a value of class {ascii(type(value).__name__)[1:-1][:100]} isn't a JSON value"
    raise TypeError(message)


def _check_characters(text: str) -> None:
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = text[error.start].encode("ascii", "backslashreplace").decode()
        message = f"a text has a lone surrogate, {half}, which isn't a character"
        raise ValueError(message) from None


def exit_error(code: Any) -> str | None:
    """Return the error text of a program that ended itself with `SystemExit`; None if it ended well.

    Args:
        code: the code of the exception.
    """
    if code is None or (isinstance(code, int) and code == 0):
        return None
    try:
        shown = code if isinstance(code, str) else json.dumps(as_json(code))
    except (TypeError, ValueError):
        shown = type(code).__name__
    return f"it ended itself by SystemExit: {shown}"


def _has_names(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(key, str) for key in value)  # pyright: ignore[reportUnknownVariableType]  # of whatever keys


def _line(message: dict[str, Any]) -> bytes:
    return (json.dumps(message) + "\n").encode()


class _Channel:
    """A channel to the parent process, with messages as lines of JSON.

    Args:
        source: file descriptor to read from.
        sink: file descriptor to write to.
    """

    def __init__(self, source: int, sink: int) -> None:
        self._source = os.fdopen(source, "r", encoding="utf-8", newline="\n")
        self._sink = sink
        self._answered = threading.Condition()
        self._answer: dict[str, Any] | None = None
        self._calling = threading.Lock()
        self._writing = threading.Lock()

    def first(self) -> dict[str, Any]:
        """Read the first message."""
        message: dict[str, Any] = json.loads(self._source.readline())
        return message

    def listen(self) -> None:
        """Read the answers in a thread; if the parent process ends, end this one and its children."""
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, line: bytes) -> None:
        """Write a message; only one thread at a time writes."""
        with self._writing:
            while line:
                line = line[os.write(self._sink, line) :]

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Write a message, and wait for its answer."""
        with self._calling:
            self.send(_line(message))
            with self._answered:
                self._answered.wait_for(lambda: self._answer is not None)
                answer, self._answer = self._answer, None
        return answer or {}

    def _listen(self) -> None:
        with suppress(Exception):  # any error means the end
            for line in self._source:
                with self._answered:
                    self._answer = json.loads(line)
                    self._answered.notify_all()
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(0, signal.SIGKILL)
        os._exit(1)


class _Output:
    """Standard output and error of the program."""

    encoding = "utf-8"

    def __init__(self, channel: _Channel) -> None:
        self._channel = channel

    def write(self, text: str) -> int:
        for start in range(0, len(text), _LONGEST_PRINT):
            self._channel.send(_line({"printed": text[start : start + _LONGEST_PRINT]}))
        return len(text)

    def flush(self) -> None:
        """Do nothing, because everything is written at once."""

    def isatty(self) -> bool:
        return False


class _Unfinished:
    """A placeholder for the result of a call that waits for a person; code that uses it has to wait too."""

    __slots__ = ("_wait",)

    def __init__(self, wait: Any) -> None:
        object.__setattr__(self, "_wait", wait)


def _waits(name: str) -> Any:
    def wait(self: Any, *_: Any, **__: Any) -> Any:
        object.__getattribute__(self, "_wait")()

    wait.__name__ = name
    return wait


_USES = """
getattribute setattr delattr repr str bytes format bool hash eq ne lt le gt ge len iter next reversed
contains getitem setitem delitem call add radd sub rsub mul rmul matmul rmatmul truediv rtruediv floordiv
rfloordiv mod rmod divmod rdivmod pow rpow and rand or ror xor rxor lshift rlshift rshift rrshift neg pos
abs invert int float complex index round trunc floor ceil enter exit await aiter anext fspath dir
reduce_ex sizeof class_getitem instancecheck subclasscheck copy deepcopy
""".split()  # noqa: SIM905  # a list of words
for _name in _USES:
    setattr(_Unfinished, f"__{_name}__", _waits(_name))

_ERRORS: dict[str, type[Exception]] = {
    one.__name__: one
    for one in (NameError, PermissionError, RuntimeError, TimeoutError, TypeError, ValueError)
}
"""The exceptions that calls raise in the program."""


def _function(name: str, channel: _Channel, unfinished: _Unfinished) -> Any:
    def called(*args: Any, **kwargs: Any) -> Any:
        answer = channel.ask({"call": name, "args": as_json(args), "kwargs": as_json(kwargs)})
        if "error" in answer:
            kind, text = answer["error"]
            raise _ERRORS.get(kind, RuntimeError)(text)
        return unfinished if answer.get("unfinished") else answer["value"]

    called.__name__ = called.__qualname__ = name
    return called


def _stop_clocks(now: float) -> None:
    """Make all clocks show one fixed time, which is the same when the program runs again."""

    class Datetime(dt.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return cls.fromtimestamp(now, tz)

        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(now)

        @classmethod
        def utcnow(cls) -> Any:
            return cls.fromtimestamp(now, dt.UTC).replace(tzinfo=None)

    class Date(dt.date):
        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(now)

    Datetime.__name__, Date.__name__ = "datetime", "date"
    changed: Any = dt
    changed.datetime, changed.date = Datetime, Date
    _stop_module_clock(now, time)


def _stop_module_clock(now: float, clock: Any) -> None:
    localtime, gmtime, strftime, asctime = clock.localtime, clock.gmtime, clock.strftime, clock.asctime

    def local(seconds: float | None = None) -> Any:
        return localtime(now if seconds is None else seconds)

    def universal(seconds: float | None = None) -> Any:
        return gmtime(now if seconds is None else seconds)

    def text(moment: Any = None) -> Any:
        return asctime(local() if moment is None else moment)

    def ctime(seconds: float | None = None) -> Any:
        return asctime(local(seconds))

    def formatted(form: str, moment: Any = None) -> Any:
        return strftime(form, local() if moment is None else moment)

    clock.time, clock.time_ns = (lambda: now), (lambda: int(now * 1e9))
    clock.localtime, clock.gmtime, clock.asctime, clock.strftime = local, universal, text, formatted
    clock.ctime = ctime


def _seed(seed: str) -> None:
    """Seed all sources of random numbers, so that they are the same when the program runs again."""
    source = random.Random(seed)  # noqa: S311  # the same each time is what is asked for
    system: Any = os
    system.urandom = source.randbytes
    made: Any = random
    made._urandom = source.randbytes  # noqa: SLF001  # of SystemRandom, and so of secrets
    seeded = random.Random.seed

    def seed_it(self: Any, a: Any = None, version: int = 2) -> None:
        seeded(self, source.getrandbits(256) if a is None else a, version)

    made.Random.seed = seed_it
    made.seed = made.seed.__self__.seed
    made.seed(seed)
    sys.modules["_uuid"] = None  # type: ignore[assignment]  # for uuid.uuid1: the time of the system


def _end_with_parent(lifeline: int) -> None:
    """Make the system end the process group when the other end of a pipe is closed.

    The listening thread can't do this: it needs the interpreter lock, which a long match of `re` doesn't
    release.
    """
    try:
        import fcntl
    except ImportError:
        return  # Windows has no such signal
    with suppress(OSError):
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)


def _limit_memory(most: int) -> None:
    try:
        import resource
    except ImportError:
        return  # Windows has no such limit
    used = 32 * _MEGABYTE
    with suppress(OSError), open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123  # few imports
        used = int(file.read().split()[5]) * resource.getpagesize()
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_DATA, (used + most, used + most))


def _value_of(code: str, names: dict[str, Any]) -> Any:
    """Run a program; return the value of its last expression."""
    lines = code.splitlines(keepends=True)
    linecache.cache[_FILE] = len(code), None, lines, _FILE
    tree = ast.parse(code, _FILE)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, _FILE, "exec"), names)  # noqa: S102  # that is what it is for
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), _FILE, "eval"), names)  # noqa: S307  # as above


def _message_of_run(code: str, names: dict[str, Any]) -> bytes:
    """Run a program; return the message with its outcome."""
    try:
        return _line({"ended": as_json(_value_of(code, names))})
    except MemoryError as error:
        return _line({"failed": _traceback_of(error, names) if error.args else "memory"})
    except SystemExit as error:
        failed = exit_error(error.code)
        return _line({"ended": None} if failed is None else {"failed": failed})
    except BaseException as error:  # noqa: BLE001  # whatever the program raises is told
        return _line({"failed": _traceback_of(error, names)})


def _traceback_of(error: BaseException, names: dict[str, Any]) -> str:
    """Return the traceback of an error, with only the program's own frames."""
    report = traceback.TracebackException.from_exception(error, compact=True)
    frames = [frame for frame in report.stack if frame.filename == _FILE]
    report.stack[:] = frames
    text = "".join(report.format()).strip()
    if isinstance(error, NameError) and "Did you mean" not in text:  # Python 3.11 says it on terminals alone
        import difflib

        near = difflib.get_close_matches(str(error.name), names, 1)
        text += f". Did you mean: {near[0]!r}?" if near else ""
    half = _LONGEST_ERROR // 2
    return text if len(text) <= _LONGEST_ERROR else f"{text[:half]}\n…\n{text[-half:]}"


def main() -> None:
    """Run the program in the first message."""
    channel = _Channel(os.dup(0), os.dup(1))
    _end_with_parent(os.dup(2))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # so that programs started by this one can't read or write messages
        os.dup2(nothing, stream)
    given = channel.first()
    channel.listen()
    _seed(given["seed"])
    _stop_clocks(given["now"])
    output: Any = _Output(channel)
    sys.stdout = sys.stderr = output
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115  # as long as the process

    def wait() -> None:
        channel.send(_line({"uses": True}))
        threading.Event().wait()

    unfinished = _Unfinished(wait)
    names = {name: _function(name, channel, unfinished) for name in given["names"]}
    channel.send(_line({"ready": True}))
    _limit_memory(given["memory"])
    channel.send(_message_of_run(given["code"], {"__name__": "__main__", **names}))


if __name__ == "__main__":
    main()
