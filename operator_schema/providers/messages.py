"""Anthropic's Messages: its wire form, its streams, and the providers that use it.

Source: https://docs.anthropic.com/en/api/messages and
https://docs.anthropic.com/en/docs/build-with-claude/streaming
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import copy_json, is_object
from ..tools import RawCall
from .answer import CONTAINER, Answer
from .anthropic_shared import ANTHROPIC_RULES, ANTHROPIC_STRICT, with_input_object
from .partial_response import (
    BlocksMerger,
    GrowingBlock,
    GrowingInput,
    GrowingList,
    GrowingObject,
    NumberedList,
    says_nothing,
)
from .provider import Provider
from .rules import Features, HostedTool, NameRule
from .wire_format import (
    IMAGES,
    PDF,
    BlockWire,
    arguments_object,
    described,
    described_schema,
    file_name,
    object_of,
    parts_of,
    program_of,
    text_or_none,
    usage_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..tools import File, Image, ToolDefinition, ToolResult
    from .answer import StopReason
    from .streamed_calls import StreamedCalls
    from .wire_format import Wanted

_STOPS: dict[str, StopReason] = {
    "tool_use": "calls",
    "end_turn": "end",
    "stop_sequence": "end",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
    "pause_turn": "paused",
    "compaction": "paused",
}


class MessagesWire(BlockWire):
    """Messages: calls and results are blocks of content."""

    CONTAINER = "container"
    STOPS = _STOPS
    STRICT_OUTPUTS = True

    def tool(self, definition: ToolDefinition, *, strict: bool) -> dict[str, Any]:
        """Return a tool in the form of the list of tools."""
        return described(definition, "input_schema", strict=strict)

    def choice(self, wanted: Wanted) -> dict[str, Any]:
        """Return the `tool_choice`."""
        if wanted.name is not None:
            return {"type": "tool", "name": wanted.name}
        return {"type": "any" if wanted.mode == "required" else wanted.mode}

    def ask_output(self, body: dict[str, Any], definition: ToolDefinition, *, strict: bool) -> None:  # noqa: ARG002  # there is no other mode
        """Set `output_config.format`."""
        body["output_config"] = {"format": {"type": "json_schema", "schema": described_schema(definition)}}

    def set_parallel(self, body: dict[str, Any], *, parallel: bool) -> None:
        """Set in the choice whether the model may make several calls at once, if it may call tools at all."""
        if body["tool_choice"]["type"] != "none":
            body["tool_choice"]["disable_parallel_tool_use"] = not parallel

    def add_cache_point(self, tools: list[dict[str, Any]], last: int, ttl: str | None) -> None:
        """Put the cache mark on the last tool that isn't deferred: the API refuses it on deferred ones."""
        tools[last]["cache_control"] = {"type": "ephemeral", **({} if ttl is None else {"ttl": ttl})}

    def load_found(
        self,
        messages: list[dict[str, Any]],
        place: int,
        names: Sequence[str],
        entries: Callable[[], list[dict[str, Any]]],  # noqa: ARG002  # the request lists them
    ) -> None:
        """Replace the text of a result by references to the tools."""
        found = [{"type": "tool_reference", "tool_name": name} for name in names]
        messages[0]["content"][place]["content"] = found

    def answers(self, response: Mapping[str, Any]) -> list[Answer]:
        """Return the only answer."""
        blocks = [object_of(block) for block in response["content"]]
        uses = [block for block in blocks if self.is_call(block)]
        calls = tuple(
            [
                RawCall(block["id"], block["name"], block.get("input"), caller=program_of(block))
                for block in uses
            ]
        )
        text = "".join([block["text"] for block in blocks if block.get("type") == "text"])
        raw = response.get("stop_reason")
        stop: StopReason = _STOPS.get(raw or "", "other")
        details: Any = response.get("stop_details") or {}
        refusal = (text or details.get("explanation") or None) if stop == "refused" else None
        sent = [with_input_object(block) for block in _sendable_blocks(blocks, is_cut=raw in _CUT)]
        # The API refuses messages without content.
        message = ({"role": "assistant", "content": sent},) if sent else ()
        if message and "container" in response and (stop == "paused" or any(call.caller for call in calls)):
            message = _with_container(message[0], response["container"])
        changes = response.get("input_transformations")
        thoughts = [block["thinking"] for block in blocks if block.get("type") == "thinking"]
        return [
            Answer(
                *(calls, text, refusal, stop, raw, message),
                reasoning="\n\n".join([thought for thought in thoughts if thought]),
                id=text_or_none(response.get("id")),
                usage=usage_of(response.get("usage"), ["input_tokens"], ["output_tokens"]),
                notes=_notes(changes) if changes else (),
            )
        ]

    def merger(self, calls: StreamedCalls) -> MessagesMerger:
        """Return the object that rebuilds the response from the events of a stream."""
        return MessagesMerger(calls)

    def call(self, call: RawCall) -> dict[str, Any]:
        """Return the block of a call."""
        return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments_object(call)}

    def text_block(self, text: str) -> dict[str, Any]:
        """Return a block of text."""
        return {"type": "text", "text": text}

    def is_call(self, block: Mapping[str, Any]) -> bool:
        """Return whether a block is a call for your program."""
        return block.get("type") == "tool_use"

    def result(self, result: ToolResult) -> dict[str, Any]:
        """Return the block of a result, with its images and PDFs."""
        # The API refuses blank text blocks.
        parts = parts_of(result, {*IMAGES, PDF})
        content = [_content_block(part) for part in parts if not isinstance(part, str) or part.strip()]
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": result.call_id, "content": content}
        return {**block, "is_error": True} if result.is_error else block


