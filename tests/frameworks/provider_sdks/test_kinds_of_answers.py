"""Each kind of item, block, part and event in the newest SDKs has a decision, and none fails reading."""

from __future__ import annotations

import botocore.session
import cohere
import mistralai.client.models as mistralai
import pytest
from anthropic.types import beta as claude
from google.genai import types as google
from openai.types.beta import BetaResponseOutputItem, BetaResponseStreamEvent
from openai.types.responses import ResponseOutputItem, ResponsesServerEvent, ResponseStreamEvent
from sdk_samples import members_of, models_of, sample, sample_of_model, sample_of_shape

from operator_schema.providers import (
    ResponseError,
    anthropic,
    bedrock,
    gemini,
    mistral,
    openai_responses,
)
from operator_schema.providers import cohere as our_cohere

BEDROCK = botocore.session.get_session().get_service_model("bedrock-runtime")

READ, KEPT, WAITS = "its content is read", "it is kept for the history", "it waits for your program"

ITEMS = {
    **dict.fromkeys(["message", "reasoning", "function_call", "custom_tool_call"], READ),
    **dict.fromkeys(
        ["apply_patch_call", "computer_call", "local_shell_call", "mcp_approval_request", "shell_call"], WAITS
    ),
    **dict.fromkeys(
        [
            *("additional_tools", "agent_message", "apply_patch_call_output", "code_interpreter_call"),
            *("compaction", "computer_call_output", "configuration_update", "custom_tool_call_output"),
            *("file_search_call", "function_call_output", "image_generation_call", "local_shell_call_output"),
            *("mcp_approval_response", "mcp_call", "mcp_list_tools", "multi_agent_call"),
            *(
                "multi_agent_call_output",
                "program",
                "program_output",
                "shell_call_output",
                "tool_search_call",
            ),
            *("tool_search_output", "web_search_call"),
        ],
        KEPT,
    ),
}
"""Type of an item of Responses to what is decided for it."""

BLOCKS = {
    **dict.fromkeys(["text", "thinking", "tool_use"], READ),
    **dict.fromkeys(
        [
            *("advisor_tool_result", "bash_code_execution_tool_result", "code_execution_tool_result"),
            *("compaction", "container_upload", "fallback", "mcp_tool_listing", "mcp_tool_result"),
            *(
                "mcp_tool_use",
                "redacted_thinking",
                "server_tool_use",
                "text_editor_code_execution_tool_result",
            ),
            *("tool_search_tool_result", "web_fetch_tool_result", "web_search_tool_result"),
        ],
        KEPT,
    ),
}
"""Type of a block of Anthropic to what is decided for it."""

CONVERSE = {
    **dict.fromkeys(["citationsContent", "reasoningContent", "text", "toolUse"], READ),
    **dict.fromkeys(
        [
            *("audio", "cachePoint", "document", "guardContent", "image", "searchResult", "toolAddition"),
            *("toolRemoval", "toolResult", "video"),
        ],
        KEPT,
    ),
}
"""Kind of a block of Bedrock to what is decided for it."""

PARTS = {
    **dict.fromkeys(["text", "functionCall"], READ),
    **dict.fromkeys(
        [
            *("audioMetadata", "audioTranscription", "codeExecutionResult", "documentMetadata"),
            *("executableCode", "fileData", "functionResponse", "inlineData", "mediaProcessing"),
            *("mediaResolution", "partMetadata", "speechMetadata", "spreadsheetMetadata", "thought"),
            *("thoughtSignature", "toolCall", "toolResponse", "videoMetadata"),
        ],
        KEPT,
    ),
}
"""Key of a part of Gemini to what is decided for it."""

CHUNKS = {
    **dict.fromkeys(["text", "thinking"], READ),
    **dict.fromkeys(
        [
            *("document_url", "file", "image_url", "input_audio", "reference", "resource", "resource_link"),
        ],
        KEPT,
    ),
}
"""Type of a chunk of Mistral's content to what is decided for it."""


