"""Streams as other servers send them: the same answer, with what it repeats, empties, moves or leaves out.

A change takes the events of a stream and gives others; None where the stream has nothing to change.
"""

import copy
import json

IDENTITY = ("id", "type", "role", "name", "model", "object")
"""Keys that say what something is; a stream may say them again, or an empty text."""


def without(content, *keys):
    return {key: value for key, value in content.items() if key not in keys}


def changed(events, change):
    """Return a copy of the events that a function has changed in place; None if it changed nothing."""
    copied = copy.deepcopy(events)
    change(copied)
    return None if copied == events else copied


def chat_objects(events):
    """Yield each object of Chat Completions' chunks that a later chunk continues: its place, and itself."""
    for event in events:
        yield (), event
        for choice in event.get("choices") or ():
            delta, at = choice.get("delta"), choice.get("index", 0)
            if delta is None:
                continue
            yield (at,), delta
            for number, call in enumerate(delta.get("tool_calls") or ()):
                place = (at, call.get("index", number))
                yield place, call
                if call.get("function") is not None:
                    yield (*place, "function"), call["function"]


def said_again(keys, write, *, add):
    """Make a change of what a chunk says of an identity that is known.

    Args:
        keys: that are changed.
        write: takes the key and what was said first.
        add: whether a chunk that leaves the key out gets it.
    """

    def change(events):
        known = {}
        for place, found in chat_objects(events):
            for key in keys:
                before = known.get((*place, "is", key))
                if before is None:
                    known[(*place, "is", key)] = found.get(key) or None
                elif (add or key in found) and write(key, before) is not ...:
                    found[key] = write(key, before)

    return lambda events: changed(events, change)


def calls_of(events):
    """Yield the pieces of calls in Chat Completions' chunks."""
    for event in events:
        for choice in event.get("choices") or ():
            for call in (choice.get("delta") or {}).get("tool_calls") or ():
                yield event, call


def index_zero(events):
    """Give every call the index 0; each of its pieces has the id, and the first its name."""

    def change(events):
        ids = {}
        for _, call in calls_of(events):
            call["id"] = ids.setdefault(call.get("index"), call.get("id"))
            call["index"] = 0

    return changed(events, change)


def no_index(events):
    """Leave out the index of every call, where the pieces of a call follow each other."""

    def change(events):
        for _, call in calls_of(events):
            call.pop("index", None)

    order = [call.get("index") for _, call in calls_of(events)]
    return changed(events, change) if order == sorted(order, key=lambda each: each or 0) else None


def whole_calls(events, **about):
    """Send each call as a whole, in a chunk of its own; what is in `about` replaces its identity."""
    pieces = list(calls_of(events))
    if not pieces or any("function" not in call for _, call in pieces):
        return None
    wholes, first = {}, {}
    for event, call in pieces:
        index = call.get("index", 0)
        whole = wholes.setdefault(index, {**call, "function": {"name": "", "arguments": ""}})
        first.setdefault(index, event)
        function = call["function"]
        whole["function"]["name"] = whole["function"]["name"] or function.get("name") or ""
        whole["function"]["arguments"] += function.get("arguments") or ""
    if any(not whole["function"]["arguments"] for whole in wholes.values()):
        return None  # nothing tells where such a call ends
    copied = copy.deepcopy(events)
    for event, before in zip(copied, events, strict=True):
        for choice in event.get("choices") or ():
            delta = choice.get("delta") or {}
            if delta.get("tool_calls"):
                delta["tool_calls"] = [
                    {key: value for key, value in {**wholes[index], **about}.items() if value is not None}
                    for index, chunk in first.items()
                    if chunk is before
                ]
                if not delta["tool_calls"]:
                    del delta["tool_calls"]
    return copied


