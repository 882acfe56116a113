"""The wire form of Gemini's generateContent.

Source: https://ai.google.dev/api/generate-content and https://ai.google.dev/api/caching#Tool
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..immutable import Value
from ..json_values import is_object
from ..tools.calls import RawCall
from .answer import Answer, marked_if_cut
from .wire import PDF, UNNAMED, arguments_object, object_of, parts_of, text_or_none, unnamed_call, usage_of
from .written_calls import written_calls

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..tools.calls import ToolResult
    from ..tools.tool import ToolDefinition
    from .answer import StopReason
    from .generate_content_stream import GenerateContentMerger
    from .streamed_call import StreamedCalls
    from .wire import Wanted

__all__ = ["GenerateContentWire"]

_STOPS: dict[str, StopReason] = {
    "STOP": "end",
    "MAX_TOKENS": "length",
    "SAFETY": "filtered",
    "RECITATION": "filtered",
    "BLOCKLIST": "filtered",
    "PROHIBITED_CONTENT": "filtered",
    "SPII": "filtered",
}
_TYPES = frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", PDF})
"""Source: https://ai.google.dev/gemini-api/docs/image-understanding and .../document-processing"""

_UNREADABLE = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"})
"""Why an answer ended whose calls, if it says them, are text in `finishMessage`."""

_MODES = {"auto": "AUTO", "required": "ANY", "named": "ANY", "none": "NONE"}


class GenerateContentWire(Value):
    """generateContent: calls and results are parts; a call may have no id.

    Attributes:
        schema_key: where the schema of a tool stands.
    """

    schema_key: str = "parametersJsonSchema"

    def tool(
        self,
        definition: ToolDefinition,
        *,
        strict: bool,  # noqa: ARG002  # the mode of the request says it
    ) -> dict[str, Any]:
        """Return a tool as it is in the list of tools."""
        return {
            "name": definition["name"],
            "description": definition["description"],
            self.schema_key: definition["input_schema"],
        }

    def request(self, tools: Sequence[dict[str, Any]], wanted: Wanted) -> dict[str, Any]:
        """Return `tools` and `toolConfig`; nothing at all without tools."""
        if not tools:
            return {}
        config: dict[str, Any] = {"mode": _MODES[wanted.mode]}
        if wanted.strict and wanted.mode == "auto":
            config["mode"] = "VALIDATED"  # it may answer without a call, but a call fits
        if wanted.name is not None:
            config["allowedFunctionNames"] = [wanted.name]
        return {
            "tools": [{"functionDeclarations": tools}],
            "toolConfig": {"functionCallingConfig": config},
        }

    def answers(self, response: Mapping[str, Any]) -> list[Answer]:
        """Return the answer of each candidate; one that was blocked where there is none."""
        about = {
            "id": text_or_none(response.get("responseId")),
            "usage": usage_of(
                response.get("usageMetadata"),
                ["promptTokenCount", "toolUsePromptTokenCount"],
                ["candidatesTokenCount", "thoughtsTokenCount"],
            ),
        }
        candidates = [
            _answer(object_of(found)).replace(**about) for found in response.get("candidates") or ()
        ]
        if candidates:
            return candidates
        if "promptFeedback" not in response:
            raise KeyError("candidates")  # noqa: EM101  # the key that is missing
        blocked = object_of(response["promptFeedback"]).get("blockReason")
        return [Answer((), "", None, "filtered", blocked, ()).replace(**about)]

    def merger(self, calls: StreamedCalls) -> GenerateContentMerger:
        """Return what merges the events of a stream."""
        from .generate_content_stream import GenerateContentMerger

        return GenerateContentMerger(calls)

    def calls_message(self, calls: Sequence[RawCall]) -> list[dict[str, Any]]:
        """Return the model's content with calls."""
        return [_calls_message(calls)]

    def calls_in(self, message: Mapping[str, Any]) -> int:
        """Count the calls in a content."""
        return len(
            [part for part in message.get("parts") or () if is_object(part) and "functionCall" in part]
        )

    def results(self, results: Sequence[ToolResult]) -> list[dict[str, Any]]:
        """Return one content with all results; images and PDFs follow as parts of their own."""
        parts: list[dict[str, Any]] = []
        for result in results:
            said = {"error" if result.is_error else "output": result.content}
            parts.append({"functionResponse": {**_id(result.call_id), "name": result.name, "response": said}})
            parts += [
                {"inlineData": {"mimeType": part.media_type, "data": part.base64}}
                for part in parts_of(result, _TYPES)
                if not isinstance(part, str)
            ]
        return [{"role": "user", "parts": parts}] if parts else []


def _answer(candidate: Mapping[str, Any]) -> Answer:
    content = object_of(candidate.get("content") or {})
    parts = [object_of(part) for part in content.get("parts") or ()]
    calls = tuple([_call(object_of(part["functionCall"])) for part in parts if "functionCall" in part])
    text = "".join([part["text"] for part in parts if part.get("text") and not part.get("thought")])
    reasoning = "".join([part["text"] for part in parts if part.get("text") and part.get("thought")])
    raw = candidate.get("finishReason")
    stop: StopReason = _STOPS.get(raw or "", "other")
    said = text_or_none(candidate.get("finishMessage"))
    written = written_calls(said) if raw in _UNREADABLE and said and not calls else []
    if written:
        calls = tuple(written)
        content = {**content, "role": "model", "parts": [*parts, *_calls_message(calls)["parts"]]}
    if calls and (stop == "end" or written):
        stop = "calls"
    if any(call.is_cut_off for call in calls):
        content = {**content, "parts": [_with_args_object(part) for part in parts]}
    return Answer(calls, text, None, stop, raw, (content,) if content else (), reasoning, stop_message=said)


def _calls_message(calls: Sequence[RawCall]) -> dict[str, Any]:
    parts = [
        {"functionCall": {**_id(call.id), "name": call.name, "args": arguments_object(call)}}
        for call in calls
    ]
    return {"role": "model", "parts": parts}


def _with_args_object(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a part as it can be sent: the arguments of a call that lacks its end are text."""
    call: Any = part.get("functionCall")
    if call is None or not call.get("willContinue"):
        return part
    rest = {key: value for key, value in call.items() if key != "willContinue"}
    args = call.get("args")
    sent = {"arguments": args} if isinstance(args, str) else args or {}
    return {**part, "functionCall": {**rest, "args": sent}}


def _call(call: Mapping[str, Any]) -> RawCall:
    name, arguments = call["name"], call.get("args")
    found = RawCall(call["id"], name, arguments) if call.get("id") else unnamed_call(name, arguments)
    return marked_if_cut(found) if call.get("willContinue") else found


def _id(call_id: str) -> dict[str, str]:
    return {} if call_id.startswith(UNNAMED) else {"id": call_id}
