"""A comparison of our own tools is one of their decoders: what is accepted counts, not what is published."""

from __future__ import annotations

import json
from dataclasses import MISSING, dataclass, field, make_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from ipaddress import IPv4Address
from itertools import product
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from annotated_types import Ge, MinLen
from hypothesis import given
from hypothesis import strategies as st
from judge import validator
from strategies import supposedly_valid

from operator_schema import Codec, Tool, tool
from operator_schema.sameness import same_text
from operator_schema.testing import arguments
from operator_schema.types import URL, LocalDateTime
from operator_schema.workbench.compare import Snapshot, compare, read_snapshot, snapshot_of

REQUIRED: Any = object()
"""Stands for the default of a parameter that has none."""


@dataclass
class Filter:
    kind: str
    sort: str | None = None


@dataclass
class DayFilter:
    kind: str
    sort: date | None = None


class Keys(TypedDict):
    kind: str
    sort: NotRequired[str | None]


class Pair(NamedTuple):
    kind: str
    sort: str | None = None


KINDS: tuple[tuple[Any, Any], ...] = (
    (str, REQUIRED),
    (str, ""),
    (str | None, REQUIRED),
    (str | None, None),
    (str | None, ""),
    (int | None, None),
    (int, 0),
    (float, REQUIRED),
    (date, REQUIRED),
    (date | None, None),
    (datetime, REQUIRED),
    (LocalDateTime, REQUIRED),
    (time, REQUIRED),
    (timedelta, REQUIRED),
    (UUID, REQUIRED),
    (Decimal, REQUIRED),
    (IPv4Address, REQUIRED),
    (PurePosixPath, REQUIRED),
    (PurePosixPath | str, REQUIRED),
    (URL, REQUIRED),
    (ZoneInfo, REQUIRED),
    (bytes, REQUIRED),
    (date | int, REQUIRED),
    (Annotated[str, MinLen(3)], REQUIRED),
    (Literal["2026-01-31", "2026-02-30"], REQUIRED),
    (Literal["2026-01-31", None], None),
    (Filter, REQUIRED),
    (Filter | None, None),
    (DayFilter, REQUIRED),
    (Keys, REQUIRED),
    (Pair, REQUIRED),
    (list[Filter], REQUIRED),
    (list[str], REQUIRED),
    (list[date] | None, None),
    (dict[str, Filter | None], REQUIRED),
    (dict[str, str], REQUIRED),
    (dict[date, str], REQUIRED),
    (Annotated[int, Ge(1)] | None, None),
    (Any, None),
)
TEXTS = (
    *("", "text", "2026-01-31", "2026-02-30", "2026-01-31T12:00:00", "2026-01-31T12:00:00Z", "12:00:00Z"),
    *("PT1H", "1.50", "192.0.2.1", "a/b", "https://example.com/", "UTC", "aGVsbG8=", "\0"),
    "123e4567-e89b-12d3-a456-426614174000",
)
SCALARS: tuple[Any, ...] = (None, *TEXTS, 0, 1, 0.5, True)
OBJECTS = ({}, *[{"kind": "a", "sort": each} for each in (None, *TEXTS[:3])], {"kind": "a"}, {"kind": None})
VALUES: tuple[Any, ...] = (
    *SCALARS,
    *OBJECTS,
    *[[each] for each in (*TEXTS, None, *OBJECTS)],
    *[{"a": each} for each in (None, "text", *OBJECTS)],
    {"2026-01-31": "a"},
    ["a", None],
    ["a", "b"],
)
CALLS = ({}, *[{"x": value} for value in VALUES])


def tool_of(annotation: Any, default: Any = REQUIRED) -> Tool[..., Any]:
    """Make a tool with one parameter."""

    def find(x: Any) -> str:
        """Find."""
        return str(x)

    find.__annotations__["x"] = annotation
    find.__defaults__ = None if default is REQUIRED else (default,)
    return tool(find)


class Side(NamedTuple):
    """A tool, as one side of a comparison.

    Attributes:
        snapshot: of it, as it is read from its file.
        codec: its decoder.
        taken: which of `CALLS` it takes.
    """

    snapshot: Snapshot
    codec: Codec[Any]
    taken: tuple[bool, ...]


def side_of(made: Tool[..., Any], calls: Any = CALLS) -> Side:
    written = snapshot_of([made])
    snapshot = read_snapshot(json.loads(written.as_text()))
    assert snapshot == written
    return Side(snapshot, made.codec, tuple([not made.codec.report(call) for call in calls]))


def check(old: Side, new: Side, calls: Any = CALLS) -> str | None:
    """Compare two tools, and check that what is said is so.

    Returns:
        The level of what was said of the arguments.
    """
    changes = [change for change in compare(old.snapshot, new.snapshot).changes if change.side == "send"]
    lost = [call for call, was, stays in zip(calls, old.taken, new.taken, strict=True) if was > stays]
    for change in changes:
        if change.level == "breaking" and change.has_witness:
            assert not old.codec.report(change.witness), change
            assert new.codec.report(change.witness), change
    levels = [change.level for change in changes]
    said = next((level for level in ("breaking", "undecided") if level in levels), None)
    assert said is not None or not lost, (lost[0], list(map(str, changes)))
    return said if lost else None