def message_at_end(events, response, **about):
    """Add a last chunk that has the whole message, as in an answer without a stream."""
    last = next(
        (e for e in reversed(events) if any(c.get("finish_reason") for c in e.get("choices") or ())), None
    )
    if last is None:
        return None
    copied = copy.deepcopy(events)
    place = next(number for number, event in enumerate(events) if event is last)
    for choice in copied[place]["choices"]:
        whole = next(c for c in response["choices"] if c.get("index", 0) == choice.get("index", 0))
        choice["message"] = copy.deepcopy(whole["message"])
        choice.pop("delta", None)
        choice.update(about)
    # What this chunk said itself comes before it.
    early = copy.deepcopy(last)
    for choice in early["choices"]:
        choice["finish_reason"] = None
    return [*copied[:place], early, *copied[place:]]


def calls_in_second_choice(events, index):
    """Move the calls into a choice of their own, as Copilot does."""

    def change(events):
        for event in events:
            choices = event.get("choices") or ()
            for choice in list(choices):
                delta = choice.get("delta") or {}
                if delta.get("tool_calls"):
                    moved = {
                        "index": index,
                        "delta": {"role": "assistant", "tool_calls": delta.pop("tool_calls")},
                    }
                    choices.append({**moved, "finish_reason": choice.get("finish_reason")})

        copied = {
            **copy.deepcopy(events[-1]),
            "choices": [{"index": index, "delta": {}, "finish_reason": "tool_calls"}],
        }
        if index and any(len(event.get("choices") or ()) > 1 for event in events):
            events.append(copied)

    choices = [choice for event in events for choice in event.get("choices") or ()]
    has_text = any((choice.get("delta") or {}).get("content") for choice in choices)
    waits = any(choice.get("finish_reason") == "tool_calls" for choice in choices)
    return changed(events, change) if has_text and waits else None


def chat_changes(events, response):
    """Yield the changes of a stream of Chat Completions: a name, and the events."""
    for value in ("", None):
        yield f"identity is {value!r}", said_again(IDENTITY, lambda _, __, v=value: v, add=True)(events)
    yield "ids are 'null'", said_again(["id"], lambda *_: "null", add=True)(events)
    yield (
        "identity is repeated",
        said_again(["id", "type", "role", "model", "object"], lambda _, v: v, add=True)(events),
    )
    yield "index is 0", index_zero(events)
    yield "no index", no_index(events)
    yield "whole calls", whole_calls(events)
    yield "whole calls, index 0", whole_calls(events, index=0)
    for empty in (None, "", "null"):
        yield f"whole calls, index 0, id {empty!r}", whole_calls(events, index=0, id=empty)
    yield "the whole message, delta null", message_at_end(events, response, delta=None)
    yield "the whole message, no delta", message_at_end(events, response)
    yield "the whole message, empty delta", message_at_end(events, response, delta={})
    for index in (0, 1):
        yield f"calls in choice {index}", calls_in_second_choice(events, index)
    yield "an empty reason at first", empty_reasons(events)
    yield "no choices beside the usage", no_empty_choices(events)


def no_empty_choices(events):
    """Leave out the choices of the chunk of the usage."""

    def change(events):
        for event in events:
            if event.get("choices") == [] and event.get("usage"):
                del event["choices"]

    return changed(events, change)


def empty_reasons(events):
    def change(events):
        for event in events:
            for choice in event.get("choices") or ():
                if choice.get("finish_reason") is None:
                    choice["finish_reason"] = ""

    return changed(events, change)


LAST = {"response.completed", "response.incomplete", "response.failed"}


def is_last(event):
    return event["type"] in LAST


def empty_message_at_end(events):
    """Say nothing of the calls in the last event, as SGLang's router does."""
    items = [event.get("item") or {} for event in events]
    if any(item.get("type") == "message" for item in items):
        return None

    def change(events):
        for event in events:
            if is_last(event) and any(item.get("call_id") for item in event["response"]["output"]):
                part = {"type": "output_text", "text": ""}
                event["response"]["output"] = [{"type": "message", "role": "assistant", "content": [part]}]

    return changed(events, change)


def no_items_at_end(events):
    def change(events):
        for event in events:
            if is_last(event):
                event["response"]["output"] = []

    return changed(events, change)


def index_always_zero(events):
    def change(events):
        for event in events:
            if "output_index" in event:
                event["output_index"] = 0

    return changed(events, change)


