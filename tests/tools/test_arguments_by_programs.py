"""Raw arguments that a program makes, of values that no JSON text has."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operator_schema import Codec, DecodeError, decode
from operator_schema.types import RawArguments

KEYS = (
    st.text(max_size=3) | st.none() | st.integers() | st.booleans() | st.floats() | st.tuples(st.integers())
)
ODD = st.recursive(
    st.none() | st.floats() | st.text(max_size=3) | st.builds(object) | st.integers() | st.binary(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3) | st.tuples(inner),
    max_leaves=8,
)


def uses_of(made):
    for key in ("a", "", "b", *list(made)):
        for annotation in (int, str, list[int], dict[str, int], dict[str, object], object, RawArguments):
            yield lambda key=key, annotation=annotation: made.require(key, annotation)
            yield lambda key=key, annotation=annotation: made.optional(key, annotation)
    yield lambda: repr(made)
    yield lambda: made == made.replace(tool="other")
    yield lambda: Codec(RawArguments).decode(made.arguments)


@given(st.dictionaries(KEYS, ODD, max_size=4))
def test_nothing_but_a_decode_error_escapes(arguments):
    try:
        made = RawArguments(arguments)
    except DecodeError as error:
        assert not all(isinstance(key, str) for key in arguments)
        assert {finding.code for finding in error.findings} == {"wrong_type"}
        return
    for use in uses_of(made):
        with suppress(DecodeError):
            use()


def cycles():
    """Yield arguments in which a value contains itself, on each of several ways."""
    for depth in range(4):
        for make in (lambda: {"a": 1}, lambda: [1]):
            inner = make()
            outer = inner
            for number in range(depth):
                outer = {"a": outer, "b": 1} if number % 2 else [outer, 1]
            if isinstance(inner, dict):
                inner.update(x=outer, y=outer)
            else:
                inner += [outer, outer]
            yield {"a": outer, "b": inner}
            if isinstance(inner, dict):
                yield inner


@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize("number", range(len(list(cycles()))))
def test_arguments_that_contain_themselves(number, repair):
    arguments = list(cycles())[number]
    with pytest.raises(DecodeError) as caught:
        RawArguments(arguments, "pay", "Ask for help.", repair)
    assert [finding.code for finding in caught.value.findings] == ["too_deep"]
    assert caught.value.name == "pay"
    assert caught.value.hint == "Ask for help."


def test_arguments_that_nest_as_deep_as_no_text():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(DecodeError, match="nested deeper"):
        RawArguments({"a": deep})
    with pytest.raises(DecodeError):
        decode(RawArguments, {"a": deep})


def test_each_key_that_is_not_text_is_named():
    with pytest.raises(DecodeError) as caught:
        RawArguments({1: "a", "b": 2, None: 3}, "pay")
    assert [finding.path for finding in caught.value.findings] == [("1",), ("null",)]
    assert [finding.message for finding in caught.value.findings] == [
        "the key 1 isn't a string",
        "the key null isn't a string",
    ]
    with pytest.raises(DecodeError) as caught:
        RawArguments(dict.fromkeys(range(1_000)))
    assert (len(caught.value.findings), caught.value.omitted) == (100, 900)
