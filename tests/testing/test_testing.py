"""The Hypothesis strategies: what each gives, at which edges, and what it says of misuse."""

from __future__ import annotations

import enum
import json
import re
import sys
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, Self, TypedDict

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from judge import validator
from strategies import SHIPPED, Celsius, Limits

from operator_schema import Codec, DecodeError, SchemaError, SchemaLeaf, Tool, skip, tool, tool_input
from operator_schema.testing import arguments, instances, near_misses
from operator_schema.tools import document_tool
from operator_schema.types import RawArguments

pytestmark = pytest.mark.slow("draws many values for each question")


class Mode(enum.StrEnum):
    FAST = "fast"
    DEEP = "deep"


@dataclass
class Search:
    query: Annotated[str, Limits(min_length=1, max_length=5)]
    limit: int | None
    mode: Mode = Mode.FAST
    tags: set[str] = field(default_factory=set)


@dataclass
class Tree:
    name: str
    children: list[Self]


@cache
def near_misses_of_search():
    return examples(near_misses(Search), 100)


@cache
def arguments_of_search():
    return examples(arguments(Search), 100)


def examples(strategy, number=50):
    """Draw some examples, the same ones each time."""
    found = []

    @settings(
        max_examples=number,
        database=None,
        derandomize=True,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def draw(value):
        found.append(value)

    draw()
    return found


# What explains a failure draws hundreds of values more, and changes none that is found.
FIND = settings(
    database=None, deadline=None, max_examples=2000, phases=[Phase.explicit, Phase.generate, Phase.shrink]
)


def smallest(strategy, condition=lambda _: True):
    return find(strategy, condition, settings=FIND)


# --- arguments -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "condition",
    [
        lambda value: "limit" not in value,
        lambda value: "limit" in value and value["limit"] is None,
        lambda value: type(value.get("limit")) is float,
        lambda value: "mode" not in value,
        lambda value: len(value["query"]) == 5,
        lambda value: len(value["query"]) == 1,
        lambda value: len(value.get("tags", [])) > 1,
        lambda value: value.keys() - {"query", "limit", "mode", "tags"},
    ],
    ids=["absent", "null", "integral float", "default", "longest", "shortest", "items", "unknown"],
)
def test_arguments_include(condition):
    assert any(map(condition, arguments_of_search()))


def test_unknown_keys_come_only_where_they_are_ignored():
    keys = {"query", "limit", "mode", "tags"}
    assert all(value.keys() <= keys for value in examples(arguments(Search, unknown_fields="reject")))


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (Search, {"query": "0"}),
        (Tree, {"name": "", "children": []}),
        (Annotated[int, Limits(gt=10)], 11),
        (list[int], []),
        (Literal["a", "b"], "a"),
        (dict[str, int], {}),
        (tuple[int, str], [0, ""]),
        (datetime, "2000-01-01T00:00:00Z"),
    ],
    ids=repr,
)
def test_arguments_shrink_to_something_small(annotation, value):
    assert smallest(arguments(annotation)) == value


NUMBERS = [
    (int, Limits(ge=3, le=3), {3}),
    (int, Limits(gt=3, lt=6), {4, 5}),
    (int, Limits(ge=2.5, le=4.5), {3, 4}),
    (int, Limits(gt=-8, lt=8, multiple_of=4), {-4, 0, 4}),
    (int, Limits(ge=0, le=3, multiple_of=0.75), {0, 3}),
    (int, Limits(ge=2**60 + 1, le=2**60 + 1), {2**60 + 1}),
    (float, Limits(ge=0, le=0), {0}),
    (float, Limits(gt=0, le=5e-324), {5e-324}),
    (float, Limits(ge=1.7976931348623157e308), {1.7976931348623157e308}),
    (float, Limits(gt=0, lt=1, multiple_of=0.25), {0.25, 0.5, 0.75}),
    (float, Limits(ge=2**53 + 1, le=2**53 + 2), {2**53 + 2}),
    (float, Limits(lt=10**400, gt=1.7976931348623155e308), {1.7976931348623157e308}),
]


def name_of_case(part):
    """Return an id that each process makes alike: the order of a set depends on who compiled it."""
    return repr(sorted(part) if isinstance(part, set) else part)


@pytest.mark.parametrize(("kind", "limits", "expected"), NUMBERS, ids=name_of_case)
def test_numbers_at_their_limits(kind, limits, expected):
    annotation = Annotated[kind, limits]
    assert set(examples(arguments(annotation), 25)) == expected
    codec = Codec(annotation)
    judge = validator(codec.json_schema())
    for value in examples(near_misses(annotation), 12):
        [problem] = codec.report(value)
        # No float, or one that breaks the limits which the integer keeps.
        assert not judge.is_valid(value) or " a float" in problem.message


