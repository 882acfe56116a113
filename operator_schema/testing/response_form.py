"""The common parts of scripted responses in all providers' forms, such as writing arguments."""

from __future__ import annotations

from json import loads
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from ..codec.growing_json import GrowingJson
from ..immutable import Value
from ..json_values import copy_json, is_array, is_object, to_json_text
from ..providers import read_json
from ..tools.calls import RawCall

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Mapping

    from ..providers.provider import Provider

Stop: TypeAlias = Literal["end", "calls", "length", "refused"]
Json: TypeAlias = dict[str, Any]

_PIECE: Final = 8
"""How many characters of a text, or of JSON arguments, one event of a stream has."""


class Said(Value):
    """One answer of a script, independent of providers.

    Attributes:
        parts: texts and calls, in order; the calls have the provider's names of tools.
        stop: the reason why the model stopped.
        refusal: the text of a refusal, or None.
        number: number of the answer, from 1.
        model: name of the model.
        request: the body of the request, which determines the form of some tools.
    """

    parts: tuple[str | RawCall, ...]
    stop: Stop
    refusal: str | None
    number: int
    model: str
    request: Mapping[str, Any] = {}  # nobody changes it

    @property
    def text(self) -> str:
        """All texts."""
        return "".join([part for part in self.parts if isinstance(part, str)])

    @property
    def calls(self) -> list[RawCall]:
        """All calls."""
        return [part for part in self.parts if isinstance(part, RawCall)]


class ResponseForm:
    """The form in which a family of providers writes a response and its stream.

    Attributes:
        default: a provider of this form, for a script that names none.
        paths: matches the end of a request's path; its group `stream` matches if the request asks for a
            stream.
        content_type: content type of a stream.
        key: a key at the top of each answer, and of no error.
        streams: whether a request asks for a stream by default.
    """

    default: Provider
    paths: re.Pattern[str]
    content_type = "text/event-stream"
    key: str
    streams = False

    def for_request(self, request: Mapping[str, Any]) -> ResponseForm:  # noqa: ARG002  # most answer all alike
        """Return the form that a request wants for its answer."""
        return self

    def response(self, said: Said) -> Json:
        """Return the response; arguments may still be text although the provider has an object there."""
        raise NotImplementedError

    def whole(self, response: Json) -> Json:
        """Return the final form of a response without a stream."""
        return response

    def events(self, response: Mapping[str, Any]) -> Iterator[Json]:
        """Yield the events of a streamed response.

        Raises:
            KeyError, TypeError, AttributeError: the response has another form.
        """
        raise NotImplementedError

    def error(self, message: str) -> Json:
        """Return the body of an error."""
        raise NotImplementedError

    def is_answer(self, response: Mapping[str, Any]) -> bool:
        """Return whether a response is an answer, rather than an error."""
        return is_object(response.get(self.key)) or is_array(response.get(self.key))

    def written(self, event: Json) -> bytes:
        """Return an event as the bytes of a stream."""
        named = f"event: {event['type']}\n" if isinstance(event.get("type"), str) else ""
        return f"{named}data: {to_json_text(event)}\n\n".encode()

    def end(self) -> bytes:
        """Return the end of a stream."""
        return b""


# --- what a request says --------------------------------------------------------------------------


def tools_in(request: Any, kind: str) -> dict[str, Json]:
    """Return the tools of a kind, by name, that a request lists, loads, or has in its history."""
    found: dict[str, Json] = {}
    left: list[Any] = [request]
    while left:
        part = left.pop()
        if not is_object(part):
            continue
        if part.get("type") == kind:
            inner = part.get(kind)
            named = inner if is_object(inner) else part
            found[str(named.get("name"))] = dict(part)
        for key in ("tools", "input"):
            inside = part.get(key)
            left += inside if is_array(inside) else ()
    return found


