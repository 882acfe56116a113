"""Answers that came as a whole, split into the events by which the provider would have streamed them."""

import copy
import json

NEW = {
    "new_text": "nobody knows this kéy \U0001f600 yet",
    "new_number": 3,
    "new_list": [{"a": 1}, "b"],
    "new_object": {"inner": "grows as well", "number": 1.5, "deep": {"text": "and so on"}},
}
"""Keys that no page of a provider says."""


def pieces(text, draw):
    """Cut a text at random places; nothing gives nothing."""
    while text:
        size = draw.randrange(1, 12)
        yield text[:size]
        text = text[size:]


def growing(content, draw, keys=None):
    """Yield deltas that make an object: of the texts at these keys, at every depth, a piece at a time."""
    for key, value in content.items():
        if isinstance(value, str) and (keys is None or key in keys):
            yield from ({key: piece} for piece in pieces(value, draw))
            if not value:
                yield {key: value}
        elif isinstance(value, dict):
            yield {key: {}}
            yield from ({key: inner} for inner in growing(value, draw, keys))
        else:
            yield {key: copy.deepcopy(value)}


def without(content, *keys):
    return {key: value for key, value in content.items() if key not in keys}


def chat(response, draw):
    """Yield the chunks of Chat Completions."""
    top = without(response, "choices", "usage")
    for choice in response["choices"]:
        index, message = choice.get("index", 0), choice["message"]

        def chunk(delta, index=index, **rest):
            return {**top, "choices": [{"index": index, "delta": delta, **rest}]}

        yield chunk({"role": message.get("role"), "content": ""})
        grown = {key: value for key, value in message.items() if key not in {"role", "tool_calls"}}
        for delta in growing(grown, draw):
            yield chunk(delta)
        for number, call in enumerate(message.get("tool_calls") or ()):
            function = call["function"]
            first = {**without(function, "arguments"), "arguments": ""}
            yield chunk({"tool_calls": [{**call, "function": first, "index": number}]})
            for piece in pieces(function["arguments"], draw):
                yield chunk({"tool_calls": [{"index": number, "function": {"arguments": piece}}]})
        yield chunk({}, **without(choice, "index", "message"))
    yield {**top, "choices": [], "usage": response.get("usage")}


def responses(response, draw):
    """Yield the events of Responses."""
    yield {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}}
    texts = {
        "output_text": ("response.output_text.delta", "content", "text"),
        "refusal": ("response.refusal.delta", "content", "refusal"),
        "reasoning_text": ("response.reasoning_text.delta", "content", "text"),
        "summary_text": ("response.reasoning_summary_text.delta", "summary", "text"),
    }
    for index, item in enumerate(response["output"]):
        empty = {key: [] if key in {"content", "summary"} else value for key, value in item.items()}
        empty.update({key: "" for key in ("arguments", "input") if key in item})
        yield {"type": "response.output_item.added", "output_index": index, "item": empty}
        for place in ("summary", "content"):
            for number, part in enumerate(item.get(place) or ()):
                kind, _, key = texts[part["type"]]
                for piece in pieces(part[key], draw):
                    yield {"type": kind, "output_index": index, f"{place}_index": number, "delta": piece}
        if item["type"] == "function_call":
            for piece in pieces(item["arguments"], draw):
                kind = "response.function_call_arguments.delta"
                yield {"type": kind, "output_index": index, "delta": piece}
        if item["type"] == "custom_tool_call":
            for piece in pieces(item["input"], draw):
                kind = "response.custom_tool_call_input.delta"
                yield {"type": kind, "output_index": index, "delta": piece}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": response}


def messages(response, draw):
    """Yield the events of Anthropic's Messages."""
    ends = {key: response[key] for key in ("stop_reason", "stop_sequence", "stop_details") if key in response}
    usage = response["usage"]
    start = {**without(response, *ends), "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": {**start, "usage": {**usage, "output_tokens": 1}}}
    for index, block in enumerate(response["content"]):
        kinds = {"text": "text_delta", "thinking": "thinking_delta", "signature": "signature_delta"}
        texts = {key: block[key] for key in kinds if isinstance(block.get(key), str)}
        unknown = {key: block[key] for key in NEW if key in block}
        first = {**without(block, *unknown, "citations"), **dict.fromkeys(texts, "")}
        if "input" in block:
            first["input"] = {}
        yield {"type": "content_block_start", "index": index, "content_block": first}
        if block.get("input"):
            for piece in pieces(json.dumps(block["input"]), draw):
                delta = {"type": "input_json_delta", "partial_json": piece}
                yield {"type": "content_block_delta", "index": index, "delta": delta}
        for citation in block.get("citations") or ():
            delta = {"type": "citations_delta", "citation": citation}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        for key, text in texts.items():
            for piece in pieces(text, draw):
                delta = {"type": kinds[key], key: piece}
                yield {"type": "content_block_delta", "index": index, "delta": delta}
        for more in growing(unknown, draw):
            yield {"type": "content_block_delta", "index": index, "delta": {"type": "new_delta", **more}}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": ends, "usage": {"output_tokens": usage["output_tokens"]}}
    yield {"type": "message_stop"}


