"""Run the calls of a recorded conversation through an executor, and show the results."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from airline import Airline, sample_airline
from airline_functions import registry
from layout import shortened, wrapped

from operator_schema import Executor, RawCall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from operator_schema import ToolResult

CALLS = Path(__file__).parent / "data" / "calls.jsonl"
CONVERSATION = range(1, 9)
"""The lines of the first conversation in that file: a booking that is first paid too little, then enough."""

_INDENT = " " * 5


def recorded_calls() -> list[RawCall]:
    """Read the calls that the model made in the conversation."""
    with CALLS.open(encoding="utf-8") as file:
        lines = [json.loads(line) for number, line in enumerate(file, 1) if number in CONVERSATION]
    return [RawCall(line["id"], line["name"], line["arguments"]) for line in lines]


def replay(calls: Iterable[RawCall], airline: Airline) -> list[ToolResult]:
    """Run calls one after the other, as the model made them."""
    executor = Executor(registry())
    return [executor.run_sync(call, context={Airline: airline}) for call in calls]


def show_replay() -> None:
    """Print the calls of the conversation, each with its result or the reason why there is none."""
    calls = recorded_calls()
    results = replay(calls, sample_airline())
    write = _writer()
    write(f"\nA recorded conversation, run on a small airline in memory: {len(calls)} calls", "bold")
    for call, result in zip(calls, results, strict=True):
        write("\n" + wrapped(shortened(f"{call.name} {call.arguments}"), "  -> ", _INDENT), "cyan")
        content = shortened(result.content) or "(nothing)"
        write(wrapped(content, "  <- ", _INDENT), "red" if result.is_error else "green")
        if result.code is not None:
            write(f"{_INDENT}{result.code}", "dim")
    failed = sum(result.is_error for result in results)
    write(f"\n{len(results)} results, {failed} of them an error", "bold")


def _writer() -> Callable[[str, str], None]:
    """Return a function that prints a line in a style; in colour on a terminal with `rich`."""
    if sys.stdout.isatty():
        try:
            from rich.console import Console  # noqa: PLC0415  # an extra
            from rich.text import Text  # noqa: PLC0415  # an extra
        except ImportError:
            pass
        else:
            console = Console(soft_wrap=True)
            return lambda line, style: console.print(Text(line, style))
    return lambda line, _: print(line)
