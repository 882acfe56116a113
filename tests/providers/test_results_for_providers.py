"""Results on their way to providers, as recorded requests sent them and providers took them."""

import re

import pytest
from provider_traffic import exchanges, provider_of, sent_messages

from operator_schema import RawCall, ToolResult, tool
from operator_schema.content import File, Image, Text
from operator_schema.providers import (
    anthropic,
    bedrock,
    cohere,
    gemini,
    mistral,
    ollama,
    openai_chat,
    openai_compatible,
    openai_responses,
)

PNG = Image(b"\x89PNG\r\n\x1a\n" + bytes(20), "image/png")


def is_result(message):
    if message.get("role") == "tool" or message.get("type") == "function_call_output":
        return True
    return any(
        block.get("type") == "tool_result" or "functionResponse" in block for block in blocks_of(message)
    )


def blocks_of(message):
    found = message.get("content") or message.get("parts") or []
    return [block for block in found if isinstance(block, dict)] if isinstance(found, list) else []


def text_of(content):
    return content if isinstance(content, str) else "".join([part["text"] for part in content])


def results_in(message):
    """Read the results out of a message that was sent."""
    if message.get("role") == "tool":
        name = message.get("tool_name") or message.get("name") or "tool"
        return [ToolResult(message.get("tool_call_id", ""), name, text_of(message["content"]))]
    if message.get("type") == "function_call_output":
        return [ToolResult(message["call_id"], "tool", text_of(message["output"]))]
    results = []
    for block in blocks_of(message):
        if "functionResponse" in block:
            given = block["functionResponse"]
            results.append(
                ToolResult(given.get("id", "operator_schema_1"), given["name"], str(given["response"]))
            )
        elif block.get("type") == "tool_result":
            is_error = block.get("is_error", False)
            content = text_of(block.get("content") or "")
            results.append(ToolResult(block["tool_use_id"], "tool", content, is_error=is_error))
    return results


NOT_OURS = frozenset({"status", "thought", "name", "cache_control"})
"""What somebody else's requests say beside what is needed."""


def shape(value):
    """Return a message as a set of paths with the types of what is there."""
    if isinstance(value, dict):
        return {
            (key, *path)
            for key, inner in value.items()
            if key not in NOT_OURS and inner not in (None, False)
            for path in shape(inner) or {()}
        }
    if isinstance(value, list):
        return {("*", *path) for inner in value for path in shape(inner) or {()}}
    return {(type(value).__name__,)}


RESULTS = [
    (exchange["provider"], message, provider_of(exchange))
    for exchange in exchanges()
    if exchange["status"] == 200 and provider_of(exchange) is not None
    for message in sent_messages(exchange)
    if is_result(message)
]


@pytest.mark.parametrize("name", sorted({name for name, _, _ in RESULTS}))
def test_results_have_the_shape_that_the_provider_took(name):
    compared = 0
    for provider_name, message, provider in RESULTS:
        if provider_name != name:
            continue
        results = results_in(message)
        (sent,) = provider.results(results)
        wanted = {path for path in shape(message) if "response" not in path}
        own = {path for path in shape(sent) if "response" not in path}
        if name == "ollama":  # it takes the id since 0.12.10, and the recorded client left it out
            own.discard(("tool_call_id", "str"))
        if wanted != own:
            # Text may be sent as a string or as a list of one text block: both were taken.
            assert {path[:1] for path in wanted} == {path[:1] for path in own}, message
            assert name in {"cohere", "openai", "openrouter", "groq", "anthropic", "doubleword"}, (
                message,
                sent,
            )
        compared += 1
    assert compared


@tool
def search(query: str) -> str:
    """Search."""
    return query


FAILED = ToolResult("c1", "search", "search failed", is_error=True, code="execution_failed")
FOUND = ToolResult("c2", "search", "found")
SHOWN = ToolResult("c3", "search", "see", parts=(Text("see"), PNG))


