"""Eleven turns that every adapter goes through, in its framework's own loop.

A test of an adapter has a table `TURNS` from the name of a turn to what happens in it: `OURS` where all is as
everywhere, otherwise what the framework does instead, which a test of its own shows. Its `SCHEMA` says in the
same way what the framework makes of our schemas. Together they are tables of the page about frameworks: see
`turn_table.py`.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Annotated, Any, NamedTuple

from operator_schema import CallError, skip, tool
from operator_schema.content import Image
from operator_schema.schema.framework_changes import schema_changes

OURS = "ours"

NAMES = (
    "good",
    "problems",
    "malformed",
    "unknown",
    "call_error",
    "exception",
    "parallel",
    "context",
    "cancelled",
    "rich",
    "approval",
)


class Answer(NamedTuple):
    """What the model reads of a call."""

    text: str
    is_error: bool | None = None  # where the framework says it
    has_image: bool = False


class Call(NamedTuple):
    name: str
    arguments: Any


class Priority(Enum):
    LOW = "low"
    HIGH = "high"


@dataclass
class Person:
    name: str
    email: str


class Db:
    """Something that the host gives."""

    rows = 7


@tool
def add(a: int, b: int = 0) -> int:
    """Add.

    Args:
        a: One.
        b: Another.
    """
    return a + b


@tool(destructive=False)
def book(
    title: str, start: datetime, priority: Priority, attendees: list[Person], room: str | None = None
) -> str:
    """Book a meeting.

    Args:
        title: What it is about.
        start: When it begins.
        priority: How much it matters.
        attendees: Who comes.
        room: Where; None for any room.
    """
    return f"{title}: {start:%H:%M}, {priority.value}, {len(attendees)}"


@tool
def refuse() -> str:
    """Refuse."""
    raise CallError("the room is taken")


@tool
def crash() -> str:
    """Crash."""
    raise ValueError("a secret")


@tool
async def wait(seconds: float) -> float:
    """Wait.

    Args:
        seconds: How long.
    """
    await asyncio.sleep(seconds)
    return seconds


@tool
def count(db: Annotated[Db, skip]) -> list[int]:
    """Count."""
    return [db.rows]


@tool
def look() -> Any:
    """Look."""
    return ["Here:", Image.from_bytes(PNG)]


wiped: list[str] = []


@tool(confirm=True)
def wipe(path: str) -> str:
    """Wipe a folder.

    Args:
        path: Which one.
    """
    wiped.append(path)
    return f"wiped {path}"


PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
TOOLS = [add, book, refuse, crash, wait, count, wipe, look]
CONTEXT = {Db: Db()}

WRONG = {"title": 5, "start": "tomorrow", "priority": "hihg", "attendees": [{"name": "Ada"}]}
CALLS = {
    "good": [Call("add", {"a": 2, "b": 3})],
    "problems": [Call("book", WRONG)],
    "malformed": [Call("add", '{"a": 2, "b": ')],
    "unknown": [Call("ad", {"a": 2})],
    "call_error": [Call("refuse", {})],
    "exception": [Call("crash", {})],
    "parallel": [Call("wait", {"seconds": 0.02}), Call("add", {"a": 1}), Call("add", {"a": "x"})],
    "context": [Call("count", {})],
    "rich": [Call("look", {})],
    "approval": [Call("wipe", {"path": "a"})],
}
SAID = {
    "good": ["5"],
    "problems": ["book: 4 problems with the arguments"],
    "malformed": ["not valid JSON: the text ends early"],
    "unknown": ['tool "ad" not found; did you mean "add"?'],
    "call_error": ["the room is taken"],
    "exception": ["crash failed: ValueError"],
    "parallel": ["0.02", "1", "add: 1 problem with the arguments"],
    "context": ["[7]"],
    "rich": ["Here:"],
    "approval": ["wipe was not run: a person has to agree to it first"],
}
FAILS = {"problems", "malformed", "unknown", "call_error", "exception", "approval"}


def check(name: str, answers: list[Answer]) -> None:
    """Check what the model reads in a turn that goes as everywhere."""
    assert len(answers) == len(SAID[name])
    for answer, said in zip(answers, SAID[name], strict=True):
        assert said in answer.text
        fails = name in FAILS or "problem with" in said
        assert answer.is_error in {None, fails}
    assert wiped == []
    if name == "problems":
        text = answers[0].text
        for place in ("title", "start", "priority", "attendees[0].email"):
            assert place in text
    if name == "exception":
        assert "secret" not in answers[0].text
    if name == "rich":
        assert answers[0].has_image


def check_schemas(said: str, sent: dict[str, Any], *more: Any) -> None:
    """Check that the page says whether a framework changes schemas.

    Args:
        said: `SCHEMA` of the adapter's test: `OURS`, or what the framework changes.
        sent: the schemas that it sends, by the names of the tools.
        more: tools beside `TOOLS`.
    """
    tools = {made.name: made for made in [*TOOLS, *more]}
    assert set(sent) == set(tools)
    changed = {name: schema_changes(made, sent[name]) for name, made in tools.items()}
    assert any(changed.values()) == (said != OURS), changed


def turns(table: dict[str, str]) -> list[str]:
    """Return the turns that go as everywhere, without that of cancellation, which each test does itself."""
    assert tuple(table) == NAMES
    return [name for name, what in table.items() if what == OURS and name in CALLS]
