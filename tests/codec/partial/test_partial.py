"""Arguments that come in part: what is known at each prefix, and the same as `decode_json` at the end."""

from __future__ import annotations

import copy
import importlib
import json
import pickle
import random
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from json.decoder import scanstring
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import OBJECTS, TYPES, edited, misses, one_of

from operator_schema import Codec, DecodeError, Partial
from operator_schema.codec.limits import MAX_PROBLEMS, MAX_TEXT_DEPTH
from operator_schema.codec.partial.growing_text import GrowingText
from operator_schema.testing import arguments

EXAMPLE = Path(__file__).resolve().parents[3] / "docs" / "examples" / "airline"
CALLS = [
    json.loads(line) for line in (EXAMPLE / "data" / "calls.jsonl").read_text(encoding="utf-8").splitlines()
]


@dataclass
class Nest:
    inner: Nest | None = None
    items: list[int] = field(default_factory=list)


@dataclass
class Write:
    path: str
    mode: Literal["write", "append"]
    lines: int | None
    nest: Nest = field(default_factory=Nest)
    most: int = field(default=9, metadata={"alias": "maxLines"})


WRITE = Codec(Write)


def outcome(decode, *given):
    try:
        return decode(*given), None
    except DecodeError as error:
        return None, (str(error), error.problems, error.omitted)


def found(text, annotation=Write, **options):
    partial = Codec(annotation, **options).decode_partial(text)
    return [(problem.path, problem.code) for problem in partial.problems]


def fed(stream, text, size=1):
    for start in range(0, len(text), size):
        stream.feed(text[start : start + size])
    return stream


# --- what is known at each prefix ----------------------------------------------------------------


def test_a_text_that_comes_in_chunks():
    stream = WRITE.stream()
    assert stream.partial == Partial({}, None, ("path", "mode"), (), is_complete=False)
    seen = []
    for chunk in ['{"pa', 'th": ', '"a.txt"', ', "lines"', ": 1", "2", ' , "mode": "wri', 'te"', "}"]:
        partial = stream.feed(chunk)
        seen.append((dict(partial.fields), partial.receiving, partial.missing, partial.is_complete))
    path, most = {"path": "a.txt"}, {"path": "a.txt", "lines": 12}
    assert seen == [
        ({}, None, ("path", "mode"), False),
        ({}, "path", ("path", "mode"), False),
        (path, None, ("mode",), False),
        (path, "lines", ("mode",), False),
        (path, "lines", ("mode",), False),
        (path, "lines", ("mode",), False),
        (most, "mode", ("mode",), False),
        ({**most, "mode": "write"}, None, (), False),
        ({**most, "mode": "write"}, None, (), True),
    ]
    assert stream.finish() == Write("a.txt", "write", 12)
    assert stream.finish() is stream.finish()


def test_a_chunk_that_changes_nothing_gives_the_same_object():
    stream = WRITE.stream()
    before = stream.feed('{"path": "a')
    assert stream.feed("b") is before is stream.partial
    assert stream.feed("") is before
    done = stream.feed('", "mode": "write"}')
    assert stream.feed(" \n") is done


def test_aliases_and_keys_that_name_no_field():
    assert WRITE.decode_partial('{"maxLines": 5').receiving == "most"
    assert WRITE.decode_partial('{"maxLines": 5,').fields == {"most": 5}
    assert WRITE.decode_partial('{"most": 5').receiving == "most"
    partial = WRITE.decode_partial('{"most": 5, ')
    assert (partial.fields, partial.receiving, partial.problems) == ({}, None, ())


def test_null_means_what_it_means_in_the_whole():
    assert WRITE.decode_partial('{"lines": null').fields == {"lines": None}
    assert found('{"path": null') == [(("path",), "wrong_type")]


def test_nested_values_are_typed():
    partial = WRITE.decode_partial('{"nest": {"inner": {"items": [1, 2.0]}, "path": "}"}')
    assert partial.fields == {"nest": Nest(Nest(None, [1, 2]))}
    assert partial.missing == ("path", "mode")


