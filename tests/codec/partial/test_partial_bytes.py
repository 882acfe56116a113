"""Partial arguments as bytes."""

from __future__ import annotations

import pytest
from partial_samples import WRITE, Nest, fed, outcome

from operator_schema import Codec


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("make", [bytes, bytearray])
def test_bytes_may_end_inside_a_character(mark, make):
    text = mark + '{"path": "größe \U0001f600", "mode": "write"}'.encode()
    stream = WRITE.stream()
    for byte in text:
        chunk = make([byte])
        stream.feed(chunk)
        chunk *= 0  # the caller may use its buffer again
    assert stream.partial.fields["path"] == "größe \U0001f600"
    assert stream.partial == WRITE.decode_partial(make(text))
    assert stream.finish() == WRITE.decode_json(text)


@pytest.mark.parametrize("size", [1, 2, 100])
@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (b'{"path": "a", "mode": "\xff"}', {"path": "a"}),
        (b'{"path": "a", "mode": "\xe2\x28\xa1"}', {"path": "a"}),
        (b'\xef\xbb\xbf{"path": "a", "mode": "\xff"}', {"path": "a"}),
        (b"\xef\xbb\xbf\xef\xbb\xbf{}", {}),
        (b"\xef\xbb{}", {}),
        (b'{"path": x, "mode": "\xff"}', {}),
        (b'{"path": 1e999, "mode": "\xff"}', {}),
    ],
)
def test_bytes_that_are_no_text(text, fields, size):
    stream = fed(WRITE.stream(), text, size)
    assert stream.partial.fields == fields
    assert len(stream.partial.findings) == 1
    assert stream.partial == WRITE.decode_partial(text)
    assert outcome(stream.finish) == outcome(WRITE.decode_json, text)


def test_half_a_character_after_the_end():
    stream = WRITE.stream()
    done = stream.feed(b'{"path": "a", "mode": "write"}')
    assert done.is_complete
    after = stream.feed(b"\xe2")
    assert (after.is_complete, after.findings) == (False, ())
    assert outcome(stream.finish) == outcome(WRITE.decode_json, b'{"path": "a", "mode": "write"}\xe2')
    assert stream.feed(b"\x82\xac").findings[0].code == "invalid_json"
    assert WRITE.decode_partial(b'{"path": "a", "mode": "write"}\xe2') == after


@pytest.mark.parametrize("wrong", [None, 5, ["{"], memoryview(b"{")])
def test_what_is_no_text_is_the_callers_mistake(wrong):
    with pytest.raises(TypeError, match="str or bytes"):
        WRITE.decode_partial(wrong)


def test_a_stream_is_of_text_or_of_bytes():
    for first, second, words in (("{", b"}", "is str, as"), (b"{", "}", "is bytes, as")):
        stream = Codec(Nest).stream()
        before = stream.feed(first)
        with pytest.raises(TypeError, match=words):
            stream.feed(second)
        assert stream.partial is before
        assert stream.feed(type(first)(first[:0])) is before
    assert Codec(Nest).stream().feed("{}").is_complete
