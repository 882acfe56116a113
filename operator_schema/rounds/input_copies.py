"""Copies of inputs that nobody else can change, and checks that a saved or edited input is still the same."""

from __future__ import annotations

from copy import deepcopy
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..errors import DecodeError, EncodeError, ToolError
from ..findings import Finding
from ..json_values import MAX_PROBLEMS, is_array, is_object
from ..message_text import class_name_of, excerpt, one_line, received
from ..sameness import is_same_state
from .own_json import own_json
from .signatures import canonical_text, text_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..tools.calls import RawCall
    from ..tools.tool import Tool


_SHOWN = 100
_SHOWN_ARGUMENTS = 1000


def own_copy(tool: Tool[..., Any], given: Any) -> Any:
    """Return a copy of an input that shares nothing mutable with it."""
    try:
        return deepcopy(given)
    except Exception:  # noqa: BLE001  # the code of whatever is in it
        try:
            return checked_input(tool, given)
        except Exception as error:  # a class's own code
            message = "its input can't be copied, so no function may look at it before it is run"
            raise TypeError(message) from error


def is_edited(tool: Tool[..., Any], before: Any, after: Any) -> bool:
    """Return whether a copy of an input was edited in place."""
    return not is_same_state(after, before) and _input_text(tool, before) != _input_text(tool, after)


def _input_text(tool: Tool[..., Any], given: Any) -> str | None:
    """Write an input; None for one that can't be written, such as with an `InitVar`."""
    try:
        return repr(tool.encode_input(given))
    except (EncodeError, ToolError):
        return None


def checked_input(tool: Tool[..., Any], given: Any) -> Any:
    """Return a separate, equal input that has passed the same checks as the arguments of a model.

    Raises:
        DecodeError: the input doesn't fit the types, or JSON can't reproduce it.
        EncodeError: the input can't be written as JSON.
        ToolError: the input belongs to another tool.
    """
    try:
        written = tool.encode_input(given)
    except ToolError as error:
        if not is_object(given) and not isinstance(given, str):
            raise
        message = (
            f"an input is made of JSON by tool.decode, and this is {received(given)}: write "
            "RunNormally(input=call.tool.decode(…)), or round.approve(…, arguments=…)"
        )
        raise ToolError(tool.name, message) from error
    own = tool.decode(written)
    check_same(tool, written, own)
    return own


def gives_back(tool: Tool[..., Any], arguments: Any, written: Any) -> bool:
    """Return whether decoding arguments gives an input with this written form."""
    try:
        return repr(tool.encode_input(tool.decode(arguments))) == repr(written)
    except Exception:  # noqa: BLE001  # a class's own code may see another state of the world by now
        return False


def makes(tool: Tool[..., Any], arguments: Any, given: Any) -> bool:
    """Return whether decoding arguments gives an input that equals this one in everything that it stores."""
    try:
        return is_same_state(tool.decode(arguments), given)
    except Exception:  # noqa: BLE001  # as above
        return False


def is_certainly(tool: Tool[..., Any], written: Any, given: Any) -> bool:
    """Return whether the types of a tool alone prove that an input has this written form.

    If so, `gives_back` and `makes` return True too. Otherwise, only those two functions can find out.
    """
    tells = tool.kept_form(_TELLING)
    if tells is None:
        tells = tool.keep_form(_TELLING, _comparison_for(tool))
    return bool(tells(written, given))


_TELLING = "whether an input is what is written"
"""The key under which a tool keeps the function for `is_certainly`."""


def _comparison_for(tool: Tool[..., Any]) -> Callable[[Any, Any], bool]:
    from ..codec.faithful_values import comparison  # most programs save nothing

    return comparison(tool.codec.graph) or _is_never


def _is_never(_written: Any, _given: Any) -> bool:
    return False


def check_same(tool: Tool[..., Any], written: Any, given: Any) -> None:
    """Check that an input is the same as when it was written, at every depth."""
    if not is_certainly(tool, written, given):
        check_written(tool.name, written, tool.encode_input(given))


def check_written(about: str, before: Any, now: Any) -> None:
    """Check that two JSON values are the same.

    Raises:
        DecodeError: the values differ; the error lists the places.
    """
    if canonical_text(now) != canonical_text(before):
        raise DecodeError(about, list(islice(_differences((), before, now), MAX_PROBLEMS)))


def _differences(path: tuple[str | int, ...], before: Any, now: Any) -> Iterator[Finding]:
    if is_object(before) and is_object(now):
        for key in before:
            if key not in now:
                message = "this was part of the call, but the tool doesn't take it any more"
                yield Finding((*path, key), "unknown", message)
            else:
                yield from _differences((*path, key), before[key], now[key])
        for key in now:
            if key not in before:
                shown = excerpt(now[key], _SHOWN)
                message = f"this wasn't part of the call, but would now be {shown}: send it"
                yield Finding((*path, key), "missing", message)
    elif is_array(before) and is_array(now) and len(before) == len(now):
        for index, (one, other) in enumerate(zip(before, now, strict=True)):
            yield from _differences((*path, index), one, other)
    elif canonical_text(before) != canonical_text(now):
        was, would_be = excerpt(before, _SHOWN), excerpt(now, _SHOWN)
        yield Finding(path, "rejected", f"this was {was} in the call, but would now be {would_be}")


def schema_digest(tool: Tool[..., Any]) -> str:
    """Return a digest of a tool's schema, for inputs that can be created only from the arguments."""
    return text_digest(canonical_text(tool.input_schema()))


# --- arguments that nobody else can change -------------------------------------------------------


def own_arguments(raw: RawCall) -> Any:
    """Return a copy of the arguments of a call.

    Raises:
        DecodeError: the arguments aren't JSON, although they fit the types.
    """
    try:
        return _copied_arguments(raw.arguments)
    except ValueError as error:
        problem = Finding((), "invalid_json", f"the arguments have to be JSON: {error}")
        raise DecodeError(raw.name, [problem]) from None


def shown_arguments(raw: RawCall) -> Any:
    """Return a copy of the arguments of a call, or an excerpt if they aren't JSON."""
    try:
        return _copied_arguments(raw.arguments)
    except ValueError:
        try:
            return excerpt(raw.arguments, _SHOWN_ARGUMENTS)
        except Exception:  # noqa: BLE001  # the code of what is in them
            return one_line(class_name_of(raw.arguments), _SHOWN_ARGUMENTS)


def _copied_arguments(arguments: Any) -> Any:
    if issubclass(type(arguments), (bytes, bytearray)):  # not by its `__class__`, which may be code
        return bytes(memoryview(arguments)).decode(
            errors="backslashreplace"
        )  # without the code of a subclass
    return own_json(arguments)