@pytest.mark.parametrize(
    ("pattern", "limits"),
    [
        (r"^[a-z]+$", Limits(min_length=20, max_length=24)),
        (r"^[^\]a-z]*$", Limits(max_length=2)),
        (r"^\w+$", Limits(min_length=12)),
        (r"^.+$", Limits(max_length=0)),
        (r"^(ab)+$", Limits(max_length=6)),
        (r"\d{3}", Limits(max_length=5)),
    ],
    ids=repr,
)
def test_patterns_with_lengths(pattern, limits):
    annotation = Annotated[str, re.compile(pattern), limits]
    if limits.max_length == 0:
        with pytest.raises(ValueError, match="no JSON value decodes"):
            arguments(annotation)
        return
    values = examples(arguments(annotation), 30)
    assert len(set(values)) >= 5
    assert all(re.search(pattern, value) for value in values)


def test_a_recursive_type_has_small_values():
    assert max(map(depth, examples(arguments(Tree)))) in {2, 3}


def depth(tree):
    return 1 + max(map(depth, tree["children"]), default=0)


@dataclass
class Chain:
    """Its smallest value is three levels deep, and every level is another class."""

    link: ChainTwo


@dataclass
class ChainTwo:
    links: Annotated[list[ChainThree], Limits(min_length=1)]


@dataclass
class ChainThree:
    again: Chain | None
    twice: dict[str, ChainTwo]


def test_references_are_followed_until_each_class_has_values():
    assert smallest(arguments(Chain)) == {"link": {"links": [{"twice": {}}]}}


@dataclass
class Endless:
    again: Endless


@pytest.mark.parametrize(
    "annotation",
    [
        Endless,
        Annotated[int, Limits(ge=1, le=5, multiple_of=6)],
        Annotated[float, Limits(gt=1.0, lt=1.0000000000000002)],
        Annotated[float, Limits(ge=10**400)],
        Annotated[float, Limits(ge=10**400, multiple_of=2)],
        Annotated[dict[Literal["a"], int], Limits(min_length=2)],
        Annotated[set[bool], Limits(min_length=3)],
    ],
    ids=repr,
)
def test_a_type_without_values(annotation):
    with pytest.raises(ValueError, match="no JSON value decodes as"):
        arguments(annotation)
    assert Codec(annotation).report(smallest(near_misses(annotation)))


@dataclass
class Span:
    start: int
    end: int

    def __post_init__(self) -> None:
        if self.start > self.end:
            raise ValueError("it ends before it starts")


@given(arguments(list[Span]))
def test_what_post_init_refuses_does_not_come(value):
    assert all(span["start"] <= span["end"] for span in value)


def test_what_post_init_raises_by_mistake_is_not_hidden():
    @dataclass
    class Buggy:
        x: int

        def __post_init__(self) -> None:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        examples(arguments(Buggy))


# --- leaves --------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", SHIPPED, ids=lambda cls: cls.__name__)
def test_every_shipped_leaf_has_its_values(cls):
    values = examples(arguments(cls), 16)
    assert len({json.dumps(value) for value in values}) > 8
    judge = validator(Codec(cls).json_schema())
    assert all(judge.is_valid(value) for value in values)
    assert all(Codec(cls).report(value) for value in examples(near_misses(cls), 6))


def test_moments_come_with_offsets_and_fractions():
    values = examples(instances(datetime))
    assert {value.utcoffset() for value in values} > {timedelta(0)}
    assert any(value.microsecond for value in values)
    assert any(value.tzinfo is UTC for value in values)


def test_a_leaf_of_the_users_own_gives_its_placeholder():
    assert set(examples(arguments(Celsius))) == {20.0}


def test_json_values_stand_for_a_leaf():
    degrees = {Celsius: st.sampled_from([-300, -274, -273, 20, 100])}
    assert {-273, 20, 100} == {
        round(celsius) for celsius in examples(instances(Celsius, json_values=degrees), 20)
    }
    assert -275 in examples(near_misses(Celsius, json_values={Celsius: st.just(274)}), 20)


def test_json_values_come_before_those_of_a_shipped_leaf():
    one = str(uuid.UUID(int=1))
    assert examples(arguments(uuid.UUID, json_values={uuid.UUID: st.just(one)})) == [one]


def test_a_leaf_that_replaces_a_shipped_one_is_not_taken_for_it():
    short = SchemaLeaf(
        uuid.UUID,
        {"type": "string"},
        lambda text: uuid.UUID(int=int(text)),
        lambda u: str(u.int),
        uuid.UUID(int=7),
    )
    assert examples(arguments(uuid.UUID, leaves=[short])) == ["7"]


