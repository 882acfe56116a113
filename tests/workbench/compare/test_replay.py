"""Recorded calls: how they are found in logs, and what is counted of them."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from provider_traffic import provider_of, unstreamed

from operator_schema import Executor, Toolset, tool
from operator_schema.recordings import MAX_LINE, Unreadable, records_in
from operator_schema.workbench.compare import replay as replay_module
from operator_schema.workbench.compare.recorded_calls import RecordedCall, calls_in
from operator_schema.workbench.compare.replay import Replay
from tests.small_domains import sequences_of

ARGUMENTS = {"order_id": 7}
TEXT = json.dumps(ARGUMENTS)
FORMS = {
    "ours": {"id": "1", "name": "refund", "arguments": TEXT},
    "by the name of the tool": {"tool": "refund", "arguments": ARGUMENTS},
    "Chat Completions": {
        "choices": [{"message": {"tool_calls": [{"function": {"name": "refund", "arguments": TEXT}}]}}]
    },
    "Responses": {"output": [{"type": "function_call", "call_id": "1", "name": "refund", "arguments": TEXT}]},
    "Anthropic": {
        "content": [{"type": "text", "text": "I"}, {"type": "tool_use", "name": "refund", "input": ARGUMENTS}]
    },
    "Gemini": {
        "candidates": [{"content": {"parts": [{"functionCall": {"name": "refund", "args": ARGUMENTS}}]}}]
    },
    "Bedrock": {"output": {"message": {"content": [{"toolUse": {"name": "refund", "input": ARGUMENTS}}]}}},
    "MCP": {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "refund", "arguments": ARGUMENTS}},
    "a span": {
        "name": "execute_tool",
        "attributes": {"gen_ai.tool.name": "refund", "gen_ai.tool.call.arguments": TEXT},
    },
    "a span of OTLP": {
        "attributes": [
            {"key": "gen_ai.tool.name", "value": {"stringValue": "refund"}},
            {"key": "gen_ai.tool.call.arguments", "value": {"stringValue": TEXT}},
        ]
    },
}

STRUCTURED = {
    "order_id": {"intValue": "7"},
    "amount": {"doubleValue": 2.5},
    "is_urgent": {"boolValue": True},
    "note": {"stringValue": "x"},
    "items": {"arrayValue": {"values": [{"intValue": -1}, {"kvlistValue": {"values": []}}, {}]}},
}


def test_structured_arguments_of_a_span_are_read():
    pairs = [{"key": key, "value": value} for key, value in STRUCTURED.items()]
    attributes = [
        {"key": "gen_ai.tool.name", "value": {"stringValue": "refund"}},
        {"key": "gen_ai.tool.call.arguments", "value": {"kvlistValue": {"values": pairs}}},
    ]
    (found,) = calls_in({"spans": [{"attributes": attributes}]})
    assert found.arguments == {
        "order_id": 7,
        "amount": 2.5,
        "is_urgent": True,
        "note": "x",
        "items": [-1, {}, None],
    }


@given(
    st.recursive(
        st.none() | st.integers() | st.text() | st.booleans(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    ["stringValue", "intValue", "arrayValue", "kvlistValue", "values", "key", "value"]
                ),
                inner,
            )
        ),
        max_leaves=20,
    )
)
def test_whatever_an_attribute_is_reading_it_raises_nothing(value):
    attributes = [
        {"key": "gen_ai.tool.name", "value": {"stringValue": "refund"}},
        {"key": "gen_ai.tool.call.arguments", "value": value},
    ]
    list(calls_in({"attributes": attributes}))


def refund(order_id: int, amount: float = 1.0, note: str = "") -> str:
    """Pay back."""
    return f"{order_id} {amount} {note}"


def read(*records, compress=False, cut=0):
    text = "".join(f"{record if isinstance(record, str) else json.dumps(record)}\n" for record in records)
    data = gzip.compress(text.encode()) if compress else text.encode()
    return list(records_in(io.BufferedReader(io.BytesIO(data[: len(data) - cut]))))


@pytest.mark.parametrize("form", FORMS)
def test_a_call_is_found_in_every_form(form):
    (found,) = calls_in(FORMS[form])
    assert (found.name, found.arguments) in [("refund", ARGUMENTS), ("refund", TEXT)]


MARKED = {
    "Chat Completions": {"function": {"name": "chat", "arguments": {}}},
    "Anthropic": {"type": "tool_use", "name": "anthropic", "input": {}},
    "Bedrock": {"toolUse": {"name": "bedrock", "input": {}}},
    "Gemini": {"functionCall": {"name": "gemini", "args": {}}},
    "a span": {"attributes": {"gen_ai.tool.name": "span", "gen_ai.tool.call.arguments": {}}},
    "ours": {"name": "ours", "arguments": {}},
    "by tool": {"tool": "by tool", "arguments": {}},
    "by tool_name": {"tool_name": "by tool_name", "arguments": {}},
}
MARKED_NAMES = ["chat", "anthropic", "bedrock", "gemini", "span", "ours", "by tool", "by tool_name"]
"""The forms of a call, those first that say the most about themselves, and what a call of each is named."""


@pytest.mark.parametrize("chosen", [each for each in sequences_of([False, True], 8) if len(each) == 8])
def test_a_record_of_several_forms_is_the_call_of_the_first_one(chosen):
    forms = [form for form, is_chosen in zip(MARKED, chosen, strict=True) if is_chosen]
    record = {}
    for form in reversed(forms):
        record |= MARKED[form]
    names = [MARKED_NAMES[list(MARKED).index(form)] for form in forms]
    if "Anthropic" in forms or "ours" not in forms:  # they share the key `name`
        names = [name for name in names if name != "ours"]
    assert [call.name for call in calls_in(record)] == names[:1]


@pytest.mark.parametrize(
    "record",
    [
        None,
        3,
        "text",
        [],
        {"tools": [{"type": "function", "function": {"name": "refund", "parameters": {"type": "object"}}}]},
        {"name": "refund", "input_schema": {"type": "object"}},
        {"name": 3, "arguments": {}},
        {"attributes": {"gen_ai.tool.name": "refund"}},
    ],
    ids=str,
)
def test_what_is_no_call_is_passed_over(record):
    assert list(calls_in(record)) == []


def test_the_calls_of_recorded_answers_are_those_that_their_providers_read():
    number = 0
    for exchange in unstreamed():
        answer = provider_of(exchange).answers(exchange["response"], [])[0]
        body = exchange["response"]
        found = [call.name for call in calls_in(json.loads(body) if isinstance(body, str) else body)]
        wanted = [call.name for call in answer.calls]
        assert [name for name in found if name in wanted] == wanted, exchange["path"]
        number += len(wanted)
    assert number > 50


NAMES = """name arguments function type input toolUse functionCall args attributes key value stringValue
gen_ai.tool.name gen_ai.tool.call.arguments tool tool_name"""
KEYS = st.sampled_from(NAMES.split())
SCALARS = st.sampled_from([None, True, 0, "", "tool_use", "gen_ai.tool.name", "gen_ai.tool.call.arguments"])
RECORDS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


@given(RECORDS)
def test_no_record_is_an_error(record):
    for call in calls_in(record):
        assert isinstance(call.name, str)


def test_deep_records_end():
    record = []
    for _ in range(10_000):
        record = [record]
    assert list(calls_in(record)) == []


# --- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("compress", [False, True])
def test_lines_are_read_one_by_one(compress):
    assert read({"a": 1}, "", {"b": 2}, compress=compress) == [{"a": 1}, {"b": 2}]


def test_a_whole_value_is_read():
    assert read(json.dumps([{"a": 1}, {"b": 2}], indent=1)) == [{"a": 1}, {"b": 2}]
    assert read(json.dumps({"a": 1}, indent=1)) == [{"a": 1}]


def test_what_cant_be_read_is_told_and_the_rest_goes_on():
    first, broken, last = read({"a": 1}, "{broken", {"b": 2})
    assert (first, last) == ({"a": 1}, {"b": 2})
    assert isinstance(broken, Unreadable)
    assert broken.line == 2
    assert "it isn't JSON" in broken.reason


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n"])
def test_of_a_line_that_is_not_json_the_column_is_told(end):
    whole = '{"name": "refund", "arguments": {"order": [1, null, true]}}'
    for length in range(1, len(whole)):
        *_, found = read({"a": 1}, {"b": 2}, whole[:length] + end)
        told = re.fullmatch(r"it isn't JSON: (?!.*line).*: column (\d+)", found.reason)
        assert found.line == 3
        assert int(told[1]) <= length + 1


def test_of_one_value_that_is_not_json_line_and_column_are_told():
    (found,) = read('[\n {"a": 1},\n {"a" 1}\n]')
    assert found.reason == "it isn't JSON: Expecting ':' delimiter: line 3 column 7"


def test_a_file_that_is_cut_is_told():
    *_, last = read({"a": 1}, {"b": 2}, compress=True, cut=4)
    assert isinstance(last, Unreadable)
    assert "the file ends, or is broken" in last.reason


def test_a_line_without_end_is_refused():
    (found,) = records_in(io.BufferedReader(io.BytesIO(b" " * (MAX_LINE + 2))))
    assert isinstance(found, Unreadable)
    assert "longer than" in found.reason


# --- counts --------------------------------------------------------------------------------------


@pytest.fixture
def replay():
    found = Replay(Toolset(tool(refund)))
    for arguments in (
        {"order_id": 1},
        {"order_id": 2, "zzz": 1},
        '{"order_id": "7"}',
        {"orderId": 7},
        {"order_id": [1], "amount": "x"},
        "{",
    ):
        found.add(RecordedCall("refund", arguments))
    found.add(RecordedCall("gone", {}))
    return found


def test_calls_are_counted_by_what_fits(replay):
    counts = replay.tools["refund"]
    assert (counts.calls, counts.fits, counts.repaired, counts.fails) == (6, 2, 2, 2)
    assert replay.unknown == {"gone": 1}
    assert (replay.calls, replay.fails) == (7, 3)
    assert counts.ignored == {"zzz": 1}
    assert counts.repairs == {"scalar": 1, "key": 1}


def test_faults_are_counted_with_an_example(replay):
    counts = replay.tools["refund"]
    assert {(*fault,): number for fault, number in counts.faults.items()} == {
        ("order_id", "wrong_type"): 2,
        ("order_id", "missing"): 1,
        ("amount", "wrong_type"): 1,
        ("", "invalid_json"): 1,
    }
    example = next(each for fault, each in counts.examples.items() if fault.code == "missing")
    assert example.arguments == '{"orderId":7}'
    assert 'missing (integer, required); rename "orderId" to "order_id"' in example.text


@pytest.mark.parametrize(
    ("arguments", "kind", "faults"),
    [
        ({"order_id": "[redacted]"}, "redacted", []),
        ('{"order_id": "[redacted]"}', "redacted", []),
        ({"order_id": ["[redacted]"], "amount": 2}, "redacted", []),
        ("[redacted]", "redacted", []),
        ('{"order_id": "[redacted', "fails", [("", "invalid_json")]),
        ({"order_id": "[redacted]", "amount": "x"}, "fails", [("amount", "wrong_type")]),
        ({"order": "[redacted]"}, "fails", [("order_id", "missing")]),
    ],
)
def test_a_call_whose_secrets_were_redacted_is_no_failure_for_that(arguments, kind, faults):
    found = Replay(Toolset(tool(refund)))
    outcome = found.add(RecordedCall("refund", arguments))
    assert (outcome.kind, [(*fault,) for fault in outcome.faults]) == (kind, faults)
    assert (found.calls, found.redacted, found.fails) == (1, kind == "redacted", kind == "fails")
    assert found.as_dict()["tools"]["refund"].get("redacted", 0) == found.redacted


def test_indexes_are_counted_together():
    @tool
    def count(items: list[int]) -> int:
        """Count."""
        return len(items)

    found = Replay([count])
    found.add(RecordedCall("count", {"items": ["a", "b"]}))
    found.add(RecordedCall("count", {"items": [1, "c"]}))
    assert {fault.path: number for fault, number in found.tools["count"].faults.items()} == {"items[*]": 2}


GIVEN = st.one_of(
    st.just("{"),
    st.dictionaries(
        st.sampled_from(["order_id", "orderId", "amount", "note", "x", "yy", "zzz"]),
        st.sampled_from([1, "1", [1], None, "text"]),
        max_size=4,
    ),
)
CALLS = st.builds(RecordedCall, st.sampled_from(["refund", "gone", "more", "a", "b"]), GIVEN)
REFUNDS = st.builds(RecordedCall, st.just("refund"), GIVEN)


@given(
    most=st.sampled_from([1, 2, 1000]),
    calls=st.lists(CALLS, max_size=30) | st.lists(REFUNDS, min_size=10, max_size=30),
    cuts=st.lists(st.integers(0, 30), max_size=5),
)
def test_the_reports_of_parts_merge_into_that_of_the_whole(most, calls, cuts):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(replay_module, "_MOST_KEYS", most)
        patch.setattr(replay_module, "_MOST_PLACES", most)
        whole = Replay([tool(refund)])
        marks = [0, *sorted(cut for cut in cuts if cut <= len(calls)), len(calls)]
        parts = []
        for begin, end in pairwise(marks):
            part = whole.emptied()
            for number, call in enumerate(calls[begin:end], begin):
                part.add(call)
                if call.name == "a":
                    part.add_unreadable(f"log:{number}", "broken")
            parts.append(pickle.loads(pickle.dumps(part)))
        for number, call in enumerate(calls):
            whole.add(call)
            if call.name == "a":
                whole.add_unreadable(f"log:{number}", "broken")
        from_left = Replay([tool(refund)])
        for part in parts:
            from_left.merge(part)
        from_right = parts[-1]
        for part in reversed(parts[:-1]):
            part.merge(from_right)
            from_right = part
        expected = json.dumps(whole.as_dict())
        assert json.dumps(from_left.as_dict()) == expected
        assert json.dumps(from_right.as_dict()) == expected


def test_of_too_many_keys_the_shortest_are_kept():
    found = Replay([])
    for number in range(3_000):
        found.add(RecordedCall("x" * (number + 1), {}))
    assert found.calls == 3_000
    assert len(found.unknown) == 1_000
    assert max(map(len, found.unknown)) == 1_000
    assert found.as_dict()["unknown"]["…"] == 2_000


def test_a_report_is_json(replay):
    replay.add_unreadable("calls.jsonl:3", "it isn't JSON")
    data = json.loads(json.dumps(replay.as_dict()))
    assert data["tools"]["refund"]["faults"][0]["calls"] == 2
    assert data["unreadable"] == {"count": 1, "first": ["calls.jsonl:3: it isn't JSON"]}


@pytest.mark.parametrize("given", [tool(refund), Executor(tool(refund)), 3, "refund"])
def test_what_is_no_list_of_tools_is_refused(given):
    with pytest.raises(TypeError, match="expected a list of tools, not"):
        Replay(given)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
@pytest.mark.parametrize(
    "arguments", ['{{"a": {}}}', '{{"a": 1, "b": [{{"c": {}}}]}}', '{{"a": 1, "z": {}}}', "[{}]", "{}"]
)
def test_a_number_that_json_does_not_have_is_a_call_that_fails(number, arguments):
    @tool
    def add(a: int, b: object = None) -> str:
        """Add."""
        return f"{a} {b}"

    sent = arguments.format(number)
    for read in (json.loads, str):
        found = Replay([add])
        for text in ('{"a": 1}', sent, '{"a": 2}'):
            found.add(RecordedCall("add", read(text)))
        counts = found.tools["add"]
        assert (counts.calls, counts.fits, counts.fails) == (3, 2, 1)
        assert json.loads(json.dumps(found.as_dict()), parse_constant=pytest.fail)
