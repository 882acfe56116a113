"""The code for each SDK on the page about round trips; a server on this machine gives the responses."""

from __future__ import annotations

import ast
import asyncio
import re

import pytest
from local_server import serving
from round_trips import COMMON, PAGE, SECTIONS, names_of_the_loop, recorded

from operator_schema import RawCall, providers
from operator_schema.testing import ScriptedModel

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


CODE = {title: re.findall(r"```py\n(.*?)```", section, re.DOTALL) for title, section in WITH_SDK.items()}
"""The blocks of each provider: a plain one, a streamed one, and others."""

ASYNC = {
    cells[0]: list(zip(re.findall("`(.+?)`", cells[1]), re.findall("`(.+?)`", cells[2]), strict=True))
    for cells in (
        row.strip("| \n").split(" | ") for row in COMMON.partition("<!-- async words -->")[2].split("\n")[3:]
    )
    if len(cells) == 3
}
"""For each SDK, what async code has in place of something."""


def here(code, address, monkeypatch):
    """Return code that asks a server on this machine."""
    for name in ADDRESSES:
        monkeypatch.setenv(name, address)
    for name in KEYS:
        monkeypatch.setenv(name, "none")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    code = re.sub(r"https?://[^\"]+", address, code)
    # These two read no variable, or only when they are imported.
    code = code.replace("Mistral(", f"Mistral(server_url={address!r}, ")
    return code.replace("ClientV2()", f"ClientV2(base_url={address!r})")


@pytest.mark.parametrize("title", WITH_SDK)
def test_the_code_for_the_sdk_runs(title, monkeypatch):
    names = names_of_the_loop()
    whole = [{**ENVELOPE.get(title, {}), **response} for response in recorded(title)]
    with serving(*whole) as (address, requests):
        assert run(here(CODE[title][0], address, monkeypatch), names) == "It is 42."
    first, second = requests
    assert "add" in repr(first)
    assert len(repr(second)) > len(repr(first)) + 100
    assert "42" in repr(second).replace(repr(first), "")


def provider_in(code):
    return getattr(providers, re.search(r"operator_schema.providers import (\w+)", code)[1])


SCRIPT = [["I add.", RawCall("toolu0001", "add", {"x": 20, "y": 22})], "It is 42."]


@pytest.mark.parametrize("title", WITH_SDK)
def test_the_streamed_code_for_the_sdk_runs(title, monkeypatch):
    plain, streamed, *_ = CODE[title]
    names, shown = names_of_the_loop(), []
    names["print"] = lambda text: bool(shown.append(text))
    model = ScriptedModel(provider_in(plain), SCRIPT)
    with model.serve() as address:
        made = here(plain[: plain.index("\n\n\ndef ask")], address, monkeypatch)
        answer = run(made + "\n\n" + streamed, names)
    assert (answer.text, answer.stop) == ("It is 42.", "end")
    assert answer.usage is not None
    assert "".join(shown) == "I add.It is 42."
    assert "42" in repr(model.requests[1]).replace("It is 42", "")
    assert len(model.requests) == 2


@pytest.mark.parametrize("title", WITH_SDK)
def test_a_conversation_goes_on_after_the_user_stopped_it(title, monkeypatch):
    plain, streamed, *_ = CODE[title]
    names = names_of_the_loop()
    provider = provider_in(plain)
    model = ScriptedModel(provider, [["I begin to say a long text. " * 20, SCRIPT[0][1]], *SCRIPT])
    with model.serve() as address:
        made = here(plain[: plain.index("\n\n\ndef ask")], address, monkeypatch)
        run(made + "\n\n" + streamed.partition("\n\n\ntalk")[0] + "\n\n\nask_streamed", names)
        history = ["What is 20 + 22?"]
        stopped = names["talk_streamed"](provider, history, names["ask_streamed"], bool)
        assert stopped.stop == "interrupted"
        assert 0 < len(stopped.text) < 20 * 28
        assert len(model.requests) == 1
        history.append("Go on.")
        answer = names["talk_streamed"](provider, history, names["ask_streamed"], [].append)
    assert answer.text == "It is 42."
    assert stopped.text.strip() in repr(model.requests[1])


def in_async(code, title):
    """Return code with the words that the page gives for async code."""
    sdk = "Google" if title == "Gemini" else re.search(r"^from (\w+)", code, re.MULTILINE)[1]
    (words,) = [ASYNC[name] for name in ASYNC if sdk.lower().startswith(name.lower())]
    for plain, word in words:
        assert re.search(rf"\b{re.escape(plain)}\b", code)
        code = re.sub(rf"\b{re.escape(plain)}\b", word, code)
    return code


@pytest.mark.parametrize("title", [title for title in WITH_SDK if title != "Amazon Bedrock"])
def test_the_async_words_are_all_that_differs(title, monkeypatch):
    plain, streamed, *_ = CODE[title]
    names = names_of_the_loop()
    provider, history = provider_in(plain), ["What is 20 + 22?"]
    code = "\n\n\n".join(block.partition("\n\n\ntalk")[0] for block in (plain, streamed))
    model = ScriptedModel(provider, ["It is 42.", "It is 42."])

    async def main():
        run(in_async(here(code, address, monkeypatch), title) + "\nNone", names)
        body = provider.request(names["offer"], history)
        answer = provider.answer(await names["ask"](body), names["offer"])
        stream = provider.stream(names["offer"])
        found = names["ask_streamed"](body)
        events = found if title == "Cohere" else await found
        async for event in events:
            stream.feed(event)
        await (events.aclose if hasattr(events, "aclose") else events.close)()
        return answer.text, stream.close().text

    with model.serve() as address:
        assert asyncio.run(main()) == ("It is 42.", "It is 42.")


def test_nothing_refers_to_what_openai_did_not_store(monkeypatch):
    plain, _, unstored = CODE["OpenAI Responses"]
    envelope = {**ENVELOPE["OpenAI Responses"], "store": False}
    called, said = recorded("OpenAI Responses")
    called["output"][0]["encrypted_content"] = "gAAA"
    with serving({**envelope, **called}, {**envelope, **said}) as (address, requests):
        made = here(plain[: plain.index("\n\n\ndef ask")], address, monkeypatch)
        assert run(made + "\n\n" + unstored, names_of_the_loop()) == "It is 42."
    first, second = requests
    assert (first["store"], first["include"]) == (False, ["reasoning.encrypted_content"])
    assert [item.get("type") for item in second["input"]] == [
        None,
        "reasoning",
        "function_call",
        "function_call_output",
    ]
    assert not any("id" in item for item in second["input"])


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
