"""What each provider refuses in a history, by its pages and errors, told apart from the code of the library.

Each rule takes the messages of a request, and yields what the provider would refuse.
"""

import json
import re
from collections import Counter
from itertools import pairwise

CHAT = {
    "OpenAI Chat Completions": {"role", "content", "refusal", "name", "audio", "tool_calls", "function_call"},
    "Mistral": {"role", "content", "tool_calls", "prefix"},
    "Groq": {"role", "content", "name", "tool_calls", "function_call"},
    "DeepSeek": {"role", "content", "name", "prefix", "reasoning_content", "tool_calls"},
    "Cohere": {"role", "content", "tool_plan", "tool_calls", "citations"},
    "llama.cpp": {"role", "content", "name", "reasoning_content", "tool_calls"},
    "vLLM": {"role", "content", "name", "reasoning_content", "tool_calls"},
}
"""Keys of a message of the assistant; Ollama ignores what it doesn't know."""

IDS = {
    "OpenAI Chat Completions": r".{1,40}",
    "OpenAI Responses": r".{1,64}",
    "xAI": r".{1,64}",
    "Anthropic": r"[a-zA-Z0-9_-]{1,64}",
    "Bedrock Converse": r"[a-zA-Z0-9_-]{1,64}",
    "Mistral": r"[a-zA-Z0-9]{9}",
}


def is_text_of_object(found):
    try:
        return isinstance(found, str) and isinstance(json.loads(found), dict)
    except ValueError:
        return False


def id_faults(name, calls, results):
    """Check that each result answers a call before it, by an id that the provider takes."""
    if calls != results:
        yield f"the calls {calls} aren't answered by {results}"
    for call_id in calls:
        if not isinstance(call_id, str) or re.fullmatch(IDS.get(name, ".+"), call_id) is None:
            yield f"the id {call_id!r}"
        elif call_id.startswith("operator_schema_"):
            yield f"the id {call_id!r} is the library's own"
    if len(set(calls)) < len(calls):
        yield "an id repeats"


def chat_faults(name, messages):
    calls, results = [], []
    for message in messages:
        if message["role"] == "tool":
            results.append(message.get("tool_call_id"))
        if message["role"] != "assistant":
            continue
        if more := message.keys() - CHAT[name]:
            yield f"keys {sorted(more)}"
        found = message.get("tool_calls") or []
        if name == "DeepSeek" and found and not message.get("reasoning_content"):
            yield "no reasoning_content"
        if not found and not message.get("content"):
            yield "a message that says nothing"
        for call in found:
            calls.append(call.get("id"))
            if call.get("type") != "function" or not is_text_of_object(call["function"]["arguments"]):
                yield f"the call {call}"
            if call.keys() - {"id", "type", "function", "index"}:
                yield f"keys of a call {sorted(call)}"
    yield from id_faults(name, calls, results)


def ollama_faults(_, messages):
    for message in messages:
        if message["role"] == "tool" and not message.get("tool_name"):
            yield "a result without its tool"
        for call in message.get("tool_calls") or ():
            if not isinstance(call["function"]["arguments"], dict):
                yield "arguments that aren't an object"
            if not call.get("id", "x") or str(call.get("id")).startswith("operator_schema_"):
                yield f"the id {call['id']!r}"


def responses_faults(name, items):
    calls, results = [], []
    for item in items:
        kind = item.get("type")
        if kind == "function_call":
            calls.append(item["call_id"])
            if not is_text_of_object(item["arguments"]):
                yield f"the call {item}"
        elif kind == "function_call_output":
            results.append(item["call_id"])
        elif kind is None and item.get("role") not in {"user", "assistant"}:
            yield f"the item {item}"
        if item.get("status") == "in_progress":
            yield "an item in progress"
    yield from id_faults(name, calls, results)


def messages_faults(name, messages):
    found = [message["content"] for message in messages if not isinstance(message["content"], str)]
    if not all(found):
        yield "a message without content"
    blocks = [block for content in found for block in content]
    for block in blocks:
        if block["type"] == "text" and not block["text"].strip():
            yield "blank text"
        if block["type"] == "thinking" and not block.get("signature"):
            yield "thinking without its signature"
        if block["type"] == "tool_use" and not isinstance(block["input"], dict):
            yield f"the call {block}"
        if block["type"] == "tool_result" and any(
            part.get("text", "x").isspace() for part in block["content"]
        ):
            yield "a blank result"
    kinds = Counter(re.sub("^.+_tool_result", "a result", block["type"]) for block in blocks)
    if kinds["server_tool_use"] > kinds["a result"]:
        yield "calls of its own without results"
    calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
    results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    yield from id_faults(name, calls, results)


def rows_of_one_role(messages):
    """Say where roles don't alternate, which Bedrock and older models of Gemini refuse."""
    for before, after in pairwise(messages):
        if before.get("role") == after.get("role"):
            yield f"two messages of the role {after.get('role')} in a row"


def converse_faults(name, messages):
    yield from rows_of_one_role(messages)
    calls, results = [], []
    for message in messages:
        if not message["content"]:
            yield "a message without content"
        for block in message["content"]:
            if "text" in block and not block["text"].strip():
                yield "blank text"
            if "toolUse" in block:
                calls.append(block["toolUse"]["toolUseId"])
                if not isinstance(block["toolUse"]["input"], dict):
                    yield f"the call {block}"
            if "toolResult" in block:
                results.append(block["toolResult"]["toolUseId"])
                parts = block["toolResult"]["content"]
                if not parts or any("text" in part and not part["text"].strip() for part in parts):
                    yield "a blank result"
    yield from id_faults(name, calls, results)


def gemini_faults(_, contents):
    yield from rows_of_one_role(contents)
    for content in contents:
        parts = content["parts"]
        if not parts or any(part == {"text": ""} for part in parts):
            yield "a content that says nothing"
        calls = [part for part in parts if "functionCall" in part]
        if calls and not calls[0].get("thoughtSignature"):
            yield "a first call without a signature"
        for part in calls:
            if not isinstance(part["functionCall"]["args"], dict):
                yield f"the call {part}"
            if str(part["functionCall"].get("id")).startswith("operator_schema_"):
                yield "an id of the library"


def faults(provider, body):
    """List what the provider would refuse in the history of a request."""
    messages = body[provider.wire.HISTORY]
    if provider.name in CHAT:
        return list(chat_faults(provider.name, messages))
    check = {
        "Anthropic": messages_faults,
        "Bedrock Converse": converse_faults,
        "Gemini": gemini_faults,
        "Gemini with parameters": gemini_faults,
        "Ollama": ollama_faults,
        "OpenAI Responses": responses_faults,
        "xAI": responses_faults,
    }[provider.name]
    return list(check(provider.name, messages))
