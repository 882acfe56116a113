"""The calls that are damaged: the airline's recorded ones, and made ones of tools that have what it lacks."""

from __future__ import annotations

import enum
import importlib
import json
import sys
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict
from uuid import UUID

from hypothesis import HealthCheck, Phase, given, seed, settings

from operator_schema import Codec
from operator_schema.testing import arguments

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "airline"


class Call(NamedTuple):
    """Arguments that decode as they stand, and the codecs of the tool they are for."""

    codec: Codec[Any]
    repairing: Codec[Any]
    arguments: Any


def recorded_calls() -> list[Call]:
    """Return the 1,164 calls that models made of the airline's tools."""
    sys.path.insert(0, str(EXAMPLE))
    try:
        tools = importlib.import_module("airline_tools").TOOLS
    finally:
        sys.path.remove(str(EXAMPLE))
    codecs = {name: _both(cls) for name, cls in tools.items()}
    lines = (EXAMPLE / "data" / "calls.jsonl").read_text(encoding="utf-8").splitlines()
    sent = [json.loads(line) for line in lines]
    return [Call(*codecs[call["name"]], json.loads(call["arguments"])) for call in sent]


def made_calls(number: int, seed_: int) -> list[Call]:
    """Make calls of the tools below, as many of each; the seed says which."""
    calls: list[Call] = []
    for index, cls in enumerate(TOOLS):
        codec, repairing = _both(cls, "reject" if index % 2 else "ignore")
        # Unknown keys are no damage: what they are for is a matter of guessing.
        calls += [
            Call(codec, repairing, value)
            for value in _drawn(Codec(cls, unknown_fields="reject"), number, seed_)
        ]
    return calls


def _both(cls: type, unknown_fields: Any = "ignore") -> tuple[Codec[Any], Codec[Any]]:
    return tuple(Codec(cls, unknown_fields=unknown_fields, repair=repair) for repair in (False, True))  # type: ignore[return-value]  # two of them


def _drawn(codec: Codec[Any], number: int, seed_: int) -> list[Any]:
    drawn: list[Any] = []

    @seed(seed_)
    @settings(
        max_examples=number,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(arguments(codec))
    def collect(value: Any) -> None:
        drawn.append(value)

    collect()
    return drawn


# --- tools that have what the airline's lack -------------------------------------------------------


class Priority(enum.Enum):
    """Values that are no names, names that are no values."""

    LOW = "low"
    RIGHT_NOW = "p-0"
    NEXT_WEEK = "within a week"


class Severity(enum.IntEnum):
    """Numbers, which models call by name."""

    MINOR = 1
    MAJOR = 2
    TOTAL_LOSS = 3


class Unit(enum.StrEnum):
    """Values in one convention, names in another."""

    METER = "m"
    SQUARE_METER = "square-meter"
    CUBIC_METER = "cubic_meter"


Topic = Literal["bug report", "feature_request", "q-and-a", "other"]


@dataclass
class Person:
    """Somebody."""

    full_name: str
    e_mail: str | None
    is_owner: bool = False


class Span(NamedTuple):
    """From here to there."""

    first_line: int
    last_line: int = 10


class Source(TypedDict):
    """Where something comes from."""

    file_name: str
    line_span: NotRequired[Span]


@dataclass
class OpenTicket:
    """Enums, defaults, booleans, single items."""

    title: str
    topic: Topic
    priority: Priority
    assigned_to: list[Person]
    is_public: bool
    severity: Severity = Severity.MINOR
    days_left: int | None = None
    labels: list[str] = field(default_factory=list)
    related_ids: set[int] = field(default_factory=set)
    estimate: float = 1.5
    max_size: int | None = 20
    sources: list[Source] = field(default_factory=list)
    note_text: str = "none"
    units: tuple[Unit, ...] = ()


@dataclass
class FindItems:
    """Aliases, leaves, maps."""

    search_text: str
    max_results: int = field(default=10, metadata={"alias": "maxResults"})
    page_token: str | None = field(default=None, metadata={"alias": "page-token"})
    since: date | None = field(default=None, metadata={"alias": "createdAfter"})
    owner_id: UUID | None = None
    price_limit: Decimal = Decimal(100)
    with_history: bool = field(default=True, metadata={"alias": "includeHistory"})
    weights: dict[str, float] = field(default_factory=dict)
    groups: dict[str, list[Severity]] = field(default_factory=dict)
    sort_keys: list[Literal["created_at", "last-seen", "name"]] = field(default_factory=list)


@dataclass
class Circle:
    """Told by its tag."""

    kind: Literal["circle"]
    center_point: tuple[float, float]
    radius: float


@dataclass
class Path_:  # noqa: N801  # `Path` is taken
    """Told by its tag too."""

    kind: Literal["open_path"]
    all_points: list[tuple[float, float]]
    is_closed: bool = False


@dataclass
class Group:
    """And this one holds the others."""

    kind: Literal["group"]
    members: list[Circle | Path_ | Group]
    line_width: int | float | None = None


@dataclass
class Draw:
    """Unions, recursion, tuples."""

    shape: Circle | Path_ | Group
    unit: Unit = Unit.METER
    opacity: float | bool = 1.0
    layer: int | list[int] | None = None
    data: Any = None


@dataclass
class Move:
    """Told by its keys."""

    to_line: int
    copies: int = 1


@dataclass
class Replace:
    """Told by its keys too."""

    new_text: str
    all_matches: bool = False


@dataclass
class EditFile:
    """What coding tools take."""

    file_path: str
    edits: list[Move | Replace]
    where: Span
    dry_run: bool = False
    tries: int = 3
    previous: EditFile | None = None
    raw: str | list[str] | None = None
    flags: frozenset[Severity] = frozenset()


TOOLS: tuple[type[Any], ...] = (OpenTicket, FindItems, Draw, EditFile)
