"""The values that partial arguments compare and print as."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, make_dataclass

import pytest
from partial_samples import WRITE

from operator_schema import Codec


def test_partials_are_values():
    partial = WRITE.decode_partial('{"path": "a", "mode": "x"')
    assert partial.findings
    for same in (copy.copy(partial), copy.deepcopy(partial), pickle.loads(pickle.dumps(partial))):
        assert same == partial
    assert "path" in repr(partial)
    with pytest.raises(AttributeError):
        partial.fields = {}
    with pytest.raises(TypeError):
        partial.fields["path"] = "b"


def test_a_partial_does_not_change_when_more_comes():
    stream = WRITE.stream()
    before = stream.feed('{"path": "a", ')
    stream.feed('"mode": "write", "lines": []')
    assert before == WRITE.decode_partial('{"path": "a", ')


class BugError(Exception):
    pass


@dataclass
class Buggy:
    size: int

    def __post_init__(self):
        if self.size < 0:
            raise BugError


@dataclass
class Holder:
    one: Buggy
    two: Buggy
    three: int


@pytest.mark.parametrize("encode", [str, str.encode])
def test_a_bug_in_the_users_code_comes_through_and_the_next_chunk_goes_on_behind_it(encode):
    stream = Codec(Holder).stream()
    for bad in ('{"one": {"size": -1}, "two": {"si', 'ze": -2}, "three": 3, "o'):
        with pytest.raises(BugError):
            stream.feed(encode(bad))
    partial = stream.feed(encode('ther": '))
    assert (partial.fields, partial.receiving, partial.missing) == ({"three": 3}, "other", ())
    with pytest.raises(BugError):
        stream.feed(encode("null}"))
    with pytest.raises(BugError):
        stream.finish()


def test_a_bug_in_the_users_code_beside_bytes_that_are_no_text():
    stream = Codec(Holder).stream()
    with pytest.raises(BugError):
        stream.feed(b'{"one": {"size": -1}, "three": 3, "\xff')
    partial = stream.feed(b"x")
    assert partial.fields == {"three": 3}
    assert "not UTF-8: byte 0xff at position 35" in partial.findings[0].message


def test_text_may_end_right_inside_an_array():
    partial = Codec(list[int]).decode_partial("[ ")
    assert (partial.findings, partial.is_complete) == ((), False)
    numbers = Codec(make_dataclass("Numbers", [("a", list[int])]))
    for text in ('{"a": [', '{"a": [ '):
        partial = numbers.decode_partial(text)
        assert (partial.fields, partial.receiving, partial.findings) == ({}, "a", ())
