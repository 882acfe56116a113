"""Amazon Bedrock's Converse: its wire form, its streams, and the providers that use it.

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html and
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..json_values import copy_json, is_array, is_object, to_json_text
from ..tools import RawCall
from .answer import Answer
from .anthropic_shared import ANTHROPIC_RULES, ANTHROPIC_STRICT, with_input_object
from .partial_response import (
    BlocksMerger,
    GrowingBlock,
    GrowingInput,
    GrowingList,
    GrowingObject,
    NumberedList,
)
from .provider import Provider
from .rules import Features, NameRule
from .wire_format import (
    IMAGES,
    PDF,
    BlockWire,
    arguments_object,
    described,
    file_name,
    object_of,
    parts_of,
    usage_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    "guardrail_intervened": "filtered",
    "content_filtered": "filtered",
    "malformed_model_output": "other",
    "malformed_tool_use": "other",
}
_NOTHING = "(nothing)"
_GONE = "This tool isn't offered any more: don't call it."

_OFFICE = "application/vnd.openxmlformats-officedocument"
_FORMATS = {
    "image/png": "png",
    "image/jpeg": "jpeg",
    "image/gif": "gif",
    "image/webp": "webp",
    PDF: "pdf",
    "text/csv": "csv",
    "text/html": "html",
    "text/markdown": "md",
    "text/plain": "txt",
    "application/msword": "doc",
    "application/vnd.ms-excel": "xls",
    f"{_OFFICE}.spreadsheetml.sheet": "xlsx",
    f"{_OFFICE}.wordprocessingml.document": "docx",
}
"""Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html"""


class ConverseWire(BlockWire):
    """Converse: calls and results are blocks of content."""

    FORMS = frozenset({"blocks"})
    STOPS = _STOPS
    # Its error says "A conversation must alternate between user and assistant roles".
    ALTERNATES = True
    STRICT_OUTPUTS = True

    def tool(self, definition: ToolDefinition, *, strict: bool) -> dict[str, Any]:
        """Return a tool in the form of the list of tools."""
        found = described(definition, "inputSchema", strict=strict)
        found["description"] = found["description"] or found["name"]  # it may not be empty
        return {"toolSpec": {**found, "inputSchema": {"json": definition["input_schema"]}}}

    def choice(self, wanted: Wanted) -> dict[str, Any]:
        """Return the `toolChoice`."""
        if wanted.name is not None:
            return {"tool": {"name": wanted.name}}
        return {"any" if wanted.mode == "required" else "auto": {}}

    def request(self, tools: Sequence[dict[str, Any]], wanted: Wanted) -> dict[str, Any]:
        """Return `toolConfig`.

        If no tool may be called, the tools are sent without a choice: Converse has no word for that, and
        refuses a conversation that has calls or results in a request without tools.
        """
        choice = {} if wanted.mode == "none" else {"toolChoice": self.choice(wanted)}
        return {"toolConfig": {"tools": tools, **choice}}

    def ask_output(self, body: dict[str, Any], definition: ToolDefinition, *, strict: bool) -> None:  # noqa: ARG002  # there is no other mode
        """Set `outputConfig.textFormat`, in which the schema is a text."""
        found = described(definition, "schema", strict=False)
        schema = {**found, "schema": to_json_text(definition["input_schema"])}
        body["outputConfig"] = {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": schema}}}

    def add_cache_point(self, tools: list[dict[str, Any]], last: int, ttl: str | None) -> None:
        """Add a cache point after the tools."""
        tools.insert(last + 1, {"cachePoint": {"type": "default", **({} if ttl is None else {"ttl": ttl})}})

    def answers(self, response: Mapping[str, Any]) -> list[Answer]:
        """Return the only answer."""
        message = object_of(object_of(response["output"])["message"])
        blocks = [object_of(block) for block in message.get("content") or ()]
        uses = [object_of(block["toolUse"]) for block in blocks if _is_own_call(block)]
        calls = tuple([RawCall(use["toolUseId"], use["name"], use.get("input")) for use in uses])
        text = "".join([part["text"] for block in blocks for part in _texts(block) if "text" in part])
        raw = response.get("stopReason")
        sent = [
            {**block, "toolUse": with_input_object(block["toolUse"])} if "toolUse" in block else block
            for block in blocks
            if not _is_refused(block)
        ]
        said = ({**message, "content": sent},) if sent else ()
        return [
            Answer(
                *(calls, text, None, _STOPS.get(raw or "", "other"), raw, said),
                reasoning="\n\n".join([thought for block in blocks for thought in _thoughts(block)]),
                usage=usage_of(response.get("usage"), ["inputTokens"], ["outputTokens"]),
            )
        ]

    def merger(self, calls: StreamedCalls) -> ConverseMerger:
        """Return the object that rebuilds the response from the events of a stream."""
        return ConverseMerger(calls)

    def complete(self, body: dict[str, Any]) -> None:
        """Add the tools called in the history to a request without tools, which Converse would refuse."""
        super().complete(body)
        blocks = [block for message in body[self.HISTORY] for block in message.get("content") or ()]
        names = dict.fromkeys(
            [
                block["toolUse"]["name"]
                for block in blocks
                if is_object(block) and is_object(block.get("toolUse"))
            ]
        )
        if names and "toolConfig" not in body:
            schema = {"json": {"type": "object"}}
            tools = [
                {"toolSpec": {"name": name, "description": _GONE, "inputSchema": schema}} for name in names
            ]
            body["toolConfig"] = {"tools": tools}

    def call(self, call: RawCall) -> dict[str, Any]:
        """Return the block of a call."""
        return {"toolUse": {"toolUseId": call.id, "name": call.name, "input": arguments_object(call)}}

    def is_call(self, block: Mapping[str, Any]) -> bool:
        """Return whether a block is a call."""
        return "toolUse" in block

    def result(self, result: ToolResult) -> dict[str, Any]:
        """Return the block of a result, with images and files in the formats that the API takes."""
        parts = [part for part in parts_of(result, _FORMATS) if not isinstance(part, str) or part.strip()]
        # The API refuses blank text, and a result needs content.
        content = [_content_block(place, part) for place, part in enumerate(parts or [_NOTHING])]
        status = "error" if result.is_error else "success"
        return {"toolResult": {"toolUseId": result.call_id, "content": content, "status": status}}


def _is_refused(block: Mapping[str, Any]) -> bool:
    """Return whether the API refuses to take back a block: blank text, or thinking without its signature."""
    thought = object_of(object_of(block.get("reasoningContent") or {}).get("reasoningText") or {})
    text = block.get("text")
    return not block or (isinstance(text, str) and not text.strip()) or thought.get("signature") == ""


def _is_own_call(block: Mapping[str, Any]) -> bool:
    """Return whether a block is a call for your program; Bedrock runs some calls itself."""
    return "toolUse" in block and object_of(block["toolUse"]).get("type") != "server_tool_use"


def _texts(block: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """List the objects in a block that may have text: the block, or the parts of a text with citations."""
    cited = block.get("citationsContent")
    return [block] if cited is None else [object_of(part) for part in object_of(cited).get("content") or ()]


def _thoughts(block: Mapping[str, Any]) -> list[str]:
    """List the reasoning in a block; some of it may be encrypted."""
    thought = object_of(object_of(block.get("reasoningContent") or {}).get("reasoningText") or {})
    return [thought["text"]] if thought.get("text") else []


def _content_block(place: int, part: str | Image | File) -> dict[str, Any]:
    if isinstance(part, str):
        return {"text": part}
    source = {"format": _FORMATS[part.media_type], "source": {"bytes": part.data}}
    if part.media_type in IMAGES:
        return {"image": source}
    # The API refuses other letters, several spaces, and two files with the same name.
    stem = file_name(part).rpartition(".")[0] or "file"
    name = re.sub(r"[^A-Za-z0-9()\[\]-]+", " ", stem)[:150].strip() or "file"
    return {"document": {"name": f"{name} {place}", **source}}


class ConverseMerger(BlocksMerger):
    """A merger of events, each an object with its kind as the only key."""

    is_binary = True

    def __init__(self, calls: StreamedCalls) -> None:
        super().__init__(calls)
        self._message = self._response.held("output", GrowingObject).held("message", GrowingObject)
        self._message.hold("content", NumberedList(self._blocks))

    @property
    def has_begun(self) -> bool:
        """Whether the message has begun; its first event may be missing."""
        return bool(self._message.content or self._blocks or self.is_complete)

    @property
    def is_complete(self) -> bool:
        """Whether the reason for the end of the answer has come; it comes after all blocks."""
        return self._response.content.get("stopReason") is not None

    def take(self, event: Mapping[str, Any]) -> None:
        """Take an event; unknown kinds are ignored."""
        for kind, value in event.items():
            content = object_of(value)
            if kind == "messageStart":
                self._message.put({"role": content["role"]})
            elif kind in {"messageStop", "metadata"}:
                self._response.content.update(copy_json(content))
            elif kind == "contentBlockStop":
                self._open.discard(content.get("contentBlockIndex"))
            elif kind == "contentBlockStart":
                self._begin(self._block(content), object_of(content["start"]))
            elif kind == "contentBlockDelta":
                self._grow(self._block(content), content["contentBlockIndex"], object_of(content["delta"]))

    def _block(self, content: Mapping[str, Any]) -> GrowingBlock:
        index = content["contentBlockIndex"]
        if index not in self._blocks:
            self._open.add(index)
        return self._blocks.setdefault(index, GrowingBlock())

    def _begin(self, block: GrowingBlock, start: Mapping[str, Any]) -> None:
        block.take(start)
        if "toolUse" in start:
            use = start["toolUse"]
            call = self._known.begin(use["toolUseId"], use["name"]) if _is_own_call(start) else None
            block.hold_input(GrowingInput(call, {}, as_value=True), "toolUse", "input")

    def _grow(self, block: GrowingBlock, index: Any, delta: Mapping[str, Any]) -> None:
        for kind, value in delta.items():
            if kind == "text":
                block.append("text", value)
                self._known.said.add(value)
            elif kind == "toolUse":
                _grow_use(block, object_of(value))
            elif kind == "citation":
                block.held(_CITATIONS, GrowingList).add(GrowingObject(object_of(value)))
            elif kind == "reasoningContent":
                self._grow_reasoning(block, index, object_of(value))
            elif kind == "toolResult" and is_array(value):  # of a tool that Bedrock runs
                block.take({"toolResult": {"content": value}})
            else:
                block.take({kind: value})

    def _grow_reasoning(self, block: GrowingBlock, index: Any, delta: Mapping[str, Any]) -> None:
        reasoning = block.held("reasoningContent", GrowingObject)
        for kind, value in delta.items():
            if kind == "redactedContent":  # botocore gives bytes, JSON has base64
                reasoning.take({kind: value})
            else:
                reasoning.held("reasoningText", GrowingObject).take({kind: value})
                if kind == "text":
                    self._known.think(value, index)

    def response(self) -> dict[str, Any] | None:
        """Return the response so far."""
        found = super().response()
        if found is not None:
            message = found["output"]["message"]
            message.setdefault("role", "assistant")
            for block in self._unfinished(message["content"]):
                thought = block.get("reasoningContent", {}).get("reasoningText")
                if thought is not None:
                    thought["signature"] = ""
            message["content"] = [_with_citations(block) for block in message["content"]]
        return found


_CITATIONS = "citations"


def _grow_use(block: GrowingBlock, delta: Mapping[str, Any]) -> None:
    if block.input is None:
        raise TypeError
    block.input.grow(delta.get("input", ""))
    block.held("toolUse", GrowingObject).take(delta, {"input"})


def _with_citations(block: dict[str, Any]) -> dict[str, Any]:
    """Return a block in which a text with citations has the same form as without a stream."""
    if _CITATIONS not in block:
        return block
    citations = block.pop(_CITATIONS)
    return {"citationsContent": {"content": [block], "citations": citations}}


bedrock = Provider(
    "Bedrock Converse",
    ConverseWire(),
    NameRule(),
    takes_unions=False,
    dialect=ANTHROPIC_STRICT,  # most models there that take `strict` are Anthropic's
    rules=ANTHROPIC_RULES,
    # Only InvokeModel has the search for tools.
    features=Features(cache=True, outputs_beside_tools=True, required_while_thinking=False),
)
