"""How does a program run in Monty, an interpreter for a subset of Python?"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .child import exit_error
from .sandbox import Ended, Request, error_lines, too_much_memory_text, too_much_printed_text, too_slow_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from .sandbox import CallAnswer, Limits, Program


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
            request = self._next_call()
            return Ended(self._snapshot.output, None) if request is None else self._ending() or request
        except monty.MontyError as error:
            raised = error.exception()
            if isinstance(raised, SystemExit):
                return _exited(raised.code or None)  # Monty has "" for no code
            return Ended(None, _error_text(error, self._limits))

    def ahead(self) -> Request | None:
        with suppress(self._monty.MontyError):
            self._snapshot = self._snapshot.resume({"future": ...})
            request = self._next_call(self._monty.FutureSnapshot)
            return None if _UNFINISHED in repr(request) else request
        return None

    def _next_call(self, *ends: Any) -> Request | None:
        """Go on to the next call; return None at the end of the program, or at one of the given snapshots."""
        monty = self._monty
        while not isinstance(self._snapshot, (monty.MontyComplete, *ends)):
            found = self._snapshot
            if isinstance(found, monty.FunctionSnapshot) and not found.is_os_function:
                return Request(str(found.function_name), tuple(found.args), dict(found.kwargs))
            self._snapshot = self._continued()
        return None

    def _ending(self) -> Ended | None:
        """Return the end of the program, if the call is one of `exit` or `quit`, which Monty doesn't have."""
        found = self._snapshot
        if found.function_name not in _EXITS or found.function_name in self._names:
            return None
        return _exited(next(iter(found.args), None))

    def _continued(self) -> Any:
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
    return error_lines(text)


def _limit_text(found: re.Match[str], limits: Limits) -> str:
    most = found[1]
    if most is None:
        return too_slow_text(limits)
    return (
        too_much_printed_text(limits)
        if found.start() == 0 and int(most) == limits.output
        else too_much_memory_text(limits)
    )


def _exited(code: object) -> Ended:
    """Return the end of a program that ended itself, as with `exit(code)`."""
    error = exit_error(code)
    return Ended(None, None if error is None else error_lines(error))


def _too_long(length: int) -> str:
    return (
        f"the program has {length:,} characters, at most {_LONGEST_PROGRAM:,} are run: "
        "write it shorter, or get large data by calling a tool"
    )