def type_of(model):
    return sample_of_model(model, full=False)["type"]


def keys_of(annotation):
    return {type_of(model) for model in models_of(annotation)}


KINDS = {
    "items of Responses": (ITEMS, keys_of(ResponseOutputItem) | keys_of(BetaResponseOutputItem)),
    "blocks of Anthropic": (BLOCKS, keys_of(claude.BetaContentBlock)),
    "blocks of Bedrock": (CONVERSE, set(BEDROCK.shape_for("ContentBlock").members)),
    "parts of Gemini": (PARTS, {field.alias or name for name, field in google.Part.model_fields.items()}),
    "chunks of Mistral": (CHUNKS, keys_of(mistralai.ContentChunk)),
}


@pytest.mark.parametrize("what", KINDS)
def test_each_kind_has_a_decision(what):
    decided, found = KINDS[what]
    assert found, f"the SDK says the {what} in another way"
    new = found - decided.keys()
    assert not new, f"decide whether these new {what} are read, kept for the history, or wait: {sorted(new)}"


def said(answer):
    """Return whether anything of an answer was read."""
    return bool(answer.calls or answer.text or answer.reasoning)


def check(answer, decision, kept):
    """Check that an answer of one item does with it what is decided."""
    assert answer.message == kept
    assert said(answer) == (decision == READ)
    assert (answer.stop == "other") == (decision == WAITS)


def models_and_sizes(*annotations):
    found = {type_of(model): model for annotation in annotations for model in models_of(annotation)}
    return [
        pytest.param(model, full, id=f"{kind}-{'full' if full else 'least'}")
        for kind, model in found.items()
        for full in (False, True)
    ]


def streamed(provider, events):
    stream = provider.stream([])
    for event in events:
        stream.feed(event)
    return stream.close()


def calls_without_ids(answer):
    return [(call.name, call.arguments) for call in answer.calls]


def same(one, other):
    """Return whether two answers say the same; ids that are drawn differ."""
    whole = [
        (found.text, found.reasoning, found.stop, found.raw_stop, found.message) for found in (one, other)
    ]
    return whole[0] == whole[1] and calls_without_ids(one) == calls_without_ids(other)


# --- OpenAI Responses ----------------------------------------------------------------------------

BEGUN = {"type": "response.created", "response": {"id": "r", "status": "in_progress", "output": []}}


def response_of(*items):
    return {"id": "r", "status": "completed", "output": [*items]}


@pytest.mark.parametrize(("model", "full"), models_and_sizes(ResponseOutputItem, BetaResponseOutputItem))
def test_each_item_of_responses_does_what_is_decided(model, full):
    item = sample_of_model(model, full=full)
    answer = openai_responses.answer(response_of(item), [])
    check(answer, ITEMS[item["type"]], [item])
    events = [
        BEGUN,
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
    ]
    for last in (response_of(item), response_of()):  # some servers leave the items out
        completed = {"type": "response.completed", "response": last}
        assert same(streamed(openai_responses, [*events, completed]), answer)


OWN_EVENTS = frozenset(
    {
        *("response.created", "response.in_progress", "response.completed", "response.incomplete"),
        *("response.failed", "response.output_item.added", "response.output_item.done", "response.queued"),
        "error",
    }
)
"""Events that say what a response is, so that one of another response changes the answer."""

EVENTS = models_and_sizes(ResponseStreamEvent, BetaResponseStreamEvent, ResponsesServerEvent)


