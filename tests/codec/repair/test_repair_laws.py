"""The laws of repair, for every supported type and every JSON value, whole, nearly whole or broken."""

from __future__ import annotations

import copy
import json
import random
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union

import pytest
from garbage import pass_over_what_is_there
from hypothesis import given, reject
from hypothesis import strategies as st
from judge import validator
from patience import assert_linear, assert_takes
from shares import seeds
from strategies import TYPES, values_for
from typing_extensions import TypeAliasType

from operator_schema import Codec, DecodeError, EncodeError
from operator_schema.codec.nearly_json import as_json_text
from operator_schema.codec.repair import repair_value
from operator_schema.errors import SchemaError
from operator_schema.json_values import MAX_DEPTH
from operator_schema.testing import arguments

pytestmark = pytest.mark.slow("draws hundreds of types, and measures how time grows")

if TYPE_CHECKING:
    from collections.abc import Iterator

CAMPAIGN = str(Path(__file__).resolve().parents[2] / "campaign")


# --- values that a model may have broken -----------------------------------------------------------


def chooser(seed: object) -> random.Random:
    return random.Random(repr(seed))  # noqa: S311  # repeatable on purpose


def broken(value: Any, choose: random.Random) -> Any:
    """Break a value somewhere, whether or not anybody could tell what it was."""
    inside = choose.random() < 0.75
    if isinstance(value, dict) and value and inside:
        key = choose.choice(list(value))
        if choose.random() < 0.25:
            other = choose.choice(
                [key.upper(), key.title().replace("_", ""), f"{key}_", f" {key}", key + "x"]
            )
            return {**{k: v for k, v in value.items() if k != key}, other: value[key]}
        return {**value, key: broken(value[key], choose)}
    if isinstance(value, list) and value and inside:
        index = choose.randrange(len(value))
        return [*value[:index], broken(value[index], choose), *value[index + 1 :]]
    return choose.choice(_breaks(value))


def _breaks(value: Any) -> list[Any]:
    found = [
        json.dumps(value),
        json.dumps(value),
        f" {json.dumps(json.dumps(value))}",
        [value],
        None,
        "null",
        "",
    ]
    if isinstance(value, str):
        found += [
            value.upper(),
            value.swapcase(),
            value.replace("_", " "),
            f" {value}",
            value.replace("-", "_"),
        ]
    if isinstance(value, list) and len(value) == 1:
        found += value * 3
    if isinstance(value, bool):
        found += [str(value)] * 3
    return found


def breaks_of(codec: Codec[Any]) -> st.SearchStrategy[Any]:
    seeds = st.integers(0, 2**32)
    once = st.builds(lambda value, seed: broken(value, chooser(seed)), arguments(codec), seeds)
    return st.builds(lambda value, seed: broken(value, chooser(seed)), once, seeds) | once


@st.composite
def with_values(draw: st.DrawFn) -> tuple[Codec[Any], Codec[Any], list[Any]]:
    annotation, unknown_fields = draw(TYPES), draw(st.sampled_from(["ignore", "reject"]))
    plain = Codec(annotation, unknown_fields=unknown_fields)
    breaks = breaks_of(plain)
    values = [*draw(values_for(plain)), *(draw(breaks) for _ in range(4))]
    return plain, Codec(annotation, unknown_fields=unknown_fields, repair=True), values


# --- the laws --------------------------------------------------------------------------------------


def check(plain: Codec[Any], repairing: Codec[Any], value: Any, judge: Any) -> None:
    before = copy.deepcopy(value)
    problems = plain.report(value)
    check_repair_of_the_value(repairing, value)
    try:
        report = repairing.decode_report(value)
    except DecodeError:
        assert problems
        return
    finally:
        assert same(value, before)
    if not problems:
        check_whole(plain, value, report)
    check_what_came_out(repairing, report.instance, judge)


