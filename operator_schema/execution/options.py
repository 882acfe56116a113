"""Are the options of an executor valid, and the calls that it is given?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypedDict, cast, get_args

from ..introspect.shown_annotations import name_of
from ..message_text import as_written, received
from ..tools.binding import why_not_asked
from ..tools.calls import RawCall, ShowErrors, checked_calls, remedy_for
from ..tools.metadata import LEAST_CONTENT, is_content_limit, is_duration
from ..tools.signature import is_coroutine_function, takes

if TYPE_CHECKING:
    from ..tools.calls import OnResult
    from .confirmation import Confirm
    from .stream import OnProgress


class RunOptions(TypedDict, total=False):
    """The options of `Executor.run` and `run_sync`."""

    context: Mapping[Any, Any] | None
    hooks: object
    confirm: Confirm | None
    on_progress: OnProgress | None
    on_result: OnResult | None


def checked_work(work: Any) -> list[RawCall]:
    """Return several calls for an executor as a list.

    Raises:
        TypeError: the objects aren't calls.
    """
    kind: Any = cast("Any", type(work))
    has_calls = hasattr(kind, "calls")
    if kind is list or kind is tuple:
        return checked_calls(work)
    remedy = remedy_for(work)
    if not remedy and hasattr(kind, "__iter__") and not issubclass(kind, (dict, str, bytes)):
        return checked_calls(work)
    if has_calls:
        remedy = ": give its calls, or make a round from it: offer.round(answer)"
    elif issubclass(kind, dict) and "calls" in work:
        remedy = ": toolset.restore_round(data) makes a round from what round.as_dict() returned"
    message = f"expected a RawCall, a list of them, or a round, not {received(work)}{remedy}"
    raise TypeError(message)


def _check_context(context: Any) -> None:
    """Check the context, or the function that makes it.

    Raises:
        TypeError: the context is neither a mapping nor a plain function of one argument.
    """
    is_made = callable(context) and not isinstance(context, type) and not is_coroutine_function(context)
    if context is not None and not isinstance(context, Mapping) and not is_made:
        what = "an async one" if is_coroutine_function(context) else _given_text(context)
        message = f"context must be a mapping, or a plain function that returns one, not {what}"
        raise TypeError(message)
    if is_made:
        _check_takes_one("context", "what a framework gives (None in your own loop)", cast("Any", context))


def context_of_calls(given: Any, own: Any) -> Mapping[Any, Any] | None:
    """Return the context of calls outside of a framework.

    Args:
        given: the context given with the calls; None for the executor's own.
        own: the executor's context, a function that makes one, or None.

    Raises:
        TypeError: the context isn't a mapping.
    """
    context = own if given is None else given
    if given is None and own is not None and not isinstance(own, Mapping):
        context = own(None)
    if context is not None and not isinstance(context, Mapping):
        message = f"the context of a call must be a mapping, as in {{Db: db}}, not {received(context)}"
        raise TypeError(message)
    return context  # pyright: ignore[reportUnknownVariableType]  # of any keys and values


def check_listener(option: Literal["on_progress", "on_result"], given: object) -> None:
    """Check a function that gets the progress of tools, or results as they arrive.

    Raises:
        TypeError: the function can't be called, is async, or doesn't take two arguments.
    """
    second = "an update" if option == "on_progress" else "its result"
    if not callable(given) or is_coroutine_function(given):
        what = "an async one" if callable(given) else received(given)
        message = f"{option} must be a plain function of a call and {second}, not {what}"
        raise TypeError(message)
    if not takes(given, 2):
        message = f"the function given as {option} has to take two arguments, a call and {second}"
        raise TypeError(message)


def checked_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of an executor, with classes as tuples.

    Raises:
        TypeError: `context` or `store` has the wrong type, or a function doesn't take the arguments that it
            gets.
        ValueError: an option has the wrong type, or is out of range.
    """
    for option, (fits, kind) in _RULES.items():
        if not fits(options[option]):
            message = f"{option} must be {kind}, not {as_written(options[option])}"
            raise ValueError(message)
    _check_takes_one("report", "a DecodeError", options["report"])
    check_confirm(options["confirm"])
    _check_context(options["context"])
    _check_store(options["store"])
    _check_on_waiting(options["on_waiting"])
    passed, native = _exception_classes(options["pass_through"]), _result_classes(options["native_results"])
    return {**options, "pass_through": passed, "native_results": native}


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


