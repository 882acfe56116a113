"""What every report keeps to, whatever the type is and whatever came."""

from __future__ import annotations

import copy
import json
import pickle
import re
from dataclasses import make_dataclass
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import OBJECTS, TYPES, edited, misses

from operator_schema import Codec, DecodeError
from operator_schema.engine import NO_EXAMPLE, expected_fields
from operator_schema.engine import example_of as make_example
from operator_schema.errors import SHOWN_PROBLEMS
from operator_schema.message_text import EXCERPT_LENGTH
from operator_schema.testing import arguments

pytestmark = pytest.mark.slow("draws hundreds of types")

many = settings(max_examples=2 * settings().max_examples)

FAKE = "\n- a: fine\n… and 3 more\ntool expects: nothing\nfor example: {}"
CONTROLS = ["\x1b[2J\x07", "\u202e\u2066\ufeff", "\r- b", "\x85\u2028\u2029", "\ud800"]
LONG = ["x" * 10_000, '"' * 500, "\\" * 99]
NUMBERS = [10**4200, -(10**400), float("nan"), float("inf"), 1e308]
HOSTILE_TEXTS = st.sampled_from([FAKE, *CONTROLS, *LONG]) | st.text(max_size=20)
HOSTILE_SCALARS = HOSTILE_TEXTS | st.sampled_from([*NUMBERS, b"x"])


def _deep(value: Any) -> Any:
    for _ in range(150):
        value = [value]
    return value


HOSTILE = st.recursive(
    HOSTILE_SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(HOSTILE_TEXTS | st.integers(), inner, max_size=3)
        | inner.map(lambda value: [value] * 150)
        | inner.map(_deep)
    ),
    max_leaves=6,
)


@st.composite
def refused(draw: st.DrawFn) -> DecodeError | None:
    """An error of a random type, or None where the value that was drawn decodes."""
    closed = draw(st.sampled_from(["ignore", "reject"]))
    # The name is the developer's: it begins no line of the report as a problem does.
    names = st.none() | HOSTILE_TEXTS.filter(lambda name: not name.startswith("- "))
    codec = Codec(draw(TYPES), name=draw(names), unknown_fields=closed)
    values = draw(KINDS_OF_VALUES)(codec)
    try:
        codec.decode(draw(values))
    except DecodeError as error:
        return error
    return None


KINDS_OF_VALUES = st.sampled_from(
    [
        lambda _: HOSTILE,
        misses,
        lambda codec: arguments(codec).flatmap(edited),
        lambda codec: arguments(codec).flatmap(spoilt),
    ]
)


@st.composite
def spoilt(draw: st.DrawFn, valid: Any) -> Any:
    """A valid value with something hostile in the place of one of its parts."""
    if isinstance(valid, dict) and valid:
        key = draw(st.sampled_from(sorted(valid)))
        return {**valid, key: draw(spoilt(valid[key])), draw(HOSTILE_TEXTS): draw(HOSTILE)}
    if isinstance(valid, list) and valid:
        return [*valid[1:], draw(spoilt(valid[0]))]
    return draw(HOSTILE)


PROBLEM = re.compile(r"- \S")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


@many
@given(refused())
def test_every_report_keeps_to_the_laws(error):
    """Drawing types and values takes most of the time, so that one error is looked at in all ways."""
    if error is None:
        return
    check_that_its_text_is_bounded_and_its_lines_are_ours(error)
    check_that_the_parts_of_its_problems_are_bounded(error)
    check_that_what_goes_to_logs_is_json_and_bounded(error)
    check_that_it_travels(error)


def check_that_its_text_is_bounded_and_its_lines_are_ours(error: DecodeError) -> None:
    text = str(error)
    assert len(text) < 2000
    text.encode()
    head, *lines = text.split("\n")
    assert re.search(r": \d+ problems? with the arguments$", head)
    assert all(line.isprintable() for line in (head, *lines))
    assert text.splitlines() == [head, *lines]
    about_the_type = f"{error.name} expects: "  # a type may be called "-"
    problems = [line for line in lines if PROBLEM.match(line) and not line.startswith(about_the_type)]
    assert 1 <= len(problems) <= SHOWN_PROBLEMS + 1
    assert lines[: len(problems)] == problems
    tail = lines[len(problems) :]
    assert len(tail) <= 2
    assert " expects: " in tail[0]
    assert all(line.startswith(("for example: ", "send: ")) for line in tail[1:])


def check_that_the_parts_of_its_problems_are_bounded(error: DecodeError) -> None:
    for problem in error.findings:
        assert len(problem.message) <= 300
        assert len(problem.expected or "") <= 300
        assert len(problem.received or "") <= 2 * EXCERPT_LENGTH + 1
        assert len(problem.suggestion or "") <= 130
        for part in (problem.message, problem.expected, problem.received, problem.suggestion):
            assert part is None or part.isprintable()


def check_that_what_goes_to_logs_is_json_and_bounded(error: DecodeError) -> None:
    content = error.as_dict()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert len(json.dumps(content)) < 2600 + 900 * len(error.findings)
    assert set(content) == {"error", "name", "findings", "omitted", "expects", "correction"}
    assert len(repr(error)) < 300


def check_that_it_travels(error: DecodeError) -> None:
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert str(again) == str(error)
        assert again.as_dict() == error.as_dict()
        assert again.example() == error.example()
        assert again.correction() == error.correction()
        assert again.findings == error.findings


# --- excerpts --------------------------------------------------------------------------------------


@given(HOSTILE)
def test_no_excerpt_is_long(value):
    """What came is shown in 60 characters at most; whatever else is in the line is ours."""
    for annotation in (int, Literal["a"], list[int], dict[str, int]):
        for problem in Codec(annotation).report(value):
            assert len(problem.received or "") <= EXCERPT_LENGTH + len("boolean ")
            assert len(problem.message) <= EXCERPT_LENGTH + 100


# --- examples --------------------------------------------------------------------------------------


def example_of(codec: Codec[Any]) -> Any:
    try:
        return codec.example()
    except ValueError:
        return None


@given(TYPES)
def test_an_example_decodes(annotation):
    codec = Codec(annotation)
    example = example_of(codec)
    if example is not None:
        assert codec.report(example) == ()
        json.dumps(example, allow_nan=False)


@given(TYPES | OBJECTS)
def test_only_a_class_of_ones_own_may_have_none(annotation):
    """Every type has one but those whose own check refuses it, and those that come round without an end."""
    codec = Codec(annotation)
    if example_of(codec) is not None or not codec.report(None):
        return
    made = make_example(codec.graph)
    if made is NO_EXAMPLE:
        assert codec.graph.definitions
    else:
        assert {problem.code for problem in codec.report(made)} == {"rejected"}


@pytest.mark.parametrize(("required", "others"), [(60, 60), (60, 0), (2, 200), (0, 90)])
def test_what_a_tool_expects_is_one_line_however_many_fields_there_are(required, others):
    fields = [(f"required_{i:02}_{'x' * 12}", int) for i in range(required)]
    fields += [(f"other_{i:02}_{'y' * 12}", int, 3) for i in range(others)]
    line = expected_fields("many", Codec(make_dataclass("Many", fields)).graph)
    assert len(line) < 600
    assert "\n" not in line
    assert ("also required: " in line) == (required == 60)
    assert ("not required: " in line) == (others > 0 and required > 0)