def check_repair_of_the_value(codec: Codec[Any], value: Any) -> None:
    repaired, repairs = repair_value(codec.graph, value, MAX_DEPTH)
    if not repairs:
        assert same(repaired, value)
    again, more = repair_value(codec.graph, repaired, MAX_DEPTH)
    assert more == (), (value, repaired)
    assert same(again, repaired)


def check_whole(plain: Codec[Any], value: Any, report: Any) -> None:
    whole = plain.decode_report(value)
    if not whole.ignored:
        assert report.repairs == ()
    if not report.repairs:
        assert same(report.instance, whole.instance)
        assert report.ignored == whole.ignored


def check_what_came_out(codec: Codec[Any], instance: Any, judge: Any) -> None:
    try:
        encoded = codec.encode(instance)
    except EncodeError:  # a field that instances do not keep
        assert "init_only=True" in repr(codec.graph)
        return
    try:
        assert judge.is_valid(encoded)
    except OverflowError:  # jsonschema divides by multipleOf in floats
        reject()
    try:
        again = codec.decode_report(encoded)
    except DecodeError as error:  # the class's own check may refuse what it wrote itself
        assert {problem.code for problem in error.findings} <= {"rejected"}  # likewise
        return
    assert again.repairs == ()


def same(one: Any, other: Any) -> bool:
    """Say whether values are equal, and equal in their types: `True` is no `1`."""
    return one == other and repr(one) == repr(other)


@given(with_values())
def test_the_laws_hold_for_every_type_and_value(drawn):
    plain, repairing, values = drawn
    judge = validator(plain.json_schema())
    for value in values:
        check(plain, repairing, value, judge)


class Length:
    def __init__(self, min_length: int | None, max_length: int | None) -> None:
        self.min_length, self.max_length = min_length, max_length


ITEMS = st.recursive(
    st.sampled_from([Any, int, str, bool | None, datetime, list[Any]]),
    lambda inner: (
        inner.map(lambda items: list[items])
        | inner.map(lambda items: dict[str, items])
        | inner.map(lambda items: set[frozenset[int]] if items is int else tuple[items, ...])
    ),
    max_leaves=3,
)
SIMPLE_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "5", "[]", "a", "null", "[1, 2]"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=6,
)


@given(ITEMS, st.sampled_from([list, tuple, dict]), st.integers(0, 3), st.integers(0, 3), SIMPLE_JSON)
def test_a_limit_on_length_never_makes_repair_read_something_else(items, container, least, most, value):
    """With the limit, the value is refused, or read as without the limit.

    Where there are several readings without it, it may leave one: then the value isn't the one that is
    put into an array.
    """
    kinds: dict[Any, Any] = {list: list[items], tuple: tuple[items, ...], dict: dict[str, items]}
    free = kinds[container]
    limited = Annotated[free, Length(least or None, least + most)]
    try:
        report = Codec(limited, repair=True).decode_report(value)
    except DecodeError:
        return
    try:
        without = Codec(free, repair=True).decode_report(value)
    except DecodeError:
        assert not any(repair.code == "array" and not repair.path for repair in report.repairs)
        return
    assert same(report.instance, without.instance)
    assert report.repairs == without.repairs


def test_a_limit_on_length_may_leave_one_of_two_readings():
    inner = list[list[list[Any]]]
    value = [[], [None]]
    for limit in (None, Length(None, 1)):
        annotation = inner if limit is None else Annotated[inner, limit]
        with pytest.raises(DecodeError):
            Codec(annotation, repair=True).decode(value)
    report = Codec(Annotated[inner, Length(2, None)], repair=True).decode_report(value)
    assert report.instance == [[], [[None]]]
    assert [(repair.path, repair.code) for repair in report.repairs] == [((1,), "array")]


def scalars(value: Any) -> Iterator[Any]:
    """Yield the scalars in a JSON value, what its texts hold included."""
    if isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from scalars(inner)
        return
    yield value
    try:
        held = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return
    if held is not value:
        yield from scalars(held)


