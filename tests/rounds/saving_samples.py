"""Tools, plans and steps for the tests of saving and restoring."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import InitVar, dataclass, field
from typing import Annotated, Any, NotRequired, TypedDict
from uuid import uuid4

import pytest
from round_samples import done

from operator_schema import Executor, NeedsInput, RawCall, SchemaLeaf, Toolset, skip, tool, tool_input
from operator_schema.content import Audio, File, Image, Resource, Text
from operator_schema.rounds import RestoreError
from operator_schema.rounds.signatures import digests_with, what_is_signed
from operator_schema.types import RawArguments

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
WAV = b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes(20)
SECRET = b"32 bytes of a key, kept by tests"

ran: list[str] = []
"""Names of the tools that were run."""


@dataclass
class Leg:
    origin: str
    stops: list[str] = field(default_factory=list)


@tool
def book(leg: Leg, seats: int = 1) -> str:
    ran.append("book")
    return f"{seats} from {leg.origin}"


@tool(confirm=True)
def cancel(booking: str, note: str = "") -> str:
    ran.append("cancel")
    return f"cancelled {booking} {note}".strip()


@tool
def anything(value: Any) -> Any:
    ran.append("anything")
    return value


@tool
def choose(booking: str, seat: Annotated[str | None, skip] = None) -> str:
    ran.append("choose")
    if seat is None:
        message = "Which seat?"
        raise NeedsInput(message, parameter="seat")
    return f"{booking}: {seat}"


@tool
def parts() -> Any:
    ran.append("parts")
    return [
        "a text",
        Text(""),
        Image(PNG, "image/png"),
        Audio(WAV, "audio/wav"),
        File(b"%PDF-1.7\n", "application/pdf", "bill.pdf"),
        File(b"abc", "application/octet-stream"),
        Resource("file:///a.txt", text="hello"),
        Resource("file:///a.bin", data=b"\x00\x01"),
        Resource("https://example.com/x"),
    ]


class Options(TypedDict):
    origin: NotRequired[str]
    seats: NotRequired[int]


@tool_input
class Search(TypedDict):
    options: Options


@tool_input
@dataclass
class Tags:
    names: set[int]


@tool_input
class Filters(TypedDict, total=False):
    city: str
    seats: int


@tool_input
@dataclass
class WithSeed:
    x: int
    seed: InitVar[int]
    doubled: int = field(init=False, default=0)

    def __post_init__(self, seed: int) -> None:
        self.doubled = 2 * seed


@tool_input
@dataclass
class WithDefaultSeed:
    x: int
    seed: InitVar[int] = 1
    doubled: int = field(init=False, default=0)

    def __post_init__(self, seed: int) -> None:
        self.doubled = 2 * seed


@tool_input
@dataclass
class Drawn:
    x: int
    request_id: str = field(default_factory=lambda: uuid4().hex)


@tool_input
@dataclass(eq=False)
class Plain:
    value: Any


@tool_input
@dataclass
class Tree:
    name: str
    children: list[Tree] = field(default_factory=list)


@dataclass
class Cat:
    lives: int


@dataclass
class Dog:
    tricks: list[str]


@tool_input
@dataclass
class Adopt:
    pet: Cat | Dog
    price: int | float = 0


class Money:
    def __init__(self, cents: int) -> None:
        self.cents = cents

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Money) and other.cents == self.cents

    __hash__ = None


def written(money: Money) -> int:
    if money.cents > 100:
        message = "it can't be written"
        raise ValueError(message)
    return money.cents


@tool_input(leaves=[SchemaLeaf(Money, {"type": "integer"}, Money, written, Money(5))])
@dataclass
class Pay:
    price: Money


@tool_input
@dataclass(eq=False)
class Incomparable:
    x: int
    seed: InitVar[int]

    def __eq__(self, other: object) -> bool:
        raise NotImplementedError

    __hash__ = None


made: list[int] = []


@tool_input
@dataclass
class Once:
    x: int

    def __post_init__(self) -> None:
        made.append(self.x)
        if len(made) > 1:
            message = "this booking is taken"
            raise ValueError(message)


@tool
def forward(arguments: RawArguments) -> str:
    return ", ".join(arguments.arguments)


TOOLS = Toolset(
    book,
    cancel,
    anything,
    choose,
    parts,
    Search,
    Filters,
    Tags,
    WithSeed,
    WithDefaultSeed,
    Drawn,
    Plain,
    Tree,
    Adopt,
    Pay,
    Incomparable,
    Once,
    forward,
)
EXECUTOR = Executor(TOOLS)


def calls(*given: tuple[str, Any]) -> list[RawCall]:
    """Return calls with the ids c0, c1, …"""
    return [RawCall(f"c{index}", name, arguments) for index, (name, arguments) in enumerate(given)]


def planned(*given: tuple[str, Any], toolset: Toolset[Any] = TOOLS, hooks: Any = None) -> Any:
    """Return the plan of a turn after its hooks."""
    return done(toolset.offer().round(calls(*given)).apply(hooks))


def executed(plan: Any, **options: Any) -> Any:
    """Return a plan after what is pending has been run."""
    if sys.platform == "emscripten":
        pytest.skip("WebAssembly has no event loop inside a call", allow_module_level=True)
    return asyncio.run(EXECUTOR.run(plan, **options))


def mixed() -> Any:
    """Return a plan with a call in each state."""
    plan = executed(
        planned(
            ("book", {"leg": {"origin": "MUC"}}),
            ("cancel", {"booking": "7KQ"}),
            ("cancel", {"booking": "9XB"}),
            ("anything", {"value": [1, 2.5, None, {"a": "ü"}]}),
            ("nothing", {}),
            ("book", {"leg": 5}),
            ("choose", '{"booking": "1"}'),
            ("cancel", {"booking": "2AA"}),
        )
    )
    changed = plan.deferred[-1].input
    changed.note = "by hand"
    return plan.reject("c1", "too late").approve("c7", input=changed)


def through_text(data: Any) -> Any:
    """Return data as they come back from a column of text."""
    return json.loads(json.dumps(data, allow_nan=False))


def restored(plan: Any, toolset: Toolset[Any] = TOOLS, secret: bytes | None = None) -> Any:
    """Return a plan after it was saved as text and restored."""
    return toolset.restore_round(through_text(plan.as_dict(secret=secret)), secret=secret)


def refused(data: Any, toolset: Toolset[Any] = TOOLS, secret: bytes | None = None) -> RestoreError:
    """Return why data aren't restored."""
    try:
        toolset.restore_round(data, secret=secret)
    except RestoreError as error:
        return error
    message = "it was restored"
    raise AssertionError(message)


def problems(error: RestoreError) -> list[tuple[str, str | None]]:
    """Return code and call of what no longer fits."""
    return [(problem.code, problem.call_id) for problem in error.findings]


def saved(plan: Any, secret: bytes | None = None) -> Any:
    """Return a plan as it comes back from a column of text."""
    return through_text(plan.as_dict(secret=secret))


def resealed(data: Any, secret: bytes | None = None) -> Any:
    """Make the digests right again, as somebody does who changes data on purpose."""
    digest = digests_with(secret)[0]
    for call in data["calls"]:
        call["digest"] = digest(call)
    data["digest"] = digest(what_is_signed({key: value for key, value in data.items() if key != "digest"}))
    return data


def nested(levels: int) -> Any:
    """Return arrays in arrays."""
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value
