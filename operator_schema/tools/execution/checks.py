"""Are the options of an executor, and the calls given to it, of the right kinds?"""

from __future__ import annotations

from typing import Any, NoReturn, get_args

from ...wording import as_written, received
from ..calls import RawCall
from ..metadata import LEAST_CONTENT, is_content_limit, is_duration
from ..signature import is_coroutine_function
from .failures import ShowErrors

__all__ = ["check_on_progress", "check_options", "checked_call", "checked_calls"]


def checked_call(call: object) -> RawCall:
    """Return a call.

    Raises:
        TypeError: it isn't one.
    """
    if not isinstance(call, RawCall):
        message = f"a call is a RawCall(id, name, arguments), not {received(call)}"
        raise TypeError(message)
    return call


def checked_calls(calls: Any) -> list[RawCall]:
    """Return calls as a list.

    Raises:
        TypeError: they aren't calls, or there is one alone.
    """
    if isinstance(calls, RawCall):
        message = "expected a list of calls, not one RawCall alone: write [call]"
        raise TypeError(message)
    return [checked_call(call) for call in calls]


def check_on_progress(on_progress: object) -> None:
    """Check what gets the progress of tools.

    Raises:
        TypeError: it can't be called, or it is async.
    """
    if not callable(on_progress) or is_coroutine_function(on_progress):
        what = "an async one" if callable(on_progress) else received(on_progress)
        message = f"on_progress is a plain function of a call and an update, not {what}"
        raise TypeError(message)


def check_options(
    timeout: object,
    max_concurrency: object,
    threads: object,
    max_threads: object,
    grace: object,
    show_errors: object,
    report: object,
    max_content: object,
) -> None:
    """Check the options of an executor.

    Raises:
        ValueError: one has the wrong type, or is out of range.
    """
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
    if not callable(report):
        _refuse("report", "a function from a DecodeError to a string", report)


def _refuse(option: str, kind: str, value: object) -> NoReturn:
    message = f"{option} is {kind}, not {as_written(value)}"
    raise ValueError(message)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