def test_a_failure_is_marked_where_the_provider_has_a_mark():
    (message,) = anthropic.results([FAILED, FOUND])
    assert [block.get("is_error", False) for block in message["content"]] == [True, False]
    (message,) = bedrock.results([FAILED, FOUND])
    assert [block["toolResult"]["status"] for block in message["content"]] == ["error", "success"]
    (message,) = gemini.results([FAILED, FOUND])
    responses = [part["functionResponse"]["response"] for part in message["parts"]]
    assert responses == [{"error": "search failed"}, {"output": "found"}]


def test_a_failure_is_told_by_its_text_elsewhere():
    assert openai_chat.results([FAILED])[0]["content"] == "search failed"
    assert openai_responses.results([FAILED])[0]["output"] == "search failed"
    told = {"role": "tool", "tool_name": "search", "content": "search failed"}
    assert ollama.results([FAILED]) == [{**told, "tool_call_id": "c1"}]
    assert ollama.results([FAILED.replace(call_id="operator_schema_1")]) == [told]


def test_images_go_along_where_the_provider_takes_them():
    (message,) = anthropic.results([SHOWN])
    source = {"type": "base64", "media_type": "image/png", "data": PNG.base64}
    assert message["content"][0]["content"] == [
        {"type": "text", "text": "see"},
        {"type": "image", "source": source},
    ]
    (item,) = openai_responses.results([SHOWN])
    assert item["output"][1] == {"type": "input_image", "image_url": f"data:image/png;base64,{PNG.base64}"}
    (message,) = bedrock.results([SHOWN])
    assert message["content"][0]["toolResult"]["content"][1] == {
        "image": {"format": "png", "source": {"bytes": PNG.data}}
    }
    (message,) = gemini.results([SHOWN])
    assert message["parts"][1] == {"inlineData": {"mimeType": "image/png", "data": PNG.base64}}


def test_an_image_is_described_where_the_provider_takes_none():
    bitmap = ToolResult("c", "search", "see", parts=(Image(b"II*\x00" + bytes(40), "image/tiff"),))
    (message,) = bedrock.results([bitmap])
    assert message["content"][0]["toolResult"]["content"] == [{"text": "[image image/tiff, 44 bytes]"}]
    assert mistral.results([SHOWN]) == [{"role": "tool", "tool_call_id": "c3", "content": "see"}]
    told = "[image image/tiff, 44 bytes]"
    (message,) = anthropic.results([bitmap])
    assert message["content"][0]["content"] == [{"type": "text", "text": told}]
    (item,) = openai_responses.results([bitmap.replace(content=told)])
    assert item["output"] == told
    (message,) = gemini.results([bitmap])
    assert [list(part) for part in message["parts"]] == [["functionResponse"]]


PDF = File(b"%PDF-1.7 ...", "application/pdf", "Offer #3 (final).pdf")
SPREADSHEET = File(b"a,b\n1,2\n", "text/csv", "a__b.csv")
ARCHIVE = File(b"PK\x03\x04" + bytes(20), "application/zip")
FILES = ToolResult("c4", "search", "three files", parts=(Text("Look:"), PDF, SPREADSHEET, ARCHIVE))
TOLD = "[file application/zip, 24 bytes]"


def test_files_go_along_where_the_provider_takes_them():
    (message,) = anthropic.results([FILES])
    text, pdf, *told = message["content"][0]["content"]
    assert text == {"type": "text", "text": "Look:"}
    source = {"type": "base64", "media_type": "application/pdf", "data": PDF.base64}
    assert pdf == {"type": "document", "source": source, "title": "Offer #3 (final).pdf"}
    assert [block["text"] for block in told] == ["[file a__b.csv text/csv, 8 bytes]", TOLD]

    (item,) = openai_responses.results([FILES])
    url = f"data:application/pdf;base64,{PDF.base64}"
    assert item["output"][1] == {"type": "input_file", "filename": PDF.name, "file_data": url}

    (message,) = bedrock.results([FILES])
    _, pdf, table, told = message["content"][0]["toolResult"]["content"]
    assert pdf == {"document": {"name": "Offer 3 (final) 1", "format": "pdf", "source": {"bytes": PDF.data}}}
    assert table["document"]["format"] == "csv"
    assert table["document"]["name"] == "a b 2"
    assert told == {"text": TOLD}

    (message,) = gemini.results([FILES])
    assert message["parts"][1:] == [{"inlineData": {"mimeType": "application/pdf", "data": PDF.base64}}]