def converse(response, draw):
    """Yield the events of Bedrock's Converse."""
    message = response["output"]["message"]
    yield {"messageStart": {"role": message["role"]}}
    for index, block in enumerate(message["content"]):

        def delta(content, index=index):
            return {"contentBlockDelta": {"contentBlockIndex": index, "delta": content}}

        for kind, value in block.items():
            if kind == "toolUse":
                start = {kind: without(value, "input")}
                yield {"contentBlockStart": {"contentBlockIndex": index, "start": start}}
                for piece in pieces(json.dumps(value["input"]), draw):
                    yield delta({kind: {"input": piece}})
            elif kind == "reasoningContent":
                yield from (delta({kind: more}) for more in growing(value["reasoningText"], draw))
            elif kind == "toolResult":
                start = {kind: without(value, "content")}
                yield {"contentBlockStart": {"contentBlockIndex": index, "start": start}}
                yield from (delta({kind: [part]}) for part in value["content"])
            else:
                yield from (delta(more) for more in growing({kind: value}, draw))
        yield {"contentBlockStop": {"contentBlockIndex": index}}
    yield {"messageStop": {"stopReason": response["stopReason"]}}
    yield {"metadata": without(response, "output", "stopReason")}


def generate_content(response, draw):
    """Yield the responses of which Gemini's stream consists."""
    top = without(response, "candidates")
    for number, candidate in enumerate(response["candidates"]):
        content = candidate.get("content") or {}
        for part in content.get("parts") or ():
            of_text = "text" in part and part.keys() <= {"text", "thought"}
            shown = [{**part, "text": piece} for piece in pieces(part["text"], draw)] if of_text else [part]
            for one in shown:
                said = {"role": content.get("role", "model"), "parts": [one]}
                yield {**top, "candidates": [{"index": number, "content": said}]}
        yield {**top, "candidates": [{"index": number, **without(candidate, "content", "index")}]}


def cohere(response, draw):
    """Yield the events of Cohere's Chat v2."""
    message = response["message"]

    def event(kind, index=None, **message):
        place = {} if index is None else {"index": index}
        return {"type": kind, **place, "delta": {"message": message}}

    rest = without(message, "content", "tool_calls", "tool_plan", "citations")
    start = {"type": "message-start", "delta": {"message": rest}}
    yield {**without(response, "message", "finish_reason", "usage"), **start}
    for piece in pieces(message.get("tool_plan") or "", draw):
        yield event("tool-plan-delta", tool_plan=piece)
    for index, part in enumerate(message.get("content") or ()):
        yield event("content-start", index, content={"type": part["type"]})
        for more in growing(without(part, "type"), draw):
            yield event("content-delta", index, content=more)
        yield event("content-end", index)
    for index, call in enumerate(message.get("tool_calls") or ()):
        function = {**call["function"], "arguments": ""}
        yield event("tool-call-start", index, tool_calls={**call, "function": function})
        for piece in pieces(call["function"]["arguments"], draw):
            yield event("tool-call-delta", index, tool_calls={"function": {"arguments": piece}})
        yield event("tool-call-end", index)
    for index, citation in enumerate(message.get("citations") or ()):
        yield event("citation-start", index, citations=citation)
    yield {"type": "message-end", "delta": {key: response.get(key) for key in ("finish_reason", "usage")}}


def ollama(response, draw):
    """Yield the lines of Ollama's stream."""
    message = response["message"]
    top = {"model": response["model"], "created_at": response["created_at"]}
    for more in growing(without(message, "role", "tool_calls"), draw):
        yield {**top, "message": {"role": "assistant", **more}, "done": False}
    for call in message.get("tool_calls") or ():
        yield {**top, "message": {"role": "assistant", "content": "", "tool_calls": [call]}, "done": False}
    yield {**response, "message": {"role": "assistant", "content": ""}}


FORMS = {
    "ChatWire": chat,
    "ResponsesWire": responses,
    "MessagesWire": messages,
    "ConverseWire": converse,
    "GenerateContentWire": generate_content,
    "CohereWire": cohere,
    "OllamaWire": ollama,
}