@pytest.mark.parametrize(
    ("model", "full"), [case for case in EVENTS if type_of(case.values[0]) not in OWN_EVENTS]
)
@pytest.mark.parametrize("kind", ["message", "reasoning", "function_call", "custom_tool_call"])
def test_no_event_of_responses_changes_what_its_end_says(model, full, kind):
    """An event about an item of another kind, or at no known place, fails for nobody."""
    (found,) = {one.__name__: one for one in models_of(ResponseOutputItem) if type_of(one) == kind}.values()
    item = {**sample_of_model(found, full=False), "id": "x"}
    event = sample_of_model(model, full=full)
    event |= dict.fromkeys(event.keys() & {"output_index", "content_index", "summary_index"}, 0)
    completed = {"type": "response.completed", "response": response_of(item)}
    added = {"type": "response.output_item.added", "output_index": 0, "item": item}
    found = streamed(openai_responses, [BEGUN, added, event, completed])
    assert same(found, openai_responses.answer(response_of(item), []))


# --- Anthropic -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "full"), models_and_sizes(claude.BetaContentBlock))
def test_each_block_of_anthropic_does_what_is_decided(model, full):
    block = sample_of_model(model, full=full)
    stop = "tool_use" if block["type"] == "tool_use" else "end_turn"
    answer = anthropic.answer({"id": "m", "content": [block], "stop_reason": stop}, [])
    check(answer, BLOCKS[block["type"]], [{"role": "assistant", "content": [block]}])
    events = [
        {"type": "message_start", "message": {"id": "m", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop}},
    ]
    assert same(streamed(anthropic, events), answer)


GROWS = {
    "text_delta": ("text", {"text": "x"}),
    "thinking_delta": ("thinking", {"thinking": "x"}),
    "signature_delta": ("thinking", {"signature": "x"}),
    "input_json_delta": ("tool_use", {"input": {}}),
    "citations_delta": ("text", {}),
    "compaction_delta": ("compaction", {"content": "x", "encrypted_content": "x"}),
}
"""Kind of a delta to the block that it continues, and to what the block then has."""