@given(ITEMS, SIMPLE_JSON)
def test_every_scalar_of_a_repaired_value_was_sent(items, value):
    repaired, _ = repair_value(Codec(items).graph, value, MAX_DEPTH)
    sent = list(map(repr, scalars(value)))
    assert all(repr(scalar) in sent for scalar in scalars(repaired)), (value, repaired)


@given(
    st.text()
    | st.lists(st.sampled_from([*"[]{}:,'\"\\/*#\n ", "1", "a", "True", "```", "\\x4", "\\U0001F600"])).map(
        "".join
    )
)
def test_no_text_gets_out_of_hand(text):
    codec = Codec(dict[str, Any] | list[Any], repair=True)
    try:
        report = codec.decode_json_report(text)
    except DecodeError:
        return
    rewritten = as_json_text(text)
    assert report.repairs == () or rewritten is not None


@given(st.data())
def test_text_that_is_json_is_read_as_it_is(data):
    value = data.draw(arguments(dict[str, Any]))
    report = Codec(dict[str, Any], repair=True).decode_json_report(json.dumps(value))
    assert (report.instance, report.repairs) == (value, ())


@given(st.data())
def test_half_a_call_is_refused(data):
    text = json.dumps({"a": data.draw(arguments(list[Any])), "b": 1})
    codec = Codec(dict[str, Any], repair=True)
    with pytest.raises(DecodeError):
        codec.decode_json(text[: data.draw(st.integers(0, len(text) - 1))])


@pytest.mark.hypothesis
@pytest.mark.parametrize("seed", [f"repair:{number}" for number in seeds(25)])
def test_the_laws_hold_for_the_types_of_the_campaign(seed, monkeypatch):
    monkeypatch.syspath_prepend(CAMPAIGN)
    types_, values_module = pytest.importorskip("types_"), pytest.importorskip("values")
    rng = chooser(seed)
    graphs = 0
    while graphs < 20:
        annotation = types_.random_type(rng, 3)
        try:
            unknown = rng.choice(["ignore", "ignore", "reject"])
            plain = Codec(annotation, unknown_fields=unknown)
        except SchemaError:
            continue
        graphs += 1
        repairing = Codec(annotation, unknown_fields=unknown, repair=True)
        judge = validator(plain.json_schema())
        values = values_module.Values(plain.graph, rng)
        for _ in range(15):
            value = values.value()
            check(plain, repairing, value, judge)
            check(plain, repairing, broken(value, rng), judge)


# --- time --------------------------------------------------------------------------------------------


