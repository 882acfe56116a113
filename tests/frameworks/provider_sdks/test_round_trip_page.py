"""The code for each SDK on the page about round trips; a server on this machine gives the responses."""

from __future__ import annotations

import ast
import re

import pytest
from local_server import serving
from round_trips import PAGE, SECTIONS, names_of_the_loop, recorded

WITH_SDK = {title: section for title, section in SECTIONS.items() if "```py\n" in section}

ADDRESSES = (
    "ANTHROPIC_BASE_URL",
    "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
    "CO_API_URL",
    "GOOGLE_GEMINI_BASE_URL",
    "GROQ_BASE_URL",
    "OLLAMA_HOST",
    "OPENAI_BASE_URL",
)
KEYS = (
    "ANTHROPIC_API_KEY",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "CO_API_KEY",
    "DEEPSEEK_API_KEY",
    "GEMINI_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "OPENAI_API_KEY",
    "XAI_API_KEY",
)


def run(source, names):
    """Run code, and return the value of the last expression."""
    *first, last = ast.parse(source).body
    exec(compile(ast.Module(first, []), str(PAGE), "exec"), names)  # noqa: S102  # the page's own code
    return eval(compile(ast.Expression(last.value), str(PAGE), "eval"), names)  # noqa: S307  # the same


@pytest.mark.parametrize("title", WITH_SDK)
def test_the_code_for_the_sdk_runs(title, monkeypatch):
    names = names_of_the_loop()
    (code,) = re.findall(r"```py\n(.*?)```", WITH_SDK[title], re.DOTALL)
    whole = [{**ENVELOPE.get(title, {}), **response} for response in recorded(title)]
    with serving(*whole) as (address, requests):
        for name in ADDRESSES:
            monkeypatch.setenv(name, address)
        for name in KEYS:
            monkeypatch.setenv(name, "none")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        code = re.sub(r"https?://[^\"]+", address, code)
        # These two read no variable, or only when they are imported.
        code = code.replace("Mistral(", f"Mistral(server_url={address!r}, ")
        code = code.replace("ClientV2()", f"ClientV2(base_url={address!r})")
        assert run(code, names) == "It is 42."
    first, second = requests
    assert "add" in repr(first)
    assert len(repr(second)) > len(repr(first)) + 100
    assert "42" in repr(second).replace(repr(first), "")


ENVELOPE = {
    "OpenAI Responses": {
        "id": "r1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    },
    "Mistral": {"id": "r1", "object": "chat.completion", "created": 1, "model": "m", "usage": {}},
    "Amazon Bedrock": {
        "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
        "metrics": {"latencyMs": 1},
    },
    "Ollama": {"model": "m", "created_at": "2026-01-01T00:00:00Z"},
}
"""What some SDKs want to have in a response beside what is recorded."""


def test_the_page_has_every_provider():
    assert len(WITH_SDK) == 12
