"""Defects measured in other libraries: hostile input."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterable
from dataclasses import dataclass, field, make_dataclass
from datetime import datetime
from decimal import Decimal
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Any, Literal, TypedDict, Union
from uuid import UUID

import pytest
from pitfall_samples import U1, WARM, Everywhere, Json, Level, codes, schema_of
from typing_extensions import TypeAliasType

from operator_schema import (
    Codec,
    DecodeError,
    EncodeError,
    SchemaError,
    SchemaLeaf,
    decode,
    decode_json,
    encode,
)

EXECUTED: list[str] = []


CODE = """x'] if __import__('test_pitfalls_hostile_input').EXECUTED.append('run') else d['x"""


HOSTILE = [CODE, "it's", '"', "\\", "'''", '"""', "\n", "{0}", "%s", "a\x00b", "\u2028", "}", "#", ""]


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_the_text_of_an_alias_is_never_code(text):
    cls = make_dataclass("Aliased", [("x", int, field(metadata={"alias": text}))])
    codec = Codec(cls)
    assert list(schema_of(cls)["properties"]) == [text]
    for _ in range(WARM):
        assert codec.encode(codec.decode({text: 1})) == {text: 1}
    assert codec.report({text: "x"})[0].path == (text,)
    assert EXECUTED == []


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_a_key_of_a_typed_dict_is_never_code(text):
    cls = TypedDict("cls", {text: int})  # type: ignore[operator,misc]  # made at run time
    codec = Codec(cls)
    for _ in range(WARM):
        assert codec.encode(codec.decode({text: 1})) == {text: 1}
    assert codec.report({})[0].path == (text,)
    assert EXECUTED == []


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_literals_defaults_and_descriptions_are_never_code(text):
    cls = make_dataclass(
        "Texts",
        [
            ("a", Literal[text]),  # type: ignore[valid-type]  # made at run time
            ("b", str, field(default=text, metadata={"description": text, "examples": [text]})),
        ],
    )
    codec = Codec(cls, name=text or "x")
    for _ in range(WARM):
        assert codec.decode({"a": text}) == cls(text, text)
    str(codec.report({"a": text + "!"})[0])
    assert EXECUTED == []


Rec = TypeAliasType("Rec", Union[int, "list[Rec]"])


@pytest.mark.parametrize("value", ["x", "", ["x"], [["xy"]], {"x": 1}])
def test_a_string_does_not_iterate_to_itself_without_end(value):
    assert codes(Rec, value) == ["wrong_type"]
    assert decode(Rec, [1, [2, []]]) == [1, [2, []]]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError, GeneratorExit])
def test_what_stops_a_program_is_no_problem_of_a_field(error):
    def stop(*_):
        raise error

    class Stopping:
        armed = False

        def __init__(self, value):
            if Stopping.armed:
                stop(value)

    leaf = SchemaLeaf(Stopping, {"type": "string"}, Stopping, lambda _: "x", Stopping("x"))
    codec = Codec(list[Stopping | int], leaves=[leaf])
    Stopping.armed = True
    with pytest.raises(error):
        codec.decode(["x"])
    made = make_dataclass("Made", [("a", int)], namespace={"__post_init__": stop})
    with pytest.raises(error):
        decode(made, {"a": 1})
    made = make_dataclass("Made", [("a", list[int], field(default_factory=stop))])
    with pytest.raises(error):
        decode(made, {})


LONG = "x" * 100_000


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (int, LONG),
        (Literal["a"], LONG),
        (datetime, LONG),
        (UUID, LONG),
        (list[int], [LONG] * 100),
        (dict[str, int], {LONG: "x"}),
        (dict[int, int], {LONG: 1}),
        (U1, {LONG: 1}),
        (int | bool, LONG),
        (Level, LONG),
        (tuple[int, int], [LONG, LONG]),
    ],
    ids=lambda part: str(part)[:40],
)
def test_a_long_value_gives_a_short_message(annotation, value):
    with pytest.raises(DecodeError) as caught:
        decode(annotation, value)
    assert len(str(caught.value)) <= 2000
    assert all(len(problem.message) <= 500 for problem in caught.value.findings)
    assert all(len(problem.received or "") <= 200 for problem in caught.value.findings)


def test_a_long_unknown_key_gives_a_short_message():
    with pytest.raises(DecodeError) as caught:
        Codec(U1, unknown_fields="reject").decode({"name": "a", LONG: 1})
    assert len(str(caught.value)) <= 2000


@pytest.mark.parametrize("depth", [101, 1_000, 100_000])
def test_deep_nesting_is_a_problem_and_no_crash(depth):
    """serpyco-rs #249."""
    value: Any = []
    for _ in range(depth):
        value = [value]
    assert codes(Json, value) == ["too_deep"]
    with pytest.raises(DecodeError) as caught:
        decode_json(Json, "[" * depth + "]" * depth)
    assert caught.value.findings[0].code == "too_deep"
    while value:  # freed level by level
        value = value.pop()


@pytest.mark.parametrize("annotation", [int, float, Any, Decimal, int | str, Level, Json], ids=str)
def test_integers_of_many_digits(annotation):
    """CVE-2020-10735."""
    text = "9" * 1_000_000
    with pytest.raises(DecodeError) as caught:
        decode_json(annotation, text)
    assert caught.value.findings[0].code == "too_large"
    assert len(str(caught.value)) <= 2000


def test_integers_of_many_digits_that_are_parsed_already():
    for annotation in (int, int | str, Decimal, Level):
        [problem] = Codec(annotation).report(10**100_000)
        assert len(str(problem)) <= 500


def raised_by(function, *arguments):
    with pytest.raises((DecodeError, EncodeError, SchemaError)) as caught:
        function(*arguments)
    return caught.value


@pytest.mark.parametrize("way", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy])
def test_every_exception_can_be_pickled(way):
    errors = [
        raised_by(decode, Everywhere, {"nested": 5}),
        raised_by(decode_json, int, "{"),
        raised_by(encode, U1(5)),  # type: ignore[arg-type]  # on purpose
        raised_by(Codec(Iterable[str]).encode, (text or None for text in ["read", ""])),
        raised_by(Codec, complex),
    ]
    for error in errors:
        again = way(error)
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert again.__dict__ == error.__dict__


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (UUID, "x"),
        (UUID, "{12345678-1234-5678-1234-567812345678}"),
        (IPv4Address, "1.2.3"),
        (IPv6Address, "::g"),
        (Path, "a\x00b"),
        (Decimal, "1,5"),
        (datetime, "2026-02-30T00:00:00Z"),
    ],
)
def test_what_a_type_of_the_standard_library_raises_is_a_problem(annotation, text):
    assert codes(annotation, text) == ["bad_format"]
    assert codes(list[annotation | None], [None, text]) == ["bad_format"]


@dataclass
class Range:
    low: int
    high: int

    def __post_init__(self):
        if self.low > self.high:
            raise ValueError("low is above high")


def test_what_post_init_raises_is_a_problem_at_its_path():
    [problem] = Codec(dict[str, list[Range]]).report({"k": [{"low": 1, "high": 2}, {"low": 2, "high": 1}]})
    assert (problem.path, problem.code) == (("k", 1), "rejected")
    assert "low is above high" in problem.message
