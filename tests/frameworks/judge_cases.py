"""What the judges get: tools of every kind, choices, results, and turns that were recorded."""

from __future__ import annotations

import base64
import json
import sys
from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cache
from ipaddress import IPv4Address
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypedDict
from uuid import UUID

from annotated_types import Ge, Len, Lt, MultipleOf

from operator_schema import SchemaError, ToolResult, Toolset, Transcript, tool, tool_input
from operator_schema.content import Audio, File, Image, Resource, Text

sys.path.append(str(Path(__file__).parents[1]))
sys.path.append(str(Path(__file__).parents[1] / "providers"))
from provider_traffic import exchanges, provider_of, streamed, unstreamed
from test_answers import calls_anywhere, parsed, without_tools
from test_follow_ups import SENT_OTHERWISE, accepted, all_paths, answered


class Color(Enum):
    """A color."""

    RED = "red"
    BLUE = "blue"


class Mixed(Enum):
    """Values of several types."""

    ONE = 1
    TWO = "two"


@dataclass
class Point:
    """A place.

    Args:
        x: To the right.
    """

    x: float
    y: float = 0.0


@dataclass
class Node:
    """A node of a tree."""

    name: str
    children: list[Node] = field(default_factory=list)


class Options(TypedDict, total=False):
    """Some options."""

    deep: bool
    limit: int


class Pair(NamedTuple):
    """Two values."""

    first: str
    second: int = 0


@dataclass
class Circle:
    """A circle."""

    kind: Literal["circle"]
    radius: float


@dataclass
class Square:
    """A square."""

    kind: Literal["square"]
    side: float


ANNOTATIONS = [
    str, int, float, bool, None, Any, object, bytes, date, datetime, time, timedelta, Decimal, Fraction,
    UUID, Path, IPv4Address, Color, Mixed, Literal["a", "b"], Literal[1, "b", True, None], Point, Node,
    Options, Pair, Circle | Square, list[int], list[Any], list, dict, set[str], frozenset[int],
    tuple[int, ...], tuple[int, str], tuple[int, int], tuple[()], dict[str, int], dict[str, Point],
    dict[Color, int], OrderedDict[str, int], deque[int], Mapping[str, str], Sequence[Point], int | None,
    str | int, Point | None, list[Point | None] | None, Color | None, dict[str, list[int]] | None,
    Annotated[int, Ge(1), Lt(10)], Annotated[float, MultipleOf(0.5)], Annotated[str, Len(1, 5)],
    Annotated[list[int], Len(2, 3)], Annotated[str, 'A text with "quotes" and ünïcödé 🎉.'],
]  # fmt: skip
"""Every kind of annotation."""


def _function(annotation, number, **options):
    def use(value, other=None):
        return value

    use.__annotations__ = {
        "value": annotation,
        "other": annotation | None if annotation is not None else None,
    }
    use.__doc__ = "Use a value."
    return tool(name=f"use_{number}", **options)(use)


@cache
def tools():
    """List a tool for each annotation, and tools whose whole input is a type."""
    found = []
    for number, annotation in enumerate(ANNOTATIONS):
        try:
            found.append(_function(annotation, number))
        except (SchemaError, TypeError):
            continue  # no tool either
    found += [
        tool_input(kind, name=f"input_{kind.__name__}", description="An input.")
        for kind in (Point, Node, Options)
    ]
    found.append(tool_input(Circle | Square, name="draw", description="Draw."))

    @tool(name="nothing")
    def nothing():
        """Do nothing."""

    @tool(name="9-lives")
    def lives(count: int):
        """Count lives."""

    return [*found, nothing, lives]


def requests(provider, *, strict):
    """Yield requests: each tool alone with each choice, and all tools that the provider takes."""
    taken = []
    for found in tools():
        try:
            body = provider.request(Toolset(found).offer(strict=strict))
        except SchemaError:
            continue
        taken.append(found)
        yield body
        for required in ("any", "none", found):
            yield provider.request(Toolset(found).offer(required=required, strict=strict))
    if not strict:
        yield provider.request(taken)


PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
PARTS = [
    (Text("see"),),
    (Text(""),),
    (Text("see"), Image(PNG, "image/png")),
    (Image(b"\xff\xd8\xff" + bytes(20), "image/jpeg"), Text("see")),
    (Image(b"GIF89a" + bytes(20), "image/gif"), Image(PNG, "image/png")),
    (Image(b"RIFF\x18\x00\x00\x00WEBPVP8 " + bytes(20), "image/webp"),),
    (Image(b"II*\x00" + bytes(20), "image/tiff"),),
    (Audio(b"RIFF\x18\x00\x00\x00WAVEfmt " + bytes(20), "audio/wav"), Text("hear")),
    (File(b"%PDF-1.7", "application/pdf"),),
    (Resource("file:///tmp/a.txt"),),
]


