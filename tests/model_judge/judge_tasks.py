"""Tasks with known answers: functions and questions of BFCL, as tools that somebody would have written.

BFCL is the Berkeley Function Calling Leaderboard (Apache License 2.0). The distribution `bfcl-eval` has its
data; `make model-judge` downloads it, and nothing of it is kept here.
"""

from __future__ import annotations

import json
import keyword
import re
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, NotRequired
from zipfile import ZipFile

from typing_extensions import TypedDict

from operator_schema import DecodeError, SchemaError, Tool, tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SETS = ("simple_python", "live_simple")
"""The parts of BFCL in which each question needs one call of the one function that is offered."""

_SCALARS = {"string": str, "integer": int, "float": float, "number": float, "boolean": bool, "any": Any}
_ISO = re.compile(r"\d{4}-\d\d-\d\d")
LEFT_OUT = ""
"""Among accepted values, it says that the argument may be left out."""


class Task(NamedTuple):
    """A question, the tool that it needs, and what the call of that tool must be.

    Attributes:
        id: its name in the data.
        question: what the user says.
        function: the tool as a plain function, for other libraries.
        tool: the tool as ours.
        accepted: for each argument, all values that are right; `LEFT_OUT` among them if it may be left out.
        arguments: one right call.
    """

    id: str
    question: str
    function: Callable[..., Any]
    tool: Tool[..., Any]
    accepted: dict[str, list[Any]]
    arguments: dict[str, Any]

    def decoded(self, arguments: Any, *, repair: bool = False) -> dict[str, Any] | None:
        """Return arguments, as JSON text or a value, as the tool gets them; None if they are refused."""
        codec = self.tool.with_(repair=repair).codec
        read = codec.decode_json if isinstance(arguments, str) else codec.decode
        try:
            encoded: Any = codec.encode(read(arguments))
        except DecodeError:
            return None
        return encoded

    def is_right(self, decoded: dict[str, Any] | None) -> bool:
        """Return whether decoded arguments are what the question asks for.

        What the tool ignores isn't looked at, and an argument that isn't sent may also be its default.
        """
        if decoded is None:
            return False
        defaults = self.tool.input_schema().get("properties", {})
        return all(
            any(same(decoded[name], one) for one in values)
            or (LEFT_OUT in values and decoded[name] == defaults[name].get("default"))
            if name in decoded
            else LEFT_OUT in values
            for name, values in self.accepted.items()
        )


def same(value: Any, accepted: Any) -> bool:
    """Return whether a value is the accepted one, by BFCL's rules: texts but for case and punctuation."""
    if isinstance(value, bool) or isinstance(accepted, bool):
        return value is accepted
    match value, accepted:
        case str(), str():
            return _plain(value) == _plain(accepted)
        case [*values], [*others]:
            return len(values) == len(others) and all(map(same, values, others))
        case {}, {}:
            return value.keys() <= accepted.keys() and all(
                any(same(value[key], one) for one in values) if key in value else LEFT_OUT in values
                for key, values in accepted.items()
            )
    return bool(value == accepted)


def _plain(text: str) -> str:
    return re.sub(r"[ ,./\-_*^]", "", text).lower().replace("'", '"')


def tasks_in(wheel: Path) -> Iterator[Task]:
    """Yield the tasks in a wheel of `bfcl-eval`.

    Left out are functions that can't be written in Python with these names, those whose default doesn't fit
    its own type, and tasks whose answer the function itself doesn't take.
    """
    with ZipFile(wheel) as archive:
        for name in SETS:
            answers = _rows(archive, f"possible_answer/BFCL_v4_{name}")
            wanted = {row["id"]: row["ground_truth"] for row in answers}
            for row in _rows(archive, f"BFCL_v4_{name}"):
                if (task := _task(row, wanted[row["id"]])) is not None:
                    yield task


