"""The HTTP server of a script: what each form sends over the wire, and what it says of wrong requests."""

from __future__ import annotations

import json
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from patience import LONGEST_WAIT

from operator_schema import RawCall, providers, tool
from operator_schema.testing import CutOff, ScriptedModel

pytestmark = pytest.mark.needs_threads


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


LINE = ["I add them.", RawCall("c1", "add", {"a": 20, "b": 22})]
PATHS = {
    "openai_chat": ("/v1/chat/completions", {"stream": True}),
    "anthropic": ("/v1/messages", {"stream": True}),
    "openai_responses": ("/v1/responses", {"stream": True}),
    "gemini": ("/v1beta/models/m:generateContent", "/v1beta/models/m:streamGenerateContent?alt=sse"),
    "bedrock": ("/model/us.amazon.nova%3A0/converse", "/model/us.amazon.nova%3A0/converse-stream"),
    "ollama": ("/api/chat", {"stream": True}),
    "cohere": ("/v2/chat", {"stream": True}),
}
EACH = pytest.mark.parametrize("name", PATHS)


def post(address, path, body, headers=None):
    """Send a request; return status, content type and body."""
    connection = HTTPConnection(urlsplit(address).netloc, timeout=LONGEST_WAIT)
    try:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request("POST", path, data, headers or {})
        response = connection.getresponse()
        return response.status, response.headers["Content-Type"], response.read()
    finally:
        connection.close()


def streamed_at(name):
    """Return where a stream is asked for, and with which body."""
    path, how = PATHS[name]
    return (path, how) if isinstance(how, dict) else (how, {})


@EACH
def test_one_script_serves_every_form_by_its_path(name):
    provider = getattr(providers, name)
    model = ScriptedModel([LINE, LINE, "Done."])
    with model.serve() as address:
        status, kind, body = post(address, PATHS[name][0], {"model": "m", "stream": False})
        assert (status, kind) == (200, "application/json")
        answer = provider.answer(body, [add])
        path, asked = streamed_at(name)
        status, kind, body = post(address, path, asked)
        assert status == 200
    assert (answer.text, answer.stop, len(answer.calls)) == ("I add them.", "calls", 1)
    assert [len(model.requests), model.left] == [2, 1]
    stream = provider.stream([add])
    if name == "bedrock":
        pytest.importorskip("botocore", reason="its binary messages are read with botocore")
    for start in range(0, len(body), 7):
        stream.feed(body[start : start + 7])
    found = stream.close()
    assert (found.text, found.stop, found.calls[0].name) == ("I add them.", "calls", "add")


def test_gemini_streams_a_list_without_server_sent_events():
    with ScriptedModel([LINE]).serve() as address:
        _, kind, body = post(address, "/v1beta/models/m:streamGenerateContent", {})
    assert kind == "application/json"
    stream = providers.gemini.stream([add])
    stream.feed(body)
    assert stream.close().text == "I add them."


def test_ollama_streams_unless_it_is_told_not_to():
    with ScriptedModel([LINE]).serve() as address:
        _, kind, body = post(address, "/api/chat", {})
    assert kind == "application/x-ndjson"
    assert [json.loads(line)["done"] for line in body.splitlines()][-2:] == [False, True]


@EACH
def test_an_exception_of_the_script_is_an_error_that_the_provider_reads(name):
    with ScriptedModel([ConnectionError("gone")]).serve() as address:
        status, _, body = post(address, PATHS[name][0], {"stream": False})
    assert status == 400
    with pytest.raises(providers.ResponseError, match="ConnectionError: gone"):
        getattr(providers, name).answer(body, [add])


@pytest.mark.parametrize("stream", [False, True])
def test_a_dict_that_is_an_error_has_its_status(stream):
    error = {"error": {"message": "overloaded"}}
    with ScriptedModel([error]).serve() as address:
        status, _, body = post(address, "/v1/chat/completions", {"stream": stream})
    assert (status, json.loads(body)) == (400, error)


def test_a_request_beyond_the_script_fails_the_test():
    def run():
        with ScriptedModel(["one"]).serve() as address:
            assert post(address, "/v1/messages", {})[0] == 200
            assert post(address, "/v1/messages", {})[0] == 400

    with pytest.raises(AssertionError, match="the script has 1 answer, and this is request 2"):
        run()


def test_the_error_of_the_test_itself_is_kept():
    def run():
        with ScriptedModel([]).serve() as address:
            post(address, "/v1/messages", {})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run()


def test_other_requests_are_refused():
    model = ScriptedModel(providers.anthropic, ["one"])
    with model.serve() as address:
        assert post(address, "/v1/responses", {})[0] == 404
        status, _, body = post(address, "/v1/else\x7f".replace("\x7f", "%0A"), {})
        assert (status, "\n" in json.loads(body)["error"]["message"]) == (404, False)
        assert post(address, "/v1/messages", b"{")[0] == 400
        assert post(address, "/v1/messages", b"[" * 100_000)[0] == 400
        assert post(address, "/v1/messages", [1])[0] == 400
        assert post(address, "/v1/messages", {}, {"Content-Length": "9" * 5000})[0] == 413
    assert model.requests == []


def test_a_cut_answer_is_read_over_the_wire():
    line = CutOff(RawCall("c1", "add", '{"a": 1, "b'))
    with ScriptedModel([line]).serve() as address:
        _, _, body = post(address, "/v1/messages", {"stream": True})
    stream = providers.anthropic.stream([add])
    stream.feed(body)
    assert stream.close().calls == (RawCall("c1", "add", '{"a": 1, "b', is_cut_off=True),)