@pytest.mark.parametrize(("model", "full"), models_and_sizes(claude.BetaRawContentBlockDelta))
def test_each_delta_of_anthropic_continues_its_block(model, full):
    delta = sample_of_model(model, full=full)
    kind, grown = GROWS[delta["type"]]
    start = {
        "text": {"type": "text", "text": ""},
        "thinking": {"type": "thinking", "thinking": "", "signature": ""},
        "tool_use": {"type": "tool_use", "id": "x", "name": "x", "input": {}},
        "compaction": {"type": "compaction", "content": None},
    }[kind]
    delta = {**delta, "partial_json": "{}"} if "partial_json" in delta else delta
    events = [
        {"type": "message_start", "message": {"id": "m", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "no_such_delta", "new": "x"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    ]
    stream = anthropic.stream([])
    for event in events:
        stream.feed(event)
    (block,) = stream.response["content"]
    assert {key: grown[key] for key in grown.keys() & {*delta, "input"}}.items() <= block.items()


# --- Bedrock -------------------------------------------------------------------------------------


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("kind", BEDROCK.shape_for("ContentBlock").members)
def test_each_block_of_bedrock_does_what_is_decided(kind, full):
    block = {kind: sample_of_shape(BEDROCK.shape_for("ContentBlock").members[kind], full=full)}
    block.get("toolUse", {}).pop("type", None)  # that is Bedrock's own call
    stop = "tool_use" if kind == "toolUse" else "end_turn"
    body = {"output": {"message": {"role": "assistant", "content": [block]}}, "stopReason": stop}
    decision = CONVERSE[kind] if any(block.values()) else KEPT  # an empty one says nothing
    check(bedrock.answer(body, []), decision, [{"role": "assistant", "content": [block]}])


@pytest.mark.parametrize("union", ["ContentBlockStart", "ContentBlockDelta"])
@pytest.mark.parametrize("full", [False, True])
def test_no_start_or_delta_of_bedrock_fails(union, full):
    for kind, shape in BEDROCK.shape_for(union).members.items():
        use = {"toolUse": {"toolUseId": "x", "name": "x"}}
        event = {kind: sample_of_shape(shape, full=full)}
        start = event if union == "ContentBlockStart" else use if kind == "toolUse" else {}
        deltas = [event] if union == "ContentBlockDelta" else []
        if kind == "toolUse" and deltas:
            deltas[0]["toolUse"]["input"] = "{}"
        events = [
            {"messageStart": {"role": "assistant"}},
            *([{"contentBlockStart": {"start": start, "contentBlockIndex": 0}}] if start else []),
            *[{"contentBlockDelta": {"delta": delta, "contentBlockIndex": 0}} for delta in deltas],
            {"contentBlockStop": {"contentBlockIndex": 0}},
            {"messageStop": {"stopReason": "end_turn"}},
        ]
        answer = streamed(bedrock, events)
        assert len(answer.message[0]["content"]) == 1, kind


@pytest.mark.parametrize("kind", BEDROCK.shape_for("ConverseStreamOutput").members)
def test_an_event_of_bedrock_is_read_or_an_error(kind):
    event = {kind: sample_of_shape(BEDROCK.shape_for("ConverseStreamOutput").members[kind], full=True)}
    if kind.endswith("Exception"):
        with pytest.raises(ResponseError, match=kind):
            streamed(bedrock, [event])
    elif kind not in {"contentBlockStop", "metadata"}:
        assert streamed(bedrock, [event, {"messageStop": {"stopReason": "end_turn"}}]).stop == "end"


# --- Gemini --------------------------------------------------------------------------------------


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("name", google.Part.model_fields)
def test_each_part_of_gemini_does_what_is_decided(name, full):
    field = google.Part.model_fields[name]
    key = field.alias or name
    value = (
        {"id": "g", "name": "x", "args": {}} if key == "functionCall" else sample(field.annotation, full=full)
    )
    content = {"role": "model", "parts": [{key: value}]}
    body = {"candidates": [{"content": content, "finishReason": "STOP"}]}
    answer = gemini.answer(body, [])
    check(answer, PARTS[key], [content])
    if key != "executableCode":  # a stream goes on after it, whatever reason it says
        assert same(streamed(gemini, [body]), answer)


# --- Mistral and Cohere --------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "full"), models_and_sizes(mistralai.ContentChunk))
def test_each_chunk_of_mistral_does_what_is_decided(model, full):
    chunk = sample_of_model(model, full=full)
    message = {"role": "assistant", "content": [chunk]}
    answer = mistral.answer({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}, [])
    check(answer, CHUNKS[chunk["type"]], [message])
    choice = {"index": 0, "delta": message, "finish_reason": "stop"}
    assert same(streamed(mistral, [{"choices": [choice]}]), answer)


COHERE_EVENTS = frozenset(
    {
        *("citation-end", "citation-start", "content-delta", "content-end", "content-start", "debug"),
        *("message-end", "message-start", "tool-call-delta", "tool-call-end", "tool-call-start"),
        *("tool-plan-delta",),
    }
)


@pytest.mark.parametrize("full", [False, True])
def test_each_event_of_cohere_has_a_decision_and_is_read(full):
    models = {type_of(model): model for model in models_of(cohere.V2ChatStreamResponse)}
    assert models.keys() <= COHERE_EVENTS, "decide what is read of the new events of Cohere"
    events = {kind: sample_of_model(model, full=True) | {"index": 0} for kind, model in models.items()}
    events["message-end"] = sample_of_model(models["message-end"], full=False) | {
        "delta": {"finish_reason": "TOOL_CALL"}
    }
    order = [
        *(
            "message-start",
            "tool-plan-delta",
            "content-start",
            "content-delta",
            "content-end",
            "citation-start",
        ),
        *("citation-end", "tool-call-start", "tool-call-delta", "tool-call-end", "debug", "message-end"),
    ]
    answer = streamed(our_cohere, [events[kind] for kind in order if full or kind != "debug"])
    assert (answer.text, len(answer.calls)) == ("x\nxx", 1)
    assert len(members_of(cohere.AssistantMessageResponseContentItem)) == len({"text", "thinking"})