@pytest.mark.parametrize("strategy", [arguments, instances, near_misses])
def test_json_values_for_what_is_no_leaf(strategy):
    with pytest.raises(
        ValueError, match=re.escape("json_values is for the leaves of this type (Celsius, UUID), not Search")
    ):
        strategy(dict[uuid.UUID, Celsius], json_values={Search: st.none()})


# --- instances -----------------------------------------------------------------------------------


class Point(NamedTuple):
    x: int
    y: int = 0


class Options(TypedDict, total=False):
    mode: Mode


@pytest.mark.parametrize("cls", [Search, Tree, Point, Span, Mode, datetime])
def test_instances_are_of_the_type(cls):
    assert all(type(instance) is cls for instance in examples(instances(cls), 20))


def test_instances_of_a_codec():
    codec = Codec(Options, name="options")
    assert {"mode": Mode.DEEP} in examples(instances(codec))


# --- near misses ---------------------------------------------------------------------------------


@dataclass
class Sought:
    query: str


@pytest.mark.parametrize(
    ("code", "path"),
    [
        ("missing", ("query",)),
        ("wrong_type", ()),
        ("wrong_type", ("limit",)),
        ("bad_length", ("query",)),
        ("not_one_of", ("mode",)),
    ],
    ids=repr,
)
def test_near_misses_have(code, path):
    assert_missed(Codec(Search), near_misses_of_search(), code, path)


@pytest.mark.parametrize(
    ("codec", "code", "path"),
    [
        (Codec(set[str]), "duplicate", (1,)),
        (Codec(Sought, unknown_fields="reject"), "unknown", ("query_",)),
    ],
    ids=["duplicate", "unknown"],
)
def test_near_misses_that_a_larger_type_seldom_has(codec, code, path):
    assert_missed(codec, examples(near_misses(codec)), code, path)


def assert_missed(codec, values, code, path):
    """Assert that some values have this one problem, and that the schema refuses them as well."""
    found = [value for value in values if [(p.code, p.path) for p in codec.report(value)] == [(code, path)]]
    assert found
    assert not any(map(validator(codec.json_schema()).is_valid, found))


def test_most_near_misses_have_one_problem():
    codec, values = Codec(Search), near_misses_of_search()
    assert sum(len(codec.report(value)) == 1 for value in values) > 80
    assert sum(isinstance(value, dict) for value in values) > 60


def test_lengths_and_ranges_are_missed_by_one():
    longest = smallest(
        near_misses(Annotated[str, Limits(max_length=3)]), lambda value: isinstance(value, str)
    )
    assert len(longest) == 4
    items = Annotated[list[int], Limits(min_length=2, max_length=3)]
    assert {len(value) for value in examples(near_misses(items)) if isinstance(value, list)} >= {1, 4}
    entries = Annotated[dict[Literal["a", "b"], int], Limits(max_length=2)]
    assert any(len(value) == 3 for value in examples(near_misses(entries)) if isinstance(value, dict))
    beyond = set(filter(lambda v: type(v) is int, examples(near_misses(Annotated[int, Limits(ge=0, lt=9)]))))
    assert beyond == {-1, 9, 10}


@pytest.mark.parametrize("key", [int, Mode, Literal["a"], uuid.UUID, Annotated[str, Limits(max_length=1)]])
def test_keys_are_missed_too(key):
    maps = [value for value in examples(near_misses(dict[key, None]), 30) if isinstance(value, dict)]
    assert any(all(item is None for item in value.values()) for value in maps)


@pytest.mark.parametrize(
    "annotation",
    [Any, object, Any | None, str | float | bool | list[Any] | dict[str, Any] | None],
    ids=repr,
)
def test_nothing_misses_what_takes_everything(annotation):
    with pytest.raises(ValueError, match="every JSON value decodes as"):
        near_misses(annotation)
    assert examples(arguments(annotation), 10)


def test_what_takes_nearly_everything_can_be_missed():
    almost = str | float | bool | list[Any] | dict[str, str] | None
    assert all(isinstance(missed, dict) for missed in examples(near_misses(almost), 20))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the type statement is of Python 3.12")
def test_nothing_misses_json_itself():
    names: dict[str, Any] = {"__name__": __name__}
    exec("type Json = None | bool | float | str | list[Json] | dict[str, Json]", names)  # noqa: S102
    with pytest.raises(ValueError, match="every JSON value decodes as Json"):
        near_misses(names["Json"])
    assert any(isinstance(value, list) and value for value in examples(arguments(names["Json"])))


# --- tools ----------------------------------------------------------------------------------------


@dataclass
class Ask:
    question: Annotated[str, Limits(min_length=1)]
    choices: list[str] = field(default_factory=list)


@dataclass
class Stop:
    reason: Literal["done", "lost"]