_NOTES = {
    "thinking_dropped": "the model didn't see the thinking at",
    "thinking_mismatch_allowed": "the model saw thinking that belongs to another conversation, at",
}
"""The changes and faults of a request that the API may report; unknown kinds are ignored."""


def _notes(changes: Any) -> tuple[str, ...]:
    """Return the changes of the request that the API reports, one sentence each."""
    known = [change for change in map(object_of, changes) if change.get("type") in _NOTES]
    return tuple(
        [
            " ".join([_NOTES[change["type"]], change["path"], *([f"({why})"] if why else [])])
            for change in known
            for why in [text_or_none(change.get("reason"))]
        ]
    )


_CUT = frozenset({None, "max_tokens", "model_context_window_exceeded", "refusal"})
"""The reasons for an answer that ended in the middle, so that calls of the API's own tools have no result."""


def _sendable_blocks(blocks: list[Mapping[str, Any]], *, is_cut: bool) -> list[Mapping[str, Any]]:
    """Return the blocks that the API accepts in the next request.

    It refuses blank text, an empty compaction, thinking whose signature is cut, and calls of its own tools
    without results.
    """
    done = {block.get("tool_use_id") for block in blocks}
    return [
        block
        for block in blocks
        if not (
            (block.get("type") == "text" and not block["text"].strip())
            or (block.get("type") == "thinking" and block.get("signature") == "")
            or (block.get("type") == "compaction" and block.get("content") == "")
            or (is_cut and block.get("type") in _HOSTED_CALLS and block.get("id") not in done)
        )
    ]


_HOSTED_CALLS = frozenset({"mcp_tool_use", "server_tool_use"})


def _with_container(message: dict[str, Any], container: Any) -> tuple[dict[str, Any]]:
    """Return a message with the sandbox in which a program waits, or a turn continues.

    Source: https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/programmatic-tool-calling
    """
    found = text_or_none(container.get("id")) if is_object(container) else None
    return (message if found is None else {**message, CONTAINER: found},)


def _content_block(part: str | Image | File) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    source = {"type": "base64", "media_type": part.media_type, "data": part.base64}
    if part.media_type in IMAGES:
        return {"type": "image", "source": source}
    return {"type": "document", "source": source, "title": file_name(part)}


