"""The turns over OpenAI's chat completions, for frameworks that talk to them."""

from __future__ import annotations

import json

from turns import Answer


def completion(message, reason):
    said = {"role": "assistant", "content": None, **message}
    choice = {"index": 0, "finish_reason": reason, "message": said}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    head = {"id": "c1", "object": "chat.completion", "created": 1, "model": "gpt"}
    return {**head, "choices": [choice], "usage": usage}


def asked(calls):
    """Return the answer of a model that makes calls."""

    def text_of(arguments):
        return arguments if isinstance(arguments, str) else json.dumps(arguments)

    made = [
        {
            "id": f"t{number}",
            "type": "function",
            "function": {"name": one.name, "arguments": text_of(one.arguments)},
        }
        for number, one in enumerate(calls)
    ]
    return completion({"tool_calls": made}, "tool_calls")


DONE = completion({"content": "done"}, "stop")


def answers(request):
    """Return what the model reads of its calls, in their order."""
    told = [message for message in request["messages"] if message["role"] == "tool"]
    told.sort(key=lambda message: message["tool_call_id"])
    images = "image_url" in json.dumps(request["messages"])
    return [Answer(_text(message["content"]), None, images) for message in told]


def _text(content):
    if isinstance(content, str):
        return content
    return "\n".join([part["text"] for part in content if part.get("type") == "text"])