_RULES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "timeout": (
        lambda value: value is None or (is_duration(value) and value > 0),
        "a positive number of seconds, or None",
    ),
    "grace": (is_duration, "a number of seconds"),
    "max_concurrency": (
        lambda value: value is None or _is_count(value),
        "an integer of at least 1, or None",
    ),
    "threads": (lambda value: isinstance(value, bool), "True or False"),
    "max_threads": (_is_count, "an integer of at least 1"),
    "show_errors": (
        lambda value: value in get_args(ShowErrors),
        f"one of {', '.join(map(repr, get_args(ShowErrors)))}",
    ),
    "max_content": (
        lambda value: value is None or is_content_limit(value),
        f"an integer of at least {LEAST_CONTENT}, or None",
    ),
    "report": (
        lambda value: callable(value) and not is_coroutine_function(value),
        "a plain function from a DecodeError to a string",
    ),
}
"""The options that one look at their value decides: the check, and the expected value."""


def check_confirm(confirm: object) -> None:
    """Check the option `confirm`.

    Raises:
        TypeError: the function doesn't take the call alone.
        ValueError: the option is neither None, `"run"` nor a function.
    """
    if confirm is None or confirm == "run":
        return
    if callable(confirm) and not isinstance(confirm, type):
        _check_takes_one("confirm", "a ToolCall", confirm)
        return
    message = f'confirm must be "run", a function of a call, or None, not {as_written(confirm)}'
    raise ValueError(message)


def _check_takes_one(option: str, what: str, function: object) -> None:
    misfit = why_not_asked(function, what)
    if misfit is not None:
        message = f"the function given as {option} {misfit}"
        raise TypeError(message)


def _check_store(store: object) -> None:
    """Check the option `store`.

    Raises:
        TypeError: the object isn't a store, which runs rounds.
    """
    if store is None or (callable(getattr(store, "run", None)) and not isinstance(store, type)):
        return
    path = as_written(store) if isinstance(store, str) else "path"
    message = f"store must be a store of rounds, such as SqliteStore({path}), not {_given_text(store)}"
    raise TypeError(message)


def _check_on_waiting(on_waiting: object) -> None:
    """Check the option `on_waiting`.

    Raises:
        TypeError: it can't be called, or doesn't take two arguments.
    """
    if on_waiting is None:
        return
    is_function = callable(on_waiting) and not isinstance(on_waiting, type)
    if not is_function or not takes(on_waiting, 2):
        what = "one that takes other arguments" if is_function else _given_text(on_waiting)
        message = f"on_waiting must be a function of a call and its round, not {what}"
        raise TypeError(message)


def _given_text(given: object) -> str:
    return f"the class {name_of(given)} itself" if isinstance(given, type) else received(given)


def _exception_classes(given: object) -> tuple[type[BaseException], ...]:
    """Check the option `pass_through`.

    Raises:
        ValueError: something isn't a class of exceptions, or is a class that Python itself needs.
    """
    classes = _classes("pass_through", "exception classes", given)
    for cls in classes:
        if not issubclass(cls, BaseException):
            _refuse_class("pass_through", "exception classes", cls)
        if _is_of_python(cls):
            message = f"pass_through can't take {cls.__name__}: Python itself uses it to end functions"
            raise ValueError(message)
    return classes


def _is_of_python(cls: type[BaseException]) -> bool:
    if issubclass(cls, (GeneratorExit, StopIteration, StopAsyncIteration)):
        return True
    # Recognised without importing `asyncio`, which defines it.
    return cls.__name__ == "CancelledError" and not issubclass(cls, Exception)


def _result_classes(given: object) -> tuple[type[Any], ...]:
    """Check the option `native_results`.

    Raises:
        ValueError: something isn't a class, or is a class of plain values.
    """
    classes = _classes("native_results", "classes", given)
    for cls in classes:
        if any(cls is plain for plain in _PLAIN):  # its metaclass may have an `__eq__`
            message = f"native_results can't take {cls.__name__}: such results are written as JSON"
            raise ValueError(message)
    return classes


_PLAIN = (object, str, int, float, bool, NoneType, list, tuple, dict, set, frozenset)


def _classes(option: str, kind: str, given: Any) -> tuple[type[Any], ...]:
    if isinstance(given, (str, type)):
        _refuse_class(option, kind, given)
    try:
        classes = tuple(given)
    except TypeError:
        _refuse_class(option, kind, given)
    for cls in classes:
        if not isinstance(cls, type):
            _refuse_class(option, kind, cls)
    return classes


def _refuse_class(option: str, kind: str, given: object) -> NoReturn:
    shown = name_of(given) if isinstance(given, type) else as_written(given)
    if isinstance(given, BaseException):
        shown = f"an instance of {shown}: write the class, without parentheses"
    message = f"{option} must be a tuple of {kind}, not {shown}"
    raise ValueError(message)
