"""Random types of everything supported, with valid and nearly valid JSON values for each.

A type comes as a `Case`: the annotation, a strategy of JSON values that it takes, and what the
laws need to know about it. Dataclasses are made by `make_dataclass`, so that every example brings
fresh classes.
"""

from __future__ import annotations

import enum
import keyword
import math
import string
from dataclasses import field, make_dataclass
from datetime import date, datetime
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Optional
from urllib.parse import SplitResult
from uuid import UUID

from hypothesis import strategies as st

NAMES = st.text(string.ascii_lowercase + "_é", min_size=1, max_size=8).filter(
    lambda name: name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("__")
)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
JSON_SCALARS = st.none() | st.booleans() | st.integers() | FINITE | st.text(max_size=8)
JSON_VALUES = st.recursive(
    JSON_SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OFFSETS = st.sampled_from(["Z", "+00:00", "+05:30", "-11:00"])


class Case(NamedTuple):
    """One random type.

    Attributes:
        annotation: the type.
        valid: strategy of JSON values that it takes.
        defaults: strategy of Python values that may be its default; None where it has none.
    """

    annotation: Any
    valid: st.SearchStrategy[Any]
    defaults: st.SearchStrategy[Any] | None = None


def whole_or(number: int) -> st.SearchStrategy[Any]:
    """An integer, or the float of the same value."""
    return st.sampled_from([number, float(number)]) if abs(number) < 2**53 else st.just(number)


SCALARS = [
    Case(str, st.text(max_size=8), st.text(max_size=8)),
    Case(int, st.integers().flatmap(whole_or), st.integers()),
    Case(float, FINITE | st.integers(-(10**9), 10**9), FINITE),
    Case(bool, st.booleans(), st.booleans()),
    Case(Any, JSON_VALUES),
    Case(object, JSON_VALUES),
    Case(None, st.none()),
]
MOMENTS = st.builds(
    lambda moment, offset: moment.isoformat() + offset,
    st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 28)),  # noqa: DTZ001  # the offset comes next
    OFFSETS,
)
LEAVES = [
    Case(datetime, MOMENTS),
    Case(date, st.dates().map(date.isoformat)),
    Case(UUID, st.uuids().map(str)),
    Case(
        SplitResult,
        st.sampled_from(["https://example.com/a?b=c#d", "http://u@h:80/", "file:///x", "urn:a:b"]),
    ),
]
CHOICES = st.lists(
    st.text(max_size=4) | st.booleans() | st.integers(-3, 3),
    min_size=1,
    max_size=4,
    unique_by=lambda value: (type(value), value),
)


@st.composite
def literals(draw: st.DrawFn) -> Case:
    values = tuple(draw(CHOICES))
    return Case(Literal[values], st.sampled_from(values))  # type: ignore[valid-type]  # made at run time


@st.composite
def enums(draw: st.DrawFn) -> Case:
    base = draw(st.sampled_from([enum.Enum, enum.StrEnum, enum.IntEnum]))
    element = {enum.StrEnum: st.text(max_size=4), enum.IntEnum: st.integers()}.get(
        base, st.text() | st.integers()
    )
    values = draw(st.lists(element, min_size=1, max_size=4, unique=True))
    made = base("Choice", [(f"M{i}", value) for i, value in enumerate(values)])
    return Case(made, st.sampled_from(values), st.sampled_from(list(made)))


def _described(case: Case, text: str) -> Case:
    return Case(Annotated[case.annotation, text], case.valid, case.defaults)


def _list(case: Case) -> Case:
    return Case(list[case.annotation], st.lists(case.valid, max_size=3))  # type: ignore[name-defined]  # made at run time


def _dict(case: Case) -> Case:
    valid = st.dictionaries(st.text(max_size=5), case.valid, max_size=3)
    return Case(dict[str, case.annotation], valid)  # type: ignore[name-defined]  # made at run time


def _nullable(case: Case) -> Case:
    return Case(Optional[case.annotation], st.none() | case.valid)  # noqa: UP045  # made at run time


class _Field(NamedTuple):
    name: str
    key: str
    annotation: Any
    spec: Any
    valid: st.SearchStrategy[Any]
    may_be_absent: bool


