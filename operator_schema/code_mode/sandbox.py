"""What runs a program of a model: a protocol, and the interpreter Monty behind it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol

from ..immutable import Value
from ..message_text import clip, escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

__all__ = ["Answer", "Ended", "Limits", "Monty", "Program", "Request", "Sandbox"]


class Limits(Value):
    """What a program may use.

    Attributes:
        seconds: that it may compute; time in which it waits for tools doesn't count.
        memory: bytes.
        calls: of tools.
        output: bytes that it may print.
    """

    seconds: float
    memory: int
    calls: int
    output: int


class Request(Value):
    """A call that a program makes.

    Attributes:
        name: of the function.
        args: its arguments without names.
        kwargs: its arguments by name.
    """

    name: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


class Answer(Value):
    """What comes of a call, for the program.

    Attributes:
        value: a JSON value.
        error: what is raised in the program in place of the value; None if the call went well.
    """

    value: Any
    error: Exception | None = None


class Ended(Value):
    """What came of a program.

    Attributes:
        value: of its last expression; of whatever class the sandbox has for it.
        error: why it ended early, for the model; None if it didn't.
    """

    value: Any
    error: str | None


class Program(Protocol):
    """A program that runs in a sandbox."""

    def step(self, answer: Answer | None, /) -> Request | Ended:
        """Run until the next call, or to the end; called in any thread, by one at a time.

        Args:
            answer: to the last call; None at the beginning.
        """
        ...

    def printed(self) -> str:
        """Return what it has printed so far."""
        ...

    def close(self) -> None:
        """End it, wherever it is; called once."""
        ...


class Sandbox(Protocol):
    """Runs programs that nobody trusts."""

    def start(
        self, code: str, names: Iterable[str], limits: Limits, /, *, seed: str, now: datetime
    ) -> Program:
        """Make a program, which runs with its first step.

        The same code, seed, time and answers have to make the same calls.

        Args:
            code: Python.
            names: of the functions that it may call.
            limits: which the sandbox enforces, but for the number of calls.
            seed: of random numbers.
            now: the time that the program sees.
        """
        ...


class Monty:
    """Run programs in Monty, an interpreter of a part of Python; it needs the extra `monty`.

    Each program runs in a process of its own, which has no files, network, environment or processes: there is
    nothing but what the language has, a few modules of the standard library, and the tools.
    """

    def start(
        self, code: str, names: Iterable[str], limits: Limits, /, *, seed: str, now: datetime
    ) -> Program:
        """Make a program; see `Sandbox.start`.

        Raises:
            ImportError: the extra isn't installed.
        """
        return _MontyProgram(code, frozenset(names), limits, seed, now)


_GRACE = 5.0
_MORE_STEPS = 10
"""Steps that a program may take for each call: it looks up names, too."""


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

    def step(self, answer: Answer | None, /) -> Request | Ended:
        monty = self._monty
        try:
            if answer is None:
                self._snapshot = self._session.feed_start(self._code, print_callback=self._output)
            elif answer.error is None:
                self._snapshot = self._snapshot.resume({"return_value": answer.value})
            else:
                self._snapshot = self._snapshot.resume({"exception": answer.error})
            while not isinstance(self._snapshot, monty.MontyComplete):
                if self._is_call():
                    found = self._snapshot
                    return Request(str(found.function_name), tuple(found.args), dict(found.kwargs))
                self._snapshot = self._went_on()
            return Ended(self._snapshot.output, None)
        except monty.MontyError as error:
            return Ended(None, _told(error, self._limits))

    def _is_call(self) -> bool:
        found = self._snapshot
        return isinstance(found, self._monty.FunctionSnapshot) and not found.is_os_function

    def _went_on(self) -> Any:
        """Answer what isn't a call of a tool."""
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
        """Stand for a tool: Monty reads only its name."""

    called.__name__ = called.__qualname__ = name
    return called


_LIMIT_REACHED = re.compile(
    r"^(?:TimeoutError: feed time limit exceeded: .*"
    r"|MemoryError: memory limit exceeded: \d+ bytes > (\d+) bytes)\Z",
    re.MULTILINE,
)
"""How Monty says that a limit is reached: the last line, and the only one if the limit is that of output."""


def _told(error: Any, limits: Limits) -> str:
    text = error.display() if hasattr(error, "display") else str(error)
    found = _LIMIT_REACHED.search(text)
    if found is not None:
        text = text[: found.start()] + _limit_text(found, limits)
    return "\n".join([escape(line) for line in clip(text, 4_000).splitlines()])


def _limit_text(found: re.Match[str], limits: Limits) -> str:
    most = found[1]
    if most is None:
        return f"the program computed for more than {limits.seconds:g} seconds"
    if found.start() == 0 and int(most) == limits.output:
        return f"the program printed more than {limits.output:,} bytes"
    return f"the program needs more than {limits.memory:,} bytes of memory"
