"""Of which provider a message in a history is."""

import pytest

from operator_schema import RawCall, Toolset, providers, tool
from operator_schema.providers import provider_names
from operator_schema.providers.wire_format import form_of
from operator_schema.testing import ScriptedModel


@pytest.mark.parametrize(
    ("message", "form"),
    [
        ({"role": "assistant", "content": None}, "text"),
        ({"role": "assistant", "content": "Hello."}, "text"),
        ({"role": "assistant", "content": ""}, "text"),
        ({"role": "assistant"}, "text"),
        ({"role": "assistant", "content": 3}, ""),
        ({"role": "assistant", "content": {"type": "text"}}, ""),
        ({"role": "assistant", "content": [{"type": "text", "text": "Hello."}]}, "parts"),
        ({"role": "assistant", "content": [{"text": "Hello."}]}, "blocks"),
        ({"role": "assistant", "content": [{"type": "text"}, {"text": "Hello."}]}, "blocks"),
        ({"role": "assistant", "content": [{"type": "text"}, "Hello."]}, "blocks"),
        ({"role": "assistant", "content": []}, "parts"),
        ({"role": "model", "parts": [{"text": "Hello."}]}, "gemini"),
        ({"role": "assistant", "type": "message", "content": []}, "item"),
        ({"type": "function_call"}, "item"),
        ({"content": "Hello."}, ""),
        ({}, ""),
        ("Hello.", ""),
        (None, ""),
    ],
)
def test_a_message_has_a_form(message, form):
    assert form_of(message) == form


@tool
def weather(city: str) -> str:
    """Look at the weather."""
    return city


OFFER = Toolset(weather).offer()
SAID = ["Hello.", RawCall(name="weather", arguments={"city": "Oslo"})]
ALL = [getattr(providers, name) for name in provider_names()]


def messages_of(body):
    return next(body[key] for key in ("messages", "contents", "input") if key in body)


@pytest.mark.parametrize("provider", ALL)
@pytest.mark.parametrize("said", SAID)
def test_a_whole_response_is_no_message_of_any_provider(provider, said):
    response = ScriptedModel(provider, [said])(**provider.request(OFFER, ["Hello?"]))
    for other in ALL:
        with pytest.raises(
            TypeError, match=r"whole response, with \"\w+\": put answer\(response, offer\) there$"
        ):
            other.request(OFFER, ["Hello?", response])
    sent = messages_of(provider.request(OFFER, ["Hello?", provider.answer(response, OFFER)]))
    assert messages_of(provider.request(OFFER, sent)) == sent
