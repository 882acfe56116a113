"""What is a fault, and what isn't: answers as real servers give them."""

import json

import pytest

pytest.importorskip("hypothesis")

from hypothesis import assume, given
from hypothesis import strategies as st

from operator_schema.workbench.probe.calls import Call, ProbedTool, readable
from operator_schema.workbench.probe.checks import faults_of, says_one_thing, unnamed_parameter
from operator_schema.workbench.probe.error_texts import Learned
from operator_schema.workbench.probe.outcomes import ProbedOutcome

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "mode": {"enum": ["fast", "deep"]},
        "url": {"type": "string", "format": "uri"},
    },
    "required": ["path"],
}
OUTPUT = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}
TOOL = ProbedTool.of({"name": "read", "inputSchema": SCHEMA})
WITH_OUTPUT = ProbedTool.of({"name": "read", "inputSchema": SCHEMA, "outputSchema": OUTPUT})


def result(text, *, is_error=False, **more):
    return ProbedOutcome(
        "result", {"content": [{"type": "text", "text": text}], "isError": is_error, **more}, 100
    )


def error(code, message):
    return ProbedOutcome("error", {"code": code, "message": message}, 100)


def codes(arguments, reply, tool=TOOL, kind=None):
    kind = kind or ("valid" if tool.allows(arguments) else "invalid")
    return [fault.code for fault in faults_of(tool, Call("read", arguments, kind, ""), reply, 1000)]


OWN_CHECK = (
    "Error executing tool read: 1 validation error for DictModel\n  Input should be a valid dictionary "
    '[type=dict_type, input_value=\'{"error": "Limit"}\', input_type=str]'
)
VALID = {"path": "a", "count": 9}
INVALID = {"path": "a", "count": "5"}


@pytest.mark.parametrize(
    ("arguments", "reply"),
    [
        (VALID, result("done")),
        (VALID, result("ENOENT: no such file or directory, open 'a'", is_error=True)),
        (VALID, result("path must be inside the allowed directories", is_error=True)),
        (VALID, result("Unknown branch: a", is_error=True)),
        (VALID, result("the path is not a git repository", is_error=True)),
        (VALID, error(-32602, "No time zone found with key a")),
        (VALID, result("Error: is what the argument asks for", is_error=True)),
        ({"path": "Error: x"}, result("Error: x")),
        (VALID, result('{"valid": false, "error": "Empty input"}')),
        (VALID, result(OWN_CHECK, is_error=True)),
        (INVALID, result(OWN_CHECK, is_error=True)),
        ({"path": "x", "mode": "deep"}, result("1 error was found in the file of the day")),
        (INVALID, result("count must be an integer", is_error=True)),
        (INVALID, error(-32602, "Invalid arguments: count: Expected number, received string")),
        ({"count": 1}, result("Field required: path", is_error=True)),
        (VALID, result("fatal: path/.git/index: index file smaller than expected", is_error=True)),
        ({"path": "a", "url": "not a uri"}, result("url: Input should be a valid URL", is_error=True)),
    ],
)
def test_what_a_server_may_answer(arguments, reply):
    kind = "invalid" if TOOL.problems(arguments) else "valid" if TOOL.allows(arguments) else "hostile"
    assert codes(arguments, reply, kind=kind) == []


@pytest.mark.parametrize(
    ("arguments", "reply", "code"),
    [
        (VALID, result("Error: no such file"), "unflagged_error"),
        (VALID, result("Database error: near a: syntax error"), "unflagged_error"),
        (VALID, result('{"error": "Invalid time zone"}'), "unflagged_error"),
        (INVALID, result('{"success": false, "error_code": "no_board"}'), "unflagged_error"),
        (VALID, error(-32603, "list index out of range"), "internal_error"),
        (INVALID, result("done"), "invalid_accepted"),
        ({"path": "a", "mode": "FAST"}, result("done"), "invalid_accepted"),
        (VALID, ProbedOutcome("result", {"content": "done"}, 100), "bad_result"),
        (VALID, ProbedOutcome("result", {"content": [{"type": "image"}]}, 100), "bad_result"),
        (VALID, ProbedOutcome("result", None, 100), "bad_result"),
        (VALID, ProbedOutcome("result", {"content": []}, 5000), "large_answer"),
    ],
)
def test_what_is_a_fault(arguments, reply, code):
    assert codes(arguments, reply) == [code]


def test_results_are_checked_against_the_output_schema():
    assert codes(VALID, result("1", structuredContent={"size": 1}), WITH_OUTPUT) == []
    assert codes(VALID, result("1", structuredContent={"size": "1"}), WITH_OUTPUT) == ["wrong_result"]
    assert codes(VALID, result("1", structuredContent={}), WITH_OUTPUT) == ["wrong_result"]
    assert codes(VALID, result("1"), WITH_OUTPUT) == ["no_structured_result"]
    assert codes(VALID, result("no such file", is_error=True), WITH_OUTPUT) == []


