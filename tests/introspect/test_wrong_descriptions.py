"""Descriptions of what is no field: each is reported, at a cost that grows with their number alone."""

from __future__ import annotations

import sys
from dataclasses import make_dataclass

import pytest

from operator_schema import Codec, SchemaError, similar_names, tool


def wrongly_described(count, *, by_docstring=False):
    names = [f"field_{i}" for i in range(count)]
    cls = make_dataclass("Wide", [(name, int) for name in names])
    wrong = [f"{name}x" for name in names]
    if by_docstring:
        cls.__doc__ = "Wide.\n\nArgs:\n" + "\n".join(f"    {name}: A field." for name in wrong)
    else:
        cls.param_descriptions = dict.fromkeys(wrong, "A field")
    return cls


def calls_of(function):
    count = 0

    def profile(_frame, event, _argument):
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count


def complaints_about(cls):
    with pytest.raises(SchemaError) as caught:
        Codec(cls)
    return caught.value.findings


@pytest.mark.parametrize("by_docstring", [False, True])
def test_every_wrong_description_is_reported_and_the_first_get_a_suggestion(by_docstring):
    complaints = complaints_about(wrongly_described(100, by_docstring=by_docstring))
    assert len(complaints) == 100
    assert [complaint.suggestion for complaint in complaints[:2]] == ['"field_0"', '"field_1"']
    assert sum(complaint.suggestion is not None for complaint in complaints) == 20


@pytest.mark.slow("measures how work grows")
@pytest.mark.parametrize("by_docstring", [False, True])
def test_the_work_grows_with_the_number_of_descriptions(monkeypatch, by_docstring):
    monkeypatch.setattr(similar_names, "_COMPARED_NAMES", 50)
    complaints_about(wrongly_described(10, by_docstring=by_docstring))  # imports what it needs
    # The nearest names are compared with so many at most.
    few, many = [
        calls_of(lambda count=count: complaints_about(wrongly_described(count, by_docstring=by_docstring)))
        for count in (75, 150)
    ]
    assert many < 2.2 * few


@pytest.mark.parametrize(
    ("fields", "choices"),
    [
        ([], "it has no fields."),
        (["a"], 'the only field is "a".'),
        (["a", "b"], 'the fields are "a", "b".'),
    ],
)
def test_the_fields_that_can_be_described_are_listed(fields, choices):
    cls = make_dataclass("Few", [(name, int) for name in fields])
    cls.param_descriptions = {"zzz": "Nothing."}
    (complaint,) = complaints_about(cls)
    assert complaint.remedy + "." == f"Rename or remove it; {choices}"


def test_of_a_function_parameters_are_described():
    def add(a: int, b: int) -> int:
        return a + b

    with pytest.raises(SchemaError) as caught:
        tool(add, param_descriptions={"zzz": "Nothing."})
    said = 'it describes "zzz", which isn\'t a parameter. Rename or remove it; the parameters are "a", "b".'
    assert said in str(caught.value)
