"""Register the airline's tools, decode the calls that GPT-4o made, show a bad call, run two conversations.

The exit status is 1 if a call of the file fails.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from airline_tools import TOOLS
from layout import wrapped
from replay import show_replay

from operator_schema import Codec, DecodeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CALLS = Path(__file__).parent / "data" / "calls.jsonl"
SHOWN_FAILURES = 10


@dataclass
class Call:
    """One line of the calls file: a call as the model made it."""

    id: str
    name: str
    arguments: str

    def __post_init__(self) -> None:
        """Refuse a tool that the airline doesn't have."""
        if self.name not in TOOLS:
            message = f"the airline has no tool {self.name!r}"
            raise ValueError(message)


@dataclass
class Row:
    """One tool's line in the table; `seconds` is the time that its registration took."""

    codec: Codec[Any]
    seconds: float
    decoded: int = 0
    failed: int = 0

    def __str__(self) -> str:
        """Write the line in the columns of `HEAD`."""
        schema = json.dumps(self.codec.json_schema(), separators=(",", ":"))
        return _columns(
            self.codec.name,
            len(fields(self.codec.type)),
            len(schema.encode()),
            f"{self.seconds * 1000:.2f} ms",
            self.decoded,
            self.failed,
        )


def _columns(name: str, *cells: object) -> str:
    number, size, time, decoded, failed = cells
    return f"{name:<30}{number:>7}{size:>8}{time:>13}{decoded:>9}{failed:>9}"


HEAD = _columns("tool", "fields", "bytes", "registered", "decoded", "failed")


def register() -> dict[str, Row]:
    """Register every tool, with the time that each takes."""
    rows: dict[str, Row] = {}
    for name, input_type in TOOLS.items():
        start = perf_counter()
        codec = Codec(input_type, name=name)
        rows[name] = Row(codec, perf_counter() - start)
    return rows


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Read the lines of a calls file with their numbers."""
    with path.open(encoding="utf-8") as file:
        yield from enumerate(file, 1)


def decode_calls(rows: dict[str, Row], path: Path) -> list[str]:
    """Decode every call of a file, counting in the rows.

    Args:
        rows: the registered tools by name; each call is counted in the row of its tool.
        path: path of the calls file, with one call on each line.

    Returns:
        A report for each call that failed, in the order of the file.
    """
    failures: list[str] = []
    call_codec = Codec(Call, name="call")
    for number, line in read_lines(path):
        row = None
        try:
            call = call_codec.decode_json(line)
            row = rows[call.name]
            row.codec.decode_json(call.arguments)
        except DecodeError as error:
            failures.append(f"line {number}: {error}")
            if row is not None:
                row.failed += 1
        else:
            row.decoded += 1
    return failures


def first_booking() -> dict[str, Any]:
    """Return the arguments of the first call of `book_reservation` that the model made."""
    calls = (json.loads(line) for _, line in read_lines(CALLS))
    arguments: dict[str, Any] = next(
        json.loads(call["arguments"]) for call in calls if call["name"] == "book_reservation"
    )
    return arguments


DAMAGES = (
    ("cabin", "a choice misspelt"),
    ("passengers[0].dob", "an object where a string belongs, deep inside"),
    ("total_baggages", "a number sent as a string"),
    ("insurance", "a required key left out"),
)


def damage(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a booking's arguments with all of `DAMAGES` done to it."""
    damaged = copy.deepcopy(arguments)
    damaged["cabin"] = "econmy"
    damaged["passengers"][0]["dob"] = {"year": 1990, "month": 4, "day": 5}
    damaged["total_baggages"] = str(damaged["total_baggages"])
    del damaged["insurance"]
    return damaged


def reply(codec: Codec[Any], arguments: dict[str, Any]) -> str:
    """Return the report for the model about arguments that don't fit."""
    try:
        codec.decode_json(json.dumps(arguments))
    except DecodeError as error:
        return str(error)
    message = "arguments that were damaged did decode"
    raise AssertionError(message)


def show_calls(rows: dict[str, Row], failures: list[str], seconds: float) -> None:
    """Print the table of the tools, and the calls that failed."""
    print(HEAD)
    print("-" * len(HEAD))
    for row in rows.values():
        print(row)
    decoded = sum(row.decoded for row in rows.values())
    print("-" * len(HEAD))
    print(f"{decoded:,} calls read and decoded in {seconds * 1000:.0f} ms, {len(failures):,} failed")
    for failure in failures[:SHOWN_FAILURES]:
        print("\n" + wrapped(failure, rest="  "))
    if len(failures) > SHOWN_FAILURES:
        print(f"\n... and {len(failures) - SHOWN_FAILURES:,} more")


def show_damage(codec: Codec[Any]) -> None:
    """Print a real call that was damaged, and the report for the model."""
    damaged = damage(first_booking())
    print(f"\nA real call of {codec.name}, damaged on purpose in four ways:\n")
    for path, what in DAMAGES:
        print(f"  {path:<20}{what}")
    print()
    print(wrapped(json.dumps(damaged), "  ", "  "))
    print("\nThe report for the model:\n")
    print(wrapped(reply(codec, damaged), rest="  "))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo.

    Args:
        argv: the arguments of the command line; those of the process by default.

    Returns:
        The exit status: 0 if every call decoded, else 1.
    """
    parser = argparse.ArgumentParser(description="Decode the airline calls that GPT-4o made.")
    parser.add_argument("calls", nargs="?", type=Path, default=CALLS, help="a file, one call a line")
    path: Path = parser.parse_args(argv).calls
    if not path.is_file():
        parser.error(f"the file {path} doesn't exist")
    rows = register()
    start = perf_counter()
    failures = decode_calls(rows, path)
    show_calls(rows, failures, perf_counter() - start)
    show_damage(rows["book_reservation"].codec)
    show_replay()
    if path == CALLS:
        from approval import show_approval  # noqa: PLC0415  # some Pythons have no sqlite3

        show_approval()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
