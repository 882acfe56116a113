"""OpenAI's Responses, which xAI uses too: its wire form, its streams, and the providers that use it.

Source: https://platform.openai.com/docs/api-reference/responses and
https://platform.openai.com/docs/api-reference/responses-streaming
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ..json_values import copy_json, is_array, to_json_text
from ..schema.dialect import Dialect
from ..tools import RawCall
from .answer import Answer, marked_if_cut
from .openai_shared import OPENAI_STRICT, SEARCH, custom_call, custom_input, data_url, is_custom, is_search
from .partial_response import CustomInput, GrowingBlock, GrowingInput, GrowingObject, Merger, NumberedList
from .provider import Provider
from .rules import (
    CUSTOM,
    DATES,
    ITEMS,
    LENGTHS,
    NUMBERS,
    SEARCHED,
    Features,
    HostedTool,
    IdRule,
    NameRule,
    Rules,
    given_id,
)
from .wire_format import (
    IMAGES,
    PDF,
    Wire,
    arguments_object,
    arguments_text,
    described,
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


_CALLS = frozenset({"function_call", "custom_tool_call", "tool_search_call"})


_STOPS: dict[str, StopReason] = {
    "completed": "end",
    "max_output_tokens": "length",
    "max_messages": "other",
    "content_filter": "filtered",
    "steered": "other",
    "incomplete": "other",
    "cancelled": "other",
    "failed": "other",
    "in_progress": "other",
    "queued": "other",
}
"""The stop reasons for statuses and for the details of incomplete answers."""


class ResponsesWire(Wire):
    """Responses: items take the place of messages.

    Attributes:
        own_calls: the types of items that are calls of your tools; the provider runs all other calls itself.
    """

    HISTORY = "input"
    STOPS = _STOPS
    FORMS = frozenset({"item", "text"})
    ROLES = frozenset({"user", "assistant", "system", "developer"})

    own_calls: frozenset[str] = _CALLS

    def tool(self, definition: ToolDefinition, *, strict: bool) -> dict[str, Any]:
        """Return a tool in the form of the list of tools."""
        # The API makes schemas strict if `strict` is left out.
        return {
            "type": "function",
            **described(definition, "parameters", strict=strict),
            "strict": strict,
        }

    def ask_output(self, body: dict[str, Any], definition: ToolDefinition, *, strict: bool) -> None:
        """Set `text.format`."""
        schema = described(definition, "schema", strict=False)
        body["text"] = {"format": {"type": "json_schema", **schema, "strict": strict}}

    def choice(self, wanted: Wanted) -> Any:
        """Return the `tool_choice`."""
        return wanted.mode if wanted.name is None else {"type": "function", "name": wanted.name}

    def custom_tool(self, name: str, description: str, grammar: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return a tool that takes text, in the form of the list of tools."""
        tool = {"type": "custom", "name": name, "description": description}
        return tool if grammar is None else {**tool, "format": {"type": "grammar", **grammar}}

    def custom_choice(self, name: str) -> Any:
        """Return the `tool_choice` for a tool that takes text."""
        return {"type": "custom", "name": name}

    def allowed_choice(self, mode: Literal["auto", "required"], names: Mapping[str, bool]) -> Any:
        """Return the `tool_choice` that allows some tools."""
        kinds = {name: "custom" if is_text else "function" for name, is_text in names.items()}
        tools = [{"type": kind, "name": name} for name, kind in kinds.items()]
        return {"type": "allowed_tools", "mode": mode, "tools": tools}

    def own_search(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Return OpenAI's entry for a search that your program runs.

        Source: https://developers.openai.com/api/docs/guides/tools-tool-search
        """
        about = {key: entry[key] for key in ("description", "parameters")}
        return {"type": "tool_search", "execution": "client", **about}

    def load_found(
        self,
        messages: list[dict[str, Any]],
        place: int,
        names: Sequence[str],  # noqa: ARG002  # the tools have them
        entries: Callable[[], list[dict[str, Any]]],
    ) -> None:
        """Put the tools into the output of a search, or after it if the search has another form."""
        if messages[place]["type"] == "tool_search_output":
            messages[place]["tools"] = entries()
            return
        tools = [{key: value for key, value in each.items() if key != "defer_loading"} for each in entries()]
        messages.append({"type": "additional_tools", "role": "developer", "tools": tools})

    def name_callers(self, messages: list[dict[str, Any]], calls: Sequence[RawCall]) -> None:
        """Set in each item of a result which program made the call."""
        for item, call in zip(messages, calls, strict=True):
            if call.caller is not None:
                item["caller"] = copy_json(call.caller)

    def answers(self, response: Mapping[str, Any]) -> list[Answer]:
        """Return the only answer.

        Raises:
            ValueError: the response failed, or isn't finished.
        """
        items = _finished_items(response)
        found = tuple([_read_call(item) for item in items if self.is_call(item)])
        parts = [part for item in items if item.get("type") == "message" for part in _parts(item)]
        text = "".join([part["text"] for part in parts if part.get("type") in _TEXT_PARTS])
        refusal = "".join([part["refusal"] for part in parts if part.get("type") == "refusal"]) or None
        stop, raw = _stop(response, bool(found), refusal)
        waiting = next((item["type"] for item in items if _waits(item)), None)
        sent_back = [found for item in items for found in self._sent_back(item)]
        if not _is_stored(response):
            sent_back = [found for item in sent_back for found in self._unstored(item)]
        if stop == "end" and waiting is not None:
            stop, raw = "other", waiting
        changes = response.get("input_transformations")
        return [
            Answer(
                *(found, text, refusal, stop, raw, tuple(sent_back)),
                reasoning="\n\n".join([thought for item in items for thought in _thoughts(item)]),
                id=text_or_none(response.get("id")),
                usage=usage_of(response.get("usage"), ["input_tokens"], ["output_tokens"]),
                stop_message=_STEERED if raw == "steered" else None,
                notes=_notes(changes) if changes else (),
            )
        ]

    def _sent_back(self, item: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return an item in the form for a request, in a list: its status is never "in progress"."""
        if item.get("status") != "in_progress":
            return [item]
        if self.is_call(item):
            return [{**item, "status": "completed"}]
        return self._written_anew(item) if item.get("type") == "message" else []

    def _unstored(self, item: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return an item that the server didn't store, in a list, without its id: it would look that up.

        If a server asks for an approval, the answer still needs the id of the question.

        Source: https://developers.openai.com/api/docs/guides/reasoning, and
        https://github.com/langchain-ai/langchain/pull/38372
        """
        kind = item.get("type")
        if kind == "mcp_approval_request":
            return [item]
        if kind == "message" and item.get("id"):
            return self._written_anew(item)
        if kind == "reasoning" and not (item.get("encrypted_content") or item.get("content")):
            return []
        return [{key: value for key, value in item.items() if key != "id"}]

    def _written_anew(self, message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return a message in the form that your program writes, in a list: without id and status."""
        text = "".join([part.get("text") or part.get("refusal") or "" for part in _parts(message)])
        kept = {"phase": message["phase"]} if message.get("phase") else {}
        return [{**self.text_message("assistant", text), **kept}] if text.strip() else []

    def merger(self, calls: StreamedCalls) -> ResponsesMerger:
        """Return the object that rebuilds the response from the events of a stream."""
        return ResponsesMerger(calls, self)

    def call(self, call: RawCall) -> dict[str, Any]:
        """Return the item of a call."""
        if is_custom(call):
            found = {"type": "custom_tool_call", "call_id": given_id(call.id), "name": call.name}
            return {**found, "input": custom_input(call)}
        if is_search(call):
            found = {"type": "tool_search_call", "execution": "client", "call_id": given_id(call.id)}
            return {**found, "status": "completed", "arguments": arguments_object(call)}
        found = {"type": "function_call", "call_id": call.id, "name": call.name}
        return {**found, "arguments": arguments_text(call)}

    def with_whole_calls(self, messages: list[Any], calls: Sequence[RawCall]) -> list[Any]:
        """Return the items with each cut-off call completed: the API takes no call in progress."""
        sent = [item for item in messages if self.is_call(item)]
        for found, call in zip(sent, calls, strict=True):
            if call.is_cut_off and found["type"] == "function_call":
                found["arguments"] = arguments_text(call)
        return messages

    def calls_in(self, message: Mapping[str, Any]) -> int:
        """Return 1 if an item is a call, otherwise 0."""
        return int(self.is_call(message))

    def is_call(self, item: Mapping[str, Any]) -> bool:
        """Return whether an item is a call of one of your tools."""
        kind = item.get("type")
        return kind in self.own_calls and (kind != "tool_search_call" or _is_own_search(item))

    def result(self, result: ToolResult) -> dict[str, Any]:
        """Return the item of a result, with its images and PDFs.

        The output of a search contains the tools that it found, and no text: `load_found` adds them.
        """
        call_id = given_id(result.call_id)
        if is_search(result):
            about = {"type": "tool_search_output", "execution": "client", "call_id": call_id}
            return {**about, "status": "completed", "tools": []}
        kind = "custom_tool_call_output" if is_custom(result) else "function_call_output"
        return {"type": kind, "call_id": call_id, "output": _result_output(result)}


_TEXT_PARTS = frozenset({"output_text", "text"})
_WAITING = frozenset(
    {
        "apply_patch_call",
        "computer_call",
        "local_shell_call",
        "mcp_approval_request",
        "shell_call",
    }
)
"""Types of items that your program has to answer, although they aren't calls of tools."""


def _finished_items(response: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """List the items of a response."""
    if response.get("status") == "failed":
        message = "the response failed"
        raise ValueError(message)
    items = [object_of(item) for item in response["output"]]
    if response.get("status") in _UNFINISHED and (response.get("background") or not items):
        message = (
            f"it isn't finished: its status is {response['status']!r}, as that of a response in the "
            "background: retrieve it by its id until it is"
        )
        raise ValueError(message)
    return items


_UNFINISHED = frozenset({"queued", "in_progress"})
_STEERED = "new input came meanwhile: the answer ends at a safe place, and the next response goes on"


def _notes(changes: Any) -> tuple[str, ...]:
    """Return the parts that the API reports as removed from the input, one sentence each."""
    removed = [change for change in map(object_of, changes) if change.get("action") == "removed"]
    return tuple(
        [
            f"the model didn't see the {change.get('type')} {change.get('id')} ({change.get('reason')})"
            for change in removed
        ]
    )


def _is_own_search(item: Mapping[str, Any]) -> bool:
    """Return whether your program runs a search of tools: OpenAI's own searches have no call id."""
    return item.get("execution") == "client" and bool(item.get("call_id"))


def _read_call(item: Mapping[str, Any]) -> RawCall:
    if item["type"] == "function_call":
        call = RawCall(item["call_id"], item["name"], item.get("arguments"))
    elif item["type"] == "custom_tool_call":
        call = custom_call(item["call_id"], item["name"], item.get("input"))
    else:
        call = RawCall(SEARCHED + item["call_id"], SEARCH, item.get("arguments"))
    if "caller" in item:
        call = call.replace(caller=program_of(item))
    return call if item.get("status") in {"completed", None} else marked_if_cut(call)


def _parts(item: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """List the parts of a message's content; some servers write it as one text."""
    content = item.get("content") or ()
    if isinstance(content, str):
        return [{"type": "output_text", "text": content}]
    return [object_of(part) for part in content]


def _thoughts(item: Mapping[str, Any]) -> list[str]:
    """List the parts of the model's reasoning: summaries, and texts if the provider shows them."""
    if item.get("type") != "reasoning":
        return []
    parts = [*(item.get("summary") or ()), *(item.get("content") or ())]
    return [part["text"] for part in parts if part.get("text")]


def _is_stored(response: Mapping[str, Any]) -> bool:
    """Return whether the server stored the items of a response; not if the response was interrupted.

    If a server ends a response as incomplete, the response says why.
    """
    status = response.get("status")
    broke_off = status == "in_progress" or (status == "incomplete" and not response.get("incomplete_details"))
    return response.get("store") is not False and not broke_off


def _waits(item: Mapping[str, Any]) -> bool:
    kind = item.get("type")
    return kind in _WAITING or (kind == "tool_search_call" and item.get("execution") == "client")


def _stop(response: Mapping[str, Any], has_calls: bool, refusal: str | None) -> tuple[StopReason, str | None]:  # noqa: FBT001  # one of three facts
    if response.get("object") == "response.compaction":
        return "paused", "compaction"
    status = response.get("status")
    details: Any = response.get("incomplete_details") or {}
    reason: str | None = details.get("reason")
    if status == "incomplete":
        return _STOPS.get(reason or "", "other"), reason
    if status is not None and _STOPS.get(status) != "end":
        return "other", status
    if has_calls:
        return "calls", status
    return ("refused" if refusal else "end"), status


def _result_output(result: ToolResult) -> Any:
    parts = parts_of(result, {*IMAGES, PDF})
    if all(isinstance(part, str) for part in parts):
        return result.content
    return [_content_part(part) for part in parts]


def _content_part(part: str | Image | File) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "input_text", "text": part}
    if part.media_type in IMAGES:
        return {"type": "input_image", "image_url": data_url(part)}
    return {"type": "input_file", "filename": file_name(part), "file_data": data_url(part)}


_LAST = frozenset({"response.completed", "response.incomplete", "response.failed"})
_SNAPSHOTS = _LAST | {"response.created", "response.queued", "response.in_progress"}
_TEXTS = {
    "response.output_text.delta": ("content", "output_text", "text"),
    "response.refusal.delta": ("content", "refusal", "refusal"),
    "response.reasoning_text.delta": ("content", "reasoning_text", "text"),
    "response.reasoning_summary_text.delta": ("summary", "summary_text", "text"),
}
"""Events with a piece of text: the key of the list in the item, the type of the part, and the key of the
text."""

_THOUGHTS = frozenset({"reasoning_text", "summary_text"})
_INPUTS = frozenset({"response.function_call_arguments.delta", "response.custom_tool_call_input.delta"})
_WHOLE_INPUTS = {
    "response.function_call_arguments.done": "arguments",
    "response.custom_tool_call_input.done": "input",
}
"""The key of the input in each event that contains a whole input."""


class ResponsesMerger(Merger):
    """A merger of events that begin, continue and end the items of one response."""

    first_event = "response.created"

    def __init__(self, calls: StreamedCalls, wire: ResponsesWire) -> None:
        super().__init__(calls)
        self._wire = wire
        self._items: dict[Any, GrowingBlock] = {}
        self._places: dict[tuple[str, Any], Any] = {}

    @property
    def has_begun(self) -> bool:
        """Whether the response has begun."""
        return bool(self._response.content)

    def response(self) -> dict[str, Any] | None:
        """Return the response so far; if its end is missing, its status isn't in progress any more."""
        found = super().response()
        return found if found is None or self._has_ended else {**found, "status": "incomplete"}

    def take(self, event: Mapping[str, Any]) -> None:
        """Take an event; unknown kinds are ignored."""
        kind = event["type"]
        if kind in _SNAPSHOTS:
            self._response = GrowingObject(object_of(event["response"]))
            self._has_ended = kind in _LAST
            self._compare(self._response.content.get("output") or ())
        elif kind == "response.output_item.added":
            item = object_of(event["item"])
            self._begin(self._new_place(event["output_index"], item), item)
        elif kind == "response.output_item.done":
            item = object_of(event["item"])
            self._end(self._place_of(event["output_index"], item.get("id")), item)
        elif kind in _INPUTS:
            found = self._item(event).input
            if found is not None:
                found.grow(event["delta"])
        elif kind in _WHOLE_INPUTS:
            found = self._item(event).input
            if found is not None and not found.has_begun:
                found.grow(event.get(_WHOLE_INPUTS[kind]) or "")
        elif kind in _TEXTS:
            self._grow(event, *_TEXTS[kind])
        elif not isinstance(kind, str):
            raise TypeError

    def _compare(self, output: Sequence[Any]) -> None:
        """Compare all items in an event with those that came before, since some servers leave out some."""
        if self._has_ended and not self._items:  # some servers send nothing else
            for index, item in enumerate(output):
                self._end(index, object_of(item))
        is_call = self._wire.is_call
        had_calls = any(is_call(item.content) for item in self._items.values())
        if not output or (had_calls and not any(map(is_call, output))):
            self._response.hold("output", NumberedList(self._items))

    def _new_place(self, index: Any, item: Mapping[str, Any]) -> Any:
        """Return the position of a new item: its index, unless another item has it."""
        before, item_id = self._items.get(index), item.get("id")
        is_free = before is None or (item_id is not None and before.content.get("id") == item_id)
        place = index if is_free else max(self._items) + 1
        self._places["index", index] = self._places["id", item_id] = place
        return place

    def _place_of(self, index: Any, item_id: Any) -> Any:
        """Return the position of an item by its id, or by its index if the server now sends other ids."""
        by_id = None if item_id is None else self._places.get(("id", item_id))
        return self._places.get(("index", index), index) if by_id is None else by_id

    def _item(self, event: Mapping[str, Any]) -> GrowingBlock:
        return self._items[self._place_of(event["output_index"], event.get("item_id"))]

    def _begin(self, index: Any, item: Mapping[str, Any]) -> GrowingBlock:
        begun = self._items[index] = GrowingBlock(item)
        if not self._wire.is_call(item):
            return begun
        if item["type"] == "function_call":
            taken = GrowingInput(self._known.begin(item["call_id"], item["name"]))
            begun.hold_input(taken, "arguments").grow(item.get("arguments") or "")
        elif item["type"] == "custom_tool_call":
            custom = CustomInput(self._known, CUSTOM + item["call_id"], item["name"])
            begun.hold_input(custom, "input").grow(item.get("input") or "")
        else:
            call = self._known.begin(SEARCHED + item["call_id"], SEARCH)
            begun.hold_input(GrowingInput(call, item.get("arguments"), as_value=True), "arguments")
        return begun

    def _grow(self, event: Mapping[str, Any], place: str, kind: str, key: str) -> None:
        """Add a piece to a part of an item's content, or to the summary of the reasoning."""
        number, text = event[f"{place}_index"], event["delta"]
        index = self._place_of(event["output_index"], event.get("item_id"))
        parts = self._items[index].numbered(place)
        if number not in parts:
            parts[number] = GrowingObject({"type": kind})
        parts[number].append(key, text)
        self._show(kind, text, (index, place, number))

    def _show(self, kind: str, text: Any, part: tuple[Any, str, int]) -> None:
        if kind in _TEXT_PARTS:
            self._known.said.add(text)
        elif kind in _THOUGHTS:
            self._known.think(text, part)

    def _end(self, index: Any, item: Mapping[str, Any]) -> None:
        """Store a whole item; some servers send none of its parts before."""
        begun = self._items.get(index) or self._begin(index, item)
        self._items[index] = whole = GrowingBlock(item)
        taken = whole.input = begun.input
        if taken is not None:
            if not taken.has_begun:
                found = item.get("arguments") or item.get("input") or ""
                taken.grow(found if isinstance(found, str) else to_json_text(found))
            taken.end()
        if item.get("type") in {"message", "reasoning"} and not begun.holds("content", "summary"):
            self._show_all(index, item)

    def _show_all(self, index: Any, item: Mapping[str, Any]) -> None:
        for place in ("summary", "content"):
            found = item.get(place)
            parts = _parts(item) if place == "content" else found if is_array(found) else ()
            for number, part in enumerate(parts):
                self._show(part["type"], part.get("text") or "", (index, place, number))


XAI_STRICT = Dialect(
    keywords=NUMBERS - {"multipleOf"} | ITEMS | LENGTHS | {"minProperties", "maxProperties"},
    formats=DATES | {"email", "uuid", "ipv4", "ipv6", "uri"},
    closed="as_is",
    takes_recursion=False,
    takes_maps=True,
    takes_tuples=True,
    most=(
        ("maxItems", 256),
        ("maxLength", 2048),
        ("maxProperties", 64),
        ("minItems", 256),
        ("minLength", 2048),
    ),
)
"""Source: https://docs.x.ai/docs/guides/structured-outputs; xAI always holds the model to the schemas."""

OPENAI_FEATURES = Features(
    searches=(("hosted", HostedTool("tool_search")),),
    loads_found=True,
    namespaces=True,
    allowed=True,
    parallel=True,
    callers=(("direct", None), ("programmatic", HostedTool("programmatic_tool_calling"))),
    custom=True,
    outputs_beside_tools=True,
    late=True,
)
"""Source: https://platform.openai.com/docs/guides/tools-tool-search, .../function-calling, and the types of
OpenAI's SDK"""

_RULES = Rules(ids=IdRule(64))

openai_responses = Provider(
    "OpenAI Responses",
    ResponsesWire(),
    NameRule(),
    takes_unions=False,
    dialect=OPENAI_STRICT,
    rules=_RULES,
    features=OPENAI_FEATURES,
)
xai = Provider(
    "xAI",
    ResponsesWire(frozenset({"function_call"})),  # its own searches are sent as calls of custom tools
    NameRule(),
    takes_unions=False,
    dialect=XAI_STRICT,
    always=XAI_STRICT.replace(lenient=True),
    rules=_RULES,
    features=Features(parallel=True, outputs_beside_tools=True),
)