def test_a_result_may_hold_the_lone_surrogates_that_were_sent():
    output = {"type": "object", "properties": {"said": {"type": "string"}}, "required": ["said"]}
    echo = ProbedTool.of({"name": "read", "inputSchema": SCHEMA, "outputSchema": output})
    reply = result("x", structuredContent={"said": "\ud800"})
    assert codes({"path": "\ud800"}, reply, echo, "hostile") == []


def test_a_result_that_the_server_itself_refuses_is_wrong():
    assert codes(VALID, result(OWN_CHECK, is_error=True), WITH_OUTPUT) == ["wrong_result"]
    assert codes(INVALID, result(OWN_CHECK, is_error=True), WITH_OUTPUT) == []


def test_calls_are_what_their_kind_says():
    calls = TOOL.calls(20, 0)
    assert {call.kind for call in calls} == {"valid", "invalid", "hostile"}
    assert all(TOOL.allows(call.arguments) for call in calls if call.kind == "valid")
    assert all(TOOL.problems(call.arguments) for call in calls if call.kind == "invalid")
    assert len({call.key() for call in calls}) == len(calls)
    whys = {call.why for call in calls}
    assert {"path is missing", "wrong type of count", "count beyond a limit", "mode beyond a limit"} <= whys
    assert {"url": "https://example.com/a"}.items() <= next(
        call.arguments.items() for call in calls if call.kind == "valid" and "url" in call.arguments
    )


def test_only_lone_surrogates_are_replaced():
    value = {"\ud800": ["a\udfffb", "\\ud800", "😀", 1.5, None]}
    assert readable(value) == {"\ufffd": ["a\ufffdb", "\\ud800", "😀", 1.5, None]}
    assert not Call("read", value, "hostile", "").is_readable
    assert Call("read", {"path": "😀 \\ud800"}, "valid", "").is_readable
    deep = [[]]
    for _ in range(100_000):
        deep = [deep]
    assert readable(deep) is deep


def test_hostile_texts_are_of_every_kind():
    texts = [call.arguments["path"] for call in TOOL.calls(5, 0) if call.kind == "hostile"]
    assert any("\0" in text for text in texts)
    assert any("\ud800" in text for text in texts)
    assert any(text.startswith("-") for text in texts)
    assert any(".." in text for text in texts)
    assert any(len(text) > 50_000 for text in texts)


def test_a_schema_that_cannot_be_read_is_not_called():
    assert ProbedTool.of({"name": "bad", "inputSchema": {"type": "array"}}).calls(5, 0) == []


def test_a_refusal_of_the_probe_itself_is_no_internal_error():
    refused = error(-32601, "Method not found")
    assert codes(VALID, refused) == ["internal_error"]
    assert codes(VALID, refused._replace(was_refused=True)) == []
    assert codes(VALID, error(-32603, "boom")._replace(was_refused=True)) == ["internal_error"]


CLOSED = ProbedTool.of({"name": "read", "inputSchema": {**SCHEMA, "additionalProperties": False}})
SPELLINGS = (str, repr, json.dumps, lambda name: json.dumps(name, ensure_ascii=False))


@given(
    st.text(min_size=1, max_size=6),
    st.none() | st.integers() | st.text(max_size=3),
    st.sampled_from(SPELLINGS),
)
def test_an_error_may_spell_the_name_of_an_unknown_key_as_programs_do(name, value, spelled):
    assume(name not in SCHEMA["properties"])
    call = Call("read", {"path": "a", name: value}, "invalid", "")
    reply = result(f"tego nie znam: {spelled(name)}", is_error=True)
    assert unnamed_parameter(CLOSED, call, reply) is None


def test_an_error_that_names_nothing_is_a_fault():
    call = Call("read", {"path": "a", "color": "red"}, "invalid", "")
    assert unnamed_parameter(CLOSED, call, result("tego nie znam", is_error=True)).code


def test_an_error_that_right_calls_get_too_is_not_about_the_mistake():
    def answered(call):
        return call, result(f"E4 {call.arguments['path']}", is_error=True)

    wrong = [answered(Call("read", {"path": "a", name: {}}, "invalid", "")) for name in ("count", "mode")]
    learned = Learned()
    assert says_one_thing(TOOL, wrong, learned) == wrong[0][0]
    learned.learn(TOOL, *answered(Call("read", {"path": "b"}, "valid", "")))
    assert says_one_thing(TOOL, wrong, learned) is None