def test_problems_have_the_paths_and_words_of_the_whole():
    text = '{"path": 5, "mode": "apend", "nest": {"inner": {"items": ["x"]}}, "lines": "1"}'
    stream = WRITE.stream()
    grown = [stream.feed(character).problems for character in text]
    with pytest.raises(DecodeError) as caught:
        stream.finish()
    assert set(grown[-2]) == set(caught.value.problems)
    assert grown[-1] == caught.value.problems
    assert [len(problems) for problems in grown] == sorted(len(problems) for problems in grown)
    assert WRITE.decode_partial(text[:-1]).missing == ()


def test_depth_counts_from_the_root():
    deep = '{"nest": {"inner": {"items": []}}'
    assert found(deep, max_depth=4) == []
    [problem] = Codec(Write, max_depth=3).decode_partial(deep).problems
    assert (problem.path, problem.code) == (("nest", "inner", "items"), "too_deep")
    assert problem.message == "nested deeper than 3 levels"


def test_unknown_keys_are_told_where_they_are_refused():
    assert found('{"pth"') == []
    [problem] = Codec(Write, unknown_fields="reject").decode_partial('{"pth"').problems
    assert (problem.path, problem.code, problem.suggestion) == (("pth",), "unknown", '"path"')


def test_keys_that_come_twice():
    text = '{"path": "a", "path": 5, "path": "c", "x": {"k": 1, "k": 2}, "nest": {"items": [], "items": [1]}'
    partial = WRITE.decode_partial(text)
    assert [(problem.path, problem.code) for problem in partial.problems] == [
        (("path",), "duplicate"),
        (("x", "k"), "duplicate"),
        (("nest", "items"), "duplicate"),
    ]
    assert partial.fields == {"path": "a"}
    assert WRITE.decode_partial(text + "}").problems == outcome(WRITE.decode_json, text + "}")[1][1]


def test_problems_are_bounded():
    text = '{"nest": {"items": [%s]}, "path": 5, ' % ", ".join(["null"] * 2 * MAX_PROBLEMS)
    assert len(found(text)) == MAX_PROBLEMS
    assert found(text + "x")[-1] == ((), "invalid_json")
    assert len(found(text + "x")) == MAX_PROBLEMS


def test_the_whole_tells_what_no_field_can():
    @dataclass
    class Range:
        low: int
        high: int

        def __post_init__(self):
            if self.low > self.high:
                raise ValueError("low is above high")

    assert found('{"low": 2, "high": 1', Range) == []
    assert found('{"low": 2, "high": 1}', Range) == [((), "rejected")]
    assert found('{"low": 2}', Range) == [(("high",), "missing")]
    assert Codec(Range).decode_partial('{"low": 2}').is_complete


# --- text that is no JSON ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "\ufeff\ufeff",
        "\ufeff]",
        "[1,]",
        "[}",
        '{"a" 1',
        "{a",
        '{"a": 1,}',
        '{"a": 1 2',
        '{"a": N',
        '{"a": -I',
        '{"a": tx',
        '{"a": nul,',
        '{"a": 01',
        '{"a": 1.}',
        '{"a": 1e+}',
        '{"a": -,',
        '{"a": "\n',
        '{"a": "\\x',
        '{"a": "\\u12g',
        '{"a": "\\u12\\',
        '{"a": "\ud800',
        '"\udfff',
        '{"a": "\\ud800"',
        '{"\\ud800"',
        "{} x",
        "1 2",
        "nulll",
    ],
)
def test_text_that_breaks_at_its_end(text):
    assert "invalid_json" not in [code for _, code in found(text[:-1])]
    partial = WRITE.decode_partial(text)
    assert [(problem.path, problem.code) for problem in partial.problems] == [((), "invalid_json")]
    assert (partial.receiving, partial.is_complete) == (None, False)
    for size in (1, 2, 3):
        stream = fed(WRITE.stream(), text, size)
        assert stream.partial == partial
        assert stream.feed('"}') == partial
        assert outcome(stream.finish) == outcome(WRITE.decode_json, text + '"}')