class MessagesMerger(BlocksMerger):
    """A merger of the events of one message."""

    first_event = "message_start"

    @property
    def has_begun(self) -> bool:
        """Whether the message has begun."""
        return bool(self._response.content)

    @property
    def is_complete(self) -> bool:
        """Whether the reason for the end of the answer has come; it comes after all blocks."""
        return self._response.content.get("stop_reason") is not None

    def take(self, event: Mapping[str, Any]) -> None:
        """Take an event; unknown kinds are ignored, as the API asks."""
        match event["type"]:
            case "message_start":
                self._blocks.clear()
                self._known.restart()  # a gateway may start again with another server
                self._response = GrowingObject(object_of(event["message"]))
                self._response.hold("content", NumberedList(self._blocks))
            case "content_block_start":
                self._open.add(event["index"])
                self._begin(event["index"], object_of(event["content_block"]))
            case "content_block_stop":
                self._open.discard(event.get("index"))
            case "content_block_delta":
                self._grow(event["index"], object_of(event["delta"]))
            case "message_delta":
                self._end(event)
            case str():
                pass
            case _:
                raise TypeError

    def _begin(self, index: int, found: Mapping[str, Any]) -> None:
        block = self._blocks[index] = GrowingBlock(found)
        call = self._known.begin(found["id"], found["name"]) if found.get("type") == "tool_use" else None
        if call is not None or "input" in found:  # such as a call that Anthropic runs itself
            block.hold_input(GrowingInput(call, found.get("input") or {}, as_value=True), "input")
        self._show(index, found)

    def _grow(self, index: int, delta: Mapping[str, Any]) -> None:
        """Add a delta to a block; unknown kinds of deltas are merged by their form."""
        block, kind = self._blocks[index], delta["type"]
        if kind == "input_json_delta":
            taken = block.input or block.hold_input(GrowingInput(as_value=True), "input")
            taken.grow(delta["partial_json"])
        elif kind == "citations_delta":
            block.held("citations", GrowingList).add(GrowingObject(delta["citation"]))
        else:
            block.take(delta, {"type"})
            self._show(index, delta)

    def _show(self, index: int, more: Mapping[str, Any]) -> None:
        kind = self._blocks[index].content.get("type")
        if kind == "text" and "text" in more:
            self._known.said.add(more["text"])
        elif kind == "thinking" and "thinking" in more:
            self._known.think(more["thinking"], index)

    def response(self) -> dict[str, Any] | None:
        """Return the response so far; a signature that may be incomplete is left empty."""
        found = super().response()
        if found is not None and not self.is_complete:
            for block in self._unfinished(found["content"]):
                if block.get("type") == "thinking":
                    block["signature"] = ""
        return found

    def _end(self, event: Mapping[str, Any]) -> None:
        """Take the data at the end: why the model stopped, and the cost of the answer."""
        message = self._response.content
        for key, value in {**event, **object_of(event["delta"])}.items():
            before = message.get(key)
            if is_object(value) and is_object(before):
                known = {inner: found for inner, found in value.items() if found is not None}
                message[key] = {**before, **copy_json(known)}
            elif key not in {"delta", "type"} and not (before and (value == [] or says_nothing(key, value))):
                message[key] = copy_json(value)


_CODE_EXECUTION = tuple(
    [
        (version, HostedTool(version, "code_execution"))
        for version in ("code_execution_20250825", "code_execution_20260120", "code_execution_20260521")
    ]
)
ANTHROPIC_FEATURES = Features(
    searches=(
        ("bm25", HostedTool("tool_search_tool_bm25_20251119", "tool_search_tool_bm25")),
        ("regex", HostedTool("tool_search_tool_regex_20251119", "tool_search_tool_regex")),
    ),
    loads_found=True,
    cache=True,
    parallel=True,
    examples=True,
    callers=(("direct", None), *_CODE_EXECUTION),
    programs_alone=True,
    outputs_beside_tools=True,
    required_while_thinking=False,
)
"""Source: https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/tool-reference, and the pages there"""

anthropic = Provider(
    "Anthropic",
    MessagesWire(),
    NameRule(128),
    takes_unions=False,
    dialect=ANTHROPIC_STRICT,
    rules=ANTHROPIC_RULES,
    features=ANTHROPIC_FEATURES,
)
