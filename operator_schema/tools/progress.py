"""How far a tool is: what it reports, and what your program gets of that."""

from __future__ import annotations

from types import NoneType
from typing import TYPE_CHECKING, final

from ..immutable import Value
from ..wording import clip, received

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Progress", "ProgressUpdate", "connect"]

_MESSAGE_LENGTH = 1000


class ProgressUpdate(Value):
    """How far a tool is.

    Attributes:
        done: how much is done, in any unit.
        total: how much there is, in the same unit; None if that isn't known.
        message: what it does now, at most 1,000 characters; or None.
    """

    done: float
    total: float | None = None
    message: str | None = None


@final
class Progress:
    """Report how far a tool is, to the program that runs the call.

    A tool gets one for a parameter such as `progress: Annotated[Progress, skip]`, and calls it:
    `progress(3, 10, "Reading page 3")`. This takes no time to speak of, can be done from any thread, and
    does nothing if nobody listens or the call is over. `Progress()` makes one that does nothing.
    """

    __slots__ = ("_report",)

    def __init__(self) -> None:
        self._report: Callable[[ProgressUpdate], object] | None = None

    def __call__(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Report how far the tool is.

        Args:
            done: how much is done, in any unit.
            total: how much there is, in the same unit; None if that isn't known.
            message: what the tool does now.

        Raises:
            TypeError: an argument has the wrong type.
        """
        _check("done is a number", done, (int, float))
        _check("total is a number or None", total, (int, float, NoneType))
        _check("message is a string or None", message, (str, NoneType))
        report = self._report
        if report is not None:
            text = None if message is None else clip(str.__str__(message), _MESSAGE_LENGTH)
            report(ProgressUpdate(done, total, text))


def connect(progress: Progress, report: Callable[[ProgressUpdate], object] | None) -> None:
    """Let a function get what is reported; None ends that."""
    progress._report = report  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # tools must not see it


def _check(rule: str, value: object, kinds: tuple[type, ...]) -> None:
    if not isinstance(value, kinds):
        message = f"{rule}, not {received(value)}"
        raise TypeError(message)