def test_what_came_before_the_break_stays():
    stream = fed(WRITE.stream(), '{"path": "a", "mode": 5, "lines": [1, 2}, "nest": {}}')
    assert stream.partial.fields == {"path": "a"}
    assert [problem.code for problem in stream.partial.problems] == ["not_one_of", "invalid_json"]
    assert "line 1 column 40" in stream.partial.problems[1].message
    assert stream.partial.missing == ()


@pytest.mark.parametrize(
    ("number", "code"), [("1e999", "out_of_range"), ("9" * 5000, "too_large"), ("1", None)]
)
def test_numbers_that_no_text_may_hold(number, code):
    text = '{"path": "a", "lines": %s' % number
    assert found(text) == []
    after = WRITE.decode_partial(text + ', "mode": "write"')
    assert [(p.path, p.code) for p in after.problems] == ([((), code)] if code else [])
    assert ("mode" in after.fields) is (code is None)
    assert fed(WRITE.stream(), text + ', "mode": "write"').partial == after


def test_depth_of_text():
    assert found('{"a":' + "[" * (MAX_TEXT_DEPTH - 1)) == []
    text = '{"a":' + "[" * MAX_TEXT_DEPTH
    assert found(text) == [((), "too_deep")]
    assert outcome(fed(WRITE.stream(), text).finish) == outcome(WRITE.decode_json, text)


def test_garbage_after_the_end_takes_completeness_away():
    stream = WRITE.stream()
    assert stream.feed('{"path": "a", "mode": "write"} ').is_complete
    partial = stream.feed(" x")
    assert not partial.is_complete
    assert [problem.code for problem in partial.problems] == ["invalid_json"]
    assert partial.fields == {"path": "a", "mode": "write"}
    with pytest.raises(DecodeError, match="something follows the JSON value"):
        stream.finish()


def test_text_that_was_cut_off_is_refused_by_finish_alone():
    stream = fed(WRITE.stream(), '{"path": "a", "mode": "wri')
    assert stream.partial.problems == ()
    assert stream.partial.missing == ("mode",)
    with pytest.raises(DecodeError, match="not valid JSON"):
        stream.finish()


# --- bytes ---------------------------------------------------------------------------------------


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
    assert len(stream.partial.problems) == 1
    assert stream.partial == WRITE.decode_partial(text)
    assert outcome(stream.finish) == outcome(WRITE.decode_json, text)


def test_half_a_character_after_the_end():
    stream = WRITE.stream()
    done = stream.feed(b'{"path": "a", "mode": "write"}')
    assert done.is_complete
    after = stream.feed(b"\xe2")
    assert (after.is_complete, after.problems) == (False, ())
    assert outcome(stream.finish) == outcome(WRITE.decode_json, b'{"path": "a", "mode": "write"}\xe2')
    assert stream.feed(b"\x82\xac").problems[0].code == "invalid_json"
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


# --- roots of every kind -------------------------------------------------------------------------


class Pair(NamedTuple):
    left: int
    right: int = 0


class Options(TypedDict, total=False):
    left: int | None


@pytest.mark.parametrize(
    ("annotation", "text", "fields", "receiving"),
    [
        (Nest, '{"items": [1], "inner": {', {"items": [1]}, "inner"),
        (Pair, '{"left": 1, "right"', {"left": 1}, "right"),
        (Options, '{"left": null, ', {"left": None}, None),
        (Annotated[Pair, "two"], '{"left": 1, ', {"left": 1}, None),
        (dict[str, int], '{"left": 1, "right":', {}, "right"),
        (Pair | str, '{"left": 1, ', {}, None),
        (list[int], "[1, 2", {}, None),
        (Any, '{"left": 1, "right":', {}, "right"),
        (int, "12", {}, None),
    ],
)
def test_roots(annotation, text, fields, receiving):
    partial = Codec(annotation).decode_partial(text)
    assert (partial.fields, partial.receiving, partial.problems) == (fields, receiving, ())
    assert not partial.is_complete