def results():
    """List results of every kind: text, errors, images, what isn't text."""
    texts = ["found", "", '{"a":[1,null]}', "ünïcödé 🎉 \ud83d", "x" * 10_000, "null"]
    found = [ToolResult("call_1", "use_0", text) for text in texts]
    found += [ToolResult("call_1", "use_0", text, is_error=True, code="execution_failed") for text in texts]
    for is_error in (False, True):
        code = "execution_failed" if is_error else None
        found += [
            ToolResult("call_1", "use_0", "see", is_error=is_error, code=code, parts=parts) for parts in PARTS
        ]
    return found


def turns(provider):
    """List the turns after the recorded answers of a provider: the answer's own message, and results."""
    found = []
    read = [
        provider.answer(exchange["response"], [])
        for exchange in unstreamed()
        if provider_of(exchange) is provider
    ]
    for exchange in streamed():
        if provider_of(exchange) is provider:
            is_text = exchange["response_encoding"] == "text"
            stream = provider.stream([])
            stream.feed(exchange["response"] if is_text else base64.b64decode(exchange["response"]))
            read.append(stream.close())
    for answer in read:
        given = [ToolResult(call.id, call.name, "found") for call in answer.calls]
        found.append([*answer.message, *provider.results(given)])
        if answer.calls:
            # What a program says that has no message of the model.
            found.append([*provider.wire.calls_message(answer.calls), *provider.results(given)])
    return found


@cache
def said():
    """List the recorded answers with calls, each as a committed turn."""
    read = [provider_of(exchange).answer(exchange["response"], []) for exchange in unstreamed()]
    offer = Toolset(tools()[0]).offer()
    return [
        offer.round(answer).confirmed().reject_open("no").commit(Transcript())
        for answer in read
        if answer.calls and not any(call.caller for call in answer.calls)
    ]


def moves(provider):
    """Yield a conversation for each turn of another provider: it goes on with this one."""
    offer = Toolset(tools()[0]).offer()
    for turn in said():
        if turn.provider != provider.name:
            yield provider.request(offer, ["Find x.", turn, "Go on."])[provider.wire.HISTORY]


def answers(provider):
    """List the recorded answers with calls that came unstreamed: text, and what our provider reads."""
    found = []
    for exchange in unstreamed():
        if provider_of(exchange) is provider and exchange["provider"] in {"anthropic", "gemini", "openai"}:
            answer = provider.answer(exchange["response"], [])
            if answer.calls:
                found.append((exchange["response"], answer))
    return found


def streams(provider):
    """List the recorded streams with calls, as text that this version of google-genai knows."""
    found = []
    for exchange in streamed():
        if provider_of(exchange) is provider and exchange["provider"] in {"anthropic", "gemini", "openai"}:
            stream = provider.stream([])
            stream.feed(exchange["response"])
            if stream.close().calls:
                found.append(exchange["response"].replace('"serviceTier":"standard",', ""))
    return found


FOLDERS = sorted({exchange["provider"] for exchange in exchanges()})


def recorded(folder):
    """Compare what is read of a folder of recordings with an independent reading of it.

    Yields:
        What was compared, how often, and where it differs.
    """
    own = [found for found in unstreamed() if found["provider"] == folder]
    differing = []
    for exchange in own:
        found = provider_of(exchange).answers(exchange["response"], [])
        calls = [(call.name, parsed(call.arguments)) for answer in found for call in answer.calls]
        if calls != calls_anywhere(without_tools(json.loads(exchange["response"]))):
            differing.append(exchange["cassette"])
    yield "answers", len(own), differing
    own = [found for found in streamed() if found["provider"] == folder]
    differing = []
    for exchange in own:
        is_text = exchange["response_encoding"] == "text"
        stream = provider_of(exchange).stream([])
        stream.feed(exchange["response"] if is_text else base64.b64decode(exchange["response"]))
        answer = stream.close()
        names = [call.name for call in answer.calls]
        if not stream.is_complete or any(name not in exchange["response"] for name in names if is_text):
            differing.append(exchange["cassette"])
    yield "streams", len(own), differing
    turns = [turn for turn in accepted() if turn[0]["provider"] == folder]
    compared = [(turn, answer) for turn in turns if (answer := answered(turn[3], turn[1])) is not None]
    others = SENT_OTHERWISE.get(folder, set())
    differing = [
        turn[0]["cassette"]
        for turn, answer in compared
        if not all_paths(turn[1]) - others <= all_paths(answer.message)
    ]
    yield "turns that were accepted", len(compared), differing