DOCUMENT = {
    "type": "object",
    "properties": {"package": {"type": "string", "minLength": 2}, "depth": {"type": "integer", "maximum": 9}},
    "required": ["package"],
    "additionalProperties": False,
}


def resize(width: Annotated[int, Limits(ge=1)], unit: Literal["px", "em"] = "px") -> str:
    return f"{width}{unit}"


def ask(ask: Ask) -> str:
    return ask.question


def either(given: Ask | Stop) -> str:
    return type(given).__name__


async def wait(seconds: float, *, db: Annotated[object, skip]) -> str:
    return f"{seconds}{db}"


def now() -> str:
    return "noon"


def raw(arguments: RawArguments) -> str:
    return ", ".join(arguments)


def described(arguments: Annotated[RawArguments, RawArguments.described_by(DOCUMENT)]) -> str:
    return str(arguments.require("package", str))


def checked(arguments: dict[str, Any]) -> str:
    return str(arguments["package"])


class Shop:
    @tool
    def price(self, item: Literal["tea", "rye"]) -> int:
        return len(item)


TOOLS: dict[str, Tool[..., Any]] = {
    "function": tool(resize),
    "one dataclass": tool(ask),
    "kept dataclass": tool(flatten=False)(ask),
    "union": tool(either),
    "async and injected": tool(wait),
    "no parameters": tool(now),
    "raw": tool(raw),
    "raw with a schema": tool(described),
    "document": document_tool(checked, DOCUMENT, name="checked"),
    "method": Shop().price,
    "input": tool_input(Ask),
    "strict and repaired": tool(unknown_fields="reject", repair=True)(resize),
}


@pytest.mark.parametrize("kind", TOOLS)
def test_arguments_of_a_tool_are_those_that_it_takes(kind):
    own = TOOLS[kind]
    for arguments_ in examples(arguments(own), 12):
        given_ = own.decode(arguments_)
        assert validator(own.input_schema()).is_valid(arguments_)
        assert own.decode(own.encode_input(given_)) == given_


@pytest.mark.parametrize("kind", TOOLS)
def test_instances_of_a_tool_are_its_inputs(kind):
    own = TOOLS[kind]
    for given_ in examples(instances(own), 12):
        assert type(given_) is type(own.decode(own.encode_input(given_)))
        if own.has_function and not own.is_async:
            own.call(given_)


@pytest.mark.parametrize("kind", TOOLS)
def test_near_misses_of_a_tool_are_refused(kind):
    own = TOOLS[kind]
    for value in examples(near_misses(own), 12):
        with pytest.raises(DecodeError):
            own.decode(value)


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("^=", "^="),
        (r"\p{L}", r"[^\W\d_]"),
        (r"^(?<year>\d{4})-\d\d$", r"^[0-9]{4}-[0-9][0-9]\Z"),
        ("a{2,}|b?c", "a{2,}|b?c"),
        ("^(?=.*x)[a-z]{2,9}$", r"^(?=.*x)[a-z]{2,9}\Z"),
        ("[^a-z]$", r"[^a-z]\Z"),
    ],
)
@pytest.mark.parametrize("limits", [{}, {"minLength": 3}], ids=str)
def test_patterns_of_documents_that_re_reads_in_another_way(written, same, limits):
    text = {"type": "string", "pattern": written, **limits}
    schema = {"type": "object", "properties": {"name": text}, "required": ["name"]}
    made = document_tool(checked, schema, name="made")
    names = [each["name"] for each in examples(arguments(made), 10)]
    assert len(set(names)) >= 3
    assert all(re.search(same, name) and len(name) >= limits.get("minLength", 0) for name in names)
    for value in examples(near_misses(made), 5):
        with pytest.raises(DecodeError):
            made.decode(value)


def test_what_a_schema_of_raw_arguments_asks_for_is_in_them():
    found = examples(arguments(TOOLS["raw with a schema"]), 50)
    assert all(len(each["package"]) >= 2 for each in found)
    assert any(each.get("depth", 10) <= 9 for each in found)
    assert any(examples(arguments(TOOLS["raw"]), 50))
    assert {each.tool for each in examples(instances(TOOLS["raw"]), 3)} == {"raw"}


# --- all of them ---------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", [arguments, instances, near_misses])
def test_misuse(strategy):
    with pytest.raises(SchemaError):
        strategy(complex)
    with pytest.raises(TypeError, match="give options to the Codec itself: name, max_depth"):
        strategy(Codec(int), name="x", max_depth=3)
    with pytest.raises(TypeError, match="give options to the tool itself: repair"):
        strategy(TOOLS["function"], repair=True)


def test_max_depth_is_kept():
    codec = Codec(Tree, max_depth=3)
    values = examples(arguments(codec))
    assert all(codec.report(value) == () for value in values)
    assert all(depth(value) == 1 for value in values)