@pytest.mark.parametrize("text", ['{"left": "x"}', "[1]", '"x"', "12 ", "true", "null", "-0.5e-3\n"])
@pytest.mark.parametrize("annotation", [Pair, list[str], int, bool | None, dict[str, str]])
def test_a_root_that_has_ended(annotation, text):
    codec = Codec(annotation)
    partial = codec.decode_partial(text)
    instance, error = outcome(codec.decode_json, text)
    assert partial.is_complete
    assert partial.problems == (error[1] if error else ())
    stream = fed(codec.stream(), text)
    assert stream.partial == partial
    assert outcome(stream.finish) == (instance, error)


def test_a_number_may_go_on():
    stream = Codec(float).stream()
    for text, value in (("1", 1), ("2", 12), (".", None), ("5", 12.5), ("e", None), ("2", 1250)):
        assert not stream.feed(text).is_complete
        assert outcome(stream.finish)[0] == value


# --- repair, and a parser of the user's ----------------------------------------------------------


@dataclass
class Find:
    query: str
    max_results: int = 10
    tags: list[str] = field(default_factory=list)


FIND = Codec(Find, repair=True)


@pytest.mark.parametrize(
    ("text", "rest", "fields"),
    [
        ('{"query": "a", "max_results": null, ', '"tags": []}', {"query": "a"}),
        ('{"query": "a", "max_results": "5", ', '"tags": []}', {"query": "a", "max_results": 5}),
        ('{"query": "a", "tags": "new", ', '"max_results": 1}', {"query": "a", "tags": ["new"]}),
        ('{"query": "a", "maxResults": 5, ', '"tags": []}', {"query": "a"}),
        ('{"query": "a",}', "", {"query": "a"}),
        ("{'query': 'a'}", "", {}),
        ('```json\n{"query": "a"}\n```', "", {}),
        ('{"query": "a"} //', " so", {"query": "a"}),
    ],
)
@pytest.mark.parametrize("unknown_fields", ["ignore", "reject"])
def test_what_repair_may_mend_is_no_problem_before_the_end(text, rest, fields, unknown_fields):
    codec = Codec(Find, repair=True, unknown_fields=unknown_fields)
    stream = fed(codec.stream(), text)
    assert (stream.partial.problems, stream.partial.is_complete) == ((), False)
    assert stream.partial == codec.decode_partial(text)
    assert stream.partial.fields == fields
    stream.feed(rest)
    assert stream.finish().query == "a"


def test_what_repair_can_not_mend_is_told_at_once():
    assert found('{"max_results": "many", ', Find, repair=True) == [(("max_results",), "wrong_type")]
    assert found('{"pages": 1', Find, repair=True, unknown_fields="reject") == [(("pages",), "unknown")]
    assert found('{"max_results": 1e999, ', Find, repair=True) == [((), "out_of_range")]
    assert found(b'{"query": "\xff', Find, repair=True) == [((), "invalid_json")]
    assert FIND.decode_partial("{'query': 'a'").receiving is None


def test_a_value_that_means_the_default_is_none_of_the_fields():
    partial = FIND.decode_partial('{"max_results": null, "query": "a"}')
    assert (partial.fields, partial.missing, partial.problems) == ({"query": "a"}, (), ())


@pytest.mark.parametrize(
    ("text", "fields", "missing"),
    [
        ('{"Query": "a", "tags": [], "maxResults": "5"}', ["tags", "query", "max_results"], ()),
        ('"{\\"query\\": \\"a\\"}"', ["query"], ()),
        ('{"Query": 5}', [], ("query",)),
        ("[]", [], ("query",)),
    ],
)
def test_once_complete_fields_are_those_of_the_whole(text, fields, missing):
    partial = fed(FIND.stream(), text).partial
    assert partial.is_complete
    assert (list(partial.fields), partial.missing) == (fields, missing)
    instance, error = outcome(FIND.decode_json, text)
    assert partial.problems == (error[1] if error else ())
    assert all(getattr(instance, name) == value for name, value in partial.fields.items())


def test_what_came_is_kept_when_the_whole_is_read():
    stream = FIND.stream()
    before = stream.feed('{"tags": ["a"], ').fields["tags"]
    assert stream.feed('"Query": "a"}').fields["tags"] is before