@pytest.mark.parametrize(
    "name", [None, ".pdf", "ä.pdf", "x" * 400, " ", "a\nb.pdf", "../../x.pdf", "[1] (2).pdf"]
)
def test_bedrock_takes_the_names_of_files(name):
    one = File(PDF.data, "application/pdf", name)
    (message,) = bedrock.results([ToolResult("c", "search", "x", parts=(one, one))])
    names = [block["document"]["name"] for block in message["content"][0]["toolResult"]["content"]]
    assert len(set(names)) == 2
    for shown in names:
        assert re.fullmatch(r"[A-Za-z0-9()\[\]-]+( [A-Za-z0-9()\[\]-]+)*", shown)
        assert len(shown) <= 200


def test_an_image_that_is_a_file_is_an_image():
    picture = ToolResult("c", "search", "x", parts=(File(PNG.data, "image/png", "dot.png"),))
    (message,) = anthropic.results([picture])
    assert message["content"][0]["content"][0]["type"] == "image"


def test_what_chat_completions_has_no_place_for_follows_in_a_message_of_the_user():
    first, second, user = openai_chat.results([SHOWN, FILES])
    assert (first["content"], second["content"]) == ("see", "three files")
    url = f"data:application/pdf;base64,{PDF.base64}"
    assert user == {
        "role": "user",
        "content": [
            {"type": "text", "text": "What the tool search returned (call c3):"},
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG.base64}"}},
            {"type": "text", "text": "What the tool search returned (call c4):"},
            {"type": "file", "file": {"filename": PDF.name, "file_data": url}},
        ],
    }
    ours = openai_compatible("ours", takes_images=True)
    assert ours.results([SHOWN]) == openai_chat.results([SHOWN])


def test_an_empty_text_is_no_block_for_anthropic():
    (message,) = anthropic.results([ToolResult("c", "search", "")])
    assert message["content"] == [{"type": "tool_result", "tool_use_id": "c", "content": []}]


@pytest.mark.parametrize(
    "provider", [anthropic, bedrock, gemini, openai_chat, openai_responses, cohere, ollama]
)
def test_no_results_are_no_message(provider):
    assert provider.results([]) == []


def test_calls_can_be_told_without_the_models_own_message():
    calls = [
        RawCall("1", "f", '{"q": 1}'),
        RawCall("2", "f", {"q": 2}),
        RawCall("3", "f"),
        RawCall("4", "f", "x"),
    ]
    (message,) = openai_chat.wire.calls_message(calls)
    assert [call["function"]["arguments"] for call in message["tool_calls"]] == [
        '{"q": 1}',
        '{"q":2}',
        "{}",
        '{"arguments":"x"}',
    ]
    (message,) = anthropic.wire.calls_message([*calls, RawCall("5", "f", "[1]"), RawCall("6", "f", " ")])
    inputs = [block["input"] for block in message["content"]]
    assert inputs == [{"q": 1}, {"q": 2}, {}, {"arguments": "x"}, {"arguments": [1]}, {}]
    (message,) = bedrock.wire.calls_message(calls[:1])
    assert message["content"] == [{"toolUse": {"toolUseId": "1", "name": "f", "input": {"q": 1}}}]
    (message,) = gemini.wire.calls_message(calls[:1])
    assert message["parts"] == [{"functionCall": {"id": "1", "name": "f", "args": {"q": 1}}}]
    (message,) = ollama.wire.calls_message(calls[:1])
    assert message["tool_calls"] == [{"id": "1", "function": {"name": "f", "arguments": {"q": 1}}}]
    (message,) = cohere.wire.calls_message(calls[:1])
    assert list(message) == ["role", "tool_calls"]
    (item,) = openai_responses.wire.calls_message(calls[:1])
    assert item == {"type": "function_call", "call_id": "1", "name": "f", "arguments": '{"q": 1}'}
