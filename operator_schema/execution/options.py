"""Checks of an executor's options, and of the calls given to it."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import TYPE_CHECKING, Any, NoReturn, TypedDict, cast, get_args

from ..introspect.shown_annotations import name_of
from ..message_text import as_written, received
from ..tools.binding import why_not_asked
from ..tools.calls import RawCall, checked_calls, remedy_for
from ..tools.failures import ClassSet, Failures, ShowErrors
from ..tools.metadata import LEAST_CONTENT, is_content_limit, is_duration
from ..tools.signature import is_coroutine_function, takes

if TYPE_CHECKING:
    from ..tools.calls import OnResult
    from .around import Confirm
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
        what = "an async one" if is_coroutine_function(context) else _what_came(context)
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


def check_on_progress(on_progress: object) -> None:
    """Check the function that gets the progress of tools.

    Raises:
        TypeError: the function can't be called, is async, or doesn't take two arguments.
    """
    _check_plain("on_progress", "an update", on_progress)


def check_on_result(on_result: object) -> None:
    """Check the function that gets results as they arrive.

    Raises:
        TypeError: the function can't be called, is async, or doesn't take two arguments.
    """
    _check_plain("on_result", "its result", on_result)


def _check_plain(option: str, second: str, given: object) -> None:
    if not callable(given) or is_coroutine_function(given):
        what = "an async one" if callable(given) else received(given)
        message = f"{option} must be a plain function of a call and {second}, not {what}"
        raise TypeError(message)
    if not takes(given, 2):
        message = f"the function given as {option} has to take two arguments, a call and {second}"
        raise TypeError(message)


def check_options(options: Mapping[str, Any]) -> None:
    """Check the options of an executor.

    Raises:
        TypeError: `context` or `store` has the wrong type, or a function doesn't take the arguments that it
            gets.
        ValueError: an option has the wrong type, or is out of range.
    """
    timeout, grace, threads = options["timeout"], options["grace"], options["threads"]
    max_concurrency, max_threads = options["max_concurrency"], options["max_threads"]
    show_errors, max_content = options["show_errors"], options["max_content"]
    if timeout is not None and not (is_duration(timeout) and timeout > 0):
        _refuse("timeout", "a positive number of seconds, or None", timeout)
    if not is_duration(grace):
        _refuse("grace", "a number of seconds", grace)
    if max_concurrency is not None and not _is_count(max_concurrency):
        _refuse("max_concurrency", "an integer of at least 1, or None", max_concurrency)
    if not isinstance(threads, bool):
        _refuse("threads", "True or False", threads)
    if not _is_count(max_threads):
        _refuse("max_threads", "an integer of at least 1", max_threads)
    choices = get_args(ShowErrors)
    if show_errors not in choices:
        _refuse("show_errors", f"one of {', '.join([repr(choice) for choice in choices])}", show_errors)
    if max_content is not None and not is_content_limit(max_content):
        _refuse("max_content", f"an integer of at least {LEAST_CONTENT}, or None", max_content)
    if not callable(options["report"]) or is_coroutine_function(options["report"]):
        _refuse("report", "a plain function from a DecodeError to a string", options["report"])
    _check_takes_one("report", "a DecodeError", options["report"])
    check_confirm(options["confirm"])
    _check_context(options["context"])
    _check_store(options["store"])
    _check_on_waiting(options["on_waiting"])


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
    message = f"store must be a store of rounds, such as SqliteStore({path}), not {_what_came(store)}"
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
        what = "one that takes other arguments" if is_function else _what_came(on_waiting)
        message = f"on_waiting must be a function of a call and its round, not {what}"
        raise TypeError(message)


def _what_came(given: object) -> str:
    return f"the class {name_of(given)} itself" if isinstance(given, type) else received(given)


def _exception_classes(given: object) -> ClassSet:
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
    return ClassSet(classes)


def _is_of_python(cls: type[BaseException]) -> bool:
    if issubclass(cls, (GeneratorExit, StopIteration, StopAsyncIteration)):
        return True
    # Recognised without importing `asyncio`, which defines it.
    return cls.__name__ == "CancelledError" and not issubclass(cls, Exception)


def _result_classes(given: object) -> ClassSet:
    """Check the option `native_results`.

    Raises:
        ValueError: something isn't a class, or is a class of plain values.
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


def _refuse(option: str, kind: str, value: object) -> NoReturn:
    message = f"{option} must be {kind}, not {as_written(value)}"
    raise ValueError(message)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def with_classes(options: Mapping[str, Any]) -> tuple[dict[str, Any], Failures, ClassSet]:
    """Return the options with tuples of classes, the maker of failed results, and the native classes.

    Raises:
        ValueError: something isn't such a class.
    """
    passed, native = _exception_classes(options["pass_through"]), _result_classes(options["native_results"])
    known = {**options, "pass_through": passed.classes, "native_results": native.classes}
    return known, Failures(options["show_errors"], options["report"], passed), native
