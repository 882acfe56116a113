"""A finding: what only few have is unset in the others, and reads as its default."""

from __future__ import annotations

import pickle

import pytest

from operator_schema import Finding
from operator_schema.findings import about_type

OF_VALUE = Finding(("a", 0), "wrong_type", "expected string, got integer 5", "string", "integer 5")
OF_TYPE = about_type(
    ("legs", "*"), "unsupported", "Trip", "it can't be read", "Change it", where="models.py:3"
)
OF_CALL = Finding((), "missing", "it has no result", tool="book", call_id="c1")
OF_ROUND = Finding((), "not_a_round", "a\nb", tool="")
OF_TOOL = Finding((), "no_description", "it has none", remedy="Write one", severity="warning", tool="book")
IGNORED = Finding(("tag",), "ignored", "unknown key, left out", suggestion='"tags"', severity="note")
OF_CHANGE = Finding(("people", "*", "age"), "removed", "removed default 5", "5", keyword="default")
OF_DOCUMENT = Finding(("x",), "unchecked", "it can't be read", where="#/properties/x", keyword="pattern")
ALL = [OF_VALUE, OF_TYPE, OF_CALL, OF_ROUND, OF_TOOL, IGNORED, OF_CHANGE, OF_DOCUMENT]


@pytest.mark.parametrize(
    ("finding", "line"),
    [
        (OF_VALUE, "a[0]: expected string, got integer 5"),
        (OF_TYPE, "legs[*] (in Trip, models.py:3): it can't be read. Change it."),
        (OF_CALL, 'book (call "c1"): it has no result'),
        (OF_ROUND, r"a\u000ab"),
        (OF_TOOL, "book: it has none. Write one."),
        (IGNORED, 'tag (did you mean "tags"?)'),
        (IGNORED.replace(suggestion=None), "tag"),
        (OF_CHANGE, "people[*].age: removed default 5"),
        (OF_CHANGE.replace(path=()), "removed default 5"),
        (OF_CHANGE.replace(path=("a b",)), '["a b"]: removed default 5'),
        (OF_DOCUMENT, "#/properties/x pattern: it can't be read"),
        (OF_DOCUMENT.replace(where="#", keyword=""), "#: it can't be read"),
        (OF_DOCUMENT.replace(where="#/a\nb"), r"#/a\u000ab pattern: it can't be read"),
        (OF_DOCUMENT.replace(where="#" * 600), f"{'#' * 499}…: it can't be read"),
    ],
)
def test_each_kind_has_its_line(finding, line):
    assert str(finding) == line


@pytest.mark.parametrize("finding", ALL)
def test_a_copy_is_the_same(finding):
    for again in (pickle.loads(pickle.dumps(finding)), finding.replace(code=finding.code)):
        assert (again, hash(again), repr(again), str(again)) == (
            finding,
            hash(finding),
            repr(finding),
            str(finding),
        )
    assert finding != finding.replace(provider="Mistral")


def test_what_few_findings_have_reads_as_its_default():
    assert (OF_VALUE.remedy, OF_VALUE.severity, OF_VALUE.where, OF_VALUE.call_id) == (
        None,
        "error",
        None,
        None,
    )
    with pytest.raises(AttributeError, match="'Finding' object has no attribute 'line'"):
        OF_VALUE.line  # noqa: B018  # reading it raises
    with pytest.raises(AttributeError, match="immutable"):
        OF_VALUE.remedy = "no"


def test_it_prints_and_logs_what_is_known():
    assert repr(OF_CALL) == (
        "Finding(path=(), code='missing', message='it has no result', tool='book', call_id='c1')"
    )
    often = {"path": "a[0]", "code": "wrong_type", "message": OF_VALUE.message}
    assert OF_VALUE.as_dict() == {**often, "expected": "string", "received": "integer 5", "suggestion": None}
    assert OF_TYPE.as_dict() == {
        "path": "legs[*]",
        "code": "unsupported",
        "message": "it can't be read",
        "expected": None,
        "received": None,
        "suggestion": None,
        "remedy": "Change it",
        "severity": "error",
        "type": "Trip",
        "where": "models.py:3",
    }


def test_a_finding_about_a_schema_has_its_keyword_and_its_severity_in_a_log():
    assert OF_CHANGE.replace(severity="note").as_dict() == {
        "path": "people[*].age",
        "code": "removed",
        "message": "removed default 5",
        "expected": "5",
        "received": None,
        "suggestion": None,
        "severity": "note",
        "keyword": "default",
    }
