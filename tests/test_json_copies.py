"""Documents of which every caller gets a copy."""

import json
from collections import OrderedDict
from enum import IntEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operator_schema.json_copies import Original

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=25,
)


def parts_of(value):
    """List the dicts and lists in a document."""
    if isinstance(value, dict):
        return [value, *[part for inner in value.values() for part in parts_of(inner)]]
    return [value, *[part for inner in value for part in parts_of(inner)]] if isinstance(value, list) else []


def text_of(value):
    """Write a value so that 1, 1.0 and True differ, and the order of keys counts."""
    return repr(value)


@pytest.mark.slow("draws hundreds of values")
@given(JSON)
def test_each_copy_is_equal_and_shares_nothing(document):
    before = text_of(document)
    original = Original(document)
    copies = [original.copy() for _ in range(25)]
    assert {text_of(copied) for copied in copies} == {before}
    parts = [id(part) for copied in copies for part in parts_of(copied)]
    assert len(set(parts)) == len(parts)


@pytest.mark.parametrize("count", [1, 19, 20, 21, 60])
def test_a_changed_copy_changes_no_other(count):
    original = Original({"a": [{"b": "c"}]})
    for _ in range(count):
        copied = original.copy()
        copied["a"][0]["b"] = "d"
        copied["a"].append(1)
        copied.clear()
    assert original.copy() == {"a": [{"b": "c"}]}


class Level(IntEnum):
    """A number with a name."""

    LOW = 1


@pytest.mark.parametrize(
    "value",
    [
        Level.LOW,
        OrderedDict(a=1),
        (1, 2),
        float("inf"),
        {1: "x"},
        {"x"},
        type("Text", (str,), {})("a"),
        10**5000,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_isnt_json_stays_as_it_is(value):
    original = Original({"value": value})
    found = [original.copy()["value"] for _ in range(30)]
    assert all(copied == value for copied in found)
    assert len({type(copied) for copied in found[1:]}) == 1


def test_a_document_may_nest_deep():
    document = "x"
    for _ in range(300):
        document = [document]
    original = Original(document)
    found = [original.copy() for _ in range(30)]
    assert found[-1] == found[0] == document
    assert found[-1] is not found[0]


@pytest.mark.needs_threads
def test_threads_may_share_it():
    from threading import Barrier, Thread

    document = {"a": [{"b": str(number)} for number in range(50)]}
    wanted = json.dumps(document)
    for _ in range(20):
        original = Original(json.loads(wanted))
        barrier, found = Barrier(4), []

        def take(original=original, barrier=barrier, found=found):
            barrier.wait()
            found.extend([json.dumps(original.copy()) for _ in range(15)])

        threads = [Thread(target=take) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(found) == {wanted}
        assert len(found) == 60
