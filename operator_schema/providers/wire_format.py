"""Shared parts of the wire forms. Each family of providers has its wire form in its own module."""

from __future__ import annotations

from itertools import chain, groupby
from operator import methodcaller
from os import urandom
from typing import TYPE_CHECKING, Any, Literal, cast

from ..immutable import Value
from ..json_values import is_array, is_object, to_json_text
from ..tools import RawCall
from .answer import Usage
from .response_json import parsed_arguments
from .rules import UNNAMED

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from ..tools import File, Image, ToolDefinition, ToolResult
    from .answer import Answer, StopReason
    from .partial_response import Merger
    from .streamed_calls import StreamedCalls

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Media types of the images that OpenAI and Anthropic take."""

PDF = "application/pdf"


class Wanted(Value):
    """Whether a request lets or makes the model call tools.

    Attributes:
        mode: the mode, as in a `ToolChoice`.
        name: the name on the wire of the tool that it has to call; None in every other mode.
        strict: whether the provider has to hold the model to the schemas.
    """

    mode: Literal["auto", "required", "named", "none"]
    name: str | None = None
    strict: bool = False


_NO_STOPS: dict[str, StopReason] = {}


class Wire(Value):
    """The wire form of one family of providers: the common parts, with hooks for the differences.

    `HISTORY` is the key for the messages of a conversation in a request, and `FORMS` contains the forms of
    messages that the provider takes; see `form_of`. `ROLES` contains the roles of messages, and `OTHER_ROLES`
    says whether a model may have further roles. `CONTAINER` is the key for the sandbox in which a program
    waits for results, or for the token of an answer that continues; empty if there is none. `REPEATS` says
    that an answer continues when the same request is sent again, with the token in place of the answer so
    far. `STOPS` contains each word of the provider for why the model stopped. `STRICT_OUTPUTS` says whether
    the schema of an answer has to be in the dialect of the strict mode.
    """

    HISTORY = "messages"
    STOPS = _NO_STOPS
    FORMS = frozenset({"text", "parts"})
    ROLES = frozenset({"user", "assistant", "system", "developer", "tool", "function"})
    OTHER_ROLES = False
    CONTAINER = ""
    STRICT_OUTPUTS = False
    REPEATS = False

    def tool(self, definition: ToolDefinition, *, strict: bool) -> dict[str, Any]:
        """Return a tool in the form of a request.

        Args:
            definition: the definition with its name on the wire.
            strict: whether the provider has to hold the model to the schema.
        """
        raise NotImplementedError

    def choice(self, wanted: Wanted) -> Any:
        """Return the part of a request that says whether the model may or must call tools."""
        raise NotImplementedError

    def request(self, tools: Sequence[dict[str, Any]], wanted: Wanted) -> dict[str, Any]:
        """Return the fragment of the body of a request with the tools.

        Args:
            tools: the tools, as returned by `tool`.
            wanted: whether the model may or must call them.
        """
        return {"tools": tools, "tool_choice": self.choice(wanted)}

    def ask_output(self, body: dict[str, Any], definition: ToolDefinition, *, strict: bool) -> None:
        """Set in the body of a request which JSON Schema the answer has to fit.

        Args:
            body: the body of the request; it is changed.
            definition: name, description and schema of the answer.
            strict: whether the provider has to hold the model to the schema.
        """
        raise NotImplementedError

    def custom_tool(self, name: str, description: str, grammar: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return a tool that takes text, in the form of a request.

        Args:
            name: the name on the wire.
            description: the description for the model.
            grammar: `syntax` and `definition` of the text; None for any text.
        """
        raise NotImplementedError

    def custom_choice(self, name: str) -> Any:
        """Return the choice that requires a tool that takes text."""
        raise NotImplementedError

    def allowed_choice(self, mode: Literal["auto", "required"], names: Mapping[str, bool]) -> Any:
        """Return the choice that allows some of the listed tools.

        Args:
            mode: whether the model may or must call one of them.
            names: whether each tool takes text, by its name on the wire.
        """
        raise NotImplementedError

    def choose(self, body: dict[str, Any], choice: Any) -> None:
        """Set the tool choice in a fragment of a request, in place of any earlier one."""
        body["tool_choice"] = choice

    def set_parallel(self, body: dict[str, Any], *, parallel: bool) -> None:
        """Set in the fragment of a request whether the model may make several calls at once."""
        body["parallel_tool_calls"] = parallel

    def add_cache_point(self, tools: list[dict[str, Any]], last: int, ttl: str | None) -> None:
        """Make the provider cache the request up to the end of the tools.

        Args:
            tools: the tools in the form of a request.
            last: the position of the last tool that isn't deferred.
            ttl: the lifetime of the cache; None for the provider's default.
        """
        raise NotImplementedError

    def own_search(self, entry: Mapping[str, Any]) -> dict[str, Any] | None:  # noqa: ARG002  # most need nothing of it
        """Return your own search in the provider's form, if the request doesn't list the tools that it finds.

        Args:
            entry: the search, as returned by `tool`.

        Returns:
            None if the search is a tool like all others, and all deferred tools are listed.
        """
        return None

    def load_found(
        self,
        messages: list[dict[str, Any]],
        place: int,
        names: Sequence[str],
        entries: Callable[[], list[dict[str, Any]]],
    ) -> None:
        """Make the result of a search load the tools that it found.

        Args:
            messages: the messages, as returned by `results`.
            place: the position of the result among all results.
            names: the names of the tools, on the wire.
            entries: a function that returns the tools in the form of a request, as deferred ones.
        """
        raise NotImplementedError

    def name_callers(self, messages: list[dict[str, Any]], calls: Sequence[RawCall]) -> None:
        """Set in the messages of results which program made the calls, if the provider needs that.

        Args:
            messages: the messages, as returned by `results`.
            calls: the calls, one for each result.
        """

    def answers(self, response: Mapping[str, Any]) -> list[Answer]:
        """Return the answers in a response, with the names on the wire.

        Raises:
            KeyError, TypeError, ValueError, AttributeError: the response isn't in the expected form.
        """
        raise NotImplementedError

    def merger(self, calls: StreamedCalls) -> Merger:
        """Return an object that merges the events of one stream into a response for `answers`."""
        raise NotImplementedError

    def call(self, call: RawCall) -> dict[str, Any]:
        """Return a call in the form of the message, or of the items, of the model."""
        raise NotImplementedError

    def text_message(self, role: Literal["user", "assistant"], text: str) -> dict[str, Any]:
        """Return a message with only a text."""
        return {"role": role, "content": text}

    def calls_message(self, calls: Sequence[RawCall], text: str = "") -> list[dict[str, Any]]:
        """Return the message or items with these calls of the model, and a text before them."""
        said = [self.text_message("assistant", text)] if text else []
        return [*said, *[self.call(call) for call in calls]]

    def with_stand_ins(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return messages of another provider's model, with the additions that this provider requires.

        Args:
            messages: the messages, as returned by `calls_message`.
        """
        return messages

    def with_whole_calls(self, messages: list[Any], calls: Sequence[RawCall]) -> list[Any]:
        """Return the messages of an answer, in which a call that was cut off has readable arguments.

        Args:
            messages: the messages of the answer; they may be changed.
            calls: the calls in the messages.
        """
        del calls  # most forms have arguments as objects
        return messages

    def complete(self, body: dict[str, Any]) -> None:
        """Add the data to a request that its history needs."""

    def with_calls(
        self,
        messages: Sequence[Any],  # noqa: ARG002  # most keep nothing of them
        text: str,  # noqa: ARG002  # as above
        calls: Sequence[RawCall],
    ) -> list[dict[str, Any]]:
        """Return the model's messages with calls in place of the text that contained them.

        Args:
            messages: the messages of the answer.
            text: the model's text before the calls.
            calls: the calls found in the text.
        """
        return self.calls_message(calls)

    def calls_in(self, message: Mapping[str, Any]) -> int:
        """Count the calls in a message or an item of this form; return 0 for another form.

        Raises:
            TypeError, AttributeError: the message has an unknown form.
        """
        raise NotImplementedError

    def result(self, result: ToolResult) -> dict[str, Any]:
        """Return the message, item or block that holds a result."""
        raise NotImplementedError

    def results(self, results: Sequence[ToolResult]) -> list[dict[str, Any]]:
        """Return the messages or items that hold results."""
        return [self.result(result) for result in results]


class BlockWire(Wire):
    """A wire form with lists of blocks: one message contains all calls, and one message all results.

    `ROLE` is the role of the model, `BLOCKS` the key of the list, and `ALTERNATES` whether the provider
    refuses consecutive messages with the same role.
    """

    ROLE = "assistant"
    ROLES = frozenset({"user", "assistant", "system"})
    BLOCKS = "content"
    ALTERNATES = False

    def complete(self, body: dict[str, Any]) -> None:
        """Merge consecutive messages with the same role, if roles must alternate."""
        if self.ALTERNATES:
            groups = [[*messages] for _, messages in groupby(body[self.HISTORY], methodcaller("get", "role"))]
            joined = [messages if len(messages) == 1 else self._in_one(messages) for messages in groups]
            body[self.HISTORY] = [*chain.from_iterable(joined)]

    def _in_one(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return one message with the blocks of several; leave messages of another form unchanged."""
        several = [message.get(self.BLOCKS) for message in messages]
        if not all(is_array(blocks) for blocks in several):
            return messages
        return [{**messages[0], self.BLOCKS: [block for blocks in several for block in blocks or ()]}]

    def text_message(self, role: Literal["user", "assistant"], text: str) -> dict[str, Any]:
        """Return a message with only a text."""
        return {"role": "user" if role == "user" else self.ROLE, self.BLOCKS: [self.text_block(text)]}

    def text_block(self, text: str) -> dict[str, Any]:
        """Return a block of text."""
        return {"text": text}

    def is_call(self, block: Mapping[str, Any]) -> bool:
        """Return whether a block is a call."""
        raise NotImplementedError

    def result_blocks(self, result: ToolResult) -> list[dict[str, Any]]:
        """Return the blocks that hold a result."""
        return [self.result(result)]

    def calls_message(self, calls: Sequence[RawCall], text: str = "") -> list[dict[str, Any]]:
        """Return the model's message with a text and calls."""
        said = [self.text_block(text)] if text else []
        return [{"role": self.ROLE, self.BLOCKS: [*said, *[self.call(call) for call in calls]]}]

    def calls_in(self, message: Mapping[str, Any]) -> int:
        """Count the blocks of calls in a message."""
        blocks = message.get(self.BLOCKS) or ()
        return len([block for block in blocks if is_object(block) and self.is_call(block)])

    def results(self, results: Sequence[ToolResult]) -> list[dict[str, Any]]:
        """Return one message with all results, and the images and files that the provider takes."""
        blocks = [block for result in results for block in self.result_blocks(result)]
        return [{"role": "user", self.BLOCKS: blocks}] if blocks else []


def form_of(message: Any) -> str:
    """Return the form of a message or an item.

    Returns:
        `item` (Responses), `gemini`, `blocks` (Bedrock), `parts` (content in parts with a type) or `text`; an
        empty string for anything else.
    """
    if not is_object(message):
        return ""
    if "role" not in message or "type" in message:
        return "item" if "type" in message else ""
    if "parts" in message:
        return "gemini"
    content = message.get("content")
    if not is_array(content):
        return "text" if content is None or isinstance(content, str) else ""
    return "parts" if all(is_object(part) and "type" in part for part in content) else "blocks"


def text_in(messages: Any) -> str:
    """Return the text in messages of the model, in any form, for a provider with another form."""
    if isinstance(messages, str):
        return messages
    if is_array(messages):
        return "".join([text_in(message) for message in messages])
    if not is_object(messages) or messages.get("thought"):
        return ""
    kind = messages.get("type")
    if kind == "reasoning" or (isinstance(kind, str) and kind.endswith("_result")):
        return ""  # the findings of a provider's tool aren't text of the model
    inner = [messages.get(key) for key in ("tool_plan", "content", "parts", "citationsContent")]
    said = messages.get("text")
    return (said if isinstance(said, str) else "") + "".join([text_in(found) for found in inner])


def described(definition: ToolDefinition, schema_key: str, *, strict: bool) -> dict[str, Any]:
    """Return name, description and schema of a tool, in the form of most providers."""
    found = {
        "name": definition["name"],
        "description": definition["description"],
        schema_key: definition["input_schema"],
    }
    return {**found, "strict": True} if strict else found


def described_schema(definition: ToolDefinition) -> dict[str, Any]:
    """Return the schema of an answer with its description, for a provider that has no other place for it."""
    return {"description": definition["description"], **definition["input_schema"]}


def as_written(call: RawCall) -> str:
    """Return the arguments of a call as text, even if they aren't JSON."""
    found = call.arguments
    return found if isinstance(found, str) else to_json_text(found)


def arguments_text(call: RawCall) -> str:
    """Return the arguments of a call as the JSON text of an object, which several servers parse."""
    text = call.arguments
    if isinstance(text, str) and text.strip() and is_object(parsed_arguments(call)):
        return text
    return to_json_text(arguments_object(call))


def arguments_object(call: RawCall) -> Any:
    """Return the arguments of a call as a JSON object; any other value is wrapped, so that it isn't lost."""
    if not isinstance(call.arguments, str):
        return {} if call.arguments is None else call.arguments
    found = parsed_arguments(call)
    return found if is_object(found) else {"arguments": found}


def unnamed_call(name: str, arguments: Any, start: str = UNNAMED) -> RawCall:
    """Return a call for which the provider gives no id."""
    return RawCall(f"{start}{urandom(12).hex()}", name, arguments)


def has_id_of(one: RawCall | ToolResult, start: str) -> bool:
    """Return whether the id of a call, or of a result's call, has this beginning; see `rules.py`."""
    return (one.id if isinstance(one, RawCall) else one.call_id).startswith(start)


def program_of(found: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the `caller` of a call; None if the model itself made the call, as for most calls."""
    caller = found.get("caller")
    return caller if is_object(caller) and caller.get("type") != "direct" else None


def object_of(value: Any) -> Mapping[str, Any]:
    """Check and return a JSON object.

    Raises:
        TypeError: the value isn't a JSON object.
    """
    if isinstance(value, dict):  # not `is_object`: this runs for every part of an answer
        return cast("Mapping[str, Any]", value)
    message = "expected a JSON object"
    raise TypeError(message)


def usage_of(found: Any, inputs: Sequence[str], outputs: Sequence[str]) -> Usage | None:
    """Return the tokens that an answer cost.

    Args:
        found: the provider's own data.
        inputs: keys of the numbers of tokens that add up to the tokens of the request.
        outputs: the same for the answer.

    Returns:
        None if the provider doesn't report any.
    """
    if not found or not is_object(found):
        return None
    return Usage(_sum_of(found, inputs), _sum_of(found, outputs), found)


def _sum_of(found: Mapping[str, Any], keys: Sequence[str]) -> int | None:
    counts = [found[key] for key in keys if _is_count(found.get(key))]
    return int(sum(counts)) if counts else None


def _is_count(value: Any) -> bool:
    """Return whether a value is an integer, or a float without fraction, as in Cohere's answers."""
    return type(value) is int or (type(value) is float and value.is_integer())


def failed_calls(body: Mapping[str, Any]) -> list[RawCall]:
    """Return the calls in an error that contains the model's text, as in Groq's errors."""
    error = body.get("error")
    text = error.get("failed_generation") if is_object(error) else None
    if not isinstance(text, str):
        return []
    from .written_calls import written_calls

    return written_calls(text)


def text_or_none(found: Any) -> str | None:
    """Return a text that an answer may lack, such as an id; None for any other value."""
    return found if isinstance(found, str) and found else None


def parts_of(result: ToolResult, types: Collection[str]) -> list[str | Image | File]:
    """List the parts of a result, in order: images and files, and the text of all others.

    Args:
        result: the result of a call.
        types: the media types that the provider takes; text describes all other files.
    """
    from ..tools import File, Image

    return [
        part if isinstance(part, (Image, File)) and part.media_type in types else part.as_text()
        for part in result.parts
    ]


def file_name(part: Image | File) -> str:
    """Return the name of a file; `file.pdf` if it has none, since providers require a name."""
    return getattr(part, "name", None) or f"file.{part.media_type.rpartition('/')[2]}"
