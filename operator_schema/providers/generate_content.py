"""Gemini's generateContent: its wire form, its streams, and the providers that use it.

Source: https://ai.google.dev/api/generate-content and https://ai.google.dev/api/caching#Tool
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ..json_values import to_json_text
from ..schema.dialect import Dialect
from ..tools import RawCall
from .answer import CONTAINER, Answer, marked_if_cut
from .partial_response import ChoicesMerger, GrowingBlock, GrowingInput, GrowingList, GrowingObject
from .provider import Provider
from .rules import BOUNDS, DATES, ITEMS, LENGTHS, UNNAMED, Features, IdRule, NameRule, Rules
from .wire_format import (
    PDF,
    BlockWire,
    arguments_object,
    described,
    described_schema,
    object_of,
    parts_of,
    text_or_none,
    unnamed_call,
    usage_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..tools import ToolDefinition, ToolResult
    from .answer import StopReason
    from .streamed_calls import StreamedCall, StreamedCalls
    from .wire_format import Wanted

_STOPS: dict[str, StopReason] = {
    "STOP": "end",
    "MAX_TOKENS": "length",
    "SAFETY": "filtered",
    "RECITATION": "filtered",
    "BLOCKLIST": "filtered",
    "PROHIBITED_CONTENT": "filtered",
    "SPII": "filtered",
    "IMAGE_SAFETY": "filtered",
    "IMAGE_PROHIBITED_CONTENT": "filtered",
    "IMAGE_RECITATION": "filtered",
    "MODEL_ARMOR": "filtered",
    "ESCALATION": "filtered",
    "CONTINUATION": "paused",
    "FINISH_REASON_UNSPECIFIED": "other",
    "LANGUAGE": "other",
    "OTHER": "other",
    "MALFORMED_FUNCTION_CALL": "other",
    "MALFORMED_RESPONSE": "other",
    "UNEXPECTED_TOOL_CALL": "other",
    "TOO_MANY_TOOL_CALLS": "other",
    "MISSING_THOUGHT_SIGNATURE": "other",
    "PUP_LIMITED_DISABLED": "other",
    "IMAGE_OTHER": "other",
    "NO_IMAGE": "other",
}
_TYPES = frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", PDF})
"""Source: https://ai.google.dev/gemini-api/docs/image-understanding and .../document-processing"""

_UNREADABLE = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"})
"""The reasons for answers whose calls, if any, are only in the text of `finishMessage`."""

_MODES = {"auto": "AUTO", "required": "ANY", "named": "ANY", "none": "NONE"}


