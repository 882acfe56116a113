"""What a wire form has to say; one class for each form, one object for each provider."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

from ..immutable import Value
from ..json_values import is_object, to_json_text
from ..tools.calls import RawCall
from .answer import Usage

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ..tools.calls import ToolResult
    from ..tools.content import File, Image
    from ..tools.tool import ToolDefinition
    from .answer import Answer
    from .merger import Merger
    from .streamed_call import StreamedCalls

__all__ = [
    "CUSTOM",
    "IMAGES",
    "LEGACY",
    "PDF",
    "UNNAMED",
    "Wanted",
    "Wire",
    "arguments_object",
    "arguments_text",
    "custom_call",
    "custom_input",
    "data_url",
    "file_name",
    "is_custom",
    "object_of",
    "parts_of",
    "parsed_arguments",
    "text_or_none",
    "unnamed_call",
    "usage_of",
    "with_input_object",
]

UNNAMED = "operator_schema_"
"""What the ids begin with that calls get whose provider gives none; they are never sent."""

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Media types of the images that OpenAI and Anthropic take."""

PDF = "application/pdf"

LEGACY = f"{UNNAMED}function_"
"""What the ids of calls in OpenAI's old `function_call` begin with: their results have another role."""


CUSTOM = f"{UNNAMED}custom_"
"""What the ids of calls of OpenAI's custom tools begin with: they and their results have another form."""


class Wanted(Value):
    """What a request asks of the model.

    Attributes:
        mode: as that of a `ToolChoice`.
        name: on the wire, of the tool that it has to call; None in every other mode.
        strict: whether the provider has to hold the model to the schemas.
    """

    mode: Literal["auto", "required", "named", "none"]
    name: str | None = None
    strict: bool = False


class Wire(Protocol):
    """The wire form of one family of providers."""

    def tool(self, definition: ToolDefinition, *, strict: bool) -> dict[str, Any]:
        """Return a tool as it is in a request.

        Args:
            definition: with its name on the wire.
            strict: whether the provider has to hold the model to the schema.
        """
        ...

    def request(self, tools: Sequence[dict[str, Any]], wanted: Wanted) -> dict[str, Any]:
        """Return the fragment of the request body; nothing at all without tools.

        Args:
            tools: as `tool` returns them.
            wanted: what the model has to do with them.
        """
        ...

    def answers(self, response: Mapping[str, Any]) -> list[Answer]:
        """Return the answers in a response, with the names that are on the wire.

        Raises:
            KeyError, TypeError, ValueError, AttributeError: the response has another form.
        """
        ...

    def merger(self, calls: StreamedCalls) -> Merger:
        """Return what merges the events of one stream into a response, which `answers` reads.

        Args:
            calls: to which it adds the calls of the first answer while they come.
        """
        ...

    def calls_message(self, calls: Sequence[RawCall]) -> list[dict[str, Any]]:
        """Return the message or items that say that the model made these calls."""
        ...

    def calls_in(self, message: Mapping[str, Any]) -> int:
        """Count the calls in a message or an item of this form; one of another form has none.

        Raises:
            TypeError, AttributeError: the message has a form that nobody knows.
        """
        ...

    def results(self, results: Sequence[ToolResult]) -> list[dict[str, Any]]:
        """Return the messages or items that hold results."""
        ...


def arguments_text(call: RawCall) -> str:
    """Return the arguments of a call as JSON text."""
    if isinstance(call.arguments, str):
        return call.arguments
    return to_json_text({} if call.arguments is None else call.arguments)


def arguments_object(call: RawCall) -> Any:
    """Return the arguments of a call as a JSON object; what isn't one is wrapped, so that it isn't lost."""
    if not isinstance(call.arguments, str):
        return {} if call.arguments is None else call.arguments
    found = parsed_arguments(call)
    return found if is_object(found) else {"arguments": found}


def parsed_arguments(call: RawCall) -> Any:
    """Return the arguments of a call as JSON; text that isn't JSON, or has a key twice, stays text."""
    from json import loads

    if not isinstance(call.arguments, str):
        return call.arguments
    try:
        return loads(call.arguments, object_pairs_hook=_distinct_keys) if call.arguments.strip() else {}
    except (ValueError, RecursionError):
        return call.arguments


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        message = "a key is there more than once"
        raise ValueError(message)
    return found


def unnamed_call(name: str, arguments: Any, start: str = UNNAMED) -> RawCall:
    """Return a call for which the provider gives no id."""
    from os import urandom

    return RawCall(f"{start}{urandom(12).hex()}", name, arguments)


def custom_call(call_id: str, name: str, text: Any) -> RawCall:
    """Return a call of a custom tool, whose input is text: it becomes the parameter `input`.

    Source: https://platform.openai.com/docs/guides/function-calling#custom-tools
    """
    return RawCall(f"{CUSTOM}{call_id}", name, {"input": text})


def is_custom(call: RawCall | ToolResult) -> bool:
    """Return whether a call, or the one of a result, is that of a custom tool."""
    return (call.id if isinstance(call, RawCall) else call.call_id).startswith(CUSTOM)


def custom_input(call: RawCall) -> Any:
    """Return the input of a call of a custom tool: its text."""
    return arguments_object(call).get("input", "")


def object_of(value: Any) -> Mapping[str, Any]:
    """Return a JSON object.

    Raises:
        TypeError: it is something else.
    """
    if is_object(value):
        return value
    message = "expected a JSON object"
    raise TypeError(message)


def usage_of(found: Any, inputs: Sequence[str], outputs: Sequence[str]) -> Usage | None:
    """Return what an answer cost.

    Args:
        found: what the provider says of it.
        inputs: keys of numbers of tokens whose sum is that of the request.
        outputs: the same for the answer.

    Returns:
        None if the provider doesn't say anything.
    """
    if not is_object(found) or not found:
        return None
    return Usage(_sum_of(found, inputs), _sum_of(found, outputs), found)


def _sum_of(found: Mapping[str, Any], keys: Sequence[str]) -> int | None:
    counts = [found[key] for key in keys if type(found.get(key)) is int]
    return sum(counts) if counts else None


def text_or_none(found: Any) -> str | None:
    """Return a text that an answer may lack, such as an id; None for anything else."""
    return found if isinstance(found, str) and found else None


def parts_of(result: ToolResult, types: Collection[str]) -> list[str | Image | File]:
    """List the parts of a result, in order: images and files, and the text of all others.

    Args:
        result: of a call.
        types: media types that the provider takes; what is of another type is told in words.
    """
    from ..tools.content import File, Image

    return [
        part if isinstance(part, (Image, File)) and part.media_type in types else part.as_text()
        for part in result.parts
    ]


def data_url(part: Image | File) -> str:
    """Return an image or a file as a `data:` URL (RFC 2397)."""
    return f"data:{part.media_type};base64,{part.base64}"


def file_name(part: Image | File) -> str:
    """Return the name of a file; `file.pdf` for one that has none, as providers ask for a name."""
    return getattr(part, "name", None) or f"file.{part.media_type.rpartition('/')[2]}"


def with_input_object(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a call of an answer as it can be sent: its `input` may be text that lacks its end."""
    found: Any = block.get("input")
    return {**block, "input": {"arguments": found}} if isinstance(found, str) else block
