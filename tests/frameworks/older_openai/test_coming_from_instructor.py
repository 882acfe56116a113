"""The page for people who come from another library: instructor wants an older SDK of OpenAI."""

from __future__ import annotations

from coming_from import run_here, run_there
from local_server import serving

from operator_schema.providers import openai_chat
from operator_schema.testing import ScriptedModel


def response(arguments):
    """Return an answer that calls the tool of instructor."""
    call = {"id": "c1", "type": "function", "function": {"name": "Person", "arguments": arguments}}
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": None, "tool_calls": [call]},
        "finish_reason": "tool_calls",
    }
    return {"id": "r1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def test_instructor(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with serving(response('{"name": "Ada", "years": 36}'), response('{"name": "Ada", "age": 36}')) as served:
        address, requests = served
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        theirs = run_there("instructor")["person_in"]("Ada is 36.")
    assert len(requests) == 2
    script = [f'{{"name": "Ada", "{key}": 36}}' for key in ("years", "age")]
    ours = run_here("instructor")["person_in"]("Ada is 36.", ScriptedModel(openai_chat, script))
    assert (theirs.name, theirs.age) == (ours.name, ours.age) == ("Ada", 36)
