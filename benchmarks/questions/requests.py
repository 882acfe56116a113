"""What does it cost to offer 100 tools in a request?"""

from __future__ import annotations

import json
import marshal
import pickle
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from operator_schema import Toolset, tool
from operator_schema.json_values import copy_json
from operator_schema.providers import openai_chat

from .. import functions_, types_
from ..contestants import OURS
from ..measure import Entry, Plan, check, fresh, hot, race

if TYPE_CHECKING:
    from collections.abc import Callable

TITLE = "A request with 100 tools"
HOW = (
    "Chat Completions, the caller's own dict each time. In the first request, schemas are made. Later ones "
    "copy what each tool keeps; the other rows are other ways to copy the same 100 dicts. `small` tools have "
    "one parameter, a text"
)
UNIT = "s"

TOOLS = 100


def run(plan: Plan) -> dict[str, dict[str, Entry]]:
    """Measure the first request and those after it."""
    kinds = {"functions of these benchmarks": tools, "small": small_tools}
    results: dict[str, dict[str, Entry]] = {}
    for kind, make in kinds.items():
        results[f"first, {kind}"] = race(f"first request, {kind}", {OURS: fresh(make, _request, 1)}, plan)
        results[f"later, {kind}"] = race(f"later request, {kind}", _later(make(), plan), plan)
    strict = Toolset(*small_tools()).offer(strict=True)
    openai_chat.request(strict)
    entrants = {OURS: hot(openai_chat.request, strict, plan.seconds)}
    return results | {"later, small, strict": race("strict request", entrants, plan)}


def tools() -> list[Any]:
    """Make fresh tools of the three functions."""
    functions = (functions_.geo_search, functions_.parse_url, functions_.create_event)
    names = {**vars(types_), "datetime": types_.datetime, "UUID": types_.UUID, "Literal": types_.Literal}
    return [tool(functions[number % 3], name=f"tool_{number}", namespace=names) for number in range(TOOLS)]


def small_tools() -> list[Any]:
    """Make fresh tools with one parameter."""

    def search(query: str) -> str:
        """Search the web."""
        return query

    return [tool(search, name=f"tool_{number}") for number in range(TOOLS)]


def _request(offered: list[Any]) -> dict[str, Any]:
    return openai_chat.request(offered)


def _later(made: list[Any], plan: Plan) -> dict[str, Callable[[], float]]:
    offered = Toolset(*made)
    body = openai_chat.request(offered)
    for _ in range(30):
        check(lambda: openai_chat.request(offered), lambda sent: sent == body)
    written, pickled, text = marshal.dumps(body), pickle.dumps(body, 5), json.dumps(body)
    ways: dict[str, tuple[Callable[[Any], Any], Any]] = {
        OURS: (openai_chat.request, offered),
        "marshal": (marshal.loads, written),
        "pickle": (pickle.loads, pickled),
        "part by part": (copy_json, body),
        "json": (json.loads, text),
        "copy.deepcopy": (deepcopy, body),
    }
    return {name: hot(function, given, plan.seconds) for name, (function, given) in ways.items()}
