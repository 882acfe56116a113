"""Inputs of calls: copies that nobody else can change, and whether JSON gives back the same one."""

from __future__ import annotations

from copy import deepcopy
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..codec.limits import MAX_PROBLEMS
from ..errors import DecodeError, EncodeError, Problem, ToolError
from ..json_values import is_array, is_object
from ..same_state import is_same_state
from ..wording import excerpt, received
from .digests import canonical_text, text_digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..tools.tool import Tool

__all__ = [
    "check_same",
    "check_written",
    "checked_input",
    "gives_back",
    "is_edited",
    "makes",
    "own_copy",
    "schema_digest",
]

_SHOWN = 100


def own_copy(tool: Tool[..., Any], given: Any) -> Any:
    """Return an input that shares nothing that could be changed with a given one.

    Raises:
        TypeError: it can't be copied.
    """
    try:
        return deepcopy(given)
    except Exception:  # noqa: BLE001  # the code of whatever is in it
        try:
            return checked_input(tool, given)
        except Exception as error:
            message = "its input can't be copied, so no function may look at it before it is run"
            raise TypeError(message) from error


def is_edited(tool: Tool[..., Any], before: Any, after: Any) -> bool:
    """Return whether a copy of an input was edited in place."""
    try:
        is_equal = bool(before == after)
    except Exception:  # noqa: BLE001  # a class's own code
        is_equal = False
    return not is_equal and _written(tool, before) != _written(tool, after)


def _written(tool: Tool[..., Any], given: Any) -> str | None:
    """Write an input; None for one that can't be written, such as with an `InitVar`."""
    try:
        return repr(tool.encode_input(given))
    except (EncodeError, ToolError):
        return None


def checked_input(tool: Tool[..., Any], given: Any) -> Any:
    """Return an equal input that nobody else has, after it was checked as arguments of a model are.

    Raises:
        DecodeError: it doesn't fit the types, or JSON doesn't give it back.
        EncodeError: it can't be written as JSON.
        ToolError: it isn't an input of this tool.
    """
    try:
        written = tool.encode_input(given)
    except ToolError as error:
        if not is_object(given) and not isinstance(given, str):
            raise
        message = (
            f"an input is made of JSON by tool.decode, and this is {received(given)}: write "
            "RunNormally(input=call.tool.decode(…)), or plan.approve(…, arguments=…)"
        )
        raise ToolError(tool.name, message) from error
    own = tool.decode(written)
    check_same(tool, written, own)
    return own


def gives_back(tool: Tool[..., Any], arguments: Any, written: Any) -> bool:
    """Return whether arguments decode to the input that is written like this."""
    try:
        return repr(tool.encode_input(tool.decode(arguments))) == repr(written)
    except Exception:  # noqa: BLE001  # a class's own code may see another state of the world by now
        return False


def makes(tool: Tool[..., Any], arguments: Any, given: Any) -> bool:
    """Return whether arguments decode to this input, in all that it keeps."""
    try:
        return is_same_state(tool.decode(arguments), given)
    except Exception:  # noqa: BLE001  # as above
        return False


def check_same(tool: Tool[..., Any], written: Any, given: Any) -> None:
    """Check that an input is the one that was written, at every depth.

    Raises:
        DecodeError: it is another one; with the places.
        EncodeError: it can't be written as JSON.
        ToolError: it can't be written as JSON, because of an `InitVar`.
    """
    check_written(tool.name, written, tool.encode_input(given))


def check_written(about: str, before: Any, now: Any) -> None:
    """Check that two JSON values are the same.

    Raises:
        DecodeError: they differ; with the places.
    """
    if canonical_text(now) != canonical_text(before):
        raise DecodeError(about, list(islice(_differences((), before, now), MAX_PROBLEMS)))


def _differences(path: tuple[str | int, ...], before: Any, now: Any) -> Iterator[Problem]:
    if is_object(before) and is_object(now):
        for key in before:
            if key not in now:
                message = "this was part of the call, and the tool does not take it any more"
                yield Problem((*path, key), "unknown", message)
            else:
                yield from _differences((*path, key), before[key], now[key])
        for key in now:
            if key not in before:
                shown = excerpt(now[key], _SHOWN)
                message = f"this was not part of the call, and would be {shown} now: send it"
                yield Problem((*path, key), "missing", message)
    elif is_array(before) and is_array(now) and len(before) == len(now):
        for index, (one, other) in enumerate(zip(before, now, strict=True)):
            yield from _differences((*path, index), one, other)
    elif canonical_text(before) != canonical_text(now):
        was, would_be = excerpt(before, _SHOWN), excerpt(now, _SHOWN)
        yield Problem(path, "rejected", f"this was {was} in the call, and would be {would_be} now")


def schema_digest(tool: Tool[..., Any]) -> str:
    """Return a digest of the schema of a tool, for inputs that only the arguments give back."""
    return text_digest(canonical_text(tool.input_schema()))
