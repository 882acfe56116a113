"""Right calls to make mistakes of: recorded ones, and some of tools with what the recorded ones lack."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, make_dataclass
from datetime import date, datetime
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple
from zipfile import ZipFile

from mistakes import repeatable
from provider_traffic import unstreamed

from operator_schema import DecodeError, SchemaError, tool_input
from operator_schema.tools import document_tool
from operator_schema.types import LocalDateTime

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "airline"


class Subject(NamedTuple):
    """A tool that is called: what its arguments are decoded by, without repair and with it."""

    tool: Any
    codec: Any
    repairing: Any
    schema: dict[str, Any]

    @property
    def name(self) -> str:
        """Its name."""
        return self.tool.name


def subject_of(tool: Any) -> Subject:
    """Return the subject for a tool."""
    return Subject(tool, tool.codec, tool.with_(repair=True).codec, tool.input_schema())


class RightCall(NamedTuple):
    """Arguments that decode as they stand, and what they decode to."""

    subject: Subject
    arguments: dict[str, Any]
    decoded: Any


def right_call(subject: Subject, arguments: Any) -> RightCall | None:
    """Return a call, or None where its arguments don't decode as they stand."""
    try:
        return RightCall(subject, arguments, subject.codec.decode(arguments))
    except DecodeError:
        return None


def _right(sent: Iterable[tuple[Subject, Any]]) -> list[RightCall]:
    """Keep each call once."""
    calls = {(subject.name, json.dumps(arguments)): (subject, arguments) for subject, arguments in sent}
    return [call for each in calls.values() if (call := right_call(*each))]


# --- recorded ------------------------------------------------------------------------------------------


@cache
def airline_calls() -> list[RightCall]:
    """Return what models sent to the airline's tools, each once."""
    sys.path.insert(0, str(EXAMPLE))
    try:
        classes = importlib.import_module("airline_tools").TOOLS
    finally:
        sys.path.remove(str(EXAMPLE))
    subjects = {name: subject_of(tool_input(cls, name=name)) for name, cls in classes.items()}
    lines = (EXAMPLE / "data" / "calls.jsonl").read_text(encoding="utf-8").splitlines()
    sent = map(json.loads, lines)
    return _right((subjects[call["name"]], json.loads(call["arguments"])) for call in sent)


@cache
def traffic_calls() -> list[RightCall]:
    """Return what models answered in recorded exchanges with providers, for the tools of the requests."""
    return _right(_traffic())


def _traffic() -> Iterator[tuple[Subject, Any]]:
    subjects: dict[str, Subject | None] = {}
    for exchange in unstreamed():
        offered = dict(_named((exchange["request"] or {}).get("tools"), _SCHEMA_KEYS))
        for name, arguments in _named(json.loads(exchange["response"]), _ARGUMENT_KEYS):
            if name not in offered:
                continue
            key = json.dumps([name, offered[name]], sort_keys=True)
            if key not in subjects:
                subjects[key] = _documented(name, offered[name])
            subject = subjects[key]
            if subject is not None and (whole := _whole(arguments)) is not None:
                yield subject, whole


def _whole(arguments: Any) -> Any:
    """Return arguments as values; None where the model's answer was cut off inside them."""
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return None


_SCHEMA_KEYS = ("parameters", "input_schema", "parametersJsonSchema")
_ARGUMENT_KEYS = ("arguments", "input", "args")