def test_a_parser_of_the_users_says_which_of_equal_keys_counts():
    stream = Codec(Find, json_loads=json.loads).stream()
    partial = stream.feed('{"query": "a", "max_results": 1, "tags": [], "query": "b", "tags": 5')
    assert [problem.code for problem in partial.problems] == ["duplicate", "duplicate"]
    assert partial.fields == {"query": "a", "max_results": 1, "tags": []}
    partial = stream.feed("}")
    assert [problem.code for problem in partial.problems] == ["wrong_type"]
    assert list(partial.fields.items()) == [("query", "b"), ("max_results", 1)]
    assert Codec(Find, json_loads=json.loads).decode_partial('{"query": "a", "query": "b"}').problems == ()


@pytest.mark.parametrize("text", ['\ufeff{"path": "a", "mode": "write"}', "\ufeff", "\ufeff ]"])
def test_a_byte_order_mark_is_left_out_of_text_too(text):
    for chunks in ([text], ["", *text]):
        stream = WRITE.stream()
        for chunk in chunks:
            stream.feed(chunk)
        assert outcome(stream.finish) == outcome(WRITE.decode_json, text)
        of_bytes = fed(WRITE.stream(), text.encode())
        assert stream.partial == of_bytes.partial


# --- values --------------------------------------------------------------------------------------


def test_partials_are_values():
    partial = WRITE.decode_partial('{"path": "a", "mode": "x"')
    assert partial.problems
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
    assert "not UTF-8: byte 0xff at position 35" in partial.problems[0].message


# --- 1,164 real texts, split at every position ---------------------------------------------------


@pytest.fixture(scope="module")
def codecs():
    sys.path.insert(0, str(EXAMPLE))
    try:
        tools = importlib.import_module("airline_tools").TOOLS
        yield {name: Codec(cls) for name, cls in tools.items()}
    finally:
        sys.path.remove(str(EXAMPLE))
        sys.modules.pop("airline_tools", None)


def members(text):
    """Key, end of the key and end of the value, in which a number has ended one character later."""
    decoder, index, spans = json.JSONDecoder(), text.index("{") + 1, []
    while '"' in text[index:]:
        key, end_of_key = scanstring(text, text.index('"', index) + 1)
        start = text.index(":", end_of_key) + 1
        start += len(text[start:]) - len(text[start:].lstrip())
        _, index = decoder.raw_decode(text, start)
        spans.append((key, end_of_key, index + (text[start] in "-0123456789")))
    return spans


def expected_at(spans, declared, final):
    """What is known at each length of the text, found by the standard library's parser."""
    known = []
    for length in range(spans[-1][2] + 1 if spans else 1):
        ended = [key for key, _, end in spans if end <= length]
        receiving = next((key for key, begin, end in spans if begin <= length < end), None)
        known.append(
            (
                [name for name in ended if name in declared],
                receiving,
                tuple(name for name, is_required in declared.items() if is_required and name not in ended),
            )
        )
    assert all(name in final for name in known[-1][0])
    return known


def test_the_airlines_calls_split_at_every_position(codecs):
    assert len(CALLS) == 1164
    chosen = random.Random(4)  # noqa: S311  # nobody is to be kept from guessing
    for call in CALLS:
        codec, text = codecs[call["name"]], call["arguments"]
        instance = codec.decode_json(text)
        declared = {entry.name: entry.required for entry in codec.graph.resolve_root().fields}
        known = expected_at(members(text), declared, vars(instance))
        sample = {chosen.randrange(len(text)) for _ in range(3)}
        stream = codec.stream()
        for length, character in enumerate(text, 1):
            partial = stream.feed(character)
            fields, receiving, missing = known[min(length, len(known) - 1)]
            assert list(partial.fields) == fields
            assert (partial.receiving, partial.missing, partial.problems) == (receiving, missing, ())
            assert all(value == getattr(instance, name) for name, value in partial.fields.items())
            assert partial.is_complete is (length >= len(text.rstrip()))
            if length in sample:
                assert codec.decode_partial(text[:length]) == partial
        assert stream.finish() == instance


