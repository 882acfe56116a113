"""What is a sandbox for a model's programs? The protocol, and the texts that all sandboxes use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ..immutable import Value
from ..message_text import clip, escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime


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


# --- errors for the model ------------------------------------------------------------------------

_LONGEST_ERROR = 4_000


def error_lines(text: str) -> str:
    """Return the text of an error, bounded, with unprintable characters escaped in each line."""
    return "\n".join([escape(line) for line in clip(text, _LONGEST_ERROR).splitlines()])


def too_slow_text(limits: Limits) -> str:
    """Return the error of a program that computed for too long."""
    return f"the program computed for more than {limits.seconds:g} seconds"


def too_much_printed_text(limits: Limits) -> str:
    """Return the error of a program that printed too much."""
    return f"the program printed more than {limits.output:,} bytes"


def too_much_memory_text(limits: Limits) -> str:
    """Return the error of a program that needs too much memory."""
    return f"the program needs more than {limits.memory:,} bytes of memory"