class Color(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class One:
    first_name: str
    inner: list[One | Two] = field(default_factory=list)
    color: Color | None = None


@dataclass
class Two:
    second_name: str
    inner: list[One | Two] = field(default_factory=list)
    size: int = 0


@dataclass
class Part:
    v: int = 0
    p: list[int] = field(default_factory=list)
    a: Part | list[Part] | None = None


Nested = TypeAliasType("Nested", Union[int, list["Nested"]])


def spoilt(size: int) -> Any:
    return {
        "firstName": "x",
        "inner": [{"secondName": "y", "size": str(i)} for i in range(size)],
        "color": "Red",
    }


def in_strings(levels: int) -> Any:
    value: Any = {"first_name": "x"}
    for _ in range(levels):
        value = {"first_name": "x", "inner": json.dumps([value])}
    return value


def nested_objects(levels: int) -> Any:
    value: Any = {"firstName": "x", "color": "Red"}
    for level in range(levels):
        value = {"firstName" if level % 2 else "secondName": "x", "inner": value}
    return value


def nested_parts(levels: int) -> Any:
    value: Any = {"p": [1] * 30_000, "X": 1}
    for _ in range(levels):
        value = {"v": "1", "a": value}
    return value


def nested_arrays(levels: int, leaf: Any) -> Any:
    for _ in range(levels):
        leaf = [leaf]
    return leaf


LARGE: dict[str, tuple[Any, Any]] = {
    "numbers in quotes": (list[int], lambda n: [str(i) for i in range(n)]),
    "wrong numbers": (list[int], lambda n: ["x"] * n),
    "one item for each": (list[list[int]], lambda n: list(range(n))),
    "objects of a union": (One | Two, lambda n: spoilt(n // 10)),
    "unknown keys": (One, lambda n: {"first_name": "x", **{f"key_{i}": i for i in range(n)}}),
    "unknown keys that look alike": (
        One,
        lambda n: {"-" * (i % 1000) + "FIRSTNAME" + "_" * (i // 1000): "x" for i in range(n)},
    ),
    "strings that are no JSON": (list[list[int]], lambda n: ["[" * 5] * n),
    "a long string of brackets": (list[list[int]], lambda n: "[" * n),
    "a long string of quotes": (list[list[int]], lambda n: '"' * n),
    "a long choice": (Literal["a", "b"], lambda n: "- _" * n),
    "a long number": (int, lambda n: "9" * n),
    "items of a recursive alias": (Nested, lambda n: ["x"] * (n // 10)),
    "a map of unions": (
        dict[str, One | Two | int | bool | None],
        lambda n: {str(i): "true" for i in range(n)},
    ),
}


def said_shortly(run: Any, *args: Any) -> None:
    try:
        run(*args)
    except DecodeError as error:
        assert len(str(error)) < 2000


@pytest.mark.parametrize("name", LARGE)
def test_time_is_linear_in_the_size(name):
    annotation, make = LARGE[name]
    codec = Codec(annotation, repair=True)
    pass_over_what_is_there()
    codec.report(make(10))
    assert_linear(codec.report, 500, times=16, setup=make, slack=6, least=0.05)


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (One | Two, in_strings(9)),
        (One | Two, nested_objects(40)),
        (One | Two, nested_objects(300)),
        (Part, nested_parts(45)),
        (Part | list[Part], nested_parts(45)),
        (list[list[list[list[int]]]], nested_arrays(60, "x")),
        (dict[str, list[One | Two]], {"a": nested_objects(30)}),
    ],
)
def test_depth_takes_no_longer_than_width(annotation, value):
    assert_takes(3, lambda: Codec(annotation, repair=True).report(value))


N = 40_000
HOSTILE = {
    "double quotes": '"' * N,
    "single quotes": "'" * N,
    "quotes in turn": "\"'" * (N // 2),
    "escaped quotes": "'" + "\\'" * (N // 2),
    "backslashes": '"' + "\\" * N,
    "commas": "[" + "," * N + "]",
    "trailing commas": "[" + "1," * (N // 2) + "]",
    "comments": "/* */" * (N // 5),
    "comments that do not end": "/*" * (N // 2),
    "line comments": "#\n" * (N // 2),
    "slashes": "/" * N,
    "fences": "```\n" * (N // 4),
    "fences on a line": "```json\n" + "``` " * (N // 4) + "x",
    "a fence of spaces": "```json\n" + " " * N + "x",
    "a fence of lines": "```json\n" + "\n" * N + "x\n```x",
    "spaces": " " * N,
    "spaces before": " " * N + "```",
    "words": "True " * (N // 5),
    "one word": "T" * N,
    "number": "-" * N,
    "brackets": "{'a':" * (N // 5),
    "closed": "[" * (N // 2) + "]" * (N // 2),
    "strings": "['a', " * (N // 6),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_refused_soon(name):
    codec = Codec(list[int], repair=True)
    codec_of_text = Codec(list[list[int]], repair=True)
    assert_takes(0.8, lambda: said_shortly(codec.decode_json, HOSTILE[name]))
    assert_takes(0.8, lambda: said_shortly(codec_of_text.decode, [HOSTILE[name]]))
