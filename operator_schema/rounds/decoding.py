"""From the calls that a model sent to calls with inputs, and to issues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import DecodeError, Problem, ToolNotFoundError
from ..tools.calls import RawCall, arguments_to_decode, class_name_of
from ..tools.execution.failures import ClassSet, Failures
from ..wording import clip, escape, excerpt, listed, nearest_names, quote
from .own_json import own_json
from .tool_call import CallIssue, ToolCall

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..tools.tool import Tool
    from .offer import Offer

__all__ = ["FAILURES", "call_with_input", "decode_call"]

_SUGGESTED = 3
_SHOWN_ARGUMENTS = 1000

FAILURES = Failures("type", str, ClassSet(()))
"""What the model and the log get where a call can't be run: the same as from an executor."""


def decode_call(index: int, raw: RawCall, offer: Offer[Any]) -> ToolCall[Any] | CallIssue:
    """Decode one call of a turn.

    Args:
        index: position in the turn.
        raw: as the model sent it.
        offer: what the request offered.
    """
    tool = offer.get(raw.name)
    if tool is None:
        return _unavailable(index, raw, offer)
    if raw.is_cut_off:
        return _issue(index, raw, FAILURES.cut_off(raw))
    try:
        return call_with_input(index, raw, offer.own_tool(raw.name), tool.decode(arguments_to_decode(raw)))
    except DecodeError as error:
        return _issue(index, raw, FAILURES.invalid(raw, error))
    except Exception as error:  # noqa: BLE001  # a class's own code runs in it
        return _issue(index, raw, FAILURES.failed(raw, error))


def call_with_input(index: int, raw: RawCall, tool: Tool[..., Any], given: Any) -> ToolCall[Any]:
    """Return a call with its input, and with arguments that nobody else can change.

    Raises:
        DecodeError: the arguments aren't JSON, although they fit the types.
    """
    arguments = raw.arguments
    own = arguments if arguments.__class__ is str else _own_arguments(raw)
    return ToolCall(index, raw, own, tool, given)


def _unavailable(index: int, raw: RawCall, offer: Offer[Any]) -> CallIssue:
    if raw.name not in offer.toolset:
        error = ToolNotFoundError(raw.name, nearest_names(raw.name, offer.names, _SUGGESTED))
        return _issue(index, raw, FAILURES.not_found(raw, error, offer.names))
    known = listed([quote(name) for name in offer.names]) or "none"
    content = f"tool {quote(raw.name)} is not available in this turn; the tools are {known}"
    return CallIssue(index, raw, _shown_arguments(raw), "not_available", content)


def _issue(index: int, raw: RawCall, result: Any) -> CallIssue:
    details: Mapping[str, Any] = result.details or {}
    return CallIssue(index, raw, _shown_arguments(raw), result.code, result.content, details.get("exception"))


# --- arguments that nobody else can change -------------------------------------------------------


def _own_arguments(raw: RawCall) -> Any:
    """Return a copy of the arguments of a call.

    Raises:
        DecodeError: they aren't JSON, although they fit the types.
    """
    try:
        return _copied_arguments(raw.arguments)
    except ValueError as error:
        problem = Problem((), "invalid_json", f"the arguments have to be JSON: {error}")
        raise DecodeError(raw.name, [problem]) from None


def _shown_arguments(raw: RawCall) -> Any:
    """Return a copy of the arguments of a call, or an excerpt of what isn't JSON."""
    try:
        return _copied_arguments(raw.arguments)
    except ValueError:
        try:
            return excerpt(raw.arguments, _SHOWN_ARGUMENTS)
        except Exception:  # noqa: BLE001  # the code of what is in them
            return clip(escape(class_name_of(raw.arguments)), _SHOWN_ARGUMENTS)


def _copied_arguments(arguments: Any) -> Any:
    if issubclass(type(arguments), (bytes, bytearray)):  # not by its `__class__`, which may be code
        return bytes(memoryview(arguments)).decode(
            errors="backslashreplace"
        )  # without the code of a subclass
    return own_json(arguments)
