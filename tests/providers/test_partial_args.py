"""Calls of Gemini on Vertex AI, whose arguments come in parts with their places."""

import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_domains import sequences_of

from operator_schema import tool
from operator_schema.providers import ResponseError, gemini
from operator_schema.providers.partial_arguments import PartialArguments

KEYS = st.text(min_size=1, max_size=4) | st.sampled_from(["city", "a b", "it's", 'a"b', "[0]", "a.b", "\\"])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3) | st.dictionaries(KEYS, inner, min_size=1, max_size=3)
    ),
    max_leaves=8,
)
ARGUMENTS = st.dictionaries(KEYS, VALUES, max_size=4)


def step_of(key):
    """Write one step of a path, as RFC 9535 has it."""
    if isinstance(key, int):
        return f"[{key}]"
    if key.isidentifier():
        return f".{key}"
    escaped = key.replace("\\", "\\\\").replace("'", "\\'")
    return f"['{escaped}']"


def leaves_of(value, path="$"):
    """List the leaves of a value with their paths, in order."""
    inner = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    )
    if inner is None:
        return [(path, value)]
    return [leaf for key, found in inner for leaf in leaves_of(found, path + step_of(key))]


def parts_of(path, value, size):
    """Write a leaf as the API does: a text in pieces of this size."""
    if isinstance(value, str):
        pieces = [value[start : start + size] for start in range(0, len(value), size)] or [""]
        found = [{"jsonPath": path, "stringValue": piece, "willContinue": True} for piece in pieces]
        del found[-1]["willContinue"]
        return found
    if value is None:
        return [{"jsonPath": path, "nullValue": "NULL_VALUE"}]
    if isinstance(value, bool):
        return [{"jsonPath": path, "boolValue": value}]
    return [{"jsonPath": path, "numberValue": float(value)}]


@given(ARGUMENTS, st.integers(1, 4))
def test_the_parts_make_the_arguments_and_their_text(arguments, size):
    found, text = PartialArguments(), ""
    for path, value in leaves_of(arguments):
        for part in parts_of(path, value, size):
            text += found.take(part)
    text += found.end()
    assert found.value == json.loads(text) == arguments
    assert list(found.value) == list(arguments)


PLACES = ["$.a", "$.b", "$.a.b", "$.a[0]", "$.a[1].c", "$.c['d']"]


def test_places_in_any_order_make_arguments_or_our_own_error():
    for parts in sequences_of(list(product(PLACES, [False, True])), 3):
        check_places(parts)


@given(st.lists(st.tuples(st.sampled_from(PLACES), st.booleans()), min_size=4, max_size=8))
def test_many_places_make_arguments_or_our_own_error(parts):
    check_places(parts)


def check_places(parts):
    found, text = PartialArguments(), ""
    try:
        for number, (path, goes_on) in enumerate(parts):
            text += found.take({"jsonPath": path, "stringValue": str(number), "willContinue": goes_on})
    except ValueError:
        return
    end = found.end()
    if end:
        assert json.loads(text + end) == found.value
    values = [value for _, value in leaves_of(found.value)]
    assert set("".join(values)) <= set("01234567")


@tool
def weather(city: str, days: int = 1) -> str:
    """Get the weather."""
    return f"{city} {days}"


def event(*calls, **ends):
    return {
        "candidates": [
            {"content": {"role": "model", "parts": [{"functionCall": call} for call in calls]}, **ends}
        ]
    }


def part(path, text, *, goes_on=True):
    return {"jsonPath": path, "stringValue": text, "willContinue": goes_on}


def test_a_call_grows_with_its_parts():
    stream = gemini.stream([weather])
    shown = []
    for call in (
        {"name": "weather", "id": "c1", "willContinue": True},
        {"partialArgs": [part("$.city", "Os")], "willContinue": True},
        {"partialArgs": [part("$.city", "lo", goes_on=False)], "willContinue": True},
        {"partialArgs": [{"jsonPath": "$.days", "numberValue": 2}], "willContinue": True},
        {},
    ):
        shown += [(grown.arguments, dict(grown.partial.fields)) for grown in stream.feed(event(call)).calls]
    assert shown == [
        ("", {}),
        ('{"city":"Os', {}),
        ('{"city":"Oslo"', {"city": "Oslo"}),
        ('{"city":"Oslo","days":2', {"city": "Oslo"}),
        ('{"city":"Oslo","days":2}', {"city": "Oslo", "days": 2}),
    ]
    stream.feed(event(finishReason="STOP"))
    answer = stream.close()
    assert (answer.calls[0].id, answer.calls[0].arguments) == ("c1", {"city": "Oslo", "days": 2})
    call = {"name": "weather", "id": "c1", "args": {"city": "Oslo", "days": 2}}
    assert answer.message == [{"role": "model", "parts": [{"functionCall": call}]}]