@pytest.fixture(scope="module")
def sides() -> list[Side]:
    return [side_of(tool_of(*kind)) for kind in KINDS]


@pytest.mark.slow("compares each two of forty types")
def test_whatever_was_accepted_and_is_refused_now_is_breaking(sides):
    said = {
        (i, j): check(*pair)
        for (i, j), pair in zip(product(range(len(sides)), repeat=2), product(sides, repeat=2), strict=True)
    }
    undecided = [f"{KINDS[i]} → {KINDS[j]}" for (i, j), level in said.items() if level == "undecided"]
    assert undecided == []


# --- results --------------------------------------------------------------------------------------

RESULTS = tuple(kind for kind, default in KINDS if default is REQUIRED)


class Sender(NamedTuple):
    """A tool and its results.

    Attributes:
        snapshot: of the tool.
        codec: of its results.
        may_send: which of `VALUES` its description allows: the published schema, and what reads the texts.
        sends: which of them are the JSON of a result.
    """

    snapshot: Snapshot
    codec: Codec[Any]
    may_send: tuple[bool, ...]
    sends: tuple[bool, ...]

    def allows(self, value: Any) -> bool:
        """Say whether the description of the tool allows a result."""
        return not self.codec.report(value) and validator(self.codec.json_schema()).is_valid(value)


def sends(codec: Codec[Any], value: Any) -> bool:
    """Say whether a result can be a value: what it reads as is written as it was."""
    return not codec.report(value) and same_text(codec.encode(codec.decode(value))) == same_text(value)


def sender_of(annotation: Any) -> Sender:
    """Make a tool with a result."""

    def find() -> Any:
        """Find."""

    find.__annotations__["return"] = annotation
    made = tool(find)
    snapshot = snapshot_of([made])
    assert read_snapshot(json.loads(snapshot.as_text())) == snapshot
    codec = made.result_codec()
    made_by = Sender(snapshot, codec, (), tuple([sends(codec, value) for value in VALUES]))
    return made_by._replace(may_send=tuple([made_by.allows(value) for value in VALUES]))


def test_a_result_that_could_not_come_before_is_breaking():
    senders = [sender_of(kind) for kind in RESULTS]
    for (i, old), (j, new) in product(enumerate(senders), repeat=2):
        changes = [change for change in compare(old.snapshot, new.snapshot).changes if change.side == "read"]
        come = [value for value, was, now in zip(VALUES, old.may_send, new.sends, strict=True) if now > was]
        broken = [change for change in changes if change.level == "breaking"]
        assert bool(broken) >= bool(come), (RESULTS[i], RESULTS[j], come[0], list(map(str, changes)))
        for change in broken:
            assert not new.codec.report(change.witness), (RESULTS[i], RESULTS[j], change)
            assert not old.allows(change.witness), (RESULTS[i], RESULTS[j], change)


# --- types of any depth ---------------------------------------------------------------------------


class Edit(NamedTuple):
    """A type with its default, and an edit of it."""

    old: tuple[Any, Any]
    new: tuple[Any, Any]


def wrapped(edit: Edit, wrap: Any, *, is_optional: bool) -> Edit:
    sides = [wrap(annotation) for annotation, _ in edit]
    return Edit(*[(side | None, None) if is_optional else (side, REQUIRED) for side in sides])


def in_class(edits: list[Edit]) -> Edit:
    """Return classes with a field for each of some types."""
    made = []
    for kinds in zip(*edits, strict=True):
        fields = [
            (f"f{i}", kind, field(default=MISSING if is_required(default) else default))
            for i, (kind, default) in enumerate(kinds)
        ]
        made.append(make_dataclass("Made", fields, kw_only=True))
    return Edit(*[(each, REQUIRED) for each in made])


def is_required(default: Any) -> bool:
    return default is REQUIRED


ATOMS = st.sampled_from(KINDS)
EDITS = st.recursive(
    ATOMS.map(lambda kind: Edit(kind, kind)) | st.builds(Edit, ATOMS, ATOMS),
    lambda inner: st.one_of(
        st.builds(wrapped, inner, st.just(lambda kind: list[kind]), is_optional=st.booleans()),
        st.builds(wrapped, inner, st.just(lambda kind: dict[str, kind]), is_optional=st.booleans()),
        st.lists(inner, min_size=1, max_size=3).map(in_class),
    ),
    max_leaves=4,
)


@pytest.mark.slow("compares random types with edits of them")
@given(edit=EDITS, data=st.data())
def test_what_generated_types_no_longer_accept_is_breaking(edit, data):
    tools = [tool_of(*kind) for kind in edit]
    calls = [
        data.draw(st.one_of(arguments(tools[0].codec), supposedly_valid(tools[0].codec))) for _ in range(4)
    ]
    check(*[side_of(each, calls) for each in tools], calls)
