"""Defects measured in other libraries: repairs that harm."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Literal

import pytest

from operator_schema import (
    Codec,
    DecodeError,
    decode,
)


@dataclass
class Replacement:
    count: int


@dataclass
class Modify:
    path: str
    start_line: int = 1
    enabled: bool = False
    string_or_integer: str | int = 0
    patterns: list[Replacement] = field(default_factory=list)


def test_what_arrives_as_json_strings_is_read_at_any_depth():
    sent = {
        "path": "README.md",
        "start_line": "1",
        "enabled": "true",
        "string_or_integer": "3",
        "patterns": '[{"count":"2"}]',
    }
    assert decode(Modify, sent, repair=True) == Modify("README.md", 1, True, "3", [Replacement(2)])


@pytest.mark.parametrize("text", ['{"a": 1}', "[1]", "5", "true", "null", ""])
def test_a_string_that_is_valid_is_never_touched(text):
    for annotation in (str, str | None, str | int, list[str]):
        value = [text] if annotation == list[str] else text
        report = Codec(annotation, repair=True).decode_report(value)
        assert (report.instance, report.repairs) == (value, ())


@pytest.mark.parametrize("sent", [None, "null", ""])
def test_null_for_a_field_with_another_default_is_the_default(sent):
    assert decode(Modify, {"path": "a", "start_line": sent}, repair=True).start_line == 1


def test_a_choice_is_found_where_exactly_one_fits():
    class Level(enum.Enum):
        LOW = "low"
        HIGH = "h"

    assert decode(Level, "High", repair=True) is Level.HIGH
    assert decode(Level, " LOW ", repair=True) is Level.LOW
    with pytest.raises(DecodeError):
        decode(Literal["a", "A"], " a", repair=True)
