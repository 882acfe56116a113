"""What does the program that runs the calls handle itself? Its exceptions, and its own kinds of results."""

from __future__ import annotations

from types import NoneType
from typing import TYPE_CHECKING, Any, NoReturn, cast

from ...introspect.names import name_of
from ...wording import as_written
from ..calls import ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    Outcome: TypeAlias = "ToolResult | Passed | BaseException"

__all__ = ["ClassSet", "Passed", "exception_classes", "result_classes", "result_of", "results_of"]


class ClassSet:
    """Classes of values that are handed over as they are.

    Subclasses count. A value is looked at by its type alone: what it says of itself (`__class__`), and
    what a metaclass says of its subclasses, is code of others.

    Args:
        classes: in any order.
    """

    __slots__ = ("_classes",)

    def __init__(self, classes: Sequence[type]) -> None:
        self._classes = classes

    @property
    def classes(self) -> Sequence[type]:
        """The classes, as they were given."""
        return self._classes

    def __bool__(self) -> bool:
        return bool(self._classes)

    def has(self, value: object) -> bool:
        """Return whether a value is of one of the classes."""
        above = _ORDER.__get__(type(value))
        return any(cls is known for cls in self._classes for known in above)


_ORDER: Any = vars(type)["__mro__"]


class Passed:
    """An exception that goes to the caller, who handles it.

    Attributes:
        error: as it was raised.
    """

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


def result_of(outcome: Outcome) -> ToolResult:
    """Return the result of a call, or raise the exception that passes through."""
    return outcome if type(outcome) is ToolResult else results_of([outcome], return_exceptions=False)[0]


def results_of(outcomes: Iterable[Outcome], *, return_exceptions: bool) -> list[Any]:
    """Return the results of several calls, or raise the exception that passes through.

    Args:
        outcomes: of calls that have all ended, in their order.
        return_exceptions: whether what is passed through stands in its place in the list.

    Raises:
        BaseException: what ends the program comes first, then the first of those passed through.
    """
    results: list[Any] = []
    passed: list[BaseException] = []
    for outcome in outcomes:
        if type(outcome) is Passed:
            passed.append(outcome.error)
        elif type(outcome) is not ToolResult:
            raise cast("BaseException", outcome)
        results.append(outcome.error if type(outcome) is Passed else outcome)
    if passed and not return_exceptions:
        raise passed[0]
    return results


def exception_classes(given: object) -> ClassSet:
    """Check the option `pass_through`.

    Raises:
        ValueError: it holds something other than classes of exceptions, or what Python itself needs.
    """
    classes = _classes("pass_through", "exception classes", given)
    for cls in classes:
        if not issubclass(cls, BaseException):
            _refuse("pass_through", "exception classes", cls)
        if _is_of_python(cls):
            message = f"pass_through can't take {cls.__name__}: Python itself ends functions by it"
            raise ValueError(message)
    return ClassSet(classes)


def _is_of_python(cls: type[BaseException]) -> bool:
    if issubclass(cls, (GeneratorExit, StopIteration, StopAsyncIteration)):
        return True
    # Without an import of `asyncio`, whose own one this is.
    return cls.__name__ == "CancelledError" and not issubclass(cls, Exception)


def result_classes(given: object) -> ClassSet:
    """Check the option `native_results`.

    Raises:
        ValueError: it holds something other than classes, or those of plain values.
    """
    classes = _classes("native_results", "classes", given)
    for cls in classes:
        if any(cls is plain for plain in _PLAIN):  # its metaclass may have an `__eq__`
            message = f"native_results can't take {cls.__name__}: such results are written as JSON"
            raise ValueError(message)
    return ClassSet(classes)


_PLAIN = (object, str, int, float, bool, NoneType, list, tuple, dict, set, frozenset)


def _classes(option: str, kind: str, given: Any) -> tuple[type[Any], ...]:
    if isinstance(given, (str, type)):
        _refuse(option, kind, given)
    try:
        classes = tuple(given)
    except TypeError:
        _refuse(option, kind, given)
    for cls in classes:
        if not isinstance(cls, type):
            _refuse(option, kind, cls)
    return classes


def _refuse(option: str, kind: str, given: object) -> NoReturn:
    shown = name_of(given) if isinstance(given, type) else as_written(given)
    message = f"{option} is a tuple of {kind}, not {shown}"
    raise ValueError(message)
