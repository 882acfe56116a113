"""JSON text from outside in which an object has a key twice: nothing takes one of the values by itself."""

from __future__ import annotations

import asyncio
import json

import click
import pytest

pytest.importorskip("mcp.types", reason="no wheels for WebAssembly")

from mcp.types import PARSE_ERROR

from operator_schema import RawCall, Toolset, tool
from operator_schema.adapters.mcp.http_guard import HttpGuard
from operator_schema.adapters.mcp.stdio_lines import UnreadableLine as UnreadableMessage
from operator_schema.adapters.mcp.stdio_lines import message_of
from operator_schema.json_reading import RepeatedKeyError, distinct_keys, repeated_key
from operator_schema.providers import ResponseError, anthropic, openai_chat
from operator_schema.providers.written_calls import written_calls
from operator_schema.recordings import REDACTED, Hidden, Unreadable, parts_of, records_of, without_secrets
from operator_schema.rounds import RestoreError
from operator_schema.testing import playback
from operator_schema.workbench.bulk import decode_lines
from operator_schema.workbench.cli.module_loading import WrongUse
from operator_schema.workbench.cli.text_files import json_in
from operator_schema.workbench.cli.typed_values import value_of
from operator_schema.workbench.inspector.tried_calls import TriedCalls
from operator_schema.workbench.probe.channel import read_message

CALL = '{"name": "pay", "arguments": {"amount": 1, "amount": 1000}}'


@tool
def pay(amount: int) -> str:
    """Pay."""
    return str(amount)


def test_the_message_names_the_key_and_is_bounded():
    assert repeated_key('{"a": {"b": 1, "c": 2, "b": 3}}') == "an object has the key 'b' more than once"
    key = "k" * 1_000_000
    assert len(repeated_key(f'{{"{key}": 1, "{key}": 2}}')) < 200
    many = [("a", index) for index in range(200_000)]
    with pytest.raises(RepeatedKeyError):
        distinct_keys(many)


@pytest.mark.parametrize(
    "text", ['{"a": 1}', '{"a": 1, "a"', "[" * 100_000, b"\xff", '{"a": ' + "9" * 5000 + "}"]
)
def test_other_text_has_no_repeated_key(text):
    assert repeated_key(text) is None


@pytest.mark.parametrize("subject", [pay, dict[str, object]], ids=["tool", "type"])
def test_a_line_of_a_log_is_a_problem(tmp_path, subject):
    log = tmp_path / "calls.jsonl"
    log.write_text(CALL + '\n{"name": "pay", "arguments": {"amount": 1}}\n')
    batches = list(decode_lines(subject, log, json_text=True))
    (problem,) = [row for batch in batches for row in batch.problems.to_pylist()]
    assert (problem["line"], problem["code"]) == (1, "unreadable")
    assert problem["message"] == "an object has the key 'amount' more than once"
    assert sum(batch.rows.num_rows for batch in batches) == 1


def test_a_map_of_parquet_is_a_problem_of_its_row_alone(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="Parquet files need the extra arrow")
    from pyarrow import parquet

    maps = [[("a", 1)], [("a", 1), ("a", 2)], [("b", 3)]]
    table = pa.table({"m": pa.array(maps, type=pa.map_(pa.string(), pa.int64()))})
    parquet.write_table(table, tmp_path / "calls.parquet")
    found = [each.value for part in parts_of(str(tmp_path / "calls.parquet")) for each in records_of(part)]
    assert [found[0], found[2]] == [{"m": {"a": 1}}, {"m": {"b": 3}}]
    assert isinstance(found[1], Unreadable)


def test_a_cassette_isnt_played_back(tmp_path):
    line = CALL.removesuffix("}") + ', "result": {"content": "1", "is_error": false}}'
    (tmp_path / "calls.jsonl").write_text(line)
    with pytest.raises(ValueError, match="'amount' more than once"):
        playback([pay], tmp_path / "calls.jsonl")


def test_a_file_of_tried_calls_is_refused(tmp_path):
    line = '{"name": "pay", "name": "cancel", "arguments": "{}", "outcome": {}}'
    (tmp_path / "tried.jsonl").write_text(line)
    with pytest.raises(ValueError, match="line 1 isn't a tried call"):
        TriedCalls(tmp_path / "tried.jsonl")


def test_a_saved_round_isnt_loaded():
    tools = Toolset(pay)
    text = json.dumps(tools.offer().round([RawCall("1", "pay", {"amount": 1})]).as_dict())
    twice = text.replace('"amount": 1', '"amount": 1, "amount": 1000')
    assert twice != text
    with pytest.raises(RestoreError):
        tools.restore_round(twice)