def _named(part: Any, keys: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield each name with what stands under one of the keys beside it, wherever the provider has them."""
    if isinstance(part, dict):
        found = next((part[key] for key in keys if part.get(key)), None)
        if isinstance(part.get("name"), str) and found is not None:
            yield part["name"], found
    for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _named(each, keys)


def _never(_: object) -> None:
    """Stand for a function that nobody calls."""


def _documented(name: str, schema: dict[str, Any]) -> Subject | None:
    """Return the subject of a schema that somebody else wrote, if it is one of JSON Schema."""
    try:
        return subject_of(document_tool(_never, schema, name=name, description="x"))
    except SchemaError:
        return None


# --- of the Berkeley Function Calling Leaderboard, where somebody downloaded it ------------------------

_SCALARS = {"string": str, "integer": int, "float": float, "number": float, "boolean": bool}
SETS = ("simple_python", "live_simple")


def leaderboard_calls(wheel: Path) -> list[RightCall]:
    """Return the expected calls of functions with one right answer; each function as a class."""
    return _right(_leaderboard(wheel))


def _leaderboard(wheel: Path) -> Iterator[tuple[Subject, Any]]:
    with ZipFile(wheel) as archive:
        for name in SETS:
            functions, answers = (
                [json.loads(line) for line in archive.read(f"bfcl_eval/data/{path}").splitlines()]
                for path in (f"BFCL_v4_{name}.json", f"possible_answer/BFCL_v4_{name}.json")
            )
            right = {row["id"]: row["ground_truth"][0] for row in answers}
            for row in functions:
                (function,) = row["function"]
                name_of_tool = re.sub(r"[^A-Za-z0-9_-]", "_", function["name"])
                try:
                    made = _class_of(function["parameters"], name_of_tool)
                    subject = subject_of(tool_input(made, name=name_of_tool))
                except (SchemaError, TypeError, ValueError):
                    continue
                yield subject, _expected(right[row["id"]][function["name"]])


def _class_of(schema: dict[str, Any], name: str) -> type:
    required = schema.get("required", [])
    members: list[Any] = []
    for key, part in schema["properties"].items():
        metadata = {"alias": key}
        attribute = f"p{len(members)}"
        if key in required:
            members.append((attribute, _type_of(part, key), field(metadata=metadata)))
        else:
            members.append((attribute, _type_of(part, key) | None, field(default=None, metadata=metadata)))
    return make_dataclass("Arguments", members, kw_only=True, namespace={"__doc__": name})


def _type_of(part: dict[str, Any], key: str) -> Any:
    if part.get("enum"):
        return Literal[tuple(part["enum"])]
    kind = part["type"]
    if kind in _SCALARS:
        return _SCALARS[kind]
    if kind in {"array", "tuple"}:
        return list[_type_of(part["items"], key)]  # type: ignore[misc]  # made anew for each
    if kind == "dict" and part.get("properties"):
        return _class_of(part, key)
    return dict[str, Any]


def _expected(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the first of the values that are right for each parameter."""
    return {key: _first(values[0]) for key, values in answer.items() if values and values[0] != ""}


def _first(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _first(inner[0]) for key, inner in value.items() if isinstance(inner, list) and inner}
    return [_first(item) for item in value] if isinstance(value, list) else value


# --- tools like those of agents, with values like those of people --------------------------------------


@dataclass
class Place:
    """A place."""

    city: str
    country: str = "France"


@dataclass
class Line:
    """A line of an order."""

    product_id: str
    quantity: int
    gift: bool = False


@dataclass
class ConvertCurrency:
    """Convert an amount of money."""

    amount: float
    from_currency: Literal["EUR", "USD", "GBP", "JPY"]
    to_currency: Literal["EUR", "USD", "GBP", "JPY"]


@dataclass
class GetForecast:
    """Get the weather of the coming days."""

    location: Place
    start_date: date
    days: int = 3
    units: Literal["metric", "imperial"] = "metric"
    include_hourly: bool = False


@dataclass
class CreateTicket:
    """Create a ticket."""

    title: str
    status: Literal["open", "in_progress", "closed", "wont_fix"]
    priority: Literal["low", "medium", "high", "critical"]
    assignees: list[str]
    due: date
    is_public: bool
    estimate_hours: float = 1.0


@dataclass
class PlaceOrder:
    """Order some products."""

    customer_id: int
    lines: list[Line]
    ship_to: Place
    express: bool
    coupons: list[str] = field(default_factory=list)


@dataclass
class BookRoom:
    """Book a meeting room."""

    building: str
    floors: list[int]
    starts_at: datetime
    ends_at: datetime
    seats: int
    equipment: list[Literal["projector", "whiteboard", "phone", "video"]]


@dataclass
class SetAlarm:
    """Set an alarm."""

    at: LocalDateTime
    weekdays: list[Literal["monday", "tuesday", "friday", "sunday"]]
    volume: int
    vibrate: bool


@dataclass
class SearchFlats:
    """Search flats to rent."""

    district: str
    max_rent: int
    min_rooms: float
    available_from: date
    furnished: bool
    years_built: list[int]


@dataclass
class PlotPoints:
    """Plot some points."""

    xs: list[float]
    ys: list[float]
    labels: list[str]
    kind: Literal["line", "scatter", "bar"]
    log_scale: bool


@dataclass
class Resize:
    """Resize an image."""

    file_path: str
    width: int
    height: int
    format: Literal["png", "jpeg", "webp"] = "png"


@dataclass
class Feed:
    """Read the newest entries of a feed."""

    query: str = "*"
    most_results: int = 10
    sorted_by: Literal["newest", "oldest", "relevance"] = "newest"
    since: date | None = None
    authors: list[str] = field(default_factory=list)


AGENT_TOOLS = {
    "convert_currency": ConvertCurrency,
    "get_forecast": GetForecast,
    "create_ticket": CreateTicket,
    "place_order": PlaceOrder,
    "book_room": BookRoom,
    "set_alarm": SetAlarm,
    "search_flats": SearchFlats,
    "plot_points": PlotPoints,
    "resize_image": Resize,
    "read_feed": Feed,
}
_WORDS = ("Paris", "Ada Lovelace", "blue", "north wing", "report.pdf", "Lyon", "maria_42", "urgent", "Bob")


def agent_calls(number: int, seed: int) -> list[RightCall]:
    """Make some calls of each of these tools."""
    rng = repeatable(seed)
    return _right(
        (subject, sampled(subject.schema, rng)) for subject in _agent_subjects() for _ in range(number)
    )


@cache
def _agent_subjects() -> list[Subject]:
    return [subject_of(tool_input(cls, name=name)) for name, cls in AGENT_TOOLS.items()]


def sampled(schema: dict[str, Any], rng: Random) -> Any:
    """Return a value as people mean them, for one of the schemas above."""
    if "enum" in schema:
        return rng.choice(schema["enum"])
    day = f"20{rng.randint(24, 29)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
    clock = f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:00"
    match schema["type"], schema.get("format"):
        case "object", _:
            required = schema.get("required", [])
            kept = [key for key in schema["properties"] if key in required or rng.random() < 0.7]
            return {key: sampled(schema["properties"][key], rng) for key in kept}
        case "array", _:
            items = [sampled(schema["items"], rng) for _ in range(rng.choice([1, 2, 2, 3, 3, 4]))]
            return [item for index, item in enumerate(items) if item not in items[:index]]
        case "string", "date":
            return day
        case "string", "date-time":
            return f"{day}T{clock}{rng.choice(['Z', '+01:00', '-05:00'])}"
        case "string", _:
            return f"{day}T{clock}" if "pattern" in schema else rng.choice(_WORDS)
        case "integer", _:
            return rng.choice([1, 2, 7, 12, 50, 300, 1500, 20000])
        case "number", _:
            return rng.choice([0.5, 2.5, 12.0, 99.99, 1200.0, 3])
        case _:
            return rng.random() < 0.5