@st.composite
def _fields(draw: st.DrawFn, case: Case, name: str, key: str) -> _Field:
    metadata = {} if key == name else {"alias": key}
    if draw(st.booleans()):
        metadata["description"] = "a field"
    kind = draw(st.sampled_from(["plain", "plain", "nullable", "default", "none", "factory"]))
    if case.annotation is None:  # `None | None` is None: the key stays required
        kind = "plain"
    if kind == "nullable":
        inner = _nullable(case)
        return _Field(name, key, inner.annotation, field(metadata=metadata), case.valid, may_be_absent=True)
    if kind == "none":
        inner = _nullable(case)
        spec = field(default=None, metadata=metadata)
        return _Field(name, key, inner.annotation, spec, case.valid, may_be_absent=True)
    if kind == "default" and case.defaults is not None:
        spec = field(default=draw(case.defaults), metadata=metadata)
        return _Field(name, key, case.annotation, spec, case.valid, may_be_absent=True)
    if kind == "factory" and str(case.annotation).startswith("list"):
        spec = field(default_factory=list, metadata=metadata)
        return _Field(name, key, case.annotation, spec, case.valid, may_be_absent=True)
    return _Field(name, key, case.annotation, field(metadata=metadata), case.valid, may_be_absent=False)


@st.composite
def dataclasses_of(draw: st.DrawFn, inner: st.SearchStrategy[Case]) -> Case:
    names = draw(st.lists(NAMES, max_size=4, unique=True))
    keys = draw(
        st.lists(st.text(max_size=5), min_size=len(names), max_size=len(names), unique=True).filter(
            lambda keys: not set(keys) & set(names)
        )
    )
    fields = [
        draw(_fields(draw(inner), name, draw(st.sampled_from([name, key]))))
        for name, key in zip(names, keys, strict=True)
    ]
    members: list[Any] = [(f.name, f.annotation, f.spec) for f in fields]
    if draw(st.booleans()):
        members.append(("constant", ClassVar[int], 3))
    made = make_dataclass("Made", members, kw_only=True, frozen=draw(st.booleans()))
    return Case(made, _objects(fields))


@st.composite
def _objects(draw: st.DrawFn, fields: list[_Field]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for f in fields:
        if not (f.may_be_absent and draw(st.booleans())):
            made[f.key] = draw(f.valid)
    return made


LEAF_CASES = st.sampled_from(SCALARS + LEAVES) | literals() | enums()


def _takes_null(case: Case) -> bool:
    return case.annotation in (Any, object, None)


def _extend(inner: st.SearchStrategy[Case]) -> st.SearchStrategy[Case]:
    return st.one_of(
        inner.map(_list),
        inner.map(_dict),
        inner.filter(lambda case: not _takes_null(case)).map(_nullable),
        st.builds(_described, inner, st.text(max_size=8)),
        dataclasses_of(inner),
        dataclasses_of(inner),
    )


CASES = st.recursive(LEAF_CASES, _extend, max_leaves=6)
OBJECT_CASES = dataclasses_of(CASES)


@st.composite
def near_misses(draw: st.DrawFn, valid: Any) -> Any:
    """A value like a valid one, with one small thing changed somewhere inside."""
    if isinstance(valid, dict) and valid and draw(st.booleans()):
        key = draw(st.sampled_from(sorted(valid)))
        rest = {k: v for k, v in valid.items() if k != key}
        what = draw(st.sampled_from(["drop", "rename", "inside", "inside", "null"]))
        if what == "drop":
            return rest
        if what == "rename":
            return {**rest, key + "x": valid[key]}
        if what == "null":
            return {**valid, key: None}
        return {**valid, key: draw(near_misses(valid[key]))}
    if isinstance(valid, list) and valid and draw(st.booleans()):
        index = draw(st.integers(0, len(valid) - 1))
        changed = draw(near_misses(valid[index]))
        return [*valid[:index], changed, *valid[index + 1 :]]
    return draw(st.sampled_from(_changes(valid)) | JSON_VALUES)


def _changes(valid: Any) -> list[Any]:
    changes: list[Any] = [None, str(valid)[:20], [valid], {"value": valid}, True, 0, 1, 1.5]
    if isinstance(valid, str):
        changes += [valid + "x", valid[:-1], valid.upper(), valid.replace("-", "")]
    if isinstance(valid, bool):
        changes += [int(valid), float(valid)]
    elif isinstance(valid, (int, float)) and math.isfinite(valid):
        changes += [valid + 1, -valid, bool(valid), repr(valid)]
    return changes


@st.composite
def values_for(draw: st.DrawFn, case: Case) -> Any:
    """A JSON value: often valid, often nearly, sometimes anything."""
    kind = draw(st.sampled_from(["valid", "valid", "near", "near", "any"]))
    if kind == "any":
        return draw(JSON_VALUES)
    value = draw(case.valid)
    return value if kind == "valid" else draw(near_misses(value))