def searched(said: Said) -> list[RawCall]:
    """List the calls that are tool searches, which the program has to answer; no tool has their name."""
    search = tools_in(said.request, "tool_search").get("None", {})
    parameters = search.get("parameters")
    if search.get("execution") != "client" or not is_object(parameters):
        return []
    known = {**tools_in(said.request, "function"), **tools_in(said.request, "custom")}
    properties = parameters.get("properties")
    taken = properties.keys() if is_object(properties) else frozenset[str]()
    values = [(call, as_value(call.arguments)) for call in said.calls if call.name not in known]
    return [call for call, value in values if is_object(value) and value.keys() <= taken]


# --- arguments -----------------------------------------------------------------------------------

BROKEN: Final = object()


def as_text(arguments: Any) -> str:
    """Return arguments as JSON text; text stays unchanged."""
    return arguments if isinstance(arguments, str) else to_json_text(arguments)


def as_value(arguments: Any) -> Any:
    """Return arguments as a JSON value; `BROKEN` for text that isn't JSON."""
    if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
        return {}
    if not isinstance(arguments, str):
        return copy_json(arguments)
    return read_json(arguments, BROKEN)


def caller_of(call: RawCall) -> Json:
    """Return the key that names the program that made a call; empty if none did."""
    return {} if call.caller is None else {"caller": call.caller}


def text_of_call(call: RawCall) -> str:
    """Return the text of a call of a custom tool: its only argument, or the whole arguments of the script."""
    value = as_value(call.arguments)
    texts = list(value.values()) if is_object(value) else []
    return texts[0] if len(texts) == 1 and isinstance(texts[0], str) else as_text(call.arguments)


def value_or_text(arguments: Any) -> Any:
    """Return arguments as a JSON value, or unchanged if they are text that isn't JSON."""
    value = as_value(arguments)
    return arguments if value is BROKEN else value


def members(text: str) -> Json:
    """Return the complete members of a JSON object in a text that was cut off."""
    parts = [loads(found) for _, found in GrowingJson().read(text)]
    return dict(zip(parts[::2], parts[1::2], strict=False))


def with_object(call: Json) -> Json:
    """Return a call whose input is an object; broken text becomes an object of its complete members."""
    return {**call, "input": members(call["input"])} if isinstance(call.get("input"), str) else call


def pieces_of(text: str) -> list[str]:
    """Split a text into the pieces for the events of a stream."""
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]


def deltas_of(content: Mapping[str, Any]) -> Iterator[Json]:
    """Yield an object part by part, with each text one piece at a time."""
    for key, value in content.items():
        if isinstance(value, str):
            yield from ({key: piece} for piece in pieces_of(value))
        elif value is not None:
            yield {key: value}


def without(content: Mapping[str, Any], *keys: str) -> Json:
    """Return an object without some keys."""
    return {key: value for key, value in content.items() if key not in keys}


def arguments_in(value: Any, path: str) -> list[Json]:
    """Return the parts of an argument, with each text one piece at a time."""
    if is_object(value) or is_array(value):
        inner = value.items() if is_object(value) else enumerate(value)
        steps = [(key if isinstance(key, int) else quoted_key(key), found) for key, found in inner]
        return [part for step, found in steps for part in arguments_in(found, f"{path}[{step}]")]
    if not isinstance(value, str):
        key = "nullValue" if value is None else "boolValue" if isinstance(value, bool) else "numberValue"
        return [{"jsonPath": path, key: "NULL_VALUE" if value is None else value}]
    pieces = pieces_of(value) or [""]
    parts: list[Json] = [{"jsonPath": path, "stringValue": piece, "willContinue": True} for piece in pieces]
    del parts[-1]["willContinue"]
    return parts


def comes_in_parts(value: Any) -> bool:
    """Return whether a value can be sent in parts; an empty object or list, or a huge integer, can't."""
    if is_object(value) or is_array(value):
        inner = list(value.values() if is_object(value) else value)
        return bool(inner) and all(comes_in_parts(found) for found in inner)
    return not isinstance(value, int) or abs(value) < _HUGE


_HUGE: Final = 2**53
"""Larger integers may not be exact in 64 bits (IEEE 754), which parts use."""


def quoted_key(key: str) -> str:
    """Return a key as a step of a path (RFC 9535)."""
    escaped = key.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