def _rows(archive: ZipFile, name: str) -> list[Any]:
    return [json.loads(line) for line in archive.read(f"bfcl_eval/data/{name}.json").splitlines()]


def _task(row: dict[str, Any], wanted: list[dict[str, Any]]) -> Task | None:
    ((accepted,),) = [call.values() for call in wanted]
    try:
        function = python_function(row["function"][0], accepted)
        task = Task(row["id"], _question(row), function, tool(function), accepted, one_of(accepted))
    except (SchemaError, SyntaxError):
        return None
    return task if task.is_right(task.decoded(task.arguments)) else None


def _question(row: dict[str, Any]) -> str:
    said = [message for turn in row["question"] for message in turn if message["role"] == "user"]
    return "\n".join([message["content"] for message in said])


def one_of(accepted: dict[str, list[Any]]) -> dict[str, Any]:
    """Return the first accepted value of each argument that has one."""
    first = {
        name: next((one for one in values if one != LEFT_OUT), None) for name, values in accepted.items()
    }
    return {name: _first(value) for name, value in first.items() if value is not None}


def _first(value: Any) -> Any:
    if isinstance(value, list):
        return [_first(one) for one in value]
    return one_of(value) if isinstance(value, dict) else value


def python_function(described: dict[str, Any], accepted: dict[str, list[Any]]) -> Callable[..., Any]:
    """Return a function with type hints and a docstring that has the name and parameters of a description.

    Args:
        described: as BFCL describes functions.
        accepted: the right values: a parameter is a date if its text says so and one of them is one.

    Raises:
        SyntaxError: a name can't be written in Python.
    """
    name, schema = re.sub(r"\W", "_", described["name"])[:60], described["parameters"]
    required = schema.get("required", [])
    fields = dict(sorted(schema["properties"].items(), key=lambda field: field[0] not in required))
    names: dict[str, Any] = {}
    parameters: list[str] = []
    for number, (key, field) in enumerate(fields.items()):
        if not key.isidentifier() or keyword.iskeyword(key):
            raise SyntaxError(key)
        is_date, default = _is_date(field, accepted.get(key, [])), field.get("default")
        hint = date if is_date else _hint(field, f"{name}_{key}")
        default = date.fromisoformat(default) if is_date and default is not None else default
        given = "" if key in required else f" = default_{number}"
        names[f"hint_{number}"] = hint | None if given and default is None else hint
        names[f"default_{number}"] = default
        parameters.append(f"{key}: hint_{number}{given}")
    exec(f"def {name}({', '.join(parameters)}): return None", names)  # noqa: S102  # as somebody writes it
    told = [f"    {key}: {_line(field.get('description', key))}" for key, field in fields.items()]
    function: Callable[..., Any] = names[name]
    function.__doc__ = "\n".join([_line(described["description"]), "", "Args:", *told])
    return function


def _is_date(field: dict[str, Any], accepted: list[Any]) -> bool:
    is_one = any(isinstance(text, str) and _ISO.fullmatch(text) for text in accepted)
    return is_one and "yyyy-mm-dd" in field.get("description", "").lower()


def _line(text: str) -> str:
    return " ".join(text.split()) or "Not described."


def _hint(field: dict[str, Any], name: str) -> Any:
    """Return the type hint for a parameter that BFCL describes."""
    if "enum" in field:
        return Literal[tuple(field["enum"])]
    match field["type"]:
        case "array" | "tuple":
            return list[_hint(field.get("items", {"type": "any"}), name)]
        case "dict" if field.get("properties"):
            required = field.get("required", [])
            hints = {key: _hint(inner, f"{name}_{key}") for key, inner in field["properties"].items()}
            told = {
                key: Annotated[hint, _line(field["properties"][key].get("description", key))]
                for key, hint in hints.items()
            }
            return TypedDict(
                name, {key: hint if key in required else NotRequired[hint] for key, hint in told.items()}
            )
        case "dict":
            return dict[str, Any]
        case kind:
            return _SCALARS[kind]
