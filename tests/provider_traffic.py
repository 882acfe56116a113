"""The recorded exchanges, and which of our providers each belongs to."""

import base64
import gzip
import json
from functools import cache
from pathlib import Path
from struct import unpack

from operator_schema import providers

DATA = Path(__file__).parent / "providers" / "data" / "traffic.jsonl.gz"

OWN = {
    "anthropic": providers.anthropic,
    "bedrock": providers.bedrock,
    "cohere": providers.cohere,
    "deepseek": providers.deepseek,
    "gemini": providers.gemini,
    "groq": providers.groq,
    "llamacpp": providers.llama_cpp,
    "mistral": providers.mistral,
    "ollama": providers.ollama,
    "xai": providers.xai,
}


@cache
def exchanges():
    with gzip.open(DATA, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def provider_of(exchange):
    """Return the provider that an exchange belongs to; None for an endpoint that isn't ours."""
    path = exchange["path"]
    if exchange["provider"] == "gemini" and "enerateContent" not in path:
        return None
    compatible = providers.openai_responses if "responses" in path else providers.openai_chat
    return OWN.get(exchange["provider"], compatible)


def unstreamed():
    """List the exchanges that were answered with one JSON document."""
    return [
        exchange
        for exchange in exchanges()
        if exchange["status"] == 200
        and (exchange["content_type"] or "").startswith("application/json")
        and provider_of(exchange) is not None
    ]


def streamed():
    """List the exchanges that were answered with a stream."""
    return [
        exchange
        for exchange in exchanges()
        if exchange["status"] == 200
        and not (exchange["content_type"] or "").startswith("application/json")
        and provider_of(exchange) is not None
    ]


def sent_messages(exchange):
    """List what a request says of the conversation so far."""
    body = exchange["request"] or {}
    found = body.get("messages") or body.get("input") or body.get("contents") or []
    return [message for message in found if isinstance(message, dict)] if isinstance(found, list) else []


def binary_events(content):
    """Read the messages of Bedrock's stream by their layout."""
    while content:
        total, headers = unpack(">II", content[:8])
        kind = content[12 : 12 + headers].split(b":event-type")[1][3:].split(b"\r:")[0].decode()
        yield {kind: json.loads(content[12 + headers : total - 4])}
        content = content[total:]


def events_of(exchange):
    """List the events of a stream, as JSON values."""
    if exchange["response_encoding"] == "base64":
        return list(binary_events(base64.b64decode(exchange["response"])))
    lines = [line.removeprefix("data:").strip() for line in exchange["response"].splitlines()]
    return [json.loads(line) for line in lines if line.startswith("{")]
