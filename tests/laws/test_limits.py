"""Every limit: at it, and one past it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, make_dataclass
from functools import cache
from typing import Any, Generic, Literal, TypeVar, Union

import pytest
from judge import validator
from patience import assert_takes

from operator_schema import Codec, DecodeError, Finding, SchemaError, decode, decode_json
from operator_schema.codec import default_checks
from operator_schema.codec.expected_values import EXPECTED_LENGTH
from operator_schema.codec.problem_texts import MESSAGE_LENGTH
from operator_schema.errors import REPORT_LENGTH, SHOWN_PROBLEMS
from operator_schema.introspect import walk
from operator_schema.json_values import (
    MAX_DEPTH,
    MAX_INTEGER_DIGITS,
    MAX_KEY_DIGITS,
    MAX_PROBLEMS,
    MAX_TEXT_DEPTH,
)
from operator_schema.message_text import EXCERPT_LENGTH, LISTED_OPTIONS, excerpt, listed
from operator_schema.schema.render import MAX_INLINED

T = TypeVar("T")


@dataclass
class Box(Generic[T]):
    size: int


@dataclass
class Nest:
    inner: Nest | None = None
    many: list[Nest] = field(default_factory=list)


def nested(levels):
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"inner": value}
    return value


def test_depth():
    decode(Nest, nested(MAX_DEPTH))
    assert [p.code for p in Codec(Nest).report(nested(MAX_DEPTH + 1))] == ["too_deep"]
    assert Codec(list[list[int]], max_depth=2).report([[1]]) == ()
    assert Codec(Nest, max_depth=2).report({"many": [{}]})[0].path == ("many", 0)


def test_depth_of_a_type():
    deep: Any = int
    for _ in range(MAX_DEPTH):
        deep = list[deep]
    Codec(deep)
    with pytest.raises(SchemaError) as caught:
        Codec(list[deep])
    assert caught.value.findings[0].code == "too_deep"


def test_depth_of_types_that_are_known_already():
    """A class that was met near the root still counts for its depth where it stands again."""
    classes = [make_dataclass("L0", [("x", int)])]
    for i in range(1, 12):
        classes.append(make_dataclass(f"L{i}", [("p", classes[-1])]))
    root = make_dataclass("Root", [(f"f{i}", cls) for i, cls in enumerate(classes)])
    Codec(root, max_depth=13)
    with pytest.raises(SchemaError) as caught:
        Codec(root, max_depth=12)
    assert {c.code for c in caught.value.findings} == {"too_deep"}


def test_depth_of_text():
    for levels, fits in ((MAX_TEXT_DEPTH, True), (MAX_TEXT_DEPTH + 1, False)):
        text = "[" * levels + '"[[[]]]\\"[["' + "]" * levels
        try:
            decode_json(Any, text)
        except DecodeError as error:
            assert not fits
            assert [p.code for p in error.findings] == ["too_deep"]
        else:
            assert fits
    flat = "[" + ",".join(["[]", '"["'] * MAX_TEXT_DEPTH) + "]"
    assert len(decode_json(Any, flat)) == 2 * MAX_TEXT_DEPTH


def test_digits_of_integers():
    largest = 10**MAX_INTEGER_DIGITS - 1
    assert decode(list[int], [largest, -largest]) == [largest, -largest]
    assert [p.code for p in Codec(list[int]).report([largest + 1, -largest - 1])] == ["too_large"] * 2


def test_digits_of_keys():
    key = "9" * MAX_KEY_DIGITS
    assert decode(dict[int, int], {key: 1}) == {int(key): 1}
    assert Codec(dict[int, int]).report({key + "9": 1})[0].code == "bad_length"


def test_number_of_problems():
    for number, omitted in ((MAX_PROBLEMS, 0), (MAX_PROBLEMS + 1, 1)):
        with pytest.raises(DecodeError) as caught:
            decode(list[int], ["x"] * number)
        assert (len(caught.value.findings), caught.value.omitted) == (MAX_PROBLEMS, omitted)


def test_problems_that_are_shown():
    def report(number):
        return str(DecodeError("t", [Finding(("a",), "wrong_type", "no")] * number))

    assert report(SHOWN_PROBLEMS).count("\n") == SHOWN_PROBLEMS
    assert "more" not in report(SHOWN_PROBLEMS)
    assert report(SHOWN_PROBLEMS + 1).endswith("- … and 1 more")


def test_length_of_a_report():
    long = Finding(("k" * 1000,) * 50, "wrong_type", "m" * 10_000, suggestion='"s"')
    for problems in range(1, 12):
        assert len(str(DecodeError("t" * 10_000, [long] * problems, "e" * 10_000, 10**6))) <= REPORT_LENGTH


def test_length_of_an_excerpt():
    fits = "x" * (EXCERPT_LENGTH - 2)
    assert excerpt(fits) == f'"{fits}"'
    assert len(excerpt(fits + "x")) == EXCERPT_LENGTH
    assert excerpt(fits + "x").endswith('…"')


def test_listed_options():
    assert "more" not in listed(["x"] * LISTED_OPTIONS)
    assert listed(["x"] * (LISTED_OPTIONS + 1)).endswith("… (1 more)")


def doubling(levels):
    made = int
    for i in range(levels):
        made = make_dataclass(f"C{i}", [("a", made), ("b", made)])
    return made


def test_inlining():
    """Few classes are inlined; past the limit those that repeat share a definition, and mean the same."""
    levels = next(n for n in range(30) if 2 ** (n + 1) - 1 > MAX_INLINED)
    assert "$defs" not in Codec(doubling(levels - 1)).json_schema()
    codec = Codec(doubling(levels))
    schema = codec.json_schema()
    assert len(schema["$defs"]) == levels - 1
    judge = validator(schema)
    value: Any = 1
    for _ in range(levels):
        value = {"a": value, "b": value}
    value = json.loads(json.dumps(value))  # each branch its own
    assert judge.is_valid(value)
    assert codec.report(value) == ()
    value["b"]["b"] = 5
    assert not judge.is_valid(value)
    assert codec.report(value)[0].path == ("b", "b")


def test_a_type_that_doubles_at_every_level_is_linear():
    def write():
        assert len(Codec(doubling(90)).json_schema()["$defs"]) == 89

    assert_takes(5, write)


def test_annotations_that_double_are_bounded(monkeypatch):
    monkeypatch.setattr(walk, "MAX_ANNOTATIONS", 1000)
    doubled: Any = int
    for _ in range(60):
        doubled = tuple[doubled, doubled]
    with pytest.raises(SchemaError) as caught:
        Codec(doubled)
    assert "too_large" in {c.code for c in caught.value.findings}
    assert len(str(caught.value)) < 2000
    with pytest.raises(SchemaError):
        decode(doubled, [])
    flat = make_dataclass("Flat", [(f"f{i}", int) for i in range(999)])
    Codec(flat)
    with pytest.raises(SchemaError):
        Codec(make_dataclass("Flat", [(f"f{i}", int) for i in range(1000)]))


def with_shared_defaults(levels):
    # Without a docstring, Python would write one that has all values.
    options: Any = {"frozen": True, "namespace": {"__doc__": "Doubled."}}
    made: Any = make_dataclass("D0", [("x", int, 0)], **options)
    for i in range(levels):
        made = make_dataclass(f"D{i + 1}", [("a", made, made()), ("b", made, made())], **options)
    return made


def test_defaults_whose_parts_are_shared_are_bounded():
    with pytest.raises(SchemaError) as caught:
        Codec(with_shared_defaults(60))  # 2**61 values, if each part is counted where it is used
    (complaint,) = caught.value.findings
    assert complaint.code == "too_large"
    assert f"more than {default_checks.MAX_DEFAULT_VALUES:,} values" in complaint.message


def test_the_values_of_all_defaults_and_examples_count_together(monkeypatch):
    monkeypatch.setattr(default_checks, "MAX_DEFAULT_VALUES", 12)

    def fields(last):
        many = tuple[int, ...]
        with_example = field(metadata={"examples": [(1, 2, 3)]})
        return [("a", many, (1, 2, 3)), ("b", many, with_example), ("c", many, last)]

    Codec(make_dataclass("Small", fields((1, 2, 3)), kw_only=True))
    with pytest.raises(SchemaError, match="more than 12 values"):
        Codec(make_dataclass("Large", fields((1, 2, 3, 4)), kw_only=True))
    made = make_dataclass("Made", [("a", list[int], field(default_factory=lambda: [0] * 13))])
    assert Codec(made).decode({}).a == [0] * 13


def test_the_trials_of_a_default_count_too(monkeypatch):
    """Each member of the union is tried with the default."""
    monkeypatch.setattr(default_checks, "MAX_DEFAULT_VALUES", 12)
    either = tuple[int, int, int] | tuple[str, ...]
    wanted: Any = make_dataclass("C", [("a", tuple[either, ...], (("x", "y", "z"),) * 2)])
    with pytest.raises(SchemaError, match="more than 12 values"):
        Codec(wanted)


def test_the_arguments_of_generic_classes_count_as_annotations():
    wide: Any = int
    for _ in range(8):
        wide = tuple[wide, wide]  # 511 parts

    def type_of(count):
        return make_dataclass("Boxes", [(f"f{i}", Box[tuple[wide, Literal[i]]]) for i in range(count)])

    Codec(type_of(100))
    with pytest.raises(SchemaError) as caught:
        Codec(type_of(200))
    assert [complaint.code for complaint in caught.value.findings] == ["too_large"]


@pytest.mark.parametrize("annotation", [int | str | None, list[int | str], tuple[int | str]])
def test_each_member_of_a_union_is_an_annotation(annotation, monkeypatch):
    count = 4
    monkeypatch.setattr(walk, "MAX_ANNOTATIONS", count)
    Codec(annotation)
    monkeypatch.setattr(walk, "MAX_ANNOTATIONS", count - 1)
    with pytest.raises(SchemaError, match=f"more than {count - 1:,} annotations"):
        Codec(annotation)


@cache
def wide_union(members):
    return Union[tuple(make_dataclass(f"E{i}", [(f"k{i}", int), ("at", str)]) for i in range(members))]


def shared_tuple(levels):
    made: Any = int
    for _ in range(levels):
        made = tuple[made, made]
    return made


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (lambda: tuple[(int,) * 5000], "x"),
        (lambda: shared_tuple(14), "x"),
        (lambda: wide_union(150), 5),
        (lambda: wide_union(150), {}),
        (lambda: Literal[tuple("word" * 30 + str(i) for i in range(1000))], "x"),
        (lambda: make_dataclass("Many", [(f"field_{i}", int) for i in range(1000)]), {}),
    ],
    ids=["tuple", "shared", "union", "union of objects", "choices", "fields"],
)
def test_what_a_problem_says_of_a_large_type(annotation, value):
    made = list[annotation()]

    def read(codec):
        with pytest.raises(DecodeError) as caught:
            codec.decode([value] * 120)
        assert len(str(caught.value)) <= REPORT_LENGTH
        for problem in caught.value.findings:
            assert len(problem.message) <= MESSAGE_LENGTH
            assert len(problem.expected) <= EXPECTED_LENGTH + 100

    assert_takes(3, read, lambda: Codec(made))