def test_a_file_of_the_command_line_is_refused():
    with pytest.raises(WrongUse, match="b more than once: keep one of them"):
        json_in('{"a": {"b": 1, "b": 2}}', "gateway.json")


def test_a_value_on_the_command_line_is_refused_unless_it_may_be_text():
    with pytest.raises(click.UsageError, match="the key 'a' more than once: keep one of them"):
        value_of('{"a": 1, "a": 2}', ("object",))
    assert value_of('{"a": 1, "a": 2}', ("string", "object")) == '{"a": 1, "a": 2}'


def test_a_message_over_stdio_is_refused():
    call = b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": ' + CALL.encode() + b"}\n"
    found = message_of(call)
    assert isinstance(found, UnreadableMessage)
    assert (found.code, found.request_id) == (PARSE_ERROR, 7)
    assert found.reason == "an object has the key 'amount' more than once"


def test_a_message_over_http_is_refused():
    told = []

    async def app(_scope, _receive, _send):
        pytest.fail("the server got it")

    async def receive():
        return {
            "type": "http.request",
            "body": b'{"jsonrpc": "2.0", "id": 7, "params": ' + CALL.encode() + b"}",
        }

    async def send(message):
        told.append(message)

    guard = HttpGuard(app, frozenset({"localhost"}), frozenset(), None, answers_preflights=False)
    scope = {
        "type": "http",
        "method": "POST",
        "headers": [(b"host", b"localhost")],
        "client": ("10.0.0.1", 5),
    }
    asyncio.run(guard(scope, receive, send))
    assert told[0]["status"] == 400
    error = {"code": PARSE_ERROR, "message": "an object has the key 'amount' more than once"}
    assert json.loads(told[1]["body"]) == {"jsonrpc": "2.0", "id": None, "error": error}


def test_a_message_of_a_probed_server_is_noise():
    assert read_message(b'{"jsonrpc": "2.0", "id": 1, "result": {}}') is not None
    assert read_message(b'{"jsonrpc": "2.0", "id": 1, "result": {"a": 1, "a": 2}}') is None


def test_arguments_of_a_stream_stay_text_for_the_decoder():
    offer = Toolset(pay).offer()
    block = {"type": "tool_use", "id": "a", "name": "pay", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": '{"amount": 1, "amount": 1000}'}
    stream = anthropic.stream(offer)
    stream.feed({"type": "message_start", "message": {"role": "assistant", "content": [], "usage": {}}})
    stream.feed({"type": "content_block_start", "index": 0, "content_block": block})
    stream.feed({"type": "content_block_delta", "index": 0, "delta": delta})
    stream.feed({"type": "content_block_stop", "index": 0})
    stream.feed({"type": "message_delta", "delta": {"stop_reason": "tool_use"}})
    stream.feed({"type": "message_stop"})
    (call,) = offer.round(stream.close()).calls
    assert [finding.code for finding in call.findings] == ["duplicate"]


def test_a_call_with_a_repeated_key_isnt_cut_off():
    function = {"name": "pay", "arguments": '{"amount": 1, "amount": 1000}'}
    message = {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": function}]}
    response = {"choices": [{"message": message, "finish_reason": "length"}]}
    offer = Toolset(pay).offer()
    (call,) = offer.round(openai_chat.answer(response, offer)).calls
    assert [finding.code for finding in call.findings] == ["duplicate"]


def test_a_response_or_an_event_as_text_is_refused():
    offer = Toolset(pay).offer()
    use = '{"type": "tool_use", "id": "a", "name": "pay", "input": {"amount": 1, "amount": 2}}'
    with pytest.raises(ResponseError, match="'amount' more than once"):
        anthropic.answer(f'{{"content": [{use}], "stop_reason": "tool_use"}}', offer)
    with pytest.raises(ResponseError, match="'a' more than once"):
        openai_chat.stream(offer).feed('data: {"a": 1, "a": 2}\n\n')


def test_a_written_call_isnt_a_call():
    assert written_calls(CALL) == []


def test_a_text_that_hides_a_secret_behind_a_repeated_key_is_redacted():
    content = '{"user": {"token": "swordfish"}, "user": 1}'
    line = {"name": "pay", "arguments": {}, "result": {"content": content, "is_error": False}}
    assert without_secrets(line, Hidden(frozenset({"token"})))["result"]["content"] == REDACTED