def left_out(events, *kinds):
    kept = [event for event in events if not any(kind in event["type"] for kind in kinds)]
    return None if len(kept) == len(events) else kept


def responses_changes(events, _response):
    """Yield the changes of a stream of Responses."""
    yield "no items at the end", no_items_at_end(events)
    yield "no deltas", left_out(events, ".delta")
    yield "no deltas, no items at the end", no_items_at_end(left_out(events, ".delta") or [])
    yield "index is 0", index_always_zero(events)
    yield "index is 0, no items at the end", no_items_at_end(index_always_zero(events) or [])
    yield "no first event", left_out(events, "response.created", "response.in_progress")
    yield "an empty message at the end", empty_message_at_end(events)
    yield (
        "the last event alone",
        [event for event in events if is_last(event) and event["response"]["output"]],
    )
    if any(event["type"] == "response.function_call_arguments.done" for event in events):
        begun = [event for event in events if not ends_a_call(event)]
        yield "arguments at their end alone", no_items_at_end(left_out(begun, "arguments.delta") or begun)


def ends_a_call(event):
    return event["type"] == "response.output_item.done" and event["item"]["type"] == "function_call"


def emptied(events, keys, value):
    """Empty what each event says again at its root, such as the id of the response."""

    def change(events):
        known = set()
        for event in events:
            for key in keys:
                if event.get(key) and key in known:
                    event[key] = value
                elif event.get(key):
                    known.add(key)

    return changed(events, change)


def gemini_changes(events, _response):
    """Yield the changes of a stream of Gemini."""
    for value in ("", None):
        yield f"identity is {value!r}", emptied(events, ["responseId", "modelVersion"], value)

    def empty_text(events):
        for event in events:
            for candidate in event.get("candidates") or ():
                candidate.setdefault("content", {}).setdefault("parts", []).append({"text": ""})

    def empty_role(events):
        for event in events[1:]:
            for candidate in event.get("candidates") or ():
                candidate.setdefault("content", {})["role"] = ""

    yield "an empty text in each event", changed(events, empty_text)
    yield "an empty role", changed(events, empty_role)


def bedrock_changes(events, _response):
    """Yield the changes of a stream of Bedrock."""
    yield "no first event", [event for event in events if "messageStart" not in event]


def messages_changes(events, _response):
    """Yield the changes of a stream of Anthropic."""

    def empty(events):
        for event in events:
            if event["type"] == "message_delta":
                event["delta"] = {"id": "", "role": "", "model": None, "type": "", **event["delta"]}

    def empty_inputs(events):
        for event in events:
            if event["type"] == "content_block_start" and "input" in event["content_block"]:
                event["content_block"]["input"] = None

    yield "an empty identity at the end", changed(events, empty)
    yield "a null in place of an empty input", changed(events, empty_inputs)


def ollama_changes(events, _response):
    """Yield the changes of a stream of Ollama."""
    for value in ("", None):
        yield f"identity is {value!r}", emptied(events, ["model", "created_at"], value)

    def empty_role(events):
        for event in events[1:]:
            event["message"]["role"] = ""

    yield "an empty role", changed(events, empty_role)


def cohere_changes(events, _response):
    """Yield the changes of a stream of Cohere."""

    def empty(events):
        for event in events:
            if event["type"] == "tool-call-delta":
                calls = event["delta"]["message"]["tool_calls"]
                calls.update({"id": "", "type": ""})
                calls["function"]["name"] = ""

    def empty_id(events):
        for event in events[1:]:
            event["id"] = ""

    yield "an empty identity", changed(events, empty)
    yield "an empty id", changed(events, empty_id)


CHANGES = {
    "ChatWire": chat_changes,
    "ResponsesWire": responses_changes,
    "MessagesWire": messages_changes,
    "GenerateContentWire": gemini_changes,
    "ConverseWire": bedrock_changes,
    "OllamaWire": ollama_changes,
    "CohereWire": cohere_changes,
}
"""Wire form to the changes of its streams."""


def in_text(events):
    """Return events as the text of a stream."""
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events)
