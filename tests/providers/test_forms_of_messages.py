"""Of which provider a message in a history is."""

import pytest

from operator_schema.providers.wire_format import form_of


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
