"""Laws of partial arguments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from partial_samples import chunks, outcome
from strategies import OBJECTS, TYPES, edited, misses, one_of

from operator_schema import Codec
from operator_schema.codec.growing_json import GrowingJson
from operator_schema.testing import arguments

JSON_LIKE = st.lists(
    st.sampled_from(["{", "}", "[", "]", ",", ":", " ", "\n", '"', '"a"', '"b":', "0", "1", "-", ".", "e"])
    | st.sampled_from(
        ["true", "nul", "false", "\\", "\\u00", "\\n", "u", "a", "+", "é", "\x00", "NaN", "{}"]
    ),
    max_size=12,
).map("".join)


@st.composite
def broken(draw, text):
    """The text with one place of it cut out and something else put there."""
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, min(len(text), start + 5)) | st.just(len(text)))
    return text[:start] + draw(st.just("") | JSON_LIKE | st.text(max_size=3)) + text[end:]


KINDS_OF_VALUES = st.sampled_from(
    [arguments, misses, lambda codec: arguments(codec).flatmap(edited)],
)


@st.composite
def texts(draw, codec):
    value = draw(draw(KINDS_OF_VALUES)(codec))
    dumped = json.dumps(value, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1])))
    text = draw(one_of(st.just(dumped), st.just(dumped), broken(dumped), broken(dumped).flatmap(broken)))
    return text.encode(errors="surrogatepass") if draw(st.booleans()) else text


@pytest.mark.slow("draws hundreds of types")
@given(st.data())
def test_chunks_never_matter_and_the_end_is_decode_json(data):
    codec = Codec(
        data.draw(one_of(OBJECTS, OBJECTS, TYPES)),
        unknown_fields=data.draw(st.sampled_from(["ignore", "reject"])),
    )
    text = data.draw(texts(codec))
    stream = codec.stream()
    partial = stream.feed(text[:0])
    for chunk in chunks(data.draw, text):
        before, partial = partial, stream.feed(chunk)
        assert all(partial.fields[name] is value for name, value in before.fields.items())
        assert set(partial.missing) <= set(before.missing)
        assert partial.receiving is None or not partial.is_complete
    instance, error = outcome(codec.decode_json, text)
    assert partial == codec.decode_partial(text)
    assert outcome(stream.finish) == (instance, error)
    if partial.is_complete:
        assert partial.findings == (error[1] if error else ())
    if error is None and isinstance(instance, Mapping):
        assert partial.fields.items() <= instance.items()
    if partial.findings:
        assert error is not None


@pytest.mark.slow("draws hundreds of texts")
@given(st.data())
def test_what_is_wrong_stays_wrong_whatever_follows(data):
    codec = Codec(data.draw(OBJECTS))
    text = data.draw(texts(codec))
    cut = text[: data.draw(st.integers(0, len(text)))]
    if codec.decode_partial(cut).findings:
        assert outcome(codec.decode_json, text)[1]
        assert outcome(codec.decode_json, cut + text[:0].join([text, text]))[1]


TOKEN_ENDS = ["", '"', 'n"', *["0" * digits + '"' for digits in range(1, 5)], "0"]


TOKEN_ENDS += [word[cut:] for word in ("true", "false", "null") for cut in range(1, len(word))]


MEMBER_ENDS = ["", ":0", "0", '"":0']


def is_json(text):
    try:
        json.loads(text, parse_constant=int)
    except ValueError:
        return False
    return True


def closers(text):
    """What closes the brackets that are open, strings left out."""
    closing, index = "", 0
    while index < len(text):
        if text[index] == '"':
            index += 1
            while index < len(text) and text[index] != '"':
                index += 1 + (text[index] == "\\")
        elif text[index] in "{[":
            closing = ("}" if text[index] == "{" else "]") + closing
        elif text[index] in "}]":
            closing = closing[1:]
        index += 1
    return closing


def can_become_json(text):
    ends = product(TOKEN_ENDS, MEMBER_ENDS)
    return any(is_json(text + token + member + closers(text)) for token, member in ends)


@pytest.mark.slow("draws hundreds of texts")
@settings(max_examples=2 * settings().max_examples)
@given(st.data())
def test_text_is_broken_at_the_first_character_after_which_nothing_makes_it_json(data):
    valid = st.recursive(st.sampled_from([1, -2.5e-9, True, None, 'a\n"é\\']), st.lists).map(json.dumps)
    valid |= st.dictionaries(st.text(max_size=2), st.sampled_from([[], {}, 0, 1e300, "\x7f"])).map(json.dumps)
    text = data.draw(JSON_LIKE | valid.flatmap(broken)).encode(errors="replace").decode()
    growing = GrowingJson()
    list(growing.read(text))
    fits = text[: growing.index]
    assert can_become_json(fits)
    if growing.broken:
        assert not can_become_json(text[: growing.index + 1])
    else:
        assert fits == text
    if not fits[-1:].isdigit():  # a number ends where something else begins
        assert growing.ended is is_json(fits)
