"""Complaints about a class inside the registered type name its file and line."""

from __future__ import annotations

from dataclasses import dataclass, make_dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from operator_schema import Codec, SchemaError
from operator_schema.findings import about_type


def caught_error(annotation: Any) -> SchemaError:
    with pytest.raises(SchemaError) as caught:
        Codec(annotation)
    return caught.value


class Inner:
    def __init__(self, size):
        self.size = size


@dataclass
class Middle:
    inner: Inner
    count: int = "many"  # type: ignore[assignment]  # on purpose


@dataclass
class Outer:
    middle: list[Middle]
    wrong: complex


def test_complaints_about_a_class_inside_name_its_file_and_line():
    lines = str(caught_error(Outer)).splitlines()
    at = next(
        i
        for i, line in enumerate(Path(__file__).read_text("utf-8").splitlines(), 1)
        if line == "class Middle:"
    )
    assert f"- middle[*].inner (in Middle, {__file__}:{at}): " in "\n".join(lines)
    assert any(
        line.startswith(f"- middle[*].count (in Middle, {__file__}:{at}): its default") for line in lines
    )
    assert any(line.startswith("- wrong (in Outer): ") for line in lines)


def test_a_member_of_a_union_at_the_root_is_named_with_its_place():
    @dataclass
    class Text:
        kind: Literal["text"]
        text: complex

    @dataclass
    class Image:
        kind: Literal["image"]
        size: complex

    error = caught_error(Text | Image)
    places = {found.type: found.where for found in error.findings}
    assert places["Text"].startswith(f"{__file__}:")
    assert places["Image"].startswith(f"{__file__}:")


def test_a_place_is_left_out_where_it_cannot_be_found():
    made = make_dataclass("Made", [("x", complex)])
    homeless = make_dataclass("Homeless", [("x", complex)])
    homeless.__module__ = "nowhere.to.be.found"

    @dataclass
    class Twice:
        x: complex

    def other():
        @dataclass
        class Twice:
            x: complex
            y: int

        return Twice

    for cls in (made, homeless, Twice):
        [found] = caught_error(list[cls]).findings
        assert found.where is None
        assert f"(in {cls.__name__}): " in str(found)
    assert {found.where for found in caught_error(tuple[Twice, other()]).findings} == {None}


def test_a_complaint_about_a_class_without_a_path_shows_its_place_in_brackets():
    found = about_type((), "unsupported", "Inner", "it can't be read", "Change it", where="models.py:3")
    assert str(found) == "Inner (models.py:3): it can't be read. Change it."
