"""Descriptions under a name that isn't `param_descriptions`: reported for every slip, for nothing else."""

from __future__ import annotations

import string
from collections import ChainMap, UserDict
from dataclasses import dataclass, make_dataclass
from types import MappingProxyType
from typing import ClassVar, NamedTuple

import pytest
from shares import share

from operator_schema import Codec, SchemaError, json_schema

NAME = "param_descriptions"
TEXTS = {"city": "The name of the city", "days": "How many days"}


def slips_of(name):
    """Each name that is one letter away, and each other way to write the same words."""
    letters = string.ascii_letters + "_"
    for at in range(len(name)):
        before, letter, after = name[:at], name[at], name[at + 1 :]
        yield before + after
        yield before + letter + letter + after
        yield before + after[:1] + letter + after[1:]
        yield from (before + other + after for other in letters)
        yield from (before + other + letter + after for other in letters)
    words = ("param", "params", "parameter", "parameters"), ("description", "descriptions")
    for first in words[0]:
        for second in words[1]:
            yield from (f"{first}_{second}", f"{first.upper()}_{second.upper()}", first + second)
            yield from (first + second.capitalize(), first.capitalize() + second.capitalize())


SLIPS = sorted({slip for slip in slips_of(NAME) if slip != NAME and not slip.startswith("__")})


def holding(name, texts):
    return make_dataclass("Trip", [("city", str), ("days", int)], namespace={name: texts})


def complaints_about(cls):
    try:
        Codec(cls)
    except SchemaError as error:
        return error.findings
    return ()


@pytest.mark.hypothesis
@pytest.mark.parametrize(
    ("begin", "texts"),
    [(0, TEXTS), (1, {"citty": "The city"}), (2, {})],
    ids=["right", "no field", "empty"],
)
def test_every_slip_in_the_name_is_found(begin, texts):
    """Each slip is tried with one of the texts; `make laws` tries it with all of them."""
    assert len(SLIPS) > 1900
    passed = [
        slip
        for slip in share(SLIPS, 3, begin)
        if [c.suggestion for c in complaints_about(holding(slip, texts))] != [f'"{NAME}"']
    ]
    assert passed == []


@pytest.mark.parametrize(
    "name", ["descriptions", "field_descriptions", "docs", "HELP", "arg_docs", "schema_texts", "about"]
)
def test_texts_about_the_fields_are_found_under_any_public_name(name):
    for texts in (TEXTS, {"city": "The name of the city"}, {**TEXTS, "dayz": "A slip"}):
        (complaint,) = complaints_about(holding(name, texts))
        assert complaint.path == (name,)
        assert complaint.message == f"{name} has no effect: the attribute is called {NAME}"
        assert complaint.remedy == f"Rename it to {NAME}; if it has another purpose, call it _{name}"
    assert complaints_about(holding(f"_{name}", TEXTS)) == ()


@pytest.mark.parametrize(
    "table",
    [
        {"a": "b c"},
        {"city": "town", "days": "duration"},
        {"city": "One field of two keys", "other": "Nothing"},
        {"city": 1, "days": "Some text"},
        {"city": " x ", "days": "y"},
        {},
        {1: "one more"},
        dict.fromkeys(["city", "days", "a", "b", "c"], "some text"),
        ["city", "days"],
        "city days",
    ],
)
@pytest.mark.parametrize(
    "name", ["LABELS", "units", "columns", "model_names", "translations", "special_cases"]
)
def test_an_attribute_with_another_purpose_is_left_alone(name, table):
    assert complaints_about(holding(name, table)) == ()


def test_other_tables_are_left_alone_beside_the_descriptions():
    @dataclass
    class Trip:
        city: str
        LABELS: ClassVar[dict[str, str]] = {"city": "Your city"}
        param_descriptions: ClassVar[dict[str, str]] = {"city": "The name of the city"}

    assert json_schema(Trip)["properties"]["city"]["description"] == "The name of the city"


@pytest.mark.parametrize("kind", [dict, MappingProxyType, UserDict, ChainMap])
def test_any_mapping_holds_descriptions(kind):
    properties = json_schema(holding(NAME, kind(TEXTS)))["properties"]
    assert {name: schema["description"] for name, schema in properties.items()} == TEXTS
    given = Codec(holding("_", 1), param_descriptions=kind(TEXTS)).json_schema()["properties"]
    assert {name: schema["description"] for name, schema in given.items()} == TEXTS
    (wrong,) = complaints_about(holding(NAME, kind({"citty": "The city"})))
    assert wrong.suggestion == '"city"'
    assert [c.code for c in complaints_about(holding("param_descriptons", kind(TEXTS)))] == [
        "bad_description"
    ]


def test_a_misspelt_name_is_found_in_a_base_and_in_other_kinds_of_classes():
    class Base:
        param_descriptons: ClassVar = TEXTS

    @dataclass
    class Trip(Base):
        city: str
        days: int

    class Pair(NamedTuple):
        city: str
        days: int

        paramDescriptions = TEXTS  # noqa: N815  # the slip

    assert [c.path for c in complaints_about(Trip)] == [("param_descriptons",)]
    assert [c.path for c in complaints_about(Pair)] == [("paramDescriptions",)]


def test_a_value_that_lies_about_its_class_is_no_mapping():
    class Odd:
        @property
        def __class__(self):
            raise RuntimeError

    cls = holding("_", 1)
    cls.param_descriptons = Odd()
    assert complaints_about(cls) == ()