class GenerateContentWire(BlockWire):
    """generateContent: calls and results are parts; a call may have no id.

    Attributes:
        schema_key: the key of a tool's schema.
    """

    HISTORY = "contents"
    FORMS = frozenset({"gemini"})
    STOPS = _STOPS
    ROLE = "model"
    ROLES = frozenset({"user", "model", "function"})
    BLOCKS = "parts"
    # Some models report "Please ensure that multiturn requests alternate between user and model".
    ALTERNATES = True
    # The same parts are sent, and left out, as in google-genai.
    CONTAINER = "continuationToken"
    REPEATS = True

    schema_key: str = "parametersJsonSchema"

    def tool(self, definition: ToolDefinition, *, strict: bool) -> dict[str, Any]:  # noqa: ARG002  # the mode of the request says it
        """Return a tool in the form of the list of tools."""
        return described(definition, self.schema_key, strict=False)

    def choice(self, wanted: Wanted) -> dict[str, Any]:
        """Return the `functionCallingConfig`."""
        mode = _MODES[wanted.mode]
        if wanted.strict and wanted.mode == "auto":
            mode = "VALIDATED"  # the model may answer without a call, but its calls fit the schema
        return (
            {"mode": mode} if wanted.name is None else {"mode": mode, "allowedFunctionNames": [wanted.name]}
        )

    def request(self, tools: Sequence[dict[str, Any]], wanted: Wanted) -> dict[str, Any]:
        """Return `tools` and `toolConfig`."""
        config = {"functionCallingConfig": self.choice(wanted)}
        return {"tools": [{"functionDeclarations": tools}], "toolConfig": config}

    def ask_output(self, body: dict[str, Any], definition: ToolDefinition, *, strict: bool) -> None:  # noqa: ARG002  # Gemini holds its models to each schema
        """Set the schema and the type of the answer in `generationConfig`."""
        key = "responseJsonSchema" if self.schema_key == "parametersJsonSchema" else "responseSchema"
        body["generationConfig"] = {
            "responseMimeType": "application/json",
            key: described_schema(definition),
        }

    def allowed_choice(self, mode: Literal["auto", "required"], names: Mapping[str, bool]) -> Any:
        """Return the `functionCallingConfig` that allows some tools; the mode AUTO takes no names."""
        return {"mode": "VALIDATED" if mode == "auto" else "ANY", "allowedFunctionNames": [*names]}

    def choose(self, body: dict[str, Any], choice: Any) -> None:
        """Set the `functionCallingConfig` in a fragment of a request, in place of any earlier one."""
        body["toolConfig"] = {"functionCallingConfig": choice}

    def answers(self, response: Mapping[str, Any]) -> list[Answer]:
        """Return the answer of each candidate; if the prompt was blocked, one answer that says so."""
        about = {
            "id": text_or_none(response.get("responseId")),
            "usage": usage_of(
                response.get("usageMetadata"),
                ["promptTokenCount", "toolUsePromptTokenCount"],
                ["candidatesTokenCount", "thoughtsTokenCount"],
            ),
        }
        candidates = [
            self._answer(object_of(found)).replace(**about) for found in response.get("candidates") or ()
        ]
        if candidates:
            return candidates
        if "promptFeedback" not in response:
            raise KeyError("candidates")  # noqa: EM101  # the key that is missing
        blocked = object_of(response["promptFeedback"]).get("blockReason")
        return [Answer((), "", None, "filtered", blocked, ()).replace(**about)]

    def _answer(self, candidate: Mapping[str, Any]) -> Answer:
        content: Mapping[str, Any] = object_of(candidate.get("content") or {})
        parts = [object_of(part) for part in content.get("parts") or ()]
        calls = tuple([_call(object_of(part["functionCall"])) for part in parts if "functionCall" in part])
        text = "".join([part["text"] for part in parts if part.get("text") and not part.get("thought")])
        reasoning = "".join([part["text"] for part in parts if part.get("text") and part.get("thought")])
        raw = candidate.get("finishReason")
        stop: StopReason = _STOPS.get(raw or "", "other")
        said = text_or_none(candidate.get("finishMessage"))
        written = _written(said) if raw in _UNREADABLE and said and not calls else ()
        if written:
            calls, stop = written, "calls"
            content = {**content, "role": "model", "parts": [*parts, *[self.call(call) for call in calls]]}
        if any(call.is_cut_off for call in calls):
            content = {**content, "parts": [_with_args_object(part) for part in parts]}
        # The API refuses contents without parts, and empty parts.
        content = {**content, "parts": [part for part in content.get("parts") or () if not _is_nothing(part)]}
        token = None if calls or stop != "paused" else text_or_none(candidate.get("continuationToken"))
        if token is not None:
            content = {**content, CONTAINER: token}
        message = (content,) if content["parts"] else ()
        return Answer(calls, text, None, stop, raw, message, reasoning, stop_message=said)

    def merger(self, calls: StreamedCalls) -> GenerateContentMerger:
        """Return the object that rebuilds the response from the events of a stream."""
        return GenerateContentMerger(calls, "candidates", _Candidate)

    def call(self, call: RawCall) -> dict[str, Any]:
        """Return the part of a call."""
        return {"functionCall": {**_id_entry(call.id), "name": call.name, "args": arguments_object(call)}}

    def is_call(self, block: Mapping[str, Any]) -> bool:
        """Return whether a part is a call."""
        return "functionCall" in block

    def with_stand_ins(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return messages whose first call has a stand-in for a signature, since Gemini 3 requires one.

        Source: https://ai.google.dev/gemini-api/docs/thought-signatures
        """
        for message in messages:
            first = next((part for part in message["parts"] if self.is_call(part)), None)
            if first is not None:
                first["thoughtSignature"] = "skip_thought_signature_validator"
        return messages

    def result(self, result: ToolResult) -> dict[str, Any]:
        """Return the part of a result."""
        said = {"error" if result.is_error else "output": result.content}
        return {"functionResponse": {**_id_entry(result.call_id), "name": result.name, "response": said}}

    def result_blocks(self, result: ToolResult) -> list[dict[str, Any]]:
        """Return the part of a result; images and PDFs follow as parts of their own."""
        shown = [
            {"inlineData": {"mimeType": part.media_type, "data": part.base64}}
            for part in parts_of(result, _TYPES)
            if not isinstance(part, str)
        ]
        return [self.result(result), *shown]


def _is_nothing(part: Mapping[str, Any]) -> bool:
    """Return whether a part has only an empty text."""
    return part.get("text") == "" and part.keys() <= {"text", "thought"}


def _written(text: str) -> tuple[RawCall, ...]:
    from .written_calls import written_calls

    return tuple(written_calls(text))


def _with_args_object(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a part in a form that can be sent: the arguments of a call that lacks its end are text."""
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


def _id_entry(call_id: str) -> dict[str, str]:
    return {} if call_id.startswith(UNNAMED) else {"id": call_id}


class GenerateContentMerger(ChoicesMerger):
    """A merger of responses that continue each other; a call is sent whole, or in parts."""

    @property
    def is_complete(self) -> bool:
        """Whether each candidate has ended, or the prompt was blocked."""
        if not super().has_begun:
            return "blockReason" in self._response.content.get("promptFeedback", {})
        return super().is_complete

    @property
    def has_begun(self) -> bool:
        """Whether there is a candidate, or the prompt was blocked."""
        return super().has_begun or bool(self._response.content.get("promptFeedback"))

    def take(self, event: Mapping[str, Any]) -> None:
        """Take a response."""
        if not any(key in event for key in ("candidates", "promptFeedback", "usageMetadata")):
            raise KeyError
        self._response.put(event, {"candidates", "promptFeedback"})
        if feedback := event.get("promptFeedback"):
            known = self._response.content.get("promptFeedback", {})
            self._response.put({"promptFeedback": {**known, **object_of(feedback)}})
        for found in event.get("candidates") or ():
            self._take_choice(object_of(found))


class _Candidate:
    """One candidate, which grows with each response."""

    def __init__(self, known: StreamedCalls) -> None:
        self._known = known
        self.tree = GrowingObject({"finishReason": None})
        self._content = self.tree.hold("content", GrowingObject({"role": "model"}))
        self._parts = self._content.hold("parts", GrowingList())
        self._call: _PartialCall | None = None

    def take(self, candidate: Mapping[str, Any]) -> None:
        content = object_of(candidate.get("content") or {})
        self._content.content["role"] = content.get("role") or self._content.content["role"]
        # Data besides the content, such as its sources, are complete each time.
        self.tree.put(candidate, {"content", "finishReason"})
        parts = [part for part in content.get("parts") or () if not _is_nothing(object_of(part))]
        for part in parts:
            self._add(object_of(part))
        # The candidate continues after this reason, if Gemini runs code in between.
        if parts or candidate.get("finishReason"):
            self.tree.content["finishReason"] = candidate.get("finishReason") or None

    @property
    def has_ended(self) -> bool:
        """Whether the candidate has a reason for its end, other than to run code."""
        reason, last = self.tree.content["finishReason"], self._parts.last
        runs = reason == "STOP" and last is not None and "executableCode" in last.content
        return reason is not None and not runs

    def _add(self, part: Mapping[str, Any]) -> None:
        if "text" in part:
            tell = self._known.think if part.get("thought") else self._known.said.add
            tell(part["text"])
        last: GrowingObject | None = self._parts.last
        if last is not None and _continues(part, last.content):
            last.append("text", part["text"])
        elif "functionCall" in part:
            self._take_call(part, object_of(part["functionCall"]))
        else:
            self._parts.add(GrowingObject(part))

    def _take_call(self, part: Mapping[str, Any], call: Mapping[str, Any]) -> None:
        name, growing = call.get("name"), self._call
        if growing is None or (name and name != growing.name):
            if growing is not None:
                growing.end()
                self._call = None
            block = self._parts.add(GrowingBlock(part))
            if not ("partialArgs" in call or call.get("willContinue")):
                self._known.begin(call.get("id"), call["name"], to_json_text(call.get("args") or {}))
                return
            growing = _PartialCall(block, self._known.begin(call.get("id"), call["name"]))
        growing.take(part, call)
        if not call.get("willContinue"):
            growing.end(call.get("args"))  # some servers send all of them again
        self._call = growing if call.get("willContinue") else None


class _PartialCall:
    """One call that is sent in parts."""

    def __init__(self, part: GrowingBlock, streamed: StreamedCall) -> None:
        from .partial_arguments import PartialArguments

        self._part = part
        self._call = part.held("functionCall", GrowingObject)
        self._call.content.pop("partialArgs", None)
        # The arguments are text until they end.
        self._call.content["willContinue"] = True
        self._input = part.hold_input(GrowingInput(streamed), "functionCall", "args")
        self._arguments = PartialArguments()
        self._streamed = streamed

    @property
    def name(self) -> str:
        return self._streamed.wire_name

    def take(self, part: Mapping[str, Any], call: Mapping[str, Any]) -> None:
        """Take the next part, which may add data, such as a signature."""
        self._part.put(part, {"functionCall"})
        self._call.put(call, _OF_PARTS)
        self._streamed.id = self._call.content.get("id")
        for found in call.get("partialArgs") or ():
            self._input.grow(self._arguments.take(object_of(found)))

    def end(self, arguments: Any = None) -> None:
        self._input.grow(self._arguments.end())
        self._input.give(arguments or self._arguments.value)
        self._call.content.pop("willContinue", None)


_OF_PARTS = frozenset({"name", "args", "partialArgs", "willContinue"})


def _continues(part: Mapping[str, Any], last: Mapping[str, Any]) -> bool:
    """Return whether a part continues the text of the last one."""
    return _is_text(part) and _is_text(last) and last.get("thought") == part.get("thought")


def _is_text(part: Mapping[str, Any]) -> bool:
    """Return whether a part is only text; a part with a signature keeps it."""
    return "text" in part and part.keys() <= {"text", "thought"}


GEMINI_VALIDATED = Dialect(
    keywords=BOUNDS | ITEMS | LENGTHS | {"pattern", "uniqueItems", "default"},
    formats=DATES,
    closed="as_is",
    takes_maps=True,
    takes_tuples=True,
    takes_lookaround=True,
    whole_request=True,
)
"""Source: https://ai.google.dev/gemini-api/docs/structured-output; the mode is `VALIDATED`.

Recorded requests show that it takes more than the page describes: recursion, lengths, patterns, defaults.
"""

GEMINI_PARAMETERS = Dialect(
    keywords=BOUNDS | ITEMS | LENGTHS,
    formats=frozenset({"date-time"}),
    lenient=True,
    closed="none",
    openapi=True,
    takes_type_lists=False,
    takes_references=False,
    takes_recursion=False,
    text_choices=True,
    whole_request=True,
)
"""Source: https://ai.google.dev/api/caching#Schema"""


_NAMES = NameRule(64, "-.:", starts_with_letter=True)
_IDS = IdRule(needed=False)
GEMINI_FEATURES = Features(allowed=True, allowed_if_strict=True)
"""Source: https://ai.google.dev/api/caching#FunctionCallingConfig"""

gemini = Provider(
    "Gemini",
    GenerateContentWire(),
    _NAMES,
    takes_unions=True,
    dialect=GEMINI_VALIDATED,
    rules=Rules(ids=_IDS),
    features=GEMINI_FEATURES,
)
gemini_parameters = Provider(
    "Gemini with parameters",
    GenerateContentWire("parameters"),
    _NAMES,
    takes_unions=False,
    dialect=GEMINI_PARAMETERS.replace(lenient=False),
    always=GEMINI_PARAMETERS,
    rules=Rules(keys=NameRule(64, "", starts_with_letter=True), ids=_IDS),
    features=GEMINI_FEATURES,
)
