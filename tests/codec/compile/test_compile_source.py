"""What generated code looks like: golden files that show a reviewer how it changes."""

from __future__ import annotations

import ast
import builtins
import enum
from dataclasses import InitVar, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Optional, TypedDict, Union
from urllib.parse import SplitResult
from uuid import UUID, uuid4

import pytest
from strategies import Limits

from operator_schema import Codec

GOLDEN = Path(__file__).parents[2] / "golden" / "compiled"


@dataclass
class Coordinate:
    lat: float
    lon: float


@dataclass
class GeoSearchInput:
    coordinate: Coordinate
    radius: float
    query: str


class URLComponent(enum.StrEnum):
    HOST = "host"
    PORT = "port"


@dataclass
class ParseURLInput:
    url: SplitResult
    components: list[URLComponent]
    max_results: int | None


@dataclass
class Attendee:
    name: str
    email: str
    optional: bool = False
    tags: list[str] = field(default_factory=list)


@dataclass
class Event:
    id: UUID
    title: str
    start: datetime
    end: datetime
    attendees: list[Attendee]
    where: Coordinate | None = None
    status: Literal["tentative", "confirmed", "cancelled"] = "tentative"
    headers: dict[str, str] = field(default_factory=dict)
    reminders: list[int] = field(default_factory=list)
    cost: int | float | None = None


@dataclass
class Add:
    kind: Literal["add"]
    left: Expression
    right: Expression


@dataclass
class Neg:
    kind: Literal["neg"]
    of: Expression


Expression = Union[Add, Neg, int]


@dataclass
class Checked:
    size: Annotated[int, Limits(ge=1, le=9)]
    id: UUID = field(default_factory=uuid4)
    hint: InitVar[int] = 0

    def __post_init__(self, hint):
        pass


class Point(NamedTuple):
    x: int
    y: int = 0


class Shape(TypedDict):
    points: set[Point]
    more: NotRequired[dict[int, Any]]


@dataclass(frozen=True)
class Frozen:
    pair: tuple[int, Optional[str]]
    text: UUID | str = "größe"


TYPES = {"geo_search": GeoSearchInput, "parse_url": ParseURLInput}
OTHERS = {"event": Event, "expression": Expression, "checked": Checked, "shape": Shape, "frozen": Frozen}


@pytest.mark.parametrize("name", TYPES)
def test_the_source_reads_as_the_golden_file_says(request, name):
    codec = Codec(TYPES[name])
    text = codec.source()
    path = GOLDEN / f"{name}.txt"
    if request.config.getoption("--write-golden"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
    assert codec.compiled == set()


@pytest.mark.parametrize("annotation", [*TYPES.values(), *OTHERS.values()])
@pytest.mark.parametrize("unknown", ["ignore", "reject"])
def test_the_source_is_python_and_binds_each_name_that_it_uses(annotation, unknown):
    codec = Codec(annotation, unknown_fields=unknown)
    for half in codec.source().split("# --- encoder"):
        [make] = ast.parse(half).body
        names = [node for node in ast.walk(make) if isinstance(node, ast.Name)]
        used = {node.id for node in names if isinstance(node.ctx, ast.Load)}
        stored = {node.id for node in names if isinstance(node.ctx, ast.Store)}
        arguments = {node.arg for node in ast.walk(make) if isinstance(node, ast.arg)}
        functions = {node.name for node in ast.walk(make) if isinstance(node, ast.FunctionDef)}
        assert used <= stored | arguments | functions | set(dir(builtins))


def test_what_stays_interpreted_says_why():
    assert "# The decoder stays interpreted: making a 'Checked' inside" in Codec(list[Checked]).source()
