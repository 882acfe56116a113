"""Which calls of tools are in recorded data of any form?

A record is one JSON value: a call in our form, a message or a whole answer of a provider, a request of the
Model Context Protocol, or a span of OpenTelemetry. Each object in it that has the form of a call counts as a
call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from ...json_values import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_Found = TypeVar("_Found")

_MAX_DEPTH = 60


class RecordedCall(NamedTuple):
    """A recorded call.

    Attributes:
        name: the name of the tool.
        arguments: JSON values, or JSON text.
    """

    name: str
    arguments: Any


_new: Callable[[type[RecordedCall], tuple[str, Any]], RecordedCall] = tuple.__new__  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType]  # of any items
"""Create a call as the class does, in a third of the time: a log has a million of them."""


def _by_keys(name: str, arguments: str) -> Callable[[dict[str, Any]], RecordedCall | None]:
    """Return a reader of calls whose name and arguments have these keys."""

    def read(value: dict[str, Any]) -> RecordedCall | None:
        found = value.get(name)
        if isinstance(found, str) and arguments in value:
            return _new(RecordedCall, (found, value[arguments]))
        return None

    return read


def _read_inside(
    key: str, read: Callable[[dict[str, Any]], RecordedCall | None]
) -> Callable[[dict[str, Any]], Any]:
    """Return a reader of calls in the object under a key."""

    def read_inside(value: dict[str, Any]) -> RecordedCall | None:
        inner = value.get(key)
        return read(inner) if is_object(inner) else None

    return read_inside


def _tool_use(value: dict[str, Any]) -> RecordedCall | None:
    return _with_input(value) if value.get("type") in _TOOL_USES else None


_with_input = _by_keys("name", "input")
_TOOL_USES = ("tool_use", "server_tool_use", "mcp_tool_use")
_SPAN_NAME, _SPAN_ARGUMENTS = "gen_ai.tool.name", "gen_ai.tool.call.arguments"
_in_attributes = _by_keys(_SPAN_NAME, _SPAN_ARGUMENTS)


def _span(value: dict[str, Any]) -> RecordedCall | None:
    """Read the attributes of a span, as an object or as the list of OTLP.

    Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/
    """
    attributes = _attributes(value)
    if attributes.get(_SPAN_ARGUMENTS) is None:
        return None
    return _in_attributes(attributes)


def _bare_span(value: dict[str, Any]) -> str | None:
    """Return the name of the tool of a span without arguments; None for any other object."""
    attributes = _attributes(value)
    name = attributes.get(_SPAN_NAME)
    return name if isinstance(name, str) and attributes.get(_SPAN_ARGUMENTS) is None else None


def _attributes(value: dict[str, Any]) -> dict[str, Any]:
    attributes = value.get("attributes")
    if is_array(attributes):
        pairs = [each for each in attributes if is_object(each) and is_object(each.get("value"))]
        return {str(each.get("key")): _any_value(each["value"]) for each in pairs}
    return attributes if is_object(attributes) else {}


def _any_value(value: Any, depth: int = 0) -> Any:
    """Return the JSON value of an `AnyValue` of OTLP; None for any other value.

    Source: https://opentelemetry.io/docs/specs/otel/common/#anyvalue, in the JSON of protobuf
    """
    if not is_object(value) or depth > _MAX_DEPTH:
        return None
    for kind in ("stringValue", "boolValue", "doubleValue"):
        if kind in value:
            return value[kind]
    number, inside = value.get("intValue"), value.get("arrayValue", value.get("kvlistValue"))
    if isinstance(number, str):  # JSON numbers lose digits of 64-bit integers
        return int(number) if number.lstrip("-").isdecimal() and len(number) < _DIGITS else number
    items = inside.get("values", []) if is_object(inside) else None
    if not is_array(items):
        return number
    if "arrayValue" in value:
        return [_any_value(item, depth + 1) for item in items]
    pairs = [item for item in items if is_object(item)]
    return {str(item.get("key")): _any_value(item.get("value"), depth + 1) for item in pairs}


_DIGITS: Final = 20
"""One more than the number of digits of a 64-bit integer."""

_MARKED: Final[dict[str, Callable[[dict[str, Any]], RecordedCall | None]]] = {
    "function": _read_inside("function", _by_keys("name", "arguments")),  # Chat Completions, Cohere, Ollama
    "type": _tool_use,  # Anthropic Messages
    "toolUse": _read_inside("toolUse", _by_keys("name", "input")),  # Bedrock Converse
    "functionCall": _read_inside("functionCall", _by_keys("name", "args")),  # Gemini
    "attributes": _span,
}
"""The forms of a call that a key tells from others, by that key; the most specific forms first."""

_MARKS: Final = frozenset(_MARKED)
_NAMES: Final = ("name", "tool", "tool_name")
"""The keys of the name beside `arguments`: first that of our calls, of Responses, and of `tools/call`."""


def calls_in(record: Any) -> Sequence[RecordedCall]:
    """Return the calls in a record, in their order.

    Args:
        record: JSON values.
    """
    if isinstance(record, dict):  # not `is_object`: a call of it would take a tenth of the time
        call = _call(record)  # pyright: ignore[reportUnknownArgumentType]  # of whatever items
        if call is not None:  # most records are one call without other calls inside
            return (call,)
    return [*_found_in(record, _call)]


def count_bare_spans(record: Any) -> int:
    """Count the spans of calls that were recorded without arguments.

    Args:
        record: JSON values.
    """
    return sum(1 for _ in _found_in(record, _bare_span))


def _call(value: dict[str, Any]) -> RecordedCall | None:
    if not _MARKS.isdisjoint(value):
        for key, form in _MARKED.items():
            if key in value and (call := form(value)) is not None:
                return call
    if "arguments" in value:
        for key in _NAMES:
            name = value.get(key)
            if isinstance(name, str):
                return _new(RecordedCall, (name, value["arguments"]))
    return None


def _found_in(record: Any, read: Callable[[dict[str, Any]], _Found | None]) -> Iterator[_Found]:
    """Yield the results of a reader for the objects in a record, in order, but not for objects in results."""
    pending: list[tuple[Any, int]] = [(record, 0)]
    while pending:
        value, depth = pending.pop()
        if is_object(value):
            found = read(value)
            if found is not None:
                yield found
                continue
            inside = list(value.values())
        elif is_array(value):
            inside = value
        else:
            continue
        if depth < _MAX_DEPTH:
            pending += [(inner, depth + 1) for inner in reversed(inside)]