def test_calls_in_parts_follow_each_other():
    stream = gemini.stream([])
    stream.feed(
        event({"name": "f", "willContinue": True}, {"partialArgs": [part("$.a", "x")], "willContinue": True})
    )
    stream.feed(event({}, {"name": "g", "args": {"b": 1}}))
    stream.feed(event({"name": "f", "willContinue": True}, {"name": "h", "willContinue": True}, {}))
    stream.feed(event(finishReason="STOP"))
    calls = [(call.name, call.arguments) for call in stream.close().calls]
    assert calls == [("f", {"a": "x"}), ("g", {"b": 1}), ("f", {}), ("h", {})]


def test_a_call_that_lacks_its_end_is_text():
    stream = gemini.stream([weather])
    whole = {"name": "now", "args": {}}
    stream.feed(event(whole))
    stream.feed(event({"name": "weather", "willContinue": True, "partialArgs": [part("$.city", "Os")]}))
    answer = stream.close()
    assert (answer.stop, answer.calls[1].arguments) == ("interrupted", '{"city":"Os')
    call = {"name": "weather", "args": {"arguments": '{"city":"Os'}}
    assert answer.message[0]["parts"] == [{"functionCall": whole}, {"functionCall": call}]


def test_all_arguments_may_come_again_at_the_end():
    stream = gemini.stream([])
    stream.feed(event({"name": "f", "willContinue": True, "partialArgs": [part("$.a", "x", goes_on=False)]}))
    stream.feed(event({"name": "f", "args": {"a": "x", "b": []}}, finishReason="STOP"))
    assert stream.close().calls[0].arguments == {"a": "x", "b": []}


def test_many_pieces_take_linear_time():
    stream = gemini.stream([])
    stream.feed(event({"name": "f", "willContinue": True}))
    for _ in range(20_000):
        stream.feed(event({"partialArgs": [part("$.a", "x" * 50)], "willContinue": True}))
    stream.feed(event({}, finishReason="STOP"))
    assert stream.close().calls[0].arguments == {"a": "x" * 1_000_000}


@pytest.mark.parametrize(
    "path", ["", "x", "$", "$.", "$[", "$[0]", "$.a[", "$['a", "$.a b]", "$..a", "$.a" * 101, "$.a[*]"]
)
def test_a_path_that_cant_be_read_is_an_error(path):
    with pytest.raises(ResponseError, match="can't be read"):
        gemini.stream([]).feed(event({"name": "f", "partialArgs": [{"jsonPath": path, "boolValue": True}]}))


def test_a_text_goes_on_as_text():
    stream = gemini.stream([])
    stream.feed(event({"name": "f", "willContinue": True, "partialArgs": [part("$.a", "x")]}))
    with pytest.raises(ResponseError, match="an event isn't in the expected form"):
        stream.feed(event({"partialArgs": [{"jsonPath": "$.a", "boolValue": True}], "willContinue": True}))


def test_a_response_that_is_read_in_the_middle_is_right_at_the_end():
    def event(call):
        return {"candidates": [{"content": {"role": "model", "parts": [{"functionCall": call}]}}]}

    def call_of(stream):
        return stream.response["candidates"][0]["content"]["parts"][0]["functionCall"]

    stream = gemini.stream([])
    part = {"jsonPath": "$.city", "stringValue": "Os", "willContinue": True}
    stream.feed(event({"name": "weather", "partialArgs": [part], "willContinue": True}))
    assert call_of(stream) == {"name": "weather", "args": '{"city":"Os', "willContinue": True}
    stream.feed(event({"partialArgs": [{"jsonPath": "$.city", "stringValue": "lo"}]}))
    assert call_of(stream) == {"name": "weather", "args": {"city": "Oslo"}}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("$.a.b", {"a": {"b": True}}),
        ("$['a'].b", {"a": {"b": True}}),
        ('$["a b"]', {"a b": True}),
        ('$["it\'s"][0]', {"it's": [True]}),
        ("$['it\\'s']", {"it's": True}),
        ('$[""]', {"": True}),
        ("$['']['a']", {"": {"a": True}}),
    ],
)
def test_each_spelling_of_a_path_is_read(path, value):
    found = PartialArguments()
    text = found.take({"jsonPath": path, "boolValue": True}) + found.end()
    assert found.value == json.loads(text) == value