# --- laws ----------------------------------------------------------------------------------------

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


@st.composite
def texts(draw, codec):
    valid = arguments(codec)
    value = draw(one_of(valid, misses(codec), valid.flatmap(edited)))
    dumped = json.dumps(value, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1])))
    text = draw(one_of(st.just(dumped), st.just(dumped), broken(dumped), broken(dumped).flatmap(broken)))
    return text.encode(errors="surrogatepass") if draw(st.booleans()) else text


def chunks(draw, text):
    sizes = draw(st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any))
    index, which = 0, 0
    while index < len(text):
        size = sizes[which % len(sizes)]
        yield text[index : index + size]
        index, which = index + size, which + 1


def is_about_text(problem):
    return problem.path == () and problem.code in {"invalid_json", "too_deep", "too_large", "out_of_range"}


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
        assert partial.problems == (error[1] if error else ())
    if error is None and isinstance(instance, Mapping):
        assert partial.fields.items() <= instance.items()
    if partial.problems:
        assert error is not None


@given(st.data())
def test_what_is_wrong_stays_wrong_whatever_follows(data):
    codec = Codec(data.draw(OBJECTS))
    text = data.draw(texts(codec))
    cut = text[: data.draw(st.integers(0, len(text)))]
    if codec.decode_partial(cut).problems:
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


@settings(max_examples=400)
@given(st.data())
def test_text_is_broken_at_the_first_character_after_which_nothing_makes_it_json(data):
    valid = st.recursive(st.sampled_from([1, -2.5e-9, True, None, 'a\n"é\\']), st.lists).map(json.dumps)
    valid |= st.dictionaries(st.text(max_size=2), st.sampled_from([[], {}, 0, 1e300, "\x7f"])).map(json.dumps)
    text = data.draw(JSON_LIKE | valid.flatmap(broken)).encode(errors="replace").decode()
    growing = GrowingText()
    list(growing.read(text))
    fits = text[: growing.index]
    assert can_become_json(fits)
    if growing.broken:
        assert not can_become_json(text[: growing.index + 1])
    else:
        assert fits == text
    if not fits[-1:].isdigit():  # a number ends where something else begins
        assert growing.ended is is_json(fits)


# --- time ----------------------------------------------------------------------------------------

LONG = {
    "string": lambda size: '{"path": "' + "x" * size,
    "escapes": lambda size: '{"path": "' + "\\n" * (size // 2),
    "key": lambda size: '{"' + "x" * size,
    "digits": lambda size: '{"nest": ' + "1" * size,
    "space": lambda size: '{"nest":' + " " * size,
    "array": lambda size: '{"nest": [' + "[],0," * (size // 5),
    "keys": lambda size: "{" + ",".join(f'"{i:07}":0' for i in range(size // 12)),
    "values": lambda size: '{"nest": {"items": [' + "1," * (size // 2) + "0]}",
    "after the end": lambda size: '{"path": "", "mode": "write"}' + " " * size,
    "after the break": lambda size: "x" * size,
}


def seconds_a_chunk(text, read):
    """Feed what is not read yet one character at a time; the quickest of five stretches."""
    stream = WRITE.stream()
    stream.feed(text[:read])
    stretches = []
    for start in range(read, read + 2500, 500):
        started = time.perf_counter()
        fed(stream, text[start : start + 500])
        stretches.append(time.perf_counter() - started)
    return min(stretches)


@pytest.mark.parametrize("make", LONG.values(), ids=LONG)
def test_what_a_chunk_costs_does_not_depend_on_what_came_before(make):
    """So that the time is linear in the text."""
    long = 300_000 if make in {LONG["array"], LONG["keys"], LONG["values"]} else 4_000_000
    assert seconds_a_chunk(make(long + 3000), long) < 5 * seconds_a_chunk(make(4000), 1000) + 0.001


def test_a_text_of_a_million_characters():
    text = '{"path": "' + "x" * 1_000_000 + '", "mode": "write"}'
    assert len(fed(WRITE.stream(), text, 64).finish().path) == 1_000_000
